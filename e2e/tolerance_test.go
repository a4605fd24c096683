package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/porttest"
	"brine/internal/testkit/sshtest"
)

// TestTolerance: what a step and a command line tolerate of hosts that fail.
func TestTolerance(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2, "down: {host: 127.0.0.1, port: 1}")
	s.write("salt/fine.sls", "fine:\n  test.nop: []\n")
	s.write("salt/picky.sls", "picky:\n  test.{{ 'fail_without_changes' if grains.id == 'web2' else 'nop' }}: []\n")
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	step := func(kind, more string) string {
		what := "sls: fine"
		switch kind {
		case "picky":
			kind, what = "state", "sls: picky"
		case "function":
			what = "name: test.ping"
		}
		return fmt.Sprintf("step:\n  salt.%s: [{tgt: '*'}, {%s}%s]\n", kind, what, more)
	}
	for i, tt := range []struct {
		kind, more string
		exit       int
		has        string
	}{
		{"state", "", 1, "Run failed on minions: down"},
		{"state", ", {expect_minions: True}", 1, "Run failed on minions: down"},
		{"state", ", {expect_minions: False}", 0, "States ran successfully."},
		{"picky", ", {expect_minions: False}", 1, "Run failed on minions: web2"},
		{"picky", "", 1, "Run failed on minions: down, web2"},
		{"picky", ", {fail_minions: 'down, web2'}", 0, "States ran successfully."},
		{"picky", ", {fail_minions: [down]}", 1, "Run failed on minions: web2"},
		{"picky", ", {allow_fail: 2}", 0, "States ran successfully."},
		{"picky", ", {allow_fail: 1}", 1, "Run failed on minions: down, web2"},
		{"picky", ", {allow_fail: 1}, {fail_minions: down}", 0, "States ran successfully."},
		{"picky", ", {allow_fail: some}", 1, "Passed invalid value for 'allow_fail', must be an int"},
		{"function", "", 1, "Running function test.ping failed on minions: down Function test.ping ran on down, web1, web2."},
		{"function", ", {expect_minions: True}", 1, "failed on minions: down"},
		{"function", ", {expect_minions: False}", 0, "Function ran successfully."},
		{"function", ", {fail_minions: down}", 0, "Function ran successfully."},
	} {
		name := fmt.Sprintf("orch%d", i)
		s.write("salt/"+name+".sls", step(tt.kind, tt.more))
		r := s.brine("orchestrate", name)
		s.want(r, tt.exit, tt.has)
		if !strings.Contains(tt.has, "invalid") && !strings.Contains(r.stderr, "step: target down: unreachable: down (127.0.0.1:1): connect: connection refused; check that sshd is listening") {
			t.Errorf("%s%s: why down is not there is not said: %s", tt.kind, tt.more, r.stderr)
		}
	}

	// failhard: after a failure no further target of a batch begins, and no step.
	s.write("salt/batch.sls", `
fail:
  salt.function:
    - name: cmd.run
    - tgt: [web1, web2]
    - tgt_type: list
    - arg: ['echo ran >>`+s.path("ran")+`; exit 1']
    - batch: 1
    - failhard: True
never:
  salt.function: [{name: test.ping, tgt: web1}]
`)
	r := s.brine("orchestrate", "batch")
	s.want(r, 1, "failed on minions: web1 Function", "fail: failhard: not begun on web2")
	if got := read(t, s.path("ran")); got != "ran\n" || strings.Contains(r.stdout, "never") {
		t.Errorf("ran %q: %s", got, r.stdout)
	}
	_ = os.Remove(s.path("ran"))
	r = s.brine("ssh", "web*", "cmd.run", "echo ran >>"+s.path("ran")+"; exit 1", "--batch=1", "--failhard", "--failed-file", s.path("failed"), "--out=json")
	s.want(r, 20, "not begun")
	if got := read(t, s.path("ran")); got != "ran\n" {
		t.Errorf("ran %q", got)
	}
	if got := read(t, s.path("failed")); got != "web1\nweb2\n" {
		t.Errorf("failed: %q", got)
	}

	// --limit says what it does not mean, and an empty file that it means nothing.
	s.want(s.brine("ssh", "web*", "test.ping", "--limit", "web1,wbe2", "--out=json"), 0, "--limit names wbe2, which the target does not match")
	s.want(s.brine("ssh", "web*", "test.ping", "--failed-file", s.path("none")), 0)
	s.want(s.brine("ssh", "web*", "test.ping", "--limit", "@"+s.path("none")), 1, "names no target", "--failed-file is empty")
	s.want(s.brine("ssh", "web*", "test.ping", "--limit", "@"+s.path("nowhere")), 64, "no such file")
	// A file that cannot be written is known before anything runs.
	s.want(s.brine("ssh", "web*", "cmd.run", "touch "+s.path("too-early"), "--failed-file", s.path("no/such/dir/f")), 64, "--failed-file: open")
	if _, err := os.Stat(s.path("too-early")); err == nil {
		t.Error("the function ran although --failed-file cannot be written")
	}
}

