package trial

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"brine/internal/fleet/machine"
	"brine/internal/py/source"
)

// take finds the given host of a job; name is that of a machine of an orchestration.
func (p *plan) take(name string) error {
	c, system := p.job.Case, p.job.System
	h, ok := c.Machine.Hosts[system]
	switch {
	case name != "":
		return &source.Error{Pos: c.Pos, Err: errors.New("an orchestration cannot be tested on given hosts: use another driver than ssh")}
	case !ok:
		return &machine.UnusableError{
			Driver: p.driver.Name, Why: "the case " + c.Name + " has no host of " + system,
			Hint: "name one in the case file: hosts: {" + system + ": {target: ID, may_be_changed: true, reset: COMMAND}}",
		}
	}
	p.given = &machine.Given{Target: h.Target, Reset: h.Reset}
	return nil
}

// freshness says of the check of a machine what a given host is not.
func (p *plan) freshness(c Check) Check {
	switch {
	case p.given == nil:
		return c
	case p.given.Reset == "":
		c.Status = Skipped
		c.Text += ": " + p.given.Target + ", not fresh: it is as the last test left it; with its own network"
	default:
		c.Text += ": " + p.given.Target + ", brought back, with its own network"
	}
	if p.m.HadLeftovers() {
		c.Text += "; removed what a test that was cut off left there"
	}
	return c
}

// tidying names what is done with a given host at the end of a test.
const tidying = "tidy the host"

// leaving names the end of a test on a given host; "": the machine was made.
func (p *plan) leaving() string {
	if p.given == nil {
		return ""
	}
	return tidying
}

// startHint says what to do about a machine that did not start, or a given host that cannot
// be used; "" where that is not known.
func (p *plan) startHint(err error) string {
	text := err.Error()
	if _, ok := errors.AsType[*machine.ResetError](err); ok {
		return "mend the command under reset, and try it in the directory of the tree: " + p.given.Reset
	}
	switch {
	case p.given != nil:
	case strings.Contains(text, "rlimit"):
		return "this machine, a container itself, may not set the limits of containers: give it CAP_SYS_RESOURCE, or use --driver nspawn or namespace"
	case strings.Contains(text, "unshare failed"):
		return "this machine does not let you make namespaces: see the sysctls user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or use another driver; --compile needs none"
	}
	return ""
}

// mayHold refuses to keep the machines of tests that have the same one.
func (l *Lab) mayHold(plans []*plan) error {
	of := map[string]*plan{}
	for _, p := range plans {
		if l.Hold == nil || p.given == nil {
			continue
		}
		if q := of[p.given.Target]; q != nil {
			return fmt.Errorf("%s and %s are tested on the same host, %s, which cannot be kept for both: select one with --case and --system", q.r.Name(), p.r.Name(), p.given.Target)
		}
		of[p.given.Target] = p
	}
	return nil
}

// takenHosts are the given hosts that a test uses now, by target.
type takenHosts struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

// take waits until no other test uses a host, and returns what gives it back.
func (t *takenHosts) take(g *machine.Given) (back func()) {
	if g == nil {
		return func() {}
	}
	t.mu.Lock()
	if t.locks == nil {
		t.locks = map[string]*sync.Mutex{}
	}
	lock := t.locks[g.Target]
	if lock == nil {
		lock = &sync.Mutex{}
		t.locks[g.Target] = lock
	}
	t.mu.Unlock()
	lock.Lock()
	return lock.Unlock
}
