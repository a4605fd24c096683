package lint

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// readTop checks the top files of the states and returns what runs together.
func (r *run) readTop(ctx context.Context) []high.Match {
	r.engine = render.For(r.env).Run()
	r.asked = false
	c := high.New(r.env, r.render)
	t, err := c.Top(ctx, high.TopRequest{})
	if err != nil {
		r.faults(source.Faults(err))
		return nil
	}
	r.faults(t.Faults)
	faults := t.Verify()
	r.faults(faults)
	if len(faults) > 0 {
		return nil
	}
	var out []high.Match
	for env, v := range t.Data.All() {
		saltenv, _ := env.(string)
		matches, _ := v.(*value.Map)
		out = append(out, r.companies(ctx, saltenv, matches)...)
	}
	return out
}

// companies returns the SLS files that run together by the top file of an
// environment: for each of its targets those of the target, and those that every
// machine has.
func (r *run) companies(ctx context.Context, saltenv string, matches *value.Map) []high.Match {
	type entry struct {
		names []string
		all   bool // every machine has them
	}
	var entries []entry
	some := false
	all, err := fun.ListSLS(ctx, r.env.Up, saltenv)
	if err != nil {
		return nil
	}
	for target, v := range matches.All() {
		list, _ := v.(*value.List)
		e := entry{r.topNames(ctx, saltenv, all, list), isEveryone(target, list)}
		some = some || !e.all
		entries = append(entries, e)
	}
	var out []high.Match
	for i, own := range entries {
		if own.all && some && len(entries) > 1 {
			continue // they are part of the others
		}
		var names []string
		for j, e := range entries {
			if i != j && !e.all {
				continue
			}
			for _, name := range e.names {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if len(names) > 0 {
			out = append(out, high.Match{SaltEnv: saltenv, SLS: names})
		}
	}
	return out
}

// isEveryone reports whether a target of a top file matches every machine.
func isEveryone(target value.Value, list *value.List) bool {
	for _, item := range list.Elems() {
		if m, ok := item.(*value.Map); ok && m.Has("match") && m.Str("match") != "glob" && m.Str("match") != "compound" {
			return false
		}
	}
	return target == "*"
}

// topNames returns the SLS files that a target has in a top file, of all that the
// environment has; one that is missing is a finding.
func (r *run) topNames(ctx context.Context, saltenv string, all []string, list *value.List) []string {
	var names []string
	for i := range list.Len() {
		name, ok := list.Items[i].(string)
		if isUnknown(name) {
			r.unjudged(list.PosAt(i), "which SLS it is: "+machineOnly)
		}
		if !ok || isUnknown(name) {
			continue
		}
		_, err := fun.FindSLS(ctx, r.env.Up, saltenv, name)
		switch {
		case value.HasGlob(name) && len(value.FnmatchFilter(all, name)) > 0, err == nil:
			names = append(names, name)
		case errors.Is(err, fs.ErrNotExist):
			f := Finding{Rule: missingInclude, Pos: list.PosAt(i), Message: "SLS " + name + " of the top file does not exist in saltenv " + saltenv}
			if near, ok := source.Nearest(name, all); ok {
				f.Hint = "did you mean \"" + near + "\"?"
			}
			r.add(f)
		}
	}
	return names
}
