package sshexec

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/roster"
	"brine/internal/py/value"
)

// TestKeptGrains is what a run keeps of the grains that it asked for, and what
// the next makes of it.
func TestKeptGrains(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := filepath.Join(t.TempDir(), "grains")
	p := &Provider{s: Settings{GrainsDir: dir, Now: func() time.Time { return now }}}
	m := func(host string) *machine {
		return &machine{p: p, e: &roster.Entry{ID: "web1", Host: host, Port: 22, User: "root", Grains: value.NewMap(0)}}
	}
	some := &gathering{grains: value.MapOf("os", "Debian"), absent: value.MapOf("role", true), at: now}
	m("h").keep(some)
	g := m("h").kept()
	if g == nil || g.complete || g.grains.Str("os") != "Debian" || !g.has([]value.Value{"os", "role"}) || g.has([]value.Value{"fqdn"}) || g.has(nil) {
		t.Errorf("some grains are kept as %+v", g)
	}
	if m("other").kept() != nil {
		t.Error("the grains of another machine are taken")
	}
	// What was asked for within the day adds to it; the age is that of the first.
	late := now.Add(20 * time.Hour)
	some.grains.Set("fqdn", "web1.example")
	now = late
	m("h").keep(some)
	now = now.Add(5 * time.Hour)
	if m("h").kept() != nil {
		t.Error("grains of yesterday are taken")
	}
	m("h").keep(&gathering{grains: value.MapOf("os", "Debian"), absent: value.NewMap(0), complete: true, at: now})
	if g := m("h").kept(); g == nil || !g.has(nil) || !g.has([]value.Value{"anything"}) {
		t.Errorf("all grains are kept as %+v", g)
	}
	var none *gathering
	if none.has(nil) || none.has([]value.Value{"os"}) {
		t.Error("nothing has grains")
	}
}

// TestGrainsOfTheUnreached: grains that are kept are known also where the
// machine cannot be asked for others.
func TestGrainsOfTheUnreached(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "grains")
	e := &roster.Entry{ID: "web1", Host: "127.0.0.1", Port: 1, User: "root", Grains: value.MapOf("role", "web")}
	p := NewProvider(Settings{
		Entries: []*roster.Entry{e}, Dialer: NewDialer(options(t, known(t))), GrainsDir: dir, GrainsAge: time.Hour, Now: time.Now, Opts: value.NewMap(0),
	})
	m := p.targets["web1"]
	m.keep(&gathering{grains: value.MapOf("os", "Debian"), absent: value.NewMap(0), at: time.Now()})
	minion := p.Minion(t.Context(), "web1")
	g := minion.Grains()
	if v, _ := g.Get("os"); v != "Debian" || minion.Unknown() != nil {
		t.Errorf("os is %v, unknown: %v", v, minion.Unknown())
	}
	for range 2 {
		if v, ok := g.Get("fqdn"); ok {
			t.Errorf("fqdn is %v", v)
		}
		if v, _ := g.Get("os"); v != "Debian" {
			t.Errorf("os is %v", v)
		}
		if v, _ := g.Get("role"); v != "web" {
			t.Errorf("role is %v", v)
		}
	}
	if err := minion.Unknown(); err == nil || !strings.Contains(err.Error(), "web1") {
		t.Errorf("fqdn is unknown: %v", err)
	}
	// Who asks only for what was kept misses nothing.
	again := p.Minion(t.Context(), "web1")
	if v, _ := again.Grains().Get("os"); v != "Debian" || again.Unknown() != nil {
		t.Errorf("os is %v, unknown: %v", v, again.Unknown())
	}
}

