package history

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A Subject is what a run executes, where that is more than an SLS.
type Subject struct {
	Kind, Name, Description string
	// Source is the hash of the file that the definition is made of; "" is none.
	Source string
	// Step returns the label of a step and its target expression, by its ID in the
	// SLS; nil: nothing is known.
	Step func(id string) (label, target string)
	// Notify are the destinations of notifications that the definition names.
	Notify []string
}

// An Ending is how an orchestration ended, other than a step of another one, for
// notifications. Step and Cause are the first step that failed, and why; of one that
// failed before its steps, Cause alone.
type Ending struct {
	JID, Kind, Name, User      string
	Status                     string
	Step, Cause                string
	Started, Ended             time.Time
	Steps, Done, Failed, Hosts int
	Notify                     []string
}

// A Recorder hands what orchestrations do to a store, row by row. It is safe for
// concurrent use, and never makes a run wait or fail.
type Recorder struct {
	// Put takes a row; what becomes of it is not the recorder's concern.
	Put func(row *value.Map)
	Now func() time.Time
	// Subject is what the command runs; nil: an SLS.
	Subject *Subject
	// Controller and Cache are its id and cache directory, PID the process, Program the
	// version of brine.
	Controller, Cache, Program string
	PID                        int
	// Ended takes how an orchestration ended, unless it was in test mode; nil: nobody does.
	Ended func(Ending)
	// Verdict is the status of an orchestration that a person ended by an answer; "", and
	// nil: its return says how it ended.
	Verdict func(jid string) string

	mu   sync.Mutex
	runs map[string]*run
}

// A run is an execution that goes on.
type run struct {
	rec    *Recorder
	load   jobs.Load
	mu     sync.Mutex
	def    *Definition
	tags   map[string]int // orders of steps by the tags of their states
	inputs map[int]string // digests of pillars, by the orders of steps
	subs   []*sub
	hosts  map[string]bool
	done   int
	failed int
	status string
	test   bool
	notify []string
	began  time.Time
	// bad and cause are the first step that failed, and why.
	bad, cause string
}

// A sub is the job of a step.
type sub struct {
	load    jobs.Load
	began   time.Time
	ended   bool
	claimed bool // a step has it
}

// Record returns a record that also writes to the history: an orchestration,
// and the jobs of its steps. Other jobs are not written.
func (r *Recorder) Record(l jobs.Load, rec jobs.Record) jobs.Record {
	if r == nil || rec == nil {
		return rec
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[string]*run{}
	}
	t := &tap{Record: rec, rec: r, load: l}
	if of := r.runs[l.OrchJID]; of != nil && l.OrchJID != "" {
		t.of, t.sub = of, &sub{load: l, began: r.Now()}
		of.mu.Lock()
		of.subs = append(of.subs, t.sub)
		of.mu.Unlock()
	}
	if t.of == nil && !mayOrchestrate(l.Fun) {
		return rec
	}
	return t
}

// mayOrchestrate reports whether a function may be an orchestration.
func mayOrchestrate(name string) bool {
	switch strings.TrimPrefix(name, "runner.") {
	case "state.orchestrate", "state.orch", "state.sls":
		return true
	}
	return false
}

// A tap is a record that tells the history, too.
type tap struct {
	jobs.Record
	rec  *Recorder
	load jobs.Load
	of   *run // whose step the job is; nil: of none
	sub  *sub
	own  *run // of an orchestration that began its steps
	last *fun.Return
}

// Unwrap returns the record itself.
func (t *tap) Unwrap() jobs.Record { return t.Record }

// Note takes the definition and the steps of an orchestration.
func (t *tap) Note(kind string, data *value.Map) error {
	err := t.Record.Note(kind, data)
	switch {
	case kind == "definition":
		t.own = t.rec.begin(t.load, data)
	case kind == "step" && t.own != nil:
		t.own.step(data)
	}
	return err
}

