package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/drift"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/kept"
	"brine/internal/py/value"
)

// Who is limited to hosts runs what is limited to them: [kept.Spec].Within has the process of
// the run refuse targets beyond, whatever names them then. What other hosts returned and
// printed is left out of all that is read, and the answer says so: what is left out is never
// counted as missing. Texts that no single host gave, such as the comment of a step, may be
// about any host, so they are left out where hosts are.

// onHost reports whether a host is within the limits.
func (x *Scope) onHost(id string) bool {
	return len(x.Hosts) == 0 || slices.ContainsFunc(x.Hosts, func(g string) bool { ok, _ := filepath.Match(g, id); return ok })
}

// only leaves the hosts that are within the limits.
func (x *Scope) only(ids []string) []string {
	if len(x.Hosts) == 0 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !x.onHost(id) })
}

// whole reports whether a run reaches no host beyond the limits: it was started with them,
// or with some of them.
func (x *Scope) whole(spec kept.Spec) bool {
	if len(x.Hosts) == 0 {
		return true
	}
	return len(spec.Within) > 0 && !slices.ContainsFunc(spec.Within, func(g string) bool { return !slices.Contains(x.Hosts, g) })
}

// sees reports whether a run may be seen, as far as its hosts are within the limits.
func (x *Scope) sees(spec kept.Spec) bool {
	switch {
	case !x.allows(spec.Kind, spec.Name):
		return false
	case x.whole(spec):
		return true
	case spec.Kind == kept.Functions, spec.Kind == kept.Hosts:
		return slices.ContainsFunc(spec.Hosts, x.onHost)
	}
	return spec.Kind != kept.Jobs // its hosts are those of a record
}

// hostsText says which hosts are not shown.
func (x *Scope) hostsText() string {
	if len(x.Hosts) == 0 {
		return ""
	}
	return "Only hosts=" + strings.Join(x.Hosts, ",") + " are shown to you."
}

// titled is the title of a page that leaves hosts out.
func (x *Scope) titled(title string) string {
	if len(x.Hosts) == 0 {
		return title
	}
	return title + " (only hosts=" + strings.Join(x.Hosts, ",") + ")"
}

// hiddenText says that something of so many hosts is not shown; 0: nobody knows of how many.
func (x *Scope) hiddenText(n int) string {
	who := "What is not of a host alone"
	if n > 0 {
		who = hostCount(n)
	}
	return who + " not shown. " + x.hostsText()
}

// ofHosts is the rule of what concerns hosts, and no definition.
func ofHosts(_ *Server, r *http.Request, x *Scope) error {
	if id := r.PathValue("id"); x.byName() || id != "" && !x.onHost(id) {
		return errScope(x)
	}
	return nil
}

// ofFunction is the rule of a function on hosts; "": the form names it.
func ofFunction(name string) scopeRule {
	return func(_ *Server, r *http.Request, x *Scope) error {
		if !x.allows(kept.Functions, cmp.Or(name, strings.TrimSpace(r.PostForm.Get("function")))) {
			return errScope(x)
		}
		return nil
	}
}

// called reports whether a job that belongs to no other is a function that the limits name.
func (x *Scope) called(load *value.Map) bool {
	return len(x.Functions) > 0 && x.allows(kept.Functions, load.Str("fun"))
}

// ofWholeRun is ofRun for what concerns all hosts of a run, such as its end.
func ofWholeRun(s *Server, r *http.Request, x *Scope) error {
	if err := ofRun(s, r, x); err != nil || len(x.Hosts) == 0 {
		return err
	}
	found, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil || x.whole(found.Spec.Spec) || len(found.Spec.Hosts) > 0 && len(x.only(found.Spec.Hosts)) == len(found.Spec.Hosts) {
		return err
	}
	return &apiError{kind: outOfScope, detail: "The run may reach other hosts than those of your limits, " + x.limits() + "."}
}

// within returns an error that names the hosts that are beyond the limits.
func (x *Scope) within(ids []string) error {
	var beyond []string
	for _, id := range ids {
		if !x.onHost(id) {
			beyond = append(beyond, id)
		}
	}
	if len(beyond) == 0 {
		return nil
	}
	const most = 10
	text := strings.Join(beyond[:min(most, len(beyond))], ", ")
	if n := len(beyond) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return &apiError{kind: outOfScope, detail: fmt.Sprintf("Nothing was run: you are limited to hosts=%s, and the target means %s, too.", strings.Join(x.Hosts, ","), text)}
}

// seen returns those hosts of a match that may be shown.
func (g granted) seen(ids []string, note string, err error) ([]string, string, error) {
	if err != nil {
		return nil, "", err
	}
	if len(g.limits.Hosts) == 0 {
		return ids, note, nil
	}
	// The note may name others, and so may how many there are tell what they have.
	return g.limits.only(ids), g.limits.hostsText(), nil
}

