package report

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"brine/internal/core/cause"
	"brine/internal/py/value"
)

// Status is how a result ended.
type Status int

// The results, from good to bad.
const (
	OK      Status = iota // nothing was to be done, or a function returned
	Changed               // something was changed
	Pending               // test mode: something would be changed
	Skipped               // a condition kept it from running, or its failure is tolerated
	NotRun                // what it requires failed
	Failed
)

var statusNames = [...]string{"ok", "changed", "pending", "skipped", "not_run", "failed"}

func (s Status) String() string { return statusNames[s] }

// A Run is what reports are written of.
type Run struct {
	Info
	Suites []*Suite
	total  Count
}

// A Suite holds the results of one host in one step.
type Suite struct {
	Step   string // ID of the step, of steps within steps with " / " between; "" outside of orchestrations
	Host   string
	JID    string // of the step's job; "" is the run's
	Cases  []*Case
	Begin  time.Duration // from the begin of the run, as far as it is known
	Length time.Duration
	Count  Count
}

// Name names a suite.
func (s *Suite) Name() string {
	if s.Step == "" {
		return s.Host
	}
	return s.Step + " / " + s.Host
}

// A Case is the result of one state, or of one function on one host.
type Case struct {
	ID, Name, Fun, SLS string
	Status             Status
	Comment            string
	Cause              cause.Cause // of what failed
	Unmet              int         // states of the host that did not run because it failed
	Changes            value.Value // nil for none; without the returns of other hosts
	Begin              time.Duration
	Length             time.Duration
	unmet              []string // what it requires and what failed, as "SLS.ID"
	orchestrates       bool     // has the results of other hosts in suites of their own
}

// Orchestrates reports whether a case has the results of other hosts, which are
// in suites of their own.
func (c *Case) Orchestrates() bool { return c.orchestrates }

// Title names a case: its ID, with the name where that is another one.
func (c *Case) Title() string {
	if c.Name != "" && c.Name != c.ID {
		return c.ID + " (" + c.Name + ")"
	}
	return c.ID
}

// A Count sums cases up.
type Count struct {
	ByStatus [len(statusNames)]int
	Length   time.Duration
}

// All is the number of cases.
func (c Count) All() int {
	n := 0
	for _, x := range c.ByStatus {
		n += x
	}
	return n
}

// Failed is the number of cases that failed.
func (c Count) Failed() int { return c.ByStatus[Failed] }

func (c *Count) add(x *Case) {
	c.ByStatus[x.Status]++
	c.Length += x.Length
}

// Total sums all suites up.
func (r *Run) Total() Count { return r.total }

// Failed reports whether anything failed.
func (r *Run) Failed() bool { return r.total.Failed() > 0 || r.Retcode != 0 }

// Length is how long the run took: by its end, else by its results.
func (r *Run) Length() time.Duration {
	if !r.End.IsZero() && !r.Start.IsZero() {
		return r.End.Sub(r.Start)
	}
	var last time.Duration
	for _, s := range r.Suites {
		last = max(last, s.Begin+s.Length)
	}
	return last
}

