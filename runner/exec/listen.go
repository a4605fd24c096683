package exec

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// listen runs mod_watch for the states that listen to a state that changed
// something, in the order in which they were written.
//
// Salt: salt/state.py State.call_listen.
func (r *run) listen(ctx context.Context) {
	var chunks []*fun.Chunk
	faults := value.NewMap(0)
	seen := map[*node]bool{}
	for _, n := range r.nodes {
		if !n.c.Low.Has("listen") && !n.c.Low.Has("listen_in") {
			continue
		}
		r.noList(n.c, "listen")
		for _, rf := range refs(n.c.Low, "listen") {
			targets := r.heard(rf)
			if len(targets) == 0 {
				if rf.bare {
					r.warnOnce(n.c, "listen", "listen names "+value.QuoteStr(rf.text)+", which is no state")
				} else {
					r.noSuchListen(faults, rf)
				}
				continue
			}
			if r.anyChanged(targets) && !seen[n] {
				seen[n] = true
				chunks = append(chunks, listener(n))
			}
		}
		for _, rf := range refs(n.c.Low, "listen_in") {
			if !n.done || !n.out.changed {
				continue
			}
			listeners := r.heard(rf)
			if len(listeners) == 0 {
				r.noSuchListen(faults, rf)
			}
			for _, l := range listeners {
				if !seen[l] {
					seen[l] = true
					chunks = append(chunks, listener(l))
				}
			}
		}
	}
	if len(chunks) > 0 {
		r.halted = false
		r.stack = r.stack[:0]
		r.setNodes(chunks)
		r.walk(ctx, r.nodes)
	}
	for tag, v := range faults.All() {
		v.(*value.Map).Set("__run_num__", r.nextNum())
		r.set(tag.(string), v.(*value.Map))
	}
}

// heard returns the states that a listen reference names: no glob, no SLS, as
// in Salt.
func (r *run) heard(rf ref) []*node {
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
