package exec

import (
	"context"
	"slices"
	"sort"
	"strings"

	"brine/internal/py/value"
)

// A stat is what requisites of one kind came to, as a set of facts.
type stat uint16

const (
	fail         stat = 1 << iota
	onfailOK          // the state that should have failed is good
	unchanged         // of onchanges
	changedStat       // of onchanges
	watchChanged      // of watch
	wouldChange       // of prereq
	wouldNot          // of prereq
	met
)

// A class is kinds that look at a state in the same way.
type class uint8

const (
	classRequire class = iota
	classWatch
	classOnfail
	classOnchanges
	classPrereq
	classPrerequired
	classes
)

func (k kind) class() class {
	switch k {
	case watch, watchAny:
		return classWatch
	case onfail, onfailAny, onfailAll:
		return classOnfail
	case onchanges, onchangesAny:
		return classOnchanges
	case prereq:
		return classPrereq
	case prerequired:
		return classPrerequired
	default:
		return classRequire
	}
}

// An outcome is what requisites see of a return.
type outcome struct {
	result  value.Value // true, false or nil
	changed bool
	ran     bool // __state_ran__
}

func outcomeOf(ret *value.Map) outcome {
	o := outcome{result: ret.At("result"), changed: value.Truth(ret.At("changes")), ran: true}
	if v, ok := ret.Get("__state_ran__"); ok {
		o.ran = value.Truth(v)
	}
	return o
}

// outcome is what requisites see of a return. A state that fails in the making of a
// plan may not fail in the run, where the states before it have acted: those that
// require it are planned all the same.
func (r *run) outcome(ret *value.Map) outcome {
	o := outcomeOf(ret)
	if r.planned && o.result == false {
		o.result, o.changed = nil, true
	}
	return o
}

func (o outcome) stat(c class) stat {
	var s stat
	if c == classOnfail {
		if o.result == true {
			return onfailOK
		}
	} else if o.result == false {
		return fail
	}
	switch {
	case c == classOnchanges && o.changed:
		return changedStat
	case c == classOnchanges:
		return unchanged
	case c == classWatch && o.changed:
		return watchChanged
	case c == classPrereq && o.result != nil:
		return wouldNot
	case c == classPrereq:
		s |= wouldChange
	case c == classPrerequired && o.result != nil:
		return s
	}
	if o.ran {
		s |= met
	}
	return s
}

// combine applies the rules of the _any and _all forms to what one kind of
// requisite came to.
func (k kind) combine(s stat) stat {
	switch k {
	case requireAny, watchAny, onfail, onfailAny, onchangesAny:
		if s&(met|watchChanged) != 0 {
			s &^= fail
		}
		if s&changedStat != 0 {
			s &^= unchanged | fail
		}
		if s&met != 0 {
			s &^= onfailOK
		}
	case onfailAll:
		if s&onfailOK != 0 {
			s &^= met
		}
	default: // every state counts
	}
	return s
}

// A status is what all requisites of a state mean for it.
type status uint8

const (
	goAhead status = iota
	goWatch
	failedReq
	noChanges
	noFailure
	noneChanged
)

func statusOf(s stat) status {
	switch {
	case s&fail != 0:
		return failedReq
	case s&wouldNot != 0:
		if s&wouldChange != 0 {
			return goAhead
		}
		return noChanges
	case s&onfailOK != 0 && s&changedStat == 0:
		return noFailure
	case s&unchanged != 0 && s&changedStat == 0:
		return noneChanged
	case s&watchChanged != 0:
		return goWatch
	case s&onfailOK != 0:
		return noFailure
	}
	return goAhead
}

// stats returns what the requisites of n came to.
func (r *run) stats(ctx context.Context, n *node, dry bool) stat {
	var all stat
	for i := 0; i < len(n.reqs); {
		k := n.reqs[i].kind
		var s stat
		for ; i < len(n.reqs) && n.reqs[i].kind == k; i++ {
			if !dry || k != prerequired {
				s |= r.groupStat(ctx, n.reqs[i].g, k.class())
			}
		}
		all |= k.combine(s)
	}
	return all
}

func (r *run) groupStat(ctx context.Context, g *group, c class) stat {
	if g.known[c] {
		return g.memo[c]
	}
	var s stat
	settled := true
	for _, m := range g.nodes {
		if m.par != nil {
			r.await(ctx, m)
		}
		switch {
		case c == classPrereq && m.dry != nil:
			s |= m.dry.stat(c)
		case m.done:
			s |= m.out.stat(c)
		default:
			settled = false // a dry run that does not wait for the state it is made for
		}
	}
	g.memo[c], g.known[c] = s, settled
	return s
}

// failedReqs names the requisites of n that failed, as SLS.ID, sorted.
func (r *run) failedReqs(n *node, dry bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range n.reqs {
		if dry && e.kind == prerequired {
			continue
		}
		for _, m := range e.g.nodes {
			o := &m.out
			if m.dry != nil {
				o = m.dry
			}
			if m.dry == nil && !m.done || o.result != false && (!m.done || m.out.result != false) {
				continue
			}
			key := value.Str(m.c.Low.At("__sls__")) + "." + m.c.ID
			if !seen[key] {
				seen[key] = true
				out = append(out, key)
			}
		}
	}
	sort.Strings(out)
	return out
}

// notFound reports requisites that name nothing.
func (r *run) notFound(n *node, dry bool) {
	var b strings.Builder
	b.WriteString("The following requisites were not found:\n")
	last := kinds
	for _, l := range n.lost {
		if l.kind != last {
			b.WriteString(strings.Repeat(" ", 19) + kindNames[l.kind] + ":\n")
			last = l.kind
		}
		b.WriteString(strings.Repeat(" ", 23) + l.ref.state + ": " + value.Str(l.ref.val) + "\n")
	}
	r.pass(n, dry, value.MapOf("result", false, "comment", b.String()))
	r.placeLost(n)
}

// recursive reports that f's state requires m, which waits for it.
func (r *run) recursive(f *frame, m *node, asDry bool) {
	n, dry := f.n, f.dry
	var path []string
	for _, v := range slices.Backward(r.stack) {
		path = append(path, describe(v.n))
		if v.n == m && v.dry == asDry {
			break
		}
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	r.warnOnce(n.c, "", "requisites form a cycle: "+strings.Join(append(path, describe(m)), " -> "))
	ret := value.MapOf("changes", value.NewMap(0), "result", false, "comment", "Recursive requisite found", "__run_num__", r.nextNum())
	r.identify(n, ret)
	if dry {
		o := outcomeOf(ret)
		n.dry, n.dryRet = &o, ret
	}
	r.put(n, ret)
}

func describe(n *node) string {
	s := n.c.State + ": " + n.c.ID
	if !n.c.Pos.IsZero() {
		s += " (" + n.c.Pos.String() + ")"
	}
	return s
}
