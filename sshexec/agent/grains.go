package agent

import (
	"sync"

	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Grains go to the controller by need. With a request for the pillar go those
// that cost nothing and those that the controller named with the call; while
// the request is under way it may ask for others, which are worked out then:
// some take name servers seconds.

// A readier is grains of which some cost nothing.
type readier interface{ Ready() *value.Map }

// lent are the grains of requests under way, by number: a call may have others
// than the session.
type lent struct {
	mu   sync.Mutex
	last int64
	of   map[int64]value.Mapping
}

// lend makes grains known to the controller by a number until back is called.
func (l *lent) lend(g value.Mapping) (n int64, back func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[int64]value.Mapping{}
	}
	l.last++
	n = l.last
	l.of[n] = g
	return n, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.of, n)
	}
}

// get returns the grains that were lent as n.
func (l *lent) get(n int64) (value.Mapping, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.of[n]
	return g, ok
}

// giveGrains adds grains to the head of a request: all where each costs the
// same, else those that cost nothing and those that are wanted, with a number
// by which the others can be asked for until back is called.
func (u *upstream) giveGrains(head *value.Map, g value.Mapping, want *value.List) (back func()) {
	r, ok := g.(readier)
	if !ok {
		head.Set("grains", g)
		return func() {}
	}
	some, none := r.Ready(), value.NewList()
	for i := range want.Len() {
		k := want.Items[i]
		if some.Has(k) {
			continue
		}
		if v, ok := g.Get(k); ok {
			some.Set(k, v)
		} else {
			none.Append(k)
		}
	}
	n, back := u.lent.lend(g)
	head.Set("grains", some)
	head.Set("without", none)
	head.Set("more", n)
	return back
}

// grains answers with grains of the machine: those of a request under way where
// the head names it, else those of now; all where it names no keys and does not
// ask for those that cost nothing.
func (s *server) grains(st *wire.Stream) error {
	env, err := s.open()
	if err != nil {
		return err
	}
	g := env.Grains
	if n, ok := st.Head().At("of").(int64); ok {
		if g, ok = s.files.lent.get(n); !ok {
			return wire.Refusef("no request %d has grains to ask for", n)
		}
	}
	keys := st.Head().List("keys")
	ready := st.Head().At("ready") == true
	if keys.Len() == 0 && !ready {
		return st.Answer(g)
	}
	m := value.NewMap(keys.Len())
	if r, ok := g.(readier); ok && ready {
		m.Update(r.Ready())
	}
	for _, k := range keys.Items {
		if v, ok := g.Get(k); ok {
			m.Set(k, v)
		}
	}
	return st.Answer(m)
}
