package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// When the controller is lost.
//
// If the controller allows it, the work of an agent does not end with the
// connection: a temporary network failure must not leave a state half-done. The
// agent listens on a socket in its cache directory, which only its account can
// enter; another process of the same program, started over a new connection,
// connects the channel to it (see Resume). Calls continue meanwhile, and their
// requests to the controller wait. If nobody reconnects within the time that
// the controller set, the calls continue alone: their requests fail, their
// return is left in the agent's directory like that of a detached job, and the
// agent exits. An agent that removes itself at the end ends its calls then.

// errAlone is why the channel ends when nobody came.
var errAlone = errors.New("the controller did not come back")

// A resumeSocket is where a controller that was lost reconnects.
type resumeSocket struct {
	dir, token string
	hold       time.Duration

	soon   sync.Once
	mu     sync.Mutex
	ln     net.Listener
	shut   bool
	closed chan struct{} // with the agent
}

// newResumeSocket returns the socket of an agent with a cache directory dir; nil if dir
// is "".
func newResumeSocket(dir string) *resumeSocket {
	if dir == "" {
		return nil
	}
	b := make([]byte, 12)
	_, _ = rand.Read(b)
	return &resumeSocket{dir: dir, token: hex.EncodeToString(b), closed: make(chan struct{})}
}

// socketMax is how long the path of a socket can be on every system.
const socketMax = 100

// socketPath returns the path of a socket in a directory. Where it would be too
// long, Linux has a shorter one, which holds until done is called.
func socketPath(dir, token string) (path string, done func(), err error) {
	path = filepath.Join(dir, jobs.SocketPrefix+token)
	if len(path) <= socketMax || runtime.GOOS != "linux" {
		return path, func() {}, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + jobs.SocketPrefix + token, func() { d.Close() }, nil
}

// listen opens the socket. It may be called again.
func (d *resumeSocket) listen(m *wire.Mux) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ln != nil || d.shut {
		return nil
	}
	sweepSockets(d.dir)
	path, done, err := socketPath(d.dir, d.token)
	if err != nil {
		return err
	}
	defer done()
	ln, err := event.ListenAt(path)
	if err != nil {
		return err
	}
	d.ln = ln
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), rejoinTime)
				defer cancel()
				if m.Rejoin(ctx, c) != nil {
					_ = c.Close()
				}
			}()
		}
	}()
	return nil
}

// rejoinTime is how long a controller that came back may take to greet.
const rejoinTime = 20 * time.Second

// close closes the socket.
func (d *resumeSocket) close() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return
	}
	d.shut = true
	close(d.closed)
	if d.ln != nil {
		_ = d.ln.Close()
		_ = os.Remove(filepath.Join(d.dir, jobs.SocketPrefix+d.token))
	}
}

// sweepAge is how old a socket is that may be that of an agent that was killed. One
// that is made just now may not have its name yet.
const sweepAge = time.Minute

// sweepSockets removes the sockets of agents that were killed.
func sweepSockets(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, jobs.SocketPrefix+"*"))
	for _, name := range names {
		if fi, err := os.Lstat(name); err != nil || time.Since(fi.ModTime()) < sweepAge {
			continue
		}
		c, err := dialSocket(dir, strings.TrimPrefix(filepath.Base(name), jobs.SocketPrefix))
		if err == nil {
			_ = c.Close()
			continue
		}
		if !errors.Is(err, fs.ErrPermission) {
			_ = os.Remove(name)
		}
	}
}

func dialSocket(dir, token string) (net.Conn, error) {
	path, done, err := socketPath(dir, token)
	if err != nil {
		return nil, err
	}
	defer done()
	return net.Dial("unix", path)
}

