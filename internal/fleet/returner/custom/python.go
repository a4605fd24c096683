package custom

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/core/python"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A module is a returner in Python.
type module struct {
	m    *python.Module
	path string
}

// saver is a module that stores the loads of jobs, too; listener one that stores
// events, too.
type (
	saver    struct{ *module }
	listener struct{ *module }
	both     struct {
		saver
		listens listener
	}
)

// load loads a returner in Python that is to serve under a name.
func load(ctx context.Context, env *fun.Env, f fun.FileInfo, name string) (jobs.Returner, error) {
	m, err := python.OpenFile(ctx, env, "returners", f)
	if err != nil {
		return nil, err
	}
	if m.Name() != name {
		return nil, fmt.Errorf("salt://%s serves as %s here", f.Path, m.Name())
	}
	r := &module{m, "salt://" + f.Path}
	if !m.Has("returner") && !m.Has("event_return") {
		return nil, fmt.Errorf("%s has no function returner", r.path)
	}
	switch saves, hears := m.Has("save_load"), m.Has("event_return"); {
	case saves && hears:
		return both{saver{r}, listener{r}}, nil
	case saves:
		return saver{r}, nil
	case hears:
		return listener{r}, nil
	}
	return r, nil
}

// Return hands each return to the function returner.
func (r *module) Return(ctx context.Context, rets []*value.Map) error {
	if !r.m.Has("returner") {
		return nil
	}
	for _, ret := range rets {
		if err := r.call(ctx, "returner", ret); err != nil {
			return err
		}
	}
	return nil
}

func (r *module) call(ctx context.Context, function string, args ...value.Value) error {
	_, err := r.m.Call(ctx, function, value.NewList(args...), nil)
	if re, ok := python.Raised(err); ok {
		return fmt.Errorf("%s: %w", function, re)
	}
	return err
}

// Unsure says that the function may have stored a return and failed all the same.
func (r *module) Unsure() {}

// Close ends nothing: the helper ends with the run.
func (r *module) Close() error { return nil }

// SaveLoad hands the load of each job to the function save_load.
func (s saver) SaveLoad(ctx context.Context, loads []*value.Map) error {
	for _, l := range loads {
		if err := s.call(ctx, "save_load", l.At("jid"), l); err != nil {
			return err
		}
	}
	return nil
}

// SaveEvents hands the events to the function event_return.
func (l listener) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	list := &value.List{}
	for _, e := range events {
		list.Append(value.MapOf("tag", e.Tag, "data", e.Data))
	}
	return l.call(ctx, "event_return", list)
}

// SaveEvents hands the events to the function event_return.
func (b both) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	return b.listens.SaveEvents(ctx, events)
}
