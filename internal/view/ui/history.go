package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Bounds of what pages show of the history.
const (
	executionsShown = 50
	timelineHosts   = 2000 // of all steps of an execution together
	diffsShown      = 100
	hostsOfDiff     = 50
)

// A historyFilter says which executions are listed.
type historyFilter struct {
	Name, Kind, Status, User, Host, Since, Until, Before, Sort string
}

func filterOf(q url.Values) historyFilter {
	text := func(key string) string { return strings.TrimSpace(q.Get(key)) }
	return historyFilter{
		Name: text("name"), Kind: text("kind"), Status: text("status"), User: text("user"), Host: text("host"), Since: text("since"), Until: text("until"), Before: text("before"), Sort: text("sort"),
	}
}

// values is the filter as a query of an address, without the page.
func (f historyFilter) values() url.Values {
	q := url.Values{}
	for _, x := range [][2]string{{"name", f.Name}, {"kind", f.Kind}, {"status", f.Status}, {"user", f.User}, {"host", f.Host}, {"since", f.Since}, {"until", f.Until}} {
		if x[1] != "" {
			q.Set(x[0], x[1])
		}
	}
	return q
}

// list is the list of executions as its page has it.
func (f historyFilter) list() listed {
	return listed{Path: "/history", What: "execution", Query: f.values(), Sort: f.Sort}
}

// page is the address of the executions before one; "" is the newest ones.
func (f historyFilter) page(before string) string {
	l := f.list()
	if before != "" {
		l.Query.Set("before", before)
	}
	return l.at(0, f.Sort)
}

var executionKinds = []string{history.Chain, history.Orchestration, history.Template}

// query is the filter as the history takes it.
func (f historyFilter) query() (history.Query, error) {
	q := history.Query{Name: f.Name, Kind: f.Kind, Status: f.Status, User: f.User, Target: f.Host, Before: f.Before, Limit: executionsShown + 1, Sort: f.Sort}
	switch {
	case f.Kind != "" && !slices.Contains(executionKinds, f.Kind):
		return q, fmt.Errorf("there is no kind %q", f.Kind)
	case f.Status != "" && !slices.Contains(history.Statuses(), f.Status):
		return q, fmt.Errorf("there is no status %q", f.Status)
	case f.Before != "" && !jobs.IsJID(f.Before):
		return q, fmt.Errorf("%q is not a job id", f.Before)
	}
	var err error
	q.Since, q.Until, err = period{f.Since, f.Until}.times()
	return q, err
}

func (s *Server) history(w http.ResponseWriter, r *http.Request, v *visit) {
	f := filterOf(r.URL.Query())
	l := f.list()
	if f.Sort != "" { // parts of another order begin after so many
		l.From, f.Before = listedOf("", "", r.URL.Query()).From, ""
	}
	var rows []history.Execution
	more := ""
	q, err := f.query()
	if err == nil {
		rows, more, err = s.executionPage(r.Context(), q, &l)
	}
	problem := ""
	if err != nil {
		problem, rows = err.Error(), nil
	}
	l.Shown = len(rows)
	render(w, r, http.StatusOK, historyPage(page{Title: "History", At: "history", Who: v}, f, l, rows, more, problem))
}

// executionPage returns the part of the executions that a list shows, and counts all that the
// visitor may see; before is where the next part begins where the list is not sorted.
func (s *Server) executionPage(ctx context.Context, q history.Query, l *listed) (rows []history.Execution, before string, err error) {
	limits := s.back(ctx).limits
	if q.Target != "" && !limits.onHost(q.Target) {
		return nil, "", errScope(limits)
	}
	err = s.back(ctx).history(ctx, func(st *history.Store) error {
		if limits.byName() {
			l.All, l.More = 0, q.Before != ""
			rest, err := eachSeen(ctx, st, q, limits, func(e history.Execution) bool {
				if l.All++; l.All > l.From && len(rows) <= executionsShown {
					rows = append(rows, e)
				}
				return true
			})
			l.More = l.More || rest != ""
			return err
		}
		q.Skip, q.Limit = l.From, executionsShown+1
		if rows, err = st.Executions(ctx, q); err == nil {
			l.All, err = st.Count(ctx, q)
		}
		return err
	})
	if len(rows) > executionsShown {
		rows = rows[:executionsShown]
		before = rows[executionsShown-1].JID
	}
	return rows, before, err
}

