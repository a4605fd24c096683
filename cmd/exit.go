package cmd

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
	exitOK          = 0
	exitGeneric     = 1   // failed states, bad SLS, a function that failed
	exitUsage       = 64  // a command line that makes no sense
	exitNotYet      = 75  // the run of a queue cannot begin yet: EX_TEMPFAIL
	exitLocked      = 76  // another run has the lock of the run of a queue
	exitCut         = 77  // the run of a queue had to end in its midst
	exitInterrupted = 130 // Ctrl-C
	exitNoFunction  = 255 // no such function, as salt-call has it
)

// How errors look, so that all of them look alike: lower case, no full stop,
// "brine: " in front, offending text quoted; then "hint: " lines that say what
// to do.

// A statusError ends the command with a status. Its text may be empty: then
// the report already said what is wrong.
type statusError struct {
	status int
	err    error
	hint   string
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

var (
	errHelp        = pflag.ErrHelp
	errInterrupted = &statusError{status: exitInterrupted}
)

// silent ends the command with a status and no message.
func silent(status int) error {
	if status == exitOK {
		return nil
	}
	return &statusError{status: status}
}

// classify returns the status of an error, and a hint where there is one.
func classify(err error) (status int, hint string) {
	var (
		se *statusError
		nf *fun.NotFoundError
		ce *fun.CommandError
		pl source.Errors
		pe *source.Error
	)
	switch {
	case errors.As(err, &se):
		return se.status, se.hint
	case errors.As(err, &nf):
		if strings.Contains(nf.Name, ",") {
			hint = "one function is called at a time; 'brine salt' takes several, as salt does"
		} else if hint = nf.Hint(); nf.Nearest != "" {
			hint += " 'brine functions' lists all functions"
		} else if hint == "" && nf.Reason == "" {
			hint = "'brine functions' lists all functions"
		}
		return exitNoFunction, hint
	case errors.As(err, &pl):
		for _, e := range pl {
			if e.Hint != "" {
				return exitGeneric, ""
			}
		}
	case errors.As(err, &pe):
		return exitGeneric, ""
	case errors.As(err, &ce):
		return exitGeneric, ce.Hint
	}
	return exitGeneric, ""
}

// printError prints err, with its place and include chain where it has them.
func printError(w io.Writer, err error, hint string) {
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
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", printable.Text(hint))
	}
}

// statusOf is a return code as an exit status: a process has eight bits for it,
// and a failure must not become 0.
func statusOf(retcode int64) int {
	if low := int(retcode & 0xff); low != 0 || retcode == 0 {
		return low
	}
	return exitGeneric
}
