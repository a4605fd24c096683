package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/orchestration"
)

// A low is a row of what lowstate chunks may ask for: the clients and the function, with
// the role, the record and the powers of a route.
type low struct {
	route
	clients []string
	fun     string // "": any execution function
	// keys are those that a chunk may have beside client and fun.
	keys []string
	call func(*lowCall) (value.Value, error)
}

// A lowCall is a chunk that was read.
type lowCall struct {
	row       *low
	s         *Server
	w         http.ResponseWriter
	r         *http.Request
	v         *visit
	client    string
	fun, expr string
	args      *value.List
	kwargs    *value.Map
	test      bool // of an orchestration
}

// functionKeys are those of a chunk that calls an execution function.
var functionKeys = []string{"tgt", "tgt_type", "expr_form", "arg", "kwarg"}

// lows are the rows.
func lows() []*low {
	row := func(clients, fun, action string, least Role, may map[Role]powers, scope scopeRule, keys []string, call func(*lowCall) (value.Value, error)) *low {
		x := route{pattern: "salt-api " + strings.ReplaceAll(clients, " ", ", ") + " " + cmp.Or(fun, "FUNCTION"), least: least, action: action, may: may, api: &apiOp{scope: scope}}
		return &low{route: x, clients: strings.Fields(clients), fun: fun, keys: keys, call: call}
	}
	records, job := from(Viewer, readRecords), []string{"arg", "kwarg", "jid"}
	return []*low{
		row("local local_async ssh", "", "function", Editor, from(Editor, fullPowers|runAny|readRuns|readRecords), ofFunction(""), functionKeys, (*lowCall).function),
		row("runner runner_async", "state.orchestrate", "run", Operator, from(Operator, readSteps|runTemplates|runDefined|readRuns|readRecords), filtered, []string{"arg", "kwarg", "mods", "test"}, (*lowCall).orchestrate),
		row("runner runner_async", "state.orch", "run", Operator, from(Operator, readSteps|runTemplates|runDefined|readRuns|readRecords), filtered, []string{"arg", "kwarg", "mods", "test"}, (*lowCall).orchestrate),
		row("runner", "jobs.lookup_jid", "", Viewer, records, ofLowJob, job, (*lowCall).lookup),
		row("runner", "jobs.list_job", "", Viewer, records, ofLowJob, job, (*lowCall).listJob),
		row("runner", "jobs.print_job", "", Viewer, records, ofLowJob, job, (*lowCall).printJob),
		row("runner", "jobs.list_jobs", "", Viewer, records, filtered, nil, (*lowCall).listJobs),
		row("wheel", "key.list_all", "", Viewer, from(Viewer, knownPowers), ofHosts, nil, (*lowCall).keys),
	}
}

// parseLow reads a chunk. What is not honoured is refused by its name.
func parseLow(m *value.Map) (*lowCall, error) {
	refuse := func(format string, args ...any) error {
		return &apiError{kind: badBody, detail: fmt.Sprintf(format, args...)}
	}
	c := &lowCall{client: m.Str("client"), fun: strings.TrimSpace(m.Str("fun")), args: value.NewList(), kwargs: value.NewMap(0)}
	if !slices.Contains(saltClients, c.client) {
		return nil, refuse("The client %q is not served here%s; there are %s.", c.client, source.DidYouMean(c.client, saltClients), strings.Join(saltClients, ", "))
	}
	var known []string
	for _, x := range lows() {
		if !slices.Contains(x.clients, c.client) {
			continue
		}
		known = append(known, x.fun)
		if x.fun == "" || x.fun == c.fun {
			c.row = x
		}
	}
	if c.row == nil {
		return nil, refuse("The function %q of the client %s is not served here%s; there are %s.", c.fun, c.client, source.DidYouMean(c.fun, known), strings.Join(known, ", "))
	}
	for k, v := range m.All() {
		switch key := value.Str(k); {
		case key == "client", key == "fun", v == nil: // pepper sends "batch": null
		case !slices.Contains(c.row.keys, key):
			return nil, refuse("%q of a chunk of the client %s is not honoured here, so nothing was run.", key, c.client)
		case key == "arg":
			c.takeArgs(v)
		case key == "kwarg":
			kw, ok := v.(*value.Map)
			if !ok {
				return nil, refuse("kwarg must be a mapping.")
			}
			for k, x := range kw.All() {
				c.kwargs.Set(k, x)
			}
		case c.row.fun != "":
			c.kwargs.Set(key, v)
		}
	}
	switch {
	case c.row.fun == "":
		return c, c.target(m)
	case c.row.action == "run":
		return c, c.named()
	}
	return c, nil
}

