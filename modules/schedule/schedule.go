// Package schedule is Salt's execution module "schedule": the jobs that a machine
// runs at set times. They are saved where Salt has them, and handed to systemd or
// cron.
package schedule

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
	"brine/internal/core/schedule"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "schedule".
func Module() fun.Module {
	return fun.Module{Name: "schedule", Kind: fun.Exec, Doc: "Schedule jobs of this machine.", Specs: specs}
}

// shown are the keys of a job that are listed. Salt: modules/schedule.py
// SCHEDULE_CONF.
var shown = []string{
	"name", "maxrunning", "function", "splay", "range", "when", "once", "once_fmt", "returner", "jid_include", "args", "kwargs", "seconds", "minutes",
	"hours", "days", "enabled", "return_job", "metadata", "cron", "until", "after", "return_config", "return_kwargs", "run_on_start",
	"skip_during_range", "run_after_skip_range", "skip_explicit", "run_explicit",
}

// hidden are the keys of a schedule that are not jobs.
var hidden = []string{"enabled", "skip_function", "skip_during_range", "splay"}

// A book is the schedule of a run: what the configuration has, and what is saved.
type book struct {
	path  string
	conf  *value.Map // of the configuration, with what is saved
	saved *value.Map
}

type bookKey struct{}

// configDir is where this machine's own configuration is: an agent does not read
// it, but the jobs that it schedules do.
func configDir(env *fun.Env) string {
	if dir := env.Opts.Str("schedule_conf_dir"); dir != "" {
		return dir
	}
	return env.Opts.Str("config_dir")
}

// open returns the schedule of the run.
func open(c *fun.Call) (*book, error) {
	if b, ok := c.Env.Memo.Load(bookKey{}); ok {
		return b.(*book), nil
	}
	b := &book{path: filepath.Join(configDir(c.Env), "minion.d", "_schedule.conf"), conf: value.NewMap(4), saved: value.NewMap(0)}
	if m := c.Env.Opts.Map("schedule"); m != nil {
		b.conf = value.Clone(m).(*value.Map)
	} else if c.Env.Opts.Has("schedule_conf_dir") {
		// The machine's own configuration, which an agent does not read.
		if text, err := c.Env.Host.ReadFile(filepath.Join(configDir(c.Env), "minion")); err == nil {
			if v, err := yamlsalt.Load(yamlsalt.LoadOptions{}, text); err == nil {
				if own, ok := v.(*value.Map); ok && own.Map("schedule") != nil {
					b.conf = own.Map("schedule")
				}
			}
		}
	}
	text, err := c.Env.Host.ReadFile(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fun.Errorf("read the saved schedule: %v", err)
	default:
		v, err := yamlsalt.Load(yamlsalt.LoadOptions{}, text)
		m, _ := v.(*value.Map)
		if err != nil || v != nil && m == nil {
			return nil, fun.Errorf("the saved schedule %s cannot be read: %v", b.path, err)
		}
		if jobs := m.Map("schedule"); jobs != nil {
			b.saved = jobs
			b.conf = value.Clone(jobs).(*value.Map)
		}
	}
	c.Env.Memo.Store(bookKey{}, b)
	return b, nil
}

// pillarJobs returns the schedule of the pillar.
func pillarJobs(c *fun.Call) *value.Map {
	if m := schedule.OfPillar(c.Env); m != nil {
		return m
	}
	return value.NewMap(0)
}

// jobs returns the jobs of a place, "" both, as schedule.list shows them.
func (b *book) jobs(c *fun.Call, where string) *value.Map {
	var pillar, conf value.Value
	if where != "opts" {
		pillar = pillarJobs(c)
	}
	if where != "pillar" {
		conf = b.conf
	}
	out := value.NewMap(4)
	for k, v := range schedule.Merge(conf, pillar).All() {
		m, ok := v.(*value.Map)
		if !ok || slices.Contains(hidden, value.Str(k)) {
			out.Set(k, v)
			continue
		}
		job := value.NewMap(m.Len() + 1)
		for key, x := range m.All() {
			switch {
			case x == nil || !slices.Contains(shown, value.Str(key)):
			case x == "true":
				job.Set(key, true)
			case x == "false":
				job.Set(key, false)
			default:
				job.Set(key, value.Clone(x))
			}
		}
		if !job.Has("enabled") {
			job.Set("enabled", true)
		}
		out.Set(k, job)
	}
	return out
}

