package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"brine/internal/py/source"
	"brine/sshexec/master"
)

// Masters.
//
// Where ssh_config has a ControlPath and a master of OpenSSH listens there, its
// connection is used, as ssh does. It was made by ssh, which has checked the host key
// and logged in: with a code, a touch of a key, or a ticket that nobody wants to give
// again. Those that brine keeps are in kept.go.
//
// Whoever holds the socket decides where commands run. So a master is used only if its
// path says of which host, port and account it is, and if it runs as the user or root.
// A master is not asked whether its host is there: once it failed in a run, brine
// makes connections of its own.

// control sets the path of the master that a host may be reached by.
func (d *Dialer) control(s settings, t *dest) error {
	if d.o.NoMasters || s.none("controlpath") || s.Expanded("controlpath") {
		return nil
	}
	switch strings.ToLower(s.get("controlmaster")) {
	case "", "no", "false", "auto", "autoask":
	default: // it asks for a new master, not for the use of one
		return nil
	}
	// Who names the host keys to be taken, or lends keys, means this connection.
	if len(d.o.KnownHosts) > 0 || d.o.Policy != "" {
		return nil
	}
	pattern := s.get("controlpath")
	path, err := d.expand(pattern, t)
	if err != nil {
		return &source.Error{Pos: s.From("controlpath"), Err: err}
	}
	if !namesConnection(pattern) {
		t.note("master not used", "ControlPath", pattern, "why", "the path has neither %C nor all of %h (or %n, %k), %p and %r: it could be that of another host")
		return nil
	}
	t.master = path
	return nil
}

// namesConnection reports whether paths of a pattern differ between hosts, ports and
// accounts.
func namesConnection(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, "%%", "")
	has := func(token string) bool { return strings.Contains(pattern, token) }
	return has("%C") || has("%p") && has("%r") && (has("%h") || has("%n") || has("%k"))
}

// byMaster returns the connection of a master to a host; nil: there is none to use.
func (d *Dialer) byMaster(ctx context.Context, t *dest) *Client {
	if t.master == "" || t.carry != nil || t.forward != "" || t.tty {
		return nil
	}
	if _, off := d.unused.Load(t.master); off {
		return nil
	}
	conn, err := master.Open(ctx, t.master, d.o.Host.Geteuid())
	if err != nil {
		d.noMaster(t, err)
		return nil
	}
	t.note("master", "ControlPath", t.master, "pid", conn.PID())
	return d.masterClient(t, conn, t.master)
}

// masterClient returns the client of a master's connection to a host.
func (d *Dialer) masterClient(t *dest, conn *master.Conn, path string) *Client {
	beat := &pulse{}
	beat.received()
	c := &Client{ID: t.id, Addr: t.addr(), User: t.user, pulse: beat, cost: cost{files: master.SessionDescriptors}, files: d.o.Host, closed: make(chan struct{})}
	m := &masterCarrier{Conn: conn, pulse: beat, limit: t.timeout}
	m.giveUp = func() {
		m.given.Store(true)
		if _, was := d.unused.LoadOrStore(path, true); !was {
			d.o.Log.Info("a held connection is given up, brine makes its own", "host", t.id, "socket", path)
		}
	}
	c.way = m
	go func() {
		<-conn.Done()
		_ = c.Close() // the master is gone, or Close was called
	}()
	return c
}

// noMaster notes why a master is not used, and warns if it is another user's.
func (d *Dialer) noMaster(t *dest, err error) {
	t.note("no master", "ControlPath", t.master, "error", err)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return
	}
	d.noMasterAt(t, t.master, err)
}

// noMasterAt has the master of a path not be used again, and warns.
func (d *Dialer) noMasterAt(t *dest, path string, err error) {
	d.unused.Store(path, true)
	what := "ControlPath"
	if path != t.master {
		what = "the kept connection"
	}
	if _, told := d.warnings.LoadOrStore("master "+path, true); !told && d.o.Warn != nil {
		d.o.Warn(fmt.Sprintf("%s: %s is not used: %v. brine makes its own connection", t.id, what, err))
	}
}

// giveUpMaster has no further connection use the master of a client after err, and
// reports whether another connection may do better: the master opens nothing, does not
// answer, or has lost the host.
func (c *Client) giveUpMaster(err error) bool {
	m, ok := c.way.(*masterCarrier)
	if !ok {
		return false
	}
	if errors.Is(err, master.ErrRefused) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || c.connectionLost(err) {
		m.giveUp()
	}
	return m.given.Load()
}

// masterCarrier is the connection of a master.
type masterCarrier struct {
	*master.Conn
	pulse  *pulse
	limit  time.Duration // of the opening of a session
	giveUp func()        // has no further connection use it
	given  atomic.Bool
	ahead  *ahead // nil: nothing is started ahead
}

func (m *masterCarrier) dial(ctx context.Context, host string, port int) (net.Conn, error) {
	return m.Dial(ctx, host, port)
}

// probe cannot ask the host.
func (m *masterCarrier) probe() error {
	select {
	case <-m.Done():
		return net.ErrClosed
	default:
		return nil
	}
}

func (m *masterCarrier) run(r request, stderr io.Writer) (*session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.limit)
	defer cancel()
	sess, err := m.Start(ctx, master.Command{Line: r.line, Subsystem: r.subsystem})
	if err != nil {
		return nil, err
	}
	said := make(chan struct{})
	go func() {
		_, _ = io.Copy(stderr, sess.Stderr) // its end is that of the session
		close(said)
	}()
	wait := func() (int, error) {
		status, err := sess.Wait()
		<-said
		return status, err
	}
	return &session{stdin: sess.Stdin, stdout: &lively{sess.Stdout, m.pulse}, wait: wait, close: sess.Close}, nil
}

// lively reads, and records signs of life.
type lively struct {
	io.Reader
	pulse *pulse
}

// Read reads.
func (h *lively) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.pulse.received()
	}
	return n, err
}
