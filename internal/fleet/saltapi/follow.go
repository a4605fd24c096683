package saltapi

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// event takes an event of the master: returns that are waited for, and for the
// bus everything else that is not about jobs of this run.
// size is about what it takes in memory.
func (p *Provider) event(tag string, data *value.Map, size int64) {
	parts := strings.SplitN(tag, "/", 5)
	switch {
	case jobs.IsJID(tag):
		if p.ownJID(tag) {
			return
		}
	case len(parts) >= 4 && parts[0] == "salt" && parts[1] == "job" && jobs.IsJID(parts[2]):
		minion := strings.Join(parts[4:], "/")
		if parts[3] == "ret" && p.claimed(parts[2], minion, data) {
			return
		}
		if parts[3] == "prog" {
			minion, _, _ = strings.Cut(minion, "/") // the number of the state follows
		}
		if p.ownJID(parts[2]) && (parts[3] != "prog" || !p.targeted(parts[2], minion)) {
			return // the fleet fires its own
		}
	case len(parts) >= 4 && parts[0] == "brine" && parts[1] == "job" && p.ownJID(parts[2]):
		return
	case len(parts) == 4 && parts[0] == "salt" && parts[1] == "run":
		if parts[3] == "ret" {
			p.ranRunner(parts[2], data, size)
		}
		if p.o.IsOwnJob(parts[2]) || data.Str("fun") == "runner."+listJob {
			return
		}
	}
	if p.o.Bus == nil {
		return
	}
	if b, ok := p.o.Bus.(interface {
		FireForeign(tag string, data *value.Map)
	}); ok {
		b.FireForeign(tag, data) // other runs follow the master themselves
		return
	}
	p.o.Bus.Fire(tag, data)
}

var _ interface {
	FireForeign(tag string, data *value.Map)
} = (*event.Ring)(nil)

// ownJID reports whether a jid is that of a job of this run.
func (p *Provider) ownJID(jid string) bool {
	p.mu.Lock()
	own := p.pubs[jid] != nil || p.asks[jid] != nil
	p.mu.Unlock()
	return own || p.o.IsOwnJob(jid)
}

// targeted reports whether a minion is a target of a job of this run.
func (p *Provider) targeted(jid, minion string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pub := p.pubs[jid]
	return pub != nil && pub.waits[minion] != nil
}

// claimed hands a return to who waits for it; false: nobody does.
func (p *Provider) claimed(jid, minion string, data *value.Map) bool {
	p.mu.Lock()
	pub, q := p.pubs[jid], p.asks[jid]
	p.mu.Unlock()
	if pub == nil && q == nil {
		return false
	}
	if !isOf(data, minion, jid) {
		p.warnOnce(fmt.Sprintf("fleet %s: a return of job %s was refused: its tag and its data name different minions or jobs", p.FleetName(), jid))
		return true
	}
	if pub != nil {
		if p.o.Config.SSH {
			data = ofHost(data)
		}
		p.returned(pub, minion, data)
		return true
	}
	q.answer(minion, data.At("return"))
	return true
}

// isOf reports whether a return says of itself what its tag, or its place in the job
// cache, says of it.
func isOf(data *value.Map, minion, jid string) bool {
	return (!data.Has("id") || data.At("id") == minion) && (!data.Has("jid") || data.At("jid") == jid)
}

// listJob is the runner by which returns are looked up. Unlike jobs.lookup_jid it
// has their return codes.
const listJob = "jobs.list_job"

// job returns what the job cache of the master has of a job.
func (p *Provider) job(ctx context.Context, jid string) (*value.Map, error) {
	v, err := p.c.call(ctx, opLook, value.MapOf("client", "runner", "fun", listJob, "kwarg", value.MapOf("jid", jid)))
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, p.c.fault(opLook, 0, "", errNotSaltAPI)
	}
	if m.Has("jid") && m.At("jid") != jid {
		return nil, p.c.fault(opLook, 0, "", fmt.Errorf("%w: it is about another job", errNotSaltAPI))
	}
	if m.Has("Error") && m.Map("Result").Len() == 0 {
		return nil, errUnknownJob
	}
	return m, nil
}

