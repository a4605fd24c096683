package exec

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A frame is a state whose requisites are being seen to.
type frame struct {
	n   *node
	dry bool // for a prereq: find out whether it would change something
	e   int  // the requisite it is at
	m   int  // the member of that requisite's group
	// waited says that a requisite of a dry run was not settled when it began:
	// the function is then called whatever became of them, as in Salt.
	waited bool
}

// walk runs nodes in order, requisites first.
func (r *run) walk(ctx context.Context, nodes []*node) {
	for _, n := range nodes {
		if n.done {
			continue
		}
		r.enter(ctx, n, false)
		for len(r.stack) > 0 {
			r.reap(ctx)
			if ctx.Err() != nil {
				r.Stopped = true
			}
			if r.halted || r.Stopped {
				r.unwind()
				return
			}
			r.step(ctx)
		}
	}
}

func (r *run) unwind() {
	for len(r.stack) > 0 {
		r.leave()
	}
}

// enter puts n on the stack.
func (r *run) enter(ctx context.Context, n *node, dry bool) {
	r.initModule(ctx, n)
	if !n.resolved {
		r.resolve(n)
	}
	if dry {
		n.preActive = true
	} else {
		n.active = true
	}
	r.stack = append(r.stack, frame{n: n, dry: dry})
}

// leave takes the top off the stack.
func (r *run) leave() {
	f := &r.stack[len(r.stack)-1]
	if f.dry {
		f.n.preActive = false
	} else {
		f.n.active = false
	}
	r.stack = r.stack[:len(r.stack)-1]
}

// step sees to the next requisite of the state on top, or, where all are seen
// to, to the state itself.
func (r *run) step(ctx context.Context) {
	f := &r.stack[len(r.stack)-1]
	n := f.n
	if n.done && f.dry {
		r.leave()
		return
	}
	if len(n.lost) > 0 && !n.done {
		if f.dry || r.admit(ctx, n) {
			r.notFound(n, f.dry)
			r.leave()
		}
		return
	}
	for ; f.e < len(n.reqs); f.e, f.m = f.e+1, 0 {
		e := n.reqs[f.e]
		if f.dry && e.kind == prerequired {
			continue
		}
		m, asDry := e.g.pending(f, e.kind == prereq)
		f.waited = f.waited || f.dry && m != nil
		for m != nil && (r.inDryRun(f, m) || n.done && m.waits(asDry)) {
			f.m++
			m, asDry = e.g.pending(f, e.kind == prereq)
		}
		if m == nil {
			continue
		}
		if m.waits(asDry) {
			if r.backToDryRun(m) {
				return
			}
			r.recursive(f, m, asDry)
			r.leave()
			return
		}
		r.enter(ctx, m, asDry)
		return
	}
	// Where a dry run has settled it, what else has prereq on it runs before
	// what comes after it, and that is all.
	if !n.done {
		r.finish(ctx, n, f.dry, f.waited)
	}
	if len(r.stack) > 0 {
		r.leave()
	}
}

// waits reports whether n, or its dry run, is on the stack.
func (n *node) waits(dry bool) bool { return dry && n.preActive || !dry && n.active }

// pending returns the next member of the group that has not run, and whether a
// dry run of it is what is wanted.
func (g *group) pending(f *frame, dry bool) (*node, bool) {
	next := &g.next
	settled := func(n *node) bool { return n.done }
	if dry {
		next = &g.nextDry
		settled = func(n *node) bool { return n.done || n.dry != nil }
	}
	for *next < len(g.nodes) && settled(g.nodes[*next]) {
		*next++
	}
	for f.m = max(f.m, *next); f.m < len(g.nodes); f.m++ {
		if n := g.nodes[f.m]; !settled(n) {
			return n, dry
		}
	}
	return nil, false
}

// inDryRun reports whether f is a dry run made for m: whether m has prereq,
// directly or over other dry runs, on f's state. The state may well require m,
// but its dry run cannot wait for it.
func (r *run) inDryRun(f *frame, m *node) bool {
	if !f.dry || (!m.active && !m.preActive) {
		return false
	}
	for i := len(r.stack) - 2; i >= 0; i-- {
		if r.stack[i].n == m {
			return true
		}
		if !r.stack[i].dry {
			return false
		}
	}
	return false
}

