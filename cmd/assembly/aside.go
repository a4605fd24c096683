package assembly

import (
	"context"
	"fmt"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

type asideArgs struct {
	_      fun.Arguments
	Action string `arg:"action" default:"list" doc:"list, retry (send them again now) or drop (forget them)"`
	Row    string `arg:"row" doc:"glob of rows: JID/ID of a return, JID of a load, the tag of an event; drop needs one"`
	Name   string `arg:"name" default:"*" doc:"glob of returners"`
}

// aside is the runner function returner.aside.
func aside(ctx context.Context, c *fun.Call, a *asideArgs) (fun.Result, error) {
	row := a.Row
	switch a.Action {
	case "list", "retry":
		if row == "" {
			row = "*"
		}
	case "drop":
		if row == "" {
			return fun.Result{}, fun.Errorf("drop forgets rows for good: name them, as row='20261121093205123456/web1'; row='*' is all of them")
		}
	default:
		return fun.Result{}, fun.Errorf("action %q is none of list, retry and drop", a.Action)
	}
	pick := func(r jobs.AsideRow) bool { return value.Fnmatch(row, r.Name) }
	out := value.NewMap(2)
	code := 0
	for _, o := range SpoolOwners(c.Env.CacheDir) {
		if !value.Fnmatch(a.Name, o.Name) {
			continue
		}
		rows, err := asideRows(ctx, c, o, a.Action, pick)
		if err != nil {
			return fun.Result{}, fun.Errorf("%s: %v", o.Dir, err)
		}
		if rows.Len() == 0 {
			continue
		}
		for _, v := range rows.All() {
			if m, ok := v.(*value.Map); ok && a.Action == "retry" && m.At("stored") != true {
				code = 1
			}
		}
		key := o.Whose()
		if out.Has(key) {
			key += " in " + o.Dir
		}
		out.Set(key, rows)
	}
	if a.Action != "list" && out.Len() == 0 {
		return fun.Result{}, fun.Errorf("no row that was put aside matches %s; 'brine run returner.aside' lists the rows", row)
	}
	return fun.Result{Value: out, Retcode: code}, nil
}

// asideRows does what is asked with the rows of one spool.
func asideRows(ctx context.Context, c *fun.Call, o SpoolOwner, action string, pick func(jobs.AsideRow) bool) (*value.Map, error) {
	out := value.NewMap(4)
	switch action {
	case "drop":
		gone, err := jobs.DropAside(o.Dir, false, pick)
		for _, r := range gone {
			out.Set(r.Name, "dropped")
		}
		return out, err
	case "retry":
		return retryAside(ctx, c, o, pick)
	}
	rows, err := jobs.Aside(o.Dir)
	for _, r := range rows {
		if pick(r) {
			out.Set(r.Name, describe(r))
		}
	}
	return out, err
}

func describe(r jobs.AsideRow) *value.Map {
	m := value.MapOf("kind", r.Kind, "bytes", int64(r.Size), "why", r.Why, "at", r.At)
	if f := r.Data.Str("fun"); f != "" {
		m.Set("fun", f)
	}
	return m
}

// retryAside hands rows to the returner that they are for, once.
func retryAside(ctx context.Context, c *fun.Call, o SpoolOwner, pick func(jobs.AsideRow) bool) (*value.Map, error) {
	out := value.NewMap(4)
	have, err := jobs.Aside(o.Dir)
	if err != nil {
		return nil, err
	}
	any := false
	for _, r := range have {
		any = any || pick(r)
	}
	if !any {
		return out, nil
	}
	set, sp, err := o.Owned(ctx, c.Env, c.Env.CacheDir)
	if err != nil {
		return nil, err
	}
	sent, err := jobs.DropAside(o.Dir, true, pick)
	if err != nil {
		return nil, err
	}
	s := &jobs.Sink{
		Name: o.Name, Spool: sp.Dir, Owner: sp.Owner, Again: true,
		Open: func(ctx context.Context) (jobs.Returner, error) { return OpenReturner(ctx, c.Env, o.Name, set) },
		Warn: func(err error) { c.Env.Warn(fun.Warning{Text: err.Error()}) },
	}
	s.Resend()
	failed := s.Close()
	back, err := jobs.Aside(o.Dir)
	if err != nil {
		return nil, err
	}
	again := map[string]jobs.AsideRow{}
	for _, r := range back {
		again[r.Name] = r
	}
	for _, r := range sent {
		now, aside := again[r.Name]
		switch {
		case aside:
			m := describe(now)
			m.Set("stored", false)
			out.Set(r.Name, m)
		case failed != nil || jobs.Spooled(o.Dir):
			out.Set(r.Name, value.MapOf("stored", false, "why", fmt.Sprintf("it was not taken, and waits in %s for the next run", o.Dir)))
		default:
			out.Set(r.Name, value.MapOf("stored", true))
		}
	}
	return out, nil
}