// lookup takes the returns of a publication that the job cache has.
func (p *Provider) lookup(ctx context.Context, pub *publication) error {
	m, err := p.job(ctx, pub.jid)
	if err != nil {
		return err
	}
	for k, v := range m.Map("Result").All() {
		if data, ok := v.(*value.Map); ok && isOf(data, value.Str(k), pub.jid) {
			if p.o.Config.SSH {
				data = ofHost(data)
			}
			p.returned(pub, value.Str(k), data)
		}
	}
	return nil
}

// lookSoon has the open jobs looked up.
func (p *Provider) lookSoon() {
	select {
	case p.look <- struct{}{}:
	default:
	}
}

// The times between two looks while events are not followed: they grow by half.
const (
	lookPause    = time.Second
	lookPauseMax = 5 * time.Second
)

// recheck looks up the open jobs when events may have been missed, and gives them up
// when the master has been away for too long.
func (p *Provider) recheck() {
	pause := lookPause
	t := time.NewTimer(pause)
	defer t.Stop()
	for {
		now := false
		select {
		case <-p.ctx.Done():
			return
		case <-p.look:
			now = true
		case <-t.C:
		}
		if since, away := p.c.downSince(); away && p.o.Now().Sub(since) > p.o.Config.Reconnect {
			p.giveUp(p.downError(since))
		}
		if p.stream.following() && !now {
			pause = lookPause
		} else if p.lookUpOpen() {
			pause = min(pause*3/2, lookPauseMax)
		}
		t.Reset(pause)
	}
}

// lookUpOpen looks up the jobs whose returns have not all come, and reports
// whether there were any.
func (p *Provider) lookUpOpen() bool {
	some := false
	for _, pub := range p.open() {
		some = true
		if err := p.lookup(p.ctx, pub); err != nil && p.ctx.Err() == nil {
			p.warnOf(err)
		}
	}
	return some
}

// open returns the published jobs whose returns have not all come.
func (p *Provider) open() []*publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*publication
	for _, pub := range p.pubs {
		select {
		case <-pub.ready:
			if pub.open > 0 && pub.err == nil {
				out = append(out, pub)
			}
		default:
		}
	}
	return out
}

// giveUp ends the waits for returns.
func (p *Provider) giveUp(err error) {
	for _, pub := range p.open() {
		p.mu.Lock()
		for minion, w := range pub.waits {
			if w.done || pub.known != nil && !pub.known[minion] {
				continue
			}
			w.done = true
			pub.open--
			w.ret <- fun.Return{
				ID: p.o.Config.Prefix + minion, JID: pub.job.JID, Stage: fun.Lost, Err: err, Away: true,
				Fleet: p.FleetName(), FleetJID: pub.jid,
			}
		}
		p.mu.Unlock()
	}
}

// A question is a function that minions answer at once.
type question struct {
	jid     string
	minions map[string]bool // that it was sent to
	answers chan answer     // has room for all

	mu    sync.Mutex
	sent  bool // the master has said to whom
	early []answer
	left  map[string]bool // who has not answered
}

// An answer is what a question was about: whether a minion answers, and whether a
// job runs there. Nothing else of it is kept, whatever its size.
type answer struct {
	minion string
	pid    int // 0: it does not run there
}

// maxEarly is how many answers are kept that come before the master has said whom
// the question was sent to.
const maxEarly = 100_000

// answer takes an answer, the first of each minion that was asked.
func (q *question) answer(minion string, v value.Value) {
	if isID(minion) {
		q.take(answer{minion, running(v)})
	}
}

func (q *question) take(a answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !q.sent:
		if len(q.early) < maxEarly {
			q.early = append(q.early, a)
		}
	case q.left[a.minion]:
		delete(q.left, a.minion)
		q.answers <- a
	}
}

// sentTo notes whom the question was sent to.
func (q *question) sentTo(minions map[string]bool) {
	q.mu.Lock()
	q.minions, q.left, q.sent = minions, maps.Clone(minions), true
	q.answers = make(chan answer, len(minions))
	early := q.early
	q.early = nil
	q.mu.Unlock()
	for _, a := range early {
		q.take(a)
	}
}

