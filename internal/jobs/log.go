package jobs

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/event"
	"brine/internal/fun"
	"brine/internal/value"
)

// A Log records jobs in the cache of this machine and hands their returns to
// returners. It is the Recorder of a session.
type Log struct {
	Files *Files // nil: there is no record, only returners
	// Asked are the returners that the command line and the option return name;
	// Caches are those of master_job_cache and ext_job_cache, which get the jobs
	// of runners as well.
	Asked, Caches []string
	// Sink returns the sink of a returner by its name, the name of an alternative
	// configuration ("" is none) and settings of its own; nil for one that was
	// found not to be configured and was told of.
	Sink func(name, config string, kwargs *value.Map) (*Sink, error)
	// Expand puts the members of a group of returners in its place.
	Expand func(names []string) []string
	// Failed says that only returns that failed go to returners.
	Failed bool
	Now    func() time.Time
}

// Begin records that a job begins; see [Recorder].
func (l *Log) Begin(load Load) (Record, error) {
	r := &logRecord{Record: Nothing{}, log: l}
	own := Names(load.Ret)
	names := l.Caches
	if !load.Runner {
		if len(own) == 0 && len(l.Asked) > 0 {
			load.Ret = strings.Join(l.Asked, ",")
		}
		names = append(slices.Clone(l.Asked), l.Caches...)
	}
	r.load = load
	var errs []error
	if l.Files != nil {
		var err error
		r.Record, err = l.Files.Begin(load)
		errs = append(errs, err)
	}
	add := func(names []string, config string, kwargs *value.Map) {
		for _, name := range l.Expand(names) {
			s, err := l.Sink(name, config, kwargs)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if s != nil && !slices.Contains(r.sinks, s) {
				r.sinks = append(r.sinks, s)
			}
		}
	}
	add(own, load.RetConfig, load.RetKwargs)
	add(names, "", nil)
	if load.Continued {
		r.once.Do(func() {}) // they have it
	}
	if !l.Failed {
		r.sendLoad()
	}
	return r, errors.Join(errs...)
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
	for _, n := range strings.Split(s, ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

type logRecord struct {
	Record
	log   *Log
	load  Load
	sinks []*Sink
	once  sync.Once
}

// sendLoad hands the load over, once.
func (r *logRecord) sendLoad() {
	r.once.Do(func() {
		for _, s := range r.sinks {
			s.Load(r.load)
		}
	})
}

// Return records an answer in the cache and puts it in the queues of the
// returners, which do not keep the job waiting.
func (r *logRecord) Return(ret fun.Return) error {
	err := r.Record.Return(ret)
	if len(r.sinks) == 0 {
		return err
	}
	if r.log.Failed && ret.Stage == fun.Returned && ret.Retcode == 0 && ret.Success {
		return err
	}
	r.sendLoad()
	if r.load.Runner {
		v, verr := ret.Value()
		data, _ := v.(*value.Map)
		if data != nil {
			for _, s := range r.sinks {
				s.Return(RunnerReturn(r.load, data))
			}
		}
		return errors.Join(err, verr)
	}
	full, ferr := FullReturn(r.load, ret, r.log.Now().UTC().Format(event.StampFormat))
	if ferr != nil || full == nil {
		return errors.Join(err, ferr)
	}
	for _, s := range r.sinks {
		s.Return(full)
	}
	return err
}

// RunnerReturn is the full return of a runner's job as stores have it: the
// runner's data within, under the id of the controller.
// Salt: salt/utils/job.py store_job.
func RunnerReturn(l Load, data *value.Map) *value.Map {
	return value.MapOf("jid", l.JID, "return", data, "tgt", l.Tgt, "user", l.User, "fun", l.Fun, "id", l.Tgt)
}
