// Package master uses connections that OpenSSH clients hold open: the masters of
// ControlMaster and ControlPath. A master is asked over its socket for sessions, whose
// stdin, stdout and stderr are pipes that it is given, and for connections from the
// host on. See PROTOCOL.mux of OpenSSH.
//
// Start at [Open].
package master

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"brine/internal/core/printable"
)

// The messages of the protocol, and its version.
const (
	version = 4

	msgHello      = 0x00000001
	msgNewSession = 0x10000002
	msgAlive      = 0x10000004
	msgForward    = 0x10000008
	msgDenied     = 0x80000002
	msgFailure    = 0x80000003
	msgExit       = 0x80000004
	msgIsAlive    = 0x80000005
	msgOpened     = 0x80000006
)

// messageMax is the largest message that is taken; those of a master are short.
const messageMax = 64 << 10

// helloTime is how long a master may take to say who it is: it is a process of this
// machine, and one that is stopped does not answer.
const helloTime = 5 * time.Second

// ErrRefused is a master that does not open a session or a connection. Another
// connection to its host may do so.
var ErrRefused = errors.New("the master refuses")

// A ForeignError is a socket that is another user's, who could read and answer
// everything.
type ForeignError struct {
	Path string
	UID  int // of the process behind the socket
}

// Error names the socket and the user.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("the master of %s runs as another user (user ID %d)", e.Path, e.UID)
}

// A Conn is a master, for as long as it lives. It is safe for concurrent use. While
// a Conn is open, the time of its ControlPersist does not pass.
type Conn struct {
	path string
	uid  int
	pid  int
	ctl  *net.UnixConn

	done chan struct{}
	once sync.Once

	mu   sync.Mutex
	open map[io.Closer]bool // sessions and connections
}

// Open connects to the master behind a socket. It must run as the user uid or as root:
// another one is a [ForeignError]. If there is no master, the error is that of the
// system, such as ENOENT or ECONNREFUSED.
func Open(ctx context.Context, path string, uid int) (*Conn, error) {
	c := &Conn{path: path, uid: uid, done: make(chan struct{}), open: map[io.Closer]bool{}}
	ctl, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	c.ctl = ctl
	if err := c.alive(ctx); err != nil {
		_ = ctl.Close()
		return nil, err
	}
	go c.watch()
	return c, nil
}

// PID returns the process ID of the master.
func (c *Conn) PID() int { return c.pid }

// Done is closed when the master has ended, or Close was called.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends all sessions and connections. The master lives on.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.done) })
	err := c.ctl.Close()
	c.mu.Lock()
	list := c.open
	c.open = nil
	c.mu.Unlock()
	for x := range list {
		_ = x.Close()
	}
	return err
}

// watch waits for the end of the master: on this socket, it says nothing more.
func (c *Conn) watch() {
	_, _ = c.ctl.Read(make([]byte, 1))
	_ = c.Close() // there is nobody to tell the error to
}

// keep notes what Close ends; false: it was called already.
func (c *Conn) keep(x io.Closer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return false
	}
	c.open[x] = true
	return true
}

func (c *Conn) forget(x io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, x)
}

// connect makes a connection to the socket and says hello.
func (c *Conn) connect(ctx context.Context) (*net.UnixConn, error) {
	var d net.Dialer
	way, err := d.DialContext(ctx, "unix", c.path)
	if err != nil {
		return nil, err
	}
	u := way.(*net.UnixConn)
	if err := c.hello(ctx, u); err != nil {
		_ = u.Close()
		return nil, err
	}
	return u, nil
}

func (c *Conn) hello(ctx context.Context, u *net.UnixConn) error {
	owner, err := Peer(u)
	if err != nil {
		return fmt.Errorf("%s: whose socket it is cannot be found out: %w", c.path, err)
	}
	if owner != 0 && owner != c.uid {
		return &ForeignError{Path: c.path, UID: owner}
	}
	defer within(ctx, u, helloTime)()
	if err := send(u, number(msgHello), number(version)); err != nil {
		return err
	}
	m, err := receive(u)
	if err != nil {
		return fmt.Errorf("%s: no master answers: %w", c.path, err)
	}
	if kind, v := m.number(), m.number(); m.short || kind != msgHello || v != version {
		return fmt.Errorf("%s: what answers is not a master that speaks version %d", c.path, version)
	}
	return nil // further fields are extensions, of which none is needed
}