// eachSeen calls f with the executions that a query means and that are within limits, until f
// returns false. The store does not know the limits, so that many are looked through; rest is
// the last one that was, where there may be more.
func eachSeen(ctx context.Context, st *history.Store, q history.Query, limits *Scope, f func(history.Execution) bool) (rest string, err error) {
	q.Skip, q.Limit = 0, executionsShown+1
	for scanned := 0; ; {
		got, err := st.Executions(ctx, q)
		if err != nil {
			return "", err
		}
		for i := range got {
			if scanned == maxScanned || limits.allows(got[i].Kind+"s", got[i].Name) && !f(got[i]) {
				return cmp.Or(rest, q.Before), nil
			}
			scanned++
			if rest = got[i].JID; q.Sort == "" {
				q.Before = rest
			}
		}
		if len(got) < q.Limit {
			return "", nil
		}
		if q.Sort != "" {
			q.Skip += len(got)
		}
	}
}

// maxScanned bounds how many rows are looked at for who is limited.
const maxScanned = 5000

// executions returns at most n executions that a query means and the visitor may see; more is
// where to go on, "" at the end.
func (s *Server) executions(ctx context.Context, q history.Query, n int) (rows []history.Execution, more string, err error) {
	limits := s.back(ctx).limits
	if q.Target != "" && !limits.onHost(q.Target) {
		return nil, "", errScope(limits)
	}
	err = s.back(ctx).history(ctx, func(st *history.Store) (err error) {
		more, err = eachSeen(ctx, st, q, limits, func(e history.Execution) bool {
			if len(rows) == n {
				return false
			}
			rows = append(rows, e)
			return true
		})
		return err
	})
	return rows, more, err
}

// An executionView is an execution as a page shows it.
type executionView struct {
	history.Execution
	Description string
	Before      string // jid of the execution before, of the same name
	Steps       []timelineStep
	Diffs       []fileDiff
	MoreDiffs   int
	Record      bool // the job cache has its record
	Resumable   bool
}

// A timelineStep is a step in the timeline of an execution.
type timelineStep struct {
	history.ExecutionStep
	Name  string        // what pages call it
	At    time.Duration // after the start of the execution
	Bar   *bar          // nil: nobody knows when it ran
	State string        // its result, as badges have it
	Bad   int           // targets that failed
	Shown []timelineHost
	More  int
}

// A timelineHost is a target in the timeline of a step.
type timelineHost struct {
	ID, Result, Why string
	Took            time.Duration
	Bar             *bar
}

// A bar is a part of the width of a timeline, in percent.
type bar struct{ X, Width string }

// A span is the time that a timeline shows.
type span struct{ from, to time.Time }

// bar returns the part of the span that a time takes; nil where it is not known. It
// is wide enough to be seen.
func (s span) bar(from time.Time, took time.Duration) *bar {
	all := s.to.Sub(s.from)
	if from.IsZero() || all <= 0 {
		return nil
	}
	const least = 0.004
	share := func(d time.Duration) float64 { return min(1, max(0, float64(d)/float64(all))) }
	x := min(share(from.Sub(s.from)), 1-least)
	width := max(least, min(share(took), 1-x))
	percent := func(f float64) string { return strconv.FormatFloat(f*100, 'f', 2, 64) + "%" }
	return &bar{X: percent(x), Width: percent(width)}
}

// spanOf is the time in which something of an execution ran.
func spanOf(e *history.Execution, steps []history.ExecutionStep, now time.Time) span {
	s := span{from: e.Started, to: e.Ended}
	if e.Status == history.Running {
		s.to = now
	}
	later := func(t time.Time) {
		if t.After(s.to) {
			s.to = t
		}
	}
	for i := range steps {
		if !steps[i].Started.IsZero() {
			later(steps[i].Started.Add(steps[i].Duration))
		}
		for j := range steps[i].Hosts {
			later(steps[i].Hosts[j].Ended)
		}
	}
	return s
}

