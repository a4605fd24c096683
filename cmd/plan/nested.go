package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// orchestrations are the runner functions that run an orchestration from SLS files:
// what they do is planned. The last one is another function where targets run it.
var orchestrations = [...]string{"state.orch", "state.orchestrate", "state.sls"}

// Bounds of orchestrations that run others.
const (
	maxWithin = 16   // each other
	maxInner  = 1000 // of a plan
)

// A link is an orchestration that runs another: two of a chain with the same key
// would run each other without end.
type link struct {
	name, key string
	step      string // that runs it
}

// fleet returns the fleet on which a plan is made.
func (pl *planner) fleet(f fun.Fleet, chain []link) *planFleet {
	return &planFleet{Fleet: f, pl: pl, chain: chain, inner: map[string][]*plan.Step{}}
}

// Rehearse plans what a step would run, where it is an orchestration. A step that
// runs only if another fails is left alone.
func (f *planFleet) Rehearse(ctx context.Context, c *fun.Call, id, name string, args fun.Args) {
	st := &plan.Step{ID: f.pl.s.Secrets.AnyText(id), Fun: name, Targets: []string{}}
	if len(onfail(c.Low.Low)) > 0 {
		st.Unknown = failUnknown
	} else if !slices.Contains(orchestrations[:], name) {
		st.Unknown = untold["salt.runner"]
	} else if err := f.orchestrate(ctx, c, st, args); err != nil {
		st.Steps = nil
		st.Faults = []plan.Fault{{Host: st.ID, Reason: f.pl.s.Secrets.AnyText(err.Error())}}
	}
	f.pl.mu.Lock()
	defer f.pl.mu.Unlock()
	tag := c.Low.Tag()
	f.inner[tag] = append(f.inner[tag], st)
}

// orchestrate plans an orchestration that a step would run.
func (f *planFleet) orchestrate(ctx context.Context, c *fun.Call, st *plan.Step, args fun.Args) (err error) {
	pl := f.pl
	mods := args.Kw.At("mods")
	if len(args.Pos) > 0 {
		mods = args.Pos[0]
	}
	name := value.Str(mods)
	if l, ok := mods.(*value.List); ok {
		var names []string
		for _, x := range l.Items {
			names = append(names, value.Str(x))
		}
		name = strings.Join(names, ",")
	}
	st.Orchestration = pl.s.Secrets.AnyText(name)
	chain := f.chain
	if len(chain) == 0 {
		chain = []link{pl.first()}
	}
	next := link{st.Orchestration, linkKey(name, args), c.Low.ID}
	names := func() string {
		var all []string
		for _, l := range append(slices.Clone(chain), next) {
			all = append(all, l.name)
		}
		return strings.Join(all, ", ")
	}
	if slices.ContainsFunc(chain, func(l link) bool { return l.key == next.key }) {
		return fmt.Errorf("the orchestrations run each other without end: %s", names())
	}
	if len(chain) >= maxWithin {
		return fmt.Errorf("more than %d orchestrations run each other: %s", maxWithin, names())
	}
	pl.mu.Lock()
	pl.inner++
	many := pl.inner > maxInner
	pl.mu.Unlock()
	if many {
		return fmt.Errorf("the plan has more than %d orchestrations within others", maxInner)
	}
	pl.s.Secrets.AddPillar(args.Kw.At("pillar"))
	st.Steps, st.Rendered, err = pl.look(ctx, c.Env, st.Fun, args, append(slices.Clone(chain), next))
	return err
}

// first is the orchestration that the command names.
func (pl *planner) first() link {
	name := value.Str(pl.in.Kw.At("mods"))
	if len(pl.in.Pos) > 0 {
		name = value.Str(pl.in.Pos[0])
	}
	return link{name: pl.s.Secrets.AnyText(name), key: linkKey(name, pl.in)}
}

// linkKey tells orchestrations apart by their SLS files and all that decides what
// these come to.
func linkKey(mods string, args fun.Args) string {
	kw := some(args.Kw, "saltenv", "pillar", "pillarenv", "exclude")
	if len(args.Pos) > 1 {
		kw.Set("saltenv", args.Pos[1])
	}
	if !value.Truth(kw.At("saltenv")) {
		kw.Set("saltenv", "base")
	}
	var parts []string
	for _, name := range [...]string{"exclude", "pillar", "pillarenv", "saltenv"} {
		if v := kw.At(name); value.Truth(v) {
			parts = append(parts, name+"="+string(value.EncodeJSON(v)))
		}
	}
	return mods + "\x00" + strings.Join(parts, "\x00")
}

// takeInner returns what a step would run; nil where it runs no runner function.
func (f *planFleet) takeInner(tag string) []*plan.Step {
	f.pl.mu.Lock()
	defer f.pl.mu.Unlock()
	inner := f.inner[tag]
	delete(f.inner, tag)
	return inner
}

// within puts what a step would run into it: the steps of an orchestration, or each
// of several runners.
func within(st *plan.Step, inner []*plan.Step) {
	if st.Fun == "salt.runner" && len(inner) == 1 {
		only := inner[0]
		st.Orchestration, st.Rendered, st.Steps = only.Orchestration, only.Rendered, only.Steps
		st.Unknown, st.Faults = only.Unknown, only.Faults
		return
	}
	if st.Steps = inner; inner[0].Unknown == failUnknown {
		st.Steps, st.Unknown = nil, failUnknown
	}
}