// within bounds what is read and written until the returned function is called.
func within(ctx context.Context, u *net.UnixConn, limit time.Duration) (stop func()) {
	at := time.Now().Add(limit)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	_ = u.SetDeadline(at) // a socket that is closed fails by itself
	cut := context.AfterFunc(ctx, func() { _ = u.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if cut() {
			_ = u.SetDeadline(time.Time{})
		}
	}
}

// alive asks the master for its process ID.
func (c *Conn) alive(ctx context.Context) error {
	defer within(ctx, c.ctl, helloTime)()
	if err := send(c.ctl, number(msgAlive), number(0)); err != nil {
		return err
	}
	m, err := receive(c.ctl)
	if err != nil {
		return fmt.Errorf("%s: no master answers: %w", c.path, err)
	}
	kind, _ := m.number(), m.number()
	c.pid = int(m.number())
	if m.short || kind != msgIsAlive {
		return fmt.Errorf("%s: the master does not say that it is alive", c.path)
	}
	return nil
}

// A Command is what is started in a session.
type Command struct {
	Line      string // for the shell of the account, or the name of a subsystem
	Subsystem bool
}

// A Session is a command under way. Stderr must be read, or the command may wait.
type Session struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader

	c     *Conn
	way   *net.UnixConn
	files []*os.File // this end of the pipes
	once  sync.Once
	ended chan struct{}
	exit  int
	err   error
}

// noEscape is the escape character of a session that has none.
const noEscape = 0xffffffff

// Start starts a command. ctx bounds the start. An [ErrRefused] says that the master
// does not open a session.
func (c *Conn) Start(ctx context.Context, cmd Command) (*Session, error) {
	s := &Session{c: c, ended: make(chan struct{})}
	theirs, err := s.pipes()
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // the master has its own by now
		}
	}()
	if err != nil {
		s.closeFiles()
		return nil, err
	}
	sub := uint32(0)
	if cmd.Subsystem {
		sub = 1
	}
	id, way, err := c.ask(ctx, theirs, number(msgNewSession), number(0), text(""), number(0), number(0), number(0), number(sub), number(noEscape), text(""), text(cmd.Line))
	if err != nil {
		s.closeFiles()
		return nil, err
	}
	s.way = way
	if !c.keep(s) {
		_ = s.Close()
		return nil, net.ErrClosed
	}
	go s.wait(id)
	return s, nil
}

// pipes makes the pipes of a session, and returns the master's ends.
func (s *Session) pipes() (theirs []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, fmt.Errorf("make a pipe: %w", err)
		}
		if i == 0 {
			s.Stdin, s.files, theirs = w, append(s.files, w), append(theirs, r)
			continue
		}
		s.files, theirs = append(s.files, r), append(theirs, w)
		if i == 1 {
			s.Stdout = r
		} else {
			s.Stderr = r
		}
	}
	return theirs, nil
}

func (s *Session) closeFiles() {
	for _, f := range s.files {
		_ = f.Close()
	}
}

// endGrace is how long the end of a master may come after that of its sessions.
const endGrace = 200 * time.Millisecond

// wait waits for the end of the command and of its output: the master closes its end
// after both.
func (s *Session) wait(id uint32) {
	defer close(s.ended)
	seen := false
	for {
		m, err := receive(s.way)
		if err != nil {
			break
		}
		if kind, of := m.number(), m.number(); kind == msgExit && of == id {
			s.exit, seen = int(int32(m.number())), !m.short
		}
	}
	if seen {
		return
	}
	// A master does not say that a signal ended the command, only that it ended.
	select {
	case <-s.c.done:
		s.exit, s.err = -1, io.ErrUnexpectedEOF
	case <-time.After(endGrace):
		s.exit = signaled
	}
}

// signaled is the status of a command that ended without one.
const signaled = 128

// Wait waits until the command has ended and returns its exit status, 128 if it has none
// because of a signal. It fails if the connection, or the master, ended before.
func (s *Session) Wait() (status int, err error) {
	<-s.ended
	return s.exit, s.err
}

// Close ends the session: the host closes the stdin of the command and
// ends what was started in the foreground.
func (s *Session) Close() error {
	var err error
	s.once.Do(func() {
		s.c.forget(s)
		err = s.way.Close()
		s.closeFiles()
	})
	return err
}

// ask sends a request with files, over a connection of its own, and returns the number
// that the master gives to what it opened.
func (c *Conn) ask(ctx context.Context, files []*os.File, fields ...[]byte) (id uint32, way *net.UnixConn, err error) {
	select {
	case <-c.done:
		return 0, nil, net.ErrClosed
	default:
	}
	if way, err = c.connect(ctx); err != nil {
		return 0, nil, err
	}
	if id, err = c.request(ctx, way, files, fields); err != nil {
		_ = way.Close()
		return 0, nil, err
	}
	return id, way, nil
}

// openTime bounds the opening of a session where ctx does not.
const openTime = 10 * time.Minute

