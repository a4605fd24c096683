package progress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/cmd/internal/summary"
	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
)

// A model knows how a run goes: its steps or states, and its jobs on targets.
// It is the fleet.Watcher of the run and its fun.RunWatcher.
type model struct {
	now   func() time.Time
	begun func()      // called when there is something to see; may be nil
	show  func(event) // called without the lock; may be nil

	mu       sync.Mutex
	title    string
	unit     string              // what steps are called: step or state
	mask     func(string) string // may be nil
	reported bool                // the report shows failures
	results  bool                // somebody wants to know what hosts that did not fail made of their states
	began    time.Time
	running  bool // there are steps
	steps    steps
	jobs     map[string]*watchedJob // under way, by their jids
	order    list[*watchedJob]      // the same, in the order of their beginnings
}

// A watchedJob is a job under way.
type watchedJob struct {
	name         string
	step         *step // nil: of none
	total        int
	done, failed int
	wave, waves  int  // which of how many; 0: it does not go in waves
	left         bool // hosts are left out
	states       bool // it calls a function of the module state
	began        time.Time
	pushes       pushes
	place        link[*watchedJob]

	hosts map[string]*host         // targets that are being worked on
	since list[*host]              // the same, those that have been worked on longest first
	in    [fleet.Running + 1]int64 // how many of them are in each phase
}

// A host is a target that is being worked on.
type host struct {
	id    string
	phase fleet.Phase
	since time.Time // when work on it began
	place link[*host]
}

// pushes are what the targets of a job are sent of the agent.
type pushes struct {
	targets map[string]int64 // bytes of each that have arrived
	arrived int64            // of all
	total   int64            // of the targets that have begun
	moved   int64            // since the first was told of
	since   time.Time
}

func newModel(title string) *model {
	return &model{now: time.Now, title: title, unit: "step", steps: newSteps(0), jobs: map[string]*watchedJob{}}
}

// tell calls change with the lock held, and then shows the events that it
// returns.
func (m *model) tell(change func(now time.Time) []event) {
	m.mu.Lock()
	now := m.now()
	evs := change(now)
	m.mu.Unlock()
	if m.show == nil {
		return
	}
	for _, e := range evs {
		e.Time = now
		m.show(e)
	}
}

func (m *model) visible() {
	if m.begun != nil {
		m.begun()
	}
}

// clean is text from a function or a host as it may be shown.
func (m *model) clean(s string) string {
	if m.mask != nil {
		s = m.mask(s)
	}
	return oneLine(s)
}

// RunBegins takes in the chunks of a run.
func (m *model) RunBegins(jid string, chunks []*fun.Chunk) {
	m.tell(func(now time.Time) []event {
		m.began, m.running = now, true
		m.steps = newSteps(len(chunks))
		for _, c := range chunks {
			m.add(c)
		}
		return []event{{Event: "run_start", JID: jid, Title: oneLine(m.title), Unit: m.unit, Total: new(len(chunks))}}
	})
	m.visible()
}

func (m *model) add(c *fun.Chunk) *step {
	s := &step{id: oneLine(c.ID), fun: oneLine(c.State + "." + c.Fun)}
	m.steps.add(c.Tag(), s)
	return s
}

// step returns the step of a chunk; what aggregation or a listener added is one
// more.
func (m *model) step(c *fun.Chunk) *step {
	if s := m.steps.byTag[c.Tag()]; s != nil {
		return s
	}
	return m.add(c)
}

// StateBegins takes in that a step begins.
func (m *model) StateBegins(c *fun.Chunk) {
	m.tell(func(now time.Time) []event {
		s := m.step(c)
		s.began, s.ended = now, time.Time{}
		m.steps.move(s, running)
		return []event{m.ofStep("step_start", s)}
	})
}

func (m *model) ofStep(name string, s *step) event {
	return event{Event: name, Unit: m.unit, ID: s.id, Fun: s.fun}
}

