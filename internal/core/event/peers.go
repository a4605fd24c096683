package event

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"brine/internal/py/value"
)

// A Sender hands events to other runs.
type Sender interface {
	// Send hands an event over and returns who took it.
	Send(tag string, data *value.Map) Delivered
	// Post hands an event over later, in the order of the calls, and does not wait.
	Post(tag string, data *value.Map)
}

// Delivered is how many other processes took an event.
type Delivered struct {
	Runs     int
	Watchers int // state.event
}

// String says it in words.
func (h Delivered) String() string {
	count := func(n int, word string) string {
		if n != 1 {
			word += "s"
		}
		return strconv.Itoa(n) + " " + word
	}
	if h == (Delivered{}) {
		return "no other run and no listener"
	}
	return count(h.Runs, "other run") + " and " + count(h.Watchers, "listener")
}

// maxFrame bounds an event that comes from another process, in bytes.
const maxFrame = 1 << 20

// peerTimeout bounds how long one process waits for another.
const peerTimeout = 2 * time.Second

// Peers are the brine processes of one user on this machine. Each that runs
// something has a Unix socket (NAME.sock) in a directory that only the user can
// enter, and each that watches events has one (NAME.watch), too. A process has
// one Peers.
//
// A run sends its events to those who watch: to those it finds when it begins,
// and to those who come to it later. Each gets them from a goroutine of its own
// that reads the ring, so one that is slow loses events and delays nobody.
type Peers struct {
	// Dirs are the directories that may hold sockets: a process listens in the
	// first that it can, and looks for others in all of them. They are the same
	// for all processes of a user.
	Dirs []string
	// OnWarn, if not nil, is called with a warning about a directory that is
	// not used because others can enter it, or about a process that does not
	// take events.
	OnWarn func(text string)
	// Cause, if not nil, is what led to the events that are sent; see [Ring.Cause].
	Cause *value.List

	parents bool          // make the parents of Dirs, too
	drain   time.Duration // instead of drainTime, for tests; 0: that

	mu       sync.Mutex
	own      map[string]bool // paths of this process's sockets
	watchers atomic.Int64    // who get the events of this process's bus
	posts    chan post
	posted   sync.WaitGroup // what is in posts
}

// A post is an event that waits to be sent.
type post struct {
	tag  string
	data *value.Map
}

// maxPosts bounds the events that wait to be sent.
const maxPosts = 4096

func (p *Peers) warn(format string, args ...any) {
	if p.OnWarn != nil {
		p.OnWarn(fmt.Sprintf(format, args...))
	}
}

// maxSocketDir bounds the path of a directory for sockets, in bytes: with "/"
// and the name of a socket it has to fit into a sockaddr_un, which takes 103
// (Linux: 107).
const maxSocketDir = 103 - len("/4194304-zzzzzzzzzzzzz.watch")

// UserPeers returns the peers of a user. Where they meet does not depend on the
// environment, which differs between a login, cron and sudo: it is /tmp/brine-UID,
// for root /run/brine. The second place of each serves where the first does not.
// BRINE_RUN_DIR names another directory instead, for runs that keep to themselves.
func UserPeers(getenv func(string) string, uid int) *Peers {
	if d := getenv("BRINE_RUN_DIR"); d != "" && len(d) <= maxSocketDir {
		return &Peers{Dirs: []string{d}, parents: true}
	}
	id := strconv.Itoa(uid)
	dirs := []string{"/tmp/brine-" + id, "/run/user/" + id + "/brine"}
	if uid == 0 {
		dirs = []string{"/run/brine", "/tmp/brine-0"}
	}
	return &Peers{Dirs: dirs}
}

// unsafeDirError says that a directory for sockets is not safe to use.
type unsafeDirError struct{ dir string }

func (e unsafeDirError) Error() string {
	return e.dir + " belongs to another user, or others can enter it"
}

// private makes dir if need be and checks that nobody else can enter it.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || ok && int(sys.Uid) != os.Geteuid() {
		return unsafeDirError{dir}
	}
	return nil
}

