package progress

import "time"

// What became of a step, or of a host.
const (
	waiting = "waiting"
	running = "running"
	ok      = "ok"
	changed = "changed"
	would   = "would_change"
	failed  = "failed"
	notRun  = "not_run" // what it requires failed
	unknown = "unknown" // of a host: its return was not read
)

// A step is a step of an orchestration, or a state of a run.
type step struct {
	id, fun      string
	state        string
	began, ended time.Time
	hosts, bad   int // of its jobs
	jobs         []*watchedJob

	place        link[*step] // among the steps in the same state
	older, newer *step       // running steps with the same ID, by when they began
}

// The steps of a run, by what became of them. A step moves from one list to
// another when something happens to it, so that neither an event nor a frame
// costs more in a large run than in a small one.
type steps struct {
	all     int
	byTag   map[string]*step
	byID    map[string]*step // of the running steps with an ID, the one that began last
	waiting list[*step]      // in the order of the run
	running list[*step]      // in the order of their beginnings
	ended   list[*step]      // in the order of their ends
	bad     int              // of ended, how many failed
	unmet   int              // of ended, how many did not run
}

func newSteps(n int) steps {
	return steps{byTag: make(map[string]*step, n), byID: map[string]*step{}}
}

// add takes in a step that waits.
func (ss *steps) add(tag string, s *step) {
	s.state, s.place.of = waiting, s
	ss.all++
	ss.byTag[tag] = s
	ss.waiting.add(&s.place)
}

// move has s be in a state.
func (ss *steps) move(s *step, state string) {
	ss.listOf(s).remove(&s.place)
	switch s.state {
	case running:
		ss.unname(s)
	case failed:
		ss.bad--
	case notRun:
		ss.unmet--
	}
	s.state = state
	ss.listOf(s).add(&s.place)
	switch state {
	case running:
		s.older = ss.byID[s.id]
		if s.older != nil {
			s.older.newer = s
		}
		ss.byID[s.id] = s
	case failed:
		ss.bad++
	case notRun:
		ss.unmet++
	}
}

// done is how many steps ran and ended.
func (ss *steps) done() int { return ss.ended.len - ss.unmet }

func (ss *steps) listOf(s *step) *list[*step] {
	switch s.state {
	case waiting:
		return &ss.waiting
	case running:
		return &ss.running
	}
	return &ss.ended
}

// unname takes s from the running steps with its ID.
func (ss *steps) unname(s *step) {
	switch {
	case s.newer != nil:
		s.newer.older = s.older
	case s.older != nil:
		ss.byID[s.id] = s.older
	default:
		delete(ss.byID, s.id)
	}
	if s.older != nil {
		s.older.newer = s.newer
	}
	s.older, s.newer = nil, nil
}