// backToDryRun abandons what the nearest dry run above m waits for, and
// continues with that dry run: what it waits for comes after m, and m after the
// dry run, so this is not a cycle. It reports whether there is such a dry run.
func (r *run) backToDryRun(m *node) bool {
	for i := len(r.stack) - 1; i >= 0 && r.stack[i].n != m; i-- {
		if !r.stack[i].dry {
			continue
		}
		for len(r.stack) > i+1 {
			r.leave()
		}
		r.stack[i].m++
		return true
	}
	return false
}

// finish does what the requisites of n, all settled now, say. waited is that of
// the frame.
func (r *run) finish(ctx context.Context, n *node, dry, waited bool) {
	st := statusOf(r.stats(ctx, n, dry))
	if ctx.Err() != nil {
		r.Stopped = true
	}
	if r.Stopped || r.halted { // a parallel state that was waited for has failed hard
		return
	}
	if !dry && !r.admit(ctx, n) {
		return
	}
	if dry && waited {
		r.callOrDryRun(ctx, n, true, st == goWatch)
		return
	}
	switch st {
	case failedReq:
		if n.dry != nil && n.dry.result == false {
			// The dry run failed, which kept the state that has prereq on it
			// from running: its own error says more than that.
			ret := n.dryRet.Copy()
			ret.Set("__run_num__", r.nextNum())
			r.identify(n, ret)
			r.put(n, ret)
			return
		}
		r.pass(n, dry, value.MapOf("result", false, "comment", "One or more requisite failed: "+strings.Join(r.failedReqs(n, dry), ", ")))
	case noChanges:
		r.pass(n, dry, value.MapOf("result", true, "comment", "No changes detected"))
	case noFailure:
		r.pass(n, dry, value.MapOf("result", true, "comment", "State was not run because onfail req did not change", "__state_ran__", false))
	case noneChanged:
		r.pass(n, dry, value.MapOf("result", true, "comment", "State was not run because none of the onchanges reqs changed", "__state_ran__", false))
	default:
		r.callOrDryRun(ctx, n, dry, st == goWatch && !dry) // a dry run sees changes that it waited for alone
	}
}

// admit asks the gate whether n may have its turn, and stops the run where it
// may not.
func (r *run) admit(ctx context.Context, n *node) bool {
	if !r.env.MayStart(fun.WithJID(ctx, r.env.JID), n.c) {
		r.Stopped, r.StoppedAt = true, n.c
	}
	if !r.Stopped && r.o.Begin != nil {
		r.o.Begin(n.c)
	}
	return !r.Stopped
}

// callOrDryRun calls the function of n, or makes its dry run.
func (r *run) callOrDryRun(ctx context.Context, n *node, dry, watched bool) {
	if dry {
		ret := r.dryRun(ctx, n)
		if !value.Truth(ret.At("changes")) && watched {
			ret.Set("changes", value.MapOf("watch", "watch"))
			ret.Set("result", nil)
		}
		o := outcomeOf(ret)
		n.dry, n.dryRet = &o, ret
		return
	}
	if prior := r.o.Prior[n.tag]; prior != nil {
		ret := prior.Copy()
		ret.Set("__run_num__", r.nextNum())
		r.put(n, ret)
		return
	}
	r.joinOthers(ctx, n)
	ret := r.call(ctx, n, n.c, watched)
	if n.par == nil && watched && leftToModWatch(ret) {
		n.plan.watched = true
		ret = r.call(ctx, n, r.watchChunk(n), false)
	}
	if r.plan != nil {
		r.plan.judge(n, ret)
		r.leads(n.c, ret)
		r.act(ctx, n, ret)
	}
	r.put(n, ret)
}

// leftToModWatch reports whether ret leaves it to mod_watch to act.
func leftToModWatch(ret *value.Map) bool {
	return !value.Truth(ret.At("changes")) && !value.Truth(ret.At("skip_watch"))
}

// watchChunk returns the chunk that calls mod_watch for n.
func (r *run) watchChunk(n *node) *fun.Chunk {
	reqs := value.NewMap(int(kinds))
	lists := [kinds]*value.List{}
	for k := range kinds {
		lists[k] = &value.List{}
		reqs.Set(kindNames[k], lists[k])
	}
	for _, e := range n.reqs {
		for _, m := range e.g.nodes {
			lists[e.kind].Append(m.c.Low)
		}
	}
	c := *n.c
	c.Low = n.c.Low.Copy()
	c.Low.Set("sfun", n.c.Fun)
	c.Low.Set("fun", "mod_watch")
	c.Low.Set("__reqs__", reqs)
	c.Fun = "mod_watch"
	return &c
}