// plainTarget refuses to match the pillar of hosts that are beyond the limits: values could be
// found out by who matches.
func (g granted) plainTarget(ctx context.Context, expr string) error {
	if len(g.limits.Hosts) == 0 {
		return nil
	}
	_, _, err := g.b.Match(ctx, expr, MatchKnown)
	return err
}

// matchToRun is match for hosts that something is to run on: all of them are within the limits.
func (g granted) matchToRun(ctx context.Context, expr string) ([]string, error) {
	if err := g.needs(readHosts); err != nil {
		return nil, err
	}
	if err := g.plainTarget(ctx, expr); err != nil {
		return nil, err
	}
	ids, _, err := g.b.Match(ctx, expr, g.sight())
	if err == nil {
		err = g.limits.within(ids)
	}
	return ids, err
}

// seesRecurring reports whether a schedule of a queue may be seen; runs is what it runs, such
// as "chain friday".
func (x *Scope) seesRecurring(runs string) bool {
	return !slices.ContainsFunc(subjectsOf(runs), func(o subject) bool { return !x.allows(o.kind, o.name) })
}

// recurs returns an error unless workers may run something again and again for somebody with
// these limits. Workers know of no hosts that somebody is limited to.
func (x *Scope) recurs(runs string) error {
	if len(x.Hosts) > 0 || !x.seesRecurring(runs) {
		return errScope(x)
	}
	return nil
}

// recursNow is recurs for an existing schedule.
func (x *Scope) recursNow(ctx context.Context, b Backend, name string) error {
	if !x.Limited() {
		return nil
	}
	all, err := b.Recurring(ctx, time.Time{})
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Name == name {
			return x.recurs(all[i].Runs)
		}
	}
	return errScope(x) // as for one of others
}

// newRecurring is the rule of a schedule that somebody adds.
func newRecurring(_ *Server, r *http.Request, x *Scope) error {
	kind, what := recurs(r.PostForm)
	return x.recurs(kind + " " + what)
}

// ofRecurring is the rule of an existing schedule.
func ofRecurring(s *Server, r *http.Request, x *Scope) error {
	return x.recursNow(r.Context(), s.back(r.Context()).b, r.PathValue("name"))
}

// driftSeen leaves the records of hosts that may be shown.
func (x *Scope) driftSeen(all []*drift.Subject) []*drift.Subject {
	if len(x.Hosts) == 0 {
		return all
	}
	out := make([]*drift.Subject, len(all))
	for i, sub := range all {
		one := *sub
		one.Records = slices.DeleteFunc(slices.Clone(sub.Records), func(r drift.Record) bool { return !x.onHost(r.Host) })
		out[i] = &one
	}
	return out
}

// factsSeen leaves the facts of hosts that may be shown.
func (x *Scope) factsSeen(all map[string]*facts.Facts) map[string]*facts.Facts {
	for id := range all {
		if !x.onHost(id) {
			delete(all, id)
		}
	}
	return all
}

// stepsSeen leaves what hosts of an execution did that may be shown.
func (x *Scope) stepsSeen(steps []history.ExecutionStep) {
	if len(x.Hosts) == 0 {
		return
	}
	for i := range steps {
		st := &steps[i]
		all := len(st.Hosts)
		st.Hosts = slices.DeleteFunc(st.Hosts, func(h history.HostResult) bool { return !x.onHost(h.Host) })
		if n := all - len(st.Hosts); n > 0 || all == 0 {
			st.Comment = x.hiddenText(n)
		}
	}
}

// cutJob leaves out of a record what it has of hosts beyond the limits, and says so. It returns
// an error for a job that is not about a host within them.
func (x *Scope) cutJob(j *jobs.Job) error {
	if len(x.Hosts) == 0 {
		return nil
	}
	hidden := map[string]bool{}
	beyond := func(id string) bool {
		if x.onHost(id) {
			return false
		}
		hidden[id] = true
		return true
	}
	ids := j.Load.List("Minions").Strs()
	fun := j.Load.Str("fun")
	if j.Definition == nil && (strings.HasPrefix(fun, "runner.") || strings.HasPrefix(fun, "wheel.") || !slices.ContainsFunc(ids, x.onHost)) {
		return errScope(x)
	}
	j.Load = j.Load.Copy()
	j.Load.Delete("fleets")
	for _, key := range []string{"Minions", "minions"} {
		if l := j.Load.List(key); l != nil && j.Definition == nil {
			j.Load.Set(key, value.Strings(slices.DeleteFunc(l.Strs(), beyond)...))
		}
	}
	j.Returns, j.Partial = seenKeys(j.Returns, beyond), seenKeys(j.Partial, beyond)
	for _, m := range []map[string]string{j.Missing, j.Unread, j.Silent} {
		for id := range m {
			if beyond(id) {
				delete(m, id)
			}
		}
	}
	for id := range j.Running {
		if beyond(id) {
			delete(j.Running, id)
		}
	}
	for i, step := range j.Steps {
		j.Steps[i] = x.cutStep(step, beyond)
	}
	for tag, all := range j.Passed {
		j.Passed[tag] = slices.DeleteFunc(slices.Clone(all), beyond)
	}
	if len(hidden) > 0 {
		j.Damage = strings.TrimSpace(j.Damage + " " + x.hiddenText(len(hidden)))
	}
	return nil
}

