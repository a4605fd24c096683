package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/tee"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Defaults of [Options].
const (
	defaultReturn = 64 << 20
	defaultSpill  = 64 << 10
	// maxSmall bounds the answers that are kept as values: grains, jobs.
	maxSmall = 4 << 20
)

// A Conn is a connection to an agent. It is safe for concurrent use.
type Conn struct {
	m       *wire.Mux
	o       Options
	facts   Facts
	minion  atomic.Pointer[string] // the id, once it is open
	allowed allowance
	secrets struct { // what was taken of them
		sync.Mutex
		count, bytes int
		warned       bool
	}
	trees   treeNames
	grains  atomic.Pointer[value.Map] // of the roster
	pillars chan struct{}             // one at a time: a slot
	work    chan struct{}             // slots of requests that cost the controller
	reads   chan struct{}             // slots of readers of the mine
	mines   chan struct{}             // slots of changes of the mine
	peers   chan struct{}             // slots of calls on other machines
	closed  atomic.Bool
	listens atomic.Bool // the agent was asked for what programs print
}

// Connect exchanges hellos with the agent at the other end of rw and returns
// the connection. Output before the agent's hello (motd, output of shell start
// files) is skipped up to MaxNoise. If ctx ends first, it closes rw. If
// something else answers, the error is a *wire.NoHelloError with the end of
// what it wrote.
func Connect(ctx context.Context, rw io.ReadWriteCloser, o Options) (*Conn, error) {
	if o.Tree == nil {
		o.Tree = NewTree(o.Files)
	}
	if o.MaxReturn <= 0 {
		o.MaxReturn = defaultReturn
	}
	if o.Spill <= 0 {
		o.Spill = defaultSpill
	}
	if o.SpillDir == "" {
		o.SpillDir = os.TempDir()
	}
	if o.MaxNoise == 0 {
		o.MaxNoise = wire.DefaultNoise
	}
	c := &Conn{o: o, pillars: make(chan struct{}, 1), work: make(chan struct{}, maxWork), reads: make(chan struct{}, maxWork), mines: make(chan struct{}, 1), peers: make(chan struct{}, maxPeers)}
	ready := make(chan struct{})
	resume := o.Relink != nil && o.Reconnect > 0
	m, err := wire.Greet(ctx, rw, wire.Options{
		Role: wire.Controller, Noise: o.MaxNoise, Frame: int(o.MaxFrame), Heartbeat: o.Heartbeat,
		Hello: value.MapOf("reconnect", int64(o.Reconnect)), Resume: resume,
		Broken: func(err error) {
			<-ready
			c.relink(err)
		},
		Handle: func(ctx context.Context, s *wire.Stream) error {
			<-ready
			return c.serve(ctx, s)
		},
		Note: func(name string, v value.Value, size int) {
			<-ready
			c.note(name, v, size)
		},
	})
	if err != nil {
		return nil, err
	}
	c.m = m
	close(ready)
	if c.facts, err = factsOf(m.Peer()); err != nil {
		m.Close()
		return nil, err
	}
	c.trees.known(m.Peer().List("trees"))
	return c, nil
}

// factsOf reads a hello.
func factsOf(m *value.Map) (Facts, error) {
	if m.Str("is") != "brine agent" {
		return Facts{}, errors.New("the remote program is not a brine agent")
	}
	num := func(k string) int { n, _ := value.AsInt(m.At(k)); return int(n) }
	text := func(k string) string { return shownLine(m.Str(k)) }
	return Facts{
		Proto: num("proto"), Version: text("version"), OS: text("os"), Arch: text("arch"),
		PID: num("pid"), UID: num("uid"), BootID: text("boot_id"), Hostname: text("hostname"),
	}, nil
}

// Facts returns what the agent said of itself.
func (c *Conn) Facts() Facts { return c.facts }

// id returns the id of the target; "" before Open.
func (c *Conn) id() string {
	if p := c.minion.Load(); p != nil {
		return *p
	}
	return ""
}

