package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// between separates the parts of a state's tag.
const between = "_|-"

// waiting are the requisites that make a state do more, or run at all, where
// another one changes something; listen is the last.
var waiting = [...]string{"onchanges", "onchanges_any", "watch", "watch_any", "listen"}

// opaque are the states that run something of which nobody knows what it does.
var opaque = [...]string{"cmd.run", "cmd.script", "cmd.call", "cmd.wait", "cmd.wait_script", "cmd.wait_call", "module.run", "module.wait"}

// States returns the states of a run in test mode that would do something or
// fail, in their order, and how many would not. low are the low chunks that the run
// was made of; without them nothing is known of requisites.
func States(rets *value.Map, low *Low) (states []*State, same int) {
	type numbered struct {
		n    int64
		st   *State
		mod  string
		tag  string
		have bool
		ret  *value.Map
	}
	var all []numbered
	moves := map[string]bool{} // "mod: ID" and "mod: name" of states that change something
	for k, v := range rets.All() {
		m, ok := v.(*value.Map)
		if !ok {
			continue
		}
		st, mod, due := stateOf(value.Str(k), m)
		n, _ := value.AsInt(m.At("__run_num__"))
		all = append(all, numbered{n: n, st: st, mod: mod, tag: value.Str(k), have: due, ret: m})
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	heard := map[string]bool{} // "mod: ID" of states that run since others listen
	for _, x := range all {
		if strings.HasSuffix(x.tag, between+"mod_watch") {
			heard[x.mod+": "+x.st.ID] = true
		}
	}
	moved := "" // the last state so far that would change something
	for i := range all {
		x := &all[i]
		x.have = judged(x.st, x.ret, low.early(x.tag, moved), x.have)
		moved = earlier(moved, x.st, x.have)
		if x.have && x.st.Effect == Change {
			moves[x.mod+": "+x.st.ID], moves[x.mod+": "+x.st.Name] = true, true
			moves["id: "+x.st.ID] = true
		}
	}
	states = []*State{}
	doubts := doubts{low: low, failed: map[string]*State{}}
	for _, x := range all {
		if x.have {
			doubts.take(x.st, x.mod, x.tag)
		} else {
			kinds := waiting[:]
			if heard[x.mod+": listener_"+x.st.ID] {
				kinds = kinds[:len(kinds)-1] // what it does then has a state of its own
			}
			for _, req := range low.requisites(x.tag, kinds) {
				if moves[req] {
					x.st.Effect, x.have = Unknown, true
					x.st.Unknown = "not known until " + requisiteID(req) + " ran: it runs if that changes something"
					x.st.Comment, x.st.Changes = "", nil
					break
				}
			}
		}
		if x.have {
			states = append(states, x.st)
		} else {
			same++
		}
	}
	return states, same
}

// Tag returns the tag of a low chunk.
func Tag(chunk *value.Map) string {
	part := func(key string) string { return value.Str(chunk.At(key)) }
	return part("state") + between + part("__id__") + between + part("name") + between + part("fun")
}

// Requisites returns the requisites of a kind that a low chunk has, as
// "mod: ID"; "id: ID" where only the ID is given.
func Requisites(chunk *value.Map, kind string) []string {
	l, ok := chunk.At(kind).(*value.List)
	if !ok {
		return nil
	}
	var out []string
	for _, x := range l.Items {
		switch x := x.(type) {
		case string:
			out = append(out, "id: "+x)
		case *value.Map:
			for mod, id := range x.All() {
				out = append(out, value.Str(mod)+": "+value.Str(id))
			}
		}
	}
	return out
}

// requisiteID returns the ID of "mod: ID", also behind its kind.
func requisiteID(req string) string {
	return req[strings.LastIndex(req, ": ")+len(": "):]
}

// stateOf reads the return of a state; due says that it would do something or
// fail.
func stateOf(tag string, m *value.Map) (st *State, mod string, due bool) {
	part := strings.Split(tag, between)
	for len(part) < 4 {
		part = append(part, "")
	}
	mod = part[0]
	st = &State{ID: part[1], Name: part[2], Fun: mod + "." + part[len(part)-1], Effect: Change}
	if sls := m.At("__sls__"); sls != nil {
		st.SLS = value.Str(sls)
	}
	if c := m.At("comment"); c != nil {
		st.Comment = value.Str(c)
	}
	changes, _ := m.At("changes").(*value.Map)
	if value.Truth(m.At("changes")) {
		st.Changes = json.RawMessage(value.StrictJSON(m.At("changes")))
	}
	if diff, ok := changes.At("diff").(string); ok {
		st.Diff = tidied(diff)
	}
	switch result := m.At("result"); {
	case result == false:
		st.Effect = Fail
		return st, mod, true
	case result != nil && len(st.Changes) == 0:
		return st, mod, false
	}
	if slices.Contains(opaque[:], st.Fun) {
		st.Unknown = "what it does is not known until it runs"
	}
	st.Restart, st.Reboot = restarts(st)
	st.planned(m.Map(fun.PlanKey))
	return st, mod, true
}

// tidied returns a diff without the empty lines that Salt has behind the lines of its head.
func tidied(diff string) string {
	if !strings.HasPrefix(diff, "--- \n\n+++ \n\n@@") {
		return diff
	}
	diff = strings.Replace(diff, "--- \n\n+++ \n\n", "--- \n+++ \n", 1)
	var b strings.Builder
	head := false
	for line := range strings.Lines(diff) {
		if line != "\n" || !head {
			b.WriteString(line)
		}
		head = strings.HasPrefix(line, "@@ ")
	}
	return b.String()
}

// restarts reports whether a state that would do something restarts a service,
// or the machine.
func restarts(st *State) (service, machine bool) {
	switch st.Fun {
	case "service.running", "service.mod_watch":
		return strings.Contains(strings.ToLower(st.Comment), "restart"), false
	case "module.run", "module.wait":
		return FunctionRestarts(st.Name)
	case "cmd.run":
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(st.Name), "sudo "))
		return false, len(words) > 0 && (words[0] == "reboot" || len(words) > 1 && (words[0] == "shutdown" && words[1] == "-r" || words[0] == "systemctl" && words[1] == "reboot"))
	}
	return false, st.Fun == "system.reboot"
}

