package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
	"brine/internal/core/roster"
	"brine/sshexec/master"
)

// Times of a keeper that has nothing to do: before the first run comes, and after it
// keeps nothing more and no run is there.
const (
	keeperFirst = 15 * time.Second
	keeperRests = time.Second
)

// A Keeper is the process that keeps connections; see kept.go.
type Keeper struct {
	h   host.Host
	dir string
	uid int
	log *slog.Logger

	quit chan struct{} // closed when it is to end

	mu    sync.Mutex
	kept  map[string]*keptConn
	runs  int
	timer *time.Timer // until it ends, while it has nothing to do
}

// Keep keeps connections at sockets in dir, which is the user's own, until none is left
// or ctx ends. It says on ready that it listens, and closes that.
func Keep(ctx context.Context, h host.Host, dir string, ready io.WriteCloser, log *slog.Logger) error {
	k := &Keeper{h: h, dir: dir, uid: h.Geteuid(), log: log, kept: map[string]*keptConn{}, quit: make(chan struct{})}
	l, release, err := k.listen()
	say := keeperReady
	if errors.Is(err, errOtherKeeper) {
		say = keeperOther
	} else if err != nil {
		say = err.Error()
	}
	_, _ = io.WriteString(ready, say) // who started it may be gone
	_ = ready.Close()
	if err != nil {
		if errors.Is(err, errOtherKeeper) {
			err = nil
		}
		return err
	}
	defer release()
	k.mu.Lock()
	k.timer = time.AfterFunc(keeperFirst, k.rest)
	k.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-k.quit:
		}
		cancel()
		_ = l.Close()
	}()
	for {
		u, err := l.AcceptUnix()
		if err != nil {
			if ctx.Err() == nil && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			break
		}
		k.come()
		go func() {
			k.run(ctx, u)
			_ = u.Close()
			k.leave()
		}()
	}
	k.endAll(nil)
	return nil
}

// errOtherKeeper is a directory that has a keeper.
var errOtherKeeper = errors.New("there is a keeper of connections already")

// listen makes the keeper the only one of its directory.
func (k *Keeper) listen() (l *net.UnixListener, release func(), err error) {
	if err := ownDir(k.dir, k.uid, 0o077); err != nil {
		return nil, nil, err
	}
	lock, err := os.OpenFile(filepath.Join(k.dir, keeperLock), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errOtherKeeper
		}
		return nil, nil, err
	}
	k.sweep()
	if l, err = listenAt(filepath.Join(k.dir, keeperSocket)); err != nil {
		_ = lock.Close()
		return nil, nil, err
	}
	return l, func() {
		k.sweep()
		_ = lock.Close()
	}, nil
}

// sweep removes the sockets of a keeper that was killed, and its own.
func (k *Keeper) sweep() {
	names, _ := os.ReadDir(k.dir)
	for _, n := range names {
		if n.Type()&fs.ModeSocket != 0 {
			_ = os.Remove(filepath.Join(k.dir, n.Name()))
		}
	}
}

// listenAt listens at a path that only the user has access to.
func listenAt(path string) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// come and leave count the runs.
func (k *Keeper) come() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs++
	k.timer.Stop()
}

func (k *Keeper) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs--
	k.idle()
}

// idle starts the time until the end if there is nothing to do. mu is held.
func (k *Keeper) idle() {
	if k.runs == 0 && len(k.kept) == 0 {
		k.timer.Reset(keeperRests)
	}
}

// rest ends the keeper if it still has nothing to do.
func (k *Keeper) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs > 0 || len(k.kept) > 0 {
		return
	}
	select {
	case <-k.quit:
	default:
		close(k.quit)
	}
}

