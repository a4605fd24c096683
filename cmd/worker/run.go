package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"brine/cmd/app"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/core/redact"
	"brine/internal/fleet/approval"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/py/proc"
	"brine/internal/py/value"
)

const (
	// unsettled is how long an entry waits whose run was ended here, or is still
	// being ended.
	unsettled = 5 * time.Second
	// maxBackoff bounds the time between two attempts.
	maxBackoff = time.Hour
)

// An entryRun is one run of a claimed entry.
type entryRun struct {
	*worker
	e   *queue.Entry
	jid string
	end context.CancelFunc // ends the run

	mu        sync.Mutex
	lost      error  // why the claim may be somebody else's; nil: it is not
	cancelled bool   // a person cancelled it
	last      string // error or note that it printed
}

// run runs a claimed entry and gives it back.
func (w *worker) run(ctx context.Context, e *queue.Entry) {
	r := &entryRun{worker: w, e: e, jid: e.Runs[len(e.Runs)-1]}
	earlier := e.Runs[:len(e.Runs)-1]
	input, err := (&runner.QueuedRun{JID: r.jid, Entry: e.JID, Earlier: earlier, Work: e.Work}).Encode()
	if err != nil {
		r.give(ctx, queue.Outcome{State: queue.Failed, Failed: true, Retcode: app.ExitGeneric, Error: err.Error()})
		return
	}
	if r.waits(ctx) {
		return
	}
	what := printable.Line(e.Work.Names())
	if e.Work.Event != nil {
		what = eventOf(e)
		w.s.Note(fmt.Sprintf("%s: %s begins as job %s", e.JID, what, r.jid))
	} else {
		spec := w.s.Table.Spec(fun.Runner, session.OrchestrateName)
		w.s.Note(fmt.Sprintf("%s: %s, begins as job %s, try %d", e.JID, described(e, w.s.Secrets, spec.ArgNames(), spec.SecretArgs()), r.jid, e.Tries))
	}
	began := time.Now()
	status, err := r.start(ctx, input)
	o := r.outcome(ctx, status, err)
	if e.Work.Event != nil {
		o = onlyOnce(o)
	}
	if errors.Is(r.lost, queue.ErrLost) {
		w.s.Tell(fmt.Errorf("%s: the run was ended: %w; another worker may have it", e.JID, r.lost))
		return
	}
	said := fmt.Sprintf("%s: %s is %s after %.1f s", e.JID, what, o.State, time.Since(began).Seconds())
	if o.Error != "" {
		said += ": " + o.Error
	}
	w.s.Note(said)
	r.give(ctx, o)
	r.notifyFailure(ctx, o)
}

// waits puts an entry back that waits for an approval, without a run, and reports whether
// it did.
func (r *entryRun) waits(ctx context.Context) bool {
	try, cancel := context.WithTimeout(ctx, runner.QueueTimeout)
	defer cancel()
	all, err := r.q.Approvals(try, r.e.JID)
	if err != nil {
		r.s.Tell(fmt.Errorf("%s: whether it waits for an approval is not known: %w", r.e.JID, err))
		return false // its run asks
	}
	i := slices.IndexFunc(all, (*approval.Entry).Waits)
	if i < 0 {
		return false
	}
	r.give(ctx, queue.Outcome{State: queue.Queued, Delay: unsettled, Uncount: true, Unrun: true, Error: "it waits for an approval " + all[i].Before()})
	return true
}

// maxDescribed bounds what is printed of an entry, in bytes.
const maxDescribed = 1000

// described is what an entry runs, in one line: the function with its arguments, and
// who queued it. It is made of what the run gets, not of what the queue has for people.
// Secrets are masked, and of the pillar only the keys are shown; names and secret are
// those of the arguments.
func described(e *queue.Entry, known *redact.Set, names, secret []string) string {
	w := e.Work
	if w.Chain != "" {
		return "chain " + w.Chain + queuedBy(e)
	}
	if w.Template != "" {
		return "template " + w.Template + queuedBy(e)
	}
	args, _ := known.Mask(redact.Args(names, w.Args, w.Kwargs, secret...)).(*value.List)
	words := []string{session.OrchestrateName}
	add := func(prefix string, v value.Value) {
		text, ok := v.(string)
		if !ok {
			text = string(value.EncodeJSON(v))
		}
		words = append(words, prefix+text)
	}
	for i, v := range args.Items {
		if m, ok := v.(*value.Map); ok && i == len(w.Args) { // the keyword arguments
			for k, v := range m.All() {
				if k != "__kwarg__" {
					add(value.Str(k)+"=", v)
				}
			}
			break
		}
		add("", v)
	}
	switch p := w.Kwargs.At("pillar").(type) {
	case nil:
	case *value.Map:
		keys := make([]string, 0, p.Len())
		for k := range p.All() {
			keys = append(keys, value.Str(k))
		}
		words = append(words, "pillar={"+strings.Join(keys, ", ")+"}")
	default:
		words = append(words, "pillar="+redact.Hidden)
	}
	for _, pin := range w.At {
		words = append(words, "--at="+value.Str(redact.Hide(pin)))
	}
	if w.SaltEnv != "" {
		words = append(words, "--saltenv="+w.SaltEnv)
	}
	if w.PillarEnv != "" {
		words = append(words, "--pillarenv="+w.PillarEnv)
	}
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(proc.Quote(printable.Line(known.Text(word))))
		if b.Len() > maxDescribed {
			break
		}
	}
	return short(b.String()) + queuedBy(e)
}