// StateEnds takes in the return of a step.
func (m *model) StateEnds(c *fun.Chunk, ret *value.Map) {
	m.tell(func(now time.Time) []event {
		s := m.step(c)
		if s.began.IsZero() {
			s.began = now
		}
		s.ended = now
		comment, isText := ret.At("comment").(string)
		if !isText {
			comment = value.Str(ret.At("comment"))
		}
		if res := ret.At("result"); res != nil && !value.Truth(res) {
			comment = cmp.Or(cause.OfState("", c.Tag(), ret, cause.Options{Mask: m.mask}).Short(maxComment), comment)
		}
		switch res := ret.At("result"); {
		case cause.NotRun(ret):
			m.steps.move(s, notRun)
		case res == nil:
			m.steps.move(s, would)
		case !value.Truth(res):
			m.steps.move(s, failed)
		case value.Truth(ret.At("changes")):
			m.steps.move(s, changed)
		default:
			m.steps.move(s, ok)
		}
		e := m.ofStep("step_end", s)
		e.Result, e.Comment, e.Seconds = s.state, m.clean(comment), seconds(now.Sub(s.began))
		e.Hosts, e.Failed = new(s.hosts), new(s.bad)
		e.Done, e.Total = new(m.steps.done()), new(m.steps.all)
		return []event{e}
	})
}

// RunEnds takes in that the run is over.
func (m *model) RunEnds() {
	m.tell(func(now time.Time) []event {
		if !m.running {
			return nil
		}
		m.running = false
		ss := &m.steps
		return []event{{
			Event: "run_end", Title: oneLine(m.title), Unit: m.unit, Done: new(ss.done()), Failed: new(ss.bad), Never: new(ss.waiting.len + ss.unmet), Total: new(ss.all),
			Seconds: seconds(now.Sub(m.began)),
		}}
	})
}

// Begin takes in a job.
func (m *model) Begin(job fun.Job, targets []string) {
	m.tell(func(now time.Time) []event {
		j := &watchedJob{name: nameOf(job), total: len(targets), hosts: map[string]*host{}, began: now, step: m.stepOf(job), states: job.OfState()}
		if j.step != nil {
			j.step.hosts += len(targets)
			j.step.jobs = append(j.step.jobs, j)
		}
		if len(m.jobs) == 0 && !m.running {
			m.began = now
		}
		if old := m.jobs[job.JID]; old != nil {
			m.forget(job.JID, old)
		}
		m.jobs[job.JID] = j
		j.place.of = j
		m.order.add(&j.place)
		return []event{{Event: "job_start", JID: job.JID, Step: oneLine(job.Step), Fun: oneLine(job.Fun), Hosts: new(len(targets))}}
	})
	m.visible()
}

// Wave takes in that a wave of a job begins.
func (m *model) Wave(jid string, number, of, targets int) {
	m.tell(func(time.Time) []event {
		j := m.jobs[jid]
		if j == nil {
			return nil
		}
		j.wave, j.waves = number, of
		return []event{{
			Event: "wave_start", JID: jid, Step: j.stepID(), Wave: new(number), Waves: new(of), Hosts: new(targets), Done: new(j.done), Failed: new(j.failed), job: j.name,
		}}
	})
}

func nameOf(job fun.Job) string {
	switch {
	case job.Step != "":
		return oneLine(job.Step)
	case job.Shell != "":
		return "raw command"
	}
	return oneLine(job.Fun)
}

// stepOf returns the running step that asks for a job.
func (m *model) stepOf(job fun.Job) *step {
	if job.Step == "" || !m.running {
		return nil
	}
	return m.steps.byID[oneLine(job.Step)]
}

// At takes in where a target is.
func (m *model) At(jid, id string, ph fleet.Phase) {
	m.tell(func(now time.Time) []event {
		j := m.jobs[jid]
		if j == nil {
			return nil
		}
		h := j.hosts[id]
		if h == nil {
			h = &host{id: id, since: now}
			h.place.of = h
			j.hosts[id] = h
			j.since.add(&h.place)
		} else {
			j.in[h.phase]--
		}
		h.phase = ph
		j.in[ph]++
		return []event{{Event: "host_phase", JID: jid, Step: j.stepID(), Host: oneLine(id), Phase: ph.String()}}
	})
}

func (j *watchedJob) stepID() string {
	if j.step == nil {
		return ""
	}
	return j.step.id
}

// Sent takes in how much of the agent has arrived at a target.
func (m *model) Sent(jid, id string, done, total int64) {
	m.tell(func(now time.Time) []event {
		if j := m.jobs[jid]; j != nil {
			j.pushes.sent(id, done, total, now)
		}
		return nil
	})
}

