package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// described are the columns of a description, in the order of read.
const described = "jid, queue, version, state, sls, user_name, controller, created, due, started, ended, worker, tries, failures, runs, error, retcode, wish"

// read returns the entries of a condition, without their work; more are further
// columns, which are read into to.
func (s *Store) read(ctx context.Context, q querier, more, where string, to []any, args ...any) (out []*Entry, err error) {
	rows, err := q.QueryContext(ctx, s.d.bind("SELECT "+described+more+" FROM "+table+" WHERE "+where), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		e := &Entry{}
		var runs string
		var created, due, started, ended int64
		err := rows.Scan(append([]any{
			&e.JID, &e.Queue, &e.Version, &e.State, &e.SLS, &e.User, &e.Controller, &created, &due, &started, &ended,
			&e.Worker, &e.Tries, &e.Failures, &runs, &e.Error, &e.Retcode, &e.Requested,
		}, to...)...)
		if err != nil {
			return nil, err
		}
		if runs != "" {
			e.Runs = strings.Split(cut(runs, 2*maxRuns*len("20260102030405000006,")), ",")
		}
		e.Created, e.Due, e.Started, e.Ended = moment(created), moment(due), moment(started), moment(ended)
		for _, text := range []*string{&e.SLS, &e.User, &e.Controller, &e.Error} {
			*text = cut(*text, maxError)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// moment is a time of the database; zero for none and for never.
func moment(micros int64) time.Time {
	if micros <= 0 || micros >= 1<<61 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// A Query says which entries are listed; an empty field matches all.
type Query struct {
	Queue, State string
	Limit        int // 0 is all
}

// List returns entries, the newest first.
func (s *Store) List(ctx context.Context, q Query) ([]*Entry, error) {
	where, args := "jid <> ''", []any(nil)
	for _, c := range [][2]string{{"queue", q.Queue}, {"state", q.State}} {
		if c[1] != "" {
			where += " AND " + c[0] + " = ?"
			args = append(args, c[1])
		}
	}
	where += " ORDER BY jid DESC"
	if q.Limit > 0 {
		where += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	return s.read(ctx, s.db, "", where, nil, args...)
}

// Entry returns an entry with its work, which is nil where it was forgotten or is
// not valid. It returns ErrNone where there is none.
func (s *Store) Entry(ctx context.Context, jid string) (*Entry, error) {
	var payload string
	found, err := s.read(ctx, s.db, fmt.Sprintf(", CASE WHEN OCTET_LENGTH(payload) > %d THEN '' ELSE payload END", MaxPayload), "jid = ?", []any{&payload}, jid)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: %w", jid, ErrNone)
	}
	e := found[0]
	if w, err := ParseWork(payload); err == nil {
		e.Work = w
	}
	return e, nil
}

// Waiting returns how many entries of a queue wait, also those that wait for their
// next try. Those of other versions do not count; foreign is how many there are.
func (s *Store) Waiting(ctx context.Context, queue string) (own, foreign int, err error) {
	q := fmt.Sprintf("SELECT COALESCE(SUM(CASE WHEN %s THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN %s THEN 0 ELSE 1 END), 0) FROM %s WHERE queue = ? AND state = '%s'", versions, versions, table, Queued)
	err = s.db.QueryRowContext(ctx, s.d.bind(q), queue).Scan(&own, &foreign)
	return own, foreign, err
}

// Cancel takes an entry out of its queue, or tells its worker to end it before its
// next step. It returns the state of the entry: Cancelled, or Running where a worker
// was told, or that of one that has ended already.
func (s *Store) Cancel(ctx context.Context, jid string) (string, error) {
	n, err := s.exec(ctx, s.db, "UPDATE "+table+" SET state = ?, payload = '', due = "+never+", ended = "+s.d.now()+
		" WHERE jid = ? AND state IN ('"+strings.Join([]string{Queued, Failed, Poisoned, Refused}, "', '")+"')", Cancelled, jid)
	if err != nil {
		return "", err
	}
	if n > 0 {
		return Cancelled, nil
	}
	if _, err := s.exec(ctx, s.db, "UPDATE "+table+" SET wish = ? WHERE jid = ? AND state = '"+Running+"'", RequestCancel, jid); err != nil {
		return "", err
	}
	return s.stateOf(ctx, jid)
}

// Wake has an entry run at once that waits in its queue.
func (s *Store) Wake(ctx context.Context, jid string) error {
	_, err := s.exec(ctx, s.db, "UPDATE "+table+" SET due = "+s.d.now()+" WHERE jid = ? AND state = '"+Queued+"'", jid)
	return err
}

func (s *Store) stateOf(ctx context.Context, jid string) (state string, err error) {
	err = s.db.QueryRowContext(ctx, s.d.bind("SELECT state FROM "+table+" WHERE jid = ?"), jid).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%s: %w", jid, ErrNone)
	}
	return state, err
}

// Retry queues an entry again that failed or was set aside. Its next run goes on
// after the steps that succeeded, or where fresh is true begins again. It returns
// the state of the entry, which is Queued where this was done.
func (s *Store) Retry(ctx context.Context, jid string, fresh bool) (string, error) {
	set := "state = ?, tries = 0, failures = 0, wish = '', due = " + s.d.now()
	if fresh {
		set += ", runs = ''"
	}
	n, err := s.exec(ctx, s.db, "UPDATE "+table+" SET "+set+" WHERE jid = ? AND state IN ('"+strings.Join([]string{Failed, Poisoned, Refused}, "', '")+"')", Queued, jid)
	if err != nil {
		return "", err
	}
	if n > 0 { // a worker may have it by now
		return Queued, nil
	}
	return s.stateOf(ctx, jid)
}

// A Count is how many entries of a queue have a state. Oldest is the jid of the
// oldest one.
type Count struct {
	Queue, State string
	N            int
	Oldest       string
}

// Stats counts entries by queue and state.
func (s *Store) Stats(ctx context.Context, queue string) (out []Count, err error) {
	where, args := "", []any(nil)
	if queue != "" {
		where, args = " WHERE queue = ?", []any{queue}
	}
	rows, err := s.db.QueryContext(ctx, s.d.bind("SELECT queue, state, COUNT(*), MIN(jid) FROM "+table+where+" GROUP BY queue, state ORDER BY queue, state"), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c Count
		if err := rows.Scan(&c.Queue, &c.State, &c.N, &c.Oldest); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Workers counts the claims of workers whose leases have not ended.
func (s *Store) Workers(ctx context.Context, queue string) (map[string]int, error) {
	where, args := "state = '"+Running+"' AND due > "+s.d.now(), []any(nil)
	if queue != "" {
		where += " AND queue = ?"
		args = append(args, queue)
	}
	all, err := s.read(ctx, s.db, "", where+" ORDER BY worker", nil, args...)
	out := map[string]int{}
	for _, e := range all {
		out[e.Worker]++
	}
	return out, err
}

// Claims returns until when the leases of the entries last that workers have, by entry
// and try.
func (s *Store) Claims(ctx context.Context, queue string) (map[string]time.Time, error) {
	all, err := s.read(ctx, s.db, "", fmt.Sprintf("queue = ? AND %s AND state = '%s'", versions, Running), nil, queue)
	out := map[string]time.Time{}
	for _, e := range all {
		out[fmt.Sprintf("%s/%d", e.JID, e.Tries)] = e.Due
	}
	return out, err
}

// Clean forgets entries that ended long ago: those that are done or cancelled
// after keep, and the others after keepBad. 0 keeps them. The last entry of a schedule
// stays, since it has the result.
func (s *Store) Clean(ctx context.Context, keep, keepBad time.Duration) error {
	for _, x := range []struct {
		keep   time.Duration
		states []string
	}{{keep, []string{Done, Cancelled}}, {keepBad, []string{Failed, Poisoned, Refused}}} {
		if x.keep <= 0 {
			continue
		}
		_, err := s.exec(ctx, s.db, "DELETE FROM "+table+" WHERE state IN ('"+strings.Join(x.states, "', '")+"') AND due = "+never+" AND ended < "+s.d.now()+" - ?"+
			" AND jid NOT IN (SELECT last_jid FROM "+scheduleTable+")", x.keep.Microseconds())
		if err != nil {
			return err
		}
	}
	if keep <= 0 {
		return nil
	}
	if err := s.cleanApprovals(ctx, keep); err != nil {
		return err
	}
	_, err := s.exec(ctx, s.db, "DELETE FROM "+eventTable+" WHERE created < "+s.d.now()+" - ? AND same <> '"+reachedRow+"' AND NOT EXISTS (SELECT 1 FROM "+table+" entry WHERE entry.jid = "+eventTable+".jid)", keep.Microseconds())
	return err
}
