package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// Bounds of what is kept and shown of runs.
const (
	maxKnown    = 32  // that ended, in memory
	maxMessages = 200 // lines that a run wrote last
	maxLine     = 4096
	maxRest     = 64 << 10 // of a line
	shownHosts  = 50       // of a step, on the page
)

// An event is a line of --progress=json; see docs/progress.schema.json.
type event struct {
	Time    time.Time `json:"time"`
	Event   string    `json:"event"`
	JID     string    `json:"jid"`
	ID      string    `json:"id"`
	Fun     string    `json:"fun"`
	Step    string    `json:"step"`
	Host    string    `json:"host"`
	Phase   string    `json:"phase"`
	Result  string    `json:"result"`
	Comment string    `json:"comment"`
	Hosts   int       `json:"hosts"`
	Failed  int       `json:"failed"`
	Total   int       `json:"total"`
	Seconds float64   `json:"seconds"`
}

// A runSpec is what is run.
type runSpec struct {
	kept.Spec
	Answers *value.Map // of a template; of a function, its arguments: arg and kwarg
}

// specOf is what a form asks to run.
func specOf(kind, name string, r *http.Request) runSpec {
	return runSpec{Spec: kept.Spec{Kind: kind, Name: name, Test: r.PostForm.Get("test") == "yes"}}
}

// single reports whether the run is one job on hosts, without steps.
func (x runSpec) single() bool {
	return x.Kind == kept.Jobs || x.Kind == kept.Hosts || x.Kind == kept.Functions
}

// goesOn reports whether a further run can go on with the run.
func (x runSpec) goesOn() bool { return !x.single() && !x.plans() }

// plans reports whether the run makes a plan.
func (x runSpec) plans() bool { return kept.PlanOf(x.Kind) != "" }

// title is what is run, in a few words.
func (x runSpec) title() string {
	if x.Kind == kept.Jobs {
		return "failed hosts of job " + x.Name
	}
	if x.plans() {
		return "plan of " + x.Name
	}
	return x.Name
}

// path is the address of the page of what is run.
func (x runSpec) path() string {
	switch {
	case x.Kind == kept.Hosts && len(x.Hosts) != 1:
		return "/hosts"
	case x.Kind == kept.Hosts:
		return path("hosts", x.Hosts[0])
	case x.Kind == kept.Functions:
		return path("jobs", x.JID)
	case x.plans():
		return path(kept.PlanOf(x.Kind), x.Name)
	}
	return path(x.Kind, x.Name)
}

// origin says where the run was started, if it was not on the pages.
func (x runSpec) origin() string {
	if len(x.Args) > 0 {
		return ""
	}
	return " on the command line"
}

// label is what a step is called: see stepLabel.
func (x runSpec) label(id string) string {
	if x.Kind != kept.Chains {
		return id
	}
	return stepLabel(x.Name, id)
}

// labels is a text about the run with the labels of its steps.
func (x runSpec) labels(text string) string {
	if x.Kind != kept.Chains {
		return text
	}
	return labelled(x.Name, text)
}

// args is the command line of the run.
func (x runSpec) args() []string {
	var args []string
	switch {
	case x.Plan != "": // the command and the file are known to who starts it
		return []string{"--yes", "--progress=json", "--out=quiet", "--log-level=warning"}
	case x.plans():
		args = []string{"plan", x.Name, "--progress=json", "--log-level=warning"}
		if of := kept.PlanOf(x.Kind); of != kept.Orchestrations {
			args = append(args, "--"+strings.TrimSuffix(of, "s"))
		}
		return args
	}
	switch x.Kind {
	case kept.Jobs:
		args = []string{"ssh", "--retry-failed", x.Name}
	case kept.Hosts:
		args = []string{"ssh", "--list", strings.Join(x.Hosts, ","), "test.ping"}
	case kept.Functions: // its arguments are in a file, since they may be secrets
		name, _, _ := strings.Cut(x.Name, " ")
		args = []string{"ssh", "--list", strings.Join(x.Hosts, ","), name}
	case kept.Chains:
		args = []string{"chain", "run", x.Name, "--yes"}
	case kept.Templates:
		args = []string{"template", "run", x.Name, "--yes"}
	case kept.Orchestrations:
		args = []string{"orchestrate"}
		if x.Resume == "" { // else it has the arguments of the record, such as saltenv
			args = append(args, x.Name)
		}
	}
	switch {
	case x.Test && x.Kind == kept.Orchestrations:
		args = append(args, "test=True")
	case x.Test && x.Kind != kept.Functions: // there it is one of the arguments
		args = append(args, "--test")
	}
	if x.Resume != "" {
		args = append(args, "--resume", x.Resume)
	}
	return append(args, "--progress=json", "--out=quiet", "--log-level=warning")
}

