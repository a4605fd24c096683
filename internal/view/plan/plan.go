// Package plan is what a run would do, before it does it: the steps, the
// machines, and the states that would change, as brine plan shows and keeps
// them. [States] makes it of returns in test mode, [Compare] tells what became
// different since, [Encode] and [Decode] are its file.
package plan

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
)

// Format is the version of the file.
const Format = 6

// A Plan is what a command would do.
type Plan struct {
	Format  int       `json:"format"`
	Brine   string    `json:"brine"`
	Made    time.Time `json:"made"`
	User    string    `json:"user"`
	Command Command   `json:"command"`
	Steps   []*Step   `json:"steps"`
	Totals  Totals    `json:"totals"`
	Inputs  Inputs    `json:"inputs"`
	// Seal is the keyed hash of all the rest, in files alone.
	Seal string `json:"seal,omitempty"`
}

// A Command is the command that was planned.
type Command struct {
	Kind   string   `json:"kind"` // orchestrate, chain, template, ssh or call
	Target string   `json:"target,omitempty"`
	Args   []string `json:"args"`
	Flags  []Flag   `json:"flags"`
	// Hidden has keyed hashes of arguments that are secret, by name. They are not
	// among Args.
	Hidden map[string]string `json:"hidden,omitempty"`
}

// Kinds of commands.
const (
	Orchestrate = "orchestrate"
	SSH         = "ssh"
	Call        = "call"
	Chain       = "chain"
	Template    = "template"
)

// HasSteps reports whether the steps of the plan are those of an orchestration.
func (c *Command) HasSteps() bool {
	return c.Kind == Orchestrate || c.Kind == Chain || c.Kind == Template
}

// A Flag is a flag with its value as text.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Inputs are hashes of what a plan was made of; all of them are keyed.
type Inputs struct {
	Tree     map[string]string `json:"tree"`     // by "saltenv:path"
	Sources  map[string]string `json:"sources"`  // commits of git repositories
	Roster   map[string]string `json:"roster"`   // by id
	Pillar   map[string]string `json:"pillar"`   // by id
	Options  map[string]string `json:"options"`  // by name: those that change what a run does
	Rendered string            `json:"rendered"` // the steps of an orchestration
	// Definition is that of a chain, or of a template and its answers.
	Definition string `json:"definition,omitempty"`
}

// A Step is a step of an orchestration, or the whole of another command.
type Step struct {
	ID   string `json:"id"`
	Fun  string `json:"fun"` // salt.state, salt.function, file.managed, state.apply
	Name string `json:"name,omitempty"`
	// Requires are its requisites as in "require: build".
	Requires []string `json:"requires,omitempty"`
	Targets  []string `json:"targets"`
	// Orchestration names the SLS files of the orchestration that the step runs,
	// whose steps are Steps; "" where it runs none. The steps of parallel runners are
	// the runners.
	Orchestration string  `json:"orchestration,omitempty"`
	Steps         []*Step `json:"steps,omitempty"`
	Rendered      string  `json:"rendered,omitempty"` // the keyed hash of its rendered steps
	// Subset is how many of the targets the run chooses at random; 0: all.
	Subset int `json:"subset,omitempty"`
	// Waves are the targets of each wave of a step that goes in waves.
	Waves [][]string `json:"waves,omitempty"`
	// Unknown says why nothing is known of the step, "" where something is.
	Unknown string `json:"unknown,omitempty"`
	// After are earlier steps that change something on the same machines, or that
	// this one requires: what they do may change this one.
	After []string `json:"after,omitempty"`
	// Skipped says why the step would not run.
	Skipped string   `json:"skipped,omitempty"`
	Groups  []*Group `json:"groups,omitempty"`
	// Faults are the machines of which there is no plan.
	Faults []Fault           `json:"faults,omitempty"`
	Hosts  map[string]Hashes `json:"hosts,omitempty"`
	// Leaves are what the states of each machine that would change something leave.
	Leaves map[string][]*Leaves `json:"leaves,omitempty"`
	// Restarts and Reboots say what a function does to each of its targets.
	Restarts bool `json:"restarts,omitempty"`
	Reboots  bool `json:"reboots,omitempty"`
}

// Hashes are those of a machine in a step.
type Hashes struct {
	Low    string `json:"low"`    // its rendered states
	Answer string `json:"answer"` // what it says that it would do
}

// NoneWithin is why a step would not run whose targets --limit leaves out, all of them.
const NoneWithin = "no target is within --limit"

// A Fault is a machine without a plan, and why.
type Fault struct {
	Host      string `json:"host"`
	Reason    string `json:"reason"`
	Unreached bool   `json:"unreached,omitempty"`
	// Unmatched says that Host is the target of a step, and that nothing matches it.
	Unmatched bool `json:"unmatched,omitempty"`
}

