package output

import (
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
)

// TestHostTimes: a host's time is its own, without that in which it waits for its turn.
func TestHostTimes(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	h := newHostTimes(nil, func() time.Time { return now })
	at := func(s int) { now = time.Unix(int64(s), 0) }
	h.At("1", "web1", fleet.Connecting)
	h.At("1", "web2", fleet.Waiting)
	at(3)
	h.At("1", "web1", fleet.Running)
	h.At("1", "web2", fleet.Connecting)
	at(4)
	h.Done(fun.Return{JID: "1", ID: "web2"})
	at(10)
	h.Done(fun.Return{JID: "1", ID: "web1"})
	h.Done(fun.Return{JID: "1", ID: "web3"})
	for _, tt := range []struct {
		jid, host string
		want      time.Duration
		known     bool
	}{{"1", "web1", 10 * time.Second, true}, {"1", "web2", time.Second, true}, {"1", "web3", 0, false}, {"2", "web1", 0, false}} {
		if got, known := h.of(tt.jid, tt.host); got != tt.want || known != tt.known {
			t.Errorf("%s in %s took %v, %v", tt.host, tt.jid, got, known)
		}
	}
}
