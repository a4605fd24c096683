package history

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// A Query chooses executions. Its zero value chooses all of them.
type Query struct {
	Name       string // of the definition: a glob
	Text       string // that the name has, whatever its case
	Kind       string
	Status     string
	User       string // a glob
	Definition string // hash, or the beginning of one
	Target     string // that was part of it: its id
	Since      time.Time
	Until      time.Time
	Before     string // a jid: only older executions, for pages
	Limit      int    // the newest ones; 0: no bound
	Sort       string // one of Sorts, or "-" and one of them: the other way round; "": the newest first
	Skip       int    // so many of them first, for pages in another order
}

// Sorts are what executions can be sorted by. Those that are alike in it are sorted by their
// age, the newest first.
func Sorts() []string { return slices.Sorted(maps.Keys(sortColumns)) }

// sortColumns are the columns that executions are sorted by.
var sortColumns = map[string]string{"name": "name", "status": "status", "started": "jid", "user": "user_name", "hosts": "hosts", "steps": "steps"}

// order is the order of the query, as SQL.
func (q Query) order() (string, error) {
	if q.Sort == "" {
		return " ORDER BY jid DESC", nil
	}
	name, reverse := strings.CutPrefix(q.Sort, "-")
	column, ok := sortColumns[name]
	switch {
	case !ok:
		return "", fmt.Errorf("executions are not sorted by %q, but by %s", name, strings.Join(Sorts(), ", "))
	case reverse:
		column += " DESC"
	}
	return " ORDER BY " + column + ", jid DESC", nil
}

const executionColumns = "jid, hash, kind, name, user_name, controller, cache, pid, started, ended, status, signal_number, test, resumes, parent, revision, pillar, " +
	"steps, steps_done, steps_failed, hosts, program, run_limit"

// A filter is the conditions of a statement, and its parameters.
type filter struct {
	d     Dialect
	where []string
	args  []any
}

// add adds a condition; each %s of it is a parameter.
func (f *filter) add(cond string, args ...any) {
	marks := make([]any, len(args))
	for i, a := range args {
		f.args = append(f.args, a)
		marks[i] = f.d.Mark(len(f.args))
	}
	f.where = append(f.where, fmt.Sprintf(cond, marks...))
}

func (f *filter) in(column string, all []string) {
	for _, x := range all {
		f.args = append(f.args, x)
	}
	if len(all) == 0 {
		f.where = append(f.where, "1 = 0")
		return
	}
	f.where = append(f.where, column+" IN "+f.d.marks(len(f.args)-len(all), len(all)))
}