// Open makes the agent the minion t. It does not wait for the agent: what it
// cannot do with t, the first call tells. To be called once, before all else.
func (c *Conn) Open(ctx context.Context, t Target) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.ID == "" {
		return errors.New("a target has no id")
	}
	id := strings.Clone(t.ID)
	if !c.minion.CompareAndSwap(nil, &id) {
		return fmt.Errorf("the connection is that of %s already", c.id())
	}
	c.grains.Store(dict(t.Grains))
	return c.m.Note("session", value.MapOf("id", id, "opts", dict(t.Opts), "grains", dict(t.Grains)))
}

func dict(m *value.Map) *value.Map {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}

// Invoke calls an execution function on the target; many calls may be under
// way at once. What goes wrong is in the Return: Lost where the connection ended
// or ctx was cancelled, TimedOut where ctx's deadline passed, Refused where the
// agent would not begin, Unreachable where the connection had ended before.
// When ctx ends, the agent ends the call and its processes; Invoke does not
// wait for that. Of states, those that were done are in the Return's Partial.
func (c *Conn) Invoke(ctx context.Context, job fun.Job) fun.Return {
	return c.Start(ctx, job, func() {})
}

// Start is Invoke, and calls begun when the agent has been sent the call: from
// then on it knows of the job.
func (c *Conn) Start(ctx context.Context, job fun.Job, begun func()) fun.Return {
	ret := fun.Return{ID: c.id(), JID: job.JID}
	done := partial{room: &c.o.Tree.room}
	defer done.done()
	if src := tee.From(ctx); src != nil {
		done.printed = src.Relay
		defer c.listen(src)()
	}
	if err := c.invoke(ctx, job, &ret, &done, begun); err != nil {
		if f, ok := ret.Body.(io.Closer); ok {
			_ = f.Close() // of a return that is refused nothing is kept
		}
		ret.Body, ret.Retcode, ret.Raised, ret.Out = nil, 0, false, ""
		ret.Stage, ret.Err = c.stage(ctx, err), err
		done.into(&ret)
	}
	return ret
}

// listen has the agent send what programs print, from the time on when somebody wants it.
// The channel keeps the order, so a call that follows knows.
func (c *Conn) listen(src *tee.Source) (cancel func()) {
	ask := func() {
		if c.listens.CompareAndSwap(false, true) {
			_ = c.m.Note("listen", value.NewMap(0)) // a channel that is gone shows elsewhere
		}
	}
	if src.Wanted() {
		ask()
	}
	return src.OnWanted(ask)
}

// errNotBegun marks a call that the agent never heard of.
var errNotBegun = errors.New("the call was not begun")

func (c *Conn) invoke(ctx context.Context, job fun.Job, ret *fun.Return, done *partial, begun func()) error {
	head := headOf(job)
	c.trees.job(job.JID)
	c.trees.name(job)
	tree, err := c.prepare(ctx, job, head)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	s, err := c.m.Open(ctx, "invoke", head, tree != nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer s.Close()
	begun()
	if tree != nil {
		if _, err := s.Write(tree); err != nil {
			return err
		}
		if err := s.CloseWrite(nil, nil); err != nil {
			return err
		}
	}
	r := bufio.NewReader(s)
	if err := done.read(r, c.o.MaxReturn); err != nil {
		return err
	}
	if ret.Body, err = c.o.Tree.spool.readBody(r, c.o.Spill, c.o.MaxReturn, c.o.SpillDir); err != nil {
		return err
	}
	end := s.Closing()
	code, ok := value.AsInt(end.At("retcode"))
	raised, ok2 := end.At("raised").(bool)
	switch {
	case !ok || !ok2:
		return errors.New("the agent's return has no return code")
	case ret.Body.Size() == 0:
		return errors.New("the agent's return has no value")
	}
	if err := c.o.Tree.room.take(job.JID, ret.Body, c.o.Spill); err != nil {
		return err
	}
	ret.Retcode, ret.Raised, ret.Out, ret.Each = int(int32(code)), raised, outName(end.Str("out")), fun.EachOf(end.At("each"))
	return nil
}

// prepare adds to the head of a state call what the target most likely needs of
// the tree. It returns the encoded tree where the agent does not have it.
func (c *Conn) prepare(ctx context.Context, job fun.Job, head *value.Map) ([]byte, error) {
	if !job.OfState() {
		return nil, nil
	}
	snap, err := c.o.Tree.at(ctx, job.JID)
	if err != nil {
		return nil, fmt.Errorf("list the files of the tree: %w", err)
	}
	head.Set("tree", snap.id)
	refs := c.o.Tree.aheadOf(ctx, snap, job, saltEnv(job))
	ahead := make([]value.Value, 0, len(refs))
	for _, r := range refs {
		body := r.body && (c.o.Large == nil || r.file.Size < LargeFile)
		if body || r.file.Sum == "" && r.sum != "" {
			ahead = append(ahead, value.Tuple{r.env, r.file.Path, r.sum, body})
		}
	}
	head.Set("ahead", value.NewList(ahead...))
	head.Set("want", value.NewList(c.o.Tree.wants.list(c.o.PillarGrains)...))
	if c.trees.add(snap.id) {
		return nil, nil
	}
	head.Set("tree_size", int64(len(snap.encoded)))
	return snap.encoded, nil
}

// saltEnv returns the saltenv that a call names; base where it names none.
func saltEnv(job fun.Job) string {
	for _, call := range append(job.Compound(), job) {
		if s := call.Args.Kw.Str("saltenv"); s != "" {
			return s
		}
	}
	return "base"
}

// outName returns the name of an outputter as the agent gave it, "" where it is
// none.
func outName(s string) string {
	if len(s) > 32 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return ""
	}
	return s
}

