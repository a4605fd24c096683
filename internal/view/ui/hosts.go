package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
	"brine/internal/view/chain"
)

// Bounds of the pages of hosts.
const (
	hostsShown  = 100 // on a page
	jobsLooked  = 300 // newest jobs that are searched for results of hosts
	jobsRead    = 3   // of them with so many hosts that their records have to be read
	jobsOfHost  = 20
	stepsOfHost = 10 // executions
)

// A hostRow is a host in the list.
type hostRow struct {
	ID    string
	Last  *lastResult  // nil: none is known
	Facts *facts.Facts // nil: none are kept
	Drift string       // whether it agrees with its states; "": it was not looked at
}

// A lastResult is how a host did in a job, or in an execution that the job cache
// does not have any more.
type lastResult struct {
	JID, Time, Fun, Result, Why string
	History                     bool // JID is that of an execution
}

func (x lastResult) path() string {
	if x.History {
		return path("history", x.JID)
	}
	return path("jobs", x.JID)
}

// hostList shows the hosts that match a target expression, a page at a time.
func (s *Server) hostList(w http.ResponseWriter, r *http.Request, v *visit) {
	expr, ids, note, err := s.matching(r)
	x := hostsView{Expr: expr, By: r.FormValue("by"), Note: note, Now: s.opts.Now()}
	x.listed = listedOf("/hosts", "host", r.Form, "by")
	x.Query.Set("expr", expr)
	if err == nil {
		err = s.addHosts(r.Context(), &x, ids)
	}
	if err == nil {
		x.Chains, err = s.changeable(r, v)
	}
	if err != nil {
		x.Problem, x.Rows = err.Error(), nil
	}
	render(w, r, statusOf(r), hostsPage(page{Title: v.limits().titled("Hosts"), At: "hosts", Who: v, Bad: rejectedOf(r)}, x))
}

// hostsSorted is how many hosts are sorted by what is known of them at most: it is looked up
// for each.
const hostsSorted = 1000

// hostOrder is what the list of hosts is sorted by: those that failed, or that do not agree
// with their states, first.
func hostOrder() order[hostRow] {
	result := func(x hostRow) int {
		if x.Last == nil {
			return 1
		}
		if i := slices.Index([]string{history.Bad, history.Missing, history.Running}, x.Last.Result); i >= 0 {
			return 0
		}
		return 2
	}
	began := func(x hostRow) string {
		if x.Last == nil {
			return ""
		}
		return x.Last.JID
	}
	statuses := append(drift.Statuses(), "")
	return order[hostRow]{
		"host":   byText(func(x hostRow) string { return x.ID }),
		"drift":  func(a, b hostRow) int { return slices.Index(statuses, a.Drift) - slices.Index(statuses, b.Drift) },
		"result": func(a, b hostRow) int { return result(a) - result(b) },
		"began":  byText(began),
	}
}

// addHosts adds what is known of the hosts that the list shows. To sort by it, it is looked
// up of all of them.
func (s *Server) addHosts(ctx context.Context, x *hostsView, ids []string) error {
	key := strings.TrimPrefix(x.Sort, "-")
	agrees, err := s.driftByHost(ctx)
	if err != nil {
		return err
	}
	all := key == "result" || key == "began"
	if all && len(ids) > hostsSorted {
		return fmt.Errorf("%s are too many to sort them by their results: at most %s can be. Write an expression that fewer match", hostCount(len(ids)), grouped(hostsSorted))
	}
	rows := make([]hostRow, len(ids))
	for i, id := range ids {
		rows[i] = hostRow{ID: id, Drift: agrees[id]}
	}
	known := func(rows []hostRow) error {
		ids := make([]string, len(rows))
		for i := range rows {
			ids[i] = rows[i].ID
		}
		last, err := s.lastResults(ctx, ids)
		for i := range rows {
			rows[i].Last = last[rows[i].ID]
		}
		return err
	}
	if all {
		if err := known(rows); err != nil {
			return err
		}
	}
	if err := sorted(x.listed, rows, hostOrder()); err != nil {
		return err
	}
	x.Rows = cutList(&x.listed, rows, hostsShown)
	if !all {
		if err := known(x.Rows); err != nil {
			return err
		}
	}
	shown := make([]string, len(x.Rows))
	for i := range x.Rows {
		shown[i] = x.Rows[i].ID
	}
	kept, faults, err := s.back(ctx).facts(ctx, shown)
	if err != nil {
		return err
	}
	x.Note = strings.TrimSpace(x.Note + " " + factFaults(faults))
	for i := range x.Rows {
		x.Rows[i].Facts = kept[x.Rows[i].ID]
	}
	return nil
}

