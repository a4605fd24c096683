// Package bustest has controllers on a shared event bus, for the tests of the ways
// that a bus can take.
//
// Start at [Join].
package bustest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/fleet/bus"
)

// patience is how long an event may be under way.
const patience = time.Minute

// A Controller fires events on its Ring; those of others arrive there.
type Controller struct {
	*bus.Bus
	Ring *event.Ring

	mu   sync.Mutex
	said []string
}

// Join starts a controller, on the bus that open opens, until the end of the test.
// from and tags are those of [bus.Options].
func Join(t testing.TB, open func(bus.Options) (*bus.Bus, error), from string, tags ...string) *Controller {
	t.Helper()
	return JoinWith(t, open, bus.Options{From: from, Tags: tags})
}

// JoinWith is [Join] with further options.
func JoinWith(t testing.TB, open func(bus.Options) (*bus.Bus, error), o bus.Options) *Controller {
	t.Helper()
	c := &Controller{Ring: event.NewRing(0, time.Now)}
	o.Fire, o.Warn = c.Ring.FireRemote, func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said = append(c.said, err.Error())
	}
	b, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	c.Bus = b
	c.Ring.Tap(b.Send)
	t.Cleanup(b.Close)
	return c
}

// Warnings returns what the controller warned of, one per line.
func (c *Controller) Warnings() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// Says waits for a warning.
func (c *Controller) Says(t testing.TB, part string) {
	t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(c.Warnings(), part); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no warning has %q: %q", part, c.Warnings())
		}
	}
}

// Hears waits for an event of another controller.
func (c *Controller) Hears(t testing.TB, tag string) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, err := c.next(ctx, tag)
	if err != nil {
		t.Fatalf("no event %s: %v\n%s", tag, err, c.Warnings())
	}
	return e
}

// HearsAgain has another controller fire an event again and again until it arrives.
func (c *Controller) HearsAgain(t testing.TB, from *Controller, tag string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		from.Ring.Fire(tag, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := c.next(ctx, tag)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no event %s\n%s\n%s", tag, from.Warnings(), c.Warnings())
		}
	}
}

// next waits for an event of another controller until ctx ends.
func (c *Controller) next(ctx context.Context, tag string) (event.Event, error) {
	e, _, err := c.Ring.Next(ctx, 0, func(e event.Event) bool { return e.Remote && e.Tag == tag })
	return e, err
}

// Heard lists the tags that came from others.
func (c *Controller) Heard(t testing.TB) string {
	t.Helper()
	var tags []string
	for after := uint64(0); after < c.Ring.Seq(); {
		e, _, err := c.Ring.Next(t.Context(), after, nil)
		if err != nil {
			t.Fatal(err)
		}
		after = e.Seq
		if e.Remote {
			tags = append(tags, e.Tag)
		}
	}
	return strings.Join(tags, " ")
}
