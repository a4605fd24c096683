package master

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// The messages that a master alone has to know.
const (
	msgTerminate     = 0x10000005
	msgOpenForward   = 0x10000006
	msgCloseForward  = 0x10000007
	msgStopListening = 0x10000009
	msgOK            = 0x80000001
)

// ErrNoHost is a host that does not answer any more.
var ErrNoHost = errors.New("the host does not answer over this connection any more")

// A Host is where the sessions of a [Server] run.
type Host interface {
	// Start starts a command with these files as stdin, stdout and stderr. They are
	// its own from then on, also if it fails.
	Start(cmd Command, env []string, files [3]*os.File) (Running, error)
	// Dial connects from the host to a TCP port.
	Dial(host string, port int) (io.ReadWriteCloser, error)
}

// Running is a command under way.
type Running interface {
	// Wait waits until the command and its output have ended, and returns its status;
	// ok is false if it is not known.
	Wait() (status int, ok bool)
	Close() error
}

// A Server is a master: it serves the connection to a Host to clients that run as the
// user UID or as root. Its zero value without a Host is not usable. See [Server.Serve].
type Server struct {
	Host Host
	UID  int
	// Changed is called when a client has come or gone; nil: nobody is to know.
	Changed func()
	// End is called when the master is to end: a client asks for it, or Start or Dial
	// fail with an [ErrNoHost].
	End func()

	mu       sync.Mutex
	closed   chan struct{}
	clients  map[*net.UnixConn]bool // true: it has a session or a connection
	sessions uint32                 // that there have been
}

// Serve serves the clients that come to l until it is closed.
func (s *Server) Serve(l *net.UnixListener) error {
	for {
		u, err := l.AcceptUnix()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return err
		}
		if !s.add(u) {
			_ = u.Close()
			return net.ErrClosed
		}
		go func() {
			s.client(u)
			s.remove(u)
		}()
	}
}

func (s *Server) add(u *net.UnixConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.end():
		return false
	default:
	}
	if s.clients == nil {
		s.clients = map[*net.UnixConn]bool{}
	}
	s.clients[u] = false
	return true
}

// end returns the channel that Close closes. mu is held.
func (s *Server) end() chan struct{} {
	if s.closed == nil {
		s.closed = make(chan struct{})
	}
	return s.closed
}

func (s *Server) remove(u *net.UnixConn) {
	_ = u.Close()
	s.mu.Lock()
	delete(s.clients, u)
	s.mu.Unlock()
	s.changed()
}

func (s *Server) changed() {
	if s.Changed != nil {
		s.Changed()
	}
}

// Busy returns how many clients there are, and how many of them have a session or a
// connection.
func (s *Server) Busy() (clients, sessions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, has := range s.clients {
		if has {
			sessions++
		}
	}
	return len(s.clients), sessions
}

// Close ends all clients. First those that have no session, so that a client sees that
// the master is gone before its sessions end.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.end():
		return
	default:
		close(s.end())
	}
	for _, with := range []bool{false, true} {
		for u, has := range s.clients {
			if has == with {
				_ = u.Close()
			}
		}
	}
}

// client serves one client until it goes.
func (s *Server) client(u *net.UnixConn) {
	owner, err := Peer(u)
	if err != nil || owner != s.UID && owner != 0 {
		return
	}
	stop := within(context.Background(), u, helloTime)
	if send(u, number(msgHello), number(version)) != nil {
		return
	}
	m, err := receive(u)
	if err != nil {
		return
	}
	if kind, v := m.number(), m.number(); m.short || kind != msgHello || v != version {
		return
	}
	stop()
	s.changed()
	for {
		m, err := receive(u)
		if err != nil {
			return
		}
		if err := s.serve(u, m); err != nil {
			return
		}
	}
}

// serve answers one request.
func (s *Server) serve(u *net.UnixConn, m *message) error {
	kind, id := m.number(), m.number()
	if m.short {
		return io.ErrUnexpectedEOF
	}
	switch kind {
	case msgAlive:
		return send(u, number(msgIsAlive), number(id), number(uint32(os.Getpid())))
	case msgTerminate:
		err := send(u, number(msgOK), number(id))
		if s.End != nil {
			s.End()
		}
		return err
	case msgNewSession:
		return s.session(u, id, m)
	case msgForward:
		return s.forward(u, id, m)
	case msgOpenForward, msgCloseForward, msgStopListening:
		return send(u, number(msgDenied), number(id), text("brine does not do this for a connection that it keeps"))
	}
	return send(u, number(msgFailure), number(id), text("not known"))
}

