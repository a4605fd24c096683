package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/progress"
	"brine/cmd/internal/summary"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/core/version"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/internal/view/plan"
)

// A planner makes one plan.
type planner struct {
	s     *session.Session
	key   *plan.Key // of the hashes
	o     *options
	args  []string
	in    fun.Args // without the function's name
	c     *cobra.Command
	def   session.Definition // nil: an SLS of the tree, or a function
	p     *plan.Plan
	shown *progress.Progress

	mu    sync.Mutex
	inner int // orchestrations within others so far
	basis plan.Basis
	moved bool // a step so far would change something, or is not known
	// How far the making of the plan is: of the steps, or of the states on this
	// machine, and of the targets.
	steps, done        int
	targeted, answered int
}

func newPlan(s *session.Session) *plan.Plan {
	return &plan.Plan{
		Format: plan.Format, Brine: version.Number(), Made: s.App.Host.Now().UTC().Truncate(time.Second), User: s.UserName(), Steps: []*plan.Step{},
		Inputs: plan.Inputs{Tree: map[string]string{}, Sources: map[string]string{}, Roster: map[string]string{}, Pillar: map[string]string{}, Options: map[string]string{}},
	}
}

func compareIDs(a, b string) int { return summary.CompareIDs(a, b) }

func sortIDs(ids []string) { slices.SortFunc(ids, compareIDs) }

// local plans a function on this machine.
func (pl *planner) local(ctx context.Context) error {
	env := pl.s.Env(ctx, pl.s.NewJID())
	if err := pl.tree(ctx, env); err != nil {
		return err
	}
	name := pl.args[0]
	names, calls := planCalls(name, pl.in)
	parts := make([]value.Value, 3)
	env.Watch, env.Plan, env.NoSlots = pl.watchRun(nil), true, pl.o.noSlots
	for i, n := range names {
		res, err := env.Invoker.Invoke(ctx, fun.Exec, n, calls[i])
		if err != nil {
			return session.CallFault(n, err)
		}
		parts[i] = res.Value
	}
	pj := newPlanJob("")
	pj.env = envLabel(pl.in.Kw)
	pj.targets = []string{env.ID}
	pj.answer(pl, env.ID, parts)
	pl.whole(pj)
	return nil
}

// targets plans a function on targets.
func (pl *planner) targets(ctx context.Context, c *cobra.Command) error {
	job, err := pl.o.Job(c, append([]string{pl.o.target}, pl.args...))
	if err != nil {
		return err
	}
	pl.s.SSH.Once = true
	env, err := pl.s.Controller(ctx, pl.s.NewJID())
	if err != nil {
		return err
	}
	if err := pl.tree(ctx, env); err != nil {
		return err
	}
	f := pl.fleet(env.Fleet, nil)
	sum, err := f.Run(ctx, job, func(fun.Return) error { return nil })
	switch {
	case err != nil:
		return err
	case len(sum.Targets) == 0:
		if l := pl.s.Limit(); l != nil { // perhaps that of brine apply
			pl.o.Limit = l.Text
		}
		return pl.o.NoMatch(job)
	}
	pl.whole(f.take(""))
	return pl.roster(ctx, env)
}

// whole makes a job the only step of the plan.
func (pl *planner) whole(pj *planJob) {
	st := &plan.Step{ID: pl.args[0], Fun: pl.args[0], Name: strings.Join(pl.p.Command.Args[1:], " ")}
	pj.fill(st)
	pl.p.Steps = append(pl.p.Steps, st)
}

// orchestration plans the steps of an orchestration.
func (pl *planner) orchestration(ctx context.Context) error {
	s := pl.s
	env, err := s.Controller(ctx, s.NewJID())
	if err != nil {
		return err
	}
	if err := pl.tree(ctx, env); err != nil {
		return err
	}
	if err := pl.defined(ctx, env); err != nil {
		return err
	}
	if pl.p.Steps, pl.p.Inputs.Rendered, err = pl.look(ctx, env, "state.orchestrate", pl.in, nil); err != nil {
		if _, ok := errors.AsType[*compileError](err); ok && s.Shown.Faults() {
			return app.Silent(app.ExitGeneric) // what is wrong was said, and where
		}
		return err
	}
	if err := pl.pillar(ctx, env); err != nil {
		return err
	}
	return pl.roster(ctx, env)
}

