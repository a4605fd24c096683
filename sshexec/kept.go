package sshexec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/roster"
	"brine/internal/fleet"
	"brine/sshexec/master"
)

// Kept connections.
//
// Where it is asked for (ssh_persist, ControlPersist), a run does not connect to a host
// itself: it has the keeper do it, a process of the same user that it starts if there is
// none, and that outlives it. The keeper serves each connection at a socket as a master
// of OpenSSH does, so that runs use it as they use those masters.
//
// The keeper does nothing that the run would not have done: it is given the settings of
// the run, asks the person through it, and says why a connection failed. A connection is
// used again by a run only if its key is the same (see keyParts), and if the key that the
// host has shown is one that the run would accept now.

// Keeping is how connections are kept.
type Keeping struct {
	// Dir returns the directory of the sockets, see [KeepDir].
	Dir func(create bool) (string, error)
	// Start starts the keeper, which writes to ready when it listens.
	Start func(dir string, ready *os.File) error
	// For is how long a connection stays when it is not in use, negative without end;
	// nil: as ControlPersist says.
	For *time.Duration
}

// A Kept is a connection that is kept.
type Kept struct {
	Key            string // names the socket
	Path           string // of the socket
	ID, Addr, User string
	Since          time.Time
	Used           time.Time     // when the last client went; zero: one is there
	For            time.Duration // that it stays after that; negative: without end
	Clients        int
	Sessions       int
	PID            int // of the keeper
	HostKey        []byte
	Remote         string // address and port that the host answered from; "" is none
	Ahead          string // digest of the input of a start under way; "" is none
}

// Ends returns when it ends if nobody uses it; zero: not by itself, or it is in use.
func (k *Kept) Ends() time.Time {
	if k.For < 0 || k.Used.IsZero() {
		return time.Time{}
	}
	return k.Used.Add(k.For)
}

// KeeperCommand is the hidden command of brine that is the keeper.
const KeeperCommand = "keep-connections"

// The control socket of the keeper, its lock, and the version of what is said there.
const (
	keeperSocket  = "keeper"
	keeperLock    = "lock"
	keeperVersion = 1
)

// A keepMessage is what a run and the keeper say to each other.
type keepMessage struct {
	// N is the number of the request of the run, or of the question of the keeper.
	N int `json:"n,omitempty"`

	// The run says:
	Version  int           `json:"version,omitempty"` // first; the keeper answers with its own
	Settings *keepSettings `json:"settings,omitempty"`
	Open     *keepEntry    `json:"open,omitempty"`
	Close    []string      `json:"close,omitempty"` // keys
	Reply    *keepReply    `json:"reply,omitempty"`
	Ahead    []keepAhead   `json:"ahead,omitempty"`

	// The keeper says:
	Kept   []Kept     `json:"kept,omitempty"` // to Version
	Alive  bool       `json:"alive,omitempty"`
	Ask    *keepAsk   `json:"ask,omitempty"`
	Warn   string     `json:"warn,omitempty"`
	Opened *Kept      `json:"opened,omitempty"`
	Fault  *keepFault `json:"fault,omitempty"`
	Closed int        `json:"closed,omitempty"`
}

// keepSettings are the [Options] of the run, and its environment.
type keepSettings struct {
	Home, Me         string
	Config           []string
	DefaultConfig    bool
	KnownHosts       []string
	Policy           Policy
	AgentSocket      string
	PKIDir           string
	Password         string
	Asks, AskOnce    bool
	Retries          int
	RetryUnreachable bool
	KeepAlive        time.Duration
	KeepAliveCount   int
	Env              []string
	Dir              string
}

// keepEntry is what decides on a connection in a roster entry, and the key that it is to
// have.
type keepEntry struct {
	Key              string
	For              time.Duration
	ID, Host, User   string
	Port             int
	Passwd           string
	Priv, PrivPasswd string
	IdentitiesOnly   bool
	SSHOptions       []string
	Timeout          time.Duration
}

// keepAhead has the keeper start an agent for the next run: up to the point where it
// would get the rest of its input.
type keepAhead struct{ Key, Input string }

type keepAsk struct {
	Prompt string
	Echo   bool
}

type keepReply struct {
	Text string
	None bool // nobody answered
}

