// Package chain is action chains: a list of actions on targets, in one file that
// people read and edit. [Parse] reads a chain, its methods change it and keep its
// comments, and [Chain.Render] makes an orchestration of it in which each step
// requires the one before.
package chain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/internal/fleet/approval"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/view/orchestration"
)

// The kinds of actions.
const (
	Package   = "pkg"       // install packages
	Command   = "cmd"       // run a command
	State     = "state"     // apply SLS files
	Highstate = "highstate" // apply the highstate
	Formula   = "formula"   // apply a formula with values of its pillar
	Reboot    = "reboot"    // reboot and wait for the start
	Upgrade   = "upgrade"   // upgrade packages, all or some, and wait for an answer
	Wait      = "wait"      // wait for an event
	Config    = "config"    // deploy files of the tree
	// Orchestrate runs orchestrations of the tree, which have targets of their own.
	Orchestrate = "orchestrate"
)

// A Step is one action on some targets.
type Step struct {
	ID     int64  // of the action; it stays when steps are moved
	Action string // its kind
	On     string // target expression; "" of what has no targets

	Packages *value.Map // of pkg and upgrade: versions by name; an empty version is the newest
	Command  string
	SLS      []string // of state, formula and orchestrate
	Source   string   // of config: the directory below salt://
	Dest     string   // of config: where its files go
	Event    string   // of wait: a glob for the tag
	Seconds  int64    // of wait: how long
	Timeout  int64    // of reboot and wait, in seconds; 0: the default of wait_for_event
	Test     bool
	Approve  *approval.Rule // before it begins; nil: nobody is asked

	Pillar *value.Map // for all targets
	// PillarFor are values for single targets, by id; they come over Pillar.
	PillarFor *value.Map

	Pos source.Pos
}

// A Chain is a definition. An execution never changes it.
type Chain struct {
	Name        string
	Description string
	Notify      []string       // destinations of notifications
	Approve     *approval.Rule // before it starts; nil: nobody is asked
	Steps       []Step
}

// action tells what a kind of action takes.
type action struct {
	needs, takes []string // keys beside action, id and targets
	targets      bool
	doc          string
}

var actions = map[string]action{
	Package:     {needs: []string{"packages"}, targets: true, doc: "install packages"},
	Command:     {needs: []string{"command"}, targets: true, doc: "run a command"},
	State:       {needs: []string{"sls"}, takes: []string{"pillar", "pillar_for", "test"}, targets: true, doc: "apply SLS files"},
	Highstate:   {takes: []string{"pillar", "pillar_for", "test"}, targets: true, doc: "apply the highstate"},
	Formula:     {needs: []string{"sls"}, takes: []string{"pillar", "pillar_for", "test"}, targets: true, doc: "apply a formula"},
	Reboot:      {targets: true, takes: []string{"timeout"}, doc: "reboot and wait until the targets are back"},
	Upgrade:     {takes: []string{"packages"}, targets: true, doc: "upgrade packages"},
	Wait:        {takes: []string{"event", "seconds", "targets", "timeout"}, doc: "wait"},
	Config:      {needs: []string{"source"}, takes: []string{"dest"}, targets: true, doc: "deploy files"},
	Orchestrate: {needs: []string{"sls"}, takes: []string{"pillar"}, doc: "run orchestrations"},
}

// NeedsTargets reports whether an action works on targets that are named with it.
func NeedsTargets(action string) bool { return actions[action].targets }

// Kinds returns the kinds of actions, sorted.
func Kinds() []string {
	out := make([]string, 0, len(actions))
	for k := range actions {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// CheckName returns an error if no chain can have the name.
func CheckName(name string) error {
	if !orchestration.ValidName(name) {
		return fmt.Errorf("%q cannot be the name of a chain: letters, digits, _ and - can", name)
	}
	return nil
}

// Parse reads a chain. All faults are returned together, as source.Errors.
func Parse(name, file string, text []byte) (*Chain, error) {
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: file}, text)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, &source.Error{Pos: source.Pos{File: file, Line: 1, Col: 1}, Err: fmt.Errorf("a chain must be a mapping with the key steps, not %s", value.Kind(v))}
	}
	p := &parser{}
	p.Keys(m, "the chain", "approve", "description", "notify", "steps")
	c := &Chain{Name: name, Description: p.Text(m, "description"), Notify: p.Texts(m, "notify"), Approve: orchestration.ParseApprove(&p.Checker, m)}
	l, ok := m.At("steps").(*value.List)
	if v := m.At("steps"); !ok && v != nil {
		p.Fault(m.Pos("steps"), "steps must be a list, not %s", value.Kind(v))
	}
	if !ok {
		l = value.NewList()
	}
	seen := map[int64]bool{}
	for i, v := range l.Items {
		s, ok := v.(*value.Map)
		if !ok {
			p.Fault(l.PosAt(i), "step %d must be a mapping with the key action, not %s", i+1, value.Kind(v))
			continue
		}
		step := p.step(s, l.PosAt(i), i+1)
		if seen[step.ID] {
			p.Fault(s.Pos("id"), "step %d: another step has the id %d", i+1, step.ID)
		}
		seen[step.ID] = true
		c.Steps = append(c.Steps, step)
	}
	if len(p.Errs) > 0 {
		return nil, p.Errs
	}
	return c, nil
}