// queuedBy says who queued an entry.
func queuedBy(e *queue.Entry) string {
	return ", queued by " + printable.Line(e.User) + " on " + short(printable.Line(e.Controller))
}

// short cuts a line to [maxDescribed] bytes.
func short(line string) string {
	if len(line) <= maxDescribed {
		return line
	}
	n := maxDescribed
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n] + "..."
}

// start runs the process of the entry to its end, and renews the claim meanwhile.
// The stdin of the process is open for as long as this worker lives: its end ends
// the process.
func (r *entryRun) start(ctx context.Context, input []byte) (int, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return app.ExitGeneric, err
	}
	defer in.Close()
	defer out.Close()
	ctx, r.end = context.WithCancel(ctx)
	defer r.end()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { r.keep(ctx) })
	go func() { _, _ = out.Write(input) }() // out is closed at the latest when the process has ended
	lines := &app.LineWriter{Each: r.line}
	argv := append(slices.Concat([]string{r.exe}, commandOf(r.e.Work), []string{"--queued"}), r.args...)
	env := append(os.Environ(), app.OnBehalf+"="+r.e.User, "BRINE_TERM_GRACE=0s", "NO_COLOR=1")
	res, err := r.app.Host.Run(ctx, host.Cmd{Argv: argv, Env: env, Stdin: in, Stdout: lines, Stderr: lines})
	lines.Flush()
	r.end()
	return res.Status, err
}

// commandOf is the command of brine that runs work.
func commandOf(w *queue.Work) []string {
	switch {
	case w.Event != nil:
		return []string{"react"}
	case w.Chain != "":
		return []string{"chain", "run"}
	case w.Template != "":
		return []string{"template", "run"}
	}
	return []string{"orchestrate"}
}

// line shows a line that a run printed.
func (r *entryRun) line(text string) {
	text = printable.Line(strings.TrimRight(text, "\r"))
	r.mu.Lock()
	if strings.HasPrefix(text, "brine: ") && !strings.HasPrefix(text, "brine: warning: ") {
		r.last = strings.TrimPrefix(text, "brine: ")
	}
	r.mu.Unlock()
	fmt.Fprintln(r.app.Err, text)
}

// keep renews the claim until ctx ends. Where that fails for half of the lease, or
// another worker has the entry, it ends the run.
func (r *entryRun) keep(ctx context.Context) {
	lease := app.Seconds(r.o.lease)
	tick := time.NewTicker(lease / 4)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at := time.Now()
		try, cancel := context.WithTimeout(ctx, lease/4)
		wish, err := r.q.Renew(try, r.e, lease)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			renewed = at
			if wish == queue.RequestCancel {
				r.stop()
			}
		case errors.Is(err, queue.ErrLost), time.Since(renewed) >= lease/2:
			r.mu.Lock()
			r.lost = err
			r.mu.Unlock()
			r.end()
			return
		}
	}
}

// stop has the run end before its next step, because a person cancelled it.
func (r *entryRun) stop() {
	r.mu.Lock()
	first := !r.cancelled
	r.cancelled = true
	r.mu.Unlock()
	if first {
		r.s.Note(r.e.JID + ": it was cancelled, and ends before its next step")
		r.s.Doubt(jobs.NewPauses(r.s.Cfg.CacheDir).Kill(r.jid, jobs.AllStates))
	}
}

