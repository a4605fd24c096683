package saltapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/target"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Options are what a [Provider] is made of.
type Options struct {
	Config Config
	Cache  string // directory of the tokens; "" keeps none
	NewJID func() string
	// Bus gets the events of the master; nil: nothing does.
	Bus event.Bus
	// IsOwnJob reports whether a jid is that of a job of this run, whose events a master
	// cannot make; nil: none is.
	IsOwnJob func(jid string) bool
	Warn     func(text string)
	Now      func() time.Time
	// Gather is how long minions have to answer a question.
	Gather time.Duration
	// Secret, if not nil, is called with the credentials of the master, which
	// must not appear in records.
	Secret func(text string)
	// Draining reports whether the run was asked to begin nothing new; nil: it was not.
	Draining func() bool
}

// A Provider is the minions of one master.
type Provider struct {
	o      Options
	c      *client
	stream *stream

	ctx      context.Context //nolint:containedctx // the life of the provider, which Close ends
	end      context.CancelFunc
	begin    sync.Once
	running  sync.WaitGroup
	look     chan struct{} // asks to look up the open jobs
	warnings sync.Map      // warnings that have been given
	warned   atomic.Int32  // how many

	mu      sync.Mutex
	known   map[string]bool // ids that were found, with the prefix
	pubs    map[string]*publication
	jobs    map[work]*publication
	forming map[string]*publication // by the jid of the job
	used    map[string]bool         // jids of jobs that were published under their own jid
	asks    map[string]*question
	runs    map[string]*value.Map // returns of runners, while some are waited for
	calls   int                   // calls of runners whose jid is not known yet
	early   int64                 // what runs took in memory since there are such calls
	awaited map[string]bool       // jids of runners that are waited for

	ran   atomic.Int64 // what has begun and ended on minions
	found answers[finding]
	left  answers[leftover]
}

// work is a job on a machine.
type work struct{ jid, id string }

// New returns the provider of a master; nothing is connected to.
func New(o Options) (*Provider, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Gather <= 0 {
		o.Gather = fleet.DefaultGather
	}
	if o.Config.Minions == 0 {
		o.Config.Minions = DefaultMinions
	}
	if o.IsOwnJob == nil {
		o.IsOwnJob = func(string) bool { return false }
	}
	c, err := newClient(o.Config, o.Cache, o.Now)
	if err != nil {
		return nil, fmt.Errorf("fleets: %s: %w", o.Config.Name, err)
	}
	p := &Provider{
		o: o, c: c, stream: newStream(c), look: make(chan struct{}, 1),
		known: map[string]bool{}, pubs: map[string]*publication{}, jobs: map[work]*publication{}, forming: map[string]*publication{},
		used: map[string]bool{}, asks: map[string]*question{}, runs: map[string]*value.Map{}, awaited: map[string]bool{},
		found: answers[finding]{now: o.Now}, left: answers[leftover]{now: o.Now, faults: true},
	}
	if c.secret = o.Secret; o.Secret == nil {
		c.secret = func(string) {}
	}
	for _, text := range []string{o.Config.Password, o.Config.Token, c.token} {
		if text != "" {
			c.secret(text)
		}
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.stream.event, p.stream.up, p.stream.warn = p.event, p.lookSoon, p.warnOnce
	return p, nil
}

// Close ends the connections.
func (p *Provider) Close() error {
	p.end()
	p.running.Wait()
	p.c.http.CloseIdleConnections()
	return nil
}

// FleetName returns the name that the fleet is configured under.
func (p *Provider) FleetName() string { return p.o.Config.Name }

// maxWarnings is how many warnings a master can cause: some have text of it.
const maxWarnings = 200

func (p *Provider) warnOnce(text string) {
	if p.o.Warn == nil || p.warned.Load() >= maxWarnings {
		return
	}
	if _, told := p.warnings.LoadOrStore(text, true); told {
		return
	}
	switch n := p.warned.Add(1); {
	case n == maxWarnings:
		p.o.Warn(fmt.Sprintf("fleet %s: further warnings of it are not shown", p.FleetName()))
	case n < maxWarnings:
		p.o.Warn(printable.Line(text))
	}
}

// IDs returns the ids that have been found so far, sorted: which there are is
// asked of the master for each target.
func (p *Provider) IDs(context.Context) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]string, 0, len(p.known))
	for id := range p.known {
		out = append(out, id)
	}
	sort.Strings(out)
	return out, nil
}

// Minion returns the id: what else a minion is matched by, its master knows.
func (p *Provider) Minion(_ context.Context, id string) target.Minion {
	return target.Minion{ID: id, Unknown: func() error { return errors.New("its master matches it") }}
}