// Done takes in a target's return.
func (m *model) Done(ret fun.Return) {
	m.mu.Lock()
	mask, look := m.mask, m.results
	if j := m.jobs[ret.JID]; j == nil || !j.states && ret.Out != "highstate" {
		look = false
	}
	m.mu.Unlock()
	// Read without the lock: a return may be large.
	result, why := ok, ""
	switch {
	case !ret.Success():
		result, why = failed, oneLine(reason(ret, mask))
	case look:
		result, why = resultOf(ret)
	}
	m.tell(func(now time.Time) []event {
		j := m.jobs[ret.JID]
		if j == nil {
			return nil
		}
		e := event{Event: "host_end", JID: ret.JID, Step: j.stepID(), Host: oneLine(ret.ID), Result: result, Comment: why, job: j.name}
		if h := j.hosts[ret.ID]; h != nil {
			e.Seconds = seconds(now.Sub(h.since))
			delete(j.hosts, ret.ID)
			j.since.remove(&h.place)
			j.in[h.phase]--
		}
		j.done++
		if !ret.Success() {
			j.failed++
			if j.step != nil {
				j.step.bad++
			}
		}
		if errors.Is(ret.Err, fun.ErrNotBegun) {
			e.left = true
			if !j.left {
				j.left, e.first = true, true
			}
		}
		e.reported = m.reported
		return []event{e}
	})
}

// maxComment is how much an event has of the reason of a failure, in characters.
const maxComment = 280

// maxReason bounds the return that is read for the reason of a failure.
const maxReason = 16 << 20

// reason is why a target failed. mask hides the secrets in a text.
func reason(ret fun.Return, mask func(string) string) string {
	if ret.Larger(maxReason) {
		return fmt.Sprintf("return code %d", ret.Retcode)
	}
	v, err := ret.Value()
	if err != nil {
		return err.Error()
	}
	return summary.Of(ret, v, mask).Text
}

// resultOf is what a target that did not fail made of its states, in one word, and why it
// is not known.
func resultOf(ret fun.Return) (result, why string) {
	if ret.Larger(maxReason) {
		return unknown, "the return is too large to be read now; the record of the job has it"
	}
	v, err := ret.Value()
	if err != nil {
		return unknown, oneLine(err.Error())
	}
	n, isRun := cause.CountOf(v)
	if m, isMap := v.(*value.Map); isMap && !isRun { // of several functions
		for _, x := range m.All() {
			one, _ := cause.CountOf(x)
			n.Add(one)
		}
	}
	switch {
	case n.Due > 0:
		return would, ""
	case n.Touched > 0:
		return changed, ""
	}
	return ok, ""
}

// End takes in that a job is over.
func (m *model) End(jid string) {
	m.tell(func(now time.Time) []event {
		j := m.jobs[jid]
		if j == nil {
			return nil
		}
		m.forget(jid, j)
		return []event{{
			Event: "job_end", JID: jid, Step: j.stepID(), Hosts: new(j.total), Failed: new(j.failed), Done: new(j.done), Seconds: seconds(now.Sub(j.began)),
		}}
	})
}

// forget takes a job from those under way.
func (m *model) forget(jid string, j *watchedJob) {
	delete(m.jobs, jid)
	m.order.remove(&j.place)
	if j.step != nil {
		j.step.jobs = slices.DeleteFunc(j.step.jobs, func(o *watchedJob) bool { return o == j })
	}
}

// finish ends a run whose end was not told.
func (m *model) finish() { m.RunEnds() }

// sent takes in how much has arrived at a target. What an earlier run sent is
// there from the start, and says nothing of the speed.
func (p *pushes) sent(id string, done, total int64, now time.Time) {
	if p.targets == nil {
		p.targets, p.since = map[string]int64{}, now
	}
	was, known := p.targets[id]
	p.targets[id] = done
	p.arrived += done - was
	if known {
		p.moved += max(0, done-was)
	} else {
		p.total += total
	}
}