// Return takes the answer of a target, or how an orchestration ended.
func (t *tap) Return(ret fun.Return) error {
	err := t.Record.Return(ret)
	if t.own != nil {
		t.own.ending(ret)
	}
	t.last = &ret
	if t.of != nil {
		t.of.host(t.sub, ret)
	}
	return err
}

// End takes the end.
func (t *tap) End() error {
	err := t.Record.End()
	if t.own == nil && t.of == nil {
		t.rec.failedEarly(t.load, t.last)
	}
	if t.own != nil {
		t.own.end()
		t.rec.mu.Lock()
		delete(t.rec.runs, t.load.JID)
		t.rec.mu.Unlock()
	}
	if t.sub != nil {
		t.of.mu.Lock()
		t.sub.ended = true
		t.of.mu.Unlock()
	}
	return err
}

// volatile are keys of a low chunk that do not belong to the arguments of a step.
var volatile = []string{"state", "fun", "__id__", "__sls__", "__env__", "order", "tgt", "tgt_type", "metadata", "__file__", "__line__"}

// begin tells that an orchestration begins its steps.
func (r *Recorder) begin(l jobs.Load, data *value.Map) *run {
	subj := &Subject{Kind: Orchestration, Name: slsName(data.At("sls"))}
	if r.Subject != nil && l.OrchJID == "" {
		subj = r.Subject
	}
	u := &run{
		rec: r, load: l, tags: map[string]int{}, inputs: map[int]string{}, hosts: map[string]bool{}, status: Interrupted,
		test: value.Truth(data.At("test")), notify: subj.Notify,
	}
	u.def = &Definition{Kind: subj.Kind, Name: subj.Name, Description: subj.Description, Source: subj.Source}
	low := data.List("low")
	for i := range low.Len() {
		if m, ok := low.Items[i].(*value.Map); ok {
			u.define(subj, m)
		}
	}
	u.def.Hash = u.def.hash()
	steps := value.NewList()
	for i := range u.def.Steps {
		steps.Append(u.def.Steps[i].mapOf())
	}
	r.mu.Lock()
	r.runs[l.JID] = u
	r.mu.Unlock()
	now := r.Now()
	began := now
	if t, ok := jobs.Time(l.JID); ok {
		began = t
	}
	u.began = began
	u.put("begin", value.MapOf(
		"definition", value.MapOf("hash", u.def.Hash, "kind", u.def.Kind, "name", u.def.Name, "description", u.def.Description, "source", u.def.Source, "created", stamp(now), "steps", steps),
		"user", l.User, "controller", r.Controller, "cache", r.Cache, "program", r.Program, "pid", int64(r.PID), "started", stamp(began),
		"test", u.test, "resumes", data.Str("resumes"), "parent", l.OrchJID, "limit", l.Limit, "revision", data.Str("revision"), "pillar", data.Str("pillar_sha256"),
	))
	return u
}

// slsName is the name of an orchestration: its SLS files.
func slsName(v value.Value) string {
	l, ok := v.(*value.List)
	if !ok {
		return value.Str(v)
	}
	names := make([]string, l.Len())
	for i, x := range l.Items {
		names[i] = value.Str(x)
	}
	return strings.Join(names, ",")
}

// define adds a step to the definition.
func (u *run) define(subj *Subject, low *value.Map) {
	s := Step{Order: len(u.def.Steps) + 1, ID: low.Str("__id__"), Fun: low.Str("state") + "." + low.Str("fun"), ActionID: actionID(low.Map("metadata"))}
	args, _ := value.Clone(low).(*value.Map) // it is stored while the run goes on
	for _, k := range volatile {
		args.Delete(k)
	}
	if subj.Kind == Orchestration {
		s.Target = text(low.At("tgt"))
	} else if args.Has("pillar") {
		// What people answer is not part of the definition.
		args.Delete("pillar")
	}
	if subj.Kind != Orchestration {
		args.Delete("id_list") // targets, too
	}
	if subj.Step != nil {
		// A label is made of the file of a chain, which nothing has masked.
		label, target := subj.Step(s.ID)
		s.Label, s.Target = value.Str(redact.Hide(label)), target
	}
	s.Args = args
	u.tags[strings.Join([]string{low.Str("state"), s.ID, low.Str("name"), low.Str("fun")}, "_|-")] = s.Order
	u.inputs[s.Order] = low.Str("pillar")
	u.def.Steps = append(u.def.Steps, s)
}

