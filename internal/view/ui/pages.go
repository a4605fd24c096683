package ui

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"brine/internal/core/redact"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
	"brine/internal/view/graph"
	"brine/internal/view/orchestration"
)

// Bounds of the first page.
const (
	shownRuns    = 10
	shownEntries = 200 // of each kind
)

func (s *Server) startPage(w http.ResponseWriter, r *http.Request, v *visit) {
	c, err := s.back(r.Context()).catalogue(r.Context())
	var runs []runView
	more := false
	if err == nil {
		runs, more, err = s.latestRuns(r.Context(), shownRuns)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, statusOf(r), startPage(page{Title: "Orchestrations", At: "start", Who: v, Bad: rejectedOf(r)}, c, runs, more))
}

// A plannedStep is a step of an orchestration before it runs.
type plannedStep struct {
	ID, Fun, Target, What string
	Expr                  string // the targets as an expression
	Requires              []string
}

// plannedSteps reads the steps of low data.
func plannedSteps(low *value.List) []plannedStep {
	var out []plannedStep
	for _, x := range low.Items {
		m, ok := x.(*value.Map)
		if !ok {
			continue
		}
		s := plannedStep{ID: m.Str("__id__"), Fun: m.Str("state") + "." + m.Str("fun"), Target: valueText(m.At("tgt"))}
		t := m.Str("tgt_type")
		if t != "" && t != "glob" && t != "list" {
			s.Target += " (" + t + ")"
		}
		if s.Expr = valueText(m.At("tgt")); s.Expr != "" {
			s.Expr = orchestration.Expr{Text: strings.ReplaceAll(s.Expr, ", ", ","), Type: t}.String()
		}
		switch {
		case value.Truth(m.At("highstate")):
			s.What = "the highstate"
		case m.Has("sls"):
			s.What = valueText(m.At("sls"))
		default:
			s.What = strings.TrimSpace(m.Str("name") + " " + valueText(m.At("arg")))
		}
		for _, kind := range []string{"require", "watch", "onchanges", "onfail", "prereq"} {
			l := m.List(kind)
			for i := range l.Len() {
				if req, ok := l.Items[i].(*value.Map); ok {
					for _, id := range req.All() {
						s.Requires = append(s.Requires, kind+" "+value.Str(id))
					}
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// valueText is a value in a line of text.
func valueText(v value.Value) string {
	switch x := v.(type) {
	case nil:
		return ""
	case *value.List:
		parts := make([]string, x.Len())
		for i, item := range x.Items {
			parts[i] = valueText(item)
		}
		return strings.Join(parts, ", ")
	case *value.Map:
		return value.Repr(x)
	}
	return value.Str(v)
}

// describes returns the comment that a file begins with.
func describes(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#!") {
			continue
		}
		t, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(t))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

func (s *Server) orchestration(w http.ResponseWriter, r *http.Request, v *visit) {
	name := r.PathValue("sls")
	low, text, err := s.back(r.Context()).steps(r.Context(), name)
	var chains []Entry
	if err == nil {
		chains, err = s.changeable(r, v)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, statusOf(r), orchestrationPage(page{Title: name, At: "start", Who: v, Bad: rejectedOf(r)}, name, describes(text), plannedSteps(low), chains))
}

func (s *Server) orchestrationGraph(w http.ResponseWriter, r *http.Request, _ *visit) {
	low, _, err := s.back(r.Context()).steps(r.Context(), r.PathValue("sls"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	var b bytes.Buffer
	if err := graph.Of(low).SVG(&b); err != nil {
		s.fault(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	// The picture has a style sheet of its own. It is shown as an image, in which
	// nothing runs.
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox")
	_, _ = w.Write(b.Bytes())
}

// errUnconfirmed is what a form gets that somebody has to confirm, and has not.
var errUnconfirmed = onField("confirm-run", "nothing was run: confirm that it is to run")

// begin starts a run and shows it. It has to be confirmed. pattern is the route of the page
// that the form was on.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, v *visit, spec runSpec, pattern string) {
	if r.PostForm.Get("confirm") != "yes" && !spec.Test {
		s.reject(w, r, pattern, "run", errUnconfirmed)
		return
	}
	if r.PostForm.Has("once") {
		spec.Once = versionOf([]byte(r.URL.Path + "?" + r.PostForm.Encode()))
	}
	x, err := s.start(r.Context(), spec, v)
	if err != nil {
		s.reject(w, r, pattern, "run", err)
		return
	}
	see(w, r, "runs", x.ID)
}

func (s *Server) runOrchestration(w http.ResponseWriter, r *http.Request, v *visit) {
	name := r.PathValue("sls")
	if _, _, err := s.back(r.Context()).steps(r.Context(), name); err != nil {
		s.fault(w, r, err)
		return
	}
	s.begin(w, r, v, specOf(kept.Orchestrations, name, r), "GET /orchestrations/{sls}")
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, v *visit) {
	id := r.PathValue("id")
	x, err := s.findRun(r.Context(), id)
	if errors.Is(err, ErrNotFound) && jobs.IsJID(id) { // its record may be kept for longer
		see(w, r, "jobs", id)
		return
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	view, _ := s.viewRun(r.Context(), x, 0)
	s.addGraph(r.Context(), x, &view, 0)
	s.addResults(r.Context(), &view)
	render(w, r, http.StatusOK, runPage(page{Title: view.name(), At: "runs", Who: v, Refresh: !view.over()}, view))
}

// name is the title of the page of a run.
func (v runView) name() string {
	if v.Spec.Test {
		return "Preview of " + v.Spec.title()
	}
	return "Run of " + v.Spec.title()
}

// addResults adds what a run left, from the history and the job cache.
func (s *Server) addResults(ctx context.Context, v *runView) {
	if !v.over() || v.JID == "" || v.Spec.plans() { // a plan leaves no record
		return
	}
	job, err := s.readJob(ctx, v.JID)
	switch {
	case errors.Is(err, ErrNotFound):
		v.Unread = "The job cache of this machine does not have the record of this run (any more)."
	case err != nil:
		v.Unread = "The record of this run cannot be read: " + err.Error()
	default:
		record := labelJob(job, "")
		v.Record = &record
	}
	if v.Spec.single() {
		return
	}
	x, err := s.executionWith(ctx, v.JID)
	switch {
	case err == nil:
		if v.Record != nil {
			x.add(*v.Record)
		}
		v.Execution = &x
	case !errors.Is(err, ErrNotFound):
		v.Unread = strings.TrimSpace(v.Unread + " The history cannot be read: " + err.Error())
	}
}

// runEvents sends what changes on the page of a run.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	after := 0
	s.stream(w, r, v, func() (update, error) {
		view, changed := s.viewRun(r.Context(), x, after)
		s.addGraph(r.Context(), x, &view, after)
		after = view.Rev
		s.addResults(r.Context(), &view)
		return update{part: runUpdate(page{Who: v}, view), over: view.over(), again: changed, pace: pace}, nil
	})
}

func (s *Server) stopRun(w http.ResponseWriter, r *http.Request, _ *visit) { s.end(w, r, false) }

func (s *Server) killRun(w http.ResponseWriter, r *http.Request, _ *visit) { s.end(w, r, true) }

func (s *Server) end(w http.ResponseWriter, r *http.Request, hard bool) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	err = s.back(r.Context()).needs(endRuns)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	if !x.isOver() {
		if err := s.stop(r.Context(), x, hard); err != nil {
			s.fault(w, r, err)
			return
		}
	}
	see(w, r, "runs", x.ID)
}

// resumeRun continues a run that failed. A template asks for its passwords
// again.
func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	view, _ := s.viewRun(r.Context(), x, 0)
	if !view.over() || view.JID == "" || !view.Spec.goesOn() {
		s.fail(w, r, http.StatusConflict, "This did not work", "The run has not ended, nothing of it was begun, or it has no steps.")
		return
	}
	spec := view.goingOn()
	if spec.Kind == kept.Templates {
		http.Redirect(w, r, path("templates", spec.Name)+"?resume="+view.JID, http.StatusSeeOther)
		return
	}
	next, err := s.start(r.Context(), spec, v)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	see(w, r, "runs", next.ID)
}

// jobsShown is how many jobs a page lists.
const jobsShown = 50

// A jobRow is a line of the list of jobs.
type jobRow struct {
	JID, Time, Fun, Target, Details, User, Status string
	Targets                                       int
	Failed                                        bool // on some host
}

func (s *Server) jobs(w http.ResponseWriter, r *http.Request, v *visit) { s.listJobs(w, r, v, "") }

// audit lists what users did on the pages.
func (s *Server) audit(w http.ResponseWriter, r *http.Request, v *visit) {
	s.listJobs(w, r, v, uiAction)
}

// uiAction is what the names of the functions begin with that stand for actions on
// the pages.
const uiAction = "runner.ui."

// listJobs lists jobs of functions whose names begin with a prefix.
func (s *Server) listJobs(w http.ResponseWriter, r *http.Request, v *visit, prefix string) {
	q := r.URL.Query()
	f := jobFilter{Text: strings.TrimSpace(q.Get("text")), User: strings.TrimSpace(q.Get("user")), Before: q.Get("before"), All: q.Get("all") == "yes" || prefix != "", Prefix: prefix, period: period{q.Get("since"), q.Get("until")}}
	if jobs.IsJID(f.Text) {
		see(w, r, "jobs", f.Text)
		return
	}
	if f.Before != "" && !jobs.IsJID(f.Before) {
		s.fail(w, r, http.StatusBadRequest, "This did not work", "The job id is not valid.")
		return
	}
	x := jobList{listed: f.list(q)}
	err := s.listedJobs(r.Context(), f, &x)
	if err != nil {
		x.Problem = err.Error()
	}
	p := page{Title: v.limits().titled("Jobs"), At: "jobs", Who: v}
	if prefix != "" {
		p.Title, p.At = "Audit", "audit"
	}
	render(w, r, http.StatusOK, jobsPage(p, f, x))
}

// Bounds of what a list of jobs looks at: to count them, and to sort them.
const (
	jobsCounted = 300
	jobsSorted  = 2000
)

// A jobList is a list of jobs as a page shows it.
type jobList struct {
	listed
	Rows    []jobRow
	Next    string // the job id before which the next part begins, in the order of age
	Problem string
}

// list is the list of jobs as its page has it.
func (f jobFilter) list(q url.Values) listed {
	l := listedOf(f.path(), "job", q, "text", "user", "all", "since", "until")
	if f.audit() {
		l.What = "action"
		l.Query.Del("all")
	}
	return l
}

// jobOrder is what lists of jobs are sorted by.
func jobOrder() order[jobRow] {
	return order[jobRow]{
		"began":    byText(func(x jobRow) string { return x.JID }),
		"function": byText(func(x jobRow) string { return x.Fun }),
		"on":       byText(func(x jobRow) string { return x.Target }),
		"user":     byText(func(x jobRow) string { return x.User }),
		"status":   byText(jobRow.outcome),
	}
}

// listedJobs finds the part of a list of jobs that a filter asks for. Records are read to
// count and to sort them: only the newest ones are.
func (s *Server) listedJobs(ctx context.Context, f jobFilter, x *jobList) error {
	most := jobsCounted
	if x.Sort != "" {
		most, f.Before = jobsSorted, ""
	}
	before := f.Before
	f.Before = ""
	all, more, err := s.jobRows(ctx, f, most)
	if err != nil {
		return err
	}
	x.More = more != ""
	if x.Sort != "" {
		if err := sorted(x.listed, all, jobOrder()); err != nil {
			return err
		}
		x.Rows = cutList(&x.listed, all, jobsShown)
		return nil
	}
	x.From, x.All = 0, len(all)
	if before == "" {
		x.Rows = all[:min(jobsShown, len(all))]
		if len(all) > jobsShown || x.More {
			x.Next = x.Rows[len(x.Rows)-1].JID
		}
	} else {
		f.Before = before
		if x.Rows, x.Next, err = s.jobRows(ctx, f, jobsShown); err != nil {
			return err
		}
	}
	x.Shown = len(x.Rows)
	return nil
}

// jobRows returns the newest jobs that a filter takes; more is the jid of the last one
// if there are further ones.
func (s *Server) jobRows(ctx context.Context, f jobFilter, limit int) (rows []jobRow, more string, err error) {
	limits, last, scanned := s.back(ctx).limits, "", 0
	var fault error
	from, to := "", f.Before
	since, until, err := f.times()
	if err != nil {
		return nil, "", err
	}
	if !since.IsZero() {
		from = jobs.JIDAt(since)
	}
	if !until.IsZero() && (to == "" || jobs.JIDAt(until) < to) {
		to = jobs.JIDAt(until)
	}
	err = s.back(ctx).jobs(ctx, func(files *jobs.Files) error {
		return files.Walk(ctx, from, to, func(row *jobs.Row) bool {
			if row.JID == f.Before || row.FindJob() || row.Lookup() && !f.All {
				return true
			}
			b := row.Brief(!row.Succeeded()) // of a good one, nothing failed
			x := rowOf(b)
			if !f.takes(x, b) {
				return true
			}
			if len(rows) == limit || scanned == maxScanned {
				more = last
				return false
			}
			last = row.JID
			if limits.Limited() {
				scanned++
				see, err := s.listsJob(ctx, files, row, b)
				if err != nil {
					fault = err
					return false
				}
				if !see {
					return true
				}
			}
			rows = append(rows, x)
			return true
		})
	})
	return rows, more, cmp.Or(err, fault)
}

// A jobFilter says which jobs are listed.
type jobFilter struct {
	Text, User, Before string
	period
	All    bool   // steps of orchestrations and what was done on pages, too
	Prefix string // of functions; that of actions on the pages: the audit
}

// audit reports whether only actions on the pages are listed.
func (f jobFilter) audit() bool { return f.Prefix == uiAction }

// path is the address of the list.
func (f jobFilter) path() string {
	if f.audit() {
		return "/audit"
	}
	return "/jobs"
}

func (f jobFilter) takes(x jobRow, b *jobs.Brief) bool {
	if !f.All && (b.Load.Has("orchestration_jid") || strings.HasPrefix(x.Fun, uiAction)) || !strings.HasPrefix(x.Fun, f.Prefix) {
		return false
	}
	if f.User != "" && x.User != f.User {
		return false
	}
	text := strings.ToLower(f.Text)
	return text == "" || strings.Contains(strings.ToLower(x.Fun+" "+x.Target+" "+x.Details), text)
}

// rowOf is a job in a list: of an orchestration, its name instead of the targets; of
// an action on the pages, what it was done to, and its details.
func rowOf(b *jobs.Brief) jobRow {
	x := jobRow{JID: b.JID, Time: jobs.JIDTime(b.JID), Fun: b.Load.Str("fun"), Target: valueText(b.Load.At("tgt")), User: b.Load.Str("user"), Status: b.Status(), Targets: b.Targets, Failed: b.Bad.Len() > 0}
	if l, ok := redact.Hide(b.Load.At("arg")).(*value.List); ok && l.Len() > 0 && strings.HasPrefix(x.Fun, "runner.") {
		x.Target = valueText(l.Items[0])
		if l.Len() > 1 && strings.HasPrefix(x.Fun, uiAction) {
			x.Details = valueText(l.Items[1])
		}
	}
	return x
}

func (s *Server) job(w http.ResponseWriter, r *http.Request, v *visit) {
	found, err := s.readJobOf(r.Context(), r.PathValue("jid"), r.URL.Query().Get("host"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, jobPage(page{Title: "Job " + found.JID, At: "jobs", Who: v}, labelJob(found, r.URL.Query().Get("host"))))
}

// targets shows, as a part of a page, who matches a target expression.
func (s *Server) targets(w http.ResponseWriter, r *http.Request, _ *visit) {
	q := r.URL.Query()
	expr := targetOf(url.Values{"expr": q["expr"], kindInput("expr"): q["kind"]}, "expr")
	if expr == "" {
		render(w, r, http.StatusOK, matched(nil, "", "Nobody yet: give a target expression."))
		return
	}
	ids, note, err := s.back(r.Context()).match(r.Context(), expr)
	text := ""
	if err != nil {
		text = err.Error()
	}
	render(w, r, http.StatusOK, matched(ids, note, text))
}