// minion returns the id of a machine as its master has it.
func (p *Provider) minion(id string) string { return strings.TrimPrefix(id, p.o.Config.Prefix) }

// Follow begins to follow the events of the master.
func (p *Provider) Follow() {
	p.begin.Do(func() {
		p.running.Go(func() { p.stream.run(p.ctx) })
		p.running.Go(p.recheck)
	})
}

// drainEvery is how often the provider checks whether the run is draining.
const drainEvery = 100 * time.Millisecond

// untilDrained returns a context for what comes before anything is begun: it also ends
// when the run is to begin nothing new, with [fun.ErrStopped] as its cause. A master
// that hangs does not hold up who stops a run.
func (p *Provider) untilDrained(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.o.Draining == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTicker(drainEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if p.o.Draining() {
				cancel(fun.ErrStopped)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// drained returns why something did not begin: the run was stopped, or else err.
func drained(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), fun.ErrStopped) {
		return fun.ErrStopped
	}
	return err
}

// Listen follows the events of the master, and waits until they arrive or turn
// out to be unavailable.
func (p *Provider) Listen(ctx context.Context) {
	p.Follow()
	select {
	case <-p.stream.tried:
	case <-ctx.Done():
	case <-time.After(listenWait):
	}
}

// listenWait is how long a job waits for the events to be followed: what is missed
// is looked up.
const listenWait = 10 * time.Second

// A publication is a job as it was given to the master.
type publication struct {
	jid   string // on the master
	job   fun.Job
	sent  chan struct{} // closed when it is about to be published: who leaves later may be at work
	ready chan struct{} // closed when it is published, or failed
	err   error         // why it failed
	lost  bool          // where err: it may be at work
	// The rest is guarded by Provider.mu, and so is jid until ready is closed.
	waits    map[string]*wait // by the minion's own id
	open     int
	known    map[string]bool // minions that the master says it was sent to; nil: not known
	returned bool            // a minion returned
	over     bool            // of hosts of salt-ssh: the request was answered
	// ending is the last question to end it; nil: there was none.
	ending *ending
}

// wait is a minion whose return is waited for.
type wait struct {
	ret  chan fun.Return // has room for one
	done bool
}

// doneWait stands for a wait that is over: the events of a job may come for long, and say
// nothing new then.
var doneWait = &wait{done: true}

// Publish has the master publish a job to all of ids at once; their Runs wait for
// the returns.
func (p *Provider) Publish(ctx context.Context, job fun.Job, ids []string) {
	if p.o.Config.SSH && job.Async {
		return // Detach says why
	}
	p.mu.Lock()
	pub := p.newPublication(job)
	for _, id := range ids {
		p.join(pub, id)
	}
	p.mu.Unlock()
	p.running.Go(func() { p.publish(ctx, pub) })
}

// newPublication begins a publication. The first of a job has the job's own jid.
// mu is held.
func (p *Provider) newPublication(job fun.Job) *publication {
	pub := &publication{jid: job.JID, job: job, sent: make(chan struct{}), ready: make(chan struct{}), waits: map[string]*wait{}}
	if p.used[job.JID] || !jobs.IsJID(job.JID) {
		pub.jid = p.o.NewJID()
	}
	p.used[job.JID] = true
	p.ran.Add(1)
	p.pubs[pub.jid] = pub
	return pub
}

// join adds a machine to a publication. mu is held.
func (p *Provider) join(pub *publication, id string) {
	pub.waits[p.minion(id)] = &wait{ret: make(chan fun.Return, 1)}
	pub.open++
	p.jobs[work{pub.job.JID, id}] = pub
}

// gatherRuns is how long the Runs of a job that was not published for all its
// machines at once, but in batches, are gathered.
const gatherRuns = 20 * time.Millisecond

// publicationOf returns the publication that a machine is part of.
func (p *Provider) publicationOf(ctx context.Context, job fun.Job, id string) *publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pub := p.jobs[work{job.JID, id}]; pub != nil {
		return pub
	}
	pub := p.forming[job.JID]
	if pub == nil {
		pub = p.newPublication(job)
		p.forming[job.JID] = pub
		ctx := context.WithoutCancel(ctx) // the others go on where this machine is given up
		p.running.Go(func() {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(p.ctx, cancel)()
			select {
			case <-time.After(gatherRuns):
			case <-p.ctx.Done():
			}
			p.mu.Lock()
			delete(p.forming, job.JID)
			p.mu.Unlock()
			p.publish(ctx, pub)
		})
	}
	p.join(pub, id)
	return pub
}