// list returns what is kept, by id. Those whose time was over while the machine slept,
// when no timer ran, are ended.
func (k *Keeper) list() []Kept {
	k.mu.Lock()
	all := make([]*keptConn, 0, len(k.kept))
	for _, c := range k.kept {
		all = append(all, c)
	}
	k.mu.Unlock()
	out := make([]Kept, 0, len(all))
	for _, c := range all {
		info := c.info()
		if ends := info.Ends(); !ends.IsZero() && time.Now().Round(0).After(ends) {
			c.end("its time is over")
			continue
		}
		out = append(out, info)
	}
	slices.SortFunc(out, func(a, b Kept) int { return strings.Compare(a.ID+" "+a.Key, b.ID+" "+b.Key) })
	return out
}

// endAll ends the connections of keys, nil is all, and returns how many there were.
func (k *Keeper) endAll(keys []string) int {
	k.mu.Lock()
	var all []*keptConn
	for key, c := range k.kept {
		if keys == nil || slices.Contains(keys, key) {
			all = append(all, c)
		}
	}
	k.mu.Unlock()
	for _, c := range all {
		c.end("it was asked to")
	}
	return len(all)
}

// A keepRun is a run that the keeper works for.
type keepRun struct {
	k    *Keeper
	w    *keepWire
	over <-chan struct{} // closed when the run is over

	mu     sync.Mutex
	dialer *Dialer
	users  int // of dialer: the run, and connections that it made
	asked  int
	asks   map[int]chan *keepReply
}

// run serves a run until it is gone.
func (k *Keeper) run(ctx context.Context, u *net.UnixConn) {
	if owner, err := master.Peer(u); err != nil || owner != k.uid && owner != 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = u.Close() })()
	r := &keepRun{k: k, w: newKeepWire(u), over: ctx.Done(), users: 1, asks: map[int]chan *keepReply{}}
	defer r.release()
	m, err := r.w.receive(keeperStarts)
	if err != nil {
		return
	}
	if err := r.w.send(&keepMessage{Version: keeperVersion, Kept: k.list()}); err != nil || m.Version != keeperVersion {
		return
	}
	go r.breathe(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for {
		m, err := r.w.receive(0)
		if err != nil {
			return
		}
		switch {
		case m.Reply != nil:
			r.mu.Lock()
			to := r.asks[m.N]
			delete(r.asks, m.N)
			r.mu.Unlock()
			if to != nil {
				to <- m.Reply
			}
		case m.Open != nil:
			wg.Go(func() {
				got, err := r.open(ctx, m)
				answer := &keepMessage{N: m.N}
				if err != nil {
					answer.Fault = faultOf(err)
				} else {
					answer.Opened = got
				}
				_ = r.w.send(answer) // a run that is gone wants none
			})
		case len(m.Ahead) > 0:
			for _, a := range m.Ahead {
				if c := k.get(a.Key); c != nil {
					go c.startAhead(a.Input)
				}
			}
		case len(m.Close) > 0:
			wg.Go(func() { _ = r.w.send(&keepMessage{N: m.N, Closed: k.endAll(m.Close)}) })
		}
	}
}

// breathe tells the run that the keeper lives.
func (r *keepRun) breathe(ctx context.Context) {
	t := time.NewTicker(keeperAlive)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if r.w.send(&keepMessage{Alive: true}) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func faultOf(err error) *keepFault {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return &keepFault{Declined: err.Error()}
	}
	text := e.Err.Error()
	return &keepFault{ID: e.ID, Addr: e.Addr, Stage: e.Stage, Text: text, Hint: e.Hint, Silent: errors.Is(err, errSilent), Dropped: dropped(err)}
}