// actionKeys are the keys of metadata that name an action.
var actionKeys = [...]string{"action_id", "suma-action-id", "suma_action_id", "action"}

func actionID(metadata *value.Map) string {
	for _, k := range actionKeys {
		if v, ok := metadata.Get(k); ok {
			return value.Str(v)
		}
	}
	return ""
}

// text is a target as people write it.
func text(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *value.List:
		return slsName(v)
	}
	return value.Str(v)
}

func (u *run) put(kind string, row *value.Map) {
	row.Set("kind", kind)
	row.Set("jid", u.load.JID)
	row.Set("id", u.rec.Controller)
	row.Set("version", int64(Version))
	u.rec.Put(row)
}

// step tells that a step ended.
func (u *run) step(data *value.Map) {
	u.mu.Lock()
	defer u.mu.Unlock()
	ret := data.Map("return")
	tag := data.Str("tag")
	order, known := u.tags[tag]
	if !known {
		order = max(len(u.def.Steps), u.most()) + 1
		u.tags[tag] = order
	}
	result, comment := OK, ret.Str("comment")
	switch ret.At("result") {
	case true:
		if cause.NotRun(ret) {
			result = Pending
		}
	case nil:
		result = Would
	case false:
		if _, unmet := cause.Unmet(ret); unmet {
			result = Pending
			break
		}
		result = Bad
		u.failed++
		comment = why("", tag, ret).Text()
		u.blame(order, ret.Str("__id__"), comment)
	}
	if result != Pending {
		u.done++
	}
	took := length(ret.At("duration"))
	stepID, name := ret.Str("__id__"), ""
	if parts := strings.Split(tag, "_|-"); len(parts) == 4 {
		stepID, name = parts[1], parts[0]+"."+parts[3]
	}
	jids, tries := u.claim(ret.Str("__jid__"), data.At("tgt"))
	first := ""
	if len(jids) > 0 {
		first = jids[0]
	}
	u.put("step", value.MapOf(
		"order", int64(order), "step", stepID, "fun", name, "action_id", actionID(data.Map("metadata")), "step_jid", first, "jids", value.Strings(jids...), "tries", value.Strings(tries...),
		"result", result, "started", stamp(u.rec.Now().Add(-seconds(took))), "duration", took, "comment", short(redact.Hide(comment), maxComment),
		"tgt", short(text(data.At("tgt")), maxComment), "pillar", u.inputs[order], "done", int64(u.done), "failed", int64(u.failed), "hosts", int64(len(u.hosts)),
	))
}

func (u *run) most() int {
	n := 0
	for _, o := range u.tags {
		n = max(n, o)
	}
	return n
}

// claim returns the jobs of a step: the one that its return names, else those on
// the same targets that ended and are no other step's. tries are the jobs of its
// earlier tries, where it was tried again.
func (u *run) claim(jid string, tgt value.Value) (jids, tries []string) {
	i := slices.IndexFunc(u.subs, func(s *sub) bool { return s.load.JID == jid })
	for _, s := range u.subs {
		switch {
		case s.load.JID == jid, jid == "" && tgt != nil && s.ended && text(s.load.Tgt) == text(tgt):
			s.claimed = true
			jids = append(jids, s.load.JID)
		case i >= 0 && s.ended && sameCall(s.load, u.subs[i].load):
			s.claimed = true
			tries = append(tries, s.load.JID)
		}
	}
	if len(jids) == 0 && jid != "" {
		jids = []string{jid}
	}
	u.subs = slices.DeleteFunc(u.subs, func(s *sub) bool { return s.claimed })
	return jids, tries
}

// sameCall reports whether two jobs call the same on the same targets.
func sameCall(a, b jobs.Load) bool {
	return a.Fun == b.Fun && text(a.Tgt) == text(b.Tgt) && a.Arg.Len() == b.Arg.Len() && (a.Arg.Len() == 0 || value.Equal(a.Arg, b.Arg))
}