// keepFault is an [Error], or that the keeper does not do it.
type keepFault struct {
	Declined        string
	ID, Addr        string
	Stage           Stage
	Text, Hint      string
	Silent, Dropped bool
}

// errDeclinedKept is a keeper that does not make a connection; the run may.
var errDeclinedKept = errors.New("the keeper of connections does not make this one")

func (f *keepFault) err() error {
	if f.Declined != "" {
		return fmt.Errorf("%w: %s", errDeclinedKept, f.Declined)
	}
	e := &farError{text: f.Text}
	if f.Silent {
		e.is = errSilent
	} else if f.Dropped {
		e.is = errDropped
	}
	return &Error{ID: f.ID, Addr: f.Addr, Stage: f.Stage, Err: e, Hint: f.Hint}
}

// A farError is an error that another process told; is, if not nil, is what it is.
type farError struct {
	text string
	is   error
}

func (e *farError) Error() string { return e.text }
func (e *farError) Unwrap() error { return e.is }

// Times of what is said between a run and the keeper.
const (
	keeperStarts = 10 * time.Second // that a keeper may take to listen
	keeperSilent = 20 * time.Second // after which a keeper counts as gone
	keeperAlive  = 3 * time.Second  // between two signs of life
)

// maxKeepMessage bounds a message, in bytes; the longest is the list of all connections.
const maxKeepMessage = 64 << 20

// A keepWire carries messages over a socket.
type keepWire struct {
	u   *net.UnixConn
	lim *io.LimitedReader
	dec *json.Decoder
	mu  sync.Mutex
}

func newKeepWire(u *net.UnixConn) *keepWire {
	w := &keepWire{u: u, lim: &io.LimitedReader{R: u}}
	w.dec = json.NewDecoder(w.lim)
	return w
}

// send sends a message; one that the other end does not take in time fails.
func (w *keepWire) send(m *keepMessage) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.u.SetWriteDeadline(time.Now().Add(keeperSilent)) // a socket that is closed fails by itself
	_, err = w.u.Write(b)
	return err
}

// receive returns the next message; wait bounds the time until it comes, 0 does not.
func (w *keepWire) receive(wait time.Duration) (*keepMessage, error) {
	at := time.Time{}
	if wait > 0 {
		at = time.Now().Add(wait)
	}
	_ = w.u.SetReadDeadline(at)
	w.lim.N = maxKeepMessage
	m := &keepMessage{}
	return m, w.dec.Decode(m)
}

// dialKeeper connects to the keeper of a directory, and returns what it keeps.
func dialKeeper(ctx context.Context, dir string, uid int) (*keepWire, []Kept, error) {
	var nd net.Dialer
	path := filepath.Join(dir, keeperSocket)
	way, err := nd.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, nil, err
	}
	u := way.(*net.UnixConn)
	w, kept, err := greetKeeper(u, path, uid)
	if err != nil {
		_ = u.Close()
	}
	return w, kept, err
}

func greetKeeper(u *net.UnixConn, path string, uid int) (*keepWire, []Kept, error) {
	owner, err := master.Peer(u)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: whose socket it is cannot be found out: %w", path, err)
	}
	if owner != uid && owner != 0 {
		return nil, nil, &master.ForeignError{Path: path, UID: owner}
	}
	w := newKeepWire(u)
	if err := w.send(&keepMessage{Version: keeperVersion}); err != nil {
		return nil, nil, err
	}
	m, err := w.receive(keeperStarts)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: no keeper of connections answers: %w", path, err)
	case m.Version != keeperVersion:
		return nil, nil, fmt.Errorf("%s: the process that answers is not a keeper of connections of this version of brine; brine ssh --connections=close of the other version ends it", path)
	}
	return w, m.Kept, nil
}

// noKeeper reports whether err is that there is no keeper.
func noKeeper(err error) bool {
	for _, x := range []error{syscall.ENOENT, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, os.ErrNotExist} {
		if errors.Is(err, x) {
			return true
		}
	}
	return false
}

// ListKept returns the connections that a keeper keeps in dir, none where there is no
// keeper.
func ListKept(ctx context.Context, dir string, uid int) ([]Kept, error) {
	w, kept, err := dialKeeper(ctx, dir, uid)
	if err != nil {
		if noKeeper(err) {
			err = nil
		}
		return nil, err
	}
	return kept, w.u.Close()
}

