package sshexec

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/roster"
	"brine/internal/core/sshconf"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/master"
	"brine/sshexec/relay"
)

// Options are how machines are dialled.
type Options struct {
	Host        host.Host
	Home        string   // of the person, for ~ and the default files
	Me          string   // account of the person
	Config      []string // ssh_config files, first one wins; nil: the person's and the system's
	KnownHosts  []string // known_hosts files instead of those of ssh_config
	Policy      Policy   // "": as ssh_config says, else Ask
	AgentSocket string   // of ssh-agent; "" is none
	// Getenv looks up the environment for ${VARIABLES} of ssh_config; nil: the host's.
	Getenv   func(key string) (string, bool)
	PKIDir   string // of Salt, whose own SSH key is tried too
	Password roster.Secret
	// Ask asks the person for a secret, on a terminal, or with echo for what may be
	// seen. nil: there is no terminal.
	Ask func(prompt string, echo bool) (roster.Secret, error)
	// AskOnce asks the same question for the same account once in a run, and
	// gives the answer to all hosts that ask it.
	AskOnce bool
	// Warn warns the person; nil: nobody is there.
	Warn func(text string)
	// Retries are further tries after a connection was reset or closed before
	// the log-in, as sshd does to the many; negative is DefaultRetries. RetryUnreachable
	// retries too where nothing answers, be it no name server, no host, or no
	// sshd behind an open port.
	Retries          int
	RetryUnreachable bool
	// KeepAlive is how often a silent host is asked, and KeepAliveCount how many missed
	// answers end its connection, whatever ssh_config says. 0 is what that says, else
	// 15 s and three. NoKeepAlive asks no host.
	KeepAlive      time.Duration
	KeepAliveCount int
	NoKeepAlive    bool
	// Keep says that connections may outlive the run; nil: they do not.
	Keep *Keeping
	// NoMasters has no connection of OpenSSH be used.
	NoMasters bool
	// Env and Dir are those of the commands of ssh_config; nil and "" are the
	// process's own.
	Env []string
	Dir string
	Log *slog.Logger
}

// DefaultRetries is how often a reset connection is tried again.
const DefaultRetries = 3

// dialsAtOneHost are the handshakes under way at once with one address: stock
// sshd drops some from MaxStartups 10 on.
const dialsAtOneHost = 8

// A Dialer opens connections. It is safe for concurrent use.
type Dialer struct {
	o        Options
	config   *sshconf.Reader
	keys     keyring
	hosts    hostKeys
	prompts  prompter
	prepare  sync.Mutex
	warnings sync.Map // warnings that have been given

	mu    sync.Mutex
	pace  map[string]chan struct{}
	jumps map[string]*jump

	unused sync.Map // masters that are not used again, by path
	keeper keeperLink
	files  sync.Map // digests of key files, by path
}

// NewDialer returns a Dialer; it reads ssh_config.
func NewDialer(o Options) *Dialer {
	if o.Retries < 0 {
		o.Retries = DefaultRetries
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = environ(o.Host.Environ())
	}
	d := &Dialer{
		o: o, config: newConfig(&o),
		pace: map[string]chan struct{}{}, jumps: map[string]*jump{},
	}
	d.prompts.ask, d.prompts.once = o.Ask, o.AskOnce
	d.keys.files = o.Host
	if o.Ask != nil {
		d.keys.ask = func(prompt string) (roster.Secret, error) {
			d.prompts.mu.Lock()
			defer d.prompts.mu.Unlock()
			given, err := o.Ask(prompt, false)
			if err == nil && o.Keep != nil {
				d.keeper.remember(prompt, given)
			}
			return given, err
		}
	}
	for _, f := range d.config.Files() {
		o.Log.Debug("ssh configuration", "file", f.Path, "lines", f.Lines, "problem", f.Problem)
	}
	return d
}