// A Group is machines on which the same would happen.
type Group struct {
	Hosts  []string `json:"hosts"`
	States []*State `json:"states"`
	Same   int      `json:"same"` // states that would change nothing
}

// Effects of a state.
const (
	Change  = "change"
	Fail    = "fail"
	MayFail = "may_fail" // it fails as things are now, and what runs before it may change that
	Unknown = "unknown"  // it depends on what another state does
)

// A State is a state that would change something, would fail or may fail, or that
// is not known yet.
type State struct {
	ID      string          `json:"id"`
	Fun     string          `json:"fun"`
	Name    string          `json:"name"`
	SLS     string          `json:"sls,omitempty"`
	Effect  string          `json:"effect"`
	Comment string          `json:"comment,omitempty"`
	Changes json.RawMessage `json:"changes,omitempty"`
	Diff    string          `json:"diff,omitempty"`
	Unknown string          `json:"unknown,omitempty"` // what is not known, and until when
	// New says that a file is made, and Size how many bytes it has.
	New  bool  `json:"new,omitempty"`
	Size int64 `json:"size,omitempty"`
	// Files are those that a state makes beside the one of its name, or instead of it.
	Files []NewFile `json:"files,omitempty"`
	// Packages are those that would change, with what comes along.
	Packages []Package `json:"packages,omitempty"`
	// Certain says that it fails whatever runs before it.
	Certain bool   `json:"certain,omitempty"`
	behind  *State // it fails because this one does, which it requires
	leaves  *Leaves
	Restart bool `json:"restart,omitempty"`
	Reboot  bool `json:"reboot,omitempty"`
}

// A NewFile is a file that a state makes, with what it contains as a diff from /dev/null.
type NewFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Diff string `json:"diff,omitempty"`
}

// Totals are the sums of a plan.
type Totals struct {
	Steps    int `json:"steps"`
	Hosts    int `json:"hosts"`
	Changes  int `json:"changes"`
	Restarts int `json:"restarts"`
	Reboots  int `json:"reboots"`
	// Downgrades and Removals are packages that become older ones, or go.
	Downgrades int `json:"downgrades"`
	Removals   int `json:"removals"`
	Unknown    int `json:"unknown"` // steps and states
	Failures   int `json:"failures"`
	MayFail    int `json:"may_fail"`
	Unreached  int `json:"unreached"`
	Unmatched  int `json:"unmatched"` // steps that match nothing
	Faults     int `json:"faults"`    // further machines without a plan
}

// Due reports whether the command would change something, as far as is known.
func (p *Plan) Due() bool { return p.Totals.Changes+p.Totals.Unknown+p.Totals.MayFail > 0 }

// Failed reports whether something is certain to fail.
func (p *Plan) Failed() bool { return p.Totals.Failures > 0 || !p.Complete() }

// Complete reports whether all machines answered, and all steps match some: what is
// not complete can only be applied to the rest, where it is [Plan.Partial].
func (p *Plan) Complete() bool {
	return p.Totals.Unreached+p.Totals.Unmatched+p.Totals.Faults == 0
}

// Partial reports whether a plan is not complete only because machines were not
// reached and steps match nothing.
func (p *Plan) Partial() bool { return !p.Complete() && p.Totals.Faults == 0 }

// Groups puts machines together on which the same would happen: by the
// hashes of their states. Groups are in the order of hosts.
func Groups(hosts []string, states map[string][]*State, same map[string]int) []*Group {
	var all []*Group
	found := map[[32]byte]*Group{}
	for _, id := range hosts {
		list, ok := states[id]
		if !ok {
			continue
		}
		key := digest(struct {
			States []*State
			Same   int
		}{list, same[id]})
		g := found[key]
		if g == nil {
			g = &Group{States: list, Same: same[id]}
			found[key] = g
			all = append(all, g)
		}
		g.Hosts = append(g.Hosts, id)
	}
	return all
}

// Walk calls f with the steps and those within them, in order. It stops where f
// returns false, and reports whether it went through all.
func Walk(steps []*Step, f func(s *Step) bool) bool {
	for _, s := range steps {
		if !f(s) || !Walk(s.Steps, f) {
			return false
		}
	}
	return true
}

// Finish fills in what follows from the steps: what they come after, which
// failures are not certain, and the totals.
func (p *Plan) Finish() {
	p.Totals = Totals{}
	f := &finish{t: &p.Totals, hosts: map[string]bool{}, unreached: map[string]bool{}, faults: map[string]bool{}}
	f.level(p.Steps, nil)
	p.Totals.Hosts, p.Totals.Unreached, p.Totals.Faults = len(f.hosts), len(f.unreached), len(f.faults)
}

