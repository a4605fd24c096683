package statefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/runner/high"
)

// cacheSuffix ends the names of files that keep high data, as in Salt.
const cacheSuffix = ".cache.p"

// requestFile keeps requested runs, below the cache directory.
const requestFile = "req_state.p"

// readJSON reads a file of the cache directory; ok is false where it is missing.
func readJSON(env *fun.Env, name string) (m *value.Map, ok bool, err error) {
	if env.CacheDir == "" {
		return nil, false, nil
	}
	path := filepath.Join(env.CacheDir, name)
	text, err := env.Host.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	v, err := value.DecodeJSON(bytes.NewReader(text))
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	m, ok = v.(*value.Map)
	return m, ok, nil
}

// writeJSON replaces a file of the cache directory; only its owner can read it.
func writeJSON(env *fun.Env, name string, m *value.Map) error {
	if env.CacheDir == "" {
		return fun.Errorf("there is no cache directory for %s", name)
	}
	if err := env.Host.MkdirAll(env.CacheDir, 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	return env.Host.WriteFile(filepath.Join(env.CacheDir, name), bytes.NewReader(value.EncodeJSON(m)), host.WriteOptions{Mode: &mode})
}

// cacheFile returns the file that keeps the high data of a call.
func (s *session) cacheFile() (string, error) {
	name := s.a.CacheName
	if name == "" || strings.ContainsAny(name, "/\\") || strings.HasPrefix(name, ".") {
		return "", fun.Errorf("cache_name: %q is not a file name", name)
	}
	return name + cacheSuffix, nil
}

// cached returns the high data that an earlier run kept, where cache asks for
// it.
func (s *session) cached() (*high.High, bool, error) {
	if !s.a.Cache {
		return nil, false, nil
	}
	name, err := s.cacheFile()
	if err != nil {
		return nil, false, err
	}
	data, ok, err := readJSON(s.env, name)
	if err != nil || !ok {
		return nil, false, err
	}
	return high.FromData(data), true, nil
}

// keep keeps high data for later runs with cache. Salt keeps that of every run;
// it may hold secrets, so it is kept here only where cache is given.
func (s *session) keep(h *high.High) error {
	if !s.a.Cache {
		return nil
	}
	name, err := s.cacheFile()
	if err != nil {
		return err
	}
	return writeJSON(s.env, name, h.Data)
}

// clearCache removes kept high data and returns the names of the files.
// Salt: clear_cache.
func clearCache(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	out := &value.List{}
	if c.Env.CacheDir == "" {
		return fun.Value(out)
	}
	names, err := c.Env.Host.ReadDir(c.Env.CacheDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fun.Result{}, err
	}
	for _, n := range names {
		path := filepath.Join(c.Env.CacheDir, n)
		if st, err := c.Env.Host.Lstat(path); !strings.HasSuffix(n, cacheSuffix) || err != nil || !st.Mode.IsRegular() {
			continue
		}
		if err := c.Env.Host.Remove(path); err != nil {
			return fun.Result{}, err
		}
		out.Append(n)
	}
	return fun.Value(out)
}

type requestArgs struct {
	applyArgs
	Name string `arg:"name" doc:"name of the request"`
}

// request runs in test mode and keeps the call for run_request.
// Salt: request.
func request(ctx context.Context, c *fun.Call, a *requestArgs) (fun.Result, error) {
	kwargs := value.NewMap(0)
	for _, arg := range c.Spec.Args {
		v := c.Args.At(arg.Name)
		if arg.Name != "mods" && !value.Equal(v, arg.Default) {
			kwargs.Set(arg.Name, v)
		}
	}
	kwargs.Update(a.Rest.Map)
	kwargs.Set("test", true)
	res, err := testRun(ctx, c, &a.applyArgs)
	if err != nil {
		return res, err
	}
	all, _, err := readJSON(c.Env, requestFile)
	if err != nil {
		return fun.Result{}, err
	}
	if all == nil {
		all = value.NewMap(1)
	}
	all.Set(nameOfRequest(a.Name), value.MapOf("test_run", res.Value, "mods", a.Mods, "kwargs", kwargs))
	return res, writeJSON(c.Env, requestFile, all)
}

func nameOfRequest(name string) string {
	if name != "" {
		return name
	}
	return "default"
}

// keptArgs are the arguments of functions of what request has kept.
type keptArgs struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"name of the request"`
}

// checkRequest returns what request has kept.
// Salt: check_request.
func checkRequest(_ context.Context, c *fun.Call, a *keptArgs) (fun.Result, error) {
	all, ok, err := readJSON(c.Env, requestFile)
	if err != nil || !ok {
		return fun.Result{Value: value.NewMap(0), Out: highstateOut}, err
	}
	if a.Name != "" {
		one, ok := all.Get(a.Name)
		if !ok {
			return fun.Result{}, fun.Errorf("there is no requested state run %q", a.Name)
		}
		return fun.Result{Value: one, Out: highstateOut}, nil
	}
	return fun.Result{Value: all, Out: highstateOut}, nil
}

// clearRequest forgets one requested run, or all; it returns False where there
// is none of that name.
// Salt: clear_request.
func clearRequest(_ context.Context, c *fun.Call, a *keptArgs) (fun.Result, error) {
	all, ok, err := readJSON(c.Env, requestFile)
	if err != nil || !ok {
		return fun.Result{Value: true}, err
	}
	if a.Name == "" {
		return fun.Result{Value: true}, c.Env.Host.Remove(filepath.Join(c.Env.CacheDir, requestFile))
	}
	if !all.Delete(a.Name) {
		return fun.Value(false)
	}
	return fun.Result{Value: true}, writeJSON(c.Env, requestFile, all)
}

type runRequestArgs struct {
	Name string `arg:"name" default:"default" doc:"name of the request"`
	Rest fun.Kwargs
}

// runRequest runs what request has kept, and forgets it.
// Salt: run_request.
func runRequest(ctx context.Context, c *fun.Call, a *runRequestArgs) (fun.Result, error) {
	empty := fun.Result{Value: value.NewMap(0), Out: highstateOut}
	all, ok, err := readJSON(c.Env, requestFile)
	if err != nil || !ok {
		return empty, err
	}
	one := all.Map(nameOfRequest(a.Name))
	kwargs := one.Map("kwargs")
	if kwargs == nil {
		return empty, nil
	}
	kwargs = kwargs.Copy()
	kwargs.Update(a.Rest.Map)
	kwargs.Delete("test")
	kwargs.Delete("name") // of the request
	kwargs.Set("mods", one.At("mods"))
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "state.apply", fun.Args{Kw: kwargs})
	if err != nil {
		return res, err
	}
	return res, c.Env.Host.Remove(filepath.Join(c.Env.CacheDir, requestFile))
}

// disable forbids SLS files to run; the list is a grain.
// Salt: disable.
func disable(ctx context.Context, c *fun.Call, a *statesArgs) (fun.Result, error) {
	return setDisabled(ctx, c, a, func(rules []string, name string) ([]string, string) {
		if slices.Contains(rules, name) {
			return rules, "Info: " + name + " state already disabled."
		}
		return append(rules, name), "Info: " + name + " state disabled."
	})
}

// enable allows what disable has forbidden.
// Salt: enable.
func enable(ctx context.Context, c *fun.Call, a *statesArgs) (fun.Result, error) {
	return setDisabled(ctx, c, a, func(rules []string, name string) ([]string, string) {
		for i, r := range rules {
			if r == name {
				return append(rules[:i:i], rules[i+1:]...), "Info: " + name + " state enabled."
			}
		}
		return rules, "Info: " + name + " state already enabled."
	})
}

func setDisabled(ctx context.Context, c *fun.Call, a *statesArgs, change func([]string, string) ([]string, string)) (fun.Result, error) {
	before := disabledRules(c.Env)
	rules := before
	var msgs []string
	for _, name := range splitText(a.States) {
		var msg string
		rules, msg = change(rules, name)
		msgs = append(msgs, msg)
	}
	if len(rules) != len(before) {
		_, err := c.Env.Exec(ctx, "grains.setval", nil, disabledGrain, value.Strings(rules...))
		if err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(value.MapOf("res", true, "msg", strings.Join(msgs, "\n")))
}

// listDisabled returns what disable has forbidden.
// Salt: list_disabled.
func listDisabled(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if rules := disabledRules(c.Env); rules != nil {
		return fun.Value(value.Strings(rules...))
	}
	return fun.Value("")
}

type runningArgs struct {
	_          fun.Arguments
	Concurrent bool `arg:"concurrent" default:"False" doc:"return an empty list"`
}

// running returns a sentence for each state function that another process runs
// on this machine.
// Salt: running.
func running(ctx context.Context, c *fun.Call, a *runningArgs) (fun.Result, error) {
	if a.Concurrent {
		return fun.Value(&value.List{})
	}
	res, err := c.Env.Exec(ctx, "saltutil.is_running", nil, "state.*")
	if err != nil {
		return fun.Result{}, err
	}
	active, _ := res.(*value.List)
	var jobs []*value.Map
	for i := range active.Len() {
		job, ok := active.Items[i].(*value.Map)
		if !ok {
			continue
		}
		if pid, ok := value.AsInt(job.At("pid")); ok && int(pid) == c.Env.Host.Getpid() {
			continue
		}
		jobs = append(jobs, job)
	}
	return fun.Value(runningTexts(jobs))
}

// runningTexts are Salt's sentences on jobs that run.
func runningTexts(jobs []*value.Map) *value.List {
	out := &value.List{}
	for _, job := range jobs {
		jid := value.Str(job.At("jid"))
		out.Append(fmt.Sprintf(`The function "%s" is running as PID %s and was started at %s with jid %s`,
			value.Str(job.At("fun")), value.Str(job.At("pid")), jidTime(jid), jid))
	}
	return out
}

// jidTime returns the time in a jid as Salt prints it, "" where it is none.
// Salt: salt.utils.jid.jid_to_time.
func jidTime(jid string) string {
	const digits = "20060102150405"
	if len(jid) < len(digits) {
		return ""
	}
	t, err := time.Parse(digits, jid[:len(digits)])
	if err != nil {
		return ""
	}
	return t.Format("2006, Jan 02 15:04:05.") + jid[len(digits):]
}
