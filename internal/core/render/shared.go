package render

import (
	"hash/maphash"
	"sync"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// A Shared is what engines of the same files need not work out each for
// itself: parsed templates, decrypted secrets, and the data of YAML that comes
// out alike again and again. The pillars of a thousand targets come from the
// same dozen files. It is safe for concurrent use.
type Shared struct {
	mu      sync.Mutex
	jinjas  map[jinjaKey]*jinja.Env
	places  map[string]place   // by name of a template that was loaded
	plain   map[string]string  // decrypted by key directory and encrypted text
	sources map[string]stamped // templates that were read, by saltenv and path

	many   bool // more than one engine uses it
	seed   maphash.Seed
	seen   map[uint64]bool // texts that came once
	parsed map[yamlKey]value.Value
	size   int // bytes of the texts in parsed

	made sync.Map // what [Shared.Once] has made, by key
}

// Once returns what make returns for a key, and calls it once for all engines that share
// s; without s, each time. An error is not kept.
func (s *Shared) Once(key any, make func() (any, error)) (any, error) {
	if s == nil {
		return make()
	}
	type maker struct {
		mu   sync.Mutex
		v    any
		done bool
	}
	x, _ := s.made.LoadOrStore(key, &maker{})
	m := x.(*maker)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done {
		return m.v, nil
	}
	v, err := make()
	if err == nil {
		m.v, m.done = v, true
	}
	return v, err
}

// A yamlKey is a text of YAML and how it is read.
type yamlKey struct {
	name, text string
	extended   bool
}

// Bounds of what is kept of YAML.
const (
	maxSeen   = 16 << 10 // texts
	maxParsed = 2 << 20  // bytes
)

func newShared() *Shared {
	return &Shared{
		jinjas: map[jinjaKey]*jinja.Env{}, places: map[string]place{}, plain: map[string]string{}, sources: map[string]stamped{},
	}
}

// NewShared returns an empty Shared for engines of the same files on the same
// machine. Their options may differ.
func NewShared() *Shared {
	s := newShared()
	s.many, s.seed = true, maphash.MakeSeed()
	s.seen, s.parsed = map[uint64]bool{}, map[yamlKey]value.Value{}
	return s
}

// Share lets e use what others have worked out. It returns e.
func (e *Engine) Share(s *Shared) *Engine {
	if s != nil {
		e.Shared = s
	}
	return e
}

// loadYAML is yamlsalt.LoadText. A text that came before is not read again: the
// result is the caller's own in any case. Of a text that comes once, as those
// do that name their target, nothing is kept.
func (s *Shared) loadYAML(o yamlsalt.LoadOptions, text string) (value.Value, error) {
	if !s.many || len(text) > maxParsed/8 {
		return yamlsalt.LoadText(o, text)
	}
	k := yamlKey{o.Name, text, o.Extended}
	s.mu.Lock()
	v, ok := s.parsed[k]
	s.mu.Unlock()
	if ok {
		return value.Clone(v), nil
	}
	v, err := yamlsalt.LoadText(o, text)
	if err != nil {
		return nil, err
	}
	h := maphash.String(s.seed, o.Name+"\x00"+text)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.seen[h]:
		if len(s.seen) >= maxSeen {
			clear(s.seen)
		}
		s.seen[h] = true
	case s.parsed[k] == nil && v != nil:
		if s.size += len(text); s.size > maxParsed {
			clear(s.parsed)
			s.size = len(text)
		}
		s.parsed[k] = value.Clone(v)
	}
	return v, nil
}