// socket opens a socket of this process whose name ends in suffix.
func (p *Peers) socket(suffix string) (l net.Listener, path string, err error) {
	var errs []error
	for _, dir := range p.Dirs {
		if p.parents {
			_ = os.MkdirAll(filepath.Dir(dir), 0o700) // private fails where this does
		}
		if err := private(dir); err != nil {
			if bad, ok := errors.AsType[unsafeDirError](err); ok {
				p.warn("%v: it is not used for events; remove it", bad)
			}
			errs = append(errs, err)
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%d-%s%s", os.Getpid(), strconv.FormatInt(time.Now().UnixNano(), 36), suffix))
		l, err := ListenAt(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.own == nil {
			p.own = map[string]bool{}
		}
		p.own[path] = true
		return l, path, nil
	}
	return nil, "", errors.Join(errs...)
}

// ListenAt opens a socket. It has its name only when it takes connections: who dials one
// that does not takes it for one whose process has ended, and may remove it. The socket
// keeps its name when it is closed.
func ListenAt(path string) (net.Listener, error) {
	early := path[:len(path)-1] + "~" // no longer than path: names of sockets are short
	l, err := net.Listen("unix", early)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(early, path); err != nil {
		_ = l.Close()
		_ = os.Remove(early)
		return nil, err
	}
	return l, nil
}

// groupFile has the name of a group, in its directory for sockets.
const groupFile = "group"

// Group returns a name that the processes of the user that reach each other here
// have in common, and those elsewhere have not.
func (p *Peers) Group() string {
	own := make([]byte, 16)
	_, _ = rand.Read(own) // it does not fail
	name := hex.EncodeToString(own)
	for _, dir := range p.Dirs {
		if p.parents {
			_ = os.MkdirAll(filepath.Dir(dir), 0o700) // private fails where this does
		}
		if private(dir) != nil {
			continue
		}
		path := filepath.Join(dir, groupFile)
		// A link appears with its content, and only once.
		_ = os.Symlink(name, path)
		if got, err := os.Readlink(path); err == nil && len(got) == len(name) {
			return got
		}
	}
	return name
}

// forget takes a socket of this process away.
func (p *Peers) forget(l net.Listener, path string) {
	l.Close()
	_ = os.Remove(path) // what stays is removed by the next who dials it
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.own, path)
}

// others returns the sockets of other processes whose names end in suffix.
func (p *Peers) others(suffix string) []string {
	var out []string
	for _, dir := range p.Dirs {
		names, err := os.ReadDir(dir)
		if err != nil || private(dir) != nil {
			continue
		}
		for _, n := range names {
			path := filepath.Join(dir, n.Name())
			p.mu.Lock()
			mine := p.own[path]
			p.mu.Unlock()
			if !mine && strings.HasSuffix(n.Name(), suffix) {
				out = append(out, path)
			}
		}
	}
	return out
}

// dial connects to a socket. One that nobody listens at any more is removed.
func dial(path string) (net.Conn, error) {
	c, err := net.DialTimeout("unix", path, peerTimeout)
	if errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(path) // nobody listens; another process may be first
	}
	return c, err
}

// Listen puts the events that other processes send on bus, and sends those of
// bus to the processes that watch, until close is called. It returns an error
// where no directory serves.
func (p *Peers) Listen(bus *Ring) (closer func(), err error) {
	l, path, err := p.socket(".sock")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{bus: bus, name: filepath.Base(path), watchers: &p.watchers}
	s.wg.Go(func() { s.accept(ctx, l) })
	for _, w := range p.others(".watch") {
		if c, err := dial(w); err == nil {
			p.watchers.Add(1)
			s.wg.Go(func() {
				defer c.Close()
				defer p.watchers.Add(-1)
				s.stream(ctx, c, 0)
			})
		}
	}
	return func() {
		wait := cmp.Or(p.drain, drainTime)
		p.flush(wait)
		p.forget(l, path)
		s.closeBy.Store(time.Now().Add(wait).UnixNano())
		cancel()
		s.wg.Wait()
	}, nil
}

// drainTime bounds how long a process that ends waits for those who watch it.
const drainTime = time.Second

// A server is the listening side of a run.
type server struct {
	bus  *Ring
	name string
	// watchers counts the connections that stream.
	watchers *atomic.Int64
	wg       sync.WaitGroup
	closeBy  atomic.Int64 // Unix nanoseconds; 0 while the run lasts
}

func (s *server) accept(ctx context.Context, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer c.Close()
			s.serve(ctx, c)
		})
	}
}

// serve reads one event a line and answers each with "ok". A line that asks to
// watch turns the connection around.
func (s *server) serve(ctx context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(peerTimeout))
	sc := bufio.NewScanner(c)
	sc.Buffer(make([]byte, 0, 4096), maxFrame)
	for sc.Scan() {
		m := frame(sc.Bytes())
		if m == nil {
			return
		}
		if m.Has("watch") {
			_ = c.SetDeadline(time.Time{})
			s.watchers.Add(1)
			defer s.watchers.Add(-1)
			s.stream(ctx, c, s.bus.Seq())
			return
		}
		s.bus.FireForeign(m.Str("tag"), frameData(m))
		if _, err := c.Write([]byte("ok\n")); err != nil {
			return
		}
	}
}