// takeArgs takes arg: a list, or one argument. Texts are read as on the command line:
// key=value is a keyword argument, and values are YAML.
// Salt: salt/client/__init__.py cmd.
func (c *lowCall) takeArgs(v value.Value) {
	l, ok := v.(*value.List)
	if !ok {
		l = value.NewList(v)
	}
	for _, x := range l.Items {
		text, ok := x.(string)
		if !ok {
			c.args.Append(x)
			continue
		}
		in := dispatch.ParseInput([]string{text}, nil)
		c.args.Append(in.Pos...)
		for k, x := range in.Kw.All() {
			c.kwargs.Set(k, x)
		}
	}
}

// target reads the target of a chunk, and checks its function and arguments.
func (c *lowCall) target(m *value.Map) error {
	bad := func(format string, args ...any) error {
		return &apiError{kind: badBody, detail: fmt.Sprintf(format, args...)}
	}
	if !functionName().MatchString(c.fun) {
		return bad("%q is not the name of an execution function such as test.ping.", c.fun)
	}
	for _, v := range []value.Value{c.args, c.kwargs} {
		if why := orchestration.Evaluated(v); why != "" {
			return bad("Nothing was run: %s.", why)
		}
	}
	typ := cmp.Or(m.Str("tgt_type"), m.Str("expr_form"), "glob")
	tgt := m.Str("tgt")
	if l, ok := m.At("tgt").(*value.List); ok {
		var ids []string
		for _, x := range l.Items {
			ids = append(ids, value.Str(x))
		}
		tgt, typ = strings.Join(ids, ","), "list"
	}
	if tgt == "" {
		return bad("tgt, the target, is missing.")
	}
	e := orchestration.Expr{Text: tgt, Type: typ}
	if c.expr = e.String(); orchestration.ParseExpr(c.expr) != e {
		return bad("The target %q of the type %q is not served here.", tgt, typ)
	}
	return nil
}

// begin starts a run.
func (c *lowCall) begin(spec runSpec) (*run, error) {
	if x := c.scope(); !x.allows(spec.Kind, spec.Name) {
		return nil, errScope(x)
	}
	return c.s.start(c.r.Context(), spec, c.v)
}

// scope is what the token of a chunk is limited to.
func (c *lowCall) scope() *Scope { return c.v.limits() }