// A Client is a connection to a host.
type Client struct {
	ID, Addr, User string
	via            string // id of the relay on the way; "" is none
	way            carrier
	files          host.Files
	closed         chan struct{}
	once           sync.Once
	lost           atomic.Pointer[error]
	pulse          *pulse
	cost           cost
	exe            string      // of the agent, where bare
	bare           atomic.Bool // there is no sh, see sftp.go
	// relink makes another way to an agent that was started over this connection;
	// nil: there is none.
	relink  func(ctx context.Context, token string) (io.ReadWriteCloser, error)
	share   sharer // how a relay helps to push; nil: it does not
	onStall func() // through a relay: called when nothing arrived
	keeps   bool   // the host is a relay itself
	// large sends large files of the tree by a relay; nil: none are.
	large func(ctx context.Context, f link.Large) (*value.Map, error)
	doubt error // why no secret is sent there: its key is not the known one
	shown shownKey
	// aheadInput is the first line that an agent was started with; nil: none that may be
	// started ahead of the next run.
	aheadInput atomic.Pointer[string]
}

// A shownKey is the key by which a host has shown who it is, and from where.
type shownKey struct {
	key    ssh.PublicKey
	remote net.Addr
}

// Close ends the connection.
func (c *Client) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.startNext()
	})
	return c.way.Close()
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.closed }

// Err says why the connection ended where brine ended it.
func (c *Client) Err() error {
	if p := c.lost.Load(); p != nil {
		return *p
	}
	return nil
}

// fail words an error of a later stage.
func (c *Client) fail(s Stage, err error, hint string) error {
	c.giveUpMaster(err)
	switch lost := c.Err(); {
	case lost != nil:
		err = lost
	case s == Shell && c.connectionLost(err):
		err, hint = orRelay(errDropped, c.via, "may have done so"), "check that the host is up, and look at the log of its sshd"
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("no answer in time")
		if hint == "" || s == Shell {
			hint = "see the load of the host, and what its shell start files do; timeout in the roster changes the time"
		}
	}
	return &Error{ID: c.ID, Addr: c.Addr, Stage: s, Err: err, Hint: hint}
}

// connectionLost reports whether err came since the connection ended. That is seen a
// moment after calls over it fail.
func (c *Client) connectionLost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	select {
	case <-c.closed:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

// errDropped is a connection that the host, or something on the way, closed.
var errDropped = errors.New("the host closed the connection")

// orRelay adds to what seems to be a fault of a host that the relay on the way may
// have caused it, which cannot be told apart; "" is no relay.
func orRelay(err error, relay, how string) error {
	if relay == "" {
		return err
	}
	return fmt.Errorf("%w (the relay %s %s)", err, relay, how)
}

// errProxyEnded is a ProxyCommand that ended and said nothing.
var errProxyEnded = errors.New("the ProxyCommand ended before the host answered")

const droppedHint = "see its sshd's log and MaxStartups there, or lower --max-procs"

// dropped reports whether err of a handshake is that the connection was closed.
func dropped(err error) bool {
	for _, x := range []error{errDropped, relay.ErrBroken, master.ErrRefused, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, x) {
			return true
		}
	}
	return false
}

// Dial connects to the host of an entry and logs in.
func (d *Dialer) Dial(ctx context.Context, e *roster.Entry) (*Client, error) {
	return d.dialBy(ctx, e, nil)
}

// dialBy is Dial by a relay; nil is none.
func (d *Dialer) dialBy(ctx context.Context, e *roster.Entry, by *carry) (*Client, error) {
	if e.Err != nil {
		return nil, &Error{ID: e.ID, Addr: cmp.Or(e.Host, "no host"), Stage: Resolve, Err: e.Err}
	}
	t, err := d.dest(ctx, e)
	if err != nil {
		return nil, &Error{ID: e.ID, Addr: e.Host, Stage: Resolve, Err: err, Hint: "see ssh_config and the roster"}
	}
	t.carry = by
	if c, err := d.byKeeper(ctx, e, t); c != nil || err != nil {
		return c, err
	}
	return d.dial(ctx, t, nil, nil)
}

// dialAlone is Dial without a master, of which nobody knows whether it still has the host.
func (d *Dialer) dialAlone(ctx context.Context, e *roster.Entry) (*Client, error) {
	alone := *e
	alone.SSHOptions = append([]string{"ControlPath=none"}, e.SSHOptions...)
	return d.Dial(ctx, &alone)
}

