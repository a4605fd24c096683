package host

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"time"
)

// A Fake is a machine in memory, for tests: a file tree, accounts, scripted
// commands and names, and a clock that only Sleep moves. Make one with
// [NewFake]. It acts as root unless UID says otherwise, and checks no
// permissions; Fault makes operations fail.
//
// The Put methods set the stage and are not counted; what a function does
// through [Host] is listed by [Fake.Writes] and [Fake.Calls], so that a test
// can say that nothing was changed:
//
//	f := host.NewFake()
//	f.PutFile("/etc/motd", "hi\n", 0o644)
//	f.OnCommand("systemctl is-active *", host.Output{Stdout: []byte("active\n")})
//	...
//	if w := f.Writes(); len(w) > 0 { t.Errorf("test=True wrote %v", w) }
//
// It is safe for concurrent use. The exported fields are to be set before.
type Fake struct {
	memory
	PID      int
	Env      []string
	Name     string // of the machine
	Ifaces   []Interface
	Addrs    map[string][]net.IP // names
	Names    map[string][]string // addresses
	FullName map[string]string   // full names of hosts
	// Listening says which "address:port" take connections.
	Listening map[string]bool
	// OnDial, where set, is what Dial does.
	OnDial func(ctx context.Context, network, address string) (net.Conn, error)
	Kernel Uname
	Space  map[string]Statfs // file systems by path

	tick     time.Duration
	users    []Account
	groups   []Group
	handlers []handler
	calls    []Cmd
	signals  []string
	lastPID  int
}

var _ Host = (*Fake)(nil)

// FakeTime is the time at which a Fake's clock starts.
func FakeTime() time.Time { return time.Date(2024, 1, 2, 3, 4, 5, 678901000, time.UTC) }

// NewFake returns a machine named "fake" with the directories /etc, /root,
// /home, /bin, /usr/bin, /tmp and /var, the users root and nobody, a shell at
// /bin/sh and a loopback interface.
func NewFake() *Fake {
	f := &Fake{
		memory: memory{Umask: 0o022, Cwd: "/root", now: FakeTime(), dev: 1},
		PID:    4242, Name: "fake",
		Env:     []string{"HOME=/root", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL=/bin/sh", "USER=root"},
		tick:    time.Nanosecond,
		lastPID: 5000,
		users: []Account{
			{Name: "root", Passwd: "x", Gecos: "root", Home: "/root", Shell: "/bin/sh"},
			{Name: "nobody", Passwd: "x", Gecos: "nobody", Home: "/nonexistent", Shell: "/usr/sbin/nologin", UID: 65534, GID: 65534},
		},
		groups: []Group{{Name: "root", Passwd: "x"}, {Name: "nogroup", Passwd: "x", GID: 65534}},
		Ifaces: []Interface{{
			Name: "lo", Up: true, Loopback: true, MTU: 65536,
			Addrs: []*net.IPNet{{IP: net.IPv4(127, 0, 0, 1), Mask: net.CIDRMask(8, 32)}, {IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)}},
		}},
		Addrs: map[string][]net.IP{"localhost": {net.IPv4(127, 0, 0, 1), net.IPv6loopback}},
		Names: map[string][]string{"127.0.0.1": {"localhost"}, "::1": {"localhost"}},
	}
	f.Kernel = Uname{Sysname: "Linux", Nodename: "fake", Release: "6.1.0-18-amd64", Version: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)", Machine: "x86_64"}
	f.root = f.newNode(fs.ModeDir | 0o755)
	for _, d := range []string{"/etc", "/root", "/home", "/bin", "/usr/bin", "/var"} {
		f.PutDir(d, 0o755)
	}
	f.PutDir("/tmp", 0o777|fs.ModeSticky)
	f.PutFile("/bin/sh", "", 0o755)
	return f
}

// SetNow sets the clock.
func (f *Fake) SetNow(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = t
}

// Now returns the time of the fake clock, which then goes on by a tick: as on a real
// machine, no two readings are equal.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now
	f.now = f.now.Add(f.tick)
	return now
}

// SetTick sets by how much the clock goes on at each reading; a nanosecond where
// nothing is set.
func (f *Fake) SetTick(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tick = d
}

// Sleep moves the fake clock by d at once.
func (f *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if d > 0 {
		f.now = f.now.Add(d)
	}
	return nil
}

// Writes returns what was changed through the Files methods, one line a
// change: "WriteFile /etc/motd".
func (f *Fake) Writes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.writes)
}

// Changes counts what Writes lists, and the commands that are not ReadOnly.
func (f *Fake) Changes() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// Changed counts a change that does not go through this Host.
func (f *Fake) Changed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes++
}