// pass records a return of n without a call. Where n was to have a dry run,
// that is its outcome, too.
func (r *run) pass(n *node, dry bool, what *value.Map) {
	start := r.now()
	ret := value.NewMap(9)
	ret.Set("changes", value.NewMap(0))
	ret.Set("result", what.At("result"))
	ret.Set("duration", millis(r.now().Sub(start)))
	ret.Set("start_time", clock(start))
	ret.Update(what)
	ret.Set("__run_num__", r.nextNum())
	r.identify(n, ret)
	if dry {
		o := outcomeOf(ret)
		n.dry, n.dryRet = &o, ret
	}
	r.put(n, ret)
}

func (r *run) identify(n *node, ret *value.Map) {
	ret.Set("__sls__", n.c.Low.At("__sls__"))
	ret.Set("__id__", n.c.ID)
	ret.Set("name", n.c.Name)
}

// put records the return of n: shows it to requisites and on the bus, and sees
// whether the run is to end here.
func (r *run) put(n *node, ret *value.Map) {
	subs := ret.At("sub_state_run")
	if subs != nil {
		ret.Delete("sub_state_run")
	}
	if r.plan != nil && !n.plan.judged {
		r.plan.judge(n, ret)
	}
	r.set(n.tag, ret)
	n.done = true
	n.out = r.outcome(ret)
	if n.par != nil {
		return // the rest when it has ended
	}
	r.published(n, ret, subs)
}

func (r *run) published(n *node, ret *value.Map, subs value.Value) {
	r.fire(n, ret)
	if r.o.Done != nil {
		r.o.Done(n.c, ret)
	}
	r.subStates(n, subs)
	if r.test {
		return
	}
	hard, ok := n.c.Low.Get("failhard")
	if !ok {
		hard = r.failhard
	}
	if value.Truth(hard) && n.out.result == false {
		r.halted = true
	}
}

// subStates records the returns that a state gives for parts of itself.
func (r *run) subStates(n *node, subs value.Value) {
	for _, x := range items(subs) {
		m, _ := x.(*value.Map)
		low := m.Map("low")
		if low == nil {
			continue
		}
		tag := value.Str(low.At("state")) + "_|-" + value.Str(low.At("__id__")) + "_|-" + value.Str(low.At("name")) + "_|-" + value.Str(low.At("fun"))
		r.num++
		changes := m.At("changes")
		if changes == nil {
			changes = value.NewMap(0)
		}
		ret := value.MapOf("name", low.At("name"), "changes", changes, "result", m.At("result"),
			"duration", 0.0, "start_time", clock(r.now()), "comment", "", "__state_ran__", true,
			"__run_num__", int64(r.num), "__sls__", n.c.Low.At("__sls__"), "__id__", low.At("__id__"))
		for _, k := range []string{"duration", "start_time", "comment"} {
			if v, ok := m.Get(k); ok {
				ret.Set(k, v)
			}
		}
		r.set(tag, ret)
	}
}

// fire fires the return of n on the bus, if the state or the configuration asks
// for it.
//
// Salt: salt/state.py State.event. Difference: Salt fires nothing in a local
// run; here the bus is the run's own.
func (r *run) fire(n *node, ret *value.Map) {
	want := n.c.Low.At("fire_event")
	named, isText := want.(string)
	isText = isText && named != ""
	if r.env.Bus == nil || (!r.events && !value.Truth(want)) {
		return
	}
	data := value.MapOf("ret", ret)
	jid, id := r.env.JID, r.env.ID
	var tag string
	switch {
	case want == true:
		tag = eventTag("state_result", jid, id, value.Str(ret.At("name")))
	case isText:
		tag = eventTag("state_result", jid, id, named)
	default:
		tag = eventTag("job", jid, "prog", id, value.Str(ret.At("__run_num__")))
		data.Set("len", int64(len(r.chunks)))
	}
	data.Set("id", id)
	data.Set("jid", jid)
	r.env.Bus.Fire(tag, data)
}

// eventTag joins the parts of a tag as Salt's tagify.
func eventTag(parts ...string) string {
	var kept []string
	for _, p := range append([]string{"salt"}, parts...) {
		if p = strings.Trim(p, "/"); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "/")
}
