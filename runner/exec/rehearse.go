package exec

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A rehearsal is what a run for a plan knows of the states so far. What a state would
// leave is on an overlay, where that can be found out, and the states after it are
// tested on top of that. What a state after one that changes the machine in another way
// asked of the machine, it asked too early.
type rehearsal struct {
	over *host.Overlay // nil: there is nothing on it yet
	// moved is the last state that would change the machine, blind the last one of those
	// whose changes the overlay does not have; "": none.
	moved, blind string
	made         map[string]bool // the files that states so far make
	// changed are the states that change what the overlay does not have, by the module
	// and the names of what they change.
	changed map[thing]changer
}

// A thing is what states of a module change.
type thing struct{ mod, name string }

// A changer is the last state that changes a thing, and why it is not known what the thing
// is then, if there is more to say.
type changer struct{ id, why string }

// packets are the rules for packets: one thing, whatever a state is called.
var packets = thing{"", "the rules for packets"}

// zones are all that firewalld has: states name a zone and change several.
var zones = thing{"", "firewalld"}

// filters reports whether a state changes the rules for packets, or loads others.
func filters(c *fun.Chunk) bool {
	switch c.State {
	case "iptables", "nftables", "ipset", "firewalld":
		return true
	case "service":
		switch strings.TrimSuffix(c.Name, ".service") {
		case "iptables", "ip6tables", "nftables", "firewalld", "ipset", "netfilter-persistent", "ufw", "shorewall":
			return true
		}
	}
	return false
}

// A plannedState is what a rehearsal knows of one state.
type plannedState struct {
	unsure  string // why it is not known whether it acts, "" where it is
	early   string // unsure, where its conditions let it act or what it would do is something
	dry     string // unsure, of its dry run
	veil    string // unsure, because of what the state read
	acts    bool   // it would change something, or may
	failed  bool
	changes bool // its requisites are sure to see changes
	watched bool // it was mod_watch that would change something
	command bool // nobody knows what it does
	judged  bool
}

// due reports whether a state in test mode says that it would do something.
func due(ret *value.Map) bool {
	return ret.At("result") == nil || ret.At("result") != false && value.Truth(ret.At("changes"))
}

// asked counts what the machine itself was asked so far.
func (p *rehearsal) asked() int64 {
	if p == nil || p.over == nil {
		return 0
	}
	return p.over.Asked()
}

// early says why the conditions of a state hold for a machine that is another one by
// then; "" where they do not. before is what asked said before they were evaluated.
func (p *rehearsal) early(j *job, before int64) string {
	if p == nil || p.moved == "" {
		return ""
	}
	for k, v := range j.c.Low.All() {
		if name, _ := k.(string); !strings.HasPrefix(name, "__") && hasSlot(v) && !slices.Contains(conditionNames[:], name) {
			if at := p.last(slotReadsFiles(v)); at != "" {
				return "the slot of its argument " + name + " was filled before " + at + " changes the machine"
			}
		}
	}
	for _, name := range conditionNames {
		v := j.c.Low.At(name)
		if l, ok := v.(*value.List); v == nil || ok && l.Len() == 0 {
			continue
		}
		if at := p.last(p.asked() == before && (name == "creates" || readsFiles(v))); at != "" {
			return "its condition " + name + shown(v) + " was asked before " + at + " changes the machine"
		}
	}
	return ""
}

// conditionNames are the arguments that decide whether a state runs.
var conditionNames = [...]string{"onlyif", "unless", "creates"}

// last returns the last state that changes what is asked: files alone, which the overlay
// may have, or anything.
func (p *rehearsal) last(files bool) string {
	if files {
		return p.blind
	}
	return p.moved
}

// readsFiles reports whether a condition has only functions that read what an overlay
// has.
func readsFiles(v value.Value) bool {
	for _, x := range items(v) {
		m, ok := x.(*value.Map)
		if !ok {
			return false
		}
		if !ofFiles(m.Str("fun")) {
			return false
		}
	}
	return true
}

// slotReadsFiles is readsFiles of an argument that is a slot.
func slotReadsFiles(v value.Value) bool {
	text, ok := v.(string)
	name, ok2 := strings.CutPrefix(text, slotText+"salt:")
	return ok && ok2 && ofFiles(name)
}

// ofFiles reports whether a function reads files of an overlay, and nothing of the
// machine that the overlay does not have.
func ofFiles(name string) bool {
	switch mod, _, _ := strings.Cut(name, "."); mod {
	case "file", "match", "pillar", "config", "test":
		return true
	}
	return false
}

