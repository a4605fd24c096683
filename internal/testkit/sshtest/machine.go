package sshtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/host"
)

// A Machine is a [Fake] with an agent that can be rebooted: its connections
// end, for a while it answers nobody, and then its agents tell another boot id.
//
// The agent runs in this process. Its host is this machine, but for what has to
// do with boots: shutdown(8) and its like reboot the Machine alone, and no
// program of that kind is ever run. Set the fields before Start.
type Machine struct {
	*Fake
	// Minute is what a minute of shutdown(8) takes. 0 is a minute.
	Minute time.Duration
	// Down is how long the machine is gone when it reboots.
	Down time.Duration
	// Traceless leaves no trace of a shutdown that waits for its time, as
	// systems do that know nothing of systemd.
	Traceless bool
	// Silent leaves the connections as they are when the machine goes down, with
	// nobody at the far end, as a machine without power does.
	Silent bool
	// Cut ends (with Silent: leaves) the connections when the machine is told to reboot, before the
	// program that told it has returned.
	Cut bool
	// Resume carries the channel of an agent that a lost controller came back to;
	// nil: it is told that the agent has ended.
	Resume func(in io.Reader, out io.Writer, token string) error

	mu    sync.Mutex
	power context.Context //nolint:containedctx // ends with the boot, and the agents with it
	off   context.CancelFunc
	boot  int
	timer *time.Timer
	at    time.Time // of the reboot that waits for its time
	asked []string  // commands that asked for one
}

// NewMachine returns a machine on a loopback port; it ends with the test. serve
// serves an agent of the host at the far end of a channel.
func NewMachine(t testing.TB, serve func(ctx context.Context, rw io.ReadWriteCloser, h host.Host) error) *Machine {
	t.Helper()
	m := &Machine{Fake: NewFake(t), boot: 1}
	m.power, m.off = context.WithCancel(context.Background())
	m.Exec = func(s *Session) int {
		// What is to be run is the first line of stdin.
		r := bufio.NewReader(s)
		script, err := r.ReadString('\n')
		if err != nil || !strings.Contains(script, "agent") {
			return 127
		}
		if strings.Contains(script, " --skip ") {
			_, _ = r.ReadString('\n') // for a host where no agent is
		}
		if strings.Contains(script, "rm -rf") {
			return 0 // nothing was placed, so nothing is wiped
		}
		if _, token, ok := strings.Cut(script, "--resume "); ok {
			token = token[:len(token)-len(strings.TrimLeft(token, "0123456789abcdef"))]
			if m.Resume == nil || m.Resume(r, s, token) != nil {
				return 1
			}
			return 0
		}
		m.mu.Lock()
		power := m.power
		m.mu.Unlock()
		_ = serve(power, &channel{Reader: r, Session: s}, &booted{Host: host.NewLocal(), m: m})
		return 0
	}
	t.Cleanup(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.timer != nil {
			m.timer.Stop()
		}
	})
	return m
}

// channel is a session of which the first line was read.
type channel struct {
	io.Reader
	*Session
}

func (c *channel) Read(b []byte) (int, error) { return c.Reader.Read(b) }

// Start lets the machine answer. It returns m.
func (m *Machine) Start() *Machine {
	m.Fake.Start()
	return m
}

