package sshexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/roster"
	"brine/internal/core/target"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/sshexec/link"
	"brine/sshexec/master"
	"brine/sshexec/relay"
)

// Settings are what a Provider is made of.
type Settings struct {
	Entries []*roster.Entry
	Dialer  *Dialer
	Images  *Images
	// Link is what the connections serve; Pillar of it is also what a target
	// is matched by.
	Link link.Options
	// Opts are the options that hold on every target; an entry's minion_opts go
	// over them.
	Opts *value.Map
	// GrainsAge is how long an answer of a machine about its grains holds while
	// nothing runs there that this run knows of; 0: for one match. GrainsDir is where
	// such answers are kept between runs; "" is nowhere. With Refresh those of
	// earlier runs do not count.
	GrainsDir string
	GrainsAge time.Duration
	Refresh   bool
	// Pauses returns the requests for the states of a job, see jobs.Pauses. nil: there are
	// none.
	Pauses func(jid string) *value.Map
	// Wipe removes the agents at the end, Deploy adds the public key to the
	// authorized_keys of each target, PreFlight runs ssh_pre_flight also where
	// the agent is there already.
	Wipe, Deploy, PreFlight bool
	// Files is how many descriptors the process may have, Procs how many
	// commands (ProxyCommand) may run at the same time; 0 means no limit. Once
	// says that each machine is worked on once: its connection is closed when
	// it is done.
	Files, Procs int
	Once         bool
	// Pushes is how many machines may receive the agent at the same time; 0
	// means DefaultPushes.
	Pushes int
	// Poll is the time between two looks at a machine that is waited for; it
	// grows with the wait. 0: 1 s.
	Poll time.Duration
	Now  func() time.Time
	Warn func(text string)
}

// A Provider is the machines of a roster that are reached over SSH. Each has
// one connection and one agent for the whole run, made when it is first needed.
type Provider struct {
	s       Settings
	closing <-chan struct{} // closed by Close
	shut    context.CancelFunc
	pauses  pauseFeed
	place   placer
	seals   seals
	room    room
	step    atomic.Int64 // number of the step under way

	mu       sync.RWMutex // guards what Add changes
	ids      []string
	targets  map[string]*machine
	warnings sync.Map // warnings that have been given
}

// machine is one target.
type machine struct {
	p *Provider
	e *roster.Entry

	prepared atomic.Bool

	users    int        // who uses it now; room.mu guards it
	dialing  sync.Mutex // held while a connection or an agent is made
	cost     cost       // of client
	client   *Client
	agent    *link.Conn
	used     time.Time    // when the agent was last asked for
	asked    time.Time    // when it was last asked what runs
	downs    atomic.Int32 // calls under way that ask the machine to go down
	boot     boots
	deployed bool
	failed   error // why the last attempt failed, and when
	failedAt time.Time

	relaying  relaying    // as the relay of others
	via       string      // the relay that client goes by; "" is none
	carriedBy *relay.Conn // of that relay, while client is dialled or is in use
	way       atomic.Pointer[sealedWay]

	gather     sync.Mutex   // guards grains and askFailure; held while the machine is asked
	grains     *gathering   // the last answer; nil: none
	askFailure askFailure   // that it could not be asked
	matches    atomic.Int64 // matches that have begun
	ran        atomic.Int64 // what has begun and ended there
	under      atomic.Int64 // what may be at work there
}

// NewProvider returns the provider of entries; nothing is dialled.
func NewProvider(s Settings) *Provider {
	if s.Poll <= 0 {
		s.Poll = time.Second
	}
	p := &Provider{s: s, pauses: pauseFeed{look: s.Pauses}, place: placer{images: s.Images, opts: s.Link, wipe: s.Wipe, turns: newTurns(s.Pushes)}, targets: map[string]*machine{}}
	p.Add(s.Entries)
	p.seals.drop = p.dropHeld
	p.room = room{limit: limitOf(s.Files, s.Procs), idle: map[*machine]time.Time{}}
	closing, shut := context.WithCancel(context.Background())
	p.closing, p.shut = closing.Done(), shut
	return p
}