// A runStep is a step of a run.
type runStep struct {
	ID, Fun string
	State   string // waiting, running, ok, changed, would_change, not_run, failed
	Comment string
	Seconds float64
	Hosts   int
	Done    int
	Failed  int
	Good    int
	Due     int    // would change
	JID     string // of its job on hosts
	hosts   map[string]*runHost
	rev     int
}

// A runHost is a host in a step.
type runHost struct {
	ID, State, Comment string
	Seconds            float64   // it took, when it has ended
	Began              time.Time // zero: it is not known
}

// over reports whether the host has ended.
func (h runHost) over() bool { return h.State == "failed" || !slices.Contains(hostPhases, h.State) }

// hostPhases are what hosts are at, in their order: see fleet.Phase.
var hostPhases = []string{"", "waiting", "connecting", "authenticating", "waiting for the agent", "pushing", "starting the agent", "running"}

// progress is how far the host is, of len(hostPhases).
func (h runHost) progress() int {
	if h.over() {
		return len(hostPhases)
	}
	return slices.Index(hostPhases, h.State)
}

// longest returns the host of a step that has been worked on for the longest time and has
// not ended; nil where there is none, or where it is not known.
func (s *runStep) longest(x *Scope) *runHost {
	var out *runHost
	for _, h := range s.hosts {
		if !x.onHost(h.ID) || h.over() || h.Began.IsZero() {
			continue
		}
		if out == nil || h.Began.Before(out.Began) || h.Began.Equal(out.Began) && h.ID < out.ID {
			out = h
		}
	}
	if out == nil {
		return nil
	}
	one := *out
	return &one
}

// notable returns the hosts that the page shows: those that failed, then those that
// are being worked on. more is how many others of these there are.
func (s *runStep) notable(x *Scope) (out []runHost, more int) {
	for _, h := range s.sorted(x) {
		if len(out) == shownHosts {
			more++
			continue
		}
		out = append(out, *h)
	}
	return out, more
}

// sorted returns the hosts of a step that are within limits, those that failed first.
func (s *runStep) sorted(limits *Scope) []*runHost {
	all := slices.SortedFunc(maps.Values(s.hosts), func(x, y *runHost) int {
		return cmp.Or(x.rankOf()-y.rankOf(), strings.Compare(x.ID, y.ID))
	})
	return slices.DeleteFunc(all, func(h *runHost) bool { return !limits.onHost(h.ID) })
}

// hidden returns of how many hosts nothing is shown to somebody with limits, and whether the
// step may be about such hosts: then what it says is not shown either.
func (s *runStep) hidden(x *Scope, whole bool) (n int, beyond bool) {
	if whole {
		return 0, false
	}
	for id := range s.hosts {
		if !x.onHost(id) {
			n++
		}
	}
	return n, n > 0 || s.Hosts == 0 || s.Hosts != len(s.hosts)
}

// A run is one that somebody looks at.
type run struct {
	ID   string // its job id where it was free
	Spec runSpec
	kept *kept.Run

	reading sync.Mutex
	offset  int64  // of what was read of its log
	rest    []byte // the beginning of its next line

	mu       sync.Mutex
	jid      string
	steps    []*runStep
	low      *value.List // the steps as they are defined; nil: not known yet
	lowTried time.Time   // when they were last looked for
	drawn    int         // the revision in which a step last changed its state
	total    int
	messages []string
	asked    kept.Request
	ended    time.Time
	status   int
	lost     bool              // its process is gone and did not say how it ended
	asks     []*approval.Entry // what was asked of a second person, the newest first
	asksAt   time.Time         // of the directory of approvals when it was read
	err      error
	rev      int
	changed  chan struct{} // closed at the next change
	used     time.Time
}