// timeline is the steps of an execution, and of each those targets that failed
// first.
func timeline(e *history.Execution, steps []history.ExecutionStep, now time.Time) []timelineStep {
	at := spanOf(e, steps, now)
	left := timelineHosts
	out := make([]timelineStep, len(steps))
	for i := range steps {
		st := &steps[i]
		t := timelineStep{ExecutionStep: *st}
		if t.Name = t.ID; e.Kind == history.Chain {
			t.Name = stepLabel(e.Name, t.ID)
		}
		if !st.Started.IsZero() && !notRun(st) {
			t.At = max(0, st.Started.Sub(e.Started))
			t.Bar = at.bar(st.Started, st.Duration)
		}
		changed := 0
		slices.SortStableFunc(st.Hosts, func(a, b history.HostResult) int { return rankOf(a.Result) - rankOf(b.Result) })
		for j := range st.Hosts {
			h := &st.Hosts[j]
			changed += h.Changed
			if rankOf(h.Result) == 0 {
				t.Bad++
			}
			if len(t.Shown) == shownReturns || left == 0 {
				t.More++
				continue
			}
			left--
			x := timelineHost{ID: h.Host, Result: resultOf(h.Result, h.Changed), Why: whyOf(h.Detail), Took: h.Duration}
			if !h.Ended.IsZero() {
				x.Bar = at.bar(h.Ended.Add(-h.Duration), h.Duration)
			}
			t.Shown = append(t.Shown, x)
		}
		if t.State = resultOf(st.Result, changed); notRun(st) {
			t.State = "not_run"
		}
		out[i] = t
	}
	return out
}

// notRun reports whether a step has ended without having done anything: what it requires
// failed, or a limit left all of its targets out. A step that has not ended has no row.
func notRun(st *history.ExecutionStep) bool {
	return st.Result == history.Pending && !st.Started.IsZero()
}

func rankOf(result string) int {
	if result == history.Bad || result == history.Missing {
		return 0
	}
	return 1
}

// resultOf is a result as badges have it.
func resultOf(result string, changed int) string {
	switch {
	case result == history.Would:
		return "would_change"
	case result == history.OK && changed > 0:
		return "changed"
	}
	return result
}

// whyOf is why a target failed, in a line or a few.
func whyOf(detail *value.Map) string {
	if why := detail.Str("why"); why != "" {
		return short(why)
	}
	var lines []string
	for name, comment := range detail.Map("failed").All() {
		lines = append(lines, value.Str(name)+": "+value.Str(comment))
	}
	return short(strings.Join(lines, "\n"))
}

// A fileDiff is a diff that states of some hosts had.
type fileDiff struct {
	stateResult
	Step  string
	Hosts []string
	More  int
}

// fileDiffs collects the diffs of a job, each once with the hosts that have it.
func fileDiffs(j jobView) (out []fileDiff, more int) {
	index := map[[3]string]int{}
	add := func(step, host string, st stateResult) {
		if st.Diff == "" {
			return
		}
		key := [3]string{step, st.ID, st.Diff}
		i, ok := index[key]
		switch {
		case !ok && len(out) == diffsShown:
			more++
			return
		case !ok:
			i = len(out)
			index[key] = i
			out = append(out, fileDiff{stateResult: st, Step: step})
		}
		if len(out[i].Hosts) == hostsOfDiff {
			out[i].More++
			return
		}
		out[i].Hosts = append(out[i].Hosts, host)
	}
	for _, s := range j.Steps {
		add(s.ID, "", s.stateResult)
		for _, h := range s.Hosts {
			for _, st := range h.States {
				add(s.ID, h.ID, st)
			}
		}
	}
	return out, more
}

// executionOf returns the execution that an id of a request names.
func executionOf(ctx context.Context, st *history.Store, jid string) (*history.Execution, error) {
	if !jobs.IsJID(jid) {
		return nil, fmt.Errorf("%q is not a job id: %w", jid, ErrNotFound)
	}
	e, err := st.Execution(ctx, jid)
	if err == nil && e == nil {
		err = fmt.Errorf("execution %s: %w in the history", jid, ErrNotFound)
	}
	return e, err
}

func (s *Server) execution(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.viewExecution(r)
	if err == nil {
		err = s.readRecord(r, &x)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, executionPage(page{Title: "Execution of " + x.Name, At: "history", Who: v, Refresh: x.live()}, x))
}

// lookPace is how long the page of an execution waits at least before it looks into
// the history again. lookShare bounds the part of the time that looking takes.
const (
	lookPace  = time.Second
	lookShare = 10
)

// executionEvents sends what changes on the page of an execution that is running,
// whoever started it. The record, with the changes of files, is read at its end.
func (s *Server) executionEvents(w http.ResponseWriter, r *http.Request, v *visit) {
	if _, err := s.viewExecution(r); err != nil {
		s.fault(w, r, err)
		return
	}
	s.stream(w, r, v, func() (update, error) {
		began := time.Now()
		x, err := s.viewExecution(r)
		if err == nil && !x.live() {
			err = s.readRecord(r, &x)
		}
		return update{part: executionUpdate(page{Who: v}, x), over: !x.live(), pace: max(lookPace, lookShare*time.Since(began))}, err
	})
}

