package jobs

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A process is what /proc says of one.
type process struct {
	pid, parent, group, session int
	state                       byte
	name                        string
}

// pids returns the numbers of the processes of a machine; none where it has no /proc.
func pids(h host.Host) []int {
	names, err := h.ReadDir("/proc")
	if err != nil {
		return nil
	}
	out := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// processOf returns a process; nil where it is gone.
func processOf(h host.Host, pid int) *process {
	b, err := h.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name, in parentheses, may have anything in it.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return nil
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 4 || len(f[0]) != 1 {
		return nil
	}
	p := &process{pid: pid, state: f[0][0], name: string(b[open+1 : end])}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	return p
}

// processes returns those of a machine by pid.
func processes(h host.Host) map[int]*process {
	all := map[int]*process{}
	for _, pid := range pids(h) {
		if p := processOf(h, pid); p != nil {
			all[pid] = p
		}
	}
	return all
}

// Reap ends what agents of this account left behind that would never end by
// itself: an agent that is stopped (SIGSTOP) and has lost its connection, with
// its programs, and the programs that a detached agent was waiting for when it
// was killed. What a call put into the background on purpose lives on. exe is
// the path of an agent, cacheDir its directory. A machine without /proc is left
// as it is.
func Reap(h host.Host, cacheDir, exe string) {
	own := func(pid int) bool {
		st, err := h.Stat("/proc/" + strconv.Itoa(pid))
		return err == nil && st.UID == h.Geteuid()
	}
	for _, pid := range pids(h) {
		// Every agent does this when it starts: of most processes it asks one thing.
		if pid == h.Getpid() || !beside(h, pid, exe) {
			continue
		}
		if p := processOf(h, pid); p != nil && p.state == 'T' && orphan(h, p) && own(pid) && serves(h, pid) {
			below, start := children(h, pid), birth(h, pid)
			_ = h.Signal(pid, 9) // first: it would start others
			for _, c := range below {
				_ = h.Signal(c, 9)
			}
			ended(h, pid, start)
		}
	}
	boot, _ := h.ReadFile("/proc/sys/kernel/random/boot_id")
	dead := deadDetached(h, cacheDir, strings.TrimSpace(string(boot)))
	if len(dead) == 0 {
		return
	}
	all := processes(h)
	for _, session := range dead {
		for pid, p := range all {
			// A group whose leader has ended was left in the background.
			leader := all[p.group]
			if p.session == session && pid != session && leader != nil && leader.state != 'Z' && own(pid) {
				_ = h.Signal(pid, 9)
			}
		}
	}
}

// ended waits until a process that was killed is gone: until then, its runs count
// as under way.
func ended(h host.Host, pid int, start string) {
	for range 500 {
		if !lives(h, pid, start) || h.Sleep(context.Background(), 10*time.Millisecond) != nil {
			return
		}
	}
}

// orphan reports whether a process has lost the connection that started it,
// directly or by sudo.
func orphan(h host.Host, p *process) bool {
	if p.parent == 1 {
		return true
	}
	parent := processOf(h, p.parent)
	return parent != nil && parent.name == "sudo" && parent.parent == 1
}

// beside reports whether a process is an agent that was placed beside exe.
func beside(h host.Host, pid int, exe string) bool {
	path, err := h.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && exe != "" && filepath.Dir(path) == filepath.Dir(exe) && strings.HasPrefix(filepath.Base(path), "brine-")
}

// serves reports whether an agent serves a connection.
func serves(h host.Host, pid int) bool {
	args, err := h.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && !bytes.Contains(args, []byte("\x00--detached\x00"))
}

// deadDetached returns the process ids of detached agents that were killed since
// the machine started.
func deadDetached(h host.Host, cacheDir, boot string) []int {
	p := NewProc(h, cacheDir)
	names, err := h.ReadDir(p.dir)
	if err != nil || boot == "" {
		return nil
	}
	var out []int
	for _, name := range names {
		b, err := h.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			continue
		}
		m := decodeLine(b)
		pid, ok := value.AsInt(m.At("pid"))
		if m.At(keyDetached) != true || !ok || pid <= 1 || !strings.HasPrefix(m.Str(keyStart), boot+" ") || lives(h, int(pid), m.Str(keyStart)) {
			continue
		}
		out = append(out, int(pid))
	}
	return out
}

// Unfinished reports whether runs or detached jobs are noted in the directory of
// an agent, so that Reap may have something to end.
func Unfinished(h host.Host, cacheDir string) bool {
	states, _ := h.ReadDir(filepath.Join(cacheDir, "states"))
	notes, _ := h.ReadDir(filepath.Join(cacheDir, "proc"))
	return len(states) > 1 || len(notes) > 0 // beside the lock
}

// SocketPrefix begins the names of the sockets that agents listen on, in their
// directory, for a controller that they lost.
const SocketPrefix = "s-"

// Listened reports whether an agent listens in a directory, or was killed or stopped
// while it did.
func Listened(h host.Host, cacheDir string) bool {
	names, _ := h.ReadDir(cacheDir)
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, SocketPrefix) })
}
