package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// Compile compiles jobs by the grains of their systems and compares the low data with
// the golden files, or with update writes them. Nothing is run. The error is that of
// ctx, or says that this machine has no room for it.
func Compile(ctx context.Context, w *World, jobs []Job, update bool) ([]*Result, error) {
	dir, err := w.Host.MkdirTemp("", "brine-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Host.RemoveAll(dir) }()
	results := make([]*Result, len(jobs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		g.Go(func() error {
			results[i] = w.compileJob(ctx, filepath.Join(dir, fmt.Sprint(i)), j, update)
			return nil
		})
	}
	_ = g.Wait() // what fails is in the results
	return results, ctx.Err()
}

// compileJob compiles one job.
func (w *World) compileJob(ctx context.Context, dir string, j Job, update bool) *Result {
	r := &Result{Job: j}
	began := time.Now()
	defer func() { r.Took = time.Since(began) }()
	if len(j.Case.Nodes) > 0 {
		w.compileSite(ctx, r, dir, update)
		return r
	}
	low, used, failed := w.low(ctx, dir, j)
	r.use(used)
	r.Files = append(r.Files, w.goldenPath(j))
	if failed != nil {
		for _, c := range failed {
			r.add(c, began)
		}
		return r
	}
	if !w.compileBeside(ctx, r, dir) {
		return r
	}
	r.compiled = true
	r.add(Check{Name: "compile", Text: count(low.Len(), "state")}, began)
	began2 := time.Now()
	r.add(w.golden(j, low, update), began2)
	return r
}

// compileBeside compiles what a case applies before and after its test.
func (w *World) compileBeside(ctx context.Context, r *Result, dir string) bool {
	for _, beside := range []struct {
		name string
		sls  []string
	}{{"prepare", r.Case.Prepare}, {"clean", r.Case.Clean}} {
		if len(beside.sls) == 0 {
			continue
		}
		began := time.Now()
		other := *r.Case
		other.SLS, other.Expect = beside.sls, casefile.Expect{}
		_, used, failed := w.low(ctx, filepath.Join(dir, beside.name), Job{&other, r.System})
		r.use(used)
		for _, c := range failed {
			c.Name = beside.name
			r.add(c, began)
		}
	}
	return !r.Failed()
}

// used is what a case was compiled from, and the states that it has.
type used struct {
	sls, files []string
	states     []stateID
	pillar     value.Value
	branches   map[branchKey]bool
}

// A stateID is a state of an SLS.
type stateID struct{ sls, fun, id string }

// idsOf returns the states of low data.
func idsOf(low *value.List) []stateID {
	var ids []stateID
	for i := range low.Len() {
		m, _ := low.Items[i].(*value.Map)
		ids = append(ids, stateID{m.Str("__sls__"), m.Str("state") + "." + m.Str("fun"), m.Str("__id__")})
	}
	return ids
}

// use adds what a case was compiled from.
func (r *Result) use(u used) {
	r.states = append(r.states, u.states...)
	if r.branches == nil {
		r.branches = map[branchKey]bool{}
	}
	maps.Copy(r.branches, u.branches)
	if u.pillar != nil {
		r.pillars = append(r.pillars, u.pillar)
	}
	for _, s := range u.sls {
		if !slices.Contains(r.SLS, s) {
			r.SLS = append(r.SLS, s)
		}
	}
	for _, f := range u.files {
		if !slices.Contains(r.Files, f) {
			r.Files = append(r.Files, f)
		}
	}
}

// low compiles a job to its low data, or returns why that failed.
func (w *World) low(ctx context.Context, dir string, j Job) (low *value.List, of used, failed []Check) {
	fail := func(pos source.Pos, text string) []Check {
		return []Check{{Name: "compile", Status: Failed, Text: text, Pos: pos}}
	}
	grains, err := w.Grains(j.System)
	if err != nil {
		return nil, of, fail(j.Case.Pos, err.Error())
	}
	rec := &reads{Host: w.Host, files: map[string]bool{}}
	ws, err := newWorkspace(rec, dir, j.Case)
	if err != nil {
		pos := j.Case.Pos
		if pe, ok := errors.AsType[*pillarError](err); ok {
			pos = pe.of.Pos
		}
		return nil, of, fail(pos, err.Error())
	}
	c := &compiler{w: w, job: j, dir: dir, roots: ws.roots(w.Opts, j.Case, same)}
	env := w.NewEnv(ctx, rec, ws.options(w.Opts, j.Case, same), c.fault)
	c.setGrains(env, grains)
	c.setAnswers(env)
	rendered := map[string]bool{}
	env.OnTook = func(part, of string, _ time.Time) {
		if part == "render" {
			rendered[of] = true
		}
	}
	if w.Covers {
		of.branches = map[branchKey]bool{}
		env.OnBranch = noteBranches(of.branches)
	}
	low, failed = c.run(ctx, env)
	rec.sources(low, c.roots)
	for _, s := range j.Case.Expect.States {
		rec.sources(s.Args, c.roots)
	}
	rec.note(filepath.Join(w.Tree, casefile.Systems, j.System+".yml"))
	return low, used{sortedKeys(rendered), sortedKeys(rec.files), idsOf(low), env.Pillar, of.branches}, failed
}

func same(p string) string { return p }

// A compiler compiles one job.
type compiler struct {
	w      *World
	job    Job
	dir    string
	roots  []string
	faults source.Errors
}

func (c *compiler) fault(err error) { c.faults = append(c.faults, source.Faults(err)...) }

// setGrains gives an Env the grains of the system, those of one machine made up, and
// over them those of the case.
func (c *compiler) setGrains(env *fun.Env, grains *value.Map) {
	id := c.job.System
	g := value.MapOf("id", id, "host", id, "nodename", id, "localhost", id, "fqdn", id+".example.org", "domain", "example.org",
		"machine_id", "0123456789abcdef0123456789abcdef", "num_cpus", int64(2), "mem_total", int64(2048), "swap_total", int64(0),
		"virtual", "container", "ipv4", value.Strings("127.0.0.1", "192.0.2.10"), "ipv6", value.Strings("::1"),
		"ip4_interfaces", value.MapOf("lo", value.Strings("127.0.0.1"), "eth0", value.Strings("192.0.2.10")),
		"fqdn_ip4", value.Strings("192.0.2.10"), "fqdn_ip6", value.NewList())
	value.Update(g, grains, false, false)
	if c.job.Case.Grains != nil {
		value.Update(g, value.Clone(c.job.Case.Grains).(*value.Map), true, false)
	}
	env.ID, env.Grains, env.NewGrains, env.OnRenew = g.Str("id"), g, nil, nil
}

// setAnswers has templates get the answers of the case.
func (c *compiler) setAnswers(env *fun.Env) {
	answers := c.job.Case.Answers
	if answers.Len() == 0 {
		return
	}
	var more []fun.Entry
	for k := range answers.All() {
		mod, _, _ := strings.Cut(value.Str(k), ".")
		if _, ok := env.Table.Module(fun.Exec, mod); !ok {
			more = append(more, fun.Entry{Kind: fun.Exec, Name: mod, Load: func() fun.Module {
				return fun.Module{Name: mod, Kind: fun.Exec, Dynamic: func(fn string) *fun.Spec {
					return &fun.Spec{Name: fn, VarArg: true, VarKw: true}
				}}
			}})
		}
	}
	env.Table = env.Table.With(more)
	before := env.NewInvoker
	env.NewInvoker = func(e *fun.Env) fun.Invoker { return answering{before(e), answers} }
	env.Invoker = env.NewInvoker(env)
}

// answering answers calls with what a case says.
type answering struct {
	fun.Invoker
	answers *value.Map
}

// Invoke calls a function.
func (a answering) Invoke(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	if v, ok := a.answers.Get(name); ok && kind == fun.Exec {
		return fun.Value(value.Clone(v))
	}
	return a.Invoker.Invoke(ctx, kind, name, args)
}

// run compiles in an Env.
func (c *compiler) run(ctx context.Context, env *fun.Env) (*value.List, []Check) {
	name, args := "state.show_lowstate", fun.Args{Kw: value.NewMap(0)}
	if len(c.job.Case.SLS) > 0 {
		name, args.Pos = "state.show_low_sls", []value.Value{value.Strings(c.job.Case.SLS...)}
	}
	res, err := c.w.Invoker(env).Invoke(ctx, fun.Exec, name, args)
	low, ok := res.Value.(*value.List)
	if err == nil && ok && res.Retcode == 0 && len(c.faults) == 0 {
		if checks := append(c.unknown(env, low), c.unknownExpected(env)...); len(checks) > 0 {
			return nil, checks
		}
		if low.Len() > 0 {
			return low, nil
		}
		return nil, []Check{{
			Name: "compile", Status: Failed, Text: "the case has no states on this system", Pos: c.job.Case.Pos,
			Hint: "let a top file or the SLS files apply something here, or leave the system out under systems",
		}}
	}
	if len(c.faults) > 0 {
		return nil, c.checks()
	}
	text := value.Str(res.Value)
	if ok {
		lines := make([]string, low.Len())
		for i, v := range low.Items {
			lines[i] = value.Str(v)
		}
		text = strings.Join(lines, "\n")
	}
	if err != nil {
		text = err.Error()
	}
	return nil, []Check{{Name: "compile", Status: Failed, Text: c.here(text), Pos: c.job.Case.Pos, Hint: c.hintOf(text)}}
}

// checks are the faults that were shown.
func (c *compiler) checks() []Check {
	var out []Check
	for _, f := range c.faults {
		pos := f.Pos
		if pos.IsZero() {
			pos = c.job.Case.Pos
		}
		pos.File = c.here(abs(c.w.Host, c.roots, pos.File))
		text := f.Err.Error()
		check := Check{Name: "compile", Status: Failed, Text: c.here(text), Hint: f.Hint, Pos: pos}
		if check.Hint == "" {
			check.Hint = c.hintOf(text)
		}
		if !slices.ContainsFunc(out, func(o Check) bool { return o.Pos == check.Pos && o.Text == check.Text }) {
			out = append(out, check)
		}
	}
	return out
}

// hintOf says what to do where a template calls what only a machine can answer.
func (c *compiler) hintOf(text string) string {
	before, _, ok := strings.Cut(text, " is not called: nothing is to be run")
	if !ok {
		return ""
	}
	name := before[strings.LastIndexByte(before, ' ')+1:]
	answers := "answers: {" + name + ": VALUE}"
	if casefile.IsKitchen(c.job.Case.Pos.File) {
		return "only a machine can say: test on one, without --compile; or write the suite as a case file, which can have what the function returns: " + answers
	}
	return "give the case what the function returns: " + answers
}

// here names the files of the case itself without the directory that they are in.
func (c *compiler) here(text string) string {
	return strings.ReplaceAll(text, c.dir+"/", "")
}

// unknown finds state functions that do not exist.
func (c *compiler) unknown(env *fun.Env, low *value.List) []Check {
	own := c.ownModules("_states")
	var out []Check
	for _, v := range low.Items {
		m, ok := v.(*value.Map)
		if !ok || own[m.Str("state")] {
			continue
		}
		name := m.Str("state") + "." + m.Str("fun")
		if _, _, ok := env.Table.Lookup(fun.State, name); ok {
			continue
		}
		near := env.Table.Nearest(fun.State, name)
		hint := ""
		if near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		text := fmt.Sprintf("unknown state function %q, of the state %q in %s", name, m.Str("__id__"), m.Str("__sls__"))
		out = append(out, Check{Name: "compile", Status: Failed, Text: text, Hint: hint, Pos: c.posOf(m, name)})
	}
	return out
}

// posOf is the place of a state function in the SLS of a state, else the case.
func (c *compiler) posOf(m *value.Map, name string) source.Pos {
	base := strings.ReplaceAll(m.Str("__sls__"), ".", "/")
	for _, root := range c.roots {
		for _, end := range []string{".sls", "/init.sls"} {
			path := filepath.Join(root, base+end)
			text, err := c.w.Host.ReadFile(path)
			if err != nil {
				continue
			}
			lines := strings.Split(string(text), "\n")
			// The ID may come of a template: then the function is looked for in the whole file.
			id := max(0, slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, m.Str("__id__")+":") }))
			for i, line := range lines[id:] {
				if col := strings.Index(line, name); col >= 0 {
					return source.Pos{File: path, Line: id + i + 1, Col: col + 1}
				}
			}
			return source.Pos{File: path, Line: 1}
		}
	}
	return c.job.Case.Pos
}