// Hosts returns the hosts of a run, sorted: those of steps where it has steps.
func (r *Run) Hosts() []string {
	seen := map[string]bool{}
	steps := false
	for _, s := range r.Suites {
		steps = steps || s.Step != ""
	}
	for _, s := range r.Suites {
		if !steps || s.Step != "" {
			seen[s.Host] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// maxNest is how deep orchestrations within orchestrations are taken apart.
const maxNest = 20

// Build reads what outputters print: a mapping of hosts to returns, also that
// of an orchestration with the returns of its steps inside.
func Build(data value.Value, info Info) *Run {
	b := &builder{run: &Run{Info: info}}
	m, ok := unwrap(data)
	if !ok {
		m = value.MapOf("local", data)
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		_, told := info.Failed[value.Str(k)]
		b.host("", value.Str(k), info.JID, v, place{length: b.took(info.JID, value.Str(k), 0), well: info.Ended && !told && (info.Retcode == 0 || len(info.Failed) > 0)})
	}
	for _, id := range slices.Sorted(maps.Keys(info.Failed)) {
		b.lost(id, info.Failed[id])
	}
	b.owned()
	for _, s := range b.run.Suites {
		for _, c := range s.Cases {
			s.Count.add(c)
			b.run.total.add(c)
		}
	}
	return b.run
}

// owned has a run that failed have something that says so: its only return, where that
// is a function's, else a case of its own.
func (b *builder) owned() {
	failed := func(s *Suite) bool {
		return slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.Status == Failed })
	}
	if b.run.Retcode == 0 || slices.ContainsFunc(b.run.Suites, failed) {
		return
	}
	why := "exit status " + strconv.Itoa(b.run.Retcode)
	if len(b.run.Suites) == 1 && len(b.returns) == 1 && len(b.run.Suites[0].Cases) == 1 {
		b.returns[0].fail(why)
		return
	}
	if len(b.run.Suites) == 0 {
		b.run.Suites = append(b.run.Suites, &Suite{Host: "local", JID: b.run.JID})
	}
	s := b.run.Suites[0]
	s.Cases = append(s.Cases, failure(s.Host, "run", cmp.Or(b.run.Fun, "run"), why))
}

// failure is a case that failed and is not a state's.
func failure(host, id, function, why string) *Case {
	return &Case{ID: id, Fun: function, Status: Failed, Comment: why, Cause: cause.Of(host, why, 0, cause.Options{})}
}

// fail marks a case as failed, for a reason that it may know better.
func (c *Case) fail(why string) {
	c.Status, c.Cause = Failed, c.Cause.WithReason(why)
	if c.Comment == "" {
		c.Comment = why
	}
}

// tolerate marks a case as not counted that failed in what succeeded: a step or the run
// allows for it.
func (c *Case) tolerate() {
	if c.Status == Failed || c.Status == NotRun {
		c.Status, c.Comment = Skipped, "tolerated: "+c.Comment
	}
}

// unwrap returns the mapping of hosts: data of a runner is within "data".
func unwrap(v value.Value) (value.Mapping, bool) {
	m, ok := v.(value.Mapping)
	if !ok {
		return nil, false
	}
	if _, has := m.Get("outputter"); !has {
		return m, true
	}
	inner, _ := m.Get("data")
	if in, ok := inner.(value.Mapping); ok {
		return in, true
	}
	return m, true
}

type builder struct {
	run     *Run
	returns []*Case // of functions, without those of states
}

// A place is where a return stands: how deep, and from when on.
type place struct {
	depth  int
	begin  time.Duration
	length time.Duration // of the host in the step; 0 where it is not known
	bad    bool          // the host failed
	well   bool          // the step, or the host of no step, succeeded: failures are tolerated
	fun    string        // of a function's return
	why    string        // why there is no return
}

// host adds the return of a host.
func (b *builder) host(step, host, jid string, v value.Value, p place) {
	s := &Suite{Step: step, Host: host, JID: jid, Begin: p.begin, Length: p.length}
	b.run.Suites = append(b.run.Suites, s)
	m, ok := v.(value.Mapping)
	if ok && areStates(m) {
		b.states(s, m, p)
		switch {
		case p.why != "" && !p.well: // these are the states until then
			s.Cases = append(s.Cases, failure(host, "host", "host", p.why))
		case p.bad && !p.well && !slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.Status == Failed }):
			s.Cases = append(s.Cases, failure(host, "host", "host", "the host failed, and none of its states did"))
		}
		return
	}
	if p.why != "" {
		v, ok = p.why, false
		p.fun = cmp.Or(p.fun, "host")
	}
	_, told := b.run.Info.Failed[host]
	bad := p.bad || step == "" && (told || b.run.Retcode != 0)
	if faults, ok := v.(*value.List); ok && bad && p.fun == "" && isStateFun(b.run.Fun, step) {
		for i, x := range faults.Items { // an SLS that did not compile
			s.Cases = append(s.Cases, failure(host, "compile "+strconv.Itoa(i+1), compileFun, value.Str(x)))
		}
		return
	}
	name := p.fun
	if name == "" {
		name = b.run.Fun
	}
	c := &Case{ID: name, Fun: name, Comment: text(v), Length: p.length, Cause: cause.Of(host, v, 0, cause.Options{})}
	if ok {
		outcome(c, m)
	}
	if c.ID == "" {
		c.ID = "return"
	}
	if why := p.why; p.bad {
		if why == "" && c.Comment == "" {
			why = "failed, and returned no text"
		}
		c.fail(why)
	}
	if p.well {
		c.tolerate()
	}
	s.Cases = append(s.Cases, c)
	b.returns = append(b.returns, c)
}

