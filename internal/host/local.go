package host

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Local is the machine that brine runs on. Make one with [NewLocal]; it is
// safe for concurrent use. It owns the programs that it runs: [Local.CloseAll]
// ends those that still do.
type Local struct {
	mu     sync.Mutex
	groups map[int]struct{} // process groups of running children, by leader
	temps  map[*tempFile]struct{}
	idle   chan struct{} // closed while a CloseAll waits and groups becomes empty
	closed bool
}

var _ Host = (*Local)(nil)

// NewLocal returns the machine that brine runs on.
func NewLocal() *Local {
	return &Local{groups: map[int]struct{}{}, temps: map[*tempFile]struct{}{}}
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

// addrKey finds the details of an address of one interface.
type addrKey struct {
	index int
	ip    string
}