func (f *filter) String() string {
	if len(f.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(f.where, " AND ")
}

// matching adds the condition that a column of executions matches a glob.
func (s *Store) matching(ctx context.Context, f *filter, column, glob string) error {
	if glob == "" {
		return nil
	}
	if !strings.ContainsAny(glob, "*?[") {
		f.add(column+" = %s", glob)
		return nil
	}
	return s.among(ctx, f, column, func(x string) bool { return value.Fnmatch(glob, x) })
}

// among adds the condition that a column of executions has a value of which a function is
// true.
func (s *Store) among(ctx context.Context, f *filter, column string, takes func(string) bool) error {
	var all []string
	err := s.rows(ctx, func(r *sql.Rows) error {
		var x string
		err := r.Scan(&x)
		if takes(x) {
			all = append(all, x)
		}
		return err
	}, "SELECT DISTINCT "+column+" FROM "+executions.name)
	f.in(column, all)
	return err
}

// filter returns the conditions of a query, whose columns have a prefix.
func (s *Store) filter(ctx context.Context, q Query, prefix string) (*filter, error) {
	f := &filter{d: s.d}
	if err := s.matching(ctx, f, "name", q.Name); err != nil {
		return nil, err
	}
	if err := s.matching(ctx, f, "user_name", q.User); err != nil {
		return nil, err
	}
	if text := strings.ToLower(q.Text); text != "" {
		if err := s.among(ctx, f, "name", func(x string) bool { return strings.Contains(strings.ToLower(x), text) }); err != nil {
			return nil, err
		}
	}
	if q.Kind != "" {
		f.add("kind = %s", q.Kind)
	}
	if q.Target != "" {
		jid := cmp.Or(prefix, executions.name+".") + "jid"
		f.add("EXISTS (SELECT 1 FROM "+executionHosts.name+" t WHERE t.jid = "+jid+" AND t.host = %s)", q.Target)
	}
	if q.Definition != "" {
		f.add("hash >= %s AND hash <= %s", q.Definition, q.Definition+"g")
	}
	if !q.Since.IsZero() {
		f.add(prefix+"jid >= %s", jobs.JIDAt(q.Since))
	}
	if !q.Until.IsZero() {
		f.add(prefix+"jid <= %s", jobs.JIDAt(q.Until))
	}
	if q.Before != "" {
		f.add(prefix+"jid < %s", q.Before)
	}
	return f, nil
}

// Executions returns the executions that a query chooses, newest first unless it says
// otherwise.
func (s *Store) Executions(ctx context.Context, q Query) ([]Execution, error) {
	order, err := q.order()
	if err != nil {
		return nil, err
	}
	f, open, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	query := "SELECT " + executionColumns + " FROM " + executions.name + f.String() + order
	if open {
		out, err := s.opened(ctx, query, f, q.Status)
		out = out[min(q.Skip, len(out)):]
		if q.Limit > 0 && len(out) > q.Limit {
			out = out[:q.Limit]
		}
		return out, err
	}
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d OFFSET %d", q.Limit, q.Skip)
	}
	return s.executions(ctx, query, f.args...)
}

// Count returns how many executions a query chooses, whatever its Limit, Skip and Before.
func (s *Store) Count(ctx context.Context, q Query) (n int, err error) {
	q.Before = ""
	f, open, err := s.chosen(ctx, q)
	if err != nil {
		return 0, err
	}
	if open {
		all, err := s.opened(ctx, "SELECT "+executionColumns+" FROM "+executions.name+f.String(), f, q.Status)
		return len(all), err
	}
	err = s.rows(ctx, func(r *sql.Rows) error { return r.Scan(&n) }, "SELECT COUNT(*) FROM "+executions.name+f.String(), f.args...)
	return n, err
}

// chosen returns the conditions of a query. Of an execution without an end it is known only
// when it is looked at what became of it: that is done first where the status counts, and
// open says that some of what the conditions choose may have another one.
func (s *Store) chosen(ctx context.Context, q Query) (f *filter, open bool, err error) {
	if q.Status != "" || strings.TrimPrefix(q.Sort, "-") == "status" {
		if err := s.settleAll(ctx); err != nil {
			return nil, false, err
		}
	}
	if f, err = s.filter(ctx, q, ""); err != nil {
		return nil, false, err
	}
	open = q.Status != "" && q.Status != Succeeded && q.Status != Failed
	switch {
	case q.Status == Waiting: // that of a queue is interrupted meanwhile
		f.in("status", []string{Running, Interrupted})
	case open:
		f.in("status", []string{q.Status, Running})
	case q.Status != "":
		f.add("status = %s", q.Status)
	}
	return f, open, nil
}

// settleAll finds out what became of all executions that have no end.
func (s *Store) settleAll(ctx context.Context) error {
	_, err := s.executions(ctx, "SELECT "+executionColumns+" FROM "+executions.name+" WHERE status = "+s.d.Mark(1), Running)
	return err
}

// opened returns those executions of a statement that have a status now.
func (s *Store) opened(ctx context.Context, query string, f *filter, status string) ([]Execution, error) {
	out, err := s.executions(ctx, query, f.args...)
	return slices.DeleteFunc(out, func(e Execution) bool { return e.Status != status }), err
}

