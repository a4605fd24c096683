package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// killGrace is how long a cancelled run has to end its process groups.
const killGrace = 5 * time.Second

// signals returns a context that the second SIGINT or SIGTERM cancels.
func (a *App) signals(ctx context.Context) (context.Context, func()) {
	a.intr = &interrupt{}
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
		for {
			select {
			case <-done:
				return
			case <-ch:
			}
			if a.intr.drain.CompareAndSwap(false, true) && a.intr.begun.Load() {
				a.sayDraining(say)
				continue
			}
			if a.intr.begun.Load() {
				say("\nbrine: interrupted: what is under way is ended\n")
			}
			cancel()
			// A run that does not end in time is ended here, so that Ctrl-C
			// always works.
			time.AfterFunc(killGrace, func() { os.Exit(exitInterrupted) })
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

func (a *App) sayDraining(say func(string, ...any)) {
	say("\nbrine: interrupted: nothing new is started; waiting for what is under way (Ctrl-C again ends it)\n")
	if jid := a.intr.jid.Load(); jid != nil {
		say("brine: the jid of this run is %s\n", *jid)
		if a.intr.recorded.Load() {
			say("brine: to look up what returned: brine run jobs.lookup_jid %s\n", *jid)
		}
	}
}
