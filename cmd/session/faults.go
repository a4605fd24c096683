package session

import (
	"context"
	"errors"
	"fmt"

	"brine/cmd/app"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// CallFault words a function's error for the user.
func CallFault(name string, err error) error {
	var nf *fun.NotFoundError
	var ce *fun.CommandError
	var ie *fun.InvocationError
	switch {
	case errors.As(err, &nf):
		return err
	case errors.As(err, &ie):
		return fmt.Errorf("%s: Passed invalid arguments: %w", name, err)
	case dispatch.IsArgError(err):
		return app.UsageOf(name, err)
	case errors.Is(err, context.Canceled):
		return app.ErrInterrupted
	case errors.As(err, &ce):
		return fmt.Errorf("Error running '%s': %w", name, err)
	}
	var pe *value.PyError
	if errors.As(err, &pe) && err.Error() == pe.Msg {
		// The message of a KeyError is a key alone, and others have none.
		return fmt.Errorf("%s: %w", name, &raised{pe})
	}
	return fmt.Errorf("%s: %w", name, err)
}

// raised is an exception as the last line of Python's traceback shows it.
type raised struct{ err *value.PyError }

func (r *raised) Error() string {
	if r.err.Msg == "" {
		return r.err.Type
	}
	return r.err.Type + ": " + r.err.Msg
}

func (r *raised) Unwrap() error { return r.err }
