package ui

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

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
}

// RightWords are the names of rights, in the order of files.
func RightWords() []string {
	out := make([]string, len(rights))
	for i, x := range rights {
		out[i] = x.word
	}
	return out
}

// CheckRights returns an error if rights give nothing to who has a role.
func (x Scope) CheckRights(role Role) error {
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
	if err := CheckGlobs(globs); err != nil {
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
func (x Scope) roleFor(least Role, kind, name string) Role {
	for _, r := range rights {
		if r.kind == kind && r.role > least && x.allows(kind, name) && slices.ContainsFunc(x.Rights[r.word], func(g string) bool { ok, _ := filepath.Match(g, name); return ok }) {
			least = r.role
		}
	}
	return least
}

// A subject is what a request is about.
type subject struct{ kind, name string }

// about returns the objects of a request, and the highest role that rights to them give: of a
// run or a record that is Operator, since an editor may go on with it as it was not defined.
func (x route) about(s *Server, r *http.Request) (all []subject, most Role, err error) {
	method, path, _ := strings.Cut(x.pattern, " ")
	path = strings.TrimPrefix(path, apiBase)
	named := func(kind, name string) []subject { return []subject{{kind, name}} }
	name := r.PathValue("name")
	switch {
	case strings.HasPrefix(path, "/chains/{name}"):
		all = named(kept.Chains, name)
		if to := strings.TrimSpace(r.PostForm.Get("name")); to != "" { // of a copy, or another name
			all = append(all, subject{kept.Chains, to})
		}
		return all, Editor, nil
	case path == "/chains" && method == http.MethodPost:
		return named(kept.Chains, strings.TrimSpace(r.PostForm.Get("name"))), Editor, nil
	case strings.HasPrefix(path, "/templates/{name}"):
		return named(kept.Templates, name), Operator, nil
	case strings.HasPrefix(path, "/orchestrations/{name}"):
		return named(kept.Orchestrations, name), Operator, nil
	case strings.HasPrefix(path, "/orchestrations/{sls}"):
		return named(kept.Orchestrations, r.PathValue("sls")), Operator, nil
	case strings.Contains(x.pattern, " state.orch"): // of salt-api
		return named(kept.Orchestrations, r.PostForm.Get("expr")), Operator, nil
	}
	r = r.WithContext(context.WithValue(r.Context(), powersKey{}, readRuns|readRecords))
	switch {
	case strings.HasPrefix(path, "/runs/{id}"), strings.HasPrefix(path, "/plans/{id}"):
		found, err := s.findRun(r.Context(), r.PathValue("id"))
		if err != nil {
			return nil, 0, err
		}
		kind := found.Spec.Kind
		if of := kept.PlanOf(kind); of != "" {
			kind = of
		}
		return named(kind, found.Spec.Name), Operator, nil
	case strings.HasPrefix(path, "/approvals/{id}"):
		e, err := s.approvalOf(r)
		if err != nil {
			return nil, 0, err
		}
		return named(e.Kind+"s", e.Name), Operator, nil
	case path == "/jobs/{jid}/resume":
		err = s.back(r.Context()).history(r.Context(), func(st *history.Store) error {
			e, err := executionOf(r.Context(), st, r.PathValue("jid"))
			if err == nil {
				all = named(e.Kind+"s", e.Name)
			}
			return err
		})
		return all, Operator, err
	}
	return nil, 0, nil
}

// with returns a visit with the role for what a request is about. Of several objects, the
// lowest role counts.
func (x route) with(s *Server, r *http.Request, v *visit) *visit {
	limits := v.limits()
	if len(limits.Rights) == 0 {
		return v
	}
	ctx := context.WithValue(r.Context(), visitKey{}, v)
	all, most, err := x.about(s, r.WithContext(ctx))
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