// change changes the run and wakes those who look.
func (r *run) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rev++
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// chunk is how much of a log is read at a time.
const chunk = 64 << 10

// read takes what the log of the run has more.
func (r *run) read() error {
	b := make([]byte, chunk)
	for {
		n, err := r.kept.ReadFrom(b, r.offset)
		if err != nil || n == 0 {
			return err
		}
		r.change(func() {
			r.offset += int64(n)
			r.rest = append(r.rest, b[:n]...)
			for {
				i := bytes.IndexByte(r.rest, '\n')
				if i < 0 {
					break
				}
				r.line(string(r.rest[:i]))
				r.rest = r.rest[i+1:]
			}
			if len(r.rest) > maxRest {
				r.rest = r.rest[:maxRest] // what follows is not shown
			}
		})
	}
}

// look takes what is new of the run, and reports whether it is over.
func (r *run) look() (over bool) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if r.isOver() {
		return true
	}
	state := r.kept.State() // before the log: what ended writes no more
	r.lookAsked()
	err := r.read()
	asked := r.kept.Asked()
	switch {
	case err != nil && state != kept.Active:
		r.change(func() { r.err = err })
	case asked != r.request():
		r.change(func() { r.asked = asked })
	}
	if state == kept.Active {
		return false
	}
	r.kept.Forget()
	r.change(func() {
		if len(r.rest) > 0 {
			r.line(string(r.rest))
			r.rest = nil
		}
		if end, err := r.kept.End(); err == nil {
			r.ended, r.status = end.At, end.Status
		} else {
			r.ended, r.lost = r.kept.LastWord(), true
		}
	})
	return true
}

func (r *run) request() kept.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// lookAsked takes what is new of the questions of the run.
func (r *run) lookAsked() {
	st := approval.New(r.kept.CacheDir(), time.Now)
	at := st.Changed()
	if at.Equal(r.asksAt) {
		return
	}
	asks, err := st.List("")
	if err != nil {
		return // it is tried again
	}
	if time.Since(at) > time.Second { // what changes later has another time
		r.asksAt = at
	}
	asks = slices.DeleteFunc(asks, func(e *approval.Entry) bool { return e.Asker() != r.ID })
	answers := func(all []*approval.Entry) (n int) {
		for _, e := range all {
			if n++; e.Answer != nil {
				n++
			}
		}
		return n
	}
	if answers(asks) != answers(r.asks) {
		r.change(func() { r.asks = asks })
	}
}

// follow keeps the run up to date until it is over.
func (r *run) follow(ending <-chan struct{}) {
	for !r.look() {
		select {
		case <-ending:
			return
		case <-time.After(pace):
		}
	}
}

// step returns a step; the first event of one adds it.
func (r *run) step(id string) *runStep {
	i := slices.IndexFunc(r.steps, func(s *runStep) bool { return s.ID == id })
	if i < 0 {
		r.steps = append(r.steps, &runStep{ID: id, State: "waiting", hosts: map[string]*runHost{}})
		i = len(r.steps) - 1
	}
	r.steps[i].rev = r.rev
	return r.steps[i]
}

// line takes a line that brine wrote. The caller has the run.
func (r *run) line(text string) {
	var e event
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &e) == nil && e.Event != "" {
		r.take(e)
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if len(r.messages) == maxMessages { // the last ones say how it ended
		r.messages = slices.Delete(r.messages, 0, 1)
	}
	r.messages = append(r.messages, strings.ToValidUTF8(text[:min(maxLine, len(text))], "\ufffd"))
}

