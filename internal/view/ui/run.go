package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/py/value"
)

// Kinds of runs, as their paths have them.
const (
	kindOrchestration = "orchestrations"
	kindChain         = "chains"
	kindTemplate      = "templates"
	kindJob           = "jobs"  // a job on hosts, again on those that failed in it
	kindHosts         = "hosts" // hosts are asked whether they answer
)

// Bounds of what is kept and shown of runs.
const (
	maxRuns     = 200 // that ended
	maxMessages = 200 // lines that a run wrote last
	maxLine     = 4096
	shownHosts  = 50 // of a step, on the page
)

// An event is a line of --progress=json; see docs/progress.schema.json.
type event struct {
	Event   string  `json:"event"`
	JID     string  `json:"jid"`
	ID      string  `json:"id"`
	Fun     string  `json:"fun"`
	Step    string  `json:"step"`
	Host    string  `json:"host"`
	Phase   string  `json:"phase"`
	Result  string  `json:"result"`
	Comment string  `json:"comment"`
	Hosts   int     `json:"hosts"`
	Failed  int     `json:"failed"`
	Total   int     `json:"total"`
	Seconds float64 `json:"seconds"`
}

// A runSpec is what is run.
type runSpec struct {
	Kind, Name string
	Test       bool
	Resume     string
	Answers    *value.Map // of a template
	Hosts      []string   // that are asked whether they answer
	Once       string     // digest of the form that asked for it; "": none did
	AdHoc      bool       // it is not, or need not be, what is defined
}

// single reports whether the run is one job on hosts, without steps.
func (x runSpec) single() bool { return x.Kind == kindJob || x.Kind == kindHosts }

// title is what is run, in a few words.
func (x runSpec) title() string {
	if x.Kind == kindJob {
		return "failed hosts of job " + x.Name
	}
	return x.Name
}

// path is the address of the page of what is run.
func (x runSpec) path() string {
	if x.Kind == kindHosts && len(x.Hosts) != 1 {
		return "/hosts"
	}
	return path(x.Kind, x.Name)
}

// args is the command line of the run.
func (x runSpec) args() []string {
	var args []string
	switch x.Kind {
	case kindJob:
		args = []string{"ssh", "--retry-failed", x.Name}
	case kindHosts:
		args = []string{"ssh", "--list", strings.Join(x.Hosts, ","), "test.ping"}
	case kindChain:
		args = []string{"chain", "run", x.Name, "--yes"}
	case kindTemplate:
		args = []string{"template", "run", x.Name, "--yes"}
	case kindOrchestration:
		args = []string{"orchestrate"}
		if x.Resume == "" { // else it has the arguments of the record, such as saltenv
			args = append(args, x.Name)
		}
	}
	switch {
	case x.Test && x.Kind == kindOrchestration:
		args = append(args, "test=True")
	case x.Test:
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
	JID     string // of its job on hosts
	hosts   map[string]*runHost
	rev     int
}

// A runHost is a host in a step.
type runHost struct {
	ID, State, Comment string
}

// notable returns the hosts that the page shows: those that failed, then those that
// are being worked on. more is how many others of these there are.
func (s *runStep) notable() (out []runHost, more int) {
	rank := func(h *runHost) int {
		switch h.State {
		case "failed":
			return 0
		case "ok":
			return 2
		}
		return 1
	}
	for _, h := range slices.SortedFunc(maps.Values(s.hosts), func(x, y *runHost) int {
		if d := rank(x) - rank(y); d != 0 {
			return d
		}
		return strings.Compare(x.ID, y.ID)
	}) {
		if len(out) == shownHosts {
			more++
			continue
		}
		out = append(out, *h)
	}
	return out, more
}

// A run is an execution that the server started.
type run struct {
	ID      string
	Spec    runSpec
	User    string
	Started time.Time

	cancel context.CancelFunc

	mu       sync.Mutex
	jid      string
	steps    []*runStep
	total    int
	messages []string
	stopping string // what was asked for: "", stop, kill
	ended    time.Time
	status   int
	err      error
	rev      int
	changed  chan struct{} // closed at the next change
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

// line takes a line that brine wrote.
func (r *run) line(text string) {
	var e event
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &e) == nil && e.Event != "" {
		r.change(func() { r.take(e) })
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	r.change(func() {
		if len(r.messages) == maxMessages { // the last ones say how it ended
			r.messages = slices.Delete(r.messages, 0, 1)
		}
		r.messages = append(r.messages, strings.ToValidUTF8(text[:min(maxLine, len(text))], "\ufffd"))
	})
}

// take takes an event.
func (r *run) take(e event) {
	switch e.Event {
	case "run_start":
		r.jid, r.total = e.JID, e.Total
	case "step_start":
		s := r.step(e.ID)
		s.Fun, s.State = e.Fun, "running"
	case "step_end":
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
			s.Seconds, s.State = e.Seconds, "ok"
			if e.Failed > 0 {
				s.State = "failed"
			}
		}
	}
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
		h = &runHost{ID: e.Host}
		s.hosts[e.Host] = h
	}
	if e.Event == "host_phase" {
		h.State = e.Phase
		return
	}
	h.State, h.Comment = e.Result, e.Comment
	s.Done++
	if e.Result == "failed" {
		s.Failed++
	}
}