// CloseKept ends the connections of keys, and returns how many ended.
func CloseKept(ctx context.Context, dir string, uid int, keys []string) (int, error) {
	w, _, err := dialKeeper(ctx, dir, uid)
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.u.Close() }()
	if err := w.send(&keepMessage{N: 1, Close: keys}); err != nil {
		return 0, err
	}
	for {
		m, err := w.receive(keeperSilent)
		if err != nil {
			return 0, err
		}
		if m.N == 1 {
			return m.Closed, nil
		}
	}
}

// keeperLink is what a run has of the keeper.
type keeperLink struct {
	once sync.Once
	w    *keepWire // nil: there is none
	d    *Dialer
	done chan struct{} // closed when the keeper is gone

	mu      sync.Mutex
	kept    map[string]Kept // by key
	pending map[int]chan *keepMessage
	n       int
	answers map[string]roster.Secret // passphrases that were given to this run
	later   []keepAhead              // what is started for the next run
}

// link returns the link to the keeper; nil: connections are not kept.
func (d *Dialer) link(ctx context.Context) *keeperLink {
	l := &d.keeper
	l.once.Do(func() {
		w, kept, err := d.callKeeper(ctx)
		if err != nil {
			if ctx.Err() == nil && d.o.Warn != nil {
				d.o.Warn(fmt.Sprintf("connections are not kept: %v", err))
			}
			return
		}
		l.d, l.kept, l.pending, l.done = d, make(map[string]Kept, len(kept)), map[int]chan *keepMessage{}, make(chan struct{})
		for _, k := range kept {
			l.kept[k.Key] = k
		}
		l.w = w
		go l.listen()
	})
	if l.w == nil {
		return nil
	}
	return l
}

// callKeeper connects to the keeper, and starts it if there is none.
func (d *Dialer) callKeeper(ctx context.Context) (*keepWire, []Kept, error) {
	dir, err := d.o.Keep.Dir(true)
	if err != nil {
		return nil, nil, err
	}
	for try := 0; ; try++ {
		w, kept, err := dialKeeper(ctx, dir, d.o.Host.Geteuid())
		if err == nil || !noKeeper(err) || try == 3 {
			return w, kept, err
		}
		if err := d.startKeeper(dir); err != nil {
			return nil, nil, err
		}
	}
}

// startKeeper starts the keeper and waits until it, or another one, listens.
func (d *Dialer) startKeeper(dir string) error {
	r, ready, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	err = d.o.Keep.Start(dir, ready)
	_ = ready.Close()
	if err != nil {
		return fmt.Errorf("the keeper of connections does not start: %w", err)
	}
	_ = r.SetReadDeadline(time.Now().Add(keeperStarts))
	said, err := io.ReadAll(io.LimitReader(r, 4096))
	switch text := string(said); {
	case err != nil:
		return fmt.Errorf("the keeper of connections does not start: %w", err)
	case text != keeperReady && text != keeperOther:
		return fmt.Errorf("the keeper of connections does not start: %s", cmp.Or(oneLine(text), "it said nothing"))
	}
	return nil
}

// What a keeper writes when it listens, and when another one does.
const (
	keeperReady = "ready\n"
	keeperOther = "another\n"
)

// listen takes what the keeper says, until it is gone.
func (l *keeperLink) listen() {
	for {
		m, err := l.w.receive(keeperSilent)
		if err != nil {
			l.over()
			return
		}
		switch {
		case m.Ask != nil:
			go l.answer(m)
		case m.Warn != "":
			if l.d.o.Warn != nil {
				l.d.o.Warn(m.Warn)
			}
		case m.N != 0:
			l.mu.Lock()
			to := l.pending[m.N]
			delete(l.pending, m.N)
			l.mu.Unlock()
			if to != nil {
				to <- m
			}
		}
	}
}

// over notes that the keeper is gone.
func (l *keeperLink) over() {
	_ = l.w.u.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
	default:
		close(l.done)
	}
}