// dial tries until it succeeds, or fails in a way that another try does not
// mend. by is the connection to the host before t on a way of several, via are
// the jump hosts already on the way, against loops.
func (d *Dialer) dial(ctx context.Context, t *dest, by *Client, via []string) (*Client, error) {
	for try := 0; ; try++ {
		c, err := d.once(ctx, t, by, via)
		if err == nil || try >= d.o.Retries || ctx.Err() != nil || !d.retryable(err) {
			return c, err
		}
		wait := time.Duration(float64(100*time.Millisecond) * float64(uint(1)<<min(try, 6)) * (0.5 + rand.Float64()))
		d.o.Log.Info("connect again", "id", t.id, "addr", t.addr(), "after", err, "wait", wait)
		if serr := d.o.Host.Sleep(ctx, wait); serr != nil {
			return nil, err
		}
	}
}

// errSilent is a host that said nothing for as long as it had.
var errSilent = errors.New("no answer")

// retryable reports whether another try may succeed after err. What happened
// at the log-in is not tried again, except that the connection was reset: the
// account could be locked, or a second factor be used up.
func (d *Dialer) retryable(err error) bool {
	var e, bastion *Error
	if !errors.As(err, &e) || errors.As(e.Err, &bastion) {
		return false // the way to a bastion has had its tries
	}
	switch e.Stage {
	case Resolve:
		var dns *net.DNSError
		return d.o.RetryUnreachable && errors.As(err, &dns) && (dns.IsTemporary || dns.IsTimeout)
	case Connect:
		return d.o.RetryUnreachable || dropped(err) || errors.Is(err, syscall.EAGAIN)
	case Handshake:
		return dropped(err) || d.o.RetryUnreachable && errors.Is(err, errSilent)
	case Auth:
		return dropped(err)
	default:
		return false
	}
}

// enter waits until a handshake with addr, as it is seen from a relay ("" is here),
// may begin; leave ends it.
func (d *Dialer) enter(ctx context.Context, relay, addr string) (leave func(), err error) {
	d.mu.Lock()
	at := relay + " " + addr
	p := d.pace[at]
	if p == nil {
		p = make(chan struct{}, dialsAtOneHost)
		d.pace[at] = p
	}
	d.mu.Unlock()
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *Dialer) once(ctx context.Context, t *dest, by *Client, via []string) (*Client, error) {
	if c := d.byMaster(ctx, t); c != nil {
		return c, nil
	}
	fail := func(s Stage, err error, hint string) error {
		if cause := ctx.Err(); errors.Is(cause, context.DeadlineExceeded) || cause != nil && !errors.Is(err, context.Canceled) {
			err = orRelay(fmt.Errorf("%w within %s", errSilent, t.timeout), t.via(), "may not have passed it on")
			if hint == "" {
				hint = "check that the host is up and that nothing on the way drops packets; timeout in the roster changes the time"
			}
		}
		return &Error{ID: t.id, Addr: t.addr(), Stage: s, Err: err, Hint: hint}
	}
	signers, notes, err := d.signers(t, false)
	if err != nil {
		return nil, fail(Auth, err, keyHint(err))
	}
	check, algs, err := d.hosts.verify(t)
	if err != nil {
		return nil, fail(HostKey, err, "mend the known_hosts file")
	}
	if by == nil && len(t.jump) > 0 && t.carry == nil {
		if by, err = d.bastionOf(ctx, t, via); err != nil {
			return nil, &Error{ID: t.id, Addr: t.addr(), Stage: Connect, Err: fmt.Errorf("by %w", err)}
		}
	}
	leave, err := d.enter(ctx, t.via(), t.addr())
	if err != nil {
		return nil, fail(Connect, err, "")
	}
	defer leave()
	// Waiting for one's turn is not the host's time.
	wait := newWait(ctx, t.timeout)
	defer wait.stop()
	ctx = wait
	if d.prompts.ask != nil && !t.batch {
		t.confirm = func(what, fingerprint string) error {
			defer wait.hold()()
			return d.prompts.confirm(what, fingerprint)
		}
	}
	var way net.Conn
	switch {
	case t.carry != nil: // in the place of ways from here
		t.note("relay")
		if way, err = t.carry.dial(ctx, t.family, t.addr()); err != nil {
			return nil, fail(Connect, err, carryHint(err))
		}
	case by != nil:
		if way, err = by.way.dial(ctx, t.host, t.port); err != nil {
			if by.giveUpMaster(err) {
				_ = by.Close() // the next try makes a connection of its own
			}
			return nil, fail(Connect, fmt.Errorf("by %s: %w", by.ID, err), "check that the jump host reaches it and allows forwarding")
		}
	case t.proxy != "":
		line, err := d.proxyLine(t)
		if err != nil {
			return nil, fail(Resolve, err, "see host and user in the roster")
		}
		t.note("ProxyCommand", "program", firstWord(line)) // its arguments may have a password
		way = d.command(t, line)
	default:
		if way, err = t.connect(ctx); err != nil {
			t.note("not connected", "error", err)
			return nil, fail(connectStage(err), plain(err), connectHint(err))
		}
		way = quick(way)
	}
	return d.login(ctx, &login{d: d, t: t, signers: signers, notes: notes, wait: wait}, way, check, algs, fail)
}