// use returns the dialer of the run.
func (r *keepRun) use(s *keepSettings) *Dialer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dialer != nil {
		return r.dialer
	}
	o := Options{
		Host: r.k.h, Home: s.Home, Me: s.Me, Config: s.Config, KnownHosts: s.KnownHosts, Policy: s.Policy, AgentSocket: s.AgentSocket,
		Getenv: environ(s.Env), PKIDir: s.PKIDir, Password: roster.NewSecret(s.Password), AskOnce: s.AskOnce, Retries: s.Retries, RetryUnreachable: s.RetryUnreachable,
		KeepAlive: s.KeepAlive, KeepAliveCount: s.KeepAliveCount, NoMasters: true, Env: s.Env, Dir: s.Dir, Log: r.k.log,
		Warn: func(text string) { _ = r.w.send(&keepMessage{Warn: text}) },
	}
	if s.DefaultConfig {
		o.Config = nil
	} else if o.Config == nil {
		o.Config = []string{}
	}
	if s.Asks {
		o.Ask = r.ask
	}
	r.dialer = NewDialer(o)
	return r.dialer
}

// ask asks the person, through the run.
func (r *keepRun) ask(prompt string, echo bool) (roster.Secret, error) {
	to := make(chan *keepReply, 1)
	r.mu.Lock()
	r.asked++
	n := r.asked
	r.asks[n] = to
	r.mu.Unlock()
	if err := r.w.send(&keepMessage{N: n, Ask: &keepAsk{prompt, echo}}); err != nil {
		return roster.Secret{}, err
	}
	select {
	case reply := <-to:
		if !reply.None {
			return roster.NewSecret(reply.Text), nil
		}
	case <-r.over:
	}
	return roster.Secret{}, errNoAnswer
}

// hold and release count who uses the dialer; with the last one, connections to jump
// hosts end.
func (r *keepRun) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users++
}

func (r *keepRun) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.users--
	if r.users == 0 && r.dialer != nil {
		r.dialer.Close()
	}
}

// open connects to a host for a run, unless another run has done so.
func (r *keepRun) open(ctx context.Context, m *keepMessage) (*Kept, error) {
	e, k := m.Open, r.k
	if m.Settings == nil {
		return nil, errors.New("the run says nothing of its settings")
	}
	if c := k.get(e.Key); c != nil {
		c.stay(e.For)
		info := c.info()
		return &info, nil
	}
	d := r.use(m.Settings)
	entry := &roster.Entry{
		ID: e.ID, Host: e.Host, User: e.User, Port: e.Port, Passwd: roster.NewSecret(e.Passwd), Priv: e.Priv, PrivPasswd: roster.NewSecret(e.PrivPasswd),
		IdentitiesOnly: e.IdentitiesOnly, SSHOptions: e.SSHOptions, Timeout: e.Timeout,
	}
	t, err := d.dest(ctx, entry)
	if err != nil {
		return nil, err
	}
	// What it knows differently would be kept for something else.
	if key, err := d.keyOf(ctx, t); err != nil || key != e.Key {
		return nil, errors.New("the settings of the host, or its key files, look different to it: they may have changed just now, or have relative paths")
	}
	if t.alive <= 0 {
		t.alive = aliveInterval // a dead connection is not to be kept
	}
	d.Prepare(ctx, []*roster.Entry{entry})
	r.hold()
	client, err := d.dial(ctx, t, nil, nil)
	if err != nil {
		r.release()
		return nil, err
	}
	c, err := k.add(client, e, r.release)
	if err != nil {
		return nil, err
	}
	info := c.info()
	return &info, nil
}

// A keptConn is a connection that is kept.
type keptConn struct {
	k      *Keeper
	own    Kept // what does not change
	client *Client
	ssh    *ssh.Client
	server *master.Server
	l      *net.UnixListener
	freed  func() // called at the end
	once   sync.Once

	mu    sync.Mutex
	used  time.Time
	stays time.Duration
	timer *time.Timer
	ahead *keptAhead // nil: none
}

func (k *Keeper) get(key string) *keptConn {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[key]
}

