package python

import (
	"context"
	"sync"
	"sync/atomic"

	"brine/internal/core/fun"
	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// A shared is what the languages of a run have in common of its __context__: the values
// that can be sent between their processes. Each process keeps a __context__ of its own.
// What it has changed is asked for before another one runs, so that a run in one
// language never asks.
type shared struct {
	number int64 // which names the __context__ in all processes

	mu      sync.Mutex
	last    int64 // the number of the latest change
	changes map[string]change
}

// A change is what a key has become.
type change struct {
	n       int64
	from    language
	deleted bool
	v       value.Value
}

type contextKey struct{}

var contexts atomic.Int64

// contextOf returns what is shared of a run's __context__.
func contextOf(env *fun.Env) *shared {
	return env.Memo.Once(contextKey{}, func() any {
		return &shared{number: contexts.Add(1), changes: map[string]change{}}
	}).(*shared)
}

// take adds what a process has changed.
func (s *shared) take(from language, m *value.Map) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, v := range m.Map("set").All() {
		s.last++
		s.changes[value.Str(k)] = change{n: s.last, from: from, v: v}
	}
	if gone := m.List("gone"); gone != nil {
		for _, k := range gone.Items {
			s.last++
			s.changes[value.Str(k)] = change{n: s.last, from: from, deleted: true}
		}
	}
}

// since returns what others than a language have changed after the change seen, as it
// is sent, and the number of the latest change. A process that is new, whose seen is
// less than 0, gets everything. Without changes it returns nil.
func (s *shared) since(seen int64, lang language) (value.Value, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seen >= s.last || s.last == 0 {
		return nil, s.last, nil
	}
	set, gone := value.NewMap(4), &value.List{}
	for k, c := range s.changes {
		switch {
		case c.n <= seen || seen >= 0 && c.from == lang:
		case c.deleted:
			gone.Append(k)
		default:
			set.Set(k, c.v)
		}
	}
	if set.Len() == 0 && gone.Len() == 0 {
		return nil, s.last, nil
	}
	news, err := wire.Pack(value.MapOf("set", set, "gone", gone))
	return news, s.last, err
}

// A share is the __context__ of a run as one process has it.
type share struct {
	seen  int64 // the latest change that it knows; less than 0: it is new
	dirty bool  // it may have changes
}

// share returns what the process has of a __context__.
func (p *process) share(s *shared) *share {
	sh := p.shares[s.number]
	if sh == nil {
		sh = &share{seen: -1}
		p.shares[s.number] = sh
	}
	return sh
}

// addChanges puts what others have changed into a packed message for the process.
func (h *Helper) addChanges(p *process, s *shared, message *value.Map) error {
	sh := p.share(s)
	news, last, err := s.since(sh.seen, h.lang)
	if err != nil {
		return err
	}
	sh.seen = last
	if news != nil {
		message.Set("shared", news)
	}
	return nil
}

// gather asks the other languages of the run what they have changed. It must not be
// called while the process of h works on a question: two that wait for each other
// would wait for ever.
func (h *Helper) gather(ctx context.Context, w world) {
	s := contextOf(w.env)
	for lang := range extensions {
		if o, ok := helpers(w.env).Load(helperKey{language(lang)}); ok && language(lang) != h.lang {
			o.(*Helper).report(ctx, w, s)
		}
	}
}

// report asks for what the process has changed. One that works, for a function that runs at
// the same time, is asked later; one that cannot be asked has nothing to share.
func (h *Helper) report(ctx context.Context, w world, s *shared) {
	h.mu.Lock()
	p := h.p
	if h.busy || p == nil || p.broken.Load() || p.shares[s.number] == nil || !p.shares[s.number].dirty {
		h.mu.Unlock()
		return
	}
	h.busy = true
	h.mu.Unlock()
	defer h.release()
	defer p.guard(ctx)()
	answer, err := h.exchange(ctx, p, w, value.MapOf("op", "context"))
	if err != nil {
		return // who asks the process next hears of it
	}
	p.share(s).dirty = false
	s.take(h.lang, answer.Map("value"))
}
