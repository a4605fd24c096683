package salt

import (
	"context"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A verdict is what a step makes of the return of a target.
type verdict struct {
	v    value.Value
	good bool
	err  error
}

// judging judges each return once, one at a time, when it comes: what is recorded of it
// is what the step makes of it.
type judging struct {
	judge func(ctx context.Context, r fun.Return) verdict

	mu   sync.Mutex
	seen map[string]verdict // what was judged early
}

// early judges a return that has just come.
func (j *judging) early(ctx context.Context, r fun.Return) verdict {
	j.mu.Lock()
	defer j.mu.Unlock()
	v := j.judge(ctx, r)
	if j.seen == nil {
		j.seen = map[string]verdict{}
	}
	j.seen[r.ID] = v
	return v
}

// of returns the verdict on a return, and forgets it.
func (j *judging) of(ctx context.Context, r fun.Return) verdict {
	j.mu.Lock()
	defer j.mu.Unlock()
	v, ok := j.seen[r.ID]
	if !ok {
		return j.judge(ctx, r)
	}
	delete(j.seen, r.ID)
	return v
}

// nobody reports whether the step had no targets.
func (r *returns) nobody() bool {
	return len(r.all) == 0 && r.halt == nil && len(r.sum.Passed) == 0
}

// passedOver is the return of a step whose targets --limit leaves out, all of them: it did
// nothing, and what requires it goes on, as it does for targets within the limit. ok is
// false for any other step.
func (r *returns) passedOver() (ret fun.Ret, ok bool) {
	if !r.nobody() || len(r.sum.Outside) == 0 {
		return ret, false
	}
	return notRun("no target is within --limit. ", r.sum.Outside), true
}

// notRun is the return of a step that --limit leaves without anything to do, which reports
// tell apart from one that succeeded: see [cause.NotRun].
func notRun(why string, outside []string) fun.Ret {
	extra := value.MapOf("outside", value.Strings(outside...), cause.NotRunKey, true)
	return fun.Ret{Result: fun.OK, Comment: "Not run: " + why + outsideText(outside), Extra: extra}
}

// noteOutside puts the targets that --limit leaves out into the step's own return, and
// returns what its comment says of them.
func (r *returns) noteOutside(extra *value.Map) string {
	if len(r.sum.Outside) == 0 {
		return ""
	}
	extra.Set("outside", value.Strings(r.sum.Outside...))
	return outsideText(r.sum.Outside)
}

// outsideText names targets that --limit leaves out.
func outsideText(ids []string) string { return "Outside --limit: " + fun.Some(ids) + "." }

// lines joins the lines of a comment that say something.
func lines(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "\n")
}
