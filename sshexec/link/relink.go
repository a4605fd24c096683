package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brine/sshexec/wire"
)

// The pauses between two tries to reach an agent again: they grow by half.
const (
	relinkPause    = 250 * time.Millisecond
	relinkPauseMax = 5 * time.Second
	// rejoinTime is how long an agent may take to greet by a new way.
	rejoinTime = 20 * time.Second
)

// errUnwanted is why an agent is not looked for any longer.
var errUnwanted = errors.New("nobody waits for the agent any longer")

// A LostError says that an agent was not reached again in time. What it ran goes
// on there, and it keeps the return.
type LostError struct {
	For time.Duration
	Err error // why the connection broke
	Try error // what the last try came to
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection broke (%v) and could not be made again within %s (%v)", e.Err, e.For, e.Try)
}

func (e *LostError) Unwrap() error { return e.Err }

// relink looks for the agent until it is found, gone, no longer wanted, or the
// time for that is over.
func (c *Conn) relink(broke error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.o.Reconnect, context.DeadlineExceeded)
	defer cancel()
	go c.unwanted(ctx, cancel)
	token := c.m.Peer().Str("token")
	var last error
	for pause := relinkPause; ; pause = min(pause*3/2, relinkPauseMax) {
		err := c.rejoin(ctx, token)
		if err == nil || c.m.Err() != nil {
			return
		}
		if errors.Is(err, wire.ErrUnknownChannel) {
			c.m.Abandon(fmt.Errorf("%w (the connection had broken: %w)", err, broke))
			return
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if c.o.Log != nil {
			c.o.Log.Info("connect again", "id", c.id(), "broken", broke, "try", err)
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
			continue
		case <-ctx.Done():
		}
		t.Stop()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.m.Abandon(&LostError{For: c.o.Reconnect, Err: broke, Try: last})
		} else {
			c.m.Abandon(errUnwanted)
		}
		return
	}
}

func (c *Conn) rejoin(ctx context.Context, token string) error {
	rw, err := c.o.Relink(ctx, token)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, rejoinTime)
	defer cancel()
	return c.m.Rejoin(ctx, rw)
}

// unwantedEvery is how often the connection checks whether somebody still waits
// for a lost agent.
const unwantedEvery = 100 * time.Millisecond

// unwanted cancels the calls when nobody waits for them any longer.
func (c *Conn) unwanted(ctx context.Context, cancel func()) {
	t := time.NewTicker(unwantedEvery)
	defer t.Stop()
	for c.m.Wanted() && c.m.Err() == nil {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
	cancel()
}

// Broken returns why the agent cannot be heard at present, while it is looked
// for; nil where it can, or the connection has ended.
func (c *Conn) Broken() error { return c.m.Broken() }

// ReceivedSince reports whether something came from the agent since then.
func (c *Conn) ReceivedSince(t time.Time) bool { return c.m.ReceivedSince(t) }

// IsLost reports whether err says that the connection to an agent, which continues its
// work, was lost.
func IsLost(err error) bool {
	_, ok := errors.AsType[*LostError](err)
	return ok
}
