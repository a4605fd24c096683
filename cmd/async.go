package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/jobs"
)

// asyncFlags are those of jobs that go on without the command.
type asyncFlags struct {
	on bool
	// background are the ids of a process that works on a job's targets that are
	// this machine, after the command that began the job; with --jid.
	background string
}

func (o *asyncFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "async", false, "start the job, print its jid and return; 'brine run jobs.lookup_jid' fetches what it returned")
	f.StringVar(&o.background, "background", "", "go on with the job of --jid on these targets")
	_ = f.MarkHidden("background")
}

// check refuses what does not go together with --async.
func (o *asyncFlags) check(c *cobra.Command, s *sshOpts) error {
	if !o.on {
		return nil
	}
	switch {
	case s.raw:
		return usagef(c, "--async and --raw do not go together: a raw command has no agent on the target that could keep its return")
	case s.batch != "":
		return usagef(c, "--async and --batch do not go together: nobody would wait to start the next batch")
	case s.wipe:
		return usagef(c, "--async and --wipe do not go together: the job needs the agent's directory on the target")
	case s.failedFile != "" || s.summary:
		return usagef(c, "--async knows of no returns, so there is nothing for --summary and --failed-file")
	}
	return nil
}

// async starts a job that goes on without this command, or goes on with one.
func (s *session) async(ctx context.Context, o *sshOpts, env *fun.Env, job fun.Job) error {
	if ids := o.async.background; ids != "" {
		s.files.Adopt(job.JID, os.Stdin)
		job.Async, job.Continued = false, true
		job.Only, job.Subset = strings.Split(ids, ","), 0
		_, err := env.Fleet.Run(ctx, job, func(fun.Return) error { return nil })
		return err
	}
	var failed []string
	refused := false
	sum, err := env.Fleet.Run(ctx, job, func(r fun.Return) error {
		failed = append(failed, r.ID)
		var np interface{ NotPlaced() bool }
		refused = refused || errors.As(r.Err, &np) && np.NotPlaced()
		s.warn(fun.Warning{Text: fmt.Sprintf("target %s: %s: %v", r.ID, r.Stage, r.Err)})
		return nil
	})
	switch {
	case len(sum.Targets) == 0 && err == nil:
		return o.noMatch(job)
	case err != nil:
		return err
	}
	if len(failed) < len(sum.Targets) {
		fmt.Fprintf(s.app.Out, "Executed command with job ID: %s\n", job.JID)
	}
	switch {
	case len(failed) == 0:
		return silent(s.strictStatus(exitOK))
	case o.prog == saltCLI:
		return silent(exitGeneric)
	case refused:
		return silent(exitDeploy)
	}
	return silent(exitCollection)
}

// background has another process of brine work on targets that are this machine:
// the same command line, which goes on with the job's record.
func (s *session) background(job fun.Job, ids []string, rec jobs.Record) error {
	file := jobs.FileOf(rec)
	exe, err := os.Executable()
	if err != nil || file == nil {
		return fmt.Errorf("the job cannot go on without this process, since it cannot be recorded (%v)", err)
	}
	a := s.app
	argv := []string{exe}
	rest := a.Args
	if a.Program == "salt" || a.Program == "salt-ssh" {
		argv = append(argv, a.Program)
	} else if len(rest) > 0 {
		argv, rest = append(argv, rest[0]), rest[1:]
	}
	argv = append(argv, "--jid", job.JID, "--background", strings.Join(ids, ","))
	flags, args := rest, []string(nil) // behind "--" there are no flags
	if i := slices.Index(rest, "--"); i >= 0 {
		flags, args = rest[:i], rest[i:]
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(x string) bool { return x == "--async" || strings.HasPrefix(x, "--async=") })
	_, err = a.Host.Start(host.Cmd{Argv: slices.Concat(argv, flags, args), Stdin: file})
	return err
}

// staying are the jobs that nobody waits for and that are worked on in this
// process, by their jids: on which targets.
type staying struct {
	wg sync.WaitGroup

	mu   sync.Mutex
	jobs map[string][]string
}

// stay returns the fleet.Fleet.Stay of the session: the process ends when such
// jobs have.
func (s *session) stay(ctx context.Context) func(jid string, ids []string, work func(context.Context)) {
	return func(jid string, ids []string, work func(context.Context)) {
		st := &s.staying
		st.mu.Lock()
		if st.jobs == nil {
			st.jobs = map[string][]string{}
		}
		st.jobs[jid] = ids
		st.mu.Unlock()
		st.wg.Go(func() {
			work(ctx)
			st.mu.Lock()
			defer st.mu.Unlock()
			delete(st.jobs, jid)
		})
	}
}

// awaitStaying waits for those jobs, and says so where it takes a while.
func (s *session) awaitStaying() {
	st := &s.staying
	say := time.AfterFunc(time.Second, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		for _, jid := range slices.Sorted(maps.Keys(st.jobs)) {
			fmt.Fprintf(s.app.Err, "brine: job %s still works on %s, in this process, which ends when it has (Ctrl-C twice ends it)\n", jid, strings.Join(st.jobs[jid], ", "))
		}
	})
	defer say.Stop()
	st.wg.Wait()
}
