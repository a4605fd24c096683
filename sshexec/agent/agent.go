// Package agent is the target's end of a connection: it receives calls over a
// channel and answers them with an Env of that machine, whose files and pillar
// come from the controller.
//
// Start at [Serve]. Nothing is left running when the controller closes the
// channel: running calls are cancelled and their programs ended within five
// seconds. Processes that a call left behind on purpose survive. If the channel
// breaks instead, the calls continue; see rejoin.go.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// Bounds of what a controller may ask at once. A controller is trusted with the
// machine; the bounds keep its mistakes small.
const (
	maxFrame  = 16 << 20
	window    = 1 << 20
	maxCalls  = 256
	killGrace = 4 * time.Second
)

// Options are what an agent is made of.
type Options struct {
	// Hello is what the agent says of itself: version, os, arch, pid, uid,
	// boot_id, hostname.
	Hello *value.Map
	// Build makes the Env of a session. It is called once, when the controller
	// has opened the session.
	Build func(ctx context.Context, s Session) (*fun.Env, error)
	// Refresh brings the Env of the session up to date with the machine. It is
	// called before each call and each question for grains, one at a time; nil is
	// nothing to do.
	Refresh func(env *fun.Env)
	// Call calls a job's function with an Env made for that call.
	Call func(ctx context.Context, env *fun.Env, job fun.Job) fun.Return
	// Host is the machine: the cache lies on it.
	Host host.Host
	// CloseAll ends the programs of calls that still run.
	CloseAll func(ctx context.Context)
	// Fork returns the machine for one call, and what signals the programs that
	// the call runs. nil: all calls share Host.
	Fork func() (h host.Host, signal func(sig int))
	// Wake receives a value when other processes of the machine request signals
	// for calls; nil: they cannot.
	Wake <-chan os.Signal
	// Exe is the path of the running program, which jobs that are to outlive the
	// channel are run by; "" is not known.
	Exe string
	// PendingShutdown returns a scheduled shutdown of the machine: mode, at
	// (Unix microseconds) and by; an empty map if there is none. nil: it is not
	// known.
	PendingShutdown func(ctx context.Context) *value.Map
	// CacheDir keeps files from run to run; it must be the user's own with mode
	// 0700 and is made where it is not there. "" keeps nothing.
	CacheDir string
	// Wipe says that the agent is to remove itself at its end: it leaves nothing,
	// and calls that nobody comes back for end.
	Wipe      bool
	Heartbeat time.Duration // 0 is wire's default
	Log       *slog.Logger  // nil: none
}

// A Session is what the controller made of this agent.
type Session struct {
	ID     string
	Opts   *value.Map // configuration from the controller
	Grains *value.Map // of the roster: over the machine's own
	Up     fun.Upstream
	Bus    event.Bus
	Warn   func(fun.Warning)
	Fault  func(error)
	// Secret tells the controller a value that its records must not have.
	Secret func(value string)
}

// A server is one connection.
type server struct {
	o      Options
	m      *wire.Mux
	cache  *cache
	files  *upstream
	socket *resumeSocket // nil: the agent ends with its link
	alone  atomic.Bool   // the controller did not come back; calls go on
	ready  chan struct{} // closed when m is set

	listened atomic.Bool // the controller wants what programs print

	mu      sync.Mutex
	session *value.Map // what the controller opened; nil before
	build   sync.Once
	fresh   sync.Mutex // guards env once it is built
	env     *fun.Env
	envErr  error
	calls   map[*call]struct{}
	owed    []string              // jids of calls that a later look is to find
	done    []finished            // calls whose return may be on its way
	pauses  map[string]*value.Map // of state.pause and state.soft_kill, by jid
}

// A call is a function at work.
type call struct {
	job     fun.Job
	started time.Time
	cancel  context.CancelCauseFunc
	group   func(sig int) // signals its programs; nil: they are not known
	note    func() error  // notes it as one that a later look finds; nil: not yet
	kept    bool          // that was done; server.mu guards it and note
	left    atomic.Bool   // nobody waits for it any longer; it goes on
}