func (s *Store) executions(ctx context.Context, query string, args ...any) ([]Execution, error) {
	var out []Execution
	err := s.rows(ctx, func(r *sql.Rows) error {
		var e Execution
		var started, ended string
		var test int
		err := r.Scan(&e.JID, &e.Definition, &e.Kind, &e.Name, &e.User, &e.Controller, &e.Cache, &e.PID, &started, &ended, &e.Status, &e.Signal, &test, &e.Resumes, &e.Parent,
			&e.Revision, &e.Pillar, &e.Steps, &e.Done, &e.FailedSteps, &e.Hosts, &e.Program, &e.Limit)
		e.Started, e.Ended, e.Test = moment(started), moment(ended), test != 0
		out = append(out, e)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	for i := range out {
		s.settle(ctx, &out[i])
		if e := &out[i]; (e.Status == Running || e.Status == Interrupted) && s.Waits != nil && s.Waits(e.JID) {
			e.Status, e.Ended = Waiting, time.Time{}
		}
	}
	return out, nil
}

// settle finds out what became of an execution that has no end, and keeps that.
func (s *Store) settle(ctx context.Context, e *Execution) {
	if e.Status != Running || s.Alive == nil {
		return
	}
	fate := s.Alive(ctx, e)
	e.Status, e.Signal = fate.Status, fate.Signal
	if !fate.At.IsZero() {
		e.Ended = fate.At
	}
	if e.Status == Running || e.Status == Unfinished {
		return
	}
	q := fmt.Sprintf("UPDATE %s SET status = %s, signal_number = %s, ended = %s WHERE jid = %s AND status = '%s'", executions.name, s.d.Mark(1), s.d.Mark(2), s.d.Mark(3), s.d.Mark(4), Running)
	_, _ = s.db.ExecContext(ctx, q, e.Status, e.Signal, stamp(e.Ended), e.JID) // who may only read finds it out again
}

// Execution returns an execution; nil where there is none.
func (s *Store) Execution(ctx context.Context, jid string) (*Execution, error) {
	l, err := s.executions(ctx, "SELECT "+executionColumns+" FROM "+executions.name+" WHERE jid = "+s.d.Mark(1), jid)
	if err != nil || len(l) == 0 {
		return nil, err
	}
	return &l[0], nil
}

// Definition returns the definition of a hash; nil where there is none.
func (s *Store) Definition(ctx context.Context, hash string) (*Definition, error) {
	var d *Definition
	err := s.rows(ctx, func(r *sql.Rows) error {
		d = &Definition{}
		var created string
		err := r.Scan(&d.Hash, &d.Kind, &d.Name, &d.Description, &d.Source, &created)
		d.Created = moment(created)
		return err
	}, "SELECT hash, kind, name, description, source, created FROM "+states.name+" WHERE hash = "+s.d.Mark(1), hash)
	if err != nil || d == nil {
		return nil, err
	}
	err = s.rows(ctx, func(r *sql.Rows) error {
		var st Step
		var args string
		err := r.Scan(&st.Order, &st.ID, &st.Label, &st.Fun, &st.Target, &st.ActionID, &args)
		st.Args = decode(args)
		d.Steps = append(d.Steps, st)
		return err
	}, "SELECT step_order, step_id, label, fun, tgt, action_id, args FROM "+steps.name+" WHERE hash = "+s.d.Mark(1)+" ORDER BY step_order", hash)
	return d, err
}

func decode(s string) *value.Map {
	v, err := value.ParseJSON(s)
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return value.NewMap(0)
	}
	return m
}

const stepColumns = "s.jid, s.step_order, s.step_id, s.fun, s.action_id, s.step_jid, s.result, s.started, s.duration, s.comment, s.tgt, s.pillar"

func scanStep(r *sql.Rows, more ...any) (ExecutionStep, error) {
	var st ExecutionStep
	var started string
	var took float64
	err := r.Scan(append([]any{&st.JID, &st.Order, &st.ID, &st.Fun, &st.ActionID, &st.StepJID, &st.Result, &started, &took, &st.Comment, &st.Target, &st.Pillar}, more...)...)
	st.Started, st.Duration = moment(started), seconds(took)
	return st, err
}

// Steps returns the steps of an execution in their order, those that did not end
// among them, with the results of their targets.
func (s *Store) Steps(ctx context.Context, e *Execution) ([]ExecutionStep, error) {
	d, err := s.Definition(ctx, e.Definition)
	if err != nil {
		return nil, err
	}
	var out []ExecutionStep
	err = s.rows(ctx, func(r *sql.Rows) error {
		st, err := scanStep(r)
		out = append(out, st)
		return err
	}, "SELECT "+stepColumns+" FROM "+executionSteps.name+" s WHERE s.jid = "+s.d.Mark(1)+" ORDER BY s.step_order", e.JID)
	if err != nil {
		return nil, err
	}
	if d != nil {
		for _, st := range d.Steps {
			i := slices.IndexFunc(out, func(x ExecutionStep) bool { return x.Order == st.Order })
			if i < 0 {
				out = append(out, ExecutionStep{JID: e.JID, Order: st.Order, ID: st.ID, Fun: st.Fun, ActionID: st.ActionID, Target: st.Target, Result: Pending})
				i = len(out) - 1
			}
			out[i].Label = st.Label
		}
	}
	slices.SortFunc(out, func(a, b ExecutionStep) int { return a.Order - b.Order })
	hosts, err := s.hosts(ctx, " WHERE h.jid = "+s.d.Mark(1)+" ORDER BY h.step_jid, h.host", e.JID)
	if err != nil {
		return nil, err
	}
	index := make(map[int]int, len(out)) // of steps, by their orders
	for i := range out {
		index[out[i].Order] = i
	}
	type part struct {
		step int
		host string
	}
	last := make(map[part]int, len(hosts)) // of a step that was tried again, the last try counts
	for i := range hosts {
		h := &hosts[i]
		k, ok := index[h.Order]
		if !ok {
			continue
		}
		st, at := &out[k], part{k, h.Host}
		if j, again := last[at]; again {
			st.Hosts[j] = *h
			continue
		}
		last[at] = len(st.Hosts)
		st.Hosts = append(st.Hosts, *h)
	}
	return out, nil
}

const hostColumns = "h.jid, h.step_jid, h.step_order, h.host, h.result, h.duration, h.changed, h.ended, h.detail"

func scanHost(r *sql.Rows, more ...any) (HostResult, error) {
	var h HostResult
	var took float64
	var ended, detail string
	err := r.Scan(append([]any{&h.JID, &h.StepJID, &h.Order, &h.Host, &h.Result, &took, &h.Changed, &ended, &detail}, more...)...)
	h.Duration, h.Ended, h.Detail = seconds(took), moment(ended), decode(detail)
	return h, err
}

func (s *Store) hosts(ctx context.Context, tail string, args ...any) ([]HostResult, error) {
	var out []HostResult
	err := s.rows(ctx, func(r *sql.Rows) error {
		h, err := scanHost(r)
		out = append(out, h)
		return err
	}, "SELECT "+hostColumns+" FROM "+executionHosts.name+" h"+tail, args...)
	return out, err
}

// Latest returns the newest result of a target; nil where there is none.
func (s *Store) Latest(ctx context.Context, host string) (*HostResult, error) {
	l, err := s.hosts(ctx, " WHERE h.host = "+s.d.Mark(1)+" ORDER BY h.jid DESC, h.step_jid DESC LIMIT 1", host)
	if err != nil || len(l) == 0 {
		return nil, err
	}
	return &l[0], nil
}

// A HostStep is what a target made of a step, with the step and its execution.
type HostStep struct {
	HostResult
	Name, Kind string
	Status     string // of the execution
	Step       string // ID of the SLS
	Fun        string
	ActionID   string
	User       string
}

// Host returns what a target made of the executions that a query chooses, newest
// first. The limit is one of executions.
func (s *Store) Host(ctx context.Context, host string, q Query) ([]HostStep, error) {
	f, err := s.filter(ctx, q, "e.")
	if err != nil {
		return nil, err
	}
	if q.Status != "" {
		f.add("e.status = %s", q.Status)
	}
	f.add("EXISTS (SELECT 1 FROM "+executionHosts.name+" h WHERE h.jid = e.jid AND h.host = %s)", host)
	query := "SELECT e.jid FROM " + executions.name + " e" + f.String() + " ORDER BY e.jid DESC"
	if len(f.where) == 1 { // the index of hosts has them in order
		query = "SELECT DISTINCT h.jid FROM " + executionHosts.name + " h WHERE h.host = " + s.d.Mark(1) + " ORDER BY h.jid DESC"
		f.args = []any{host}
	}
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	var jids []string
	if err := s.rows(ctx, scanText(&jids), query, f.args...); err != nil || len(jids) == 0 {
		return nil, err
	}
	var out []HostStep
	for part := range slices.Chunk(jids, maxRows) {
		args := []any{host}
		for _, j := range part {
			args = append(args, j)
		}
		err := s.rows(ctx, func(r *sql.Rows) error {
			var x HostStep
			h, err := scanHost(r, &x.Name, &x.Kind, &x.Status, &x.User, &x.Step, &x.Fun, &x.ActionID)
			h.Order = max(h.Order, -h.Order)
			x.HostResult = h
			out = append(out, x)
			return err
		}, "SELECT "+hostColumns+", e.name, e.kind, e.status, e.user_name, COALESCE(s.step_id, ''), COALESCE(s.fun, ''), COALESCE(s.action_id, '') FROM "+executionHosts.name+" h JOIN "+
			executions.name+" e ON e.jid = h.jid LEFT JOIN "+executionSteps.name+" s ON s.jid = h.jid AND s.step_order = ABS(h.step_order) WHERE h.host = "+s.d.Mark(1)+
			" AND h.jid IN "+s.d.marks(1, len(part))+" ORDER BY h.jid DESC, h.step_jid", args...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func scanText(to *[]string) func(*sql.Rows) error {
	return func(r *sql.Rows) error {
		var x string
		err := r.Scan(&x)
		*to = append(*to, x)
		return err
	}
}

// An ActionStep is a step with an action id, and its execution.
type ActionStep struct {
	ExecutionStep
	Name, Kind string
	Status     string // of the execution
	User       string
}

// Action returns the steps with an action id that a query chooses, newest first,
// with the results of their targets. The limit is one of steps.
func (s *Store) Action(ctx context.Context, id string, q Query) ([]ActionStep, error) {
	f, err := s.filter(ctx, q, "e.")
	if err != nil {
		return nil, err
	}
	if q.Status != "" {
		f.add("e.status = %s", q.Status)
	}
	f.add("s.action_id = %s", id)
	query := "SELECT " + stepColumns + ", e.name, e.kind, e.status, e.user_name FROM " + executionSteps.name + " s JOIN " + executions.name + " e ON e.jid = s.jid" + f.String() + " ORDER BY s.jid DESC, s.step_order"
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	var out []ActionStep
	err = s.rows(ctx, func(r *sql.Rows) error {
		var x ActionStep
		st, err := scanStep(r, &x.Name, &x.Kind, &x.Status, &x.User)
		x.ExecutionStep = st
		out = append(out, x)
		return err
	}, query, f.args...)
	for i := range out {
		if err == nil {
			out[i].Hosts, err = s.hosts(ctx, " WHERE h.jid = "+s.d.Mark(1)+" AND h.step_order = "+s.d.Mark(2)+" ORDER BY h.host", out[i].JID, out[i].Order)
		}
	}
	return out, err
}
