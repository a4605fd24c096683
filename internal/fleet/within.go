package fleet

import (
	"maps"
	"slices"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/target"
)

// Cut returns those of ids that jobs may run on, and those that Keep leaves out.
func (f *Fleet) Cut(ids []string) (kept, outside []string) {
	if f.Keep == nil {
		return ids, nil
	}
	for _, id := range ids {
		if f.Keep(id) {
			kept = append(kept, id)
		} else {
			outside = append(outside, id)
		}
	}
	return kept, outside
}

// cut takes the machines out of the targets of a job that Keep leaves out.
func (f *Fleet) cut(t *targets) {
	if f.Keep == nil {
		return
	}
	var outside []string
	t.ids, outside = f.Cut(t.ids)
	t.outside = append(t.outside, outside...)
	for id := range t.unavailable {
		if !f.Keep(id) {
			t.outside = append(t.outside, id)
			delete(t.unavailable, id)
		}
	}
	slices.Sort(t.outside)
}

// asks reports whether machines may have to be asked for what the target of a job matches.
func (f *Fleet) asks(job fun.Job) bool {
	m, err := target.Compile(job.Tgt, job.TgtType, f.Nodegroups)
	if err != nil {
		return false // whoever matches it says so
	}
	grains, pillar := m.Needs()
	return grains || pillar
}

// LeftOut returns the machines that jobs were for and that Keep left out, sorted.
func (f *Fleet) LeftOut() []string { return f.leftOut.all() }

// Ran reports whether a job had targets.
func (f *Fleet) Ran() bool {
	f.leftOut.mu.Lock()
	defer f.leftOut.mu.Unlock()
	return f.leftOut.ran
}

// A leftOut collects the ids that jobs were for and did not run on. It is safe for
// concurrent use.
type leftOut struct {
	mu  sync.Mutex
	ids map[string]bool
	ran bool // a job had targets
}

func (l *leftOut) add(ids []string, ran bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran = l.ran || ran
	if l.ids == nil && len(ids) > 0 {
		l.ids = map[string]bool{}
	}
	for _, id := range ids {
		l.ids[id] = true
	}
}

func (l *leftOut) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.ids))
}

// beyond returns an error where a machine calls a function on others that Keep leaves
// out: without their answers, the caller would work with a part of what it asked for.
func (f *Fleet) beyond(name string, ids []string) error {
	if _, outside := f.Cut(ids); len(outside) > 0 {
		return fun.Errorf("%s would run on machines that --limit leaves out: %s", name, fun.Some(outside))
	}
	return nil
}
