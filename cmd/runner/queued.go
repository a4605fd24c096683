package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// QueueTimeout bounds the time that a command waits for the database of a queue.
const QueueTimeout = 30 * time.Second

// A QueuedRun is what a worker hands to the process that runs an entry: one line of
// JSON on stdin, so that nothing of it is in the list of processes.
type QueuedRun struct {
	JID     string   // of this run
	Entry   string   // its jid
	Earlier []string // runs of the same entry
	Work    *queue.Work
}

// Encode returns the line that [ReadQueued] reads.
func (r *QueuedRun) Encode() ([]byte, error) {
	work, err := r.Work.Encode()
	if err != nil {
		return nil, err
	}
	return append(value.EncodeJSON(value.MapOf("jid", r.JID, "entry", r.Entry, "earlier", value.Strings(r.Earlier...), "work", work)), '\n'), nil
}

// ReadQueued reads the line of a worker. What follows it is the rest of stdin,
// which ends with the worker.
func ReadQueued(in io.Reader) (*QueuedRun, io.Reader, error) {
	rest := bufio.NewReader(in)
	line, err := rest.ReadString('\n')
	if err != nil {
		return nil, nil, errors.New("the worker handed over nothing")
	}
	v, err := value.ParseJSON(line)
	if err != nil {
		return nil, nil, err
	}
	m, _ := v.(*value.Map)
	r := &QueuedRun{JID: m.Str("jid"), Entry: m.Str("entry")}
	if !jobs.IsJID(r.JID) || !jobs.IsJID(r.Entry) {
		return nil, nil, errors.New("the worker handed over no jid")
	}
	for i := range m.List("earlier").Len() {
		r.Earlier = append(r.Earlier, value.Str(m.List("earlier").Items[i]))
	}
	r.Work, err = queue.ParseWork(m.Str("work"))
	return r, rest, err
}

// A Queue is how a command runs the entries of a queue.
type Queue struct {
	Function string           // the runner function that they call
	Set      func(*QueuedRun) // changes the flags before
	Prepare  func(*session.Session) error
	Choose   func(*QueuedRun, *session.Session, *fun.Env) (fun.Args, error) // its arguments
}

// Queued runs an entry of a queue for a worker. It ends with the worker, whose entry goes to
// another one then.
func Queued(ctx context.Context, a *app.App, c *cobra.Command, o *Options, q Queue) error {
	r, rest, err := ReadQueued(a.In)
	if err != nil {
		return app.Usagef(c, "--queued: %s", err)
	}
	// Who reads stderr may be dead, too, which must not end the run before its
	// processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, rest)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // as a person would; see [app.App.Signals]
	}()
	a.In = strings.NewReader("")
	if q.Set != nil {
		q.Set(r)
	}
	o.Output.Out = "quiet"
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	var run *session.Session
	err = Run(ctx, a, c, o, q.Function, func(s *session.Session) error {
		run, s.NextJID, s.Queued, s.Entry = s, r.JID, true, r.Entry
		if q.Prepare != nil {
			return q.Prepare(s)
		}
		return nil
	}, func(s *session.Session, env *fun.Env) (fun.Args, error) {
		if env.JID != r.JID {
			return fun.Args{}, s.NotYet(fmt.Errorf("there is a job %s in the cache of this machine, which is not this run", r.JID))
		}
		s.Again = "brine run queue.retry"
		return q.Choose(r, s, env)
	})
	if err == nil || run == nil {
		return err
	}
	if status, why := run.AskedEnd(); status == history.Waiting {
		return &app.StatusError{Status: app.ExitWaits, Err: errors.New(why)}
	}
	if status := run.PutBack.Load(); status != 0 {
		return &app.StatusError{Status: int(status), Err: err}
	}
	if run.LockLost() != "" {
		return &app.StatusError{Status: app.ExitCut, Err: err}
	}
	return err
}
