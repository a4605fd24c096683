// Package worker is brine worker: it runs the orchestrations of a queue.
package worker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"os"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/complete"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

type options struct {
	app.RunFlags
	app.FleetFlags
	queue           string
	maxRuns         int
	once            bool
	drainEmpty      bool
	react           bool
	collect         string
	every           float64
	attempts        int
	maxCrashes      int
	backoff         float64
	lease           float64
	poll            float64
	ownFlags, hides []string
}

// minQueueLease is the shortest lease. A worker gives an entry up at half of it; what it
// runs has the other half to end.
const minQueueLease = 10

// New returns "brine worker". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "worker --queue <name>",
		Short: "Run the orchestrations of a queue, and what reacts to events",
		Long: `Take orchestrations from a queue, one after the other, and run each as
'brine orchestrate' does. 'brine orchestrate --queue' adds them to the queue. Any
number of workers, on any number of machines, can share a queue. With --react it also
waits for events, and runs what the option reactor asks for as a reaction to them: see
'brine docs reactor'. With --collect it fetches the events of beacons, over SSH, from
machines that have no way to send them: see 'brine docs beacons'. With the option
event_sinks it sends events to webhooks, logstash, syslog, Slack and files: see
'brine docs events'.

A worker runs in the foreground, for example as a unit of systemd or in a
container. After the first signal (Ctrl-C, SIGTERM) it finishes its run and stops;
the second one interrupts the run, which goes back into the queue. If a worker
dies, its run goes to another worker when its lease has expired. See
'brine docs queue'.

If the database of the queue does not answer, also when the worker starts, it says
so once and tries again until it does.

Exit status: 0 the worker stopped as requested; 1 the database refuses the worker,
for example its password; 64 usage error; 130 a run was interrupted by a signal.`,
		Example: `  brine worker --queue deploy
  brine worker --queue deploy --attempts 3 --backoff 60
  brine worker --queue deploy --drain-empty
  brine worker --queue events --react
  brine worker --queue events --react --collect 'web*' --every 30`,
		SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return app.Usagef(c, "no arguments are taken")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	app.GroupFlags(c, app.TargetGroups)
	f := c.Flags()
	o.RegisterConfig(f)
	o.RegisterAs(f, "t", "")
	o.Lock.Register(c)
	for _, name := range []string{"progress", "no-progress", "askpass"} { // nobody could see or answer
		if f.Lookup(name) != nil {
			_ = f.MarkHidden(name)
			o.hides = append(o.hides, name)
		}
	}
	f.StringVar(&o.queue, "queue", "", "name of the queue")
	f.BoolVar(&o.react, "react", false, "also wait for events, and put those that the option reactor names into the queue")
	f.StringVar(&o.collect, "collect", "", "with --react, also fetch the events that wait on these machines, a compound target")
	f.Float64Var(&o.every, "every", 30, "with --collect, seconds between two visits")
	f.IntVar(&o.maxRuns, "max-runs", 0, "stop after this many runs (default: no limit)")
	f.BoolVar(&o.once, "once", false, "run at most one orchestration, and stop")
	f.BoolVar(&o.drainEmpty, "drain-empty", false, "stop when the queue is empty")
	f.IntVar(&o.attempts, "attempts", 1, "maximum number of attempts to run an orchestration that fails")
	f.IntVar(&o.maxCrashes, "max-crashes", 5, "set an orchestration aside after this many runs that did not finish because the worker or the run died")
	f.Float64Var(&o.backoff, "backoff", 30, "seconds before the second attempt; doubled for each further one, up to an hour")
	f.Float64Var(&o.lease, "lease", 60, "seconds after which another worker takes the orchestration of a worker that died")
	f.Float64Var(&o.poll, "poll", 1, "seconds between checks of an empty queue")
	o.ownFlags = []string{"queue", "react", "collect", "every", "max-runs", "once", "drain-empty", "attempts", "max-crashes", "backoff", "lease", "poll"}
	complete.Flags(c)
	return c
}

