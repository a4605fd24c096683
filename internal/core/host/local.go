package host

import (
	"context"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Local is the machine that brine runs on. Make one with [NewLocal]; it is
// safe for concurrent use. It owns the programs that it runs: [Local.CloseAll]
// ends those that still do.
type Local struct {
	*owned
	environ
	mine *groups // of the programs that this fork runs
}

// groups are process groups by their leaders; owned.mu guards them.
type groups map[int]struct{}

// owned is what must be ended or removed when brine ends.
type owned struct {
	mu     sync.Mutex
	groups map[int]struct{} // process groups of running children, by leader
	temps  map[*tempFile]struct{}
	idle   chan struct{} // closed while a CloseAll waits and groups becomes empty
	closed bool

	changes atomic.Uint64 // see [Local.Changes]
}

var _ Host = (*Local)(nil)

// NewLocal returns the machine that brine runs on.
func NewLocal() *Local {
	return &Local{owned: &owned{groups: map[int]struct{}{}, temps: map[*tempFile]struct{}{}}, mine: &groups{}}
}

// Fork returns the same machine with an environment of its own, a copy of l's.
// CloseAll of either ends the programs of both.
func (l *Local) Fork() Host {
	return &Local{owned: l.owned, environ: environ{vars: l.Environ()}, mine: &groups{}}
}

// Changes counts what may have changed the machine; forks count together.
func (l *Local) Changes() uint64 { return l.changes.Load() }

// Changed counts a change that does not go through this Host.
func (l *Local) Changed() { l.changes.Add(1) }

// SignalGroups sends a signal to the programs that this fork runs, to their
// whole process groups. Detached programs are not among them.
func (l *Local) SignalGroups(signal int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for pid := range *l.mine {
		_ = syscall.Kill(-pid, syscall.Signal(signal))
	}
}

// An environ is the environment of programs; it is the process's until it is
// changed.
type environ struct {
	lock sync.RWMutex
	vars []string // nil: the process's
}

// Environ returns the environment that programs get.
func (e *environ) Environ() []string {
	e.lock.RLock()
	defer e.lock.RUnlock()
	if e.vars == nil {
		return os.Environ()
	}
	return slices.Clone(e.vars)
}

// Setenv sets a variable for programs that are run from now on.
func (e *environ) Setenv(key, value string) error { return e.change(key, key+"="+value, value) }

// Unsetenv takes a variable out.
func (e *environ) Unsetenv(key string) error { return e.change(key, "", "") }

func (e *environ) change(key, line, value string) error {
	if key == "" || strings.ContainsAny(key, "=\x00") || strings.ContainsRune(value, 0) {
		return os.NewSyscallError("setenv", syscall.EINVAL)
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.vars == nil {
		e.vars = os.Environ()
	}
	e.vars = changeEnv(e.vars, key, line)
	return nil
}

// changeEnv returns vars with the line of key replaced, or out where line is "".
func changeEnv(vars []string, key, line string) []string {
	out := make([]string, 0, len(vars)+1)
	for _, kv := range vars {
		if k, _, _ := strings.Cut(kv, "="); k != key {
			out = append(out, kv)
		} else if line != "" {
			out = append(out, line)
			line = ""
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// Now returns the time.
func (*Local) Now() time.Time { return time.Now() }

// Sleep waits for d, or returns ctx's error when it ends before.
func (*Local) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Hostname returns the name that the kernel has for this machine.
func (*Local) Hostname() (string, error) { return os.Hostname() }

// Interfaces returns the network interfaces in the kernel's order.
func (*Local) Interfaces() ([]Interface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	details := addrDetails()
	out := make([]Interface, 0, len(ifs))
	for _, i := range ifs {
		x := Interface{
			Name: i.Name, MAC: i.HardwareAddr.String(), Up: i.Flags&net.FlagUp != 0,
			Loopback: i.Flags&net.FlagLoopback != 0, MTU: i.MTU,
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue // gone meanwhile
		}
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			d := details[addrKey{i.Index, n.IP.String()}]
			d.Net = n
			x.Addrs = append(x.Addrs, n)
			x.Details = append(x.Details, d)
		}
		out = append(out, x)
	}
	return out, nil
}

// LookupAddr returns the names of an address, without the dot at their end.
func (*Local) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	names, err := net.DefaultResolver.LookupAddr(ctx, addr)
	for i, n := range names {
		if len(n) > 1 && n[len(n)-1] == '.' {
			names[i] = n[:len(n)-1]
		}
	}
	return names, err
}

// LookupIP returns the addresses of a name.
func (*Local) LookupIP(ctx context.Context, name string) ([]net.IP, error) {
	return net.DefaultResolver.LookupIP(ctx, "ip", name)
}

// LookupCNAME returns the full name of a host.
func (*Local) LookupCNAME(ctx context.Context, name string) (string, error) {
	full, err := net.DefaultResolver.LookupCNAME(ctx, name)
	return strings.TrimSuffix(full, "."), err
}

// Uname returns what uname(1) prints.
func (*Local) Uname() (Uname, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Uname{}, err
	}
	return Uname{
		Sysname: unix.ByteSliceToString(u.Sysname[:]), Nodename: unix.ByteSliceToString(u.Nodename[:]),
		Release: unix.ByteSliceToString(u.Release[:]), Version: unix.ByteSliceToString(u.Version[:]),
		Machine: unix.ByteSliceToString(u.Machine[:]),
	}, nil
}

// Statfs returns the size and use of the file system that contains path.
func (*Local) Statfs(path string) (Statfs, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Statfs{}, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return Statfs{
		BlockSize: int64(st.Bsize), Blocks: st.Blocks, Free: st.Bfree, Avail: uint64(st.Bavail), //nolint:unconvert // types differ by system
		Files: st.Files, FilesFree: uint64(st.Ffree), //nolint:unconvert // as above
	}, nil
}

// addrKey finds the details of an address of one interface.
type addrKey struct {
	index int
	ip    string
}
