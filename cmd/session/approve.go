package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/fun"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
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
	mu         sync.Mutex // one question at a time
	sums       *assembly.TreeSums
	key        []byte                 // of the hash of the pillar
	passed     map[string]approvedFor // by the keys of the points that are behind the run
	prior      map[string]bool        // IDs of steps that an earlier run has done
	ended      string                 // history.Refused or history.Waiting: how a question ended the run
	why        string                 // in words
}

// approvedFor is what a second person approved.
type approvedFor struct {
	definition string
	tree       *assembly.TreeState
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
		a.jid, a.entry, a.passed, a.key, a.sums = jid, entry, map[string]approvedFor{}, make([]byte, 32), assembly.NewTreeSums(s.Git)
		_, _ = rand.Read(a.key) // never fails
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
// It reports whether the run may go on; open says whether it may at all. What was approved
// before the tree or the pillar changed is asked again.
func (s *Session) approved(ctx context.Context, jid, id string, open func() bool) bool {
	a := s.Approvals
	if a == nil || a.jid != jid || a.prior[id] {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.Points {
		p := &a.Points[i]
		if p.Covers != nil && !p.Covers(id) {
			continue
		}
		if a.ended != "" {
			return false
		}
		if was, ok := a.passed[p.Key]; ok {
			now, err := s.askedAbout(ctx, p)
			if err != nil {
				return s.endAsked(history.Refused, fmt.Sprintf("whether what was approved has changed is not known: %s", err))
			}
			if now.definition == was.definition {
				continue
			}
			s.Note(fmt.Sprintf("what was approved %s has changed, so it is asked again: %s", p.before(), s.Secrets.Source(strings.Join(now.tree.Changed(was.tree), ", "))))
		}
		if !s.ask(ctx, p, id, open) {
			return false
		}
	}
	return a.ended == ""
}

// before says in words what a point is before.
func (p *ApprovalPoint) before() string {
	return (&approval.Question{Point: p.Key, Step: p.Step}).Before()
}

// askedAbout is what a question is about at this moment.
func (s *Session) askedAbout(ctx context.Context, p *ApprovalPoint) (approvedFor, error) {
	a := s.Approvals
	tree, err := a.sums.State(ctx, s.Env(ctx, a.jid), s.Sources, a.key)
	if err != nil {
		return approvedFor{}, err
	}
	parts := append([]string{a.Definition, tree.Digest, tree.Revision, tree.Pillar, p.Step}, a.What...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return approvedFor{hex.EncodeToString(sum[:]), tree}, nil
}

// ask asks for one approval, and waits for the answer. The run of a queue does not wait: it
// is put back.
func (s *Session) ask(ctx context.Context, p *ApprovalPoint, id string, open func() bool) bool {
	for {
		w, err := s.wait(ctx, p)
		if err != nil {
			return s.endAsked(history.Refused, fmt.Sprintf("nobody can be asked to approve it: %s", err))
		}
		if w == nil {
			return false
		}
		again, ok := s.hear(ctx, p, id, w, open)
		if err := w.Close(); err != nil {
			s.Doubt(fmt.Errorf("the approval %s: %w", w.q.ID(), err))
		}
		if !again {
			return ok
		}
	}
}

// An approvalWait is a question that is asked, and what it is about.
type approvalWait struct {
	*approval.Wait // nil: of a queue
	q              approval.Question
	about          approvedFor
	answer         *approval.Answer // of a queue
}

// Answer returns the answer; nil: there is none yet.
func (w *approvalWait) Answer() (*approval.Answer, error) {
	if w.Wait == nil {
		return w.answer, nil
	}
	return w.Wait.Answer()
}

// Close says that the answer is not waited for any more.
func (w *approvalWait) Close() error {
	if w.Wait == nil {
		return nil
	}
	return w.Wait.Close()
}

// wait asks the question of a point. It is nil where the queue does not answer: then the
// run is put back.
func (s *Session) wait(ctx context.Context, p *ApprovalPoint) (w *approvalWait, err error) {
	a := s.Approvals
	w = &approvalWait{q: approval.Question{
		JID: a.jid, Kind: a.Kind, Name: a.Name, Point: p.Key, Step: s.Secrets.Source(p.Step), By: p.Rule.By, User: s.UserName(), Queued: a.entry != "",
	}}
	for _, text := range a.What {
		w.q.What = append(w.q.What, s.Secrets.Source(text))
	}
	if w.q.Queued {
		w.q.JID, w.q.Run = a.entry, a.jid
		down := s.inQueue(ctx, func(ctx context.Context, q *queue.Store) error {
			if e, err := q.Approval(ctx, w.q.ID()); err == nil && len(e.Key) > 0 { // so that hashes of earlier runs compare
				a.key = e.Key
			} else if err != nil && !errors.Is(err, approval.ErrNotFound) {
				return err
			}
			if err = s.about(ctx, p, w); err != nil {
				return nil
			}
			var down error
			w.answer, down = q.Ask(ctx, w.q)
			return down
		})
		if down != nil {
			s.endAsked(history.Waiting, "whether it is approved is not known: "+down.Error())
			return nil, nil
		}
		return w, err
	}
	if err := s.about(ctx, p, w); err != nil {
		return nil, err
	}
	w.Wait, err = approval.New(s.Cfg.CacheDir, s.App.Host.Now).Ask(w.q)
	return w, err
}

// about completes a question with what it is about.
func (s *Session) about(ctx context.Context, p *ApprovalPoint, w *approvalWait) (err error) {
	if w.about, err = s.askedAbout(ctx, p); err == nil {
		w.q.Definition, w.q.Tree, w.q.Key = w.about.definition, w.about.tree.Tree, s.Approvals.key
	}
	return err
}

// approvalQueueTimeout bounds how long the database of a queue is waited for.
const approvalQueueTimeout = 30 * time.Second

// inQueue does something with the queue.
func (s *Session) inQueue(ctx context.Context, do func(context.Context, *queue.Store) error) error {
	ctx, cancel := context.WithTimeout(ctx, approvalQueueTimeout)
	defer cancel()
	q, err := assembly.OpenQueue(ctx, s.Env(ctx, ""))
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, q), q.Close())
}

// hear waits for the answer to a question. It is asked again where the tree has changed
// meanwhile.
func (s *Session) hear(ctx context.Context, p *ApprovalPoint, id string, w *approvalWait, open func() bool) (again, ok bool) {
	a := s.Approvals
	for told := false; ; {
		answer, err := w.Answer()
		if err != nil {
			return false, s.endAsked(history.Refused, fmt.Sprintf("the answer to the approval cannot be read: %s", err))
		}
		if answer != nil {
			now, err := s.askedAbout(ctx, p)
			switch {
			case err != nil:
				return false, s.endAsked(history.Refused, fmt.Sprintf("whether what was approved has changed is not known: %s", err))
			case answer.Approved && now.definition != w.about.definition:
				s.Note(fmt.Sprintf("%s, but it has changed meanwhile, so it is asked again: %s", s.Secrets.Source(answer.Text()), s.Secrets.Source(strings.Join(now.tree.Changed(w.about.tree), ", "))))
				return true, false
			}
			ok := s.answered(&w.q, answer)
			a.passed[p.Key] = w.about
			return false, ok
		}
		if !told {
			told = true
			s.Note(fmt.Sprintf("waiting for an approval %s by %s: 'brine approval approve %s', or the page Approvals of brine ui", w.q.Before(), w.q.Whom(), w.q.ID()))
			if s.teller != nil {
				s.teller.asks(&w.q, id)
			}
		}
		if w.q.Queued {
			return false, s.endAsked(history.Waiting, "it waits for an approval "+w.q.Before())
		}
		if why := jobs.NewPauses(s.Cfg.CacheDir).Why(a.jid, id, s.App.Host.Now); why != "" || !open() || ctx.Err() != nil {
			return false, false
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
	args := value.Strings(q.Kind+" "+q.Name, q.Before(), s.Secrets.Source(answer.Comment), q.Tree.String())
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
