package cmd

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

	"github.com/spf13/cobra"

	"brine/cmd/assembly"
	"brine/internal/fun"
	"brine/internal/jobs"
	"brine/internal/queue"
	"brine/internal/value"
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
func (a *App) runQueued(ctx context.Context, c *cobra.Command, o *runOpts) error {
	r, rest, err := readQueued(a.In)
	if err != nil {
		return usagef(c, "--queued: %s", err)
	}
	// Who reads stderr may be dead, too, which must not end the run before its
	// processes.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		_, _ = io.Copy(io.Discard, rest)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // as a person would; see [App.signals]
	}()
	a.In = strings.NewReader("")
	if len(r.work.At) > 0 {
		o.at = r.work.At
	}
	if r.work.SaltEnv != "" {
		o.saltenv = r.work.SaltEnv
	}
	if r.work.PillarEnv != "" {
		o.pillarenv = r.work.PillarEnv
	}
	o.output.out = "quiet"
	if err := a.saltfile(c, "salt-run", &o.runFlags); err != nil {
		return err
	}
	var run *session
	err = a.runner(ctx, c, o, orchestrateName, func(s *session) error {
		run, s.nextJID = s, r.jid
		return nil
	}, func(s *session, env *fun.Env) (fun.Args, error) {
		in := fun.Args{Pos: r.work.Args, Kw: r.work.Kwargs}
		if env.JID != r.jid {
			return in, fmt.Errorf("there is a job %s in the cache of this machine, which is not this run", r.jid)
		}
		s.again = "brine run queue.retry"
		s.resume, err = s.furthest(ctx, env, r.earlier)
		return in, err
	})
	if err != nil && run != nil && run.lockedOut.Load() {
		return &statusError{status: exitLocked, err: err}
	}
	return err
}

// furthest returns the record of the run that came furthest, for the next one to go
// on after its steps that succeeded; nil where there is none. Runs of other machines
// are known where the job cache has their records.
func (s *session) furthest(ctx context.Context, env *fun.Env, runs []string) (*jobs.Job, error) {
	var best *jobs.Job
	most := 0
	for _, jid := range runs {
		j, err := s.files.Job(ctx, jid)
		if err == nil && j == nil && assembly.SharesRecords(env) {
			j, err = assembly.SharedJob(ctx, env, jid)
		}
		switch {
		case err != nil:
			return nil, err
		case j == nil || j.Definition == nil:
			continue
		case j.State == jobs.Active:
			return nil, &statusError{status: exitNotYet, err: fmt.Errorf("the run %s of the same entry has not ended yet", jid)}
		}
		n := 0
		for n < len(j.Steps) && j.Steps[n].Map("return").At("result") == true {
			n++
		}
		if n > 0 && n >= most {
			best, most = j, n
		}
	}
	return best, nil
}
