package jobs

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"brine/internal/host"
	"brine/internal/value"
)

// A Proc is where the jobs that run on a machine are noted: a file a job, named
// by its jid, for as long as it runs.
// Salt: the minion's directory proc below its cachedir.
type Proc struct {
	host host.Host
	dir  string
}

// NewProc returns the directory of a machine's cache.
func NewProc(h host.Host, cacheDir string) *Proc {
	return &Proc{host: h, dir: filepath.Join(cacheDir, "proc")}
}

// Begin notes a job and returns what forgets it. Data are Salt's keys: jid,
// fun, arg, tgt, tgt_type, ret, user, pid. A cache that cannot be written to is
// no reason not to run: the error says why the job is not noted.
func (p *Proc) Begin(data *value.Map) (end func(), err error) {
	none := func() {}
	if err := p.host.MkdirAll(p.dir, 0o700); err != nil {
		return none, err
	}
	path := filepath.Join(p.dir, data.Str("jid"))
	mode := fs.FileMode(0o600)
	if err := p.host.WriteFile(path, bytes.NewReader(value.EncodeJSON(data)), host.WriteOptions{Mode: &mode}); err != nil {
		return none, err
	}
	return func() { _ = p.host.Remove(path) }, nil
}

// List returns the jobs that run, by jid. What a process that is gone left
// behind is removed.
func (p *Proc) List() []*value.Map {
	names, err := p.host.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	sort.Strings(names)
	var out []*value.Map
	for _, n := range names {
		if m := p.read(n); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// Find returns a job that runs; nil where it does not.
func (p *Proc) Find(jid string) *value.Map {
	if !IsJID(jid) {
		return nil
	}
	return p.read(jid)
}

func (p *Proc) read(name string) *value.Map {
	if !IsJID(name) {
		return nil
	}
	path := filepath.Join(p.dir, name)
	b, err := p.host.ReadFile(path)
	if err != nil {
		return nil
	}
	v, err := value.DecodeJSON(bytes.NewReader(b))
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil
	}
	pid, ok := value.AsInt(m.At("pid"))
	if !ok || pid <= 0 || p.host.Signal(int(pid), 0) != nil {
		_ = p.host.Remove(path)
		return nil
	}
	return m
}

// SafeArgs are the arguments of a job as records keep them: the pillar that was
// handed over is left out, since it may hold secrets.
func SafeArgs(pos []value.Value, kw *value.Map) *value.List {
	l := value.NewList(pos...)
	if kw.Len() == 0 {
		return l
	}
	m := value.MapOf("__kwarg__", true)
	for k, v := range kw.All() {
		name := value.Str(k)
		if name == "pillar" || strings.HasPrefix(name, "__") {
			continue
		}
		m.Set(k, v)
	}
	if m.Len() > 1 {
		l.Append(m)
	}
	return l
}