// text is how far the pushes are, and how long they take with those that wait.
func (p *pushes) text(waiting int64, now time.Time) string {
	if len(p.targets) == 0 {
		return ""
	}
	total := p.total + waiting*(p.total/int64(len(p.targets)))
	text := fmt.Sprintf("%.1f of %.1f MB", float64(p.arrived)/1e6, float64(total)/1e6)
	took := now.Sub(p.since)
	if took < time.Second || p.moved == 0 {
		return text
	}
	rate := float64(p.moved) / took.Seconds()
	left := time.Duration(float64(total-p.arrived) / rate * float64(time.Second))
	return fmt.Sprintf("%s, %.1f MB/s, %s left", text, rate/1e6, left.Round(time.Second))
}

// slowest returns the n targets of jobs that are worked on for the longest time,
// the longest first, and how many are worked on.
func slowest(jobs []*watchedJob, n int) (hosts []*host, all int) {
	for _, j := range jobs {
		all += j.since.len
		for _, h := range j.since.first(n) {
			i := len(hosts)
			for i > 0 && h.since.Before(hosts[i-1].since) {
				i--
			}
			if hosts = slices.Insert(hosts, i, h); len(hosts) > n {
				hosts = hosts[:n]
			}
		}
	}
	return hosts, all
}

// under returns the jobs under way.
func (m *model) under() []*watchedJob { return m.order.first(m.order.len) }

// hostParts says how many targets of jobs are done and have failed, and how many
// are in each phase.
func (m *model) hostParts(jobs []*watchedJob, now time.Time) []string {
	var (
		total, done, bad int
		in               [fleet.Running + 1]int64
		sent             string
	)
	for _, j := range jobs {
		total, done, bad = total+j.total, done+j.done, bad+j.failed
		for ph, n := range j.in {
			in[ph] += n
		}
		if queued := j.in[fleet.Queued]; sent == "" && queued+j.in[fleet.Pushing] > 0 {
			sent = j.pushes.text(queued, now)
		}
	}
	var parts []string
	if len(jobs) == 1 && jobs[0].waves > 0 {
		parts = append(parts, fmt.Sprintf("wave %d of %d", jobs[0].wave, jobs[0].waves))
	}
	parts = append(parts, fmt.Sprintf("%d/%d done", done, total))
	if bad > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", bad))
	}
	for ph := fleet.Connecting; ph <= fleet.Running; ph++ {
		if in[ph] > 0 {
			part := fmt.Sprintf("%d %s", in[ph], ph)
			if ph == fleet.Pushing && sent != "" {
				part += " (" + sent + ")"
			}
			parts = append(parts, part)
		}
	}
	return parts
}

// jobsName is what the jobs under way are called.
func jobsName(jobs []*watchedJob) string {
	if len(jobs) == 1 {
		return jobs[0].name
	}
	return fmt.Sprintf("%d jobs", len(jobs))
}

// stepParts says how many steps are done, have failed, run and wait.
func (m *model) stepParts() []string {
	ss := &m.steps
	parts := []string{fmt.Sprintf("%d of %d %ss done", ss.done(), ss.all, m.unit)}
	for _, x := range []struct {
		n    int
		what string
	}{{ss.bad, "failed"}, {ss.unmet, "not run"}, {ss.running.len, "running"}, {ss.waiting.len, "waiting"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	return parts
}

// status is how the run goes, on one line; "" where nothing is under way.
func (m *model) status() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	var text string
	if m.running {
		text = oneLine(m.title) + ": " + strings.Join(m.stepParts(), ", ")
		for _, s := range m.steps.running.first(maxBody) {
			text += "; " + s.id
			if len(s.jobs) > 0 {
				text += ": " + strings.Join(m.hostParts(s.jobs, now), ", ")
			}
			text += " " + span(now.Sub(s.began))
		}
		if more := m.steps.running.len - maxBody; more > 0 {
			text += fmt.Sprintf("; %d more are running", more)
		}
	} else if jobs := m.under(); len(jobs) > 0 {
		text = jobsName(jobs) + ": " + strings.Join(m.hostParts(jobs, now), ", ")
	}
	if slow, _ := slowest(m.under(), 1); len(slow) > 0 {
		text += fmt.Sprintf(", slowest %s %s", oneLine(slow[0].id), span(now.Sub(slow[0].since)))
	}
	return text
}

// span is a duration as people read it while they wait: 3s, 2m05s, 1h02m.
func span(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d < time.Minute:
		return d.String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// took is the duration of what has ended: 1.2s.
func took(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return span(d)
}