// Run waits for the return of a machine. A job that was not published yet is
// published, together with others that begin at the same time.
func (p *Provider) Run(ctx context.Context, job fun.Job, id string, begun func()) fun.Return {
	fleet.Enter(ctx, fleet.Connecting)
	pub := p.publicationOf(ctx, job, id)
	ret := fun.Return{ID: id, JID: job.JID, Fleet: p.FleetName()}
	defer p.leave(pub, id)
	select {
	case <-pub.sent:
	case <-pub.ready:
	case <-ctx.Done():
	}
	if closed(pub.sent) {
		fleet.Enter(ctx, fleet.Running) // it is not let go any more when the run is stopped
	}
	select {
	case <-pub.ready:
	case <-ctx.Done():
		return p.unready(ctx, pub, ret)
	}
	w, known := p.waitOf(pub, id)
	ret.FleetJID = pub.jid
	switch {
	case pub.err != nil && pub.lost:
		ret.Stage, ret.Err, ret.Away = fun.Lost, pub.err, true
		return ret
	case pub.err != nil:
		ret.Stage, ret.Err, ret.FleetJID = fun.Unreachable, pub.err, ""
		return ret
	case !known:
		ret.Stage, ret.Err = fun.Unreachable, fmt.Errorf("the master of fleet %s did not send the job to %s: it has no key of it, or does not permit it", p.FleetName(), p.minion(id))
		return ret
	}
	begun()
	select {
	case got := <-w.ret:
		return got
	case <-ctx.Done():
		ret.Stage, ret.Away, ret.Err = fun.Lost, true, p.endOn(ctx, pub, p.minion(id))
		return ret
	}
}

