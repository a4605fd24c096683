package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// sinks are the returners of a session, each begun when something is first
// handed to it.
type sinks struct {
	s      *Session
	env    *fun.Env
	config string
	kwargs *value.Map
	mu     sync.Mutex
	all    map[string]*jobs.Sink
	bad    map[string]error // those that cannot work as they are configured

	white, black []string // which events are stored: globs or regular expressions of tags
}

// returnerNames is a setting that names returners: text with commas, or a list.
func returnerNames(v value.Value) []string {
	switch v := v.(type) {
	case *value.List:
		var out []string
		for _, x := range v.Items {
			out = append(out, value.Str(x))
		}
		return out
	case string:
		return jobs.Names(v)
	}
	return nil
}

// OpenReturners has the session hand returns and events to the returners that
// the command line and the configuration name. It is called when env, whose
// settings they have, is made.
func (s *Session) OpenReturners(env *fun.Env) error {
	opts := s.Cfg.Opts
	r := &sinks{s: s, env: env, config: s.Flags.Ret.Config, all: map[string]*jobs.Sink{}, bad: map[string]error{}}
	if s.Flags.Ret.Kwargs != "" {
		v, err := yamlsalt.LoadString(s.Flags.Ret.Kwargs)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--return_kwargs: %q is not a dict such as '{\"db\": \"other\"}'", s.Flags.Ret.Kwargs)}
		}
		r.kwargs = m
	}
	asked := append(jobs.Names(s.Flags.Ret.Names), returnerNames(opts.At("return"))...)
	caches := append(jobs.Names(opts.Str("master_job_cache")), jobs.Names(opts.Str("ext_job_cache"))...)
	if s.noReturns() {
		caches = jobs.Names(opts.Str("ext_job_cache"))
	}
	caches = slices.DeleteFunc(caches, func(n string) bool { return n == "local_cache" || n == "None" })
	for _, n := range append(slices.Clone(asked), caches...) {
		if err := assembly.CheckReturner(env, n); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "'brine call sys.list_returners' lists them"}
		}
	}
	if r.kwargs.Len() > 0 {
		s.Doubt(assembly.UnknownSettings("--return_kwargs", r.expand(asked), r.kwargs))
	}
	failedOnly, err := r.returnOn(r.expand(caches))
	if err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	s.openHistory(context.Background(), env)
	if err := s.openNotify(env); err != nil {
		return err
	}
	if err := s.OpenShared(env); err != nil {
		return err
	}
	if s.Jobs == nil && len(asked) == 0 {
		return nil
	}
	if err := r.check(asked, caches); err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: err}
	}
	log := &jobs.Log{Config: r.config, Kwargs: r.kwargs, MayKeep: assembly.MayKeep, Asked: asked, Caches: caches, Sink: r.tellingSink, Expand: r.expand, FailedOnly: failedOnly, Now: s.App.Host.Now}
	if s.Files != nil {
		log.Files = s.Files
	}
	s.Jobs = log
	s.OnEnd(r.close)
	if s.Cfg.Kind == config.Master {
		r.tapEvents(opts)
		r.resend()
	}
	return nil
}

// returnOn reads the option return_on: "failed" or "all" for all returners that
// --return, return and ret name, or a mapping from some of them to one of the two. It
// returns which of them get only returns that failed; caches keep everything.
func (r *sinks) returnOn(caches []string) (failedOnly func(name string) bool, err error) {
	opts := r.s.Cfg.Opts
	read := func(key string, v value.Value) (bool, error) {
		switch v {
		case "failed":
			return true, nil
		case nil, "all":
			return false, nil
		}
		return false, fmt.Errorf("%s%s must be failed or all, not %s", placeOf(opts, "return_on"), key, value.Repr(v))
	}
	m, some := opts.At("return_on").(*value.Map)
	if !some {
		all, err := read("return_on", opts.At("return_on"))
		return func(string) bool { return all }, err
	}
	only := map[string]bool{}
	for k, v := range m.All() {
		name := value.Str(k)
		failed, err := read("return_on: "+name, v)
		if err == nil && name != "multi_returner" {
			err = assembly.CheckReturner(r.env, name)
		}
		if err != nil {
			return nil, err
		}
		for _, n := range r.expand([]string{name}) {
			if failed && slices.Contains(caches, n) {
				return nil, fmt.Errorf("%sreturn_on: %s is a job cache (master_job_cache, ext_job_cache), which keeps all jobs", placeOf(opts, "return_on"), n)
			}
			only[assembly.ReturnerName(n)] = failed
		}
	}
	return func(name string) bool { return only[assembly.ReturnerName(name)] }, nil
}