// finish counts the steps of a plan and finds what they come after.
type finish struct {
	t                        *Totals
	hosts, unreached, faults map[string]bool
}

// A level is the steps of one orchestration, as far as they are counted.
type level struct {
	outer   *level // of the step that runs the orchestration; nil: there is none
	steps   []*Step
	at      map[string]int      // where the first step with an id is
	touched map[string]*changes // by machine, the steps that change it
	moves   map[string]bool     // steps that change something
	order   []string            // these in their order
}

// changes are steps that change a machine, the last first. Machines that the same
// steps change share them: a step on a thousand machines is looked at once.
type changes struct {
	step   string
	before *changes
}

// before returns the steps that may change what a step does, by their ids, those of
// outer orchestrations first. own says that it is a step of this one, where its
// requisites are.
func (l *level) before(s *Step, own bool) []string {
	var out []string
	if l.outer != nil {
		out = l.outer.before(s, false)
	}
	after := map[string]bool{}
	seen := map[*changes]bool{}
	for _, id := range s.Targets {
		for c := l.touched[id]; c != nil && !seen[c]; c = c.before {
			seen[c], after[c.step] = true, true
		}
	}
	if own {
		for _, r := range s.Requires {
			if id := requisiteID(r); l.moves[id] {
				after[id] = true
			}
		}
		// A step of an outer orchestration is another one, whatever its id.
		delete(after, s.ID)
	}
	for _, id := range out {
		delete(after, id)
	}
	var places []int
	for id := range after {
		if i, ok := l.at[id]; ok {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	for _, i := range places {
		out = append(out, l.steps[i].ID)
	}
	return out
}

// touch notes that a step changes machines.
func (l *level) touch(step string, hosts iter.Seq[string]) {
	if !l.moves[step] {
		l.moves[step], l.order = true, append(l.order, step)
	}
	after := map[*changes]*changes{}
	for id := range hosts {
		was := l.touched[id]
		if was != nil && was.step == step {
			continue
		}
		if after[was] == nil {
			after[was] = &changes{step: step, before: was}
		}
		l.touched[id] = after[was]
	}
}

// earlier returns the last of the steps so far that change something, those of
// outer orchestrations first, and how many there are.
func (l *level) earlier() (last []string, all int) {
	if l.outer != nil {
		last, all = l.outer.earlier()
	}
	last = append(last, l.order[max(0, len(l.order)-maxListed):]...)
	return last[max(0, len(last)-maxListed):], all + len(l.order)
}

// level counts the steps of an orchestration within another, and returns what of
// them changes something.
func (f *finish) level(steps []*Step, outer *level) *level {
	l := &level{outer: outer, steps: steps, at: map[string]int{}, touched: map[string]*changes{}, moves: map[string]bool{}}
	for i, s := range slices.Backward(steps) {
		l.at[s.ID] = i
	}
	for _, s := range steps {
		f.t.Steps++
		for _, id := range s.Targets {
			f.hosts[id] = true
		}
		s.After = l.before(s, true)
		s.doubt(l.earlier())
		if f.t.add(s, f.unreached, f.faults) && !Looks(s.Fun, s.Name) {
			l.touch(s.ID, slices.Values(s.Targets))
		}
		if inner := f.level(s.Steps, l); len(inner.moves) > 0 {
			l.touch(s.ID, maps.Keys(inner.touched))
		}
	}
	return l
}

// add counts a step, and reports whether it changes something.
func (t *Totals) add(s *Step, unreached, faults map[string]bool) bool {
	before := t.Changes + t.Unknown
	if s.Unknown != "" {
		t.Unknown++
	}
	if s.Restarts {
		t.Restarts += len(s.Targets)
	}
	if s.Reboots {
		t.Reboots += len(s.Targets)
	}
	for _, f := range s.Faults {
		switch {
		case f.Unreached:
			unreached[f.Host] = true
		case f.Unmatched:
			t.Unmatched++
		default:
			faults[f.Host] = true
		}
	}
	for _, g := range s.Groups {
		n := len(g.Hosts)
		for _, st := range g.States {
			switch st.Effect {
			case Change:
				t.Changes += n
			case Fail:
				t.Failures += n
			case MayFail:
				t.MayFail += n
			case Unknown:
				t.Unknown += n
			}
			for _, p := range st.Packages {
				switch p.Action {
				case Downgrade:
					t.Downgrades += n
				case Remove:
					t.Removals += n
				}
			}
			if st.Restart {
				t.Restarts += n
			}
			if st.Reboot {
				t.Reboots += n
			}
		}
	}
	return t.Changes+t.Unknown > before
}
