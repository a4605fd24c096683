package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Proc is where the jobs that run on a machine are noted: a file a job, for as
// long as it runs. All brine processes of a user on that machine share it, so
// each sees the jobs of the others.
// Salt: the minion's directory proc below its cachedir.
type Proc struct {
	host host.Host
	dir  string
	id   string // minion id whose jobs are looked at
}

// NewProc returns the directory of a machine's cache.
func NewProc(h host.Host, cacheDir string) *Proc {
	return &Proc{host: h, dir: filepath.Join(cacheDir, "proc")}
}

// ProcOf returns the directory that the jobs of env are noted in. Jobs that
// agents noted are those of one minion id each; others belong to the machine.
func ProcOf(env *fun.Env) *Proc {
	dir := env.ProcDir
	if dir == "" {
		dir = env.CacheDir
	}
	return ProcAt(env.Host, dir, env.ID)
}

// ProcAt is ProcOf for a minion id and the directory of its agent.
func ProcAt(h host.Host, dir, id string) *Proc {
	p := NewProc(h, dir)
	p.id = id
	return p
}

// Keys of a note that are not Salt's.
const (
	keyID       = "__id"       // minion id of an agent's job; none: it is the machine's
	keyStart    = "__start"    // when the process began: see birth
	keyDetached = "__detached" // the job left its controller: its note stays until its return is fetched
)

// Begin records a running job of this machine and returns a function that
// removes the record. Data has Salt's keys: jid, fun, arg, tgt, tgt_type, ret,
// user, pid. If the cache cannot be written, the job runs all the same: the
// error says why it is not recorded.
func (p *Proc) Begin(data *value.Map) (end func(), err error) {
	return p.begin(data, p.path(data.Str("jid"), ""))
}

// BeginAgent is Begin for a job of an agent.
func (p *Proc) BeginAgent(data *value.Map, detached bool) (end func(), err error) {
	data = data.Copy()
	data.Set(keyID, p.id)
	if detached {
		data.Set(keyDetached, true)
	}
	return p.begin(data, p.path(data.Str("jid"), p.id))
}

// ForgetAgent takes the note of an agent's job away.
func (p *Proc) ForgetAgent(jid string) error { return missing(p.host.Remove(p.path(jid, p.id))) }

func (p *Proc) path(jid, id string) string {
	if id == "" {
		return filepath.Join(p.dir, jid)
	}
	return filepath.Join(p.dir, noteName(jid, id))
}

// noteName is the name of a note of one minion id: several may share a
// directory, where they are the same account of the same machine.
func noteName(jid, id string) string {
	sum := sha256.Sum256([]byte(id))
	return jid + "." + hex.EncodeToString(sum[:8])
}

func (p *Proc) begin(data *value.Map, path string) (end func(), err error) {
	none := func() {}
	if !IsJID(data.Str("jid")) {
		return none, fmt.Errorf("%q is not a job id", data.Str("jid"))
	}
	if err := p.host.MkdirAll(p.dir, 0o700); err != nil {
		return none, err
	}
	data = data.Copy()
	if pid, ok := value.AsInt(data.At("pid")); ok {
		if b := birth(p.host, int(pid)); b != "" {
			data.Set(keyStart, b)
		}
	}
	mode := fs.FileMode(0o600)
	if err := p.host.WriteFile(path, bytes.NewReader(value.EncodeJSON(data)), host.WriteOptions{Mode: &mode}); err != nil {
		return none, err
	}
	return func() { _ = p.host.Remove(path) }, nil
}

// List returns the jobs that run, by jid. What a process that is gone left
// behind is removed.
func (p *Proc) List() []*value.Map {
	var out []*value.Map
	for _, n := range p.notes() {
		if n.alive {
			out = append(out, n.salt())
		}
	}
	return out
}

// Find returns a job that runs; nil where it does not.
func (p *Proc) Find(jid string) *value.Map {
	if n := p.find(jid); n != nil && n.alive {
		return n.salt()
	}
	return nil
}

// A note is the file of a job.
type note struct {
	path  string
	data  *value.Map
	pid   int
	alive bool // its process is there
}

// salt returns the note with Salt's keys alone.
func (n *note) salt() *value.Map {
	m := n.data.Copy()
	for _, k := range []string{keyID, keyStart, keyDetached, keyAgent, keyWorks} {
		m.Delete(k)
	}
	return m
}

