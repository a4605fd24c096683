package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxListed is how many differences of a kind are listed one by one.
const maxListed = 10

// Compare returns what became different since old was made, one sentence each;
// nothing where now would do what old would.
func Compare(old, now *Plan) []string {
	var out []string
	out = append(out, diffHashes("file", old.Inputs.Tree, now.Inputs.Tree)...)
	out = append(out, diffHashes("git repository", old.Inputs.Sources, now.Inputs.Sources)...)
	out = append(out, diffHashes("roster entry", old.Inputs.Roster, now.Inputs.Roster)...)
	out = append(out, diffHashes("pillar of", old.Inputs.Pillar, now.Inputs.Pillar)...)
	out = append(out, diffHashes("option", old.Inputs.Options, now.Inputs.Options)...)
	if old.Inputs.Definition != now.Inputs.Definition {
		what := "chain"
		if old.Command.Kind == Template {
			what = "template, or the answers to it,"
		}
		out = append(out, "the "+what+" changed")
	}
	if old.Inputs.Rendered != now.Inputs.Rendered {
		out = append(out, "the rendered orchestration changed")
	}
	return append(out, diffSteps(old.Steps, now.Steps, "")...)
}

// diffHashes compares hashes by name.
func diffHashes(what string, old, now map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(old)) {
		switch h, ok := now[name]; {
		case !ok:
			out = append(out, what+" "+name+" is gone")
		case h != old[name]:
			out = append(out, what+" "+name+" changed")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := old[name]; !ok {
			out = append(out, what+" "+name+" is new")
		}
	}
	return bounded(out, what)
}

// bounded cuts a list of differences.
func bounded(list []string, what string) []string {
	if len(list) <= maxListed {
		return list
	}
	return append(list[:maxListed:maxListed], fmt.Sprintf("%s: %d more", what, len(list)-maxListed))
}

// key tells the steps of an orchestration apart: an ID may have several.
func (s *Step) key() string { return s.ID + between + s.Fun + between + s.Name }

// diffSteps compares the steps of an orchestration; within says in messages of which
// one, where it is within another.
func diffSteps(old, now []*Step, within string) []string {
	was, is := map[string]*Step{}, map[string]*Step{}
	for _, s := range old {
		was[s.key()] = s
	}
	for _, s := range now {
		is[s.key()] = s
	}
	var out []string
	for _, s := range old {
		n := is[s.key()]
		if n == nil {
			out = append(out, fmt.Sprintf("step %s%s is gone", s.ID, within))
			continue
		}
		out = append(out, diffStep(s, n, within)...)
	}
	for _, s := range now {
		if was[s.key()] == nil {
			out = append(out, fmt.Sprintf("step %s%s is new", s.ID, within))
		}
	}
	if len(out) == 0 && !slices.EqualFunc(old, now, func(a, b *Step) bool { return a.key() == b.key() }) {
		out = append(out, "the order of the steps"+within+" changed")
	}
	return out
}

func diffStep(old, now *Step, within string) []string {
	var out []string
	name := old.ID + within
	gone, added := missing(old.Targets, now.Targets), missing(now.Targets, old.Targets)
	if len(gone) > 0 {
		out = append(out, fmt.Sprintf("step %s: no longer a target: %s", name, strings.Join(bounded(gone, "and"), ", ")))
	}
	if len(added) > 0 {
		out = append(out, fmt.Sprintf("step %s: a new target: %s", name, strings.Join(bounded(added, "and"), ", ")))
	}
	if old.Skipped != now.Skipped || old.Unknown != now.Unknown {
		out = append(out, fmt.Sprintf("step %s: whether it runs changed", name))
	}
	if old.Orchestration != now.Orchestration || old.Rendered != now.Rendered {
		out = append(out, fmt.Sprintf("step %s: the rendered orchestration changed", name))
	}
	var hosts []string
	before, after := old.byHost(), now.byHost()
	for _, id := range slices.Sorted(maps.Keys(old.Hosts)) {
		was, is := old.Hosts[id], now.Hosts[id]
		switch {
		case is == Hashes{}, was == is:
		case was.Answer != is.Answer:
			hosts = append(hosts, fmt.Sprintf("step %s: %s answers differently%s", name, id, diffStates(before[id], after[id])))
		default:
			hosts = append(hosts, fmt.Sprintf("step %s: the rendered states of %s changed", name, id))
		}
	}
	out = append(out, bounded(hosts, "step "+name)...)
	var faults []string
	for _, f := range now.Faults {
		if f.Unmatched && slices.ContainsFunc(old.Faults, func(o Fault) bool { return o.Unmatched && o.Host == f.Host }) {
			continue
		}
		faults = append(faults, fmt.Sprintf("step %s: %s: %s", name, f.Host, f.Reason))
	}
	out = append(out, bounded(faults, "step "+name)...)
	return append(out, diffSteps(old.Steps, now.Steps, " of "+name)...)
}

// missing returns what of a is not in b.
func missing(a, b []string) []string {
	have := make(map[string]bool, len(b))
	for _, x := range b {
		have[x] = true
	}
	var out []string
	for _, x := range a {
		if !have[x] {
			out = append(out, x)
		}
	}
	return out
}

// byHost returns the states of a step by machine.
func (s *Step) byHost() map[string][]*State {
	out := map[string][]*State{}
	for _, g := range s.Groups {
		for _, id := range g.Hosts {
			out[id] = g.States
		}
	}
	return out
}

// diffStates names the states in which two answers differ.
func diffStates(old, now []*State) string {
	tag := func(st *State) string { return st.Fun + " " + st.ID + " " + st.Name }
	was := map[string]*State{}
	for _, st := range old {
		was[tag(st)] = st
	}
	var out []string
	for _, st := range now {
		o := was[tag(st)]
		delete(was, tag(st))
		switch {
		case o == nil:
			out = append(out, fmt.Sprintf("%s (%s) is due now", st.ID, st.Fun))
		case digest(o) != digest(st):
			out = append(out, fmt.Sprintf("%s (%s) would do something else", st.ID, st.Fun))
		}
	}
	for _, st := range old {
		if was[tag(st)] != nil {
			out = append(out, fmt.Sprintf("%s (%s) is no longer due", st.ID, st.Fun))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(bounded(out, "and"), ", ")
}