// unready is the return of a machine that leaves a publication before the master has
// answered.
func (p *Provider) unready(ctx context.Context, pub *publication, ret fun.Return) fun.Return {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := pub.waits[p.minion(ret.ID)]; w != nil && !w.done {
		w.done = true
		pub.open--
	}
	ret.Stage, ret.Err = fun.Lost, fmt.Errorf("before the job was published: %w", ctx.Err())
	if closed(pub.sent) {
		ret.Err = fmt.Errorf("while the job was being published: %w", ctx.Err())
		ret.FleetJID, ret.Away = pub.jid, true
	}
	return ret
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// waitOf returns the wait of a machine, and whether the master sent it the job.
func (p *Provider) waitOf(pub *publication, id string) (w *wait, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pub.waits[p.minion(id)], pub.known == nil || pub.known[p.minion(id)]
}

// leave ends the wait for a machine.
func (p *Provider) leave(pub *publication, id string) {
	p.ran.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := pub.waits[p.minion(id)]; w != nil {
		if !w.done {
			w.done = true
			pub.open--
		}
		pub.waits[p.minion(id)] = doneWait
	}
	delete(p.jobs, work{pub.job.JID, id})
}

// Leave reports that the master keeps the return of a machine that is given up.
func (p *Provider) Leave(id, jid string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pub := p.jobs[work{jid, id}]
	return pub != nil && closed(pub.sent)
}

// publish gives a publication to the master.
func (p *Provider) publish(ctx context.Context, pub *publication) {
	chosen := pub.jid
	defer func() {
		other := pub.jid != chosen
		close(pub.ready)
		if other { // returns under the master's jid may have come before that was known
			p.lookSoon()
		}
	}()
	p.Listen(ctx)
	p.mu.Lock()
	minions := make([]string, 0, len(pub.waits))
	for id, w := range pub.waits {
		if !w.done {
			minions = append(minions, id)
		}
	}
	if len(minions) == 0 || ctx.Err() != nil {
		p.mu.Unlock()
		pub.err = fun.ErrStopped
		return
	}
	close(pub.sent)
	p.mu.Unlock()
	slices.Sort(minions)
	if p.o.Config.SSH {
		if pub.job.Compound() != nil {
			pub.err = errors.New("salt-ssh runs one function at a time")
			return
		}
		p.running.Go(func() { p.runSSH(pub, minions) })
		return
	}
	reply, err := p.c.call(ctx, opRun, lowOf(pub, minions))
	if err != nil {
		if unsent(err) || refused(err) || ctx.Err() != nil && p.c.lastAnswer.Load() == 0 {
			pub.err = err
			return
		}
		// The request may have arrived, and only the answer been lost: the jid was
		// chosen here, so the master can be asked.
		pub.err = p.recover(pub, err)
		pub.lost = pub.err != nil && !errors.Is(pub.err, errUnknownJob)
		return
	}
	p.accepted(pub, reply)
}

// lowOf is the low chunk that publishes a job to a list of minions.
func lowOf(pub *publication, minions []string) *value.Map {
	job := pub.job
	low := value.MapOf("client", "local_async", "tgt", value.Strings(minions...), "tgt_type", "list", "jid", pub.jid)
	switch calls := job.Compound(); {
	case job.Shell != "":
		low.Set("fun", "cmd.run_all")
		low.Set("arg", value.NewList(job.Shell))
		low.Set("kwarg", value.MapOf("python_shell", true))
	case calls != nil:
		low.Set("fun", value.Strings(strings.Split(job.Fun, ",")...))
		low.Set("arg", value.NewList(job.Args.Pos...))
	default:
		low.Set("fun", job.Fun)
		low.Set("arg", value.NewList(job.Args.Pos...))
		if job.Args.Kw.Len() > 0 {
			low.Set("kwarg", job.Args.Kw)
		}
	}
	if job.Metadata != nil {
		low.Set("metadata", job.Metadata)
	}
	return low
}

// accepted takes the master's answer to a publication.
func (p *Provider) accepted(pub *publication, reply value.Value) {
	m, ok := reply.(*value.Map)
	if !ok {
		pub.err = p.c.fault(opRun, 0, "", errNotSaltAPI)
		return
	}
	if m.Len() == 0 { // to a master, nobody matched
		pub.known = map[string]bool{}
		return
	}
	jid := m.Str("jid")
	if !jobs.IsJID(jid) {
		pub.err, pub.lost = p.c.fault(opRun, 0, "", errNotSaltAPI), true
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if jid != pub.jid && (p.pubs[jid] != nil || p.asks[jid] != nil) { // the returns of one would be taken for those of the other
		pub.err, pub.lost = p.c.fault(opRun, 0, "", errNotSaltAPI), true
		return
	}
	if sent := m.List("minions"); sent != nil {
		pub.known = make(map[string]bool, len(pub.waits))
		for _, v := range sent.Items {
			if id, ok := v.(string); ok && pub.waits[id] != nil {
				pub.known[id] = true
			}
		}
	}
	if jid != pub.jid {
		delete(p.pubs, pub.jid)
		pub.jid = jid
		p.pubs[jid] = pub
	}
}

// tooMany returns an error where a master names more minions than there may be.
func (p *Provider) tooMany(op string, n int) error {
	if n <= p.o.Config.Minions {
		return nil
	}
	return p.c.fault(op, 0, "", fmt.Errorf("the master names %d minions, more than %d (the key max_minions of the fleet %s)", n, p.o.Config.Minions, p.FleetName()))
}

// idSet returns the ids of a list.
func idSet(l *value.List) map[string]bool {
	if l == nil {
		return nil
	}
	out := make(map[string]bool, l.Len())
	for _, v := range l.Items {
		if id, ok := v.(string); ok && isID(id) {
			out[id] = true
		}
	}
	return out
}

// isID reports whether text can be the id of a minion, and the name of a file.
func isID(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 255 || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' })
}

// recoverPause is the time between two looks at whether a job was published.
const recoverPause = time.Second

// recover finds out whether a job was published whose publication was not
// answered; nil: it was. It is never published again, since it must not run twice.
// A master that answers, but not the question, is asked for the time of reconnect.
func (p *Provider) recover(pub *publication, cause error) error {
	p.warnOnce(cause.Error() + ": asking whether the job was published")
	unknown, begin := 0, p.o.Now()
	for p.ctx.Err() == nil {
		err := p.lookup(p.ctx, pub)
		switch {
		case err == nil || p.hasReturned(pub):
			return nil
		case errors.Is(err, errUnknownJob):
			if unknown++; unknown >= 3 {
				return fmt.Errorf("the master went away when the job was published, and %w: %w", err, cause)
			}
		case refused(err):
			return fmt.Errorf("whether the job runs is not known: %w; %w", cause, err)
		}
		if since, away := p.c.downSince(); away && p.o.Now().Sub(since) > p.o.Config.Reconnect {
			return p.downError(since)
		}
		if err != nil && p.o.Now().Sub(begin) > p.o.Config.Reconnect {
			return fmt.Errorf("whether the job runs is not known: %w; %w", cause, err)
		}
		select {
		case <-time.After(recoverPause):
		case <-p.ctx.Done():
		}
	}
	return cause
}

// hasReturned reports whether a minion returned from a publication.
func (p *Provider) hasReturned(pub *publication) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pub.returned
}

// downError says that the master has been away for too long.
func (p *Provider) downError(since time.Time) error {
	return fmt.Errorf("the master of fleet %s has not answered for %s (reconnect): what its minions did since then is not known; it keeps their returns",
		p.FleetName(), p.o.Now().Sub(since).Round(time.Second))
}

// Held tells that a machine cannot be asked while its master is away.
func (p *Provider) Held(string) (why string, held bool) {
	since, away := p.c.downSince()
	if !away {
		return "", false
	}
	return fmt.Sprintf("the master of fleet %s has not answered since %s", p.FleetName(), since.Format(time.TimeOnly)), true
}

// returned takes the return of a minion, from an event or the job cache.
func (p *Provider) returned(pub *publication, minion string, data *value.Map) {
	p.mu.Lock()
	jid := pub.jid
	w := pub.waits[minion]
	if w == nil {
		p.mu.Unlock()
		p.warnOnce(fmt.Sprintf("fleet %s: a return of %s for job %s was refused: it was not targeted", p.FleetName(), minion, jid))
		return
	}
	if w.done { // once more, or it is no longer waited for
		p.mu.Unlock()
		return
	}
	w.done, pub.returned = true, true
	pub.open--
	p.mu.Unlock()
	ret := returnOf(pub.job, data)
	ret.ID, ret.Fleet, ret.FleetJID = p.o.Config.Prefix+minion, p.FleetName(), jid
	w.ret <- ret
}

// returnOf reads a return as events and the job cache have it. It succeeded only if that
// is said, by a return code or by success, and nothing says otherwise.
func returnOf(job fun.Job, data *value.Map) fun.Return {
	ret := fun.Return{JID: job.JID}
	v := data.At("return")
	code, success := data.At("retcode"), data.At("success")
	if n, ok := code.(int64); ok && data.Has("return") {
		ret.Retcode = exitCode(n)
	} else if ret.Each = eachOf(code, success, v); ret.Each != nil {
		ret.Retcode, ret.Raised = together(ret.Each)
	} else if code != nil || success != true || !data.Has("return") {
		ret.Retcode = 1
	}
	if success != nil && success != true && ret.Each == nil {
		if success == false {
			_, ret.Raised = v.(string)
		}
		ret.Retcode = cmp.Or(ret.Retcode, 1)
	}
	if ret.Each == nil && ret.Retcode == 0 && failedStates(job.Fun, v) {
		ret.Retcode = failedCode
	}
	ret.Out, _ = data.At("out").(string)
	ret.Body = fun.ValueBody{V: v}
	if job.Shell != "" {
		return fleet.Raw(ret)
	}
	return ret
}

// failedCode is the return code of a state run with a failed state.
const failedCode = 2

// failedStates reports whether a function is one that runs states, and one of them
// failed.
func failedStates(name string, v value.Value) bool {
	m, ok := v.(*value.Map)
	if !ok || !strings.HasPrefix(name, "state.") {
		return false
	}
	for _, s := range m.All() {
		if s, ok := s.(*value.Map); ok && s.At("result") == false {
			return true
		}
	}
	return false
}

// exitCode returns a return code as an int; one that is none is a failure.
func exitCode(n int64) int {
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 1
	}
	return int(n)
}

