package historyrun

import (
	"fmt"
	"math"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/py/value"
)

// some sets a text that is not empty.
func some(m *value.Map, key, text string) {
	if text != "" {
		m.Set(key, text)
	}
}

// moment is a time as it is shown, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}

// secs is a duration in seconds.
func secs(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// unique is the key of a step in m: its ID, and with its function where another
// step has the ID, too.
func unique(m *value.Map, id, function string) string {
	if !m.Has(id) {
		return id
	}
	key := fmt.Sprintf("%s (%s)", id, function)
	for n := 2; m.Has(key); n++ {
		key = fmt.Sprintf("%s (%s %d)", id, function, n)
	}
	return key
}

// inOrder makes a dict of steps, which outputters show in the order in which they ran
// and do not sort by their names: step10 comes after step9.
func inOrder(n int) *value.Map {
	m := value.NewMap(n)
	m.Ordered = true
	return m
}

func execution(e *history.Execution) *value.Map {
	m := value.MapOf("name", e.Name, "kind", e.Kind, "status", e.Status, "user", e.User, "started", moment(e.Started))
	some(m, "ended", moment(e.Ended))
	if !e.Ended.IsZero() {
		m.Set("duration", secs(e.Duration()))
	}
	if e.Signal != 0 {
		m.Set("signal", int64(e.Signal))
	}
	m.Set("steps", int64(e.Steps))
	m.Set("done", int64(e.Done))
	m.Set("failed", int64(e.FailedSteps))
	m.Set("hosts", int64(e.Hosts))
	if e.Test {
		m.Set("test", true)
	}
	some(m, "limit", e.Limit)
	some(m, "resumes", e.Resumes)
	some(m, "parent", e.Parent)
	return m
}

func definition(d *history.Definition) *value.Map {
	l := value.NewList()
	for i := range d.Steps {
		s := &d.Steps[i]
		m := value.MapOf("id", s.ID, "function", s.Fun)
		some(m, "label", s.Label)
		some(m, "action_id", s.ActionID)
		some(m, "target", s.Target)
		if s.Args.Len() > 0 {
			m.Set("arguments", s.Args)
		}
		l.Append(m)
	}
	m := value.MapOf("hash", d.Hash)
	some(m, "description", d.Description)
	m.Set("first_executed", moment(d.Created))
	m.Set("steps", l)
	return m
}

func step(s *history.ExecutionStep) *value.Map {
	m := value.MapOf("result", s.Result, "function", s.Fun)
	some(m, "label", s.Label)
	some(m, "action_id", s.ActionID)
	some(m, "target", s.Target)
	if s.Result != history.Pending {
		m.Set("started", moment(s.Started))
		m.Set("duration", secs(s.Duration))
	}
	some(m, "jid", s.StepJID)
	some(m, "comment", s.Comment)
	if len(s.Hosts) > 0 {
		hosts := value.NewMap(len(s.Hosts))
		for i := range s.Hosts {
			hosts.Set(s.Hosts[i].Host, result(&s.Hosts[i]))
		}
		m.Set("hosts", hosts)
	}
	return m
}

func result(h *history.HostResult) *value.Map {
	m := value.MapOf("result", h.Result, "duration", secs(h.Duration))
	for k, v := range h.Detail.All() {
		m.Set(k, v)
	}
	return m
}

func difference(d *history.Diff) *value.Map {
	out := value.NewMap(4)
	if d.Then.Name != d.Now.Name || d.Then.Kind != d.Now.Kind {
		out.Set("name", pair(d.Then.Kind+" "+d.Then.Name, d.Now.Kind+" "+d.Now.Name))
	}
	some(out, "definition", d.Definition)
	if d.Pillar {
		out.Set("pillar", "the pillars differ; only their digests are kept")
	}
	if d.Then.Status != d.Now.Status {
		out.Set("status", pair(d.Then.Status, d.Now.Status))
	}
	steps := inOrder(len(d.Steps))
	for i := range d.Steps {
		x := &d.Steps[i]
		st := x.Now
		if st == nil {
			st = x.Then
		}
		steps.Set(unique(steps, x.ID, st.Fun), stepDifference(x))
	}
	if steps.Len() > 0 {
		out.Set("steps", steps)
	}
	return out
}

func pair(then, now value.Value) *value.Map { return value.MapOf("old", then, "new", now) }

const absent = "not there"

func stepDifference(d *history.StepDiff) *value.Map {
	if d.Then == nil {
		return pair(absent, d.Now.Result)
	}
	if d.Now == nil {
		return pair(d.Then.Result, absent)
	}
	m := value.NewMap(3)
	if d.Then.Result != d.Now.Result {
		m.Set("result", pair(d.Then.Result, d.Now.Result))
	}
	if d.Target {
		m.Set("target", pair(d.Then.Target, d.Now.Target))
	}
	if d.Pillar {
		m.Set("pillar", "the values differ; only their digests are kept")
	}
	hosts := value.NewMap(len(d.Hosts))
	side := func(h *history.HostResult) value.Value {
		if h == nil {
			return absent
		}
		m := result(h)
		m.Delete("duration")
		return m
	}
	for i := range d.Hosts {
		hosts.Set(d.Hosts[i].Host, pair(side(d.Hosts[i].Then), side(d.Hosts[i].Now)))
	}
	if hosts.Len() > 0 {
		m.Set("hosts", hosts)
	}
	return m
}

func stats(st *history.Stats) *value.Map {
	out := value.MapOf("executions", int64(st.Executions))
	byStatus := value.NewMap(4)
	for _, s := range history.Statuses() {
		if n := st.ByStatus[s]; n > 0 {
			byStatus.Set(s, int64(n))
		}
	}
	out.Set("status", byStatus)
	rate(out, st.Rate)
	durations(out, st.Durations)
	names := value.NewMap(len(st.Names))
	for i := range st.Names {
		n := &st.Names[i]
		m := value.MapOf("kind", n.Kind, "executions", int64(n.Executions))
		rate(m, n.Rate)
		durations(m, n.Durations)
		name := n.Name
		if names.Has(name) {
			name += " (" + n.Kind + ")"
		}
		names.Set(name, m)
	}
	if names.Len() > 1 {
		out.Set("names", names)
	}
	steps := inOrder(len(st.Steps))
	for i := range st.Steps {
		s := &st.Steps[i]
		m := value.MapOf("ok", int64(s.OK), "failed", int64(s.Failed))
		durations(m, s.Durations)
		steps.Set(s.ID, m)
	}
	if steps.Len() > 0 {
		out.Set("steps", steps)
	}
	hosts, flaky := value.NewMap(len(st.Hosts)), value.NewMap(len(st.Flaky))
	for i := range st.Hosts {
		hosts.Set(st.Hosts[i].Host, host(&st.Hosts[i]))
	}
	out.Set("hosts", hosts)
	for i := range st.Flaky {
		h := &st.Flaky[i]
		flaky.Set(h.Host, value.MapOf("ok", int64(h.OK), "failed", int64(h.Failed), "flaky_steps", int64(h.FlakySteps)))
	}
	if flaky.Len() > 0 {
		out.Set("flaky", flaky)
	}
	return out
}

func host(h *history.HostStats) *value.Map {
	m := value.MapOf("ok", int64(h.OK), "failed", int64(h.Failed))
	durations(m, h.Durations)
	return m
}

// rate sets the part that succeeded, where anything ended.
func rate(m *value.Map, r float64) {
	if r >= 0 {
		m.Set("success_rate", math.Round(r*1000)/1000)
	}
}

func durations(m *value.Map, p history.Percentiles) {
	if p.N > 0 {
		m.Set("duration", value.MapOf("p50", secs(p.P50), "p90", secs(p.P90), "p99", secs(p.P99), "max", secs(p.Max)))
	}
}