// check returns what is wrong with a job; "" is nothing.
func check(c *fun.Call, name string, job *value.Map) string {
	var texts []string
	for _, f := range schedule.ReaderOf(c.Env).Read(value.MapOf(name, job)).Faults {
		texts = append(texts, f.Error())
	}
	return strings.Join(texts, "\n")
}

// save writes the schedule of the run, without the pillar's: as in Salt, the file
// replaces what the configuration has under schedule.
func (b *book) save(c *fun.Call) error {
	b.saved = value.Clone(b.conf).(*value.Map)
	text, err := yamlsalt.Dump(value.MapOf("schedule", b.saved), yamlsalt.SafeOptions())
	if err == nil {
		err = c.Env.Host.MkdirAll(filepath.Dir(b.path), 0o755)
	}
	if err == nil {
		mode := fs.FileMode(0o600)
		err = c.Env.Host.WriteFile(b.path, bytes.NewReader([]byte(text)), host.WriteOptions{Mode: &mode})
	}
	if err != nil {
		return fun.Errorf("Failed to persist the updated schedule: %v", err)
	}
	return nil
}

// set puts a job, or another key, into the schedule of the run, saves it where
// persist says so, and has the timers follow.
func (b *book) set(ctx context.Context, c *fun.Call, key string, v value.Value, persist bool) error {
	b.conf.Set(key, v)
	return b.changed(ctx, c, persist)
}

// remove takes jobs out of the schedule.
func (b *book) remove(ctx context.Context, c *fun.Call, names []string, persist bool) error {
	for _, name := range names {
		b.conf.Delete(name)
	}
	return b.changed(ctx, c, persist)
}

// changed saves the schedule, where persist says so, and has the timers follow.
func (b *book) changed(ctx context.Context, c *fun.Call, persist bool) error {
	if !persist {
		return nil
	}
	if err := b.save(c); err != nil {
		return err
	}
	return b.sync(ctx, c)
}

// sync makes the timers those of the schedule. Jobs that systemd or cron cannot
// have are warned of: they are saved, and other brines may run them.
func (b *book) sync(ctx context.Context, c *fun.Call) error {
	if v, ok := c.Env.Opts.Get("schedule_install"); ok && !value.Truth(v) {
		return nil
	}
	in, err := installer(c)
	if err != nil {
		c.Env.Warn(fun.Warning{Text: "the schedule is saved, but not installed: " + err.Error()})
		return nil
	}
	s := schedule.ReaderOf(c.Env).Read(schedule.Merge(b.conf, pillarJobs(c)))
	for _, f := range s.Faults {
		c.Env.Warn(fun.Warning{Text: f.Error()})
	}
	jobs := s.Jobs
	if !s.Enabled {
		jobs = nil
	}
	_, err = in.Install(ctx, jobs)
	if _, ok := errors.AsType[*schedule.UnservedError](err); ok {
		c.Env.Warn(fun.Warning{Text: err.Error()})
		return nil
	}
	return err
}

// installer returns what hands jobs to systemd or cron.
func installer(c *fun.Call) (*schedule.Installer, error) {
	exe, err := c.Env.Host.LookPath("brine", "")
	if err != nil {
		return nil, fun.Errorf("there is no brine in PATH that systemd or cron could start")
	}
	in := &schedule.Installer{Host: c.Env.Host, Exe: exe, Config: configDir(c.Env)}
	_, err = in.Kind()
	return in, err
}

// lastRun returns when a job ran last on this machine; the zero time is never.
func lastRun(c *fun.Call, name string) time.Time {
	return schedule.LastRun(c.Env.Host, c.Env.CacheDir, name)
}

// named returns the failure of a call without the name of a job.
func named(a *nameArg) *value.Map {
	if a.Name != "" {
		return nil
	}
	return value.MapOf("comment", "Job name is required.", "result", false, "changes", value.NewMap(0))
}

func result(ok bool, changes *value.Map, format string, args ...any) (fun.Result, error) {
	if changes == nil {
		changes = value.NewMap(0)
	}
	return fun.Value(value.MapOf("comment", fmt.Sprintf(format, args...), "changes", changes, "result", ok))
}

// persist reports whether a change is to be saved.
func persist(a *saveArgs) bool { return !a.Persist.Given || a.Persist.V }

// dryRun reports whether a call only says what it would do; test is its argument.
func dryRun(c *fun.Call, test bool) bool {
	return test || value.Truth(c.Env.Opts.At("test"))
}