type parser struct{ yamlsalt.Checker }

func (p *parser) count(m *value.Map, key string) int64 {
	v, ok := m.Get(key)
	if !ok {
		return 0
	}
	n, ok := value.AsInt(v)
	if _, isBool := v.(bool); !ok || isBool || n < 1 {
		p.Fault(m.Pos(key), "%s must be a number above 0, not %s", key, value.Repr(v))
	}
	return n
}

func (p *parser) dict(m *value.Map, key string) *value.Map {
	v := m.At(key)
	d, ok := v.(*value.Map)
	if !ok && v != nil {
		p.Fault(m.Pos(key), "%s must be a mapping, not %s", key, value.Kind(v))
	}
	return d
}

// step reads one step.
func (p *parser) step(m *value.Map, pos source.Pos, n int) Step {
	s := Step{Pos: pos, Action: p.Text(m, "action"), ID: p.count(m, "id"), On: p.Text(m, "targets"), Timeout: p.count(m, "timeout")}
	what := fmt.Sprintf("step %d", n)
	a, ok := actions[s.Action]
	if !ok {
		p.Fault(pos, "%s: unknown action %q%s; there are %s", what, s.Action, source.DidYouMean(s.Action, Kinds()), strings.Join(Kinds(), ", "))
		return s
	}
	known := append(append([]string{"action", "approve", "id"}, a.needs...), a.takes...)
	if a.targets {
		known = append(known, "targets")
	}
	p.Keys(m, what+", "+s.Action, known...)
	if !m.Has("id") {
		s.ID = int64(n)
	}
	if a.targets && s.On == "" {
		p.Fault(pos, "%s, %s, needs targets", what, s.Action)
	}
	if s.Seconds = p.count(m, "seconds"); s.Action == Wait && m.Has("seconds") == m.Has("event") {
		p.Fault(pos, "%s, wait, needs either seconds, or event and targets", what)
	}
	if m.Has("event") && s.On == "" {
		p.Fault(pos, "%s: event needs targets, whose events are waited for", what)
	}
	for _, k := range a.needs {
		if v := m.At(k); !value.Truth(v) {
			p.Fault(pos, "%s, %s, needs %s", what, s.Action, k)
		}
	}
	s.Command, s.Source, s.Event = p.Text(m, "command"), strings.TrimPrefix(p.Text(m, "source"), "salt://"), p.Text(m, "event")
	if s.Dest = p.Text(m, "dest"); s.Dest == "" {
		s.Dest = "/"
	}
	if !strings.HasPrefix(s.Dest, "/") {
		p.Fault(m.Pos("dest"), "%s: dest must be an absolute path, not %q", what, s.Dest)
	}
	s.Packages, s.Pillar, s.PillarFor = p.packages(m, what), p.dict(m, "pillar"), p.dict(m, "pillar_for")
	for k, v := range s.PillarFor.All() {
		if _, ok := v.(*value.Map); !ok {
			p.Fault(s.PillarFor.Pos(k), "%s: pillar_for: the values of %s must be a mapping, not %s", what, value.Str(k), value.Kind(v))
		}
	}
	if v, ok := m.Get("test"); ok {
		if s.Test, ok = v.(bool); !ok {
			p.Fault(m.Pos("test"), "%s: test must be True or False, not %s", what, value.Repr(v))
		}
	}
	s.SLS = p.names(m, "sls")
	s.Approve = orchestration.ParseApprove(&p.Checker, m)
	p.data(m, what)
	return s
}

