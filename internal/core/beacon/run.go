package beacon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// What became of a beacon in a run.
const (
	Looked   = "looked"
	NotDue   = "not due"            // its interval has not passed
	Disabled = "disabled"           // by the configuration, or by run_once
	Busy     = "states are applied" // and it is not to look meanwhile
	Failed   = "failed"             // there is something that it could not look at
)

// A Report is what became of a beacon.
type Report struct {
	Name   string
	What   string
	Events []Event
	Err    error // with Failed: there may be events as well
}

// A Runner looks once.
type Runner struct {
	Env   *fun.Env
	Store *Store
	// Deliver takes the events of a beacon. What it fails for is found again in the next run.
	Deliver func([]Event) error
}

// UnknownError says that a beacon was asked for that the configuration does not have.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no beacon %q: the configuration has none", e.Name)
	}
	return fmt.Sprintf("no beacon %q%s; the configuration has %s", e.Name, source.DidYouMean(e.Name, e.Known), fun.Some(e.Known))
}

// Run has the beacons look that are due. With names it is these, due or not. The error is
// one that kept all of them from looking.
func (r *Runner) Run(ctx context.Context, c *Config, names []string) ([]Report, error) {
	entries, err := c.chosen(names)
	if err != nil {
		return nil, err
	}
	unlock, err := r.Store.Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	state, err := r.Store.Load()
	if err != nil {
		return nil, err
	}
	if len(c.Faults) == 0 { // else a beacon that is mended would look as for the first time
		state.keep(c.Entries)
	}
	reports := make([]Report, 0, len(entries))
	for _, e := range entries {
		if ctx.Err() != nil {
			return reports, ctx.Err()
		}
		rep := r.one(ctx, c, e, state, len(names) > 0)
		reports = append(reports, rep)
		if rep.What != Looked && rep.What != Failed {
			continue
		}
		if err := r.Store.Save(state); err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// chosen returns the beacons of these names, or all.
func (c *Config) chosen(names []string) ([]*Entry, error) {
	if len(names) == 0 {
		return c.Entries, nil
	}
	out := make([]*Entry, len(names))
	for i, name := range names {
		if out[i] = c.Entry(name); out[i] == nil {
			known := make([]string, len(c.Entries))
			for j, e := range c.Entries {
				known[j] = e.Name
			}
			return nil, &UnknownError{Name: name, Known: known}
		}
	}
	return out, nil
}

// one has a beacon look.
func (r *Runner) one(ctx context.Context, c *Config, e *Entry, state *State, named bool) Report {
	rep := Report{Name: e.Name}
	past, first := state.of(e)
	now := r.Env.Host.Now()
	switch {
	case !c.Enabled || !e.Enabled || past.Done:
		rep.What = Disabled
		return rep
	case !named && !due(e, past.At, now):
		rep.What = NotDue
		return rep
	}
	if e.NotWithStates {
		busy, err := r.Env.Exec(ctx, "saltutil.is_running", nil, "state.*")
		if err != nil {
			rep.What, rep.Err = Failed, err
			return rep
		}
		if value.Truth(busy) {
			rep.What = Busy
			return rep
		}
	}
	kept := value.NewMap(4)
	if !first {
		kept = value.Clone(past.Data).(*value.Map)
	}
	found, err := e.Kind.look(ctx, &look{Entry: e, env: r.Env, state: kept, first: first})
	rep.What, rep.Err = Looked, err
	rep.Events = events(r.Env.ID, e.Name, found, now)
	if len(rep.Events) > 0 {
		if derr := r.Deliver(rep.Events); derr != nil {
			rep.What, rep.Events, rep.Err = Failed, nil, errors.Join(err, fmt.Errorf("its events go nowhere, and come again in the next run: %w", derr))
			return rep
		}
	}
	if err != nil {
		rep.What = Failed
	}
	state.set(e, Past{At: now, Done: e.Once && len(rep.Events) > 0, Data: kept})
	return rep
}

// due reports whether the interval of a beacon has passed. A timer comes a little too early
// at times.
func due(e *Entry, last, now time.Time) bool {
	const early = time.Second
	return e.Interval == 0 || last.IsZero() || last.After(now) || now.Sub(last) >= e.Interval-min(early, e.Interval/10)
}

// maxFound bounds the events of one look. A beacon that reads on from a position stops
// there, and goes on in the next run.
const maxFound = 1000

// sorted returns the keys of a mapping, sorted.
func sorted(m *value.Map) []string {
	var keys []string
	for k := range m.All() {
		keys = append(keys, value.Str(k))
	}
	slices.Sort(keys)
	return keys
}

// Try has the beacons that are enabled look, and forgets what they found: the faults are of
// what they cannot look at on this machine.
func (c *Config) Try(ctx context.Context, env *fun.Env) (faults []error) {
	for _, e := range c.Entries {
		if !c.Enabled || !e.Enabled || ctx.Err() != nil {
			continue
		}
		tried := *e
		tried.items = slices.DeleteFunc(slices.Clone(e.items), func(x item) bool { return x.name == "refresh" }) // of the lists of packages
		state := value.MapOf("since", strconv.FormatInt(env.Host.Now().Unix(), 10))                              // else the first look does not read the journal
		_, err := e.Kind.look(ctx, &look{Entry: &tried, env: env, state: state, first: true})
		for _, err := range each(err) {
			faults = append(faults, &source.Error{Pos: e.At, Err: fmt.Errorf("beacon %q: %w", e.Name, err)})
		}
	}
	return faults
}

// each returns the errors that were joined.
func each(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
