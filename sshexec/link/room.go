package link

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// What returns may take in memory once they are read, in bytes: an estimate
// that is rather too high.
const (
	// maxCost is for one return.
	maxCost = 192 << 20
	// smallCost is what a return may always take: those of targets that say what
	// is usual come through, however many others say too much.
	smallCost = 1 << 20
	// largeCost is what is given back at once.
	largeCost = 32 << 20
	// defaultReturns is for the larger returns of a job together.
	defaultReturns = 256 << 20
	// defaultPartial limits the reported states of running runs, of all
	// connections together; smallPartial is what each may always report.
	defaultPartial = 32 << 20
	smallPartial   = 256 << 10
	// keepRooms is of how many jobs that is counted.
	keepRooms = 256
)

// A room counts what the returns of jobs take.
type room struct {
	limit int64 // 0 is defaultReturns

	mu     sync.Mutex
	byJob  map[string]int64
	newest []string

	parsing sync.Mutex // one large return at a time is read

	partial int64 // bytes of reported states that may still be needed
}

// more reports whether a run that has reported have bytes may keep n more.
func (r *room) more(have, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have+n > smallPartial && r.partial+n > defaultPartial {
		return false
	}
	r.partial += n
	return true
}

// less gives back what more took.
func (r *room) less(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial -= n
}

// errRefused says that what a target returned is not taken.
var errRefused = errors.New("the return is refused")

// costOf reads a return and says how much memory it takes.
func costOf(body fun.Body) (int64, error) {
	f, err := body.Open()
	if err != nil {
		return 0, err
	}
	var text strings.Builder
	text.Grow(int(body.Size()))
	_, err = io.Copy(&text, f)
	_ = f.Close()
	if err != nil {
		return 0, err
	}
	_, cost, err := value.ParseJSONWithin(text.String(), maxCost)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errRefused, err)
	}
	return cost, nil
}

// take checks the return of a job: that it is one document, and how much it
// takes. A return that is refused is not kept.
func (r *room) take(jid string, body fun.Body, spill int64) error {
	if body.Size() > spill {
		r.parsing.Lock()
		defer r.parsing.Unlock()
	}
	cost, err := costOf(body)
	if body.Size() > spill && (err != nil || cost > largeCost) {
		// What was read is garbage now, and the next one must not come on top of it.
		runtime.GC()
	}
	if err != nil {
		return err
	}
	if cost <= smallCost {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := r.limit
	if limit <= 0 {
		limit = defaultReturns
	}
	if r.byJob[jid]+cost > limit {
		return fmt.Errorf("%w: the returns of this job take more than %d MiB of memory (ssh_max_returns)", errRefused, limit>>20)
	}
	if r.byJob == nil {
		r.byJob = map[string]int64{}
	}
	if _, known := r.byJob[jid]; !known {
		if len(r.newest) >= keepRooms {
			delete(r.byJob, r.newest[0])
			r.newest = r.newest[1:]
		}
		r.newest = append(r.newest, jid)
	}
	r.byJob[jid] += cost
	return nil
}
