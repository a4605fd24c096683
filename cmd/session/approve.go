package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Approvals are the points of a run at which a second person is asked.
type Approvals struct {
	Kind, Name string
	Definition string   // a hash of what runs
	What       []string // in words: steps and targets
	Points     []ApprovalPoint

	jid, entry string
	mu         sync.Mutex      // one question at a time
	passed     map[string]bool // keys of the points that are behind the run
	prior      map[string]bool // IDs of steps that an earlier run has done
	ended      string          // history.Refused or history.Waiting: how a question ended the run
	why        string          // in words
}

// An ApprovalPoint is a point of a run at which a second person is asked.
type ApprovalPoint struct {
	Key  string // [approval.Start], or a name of the step of letters and digits
	Rule *approval.Rule
	Step string // in words
	// Covers reports whether a state belongs to the step, by its ID; nil: all do.
	Covers func(id string) bool
	// IDs are those that the run must have for the step; nil: they are not checked.
	IDs []string
}

// approvalPoll is how often a run that waits looks for an answer.
const approvalPoll = 200 * time.Millisecond

// AskApproval has the run of a job ask at the points of s.Approvals. entry is that of a
// queue, or "".
func (s *Session) AskApproval(jid, entry string, test bool) {
	if a := s.Approvals; a != nil && (test || len(a.Points) == 0) {
		s.Approvals = nil // nothing is changed, or nobody is to be asked
	} else if a != nil {
		a.jid, a.entry, a.passed = jid, entry, map[string]bool{}
	}
}

// known notes the steps of the run before it begins. It fails if a step is missing before
// which somebody is to be asked.
func (a *Approvals) known(jid string, chunks []*fun.Chunk, done map[string]*value.Map) error {
	if a == nil || a.jid != jid {
		return nil
	}
	a.prior = map[string]bool{}
	var ids []string
	for _, c := range chunks {
		ids = append(ids, c.ID)
	}
	for _, ret := range done {
		a.prior[ret.Str("__id__")] = true
	}
	for i := range a.Points {
		for _, id := range a.Points[i].IDs {
			if !slices.Contains(ids, id) {
				return fun.Errorf("the %s %s asks for an approval before the state %q of %s, which this run does not have%s", a.Kind, a.Name, id, a.Points[i].Step, source.DidYouMean(id, ids))
			}
		}
	}
	return nil
}

// approved asks for the approvals that are due before a state, and waits for the answers.
// It reports whether the run may go on; open says whether it may at all.
func (s *Session) approved(ctx context.Context, jid, id string, open func() bool) bool {
	a := s.Approvals
	if a == nil || a.jid != jid || a.prior[id] {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.Points {
		p := &a.Points[i]
		if a.passed[p.Key] || p.Covers != nil && !p.Covers(id) {
			continue
		}
		if a.ended != "" || !s.ask(ctx, p, id, open) {
			return false
		}
		a.passed[p.Key] = true
	}
	return a.ended == ""
}

// ask asks for one approval, and waits for the answer. The run of a queue does not wait: it
// is put back.
func (s *Session) ask(ctx context.Context, p *ApprovalPoint, id string, open func() bool) bool {
	a := s.Approvals
	q := approval.Question{
		JID: a.jid, Kind: a.Kind, Name: a.Name, Point: p.Key, Step: s.Secrets.Source(p.Step), By: p.Rule.By, User: s.UserName(), Definition: a.Definition, Queued: a.entry != "",
	}
	for _, text := range a.What {
		q.What = append(q.What, s.Secrets.Source(text))
	}
	if q.Queued {
		q.JID, q.Run = a.entry, a.jid
	}
	w, err := approval.New(s.Cfg.CacheDir, s.App.Host.Now).Ask(q)
	if err != nil {
		return s.endAsked(history.Refused, fmt.Sprintf("nobody can be asked to approve it: %s", err))
	}
	defer func() { _ = w.Close() }()
	for told := false; ; {
		answer, err := w.Answer()
		switch {
		case err != nil:
			return s.endAsked(history.Refused, fmt.Sprintf("the answer to the approval cannot be read: %s", err))
		case answer != nil:
			return s.answered(&q, answer)
		}
		if !told {
			told = true
			s.Note(fmt.Sprintf("waiting for an approval %s by %s: 'brine approval approve %s', or the page Approvals of brine ui", q.Before(), q.Whom(), q.ID()))
			if s.teller != nil {
				s.teller.asks(&q, id)
			}
		}
		if q.Queued {
			return s.endAsked(history.Waiting, "it waits for an approval "+q.Before())
		}
		if why := jobs.NewPauses(s.Cfg.CacheDir).Why(a.jid, id, s.App.Host.Now); why != "" || !open() || ctx.Err() != nil {
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(approvalPoll):
		}
	}
}

// endAsked ends the run before its next step.
func (s *Session) endAsked(status, why string) bool {
	s.Approvals.ended, s.Approvals.why = status, why
	return false
}

// answered records an answer in the run, and reports whether the run may go on.
func (s *Session) answered(q *approval.Question, answer *approval.Answer) bool {
	verb := "refuse"
	if answer.Approved {
		verb = "approve"
	}
	err := s.recordAnswer(q, answer, "runner.approval."+verb)
	if err != nil { // an approval that is not in the record does not count
		return s.endAsked(history.Refused, fmt.Sprintf("the approval of %s cannot be recorded: %s", answer.User, err))
	}
	if !answer.Approved {
		return s.endAsked(history.Refused, s.Secrets.Source(answer.Text()))
	}
	s.Note(s.Secrets.Source(fmt.Sprintf("%s, %s", answer.Text(), q.Before())))
	return true
}

// recordAnswer stores an answer as a job of the person who gave it, within the run.
func (s *Session) recordAnswer(q *approval.Question, answer *approval.Answer, name string) error {
	jid := s.NewJID()
	id := s.Env(context.Background(), jid).ID
	args := value.Strings(q.Kind+" "+q.Name, q.Before(), s.Secrets.Source(answer.Comment))
	rec, err := s.Begin(jobs.Load{JID: jid, Fun: name, Arg: args, Tgt: id, TgtType: "list", User: answer.User, Minions: []string{id}, Runner: true, OrchJID: s.Approvals.jid})
	if err != nil {
		return err
	}
	body := value.MapOf("fun", name, "fun_args", args, "jid", jid, "return", answer.At.Format(time.RFC3339), "success", true, "user", answer.User)
	return errors.Join(rec.Return(fun.Return{ID: id, JID: jid, Body: fun.ValueBody{V: body}}), rec.End())
}

// whyStopped says why the gate of the session lets nothing begin; "": it was not asked to.
func (s *Session) whyStopped() string {
	if why := s.LockLost(); why != "" {
		return why
	}
	a := s.Approvals
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.why
}

// AskedEnd returns how a question ended the run, as a status of the history, and why; "":
// none did.
func (s *Session) AskedEnd() (status, why string) {
	a := s.Approvals
	if a == nil {
		return "", ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended, a.why
}

// askedStatus is the status of a run of the history that a question ended; "": by its return.
func (s *Session) askedStatus(jid string) string {
	if a := s.Approvals; a == nil || a.jid != jid {
		return ""
	}
	status, _ := s.AskedEnd()
	if status == history.Waiting {
		return history.Interrupted // another run of the entry goes on
	}
	return status
}