// TestRetries: connections are tried again, states never.
func TestRetries(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	flaky := func(n int32) *sshtest.Fake { return s.faulty(func(f *sshtest.Fake) { f.Flaky = n }) }
	three, four, six := flaky(3), flaky(4), flaky(6)
	late := sshtest.NewFakeOn(t, fmt.Sprintf("127.0.0.1:%d", porttest.Port(t)))
	late.Close() // who listens there comes later
	var known, roster strings.Builder
	for id, f := range map[string]*sshtest.Fake{"three": three, "four": four, "six": six, "late": late} {
		fmt.Fprintf(&known, "[127.0.0.1]:%d %s", f.Port(), ssh.MarshalAuthorizedKey(f.HostKey.PublicKey()))
		fmt.Fprintf(&roster, "%s: {host: 127.0.0.1, port: %d}\n", id, f.Port())
	}
	s.write("home/.ssh/known_hosts", read(t, s.sshd.KnownHosts)+known.String())
	s.roster(1, roster.String())

	s.want(s.brine("ssh", "-L", "three,four", "test.ping"), 20, "three:\n    True", "the host closed the connection; see its sshd's log and MaxStartups there")
	if n := four.Dials.Load(); n != 4 {
		t.Errorf("%d connections by default, want 4", n)
	}
	s.want(s.brine("ssh", "six", "test.ping", "--retries", "0"), 20)
	if n := six.Dials.Load(); n != 1 {
		t.Errorf("%d connections with --retries 0, want 1", n)
	}
	s.want(s.brine("ssh", "six", "test.ping", "--retries", "5"), 0, "True")

	// Where it is asked for, a host that is not up yet is waited for.
	p := s.start("ssh", "late", "test.ping", "--retries", "7", "-l", "info")
	await(t, "the first try", func() bool { return strings.Contains(p.errs.String(), "connect again") })
	s.fakeAt(t, late)
	s.want(p.end(t), 0, "True")

	// What was begun is not begun again, whatever --retries says.
	out := t.TempDir()
	s.write("salt/once.sls", "once:\n  cmd.run: [{name: 'echo ran >>"+out+"/ran; kill -9 $PPID; sleep 60'}]\n")
	s.want(s.brine("ssh", "web1", "state.apply", "once", "--retries", "5"), 20, "lost while the call was under way")
	if got := read(t, filepath.Join(out, "ran")); got != "ran\n" {
		t.Errorf("the state ran: %q", got)
	}
}

// fakeAt serves at the address, and with the host key, of a server that has
// ended.
func (s *site) fakeAt(t *testing.T, old *sshtest.Fake) {
	t.Helper()
	for range 100 {
		ln, err := net.Listen("tcp", old.Addr)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		ln.Close()
		break
	}
	f := sshtest.NewFakeOn(t, old.Addr)
	f.HostKey, f.Exec = old.HostKey, s.faulty(func(*sshtest.Fake) {}).Exec
	f.Start()
}
