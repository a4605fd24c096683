package sshexec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"brine/internal/value"
)

// machineGrains are the grains of a machine as targets are matched by them:
// the roster's first; what it does not have is kept from an earlier run, else
// gathered now.
type machineGrains struct {
	m   *machine
	ctx context.Context //nolint:containedctx // the mapping lives as long as one match

	mu      sync.Mutex
	unknown error // why one that was asked for is not known
}

// known is machine.known, which it keeps the error of.
func (g *machineGrains) known(keys ...value.Value) *value.Map {
	got, err := g.m.known(g.ctx, keys...)
	if err != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.unknown = err
	}
	return got
}

// whyUnknown says why a grain that was asked for is not known.
func (g *machineGrains) whyUnknown() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unknown
}

// Get returns a grain. Of a machine that has to be asked only that one is
// worked out: some take a name server seconds.
func (g *machineGrains) Get(key value.Value) (value.Value, bool) {
	if v, ok := g.m.e.Grains.Get(key); ok {
		return v, true
	}
	return g.known(key).Get(key)
}

// Len returns the number of grains.
func (g *machineGrains) Len() int { return len(g.Keys()) }

// Keys returns the names of the grains.
func (g *machineGrains) Keys() []value.Value {
	all := g.known().Copy()
	all.Update(g.m.e.Grains)
	return all.Keys()
}

// keptGrains are the grains of a machine that are known without asking it.
type keptGrains struct {
	m *machine

	once    sync.Once
	file    *gathering // nil: none are kept
	mu      sync.Mutex
	unknown bool // one was asked for that is not known
}

// errNotKept says why a grain is not known.
var errNotKept = errors.New("its grains are not kept here")

func (g *keptGrains) whyUnknown() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.unknown {
		return errNotKept
	}
	return nil
}

func (g *keptGrains) kept(keys ...value.Value) *value.Map {
	g.once.Do(func() { g.file = g.m.kept() })
	if !g.file.has(keys) {
		g.mu.Lock()
		g.unknown = true
		g.mu.Unlock()
	}
	if g.file == nil {
		return value.NewMap(0)
	}
	return g.file.grains
}

// Get returns a grain.
func (g *keptGrains) Get(key value.Value) (value.Value, bool) {
	if v, ok := g.m.e.Grains.Get(key); ok {
		return v, true
	}
	return g.kept(key).Get(key)
}

// Len returns the number of grains.
func (g *keptGrains) Len() int { return len(g.Keys()) }

// Keys returns the names of the grains.
func (g *keptGrains) Keys() []value.Value {
	all := g.kept().Copy()
	all.Update(g.m.e.Grains)
	return all.Keys()
}

// A gathering is what is known of a machine's grains.
type gathering struct {
	grains *value.Map
	absent *value.Map // asked for, and not there
	whole  bool       // grains are all there are
	err    error      // why no more of them are known; nil: they are
	at     time.Time  // when the first of them were gathered
}

// has reports whether it is known what the grains of keys are; of all, where
// there are none.
func (g *gathering) has(keys []value.Value) bool {
	if g == nil || len(keys) == 0 {
		return g != nil && g.whole
	}
	for _, k := range keys {
		if !g.whole && !g.grains.Has(k) && !g.absent.Has(k) {
			return false
		}
	}
	return true
}

// why returns the reason that a grain of keys is not known, where one is not.
func (g *gathering) why(keys []value.Value) error {
	for _, k := range keys {
		if !g.grains.Has(k) && !g.absent.Has(k) {
			return g.err
		}
	}
	if len(keys) == 0 {
		return g.err
	}
	return nil
}

// known returns grains kept or gathered: at least those of keys, all where none
// are named. Of a machine that cannot be asked they are those that were kept,
// beside the reason.
func (m *machine) known(ctx context.Context, keys ...value.Value) (*value.Map, error) {
	m.gather.Lock()
	defer m.gather.Unlock()
	if m.grains == nil {
		m.grains = m.kept()
	}
	if m.grains.has(keys) {
		return m.grains.grains, m.grains.why(keys)
	}
	leave := m.enter()
	defer leave(false)
	conn, err := m.connect(ctx)
	var got *value.Map
	if err == nil {
		names := make([]string, len(keys))
		for i, k := range keys {
			names[i] = value.Str(k)
		}
		if got, err = conn.Grains(ctx, names); err != nil {
			err = fmt.Errorf("%s: gather grains: %w", m.e.ID, err)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			blank := &gathering{grains: value.NewMap(0), absent: value.NewMap(0), whole: true, err: err}
			if m.grains != nil {
				blank.grains, blank.absent = m.grains.grains, m.grains.absent // what was kept is known all the same
			}
			m.grains = blank
			return blank.grains, blank.why(keys)
		}
		return value.NewMap(0), ctx.Err()
	}
	next := &gathering{grains: got, absent: value.NewMap(0), whole: len(keys) == 0, at: m.p.s.Now()}
	if m.grains != nil && !next.whole {
		// Who reads the old ones goes on doing so.
		next.grains, next.absent, next.at = m.grains.grains.Copy(), m.grains.absent.Copy(), m.grains.at
		next.grains.Update(got)
	}
	for _, k := range keys {
		if !got.Has(k) {
			next.absent.Set(k, true)
		}
	}
	m.grains = next
	m.keep(next)
	return next.grains, nil
}

func (m *machine) grainsFile() string {
	if m.p.s.GrainsDir == "" {
		return ""
	}
	return filepath.Join(m.p.s.GrainsDir, url.PathEscape(m.e.ID)+".json")
}

// grainsMax bounds a file of kept grains, in bytes.
const grainsMax = 4 << 20

// kept returns the grains of an earlier run where they are young enough.
func (m *machine) kept() *gathering {
	path := m.grainsFile()
	if path == "" || m.p.s.Refresh {
		return nil
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() > grainsMax {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	v, err := value.DecodeJSON(bytes.NewReader(b))
	doc, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil
	}
	at, ok := value.AsInt(doc.At("gathered"))
	age := m.p.s.Now().Sub(time.Unix(at, 0))
	if !ok || age < 0 || age > m.p.s.GrainsAge || doc.Str("host") != m.address() {
		return nil
	}
	g := &gathering{grains: doc.Map("grains"), absent: value.NewMap(0), whole: doc.At("some") != true, at: time.Unix(at, 0)}
	if g.grains == nil {
		return nil
	}
	absent := doc.List("absent")
	for i := range absent.Len() {
		g.absent.Set(absent.Items[i], true)
	}
	return g
}

// address tells whether an id still means the machine that grains were kept of.
func (m *machine) address() string {
	return m.e.User + "@" + m.e.Host + ":" + strconv.Itoa(m.e.Port)
}

// keep notes the grains for later runs. What cannot be kept is gathered again.
func (m *machine) keep(g *gathering) {
	path := m.grainsFile()
	if path == "" {
		return
	}
	doc := value.MapOf("gathered", g.at.Unix(), "host", m.address(), "grains", g.grains)
	if !g.whole {
		doc.Set("some", true)
		doc.Set("absent", value.NewList(g.absent.Keys()...))
	}
	b := value.EncodeJSON(doc)
	if !json.Valid(b) || len(b) > grainsMax {
		return
	}
	if err := os.MkdirAll(m.p.s.GrainsDir, 0o700); err != nil {
		return
	}
	tmp := path + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return
	}
	if err := os.Rename(tmp, path); err != nil && !errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(tmp)
	}
}