// frame decodes a line; nil where it is none of ours.
func frame(b []byte) *value.Map {
	v, err := value.DecodeJSON(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	m, _ := v.(*value.Map)
	return m
}

func frameData(m *value.Map) *value.Map {
	if d := m.Map("data"); d != nil {
		return d
	}
	return value.NewMap(1)
}

// stream sends the run's own events after a number to one who watches, until
// the run ends and all are sent, or until the other one is stuck.
func (s *server) stream(ctx context.Context, c net.Conn, after uint64) {
	if !s.send(c, value.MapOf("run", s.name)) {
		return
	}
	for {
		e, lost, err := s.bus.Next(ctx, after, func(e Event) bool { return !e.Foreign })
		if lost > 0 && !s.send(c, value.MapOf("tag", LostTag, "data", value.MapOf("lost", int64(min(lost, math.MaxInt64))))) {
			return
		}
		if err != nil {
			s.handOver(c)
			return
		}
		if !s.send(c, value.MapOf("tag", e.Tag, "data", e.Data)) {
			return
		}
		after = e.Seq
	}
}

// handOver waits until one who watches has read all that was sent: the events of a run that
// begins after this one come after its own then.
func (s *server) handOver(c net.Conn) {
	u, ok := c.(*net.UnixConn)
	if !ok || u.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Unix(0, s.closeBy.Load()))
	_, _ = io.Copy(io.Discard, c)
}

func (s *server) send(c net.Conn, m *value.Map) bool {
	by := time.Now().Add(peerTimeout)
	if n := s.closeBy.Load(); n != 0 {
		by = time.Unix(0, n)
	}
	_ = c.SetWriteDeadline(by)
	_, err := c.Write(append(value.EncodeJSON(m), '\n'))
	return err == nil
}

// Send hands an event to every other process that runs something and, unless
// this process sends them its events anyway, to those that watch. It returns how
// many took it. One that does not answer is warned of.
func (p *Peers) Send(tag string, data *value.Map) (took Delivered) {
	data = caused(data, p.Cause)
	if !data.Has("_stamp") { // else who hears the event twice could not tell
		data = stamped(data, time.Now())
	}
	frame := append(value.EncodeJSON(value.MapOf("tag", tag, "data", data)), '\n')
	if len(frame) > maxFrame {
		p.warn("the event %q has more than %d bytes: other runs do not get it", tag, maxFrame)
		return took
	}
	took.Runs = p.deliverAll(".sock", tag, frame)
	p.mu.Lock()
	streams := len(p.own) > 0
	p.mu.Unlock()
	if streams {
		took.Watchers = int(p.watchers.Load())
	} else {
		took.Watchers = p.deliverAll(".watch", tag, frame)
	}
	return took
}

// Post sends an event from a goroutine. Beyond a few thousand that wait, events are
// dropped with a warning.
func (p *Peers) Post(tag string, data *value.Map) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.posts == nil {
		p.posts = make(chan post, maxPosts)
		go func() {
			for e := range p.posts {
				p.Send(e.tag, e.data)
				p.posted.Done()
			}
		}()
	}
	p.posted.Add(1)
	select {
	case p.posts <- post{tag, data}:
	default:
		p.posted.Done()
		p.warn("other runs do not get the event %q: too many wait to be sent", tag)
	}
}

// flush waits until what was posted is sent, but no longer than d.
func (p *Peers) flush(d time.Duration) {
	sent := make(chan struct{})
	go func() {
		p.posted.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(d):
	}
}

// Runs returns how many other processes run something.
func (p *Peers) Runs() int { return len(p.others(".sock")) }

// deliverAll hands a frame to the sockets of others and returns how many took it.
func (p *Peers) deliverAll(suffix, tag string, frame []byte) (took int) {
	for _, path := range p.others(suffix) {
		switch err := deliver(path, frame); {
		case err == nil:
			took++
		case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist): // it has ended
		default:
			pid, _, _ := strings.Cut(filepath.Base(path), "-")
			p.warn("process %s does not take the event %q: %v", pid, tag, err)
		}
	}
	return took
}

// errNoAnswer says that a process closed the connection without an answer.
var errNoAnswer = errors.New("no answer")

func deliver(path string, frame []byte) error {
	c, err := dial(path)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(peerTimeout))
	if _, err := c.Write(frame); err != nil {
		return err
	}
	answer := make([]byte, 3)
	n, err := io.ReadFull(c, answer)
	if string(answer[:n]) == "ok\n" {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return errNoAnswer
}