// maxLength bounds a duration, in seconds: targets may say anything.
const maxLength = 1e9

// length is a duration in milliseconds, as states have it, in seconds; 0 for what
// is none.
func length(v value.Value) float64 {
	d, err := value.ToFloat(v)
	if err != nil || math.IsNaN(d) || d < 0 {
		return 0
	}
	return min(d/1000, maxLength)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// What a row has of texts at most, in bytes, and of states by name.
const (
	maxComment = 2000
	maxLimit   = 250 // which may be a long list of names
	maxReturn  = 200
	maxStates  = 50
)

// short is the beginning of a text.
func short(v value.Value, most int) string {
	s := strings.ToValidUTF8(value.Str(v), "\ufffd")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// host records the answer of a target.
func (u *run) host(s *sub, ret fun.Return) {
	if ret.Stage == fun.Refused && (errors.Is(ret.Err, fun.ErrNotBegun) || errors.Is(ret.Err, fun.ErrStopped)) {
		return
	}
	now := u.rec.Now()
	h := summarize(ret)
	if h.took == 0 {
		h.took = now.Sub(s.began).Seconds()
	}
	u.mu.Lock()
	u.hosts[ret.ID] = true
	u.mu.Unlock()
	u.put("host", value.MapOf(
		"step_jid", s.load.JID, "host", ret.ID, "result", h.result, "duration", h.took, "changed", int64(h.changed), "ended", stamp(now), "detail", h.detail,
	))
}

// A summary is what the history keeps of an answer.
type summary struct {
	result  string
	changed int
	took    float64 // seconds; 0: not known
	detail  *value.Map
}

func summarize(ret fun.Return) summary {
	h := summary{result: OK, detail: value.NewMap(0)}
	var v value.Value
	if ret.Stage == fun.Returned {
		var err error
		if v, err = ret.Value(); err != nil {
			v = err.Error()
		}
		if !ret.Success() {
			h.result = Bad
		}
	} else {
		h.result = Missing
		why := ret.Stage.String()
		if ret.Err != nil {
			why += ": " + ret.Err.Error()
		}
		h.detail.Set("why", short(redact.Hide(why), maxComment))
		if states := ret.States(); states != nil {
			v = states
		}
	}
	if m, ok := v.(*value.Map); ok && m.Has("fun_args") && m.Has("return") { // of a runner
		v = m.At("return")
	}
	if h.states(v) || v == nil {
		return h
	}
	shown := redact.Hide(v)
	t, plain := shown.(string)
	if !plain {
		t = string(value.StrictJSON(shown))
	}
	h.detail.Set("return", short(t, maxReturn))
	return h
}

// states sums up the returns of states; false for what is none.
func (h *summary) states(v value.Value) bool {
	n, ok := cause.CountOf(v)
	if !ok {
		return false
	}
	h.changed, h.took = n.Touched, n.Took.Seconds()
	if h.result == OK && n.Due > 0 {
		h.result = Would
	}
	m, _ := v.(*value.Map)
	changed, due, failed := value.NewList(), value.NewList(), value.NewMap(0)
	for k, x := range m.All() {
		s := x.(*value.Map)
		tag := value.Str(k)
		name := tag
		if parts := strings.Split(tag, "_|-"); len(parts) > 3 {
			name = fmt.Sprintf("%s.%s: %s", parts[0], parts[3], parts[1])
		}
		one := cause.CountState(s)
		switch {
		case one.Due > 0 && due.Len() < maxStates:
			due.Append(short(name, maxReturn))
		case one.Failed > 0 && failed.Len() < maxStates:
			failed.Set(short(name, maxReturn), why("", tag, s).Short(maxReturn))
		}
		if one.Touched > 0 && changed.Len() < maxStates {
			changed.Append(short(name, maxReturn))
		}
	}
	if n.NotRun > 0 {
		h.detail.Set("not_run", int64(n.NotRun))
	}
	if changed.Len() > 0 {
		h.detail.Set("changed", changed)
	}
	if due.Len() > 0 {
		h.detail.Set("would_change", due)
	}
	if failed.Len() > 0 {
		h.detail.Set("failed", failed)
	}
	return true
}

// why is the cause of a state that failed.
func why(host, tag string, ret *value.Map) cause.Cause {
	shown, _ := redact.Hide(ret).(*value.Map)
	return cause.OfState(host, tag, shown, cause.Options{})
}

// ending takes how an orchestration ended.
func (u *run) ending(ret fun.Return) {
	u.mu.Lock()
	defer u.mu.Unlock()
	verdict := ""
	if u.rec.Verdict != nil {
		verdict = u.rec.Verdict(u.load.JID)
	}
	switch {
	case verdict != "":
		u.status = verdict
	case ret.Success():
		u.status = Succeeded
	case ret.Interrupted:
		u.status = Interrupted
	default:
		u.status = Failed
	}
}

// end tells that an orchestration ended.
func (u *run) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.rec.Now()
	u.put("end", value.MapOf("status", u.status, "ended", stamp(now), "done", int64(u.done), "failed", int64(u.failed), "hosts", int64(len(u.hosts))))
	if u.rec.Ended != nil && !u.test && u.load.OrchJID == "" {
		e := u.far()
		e.Ended = now
		u.rec.Ended(e)
	}
}

// far is how far the run is.
func (u *run) far() Ending {
	return Ending{
		JID: u.load.JID, Kind: u.def.Kind, Name: u.def.Name, User: u.load.User, Status: u.status, Step: u.bad, Cause: u.cause, Started: u.began,
		Steps: len(u.def.Steps), Done: u.done, Failed: u.failed, Hosts: len(u.hosts), Notify: u.notify,
	}
}

// Waiting returns how far an orchestration is that waits before a step; false for a job that is
// none, or is a step of another one.
func (r *Recorder) Waiting(jid, id string) (Ending, bool) {
	r.mu.Lock()
	u := r.runs[jid]
	r.mu.Unlock()
	if u == nil || u.load.OrchJID != "" || u.test {
		return Ending{}, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.far()
	e.Status, e.Step, e.Cause = Running, id, ""
	for i := range u.def.Steps {
		if s := &u.def.Steps[i]; s.ID == id {
			e.Step = cmp.Or(s.Label, s.ID)
		}
	}
	return e, true
}

// blame notes the first step that failed.
func (u *run) blame(order int, id, why string) {
	if u.bad != "" {
		return
	}
	u.bad, u.cause = id, short(redact.Hide(why), maxComment)
	if order > 0 && order <= len(u.def.Steps) {
		u.bad = cmp.Or(u.def.Steps[order-1].Label, u.def.Steps[order-1].ID)
	}
}

// failedEarly tells of an orchestration that failed before its steps.
func (r *Recorder) failedEarly(l jobs.Load, ret *fun.Return) {
	if r.Ended == nil || ret == nil || ret.Success() || !l.Runner || l.OrchJID != "" {
		return
	}
	e := Ending{JID: l.JID, Kind: Orchestration, Name: firstArg(l.Arg), User: l.User, Status: Failed, Ended: r.Now()}
	if r.Subject != nil {
		e.Kind, e.Name, e.Notify = r.Subject.Kind, r.Subject.Name, r.Subject.Notify
	}
	if ret.Interrupted {
		e.Status = Interrupted
	}
	e.Started, _ = jobs.Time(l.JID)
	v, err := ret.Value()
	if err != nil {
		v = err.Error()
	}
	if m, ok := v.(*value.Map); ok && m.Has("return") {
		v = m.At("return")
	}
	e.Cause = short(redact.Hide(cause.Of("", v, int64(ret.Retcode), cause.Options{}).Text()), maxComment)
	r.Ended(e)
}

// firstArg is the first argument of a job, which names an orchestration.
func firstArg(args *value.List) string {
	if args.Len() == 0 {
		return ""
	}
	return slsName(args.Items[0])
}