// add keeps a connection.
func (k *Keeper) add(client *Client, e *keepEntry, freed func()) (*keptConn, error) {
	path := filepath.Join(k.dir, e.Key)
	own, ok := client.way.(*ownCarrier)
	if !ok || len(e.Key) != keyLen || filepath.Base(path) != e.Key {
		_ = client.Close()
		freed()
		return nil, errors.New("the connection is none that can be kept")
	}
	c := &keptConn{
		k: k, client: client, ssh: own.ssh, freed: freed, used: time.Now().Round(0), stays: e.For,
		own: Kept{Key: e.Key, Path: path, ID: e.ID, Addr: client.Addr, User: client.User, Since: time.Now().Round(0), PID: os.Getpid()},
	}
	if client.shown.key != nil {
		c.own.HostKey = client.shown.key.Marshal()
	}
	if tcp, ok := client.shown.remote.(*net.TCPAddr); ok {
		c.own.Remote = tcp.AddrPort().String()
	}
	c.server = &master.Server{Host: (*keptHost)(c), UID: k.uid, Changed: c.changed, End: func() { c.end("a client asked for it, or the host does not answer") }}
	k.mu.Lock()
	defer k.mu.Unlock()
	if other := k.kept[e.Key]; other != nil { // another run was faster
		go func() {
			_ = client.Close()
			freed()
		}()
		return other, nil
	}
	var err error
	if c.l, err = listenAt(path); err != nil {
		_ = client.Close()
		go freed()
		return nil, err
	}
	k.kept[e.Key] = c
	c.timer = time.AfterFunc(max(c.stays, keeperFirst), c.over)
	go func() { _ = c.server.Serve(c.l) }() // it ends with the connection
	go func() {
		<-client.Done()
		why := "the host closed it"
		if err := client.Err(); err != nil {
			why = err.Error()
		}
		c.end(why)
	}()
	return c, nil
}

// info returns what is known of the connection.
func (c *keptConn) info() Kept {
	out := c.own
	out.Clients, out.Sessions = c.server.Busy()
	c.mu.Lock()
	defer c.mu.Unlock()
	out.For = c.stays
	if c.ahead != nil {
		out.Ahead = c.ahead.digest
	}
	if out.Clients == 0 {
		out.Used = c.used
	}
	return out
}

// stay changes how long it stays.
func (c *keptConn) stay(d time.Duration) {
	c.mu.Lock()
	c.stays = d
	c.mu.Unlock()
	c.changed()
}

// changed starts the time of a connection that nobody uses.
func (c *keptConn) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	if clients, _ := c.server.Busy(); clients == 0 {
		c.used = time.Now().Round(0)
		if c.stays >= 0 {
			c.timer.Reset(c.stays)
		}
	}
}

// over ends a connection that nobody uses.
func (c *keptConn) over() {
	clients, _ := c.server.Busy()
	c.mu.Lock()
	forGood := c.stays < 0
	c.mu.Unlock()
	if clients == 0 && !forGood {
		c.end("its time is over")
	}
}

// end ends a connection.
func (c *keptConn) end(why string) {
	c.once.Do(func() {
		c.k.log.Debug("kept connection ends", "host", c.own.ID, "why", why)
		_ = c.l.Close() // removes the socket
		c.server.Close()
		c.mu.Lock()
		c.timer.Stop()
		c.mu.Unlock()
		_ = c.client.Close()
		c.k.mu.Lock()
		if c.k.kept[c.own.Key] == c {
			delete(c.k.kept, c.own.Key)
		}
		c.k.idle()
		c.k.mu.Unlock()
		c.freed()
	})
}

// keptHost is the host of a kept connection, to its master.Server.
type keptHost keptConn

// errNoResponse is a host that does not answer over a kept connection, such as after the
// machine slept.
var errNoResponse = master.ErrNoHost

