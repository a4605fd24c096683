package events

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A slowReader has the ring forget events before the reader comes to look at them.
type slowReader struct {
	*event.Ring
	before func()
}

func (b *slowReader) Next(ctx context.Context, after uint64, match func(event.Event) bool) (event.Event, uint64, error) {
	b.before()
	return b.Ring.Next(ctx, after, match)
}

// What is missing among the events of other controllers is said.
func TestRemoteSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for events, want := range map[int]string{4: "", 10: "6 events came faster than they were shown"} {
		ring := event.NewRing(4, time.Now)
		bus := &slowReader{Ring: ring, before: func() {
			for i := range events {
				ring.FireRemote(fmt.Sprint("tag/", i), value.NewMap(0), time.Time{})
			}
		}}
		warned, shown := "", 0
		env := &fun.Env{Network: fun.Network{Bus: bus}, UI: fun.UI{Logger: slog.New(slog.DiscardHandler), OnWarn: func(w fun.Warning) { warned += w.Text }}}
		remote(t.Context(), env, func(event.Event) bool { shown++; return false }, func() {})
		if shown != 1 || !strings.HasPrefix(warned, want) || (want == "") != (warned == "") {
			t.Errorf("%d events: %d shown, %q, want %q", events, shown, warned, want)
		}
	}
}
