package tee

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Place is where a part of the output of a run comes from.
type Place struct{ JID, Host string }

// A Hub is who listens to the programs of a run. It is safe for concurrent use; the nil
// Hub has no listeners.
type Hub struct {
	// Mask takes the secrets out of what a host printed; nil: it has none.
	Mask func(host, text string) string

	wanted    atomic.Bool
	mu        sync.Mutex
	listeners []func(Place, Part)
	waiting   map[*func()]struct{} // called when somebody begins to listen
}

// Listen has f called with what is printed from now on, until the run ends. f must not
// wait, and is safe for concurrent use.
func (h *Hub) Listen(f func(Place, Part)) {
	h.mu.Lock()
	h.listeners = append(h.listeners, f)
	waiting := h.waiting
	h.waiting = nil
	h.mu.Unlock()
	h.wanted.Store(true)
	for f := range waiting {
		(*f)()
	}
}

// Source returns where the output of a call on a host comes from.
func (h *Hub) Source(at Place) *Source {
	s := &Source{hub: h, Wanted: h.wanted.Load, Send: func(p Part) { h.send(at, p) }}
	if h.Mask != nil {
		s.Mask = func(text string) string { return h.Mask(at.Host, text) }
	}
	return s
}

// Context returns a context for a call of a function on a host, whose output listeners
// get; a function that runs states is "".
func (h *Hub) Context(ctx context.Context, at Place, function string) context.Context {
	if h == nil {
		return ctx
	}
	return h.Source(at).Context(ctx, function)
}

func (h *Hub) send(at Place, p Part) {
	h.mu.Lock()
	listeners := h.listeners
	h.mu.Unlock()
	for _, f := range listeners {
		f(at, p)
	}
}

// OnWanted calls f when somebody begins to listen, and not after cancel was called. Where
// somebody does already, it does nothing.
func (s *Source) OnWanted(f func()) (cancel func()) {
	h := s.hub
	if h == nil || h.wanted.Load() {
		return func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners) > 0 {
		go f() // the caller may not be ready
		return func() {}
	}
	if h.waiting == nil {
		h.waiting = map[*func()]struct{}{}
	}
	h.waiting[&f] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting, &f)
	}
}

// Relay hands on a part that came from another process, whose secrets may not all be known
// there.
func (s *Source) Relay(p Part) {
	if s.Mask != nil {
		p.Of, p.Text = s.Mask(p.Of), s.Mask(p.Text)
	}
	s.Send(p)
}