// Calls returns the commands that were run or started.
func (f *Fake) Calls() []Cmd {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Signals returns the signals that were sent, as "pid signal".
func (f *Fake) Signals() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.signals)
}

// Forget empties what Writes, Calls and Signals return.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes, f.calls, f.signals = nil, nil, nil
}

// PutUser adds a user, or replaces the one of that name.
func (f *Fake) PutUser(a Account) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users = slices.DeleteFunc(f.users, func(o Account) bool { return o.Name == a.Name })
	f.users = append(f.users, a)
}

// PutGroup adds a group, or replaces the one of that name.
func (f *Fake) PutGroup(g Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.groups = slices.DeleteFunc(f.groups, func(o Group) bool { return o.Name == g.Name })
	f.groups = append(f.groups, g)
}

// DropUser takes a user out, DropGroup a group.
func (f *Fake) DropUser(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users = slices.DeleteFunc(f.users, func(o Account) bool { return o.Name == name })
}

// DropGroup takes a group out.
func (f *Fake) DropGroup(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.groups = slices.DeleteFunc(f.groups, func(o Group) bool { return o.Name == name })
}

// LookupUser finds a user by name.
func (f *Fake) LookupUser(name string) (Account, error) {
	return f.findUser(name, func(a Account) bool { return a.Name == name })
}

// LookupUID finds a user by number.
func (f *Fake) LookupUID(uid int) (Account, error) {
	return f.findUser(fmt.Sprint(uid), func(a Account) bool { return a.UID == uid })
}

func (f *Fake) findUser(key string, is func(Account) bool) (Account, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.users, is); i >= 0 {
		return f.users[i], nil
	}
	return Account{}, fmt.Errorf("user %s: %w", key, ErrNoAccount)
}

// LookupGroup finds a group by name.
func (f *Fake) LookupGroup(name string) (Group, error) {
	return f.findGroup(name, func(g Group) bool { return g.Name == name })
}

// LookupGID finds a group by number.
func (f *Fake) LookupGID(gid int) (Group, error) {
	return f.findGroup(fmt.Sprint(gid), func(g Group) bool { return g.GID == gid })
}

func (f *Fake) findGroup(key string, is func(Group) bool) (Group, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.groups, is); i >= 0 {
		return f.groups[i], nil
	}
	return Group{}, fmt.Errorf("group %s: %w", key, ErrNoAccount)
}

// Users returns all users.
func (f *Fake) Users() ([]Account, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.users), nil
}

// Groups returns all groups.
func (f *Fake) Groups() ([]Group, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.groups), nil
}

// GroupIDs returns the ids of a user's groups, primary first.
func (f *Fake) GroupIDs(user string) ([]int, error) {
	a, err := f.LookupUser(user)
	if err != nil {
		return nil, err
	}
	ids := []int{a.GID}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		if slices.Contains(g.Members, user) && !slices.Contains(ids, g.GID) {
			ids = append(ids, g.GID)
		}
	}
	return ids, nil
}

// Geteuid returns UID.
func (f *Fake) Geteuid() int { return f.UID }

// Getegid returns GID.
func (f *Fake) Getegid() int { return f.GID }

// Hostname returns Name.
func (f *Fake) Hostname() (string, error) { return f.Name, nil }

// Interfaces returns Ifaces.
func (f *Fake) Interfaces() ([]Interface, error) { return slices.Clone(f.Ifaces), nil }

// LookupAddr returns what Names has for addr.
func (f *Fake) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if names, ok := f.Names[addr]; ok {
		return slices.Clone(names), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
}

// LookupIP returns what Addrs has for name.
func (f *Fake) LookupIP(ctx context.Context, name string) ([]net.IP, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ips, ok := f.Addrs[name]; ok {
		return slices.Clone(ips), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// LookupCNAME returns what FullName has for name.
func (f *Fake) LookupCNAME(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if full, ok := f.FullName[name]; ok {
		return full, nil
	}
	return "", &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Uname returns Kernel.
func (f *Fake) Uname() (Uname, error) { return f.Kernel, nil }

// Statfs returns what Space has for path or the nearest directory above it.
func (f *Fake) Statfs(p string) (Statfs, error) {
	for d := path.Clean(p); ; d = path.Dir(d) {
		if s, ok := f.Space[d]; ok {
			return s, nil
		}
		if d == path.Dir(d) {
			return Statfs{}, &fs.PathError{Op: "statfs", Path: p, Err: fs.ErrNotExist}
		}
	}
}
