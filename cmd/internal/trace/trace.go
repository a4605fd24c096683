// Package trace tells where the time of a run went: a [Recorder] hears while it
// runs, and [Recorder.Profile] puts what it heard together with the results. A
// profile is printed ([Text], [Data]), or its spans are sent to a collector of
// OpenTelemetry ([Exporter]).
package trace

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/py/value"
	"brine/outputter/report"
)

// The kinds of spans, beside those of fleet's phases.
const (
	Run   = "run"
	Step  = "step" // of an orchestration
	Host  = "host" // in a step
	State = "state"
)

// A Span is a part of a run.
type Span struct {
	Parent     int // index of the span that it is a part of; -1: none
	Kind, Name string
	Step, Host string
	JID        string // of the run
	Start, End time.Time
	Failed     bool
	Reason     string // why it failed
	Fun, SLS   string // of a state
	Status     string // of a state, as reports have it
}

// maxHeard bounds what a recorder keeps of each kind.
const maxHeard = 100_000

// A Recorder hears how a run goes. It is safe for concurrent use.
type Recorder struct {
	now func() time.Time

	mu                 sync.Mutex
	began              time.Time
	runBegan, runEnded time.Time // of the states of this machine
	took               []part
	hosts              map[hostKey]*hostTimes
	order              []hostKey         // of hosts, as they were heard of
	stepOf             map[string]string // the jid of a job → the ID of its step
}

type hostKey struct{ jid, id string }

type part struct {
	kind, of   string
	start, end time.Time
}

type hostTimes struct {
	marks  []mark
	end    time.Time
	failed bool
	reason string
}

type mark struct {
	phase fleet.Phase
	at    time.Time
}

// New returns a recorder of a run that begins now.
func New(now func() time.Time) *Recorder {
	return &Recorder{now: now, began: now(), hosts: map[hostKey]*hostTimes{}, stepOf: map[string]string{}}
}

// Took hears of a part of the run that ends now; see fun.UI.
func (r *Recorder) Took(kind, of string, began time.Time) {
	end := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.took) < maxHeard {
		r.took = append(r.took, part{kind, of, began, end})
	}
}

// RunBegins hears that the states begin, once.
func (r *Recorder) RunBegins(string, []*fun.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runBegan.IsZero() {
		r.runBegan = r.now()
	}
}

// StateBegins needs no note: returns have their times.
func (r *Recorder) StateBegins(*fun.Chunk) {}

// StateEnds needs no note.
func (r *Recorder) StateEnds(*fun.Chunk, *value.Map) {}

// RunEnds hears that the states have ended.
func (r *Recorder) RunEnds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runEnded.IsZero() {
		r.runEnded = r.now()
	}
}

// Fleet returns the watcher of jobs on targets, which tells inner the same; inner
// may be nil.
func (r *Recorder) Fleet(inner fleet.Watcher) fleet.Watcher { return &listener{r, inner} }

type listener struct {
	r     *Recorder
	inner fleet.Watcher
}

func (l *listener) Begin(job fun.Job, targets []string) {
	l.r.mu.Lock()
	if job.Step != "" && len(l.r.stepOf) < maxHeard {
		l.r.stepOf[job.JID] = job.Step
	}
	l.r.mu.Unlock()
	if l.inner != nil {
		l.inner.Begin(job, targets)
	}
}

func (l *listener) Wave(jid string, number, of, targets int) {
	if l.inner != nil {
		l.inner.Wave(jid, number, of, targets)
	}
}

func (l *listener) At(jid, id string, p fleet.Phase) {
	l.r.at(jid, id, p)
	if l.inner != nil {
		l.inner.At(jid, id, p)
	}
}

func (l *listener) Sent(jid, id string, done, total int64) {
	if l.inner != nil {
		l.inner.Sent(jid, id, done, total)
	}
}

func (l *listener) Done(ret fun.Return) {
	l.r.done(ret)
	if l.inner != nil {
		l.inner.Done(ret)
	}
}

func (l *listener) End(jid string) {
	if l.inner != nil {
		l.inner.End(jid)
	}
}

// host returns what is known of a target's part in a job, nil where there is too
// much. mu is held.
func (r *Recorder) host(jid, id string) *hostTimes {
	key := hostKey{jid, id}
	h := r.hosts[key]
	if h == nil && len(r.hosts) < maxHeard {
		h = &hostTimes{}
		r.hosts[key] = h
		r.order = append(r.order, key)
	}
	return h
}

// maxMarks bounds the phases of one target in one job: connections may break.
const maxMarks = 64

func (r *Recorder) at(jid, id string, p fleet.Phase) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.host(jid, id)
	if h == nil || len(h.marks) >= maxMarks {
		return
	}
	if n := len(h.marks); n == 0 || h.marks[n-1].phase != p {
		h.marks = append(h.marks, mark{p, now})
	}
}

func (r *Recorder) done(ret fun.Return) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.host(ret.JID, ret.ID); h != nil {
		h.end, h.failed = now, !ret.Success()
		if ret.Err != nil {
			h.reason = ret.Err.Error()
		}
	}
}

// maxSpans bounds the spans of a profile.
const maxSpans = 50_000

// A Profile is where the time of a run went.
type Profile struct {
	// Spans are the parts of the run: the run first, each after the one that it is a
	// part of. They are bounded; Lost is how many there were more.
	Spans []Span
	Lost  int
	sums  sums // of all, also of those that were too many
}

// builder makes spans of what was heard and of results.
type builder struct {
	r *Recorder
	Profile
	steps map[string]int // path of a step → its span
}