// notes returns the notes that concern the minion, by jid.
func (p *Proc) notes() []*note {
	names, err := p.host.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	sort.Strings(names)
	var out []*note
	for _, name := range names {
		if n := p.read(name); n != nil {
			out = append(out, n)
		}
	}
	return out
}

func (p *Proc) find(jid string) *note {
	if !IsJID(jid) {
		return nil
	}
	for _, name := range []string{noteName(jid, p.id), jid} {
		if n := p.read(name); n != nil {
			return n
		}
	}
	return nil
}

// read returns the note in a file; nil where it is none or another minion's.
func (p *Proc) read(name string) *note {
	n := p.load(name)
	if n == nil || n.data.Has(keyID) && n.data.Str(keyID) != p.id {
		return nil
	}
	return n
}

// load returns the note in a file; nil where it is none. What a process that is
// gone left behind is removed, save that of a detached job, which tells that the
// job was lost.
func (p *Proc) load(name string) *note {
	jid, _, _ := strings.Cut(name, ".")
	if !IsJID(jid) {
		return nil
	}
	path := filepath.Join(p.dir, name)
	b, err := p.host.ReadFile(path)
	if err != nil {
		return nil
	}
	m := decodeLine(b)
	if m == nil || m.Str("jid") != jid || m.Has(keyID) && name != noteName(jid, m.Str(keyID)) {
		return nil
	}
	pid, ok := value.AsInt(m.At("pid"))
	n := &note{path: path, data: m, pid: int(pid)}
	n.alive = ok && pid > 0 && lives(p.host, int(pid), m.Str(keyStart))
	if !n.alive && m.At(keyDetached) != true {
		_ = p.host.Remove(path)
		return nil
	}
	return n
}

// lives reports whether the process of a note is there: another one may have its
// number by now.
func lives(h host.Host, pid int, start string) bool {
	if err := h.Signal(pid, 0); err != nil && !errors.Is(err, fs.ErrPermission) {
		return false
	}
	// A note without the time, on a machine that tells it, is not one of brine's.
	b := birth(h, pid)
	return b == start || b == ""
}

// birth tells when a process began: text that no later process of its number
// has; "" where the machine does not say.
func birth(h host.Host, pid int) string {
	if b, err := h.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		// The name, in parentheses, may have anything in it.
		_, rest, ok := strings.Cut(string(b[max(0, bytes.LastIndexByte(b, ')')):]), " ")
		f := strings.Fields(rest)
		if !ok || len(f) < 20 {
			return ""
		}
		if f[0] == "Z" || f[0] == "X" {
			return "gone"
		}
		boot, _ := h.ReadFile("/proc/sys/kernel/random/boot_id")
		return strings.TrimSpace(string(boot)) + " " + f[19]
	}
	if _, err := h.Stat("/proc/self/stat"); err == nil {
		return ""
	}
	out, err := h.Run(context.Background(), host.Cmd{Argv: []string{"ps", "-o", "lstart=", "-p", strconv.Itoa(pid)}, Timeout: 2 * time.Second})
	if err != nil || out.Status != 0 {
		return ""
	}
	return strings.TrimSpace(string(out.Stdout))
}

// children returns the processes below one, the deepest last.
func children(h host.Host, pid int) []int {
	below := map[int][]int{}
	names, err := h.ReadDir("/proc")
	if err == nil {
		for _, name := range names {
			p, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			b, err := h.ReadFile("/proc/" + name + "/stat")
			if err != nil {
				continue
			}
			f := strings.Fields(string(b[max(0, bytes.LastIndexByte(b, ')')):]))
			if len(f) > 2 {
				if parent, err := strconv.Atoi(f[2]); err == nil {
					below[parent] = append(below[parent], p)
				}
			}
		}
	}
	if len(below) == 0 {
		out, err := h.Run(context.Background(), host.Cmd{Argv: []string{"ps", "-A", "-o", "pid=,ppid="}, Timeout: 2 * time.Second})
		if err != nil || out.Status != 0 {
			return nil
		}
		for line := range strings.Lines(string(out.Stdout)) {
			var p, parent int
			if n, _ := fmt.Sscan(line, &p, &parent); n == 2 {
				below[parent] = append(below[parent], p)
			}
		}
	}
	var all []int
	for next := below[pid]; len(next) > 0 && len(all) < 10000; {
		all = append(all, next...)
		var deeper []int
		for _, p := range next {
			deeper = append(deeper, below[p]...)
		}
		next = deeper
	}
	return all
}