// Serve serves the controller at the other end of rw until the channel or ctx
// ends; then it ends the running calls, which takes five seconds at most. If
// the channel breaks, the calls continue, and the controller may reconnect (see
// [Resume]). The error is nil if the controller closed the channel.
func Serve(ctx context.Context, rw io.ReadWriteCloser, o Options) error {
	s := &server{o: o, ready: make(chan struct{}), calls: map[*call]struct{}{}}
	s.cache = openCache(o.Host, o.CacheDir, s.log)
	hello := value.MapOf("is", "brine agent")
	if o.Hello != nil {
		hello.Update(o.Hello)
	}
	hello.Set("trees", value.Strings(s.cache.trees()...))
	if s.socket = newResumeSocket(s.cache.dir); s.socket != nil {
		defer s.socket.close()
		hello.Set("token", s.socket.token)
	}
	m, err := wire.Greet(ctx, rw, wire.Options{
		Resume: s.socket != nil, Broken: s.broken,
		Role: wire.Agent, Hello: hello, Frame: maxFrame, Window: window, Streams: maxCalls, Heartbeat: o.Heartbeat,
		Handle: func(ctx context.Context, st *wire.Stream) error {
			<-s.ready
			s.listenSoon()
			return s.serve(ctx, st)
		},
		Note: s.note,
	})
	if err != nil {
		return err
	}
	s.m = m
	if s.socket != nil {
		s.socket.hold = holdOf(m.Peer())
	}
	s.files = newUpstream(m, s.cache)
	close(s.ready)
	go s.watchProcs(m.Done())
	select {
	case <-m.Done():
	case <-ctx.Done():
		m.Flush(time.Second)
		m.Close()
	}
	if s.alone.Load() || s.someLeft() {
		m.Wait() // calls go on without the controller
	}
	s.end()
	if err := m.Err(); errors.Is(err, wire.ErrEnded) {
		s.settle()
	}
	if err := m.Err(); !errors.Is(err, wire.ErrEnded) && !errors.Is(err, wire.ErrClosed) {
		return err
	}
	return ctx.Err()
}

// end ends the calls under way: the channel's end has cancelled them.
func (s *server) end() {
	ctx, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	returned := make(chan struct{})
	go func() {
		s.m.Wait()
		close(returned)
	}()
	if s.o.CloseAll != nil {
		s.o.CloseAll(ctx)
	}
	select {
	case <-returned:
		s.cache.prune()
	case <-ctx.Done():
	}
}

func (s *server) log(msg string, args ...any) {
	if s.o.Log != nil {
		s.o.Log.Warn(msg, args...)
	}
}

// note takes a message of the controller.
func (s *server) note(name string, v value.Value, _ int) {
	m, ok := v.(*value.Map)
	if ok && name == "leave" {
		s.leaveCalls(m.Str("jid"))
	}
	if ok && name == "gate" {
		s.takePauses(m)
	}
	if ok && name == "listen" {
		s.listened.Store(true)
	}
	if !ok || name != "session" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		s.session = m
	}
}

// open returns the Env of the session.
func (s *server) open() (*fun.Env, error) {
	s.mu.Lock()
	m := s.session
	s.mu.Unlock()
	if m == nil {
		return nil, wire.Refusef("the session is not open")
	}
	s.build.Do(func() {
		ses := Session{
			ID: m.Str("id"), Opts: m.Map("opts"), Grains: m.Map("grains"),
			Up: s.files.forJob("", "", nil), Warn: s.warn, Fault: s.fault, Secret: s.secret,
		}
		ses.Bus = &bus{Ring: event.NewRing(busSize, s.o.Host.Now), m: s.m, warn: s.warn}
		// The Env outlives the call that first asks for it.
		s.env, s.envErr = s.o.Build(context.Background(), ses)
		if s.envErr != nil {
			s.envErr = wire.Refusef("%v", s.envErr)
		}
	})
	if s.envErr != nil || s.o.Refresh == nil {
		return s.env, s.envErr
	}
	// Calls under way keep what they began with: they have copies.
	s.fresh.Lock()
	defer s.fresh.Unlock()
	env := *s.env
	s.o.Refresh(&env)
	s.env = &env
	return s.env, nil
}

