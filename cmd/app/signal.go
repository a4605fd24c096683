package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"brine/internal/core/printable"
)

// killGrace is how long a cancelled run has to end its process groups.
const killGrace = 5 * time.Second

// termGrace is how long what is still running may go on after SIGTERM: less than
// service managers wait before they kill.
const termGrace = time.Minute

// Signals returns a context that the second SIGINT or SIGTERM cancels.
func (a *App) Signals(ctx context.Context) (context.Context, func()) {
	a.Intr = &Interrupt{}
	errs := a.Err
	say := func(format string, args ...any) {
		w := errs
		if s := a.screen.Load(); s != nil {
			w = s.Writer(errs)
		}
		fmt.Fprintf(w, format, args...)
	}
	ctx, cancel := context.WithCancel(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		var late <-chan time.Time
		for {
			var sig os.Signal
			select {
			case <-done:
				return
			case sig = <-ch:
			case <-late:
			}
			if a.Intr.Drain.CompareAndSwap(false, true) && a.Intr.underWay() {
				a.sayDraining(say)
				if sig == syscall.SIGTERM && !a.Intr.Patient.Load() {
					late = time.After(a.grace())
				}
				continue
			}
			if a.Intr.underWay() {
				say("\nbrine: interrupted: ending the running steps\n")
			}
			cancel()
			// A run that does not end in time is ended here, so that Ctrl-C
			// always works.
			time.AfterFunc(killGrace, func() { os.Exit(ExitInterrupted) })
			bounded, done := context.WithTimeout(context.Background(), killGrace)
			a.Host.CloseAll(bounded)
			done()
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel()
	}
}

// grace is how long what is still running may go on after SIGTERM: termGrace, or
// what BRINE_TERM_GRACE says.
func (a *App) grace() time.Duration {
	if d, err := time.ParseDuration(a.Getenv("BRINE_TERM_GRACE")); err == nil && d >= 0 {
		return d
	}
	return termGrace
}

func (a *App) sayDraining(say func(string, ...any)) {
	say("\nbrine: interrupted: nothing new is started; waiting for the running steps (Ctrl-C again ends them)\n")
	if names := a.Intr.waiting.Load(); names != nil {
		say("brine: it waits for %s\n", printable.Line(*names))
	}
	if jid := a.Intr.jid.Load(); jid != nil && a.Intr.Recorded.Load() {
		say("brine: to look up what returned: brine run jobs.lookup_jid %s\n", *jid)
	}
}