// answer asks the person what the keeper asks. A passphrase that this run was given
// before is not asked for again.
func (l *keeperLink) answer(m *keepMessage) {
	l.mu.Lock()
	s, had := l.answers[m.Ask.Prompt]
	delete(l.answers, m.Ask.Prompt)
	l.mu.Unlock()
	var err error
	if !had {
		if l.d.o.Ask == nil {
			err = errNoAnswer
		} else {
			l.d.prompts.mu.Lock()
			s, err = l.d.o.Ask(m.Ask.Prompt, m.Ask.Echo)
			l.d.prompts.mu.Unlock()
		}
	}
	_ = l.w.send(&keepMessage{N: m.N, Reply: &keepReply{Text: s.Reveal(), None: err != nil}}) // who is gone asks nothing
}

// remember keeps a passphrase that the person gave, for the keeper, which may ask the
// same.
func (l *keeperLink) remember(prompt string, s roster.Secret) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers == nil {
		l.answers = map[string]roster.Secret{}
	}
	l.answers[prompt] = s
}

// request sends a request and waits for the answer to it.
func (l *keeperLink) request(ctx context.Context, m *keepMessage) (*keepMessage, error) {
	to := make(chan *keepMessage, 1)
	l.mu.Lock()
	l.n++
	m.N = l.n
	l.pending[m.N] = to
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.pending, m.N)
		l.mu.Unlock()
	}()
	if err := l.w.send(m); err != nil {
		return nil, fmt.Errorf("%w: %w", errDeclinedKept, err)
	}
	select {
	case r := <-to:
		return r, nil
	case <-l.done:
		return nil, fmt.Errorf("%w: it is gone", errDeclinedKept)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the connection of a key.
func (l *keeperLink) find(key string) (Kept, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.kept[key]
	return k, ok
}

// note notes that a connection is kept, or, without a key, is no longer.
func (l *keeperLink) note(key string, k Kept) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.Key == "" {
		delete(l.kept, key)
	} else {
		l.kept[key] = k
	}
}

// open has the keeper connect to a host.
func (l *keeperLink) open(ctx context.Context, e *roster.Entry, t *dest, key string) (Kept, error) {
	fleet.Enter(ctx, fleet.Authenticating)
	m, err := l.request(ctx, &keepMessage{Settings: l.d.keepSettings(), Open: &keepEntry{
		Key: key, For: t.persist, ID: e.ID, Host: e.Host, User: e.User, Port: e.Port, Passwd: e.Passwd.Reveal(), Priv: e.Priv, PrivPasswd: e.PrivPasswd.Reveal(),
		IdentitiesOnly: e.IdentitiesOnly, SSHOptions: e.SSHOptions, Timeout: e.Timeout,
	}})
	switch {
	case err != nil:
		return Kept{}, err
	case m.Fault != nil:
		return Kept{}, m.Fault.err()
	case m.Opened == nil || m.Opened.Key != key:
		return Kept{}, fmt.Errorf("%w: it does not say where", errDeclinedKept)
	}
	l.note(key, *m.Opened)
	return *m.Opened, nil
}

func (d *Dialer) keepSettings() *keepSettings {
	o := &d.o
	dir, _ := os.Getwd() // without one, relative paths lead nowhere here, too
	return &keepSettings{
		Home: o.Home, Me: o.Me, Config: o.Config, DefaultConfig: o.Config == nil, KnownHosts: o.KnownHosts, Policy: o.Policy,
		AgentSocket: o.AgentSocket, PKIDir: o.PKIDir, Password: o.Password.Reveal(), Asks: o.Ask != nil, AskOnce: o.AskOnce,
		Retries: o.Retries, RetryUnreachable: o.RetryUnreachable, KeepAlive: o.KeepAlive, KeepAliveCount: o.KeepAliveCount,
		Env: o.Host.Environ(), Dir: dir,
	}
}

// startLater has an agent started for the next run when this one is over: until then, it
// would only be in the way.
func (l *keeperLink) startLater(key, input string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.later = append(l.later, keepAhead{key, input})
}

// close ends the link; what is kept stays.
func (l *keeperLink) close() {
	l.once.Do(func() {}) // nothing is called from now on
	if l.w == nil {
		return
	}
	l.mu.Lock()
	later := l.later
	l.later = nil
	l.mu.Unlock()
	if len(later) > 0 {
		_ = l.w.send(&keepMessage{Ahead: later}) // without it, the next run starts its own
	}
	l.over()
}

