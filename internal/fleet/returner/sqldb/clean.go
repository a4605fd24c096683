package sqldb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// chunk is how many rows one transaction of a clean-up takes: no other writer
// waits long for it.
const chunk = 500

// Clean removes what is older than keep: loads, returns and events. With
// archive the rows go to tables of the same names with _archive.
// Salt: returners/mysql.py clean_old_jobs, returners/pgjsonb.py.
func (s *store) Clean(ctx context.Context, keep time.Duration, archive bool) error {
	if archive {
		for _, t := range []string{"jids", "salt_returns", "salt_events"} {
			if _, err := s.db.ExecContext(ctx, fmt.Sprintf(s.d.archive, t+"_archive", t)); err != nil {
				return err
			}
		}
	}
	for _, step := range []func(context.Context, time.Duration, bool) (bool, error){s.cleanJobs, s.cleanLoads, s.cleanEvents} {
		for more := true; more; {
			var err error
			if more, err = step(ctx, keep, archive); err != nil {
				return err
			}
		}
	}
	return s.Shared().Clean(ctx, keep)
}

// cleanJobs removes the oldest jobs; more says that there may be others.
func (s *store) cleanJobs(ctx context.Context, keep time.Duration, archive bool) (more bool, err error) {
	old, args := s.d.old(keep)
	// The time is what counts; the jid, which has an index, bounds the search. A
	// day covers jids in another time zone.
	bound := jobs.JIDAt(time.Now().Add(24*time.Hour - keep))
	q := fmt.Sprintf("SELECT DISTINCT jid FROM salt_returns WHERE %s < %s AND jid < '%s' LIMIT %d", s.d.written, old, bound, chunk)
	jids, err := s.column(ctx, q, args)
	if err != nil || len(jids) == 0 {
		return false, err
	}
	in, n := s.in(len(args), len(jids)), len(jids)
	err = s.move(ctx, archive,
		removal{"salt_returns", fmt.Sprintf("%s < %s AND jid IN %s", s.d.written, old, in), append(args, jids...)},
		removal{"jids", "jid IN " + s.in(0, n) + " AND jid NOT IN (SELECT jid FROM salt_returns WHERE jid IN " + s.in(n, n) + ")", append(jids[:n:n], jids...)},
	)
	return err == nil && n == chunk, err
}

// cleanLoads removes the loads of jobs to which nothing was returned.
func (s *store) cleanLoads(ctx context.Context, keep time.Duration, archive bool) (more bool, err error) {
	q := fmt.Sprintf("SELECT jid FROM jids j WHERE jid < '%s' AND NOT EXISTS (SELECT 1 FROM salt_returns r WHERE r.jid = j.jid) LIMIT %d",
		jobs.JIDAt(time.Now().Add(-24*time.Hour-keep)), chunk)
	jids, err := s.column(ctx, q, nil)
	if err != nil || len(jids) == 0 {
		return false, err
	}
	err = s.move(ctx, archive, removal{"jids", "jid IN " + s.in(0, len(jids)), jids})
	return err == nil && len(jids) == chunk, err
}

// cleanEvents removes the oldest events.
func (s *store) cleanEvents(ctx context.Context, keep time.Duration, archive bool) (more bool, err error) {
	old, args := s.d.old(keep)
	// The oldest have the lowest ids: nothing else has to be looked at.
	q := fmt.Sprintf("SELECT id FROM (SELECT id, alter_time FROM salt_events ORDER BY id LIMIT %d) oldest WHERE alter_time < %s", chunk, old)
	ids, err := s.column(ctx, q, args)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	err = s.move(ctx, archive, removal{"salt_events", "id IN " + s.in(0, len(ids)), ids})
	return err == nil && len(ids) == chunk, err
}

func (s *store) column(ctx context.Context, query string, args []any) ([]any, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []any
	for rows.Next() {
		var x string
		if err := rows.Scan(&x); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// in is a list of n parameters after the first ones.
func (s *store) in(after, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = s.d.mark(after + i + 1)
	}
	return "(" + strings.Join(marks, ", ") + ")"
}

// A removal is rows of a table that go.
type removal struct {
	table, where string
	args         []any
}

// move removes rows in one transaction, with archive after it has copied them.
func (s *store) move(ctx context.Context, archive bool, all ...removal) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	for _, r := range all {
		if archive {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s_archive SELECT * FROM %s WHERE %s", r.table, r.table, r.where), r.args...); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+r.table+" WHERE "+r.where, r.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// answer is what tells answers of a job apart: that a target gave no return may
// be stored when its return comes after all.
func (s *store) answer(r *value.Map) string {
	if jobs.Succeeded(r) {
		return s.d.yes + " " + r.Str("id")
	}
	return s.d.no + " " + r.Str("id")
}

// answers are those of a job that are stored.
func (s *store) answers(ctx context.Context, jid string) (map[string]bool, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, success FROM salt_returns WHERE jid = "+s.d.mark(1), jid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var id, success string
		if err := rows.Scan(&id, &success); err != nil {
			return nil, err
		}
		if success == "" {
			success = s.d.no
		}
		out[success+" "+id] = true
	}
	return out, rows.Err()
}

// Unstored returns those of rets that are not stored yet: where a process was killed
// nobody knows whether the last rows that it sent arrived.
func (s *store) Unstored(ctx context.Context, rets []*value.Map) ([]*value.Map, error) {
	byJID := map[string]map[string]bool{}
	var out []*value.Map
	for _, r := range rets {
		jid := r.Str("jid")
		have, asked := byJID[jid]
		if !asked {
			var err error
			if have, err = s.answers(ctx, jid); err != nil {
				return nil, err
			}
			byJID[jid] = have
		}
		if !have[s.answer(r)] {
			out = append(out, r)
		}
	}
	return out, nil
}
