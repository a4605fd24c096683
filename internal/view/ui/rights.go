package ui

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/facts"
	"brine/internal/fleet/history"
	"brine/internal/fleet/kept"
	"brine/internal/py/source"
)

// A user, a group or a token may have a higher role for some objects than for the others, by
// words such as operator.chains=deploy-*. Limits come first: a right is one to what is seen.
// What a request is about is found here, for all routes, and the visit of the request has the
// role of that: a route that is missing here has the role of the line, which is the lower one.

// A right is the name of one in files.
type right struct {
	word string // operator.chains
	role Role
	kind string
}

// rights are those that there are. Templates and orchestrations are files of the tree, which
// nobody changes on the pages.
var rights = []right{
	{"operator.orchestrations", Operator, kept.Orchestrations},
	{"operator.chains", Operator, kept.Chains},
	{"operator.templates", Operator, kept.Templates},
	{"editor.chains", Editor, kept.Chains},
	{"editor.functions", Editor, kept.Functions},
}

// RightWords are the names of rights, in the order of files.
func RightWords() []string {
	out := make([]string, len(rights))
	for i, x := range rights {
		out[i] = x.word
	}
	return out
}

// CheckRights returns an error if rights give nothing to who has a role, or if a limit only
// looks like one.
func (x *Scope) CheckRights(role Role) error {
	if len(x.Functions) > 0 && role < Editor && len(x.Rights["editor.functions"]) == 0 {
		return fmt.Errorf("functions= is a limit, and the role %s runs no functions: give editor.functions=, which lets it run some", role)
	}
	for _, r := range rights {
		if len(x.Rights[r.word]) > 0 && r.role <= role {
			return fmt.Errorf("%s= gives nothing to the role %s", r.word, role)
		}
	}
	return nil
}

// grantRight adds globs to a right; known is false where there is none of that name.
func (x *Scope) grantRight(word string, globs []string) (known bool, err error) {
	if !slices.Contains(RightWords(), word) {
		return false, nil
	}
	check := CheckGlobs
	if strings.HasSuffix(word, ".functions") {
		check = CheckFunctions
	}
	if err := check(globs); err != nil {
		return true, err
	}
	if x.Rights == nil {
		x.Rights = map[string][]string{}
	}
	x.Rights[word] = append(slices.Clip(x.Rights[word]), globs...)
	return true, nil
}