// outcome reads what a command or a host without a return left: stdout and stderr.
func outcome(c *Case, m value.Mapping) {
	_, ok := value.AsInt(at(m, "retcode"))
	stdout, isOut := at(m, "stdout").(string)
	stderr, isErr := at(m, "stderr").(string)
	if !ok || !isOut || !isErr {
		return
	}
	c.Comment = strings.Trim(stdout+"\n"+stderr, "\n")
}

// compileFun is the function of the cases of an SLS that did not compile.
const compileFun = "compile"

// isStateFun reports whether a list is what a state run returns that did not
// compile.
func isStateFun(name, step string) bool {
	return step != "" || strings.HasPrefix(name, "state.") || name == ""
}

// areStates reports whether a mapping has states by their tags.
func areStates(m value.Mapping) bool {
	if m.Len() == 0 {
		return false
	}
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		s, ok := v.(value.Mapping)
		if !ok || !strings.Contains(value.Str(k), "_|-") {
			return false
		}
		if _, has := s.Get("result"); !has {
			return false
		}
	}
	return true
}

// states adds the states of a host, in the order in which they ran.
func (b *builder) states(s *Suite, m value.Mapping, p place) {
	type state struct {
		tag string
		m   value.Mapping
		num int64
	}
	all := make([]state, 0, m.Len())
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		x := v.(value.Mapping) // areStates has looked
		n, _ := value.AsInt(at(x, "__run_num__"))
		all = append(all, state{value.Str(k), x, n})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].num < all[j].num })
	clock := clock{}
	if p.depth == 0 && b.run.First != "" {
		clock.since(value.MapOf("start_time", b.run.First))
	}
	var last time.Duration
	for _, x := range all {
		c := newCase(s.Host, x.tag, x.m)
		c.Begin = clock.since(x.m)
		if p.well {
			c.tolerate()
		}
		last = max(last, c.Begin+c.Length)
		s.Cases = append(s.Cases, c)
		if rets, ok := returnsOf(x.m); ok && p.depth < maxNest {
			c.orchestrates = true
			b.steps(s, c, x.m, rets, p)
		}
	}
	s.Length = last
	s.owe()
}

// owe counts at each state that failed those that did not run for it.
func (s *Suite) owe() {
	byName := map[string]*Case{}
	for _, c := range s.Cases {
		// Of several of one name, one that failed is what the others wait for.
		if name := c.SLS + "." + c.ID; byName[name] == nil || c.Status == Failed {
			byName[name] = c
		}
	}
	for _, c := range s.Cases {
		if c.Status != NotRun {
			continue
		}
		if root := rootOf(c, byName, map[*Case]bool{}); root != nil {
			root.Unmet++
		}
	}
}

// rootOf returns the first state that failed of those that a state waits for, which may
// have waited themselves; nil where none is known.
func rootOf(c *Case, byName map[string]*Case, seen map[*Case]bool) *Case {
	if c == nil || seen[c] {
		return nil
	}
	seen[c] = true
	if c.Status == Failed {
		return c
	}
	for _, name := range c.unmet {
		if root := rootOf(byName[name], byName, seen); root != nil {
			return root
		}
	}
	return nil
}

// steps adds the returns of the hosts of a step.
func (b *builder) steps(s *Suite, c *Case, state, rets value.Mapping, p place) {
	step := join(s.Step, c.ID)
	in := place{depth: p.depth + 1, begin: p.begin + c.Begin}
	lost, _ := at(state, "no_return").(value.Mapping)
	alone := time.Duration(0) // how long the only host of the step took
	if rets.Len() == 1 {
		alone = c.Length
	}
	if strings.HasSuffix(c.Fun, ".function") {
		in.fun = c.Name
	}
	jid := str(state, "__jid__")
	for _, k := range rets.Keys() {
		v, _ := rets.Get(k)
		host := value.Str(k)
		in.well = c.Status != Failed
		in.length = b.took(jid, host, alone)
		in.why = ""
		if lost != nil {
			in.why = text(at(lost, host))
		}
		in.bad = in.why != "" || b.run.StepFailed != nil && b.run.StepFailed(jid, host)
		if in.bad && in.why == "" && v == false {
			in.why = "no return"
		}
		b.host(step, host, jid, v, in)
	}
}

