package dispatch

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
)

// maxNested bounds how deep functions call functions. Python's own bound stops
// Salt long before: what is nested so deep runs itself, such as an orchestration
// with itself as a step.
const maxNested = 100

// A nesting is a call within the calls above it.
type nesting struct {
	name  string
	above *nesting
	depth int
}

type nestingKey struct{}

// nest returns the context for a call of name within those of ctx, or an error
// that names the innermost calls.
func nest(ctx context.Context, name string) (context.Context, error) {
	above, _ := ctx.Value(nestingKey{}).(*nesting)
	n := &nesting{name: name, above: above, depth: 1}
	if above != nil {
		n.depth += above.depth
	}
	if n.depth > maxNested {
		var last []string
		for c := n; c != nil && len(last) < 6; c = c.above {
			last = append(last, c.name)
		}
		slices.Reverse(last)
		return ctx, fun.Errorf("calls are nested more than %d deep, something runs itself: ... %s", maxNested, strings.Join(last, " -> "))
	}
	return context.WithValue(ctx, nestingKey{}, n), nil
}