// shown is a condition of one command or path, as a message has it.
func shown(v value.Value) string {
	l := items(v)
	if len(l) == 0 {
		return ""
	}
	text, ok := l[0].(string)
	if !ok || strings.Contains(text, "\n") || len(text) > 80 {
		return ""
	}
	if len(l) > 1 {
		text += ", ..."
	}
	return " (" + text + ")"
}

// conditions evaluates the conditions of a state, and where the answer is too early,
// looks at what the state would do without them: one that would do nothing does so
// whatever they say. It returns the return of a state that does not run, else nil, and
// why its answer is not sure.
func (r *run) conditions(ctx context.Context, j *job) (ret *value.Map, early string) {
	before := r.plan.asked()
	r.plan.veiled() // what was read for others
	ret = j.conditions(ctx)
	early, veil := r.plan.early(j, before), r.plan.veiled()
	if early = cmp.Or(early, veil); early == "" || ret == nil {
		return ret, early
	}
	if would := j.invoke(ctx); would.At("result") == true && !due(would) && r.plan.veiled() == "" {
		early = ""
	}
	return ret, early
}

// veiled says what was read since it was last called although nobody knows what will be
// there; "" for nothing.
func (p *rehearsal) veiled() string {
	if p == nil || p.over == nil {
		return ""
	}
	path, by := p.over.Veiled()
	if path == "" {
		return ""
	}
	return "what will be at " + path + " is not known before " + by + " runs"
}

// judge says in the return of a state whether a plan can rely on it, by its conditions
// and its requisites.
func (p *rehearsal) judge(n *node, ret *value.Map) {
	x := &n.plan
	x.judged = true
	if pkg := n.startsBehind(ret); pkg != nil {
		p.starts(n, pkg, ret)
	}
	acts, failed := due(ret), ret.At("result") == false
	x.failed = failed
	if x.early != "" && (acts || failed || value.Truth(ret.At("skip_watch"))) {
		x.unsure = x.early
	}
	if x.unsure == "" {
		x.unsure = cmp.Or(x.veil, ret.Map(fun.PlanKey).Str(fun.PlanUnsure), p.again(n.c, ret))
	}
	if x.unsure == "" && !failed {
		x.unsure = n.requisitesUnsure(acts)
	}
	if x.unsure == "" && !acts && !failed && p.moved != "" && n.c.Low.At("check_cmd") != nil {
		x.unsure = "its check_cmd was run before " + p.moved + " changes the machine"
	}
	x.acts = acts || x.unsure != "" || failed && p.moved != ""
	x.changes = x.unsure == "" && value.Truth(ret.At("changes"))
	x.command = x.acts && (n.c.State == "cmd" || n.c.State == "module")
	shown := value.NewMap(1)
	if had := ret.Map(fun.PlanKey); had != nil {
		shown = had.Copy()
	}
	shown.Set(fun.PlanUnsure, x.unsure)
	ret.Set(fun.PlanKey, shown)
}

// things are what a state changes, or would: what its name or its list of packages says,
// and the packages that come along.
func things(c *fun.Chunk, ret *value.Map) (out []thing) {
	switch c.State {
	case "iptables", "nftables", "ipset":
		out = append(out, packets)
	case "firewalld":
		out = append(out, zones)
	}
	for _, x := range items(c.Low.At("pkgs")) {
		name := value.Str(x)
		if m, ok := x.(*value.Map); ok {
			for k := range m.All() {
				name = value.Str(k)
			}
		}
		out = append(out, thing{c.State, name})
	}
	if len(items(c.Low.At("pkgs"))) == 0 {
		out = append(out, thing{c.State, c.Name})
	}
	for _, x := range fun.ItemsOf(ret.Map(fun.PlanKey).At(fun.PlanPackages)) {
		if m, ok := x.(*value.Map); ok {
			out = append(out, thing{c.State, m.Str("name")})
		}
	}
	return out
}

// again says that a state before this one changes the same thing, which the overlay does
// not have: what the machine says of it is too early. "" is for none.
func (p *rehearsal) again(c *fun.Chunk, ret *value.Map) string {
	if len(p.changed) == 0 || runsAnything(c) {
		return ""
	}
	for _, x := range things(c, ret) {
		if by := p.changed[x]; by.id != "" {
			if by.why != "" {
				return by.id + " changes " + x.name + " before it: " + by.why
			}
			return by.id + " changes " + x.name + " before it"
		}
	}
	return ""
}