// data refuses text that would be evaluated on the controller, where the steps become
// states of an orchestration: slots call functions, and sdb:// URIs name secrets.
func (p *parser) data(v value.Value, what string) {
	switch v := v.(type) {
	case *value.Map:
		for k, x := range v.All() {
			for _, text := range []value.Value{k, x} {
				if why := evaluated(text); why != "" {
					p.Fault(v.Pos(k), "%s: %s", what, why)
				}
			}
			p.data(x, what)
		}
	case *value.List:
		for i, x := range v.Items {
			if why := evaluated(x); why != "" {
				p.Fault(v.PosAt(i), "%s: %s", what, why)
			}
			p.data(x, what)
		}
	}
}

// evaluated says why text is more than data; "": it is not.
func evaluated(v value.Value) string {
	why := orchestration.EvaluatedText(v)
	switch {
	case strings.HasPrefix(why, "an sdb://"):
		why += "; a chain takes data: read the secret in the pillar, or in an SLS"
	case why != "":
		why += "; a chain takes data"
	}
	return why
}

// names reads a string with commas, or a list of strings.
func (p *parser) names(m *value.Map, key string) []string {
	if s, ok := m.At(key).(string); ok {
		return strings.Split(s, ",")
	}
	return p.Texts(m, key)
}

// packages reads a mapping of versions by name, or a list of names.
func (p *parser) packages(m *value.Map, what string) *value.Map {
	out := value.NewMap(2)
	switch v := m.At("packages").(type) {
	case nil:
		return nil
	case *value.Map:
		for k, ver := range v.All() {
			switch ver.(type) {
			case *value.Map, *value.List:
				p.Fault(v.Pos(k), "%s: the version of %s must be text, not %s", what, value.Str(k), value.Kind(ver))
			}
			if ver == nil {
				ver = ""
			}
			out.Set(value.Str(k), value.Str(ver))
		}
	case *value.List:
		for i, x := range v.Items {
			name, ver, ok := strings.Cut(value.Str(x), "=")
			if _, isText := x.(string); !isText || name == "" || ok && ver == "" {
				p.Fault(v.PosAt(i), "%s: a package is NAME or NAME=VERSION, not %s", what, value.Repr(x))
			}
			out.Set(name, ver)
		}
	default:
		p.Fault(m.Pos("packages"), "%s: packages must be a mapping of versions or a list of names, not %s", what, value.Kind(v))
	}
	return out
}

// Targets returns the target expressions of the steps by their number, from 1.
func (c *Chain) Targets() map[int]orchestration.Expr {
	out := map[int]orchestration.Expr{}
	for i := range c.Steps {
		if c.Steps[i].On != "" {
			out[i+1] = orchestration.ParseExpr(c.Steps[i].On)
		}
	}
	return out
}

// Summary describes a step in words.
func (s *Step) Summary() string {
	text := actions[s.Action].doc
	switch s.Action {
	case Package, Upgrade:
		var names []string
		for k, v := range s.Packages.All() {
			if v == "" {
				names = append(names, value.Str(k))
			} else {
				names = append(names, value.Str(k)+"="+value.Str(v))
			}
		}
		if len(names) > 0 {
			text = strings.TrimSuffix(text, " packages") + " " + strings.Join(names, ", ")
		} else {
			text = "upgrade all packages"
		}
	case Command:
		text = "run " + s.Command
	case State, Formula:
		text = "apply " + strings.Join(s.SLS, ", ")
	case Orchestrate:
		text = "run the orchestration " + strings.Join(s.SLS, ", ")
	case Wait:
		if text = "wait for the event " + s.Event; s.Seconds > 0 {
			text = fmt.Sprintf("wait for %d seconds", s.Seconds)
		}
	case Config:
		text = fmt.Sprintf("deploy salt://%s to %s", s.Source, s.Dest)
	}
	if s.On != "" {
		text += " on " + s.On
	}
	return text
}

// number reads the number of a step, from 1.
func number(text string, n int) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 1 || i > n {
		return 0, fmt.Errorf("%q is not the number of a step; there are %d", text, n)
	}
	return i, nil
}

// StepID returns the id of the step with a number. It stays the same while others add,
// move and remove steps.
func (c *Chain) StepID(step string) (int64, error) {
	i, err := number(step, len(c.Steps))
	if err != nil {
		return 0, err
	}
	return c.Steps[i-1].ID, nil
}

// StepNumber returns the number of the step with an id; "" is that there is none.
func (c *Chain) StepNumber(id int64) string {
	i := slices.IndexFunc(c.Steps, func(s Step) bool { return s.ID == id })
	if i < 0 {
		return ""
	}
	return strconv.Itoa(i + 1)
}
