package tool

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// An Out is how a program ended.
type Out struct {
	PID            int
	Status         int // -N where signal N ended it
	Stdout, Stderr string
}

// OK reports whether the program ended with status 0.
func (o Out) OK() bool { return o.Status == 0 }

// blanks are the blanks and line ends that Salt takes off the end of an output.
const blanks = " \t\r\n\v\f"

// Text returns what the program printed on stdout, without blanks and line ends
// at its end.
func (o Out) Text() string { return strings.TrimRight(o.Stdout, blanks) }

// Fault returns what the program printed on stderr, else on stdout, without
// blanks and line ends at the end.
func (o Out) Fault() string {
	if s := o.Complaint(); s != "" {
		return s
	}
	return o.Text()
}

// Complaint returns what the program printed on stderr, without blanks and line ends at
// its end.
func (o Out) Complaint() string { return strings.TrimRight(o.Stderr, blanks) }

// All returns the mapping of cmd.run_all.
func (o Out) All() *value.Map {
	return value.MapOf("pid", int64(o.PID), "retcode", int64(o.Status), "stdout", o.Text(), "stderr", o.Complaint())
}

// Printed is what a program printed, stdout and stderr in the order of writing, and
// its status.
type Printed struct {
	Text   string // without line ends at its end
	Status int
}

// Lines returns the lines of the text.
func (s Printed) Lines() []string {
	if s.Text == "" {
		return nil
	}
	return strings.Split(s.Text, "\n")
}

// Result returns the text with the status, as functions that hand a program's
// output on return it.
func (s Printed) Result() fun.Result { return fun.Result{Value: s.Text, Retcode: s.Status} }
