package app

import (
	"errors"

	"github.com/spf13/pflag"
)

// ErrAsyncReport refuses reports of what nobody waits for.
var ErrAsyncReport = &StatusError{
	Status: ExitUsage, Err: errors.New("--report and --metrics need the results, and --async does not wait for them"),
	Hint: "'brine run jobs.report JID --report FILE' writes them when the job has ended",
}

// AsyncFlags are those of jobs that go on without the command.
type AsyncFlags struct {
	On bool
	// Background are the ids of a process that works on a job's targets that are
	// this machine, after the command that began the job; with --jid.
	Background string
}

// Used reports whether the command starts a job that goes on without it, or is what
// goes on.
func (o *AsyncFlags) Used() bool { return o.On || o.Background != "" }

// Register adds the flags.
func (o *AsyncFlags) Register(f *pflag.FlagSet) {
	f.BoolVar(&o.On, "async", false, "start the job, print its jid and return; 'brine run jobs.lookup_jid' fetches what it returned")
	f.StringVar(&o.Background, "background", "", "go on with the job of --jid on these targets")
	_ = f.MarkHidden("background")
}