// Add adds the machines of further entries. Existing machines are not changed.
func (p *Provider) Add(entries []*roster.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if p.targets[e.ID] != nil {
			continue
		}
		if pass := p.s.Dialer.o.Password; pass.IsSet() && !e.Passwd.IsSet() {
			// One password was asked for: it is that of the log-in and of sudo.
			c := *e
			c.Passwd, e = pass, &c
		}
		p.ids = append(p.ids, e.ID)
		p.targets[e.ID] = &machine{p: p, e: e}
	}
	sort.Strings(p.ids)
}

// machine returns the machine of an id; nil where there is none.
func (p *Provider) machine(id string) *machine {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.targets[id]
}

// known returns the ids, sorted.
func (p *Provider) known() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.ids)
}

// IDs returns the ids, sorted.
func (p *Provider) IDs(context.Context) ([]string, error) { return p.known(), nil }

// Minion returns what a machine is matched by, for one match. It is asked for
// grains that the roster does not have.
func (p *Provider) Minion(ctx context.Context, id string) target.Minion {
	m := p.machine(id)
	grains := m.grainsFor(ctx)
	return target.Minion{
		ID:      id,
		Grains:  func() value.Mapping { return grains },
		Pillar:  func() value.Mapping { return m.pillar(ctx, grains) },
		Unknown: grains.whyUnknown,
	}
}

// Kept is Minion for who may not have machines connected to: grains are those of the
// roster and those that were kept, and there is no pillar.
func (p *Provider) Kept(id string) target.Minion {
	grains := &keptGrains{m: p.machine(id)}
	return target.Minion{ID: id, Grains: func() value.Mapping { return grains }, Unknown: grains.whyUnknown}
}

// Prepare asks for what the connections to ids need, before they are made.
func (p *Provider) Prepare(ctx context.Context, ids []string) {
	entries := make([]*roster.Entry, 0, len(ids))
	add := func(m *machine) {
		// Each is asked for once: the steps of a run share the answers.
		if m != nil && m.e.Err == nil && m.prepared.CompareAndSwap(false, true) {
			entries = append(entries, m.e)
			for _, by := range []string{m.e.Relay, m.e.RelayFallback} {
				if b := p.machine(by); b != nil {
					b.relaying.behind.Add(1)
				}
			}
		}
	}
	for _, id := range ids {
		m := p.machine(id)
		add(m)
		if m != nil && m.e.Relay != "" {
			add(p.machine(m.e.Relay))
			add(p.machine(m.e.RelayFallback))
		}
	}
	p.s.Dialer.Prepare(ctx, entries)
}

// Run runs the job on one machine; begun is called when its agent has been sent the call.
func (p *Provider) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	m := p.machine(id)
	leave := m.enter()
	defer func() { leave(p.s.Once) }()
	over := m.runs()
	ret := m.run(ctx, job, begun)
	over(isOver(ret))
	return ret
}

// run is Run of one machine.
func (m *machine) run(ctx context.Context, job fun.Job, begun func()) fun.Return {
	id, p := m.e.ID, m.p
	fleet.Enter(ctx, fleet.Connecting)
	if job.Shell != "" {
		return m.shell(ctx, job)
	}
	conn, err := m.connect(ctx)
	if err != nil {
		return fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Err: err}
	}
	fleet.Enter(ctx, fleet.Running)
	if ctx.Err() != nil { // nothing new is to begin
		return fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Err: ctx.Err()}
	}
	defer p.pauses.during(job, conn)()
	if by, _, _ := asksDown(job); by != "" {
		m.downs.Add(1)
		defer m.downs.Add(-1)
	}
	ret := conn.Start(ctx, job, begun)
	if ret.Stage == fun.Unreachable && ctx.Err() == nil {
		// It ended after it was looked at, and never heard of the call.
		if conn, err = m.connect(ctx); err != nil {
			return fun.Return{ID: id, JID: job.JID, Stage: fun.Unreachable, Err: err}
		}
		ret = conn.Start(ctx, job, begun)
	}
	if ret.Stage == fun.Lost {
		ret.Away = link.IsLost(ret.Err)
		ret = m.fetch(ctx, job, ret)
	}
	ret.ID, ret.JID = id, job.JID
	if ret = m.downBy(ctx, job, ret); ret.Stage == fun.Lost && ctx.Err() == nil && ret.Err != nil {
		ret.Err = m.lost(ret)
	}
	return ret
}