// A hostsView is the list of hosts as a page shows it.
type hostsView struct {
	listed
	Expr    string
	By      string // byFacts: matched by kept facts
	Now     time.Time
	Rows    []hostRow
	Note    string  // who may match, too
	Chains  []Entry // that a step on these hosts can be added to
	Problem string
}

// hostsOf is the address of the list of who matches a target expression.
func hostsOf(expr string) string { return "/hosts?" + url.Values{"expr": {expr}}.Encode() }

// matching returns the target expression of a request, who matches it, and who may.
func (s *Server) matching(r *http.Request) (expr string, ids []string, note string, err error) {
	if expr = strings.TrimSpace(r.FormValue("expr")); expr == "" {
		expr = "*"
	}
	if r.FormValue("by") == byFacts {
		ids, note, err = s.back(r.Context()).matchFacts(r.Context(), expr)
	} else {
		ids, note, err = s.back(r.Context()).match(r.Context(), expr)
	}
	return expr, ids, note, err
}

// byFacts has a target expression matched by what is kept of hosts, without asking any.
const byFacts = "facts"

// factFaults says of how many hosts the facts cannot be read, and of the first why.
func factFaults(faults []error) string {
	if len(faults) == 0 {
		return ""
	}
	return fmt.Sprintf("The facts of %s cannot be read: %s.", hostCount(len(faults)), faults[0])
}

// driftByHost is whether hosts agree with their states, in a word: of several plans of a
// host, the worst.
func (s *Server) driftByHost(ctx context.Context) (map[string]string, error) {
	subjects, _, err := s.back(ctx).drift(ctx)
	if err != nil {
		return nil, err
	}
	order, now, out := drift.Statuses(), s.opts.Now(), map[string]string{}
	for _, sub := range subjects {
		for _, rec := range sub.Records {
			status := rec.At(now, drift.MaxAge)
			if old, known := out[rec.Host]; !known || slices.Index(order, status) < slices.Index(order, old) {
				out[rec.Host] = status
			}
		}
	}
	return out, nil
}

// hostActions are the kinds of actions that the list of hosts offers.
var hostActions = []string{chain.State, chain.Highstate, chain.Command, chain.Package, chain.Upgrade, chain.Reboot, chain.Config}

// lastResults finds the newest result of each of some hosts: in the job cache, else
// in the history, which is kept for longer.
func (s *Server) lastResults(ctx context.Context, ids []string) (map[string]*lastResult, error) {
	out := make(map[string]*lastResult, len(ids))
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	err := s.eachResult(ctx, func(x lastResult, b *jobs.Brief, targets *value.List) bool {
		for i := range targets.Len() {
			id := value.Str(targets.Items[i])
			if _, known := out[id]; !known && wanted[id] {
				out[id] = x.of(b, id)
			}
		}
		return len(out) < len(ids)
	})
	if err != nil || len(out) == len(ids) {
		return out, err
	}
	err = s.back(ctx).history(ctx, func(st *history.Store) error {
		for _, id := range ids {
			if out[id] != nil {
				continue
			}
			h, err := st.Latest(ctx, id)
			if err != nil {
				return err
			}
			if h != nil {
				out[id] = &lastResult{JID: h.JID, Time: jobs.JIDTime(h.JID), Result: resultOf(h.Result, h.Changed), Why: whyOf(h.Detail), History: true}
			}
		}
		return nil
	})
	return out, err
}

// of is the result of one host.
func (x lastResult) of(b *jobs.Brief, id string) *lastResult {
	if x.Result = history.OK; inTestMode(b.Load) {
		x.Result = "preview" // nothing was changed
	}
	if why, bad := b.Bad.Get(id); bad {
		x.Result, x.Why = history.Bad, short(value.Str(why))
		if x.Why == history.Bad {
			x.Why = ""
		}
		if b.State == jobs.Active || b.State == jobs.Detached {
			x.Result = history.Running
		}
	}
	return &x
}

// inTestMode reports whether a job only showed what would change.
func inTestMode(load *value.Map) bool {
	l, _ := load.At("arg").(*value.List)
	for i := range l.Len() {
		if m, ok := l.Items[i].(*value.Map); ok && m.Has("__kwarg__") && value.Truth(m.At("test")) {
			return true
		}
	}
	return false
}

