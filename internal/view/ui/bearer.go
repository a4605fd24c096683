package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
)

// bearer returns the visit of a request of the API, which its token gives.
func (s *Server) bearer(r *http.Request) (*visit, error) {
	if s.opts.Tokens == nil {
		return nil, errAPIOff
	}
	all, err := s.opts.Tokens()
	if err != nil {
		return nil, &apiError{kind: unavailable, detail: "The file of tokens cannot be read; the terminal of brine ui has the details."}
	}
	given := r.Header.Values("Authorization")
	scheme, text, _ := strings.Cut(strings.Join(given, " "), " ")
	if len(given) != 1 || !strings.EqualFold(scheme, "Bearer") || text == "" {
		return nil, &apiError{kind: noToken, detail: "The request has no token.", hint: "Send the header Authorization: Bearer SECRET; 'brine ui token add' makes tokens."}
	}
	x := all.of(text)
	switch {
	case x == nil:
		return nil, s.badToken(r, tokenUser("(unknown)"), "The token is not known: it is misspelt, or it was revoked.")
	case x.Expired(s.opts.Now()):
		return nil, s.badToken(r, tokenUser(x.Name), "The token has expired.")
	}
	if s.opts.OnUse != nil {
		s.opts.OnUse(x.Name)
	}
	return &visit{name: tokenUser(x.Name), role: x.Role, token: x}, nil
}

// tokenUser is the name of a token in records. No user can have it.
func tokenUser(name string) string { return "token:" + name }

// badToken notes that a token was refused. Who sends many is slowed down, for the sake
// of the record alone: a token cannot be guessed, and others at this address must not
// lock out those who have one.
func (s *Server) badToken(r *http.Request, user, why string) error {
	from := "token from " + addressOf(r)
	if s.access.slowDown(from) {
		return &apiError{kind: tooMany, detail: "The token is not valid, as those before it from this address."}
	}
	s.access.failed(from)
	s.note(r, user, false)
	return &apiError{kind: noToken, detail: why, hint: "brine ui token add makes a token."}
}

// stillValid reports whether the token of a visit is as it was at the beginning of the
// request.
func (s *Server) stillValid(v *visit) bool {
	all, err := s.opts.Tokens()
	if err != nil {
		return false
	}
	x := all.Find(v.token.Name)
	return x != nil && x.String() == v.token.String() && !x.Expired(s.opts.Now())
}

// A scopeRule says whether a token with limits may do what a request asks for.
type scopeRule func(s *Server, r *http.Request, x *Scope) error

// errScope says that a token has limits.
func errScope(x *Scope) error {
	return &apiError{kind: outOfScope, detail: "The token is limited to " + x.limits() + "."}
}

// unlimitedOnly is the rule of what concerns everything.
func unlimitedOnly(_ *Server, _ *http.Request, x *Scope) error { return errScope(x) }

// filtered is the rule of lists that have only what the token may see.
func filtered(*Server, *http.Request, *Scope) error { return nil }

// harmless is the rule of what says nothing of what can be run.
func harmless(*Server, *http.Request, *Scope) error { return nil }

// named is the rule of what has its name in the path.
func named(kind string) scopeRule {
	return func(_ *Server, r *http.Request, x *Scope) error {
		if x.allows(kind, r.PathValue("name")) {
			return nil
		}
		return errScope(x)
	}
}

// byHostsOnly is the rule of what concerns all that can be run, and no host.
func byHostsOnly(_ *Server, _ *http.Request, x *Scope) error {
	if x.byName() {
		return errScope(x)
	}
	return nil
}

// ofRun is the rule of runs.
func ofRun(s *Server, r *http.Request, x *Scope) error {
	found, err := s.findRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !x.sees(found.Spec.Spec) {
		return errScope(x)
	}
	return nil
}

// ofExecution is the rule of executions of the history.
func ofExecution(s *Server, r *http.Request, x *Scope) error {
	return s.executionIn(r.Context(), r.PathValue("jid"), x)
}

// executionIn returns an error unless an execution is within a scope, as far as the
// history has it.
func (s *Server) executionIn(ctx context.Context, jid string, x *Scope) error {
	return s.back(ctx).history(ctx, func(st *history.Store) error {
		e, err := executionOf(ctx, st, jid)
		if errors.Is(err, ErrNotFound) || err == nil && !x.allows(e.Kind+"s", e.Name) {
			return errScope(x)
		}
		return err
	})
}

// ofJob is the rule of jobs: those that belong to an execution of what the token may
// run.
func ofJob(s *Server, r *http.Request, x *Scope) error {
	return s.jobIn(r.Context(), r.PathValue("jid"), x)
}

// ofLowJob is ofJob for a chunk of salt-api.
func ofLowJob(s *Server, r *http.Request, x *Scope) error {
	err := s.jobIn(r.Context(), r.PostForm.Get("jid"), x)
	if errors.Is(err, ErrNotFound) && !x.byName() {
		return nil // what is not there says so, and of other jobs, hosts are left out
	}
	return err
}

// jobIn returns an error unless a job belongs to what a scope allows.
func (s *Server) jobIn(ctx context.Context, jid string, x *Scope) error {
	if !x.byName() {
		_, err := s.readJob(ctx, jid)
		return err
	}
	for range maxParents {
		j, err := s.readJob(ctx, jid)
		if err != nil {
			return err
		}
		parent := j.Load.Str("orchestration_jid")
		if parent == "" && x.called(j.Load) {
			return nil
		}
		if parent == "" {
			break
		}
		jid = parent
	}
	return s.executionIn(ctx, jid, x)
}

// checkCursor returns an error unless a cursor is the id of a job.
func checkCursor(cursor string) error {
	if cursor == "" || jobs.IsJID(cursor) {
		return nil
	}
	return &apiError{kind: badParameter, detail: fmt.Sprintf("cursor: %q is not one of the values of next.", cursor)}
}