// took is how long a host took in a job, other where that is not known.
func (b *builder) took(jid, host string, other time.Duration) time.Duration {
	if b.run.Took != nil {
		if d, ok := b.run.Took(jid, host); ok {
			return d
		}
	}
	return other
}

// returnsOf returns what the hosts of a step returned: changes.ret of salt.state
// and its like, which names no file and no service.
func returnsOf(state value.Mapping) (value.Mapping, bool) {
	if !value.Truth(at(state, "__jid__")) {
		return nil, false
	}
	changes, ok := at(state, "changes").(value.Mapping)
	if !ok {
		return nil, false
	}
	rets := at(changes, "ret")
	if rets == nil {
		rets = at(changes, "return")
	}
	return unwrapStep(rets)
}

// unwrapStep returns the mapping of hosts in the return of a step.
func unwrapStep(v value.Value) (value.Mapping, bool) {
	m, ok := unwrap(v)
	return m, ok && m.Len() > 0
}

// newCase reads a state.
func newCase(host, tag string, m value.Mapping) *Case {
	parts := strings.Split(tag, "_|-")
	c := &Case{
		ID: str(m, "__id__"), Name: str(m, "name"), SLS: str(m, "__sls__"),
		Fun: parts[0] + "." + parts[len(parts)-1], Comment: text(at(m, "comment")),
	}
	if c.ID == "" && len(parts) > 1 {
		c.ID = parts[1]
	}
	if c.Fun == "salt.state" || strings.HasPrefix(c.Fun, "salt.") && c.Name == "" {
		c.Name = c.ID
	}
	if ms, err := value.ToFloat(at(m, "duration")); err == nil && ms > 0 && ms < float64(1<<53) {
		c.Length = time.Duration(ms * float64(time.Millisecond))
	}
	changes := at(m, "changes")
	if _, ok := returnsOf(m); !ok && value.Truth(changes) {
		c.Changes = changes
	}
	switch result := at(m, "result"); {
	case result == nil:
		c.Status = Pending
	case !value.Truth(result):
		c.Status, c.Cause = Failed, cause.OfState(host, tag, m, cause.Options{})
		if of, ok := cause.Unmet(m); ok {
			c.Status, c.unmet = NotRun, of
		}
	case cause.NotRun(m):
		c.Status = NotRun
	case value.Truth(changes) && c.Changes != nil:
		c.Status = Changed
	case value.Truth(at(m, "skip_watch")):
		c.Status = Skipped // onlyif, unless and their like
	}
	return c
}

// lost adds what failed without a result that says so.
func (b *builder) lost(id, why string) {
	for _, s := range b.run.Suites {
		if s.Host != id || s.Step != "" {
			continue
		}
		for _, c := range s.Cases {
			if c.Status == Failed {
				return
			}
		}
		if len(s.Cases) == 1 {
			s.Cases[0].fail(why)
			return
		}
		s.Cases = append(s.Cases, failure(id, "host", "host", why))
		return
	}
	c := failure(id, "host", "host", why)
	c.Length = b.took(b.run.JID, id, 0)
	b.run.Suites = append(b.run.Suites, &Suite{Host: id, JID: b.run.JID, Length: c.Length, Cases: []*Case{c}})
}

// A clock makes the times of one machine's states, which have no date and may
// be in any zone, times since the first of them.
type clock struct {
	first, last time.Duration
	set         bool
}

const day = 24 * time.Hour

// since returns when a state began, since the first of its machine.
func (k *clock) since(m value.Mapping) time.Duration {
	t, err := time.Parse("15:04:05.999999", value.Str(at(m, "start_time")))
	if err != nil {
		return k.last
	}
	d := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	if !k.set {
		k.first, k.set = d, true
	}
	d -= k.first
	// Parallel states may begin before the first one. Half a day back is
	// midnight.
	for d < -day/2 {
		d += day
	}
	k.last = max(d, 0)
	return k.last
}

func at(m value.Mapping, key string) value.Value {
	v, _ := m.Get(key)
	return v
}

func str(m value.Mapping, key string) string {
	v := at(m, key)
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// text is a value as people read it.
func text(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case *value.List:
		lines := make([]string, len(v.Items))
		for i, x := range v.Items {
			if _, nested := x.(value.Mapping); nested {
				return yaml(v)
			}
			lines[i] = value.Str(x)
		}
		return strings.Join(lines, "\n")
	case value.Mapping:
		return yaml(v)
	}
	return value.Str(v)
}
