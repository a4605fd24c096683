package sqldb

import (
	"context"
	"slices"
	"strings"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
)

// addRecorded adds to a job what its controller recorded where several share the
// database; nil where nothing is known of the job. A database without the tables for
// that, as Salt makes it, has only the returns.
func (s *store) addRecorded(ctx context.Context, j *jobs.Job) *jobs.Job {
	sh := s.Shared()
	if r, err := sh.Run(ctx, j.JID); err == nil && r != nil {
		if j.Load.Len() == 0 {
			j.Load = r.Load // it died before it had sent that
		}
		_ = sh.Complete(ctx, j, r) // the returns count
	}
	if j.Load.Len() == 0 && j.Returns.Len() == 0 {
		return nil
	}
	return j
}

// withOpen adds to a listing how far jobs came that have not ended, and those of
// them that died before they had sent their load.
func (s *store) withOpen(ctx context.Context, from, to string, list []jobs.Entry) []jobs.Entry {
	open, err := s.Shared().Open(ctx, from, to)
	if err != nil {
		return list
	}
	for _, r := range open {
		i, there := slices.BinarySearchFunc(list, r.JID, func(e jobs.Entry, jid string) int { return strings.Compare(e.JID, jid) })
		if !there {
			list = slices.Insert(list, i, jobs.Entry{JID: r.JID, Load: r.Load})
		}
		list[i].State = r.State()
	}
	return list
}

// Unended returns jobs that have not come to their end; see [jobs.Sharer].
func (s *store) Unended(ctx context.Context) ([]*jobs.Job, error) {
	sh := s.Shared()
	if !sh.HasTables(ctx) {
		return nil, nil
	}
	open, err := sh.Open(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var out []*jobs.Job
	for _, r := range open {
		j := jobs.NewJob(r.JID, r.Load)
		j.State, j.Where, j.Silence = r.State(), r.Where(), r.Silent
		if j.State != jobs.Active {
			if r.ResumedBy != "" || r.Load.Has("orchestration_jid") {
				continue
			}
			if err := sh.Complete(ctx, j, &r); err != nil {
				return nil, err
			}
			if j.Definition == nil {
				continue // no step of it began
			}
		}
		out = append(out, j)
	}
	return out, nil
}

// Outcome finds out, by the heartbeat of its controller, what became of an execution
// without an end. Without a heartbeat the outcome is unknown.
func (s *store) Outcome(ctx context.Context, e *history.Execution) history.Outcome {
	r, err := s.Shared().Run(ctx, e.JID)
	switch {
	case err != nil || r == nil:
		return history.Outcome{Status: history.Unfinished}
	case r.State() == jobs.Active:
		return history.Outcome{Status: history.Running}
	case r.State() == jobs.Interrupted:
		return history.Outcome{Status: history.Interrupted, At: r.LastHeartbeat}
	}
	return history.Outcome{Status: history.Unfinished} // it ended: its rows are on their way
}