// unknownExpected finds functions that a case expects something of and that do not exist.
func (c *compiler) unknownExpected(env *fun.Env) []Check {
	var out []Check
	look := func(kind fun.Kind, own map[string]bool, what, name string, pos source.Pos) {
		mod, _, _ := strings.Cut(name, ".")
		if _, _, ok := env.Table.Lookup(kind, name); ok || own[mod] {
			return
		}
		hint := ""
		if near := env.Table.Nearest(kind, name); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		out = append(out, Check{Name: "compile", Status: Failed, Text: "expect: unknown " + what + " function " + name, Hint: hint, Pos: pos})
	}
	modules, states := c.ownModules("_modules"), c.ownModules("_states")
	for _, f := range c.job.Case.Expect.Functions {
		look(fun.Exec, modules, "execution", f.Name, f.Pos)
	}
	for _, s := range c.job.Case.Expect.States {
		look(fun.State, states, "state", s.Fun, s.Pos)
	}
	return out
}

// ownModules are the modules that the tree has in a directory.
func (c *compiler) ownModules(dir string) map[string]bool {
	own := map[string]bool{}
	for _, root := range c.roots {
		names, err := c.w.Host.ReadDir(filepath.Join(root, dir))
		if err != nil {
			continue // there are none
		}
		for _, n := range names {
			own[strings.TrimSuffix(n, filepath.Ext(n))] = true
		}
	}
	return own
}
