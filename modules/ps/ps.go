// Package ps is Salt's execution module "ps": processes, processors, memory and
// disks, as the Python library psutil tells of them on Linux.
//
// Everything is read below /proc. [List] and [Process] are the place to start.
package ps

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// Module returns the execution module "ps".
func Module() fun.Module {
	return fun.Module{Name: "ps", Kind: fun.Exec, Doc: "Processes, processors, memory and disks.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if !machine.Exists(env.Host, "/proc/stat") {
		return false, "there is no /proc/stat: this machine is not Linux"
	}
	return true, ""
}

// ticks is how many units of the times in /proc make a second.
const ticks = 100

// states are the names that psutil gives to the letters of /proc/PID/stat.
var states = [...]struct {
	letter byte
	name   string
}{
	{'R', "running"},
	{'S', "sleeping"},
	{'D', "disk-sleep"},
	{'T', "stopped"},
	{'t', "tracing-stop"},
	{'Z', "zombie"},
	{'X', "dead"},
	{'x', "dead"},
	{'K', "wake-kill"},
	{'W', "waking"},
	{'I', "idle"},
	{'P', "parked"},
}

// A Process is a process as /proc/PID/stat tells of it.
type Process struct {
	h    host.Host
	PID  int
	comm string
	stat []string // the words after the name: stat[0] is the state
	cmd  []string
	read bool // cmd was read
}

// Open returns a process; ok is false where there is none of that number.
func Open(h host.Host, pid int) (p *Process, ok bool) {
	return open(h, pid, "/proc/"+strconv.Itoa(pid)+"/stat")
}

// open returns the process, or thread, whose stat is in a file.
func open(h host.Host, pid int, file string) (p *Process, ok bool) {
	p = &Process{h: h, PID: pid}
	text, err := h.ReadFile(file)
	if err != nil {
		return nil, false
	}
	begin, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	if begin < 0 || end < begin {
		return nil, false
	}
	p.comm = value.DecodeReplace(text[begin+1 : end])
	p.stat = strings.Fields(string(text[end+1:]))
	return p, len(p.stat) > 0
}

// pids returns the numbers of all processes, ascending.
func pids(h host.Host) ([]int, error) {
	names, err := h.ReadDir("/proc")
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	var ids []int
	for _, n := range names {
		if id, err := strconv.Atoi(n); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// List returns all processes by number.
func List(h host.Host) ([]*Process, error) {
	ids, err := pids(h)
	if err != nil {
		return nil, err
	}
	out := make([]*Process, 0, len(ids))
	for _, id := range ids {
		if p, ok := Open(h, id); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

func (p *Process) path(name string) string { return "/proc/" + strconv.Itoa(p.PID) + "/" + name }

// field returns a number of stat, counted from the state, which is 0.
func (p *Process) field(i int) int64 {
	if i >= len(p.stat) {
		return 0
	}
	n, _ := strconv.ParseInt(p.stat[i], 10, 64)
	return n
}

// Cmdline returns the words of the command line; none for a thread of the kernel or
// where it may not be read.
func (p *Process) Cmdline() []string {
	if p.read {
		return p.cmd
	}
	p.read = true
	b, err := p.h.ReadFile(p.path("cmdline"))
	if err != nil || len(b) == 0 {
		return nil
	}
	text, sep := value.DecodeReplace(b), "\x00"
	if !strings.HasSuffix(text, sep) {
		sep = " " // a program that wrote its own title over its arguments
	}
	words := strings.Split(strings.TrimSuffix(text, sep), sep)
	if sep == "\x00" && len(words) == 1 && strings.Contains(text, " ") {
		words = strings.Split(words[0], " ")
	}
	p.cmd = words
	return p.cmd
}

// Name returns the name of the program; the kernel cuts it to 15 bytes, and the
// command line may have the whole.
func (p *Process) Name() string {
	if len(p.comm) >= 15 {
		if cmd := p.Cmdline(); len(cmd) > 0 {
			base := cmd[0][strings.LastIndexByte(cmd[0], '/')+1:]
			if strings.HasPrefix(base, p.comm) {
				return base
			}
		}
	}
	return p.comm
}

// Parent returns the number of the parent.
func (p *Process) Parent() int { return int(p.field(1)) }

// Status returns the state as psutil names it.
func (p *Process) Status() string {
	for _, s := range states {
		if p.stat[0] == string(s.letter) {
			return s.name
		}
	}
	return "?"
}

// statusLine returns the words after a key of /proc/PID/status.
func (p *Process) statusLine(key string) []string {
	b, err := p.h.ReadFile(p.path("status"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.Fields(rest)
		}
	}
	return nil
}

// Username returns the account that the process runs for; ok is false where it is
// not known.
func (p *Process) Username() (name string, ok bool) {
	f := p.statusLine("Uid")
	if len(f) == 0 {
		return "", false
	}
	uid, err := strconv.Atoi(f[0])
	if err != nil {
		return "", false
	}
	if a, err := p.h.LookupUID(uid); err == nil {
		return a.Name, true
	}
	return f[0], true
}

// used returns the time on processors, in seconds.
func (p *Process) used() float64 { return seconds(p.field(11)) + seconds(p.field(12)) }

func seconds(n int64) float64 { return float64(n) / ticks }

// bootTime returns when the machine started, in seconds since 1970.
func bootTime(h host.Host) (float64, error) {
	b, err := h.ReadFile("/proc/stat")
	if err != nil {
		return 0, fun.Errorf("%v", err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "btime" {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, fun.Errorf("line 'btime' not found in /proc/stat")
}

// A wanted says which processes a call means.
type wanted struct {
	fits func(*Process) (bool, error)
	user value.Value
}

// find returns the processes that fit, but not this one: neither pkill(1) nor pgrep(1)
// means itself. Where command lines are looked at, the ancestors of this process do
// not count either, unless their own name fits, since they have our arguments.
func find(h host.Host, full bool, w wanted) ([]*Process, error) {
	all, err := List(h)
	if err != nil {
		return nil, err
	}
	ancestors := map[int]bool{}
	if full {
		for p, ok := Open(h, h.Getpid()); ok && len(ancestors) < 1000; p, ok = Open(h, p.Parent()) {
			ancestors[p.PID] = true
		}
	}
	var found []*Process
	for _, p := range all {
		if p.PID == h.Getpid() {
			continue
		}
		if ok, err := w.fits(p); !ok || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if ancestors[p.PID] {
			named := &Process{h: h, PID: p.PID, comm: p.comm, stat: p.stat, cmd: []string{p.Name()}, read: true}
			if ok, err := w.fits(named); !ok || err != nil {
				continue
			}
		}
		if w.user != nil {
			if name, ok := p.Username(); !ok || name != value.Str(w.user) {
				continue
			}
		}
		found = append(found, p)
	}
	return found, nil
}

func getPIDList(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	ids, err := pids(c.Env.Host)
	l := value.NewList()
	for _, id := range ids {
		l.Append(int64(id))
	}
	return fun.Result{Value: l}, err
}
