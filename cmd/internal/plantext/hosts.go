package plantext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/internal/view/plan"
)

// groups returns what would happen on the hosts of a step: below the hosts that are
// alike, or by the IDs of the states with what differs between hosts below them,
// whichever is shorter.
func (c *colours) groups(groups []*plan.Group) []line {
	bodies := map[*plan.State]*body{}
	for _, g := range groups {
		for _, st := range g.States {
			bodies[st] = c.state(st)
		}
	}
	if len(groups) > 1 {
		size := 0
		for _, g := range groups {
			size += groupSize(g, bodies)
		}
		if joint := c.joint(groups, bodies); len(joint) < size {
			return joint
		}
	}
	var each []line
	for _, g := range groups {
		each = append(each, group(g, bodies)...)
	}
	return each
}

// groupSize is how many lines group returns.
func groupSize(g *plan.Group, bodies map[*plan.State]*body) int {
	n := 1
	for _, st := range g.States {
		n += len(bodies[st].lines)
	}
	if g.Same > 0 || len(g.States) == 0 {
		n++
	}
	return n
}

// group returns what would happen on hosts that are alike.
func group(g *plan.Group, bodies map[*plan.State]*body) []line {
	out := []line{lineOf(3, "", "%s", Hosts(g.Hosts))}
	if len(g.States) == 0 {
		return append(out, lineOf(5, "", "nothing to change (%s)", Count(g.Same, "state")))
	}
	for _, st := range g.States {
		out = append(out, bodies[st].lines...)
	}
	if g.Same > 0 {
		out = append(out, lineOf(5, "", "%s without changes", Count(g.Same, "state")))
	}
	return out
}

// joint returns the states of groups by their IDs.
func (c *colours) joint(groups []*plan.Group, bodies map[*plan.State]*body) []line {
	all := []string{}
	for _, g := range groups {
		all = append(all, g.Hosts...)
	}
	out := []line{lineOf(3, "", "%s", Hosts(all))}
	if verdicts := plan.Verdicts(groups); len(verdicts) > 1 {
		for _, v := range Verdicts {
			if ids := verdicts[v.Effect]; len(ids) > 0 {
				out = append(out, lineOf(5, c.of(v.Effect), "%s: %s", v.Text, Hosts(ids)))
			}
		}
	}
	w := newWords(bodies)
	for _, j := range plan.Joints(groups) {
		last := ""
		for _, a := range share(j, bodies, w) {
			if a.lines[0].text != last {
				out = append(out, a.lines[0])
				last = a.lines[0].text
			}
			if len(a.hosts) < len(all) {
				out = append(out, lineOf(7, "", "%s", someHosts(a.hosts, len(all))))
			}
			out = append(out, a.lines[1:]...)
		}
	}
	out = append(out, same(groups, len(all))...)
	return append(out, w.lines()...)
}

// Verdicts are what a plan says of hosts, in words, the one that weighs most first.
var Verdicts = [...]struct{ Effect, Text string }{
	{plan.Fail, "would fail"},
	{plan.MayFail, "may fail"},
	{plan.Unknown, "not known yet"},
	{plan.Change, "would change"},
	{"", "nothing to change"},
}

// of returns the colour of an effect.
func (c *colours) of(effect string) string {
	switch effect {
	case plan.Fail:
		return c.remove
	case plan.Unknown, plan.MayFail:
		return c.warn
	}
	return ""
}

// someHosts names some of all hosts: "on 2 of 50 hosts: web[1-2]".
func someHosts(ids []string, all int) string {
	_, names, _ := strings.Cut(Hosts(ids), ": ")
	return fmt.Sprintf("on %d of %s: %s", len(ids), Count(all, "host"), names)
}

// same says how many states would change nothing, and on which hosts.
func same(groups []*plan.Group, all int) []line {
	hosts := map[int][]string{}
	for _, g := range groups {
		hosts[g.Same] = append(hosts[g.Same], g.Hosts...)
	}
	var out []line
	for _, n := range slices.SortedFunc(maps.Keys(hosts), func(a, b int) int { return cmp.Compare(b, a) }) {
		text := Count(n, "state") + " without changes"
		if len(hosts[n]) < all {
			text += " " + someHosts(hosts[n], all)
		}
		if n > 0 || len(hosts) > 1 {
			out = append(out, lineOf(5, "", "%s", text))
		}
	}
	return out
}

// A faulty is hosts without a plan for the same reason.
type faulty struct{ who, reason string }

// joinFaults puts hosts together that were not reached for the same reason.
func joinFaults(faults []plan.Fault) []faulty {
	var out []faulty
	type why struct {
		reason    string
		unreached bool
	}
	hosts := map[why][]string{}
	for _, f := range faults {
		if !f.Unmatched {
			k := why{f.Reason, f.Unreached}
			hosts[k] = append(hosts[k], f.Host)
		}
	}
	for _, f := range faults {
		k := why{f.Reason, f.Unreached}
		who := f.Host
		if ids := hosts[k]; !f.Unmatched && len(ids) > 1 {
			if ids[0] != f.Host {
				continue
			}
			who = Hosts(ids)
		}
		out = append(out, faulty{who, oneLine(f.Reason)})
	}
	return out
}