// wait waits for the end of a run, and returns its record.
func (c *lowCall) wait(x *run) (*jobs.Job, error) {
	ctx := c.r.Context()
	for {
		view, changed := x.view(1<<30, c.scope())
		if view.over() {
			j, err := c.s.readJob(ctx, cmp.Or(view.JID, x.ID))
			if errors.Is(err, ErrNotFound) {
				err = &apiError{kind: unworkable, detail: fmt.Sprintf("The run %s has no record: %s", x.ID, cmp.Or(view.Err, strings.Join(view.Messages, " ")))}
			}
			return j, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// function calls an execution function on hosts.
func (c *lowCall) function() (value.Value, error) {
	spec, err := c.s.callOn(c.r.Context(), c.fun, c.expr, value.MapOf("arg", c.args, "kwarg", c.kwargs))
	if err != nil {
		return nil, err
	}
	x, err := c.begin(spec)
	if err != nil {
		return nil, err
	}
	if c.client == "local_async" {
		return value.MapOf("jid", x.ID, "minions", value.Strings(spec.Hosts...)), nil
	}
	j, err := c.wait(x)
	if err != nil {
		return nil, err
	}
	if c.client == "ssh" {
		return fullReturns(j), nil
	}
	out := returnsOf(j)
	for _, id := range spec.Hosts { // none is left out
		if !out.Has(id) {
			out.Set(id, noReturn(j.Missing[id]))
		}
	}
	return out, nil
}

// noReturn is what is said of a host that did not return.
func noReturn(why string) string {
	return "Minion did not return. [" + cmp.Or(why, "No response") + "]"
}

// returnsOf are the returns of a job, by host.
func returnsOf(j *jobs.Job) *value.Map {
	out := value.NewMap(j.Returns.Len())
	for id, x := range j.Returns.All() {
		m, _ := x.(*value.Map)
		out.Set(id, m.At("return"))
	}
	return out
}

// fullReturns are the returns of a job with their statuses, by host.
func fullReturns(j *jobs.Job) *value.Map {
	out := value.NewMap(j.Returns.Len())
	for id, x := range j.Returns.All() {
		m, _ := x.(*value.Map)
		out.Set(id, value.MapOf("return", m.At("return"), "retcode", m.At("retcode"), "success", jobs.Succeeded(m), "jid", j.JID, "fun", j.Load.Str("fun"), "id", id))
	}
	for id, why := range j.Missing {
		out.Set(id, value.MapOf("return", noReturn(why), "retcode", int64(1), "success", false, "jid", j.JID, "fun", j.Load.Str("fun"), "id", id))
	}
	return out
}

// named reads the name of an orchestration.
func (c *lowCall) named() error {
	for i, x := range c.args.Items {
		text, ok := x.(string)
		if !ok || i > 0 {
			return &apiError{kind: badBody, detail: "An orchestration is one name of an SLS."}
		}
		c.expr = text
	}
	for k, x := range c.kwargs.All() {
		switch key := value.Str(k); {
		case key == "mods":
			c.expr = value.Str(x)
		case key == "test" && (x == true || x == false):
			c.test = x == true
		default:
			return &apiError{kind: badBody, detail: fmt.Sprintf("The argument %s of an orchestration is not served here: it runs as it is defined.", key), hint: "A template takes values: POST " + apiBase + "/templates/NAME/runs."}
		}
	}
	return nil
}

// orchestrate runs an orchestration that the pages have.
func (c *lowCall) orchestrate() (value.Value, error) {
	name := c.expr
	if x := c.scope(); !x.allows(kept.Orchestrations, name) {
		return nil, errScope(x)
	}
	if _, _, err := c.s.back(c.r.Context()).steps(c.r.Context(), name); err != nil {
		return nil, err
	}
	x, err := c.begin(runSpec{Spec: kept.Spec{Kind: kept.Orchestrations, Name: name, Test: c.test}})
	if err != nil {
		return nil, err
	}
	if c.client == "runner_async" {
		return value.MapOf("tag", "salt/run/"+x.ID, "jid", x.ID), nil
	}
	j, err := c.wait(x)
	if err != nil {
		return nil, err
	}
	steps, code := value.NewMap(len(j.Steps)), int64(0)
	for _, step := range j.Steps {
		ret := step.Map("return")
		steps.Set(step.Str("tag"), ret)
		if ret.At("result") == false {
			code = 1
		}
	}
	if view, _ := x.view(1<<30, c.scope()); view.Status != 0 { // also where no step says so
		code = int64(view.Status)
	}
	return value.MapOf("data", value.MapOf(j.Load.Str("tgt"), steps), "outputter", "highstate", "retcode", code), nil
}

// jid is the id of the job that a chunk names.
func (c *lowCall) jid() string {
	if c.args.Len() == 1 {
		return value.Str(c.args.Items[0])
	}
	return c.kwargs.Str("jid")
}

// job is the job that a chunk names.
func (c *lowCall) job() (*jobs.Job, error) {
	if c.args.Len() > 1 || c.kwargs.Len() > 1 || c.kwargs.Len() == 1 && !c.kwargs.Has("jid") {
		return nil, &apiError{kind: badBody, detail: "The function takes jid alone."}
	}
	return c.s.readJob(c.r.Context(), c.jid())
}

func (c *lowCall) lookup() (value.Value, error) {
	j, err := c.job()
	if errors.Is(err, ErrNotFound) && jobs.IsJID(c.jid()) {
		return value.NewMap(0), nil // a run that was started a moment ago has no record yet
	}
	if err != nil {
		return nil, err
	}
	out := returnsOf(j)
	for id, why := range j.Missing {
		out.Set(id, noReturn(why))
	}
	return out, nil
}

// described is a job as the runner module jobs has it.
func described(j *jobs.Job) *value.Map {
	v := viewJob(j, "")
	return value.MapOf("jid", j.JID, "Function", v.Fun, "Target", v.Target, "User", v.User, "StartTime", v.Time, "Minions", j.Load.At("minions"), "Result", fullReturns(j))
}

func (c *lowCall) listJob() (value.Value, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	return described(j), nil
}

func (c *lowCall) printJob() (value.Value, error) {
	j, err := c.job()
	if err != nil {
		return nil, err
	}
	return value.MapOf(j.JID, described(j)), nil
}

// maxSaltJobs is how many jobs are listed.
const maxSaltJobs = 500

func (c *lowCall) listJobs() (value.Value, error) {
	rows, _, err := c.s.jobRows(c.r.Context(), jobFilter{}, maxSaltJobs)
	out := value.NewMap(len(rows))
	for _, x := range rows {
		out.Set(x.JID, value.MapOf("Function", x.Fun, "Target", x.Target, "User", x.User, "StartTime", x.Time))
	}
	return out, err
}

// keys lists the hosts, as those of accepted keys.
func (c *lowCall) keys() (value.Value, error) {
	ids, err := c.s.hostIDs(c.r.Context())
	if err != nil {
		return nil, err
	}
	none := value.NewList()
	return value.MapOf("tag", "salt/wheel", "data", value.MapOf("fun", "wheel.key.list_all", "user", c.v.name, "success", true, "return",
		value.MapOf("local", none, "minions_rejected", none, "minions_denied", none, "minions_pre", none, "minions", value.Strings(ids...)))), nil
}

// hostIDs are the hosts of the roster.
func (s *Server) hostIDs(ctx context.Context) ([]string, error) {
	ids, _, err := s.back(ctx).match(ctx, "*")
	return slices.Sorted(slices.Values(ids)), err
}
