package session

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// staying are the jobs that nobody waits for and that are worked on in this
// process, by their jids: on which targets.
type staying struct {
	wg sync.WaitGroup

	mu   sync.Mutex
	jobs map[string][]string
}

// stay returns the fleet.Fleet.Stay of the session: the process ends when such
// jobs have.
func (st *staying) stay(ctx context.Context) func(jid string, ids []string, work func(context.Context)) {
	return func(jid string, ids []string, work func(context.Context)) {
		st.mu.Lock()
		if st.jobs == nil {
			st.jobs = map[string][]string{}
		}
		st.jobs[jid] = ids
		st.mu.Unlock()
		st.wg.Go(func() {
			work(ctx)
			st.mu.Lock()
			defer st.mu.Unlock()
			delete(st.jobs, jid)
		})
	}
}

// wait waits for those jobs, and says so on w where it takes a while.
func (st *staying) wait(w io.Writer) {
	say := time.AfterFunc(time.Second, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		for _, jid := range slices.Sorted(maps.Keys(st.jobs)) {
			fmt.Fprintf(w, "brine: job %s still works on %s, in this process, which ends when it has (Ctrl-C twice ends it)\n", jid, strings.Join(st.jobs[jid], ", "))
		}
	})
	defer say.Stop()
	st.wg.Wait()
}
