package e2e

import (
	"testing"

	"brine/internal/testkit/sshtest"
)

// An event that a target sends over SSH reaches another run that waits for it.
func TestSSHEventReachesAWaitingRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	s.write("salt/wait.sls", "deploy/done:\n  salt.wait_for_event:\n    - id_list: [web1]\n    - timeout: 120\n")
	waited := make(chan result, 1)
	go func() { waited <- s.brine("run", "state.orchestrate", "wait") }()
	for {
		select {
		case r := <-waited:
			s.want(r, 0, "All events seen")
			return
		default:
			s.want(s.brine("ssh", "web1", "event.send", "deploy/done"), 0, "True")
		}
		if t.Failed() {
			return
		}
	}
}
