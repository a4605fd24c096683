package sshexec

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// What a machine says of itself.
//
// An answer of a machine is never older than the last thing that ran there. For
// each match the machines are asked, over the connection that is open as a rule:
// what this run did there, another controller or somebody at the console counts
// at once. Matches that wait at the same time share an answer. With GrainsAge an
// answer holds longer, also for later runs; what this run and others of the same
// directory do on the machine ends it all the same. A run that ends keeps the last
// answer in a file until then, also for who may not have machines asked.

// machineGrains are the grains of a machine as one match sees them: the roster's
// first; what it does not have the machine is asked for.
type machineGrains struct {
	m     *machine
	ctx   context.Context //nolint:containedctx // the mapping lives as long as one match
	since int64           // answers to what was asked later are good

	mu      sync.Mutex
	seen    *gathering // what this match has received; nil: nothing yet
	pillar  bool       // a pillar reads them
	unknown error      // why one that was asked for is not known
}

func (m *machine) grainsFor(ctx context.Context) *machineGrains {
	return &machineGrains{m: m, ctx: ctx, since: m.matches.Add(1)}
}

// known returns the known grains, at least those of keys; without keys, all. A
// match receives each grain once.
func (g *machineGrains) known(keys ...value.Value) *value.Map {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.seen.has(keys) {
		if g.pillar {
			g.m.p.s.Link.Want(keys)
		}
		got, err := g.m.known(g.ctx, g.since, keys, nil)
		g.addAnswer(got, err)
	}
	return g.seen.grains
}

// addAnswer adds what a machine answered to what this match has received. mu is held.
func (g *machineGrains) addAnswer(got *gathering, err error) {
	g.seen = g.seen.with(got)
	if err != nil {
		g.unknown = err
	}
}

// ahead asks at once for the grains that pillars look at.
func (g *machineGrains) ahead() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.pillar {
		g.pillar = true
		g.addAnswer(g.m.known(g.ctx, g.since, nil, g.m.p.s.Link.Wanted()))
	}
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

// A gathering is what is known of a machine's grains. It is not changed once it
// is made.
type gathering struct {
	grains   *value.Map
	absent   *value.Map // asked for, and not there
	complete bool       // grains are all there are
	ready    bool       // those that cost nothing are among them
	at       time.Time  // when the first of them were gathered
	asked    int64      // number of the last match that had begun when they were asked for
	ran      int64      // what had begun or ended on the machine then
}

// has reports whether it is known what the grains of keys are; of all, where
// there are none.
func (g *gathering) has(keys []value.Value) bool {
	return g != nil && (g.complete || len(keys) > 0 && g.knows(keys))
}

// knows reports whether it is known what each of the grains of keys is.
func (g *gathering) knows(keys []value.Value) bool {
	for _, k := range keys {
		if !g.complete && !g.grains.Has(k) && !g.absent.Has(k) {
			return false
		}
	}
	return true
}

// with returns what is known when an answer came later; either may be nil. It is
// as old as the older one.
func (g *gathering) with(later *gathering) *gathering {
	if g == nil || later == nil {
		return cmp.Or(later, g, &gathering{grains: value.NewMap(0), absent: value.NewMap(0)})
	}
	if later.complete && later.asked >= g.asked {
		return later
	}
	sum := &gathering{
		grains: g.grains.Copy(), absent: g.absent.Copy(), complete: g.complete || later.complete, ready: g.ready || later.ready,
		at: g.at, asked: min(g.asked, later.asked), ran: min(g.ran, later.ran),
	}
	for k, v := range later.grains.All() {
		sum.absent.Delete(k)
		sum.grains.Set(k, v)
	}
	for k := range later.absent.All() {
		sum.grains.Delete(k)
		sum.absent.Set(k, true)
	}
	return sum
}

// runs notes that something begins on the machine until over is called: what was
// known of it is no longer. Where it is not certain that it has ended, nothing
// holds from now on.
func (m *machine) runs() (over func(certain bool)) {
	m.under.Add(1)
	m.ran.Add(1)
	m.dropKept()
	return func(certain bool) {
		m.ran.Add(1)
		m.dropKept()
		if certain {
			m.under.Add(-1)
		}
	}
}

// isOver reports whether what came to ret has ended on its machine.
func isOver(ret fun.Return) bool { return ret.Stage != fun.Lost && ret.Stage != fun.TimedOut }

// holds reports whether an answer is good for a match: it was asked for after the
// match began, or is young enough while nothing has run there.
func (m *machine) holds(g *gathering, since int64) bool {
	if g == nil || g.asked >= since {
		return g != nil
	}
	if m.p.s.GrainsAge <= 0 || m.under.Load() > 0 || g.ran != m.ran.Load() {
		return false
	}
	age := m.p.s.Now().Sub(g.at)
	return age >= 0 && age <= m.p.s.GrainsAge
}

