package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// A queuedRun is what a worker hands to the process that runs an entry: one line of
// JSON on stdin, so that nothing of it is in the list of processes.
type queuedRun struct {
	jid     string   // of this run
	earlier []string // runs of the same entry
	work    *queue.Work
}

func (r *queuedRun) encode() ([]byte, error) {
	work, err := r.work.Encode()
	if err != nil {
		return nil, err
	}
	return append(value.EncodeJSON(value.MapOf("jid", r.jid, "earlier", value.Strings(r.earlier...), "work", work)), '\n'), nil
}

// readQueued reads the line of a worker. What follows it is the rest of stdin,
// which ends with the worker.
func readQueued(in io.Reader) (*queuedRun, io.Reader, error) {
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
	r := &queuedRun{jid: m.Str("jid")}
	if !jobs.IsJID(r.jid) {
		return nil, nil, errors.New("the worker handed over no jid")
	}
	for i := range m.List("earlier").Len() {
		r.earlier = append(r.earlier, value.Str(m.List("earlier").Items[i]))
	}
	r.work, err = queue.ParseWork(m.Str("work"))
	return r, rest, err
}

// runQueued runs an entry of a queue for a worker. It ends with the worker, whose
// entry goes to another one then.
func runQueued(ctx context.Context, a *app.App, c *cobra.Command, o *runOpts) error {
	r, rest, err := readQueued(a.In)
	if err != nil {
		return app.Usagef(c, "--queued: %s", err)
	}
	// Who reads stderr may be dead, too, which must not end the run before its
	// processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, rest)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // as a person would; see [App.Signals]
	}()
	a.In = strings.NewReader("")
	if len(r.work.At) > 0 {
		o.At = r.work.At
	}
	if r.work.SaltEnv != "" {
		o.Saltenv = r.work.SaltEnv
	}
	if r.work.PillarEnv != "" {
		o.Pillarenv = r.work.PillarEnv
	}
	o.Output.Out = "quiet"
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	var run *session
	err = runner(ctx, a, c, o, orchestrateName, func(s *session) error {
		run, s.nextJID, s.queued = s, r.jid, true
		return nil
	}, func(s *session, env *fun.Env) (fun.Args, error) {
		in := fun.Args{Pos: r.work.Args, Kw: r.work.Kwargs}
		if env.JID != r.jid {
			return in, s.notYet(fmt.Errorf("there is a job %s in the cache of this machine, which is not this run", r.jid))
		}
		s.again = "brine run queue.retry"
		return in, s.furthest(ctx, r.earlier)
	})
	if err == nil || run == nil {
		return err
	}
	if status := run.putBack.Load(); status != 0 {
		return &app.StatusError{Status: int(status), Err: err}
	}
	if run.lockLost() != "" {
		return &app.StatusError{Status: app.ExitCut, Err: err}
	}
	return err
}

// notYet returns the error of a run of a queue that cannot begin, for a reason that
// is none of the orchestration's: a later run can.
func (s *session) notYet(err error) error {
	if s.queued {
		s.putBack.Store(app.ExitNotYet)
	}
	return err
}

// furthest has the session go on with earlier runs of an entry, after the steps that
// succeeded. Runs of other machines are known where the job cache has their records.
//
// A run goes on with all earlier ones that no other run goes on with, and begins after
// the steps of the one that came furthest. What a run was gone on with by counts
// instead of it, whatever its own record has: the steps after that one's first may have
// been under way again since. It may be a run that is none of the entry's, because a
// person resumed one.
func (s *session) furthest(ctx context.Context, runs []string) error {
	chain, err := s.shared.Chain(runs)
	if err != nil {
		return s.notYet(fmt.Errorf("the records of earlier runs of the entry cannot be read: %w", err))
	}
	known := map[string]*shared.Run{}
	for i, r := range chain {
		known[r.JID] = &chain[i]
		if !slices.Contains(runs, r.JID) {
			runs = append(slices.Clip(runs), r.JID)
		}
	}
	most := 0
	for _, jid := range runs {
		r := known[jid]
		j, err := s.recordOf(ctx, jid, r)
		switch {
		case err != nil:
			return s.notYet(err)
		case j == nil:
			continue
		case j.State == jobs.Active:
			return s.notYet(fmt.Errorf("the run %s of the same entry has not ended yet", jid))
		case r != nil && known[r.ResumedBy] != nil:
			continue
		}
		if r != nil {
			s.claims = append(s.claims, jid)
		}
		if n := j.Prefix(); j.Definition != nil && n > 0 && n >= most {
			s.resume, most = j, n
		}
	}
	return nil
}

// recordOf returns what is recorded of a run, of which r is what controllers share:
// that of this machine, or that of the shared database where it has more steps. nil
// is that nothing is. The process of a run of this machine is known to be gone.
func (s *session) recordOf(ctx context.Context, jid string, r *shared.Run) (*jobs.Job, error) {
	j, err := s.files.Job(ctx, jid)
	if err != nil || r == nil || j != nil && j.State == jobs.Active {
		return j, err
	}
	other, err := s.shared.Job(jid)
	if err != nil {
		return nil, fmt.Errorf("the record of the run %s cannot be read: %w", jid, err)
	}
	if j == nil || other != nil && other.Prefix() > j.Prefix() {
		if other != nil && j != nil {
			other.State = j.State
		}
		return other, nil
	}
	return j, nil
}
