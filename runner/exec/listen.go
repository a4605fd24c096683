package exec

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// listen runs mod_watch for the states that listen to a state that changed
// something, in the order in which they were written.
//
// Salt: salt/state.py State.call_listen.
func (r *run) listen(ctx context.Context) {
	l := listening{run: r, faults: value.NewMap(0), seen: map[*node]bool{}}
	for _, n := range r.nodes {
		if !n.c.Low.Has("listen") && !n.c.Low.Has("listen_in") {
			continue
		}
		r.noList(n.c, "listen")
		r.noList(n.c, "listen_in")
		l.listen(n)
		l.listenIn(n)
	}
	if len(l.chunks) > 0 {
		r.halted = false
		r.stack = r.stack[:0]
		r.setNodes(l.chunks)
		r.walk(ctx, r.nodes)
	}
	for tag, v := range l.faults.All() {
		v.(*value.Map).Set("__run_num__", r.nextNum())
		r.set(tag.(string), v.(*value.Map))
	}
}

// listening collects the chunks that states which listen run once more.
type listening struct {
	*run
	chunks []*fun.Chunk
	faults *value.Map
	seen   map[*node]bool
}

// add adds the chunk of a listener, once.
func (l *listening) add(n *node) {
	if !l.seen[n] {
		l.seen[n] = true
		l.chunks = append(l.chunks, listener(n))
	}
}

// listen adds n if one of those that it listens to changed.
func (l *listening) listen(n *node) {
	for _, rf := range refs(n.c.Low, "listen") {
		targets := l.listenTargets(rf)
		switch {
		case len(targets) == 0 && rf.bare:
			l.warnOnce(n.c, "listen", "listen names "+value.QuoteStr(rf.text)+", which is not a state")
		case len(targets) == 0:
			l.noSuchListen(l.faults, rf)
		case l.anyChanged(targets):
			l.add(n)
		}
	}
}

// listenIn adds those that n names as its listeners, if it changed.
func (l *listening) listenIn(n *node) {
	if !n.done || !n.out.changed {
		return
	}
	for _, rf := range refs(n.c.Low, "listen_in") {
		listeners := l.listenTargets(rf)
		if len(listeners) == 0 {
			l.noSuchListen(l.faults, rf)
		}
		for _, n := range listeners {
			l.add(n)
		}
	}
}

// listenTargets returns the states that a listen reference names: no glob, no SLS, as
// in Salt.
func (r *run) listenTargets(rf ref) []*node {
	switch {
	case !rf.ok || rf.state == "sls":
		return nil
	case rf.state == "id":
		return r.index.named(rf.text)
	}
	return r.index.state[[2]string{rf.state, rf.text}]
}

func (r *run) anyChanged(ns []*node) bool {
	for _, n := range ns {
		if n.done && n.out.changed {
			return true
		}
	}
	return false
}

func (r *run) noSuchListen(faults *value.Map, rf ref) {
	text := value.Str(rf.val)
	tag := "Listen_Error_|-listen_" + text + "_|-listen_" + rf.state + "_|-Listen_Error"
	faults.Set(tag, value.MapOf("comment", "Referenced state "+rf.state+": "+text+" does not exist",
		"name", "listen_"+rf.state+":"+text, "result", false, "changes", value.NewMap(0)))
}

// listener returns the chunk that calls mod_watch for n at the end.
func listener(n *node) *fun.Chunk {
	c := *n.c
	low := value.NewMap(n.c.Low.Len() + 1)
	for k, v := range n.c.Low.All() {
		if s, ok := k.(string); !ok || !requisite(s) {
			low.Set(k, v)
		}
	}
	low.Set("sfun", n.c.Fun)
	low.Set("fun", modWatch)
	low.Set("__id__", "listener_"+n.c.ID)
	c.ID, c.Fun, c.Low = "listener_"+n.c.ID, modWatch, low
	return &c
}

// requisite reports whether key is a requisite, which a listener has none of.
func requisite(key string) bool {
	switch key {
	case "listen", "listen_in", "onfail_stop", "use", "use_in":
		return true
	}
	for _, k := range kindNames {
		if k == key {
			return true
		}
	}
	return false
}
