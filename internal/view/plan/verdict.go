package plan

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Verdict returns what a run for a plan says of a return: why it is not known what the
// state does; "" where that is known. judged is false where nobody has asked that, as in
// the returns of Salt's minions.
func Verdict(ret *value.Map) (why string, judged bool) {
	v, judged := ret.Map(fun.PlanKey).Get(fun.PlanUnsure)
	why, _ = v.(string)
	return why, judged
}

// judged has a state be not known where its return, or early for want of a verdict,
// says so, and reports whether it is due.
func judged(st *State, ret *value.Map, early string, due bool) bool {
	why, sure := Verdict(ret)
	if !sure {
		why = early
	}
	if why == "" {
		return due
	}
	if !due {
		st.Comment, st.Changes, st.Diff = "", nil, "" // of a state that is passed over
	}
	st.Effect, st.Unknown, st.Restart, st.Reboot = Unknown, why, false, false
	return true
}

// earlier returns the last state that would change something: st, or the one before it.
func earlier(moved string, st *State, due bool) string {
	if mod, _, _ := strings.Cut(st.Fun, "."); !due || mod == "test" {
		return moved
	}
	return st.ID
}

// conditions are the arguments that decide whether a state runs.
var conditions = [...]string{"onlyif", "unless", "creates", "check_cmd"}

// early says which condition of the state of a tag was asked before another state
// changes the machine; "" where none was.
func (l *Low) early(tag, moved string) string {
	if l == nil || moved == "" {
		return ""
	}
	for _, name := range conditions {
		if l.chunks[tag].At(name) != nil {
			return "its condition " + name + " was asked before " + moved + " changes the machine"
		}
	}
	return ""
}