// take receives files that a client passes, each with a byte.
func take(u *net.UnixConn, n int) (files [3]*os.File, err error) {
	defer within(context.Background(), u, helloTime)()
	defer func() {
		if err != nil {
			closeFiles(files)
		}
	}()
	oob := make([]byte, syscall.CmsgSpace(4*4))
	for i := range n {
		_, k, flags, _, err := u.ReadMsgUnix(make([]byte, 1), oob)
		if err != nil {
			return files, err
		}
		fds, err := rights(oob[:k])
		if err != nil {
			return files, err
		}
		for j, fd := range fds {
			syscall.CloseOnExec(fd)
			f := os.NewFile(uintptr(fd), "file of a client")
			if j > 0 {
				_ = f.Close()
				continue
			}
			files[i] = f
		}
		if len(fds) != 1 || flags&syscall.MSG_CTRUNC != 0 {
			return files, errors.New("a file did not come with its byte")
		}
	}
	return files, nil
}

// rights returns the descriptors of a control message.
func rights(oob []byte) (fds []int, err error) {
	all, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if some, err := syscall.ParseUnixRights(&all[i]); err == nil {
			fds = append(fds, some...)
		}
	}
	return fds, nil
}

func closeFiles(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// maxEnv is how many variables a session may come with.
const maxEnv = 256

// session starts a command and returns when the client has been answered.
func (s *Server) session(u *net.UnixConn, id uint32, m *message) error {
	_ = m.text()
	tty, x11, agent, sub, _ := m.number(), m.number(), m.number(), m.number(), m.number()
	_ = m.text() // the type of the terminal
	cmd := Command{Line: m.text(), Subsystem: sub != 0}
	var env []string
	for len(m.rest) > 0 && len(env) < maxEnv {
		env = append(env, m.text())
	}
	if m.short {
		return io.ErrUnexpectedEOF
	}
	files, err := take(u, 3)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case tty != 0 || cmd.Line == "":
		why = "brine gives no terminal over a connection that it keeps"
	case x11 != 0 || agent != 0:
		why = "brine forwards nothing over a connection that it keeps"
	}
	if why != "" {
		closeFiles(files)
		return send(u, number(msgDenied), number(id), text(why))
	}
	r, err := s.Host.Start(cmd, env, files)
	if err != nil {
		return s.failed(u, id, "", err)
	}
	n := s.opened(u)
	if err := send(u, number(msgOpened), number(id), number(n)); err != nil {
		_ = r.Close()
		return err
	}
	go func() {
		status, ok := r.Wait()
		if ok {
			_ = send(u, number(msgExit), number(n), number(uint32(status))) // its end says so, too
		} else {
			s.settle()
		}
		_ = u.Close()
	}()
	_, _ = io.Copy(io.Discard, u) // until one side closes it
	return r.Close()
}

// failed tells a client why nothing was started. That comes before the end of a master
// that has lost its host: the client then knows that it may go another way.
func (s *Server) failed(u *net.UnixConn, id uint32, what string, why error) error {
	err := send(u, number(msgFailure), number(id), text(what+why.Error()))
	if errors.Is(why, ErrNoHost) && s.End != nil {
		s.End()
	}
	return err
}

// settle waits until it shows whether a session ended since the connection did.
func (s *Server) settle() {
	s.mu.Lock()
	closed := s.end()
	s.mu.Unlock()
	select {
	case <-closed:
	case <-time.After(endGrace):
	}
}

// opened notes that a client has a session, and returns the number of that.
func (s *Server) opened(u *net.UnixConn) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[u] = true
	s.sessions++
	return s.sessions
}

// forward connects to a port, and copies until both sides have ended.
func (s *Server) forward(u *net.UnixConn, id uint32, m *message) error {
	_ = m.text()
	host, port := m.text(), int(m.number())
	if m.short {
		return io.ErrUnexpectedEOF
	}
	files, err := take(u, 2)
	if err != nil {
		return err
	}
	defer closeFiles(files)
	way, err := s.Host.Dial(host, port)
	if err != nil {
		return s.failed(u, id, fmt.Sprintf("connect to %s port %d: ", host, port), err)
	}
	defer way.Close()
	n := s.opened(u)
	if err := send(u, number(msgOpened), number(id), number(n)); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(way, files[0]) // the end of what is said ends it
		if c, ok := way.(interface{ CloseWrite() error }); ok {
			_ = c.CloseWrite()
		}
	}()
	go func() {
		_, _ = io.Copy(files[1], way)
		_ = u.Close()
	}()
	_, _ = io.Copy(io.Discard, u)
	return nil
}
