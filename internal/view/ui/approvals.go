package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"brine/internal/fleet/approval"
)

// shownApprovals is how many questions the page lists that nobody waits for.
const shownApprovals = 50

// approvalsView are the runs that ask a second person.
type approvalsView struct {
	Waiting, Past []*approval.Entry
}

func (s *Server) approvals(w http.ResponseWriter, r *http.Request, v *visit) {
	all, err := s.back(r.Context()).approvals(r.Context())
	if err != nil {
		s.fault(w, r, err)
		return
	}
	var view approvalsView
	for _, e := range all {
		switch {
		case e.Waits():
			view.Waiting = append(view.Waiting, e)
		case len(view.Past) < shownApprovals:
			view.Past = append(view.Past, e)
		}
	}
	render(w, r, http.StatusOK, approvalsPage(page{Title: "Approvals", At: "approvals", Who: v}, view))
}

// approvalOf returns the question of a request.
func (s *Server) approvalOf(r *http.Request) (*approval.Entry, error) {
	all, err := s.back(r.Context()).approvals(r.Context())
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	i := slices.IndexFunc(all, func(e *approval.Entry) bool { return e.ID() == id })
	if i < 0 {
		return nil, fmt.Errorf("approval %s: %w", id, ErrNotFound)
	}
	return all[i], nil
}

// mayAnswer is the check of who may answer a question.
func mayAnswer(s *Server, r *http.Request, v *visit) error {
	e, err := s.approvalOf(r)
	if errors.Is(err, ErrNotFound) { // the handler says so
		return nil
	}
	if err != nil {
		return err
	}
	return e.May(v.name, v.has)
}

// has reports whether a visitor has a role, by its name.
func (v *visit) has(role string) bool {
	r, err := ParseRole(role)
	return err == nil && v.role >= r
}

// mayAnswer says why the visitor of a page may not answer a question; "": it is allowed.
func (p page) mayAnswer(e *approval.Entry) string {
	if !p.may(Operator) {
		return "This is for " + e.Whom() + "."
	}
	if err := e.May(p.Who.name, p.Who.has); err != nil {
		return err.Error()
	}
	return ""
}

// answer answers the question of a request.
func (s *Server) answer(r *http.Request, v *visit, definition, comment string, approve bool) (*approval.Entry, error) {
	e, err := s.approvalOf(r)
	if err == nil {
		err = e.May(v.name, v.has)
	}
	if err != nil {
		return nil, err
	}
	return s.back(r.Context()).approve(r.Context(), e.ID(), definition, approval.Answer{Approved: approve, User: v.name, Comment: strings.TrimSpace(comment)})
}

// answerRun approves or refuses a run that waits.
func answerRun(approve bool) func(*Server, http.ResponseWriter, *http.Request, *visit) {
	return func(s *Server, w http.ResponseWriter, r *http.Request, v *visit) {
		f := r.PostForm
		if _, err := s.answer(r, v, f.Get("definition"), f.Get("comment"), approve); err != nil {
			s.fault(w, r, err)
			return
		}
		if run := f.Get("run"); run != "" {
			see(w, r, "runs", run)
			return
		}
		see(w, r, "approvals")
	}
}

// stateOfApproval is what became of a question, in a word and in words.
func stateOfApproval(e *approval.Entry) (state, text string) {
	switch {
	case e.Answer != nil && e.Answer.Approved:
		return "approved", e.Answer.Text()
	case e.Answer != nil:
		return "refused", e.Answer.Text()
	case e.Lost:
		return "unfinished", "the run has ended without an answer"
	}
	return "waiting", "for " + e.Whom()
}

// whatIsAsked is what a question is about, in lines: steps, targets and the tree.
func whatIsAsked(e *approval.Entry) []string {
	if text := e.Tree.String(); text != "" {
		return append(slices.Clone(e.What), text)
	}
	return e.What
}

// An Approval is a question of a run to a second person.
type Approval struct {
	ID         string     `json:"id"`
	Run        string     `json:"run" doc:"The jid of the run that asks."`
	Kind       string     `json:"kind" enum:"chain,template"`
	Name       string     `json:"name"`
	Before     string     `json:"before" doc:"What the run waits before, in words."`
	What       []string   `json:"what" doc:"The steps and targets of the run, in words and without secrets."`
	By         []string   `json:"by" doc:"The roles, users and tokens that may answer; empty: any operator or editor."`
	User       string     `json:"user" doc:"Who started the run, and may not answer."`
	Definition string     `json:"definition" doc:"A hash of what runs, of its tree and of its pillar: an answer holds for no other."`
	Tree       string     `json:"tree,omitempty" doc:"The SHA-256 of the files of the tree."`
	Revision   string     `json:"revision,omitempty" doc:"The commit of the tree."`
	Unknown    []string   `json:"unknown" doc:"What also decides what is applied, and is not covered by the definition."`
	State      string     `json:"state" enum:"waiting,approved,refused,unfinished"`
	Asked      time.Time  `json:"asked"`
	AnsweredBy string     `json:"answered_by,omitempty"`
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	Comment    string     `json:"comment,omitempty"`
}

// An ApprovalList is the runs that ask a second person.
type ApprovalList struct {
	Items []Approval `json:"items" doc:"The newest first."`
}

func approvalFrom(e *approval.Entry) Approval {
	out := Approval{
		ID: e.ID(), Run: e.Asker(), Kind: e.Kind, Name: e.Name, Before: e.Before(), What: texts(e.What), By: texts(e.By), User: e.User, Definition: e.Definition, Asked: e.Asked,
		Tree: e.Tree.Digest, Revision: e.Tree.Revision, Unknown: texts(e.Tree.Unknown),
	}
	out.State, _ = stateOfApproval(e)
	if a := e.Answer; a != nil {
		out.AnsweredBy, out.AnsweredAt, out.Comment = a.User, &a.At, a.Comment
	}
	return out
}

// listApprovals asks for questions.
type listApprovals struct {
	All bool `json:"-" query:"all" doc:"Also those that nobody waits for any more."`
}

func (s *Server) apiApprovals(c *apiCall, in *listApprovals) (*ApprovalList, error) {
	all, err := s.back(c.r.Context()).approvals(c.r.Context())
	if err != nil {
		return nil, err
	}
	out := &ApprovalList{Items: []Approval{}}
	for _, e := range all {
		if (in.All || e.Waits()) && c.scope().allows(e.Kind+"s", e.Name) {
			out.Items = append(out.Items, approvalFrom(e))
		}
	}
	return out, nil
}

// answerApproval is an answer.
type answerApproval struct {
	Comment    string `json:"comment,omitempty" doc:"Why, for the record; at most 1000 bytes."`
	Definition string `json:"definition,omitempty" doc:"Answer only if the run still has this definition."`
}

func (x answerApproval) form() url.Values { return url.Values{"comment": {x.Comment}} }

// apiAnswer approves or refuses a run that waits.
func apiAnswer(approve bool) func(*Server, *apiCall, *answerApproval) (*Approval, error) {
	return func(s *Server, c *apiCall, in *answerApproval) (*Approval, error) {
		e, err := s.answer(c.r, c.v, in.Definition, in.Comment, approve)
		if err != nil {
			return nil, err
		}
		out := approvalFrom(e)
		return &out, nil
	}
}

// ofApproval is the rule of questions: those of what the token may run.
func ofApproval(s *Server, r *http.Request, x *Scope) error {
	e, err := s.approvalOf(r)
	if err != nil {
		return err
	}
	if x.allows(e.Kind+"s", e.Name) {
		return nil
	}
	return errScope(x)
}
