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
	"time"

	"brine/internal/value"
)

// machineGrains are the grains of a machine as targets are matched by them:
// the roster's first; what it does not have is kept from an earlier run, else
// gathered now.
type machineGrains struct {
	m   *machine
	ctx context.Context //nolint:containedctx // the mapping lives as long as one match
}

// Get returns a grain.
func (g *machineGrains) Get(key value.Value) (value.Value, bool) {
	if v, ok := g.m.e.Grains.Get(key); ok {
		return v, true
	}
	return g.m.known(g.ctx).Get(key)
}

// Len returns the number of grains.
func (g *machineGrains) Len() int { return len(g.Keys()) }

// Keys returns the names of the grains.
func (g *machineGrains) Keys() []value.Value {
	all := g.m.known(g.ctx).Copy()
	all.Update(g.m.e.Grains)
	return all.Keys()
}

// known returns the grains kept or gathered; none, with a warning, where the
// machine cannot be asked.
func (m *machine) known(ctx context.Context) *value.Map {
	m.gather.Lock()
	defer m.gather.Unlock()
	if m.grains != nil {
		return m.grains
	}
	if g := m.kept(); g != nil {
		m.grains = g
		return g
	}
	conn, err := m.connect(ctx)
	var g *value.Map
	if err == nil {
		if g, err = conn.Grains(ctx, nil); err != nil {
			err = fmt.Errorf("%s: gather grains: %w", m.e.ID, err)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			m.p.warn(fmt.Sprintf("the grains of %s are not known, so it is not matched by them: %v", m.e.ID, err))
			m.grains = value.NewMap(0)
		}
		return value.NewMap(0)
	}
	m.grains = g
	m.keep(g)
	return g
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
func (m *machine) kept() *value.Map {
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
	return doc.Map("grains")
}

// address tells whether an id still means the machine that grains were kept of.
func (m *machine) address() string {
	return m.e.User + "@" + m.e.Host + ":" + strconv.Itoa(m.e.Port)
}

// keep notes the grains for later runs. What cannot be kept is gathered again.
func (m *machine) keep(g *value.Map) {
	path := m.grainsFile()
	if path == "" {
		return
	}
	doc := value.MapOf("gathered", m.p.s.Now().Unix(), "host", m.address(), "grains", g)
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
