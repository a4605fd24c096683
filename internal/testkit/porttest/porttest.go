// Package porttest finds TCP ports for the servers that tests start.
package porttest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"
)

// Ports are taken from below those that systems give to clients: a connection
// of another test cannot have one of them.
const lowest, highest = 10000, 32000

// Port returns a TCP port that nobody listens at. It stays with the test, also
// while its server is stopped: no other test of this machine is given it.
func Port(t testing.TB) int {
	t.Helper()
	for range 1000 {
		p := lowest + rand.IntN(highest-lowest)
		n := strconv.Itoa(p)
		claim := reserve("brine-test-port-" + n)
		if claim == nil {
			continue
		}
		// To listen there would say more, but a process that another test is just
		// starting would hold the port on for a moment.
		if c, err := net.DialTimeout("tcp", "127.0.0.1:"+n, time.Second); err == nil {
			c.Close()
			claim.Close()
			continue
		}
		t.Cleanup(func() { claim.Close() })
		return p
	}
	t.Fatal("no TCP port is free")
	return 0
}