// ask publishes a function for a target, and returns the question with the minions
// that the master sent it to. forget ends it: answers that come later are dropped.
func (p *Provider) ask(ctx context.Context, op string, tgt value.Value, tgtType, name string, args ...value.Value) (q *question, forget func(), err error) {
	p.Listen(ctx)
	q = &question{jid: p.o.NewJID()}
	p.mu.Lock()
	p.asks[q.jid] = q
	p.mu.Unlock()
	reply, err := p.c.call(ctx, op, value.MapOf("client", "local_async", "tgt", tgt, "tgt_type", tgtType, "fun", name, "arg", value.NewList(args...), "jid", q.jid))
	if err != nil {
		p.drop(q)
		return nil, nil, err
	}
	m, ok := reply.(*value.Map)
	if !ok || m.Len() > 0 && (m.Str("jid") != q.jid || m.List("minions") == nil) {
		p.drop(q)
		return nil, nil, p.c.fault(op, 0, "", errNotSaltAPI)
	}
	if err := p.tooMany(op, m.List("minions").Len()); err != nil {
		p.drop(q)
		return nil, nil, err
	}
	q.sentTo(idSet(m.List("minions")))
	// Where no events come, the answers are in the job cache.
	ctx, cancel := context.WithCancel(ctx)
	p.running.Go(func() { p.lookForAnswers(ctx, q) })
	return q, func() {
		cancel()
		p.drop(q)
	}, nil
}

// dropped stands for all questions that are over.
var dropped = &question{sent: true}

// drop forgets a question, but not that its jid is of this run.
func (p *Provider) drop(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks[q.jid] = dropped
}

// lookForAnswers takes answers from the job cache until ctx ends.
func (p *Provider) lookForAnswers(ctx context.Context, q *question) {
	for pause := lookPause; ; pause = min(pause*3/2, lookPauseMax) {
		select {
		case <-ctx.Done():
			return
		case <-p.ctx.Done():
			return
		case <-time.After(pause):
		}
		if p.stream.following() && pause < lookPauseMax {
			continue
		}
		m, err := p.job(ctx, q.jid)
		if err != nil && ctx.Err() == nil && p.ctx.Err() == nil {
			p.warnOf(err)
		}
		if err == nil {
			for k, v := range m.Map("Result").All() {
				if data, ok := v.(*value.Map); ok {
					q.answer(value.Str(k), data.At("return"))
				}
			}
		}
	}
}

// FindJob asks minions by saltutil.find_job.
func (p *Provider) FindJob(ctx context.Context, jid string, ids []string, tell func(id string, pid int)) {
	by := map[*publication][]string{}
	p.mu.Lock()
	for _, id := range ids {
		if pub := p.jobs[work{jid, id}]; pub != nil {
			by[pub] = append(by[pub], p.minion(id))
		}
	}
	p.mu.Unlock()
	done := make(chan struct{}, len(by))
	for pub, minions := range by {
		go func() {
			p.findOn(ctx, pub, minions, func(minion string, pid int) { tell(p.o.Config.Prefix+minion, pid) })
			done <- struct{}{}
		}()
	}
	for range by {
		<-done
	}
}

// findOn asks the minions of a publication. Of those that say that the job runs
// there no more, the return may have been missed: it is looked up first.
func (p *Provider) findOn(ctx context.Context, pub *publication, minions []string, tell func(minion string, pid int)) {
	select {
	case <-pub.ready:
	case <-ctx.Done():
		return
	}
	if p.o.Config.SSH {
		p.findSSH(ctx, pub, minions, tell)
		return
	}
	q, forget, err := p.ask(ctx, opAsk, value.Strings(minions...), "list", "saltutil.find_job", pub.jid)
	if err != nil {
		p.warnOf(err)
		return
	}
	defer forget()
	var idle []string
	settle := func() {
		if len(idle) == 0 {
			return
		}
		if err := p.lookup(ctx, pub); err != nil {
			p.warnOf(err)
		}
		for _, minion := range idle {
			tell(minion, 0)
		}
		idle = nil
	}
	wait := make(<-chan time.Time)
	for left := len(q.minions); left > 0; {
		select {
		case a := <-q.answers:
			left--
			if a.pid != 0 {
				tell(a.minion, a.pid)
				continue
			}
			if idle = append(idle, a.minion); len(idle) == 1 {
				wait = time.After(settleWait)
			}
		case <-wait:
			settle()
		case <-ctx.Done():
			return
		}
	}
	settle()
}

// settleWait is how long further answers are awaited before returns are looked up.
const settleWait = 500 * time.Millisecond

// running reads an answer to saltutil.find_job: the pid; 0: it does not run.
func running(v value.Value) int {
	m, ok := v.(*value.Map)
	if !ok || m.Len() == 0 {
		return 0
	}
	n, _ := value.AsInt(m.At("pid"))
	return max(1, int(n))
}