// An askFailure says why a machine did not answer. The machine is not asked again for
// ten times as long as that took, between failureHolds and maxFailureHold, unless there
// is a connection again.
type askFailure struct {
	err   error
	until time.Time
}

const maxFailureHold = 5 * time.Minute

// askTimeout bounds a question for grains: some need programs and name servers.
const askTimeout = 2 * time.Minute

// known returns what is known of at least the grains of keys, all where none are
// named, for a match that began as number since. ahead, where it is not nil, are
// grains that may be wanted: they are asked for beside those that cost nothing.
// Where the machine cannot be asked, there is the reason.
func (m *machine) known(ctx context.Context, since int64, keys, ahead []value.Value) (*gathering, error) {
	m.gather.Lock()
	defer m.gather.Unlock()
	if !m.holds(m.grains, since) {
		if m.grains = nil; m.p.s.GrainsAge > 0 && !m.p.s.Refresh {
			m.grains = m.kept()
		}
		if !m.holds(m.grains, since) {
			m.grains = nil
		}
	}
	want, ready := append(slices.Clip(keys), ahead...), ahead != nil
	if m.grains != nil && (m.grains.complete || (m.grains.ready || !ready) && (ready || len(want) > 0) && m.grains.knows(want)) {
		return m.grains, nil
	}
	if err := m.askFailure.err; err != nil && m.p.s.Now().Before(m.askFailure.until) && m.open() == nil {
		return m.grains, err
	}
	next := &gathering{absent: value.NewMap(0), complete: len(want) == 0 && !ready, ready: ready, at: m.p.s.Now(), asked: m.matches.Load(), ran: m.ran.Load()}
	got, err := m.ask(ctx, want, ready)
	if ctx.Err() != nil {
		return m.grains, ctx.Err()
	}
	if err != nil {
		now := m.p.s.Now()
		m.askFailure = askFailure{err, now.Add(min(max(10*now.Sub(next.at), failureHolds), maxFailureHold))}
		return m.grains, err
	}
	m.askFailure = askFailure{}
	next.grains = got
	for _, k := range want {
		if !got.Has(k) {
			next.absent.Set(k, true)
		}
	}
	m.grains = m.grains.with(next)
	return m.grains, nil
}

// ask asks the machine for grains, all where keys is empty and nothing is ready;
// with ready also for those that cost nothing.
func (m *machine) ask(ctx context.Context, keys []value.Value, ready bool) (*value.Map, error) {
	leave := m.enter()
	defer leave(false)
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = value.Str(k)
	}
	got, err := conn.Grains(ctx, names, ready)
	if err != nil {
		return nil, fmt.Errorf("%s: gather grains: %w", m.e.ID, err)
	}
	return got, nil
}

// dropKept removes what is kept of the machine for later runs.
func (m *machine) dropKept() {
	if path := m.grainsFile(); path != "" {
		_ = os.Remove(path) // what is not there is forgotten
	}
}

func (m *machine) grainsFile() string {
	if m.p.s.GrainsDir == "" {
		return ""
	}
	return filepath.Join(m.p.s.GrainsDir, url.PathEscape(m.e.ID)+".json")
}

// grainsMax bounds a file of kept grains, in bytes.
const grainsMax = 4 << 20

// keptMax is how old an answer can be that is of any use.
const keptMax = 24 * time.Hour

// kept returns the last answer of the machine, to this run or an earlier one, where
// nothing ran there since that this controller knows of.
func (m *machine) kept() *gathering {
	path := m.grainsFile()
	if path == "" {
		return nil
	}
	ran := m.ran.Load()
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
	if !ok || age < 0 || age > keptMax || doc.Str("host") != m.address() {
		return nil
	}
	g := &gathering{grains: doc.Map("grains"), absent: value.NewMap(0), complete: doc.At("some") != true, at: time.Unix(at, 0), ran: ran}
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

// keepLast keeps the last answer of a run that ends.
func (m *machine) keepLast() {
	m.gather.Lock()
	defer m.gather.Unlock()
	if m.grains != nil {
		m.keep(m.grains)
	}
}

// keep notes the grains for later runs. What cannot be kept is gathered again.
func (m *machine) keep(g *gathering) {
	path := m.grainsFile()
	if path == "" || m.under.Load() > 0 || g.ran != m.ran.Load() {
		return
	}
	doc := value.MapOf("gathered", g.at.Unix(), "host", m.address(), "grains", g.grains)
	if !g.complete {
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
