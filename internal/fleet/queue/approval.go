package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"brine/internal/fleet/approval"
	"brine/internal/fleet/migration"
)

// approvalTable has the questions of the runs of entries to a second person, and the
// answers: a run goes on where a worker, of whatever machine, finds the answer.
const approvalTable = "brine_approvals"

// approvalColumns are those of approvalTable. id is that of the question, jid the entry;
// question and answer are JSON, answer "" where there is none.
var approvalColumns = []string{"id key128", "jid key20", "definition key64", "question text", "answer text", "asked long"}

// approvalTables describes the table of approvals, which has a version of its own: programs
// that do not know it go on with the queue, and ask for themselves.
func (d Dialect) approvalTables() *migration.Tables {
	return &migration.Tables{
		Name: "queue_approvals", Title: "the approvals of the queue", Names: []string{approvalTable},
		Newest: d.makes(approvalTable, approvalColumns, "id", "jid: jid"),
	}
}

// Ask asks a question for the run of an entry, unless it was asked before for the same
// definition. It returns the answer; nil: there is none yet.
func (s *Store) Ask(ctx context.Context, q approval.Question) (*approval.Answer, error) {
	if err := q.Prepare(time.Now()); err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	begins, ends := s.d.insertNew()
	n, err := s.exec(ctx, s.db, begins+approvalTable+" (id, jid, definition, question, answer, asked) VALUES (?, ?, ?, ?, '', "+s.d.now()+")"+ends, q.ID(), q.JID, q.Definition, string(text))
	if err == nil && n == 0 { // who answers at this moment answers what was asked before
		_, err = s.exec(ctx, s.db, "UPDATE "+approvalTable+" SET definition = ?, question = ?, answer = '', asked = "+s.d.now()+" WHERE id = ? AND definition <> ?", q.Definition, string(text), q.ID(), q.Definition)
	}
	if err != nil {
		return nil, err
	}
	e, err := s.Approval(ctx, q.ID())
	if err != nil {
		return nil, err
	}
	return e.Answer, nil
}

// Approval returns a question with its answer. It returns approval.ErrNotFound (wrapped)
// where there is none.
func (s *Store) Approval(ctx context.Context, id string) (*approval.Entry, error) {
	all, err := s.approvals(ctx, " WHERE id = ?", id)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("approval %s: %w", id, approval.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Approvals returns the questions, the newest first; those of one entry where jid is not "".
func (s *Store) Approvals(ctx context.Context, jid string) ([]*approval.Entry, error) {
	if jid != "" {
		return s.approvals(ctx, " WHERE jid = ? ORDER BY asked DESC, id DESC", jid)
	}
	return s.approvals(ctx, " ORDER BY asked DESC, id DESC")
}

// approvals returns the questions of a condition. Nobody waits any more for the answer of
// one whose entry has ended.
func (s *Store) approvals(ctx context.Context, where string, args ...any) (out []*approval.Entry, err error) {
	state := "COALESCE((SELECT state FROM " + table + " entry WHERE entry.jid = " + approvalTable + ".jid), '')"
	// Texts that are too large are not even read.
	question := fmt.Sprintf("CASE WHEN OCTET_LENGTH(question) + OCTET_LENGTH(answer) > %d THEN '' ELSE question END", MaxPayload)
	rows, err := s.db.QueryContext(ctx, s.d.bind("SELECT id, jid, definition, "+state+", "+question+", CASE WHEN OCTET_LENGTH(answer) > "+fmt.Sprint(MaxPayload)+" THEN '' ELSE answer END FROM "+approvalTable+where), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, jid, definition, state, question, answer string
		if err := rows.Scan(&id, &jid, &definition, &state, &question, &answer); err != nil {
			return nil, err
		}
		e, err := approvalOf(id, question, answer)
		if err == nil && (e.JID != jid || e.Definition != definition) {
			err = errors.New("its columns are not those of its question")
		}
		if err != nil {
			return nil, fmt.Errorf("the approval %q of the queue: %w", cut(id, maxText), err)
		}
		e.Lost = e.Answer == nil && state != Queued && state != Running
		out = append(out, e)
	}
	return out, rows.Err()
}

// approvalOf reads a row.
func approvalOf(id, question, answer string) (*approval.Entry, error) {
	q, err := approval.ParseQuestion(id, []byte(question))
	if err != nil {
		return nil, err
	}
	q.Queued = true
	e := &approval.Entry{Question: *q}
	if answer == "" {
		return e, nil
	}
	a, err := approval.ParseAnswer([]byte(answer))
	if err != nil {
		return nil, err
	}
	if a.Definition == q.Definition {
		e.Answer = a
	}
	return e, nil
}

// Decide answers a question for somebody who may: see [approval.Question.May] and
// [approval.Entry.Accept]. Of two who answer at once, the first one counts.
func (s *Store) Decide(ctx context.Context, id, definition string, a approval.Answer) (*approval.Entry, error) {
	e, err := s.Approval(ctx, id)
	if err == nil {
		err = e.Accept(definition, &a, time.Now())
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	n, err := s.exec(ctx, s.db, "UPDATE "+approvalTable+" SET answer = ? WHERE id = ? AND answer = '' AND definition = ?", string(text), id, e.Definition)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, approval.ErrSecond
	}
	e.Answer = &a
	return e, nil
}

// cleanApprovals forgets the questions of entries that were forgotten.
func (s *Store) cleanApprovals(ctx context.Context, keep time.Duration) error {
	_, err := s.exec(ctx, s.db, "DELETE FROM "+approvalTable+" WHERE asked < "+s.d.now()+" - ? AND NOT EXISTS (SELECT 1 FROM "+table+" entry WHERE entry.jid = "+approvalTable+".jid)", keep.Microseconds())
	return err
}
