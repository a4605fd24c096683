package session

import (
	"brine/internal/core/fun"
	"brine/internal/fleet/facts"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// factual returns a record that also keeps the grains that hosts return, for the inventory,
// where the job is to ask for them.
func (s *Session) factual(l jobs.Load, rec jobs.Record) jobs.Record {
	if rec == nil || l.Fun != facts.Function || l.Runner {
		return rec
	}
	return &factRecord{rec, s, l.JID}
}

type factRecord struct {
	jobs.Record
	s   *Session
	jid string
}

// Unwrap returns the record itself.
func (r *factRecord) Unwrap() jobs.Record { return r.Record }

// Return records an answer. The job goes on if the inventory cannot be kept up to date.
func (r *factRecord) Return(ret fun.Return) error {
	if ret.Body != nil && ret.Success() {
		v, err := ret.Value()
		if grains, ok := v.(*value.Map); ok && err == nil {
			r.s.Doubt(facts.New(r.s.App.Host, r.s.Cfg.CacheDir).Put(ret.ID, r.jid, r.s.App.Host.Now(), grains))
		}
	}
	return r.Record.Return(ret)
}
