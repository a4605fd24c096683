package app

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/source"
)

// Exit statuses. Salt: salt/defaults/exitcodes.py, and what salt-call does.
const (
	ExitOK          = 0
	ExitGeneric     = 1   // failed states, bad SLS, a function that failed
	ExitUsage       = 64  // usage error
	ExitNotYet      = 75  // the run of a queue cannot begin yet: EX_TEMPFAIL
	ExitLocked      = 76  // another run has the lock of the run of a queue
	ExitCut         = 77  // the run of a queue had to end in its midst
	ExitWaits       = 78  // the run of a queue waits for the approval of a person
	ExitRefused     = 79  // a person refused the run
	ExitInterrupted = 130 // Ctrl-C
	ExitNoFunction  = 255 // no such function, as salt-call has it
)

// How errors look, so that all of them look alike: lower case, no full stop,
// "brine: " in front, offending text quoted; then "hint: " lines that say what
// to do.

// A StatusError ends the command with a status. Its text may be empty: then
// the report already said what is wrong.
type StatusError struct {
	Status int
	Err    error
	Hint   string
}

func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *StatusError) Unwrap() error { return e.Err }

var (
	errHelp = pflag.ErrHelp
	// ErrInterrupted ends a command that a signal ended.
	ErrInterrupted = &StatusError{Status: ExitInterrupted}
)

// Silent ends the command with a status and no message.
func Silent(status int) error {
	if status == ExitOK {
		return nil
	}
	return &StatusError{Status: status}
}

// Classify returns the status of an error, and a hint where there is one.
func Classify(err error) (status int, hint string) {
	var (
		se *StatusError
		nf *fun.NotFoundError
		ce *fun.CommandError
		pl source.Errors
		pe *source.Error
	)
	switch {
	case errors.As(err, &se):
		return se.Status, se.Hint
	case errors.As(err, &nf):
		if strings.Contains(nf.Name, ",") {
			hint = "one function is called at a time; 'brine salt' takes several, as salt does"
		} else if hint = nf.Hint(); nf.Nearest != "" {
			hint += " 'brine functions' lists all functions"
		} else if hint == "" && nf.Reason == "" {
			hint = "'brine functions' lists all functions"
		}
		return ExitNoFunction, hint
	case errors.As(err, &pl):
		for _, e := range pl {
			if e.Hint != "" {
				return ExitGeneric, ""
			}
		}
	case errors.As(err, &pe):
		return ExitGeneric, ""
	case errors.As(err, &ce):
		return ExitGeneric, ce.Hint
	}
	return ExitGeneric, ""
}

// PrintError prints err, with its place and include chain where it has them.
func PrintError(w io.Writer, err error, hint string) {
	var (
		pl source.Errors
		pe *source.Error
	)
	switch {
	case errors.As(err, &pl):
		for _, e := range pl {
			fmt.Fprintf(w, "brine: %s\n", printable.Text(e.Trace()))
		}
	case errors.As(err, &pe):
		fmt.Fprintf(w, "brine: %s\n", printable.Text(pe.Trace()))
	default:
		fmt.Fprintf(w, "brine: %s\n", printable.Text(err.Error()))
	}
	if hint == "" {
		return
	}
	for line := range strings.SplitSeq(printable.Text(hint), "\n") {
		fmt.Fprintf(w, "hint: %s\n", line)
	}
}

// StatusOf is a return code as an exit status: a process has eight bits for it,
// and a failure must not become 0.
func StatusOf(retcode int64) int {
	if low := int(retcode & 0xff); low != 0 || retcode == 0 {
		return low
	}
	return ExitGeneric
}