// stage says how far a call came that failed with err.
func (c *Conn) stage(ctx context.Context, err error) fun.Stage {
	var remote *wire.RemoteError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fun.TimedOut
	case ctx.Err() != nil:
		return fun.Lost
	case errors.As(err, &remote) && (remote.Code == wire.CodeRefused || remote.Code == wire.CodeBusy):
		return fun.Refused
	case errors.Is(err, errNotBegun) && c.m.Err() != nil:
		return fun.Unreachable
	case errors.Is(err, errNotBegun):
		return fun.Refused
	}
	return fun.Lost
}

// Running returns the calls that the agent works on: what find_job and
// saltutil.running ask.
func (c *Conn) Running(ctx context.Context) ([]Running, error) {
	v, err := c.m.Call(ctx, "running", nil, maxSmall)
	if err != nil {
		return nil, err
	}
	l, _ := v.(*value.List)
	out := make([]Running, 0, l.Len())
	for i := range l.Len() {
		m, ok := l.Items[i].(*value.Map)
		if !ok {
			return nil, errors.New("the agent's list of calls is invalid")
		}
		r := Running{JID: m.Str("jid"), Fun: m.Str("fun"), PID: c.facts.PID}
		if a := m.List("arg"); a != nil {
			r.Args.Pos = a.Items
		}
		r.Args.Kw = m.Map("kwarg")
		if ns, ok := m.At("started").(int64); ok {
			r.Started = time.Unix(0, ns)
		}
		out = append(out, r)
	}
	return out, nil
}

// Signal ends the call of a job as signal 1, 2, 3, 9 or 15 would. It returns an
// error where no such job runs, or where the signal has no meaning for a call.
func (c *Conn) Signal(ctx context.Context, jid string, sig int) error {
	_, err := c.m.Call(ctx, "signal", value.MapOf("jid", jid, "signal", int64(sig)), maxSmall)
	return err
}

// Grains returns grains of the target as they are now, those of the roster over its
// own; all of them where keys is empty. With ready they are those of keys beside
// those that cost the target nothing.
func (c *Conn) Grains(ctx context.Context, keys []string, ready bool) (*value.Map, error) {
	v, err := c.m.Call(ctx, "grains", value.MapOf("keys", value.Strings(keys...), "ready", ready), maxSmall)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, errors.New("the agent's grains are not a dict")
	}
	return m, nil
}

// Done is closed when the connection has ended; Err then says why.
func (c *Conn) Done() <-chan struct{} { return c.m.Done() }

// Err returns why the connection ended; nil while it lives and after Close.
func (c *Conn) Err() error {
	if c.closed.Load() {
		return nil
	}
	return c.m.Err()
}

// Close ends the connection: the agent ends the calls still running and
// itself.
func (c *Conn) Close() error {
	if c.m.Err() == nil {
		c.closed.Store(true)
	}
	return c.m.Close()
}