// eachResult calls a function for the newest jobs on hosts, with the hosts of each,
// until it returns false.
func (s *Server) eachResult(ctx context.Context, each func(x lastResult, b *jobs.Brief, targets *value.List) bool) error {
	return s.back(ctx).jobs(ctx, func(files *jobs.Files) error {
		looked, read := 0, 0
		return files.Walk(ctx, "", "", func(row *jobs.Row) bool {
			if looked++; looked > jobsLooked || read > jobsRead {
				return false
			}
			if row.FindJob() || row.Lookup() {
				return true
			}
			b := row.Indexed(true)
			if b == nil {
				b = row.Brief(false)
			}
			name := b.Load.Str("fun")
			if strings.HasPrefix(name, "runner.") || strings.HasPrefix(name, "wheel.") {
				return true
			}
			if b.Bad == nil || b.Load.List("Minions").Len() == 0 {
				read++
				b = row.Brief(true)
			}
			return each(lastResult{JID: b.JID, Time: jobs.JIDTime(b.JID), Fun: b.Load.Str("fun")}, b, b.Load.List("Minions"))
		})
	})
}

// A hostView is a host as a page shows it.
type hostView struct {
	ID      string
	Known   bool // in the roster
	Jobs    []lastResult
	Steps   []history.HostStep
	Drift   string // "": it was not looked at
	Facts   *facts.Facts
	Grains  string // all facts, as JSON
	Now     time.Time
	Problem string
}

func (s *Server) host(w http.ResponseWriter, r *http.Request, v *visit) {
	x, err := s.viewHost(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	render(w, r, http.StatusOK, hostPage(page{Title: x.ID, At: "hosts", Who: v}, x))
}

// viewHost reads what is known of the host of a request.
func (s *Server) viewHost(r *http.Request) (hostView, error) {
	ctx := r.Context()
	x := hostView{ID: r.PathValue("id"), Now: s.opts.Now()}
	ids, _, err := s.back(ctx).match(ctx, "L@"+x.ID)
	if err != nil {
		x.Problem = err.Error()
	}
	x.Known = slices.Contains(ids, x.ID)
	err = s.eachResult(ctx, func(last lastResult, b *jobs.Brief, targets *value.List) bool {
		if slices.ContainsFunc(targets.Items, func(t value.Value) bool { return value.Str(t) == x.ID }) {
			x.Jobs = append(x.Jobs, *last.of(b, x.ID))
		}
		return len(x.Jobs) < jobsOfHost
	})
	if err == nil {
		err = s.back(ctx).history(ctx, func(st *history.Store) (err error) {
			x.Steps, err = st.Host(ctx, x.ID, history.Query{Limit: stepsOfHost})
			return err
		})
	}
	if err == nil && !x.Known && x.Problem == "" && len(x.Jobs)+len(x.Steps) == 0 {
		err = fmt.Errorf("host %s: %w", x.ID, ErrNotFound)
	}
	x.Steps = x.Steps[:min(len(x.Steps), shownReturns)]
	if err == nil {
		err = s.addFacts(r.Context(), &x)
	}
	return x, err
}

// addFacts adds what is kept of a host, and whether it agrees with its states.
func (s *Server) addFacts(ctx context.Context, x *hostView) error {
	all, faults, err := s.back(ctx).facts(ctx, []string{x.ID})
	if err != nil {
		return err
	}
	if x.Facts = all[x.ID]; x.Facts != nil {
		grains, err := x.Facts.Grains()
		if err != nil {
			faults = append(faults, err)
		}
		x.Grains = pretty(grains)
	}
	if text := factFaults(faults); text != "" {
		x.Problem = strings.TrimSpace(x.Problem + " " + text)
	}
	agrees, err := s.driftByHost(ctx)
	x.Drift = agrees[x.ID]
	return err
}

// ageText is how long ago something was, in words.
func ageText(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "less than a minute ago"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// factsText are the facts of a host that lists show.
func factsText(f *facts.Facts) string {
	var parts []string
	for _, x := range []string{f.OS, f.Kernel, f.Arch} {
		if x != "" {
			parts = append(parts, x)
		}
	}
	if f.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("%d CPUs", f.CPUs))
	}
	if f.Memory > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(f.Memory)/1024))
	}
	return strings.Join(parts, ", ")
}