// FunctionRestarts reports whether an execution function restarts a service, or
// the machine.
func FunctionRestarts(name string) (service, machine bool) {
	return name == "service.restart", name == "system.reboot"
}

// Settled returns what machines answer without what differs from run to run:
// times, jids and the order in which parallel states ended.
func Settled(rets *value.Map) *value.Map {
	out := value.NewMap(rets.Len())
	for k, v := range rets.All() {
		if st, ok := v.(*value.Map); ok {
			st = st.Copy()
			for _, name := range [...]string{"start_time", "duration", "__jid__", "__run_num__"} {
				st.Delete(name)
			}
			v = st
		}
		out.Set(k, v)
	}
	return out
}

// Diffs returns the unified diffs of a plan, each with the file and the
// machines that it is of in its header.
func (p *Plan) Diffs() string {
	var b strings.Builder
	Walk(p.Steps, func(s *Step) bool {
		for _, g := range s.Groups {
			for _, st := range g.States {
				hosts := strings.Join(g.Hosts, ",")
				if st.Diff != "" {
					b.WriteString(headed(st.Diff, st.Name, hosts))
				}
				for _, f := range st.Files {
					b.WriteString(headed(f.Diff, f.Name, hosts))
				}
			}
		}
		return true
	})
	return b.String()
}

// headed puts names into the header of a diff; text that is not a diff is
// omitted.
func headed(diff, path, hosts string) string {
	_, rest, found := strings.Cut(diff, "\n+++")
	if !strings.HasPrefix(diff, "---") || !found {
		return ""
	}
	_, hunks, _ := strings.Cut(rest, "\n")
	if !strings.HasSuffix(hunks, "\n") {
		hunks += "\n"
	}
	from := path
	if strings.HasPrefix(diff, "--- /dev/null") {
		from = "/dev/null"
	}
	return fmt.Sprintf("--- %s\t%s\n+++ %s\t%s\n%s", from, hosts, path, hosts, hunks)
}
