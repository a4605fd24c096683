// Package host is the machine as brine's functions see it: files, processes,
// users, time and network.
//
// Rooms that touch the machine do it through a [Host], never through os/exec
// or os/user, so that a test can run them on a [Fake] and so that umask, user,
// environment and working directory belong to one call and not to the process,
// which parallel states share. [Local] is the real machine.
package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"time"
)

// A Host is one machine. Methods return errors that errors.Is matches against
// fs.ErrNotExist, fs.ErrPermission and fs.ErrExist where those apply. Paths are
// absolute; symbolic links are followed except where a method says not.
type Host interface {
	Files
	Processes
	Accounts
	Clock
	Network
	System

	// Changes counts what may have changed the machine through this Host: writes
	// of Files, programs that were started, and programs that ended, but those
	// that are ReadOnly. What was learnt of the machine holds while it stays the
	// same, as far as this Host has a hand in it.
	Changes() uint64
	// Changed counts a change that does not go through this Host: that of a
	// program which runs all the time.
	Changed()
}

// Files reads and changes the file system. What changes it follows a link of
// another user only to what that user owns, and what reads a file or directory
// only to what that user may read (else an *[UnsafeLinkError]), however fast the
// link comes and goes; see reach.go. A caller therefore names the path as it was
// given to him: to resolve a path and to use the result afterwards is two steps.
type Files interface {
	// Stat follows links, Lstat does not.
	Stat(path string) (Stat, error)
	Lstat(path string) (Stat, error)
	// ReadFile returns the whole content.
	ReadFile(path string) ([]byte, error)
	// Open opens for reading; the caller closes.
	Open(path string) (io.ReadCloser, error)
	// ReadDir returns the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
	Readlink(path string) (string, error)
	// EvalSymlinks returns path with all links resolved, by the rules for what is
	// changed. It is for what compares or shows names: TestNothingResolvesFirst in
	// e2e lists who calls it, and why.
	EvalSymlinks(path string) (string, error)
	// ReadTarget is EvalSymlinks by the rules for what is read. Nothing is changed by
	// the name that it returns.
	ReadTarget(path string) (string, error)
	// Target returns the path, with links resolved, of the file that a change
	// of path changes: for names derived from it or files next to it. Its last
	// element may be missing.
	Target(path string) (string, error)

	// WriteFile replaces the content of path atomically: a temporary file
	// beside it (or in opts.TmpDir), written, synced if opts.Sync, given mode
	// and owner, renamed. A link at path is replaced unless opts.FollowLinks.
	WriteFile(path string, content io.Reader, opts WriteOptions) error
	// AppendFile adds data at the end of a file that exists or is made with mode.
	AppendFile(path string, data []byte, mode fs.FileMode) error
	Mkdir(path string, mode fs.FileMode) error
	// MkdirAll makes path and its missing parents, all with mode (before umask).
	MkdirAll(path string, mode fs.FileMode) error
	MkdirTemp(dir, pattern string) (string, error)
	// Remove takes out a file, a link, or an empty directory. Like RemoveAll and
	// Rename it refuses a system directory with a *SystemPathError.
	Remove(path string) error
	// RemoveAll takes path and what is below out, never following links.
	RemoveAll(path string) error
	Rename(from, to string) error
	Symlink(target, path string) error
	Link(target, path string) error
	// Chmod sets permission, setuid, setgid and sticky bits.
	Chmod(path string, mode fs.FileMode) error
	// Chown sets owner and group; -1 leaves one as it is.
	Chown(path string, uid, gid int) error
	Lchown(path string, uid, gid int) error
	Chtimes(path string, atime, mtime time.Time) error
	// CheckSystem returns a *SystemPathError where path is a system directory, as
	// itself or by way of links; a link at path counts with follow. Whoever
	// removes or changes all that a directory holds asks first.
	CheckSystem(path string, follow bool) error
	// Force returns the same machine, whose system directories may be removed.
	Force() Host
	// Lock takes the lock of a file, which is made with mode 0600 where it is
	// missing, and waits while anybody else holds it. It ends with unlock, and
	// with the process. A link at path is an error.
	Lock(path string) (unlock func(), err error)
	// OpenRoot opens a directory to work below it and nowhere else.
	OpenRoot(dir string) (Root, error)
}