// eachOf returns the return codes of a job that is several functions, as
// [fun.Return] has them: a minion names a function that ended with an error in
// success alone, or has no code in its place. nil: it is not such a job.
func eachOf(codes, success, returns value.Value) value.Value {
	codes = value.Clone(codes)
	switch all := codes.(type) {
	case *value.Map:
		good, _ := success.(*value.Map)
		for name := range good.All() {
			if name := value.Str(name); !all.Has(name) || all.At(name) == int64(0) && good.At(name) != true {
				all.Set(name, nil)
			}
		}
		if v, ok := returns.(*value.Map); ok {
			for name, v := range v.All() {
				if name := value.Str(name); all.At(name) == int64(0) && failedStates(name, v) {
					all.Set(name, int64(failedCode))
				}
			}
		}
	case *value.List:
		good, ok := success.(*value.List)
		for i, code := range all.Items {
			if ok && code == int64(0) && (i >= good.Len() || good.Items[i] != true) {
				all.Items[i] = nil
			}
		}
	default:
		return nil
	}
	return fun.EachOf(codes)
}

// together returns the return code of all functions of a job, the highest, and
// whether one ended with an error.
func together(each value.Value) (code int, raised bool) {
	var codes []value.Value
	switch each := each.(type) {
	case *value.Map:
		for _, c := range each.All() {
			codes = append(codes, c)
		}
	case *value.List:
		codes = each.Items
	}
	for _, c := range codes {
		n, ok := value.AsInt(c)
		if !ok {
			n, raised = 1, true
		}
		if n := exitCode(n); n != 0 && (code == 0 || n > code) {
			code = n
		}
	}
	return code, raised
}
