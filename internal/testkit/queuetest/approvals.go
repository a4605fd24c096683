package queuetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/queue"
)

// approvals: the answer to the question of an entry is there for whatever worker takes it,
// the first one counts, and it holds for what was asked about alone.
func (x *tester) approvals(open func() *queue.Store) {
	x.Helper()
	jid := x.put("approvals")
	q := approval.Question{JID: jid, Run: jid, Kind: "chain", Name: "friday", Point: approval.Start, User: "zoe", What: []string{"é ' \" \\ ? $1 \U0001f9c2"}, Definition: "d1", Queued: true, Key: []byte("key")}
	ask := func(s *queue.Store, definition string) *approval.Answer {
		x.Helper()
		q.Definition = definition
		a, err := s.Ask(x.Context(), q)
		x.must(err)
		return a
	}
	if a := ask(x.s, "d1"); a != nil {
		x.Errorf("a new question has the answer %v", a)
	}
	all, err := x.s.Approvals(x.Context(), jid)
	if err != nil || len(all) != 1 || !all[0].Waits() || !all[0].Queued || all[0].What[0] != q.What[0] || string(all[0].Key) != "key" {
		x.Fatalf("Approvals = %+v, %v", all, err)
	}
	if _, err := x.s.Decide(x.Context(), q.ID(), "d0", approval.Answer{Approved: true, User: "bob"}); !errors.Is(err, approval.ErrAnswered) {
		x.Errorf("an answer to another definition: %v", err)
	}
	if _, err := x.s.Decide(x.Context(), "x' OR '1'='1", "", approval.Answer{Approved: true, User: "bob"}); !errors.Is(err, approval.ErrNotFound) {
		x.Errorf("an answer to a question that is not there: %v", err)
	}
	var wg sync.WaitGroup
	var first atomic.Value
	var won, late atomic.Int32
	const people = 6
	for i := range people { // each on a machine of their own
		s := open()
		wg.Go(func() {
			a := approval.Answer{Approved: i%2 == 0, User: fmt.Sprintf("user%d", i)}
			switch _, err := s.Decide(x.Context(), q.ID(), "d1", a); {
			case err == nil:
				won.Add(1)
				first.Store(a.User)
			case errors.Is(err, approval.ErrAnswered):
				late.Add(1)
			default:
				x.Errorf("Decide: %v", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || late.Load() != people-1 {
		x.Fatalf("%d answers count, %d come too late", won.Load(), late.Load())
	}
	if a := ask(open(), "d1"); a == nil || a.User != first.Load() {
		x.Errorf("another worker finds the answer %+v, and not that of %v", a, first.Load())
	}
	if a := ask(x.s, "d2"); a != nil {
		x.Errorf("the tree has changed, and the answer is %v", a)
	}
	_, err = x.s.Cancel(x.Context(), jid)
	x.must(err)
	if _, err := x.s.Decide(x.Context(), q.ID(), "", approval.Answer{Approved: true, User: "bob"}); !errors.Is(err, approval.ErrAnswered) || !strings.Contains(err.Error(), "the run has ended") {
		x.Errorf("an answer for an entry that was cancelled: %v", err)
	}
	// What somebody else wrote is an error, and no answer.
	other := x.put("approvals")
	q.JID = other
	ask(x.s, "d1")
	x.exec("UPDATE brine_approvals SET answer = '{\"approved\": true, \"user\": \"eve\"}' WHERE jid = '" + other + "'")
	if e, err := x.s.Approval(x.Context(), q.ID()); err != nil || e.Answer != nil {
		x.Errorf("an answer without a definition: %+v, %v", e, err)
	}
	x.exec("UPDATE brine_approvals SET question = '{}' WHERE jid = '" + other + "'")
	if e, err := x.s.Approval(x.Context(), q.ID()); err == nil {
		x.Errorf("a question without content: %+v", e)
	}
	x.exec("DELETE FROM brine_queue WHERE jid = '" + other + "'")
	x.must(x.s.Clean(x.Context(), time.Nanosecond, 0))
	if all, err := x.s.Approvals(x.Context(), other); err != nil || len(all) != 0 {
		x.Errorf("questions of entries that were forgotten: %v, %v", all, err)
	}
}
