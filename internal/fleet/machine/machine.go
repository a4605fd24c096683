// Package machine makes throw-away machines, on which states are tested: containers of
// systemd-nspawn, namespaces that need no root, containers of podman and docker. Start with
// [Drivers] and [Pool].
//
// What a machine changes is in an overlay in memory. All of it, with its mounts and
// processes, belongs to namespaces whose first process reads from a pipe of brine: when
// brine ends, however it does, the kernel takes them down. Containers of podman and docker
// are removed by a process that reads from such a pipe.
package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/host"
)

// env is the environment of programs in a machine.
var env = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root", "TERM=dumb", "USER=root", "SHELL=/bin/sh",
}

// A Spec says what a machine is like.
type Spec struct {
	Name    string // of the machine
	Image   string // directory of a root file system
	Over    string // directory that Save made, over the image; "" is none
	Binds   []Bind
	Network bool // it has the network of this machine; else a loopback device alone
	// Beside is a machine whose users it shares, so that a user can connect both; nil: it
	// has its own. It has no meaning for root.
	Beside *Machine
	// Given is the host that a driver of given hosts uses.
	Given *Given
}

// A Bind is a file or directory of this machine that a machine has, to read.
type Bind struct{ From, To string }

// A Driver makes machines.
type Driver struct {
	Name string
	Doc  string
	// needs are the programs that it runs.
	needs []string
	// root says that it needs root.
	root  bool
	start func(p *Pool, m *Machine, s Spec) ([]string, error)
	// enter is the command that runs a program in the machine.
	enter func(m *Machine) []string
	boots bool // it has an init, which takes a while
	// container says that machines are containers of another program.
	container bool
	// given says that machines are existing hosts.
	given bool
	depth int // of its first process in namespaces of processes, from that of brine
}

// Drivers returns all drivers, that which is preferred first.
func Drivers() []Driver {
	return []Driver{
		{
			Name: "nspawn", Doc: "systemd-nspawn: a container with systemd; needs root", needs: []string{"systemd-nspawn", "unshare", "nsenter", "find"}, root: true,
			start: startNspawn, enter: enterNspawn, boots: true, depth: 2,
		},
		{
			Name: "namespace", Doc: "namespaces: no services, and as root or as a user", needs: []string{"unshare", "nsenter", "find", "mount"},
			start: startNamespace, enter: enterNamespace, depth: 1,
		},
		engine("podman", "podman: a container of an image that podman has, with systemd if the image has it; as root or as a user"),
		engine("docker", "docker: a container of an image that docker has, with systemd if the image has it"),
		{Name: "ssh", Doc: "given hosts over SSH, which a command brings back", given: true},
	}
}

// An UnusableError says why a driver cannot be used here.
type UnusableError struct {
	Driver, Why, Hint string
}

func (e *UnusableError) Error() string { return "the driver " + e.Driver + " cannot be used: " + e.Why }

// Usable returns an *[UnusableError] if the driver cannot be used on this machine.
func (d *Driver) Usable(ctx context.Context, h host.Host) error {
	if d.root && h.Geteuid() != 0 {
		return &UnusableError{d.Name, "it needs root", "run brine test as root, or use --driver namespace"}
	}
	for _, prog := range d.needs {
		if _, err := h.LookPath(prog, ""); err != nil {
			return &UnusableError{d.Name, "there is no program " + prog, "install " + packages[prog]}
		}
	}
	if d.container {
		return d.answers(ctx, h)
	}
	return nil
}

// TakesReferences reports whether images of the driver are references of containers, and
// not directories.
func (d *Driver) TakesReferences() bool { return d.container }

// packages are those of Debian that have the programs.
var packages = map[string]string{
	"systemd-nspawn": "systemd-container", "unshare": "util-linux", "nsenter": "util-linux", "mount": "mount", "find": "findutils",
	"podman": "podman", "docker": "docker.io",
}

// A Machine is one that was made.
type Machine struct {
	Name string

	pool   *Pool
	driver *Driver
	dir    string
	init   int // pid of its first process
	holder int // pid of the process that has its mounts
	lock   io.Closer
	groups []string
	given  *givenState // nil: it was made
	image  string
	saved  string // what is over the image

	stdin  *io.PipeWriter
	over   chan struct{} // closed when the holder has ended
	mu     sync.Mutex
	output strings.Builder // of the holder
}

// bootTime is how long a machine may take until it is up.
const bootTime = 90 * time.Second

