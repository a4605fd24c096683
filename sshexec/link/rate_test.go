package link

import (
	"testing"
	"time"
)

// TestHostileRates has a target talk without end: a burst is taken, then a steady
// few, by number, by bytes and, fewer, by lines for the user.
func TestHostileRates(t *testing.T) {
	t.Parallel()
	const minute = 60
	for _, tt := range []struct {
		name        string
		size        int
		line        bool
		burst, rate int
	}{
		{"events", 1, false, burstNotes, rateNotes},
		{"large events", 64 << 10, false, burstBytes / (64 << 10), rateBytes / (64 << 10)},
		{"warnings and faults", 1, true, burstLines, rateLines},
	} {
		var a allowance
		now := time.Unix(1_700_000_000, 0)
		told := 0
		say := func(times int) (taken int) {
			for range times {
				ok, first := a.take(tt.size, tt.line, now)
				if ok {
					taken++
				}
				if first {
					told++
				}
			}
			return taken
		}
		if got := say(3 * tt.burst); got != tt.burst {
			t.Errorf("%s: %d of a burst are taken, want %d", tt.name, got, tt.burst)
		}
		got := 0
		for range minute {
			now = now.Add(time.Second)
			got += say(3 * tt.rate)
		}
		if got > minute*tt.rate || got < minute*tt.rate-1 {
			t.Errorf("%s: %d in a minute are taken, want %d", tt.name, got, minute*tt.rate)
		}
		// A clock that goes back gives nothing.
		now = now.Add(-time.Hour)
		if got := say(tt.burst); got != 0 {
			t.Errorf("%s: %d are taken although no time went by", tt.name, got)
		}
		if told != 1 {
			t.Errorf("%s: it is told %d times that some are dropped, want once", tt.name, told)
		}
	}
}

// TestHostilePartial has runs tell of states without end: each may always tell a
// little, all together have a bound, and what one gives back others may have.
func TestHostilePartial(t *testing.T) {
	t.Parallel()
	const runs, piece = 400, 64 << 10
	r := &room{}
	have := make([]int64, runs)
	for range 8 {
		for i := range have {
			if r.more(have[i], piece) {
				have[i] += piece
			}
		}
	}
	var sum int64
	for i, n := range have {
		if sum += n; n < smallPartial {
			t.Errorf("run %d may tell %d bytes", i, n)
		}
	}
	if sum > defaultPartial+runs*smallPartial || sum != r.partial {
		t.Errorf("all together may tell %d bytes, of which %d are counted", sum, r.partial)
	}
	if r.more(smallPartial, piece) {
		t.Error("there is still room")
	}
	r.less(r.partial)
	if !r.more(smallPartial, piece) {
		t.Error("what was given back is still taken")
	}
}