// AddRights adds rights as files have them.
func (x *Scope) AddRights(words []string) error {
	for _, w := range words {
		word, globs, _ := strings.Cut(w, "=")
		known, err := x.grantRight(word, strings.Split(globs, ","))
		if err == nil && !known {
			err = fmt.Errorf("there is no right %q%s; there are %s", word, source.DidYouMean(word, RightWords()), strings.Join(RightWords(), ", "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// roleFor is the role for an object, at least a given one.
func (x *Scope) roleFor(least Role, kind, name string) Role {
	if kind == kept.Functions && !functionName().MatchString(name) { // such as several at once
		return least
	}
	for _, r := range rights {
		if r.kind == kind && r.role > least && x.allows(kind, name) && slices.ContainsFunc(x.Rights[r.word], func(g string) bool { ok, _ := filepath.Match(g, name); return ok }) {
			least = r.role
		}
	}
	return least
}

// A subject is what a request is about.
type subject struct{ kind, name string }

// An objectsFinder finds what a request is about.
type objectsFinder func(*Server, *http.Request) ([]subject, error)

// about returns what finds the objects of a request, and the highest role that rights to them
// give: of a run or a record that is Operator, since an editor may go on with it as it was
// not defined. Without a finder, the route needs the role of the line.
func (x route) about() (find objectsFinder, most Role) {
	_, path, _ := strings.Cut(x.pattern, " ")
	path = strings.TrimPrefix(path, apiBase)
	named := func(kind, param string) objectsFinder {
		return func(_ *Server, r *http.Request) ([]subject, error) { return []subject{{kind, r.PathValue(param)}}, nil }
	}
	typed := func(kind, field string) objectsFinder {
		return func(_ *Server, r *http.Request) ([]subject, error) {
			return []subject{{kind, strings.TrimSpace(r.PostForm.Get(field))}}, nil
		}
	}
	calls := func(name string) objectsFinder {
		return func(*Server, *http.Request) ([]subject, error) { return []subject{{kept.Functions, name}}, nil }
	}
	switch {
	case strings.HasPrefix(path, "/chains/{name}"):
		return func(_ *Server, r *http.Request) ([]subject, error) {
			all := []subject{{kept.Chains, r.PathValue("name")}}
			if to := strings.TrimSpace(r.PostForm.Get("name")); to != "" { // of a copy, or another name
				all = append(all, subject{kept.Chains, to})
			}
			return all, nil
		}, Editor
	case x.pattern == "POST /chains":
		return typed(kept.Chains, "name"), Editor
	case strings.HasPrefix(path, "/templates/{name}"):
		return named(kept.Templates, "name"), Operator
	case strings.HasPrefix(path, "/orchestrations/{name}"):
		return named(kept.Orchestrations, "name"), Operator
	case strings.HasPrefix(path, "/orchestrations/{sls}"):
		return named(kept.Orchestrations, "sls"), Operator
	case strings.Contains(x.pattern, " state.orch"): // of salt-api
		return typed(kept.Orchestrations, "expr"), Operator
	case x.pattern == "POST /hosts/run", path == "/functions", strings.HasSuffix(x.pattern, " FUNCTION"):
		return typed(kept.Functions, "function"), Editor
	case path == "/hosts/ping":
		return calls(pingFunction), Operator
	case path == "/hosts/facts":
		return calls(facts.Function), Operator
	case strings.HasPrefix(path, "/runs/{id}"), strings.HasPrefix(path, "/plans/{id}"):
		return aboutRun, Operator
	case strings.HasPrefix(path, "/approvals/{id}"):
		return func(s *Server, r *http.Request) ([]subject, error) {
			e, err := s.approvalOf(r)
			if err != nil {
				return nil, err
			}
			return []subject{{e.Kind + "s", e.Name}}, nil
		}, Operator
	case path == "/jobs/{jid}/resume":
		return aboutExecution, Operator
	case path == "/recurring" && strings.HasPrefix(x.pattern, "POST "):
		return func(_ *Server, r *http.Request) ([]subject, error) {
			kind, what := recurs(r.PostForm)
			return subjectsOf(kind + " " + what), nil
		}, Operator
	case strings.HasPrefix(path, "/recurring/{name}"):
		return aboutRecurring, Operator
	}
	return nil, Nobody
}

// aboutRun finds what a run of the pages runs.
func aboutRun(s *Server, r *http.Request) ([]subject, error) {
	found, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	kind, name := objectOf(found.Spec.Kind, found.Spec.Name)
	return []subject{{kind, name}}, nil
}

// aboutExecution finds what an execution of the history ran.
func aboutExecution(s *Server, r *http.Request) (all []subject, err error) {
	err = s.back(r.Context()).history(r.Context(), func(st *history.Store) error {
		e, err := executionOf(r.Context(), st, r.PathValue("jid"))
		if err == nil {
			all = []subject{{e.Kind + "s", e.Name}}
		}
		return err
	})
	return all, err
}

// aboutRecurring finds what a schedule of a queue runs.
func aboutRecurring(s *Server, r *http.Request) ([]subject, error) {
	all, err := s.back(r.Context()).recurring(r.Context(), time.Time{})
	for i := range all {
		if all[i].Name == r.PathValue("name") {
			return subjectsOf(all[i].Runs), err
		}
	}
	return nil, err
}

// subjectsOf are the objects of what a schedule runs, such as "chain friday".
func subjectsOf(runs string) (all []subject) {
	kind, names, _ := strings.Cut(runs, " ")
	if kind == "template" {
		names, _, _ = strings.Cut(names, "@") // the label of answers
	}
	for name := range strings.SplitSeq(names, ",") { // of orchestrations
		all = append(all, subject{kind + "s", strings.TrimSpace(name)})
	}
	return all
}

// pingFunction is what asks hosts for an answer.
const pingFunction = "test.ping"

// objectOf is the object that a run of a kind is of: of a plan, what is planned, and of
// functions on hosts, the function.
func objectOf(kind, name string) (string, string) {
	switch {
	case kept.PlanOf(kind) != "":
		return kept.PlanOf(kind), name
	case kind == kept.Hosts:
		return kept.Functions, pingFunction
	case kind == kept.Functions:
		name, _, _ = strings.Cut(name, " on ")
	}
	return kind, name
}

// with returns a visit with the role for what a request is about. Of several objects, the
// lowest role counts.
func (x route) with(s *Server, r *http.Request, v *visit) *visit {
	limits := v.limits()
	if len(limits.Rights) == 0 {
		return v
	}
	find, most := x.about()
	if find == nil {
		return v
	}
	ctx := context.WithValue(context.WithValue(r.Context(), visitKey{}, v), powersKey{}, readRuns|readRecords|readNames)
	all, err := find(s, r.WithContext(ctx))
	if err != nil || len(all) == 0 {
		return v
	}
	role := Editor
	for _, o := range all {
		role = min(role, limits.roleFor(v.role, o.kind, o.name))
	}
	if role = min(role, most); role <= v.role {
		return v
	}
	// The time when it was seen last is that of the visit itself.
	return &visit{name: v.name, role: role, csrf: v.csrf, began: v.began, session: v.session, hash: v.hash, token: v.token, scope: v.scope, groups: v.groups, line: v}
}

// roleOn is the role of the visitor for an object.
func (v *visit) roleOn(kind, name string) Role {
	return v.limits().roleFor(v.own().role, kind, name)
}

// calls reports whether the visitor may run a function on hosts.
func (v *visit) calls(name string) bool { return v != nil && v.roleOn(kept.Functions, name) >= Editor }

// callsSome are globs for the functions that the visitor may run on hosts.
func (v *visit) callsSome() []string {
	switch {
	case v == nil:
		return nil
	case v.own().role >= Editor:
		return []string{"*"}
	}
	return v.limits().Rights["editor.functions"]
}

// plans reports whether the visitor may have workers run something again and again; runs is
// such as "chain friday".
func (v *visit) plans(runs string) bool {
	if v == nil || v.limits().recurs(runs) != nil {
		return false
	}
	return !slices.ContainsFunc(subjectsOf(runs), func(o subject) bool { return v.roleOn(o.kind, o.name) < Operator })
}

// own is the visit without the role for an object.
func (v *visit) own() *visit {
	if v.line != nil {
		return v.line
	}
	return v
}

// defines reports whether the visitor may make some chain.
func (v *visit) defines() bool {
	return v.role >= Editor || len(v.limits().Rights["editor.chains"]) > 0
}
