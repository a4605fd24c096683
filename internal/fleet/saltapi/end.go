package saltapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/internal/py/value"
)

// A run that is ended, and not only left (by a second Ctrl-C), ends its calls on SSH
// hosts. Minions are asked to do the same, by saltutil.term_job.

// endWait is how long minions have to answer that.
const endWait = 3 * time.Second

// An ending is the question to minions of a publication to end their part of it.
type ending struct {
	minions []string // who is asked; Provider.mu guards it until asked
	asked   bool
	done    chan struct{}   // closed when the rest is there
	ended   map[string]bool // who answered
	err     error
}

// ends reports whether a call is to be ended: its run was, and the call was not given
// up for a reason of its own.
func ends(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), context.Canceled)
}

// endOn asks a minion to end its part of a publication, together with others, and
// returns what is to be said of it.
func (p *Provider) endOn(ctx context.Context, pub *publication, minion string) error {
	stays := fmt.Errorf("no longer waited for; the job goes on there, and the master of fleet %s keeps its return under the jid %s: %w", p.FleetName(), pub.jid, ctx.Err())
	if !ends(ctx) || pub.job.Async || p.o.Config.SSH {
		return stays
	}
	p.mu.Lock()
	e := pub.ending
	if e == nil || e.asked {
		e = &ending{done: make(chan struct{}), ended: map[string]bool{}}
		pub.ending = e
		p.running.Go(func() { p.askToEnd(context.WithoutCancel(ctx), pub, e) })
	}
	e.minions = append(e.minions, minion)
	p.mu.Unlock()
	<-e.done
	switch {
	case e.err != nil:
		return fmt.Errorf("%w; it could not be ended: %w", stays, e.err)
	case !e.ended[minion]:
		return fmt.Errorf("%w; the minion did not answer within %s that it ends it (saltutil.term_job)", stays, endWait)
	}
	return fmt.Errorf("stopped: the minion was asked to end the job (saltutil.term_job), and answered: %w", ctx.Err())
}

// askToEnd asks all minions of an ending at once.
func (p *Provider) askToEnd(ctx context.Context, pub *publication, e *ending) {
	defer close(e.done)
	ctx, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	select {
	case <-time.After(gatherRuns):
	case <-p.ctx.Done():
	}
	p.mu.Lock()
	e.asked = true
	minions := slices.Sorted(slices.Values(e.minions))
	p.mu.Unlock()
	q, forget, err := p.ask(ctx, opEnd, value.Strings(minions...), "list", "saltutil.term_job", pub.jid)
	if err != nil {
		e.err = err
		return
	}
	defer forget()
	for range q.minions {
		select {
		case a := <-q.answers:
			e.ended[a.minion] = true
		case <-ctx.Done():
			return
		case <-p.ctx.Done():
			return
		}
	}
}