// WriteOptions are the attributes of a file that is written.
type WriteOptions struct {
	Mode        *fs.FileMode // nil: that of the file replaced, else 0666 less the umask
	UID, GID    *int         // nil: those of the file replaced, else the process's
	TmpDir      string       // where the temporary file goes; "" is beside the target
	FollowLinks bool         // write through a link at path
	Sync        bool         // fsync before the rename
}

// A Stat is what is known of a file.
type Stat struct {
	Path       string
	Mode       fs.FileMode // type, permission, setuid, setgid, sticky
	Size       int64
	UID, GID   int
	Atime      time.Time
	Mtime      time.Time
	Ctime      time.Time
	Inode, Dev uint64
	Nlink      uint64
}

// Unchanged reports whether two looks saw the same file, which nothing has changed in
// between. The time of the last change (ctime) cannot be set back.
func (s Stat) Unchanged(o Stat) bool {
	return s.Inode == o.Inode && s.Dev == o.Dev && s.Size == o.Size && s.Mtime.Equal(o.Mtime) && s.Ctime.Equal(o.Ctime)
}

// settled is how long ago a file has to have changed, so that the next change shows in its
// time: file systems give the same time to changes that follow each other closely.
const settled = 2 * time.Second

// Settled reports whether a change after now would show in what [Stat.Unchanged] compares.
func (s Stat) Settled(now time.Time) bool { return s.Inode != 0 && now.Sub(s.Ctime) > settled }

// Perm returns the permission bits with setuid, setgid and sticky as in
// chmod(1), for example 0o4755.
func (s Stat) Perm() uint32 { return UnixMode(s.Mode) }

// UnixMode returns the chmod(1) bits of m.
func UnixMode(m fs.FileMode) uint32 {
	u := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		u |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		u |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		u |= 0o1000
	}
	return u
}

// FileMode returns the Go mode of chmod(1) bits.
func FileMode(u uint32) fs.FileMode {
	m := fs.FileMode(u & 0o777)
	if u&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if u&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if u&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// Processes runs programs.
type Processes interface {
	// Run runs c to its end. A program that could not be started is an error;
	// a nonzero status, a signal and a time-out are in the Output. When ctx
	// ends, the process group gets SIGTERM, then SIGKILL.
	Run(ctx context.Context, c Cmd) (Output, error)
	// Start starts c detached, in a session of its own, and returns its pid;
	// it outlives the run.
	Start(c Cmd) (int, error)
	// LookPath finds an executable in the given PATH value ("" is the
	// process's own).
	LookPath(name, path string) (string, error)
	// Signal sends a signal by number to a process (or, negative pid, a group).
	Signal(pid, signal int) error
	// Fork returns the same machine with an environment of its own, a copy.
	Fork() Host
	// SignalGroups sends a signal to the process groups of the programs that
	// this Host, not its forks, runs by Run.
	SignalGroups(signal int)
	// CloseAll ends all programs that this Host and its forks run by Run, and
	// removes temporary files; what runs them fails from then on. It returns
	// after a few seconds at the latest, sooner when ctx ends.
	CloseAll(ctx context.Context)
	// Environ returns the environment that programs get as KEY=value.
	Environ() []string
	// Setenv changes it for this Host, Unsetenv takes a name out. The process's
	// own environment stays as it is.
	Setenv(key, value string) error
	Unsetenv(key string) error
	// Getwd returns the working directory of the process.
	Getwd() (string, error)
	Getpid() int
}

// A Cmd is a program to run.
type Cmd struct {
	Argv []string
	Env  []string // KEY=value, whole; nil: the process's own
	// Dir is where it runs, "" is the process's own directory. A program that has
	// brine's rights starts where a link of another user leads only as [Files] would
	// change something there.
	Dir string
	// Verbatim says that a person wrote the command line. Else the paths in it are
	// checked for links of others before a program starts that has brine's rights.
	Verbatim bool
	// Alone are directories that the program writes to, or runs what it finds in. With
	// root's rights it gets only those that nobody else can change, and sees nothing
	// of what others could put on the way to them. AloneArg is as in [CheckAlone].
	Alone    []string
	AloneArg string
	Stdin    io.Reader
	User     *Account      // run as this account with its groups; nil: as oneself
	Group    *int          // primary group instead of the account's
	Umask    *int          // nil: the process's own
	Timeout  time.Duration // 0 is none
	// Leave makes a Timeout end the program alone: what it started lives on.
	Leave bool
	// MaxOutput bounds stdout and stderr, each, in bytes; 0 is 256 MiB. What
	// comes after is read and dropped.
	MaxOutput int64
	// Merge sends stderr to stdout in order of writing.
	Merge bool
	// ReadOnly says that the program only looks: see [Host].Changes.
	ReadOnly bool
	// Net is the network that the program has instead of the machine's, nil: that one. Such
	// a program has no Umask of its own, and none is started detached.
	Net *Netns
	// Private says that what the program prints is not to be seen while it runs: see [Tap].
	Private bool
	// Foreground gives the program the terminal: Stdin, Stdout and Stderr are
	// files that it has itself, and it is in brine's process group.
	Foreground bool
	// Stdout and Stderr, where set, receive the output as it comes, instead of
	// the Output.
	Stdout, Stderr io.Writer
}

// An Output is how a program ended.
type Output struct {
	PID            int
	Stdout, Stderr []byte
	Status         int // exit status; -N where signal N ended it (as Python's subprocess)
	TimedOut       bool
	Truncated      bool
}

// ErrNoAccount is returned (wrapped) where a user or group is not known.
var ErrNoAccount = errors.New("no such account")

// Accounts reads users and groups.
type Accounts interface {
	// LookupUser finds a user by name, LookupUID by number.
	LookupUser(name string) (Account, error)
	LookupUID(uid int) (Account, error)
	LookupGroup(name string) (Group, error)
	LookupGID(gid int) (Group, error)
	Users() ([]Account, error)
	Groups() ([]Group, error)
	// GroupIDs returns the ids of all groups of a user, primary first.
	GroupIDs(user string) ([]int, error)
	Geteuid() int
	Getegid() int
}

// An Account is a line of passwd.
type Account struct {
	Name, Gecos, Home, Shell string
	Passwd                   string // "x" where it is kept elsewhere
	UID, GID                 int
}

// A Group is a line of group.
type Group struct {
	Name    string
	Passwd  string
	GID     int
	Members []string
}

// Clock tells and spends time.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's error when it ends before.
	Sleep(ctx context.Context, d time.Duration) error
}