// outcome is what a run that ended means for its entry. ctx is the worker's.
func (r *entryRun) outcome(ctx context.Context, status int, err error) queue.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := queue.Outcome{Retcode: status}
	crash := func(why string) queue.Outcome {
		o.Error, o.State, o.Delay = why, queue.Queued, r.delay(r.e.Crashes())
		if r.e.Crashes() >= r.o.maxCrashes {
			o.State = queue.Poisoned
		}
		return o
	}
	switch {
	case err == nil && status == app.ExitOK:
		o.State = queue.Done
	case r.cancelled:
		o.State, o.Error = queue.Cancelled, "it was cancelled"
	case r.lost != nil: // which is not the fault of the run
		o.State, o.Uncount, o.Error = queue.Queued, true, "the run was ended, because the queue did not answer: "+r.lost.Error()
	case ctx.Err() != nil:
		o.State, o.Delay, o.Uncount, o.Error = queue.Queued, unsettled, true, "its worker was ended by a signal"
	case err == nil && (status == app.ExitNotYet || status == app.ExitLocked):
		// The worker of an earlier run was killed, and that run needs a moment to end;
		// or a database does not answer. The job of the first run is kept, since people
		// know it.
		o.State, o.Delay, o.Uncount, o.Unrun, o.Error = queue.Queued, unsettled, true, len(r.e.Runs) > 1, r.last
		if status == app.ExitLocked {
			o.Delay = max(unsettled, r.delay(1))
		}
	case err == nil && status == app.ExitWaits:
		o.State, o.Delay, o.Uncount, o.Error = queue.Queued, unsettled, true, cmp.Or(r.last, "it waits for an approval")
	case err == nil && status == app.ExitRefused:
		o.State, o.Error = queue.Refused, cmp.Or(r.last, "a person refused it")
	case err == nil && status == app.ExitCut:
		return crash(r.last)
	case err != nil:
		return crash("the run could not be started: " + err.Error())
	case status < 0:
		return crash(fmt.Sprintf("the run was ended by signal %d", -status))
	case status == app.ExitInterrupted:
		return crash("the run was interrupted")
	default:
		o.State, o.Failed, o.Error = queue.Failed, true, r.why(status)
		if n := r.e.Failures + 1; n < r.o.attempts {
			o.State, o.Delay = queue.Queued, r.delay(n)
		}
	}
	return o
}

// onlyOnce is what the end of a reaction means: it is not repeated once it has begun, since
// what it called cannot be told from what it did not.
func onlyOnce(o queue.Outcome) queue.Outcome {
	if o.State != queue.Queued || o.Retcode == app.ExitNotYet { // which is before it begins
		return o
	}
	o.State, o.Delay, o.Uncount = queue.Failed, 0, false
	if !o.Failed {
		o.State = queue.Poisoned
		o.Error += "; what it had called may have run"
	}
	return o
}

// delay is the time before the next run after n that went wrong.
func (r *entryRun) delay(n int) time.Duration {
	d := app.Seconds(r.o.backoff)
	for ; n > 1 && d < maxBackoff; n-- {
		d *= 2
	}
	return min(d, max(maxBackoff, app.Seconds(r.o.backoff)))
}

// maxReason is how much of the reason of a step a line has, in characters.
const maxReason = 300

// why tells in one line why a run failed: the steps that failed, else the last
// error that it printed.
func (r *entryRun) why(status int) string {
	j, err := r.s.Files.Job(context.Background(), r.jid)
	var steps []string
	if err == nil && j != nil {
		for _, s := range j.Steps {
			ret := s.Map("return")
			if ret.At("result") != false {
				continue
			}
			c := cause.OfState("", s.Str("tag"), ret, cause.Options{Mask: r.s.Secrets.Text})
			steps = append(steps, "step "+ret.Str("__id__")+": "+c.Short(maxReason))
		}
	}
	const shown = 3
	if n := len(steps); n > shown {
		steps = append(steps[:shown], fmt.Sprintf("and %d more", n-shown))
	}
	text := cmp.Or(strings.Join(steps, "; "), r.last, fmt.Sprintf("exit status %d", status))
	return printable.Line(r.s.Secrets.Text(text))
}

// give gives the entry back. A queue that does not answer is asked until it does,
// since nobody else can take the entry meanwhile, or for a moment after a signal. What
// the database of the job cache missed of the run meanwhile is written before.
func (r *entryRun) give(ctx context.Context, o queue.Outcome) {
	until := time.Now().Add(app.Seconds(r.o.lease)) // while the queue answers
	for written, settled := r.lost != nil, false; ; {
		timeout := runner.QueueTimeout
		if ctx.Err() != nil {
			timeout = 2 * time.Second
		}
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		down := r.q.Ping(try)
		if down == nil && !settled {
			settled = true
			r.settle()
		}
		err := down
		if err == nil {
			err = r.q.End(try, r.e, o)
		}
		cancel()
		if err == nil {
			return
		}
		if errors.Is(err, queue.ErrLost) || ctx.Err() != nil || down == nil && time.Now().After(until) {
			r.s.Tell(fmt.Errorf("%s: the end of the run could not be stored, another worker may run it again: %w", r.e.JID, err))
			return
		}
		if !written {
			written = true
			r.s.Tell(fmt.Errorf("%s: the end of the run cannot be stored, it is tried again: %w", r.e.JID, err))
		}
		r.wait(ctx, time.Second)
	}
}

// settle has the database that controllers share take what the run recorded while it
// could not be reached, or did not come to tell.
func (r *entryRun) settle() {
	j, err := r.s.Files.Job(context.Background(), r.jid)
	if err == nil && j != nil && j.State != jobs.Active {
		err = r.s.Shared.Settle(j)
	}
	if err != nil {
		r.s.Tell(fmt.Errorf("%s: the record of job %s could not be completed in the database that controllers share, so that steps of it may run again: %w", r.e.JID, r.jid, err))
	}
}
