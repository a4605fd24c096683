package ui

import (
	"context"
	"fmt"
	"time"

	"brine/cmd/session"
	"brine/internal/fleet/facts"
	"brine/internal/py/value"
)

// Facts returns what hosts last said of themselves; see [ui.Backend].
func (b *backend) Facts(ctx context.Context, ids []string) (out map[string]*facts.Facts, faults []error, err error) {
	err = b.session(ctx, func(s *session.Session) error {
		st := facts.New(s.App.Host, s.Cfg.CacheDir)
		out = make(map[string]*facts.Facts, len(ids))
		for _, id := range ids {
			f, err := st.Get(id)
			if err != nil {
				faults = append(faults, err)
			}
			if f != nil {
				out[id] = f
			}
		}
		return ctx.Err()
	})
	return out, faults, err
}

// seenFacts are the facts that a target is matched by.
type seenFacts struct {
	store   *facts.Store
	hosts   int
	damaged int
	oldest  time.Time
}

// grains returns the grains of a host; nil where none are kept.
func (x *seenFacts) grains(id string) *value.Map {
	f, err := x.store.Get(id)
	if err == nil && f == nil {
		return nil
	}
	var all *value.Map
	if err == nil {
		all, err = f.Grains()
	}
	if err != nil {
		x.damaged++
		return nil
	}
	if x.hosts++; x.oldest.IsZero() || f.At.Before(x.oldest) {
		x.oldest = f.At
	}
	return all
}

// text says how old they are.
func (x *seenFacts) text(now time.Time) string {
	out := "Matched by kept facts; no host was asked."
	if x.hosts > 0 {
		out += fmt.Sprintf(" The oldest of them were read at %s UTC, %s ago.", x.oldest.Format(time.DateTime), now.Sub(x.oldest).Round(time.Second))
	}
	if x.damaged > 0 {
		out += fmt.Sprintf(" Those of %d hosts are damaged and were not used.", x.damaged)
	}
	return out
}