// runsAnything reports whether what a state does has nothing to do with its name.
func runsAnything(c *fun.Chunk) bool {
	return c.State == "cmd" || c.State == "module" || c.State == "salt" || changesNothing(c)
}

// startsBehind returns the state of packages behind which a service runs that is not
// there now: one that it requires and that would install something; nil for none.
func (n *node) startsBehind(ret *value.Map) *node {
	if n.c.State != "service" || n.c.Fun != "running" && n.c.Fun != "enabled" {
		return nil
	}
	if ret.At("result") != false && ret.Map(fun.PlanKey).Str(fun.PlanUnsure) == "" {
		return nil // it is there
	}
	for _, e := range n.reqs {
		if c := e.kind.class(); c != classRequire && c != classWatch {
			continue
		}
		for _, m := range e.g.nodes {
			if m.plan.acts && !m.plan.failed && m.plan.unsure == "" && m.c.State == "pkg" && m.c.Fun == "installed" {
				return m
			}
		}
	}
	return nil
}

// starts has a service that is not there now be one that starts behind a package. Where
// it watches what would change, it is sure to be started or restarted; else the package
// may start it by itself.
func (p *rehearsal) starts(n, pkg *node, ret *value.Map) {
	ret.Set("result", nil)
	if had := ret.Map(fun.PlanKey); had != nil {
		had.Delete(fun.PlanUnsure) // where it comes from is known
	}
	ret.Set("comment", "Service "+n.c.Name+" starts once "+pkg.c.ID+" has installed it")
	for _, e := range n.reqs {
		if e.kind == watch && n.c.Fun == "running" && e.g.planned().changes {
			ret.Set("comment", value.Str(ret.At("comment"))+", or is restarted if that starts it")
			return
		}
	}
	n.plan.early = "it acts unless " + pkg.c.ID + " does that, as packages of many systems do"
}

// requisitesUnsure says why it is not known whether a state acts that says so, or
// that it does not, by what its requisites would do.
func (n *node) requisitesUnsure(acts bool) string {
	var may *node // of onchanges and watch: one that may change something
	var sure [kinds]bool
	var asked [kinds]bool
	for _, e := range n.reqs {
		asked[e.kind] = true
		g := e.g.planned()
		switch e.kind {
		case onfail, onfailAny, onfailAll:
			if g.mayFail != nil {
				return "it runs only if " + g.mayFail.c.ID + " fails"
			}
		case prereq:
			for _, m := range e.g.nodes {
				if m.plan.dry != "" {
					may = m
				} else if m.dry != nil && m.dry.result == nil {
					sure[prereq] = true
				}
			}
		case watch, watchAny, onchanges, onchangesAny:
			if g.unsure != nil {
				may = g.unsure
			}
			sure[e.kind] = sure[e.kind] || g.changes
		default: // the others say nothing of whether it acts
		}
		if g.command != nil && !acts && n.c.State != "test" {
			return g.command.c.ID + " runs before it, and it is not known what that does"
		}
	}
	if may == nil {
		return ""
	}
	ran := sure[onchanges] || sure[onchangesAny] || sure[prereq]
	switch {
	case (asked[onchanges] || asked[onchangesAny] || asked[prereq]) && !ran:
		return "it runs only if " + may.c.ID + " changes something"
	case acts && (!n.plan.watched || sure[watch] || sure[watchAny]):
		return ""
	case asked[watch] || asked[watchAny]:
		return "it does more if " + may.c.ID + " changes something"
	}
	return ""
}

// A plannedGroup is what a rehearsal knows of the states that a requisite names.
type plannedGroup struct {
	unsure, mayFail, command *node // the first of each kind
	changes                  bool  // one is sure to change something
}

// planned returns what is known of a group, whose states are done unless they wait for
// what asks.
func (g *group) planned() *plannedGroup {
	if g.plan != nil {
		return g.plan
	}
	out, done := &plannedGroup{}, true
	for _, m := range g.nodes {
		done = done && m.done
		x := &m.plan
		if out.unsure == nil && x.unsure != "" {
			out.unsure = m
		}
		if out.mayFail == nil && m.done && (x.acts && m.c.State != "test" || x.failed) {
			out.mayFail = m
		}
		if out.command == nil && x.command {
			out.command = m
		}
		out.changes = out.changes || x.changes
	}
	if done {
		g.plan = out
	}
	return out
}