// Profile returns the profile of a run that ends now. mask takes secrets out of text.
func (r *Recorder) Profile(run *report.Run, mask func(string) string) *Profile {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &builder{r: r, steps: map[string]int{}}
	name := strings.Join(append([]string{cmp.Or(run.Fun, "run")}, run.Args...), " ")
	b.add(Span{Parent: -1, Kind: Run, Name: name, Start: r.began, End: r.now(), Failed: run.Failed(), Fun: run.Fun, JID: run.JID})
	slices.SortStableFunc(r.took, func(a, b part) int { return a.start.Compare(b.start) })
	for _, p := range r.took {
		b.add(Span{Kind: p.kind, Name: p.kind + " " + p.of, Host: p.of, Start: p.start, End: p.end})
	}
	seen := map[hostKey]bool{}
	for _, s := range run.Suites {
		seen[hostKey{s.JID, s.Host}] = true
		b.suite(s)
	}
	// Steps whose states changed nothing have no returns of their targets.
	for _, key := range r.order {
		if !seen[key] {
			step := r.stepOf[key.jid]
			b.host(b.steps[step], step, key.id, r.hosts[key])
		}
	}
	for i := range b.Spans {
		s := &b.Spans[i]
		s.Name, s.Reason, s.Step, s.Host = mask(s.Name), mask(s.Reason), mask(s.Step), mask(s.Host)
	}
	b.sums.finish(mask)
	return &b.Profile
}

// add adds a span and returns its index. Where there are too many, that of none is
// returned, and its parts are too many as well.
func (b *builder) add(s Span) int {
	if s.End.Before(s.Start) {
		s.End = s.Start
	}
	b.sums.add(&s)
	if len(b.Spans) >= maxSpans {
		b.Lost++
		return maxSpans
	}
	b.Spans = append(b.Spans, s)
	return len(b.Spans) - 1
}

// fail notes why the span of a host failed, where that is not known.
func (b *builder) fail(span int, s *report.Suite, reason string) {
	if span > 0 {
		b.sums.fail(s.Step, s.Host)
	}
	if span < len(b.Spans) && b.Spans[span].Reason == "" {
		b.Spans[span].Failed, b.Spans[span].Reason = true, reason
	}
}

// host adds a target's part in a job with its phases, and returns its span and the
// begin and the length of its work.
func (b *builder) host(parent int, step, id string, h *hostTimes) (span int, begin time.Time, length time.Duration) {
	end := h.end
	if end.IsZero() {
		end = b.Spans[0].End
	}
	begin = end
	if len(h.marks) > 0 {
		begin = h.marks[0].at
	}
	span = b.add(Span{Parent: parent, Kind: Host, Name: id, Step: step, Host: id, Start: begin, End: end, Failed: h.failed, Reason: h.reason})
	for i, m := range h.marks {
		until := end
		if i+1 < len(h.marks) {
			until = h.marks[i+1].at
		}
		begin, length = m.at, until.Sub(m.at)
		if m.phase != fleet.Running || i+1 < len(h.marks) {
			b.add(Span{Parent: span, Kind: m.phase.String(), Name: m.phase.String(), Step: step, Host: id, Start: m.at, End: until})
		}
	}
	return span, begin, length
}

// suite adds the results of a host, or of this machine.
func (b *builder) suite(s *report.Suite) {
	parent, base := 0, b.r.runBegan
	if base.IsZero() {
		base = b.r.began
	}
	if i, ok := b.steps[s.Step]; ok {
		parent = i
	}
	var states time.Duration
	for _, c := range s.Cases {
		states = max(states, c.Begin+c.Length)
	}
	h := b.r.hosts[hostKey{s.JID, s.Host}]
	switch {
	case h != nil:
		var length time.Duration
		parent, base, length = b.host(parent, s.Step, s.Host, h)
		// Targets have clocks of their own. What comes before the states, rendering
		// and compiling, is longer than what comes after them.
		if isStates(s) && length > states {
			b.add(Span{Parent: parent, Kind: "preparing", Name: "preparing", Step: s.Step, Host: s.Host, Start: base, End: base.Add(length - states)})
			base = base.Add(length - states)
		}
	case s.Step != "":
		base = base.Add(s.Begin)
		parent = b.add(Span{Parent: parent, Kind: Host, Name: s.Host, Step: s.Step, Host: s.Host, Start: base, End: base.Add(s.Length), Failed: s.Count.Failed() > 0})
	}
	for _, c := range s.Cases {
		failed := c.Status == report.Failed
		if c.Fun == "" || c.SLS == "" && !c.Orchestrates() {
			// The return of a function is the host itself; so is what did not compile.
			if failed {
				b.fail(parent, s, c.Cause.Text())
			}
			continue
		}
		kind := State
		if c.Orchestrates() || strings.HasPrefix(c.Fun, "salt.") {
			kind = Step
		}
		span := Span{
			Parent: parent, Kind: kind, Name: c.Title(), Step: s.Step, Host: s.Host, Start: base.Add(c.Begin), End: base.Add(c.Begin + c.Length),
			Failed: failed, Fun: c.Fun, SLS: c.SLS, Status: c.Status.String(),
		}
		if failed {
			span.Reason = c.Cause.Text()
		}
		i := b.add(span)
		if kind == Step {
			path := c.ID
			if s.Step != "" {
				path = s.Step + " / " + c.ID
			}
			b.steps[path] = i
			if _, taken := b.steps[c.ID]; !taken {
				b.steps[c.ID] = i
			}
		}
	}
}

// isStates reports whether results are those of states.
func isStates(s *report.Suite) bool {
	return slices.ContainsFunc(s.Cases, func(c *report.Case) bool { return c.SLS != "" })
}
