package fun

import (
	"slices"
	"strings"

	"brine/internal/py/source"
)

// An InvocationError is Salt's SaltInvocationError: the function refused its
// arguments, and Msg says why.
type InvocationError struct {
	Msg string
	Arg string     // the argument whose value is wrong; "" where it is not about one
	Pos source.Pos // where that was written, if known
}

// Error returns why, as str(exception).
func (e *InvocationError) Error() string { return e.Msg }

// An UnlistedError is a target of a list that nobody has: neither the roster nor, of
// the fleets that were looked in, Fleets.
type UnlistedError struct {
	ID, Hint string
	Fleets   []string // "" for the roster; none: it alone
}

func (e *UnlistedError) Error() string {
	switch {
	case len(e.Fleets) == 1 && e.Fleets[0] != "":
		return e.ID + " is not in the fleet " + e.Fleets[0] + e.Hint
	case len(e.Fleets) > 1:
		where := slices.Clone(e.Fleets)
		for i, name := range where {
			where[i] = "the fleet " + name
			if name == "" {
				where[i] = "the roster"
			}
		}
		return e.ID + " is neither in " + strings.Join(where, " nor in ") + e.Hint
	}
	return e.ID + " is not in the roster" + e.Hint
}

// A TargetError says that a target expression is not valid. Fleets return
// it; nothing was run.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the expression.
func (e *TargetError) Unwrap() error { return e.Err }
