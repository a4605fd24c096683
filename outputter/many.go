package outputter

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"strings"

	"brine/internal/py/value"
)

// A step of an orchestration may have thousands of targets. Above the number
// of Options.GroupAbove their equal results are printed together, what failed last, and names are
// folded.

// GroupAbove has the results of a step with more than n targets printed together
// where they are equal, with the names that fold makes of the targets. 0 is never.
func (o *Options) GroupAbove(n int, fold func(ids []string) string) {
	if n <= 0 {
		o.many = nil
		return
	}
	o.many = &many{most: n, fold: fold, together: together, failed: failedStates, calls: foldedCalls, comment: foldedComment}
}

// many is how the results of many targets are printed. It has its functions as
// values, so that programs that never group do not have them.
type many struct {
	most     int
	fold     func(ids []string) string
	together func(targets value.Mapping, failed func(value.Value) bool, fold func(ids []string) string) []*resultGroup
	failed   func(v value.Value) bool // of the states of a target
	calls    func(m *many, changes *value.Map) *value.Map
	comment  func(m *many, comment string) string
}

// are reports whether n targets are many; nil: they never are.
func (m *many) are(n int) bool { return m != nil && n > m.most }

// resultGroup are targets with equal results.
type resultGroup struct {
	ids  []string
	v    value.Value // of the first
	bad  bool
	text [sha256.Size]byte // of the result of the first
	own  bool              // the results differ in the ids of the targets
	name string
}

// ownID stands for the id of each target where results differ in nothing else.
const ownID = "<id>"

// minOwnID is how long an id is at least that ownID stands for: a shorter one is part
// of too many words.
const minOwnID = 3

// Size is how many targets there are.
func (g *resultGroup) Size() int { return len(g.ids) }

// Failed reports whether the targets failed.
func (g *resultGroup) Failed() bool { return g.bad }

// Result is what the targets returned, with [ownID] for their ids.
func (g *resultGroup) Result() value.Value {
	if _, states := g.v.(*value.Map); !states || g.own || len(g.ids[0]) < minOwnID {
		return g.v
	}
	return renamed(g.v, g.ids[0], ownID)
}

// renamed is a result with another name in the place of a target's.
func renamed(v value.Value, id, as string) value.Value {
	if out, err := value.ParseJSON(strings.ReplaceAll(string(value.EncodeJSON(v)), id, as)); err == nil {
		return out
	}
	return v
}

// together returns the targets of a step with equal results: those that failed
// last, where the prompt is near, else in the order in which they come. The states of two
// targets are equal, too, where they differ in their ids alone. Of targets that are nearly
// like a larger group, only what differs is left; where nothing failed, they are below it.
func together(targets value.Mapping, failed func(value.Value) bool, fold func(ids []string) string) []*resultGroup {
	byKey := map[[sha256.Size]byte]*resultGroup{}
	var good, bad []*resultGroup
	for _, k := range targets.Keys() {
		v, _ := targets.Get(k)
		id := value.Str(k)
		text := value.EncodeJSON(Timeless(v))
		whole := sha256.Sum256(text)
		key := whole
		if _, states := v.(*value.Map); states && len(id) >= minOwnID {
			key = sha256.Sum256(bytes.ReplaceAll(text, []byte(id), []byte(ownID)))
		}
		a := byKey[key]
		if a == nil {
			a = &resultGroup{v: v, bad: failed(v), text: whole}
			byKey[key] = a
			if a.bad {
				bad = append(bad, a)
			} else {
				good = append(good, a)
			}
		}
		a.ids = append(a.ids, id)
		a.own = a.own || a.text != whole
	}
	all := append(good, bad...)
	for _, a := range all {
		a.name = fold(a.ids)
		if a.own {
			a.v = renamed(a.v, a.ids[0], ownID)
		}
	}
	return withNear(all)
}

// withNear leaves of groups that are nearly like a larger one what differs.
func withNear(all []*resultGroup) []*resultGroup {
	near := Nearest(all)
	below := map[*resultGroup][]*resultGroup{}
	var own []*resultGroup // in a place of their own
	for _, a := range all {
		n, ok := near[a]
		if ok {
			a.v, a.name = n.Differs(a.v), a.name+n.Text(n.Base.name)
		}
		if ok && !a.bad {
			below[n.Base] = append(below[n.Base], a)
		} else {
			own = append(own, a)
		}
	}
	var out []*resultGroup
	for _, a := range own {
		out = append(append(out, a), below[a]...)
	}
	return out
}

// failedStates reports whether a target failed whose states a step ran: one of them
// did, or there are none, such as where they did not compile.
func failedStates(v value.Value) bool {
	states, ok := v.(*value.Map)
	if !ok {
		return v != true
	}
	for _, x := range states.All() {
		if st, ok := x.(*value.Map); ok && st.Has("__run_num__") && st.At("result") == false {
			return true
		}
	}
	return false
}

// failedCall reports whether a function returned False, or states of which one
// failed. Anything else, such as a list, may be what a function returns that
// succeeds.
func failedCall(v value.Value) bool {
	_, isMap := v.(*value.Map)
	return v == false || isMap && failedStates(v)
}

// foldedCalls are the changes of salt.function, its targets with equal returns
// together, those that failed in a block of their own; see failedCall.
func foldedCalls(m *many, changes *value.Map) *value.Map {
	targets, ok := changes.At("ret").(*value.Map)
	if !ok || !m.are(targets.Len()) {
		return changes
	}
	bad, good := value.NewMap(0), value.NewMap(0)
	for _, a := range together(targets, failedCall, m.fold) {
		if a.bad {
			bad.Set(a.name, a.v)
		} else {
			good.Set(a.name, a.v)
		}
	}
	out := changes.Copy()
	out.Set("ret", good)
	if bad.Len() > 0 {
		out.Set("failed", bad) // nested sorts: before ret
	}
	return out
}

// foldedComment is the comment of a step with long lists of targets folded.
func foldedComment(m *many, comment string) string {
	if !m.are(strings.Count(comment, ", ")) {
		return comment
	}
	nameLists := regexp.MustCompile(`[^\s,]+(?:, [^\s,]+)+`)
	return nameLists.ReplaceAllStringFunc(comment, func(list string) string {
		end := ""
		if s, dot := strings.CutSuffix(list, "."); dot {
			list, end = s, "."
		}
		names := strings.Split(list, ", ")
		if !m.are(len(names)) {
			return list + end
		}
		return m.fold(names) + end
	})
}