// placeOf is where an option is written, in front of an error about it.
func placeOf(opts *value.Map, key string) string {
	if at := opts.Pos(key); at.File != "" {
		return at.String() + ": "
	}
	return ""
}

// check returns an error for what a run could not use: a setting of a wrong type
// and, with returner_failhard, whatever else is not configured.
func (r *sinks) check(asked, caches []string) error {
	opts := r.s.Cfg.Opts
	others := slices.Clone(caches)
	if r.s.Cfg.Kind == config.Master {
		others = append(others, returnerNames(opts.At("event_return"))...)
	}
	failhard := value.Truth(opts.At("returner_failhard"))
	var errs []error
	try := func(names []string, conf string, kwargs *value.Map) {
		for _, n := range r.expand(names) {
			checked, err := assembly.CheckSettings(context.Background(), r.env, n, returner.Settings{Config: conf, Kwargs: kwargs})
			_, wrong := errors.AsType[*returner.TypeError](err)
			switch {
			case wrong:
				errs = append(errs, err)
			case err != nil && failhard:
				errs = append(errs, fmt.Errorf("returner_failhard: %w", err))
			case err == nil:
				for _, err := range checked.Misspelt() {
					r.s.Doubt(err)
				}
			}
		}
	}
	try(asked, r.config, r.kwargs)
	try(others, "", nil)
	if r.s.Cfg.Kind == config.Master && value.Truth(opts.At("event_return")) {
		errs = append(errs, r.filters(opts))
	}
	return errors.Join(errs...)
}

// filters reads which events are stored.
func (r *sinks) filters(opts *value.Map) error {
	read := func(key string, to *[]string) (err error) {
		if *to, err = jobs.Patterns(key, opts.At(key)); err != nil {
			return fmt.Errorf("%s%w", placeOf(opts, key), err)
		}
		return nil
	}
	return errors.Join(read("event_return_whitelist", &r.white), read("event_return_blacklist", &r.black))
}

// tapEvents stores the run's own events where event_return says so.
// Salt: salt/utils/event.py EventReturn.
func (r *sinks) tapEvents(opts *value.Map) {
	names := r.expand(returnerNames(opts.At("event_return")))
	if len(names) == 0 {
		return
	}
	var to []*jobs.Sink
	for _, n := range names {
		s, err := r.sink(n, "", nil)
		if err != nil || s == nil {
			r.s.Doubt(err)
			continue
		}
		if q, ok := value.AsInt(opts.At("event_return_queue")); ok && q > 0 {
			s.Batch = int(q)
		}
		to = append(to, s)
	}
	id := r.env.ID
	questions := true
	if v, ok := opts.Get("event_return_find_job"); ok {
		questions = value.Truth(v)
	}
	r.s.bus.Tap(func(e event.Event) {
		if e.Foreign || !jobs.MatchEvent(e, r.white, r.black) || !questions && e.Data.Str("fun") == "saltutil.find_job" {
			return
		}
		for _, s := range to {
			s.Event(jobs.EventRow{Tag: e.Tag, Data: e.Data, Master: id})
		}
	})
}

// expand puts the members of multi_returner in its place.
func (r *sinks) expand(names []string) []string {
	var out []string
	for _, n := range names {
		if n == "multi_returner" {
			out = append(out, returnerNames(r.env.Opts.At("multi_returner"))...)
		} else {
			out = append(out, n)
		}
	}
	return out
}

// tellingSink is sink for a run under way, which goes on without a returner that
// cannot work.
func (r *sinks) tellingSink(name, conf string, kwargs *value.Map) (*jobs.Sink, error) {
	s, err := r.sink(name, conf, kwargs)
	r.s.Doubt(err)
	return s, nil
}