// keepable says why the connection to t is not kept; "" is that it is.
func (t *dest) keepable() string {
	switch {
	case t.carry != nil:
		return "it is made by a relay"
	case t.forward != "":
		return "the ssh-agent is lent to the host"
	case t.tty:
		return "the roster asks for a terminal"
	}
	return ""
}

// byKeeper returns the connection to a host that is kept, or is from now on; nil: the run
// connects itself.
func (d *Dialer) byKeeper(ctx context.Context, e *roster.Entry, t *dest) (*Client, error) {
	if t.persist == 0 || d.o.Keep == nil {
		return nil, nil
	}
	if why := t.keepable(); why != "" {
		t.note("connection not kept", "why", why)
		return nil, nil
	}
	if c := d.byMaster(ctx, t); c != nil {
		return c, nil
	}
	l := d.link(ctx)
	if l == nil {
		return nil, nil
	}
	key, err := d.keyOf(ctx, t)
	if err != nil {
		return nil, nil // whoever dials finds the same
	}
	k, ok := l.find(key)
	if ok {
		if err := d.trusts(t, &k); err != nil {
			d.o.Log.Info("a kept connection is not used: its host key is not accepted now", "host", t.id, "error", err)
			l.drop(ctx, key)
			ok = false
		}
	}
	if k.For != t.persist {
		ok = false // the keeper has it, and takes another time for it
	}
	for range 2 {
		if ok {
			if _, off := d.unused.Load(k.Path); off {
				return nil, nil
			}
			c, err := d.attach(ctx, t, &k)
			if err == nil {
				return c, nil
			}
			d.o.Log.Info("a kept connection has ended", "host", t.id, "error", err)
			l.note(key, Kept{})
			if !noKeeper(err) {
				d.noMasterAt(t, k.Path, err)
				return nil, nil
			}
		}
		if k, err = l.open(ctx, e, t, key); err != nil {
			if errors.Is(err, errDeclinedKept) {
				d.o.Log.Info("the connection is not kept", "host", t.id, "error", err)
				return nil, nil
			}
			return nil, err
		}
		ok = true
	}
	return nil, nil
}

// drop has the keeper end a connection.
func (l *keeperLink) drop(ctx context.Context, key string) {
	l.note(key, Kept{})
	_, _ = l.request(ctx, &keepMessage{Close: []string{key}}) // it is not used, whatever becomes of it
}

// trusts checks the key that the host of a kept connection has shown, as a new
// connection would. Nobody is asked.
func (d *Dialer) trusts(t *dest, k *Kept) error {
	key, err := ssh.ParsePublicKey(k.HostKey)
	if err != nil {
		return err
	}
	check, _, err := d.hosts.verify(t)
	if err != nil {
		return err
	}
	var remote net.Addr = pipeAddr(t.addr())
	if at, err := netip.ParseAddrPort(k.Remote); err == nil {
		remote = net.TCPAddrFromAddrPort(at)
	}
	if err := check(t.knownAs(), remote, key); err != nil {
		return err
	}
	d.warnDoubt(t)
	return nil
}

// attach makes the client of a kept connection.
func (d *Dialer) attach(ctx context.Context, t *dest, k *Kept) (*Client, error) {
	conn, err := master.Open(ctx, k.Path, d.o.Host.Geteuid())
	if err != nil {
		return nil, err
	}
	t.note("kept connection", "socket", k.Path, "pid", conn.PID(), "since", k.Since)
	c := d.masterClient(t, conn, k.Path)
	l := &d.keeper
	c.way.(*masterCarrier).ahead = &ahead{digest: k.Ahead, next: func(input string) { l.startLater(k.Key, input) }}
	if why := t.doubt.Load(); why != nil {
		c.doubt = *why
	}
	return c, nil
}

// keeps reports whether the connection to t is kept already, so that nothing is asked
// for it.
func (d *Dialer) keeps(ctx context.Context, t *dest) bool {
	if t.persist == 0 || d.o.Keep == nil || t.keepable() != "" {
		return false
	}
	l := d.link(ctx)
	if l == nil {
		return false
	}
	key, err := d.keyOf(ctx, t)
	if err != nil {
		return false
	}
	_, ok := l.find(key)
	return ok
}
