package assembly

import (
	"context"
	"fmt"

	"brine/internal/fleet/jobs"
)

// An asideStore is a store of jobs that knows which returns it was not given, since
// they were put aside.
type asideStore struct {
	jobs.Store
	name, dir string
}

// Job returns a job with a word on each return that was put aside.
func (s asideStore) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	j, err := s.Store.Job(ctx, jid)
	if err != nil {
		return nil, err
	}
	rows, err := jobs.Aside(s.dir)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Data.Str("jid") != jid {
			continue
		}
		if j == nil {
			j = jobs.NewJob(jid, nil)
		}
		id := r.Data.Str("id")
		switch {
		case r.Kind == "load" && j.Load.Len() == 0:
			j.Load = r.Data
		case r.Kind == "return" && (!j.Returns.Has(id) || j.Unread[id] != ""):
			known := r.Data.Copy()
			known.Delete("return")
			j.Got(id, known)
			j.Cut(id, fmt.Sprintf("its return is not in %s: %s; 'brine run returner.aside' sends it again", s.name, r.Why))
		}
	}
	return j, nil
}

// Unended returns the jobs that have not come to their end, where the store knows.
func (s asideStore) Unended(ctx context.Context) ([]*jobs.Job, error) {
	if sh, ok := s.Store.(jobs.Sharer); ok {
		return sh.Unended(ctx)
	}
	return nil, nil
}
