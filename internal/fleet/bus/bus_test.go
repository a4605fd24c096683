package bus_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/event"
	"brine/internal/fleet/bus"
	"brine/internal/py/value"
	"brine/internal/testkit/bustest"
)

// A silentLink is a server that takes connections and answers nothing until it is
// released.
type silentLink struct {
	released chan struct{}
	sent     atomic.Int64 // events
	bytes    atomic.Int64 // of their texts
}

// Receive hears nobody.
func (l *silentLink) Receive(ctx context.Context, _ *bus.Bus, ready func()) error {
	ready()
	<-ctx.Done()
	return ctx.Err()
}

// Send waits for the release.
func (l *silentLink) Send(ctx context.Context, e event.Event) error {
	select {
	case <-l.released:
		l.sent.Add(1)
		l.bytes.Add(int64(len(e.Data.Str("text"))))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close has nothing to wait for.
func (l *silentLink) Close(context.Context) {}

// Deliver returns when the server has an event, or with the reason why not.
func TestDeliver(t *testing.T) {
	t.Parallel()
	l := &silentLink{released: make(chan struct{})}
	var warned atomic.Int64
	b := bus.Open(t.Context(), l, bus.Options{Tags: []string{"a/*"}, Warn: func(error) { warned.Add(1) }})
	defer b.Close()
	e := event.Event{Tag: "a/1", Data: value.NewMap(0)}
	if err := b.Deliver(t.Context(), event.Event{Tag: "b/1"}); err == nil || !strings.Contains(err.Error(), "do not name b/1") {
		t.Errorf("a tag that is not carried: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Deliver(ended, e); !errors.Is(err, context.Canceled) {
		t.Errorf("a server that is silent: %v", err)
	}
	close(l.released)
	if err := b.Deliver(t.Context(), e); err != nil || l.sent.Load() != 2 {
		t.Errorf("%v, %d were sent", err, l.sent.Load())
	}
	b.Close()
	if err := b.Deliver(t.Context(), e); err == nil || warned.Load() > 0 {
		t.Errorf("a bus that is closed: %v, %d warnings", err, warned.Load())
	}
}

// However many events wait for a server that does not answer, they are of bounded
// number and size. The others are lost, which is said once, and nobody waits.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		events, size int
		fewest, most int64
		warning      string
	}{
		{"small", 20_000, 10, 4096, 4097, "event_bus: events are lost: more than 4096 wait to be sent"},
		{"large", 500, 1 << 20, 60, 64, "event_bus: events are lost: more than 64 MiB wait to be sent"},
		{"larger than all", 3, 65 << 20, 1, 1, "event_bus: events are lost: more than 64 MiB wait to be sent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &silentLink{released: make(chan struct{})}
				c := bustest.Join(t, func(o bus.Options) (*bus.Bus, error) { return bus.Open(t.Context(), l, o), nil }, "a")
				text := strings.Repeat("x", tt.size)
				begun := time.Now()
				for range tt.events {
					c.Ring.Fire("deploy", value.MapOf("text", text))
				}
				if took := time.Since(begun); took > 0 {
					t.Errorf("a run waited %s for the server", took)
				}
				close(l.released)
				synctest.Wait()
				if n := l.sent.Load(); n < tt.fewest || n > tt.most {
					t.Errorf("%d events waited, of %d bytes, want %d to %d", n, l.bytes.Load(), tt.fewest, tt.most)
				}
				if got := c.Warnings(); got != tt.warning {
					t.Errorf("warnings: %q, want %q", got, tt.warning)
				}
				had := l.sent.Load()
				c.Ring.Fire("deploy", value.MapOf("text", "again")) // there is room again
				synctest.Wait()
				if n := l.sent.Load(); n != had+1 {
					t.Errorf("%d events came after the release, want 1", n-had)
				}
				c.Close()
			})
		})
	}
}

// A run ends soon, though its events wait for a server that does not answer.
func TestCloseDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &silentLink{released: make(chan struct{})}
		c := bustest.Join(t, func(o bus.Options) (*bus.Bus, error) { return bus.Open(t.Context(), l, o), nil }, "a")
		for range 100 {
			c.Ring.Fire("deploy", nil)
		}
		begun := time.Now()
		c.Close()
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the end of a run took %s", took)
		}
		if got := c.Warnings(); !strings.Contains(got, context.Canceled.Error()) || strings.Contains(got, "\n") {
			t.Errorf("warnings: %q", got)
		}
	})
}

// A goneLink is a server that refuses.
type goneLink struct{ silentLink }

// Send fails.
func (l *goneLink) Send(context.Context, event.Event) error {
	l.sent.Add(1)
	return errors.New("connection refused")
}

// While a server refuses, a run tries it less and less often, keeps nothing, and says
// it once.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &goneLink{}
		c := bustest.Join(t, func(o bus.Options) (*bus.Bus, error) { return bus.Open(t.Context(), l, o), nil }, "a")
		for range 600 { // ten minutes
			for range 100 {
				c.Ring.Fire("deploy", nil)
			}
			time.Sleep(time.Second)
		}
		if n := l.sent.Load(); n < 10 || n > 30 {
			t.Errorf("the server was asked %d times", n)
		}
		if got := c.Warnings(); got != "event_bus: other controllers do not get the events of this one: connection refused" {
			t.Errorf("warnings: %q", got)
		}
		c.Close()
	})
}