// defined notes what the orchestration of a chain or a template is made of.
func (pl *planner) defined(ctx context.Context, env *fun.Env) (err error) {
	if pl.def == nil {
		return nil
	}
	if pl.in, err = pl.def.Orchestration(ctx, pl.c, pl.s, env); err != nil {
		return err
	}
	pillar := pl.in.Kw.At("pillar")
	pl.s.Secrets.AddPillar(pillar)
	pl.p.Inputs.Definition = pl.key.Hash([]byte(pl.s.Approvals.Definition + " " + string(value.EncodeJSON(pillar))))
	pl.s.Approvals = nil // a plan runs nothing that needs one
	return nil
}

// look plans the steps of an orchestration that a runner function runs. chain are
// the orchestrations that led to it. The error is a *compileError where the
// orchestration does not compile.
func (pl *planner) look(ctx context.Context, env *fun.Env, name string, in fun.Args, chain []link) (steps []*plan.Step, rendered string, err error) {
	bare := env.Fleet
	if pf, ok := bare.(*planFleet); ok {
		bare = pf.Fleet
	}
	pf := pl.fleet(bare, chain)
	w := &planRun{RunWatcher: output.Watchers(nil), pl: pl, pf: pf, chunks: map[string]*value.Map{}}
	if len(chain) == 0 {
		w.RunWatcher = pl.watchRun(pf)
	}
	own := env.Fork(func(e *fun.Env) {
		e.Fleet, e.Watch, e.Journal = pf, w, nil
		e.Plan, e.NoSlots = true, pl.o.noSlots
	})
	args := fun.Args{Pos: in.Pos, Kw: in.Kw.Copy()}
	args.Kw.Set("test", true)
	res, err := own.Invoker.Invoke(ctx, fun.Runner, name, args)
	switch {
	case dispatch.IsArgError(err) && len(chain) == 0:
		return nil, "", app.UsageOf(name, err)
	case err != nil:
		return nil, "", err
	}
	rets, err := stepReturns(res.Value, env.ID)
	if err != nil {
		return nil, "", &compileError{err}
	}
	steps = []*plan.Step{}
	low := plan.NewLow(w.low(), pl.basis)
	for _, r := range rets {
		st, err := pl.step(ctx, own, pf, r, w.chunk(r.tag), low)
		if err != nil {
			return nil, "", err
		}
		doubtful(st, r.ret)
		steps = append(steps, st)
	}
	return steps, w.rendered, nil
}

// A compileError is why an orchestration does not compile.
type compileError struct{ error }

func (e *compileError) Unwrap() error { return e.error }

// A stepReturn is what a step of an orchestration says in test mode.
type stepReturn struct {
	tag string
	n   int64
	ret *value.Map
}

// stepReturns returns those of an orchestration in their order; where it does not
// compile, what is wrong with it.
func stepReturns(v value.Value, id string) ([]stepReturn, error) {
	m, _ := v.(*value.Map)
	data, _ := m.At("data").(*value.Map)
	rets, ok := data.At(id).(*value.Map)
	if !ok {
		return nil, errors.New(faultText(data.At(id)))
	}
	var all []stepReturn
	for k, x := range rets.All() {
		if ret, ok := x.(*value.Map); ok {
			n, _ := value.AsInt(ret.At("__run_num__"))
			all = append(all, stepReturn{value.Str(k), n, ret})
		}
	}
	slices.SortStableFunc(all, func(a, b stepReturn) int { return cmp.Compare(a.n, b.n) })
	return all, nil
}

// pillar notes the hash of the controller's pillar.
func (pl *planner) pillar(ctx context.Context, env *fun.Env) error {
	kw := some(pl.in.Kw, "saltenv", "pillarenv")
	if len(pl.in.Pos) > 1 {
		kw.Set("saltenv", pl.in.Pos[1])
	}
	if !kw.Has("saltenv") {
		kw.Set("saltenv", "base")
	}
	items, err := env.Invoker.Invoke(ctx, fun.Exec, "pillar.items", fun.Args{Kw: kw})
	if err != nil {
		return err
	}
	pl.s.Secrets.AddPillar(items.Value)
	pl.p.Inputs.Pillar[plan.Controller] = pl.key.Hash(value.EncodeJSON(items.Value))
	return nil
}

// requisiteKinds are the requisites that a plan shows.
var requisiteKinds = [...]string{"require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any", "onfail", "onfail_any", "prereq", "listen"}

// untold are the steps that do not run in a plan, and what is said of them.
var untold = map[string]string{
	"salt.function": "not known until it runs", "salt.runner": "not known until it runs", "salt.wheel": "not known until it runs",
	"salt.parallel_runners": "not known until they run", "salt.wait_for_event": "it waits for an event",
}

// elsewhereUnknown is said of a step whose targets run an orchestration themselves: with
// a roster, a tree and machines of which this controller knows nothing.
const elsewhereUnknown = "not known until it runs: each target runs an orchestration of its own"

