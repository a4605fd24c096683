package trial

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/view/trial"
)

// How often files are looked at, and how long they must stay as they are before a test
// begins: editors write several files.
const (
	watchEvery = 100 * time.Millisecond
	watchQuiet = 300 * time.Millisecond
)

// A watcher tests cases again when their files change.
type watcher struct {
	o    *options
	a    *app.App
	tree string
	dirs []string
	seen map[string]trial.Stamp
	// results are those of the last test of each job, and uses what it was compiled from.
	results, uses map[string]*trial.Result
	fault         string // why the last round tested nothing; "": it did not fail
}

// watch tests the selected cases, and those that a change touches again, until Ctrl-C.
func (o *options) watch(ctx context.Context, a *app.App, tree string) error {
	x := &watcher{o: o, a: a, tree: tree, dirs: []string{tree}, results: map[string]*trial.Result{}, uses: map[string]*trial.Result{}}
	x.seen = x.look()
	var changed []string
	for {
		tested, err := x.round(ctx, changed)
		if err != nil && ctx.Err() != nil { // a test was interrupted
			return explain(err)
		}
		again := err != nil && err.Error() == x.fault
		x.fault = ""
		if err != nil {
			x.fault = err.Error()
			clear(x.results)
		}
		if err != nil && !again {
			// It may be mended by the next change.
			_, hint := app.Classify(err)
			app.PrintError(a.Err, err, hint)
		}
		// A change that touches nothing is passed over: what is said may go to a
		// file of the tree, and would be the next change.
		if tested || err != nil && !again {
			fmt.Fprintf(a.Err, "brine: waiting for changes of %s; Ctrl-C ends\n", printable.Line(a.NameOf(tree)))
		}
		if changed = x.wait(ctx); changed == nil {
			a.Intr.Drain.Store(false) // this Ctrl-C interrupts nothing: the status is that of the tests
			return x.status()
		}
	}
}

// look returns the files as they are; reports of brine itself are none of them.
func (x *watcher) look() map[string]trial.Stamp {
	seen := trial.Snapshot(x.dirs)
	for _, path := range x.o.reports {
		if abs, err := filepath.Abs(path); err == nil {
			delete(seen, abs)
		}
	}
	return seen
}

// wait waits until files have changed and stay as they are, and returns them; nil: ctx
// ended.
func (x *watcher) wait(ctx context.Context) []string {
	now, since := x.seen, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
		next := x.look()
		if len(trial.Changed(now, next)) > 0 {
			now, since = next, time.Now()
			continue
		}
		changed := trial.Changed(x.seen, now)
		if len(changed) > 0 && time.Since(since) >= watchQuiet {
			x.seen = now
			return changed
		}
	}
}

// round tests the cases that changes touch, and reports whether there are some; nil changes:
// all.
func (x *watcher) round(ctx context.Context, changed []string) (tested bool, err error) {
	w, suite, jobs, err := x.o.matrix(x.a, x.tree)
	if err != nil {
		return false, err
	}
	if dirs := w.Dirs(suite); !slices.Equal(dirs, x.dirs) {
		x.dirs = dirs
		x.seen = x.look()
	}
	compiled, err := trial.Compile(ctx, w, jobs, false)
	if err != nil {
		return false, err
	}
	var chosen []trial.Job
	var results []*trial.Result
	for _, r := range compiled {
		if x.touched(r, changed) {
			chosen, results = append(chosen, r.Job), append(results, r)
		}
		x.uses[r.Name()] = r
	}
	if len(chosen) == 0 {
		return false, nil
	}
	if len(changed) > 0 {
		fmt.Fprintf(x.a.Err, "brine: changed: %s\n", printable.Line(x.names(changed)))
	}
	if !x.o.compile {
		if results, err = x.o.apply(ctx, x.a, w, chosen); err != nil {
			return false, err
		}
	}
	for _, r := range results {
		x.results[r.Name()] = r
	}
	r := &trial.Report{Suite: suite, Name: x.a.NameOf, Results: results}
	x.a.Printed = false
	if err := x.o.report(x.a, r); err != nil && !r.Failed() {
		return false, err
	}
	return true, nil
}

// touched reports whether a job is to be tested: for the first time, or since a file
// changed that it uses or used.
func (x *watcher) touched(r *trial.Result, changed []string) bool {
	before := x.uses[r.Name()]
	return x.results[r.Name()] == nil || before == nil || r.Uses(changed) || before.Uses(changed) ||
		slices.ContainsFunc(changed, func(path string) bool { return x.a.NameOf(path) == r.Case.Pos.File })
}

// shownChanges is how many changed files are named.
const shownChanges = 5

func (x *watcher) names(changed []string) string {
	var names []string
	for _, path := range changed[:min(len(changed), shownChanges)] {
		names = append(names, x.a.NameOf(path))
	}
	text := strings.Join(names, ", ")
	if more := len(changed) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// status is that of the last test of each job.
func (x *watcher) status() error {
	if len(x.results) == 0 {
		return app.Silent(app.ExitGeneric) // the cases cannot be read
	}
	for _, r := range x.results {
		if r.Failed() {
			return app.Silent(app.ExitGeneric)
		}
	}
	return nil
}
