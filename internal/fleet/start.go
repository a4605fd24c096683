package fleet

import (
	"context"
	"maps"
	"sort"
	"sync"

	"brine/internal/core/fun"
)

// A Starter is a Provider whose machines may go down and come back while a run
// lasts.
type Starter interface {
	// Step notes that a step begins.
	Step()
	// Watched and Starts are as in fun.Starter.
	Watched(w fun.StartWait) []string
	Starts(ctx context.Context, w fun.StartWait, each func(fun.Start)) []fun.Late
}

// step tells the providers that a step begins.
func (f *Fleet) step() {
	for _, p := range f.providers() {
		if s, ok := p.(Starter); ok {
			s.Step()
		}
	}
}

// starters returns, by provider, the ids of the machines whose starts it can
// report.
func (f *Fleet) starters(w fun.StartWait, owner map[string]Provider) map[Starter]fun.StartWait {
	by := map[Starter]fun.StartWait{}
	for _, id := range w.IDs {
		if s, ok := owner[id].(Starter); ok {
			part, known := by[s]
			if !known {
				part = w
				part.IDs = nil
			}
			part.IDs = append(part.IDs, id)
			by[s] = part
		}
	}
	return by
}

// Watched returns those of ids whose start can be told; see [fun.Starter].
// Machines in this process do not start by themselves.
func (f *Fleet) Watched(ctx context.Context, w fun.StartWait) []string {
	_, owner, err := f.owners(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for s, part := range f.starters(w, owner) {
		out = append(out, s.Watched(part)...)
	}
	sort.Strings(out)
	return out
}

// Starts waits for the starts of machines; see [fun.Starter].
func (f *Fleet) Starts(ctx context.Context, w fun.StartWait, each func(fun.Start)) []fun.Late {
	var (
		mu   sync.Mutex
		late []fun.Late
		wg   sync.WaitGroup
	)
	_, owner, err := f.owners(ctx)
	if err != nil {
		return nil
	}
	prepare(ctx, w.IDs, owner)
	// Whoever watches sees the wait as a job whose targets are connected to.
	job := fun.Job{JID: "starts " + f.askJID(), Fun: "salt.wait_for_event", Step: w.Step}
	watch := f.watcher()
	watch.Begin(job, w.IDs)
	defer watch.End(job.JID)
	for _, id := range w.IDs {
		watch.At(job.JID, id, Connecting)
	}
	for s, part := range f.starters(w, owner) {
		wg.Go(func() {
			l := s.Starts(ctx, part, func(st fun.Start) {
				mu.Lock()
				defer mu.Unlock()
				watch.Done(fun.Return{ID: st.ID, JID: job.JID})
				each(st)
			})
			mu.Lock()
			defer mu.Unlock()
			late = append(late, l...)
		})
	}
	wg.Wait()
	sort.Slice(late, func(i, j int) bool { return late[i].ID < late[j].ID })
	return late
}

// Boots returns what is known of the boots of the machines; see [fun.Rebooter].
func (f *Fleet) Boots() map[string]fun.Boot {
	out := map[string]fun.Boot{}
	for _, p := range f.providers() {
		if r, ok := p.(fun.Rebooter); ok {
			maps.Copy(out, r.Boots())
		}
	}
	return out
}

// Remember hands what another run knew of the boots to the providers.
func (f *Fleet) Remember(boots map[string]fun.Boot) {
	for _, p := range f.providers() {
		if r, ok := p.(fun.Rebooter); ok {
			r.Remember(boots)
		}
	}
}