// whyUntold is said of a step that does not run in a plan; name is what it calls.
func whyUntold(step, name string) string {
	if step == "salt.function" && slices.Contains(orchestrations[:2], name) {
		return elsewhereUnknown
	}
	return untold[step]
}

// failUnknown is said of a step with onfail.
const failUnknown = "it runs only if a step of its onfail fails"

// step plans one step.
func (pl *planner) step(ctx context.Context, env *fun.Env, pf *planFleet, r stepReturn, chunk *value.Map, low *plan.Low) (*plan.Step, error) {
	part := strings.Split(r.tag, "_|-")
	if len(part) < 4 {
		return nil, fmt.Errorf("the orchestration returned %q, which is not a step", r.tag)
	}
	st := &plan.Step{ID: pl.s.Secrets.AnyText(part[1]), Fun: part[0] + "." + part[len(part)-1], Targets: []string{}}
	if part[2] != part[1] {
		st.Name = pl.s.Secrets.AnyText(part[2])
	}
	for _, kind := range requisiteKinds {
		for _, req := range plan.Requisites(chunk, kind) {
			st.Requires = append(st.Requires, kind+": "+req)
		}
	}
	comment := strings.TrimSpace(pl.s.Secrets.AnyText(value.Str(r.ret.At("comment"))))
	if part[0] != "salt" {
		pl.here(st, env.ID, value.MapOf(r.tag, r.ret), chunk, low)
		return st, nil
	}
	if inner := pf.takeInner(r.tag); inner != nil && r.ret.At("result") == nil {
		within(st, inner)
		return st, nil
	}
	onfail := onfail(chunk)
	if st.Fun == "salt.state" {
		if pj := pf.take(part[1]); pj != nil {
			pj.fill(st)
			if len(onfail) > 0 {
				st.Groups, st.Leaves, st.Unknown = nil, nil, failUnknown
			}
			return st, nil
		}
	}
	if r.ret.At("result") != nil || st.Fun == "salt.state" {
		st.Skipped = comment
		if r.ret.At("result") == false {
			st.Faults = []plan.Fault{{Host: st.ID, Reason: cmp.Or(comment, "the step fails")}}
			st.Skipped = ""
		}
	} else {
		st.Unknown = whyUntold(st.Fun, part[2])
	}
	if len(onfail) > 0 && st.Unknown != "" {
		st.Unknown = failUnknown
	}
	if st.Fun == "salt.function" && st.Skipped == "" && len(st.Faults)+len(onfail) == 0 && slices.Contains(session.Plannable[:], part[2]) {
		st.Name = part[2]
		return st, pl.function(ctx, pf, st, chunk)
	}
	if st.Fun == "salt.function" && st.Skipped == "" {
		if len(onfail) == 0 {
			st.Restarts, st.Reboots = plan.FunctionRestarts(part[2])
		}
		st.Name = part[2]
		if err := pl.match(ctx, pf.Fleet, st, chunk); err != nil {
			st.Faults = append(st.Faults, plan.Fault{Host: value.Str(chunk.At("tgt")), Reason: err.Error(), Unmatched: errors.Is(err, errNoMatch)})
		}
	}
	return st, nil
}

// here plans a state of the controller itself.
func (pl *planner) here(st *plan.Step, id string, rets, chunk *value.Map, low *plan.Low) {
	rets = plan.KeyLeaves(rets, pl.key.Hash)
	states, same := plan.States(mapOf(pl.s.Mask(rets)), low)
	pj := newPlanJob("")
	pj.targets, pj.states[id], pj.same[id] = []string{id}, states, same
	pj.hashes[id] = plan.Hashes{Low: pl.key.Hash(value.EncodeJSON(chunk)), Answer: pl.key.Hash(value.EncodeJSON(plan.Settled(rets)))}
	pj.fill(st)
}

// errNoMatch is a target that matches nothing.
var errNoMatch = errors.New("no target matches")

// onfail returns the steps that a low chunk has as its onfail.
func onfail(chunk *value.Map) []string {
	return append(plan.Requisites(chunk, "onfail"), plan.Requisites(chunk, "onfail_any")...)
}

func mapOf(v value.Value) *value.Map {
	m, _ := v.(*value.Map)
	return m
}