// connect connects to a host, from BindAddress where there is one.
func (t *dest) connect(ctx context.Context) (way net.Conn, err error) {
	nd := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		t.note("connect", "address", address)
		return nil
	}}
	if t.bind == "" {
		return nd.DialContext(ctx, t.family, t.addr())
	}
	from, err := net.DefaultResolver.LookupIP(ctx, "ip"+strings.TrimPrefix(t.family, "tcp"), t.bind)
	if err != nil {
		return nil, fmt.Errorf("BindAddress: %w", err)
	}
	// A name may have addresses of another family than the host's.
	host := net.ParseIP(t.host)
	for _, ip := range from {
		if host != nil && (host.To4() == nil) != (ip.To4() == nil) {
			continue
		}
		nd.LocalAddr = &net.TCPAddr{IP: ip}
		if way, err = nd.DialContext(ctx, t.family, t.addr()); err == nil || ctx.Err() != nil {
			return way, err
		}
	}
	if err == nil {
		err = fmt.Errorf("BindAddress %s has no address of the family of %s", t.bind, t.host)
	}
	return nil, err
}

func connectStage(err error) Stage {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return Resolve
	}
	return Connect
}

// plain takes the address out of a dial error, which ours names already.
func plain(err error) error {
	if errors.Is(err, syscall.ECONNRESET) {
		return errDropped
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		if sys, ok := errors.AsType[*os.SyscallError](op.Err); ok {
			return sys.Err
		}
		return op.Err
	}
	return err
}

func connectHint(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "see host in the roster, or HostName in ssh_config"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "check that sshd is listening on this port"
	case errors.Is(err, syscall.ECONNRESET):
		return droppedHint
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "check that the host is up and that there is a route to it"
	}
	return ""
}

func keyHint(err error) string {
	if errors.Is(err, errEncrypted) {
		return "add it to ssh-agent, set priv_passwd in the roster, or run on a terminal"
	}
	if errors.Is(err, x509.IncorrectPasswordError) {
		return "see priv_passwd in the roster"
	}
	return "see priv in the roster"
}

