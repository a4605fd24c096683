package session

import (
	"context"
	"fmt"
	"slices"

	"brine/cmd/app"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
)

// NotYet returns the error of a run of a queue that cannot begin, for a reason that
// is none of the orchestration's: a later run can.
func (s *Session) NotYet(err error) error {
	if s.Queued {
		s.PutBack.Store(app.ExitNotYet)
	}
	return err
}

// Furthest has the session go on with earlier runs of an entry, after the steps that
// succeeded. Runs of other machines are known where the job cache has their records.
//
// A run goes on with all earlier ones that no other run goes on with, and begins after
// the steps of the one that came furthest. What a run was gone on with by counts
// instead of it, whatever its own record has: the steps after that one's first may have
// been under way again since. It may be a run that is none of the entry's, because a
// person resumed one.
func (s *Session) Furthest(ctx context.Context, runs []string) error {
	chain, err := s.Shared.Chain(runs)
	if err != nil {
		return s.NotYet(fmt.Errorf("the records of earlier runs of the entry cannot be read: %w", err))
	}
	known := map[string]*shared.Run{}
	for i, r := range chain {
		known[r.JID] = &chain[i]
		if !slices.Contains(runs, r.JID) {
			runs = append(slices.Clip(runs), r.JID)
		}
	}
	most := 0
	for _, jid := range runs {
		r := known[jid]
		j, err := s.recordOf(ctx, jid, r)
		switch {
		case err != nil:
			return s.NotYet(err)
		case j == nil:
			continue
		case j.State == jobs.Active:
			return s.NotYet(fmt.Errorf("the run %s of the same entry has not ended yet", jid))
		case r != nil && known[r.ResumedBy] != nil:
			continue
		}
		if r != nil {
			s.claims = append(s.claims, jid)
		}
		if n := j.Prefix(); j.Definition != nil && n > 0 && n >= most {
			s.resume, most = j, n
		}
	}
	return nil
}

// recordOf returns what is recorded of a run, of which r is what controllers share:
// that of this machine, or that of the shared database where it has more steps. nil
// is that nothing is. The process of a run of this machine is known to be gone.
func (s *Session) recordOf(ctx context.Context, jid string, r *shared.Run) (*jobs.Job, error) {
	j, err := s.Files.Job(ctx, jid)
	if err != nil || r == nil || j != nil && j.State == jobs.Active {
		return j, err
	}
	other, err := s.Shared.Job(jid)
	if err != nil {
		return nil, fmt.Errorf("the record of the run %s cannot be read: %w", jid, err)
	}
	if j == nil || other != nil && other.Prefix() > j.Prefix() {
		if other != nil && j != nil {
			other.State = j.State
		}
		return other, nil
	}
	return j, nil
}
