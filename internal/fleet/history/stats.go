package history

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"time"
)

// Stats sum up executions.
type Stats struct {
	Executions int
	ByStatus   map[string]int
	Rate       float64 // of those that ended, how many succeeded, from 0 to 1; -1: none ended
	Durations  Percentiles
	Names      []NameStats // by name
	Steps      []StepStats // of the executions of one name, in their order
	Hosts      []HostStats // by id
	Flaky      []HostStats // those that succeeded and failed at the same step, the worst first
}

// Percentiles of durations.
type Percentiles struct {
	N             int
	P50, P90, P99 time.Duration
	Max           time.Duration
}

// NameStats are those of one name.
type NameStats struct {
	Kind, Name string
	Executions int
	Succeeded  int
	Rate       float64
	Durations  Percentiles
}

// StepStats are those of one step.
type StepStats struct {
	Order      int
	ID         string
	OK, Failed int
	Durations  Percentiles
}

// HostStats are those of one target. Only steps that ended count.
type HostStats struct {
	Host       string
	OK, Failed int // steps; those without a return count as failed
	Durations  Percentiles
	// FlakySteps are how many steps the target has succeeded and failed at, among
	// executions of the same definition.
	FlakySteps int
}

// percentiles sorts durations.
func percentiles(all []time.Duration) Percentiles {
	p := Percentiles{N: len(all)}
	if p.N == 0 {
		return p
	}
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(math.Ceil(q*float64(p.N)))-1] }
	p.P50, p.P90, p.P99, p.Max = at(0.5), at(0.9), at(0.99), all[p.N-1]
	return p
}

func rate(ok, all int) float64 {
	if all == 0 {
		return -1
	}
	return float64(ok) / float64(all)
}

// Stats sums up the executions that a query chooses. Those in test mode do not
// count.
func (s *Store) Stats(ctx context.Context, q Query) (*Stats, error) {
	all, err := s.Executions(ctx, q)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e Execution) bool { return e.Test })
	st := &Stats{Executions: len(all), ByStatus: map[string]int{}}
	type group struct {
		stats *NameStats
		ended int
		took  []time.Duration
	}
	names := map[string]*group{}
	var took []time.Duration
	ended := 0
	of := map[string]string{} // hash by jid
	for i := range all {
		e := &all[i]
		st.ByStatus[e.Status]++
		g := names[e.Kind+" "+e.Name]
		if g == nil {
			g = &group{stats: &NameStats{Kind: e.Kind, Name: e.Name}}
			names[e.Kind+" "+e.Name] = g
		}
		g.stats.Executions++
		of[e.JID] = e.Definition
		if e.Status == Running || e.Status == Unfinished || e.Status == Waiting {
			continue
		}
		ended++
		g.ended++
		if e.Status == Succeeded {
			g.stats.Succeeded++
		}
		if d := e.Duration(); d > 0 {
			took, g.took = append(took, d), append(g.took, d)
		}
	}
	st.Rate, st.Durations = rate(st.ByStatus[Succeeded], ended), percentiles(took)
	for _, k := range slices.Sorted(maps.Keys(names)) {
		g := names[k]
		g.stats.Rate, g.stats.Durations = rate(g.stats.Succeeded, g.ended), percentiles(g.took)
		st.Names = append(st.Names, *g.stats)
	}
	if len(names) == 1 {
		if st.Steps, err = s.stepStats(ctx, of); err != nil {
			return nil, err
		}
	}
	return st, s.hostStats(ctx, st, of)
}

// within calls each for the rows of a query about executions, some at a time.
func (s *Store) within(ctx context.Context, of map[string]string, each func(*sql.Rows) error, query string) error {
	for part := range slices.Chunk(slices.Sorted(maps.Keys(of)), 500) {
		args := make([]any, len(part))
		for i, j := range part {
			args[i] = j
		}
		if err := s.rows(ctx, each, query+" WHERE jid IN "+s.d.marks(0, len(part)), args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) stepStats(ctx context.Context, of map[string]string) ([]StepStats, error) {
	type group struct {
		StepStats
		took []time.Duration
	}
	groups := map[string]*group{}
	err := s.within(ctx, of, func(r *sql.Rows) error {
		var order int
		var id, result string
		var took float64
		if err := r.Scan(&order, &id, &result, &took); err != nil {
			return err
		}
		if result == Pending {
			return nil
		}
		g := groups[id]
		if g == nil {
			g = &group{}
			groups[id] = g
		}
		g.Order, g.ID = order, id
		if result == Bad {
			g.Failed++
		} else {
			g.OK++
		}
		g.took = append(g.took, seconds(took))
		return nil
	}, "SELECT step_order, step_id, result, duration FROM "+executionSteps.name)
	var out []StepStats
	for _, g := range groups {
		g.Durations = percentiles(g.took)
		out = append(out, g.StepStats)
	}
	slices.SortFunc(out, func(a, b StepStats) int { return cmp.Or(a.Order-b.Order, cmp.Compare(a.ID, b.ID)) })
	return out, err
}

func (s *Store) hostStats(ctx context.Context, st *Stats, of map[string]string) error {
	type step struct {
		hash  string
		order int
	}
	type group struct {
		HostStats
		took  []time.Duration
		steps map[step]uint8 // 1: it succeeded, 2: it failed, 3: both
	}
	groups := map[string]*group{}
	err := s.within(ctx, of, func(r *sql.Rows) error {
		var jid, host, result sql.RawBytes
		var order int
		var took float64
		if err := r.Scan(&jid, &order, &host, &result, &took); err != nil {
			return err
		}
		if order <= 0 {
			return nil // nobody knows which step it belongs to, or it was tried again
		}
		g := groups[string(host)]
		if g == nil {
			g = &group{HostStats: HostStats{Host: string(host)}, steps: map[step]uint8{}}
			groups[g.Host] = g
		}
		at := step{of[string(jid)], order}
		if string(result) == OK {
			g.OK++
			g.steps[at] |= 1
		} else {
			g.Failed++
			g.steps[at] |= 2
		}
		g.took = append(g.took, seconds(took))
		return nil
	}, "SELECT jid, step_order, host, result, duration FROM "+executionHosts.name)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		g := groups[id]
		for _, x := range g.steps {
			if x == 3 {
				g.FlakySteps++
			}
		}
		g.Durations = percentiles(g.took)
		st.Hosts = append(st.Hosts, g.HostStats)
		if g.FlakySteps > 0 {
			st.Flaky = append(st.Flaky, g.HostStats)
		}
	}
	slices.SortStableFunc(st.Flaky, func(a, b HostStats) int { return b.Failed - a.Failed })
	return nil
}