// lost words that the connection ended while a call was under way.
func (m *machine) lost(ret fun.Return) error {
	hint := "the host may have gone down, or something ended the agent; what the call did until then is not known"
	err := fmt.Errorf("lost while the call was under way: %w", ret.Err)
	if after := ret.Progress(); after != "" {
		hint = "the host may have gone down, or something ended the agent; whether the next state did something is not known"
		err = fmt.Errorf("lost %s: %w", after, ret.Err)
	}
	if ret.Away {
		err = ret.Err
		hint = "the call goes on there, and the machine keeps its return: brine run jobs.lookup_jid " + ret.JID + " fetches it; ssh_reconnect is how long it is tried"
	}
	if link.TooLarge(ret.Err) {
		err, hint = ret.Err, "what the call did is done; have it print less, or write to a file that cp.push fetches"
	}
	// Where the machine is being dialled again, that is not waited for.
	if m.dialing.TryLock() {
		defer m.dialing.Unlock()
		if m.client != nil {
			return m.client.fail(Agent, err, hint)
		}
	}
	return &Error{ID: m.e.ID, Addr: m.e.Host, Stage: Agent, Err: err, Hint: hint}
}

// open returns the agent's connection where there is one; a machine that is
// being dialled has none.
func (m *machine) open() *link.Conn {
	if !m.dialing.TryLock() {
		return nil
	}
	defer m.dialing.Unlock()
	return m.agent
}

// failureHolds is how long a machine that could not be reached is not tried
// again: the steps of one moment share the answer.
const failureHolds = 5 * time.Second

// dial returns the connection, made again where it has ended. dialing is held.
func (m *machine) dial(ctx context.Context) (*Client, error) {
	if m.client != nil {
		select {
		case <-m.client.Done():
			m.client = nil
			m.release()
			if m.agent != nil && m.agent.Broken() == nil {
				m.agent = nil
			}
		default:
			return m.client, nil
		}
	}
	if m.failed != nil && m.p.s.Now().Sub(m.failedAt) < failureHolds {
		return nil, m.failed
	}
	c, err := m.reach(ctx)
	if err == nil && m.p.s.Deploy && !m.deployed {
		if err = m.p.s.Dialer.deploy(ctx, c, m.e); err != nil {
			_ = c.Close()
			m.release()
		}
		m.deployed = err == nil
	}
	if err != nil {
		m.fail(ctx, err)
		return nil, err
	}
	m.client, m.failed = c, nil
	return c, nil
}

// reach makes a connection when there is room for it. dialing is held.
func (m *machine) reach(ctx context.Context) (*Client, error) {
	m.release()
	by, err := m.carrier(ctx)
	if err != nil {
		return nil, err
	}
	if by == nil {
		if err := m.p.room.take(ctx, commandCost); err != nil {
			return nil, err
		}
		m.cost = commandCost
	}
	c, err := m.p.s.Dialer.dialBy(ctx, m.e, by)
	if err != nil {
		m.release()
		return nil, err
	}
	m.p.room.give(m.cost.minus(c.cost))
	m.cost = c.cost
	return c, nil
}

func (m *machine) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		m.failed, m.failedAt = err, m.p.s.Now()
	}
}

// connect returns the connection to the machine's agent.
func (m *machine) connect(ctx context.Context) (*link.Conn, error) {
	m.dialing.Lock()
	defer m.dialing.Unlock()
	if m.agent != nil {
		select {
		case <-m.agent.Done():
			m.agent = nil
		default:
			if m.answers(ctx) {
				return m.agent, nil
			}
			m.client, m.agent = nil, nil
		}
	}
	conn, err := m.launch(ctx)
	if err != nil {
		return nil, err
	}
	m.agent, m.used = conn, time.Now()
	m.boot.learn(conn.Facts().BootID, m.p.step.Load())
	return conn, nil
}

// The pauses between two tries to go on with a push: they grow by half.
const (
	pushPause    = 250 * time.Millisecond
	pushPauseMax = 5 * time.Second
)