// match resolves the targets of a step that does not run.
func (pl *planner) match(ctx context.Context, f fun.Fleet, st *plan.Step, chunk *value.Map) error {
	job := fun.Job{Tgt: chunk.At("tgt"), TgtType: cmp.Or(chunk.Str("tgt_type"), "glob"), Fleet: chunk.Str("fleet"), Roster: chunk.Str("roster")}
	job.Published = !value.Truth(chunk.At("ssh"))
	all, ok := f.(*fleet.Fleet)
	if v := chunk.At("waves"); v != nil && chunk.At("subset") == nil && ok {
		var err error
		if job.Waves, err = fun.ParseWaves(v); err != nil {
			return err
		}
		waves, err := all.Waves(ctx, job)
		if err != nil {
			return err
		}
		st.Waves = planWaves(waves)
	}
	var ids []string
	var err error
	var unlisted []error
	if ok {
		ids, unlisted, err = all.Listed(ctx, job)
	} else {
		ids, err = f.Match(ctx, job.Tgt, job.TgtType)
	}
	if err != nil {
		return err
	}
	if ok {
		var outside []string
		ids, outside = all.Cut(ids)
		unlisted = slices.DeleteFunc(unlisted, func(err error) bool {
			stranger, is := errors.AsType[*fun.UnlistedError](err)
			if !is {
				return false
			}
			_, out := all.Cut([]string{stranger.ID})
			outside = append(outside, out...)
			return len(out) > 0
		})
		if len(ids)+len(unlisted) == 0 && len(outside) > 0 {
			st.Skipped, st.Unknown, st.Restarts, st.Reboots = plan.NoneWithin, "", false, false
			return nil
		}
	}
	if len(ids)+len(unlisted) == 0 {
		return errNoMatch
	}
	sortIDs(ids)
	st.Targets = ids
	if n, ok := value.AsInt(chunk.At("subset")); ok && n > 0 {
		st.Subset = int(n)
	}
	if len(unlisted) > 0 {
		return app.OneError(unlisted)
	}
	return nil
}

// tree notes the hashes of all files that are served.
func (pl *planner) tree(ctx context.Context, env *fun.Env) error {
	in := &pl.p.Inputs
	served := map[string]bool{}
	pl.basis = plan.Basis{Served: func(name string) bool { return served[name] }, Required: pl.required(served)}
	envs, err := env.Up.Envs(ctx)
	if err != nil {
		return err
	}
	for _, saltenv := range envs {
		files, err := env.Up.List(ctx, saltenv, "")
		if err != nil {
			return err
		}
		for _, f := range files {
			sum, err := env.Up.Hash(ctx, saltenv, f.Path, "sha256")
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // what a step needs of it fails, as in a run
				sum = assembly.Unreadable(f)
			}
			in.Tree[saltenv+":"+f.Path] = pl.key.Hash([]byte(sum))
			for name := f.Path; name != "." && !served[name]; name = path.Dir(name) {
				served[name] = true
			}
		}
	}
	if pl.s.Sources == nil {
		return nil
	}
	for i, x := range pl.s.Sources.Items {
		in.Sources[fmt.Sprint(i+1)] = pl.key.Hash(value.EncodeJSON(x))
	}
	return nil
}

// required returns what tells the arguments that a state function cannot do
// without. A module that the tree brings may have any function.
func (pl *planner) required(served map[string]bool) func(string) ([]string, bool) {
	return func(name string) (args []string, known bool) {
		if spec := pl.s.Table.Spec(fun.State, name); spec != nil {
			return spec.Missing(value.NewMap(0)), true
		}
		return nil, served["_states"]
	}
}

// roster notes the hashes of the roster's entries for the targets of the plan.
func (pl *planner) roster(ctx context.Context, env *fun.Env) error {
	wanted := map[string]bool{}
	plan.Walk(pl.p.Steps, func(st *plan.Step) bool {
		for _, id := range st.Targets {
			wanted[id] = true
		}
		return true
	})
	r, err := assembly.Roster(ctx, env, pl.s.Cfg, pl.s.SSH)
	if err != nil {
		return err
	}
	for _, e := range r.Entries() {
		if wanted[e.ID] {
			pl.p.Inputs.Roster[e.ID] = pl.key.Hash([]byte(entryText(e)))
		}
	}
	return nil
}

// entryText is all that an entry says of its machine.
func entryText(e *roster.Entry) string {
	return fmt.Sprintf("%q %q %d %q %q %q %q %t %q %t %s %s %s %q %q %q %q %q %q %t %q %s",
		e.Connection, e.Host, e.Port, e.User, e.Passwd.Reveal(), e.Priv, e.PrivPasswd.Reveal(), e.Sudo, e.SudoUser, e.TTY, e.Timeout,
		value.EncodeJSON(e.MinionOpts), value.EncodeJSON(e.Grains), e.ThinDir, e.SetPath, e.SSHOptions, e.CmdUmask, e.PreFlight,
		e.PreFlightArgs, e.IdentitiesOnly, e.RemotePortForwards, value.EncodeJSON(e.Extra))
}