// Resume connects the controller at the other end of in and out to the agent
// with the given token whose cache directory is dir. If there is no such agent,
// it reports that to the controller.
func Resume(in io.Reader, out io.Writer, dir, token string) error {
	if strings.Trim(token, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not the token of an agent", token)
	}
	c, err := dialSocket(dir, token)
	for begun := time.Now(); errors.Is(err, fs.ErrNotExist) && time.Since(begun) < socketWait; c, err = dialSocket(dir, token) {
		time.Sleep(socketDelay / 10)
	}
	if err != nil {
		return errors.Join(err, wire.RefuseResume(out, "the agent has ended"))
	}
	defer c.Close()
	go func() {
		_, _ = io.Copy(c, in)
		_ = c.Close() // the controller is gone again
	}()
	_, err = io.Copy(out, c)
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// socketDelay is how long an agent that is asked something has no socket: most calls
// have returned by then, and a socket costs a tenth of their CPU time. socketWait is how
// long a controller that came back waits for one.
const (
	socketDelay = 200 * time.Millisecond
	socketWait  = 3 * time.Second
)

// listenSoon makes an agent that is asked something open its socket. A controller may know
// that the link broke, and be back, long before the agent does.
func (s *server) listenSoon() {
	if s.socket == nil {
		return
	}
	s.socket.soon.Do(func() { time.AfterFunc(socketDelay, s.listen) })
}

// listen opens the socket.
func (s *server) listen() {
	if s.socket == nil || !s.m.Resumable() {
		return
	}
	if err := s.socket.listen(s.m); err != nil {
		s.log("a controller that is lost cannot come back", "err", err)
	}
}

// idleHold is how long an agent that works on nothing waits for its controller,
// which may have asked something of it that did not arrive.
const idleHold = 15 * time.Second

// broken acts on a link that broke.
func (s *server) broken(error) {
	<-s.ready
	s.listen()
	s.keepNotes()
	tick := time.NewTicker(reconnectPoll)
	defer tick.Stop()
	limit := time.NewTimer(s.socket.hold)
	defer limit.Stop()
	idle := time.NewTimer(min(s.socket.hold, idleHold))
	defer idle.Stop()
	for {
		select {
		case <-s.m.Done():
			return
		case <-tick.C:
			if s.m.Broken() == nil {
				return // by another link
			}
		case <-idle.C:
			if s.m.Broken() != nil && !s.m.Unacknowledged() {
				s.m.Abandon(errAlone)
				return
			}
		case <-limit.C:
			if s.m.Broken() != nil {
				s.alone.Store(!s.o.Wipe)
				s.m.Abandon(errAlone)
			}
			return
		}
	}
}

// reconnectPoll is how often the agent checks whether the controller reconnected.
const reconnectPoll = 200 * time.Millisecond

// keepNotes keeps the notes of the running calls, so that the controller finds them
// later: it may not reconnect.
func (s *server) keepNotes() {
	if s.o.Wipe {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		s.keepNote(c)
	}
	for _, d := range s.done {
		s.keepNote(d.call)
		s.leave(d)
	}
	s.done = nil
}

// keepNote notes a call as one without a controller. s.mu is held.
func (s *server) keepNote(c *call) {
	if c.kept || c.note == nil || s.session == nil {
		return
	}
	if err := c.note(); err == nil {
		c.kept = true
		if !c.left.Load() {
			s.owed = append(s.owed, c.job.JID)
		}
	}
}

// keepReturn keeps the return of a call whose controller is not connected. It
// is removed when the controller has it, see settle.
func (s *server) keepReturn(c *call, ret fun.Return) {
	if s.o.Wipe || !s.m.Resumable() {
		return
	}
	owing := s.m.Broken() != nil || s.alone.Load() || c.left.Load() || ret.Larger(maxHeld)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !owing {
		// It may be on its way when the link turns out to be broken.
		if len(s.done) >= maxDone {
			s.done = s.done[1:]
		}
		s.done = append(s.done, finished{c, ret})
		return
	}
	s.keepNote(c)
	s.leave(finished{c, ret})
}

// leaveCalls has the calls of a job go on that the controller waits for no longer:
// it closes their streams, and a later look finds their return.
func (s *server) leaveCalls(jid string) {
	if s.o.Wipe || !s.m.Resumable() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.job.JID == jid {
			c.left.Store(true)
			s.keepNote(c)
			s.owed = slices.DeleteFunc(s.owed, func(o string) bool { return o == jid })
		}
	}
}

// someLeft reports whether calls go on that nobody waits for.
func (s *server) someLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.left.Load() {
			return true
		}
	}
	return false
}

// maxDone is how many returns are held that may be on their way, and maxHeld how
// many bytes one has at most; a larger one is left at once.
const (
	maxDone = 16
	maxHeld = 256 << 10
)

// A finished is a call with its return.
type finished struct {
	call *call
	ret  fun.Return
}

// leave leaves a return where a later look finds it. s.mu is held.
func (s *server) leave(d finished) {
	c, ret, id := d.call, d.ret, s.session.Str("id")
	if !c.kept {
		return
	}
	defer func() { _ = jobs.ProcAt(s.o.Host, s.o.CacheDir, id).ForgetAgent(c.job.JID) }()
	doc := value.MapOf("jid", c.job.JID, "id", id, "fun", c.job.Fun, "stage", ret.Stage.String())
	switch {
	case ret.Stage == fun.Returned:
		v, err := ret.Value()
		if err != nil {
			doc.Update(value.MapOf("stage", fun.Lost.String(), "why", err.Error()))
			break
		}
		doc.Update(value.MapOf("retcode", int64(ret.Retcode), "raised", ret.Raised, "out", ret.Out, "each", ret.Each, "return", v))
	case ret.Err != nil:
		doc.Set("why", ret.Err.Error())
	}
	l, err := jobs.ProcAt(s.o.Host, s.o.CacheDir, id).Leaving(c.job.JID)
	if err == nil {
		err = l.Put(value.EncodeJSON(doc))
	}
	if err != nil {
		s.log("a return cannot be kept", "jid", c.job.JID, "err", err)
	}
}

// settle removes what calls left, when the controller closes the channel and so
// has everything that it wants of them.
func (s *server) settle() {
	s.mu.Lock()
	owed, id := s.owed, s.session.Str("id")
	s.mu.Unlock()
	for _, jid := range owed {
		if l, err := jobs.ProcAt(s.o.Host, s.o.CacheDir, id).Leaving(jid); err == nil {
			_ = l.Remove()
		}
	}
}

// holdOf is how long the controller would look for this agent.
func holdOf(hello *value.Map) time.Duration {
	n, _ := hello.At("reconnect").(int64)
	return time.Duration(n)
}

// callContext is the context of a call: that of its stream, but that it goes on
// where the channel ends because nobody came back, and where it was left.
func (s *server) callContext(ctx context.Context, c *call) (context.Context, context.CancelCauseFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !s.alone.Load() && !c.left.Load() {
			cancel(cmp.Or(context.Cause(ctx), context.Canceled))
		}
	})
	return own, func(err error) {
		stop()
		cancel(err)
	}
}