// sink returns the sink of a returner with a configuration. For one that cannot
// work as it is configured there is none; the error says why, once.
func (r *sinks) sink(name, conf string, kwargs *value.Map) (*jobs.Sink, error) {
	key := name
	if conf != "" {
		key += "@" + conf
	}
	id := key
	if kwargs.Len() > 0 {
		id += string(value.EncodeJSON(kwargs))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.all[id]; s != nil {
		return s, nil
	}
	if r.bad[id] != nil {
		return nil, nil
	}
	set := returner.Settings{Config: conf, Kwargs: kwargs}
	checked, err := assembly.CheckSettings(context.Background(), r.env, name, set)
	if err != nil {
		r.bad[id] = err
		return nil, err
	}
	s := &jobs.Sink{
		Name: name, Warn: r.s.once(r.s.Doubt),
		Open: func(ctx context.Context) (jobs.Returner, error) {
			return assembly.OpenReturner(ctx, r.env, name, set)
		},
	}
	if !assembly.ForThisRun(name) && assembly.MayKeep(name, kwargs) {
		sp := assembly.SpoolOf(r.s.Cfg.CacheDir, name, checked, kwargs)
		s.Spool, s.Owner, s.Down = sp.Dir, sp.Owner, sp.Down
	}
	if slices.Contains(jobs.Names(r.env.Opts.Str("master_job_cache")), name) {
		keep, _ := value.AsInt(r.env.Opts.At("keep_jobs_seconds"))
		s.Keep, s.Archive = time.Duration(keep)*time.Second, value.Truth(r.env.Opts.At("archive_jobs"))
	}
	r.all[id] = s
	return s, nil
}

// once returns what tells of faults of sinks, save that a store is down which another
// sink has told of: the history may be in the database of the job cache.
func (s *Session) once(tell func(error)) func(error) {
	return func(err error) {
		if down, ok := errors.AsType[*jobs.DownError](err); ok && down.Store != "" {
			s.mu.Lock()
			told := s.down[down.Store]
			if s.down == nil {
				s.down = map[string]bool{}
			}
			s.down[down.Store] = true
			s.mu.Unlock()
			if told {
				return
			}
		}
		tell(err)
	}
}

// resend has the returners that earlier runs found down tried again. What is for
// another place than this configuration leads to stays, and is reported.
func (r *sinks) resend() {
	for _, o := range assembly.SpoolOwners(r.s.Cfg.CacheDir) {
		if !jobs.Spooled(o.Dir) {
			continue
		}
		if _, _, err := o.Owned(context.Background(), r.env, r.s.Cfg.CacheDir); err != nil {
			r.tellKept(o, err)
			continue
		}
		if s, _ := r.sink(o.Name, o.Config, o.Kwargs); s != nil {
			s.Resend()
		}
	}
}

// remindEvery is how often it is reported that rows wait for another configuration.
const remindEvery = time.Hour

// tellKept warns of rows that stay, now and then.
func (r *sinks) tellKept(o assembly.SpoolOwner, err error) {
	mark := filepath.Join(o.Dir, ".told")
	if st, serr := os.Stat(mark); serr == nil && time.Since(st.ModTime()).Abs() < remindEvery {
		return
	}
	_ = os.WriteFile(mark, nil, 0o600)
	_ = os.Chtimes(mark, time.Time{}, time.Now())
	r.s.Doubt(fmt.Errorf("what earlier runs left for a returner stays in %s: %w", o.Dir, err))
}

// close sends what waits; where returner_failhard is set, what did not reach a
// returner makes the command fail.
func (r *sinks) close() {
	r.mu.Lock()
	var errs []error
	for _, s := range r.all {
		errs = append(errs, s.Close())
	}
	for _, err := range r.bad {
		errs = append(errs, err)
	}
	r.mu.Unlock()
	if err := errors.Join(errs...); err != nil && value.Truth(r.s.Cfg.Opts.At("returner_failhard")) {
		r.s.App.Late = fmt.Errorf("returner_failhard: %w", err)
	}
}