// Create makes a machine and waits until it is up.
func (p *Pool) Create(ctx context.Context, d *Driver, s Spec) (*Machine, error) {
	if !d.container && !d.given && strings.ContainsAny(s.Image, ",:\\") {
		return nil, fmt.Errorf("the image %s: its path must not have ',', ':' or '\\'", s.Image)
	}
	dir, lock, err := p.newDir()
	if err != nil {
		return nil, err
	}
	m := &Machine{Name: s.Name, pool: p, driver: d, dir: dir, lock: lock, over: make(chan struct{}), image: s.Image, saved: s.Over}
	if s.Over != "" {
		s.Image = s.Over + ":" + s.Image
	}
	if err := m.up(ctx, s); err != nil {
		console := m.Console()
		_ = m.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := &BootError{Driver: d.Name, Err: err, Console: console}
		if s.Given != nil {
			e.Target, e.Console = s.Given.Target, ""
		}
		return nil, e
	}
	return m, nil
}

// A BootError says that a machine did not come up.
type BootError struct {
	Driver  string
	Target  string // of a given host; "": the machine was made
	Err     error
	Console string // what it printed
}

func (e *BootError) Error() string {
	if e.Target != "" {
		return fmt.Sprintf("the host %s cannot be used: %v", e.Target, e.Err)
	}
	return fmt.Sprintf("a machine of the driver %s did not start: %v", e.Driver, e.Err)
}
func (e *BootError) Unwrap() error { return e.Err }

// up starts the holder of a machine and waits until programs can run in it.
func (m *Machine) up(ctx context.Context, s Spec) error {
	if err := m.pool.Host.Mkdir(filepath.Join(m.dir, "m"), 0o755); err != nil {
		return err
	}
	if m.driver.given {
		m.given = &givenState{}
		return m.upGiven(ctx, s)
	}
	argv, err := m.driver.start(m.pool, m, s)
	if err != nil {
		return err
	}
	var stdin *io.PipeReader
	stdin, m.stdin = io.Pipe()
	pidFile := filepath.Join(m.dir, "pid")
	argv = append([]string{"sh", "-c", `echo $$ >"$1"; shift; exec "$@"`, "sh", pidFile}, argv...)
	ready := make(chan struct{})
	held := context.WithoutCancel(ctx) // it ends with stdin; of ctx it knows only what Close does
	go func() {
		defer close(m.over)
		_, _ = m.pool.Host.Run(held, host.Cmd{Argv: argv, Stdin: stdin, Stdout: &signal{m: m, ready: ready}, Stderr: m})
		_ = stdin.Close()
	}()
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	select {
	case <-ready:
	case <-m.over:
		return m.why()
	case <-ctx.Done():
		return fmt.Errorf("it is not up after %s", bootTime)
	}
	return m.wait(ctx)
}

// why is what the holder wrote before it ended.
func (m *Machine) why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := strings.TrimSpace(m.output.String())
	if text == "" {
		text = "its first process ended"
	}
	return errors.New(text)
}

// Write gets what the holder writes to stderr.
func (m *Machine) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.output.Len() < 64<<10 {
		m.output.Write(p)
	}
	return len(p), nil
}

// signal gets what the holder writes to stdout, which is that it is ready.
type signal struct {
	m     *Machine
	ready chan struct{}
	text  strings.Builder
	once  sync.Once
	// mark or or is the end of what it says; "" is "ready\n".
	mark, or string
}

func (s *signal) Write(p []byte) (int, error) {
	if s.text.Len() < 1<<10 {
		s.text.Write(p)
	}
	text := s.text.String()
	if strings.Contains(text, cmp.Or(s.mark, "ready\n")) || s.or != "" && strings.Contains(text, s.or) {
		s.once.Do(func() { close(s.ready) })
	}
	return len(p), nil
}