// launch makes a connection and starts the agent over it. A push or a start that
// the network interrupted goes on over another connection, as long as a call would
// be waited for. dialing is held.
func (m *machine) launch(ctx context.Context) (*link.Conn, error) {
	var cut *interruptedError
	pause := pushPause
	for {
		c, err := m.dial(ctx)
		if err == nil {
			var conn *link.Conn
			if conn, err = m.begin(ctx, c); err == nil {
				return conn, nil
			}
			i := interrupted(c, err)
			if i == nil && c.giveUpMaster(err) && ctx.Err() == nil {
				_ = c.Close()
				continue // by a connection of brine's own
			}
			if i == nil && m.relayEnded(ctx, err) {
				i = &interruptedError{err: err, since: time.Now()}
			}
			if i == nil {
				m.fail(ctx, err)
				return nil, err
			}
			if cut == nil || i.got > cut.got {
				cut, pause = i, pushPause
			}
			_ = c.Close()
		}
		if cut == nil || c == nil && !passing(err) || time.Since(cut.since) >= m.p.place.opts.Reconnect || !m.rests(ctx, pause) {
			m.fail(ctx, err)
			return nil, err
		}
		m.p.s.Dialer.o.Log.Info("push again", "host", m.e.ID, "after", err)
		pause = min(pause*3/2, pushPauseMax)
	}
}

// silence is how long a host says nothing before it counts as one that cannot be
// heard, where its agent does not start.
const silence = 5 * time.Second

// interrupted returns how the network interrupted what was done over a connection
// before any call; nil: it did not.
func interrupted(c *Client, err error) *interruptedError {
	if i, ok := errors.AsType[*interruptedError](err); ok {
		return i
	}
	heard := time.Unix(0, c.pulse.read.Load())
	if c.Err() != nil || time.Since(heard) >= silence {
		return &interruptedError{err: err, since: heard}
	}
	return nil
}

// passing reports whether err is one of the network, which may pass.
func passing(err error) bool {
	if _, ok := errors.AsType[*interruptedError](err); ok {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Stage == Connect || errors.Is(err, errSilent) || dropped(err))
}

// rests waits, and reports whether the machine is wanted still.
func (m *machine) rests(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-m.p.closing:
	}
	return false
}

func (m *machine) begin(ctx context.Context, c *Client) (*link.Conn, error) {
	begun := time.Now()
	c.relink, c.share, c.large, c.keeps = m.relinker(c), m.sharer(), m.large(), m.relaying.behind.Load() > 0
	conn, err := m.p.place.agent(ctx, c, m.e, m.p.s.PreFlight)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, responseTimeout(m.e))
	defer cancel()
	if err := conn.Open(ctx, link.Target{ID: m.e.ID, Opts: m.opts(), Grains: m.e.Grains}); err != nil {
		_ = conn.Close()
		return nil, c.fail(Agent, err, "")
	}
	m.p.s.Dialer.o.Log.Debug("agent started", "host", m.e.ID, "after", time.Since(begun).Round(time.Millisecond))
	return conn, nil
}

// opts are the options of the machine: those of all targets, minion_opts over
// them.
func (m *machine) opts() *value.Map {
	o := m.p.s.Opts.Copy()
	for k, v := range m.e.MinionOpts.All() {
		if value.Str(k) != "grains" {
			o.Set(k, v)
		}
	}
	return o
}

// pillar renders the machine's pillar to match it by.
func (m *machine) pillar(ctx context.Context, grains *machineGrains) value.Mapping {
	render := m.p.s.Link.Pillar
	if render == nil {
		return value.NewMap(0)
	}
	grains.ahead()
	data, err := render(ctx, m.e.ID, grains, fun.PillarRequest{})
	if err != nil {
		m.p.warn(fmt.Sprintf("the pillar of %s does not render, so it is not matched by it: %v", m.e.ID, err))
		return value.NewMap(0)
	}
	return data
}

func (p *Provider) warn(text string) {
	if p.s.Warn != nil {
		p.s.Warn(text)
	}
}

// warnOnce is warn for what several targets find.
func (p *Provider) warnOnce(text string) {
	if _, told := p.warnings.LoadOrStore(text, true); !told {
		p.warn(text)
	}
}

// shellMax bounds what is kept of a raw command's output, each of stdout and
// stderr, in bytes.
const shellMax = 16 << 20