// TestGrainsHold is for whom an answer of a machine is good.
func TestGrainsHold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name string
		age  time.Duration
		then func(m *machine)
		want bool // for a match that begins afterwards
	}{
		{"a later match", 0, func(*machine) {}, false},
		{"a later match that takes old ones", time.Minute, func(*machine) {}, true},
		{"too old", time.Minute, func(*machine) { now = now.Add(2 * time.Minute) }, false},
		{"a call ran", time.Minute, func(m *machine) { m.runs()(true) }, false},
		{"a call runs", time.Minute, func(m *machine) { m.runs() }, false},
		{"a clock that was put back", time.Minute, func(*machine) { now = now.Add(-time.Hour) }, false},
	} {
		m := &machine{p: &Provider{s: Settings{GrainsAge: tt.age, GrainsDir: t.TempDir(), Now: func() time.Time { return now }}}, e: &roster.Entry{ID: "web1"}}
		first := m.grainsFor(t.Context())
		g := &gathering{grains: value.MapOf("os", "Debian"), absent: value.NewMap(0), at: now, asked: m.matches.Load(), ran: m.ran.Load()}
		m.keep(g)
		tt.then(m)
		if !m.holds(g, first.since) {
			t.Errorf("%s: the answer is not good for the match that asked", tt.name)
		}
		if got := m.holds(g, m.grainsFor(t.Context()).since); got != tt.want {
			t.Errorf("%s: holds is %v", tt.name, got)
		}
		if tt.age > 0 && (m.kept() != nil) != (tt.want || tt.name == "too old") {
			t.Errorf("%s: what is kept is %+v", tt.name, m.kept())
		}
	}
	// What was asked for while something ran may be known again when it has ended.
	m := &machine{p: &Provider{s: Settings{GrainsAge: time.Hour, Now: func() time.Time { return now }}}, e: &roster.Entry{ID: "web1"}}
	over := m.runs()
	g := &gathering{at: now, ran: m.ran.Load()}
	over(false) // it may go on
	later := &gathering{at: now, ran: m.ran.Load()}
	if since := m.grainsFor(t.Context()).since; m.holds(g, since) || m.holds(later, since) {
		t.Error("answers hold beside a call that may be at work")
	}
}

// TestKept has grains of the roster and kept ones, of a machine that nobody may connect
// to.
func TestKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := &roster.Entry{ID: "web1", Host: "127.0.0.1", Port: 1, User: "root", Grains: value.MapOf("role", "web")}
	p := NewProvider(Settings{Entries: []*roster.Entry{e}, Dialer: NewDialer(options(t, known(t))), GrainsDir: filepath.Join(t.TempDir(), "grains"), GrainsAge: time.Hour, Now: func() time.Time { return now }, Opts: value.NewMap(0)})
	get := func(key string) (value.Value, bool, bool) {
		m := p.Kept("web1")
		if m.Pillar != nil {
			t.Error("there is a pillar")
		}
		v, ok := m.Grains().Get(key)
		return v, ok, m.Unknown() != nil
	}
	if v, ok, unknown := get("role"); v != "web" || !ok || unknown {
		t.Errorf("role: %v, %v, %v", v, ok, unknown)
	}
	if v, ok, unknown := get("os"); ok || !unknown {
		t.Errorf("os: %v, %v, %v", v, ok, unknown)
	}
	p.targets["web1"].keep(&gathering{grains: value.MapOf("os", "Debian"), absent: value.MapOf("fqdn", true), at: now})
	if v, ok, unknown := get("os"); v != "Debian" || !ok || unknown {
		t.Errorf("os: %v, %v, %v", v, ok, unknown)
	}
	if v, ok, unknown := get("fqdn"); ok || unknown {
		t.Errorf("fqdn, which is not there: %v, %v, %v", v, ok, unknown)
	}
	if v, ok, unknown := get("mem_total"); ok || !unknown {
		t.Errorf("mem_total: %v, %v, %v", v, ok, unknown)
	}
	m := p.Kept("web1")
	if n := m.Grains().Len(); n != 2 || m.Unknown() == nil {
		t.Errorf("%d grains, %v", n, m.Unknown())
	}
}