func (c *Conn) request(ctx context.Context, way *net.UnixConn, files []*os.File, fields [][]byte) (uint32, error) {
	defer within(ctx, way, openTime)()
	if err := send(way, fields...); err != nil {
		return 0, err
	}
	for _, f := range files {
		if err := pass(way, f); err != nil {
			return 0, err
		}
	}
	m, err := receive(way)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			err = cause
		}
		return 0, err
	}
	kind, _ := m.number(), m.number()
	switch kind {
	case msgOpened:
		if id := m.number(); !m.short {
			return id, nil
		}
	case msgDenied, msgFailure:
		return 0, fmt.Errorf("%w: %s", ErrRefused, printable.Line(m.text()))
	}
	return 0, fmt.Errorf("%s: the master answers what is not understood (message %#x)", c.path, kind)
}

// pass gives the master a file: a byte that a descriptor comes with.
func pass(way *net.UnixConn, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var werr error
	if err := raw.Control(func(fd uintptr) {
		_, _, werr = way.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(fd)), nil)
	}); err != nil {
		return err
	}
	return werr
}

// A Forward is a connection to a port that the host of a master reaches.
type Forward struct {
	in   *os.File // what it says
	out  *os.File // what is said to it
	c    *Conn
	way  *net.UnixConn
	addr forwardAddr
	once sync.Once
}

// Descriptors are how many files a [Forward] and a [Session] with its [Conn] have open.
const (
	ForwardDescriptors = 3
	SessionDescriptors = 5
)

// Dial connects from the host to a TCP port. ctx bounds that the master is asked; whether
// something answers there is not known before it does.
func (c *Conn) Dial(ctx context.Context, host string, port int) (*Forward, error) {
	// Two pipes, not one socket: of a socket the master would not pass on the end.
	stdin, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer stdin.Close()
	in, stdout, err := os.Pipe()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer stdout.Close()
	f := &Forward{in: in, out: out, c: c, addr: forwardAddr(net.JoinHostPort(host, strconv.Itoa(port)))}
	if _, f.way, err = c.ask(ctx, []*os.File{stdin, stdout}, number(msgForward), number(0), text(""), text(host), number(uint32(port))); err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	if !c.keep(f) {
		_ = f.Close()
		return nil, net.ErrClosed
	}
	return f, nil
}

// Read reads what the other end says.
func (f *Forward) Read(b []byte) (int, error) { return f.in.Read(b) }

// Write says something to the other end.
func (f *Forward) Write(b []byte) (int, error) { return f.out.Write(b) }

// Close ends the connection.
func (f *Forward) Close() error {
	var err error
	f.once.Do(func() {
		f.c.forget(f)
		err = errors.Join(f.out.Close(), f.in.Close(), f.way.Close())
	})
	return err
}

// LocalAddr names this end.
func (f *Forward) LocalAddr() net.Addr { return forwardAddr("master") }

// RemoteAddr returns host and port as they were asked for.
func (f *Forward) RemoteAddr() net.Addr { return f.addr }

// SetDeadline bounds reads and writes.
func (f *Forward) SetDeadline(t time.Time) error {
	return errors.Join(f.in.SetReadDeadline(t), f.out.SetWriteDeadline(t))
}

// SetReadDeadline bounds reads.
func (f *Forward) SetReadDeadline(t time.Time) error { return f.in.SetReadDeadline(t) }

// SetWriteDeadline bounds writes.
func (f *Forward) SetWriteDeadline(t time.Time) error { return f.out.SetWriteDeadline(t) }

// A forwardAddr is host:port as it was asked for.
type forwardAddr string

func (forwardAddr) Network() string  { return "master" }
func (a forwardAddr) String() string { return string(a) }

// number and text are fields of a message.
func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func text(s string) []byte { return append(number(uint32(len(s))), s...) }

// send writes a message in one piece.
func send(w io.Writer, fields ...[]byte) error {
	b := make([]byte, 4, 64)
	for _, f := range fields {
		b = append(b, f...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	_, err := w.Write(b)
	return err
}

// A message is one that was received; short says that it had less than was read.
type message struct {
	rest  []byte
	short bool
}

func receive(r io.Reader) (*message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > messageMax {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	m := &message{rest: make([]byte, n)}
	if _, err := io.ReadFull(r, m.rest); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *message) number() uint32 {
	if len(m.rest) < 4 {
		m.rest, m.short = nil, true
		return 0
	}
	n := binary.BigEndian.Uint32(m.rest)
	m.rest = m.rest[4:]
	return n
}

func (m *message) text() string {
	n := m.number()
	if uint64(n) > uint64(len(m.rest)) {
		m.rest, m.short = nil, true
		return ""
	}
	s := string(m.rest[:n])
	m.rest = m.rest[n:]
	return s
}