// take takes an event.
func (r *run) take(e event) {
	switch e.Event {
	case "run_start":
		r.jid, r.total = e.JID, e.Total
	case "step_start":
		r.drawn = r.rev
		s := r.step(e.ID)
		s.Fun, s.State = e.Fun, "running"
	case "step_end":
		r.drawn = r.rev
		s := r.step(e.ID)
		s.Fun, s.State, s.Comment, s.Seconds = e.Fun, e.Result, e.Comment, e.Seconds
	case "job_start":
		if r.Spec.single() {
			r.jid, r.total = e.JID, 1
			s := r.step(cmp.Or(e.Fun, "command"))
			s.Fun, s.State, s.Hosts, s.JID = e.Fun, "running", e.Hosts, e.JID
		} else if e.Step != "" {
			s := r.step(e.Step)
			s.Hosts += e.Hosts
			s.JID = e.JID
		}
	case "host_phase", "host_end":
		if s := r.stepOfJob(e); s != nil {
			r.host(s, e)
		}
	case "job_end":
		if s := r.stepOfJob(e); s != nil && r.Spec.single() {
			s.Seconds, s.State = e.Seconds, s.outcome(e.Failed)
		}
	}
}

// outcome is how a job on hosts went, of which it is said how many failed.
func (s *runStep) outcome(failed int) string {
	switch {
	case failed > 0 || s.Failed > 0:
		return "failed"
	case s.Due > 0:
		return "would_change"
	case s.Good < s.Hosts: // nobody knows how all of them did
		return "unfinished"
	}
	for _, h := range s.hosts {
		if h.State == "changed" {
			return "changed"
		}
	}
	return "ok"
}

// stepOfJob returns the step that an event of a job belongs to; nil where there is
// none.
func (r *run) stepOfJob(e event) *runStep {
	if r.Spec.single() && len(r.steps) > 0 {
		r.steps[0].rev = r.rev
		return r.steps[0]
	}
	if e.Step == "" {
		return nil
	}
	return r.step(e.Step)
}

func (r *run) host(s *runStep, e event) {
	h := s.hosts[e.Host]
	if h == nil {
		h = &runHost{ID: e.Host, Began: e.Time}
		s.hosts[e.Host] = h
	} else if h.over() { // a further job of the step has it, too: it is one host all the same
		s.Hosts--
		s.count(h.State, -1)
	}
	s.Hosts = max(s.Hosts, len(s.hosts))
	if e.Event == "host_phase" {
		h.State = e.Phase
		return
	}
	h.State, h.Comment, h.Seconds = e.Result, e.Comment, e.Seconds
	s.count(e.Result, 1)
}

// count counts a host that has ended.
func (s *runStep) count(result string, n int) {
	s.Done += n
	switch result {
	case "failed":
		s.Failed += n
	case "ok", "changed":
		s.Good += n
	case "would_change":
		s.Due += n
	}
}

// A runView is a run as a page shows it.
type runView struct {
	ID, JID, User string
	Spec          runSpec
	Started       time.Time
	Ended         time.Time // zero: it has not
	Status        int
	Lost          bool              // its process is gone and did not say how it ended
	Asks          []*approval.Entry // whether a second person approves it
	Err           string
	Stopping      kept.Request
	Total         int
	Done, Failed  int
	Hosts         hostSums
	Failures      []failure
	Steps         []stepView
	Messages      []string
	Rev           int
	Graph         string // the steps as a picture, SVG; "": there is none, or it is as before
	// What it left, when it is over and as long as it is kept.
	Execution *executionView
	Record    *jobView
	Unread    string // why there is none of these
}

// A stepView is a step as a page shows it.
type stepView struct {
	Number    int
	ID, Fun   string
	Label     string // what pages call it
	State     string
	Comment   string
	Seconds   float64
	Hosts     int
	HostsDone int
	HostsBad  int
	JID       string // of its job on hosts
	Shown     []runHost
	More      int
	Hidden    int      // hosts beyond the limits of who looks
	Longest   *runHost // of those that are worked on; nil: it is not known
}

// over reports whether the run has ended.
func (v runView) over() bool { return !v.Ended.IsZero() }