// busSize is how many events an agent keeps for its own waiters.
const busSize = 1024

// A bus is the agent's own bus, whose events reach the controller too.
type bus struct {
	*event.Ring
	m    *wire.Mux
	warn func(fun.Warning)
}

// Fire puts an event on the bus and tells the controller.
func (b *bus) Fire(tag string, data *value.Map) {
	b.Ring.Fire(tag, data)
	if data == nil {
		data = value.NewMap(0)
	}
	if err := b.m.NoteWhenRoom("event", value.MapOf("tag", tag, "data", data)); err != nil && b.m.Err() == nil {
		b.warn(fun.Warning{Text: fmt.Sprintf("the event %q does not reach the controller: %v", tag, err)})
	}
}

func (s *server) warn(w fun.Warning) {
	_ = s.m.NoteWhenRoom("warn", value.MapOf("where", w.Where, "text", w.Text))
}

// secret is sent before anything that may contain the value: both use the same
// channel.
func (s *server) secret(text string) {
	_ = s.m.NoteWhenRoom("secret", value.MapOf("text", text))
}

func (s *server) fault(err error) {
	m := value.MapOf("text", faultText(err))
	if e, ok := errors.AsType[*source.Error](err); ok {
		m.Set("fault", value.MapOf("file", e.Pos.File, "line", int64(e.Pos.Line), "col", int64(e.Pos.Col), "msg", e.Err.Error(), "salt", e.Salt, "hint", e.Hint))
	}
	_ = s.m.NoteWhenRoom("fault", m)
}

// faultText is a fault with its place and how it was come to.
func faultText(err error) string {
	if e, ok := errors.AsType[*source.Error](err); ok {
		return e.Trace()
	}
	return err.Error()
}

// serve answers a request.
func (s *server) serve(ctx context.Context, st *wire.Stream) error {
	switch st.Method() {
	case "invoke":
		return s.invoke(ctx, st)
	case "running":
		return st.Answer(s.running())
	case "signal":
		return s.signal(st.Head())
	case "detach":
		return s.detach(ctx, st)
	case "left":
		return s.left(st)
	case "forget":
		return s.forget(st)
	case "grains":
		return s.grains(st)
	case "going":
		return s.pendingShutdown(ctx, st)
	}
	return wire.Refusef("there is no request %q", st.Method())
}

// jobOf reads the head of an invoke.
func jobOf(h *value.Map) (fun.Job, error) {
	arg, kw := h.List("arg"), h.Map("kwarg")
	job := fun.Job{Fun: h.Str("fun"), JID: h.Str("jid"), OrchJID: h.Str("orch"), User: h.Str("user"), Metadata: h.At("metadata"), Plan: h.At("plan") == true, NoSlots: h.At("no_slots") == true}
	if job.Fun == "" || arg == nil || kw == nil {
		return job, wire.Refusef("a call without a function or arguments")
	}
	job.Args = fun.Args{Pos: arg.Items, Kw: kw}
	if p := h.Map("published"); p != nil {
		job.Published, job.Tgt, job.TgtType, job.Returner = true, p.At("tgt"), p.Str("tgt_type"), p.Str("ret")
		job.Caller = p.Str("id")
	} else if p := h.Map("of"); p != nil {
		job.Tgt, job.TgtType, job.Returner = p.At("tgt"), p.Str("tgt_type"), p.Str("ret")
	}
	return job, nil
}

// errSignal is why a call was ended that the controller signalled.
var errSignal = errors.New("the job was ended by a signal")

