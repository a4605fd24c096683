package lint

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// readTop checks the top files of the states and returns what runs together.
func (r *run) readTop(ctx context.Context) []high.Match {
	r.engine = render.For(r.env).Run()
	r.asked, r.never = false, map[string]bool{}
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
// machine has. Targets that ask for grains alone are known: on a system that one means,
// every machine has its files; on others, it is left out if it means some system.
func (r *run) companies(ctx context.Context, saltenv string, matches *value.Map) []high.Match {
	var entries []topEntry
	some := false
	all, err := fun.ListSLS(ctx, r.env.Up, saltenv)
	if err != nil {
		return nil
	}
	for tgt, v := range matches.All() {
		list, _ := v.(*value.List)
		e := topEntry{names: r.topNames(ctx, saltenv, all, list), all: isEveryone(tgt, list)}
		if means, known := meansSystem(r.env.Grains, tgt, list); known && !e.all {
			e.all, e.never = means, !means && r.l.someSystem(tgt, list)
		}
		some = some || !e.all
		entries = append(entries, e)
	}
	var out []high.Match
	for i, own := range entries {
		for _, name := range own.names {
			key := saltenv + "\x00" + name
			was, has := r.never[key]
			r.never[key] = own.never && (was || !has)
		}
		if own.never || own.all && some && len(entries) > 1 {
			continue // they are part of the others
		}
		names := together(entries, i)
		again := func(m high.Match) bool { return slices.Equal(m.SLS, names) }
		if len(names) > 0 && !slices.ContainsFunc(out, again) {
			out = append(out, high.Match{SaltEnv: saltenv, SLS: names})
		}
	}
	return out
}

// A topEntry is the SLS files of a target of a top file.
type topEntry struct {
	names []string
	all   bool // every machine has them
	never bool // no machine of this system has them
}

// together returns the SLS files of an entry with those that every machine has, in the order of
// the top file.
func together(entries []topEntry, own int) (names []string) {
	for i, e := range entries {
		if i != own && !e.all {
			continue
		}
		for _, name := range e.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// meansSystem reports whether a target of a top file means all machines with some grains, and
// whether this is known: the target asks for nothing else, and for no grain that is not known.
func meansSystem(grains value.Mapping, tgt value.Value, list *value.List) (means, known bool) {
	kind := "glob"
	for _, item := range list.Elems() {
		if m, ok := item.(*value.Map); ok && m.Has("match") {
			kind = m.Str("match")
		}
	}
	text, ok := tgt.(string)
	if !ok || isUnknown(text) || kind != "grain" && kind != "grain_pcre" && kind != "compound" || targetAsks(kind, text) {
		return false, false
	}
	m, err := target.Compile(text, kind, nil)
	if err != nil {
		return false, false
	}
	if _, pillar := m.Needs(); pillar {
		return false, false
	}
	asked := false
	if k, ok := grains.(knownMap); ok {
		grains = k.Mapping
	}
	means, err = m.Match(target.Minion{Grains: func() value.Mapping { return touched{grains, &asked} }})
	return means && !asked, err == nil && !asked
}

// someSystem reports whether a target of a top file means some of the systems.
func (l *linter) someSystem(tgt value.Value, list *value.List) bool {
	return slices.ContainsFunc(l.o.Systems, func(s System) bool {
		means, known := meansSystem(s.Grains, tgt, list)
		return means && known
	})
}

// apart reports whether a place is only in SLS files that the top file gives to no machine of
// this system, and that nothing else includes.
func (r *run) apart(pos source.Pos) bool {
	some := false
	for _, u := range r.units {
		if !u.ran[pos.File] {
			continue
		}
		if u.own == "" || len(u.match.SLS) != 1 || !r.never[u.match.SaltEnv+"\x00"+u.match.SLS[0]] {
			return false
		}
		some = true
	}
	return some
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