// Reboot lets the machine go down now and come back after Down.
func (m *Machine) Reboot() {
	m.mu.Lock()
	m.at = time.Time{}
	off := m.off
	m.power, m.off = context.WithCancel(context.Background())
	m.mu.Unlock()
	off()
	if m.Silent {
		m.Freeze()
		m.refuses.Store(true)
	} else {
		m.Refuse(true)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = time.AfterFunc(m.Down, func() {
		m.mu.Lock()
		m.boot++
		m.mu.Unlock()
		m.Refuse(false)
	})
}

// Boots returns how often the machine was booted.
func (m *Machine) Boots() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// Asked returns the commands that asked for a reboot, or took that back.
func (m *Machine) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Schedule lets the machine reboot after a time, as somebody at its console does
// with shutdown(8).
func (m *Machine) Schedule(after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = time.Now().Add(after)
	m.timer = time.AfterFunc(after, m.Reboot)
}

// order takes a command that has to do with shutdowns.
func (m *Machine) order(words []string) {
	if words[0] == "systemctl" && !slices.ContainsFunc(words, func(w string) bool { return w == "reboot" || w == "poweroff" || w == "halt" }) {
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, strings.Join(words, " "))
	if m.timer != nil && !m.at.IsZero() {
		m.timer.Stop()
		m.at = time.Time{}
	}
	last := words[len(words)-1]
	n, err := strconv.Atoi(strings.TrimPrefix(last, "+"))
	unit := m.Minute
	if unit == 0 {
		unit = time.Minute
	}
	switch {
	case slices.Contains(words, "-c"):
	case err == nil && words[0] == "shutdown":
		m.at = time.Now().Add(time.Duration(n) * unit)
		m.timer = time.AfterFunc(time.Until(m.at), m.Reboot)
	case m.Cut:
		m.mu.Unlock()
		m.Reboot()
		m.mu.Lock()
	default:
		// The program returns, and then the machine goes.
		m.timer = time.AfterFunc(100*time.Millisecond, m.Reboot)
	}
	m.mu.Unlock()
}

// booted is the host that the agents of a Machine see.
type booted struct {
	host.Host
	m *Machine
}

const (
	bootIDFile    = "/proc/sys/kernel/random/boot_id"
	scheduledFile = "/run/systemd/shutdown/scheduled"
)

// hidden are the places in which the real machine tells of its own boots.
func hidden(p string) bool {
	return p == "/proc/1/stat" || strings.HasPrefix(p, "/run/systemd/") || strings.HasPrefix(p, "/run/openrc") ||
		path.Base(p) == "shutdown.pid" || path.Base(p) == "nologin"
}

// Fork returns the same machine with an environment of its own: what is embedded
// would hand out the real one.
func (b *booted) Fork() host.Host { return &booted{Host: b.Host.Fork(), m: b.m} }

// ReadFile reads a file.
func (b *booted) ReadFile(p string) ([]byte, error) {
	b.m.mu.Lock()
	boot, at := b.m.boot, b.m.at
	b.m.mu.Unlock()
	switch {
	case p == bootIDFile:
		return fmt.Appendf(nil, "boot-%d-of-port-%d\n", boot, b.m.Port()), nil
	case p == scheduledFile && !at.IsZero() && !b.m.Traceless:
		return fmt.Appendf(nil, "USEC=%d\nWARN_WALL=1\nMODE=reboot\n", at.UnixMicro()), nil
	case hidden(p):
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return b.Host.ReadFile(p)
}

// Stat looks at a file.
func (b *booted) Stat(p string) (host.Stat, error) {
	if hidden(p) {
		return host.Stat{}, &fs.PathError{Op: "stat", Path: p, Err: fs.ErrNotExist}
	}
	return b.Host.Stat(p)
}

// programs are those that must never reach the real machine.
var programs = []string{"shutdown", "reboot", "poweroff", "halt", "init", "telinit", "systemctl", "loginctl", "runlevel"}

// LookPath finds a program.
func (b *booted) LookPath(name, dirs string) (string, error) {
	switch base := path.Base(name); {
	case base == "shutdown" || base == "reboot":
		return "/usr/sbin/" + base, nil
	case slices.Contains(programs, base):
		return "", &exec.Error{Name: name, Err: fs.ErrNotExist}
	}
	return b.Host.LookPath(name, dirs)
}

// ordered returns the command of c that has to do with shutdowns; nil where
// there is none.
func ordered(c host.Cmd) []string {
	words := strings.Fields(strings.Join(c.Argv, " "))
	for i, w := range words {
		if slices.Contains(programs, path.Base(w)) {
			words = slices.Clone(words[i:])
			words[0] = path.Base(words[0])
			return words
		}
	}
	return nil
}

// Run runs a program.
func (b *booted) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	if words := ordered(c); words != nil {
		b.m.order(words)
		if b.m.Cut && len(b.m.Asked()) > 0 {
			<-ctx.Done() // the program ends with the machine
			return host.Output{}, ctx.Err()
		}
		return host.Output{PID: 1}, nil
	}
	return b.Host.Run(ctx, c)
}

// Start starts a program.
func (b *booted) Start(c host.Cmd) (int, error) {
	if words := ordered(c); words != nil {
		b.m.order(words)
		return 1, nil
	}
	return b.Host.Start(c)
}