// channel opens a channel. A host that is silent has gone: the connection ends, and who
// asked makes another one.
func (h *keptHost) channel(kind string, data []byte) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ch   ssh.Channel
		reqs <-chan *ssh.Request
		err  error
	}
	done := make(chan opened, 1)
	asked := time.Now()
	go func() {
		ch, reqs, err := h.ssh.OpenChannel(kind, data)
		done <- opened{ch, reqs, err}
	}()
	for {
		select {
		case o := <-done:
			return o.ch, o.reqs, o.err
		case <-time.After(silence):
			if h.client.pulse.receivedSince(asked) {
				asked = time.Now() // it says something else, such as to a busy session
				continue
			}
			h.client.lost.Store(&errNoResponse)
			return nil, nil, errNoResponse
		}
	}
}

// Start starts a command; see [master.Host].
func (h *keptHost) Start(cmd master.Command, env []string, files [3]*os.File) (master.Running, error) {
	s := &keptSession{files: files, exit: make(chan struct{})}
	var err error
	if digest, ok := strings.CutPrefix(cmd.Line, aheadSubsystem); ok && cmd.Subsystem {
		err = (*keptConn)(h).takeAhead(s, digest)
	} else {
		err = h.begin(s, cmd, env)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	s.fed = make(chan struct{})
	go func() {
		_, _ = io.Copy(s.ch, files[0]) // its end is that of the stdin
		_ = s.ch.CloseWrite()
		close(s.fed)
	}()
	s.copies.Go(func() { _, _ = io.Copy(files[1], s.ch) })
	s.copies.Go(func() { _, _ = io.Copy(files[2], s.ch.Stderr()) })
	return s, nil
}

// begin starts the command of a session.
func (h *keptHost) begin(s *keptSession, cmd master.Command, env []string) error {
	ch, reqs, err := openSession(h.channel)
	if err != nil {
		return err
	}
	s.ch = ch
	go s.take(reqs)
	for _, v := range env {
		name, val, _ := strings.Cut(v, "=")
		_, _ = ch.SendRequest("env", false, ssh.Marshal(struct{ Name, Value string }{name, val})) // the host may refuse any
	}
	return request{line: cmd.Line, subsystem: cmd.Subsystem}.begin(ch)
}

// Dial connects from the host to a port.
func (h *keptHost) Dial(to string, port int) (io.ReadWriteCloser, error) {
	if port <= 0 || port > 65535 {
		return nil, fmt.Errorf("%d is not a port", port)
	}
	ch, reqs, err := h.channel("direct-tcpip", ssh.Marshal(struct {
		To       string
		Port     uint32
		From     string
		FromPort uint32
	}{to, uint32(port), "127.0.0.1", 0}))
	if err != nil {
		return nil, err
	}
	go ssh.DiscardRequests(reqs)
	return ch, nil
}

// A keptSession is a command under way.
type keptSession struct {
	ch     ssh.Channel   // nil: there is none
	fed    chan struct{} // closed when all of stdin was passed on; nil: nobody does
	files  [3]*os.File
	copies sync.WaitGroup // of its output
	once   sync.Once

	exit   chan struct{} // closed at the end of the channel
	status int
	known  bool
	from   *keptSession // that started it ahead, and knows its end; nil: this one
}

// take takes the requests of the host about a session.
func (s *keptSession) take(reqs <-chan *ssh.Request) {
	s.status, s.known = exitOf(reqs)
	close(s.exit)
}

// Wait waits for the end of the command and of its output.
func (s *keptSession) Wait() (int, bool) {
	of := s
	if s.from != nil {
		of = s.from
	}
	<-of.exit
	s.copies.Wait()
	return of.status, of.known
}

// lastWords is how long a client that is gone has what it said passed on: an agent that
// does not hear that the run is over waits for it.
const lastWords = 2 * time.Second

// Close ends the session.
func (s *keptSession) Close() error {
	var err error
	s.once.Do(func() {
		if s.fed != nil {
			select {
			case <-s.fed:
			case <-time.After(lastWords):
			}
		}
		if s.ch != nil {
			err = s.ch.Close()
		}
		for _, f := range s.files {
			if f != nil {
				_ = f.Close()
			}
		}
	})
	return err
}
