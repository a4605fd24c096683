package fleet

import (
	"context"
	"sort"
	"sync"

	"brine/internal/fun"
)

// A Starter is a Provider whose machines may go down and come back while a run
// lasts.
type Starter interface {
	// Step notes that a step begins.
	Step()
	// Watched and Starts are as in fun.Starter.
	Watched(ids []string, fresh bool) []string
	Starts(ctx context.Context, ids []string, fresh bool, each func(fun.Start)) []fun.Late
}

// step tells the providers that a step begins.
func (f *Fleet) step() {
	for _, p := range f.Providers {
		if s, ok := p.(Starter); ok {
			s.Step()
		}
	}
}

// starters returns the ids of each provider that can tell of starts.
func (f *Fleet) starters(ctx context.Context, ids []string) map[Starter][]string {
	_, owner, err := f.owners(ctx)
	if err != nil {
		return nil
	}
	by := map[Starter][]string{}
	for _, id := range ids {
		if s, ok := owner[id].(Starter); ok {
			by[s] = append(by[s], id)
		}
	}
	return by
}

// Watched returns those of ids whose start can be told; see [fun.Starter].
// Machines in this process do not start by themselves.
func (f *Fleet) Watched(ctx context.Context, ids []string, fresh bool) []string {
	var out []string
	for s, ids := range f.starters(ctx, ids) {
		out = append(out, s.Watched(ids, fresh)...)
	}
	sort.Strings(out)
	return out
}

// Starts waits for the starts of machines; see [fun.Starter].
func (f *Fleet) Starts(ctx context.Context, ids []string, fresh bool, each func(fun.Start)) []fun.Late {
	var (
		mu   sync.Mutex
		late []fun.Late
		wg   sync.WaitGroup
	)
	_, owner, err := f.owners(ctx)
	if err != nil {
		return nil
	}
	prepare(ctx, ids, owner)
	for s, ids := range f.starters(ctx, ids) {
		wg.Go(func() {
			l := s.Starts(ctx, ids, fresh, func(st fun.Start) {
				mu.Lock()
				defer mu.Unlock()
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
