package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/runner/high"
)

// readTop checks the top files of the states and returns what runs together.
func (r *run) readTop(ctx context.Context) []company {
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
	var entries []topEntry
	for env, v := range t.Data.All() {
		saltenv, _ := env.(string)
		matches, _ := v.(*value.Map)
		entries = append(entries, r.topEntries(ctx, saltenv, matches)...)
	}
	return r.companies(entries)
}

// topEntries returns the targets of a top file in an environment.
func (r *run) topEntries(ctx context.Context, saltenv string, matches *value.Map) (entries []topEntry) {
	all, err := fun.ListSLS(ctx, r.env.Up, saltenv)
	if err != nil {
		return nil
	}
	for tgt, v := range matches.All() {
		list, _ := v.(*value.List)
		e := topEntry{saltenv: saltenv, names: r.topNames(ctx, saltenv, all, list), text: value.Str(tgt)}
		if e.means = r.meaning(r.sys, tgt, list); e.means == nil {
			e.never = r.someSystem(tgt, list)
		}
		e.all = slices.ContainsFunc(e.means, func(c clause) bool { return len(c) == 0 })
		entries = append(entries, e)
	}
	return entries
}

// companies returns the SLS files that run together by the top file: for each of its targets
// those of the target, and those of all targets that its machines match for sure. A target that
// no machine of this system matches is left out, if it means one of the others.
func (r *run) companies(entries []topEntry) (out []company) {
	some := slices.ContainsFunc(entries, func(e topEntry) bool { return !e.all && len(e.means) > 0 })
	for i, own := range entries {
		for _, name := range own.names {
			key := own.saltenv + "\x00" + name
			was, has := r.never[key]
			r.never[key] = own.never && (was || !has)
		}
		if own.never || own.all && some && len(entries) > 1 {
			continue // they are part of the others
		}
		matches := together(entries, i)
		if len(matches) == 0 {
			continue
		}
		key := keyOf(matches)
		at := slices.IndexFunc(out, func(c company) bool { return keyOf(c.matches) == key })
		if at < 0 {
			at = len(out)
			out = append(out, company{matches: matches})
		}
		out[at].targets = append(out[at].targets, own)
	}
	return out
}

// A topEntry is the SLS files of a target of a top file.
type topEntry struct {
	saltenv, text string
	names         []string
	means         meaning
	all           bool // every machine has them
	never         bool // no machine of this system has them
}

// A company is SLS files that the machines of some targets have for sure.
type company struct {
	matches []high.Match
	targets []topEntry
}

// textsOf returns targets for a message.
func textsOf(targets []topEntry) string {
	var texts []string
	for _, t := range targets[:min(3, len(targets))] {
		texts = append(texts, strconv.Quote(clean(t.text)))
	}
	if more := len(targets) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

// together returns the SLS files of an entry with those that all of its machines have, in the order
// of the top file.
func together(entries []topEntry, own int) (out []high.Match) {
	for i, e := range entries {
		if len(e.names) == 0 || i != own && !e.all && (e.never || !entries[own].means.implies(e.means)) {
			continue
		}
		at := slices.IndexFunc(out, func(m high.Match) bool { return m.SaltEnv == e.saltenv })
		if at < 0 {
			at = len(out)
			out = append(out, high.Match{SaltEnv: e.saltenv})
		}
		for _, name := range e.names {
			if !slices.Contains(out[at].SLS, name) {
				out[at].SLS = append(out[at].SLS, name)
			}
		}
	}
	return out
}

// matchKind returns the kind of a target of a top file.
func matchKind(list *value.List) string {
	kind := "glob"
	for _, item := range list.Elems() {
		if m, ok := item.(*value.Map); ok && m.Has("match") {
			kind = m.Str("match")
		}
	}
	return kind
}

// meaning returns what a target of a top file means on a system; nil: no machine of it.
func (r *run) meaning(sys System, tgt value.Value, list *value.List) meaning {
	text := value.Str(tgt)
	if isUnknown(text) {
		return meaning{{literal{kind: "unknown", pattern: text}}}
	}
	grains, id := value.Mapping(sys.Grains), sys.Grains.Str("id")
	nodegroups, _ := r.env.Opts.At("nodegroups").(*value.Map)
	return meaningOf(grains, id, nodegroups, text, matchKind(list)).possible()
}

// meansSystem reports whether a target means all machines with some grains, and whether this is
// known: the target asks for nothing else, and for no grain that is not known.
func meansSystem(grains value.Mapping, text, kind string) (means, known bool) {
	if targetAsks(kind, text) {
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
	means, err = m.Match(target.Minion{Grains: func() value.Mapping { return touched{grains, &asked} }})
	return means && !asked, err == nil && !asked
}

// someSystem reports whether a target of a top file means machines of some of the systems.
func (r *run) someSystem(tgt value.Value, list *value.List) bool {
	return slices.ContainsFunc(r.l.o.Systems, func(s System) bool { return r.meaning(s, tgt, list) != nil })
}

// apart reports whether a place is only in SLS files that the top file gives to no machine of
// this system, and that nothing else includes.
func (r *run) apart(pos source.Pos) bool {
	some := false
	for _, u := range r.units {
		if !u.ran[pos.File] {
			continue
		}
		if u.own == "" || !r.never[keyOf(u.matches)] {
			return false
		}
		some = true
	}
	return some
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