// check returns an error for flags that cannot be.
func (o *options) check(c *cobra.Command) error {
	for _, x := range []struct {
		name     string
		v        float64
		min, max float64
	}{
		{"max-runs", float64(o.maxRuns), 0, math.MaxInt32},
		{"attempts", float64(o.attempts), 1, 1000},
		{"max-crashes", float64(o.maxCrashes), 1, 1000},
		{"backoff", o.backoff, 0, 86400},
		{"lease", o.lease, minQueueLease, 86400},
		{"poll", o.poll, 0.05, 3600},
		{"every", o.every, 1, 86400},
	} {
		if !(x.v >= x.min && x.v <= x.max) {
			return app.Usagef(c, "--%s: %v is not a number from %v to %v", x.name, x.v, x.min, x.max)
		}
	}
	switch {
	case o.queue == "":
		return app.Usagef(c, "--queue: no queue was named")
	case !queue.ValidName(o.queue):
		return app.Usagef(c, "--queue: invalid name %q: letters, digits and . _ - are allowed, 64 at most", o.queue)
	case o.react && (o.drainEmpty || o.once):
		return app.Usagef(c, "--react waits for events, and --once and --drain-empty do not wait: --max-runs 1 stops after one run")
	case o.collect != "" && !o.react:
		return app.Usagef(c, "--collect fetches events that something reacts to: give --react, too; 'brine run beacon.collect' fetches them once")
	case o.collect == "" && c.Flags().Changed("every"):
		return app.Usagef(c, "--every is for --collect")
	case o.RosterFile == "-":
		return app.Usagef(c, "--roster-file -: standard input can be read only once; give a file")
	}
	return nil
}

// A worker takes entries of a queue and runs them.
type worker struct {
	app          *app.App
	o            *options
	s            *session.Session
	env          *fun.Env
	open         func(context.Context) (*queue.Store, error)
	q            *queue.Store
	name         string
	exe          string
	args         []string // the flags that runs get, too
	runs         int
	swept        time.Time     // when old entries were last removed
	foreignShown bool          // of entries that other versions wrote
	wake         chan struct{} // an event came into the queue
	due          schedules
	// claims are the leases of other workers as they were seen first, by claim.
	claims map[string]time.Time
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options) error {
	if err := o.check(c); err != nil {
		return err
	}
	if err := o.Lock.Check(c); err != nil {
		return err
	}
	w := &worker{app: a, o: o, wake: make(chan struct{}, 1), args: app.GivenFlags(c, append(o.ownFlags, o.hides...))}
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, o.Override())
	if err != nil {
		return err
	}
	defer s.End()
	if err := s.ApplySDB(ctx); err != nil {
		return err
	}
	if o.collect != "" {
		if err := s.Reach(&o.FleetFlags); err != nil {
			return err
		}
	}
	if _, err := s.Locking(); err != nil { // else each run would say so
		return err
	}
	w.s = s
	if w.exe, err = host.Executable(); err != nil {
		return err
	}
	env := s.Env(ctx, s.JIDs.Next(a.Host.Now()))
	unique := make([]byte, 3)
	_, _ = rand.Read(unique) // it does not fail
	w.name = fmt.Sprintf("%.200s/%d/%s", printable.Line(env.ID), os.Getpid(), hex.EncodeToString(unique))
	if err := assembly.CheckQueue(ctx, env); err != nil {
		return err
	}
	if err := s.OpenShared(env); err != nil {
		return err
	}
	w.open = func(ctx context.Context) (*queue.Store, error) { return assembly.OpenQueue(ctx, env) }
	a.Intr.Patient.Store(true)
	if w.q, err = w.opened(ctx); w.q == nil || err != nil {
		return err
	}
	s.Note(fmt.Sprintf("worker %s takes orchestrations of the queue %s", w.name, o.queue))
	stop, err := w.hearAll(ctx)
	if err == nil {
		quiet := w.notifies(ctx, env)
		unschedule := w.schedule(ctx)
		err = w.work(ctx)
		unschedule()
		quiet()
		stop()
	}
	if cerr := w.q.Close(); err == nil {
		err = cerr
	}
	return err
}

// hearAll begins to hear events, if something reacts to them or they are to be sent
// somewhere.
func (w *worker) hearAll(ctx context.Context) (stop func(), err error) {
	var to []listener
	var age time.Duration
	if w.o.react {
		r, err := w.newReacting()
		if err != nil {
			return nil, err
		}
		to, age = append(to, r), r.limits.Age
	}
	s, err := w.newSinking()
	if err != nil {
		return nil, err
	}
	if s != nil && !w.o.once && !w.o.drainEmpty {
		to = append(to, s)
	}
	if len(to) == 0 {
		return func() {}, nil
	}
	return w.listen(ctx, to, age)
}

// opened returns the queue, for which it waits until the database answers: nil is that
// a signal came first. It fails where waiting does not help.
func (w *worker) opened(ctx context.Context) (q *queue.Store, err error) {
	try := func() error {
		ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
		defer cancel()
		q, err = w.open(ask)
		return err
	}
	if try() == nil || assembly.Answers(err) {
		return q, err
	}
	if !w.outage(ctx, err, func() error {
		if err := try(); err != nil && !assembly.Answers(err) {
			return err
		}
		return nil
	}) {
		return nil, nil
	}
	return q, err
}