// live reports whether the execution has not ended.
func (x executionView) live() bool { return x.Status == history.Running }

// summary is how the execution goes, in a sentence.
func (x executionView) summary() string {
	if x.live() {
		return "The execution is under way: " + stepsText(&x.Execution) + " steps done."
	}
	return "The execution has ended: " + strings.ReplaceAll(x.Status, "_", " ") + "."
}

// viewExecution reads what the history has of the execution of a request.
func (s *Server) viewExecution(r *http.Request) (executionView, error) {
	return s.executionWith(r.Context(), r.PathValue("jid"))
}

// executionWith reads what the history has of the execution with a job id.
func (s *Server) executionWith(ctx context.Context, jid string) (x executionView, err error) {
	err = s.back(ctx).history(ctx, func(st *history.Store) error {
		e, err := executionOf(ctx, st, jid)
		if err != nil {
			return err
		}
		x.Execution = *e
		if d, err := st.Definition(ctx, e.Definition); err != nil {
			return err
		} else if d != nil {
			x.Description = d.Description
		}
		steps, err := st.Steps(ctx, e)
		if err != nil {
			return err
		}
		s.back(ctx).limits.stepsSeen(steps)
		x.Steps = timeline(e, steps, s.opts.Now())
		before, err := st.Executions(ctx, history.Query{Name: e.Name, Kind: e.Kind, Before: e.JID, Limit: 1})
		if len(before) > 0 {
			x.Before = before[0].JID
		}
		return err
	})
	return x, err
}

// readRecord adds what the job cache has of an execution, as long as it keeps it.
func (s *Server) readRecord(r *http.Request, x *executionView) error {
	j, err := s.readJob(r.Context(), r.PathValue("jid"))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil {
		x.add(labelJob(j, ""))
	}
	return err
}

// add adds what the record of an execution has.
func (x *executionView) add(record jobView) {
	x.Record, x.Resumable = true, record.Resumable
	x.Diffs, x.MoreDiffs = fileDiffs(record)
}

// compare shows how two executions differ.
func (s *Server) compare(w http.ResponseWriter, r *http.Request, v *visit) {
	jids := slices.Clone(r.URL.Query()["jid"])
	slices.Sort(jids)
	if len(jids) != 2 || jids[0] == jids[1] {
		s.fail(w, r, http.StatusUnprocessableEntity, "This did not work", "Choose two executions to compare them.")
		return
	}
	ctx := r.Context()
	var d *history.Diff
	err := s.back(ctx).history(ctx, func(st *history.Store) error {
		then, err := executionOf(ctx, st, jids[0])
		if err != nil {
			return err
		}
		now, err := executionOf(ctx, st, jids[1])
		if err != nil {
			return err
		}
		d, err = st.Diff(ctx, then, now)
		return err
	})
	if err != nil {
		s.fault(w, r, err)
		return
	}
	if c := executedChain(d.Now.Kind, d.Now.Name); c != "" {
		for i := range d.Steps {
			d.Steps[i].ID = stepLabel(c, d.Steps[i].ID)
		}
		d.Definition = labelled(c, d.Definition)
	}
	render(w, r, http.StatusOK, comparePage(page{Title: "Two executions compared", At: "history", Who: v}, d))
}

// hostDiffs are the targets of a step that differ, as many as a page shows.
func hostDiffs(all []history.HostDiff) (shown []history.HostDiff, more int) {
	n := min(len(all), shownReturns)
	return all[:n], len(all) - n
}

// hostText is a result of a target in words.
func hostText(h *history.HostResult) string {
	if h == nil {
		return "no result"
	}
	out := strings.ReplaceAll(resultOf(h.Result, 0), "_", " ")
	if h.Changed > 0 {
		out += fmt.Sprintf(", %d change%s", h.Changed, value.Plural(h.Changed))
	}
	if why := whyOf(h.Detail); why != "" {
		out += ": " + why
	}
	return out
}

// stepResultText is a result of a step in words.
func stepResultText(st *history.ExecutionStep) string {
	if st == nil {
		return "not a step"
	}
	if notRun(st) {
		return "not run"
	}
	return strings.ReplaceAll(resultOf(st.Result, 0), "_", " ")
}

// historyOf is the address of the history of something that can be run.
func historyOf(kind, name string) string {
	return historyFilter{Kind: strings.TrimSuffix(kind, "s"), Name: name}.page("")
}

// definitionPath is the address of what was executed.
func definitionPath(kind, name string) string { return path(kind+"s", name) }