// wait waits until programs can run in the machine.
func (m *Machine) wait(ctx context.Context) error {
	for {
		err := error(nil)
		if !m.driver.container {
			err = m.findInit()
		}
		if err == nil && m.isUp(ctx) {
			return nil
		}
		if _, err := m.pool.Host.Stat(filepath.Join(m.dir, "ended")); err == nil {
			return errors.New("it ended while it was starting")
		}
		select {
		case <-m.over:
			return m.why()
		case <-ctx.Done():
			return fmt.Errorf("it is not up after %s", bootTime)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// isUp reports whether the init of a machine has started it.
func (m *Machine) isUp(ctx context.Context) bool {
	if !m.Boots() {
		return true
	}
	out, err := m.Run(ctx, host.Cmd{Argv: []string{"systemctl", "is-system-running"}, Timeout: 10 * time.Second, ReadOnly: true})
	state := strings.TrimSpace(string(out.Stdout))
	return err == nil && (state == "running" || state == "degraded")
}

// findInit finds the first process of the machine, and that which has its mounts: those
// that are number 1 in their namespaces of processes.
func (m *Machine) findInit() error {
	text, err := m.pool.Host.ReadFile(filepath.Join(m.dir, "pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	outer := len(m.pool.namespaces(pid))
	m.holder, m.init = 0, 0
	m.pool.walk(pid, 0, func(pid int) {
		ids := m.pool.namespaces(pid)
		depth := len(ids) - outer
		if ids[len(ids)-1] != "1" {
			return
		}
		if depth == 1 {
			m.holder = pid
		}
		if depth == m.driver.depth {
			m.init = pid
		}
	})
	if m.init == 0 || m.holder == 0 {
		return errors.New("the machine has no first process")
	}
	return nil
}

// Boots reports whether the machine has an init, which runs services.
func (m *Machine) Boots() bool {
	if m.given != nil {
		return m.given.boots
	}
	if !m.driver.container {
		return m.driver.boots
	}
	_, err := m.pool.Host.Stat(filepath.Join(m.dir, "init"))
	return err == nil
}

// ListsAll reports whether Files lists all files of the machine, and not only those that its
// image does not have as well.
func (m *Machine) ListsAll() bool { return m.driver.container || m.driver.given }

// Run runs a program in the machine as root. The Output is as that of [host.Host].Run.
func (m *Machine) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	select {
	case <-m.over:
		return host.Output{}, m.why()
	default:
	}
	if m.given != nil {
		return m.runGiven(ctx, c)
	}
	c.Argv = append(m.driver.enter(m), c.Argv...)
	if c.Env == nil && !m.driver.container { // the engine is a program of this machine
		c.Env = env
	}
	return m.pool.Host.Run(ctx, c)
}

// Files returns what a machine has other than its image: a line with the attributes of
// each file, by path.
func (m *Machine) Files(ctx context.Context) (map[string]string, error) {
	run := m.pool.Host.Run
	var argv []string
	switch {
	case m.given != nil:
		argv, run = []string{"/bin/sh", "-c", givenFilesScript}, m.runGiven
	case m.driver.container:
		argv = append(m.driver.enter(m), listAll...)
	default:
		argv = append(m.mounts(), "find", filepath.Join(m.dir, "m/up"), "-mindepth", "1", "-printf", `%P\t%y %m %U:%G %s %T@ %l\0`)
	}
	out, err := run(ctx, host.Cmd{Argv: argv, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if out.Status != 0 {
		return nil, fmt.Errorf("list the files of the machine: %s", strings.TrimSpace(string(out.Stderr)))
	}
	files := map[string]string{}
	for line := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if path, attrs, ok := strings.Cut(line, "\t"); ok {
			// The time of a directory is that of what is in it.
			if strings.HasPrefix(attrs, "d ") {
				attrs = strings.Join(strings.Fields(attrs)[:3], " ")
			}
			files["/"+strings.TrimPrefix(path, "/")] = attrs
		}
	}
	return files, nil
}

// Enter returns the command that a person types to get a shell in the machine.
func (m *Machine) Enter() []string {
	if m.given != nil {
		return m.given.remote.Enter()
	}
	if m.driver.container {
		return append(m.exec("-it"), "/bin/sh")
	}
	return append(m.driver.enter(m), "/bin/sh")
}

// jobControl starts a shell in a process group of the machine. The one that brine is in
// does not exist there, so that the first shell complains when it gives the terminal back.
const jobControl = `/bin/sh 2>&3; exit $?`

// Shell is a shell in the machine, for a person at a terminal of a type.
func (m *Machine) Shell(term string) host.Cmd {
	vars := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "TERM=") })
	if m.driver.container || m.given != nil { // which has a terminal of its own
		return host.Cmd{Argv: m.Enter()}
	}
	argv := append(m.Enter(), "-c", `exec 3>&2 2>/dev/null; exec /bin/sh -mc "$1"`, "sh", jobControl)
	return host.Cmd{Argv: argv, Env: append(vars, "TERM="+cmp.Or(term, "dumb"))}
}

// Console returns what the machine printed while it started.
func (m *Machine) Console() string {
	text, _ := m.pool.Host.ReadFile(filepath.Join(m.dir, "console"))
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.output.String() + string(text)
}

// Close ends the machine and removes all of it.
func (m *Machine) Close() error {
	if m.stdin != nil && m.given == nil {
		_ = m.stdin.Close()
		<-m.over
	}
	err := errors.Join(RemoveGroups(m.groups), m.pool.removeContainer(m.dir), m.closeGiven())
	return errors.Join(err, m.pool.Host.RemoveAll(m.dir), m.lock.Close())
}
