package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"brine/internal/fleet/approval"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Render makes an orchestration of the chain: an SLS in which each step requires
// all of the step before. ids are those of the targets of each step, by its
// number from 1. A reboot and an upgrade become two steps; a step with values for
// single targets becomes one for each of them.
func (c *Chain) Render(ids map[int][]string) (string, error) {
	out := value.NewMap(len(c.Steps))
	var before []string
	for i := range c.Steps {
		s := &c.Steps[i]
		r := &renderer{c: c, s: s, n: i + 1, ids: ids[i+1], before: before, out: out}
		r.render()
		before = r.made
	}
	o := yamlsalt.SafeOptions()
	o.FlowStyle = yamlsalt.FlowNever
	text, err := yamlsalt.Dump(out, o)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("#!yaml\n# Chain %s, made by brine.\n%s", c.Name, text), nil
}

// Hash identifies a definition: it is the same as long as the text of the chain
// means the same.
func (c *Chain) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", c.Name)
	for i := range c.Steps {
		s := c.Steps[i]
		fmt.Fprintf(h, "%d %q %q %s %q %q %q %q %q %d %d %t %s %s\n", s.ID, s.Action, s.On, repr(s.Packages), s.Command, s.SLS, s.Source, s.Dest, s.Event,
			s.Seconds, s.Timeout, s.Test, repr(s.Pillar), repr(s.PillarFor))
	}
	// A chain of before has the hash that it had.
	if text := approves(c.Approve); text != "" {
		fmt.Fprintf(h, "approve %s\n", text)
	}
	for i := range c.Steps {
		if text := approves(c.Steps[i].Approve); text != "" {
			fmt.Fprintf(h, "approve %d %s\n", c.Steps[i].ID, text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ApproveText says who has to approve something; "": nobody.
func ApproveText(r *approval.Rule) string { return approves(r) }

// approves says who has to approve; "": nobody.
func approves(r *approval.Rule) string {
	switch {
	case r == nil:
		return ""
	case len(r.By) == 0:
		return "another operator"
	}
	return strings.Join(r.By, ", ")
}

// NumberOf returns the number of the step that an ID of the rendered SLS belongs to, from
// 1; 0 for another one.
func (c *Chain) NumberOf(id string) int {
	for i := range c.Steps {
		if strings.HasPrefix(id, c.prefix(i+1)) {
			return i + 1
		}
	}
	return 0
}

func repr(m *value.Map) string {
	if m == nil {
		return ""
	}
	return value.Repr(m)
}

type renderer struct {
	c      *Chain
	s      *Step
	n      int
	ids    []string
	before []string // IDs of the SLS that are required
	made   []string
	out    *value.Map
}

// prefix begins the IDs of what step n becomes.
func (c *Chain) prefix(n int) string { return fmt.Sprintf("%s_step%d_", c.Name, n) }

// StepOf returns the step that an ID of the rendered SLS belongs to; nil for
// another one.
func (c *Chain) StepOf(id string) *Step {
	for i := range c.Steps {
		if strings.HasPrefix(id, c.prefix(i+1)) {
			return &c.Steps[i]
		}
	}
	return nil
}

// add adds a state of the module salt to the SLS.
func (r *renderer) add(suffix, fn string, args ...any) {
	id := r.c.prefix(r.n) + r.s.Action
	if suffix != "" {
		id += "_" + suffix
	}
	l := value.NewList()
	for i := 0; i+1 < len(args); i += 2 {
		l.Append(value.MapOf(args[i], args[i+1]))
	}
	if fn == "state" || fn == "function" {
		l.Append(value.MapOf("metadata", value.MapOf("action_id", r.s.ID, "chain", r.c.Name, "step", int64(r.n))))
	}
	if len(r.before) > 0 {
		req := value.NewList()
		for _, b := range r.before {
			req.Append(value.MapOf("salt", b))
		}
		l.Append(value.MapOf("require", req))
	}
	r.out.Set(id, value.MapOf("salt."+fn, l))
	r.made = append(r.made, id)
}

// function adds a call of an execution function on the targets.
func (r *renderer) function(suffix, name string, args ...any) {
	r.add(suffix, "function", append([]any{"name", name, "tgt", value.Strings(r.ids...), "tgt_type", "list"}, args...)...)
}

// then makes what is added next require what was added last.
func (r *renderer) then() { r.before, r.made = r.made, nil }

func (r *renderer) render() {
	s := r.s
	switch s.Action {
	case Package:
		r.function("", "pkg.install", "kwarg", value.MapOf("pkgs", r.packages()))
	case Command:
		r.function("", "cmd.run", "arg", value.NewList(s.Command))
	case Reboot:
		r.function("", "system.reboot", "arg", value.NewList(int64(1)))
		r.then()
		r.event("wait", "salt/minion/*/start", r.ids)
	case Upgrade:
		if s.Packages.Len() > 0 {
			r.function("", "pkg.install", "kwarg", value.MapOf("pkgs", r.packages(), "refresh", true, "only_upgrade", true))
		} else {
			r.function("", "pkg.upgrade", "kwarg", value.MapOf("refresh", true))
		}
		r.then()
		r.function("answers", "test.ping")
	case Wait:
		if s.Seconds > 0 {
			r.add("", "runner", "name", "test.sleep", "s_time", s.Seconds)
		} else {
			r.event("", s.Event, r.ids)
		}
	case Orchestrate:
		args := []any{"name", "state.orchestrate", "mods", strings.Join(s.SLS, ",")}
		if s.Pillar.Len() > 0 {
			args = append(args, "pillar", s.Pillar)
		}
		r.add("", "runner", args...)
	case Config:
		r.function("", "state.single", "arg", value.NewList("file.recurse"), "kwarg", value.MapOf("name", s.Dest, "source", "salt://"+s.Source, "include_empty", true))
	default:
		r.states()
	}
}

// packages are what pkg.install takes.
func (r *renderer) packages() *value.List {
	l := value.NewList()
	for k, v := range r.s.Packages.All() {
		if v == "" {
			l.Append(k)
		} else {
			l.Append(value.MapOf(k, v))
		}
	}
	return l
}

// event adds a wait for an event.
func (r *renderer) event(suffix, tag string, ids []string) {
	args := []any{"name", tag, "id_list", value.Strings(ids...)}
	if r.s.Timeout > 0 {
		args = append(args, "timeout", r.s.Timeout)
	}
	r.add(suffix, "wait_for_event", args...)
}

// states adds salt.state for all targets, and for each that has values of its
// own.
func (r *renderer) states() {
	s := r.s
	shared := slices.DeleteFunc(slices.Clone(r.ids), func(id string) bool { return s.PillarFor.Has(id) })
	one := func(suffix string, ids []string, pillar *value.Map) {
		args := []any{"tgt", value.Strings(ids...), "tgt_type", "list"}
		if s.Action == Highstate {
			args = append(args, "highstate", true)
		} else {
			args = append(args, "sls", value.Strings(s.SLS...))
		}
		if s.Test {
			args = append(args, "test", true)
		}
		if pillar.Len() > 0 {
			args = append(args, "pillar", pillar)
		}
		r.add(suffix, "state", args...)
	}
	if len(shared) > 0 || len(r.ids) == 0 {
		one("", shared, s.Pillar)
	}
	for _, id := range r.ids {
		own, ok := s.PillarFor.At(id).(*value.Map)
		if !ok {
			continue
		}
		all := s.Pillar.Copy()
		all.Update(own)
		one(id, []string{id}, all)
	}
}