// A runView is a run as a page shows it.
type runView struct {
	ID, JID, User string
	Spec          runSpec
	Started       time.Time
	Ended         time.Time // zero: it has not
	Status        int
	Err           string
	Stopping      string
	Total         int
	Done, Failed  int
	Steps         []stepView
	Messages      []string
	Rev           int
}

// A stepView is a step as a page shows it.
type stepView struct {
	Number    int
	ID, Fun   string
	State     string
	Comment   string
	Seconds   float64
	Hosts     int
	HostsDone int
	HostsBad  int
	JID       string // of its job on hosts
	Shown     []runHost
	More      int
}

// over reports whether the run has ended.
func (v runView) over() bool { return !v.Ended.IsZero() }

// state is how the run goes, in a word.
func (v runView) state() string {
	switch {
	case !v.over() && v.Stopping != "":
		return "stopping"
	case !v.over():
		return "running"
	case v.Status == 0 && v.Err == "":
		return "succeeded"
	case v.Stopping != "":
		return "stopped"
	}
	return "failed"
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
	return "The run " + map[string]string{
		"stopping": "is being stopped", "running": "is under way", "succeeded": "has succeeded", "stopped": "was stopped", "failed": "has failed",
	}[v.state()] + ": " + out + "."
}

// view returns what a page shows of the run: the steps that changed after a
// revision; and what tells that there is more.
func (r *run) view(after int) (runView, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := runView{
		ID: r.ID, JID: r.jid, User: r.User, Spec: r.Spec, Started: r.Started, Ended: r.ended, Status: r.status,
		Stopping: r.stopping, Total: r.total, Messages: slices.Clone(r.messages), Rev: r.rev,
	}
	if r.err != nil {
		v.Err = r.err.Error()
	}
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
		x := stepView{Number: i + 1, ID: s.ID, Fun: s.Fun, State: s.State, Comment: s.Comment, Seconds: s.Seconds, Hosts: s.Hosts, HostsDone: s.Done, HostsBad: s.Failed, JID: s.JID}
		x.Shown, x.More = s.notable()
		v.Steps = append(v.Steps, x)
	}
	return v, r.changed
}

// runs are the executions that the server started, the latest last.
type runs struct {
	backend Backend
	now     func() time.Time

	mu     sync.Mutex
	all    []*run
	closed bool
	work   sync.WaitGroup
}

func newRuns(b Backend, now func() time.Time) *runs { return &runs{backend: b, now: now} }

