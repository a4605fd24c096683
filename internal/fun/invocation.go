package fun

import "brine/internal/source"

// An InvocationError is Salt's SaltInvocationError: the function refused its
// arguments, and Msg says why.
type InvocationError struct {
	Msg string
	Arg string     // the argument whose value is wrong; "" where it is not about one
	Pos source.Pos // where that was written, if known
}

// Error returns why, as str(exception).
func (e *InvocationError) Error() string { return e.Msg }

// An UnlistedError is a target of a list that no roster has.
type UnlistedError struct{ ID, Hint string }

func (e *UnlistedError) Error() string { return e.ID + " is not in the roster" + e.Hint }

// A TargetError says that a target expression is not valid. Fleets return
// it; nothing was run.
type TargetError struct{ Err error }

func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the expression.
func (e *TargetError) Unwrap() error { return e.Err }