// state is how the run goes, in a word.
func (v runView) state() string {
	switch {
	case v.Rev == unread:
		return "unreadable"
	case !v.over() && v.Stopping != kept.None:
		return "stopping"
	case v.waitsFor() != nil:
		return "waiting"
	case !v.over():
		return "running"
	case v.Status == exitRefused && !v.Lost:
		return "refused"
	case v.Status == 0 && !v.Lost:
		return "succeeded"
	case v.Stopping != kept.None:
		return "stopped"
	case v.Lost:
		return "lost"
	case v.Status == exitInterrupted, v.Status == exitWaits: // of a queue, another run goes on
		return "interrupted"
	}
	return "failed"
}

// waitsFor is the question that the run waits for; nil: it waits for none.
func (v runView) waitsFor() *approval.Entry {
	if v.over() && (v.Status != exitWaits || v.Lost) {
		return nil
	}
	for _, e := range v.Asks {
		if e.Answer == nil {
			return e
		}
	}
	return nil
}

// exitRefused is the exit status of a run that a person refused, and exitWaits that of one
// of a queue that was put back until it is approved.
const (
	exitWaits   = 78
	exitRefused = 79
)

// exitInterrupted is the exit status of a run that a signal ended.
const exitInterrupted = 130

// unread is the revision of a run whose files cannot be read.
const unread = -1

// stateWords are the states of runs in words.
var stateWords = map[string]string{
	"stopping": "is being stopped", "running": "is under way", "succeeded": "has succeeded", "stopped": "was stopped", "failed": "has failed",
	"interrupted": "was interrupted", "lost": "did not say how it ended: its process was killed, or the machine went down", "unreadable": "cannot be shown",
	"waiting": "waits for an approval", "refused": "was refused",
}

// summary is how the run goes, in a sentence.
func (v runView) summary() string {
	out := fmt.Sprintf("%d of %d steps done", v.Done, max(v.Total, len(v.Steps)))
	if v.Total == 0 && len(v.Steps) == 0 {
		out = "no steps yet"
		if v.over() {
			out = "no steps"
		}
	}
	if v.Failed > 0 {
		out += fmt.Sprintf(", %d failed", v.Failed)
	}
	return "The run " + stateWords[v.state()] + ": " + out + "."
}

// view returns what a page shows of the run to somebody with limits: the steps that changed
// after a revision; and what tells that there is more.
func (r *run) view(after int, limits *Scope) (runView, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	whole := limits.whole(r.Spec.Spec)
	v := runView{
		ID: r.ID, JID: r.jid, User: r.Spec.User, Spec: r.Spec, Started: r.Spec.Started, Ended: r.ended, Status: r.status, Lost: r.lost,
		Stopping: r.asked, Asks: r.asks, Total: r.total, Messages: slices.Clone(r.messages), Rev: r.rev,
	}
	if r.err != nil {
		v.Err = r.err.Error()
	}
	if !whole && len(v.Messages) > 0 {
		v.Messages = []string{limits.hiddenText(0)}
	}
	if !whole {
		v.Spec.Hosts = limits.only(v.Spec.Hosts)
	}
	v.Hosts, v.Failures = r.sums(limits, whole)
	for i, s := range r.steps {
		switch s.State {
		case "waiting", "running", "not_run":
		case "failed":
			v.Failed++
			v.Done++
		default:
			v.Done++
		}
		// The end of the run adds a button to steps that failed.
		ended := !r.ended.IsZero() && s.Failed > 0 && after < r.rev
		if s.rev <= after && !ended {
			continue
		}
		x := stepView{Number: i + 1, ID: s.ID, Label: r.Spec.label(s.ID), Fun: s.Fun, State: s.State, Comment: s.Comment, Seconds: s.Seconds, Hosts: s.Hosts, HostsDone: s.Done, HostsBad: s.Failed, JID: s.JID}
		x.Shown, x.More = s.notable(limits)
		x.Longest = s.longest(limits)
		if n, beyond := s.hidden(limits, whole); beyond {
			x.Hidden, x.Comment = n, limits.hiddenText(n)
		}
		v.Steps = append(v.Steps, x)
	}
	return v, r.changed
}