// start starts an execution. It goes on when the request that asked for it has
// ended. If a form was sent twice, or two people resume the same execution, it
// returns the one that was started first.
func (rs *runs) start(spec runSpec, user string) (*run, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return nil, errors.New("brine ui is ending: nothing new is started")
	}
	if r := rs.duplicate(spec); r != nil {
		return r, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{ID: secret()[:16], Spec: spec, User: user, Started: rs.now(), cancel: cancel, changed: make(chan struct{})}
	rs.all = append(rs.all, r)
	rs.forget()
	rs.work.Go(func() {
		defer cancel()
		status, err := rs.backend.Run(ctx, Command{Args: spec.args(), Answers: spec.Answers, User: user, OnLine: r.line})
		r.change(func() { r.ended, r.status, r.err, r.Spec.Answers = rs.now(), status, err, nil })
	})
	return r, nil
}

// clicks is how long a second click on a button may take to arrive.
const clicks = 10 * time.Second

// duplicate returns the execution that was started when somebody asked for this one
// already; nil: there is none.
func (rs *runs) duplicate(spec runSpec) *run {
	for _, r := range rs.all {
		switch {
		case spec.Once != "" && spec.Once == r.Spec.Once && (!r.isOver() || rs.now().Sub(r.Started) < clicks):
			return r
		case spec.Resume != "" && spec.Resume == r.Spec.Resume && !r.isOver():
			return r
		case spec.single() && spec.Kind == r.Spec.Kind && spec.Name == r.Spec.Name && slices.Equal(spec.Hosts, r.Spec.Hosts) && !r.isOver():
			return r
		}
	}
	return nil
}

// forget forgets the oldest executions that ended.
func (rs *runs) forget() {
	over := len(rs.all) - maxRuns
	rs.all = slices.DeleteFunc(rs.all, func(r *run) bool {
		if over <= 0 || !r.isOver() {
			return false
		}
		over--
		return true
	})
}

func (r *run) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended.IsZero()
}

func (rs *runs) find(id string) (*run, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if i := slices.IndexFunc(rs.all, func(r *run) bool { return r.ID == id }); i >= 0 {
		return rs.all[i], nil
	}
	return nil, fmt.Errorf("run %s: %w; the page of jobs has the records of all runs", id, ErrNotFound)
}

// views returns what pages show of the executions, the latest first, without steps.
func (rs *runs) views() []runView {
	rs.mu.Lock()
	all := slices.Clone(rs.all)
	rs.mu.Unlock()
	var out []runView
	for _, r := range slices.Backward(all) {
		v, _ := r.view(1 << 30)
		out = append(out, v)
	}
	return out
}

// Active returns the names of the runs that have not ended.
func (s *Server) Active() []string {
	var out []string
	for _, v := range s.runs.views() {
		if !v.over() {
			out = append(out, v.Spec.title())
		}
	}
	return out
}

// Stop has no new runs started, and tells the active ones to start nothing new; with
// hard, it ends them. Wait waits for them. Those that could not be told go on, and
// the error names them.
func (s *Server) Stop(hard bool) error {
	s.runs.mu.Lock()
	s.runs.closed = true
	all := slices.Clone(s.runs.all)
	s.runs.mu.Unlock()
	var faults []error
	for _, r := range all {
		if r.isOver() {
			continue
		}
		if err := s.stop(context.Background(), r, hard); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", r.Spec.title(), err))
		}
	}
	return errors.Join(faults...)
}

// Wait waits for all runs.
func (s *Server) Wait() { s.runs.work.Wait() }

// stop stops a run: soft ends it before the next step, hard at once. A run that
// cannot be told to stop softly goes on: its running steps must not be ended for it.
func (s *Server) stop(ctx context.Context, r *run, hard bool) error {
	r.mu.Lock()
	jid := r.jid
	r.mu.Unlock()
	if !hard && jid != "" {
		// The run is asked to stop even if the page that requested it is closed
		// meanwhile.
		if err := s.opts.Backend.Drain(context.WithoutCancel(ctx), jid); err != nil {
			return fmt.Errorf("the run goes on, since it could not be told to stop: %w", err)
		}
		r.change(func() {
			if r.stopping == "" {
				r.stopping = "stop"
			}
		})
		return nil
	}
	// Hard, or nothing has begun that is worth waiting for.
	r.change(func() { r.stopping = "kill" })
	r.cancel()
	return nil
}