// cutStep is a recorded step without what hosts beyond the limits returned.
func (x *Scope) cutStep(step *value.Map, beyond func(string) bool) *value.Map {
	ret := step.Map("return").Copy()
	rets := ret.Map("changes").Map("ret")
	seen := seenKeys(rets, beyond)
	if rets != nil && seen.Len() == rets.Len() {
		return step
	}
	changes := value.NewMap(1)
	if rets != nil {
		changes.Set("ret", seen)
	}
	ret.Set("changes", changes)
	ret.Set("comment", x.hiddenText(rets.Len()-seen.Len()))
	out := step.Copy()
	out.Set("return", ret)
	if l := step.List("failed"); l != nil {
		out.Set("failed", value.Strings(slices.DeleteFunc(l.Strs(), beyond)...))
	}
	return out
}

// seenKeys is a mapping by host without those beyond the limits; nil stays nil.
func seenKeys(m *value.Map, beyond func(string) bool) *value.Map {
	if m == nil {
		return nil
	}
	out := value.NewMap(m.Len())
	for id, v := range m.All() {
		if !beyond(value.Str(id)) {
			out.Set(id, v)
		}
	}
	return out
}

// seesJob reports whether a job is listed, by what is known of it without its returns.
func (x *Scope) seesJob(b *jobs.Brief, who string) bool {
	name := b.Load.Str("fun")
	switch {
	case strings.HasPrefix(name, uiAction):
		return b.Load.Str("user") == who || x.seesAction(b.Load.List("arg"))
	case len(x.Hosts) == 0, isExecution(name):
		return true
	case strings.HasPrefix(name, "runner."), strings.HasPrefix(name, "wheel."):
		return false
	}
	return slices.ContainsFunc(b.Load.List("Minions").Strs(), x.onHost)
}

// listsJob reports whether a job is listed for who is limited: where names are limits, jobs
// that belong to an execution of one of these, and what this visitor did.
func (s *Server) listsJob(ctx context.Context, files *jobs.Files, row *jobs.Row, b *jobs.Brief) (bool, error) {
	limits, who := s.back(ctx).limits, ""
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		who = v.name
	}
	if len(limits.Hosts) > 0 && b.Load.List("Minions").Len() == 0 {
		b = row.Brief(true) // the index has not all of a large one
	}
	if !limits.seesJob(b, who) {
		return false, nil
	}
	if !limits.byName() || strings.HasPrefix(b.Load.Str("fun"), uiAction) {
		return true, nil
	}
	jid, load := b.JID, b.Load
	for range maxParents {
		parent := load.Str("orchestration_jid")
		if parent == "" {
			break
		}
		j, err := files.TrimmedJob(ctx, parent, &jobs.Trim{Text: func(string) string { return "" }})
		if err != nil {
			return false, err
		}
		if j == nil {
			return false, nil // nobody knows what it belongs to
		}
		jid, load = parent, j.Load
	}
	if limits.called(load) {
		return true, nil
	}
	err := s.executionIn(ctx, jid, limits)
	if _, beyond := errors.AsType[*apiError](err); beyond {
		return false, nil
	}
	return err == nil, err
}

// isExecution reports whether a function runs an orchestration.
func isExecution(name string) bool {
	return slices.Contains([]string{"runner.state.orchestrate", "runner.state.orch", "runner.state.sls", "runner.state.orchestrate_high"}, name)
}

// seesAction reports whether an entry of the audit record is about something that the limits
// name: arg begins with the path of a request.
func (x *Scope) seesAction(arg *value.List) bool {
	if arg.Len() == 0 {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(value.Str(arg.Items[0]), apiBase), "/")
	if len(parts) < 3 || !slices.Contains([]string{kept.Chains, kept.Orchestrations, kept.Templates}, parts[1]) {
		return false
	}
	return x.allows(parts[1], parts[2])
}