// login shakes hands over a connection and logs in, all within ctx.
func (d *Dialer) login(ctx context.Context, l *login, way net.Conn,
	check ssh.HostKeyCallback, algs []string, fail func(Stage, error, string) error,
) (*Client, error) {
	t := l.t
	var (
		stage  atomic.Value
		keyErr atomic.Pointer[hostKeyError]
		banner atomic.Value
		shown  shownKey
	)
	stage.Store(Handshake)
	conf := &ssh.ClientConfig{
		User: t.user, ClientVersion: "SSH-2.0-brine", HostKeyAlgorithms: algs,
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			err := check(name, remote, key)
			if hk, ok := errors.AsType[*hostKeyError](err); ok {
				keyErr.Store(hk)
				stage.Store(HostKey)
				return err
			}
			if err == nil {
				stage.Store(Auth)
				d.warnDoubt(t)
				shown = shownKey{key, remote}
			}
			return err
		},
		BannerCallback: func(text string) error {
			banner.Store(text)
			return nil
		},
		Auth: l.methods(), AuthCallback: l.next,
	}
	conf.Ciphers, conf.MACs, conf.KeyExchanges = t.ciphers, t.macs, t.kexes
	if x, ok := way.(*tap); ok {
		conf.Rand = x.Rand()
	}
	beat := &pulse{Conn: way}
	conn, chans, reqs, err := handshake(ctx, beat, t.knownAs(), conf)
	if err != nil {
		way.Close()
		return nil, l.failed(ctx, way, err, stage.Load().(Stage), keyErr.Load(), fail)
	}
	t.note("logged in", "user", t.user, "version", string(conn.ServerVersion()), "after", time.Since(l.last).Round(time.Millisecond))
	lends := t.forward != "" && t.doubt.Load() == nil
	own, wait := newOwnCarrier(conn, chans, reqs, lends)
	c := &Client{ID: t.id, Addr: t.addr(), User: t.user, via: t.via(), pulse: beat, cost: costOf(way), files: d.o.Host, way: own, closed: make(chan struct{}), shown: shown}
	go func() {
		wait()
		_ = c.Close()
	}()
	if t.alive > 0 {
		c.keepAlive(t.alive, t.aliveCount)
	}
	if why := t.doubt.Load(); why != nil {
		c.doubt = *why
	}
	if lends {
		if err := agent.ForwardToRemote(own.ssh, t.forward); err != nil {
			_ = c.Close()
			return nil, fail(Auth, fmt.Errorf("the ssh-agent cannot be lent: %w", err), "see SSH_AUTH_SOCK, or take agent-forwarding out of the roster")
		}
	}
	return c, nil
}

// failed words why a log-in failed at a stage. way is the connection, key what is
// wrong with the host key.
func (l *login) failed(ctx context.Context, way net.Conn, err error, at Stage, key *hostKeyError, fail func(Stage, error, string) error) error {
	if key != nil {
		return fail(HostKey, key.err, key.hint)
	}
	if no := disagreed(l.t, err); no != nil {
		if strings.Contains(no.hint, "ssh-keyscan") {
			at = HostKey
		}
		return fail(at, no.err, no.hint)
	}
	if p, ok := way.(*pipe); ok && at == Handshake {
		if text := p.stderr(); text != "" {
			return fail(Connect, fmt.Errorf("ProxyCommand: %s", text), "see ProxyCommand in ssh_config")
		}
		if ctx.Err() == nil && dropped(err) {
			return fail(Connect, errProxyEnded, "see ProxyCommand in ssh_config, and that the host is up")
		}
	}
	hint := ""
	switch {
	case ctx.Err() != nil && at == Auth:
		hint = "sshd answers and does not let in: see its load, its log, UseDNS and PAM, and that the ssh-agent signs; timeout in the roster changes the time"
	case ctx.Err() != nil:
	case dropped(err):
		// The library closes its end, too, so that the error may be of that.
		err, hint = orRelay(errDropped, l.t.via(), "may have done so"), droppedHint
	case at == Auth:
		err, hint = refused(err), l.hint()
	default: // nobody has shown yet who it is that answers
		err = orRelay(err, l.t.via(), "may have sent it")
	}
	return fail(at, err, hint)
}

// costOf is what a connection takes: one behind a jump host is a channel of that
// one's.
func costOf(way net.Conn) cost {
	switch way.(type) {
	case *pipe:
		return commandCost
	case *master.Forward:
		return cost{files: master.ForwardDescriptors}
	case *net.TCPConn, *net.UnixConn, syscall.Conn:
		return directCost
	}
	return cost{}
}

