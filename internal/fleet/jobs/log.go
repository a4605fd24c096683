package jobs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A Log records jobs in the cache of this machine and hands their returns to
// returners. It is the Recorder of a session.
type Log struct {
	Files *Files // nil: there is no record, only returners
	// Asked are the returners that the command line and the option return name;
	// Caches are those of master_job_cache and ext_job_cache, which get the jobs
	// of runners as well.
	Asked, Caches []string
	// Config and Kwargs are the configuration and settings of Asked.
	Config string
	Kwargs *value.Map
	// MayKeep reports whether settings of a returner may be written down; nil: all
	// may.
	MayKeep func(name string, kwargs *value.Map) bool
	// Sink returns the sink of a returner by its name, the name of an
	// alternative configuration ("" for none) and settings of its own; nil if
	// it is not configured, of which Sink has warned.
	Sink func(name, config string, kwargs *value.Map) (*Sink, error)
	// Expand puts the members of a group of returners in its place.
	Expand func(names []string) []string
	// FailedOnly reports whether a returner, where it is asked for, gets only returns
	// that failed; nil: none does. Caches get all in any case.
	FailedOnly func(name string) bool
	Now        func() time.Time
}

// Begin records that a job begins; see [Recorder].
func (l *Log) Begin(load Load) (Record, error) {
	r := &logRecord{Record: Nothing{}, log: l}
	own, asked := Names(load.Ret), l.Asked
	switch {
	case load.Runner:
		asked = nil
	case len(own) == 0 && len(asked) > 0:
		// Who fetches the returns of a job that goes on without this process has
		// another command line.
		own, asked = asked, nil
		load.Ret, load.RetConfig, load.RetKwargs = strings.Join(own, ","), l.Config, l.Kwargs
	case load.Continued:
		asked = nil // they were its own when it began
	}
	var errs []error
	kwargs := load.RetKwargs
	if load.RetKwargs.Len() > 0 {
		load.RetKwargs = l.keepable(own, kwargs)
		if load.RetKwargs == nil && load.Detached && !load.Continued {
			errs = append(errs, fmt.Errorf("what the job returns does not reach %s: ret_kwargs has a secret, which is not recorded; a configuration that ret_config names may have it", load.Ret))
			own, load.Ret = nil, ""
		}
	}
	r.load = load
	if l.Files != nil {
		var err error
		r.Record, err = l.Files.Begin(load)
		errs = append(errs, err)
	}
	add := func(names []string, config string, kwargs *value.Map, cache bool) {
		for _, name := range l.Expand(names) {
			s, err := l.Sink(name, config, kwargs)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if s != nil {
				r.add(s, !cache && l.FailedOnly != nil && l.FailedOnly(name))
			}
		}
	}
	add(own, load.RetConfig, kwargs, false)
	add(asked, l.Config, l.Kwargs, false)
	add(l.Caches, "", nil, true)
	for _, t := range r.to {
		if load.Continued {
			t.once.Do(func() {}) // they have it
		}
		if !t.failedOnly {
			t.load(load)
		}
	}
	return r, errors.Join(errs...)
}

// keepable returns settings of returners as a record may have them; nil where
// they have a secret, without which they are of no use.
func (l *Log) keepable(names []string, kwargs *value.Map) *value.Map {
	for _, n := range l.Expand(names) {
		if l.MayKeep != nil && !l.MayKeep(n, kwargs) {
			return nil
		}
	}
	return kwargs
}

// Reopen returns the record of a job that goes on without a process of this
// machine. Its returns go to the returners that the job was begun with.
func (l *Log) Reopen(j *Job) (Record, error) {
	if l.Files == nil {
		return nil, errors.New("jobs are not recorded here")
	}
	return l.Begin(LoadOf(j.JID, j.Load))
}

// Names splits a list of returners with commas.
func Names(s string) []string {
	var out []string
	for n := range strings.SplitSeq(s, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

type logRecord struct {
	Record
	log  *Log
	load Load
	to   []*addressee
}

// An addressee is a sink that gets the returns of a job: all, or those that failed.
type addressee struct {
	*Sink
	failedOnly bool
	once       sync.Once // the load was handed over
}

// add has a sink get the returns of the job. One that is named twice gets what both
// say.
func (r *logRecord) add(s *Sink, failedOnly bool) {
	i := slices.IndexFunc(r.to, func(t *addressee) bool { return t.Sink == s })
	if i < 0 {
		r.to = append(r.to, &addressee{Sink: s, failedOnly: failedOnly})
		return
	}
	r.to[i].failedOnly = r.to[i].failedOnly && failedOnly
}

// load hands the load over, once.
func (t *addressee) load(l Load) { t.once.Do(func() { t.Load(l) }) }

// Return records an answer in the cache and puts it in the queues of the
// returners, which do not keep the job waiting.
func (r *logRecord) Return(ret fun.Return) error {
	if !r.load.Continued {
		return errors.Join(r.Record.Return(ret), r.enqueue(ret))
	}
	// What the record has is not fetched again, so it comes last.
	return errors.Join(r.enqueue(ret), r.Record.Return(ret))
}

// enqueue puts an answer in the queues.
func (r *logRecord) enqueue(ret fun.Return) error {
	to := r.to
	if ret.Success() {
		to = slices.DeleteFunc(slices.Clone(to), func(t *addressee) bool { return t.failedOnly })
	}
	if len(to) == 0 {
		return nil
	}
	full, err := FullReturn(r.load, ret, r.log.Now().UTC().Format(event.StampFormat))
	if err != nil || full == nil {
		return err
	}
	for _, t := range to {
		t.load(r.load)
		t.Return(full)
	}
	return nil
}
