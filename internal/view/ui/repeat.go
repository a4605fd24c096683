package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// maxParents bounds how many orchestrations may be steps of each other.
const maxParents = 32

// mayRepeatJob lets an operator resume or retry only what is defined: an execution of
// an orchestration, a chain or a template as they are now, a job that is a step of
// one, and test.ping. An editor may repeat any job.
func mayRepeatJob(s *Server, r *http.Request, v *visit) error {
	if v.role >= Editor {
		return nil
	}
	j, err := s.readJob(r.Context(), r.PathValue("jid"))
	if err != nil {
		return err
	}
	return s.definedNow(r.Context(), j)
}

// mayResumeTemplate lets the form of a template resume executions of that template only:
// what is said of others, and what they have done, is no part of it.
func mayResumeTemplate(s *Server, r *http.Request, v *visit) error {
	if err := s.mayApply(r, v); err != nil {
		return err
	}
	jid := r.PostForm.Get("resume")
	if !jobs.IsJID(jid) {
		return nil // nothing is resumed
	}
	j, err := s.readJob(r.Context(), jid)
	if err != nil {
		return err
	}
	name, plain := plainRun(j)
	if j.Definition == nil || !plain || name != r.PathValue("name") {
		return fmt.Errorf("job %s cannot be resumed here: it did not execute this template as its form does", jid)
	}
	return nil
}

// mayResumeRun is mayRepeatJob for a run that the pages started.
func mayResumeRun(s *Server, r *http.Request, v *visit) error {
	if v.role >= Editor {
		return nil
	}
	x, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	view, _ := s.viewRun(r.Context(), x, 1<<30)
	if !view.Spec.goesOn() || view.JID == "" {
		return nil // it is not resumed
	}
	// What was resumed with its own arguments goes on with them.
	j, err := s.readJob(r.Context(), view.JID)
	if err != nil {
		return err
	}
	return s.definedNow(r.Context(), j)
}

// definedNow returns a *roleError unless a recorded job is, or is a step of, what is
// defined now.
func (s *Server) definedNow(ctx context.Context, j *jobs.Job) error {
	if j.Definition == nil && j.Load.Str("fun") == "test.ping" && j.Load.List("arg").Len() == 0 {
		return nil // what the pages of hosts do for an operator
	}
	if j.Definition != nil {
		return s.resumableNow(ctx, j)
	}
	top := j
	for range maxParents {
		jid := top.Load.Str("orchestration_jid")
		if jid == "" {
			break
		}
		parent, err := s.readJob(ctx, jid)
		if errors.Is(err, ErrNotFound) {
			return &roleError{Editor, "the record of the execution that this is a step of is gone"}
		}
		if err != nil {
			return err
		}
		top = parent
	}
	if top.Definition == nil || top.Load.Str("orchestration_jid") != "" {
		return &roleError{Editor, "the job is not a step of an orchestration, a chain or a template"}
	}
	if name, hash := chainOf(top); name != "" {
		return s.sameChain(ctx, name, hash)
	}
	return s.resumableNow(ctx, top)
}

// chainOf returns the chain that was executed, and the hash of its definition; "" for
// what is none.
func chainOf(j *jobs.Job) (name, hash string) {
	meta, _ := j.Load.At("metadata").(*value.Map)
	return meta.Str("chain"), meta.Str("definition")
}

// resumableNow returns a *roleError unless an execution is one of what is defined: a
// chain, or an orchestration or template that was run as the pages run it. It goes on
// only if its steps are those that would run now.
func (s *Server) resumableNow(ctx context.Context, j *jobs.Job) error {
	c, err := s.back(ctx).catalogue(ctx)
	if err != nil {
		return err
	}
	is := func(name string) func(Entry) bool { return func(e Entry) bool { return e.Name == name } }
	if name, _ := chainOf(j); name != "" {
		if slices.ContainsFunc(c.Chains, is(name)) {
			return nil
		}
		return &roleError{Editor, fmt.Sprintf("the chain %s is gone", name)}
	}
	name, plain := plainRun(j)
	switch {
	case !plain:
		return &roleError{Editor, "the orchestration was run with arguments of its own"}
	case slices.Contains(c.Orchestrations, name), slices.ContainsFunc(c.Templates, is(name)):
		return nil
	}
	return &roleError{Editor, fmt.Sprintf("%s is not among the orchestrations and templates of these pages", name)}
}

// plainRun returns the SLS that an orchestration ran, and whether it was given nothing
// else that matters, such as another saltenv or pillar.
func plainRun(j *jobs.Job) (name string, plain bool) {
	name = valueText(j.Definition.At("sls"))
	given := j.Load.List("arg")
	pos := 0
	for i := range given.Len() {
		switch x := given.Items[i].(type) {
		case string:
			if pos++; x != name {
				return name, false
			}
		case *value.Map:
			for k := range x.All() {
				switch key := value.Str(k); key {
				case "__kwarg__", "test":
				case "mods":
					pos++
				default:
					return name, false
				}
			}
		default:
			return name, false
		}
	}
	return name, pos == 1
}

// sameChain returns a *roleError unless a chain still has the definition with a hash.
func (s *Server) sameChain(ctx context.Context, name, hash string) error {
	st, err := s.back(ctx).chains(ctx)
	if err != nil {
		return err
	}
	c, _, err := st.read(name)
	if err != nil || c.Hash() != hash {
		return &roleError{Editor, fmt.Sprintf("the chain %s has changed since, or is gone", name)}
	}
	return nil
}