// work takes entries until it is to end.
func (w *worker) work(ctx context.Context) error {
	// A signal while nothing runs ends ctx. One that comes while an entry is taken or
	// runs is noticed before the next.
	for {
		if ctx.Err() != nil || w.app.Intr.Draining() || w.o.maxRuns > 0 && w.runs >= w.o.maxRuns {
			return nil
		}
		ran, err := w.next(ctx)
		switch {
		case ctx.Err() != nil && ran:
			return app.ErrInterrupted
		case ctx.Err() != nil:
			return nil
		case err != nil:
			w.outage(ctx, err, func() error {
				ask, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
				defer cancel()
				_, _, err := w.q.Waiting(ask, w.o.queue)
				return err
			})
			continue
		}
		if w.o.once {
			return nil
		}
		if ran {
			continue
		}
		if done, err := w.idle(ctx); err == nil && done {
			return nil
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
		case <-time.After(time.Duration(float64(app.Seconds(w.o.poll)) * (0.75 + mrand.Float64()/2))):
		}
	}
}

// recovery is how long a worker takes nothing after an outage of the queue: others
// give back what they had meanwhile, and store what their runs did.
const recovery = 3 * time.Second

// outage waits until the queue answers again; false is that a signal came first.
func (w *worker) outage(ctx context.Context, err error, try func() error) bool {
	w.s.Tell(fmt.Errorf("the queue does not answer, it is tried again: %w", err))
	for n := 0; ; n++ {
		w.wait(ctx, min(30*time.Second, time.Second<<min(n, 5)))
		if ctx.Err() != nil || w.app.Intr.Draining() {
			return false
		}
		if try() == nil {
			break
		}
	}
	w.s.Note("the queue answers again")
	w.wait(ctx, recovery)
	return true
}

// wait waits, but no longer than until a signal.
func (w *worker) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// sweepEvery is how often a worker removes old entries.
const sweepEvery = time.Hour

// idle does what is due when no entry can be taken, and reports whether the worker
// is to end.
func (w *worker) idle(ctx context.Context) (done bool, err error) {
	if w.swept.IsZero() || time.Since(w.swept) > sweepEvery {
		w.swept = time.Now()
		opts := w.s.Cfg.Opts
		w.s.Doubt(w.q.Clean(ctx, keptFor(opts, "keep_jobs_seconds"), keptFor(opts, "keep_history")))
		w.s.Doubt(w.q.CleanSinks(ctx))
	}
	if w.foreignShown && !w.o.drainEmpty {
		return false, nil
	}
	if w.o.drainEmpty {
		claims, err := w.q.Claims(ctx, w.o.queue)
		if err != nil || w.mayReturn(claims) {
			return false, err
		}
	}
	own, foreign, err := w.q.Waiting(ctx, w.o.queue)
	if err == nil && foreign > 0 && !w.foreignShown {
		w.foreignShown = true
		w.s.Tell(fmt.Errorf("the queue %s has %d entries of another version of brine, which this worker leaves alone", w.o.queue, foreign))
	}
	return w.o.drainEmpty && own == 0, err
}

// mayReturn reports whether an entry that another worker has may come back: one whose
// lease was not renewed since it was seen first may be that of a worker that died.
func (w *worker) mayReturn(claims map[string]time.Time) (may bool) {
	if w.claims == nil {
		w.claims = map[string]time.Time{}
	}
	for claim, until := range claims {
		first, seen := w.claims[claim]
		if !seen {
			w.claims[claim], first = until, until
		}
		may = may || until.Equal(first)
	}
	return may
}

// keptFor is an option that is a number of seconds; 0 is for ever.
func keptFor(opts *value.Map, name string) time.Duration {
	n, _ := value.AsInt(opts.At(name))
	if n < 0 || n > int64(math.MaxInt64/time.Second) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// next takes one entry and runs it. It reports whether there was one.
func (w *worker) next(ctx context.Context) (ran bool, err error) {
	busy := func() bool { return true }
	w.app.Intr.Busy.Store(&busy) // a signal waits for what is taken
	defer w.app.Intr.Busy.Store(nil)
	take, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	e, err := w.q.Take(take, queue.Claim{
		Queue: w.o.queue, Worker: w.name, Lease: app.Seconds(w.o.lease), MaxCrashes: w.o.maxCrashes,
		NewJID: func() string { return w.s.JIDs.Next(w.app.Host.Now()) },
	}, func(e *queue.Entry) {
		w.s.Tell(fmt.Errorf("the entry %s is %s: %s", e.JID, e.State, e.Error))
	})
	cancel()
	if err != nil || e == nil {
		return false, err
	}
	w.runs++
	w.run(ctx, e)
	return true, nil
}