// act has the overlay be as the machine would be behind a state, where that can be
// found out without it.
//
// The return says what the state leaves, as far as that is known.
func (r *run) act(ctx context.Context, n *node, ret *value.Map) {
	x := &n.plan
	if !x.acts || changesNothing(n.c) {
		return
	}
	r.plan.moved = n.c.ID
	sure := x.unsure == "" && !x.failed
	var left, made []value.Value
	done, why := false, error(nil)
	if sure && !x.watched {
		done, why = r.replay(ctx, n)
	}
	if failed, ok := errors.AsType[*fun.TrialError](why); ok {
		x.unsure, x.changes, sure, why = "it may fail: "+failed.Comment, false, false, nil
		shown := ret.Map(fun.PlanKey).Copy()
		shown.Set(fun.PlanUnsure, x.unsure)
		ret.Set(fun.PlanKey, shown)
	}
	if !done {
		r.plan.blind = n.c.ID
		r.plan.change(n.c, ret, why)
	} else {
		if n.c.State == "firewalld" { // whose rules come with its next load
			r.plan.change(&fun.Chunk{State: "ipset", ID: n.c.ID, Low: n.c.Low}, ret, nil)
		}
		var paths []string
		left, paths = r.left()
		if n.c.State != "user" { // whose home has what every new one has
			made = r.made(n.c, ret, paths)
		}
	}
	if len(made) > 0 {
		shown := ret.Map(fun.PlanKey).Copy()
		shown.Set(fun.PlanFiles, value.NewList(made...))
		ret.Set(fun.PlanKey, shown)
	}
	if sure {
		showLeft(ret, append(left, declared(n.c)...))
	}
}

// change notes what a state changes that the overlay does not have.
func (p *rehearsal) change(c *fun.Chunk, ret *value.Map, why error) {
	if runsAnything(c) {
		return
	}
	if p.changed == nil {
		p.changed = map[thing]changer{}
	}
	by := changer{id: c.ID}
	if why != nil {
		by.why = why.Error()
	}
	for _, x := range things(c, ret) {
		p.changed[x] = by
	}
	if filters(c) {
		p.changed[packets] = by
	}
}

// changesNothing reports whether a state leaves the machine as it is, whatever it says.
func changesNothing(c *fun.Chunk) bool {
	mod := c.State
	if mod == "salt" && (c.Fun == "function" || c.Fun == "runner") {
		mod, _, _ = strings.Cut(c.Name, ".")
	}
	return mod == "test" || mod == "pillar" || mod == "status"
}

// replay has the overlay have what a state leaves: it runs one that only writes files
// there. It reports whether that is all that the state would do, and why not, if there is
// more to say.
func (r *run) replay(ctx context.Context, n *node) (done bool, why error) {
	mod, spec, errs := r.verify(n.c)
	if errs != nil || !spec.Files && spec.Leaves == nil {
		return false, nil
	}
	for _, v := range n.c.Low.All() {
		if hasSlot(v) {
			return false, nil // its function has run for this once
		}
	}
	p := r.plan
	if p.over == nil {
		over, err := host.NewOverlay(r.env.Host)
		if err != nil {
			return false, nil
		}
		p.over = over
		r.env = r.env.With(func(e *fun.Env) { e.Host = over.Looking() })
	}
	c := *n.c
	c.Low = n.c.Low.Copy()
	c.Low.Delete("check_cmd") // it would run a program on a file that is not there
	j := r.job(n, &c, mod, spec)
	j.low, j.test = c.Low, false
	j.env = j.env.With(func(e *fun.Env) {
		e.Host = p.over
		e.Bus, e.OnWarn, e.OnFault, e.OnNote = nil, nil, nil, nil // said by the test already
	})
	refused := p.over.Refused()
	p.over.Touched() // what states in test mode left there is not this one's
	p.over.Veiled()
	p.over.By(n.c.ID)
	if spec.Leaves != nil {
		call, err := j.env.Invoker.Bind(mod, spec, fun.Args{Kw: c.Low})
		if err != nil {
			return false, nil
		}
		call.Name, call.Low = c.Name, &c
		call.Attach(j.env)
		if err := spec.Leaves(ctx, call, p.over); err != nil {
			return false, err
		}
		return p.veiled() == "", nil
	}
	ret := j.invoke(asUser(ctx, c.Low))
	return ret.At("result") == true && p.over.Refused() == refused && p.veiled() == "", nil
}