// shell runs a raw command: by the account's own shell, as ssh does, so that
// nothing is needed on the machine.
func (m *machine) shell(ctx context.Context, job fun.Job) fun.Return {
	ret := fun.Return{ID: m.e.ID, JID: job.JID}
	m.dialing.Lock()
	c, err := m.dial(ctx)
	m.dialing.Unlock()
	if err != nil {
		ret.Stage, ret.Err = fun.Unreachable, err
		return ret
	}
	fleet.Enter(ctx, fleet.Running)
	if ctx.Err() != nil { // nothing new is to begin
		ret.Stage, ret.Err = fun.Unreachable, ctx.Err()
		return ret
	}
	out, errs, status, err := c.raw(ctx, m.e, job.Shell)
	if errors.Is(err, master.ErrRefused) && ctx.Err() == nil {
		// Nothing was started. Another connection is brine's own.
		_ = c.Close()
		return m.shell(ctx, job)
	}
	if err != nil {
		ret.Stage, ret.Err = fun.Lost, err
		return ret
	}
	ret.Retcode = status
	ret.Body = fun.ValueBody{V: fleet.ShellValue(out, errs, status)}
	return ret
}

// raw runs a command line to its end.
func (c *Client) raw(ctx context.Context, e *roster.Entry, line string) (stdout, stderr string, status int, err error) {
	var s *stream
	pre := setup(e)
	if e.Sudo || e.SudoUser != "" || pre != "" {
		l := launchOf(e, pre+"exec </dev/null\n"+line)
		l.keep = shellMax
		s, err = c.start(ctx, l)
	} else {
		s, err = c.open(ctx, line, e.TTY, shellMax)
		if err == nil {
			_ = s.stdin.Close()
		} else {
			err = c.fail(Shell, err, "check that the account may run commands")
		}
	}
	if err != nil {
		return "", "", 0, err
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	out, rerr := io.ReadAll(io.LimitReader(s, shellMax))
	more := int64(0)
	if rerr == nil {
		more, _ = io.Copy(io.Discard, s)
	}
	status, err = s.settled(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", "", 0, c.fail(Shell, err, "")
	}
	stderr = s.errs.String()
	if more += s.errs.lost(); more > 0 {
		stderr += fmt.Sprintf("\nbrine: %d bytes of output beyond %d MiB were dropped", more, shellMax>>20)
		if status == 0 { // a result with a part missing is a failure
			status = 1
			stderr += ", so this counts as failed; the command itself returned 0"
		}
		stderr += ". Have it print less, or write to a file that cp.push fetches\n"
	}
	return string(out), stderr, status, nil
}

// Close ends the agents and the connections, and wipes what was asked to be.
func (p *Provider) Close() error {
	p.shut()
	// Relays last: the others are closed through them.
	relays, ids := map[string]bool{}, p.known()
	for _, id := range ids {
		m := p.machine(id)
		relays[m.e.Relay], relays[m.e.RelayFallback] = true, true
	}
	for _, id := range ids {
		p.machine(id).keepLast()
	}
	for _, last := range []bool{false, true} {
		var wg sync.WaitGroup
		for _, id := range ids {
			if m := p.machine(id); relays[id] == last {
				wg.Go(func() {
					m.endRelay()
					m.close()
				})
			}
		}
		wg.Wait()
	}
	p.s.Dialer.Close()
	p.seals.close()
	return nil
}

// closeTimeout bounds what is done at the end of a run.
const closeTimeout = 10 * time.Second

func (m *machine) close() {
	m.dialing.Lock()
	defer m.dialing.Unlock()
	m.closeHeld()
}

// closeHeld is close where dialing is held.
func (m *machine) closeHeld() {
	defer m.release()
	if m.agent != nil {
		_ = m.agent.Close()
	}
	m.closeWay()
	if m.client == nil {
		return
	}
	if m.p.s.Wipe {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := m.wipe(ctx); err != nil {
			m.p.warn(fmt.Sprintf("what brine placed could not be removed: %v", err))
		}
	}
	_ = m.client.Close()
	m.client, m.agent = nil, nil
}

func (m *machine) wipe(ctx context.Context) error {
	if m.client.bare.Load() {
		return nil // the agent was told to remove itself
	}
	s, err := m.client.start(ctx, launchOf(m.e, wipeScript(m.e)))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // the script's status was judged
	status, err := s.settled(ctx)
	if err != nil {
		return m.client.fail(Shell, err, "")
	}
	if status != 0 {
		return m.client.fail(Shell, errors.New(oneLine(s.complaint())), "")
	}
	return nil
}