// Network returns names and addresses of the machine and of others.
type Network interface {
	Hostname() (string, error)
	Interfaces() ([]Interface, error)
	// LookupAddr and LookupIP resolve as the system does, bounded by ctx.
	LookupAddr(ctx context.Context, addr string) ([]string, error)
	LookupIP(ctx context.Context, name string) ([]net.IP, error)
	// LookupCNAME returns the full name of a host as the name servers have it,
	// search domains and aliases followed, without a dot at its end.
	LookupCNAME(ctx context.Context, name string) (string, error)
	// Connect opens a TCP connection to address:port and closes it; the error
	// says why that failed. It waits as long as ctx allows.
	Connect(ctx context.Context, address string, port int) error
	// SendUDP sends one datagram to address:port, which may be a broadcast address.
	SendUDP(ctx context.Context, address string, port int, data []byte) error
	// Dial opens a connection: network is "tcp" with an address "host:port", or
	// "unix" with the path of a socket.
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// System returns facts about the kernel.
type System interface {
	Uname() (Uname, error)
	// Statfs returns the size and use of the file system that contains path.
	Statfs(path string) (Statfs, error)
}

// A Statfs is the room of a file system, in units of BlockSize bytes.
type Statfs struct {
	BlockSize   int64
	Blocks      uint64
	Free, Avail uint64 // for root, for others
	Files       uint64 // inodes
	FilesFree   uint64
}

// A Uname is what uname(1) prints.
type Uname struct {
	Sysname, Nodename, Release, Version, Machine string
}

// An Interface is a network interface with its addresses.
type Interface struct {
	Name     string
	MAC      string
	Up       bool
	Loopback bool
	MTU      int
	Addrs    []*net.IPNet
	// Details says more of each of Addrs, in the same order, where the system
	// tells it.
	Details []AddrDetail
}

// An AddrDetail is an address of an interface as ip-address(8) shows it.
type AddrDetail struct {
	Net       *net.IPNet
	Broadcast net.IP // nil where none is set
	Label     string // name of the address ("eth0:1"), IPv4 only
	Scope     string // global, site, link, host; "" is unknown
	Secondary bool
}