func (s *server) invoke(ctx context.Context, st *wire.Stream) error {
	h := st.Head()
	job, err := jobOf(h)
	if err != nil {
		return err
	}
	// The call is listed for whoever asks while its files are still being
	// transferred.
	c := &call{job: job, started: s.o.Host.Now()}
	ctx, c.cancel = s.callContext(ctx, c)
	defer c.cancel(nil)
	s.add(c)
	defer s.remove(c)
	if n, ok := h.At("tree_size").(int64); ok {
		b, err := io.ReadAll(io.LimitReader(st, n+1))
		if err != nil {
			return err
		}
		if err := s.files.keep(b); err != nil {
			return err
		}
	}
	base, err := s.open()
	if err != nil {
		return err
	}
	up := s.files.forJob(job.JID, h.Str("tree"), h.List("ahead"))
	if h.Has("tree") {
		up.begin(ctx)
	}
	up.want = h.List("want")
	prog := &progress{st: st}
	env := base.Fork(func(e *fun.Env) {
		e.JID, e.OrchJID = job.JID, job.OrchJID
		e.Plan, e.NoSlots = job.Plan, job.NoSlots
		e.Up, e.Mine, e.Publisher = up, up, up
		e.Journal = prog
		s.equip(e, c)
	})
	defer s.noted(c, env)()
	s.givePillar(ctx, env, up, job, h.Has("tree"))
	out := &printed{to: prog}
	ret := s.o.Call(out.context(ctx, s, env, job), env, job)
	out.end()
	s.keepReturn(c, ret)
	if cause := context.Cause(ctx); errors.Is(cause, errSignal) && ret.Stage != fun.Returned {
		return cause
	}
	if ret.Stage != fun.Returned {
		if ret.Err == nil {
			ret.Err = errors.New(ret.Stage.String())
		}
		return ret.Err
	}
	if err := prog.end(); err != nil {
		return err
	}
	return s.answer(st, ret)
}

// givePillar gives an Env its pillar: the one that the controller renders when
// it is first read. For states it is asked for at once, while the first files
// are on their way.
func (s *server) givePillar(ctx context.Context, env *fun.Env, up *jobFiles, job fun.Job, states bool) {
	var early chan *value.Map
	if states && !job.Args.Kw.Has("pillar") && !job.Args.Kw.Has("pillarenv") {
		early = make(chan *value.Map, 1)
		grains := env.Grains
		go func() { early <- up.pillar(ctx, fun.PillarRequest{Grains: grains}) }()
	}
	env.Pillar = value.NewLazyMap(func() *value.Map {
		if early != nil && env.PillarOverride == nil {
			return <-early
		}
		return up.pillar(ctx, fun.PillarRequest{Override: env.PillarOverride, Grains: env.Grains})
	})
	up.grains = func() value.Mapping { return env.Grains }
}

// answer sends a return: its value as JSON, the rest with the end.
func (s *server) answer(st *wire.Stream, ret fun.Return) error {
	end := value.MapOf("retcode", int64(ret.Retcode), "raised", ret.Raised, "out", ret.Out)
	if ret.Each != nil {
		end.Set("each", ret.Each)
	}
	var err error
	switch b := ret.Body.(type) {
	case nil:
		_, err = io.WriteString(st, "null")
	case fun.ValueBody:
		_, err = st.Write(value.EncodeJSON(b.V))
	default:
		var f io.ReadCloser
		if f, err = b.Open(); err == nil {
			_, err = io.Copy(onlyWriter{st}, f)
			f.Close()
		}
	}
	if err != nil {
		return err
	}
	return st.CloseWrite(nil, end)
}

type onlyWriter struct{ io.Writer }

func (s *server) add(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c] = struct{}{}
}

func (s *server) remove(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c)
}

// running lists the calls at work.
func (s *server) running() *value.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := value.NewList()
	for c := range s.calls {
		l.Append(value.MapOf(
			"jid", c.job.JID, "fun", c.job.Fun, "arg", value.NewList(c.job.Args.Pos...), "kwarg", c.job.Args.Kw,
			"started", c.started.UnixNano(),
		))
	}
	return l
}

// signal ends the calls of a job, as one of the signals that end a process.
func (s *server) signal(h *value.Map) error {
	jid, sig := h.Str("jid"), h.At("signal")
	switch sig {
	case int64(1), int64(2), int64(3), int64(9), int64(15):
	default:
		return wire.Refusef("signal %v cannot be sent to a job, only 1, 2, 3, 9 and 15", sig)
	}
	n, _ := sig.(int64)
	found := s.signalJob(jid, int(n))
	if !found {
		return wire.Refusef("no job %s runs here", jid)
	}
	return nil
}