// warnDoubt warns of a host whose key is not the known one, and which is logged
// in to since StrictHostKeyChecking is off.
func (d *Dialer) warnDoubt(t *dest) {
	why := t.doubt.Load()
	if why == nil || d.o.Warn == nil {
		return
	}
	hint := ""
	if hk, ok := errors.AsType[*hostKeyError](*why); ok {
		hint = "; " + hk.hint
	}
	text := fmt.Sprintf("%s (%s): REMOTE HOST IDENTIFICATION HAS CHANGED: %v. Someone may intercept the connection. "+
		"Host keys are not checked, so the login goes on, but passwords, agent forwarding and pillar are disabled for this host%s", t.id, t.addr(), *why, hint)
	if _, told := d.warnings.LoadOrStore(text, true); !told {
		d.o.Warn(printable.Line(text))
	}
}

// firstWord returns what a log may have of a command.
func firstWord(command string) string {
	if words := strings.Fields(command); len(words) > 0 {
		return words[0]
	}
	return ""
}

// handshakeGrace is how long a handshake may take to end when its time is over: what
// it waits for may be no host but an ssh-agent, or who touches a key.
const handshakeGrace = time.Second

// handshake is ssh.NewClientConn within a context.
func handshake(ctx context.Context, way net.Conn, addr string, conf *ssh.ClientConfig) (ssh.Conn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
	type shaken struct {
		conn  ssh.Conn
		chans <-chan ssh.NewChannel
		reqs  <-chan *ssh.Request
		err   error
	}
	fleet.Enter(ctx, fleet.Authenticating)
	done := make(chan shaken, 1)
	go func() {
		conn, chans, reqs, err := ssh.NewClientConn(way, addr, conf)
		done <- shaken{conn, chans, reqs, err}
	}()
	var s shaken
	select {
	case s = <-done:
	case <-ctx.Done():
		way.Close()
		select {
		case s = <-done:
		case <-time.After(handshakeGrace):
			go func() {
				if s := <-done; s.err == nil {
					s.conn.Close()
				}
			}()
			return nil, nil, nil, ctx.Err()
		}
	}
	if s.err == nil && ctx.Err() != nil {
		s.conn.Close()
		s.err = ctx.Err()
	}
	return s.conn, s.chans, s.reqs, s.err
}

// jump is a connection to a bastion that all behind it share.
type jump struct {
	mu       sync.Mutex
	client   *Client
	failed   error // why the last attempt failed, and when
	failedAt time.Time
}

// bastionOf returns the connection to the last jump host before t.
func (d *Dialer) bastionOf(ctx context.Context, t *dest, via []string) (*Client, error) {
	var at *Client
	var path strings.Builder
	for _, spec := range t.jump {
		if slices.Contains(via, spec) {
			return nil, fmt.Errorf("ProxyJump, which goes round in a circle: %s", strings.Join(append(via, spec), " > "))
		}
		via = append(slices.Clip(via), spec)
		path.WriteString(">" + spec)
		h, err := d.hop(ctx, spec)
		if err != nil {
			return nil, fmt.Errorf("jump host %s: %w", spec, err)
		}
		if at, err = d.bastion(ctx, path.String(), h, at, via); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// bastion returns the shared connection of a path of jump hosts.
func (d *Dialer) bastion(ctx context.Context, path string, h *dest, by *Client, via []string) (*Client, error) {
	d.mu.Lock()
	j := d.jumps[path]
	if j == nil {
		j = &jump{}
		d.jumps[path] = j
	}
	d.mu.Unlock()
	came := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client != nil {
		select {
		case <-j.client.Done():
			j.client = nil
		default:
			return j.client, nil
		}
	}
	// Those who waited here for the bastion share the answer: one by one, a
	// hundred machines behind a silent one would take a hundred times its time.
	if j.failed != nil && (j.failedAt.After(came) || time.Since(j.failedAt) < failureHolds) {
		return nil, j.failed
	}
	// A further hop is reached through the one before, not by ways of its own.
	c, err := d.dial(ctx, h, by, via)
	if err != nil && ctx.Err() == nil {
		j.failed, j.failedAt = err, time.Now()
	}
	j.client = c
	return c, err
}

// Close ends the connections to bastions.
func (d *Dialer) Close() {
	d.keeper.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, j := range d.jumps {
		if j.mu.TryLock() {
			if j.client != nil {
				_ = j.client.Close()
			}
			j.mu.Unlock()
		}
	}
}
