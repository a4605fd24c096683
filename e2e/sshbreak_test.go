package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/proxytest"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// A broken is a site whose one host is reached through a network that stalls and
// breaks, and works on a state that ends when it is let.
type broken struct {
	*site
	net *proxytest.Proxy
}

func newBroken(t *testing.T, options, config string) *broken {
	t.Helper()
	s := newSite(t, sshtest.Options{})
	b := &broken{s, proxytest.Start(t, net.JoinHostPort("127.0.0.1", fmt.Sprint(s.sshd.Port)), proxytest.Options{})}
	s.write("roster", fmt.Sprintf("web1: {host: 127.0.0.1, port: %d, ssh_options: [%s]}\n", b.net.Port(), options))
	s.write("home/.ssh/known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", b.net.Port(), ssh.MarshalAuthorizedKey(s.sshd.HostKey)))
	s.write("master", strings.Replace(read(t, s.path("master")), "timeout: 5", "timeout: 1", 1)+"gather_job_timeout: 1\n"+config)
	s.write("salt/slow.sls", "slow:\n  cmd.run:\n    - name: 'echo $$ >"+s.path("call")+"; until [ -e "+s.path("go")+" ]; do sleep 0.1; done'\n"+
		"after:\n  file.managed:\n    - name: "+s.path("after")+"\n    - source: salt://late\n    - require: [{cmd: slow}]\n")
	s.write("salt/late", strings.Repeat("a file of the controller\n", 20000))
	return b
}

// begin starts the state, and returns when it runs.
func (b *broken) begin(args ...string) *spawned {
	b.t.Helper()
	p := b.spawn(append([]string{"ssh", "web1", "state.apply", "slow"}, args...)...)
	until(b.t, "the call runs", func() bool { return lives(pidIn(b.path("call"))) })
	return p
}

// letGo has the state end.
func (b *broken) letGo() { b.write("go", "") }

// good fails the test unless the run succeeded.
func (b *broken) good(p *spawned) {
	b.t.Helper()
	if err := p.cmd.Wait(); err != nil || !strings.Contains(p.out.String(), "Succeeded: 2") {
		b.t.Errorf("%v: %s", err, p.out)
	}
	if _, err := os.Stat(b.path("after")); err != nil {
		b.t.Errorf("the state behind the break is not done: %v", err)
	}
}

// TestSSHBreaks: a network that fails for a while costs that while, and nothing
// else. What a state asks of the controller behind the break is answered.
func TestSSHBreaks(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	t.Run("stall", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=60", "")
		p := b.begin()
		b.net.Stall()
		until(t, "the silence is told", func() bool { return strings.Contains(p.out.String(), "not known to be dead") })
		b.net.Resume()
		b.letGo()
		b.good(p)
	})
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=60", "")
		p := b.begin()
		b.net.Reset()
		b.letGo()
		b.good(p)
	})
	t.Run("dead by keepalives", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=1, ServerAliveCountMax=1, ConnectTimeout=5", "")
		p := b.begin()
		call := pidIn(b.path("call"))
		_, _, begun := b.net.Conns()
		b.net.Stall()
		until(t, "the controller tries another connection", func() bool { _, _, n := b.net.Conns(); return n > begun })
		if !lives(call) {
			t.Error("the call was ended with its connection")
		}
		b.net.Resume()
		b.letGo()
		b.good(p)
	})
	t.Run("controller killed", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=60", "ssh_reconnect: 1\n")
		b.write("salt/late", "small\n") // such a file goes ahead
		jid := time.Now().UTC().Format("20060102150405") + "000001"
		p := b.begin("--jid", jid)
		call := pidIn(b.path("call"))
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		if !lives(call) {
			t.Error("the call was ended with the controller")
		}
		b.letGo()
		left := filepath.Join(b.sshd.Home, ".cache/brine/agent/cache/returns/*")
		until(t, "the return is left", func() bool { names, _ := filepath.Glob(left); return len(names) == 1 })
		b.want(b.brine("run", "jobs.lookup_jid", jid), 0, "Succeeded: 2", "web1")
		if names, _ := filepath.Glob(left); len(names) > 0 {
			t.Errorf("what was fetched is still there: %v", names)
		}
		b.want(b.brine("run", "jobs.lookup_jid", jid), 0, "Succeeded: 2") // it is recorded
	})
	t.Run("nobody comes back to an agent that wipes itself", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=60", "ssh_reconnect: 1\n")
		p := b.begin("--wipe")
		call := pidIn(b.path("call"))
		_ = p.cmd.Process.Signal(syscall.SIGKILL)
		until(t, "the call ends", func() bool { return !lives(call) })
		until(t, "the agent is removed", func() bool {
			_, err := os.Stat(filepath.Join(b.sshd.Home, ".cache/brine"))
			return err != nil
		})
	})
	t.Run("not reached in time", func(t *testing.T) {
		t.Parallel()
		b := newBroken(t, "ServerAliveInterval=60", "ssh_reconnect: 1\n")
		p := b.begin("-v")
		b.net.Refuse(true)
		b.net.Reset()
		if err := p.cmd.Wait(); err == nil {
			t.Error("a run whose target is lost succeeds")
		}
		jid := regexp.MustCompile(`jobs.lookup_jid (\d{20})`).FindStringSubmatch(p.out.String())
		if jid == nil {
			t.Fatalf("the error does not say how the return is fetched: %s", p.out)
		}
		b.letGo()
		b.net.Refuse(false)
		left := filepath.Join(b.sshd.Home, ".cache/brine/agent/cache/returns/*")
		until(t, "the return is left", func() bool { names, _ := filepath.Glob(left); return len(names) == 1 })
		b.want(b.brine("run", "jobs.lookup_jid", jid[1]), 0, "web1", "slow")
	})
}

// TestSSHPushBreaks: the agent that a broken connection cut off is sent from there
// on over the next one, and the run does not see it, with and without a terminal.
func TestSSHPushBreaks(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	for _, tty := range []bool{false, true} {
		t.Run(fmt.Sprint("tty ", tty), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, sshtest.Options{})
			p := proxytest.Start(t, net.JoinHostPort("127.0.0.1", fmt.Sprint(s.sshd.Port)), proxytest.Options{Rate: 8 << 20})
			s.write("roster", fmt.Sprintf("web1: {host: 127.0.0.1, port: %d, tty: %t}\n", p.Port(), tty))
			s.write("home/.ssh/known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s", p.Port(), ssh.MarshalAuthorizedKey(s.sshd.HostKey)))
			run := s.spawn("ssh", "web1", "test.ping", "-l", "debug")
			until(t, "some of the agent is there", func() bool {
				names, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/.part-*"))
				for _, n := range names {
					if st, err := os.Stat(n); err == nil && st.Size() > 1<<20 {
						return true
					}
				}
				return false
			})
			p.Reset()
			if err := run.cmd.Wait(); err != nil || !regexp.MustCompile(`agent sent.* from=[1-9]`).MatchString(run.out.String()) {
				t.Errorf("%v: %s", err, run.out)
			}
			if names, _ := filepath.Glob(filepath.Join(s.sshd.Home, ".cache/brine/agent/.*-*")); len(names) > 0 {
				t.Errorf("left: %v", names)
			}
		})
	}
}

// TestSSHFewFiles: more hosts than a process may have descriptors are worked on,
// also where steps follow each other.
func TestSSHFewFiles(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	const hosts = 70
	s.roster(hosts)
	s.write("salt/orch.sls", "one:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\ntwo:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n    - require: [{salt: one}]\n")
	s.limit = 64
	for _, args := range [][]string{{"ssh", "*", "test.ping", "--summary", "--out=quiet"}, {"ssh", "*", "-r", "true", "--summary", "--out=quiet"}} {
		s.want(s.brine(args...), 0, fmt.Sprintf("# of targets: %d, failed: 0", hosts))
	}
	s.want(s.brine("orchestrate", "orch"), 0, "Succeeded: 2")
}

// TestSSHAgentSilent: a target whose agent does not answer while its host does is
// reported as in Salt, and the state that it works on goes on. Its return is
// fetched later.
func TestSSHAgentSilent(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	for _, max := range []bool{false, true} {
		t.Run(fmt.Sprint("max_wait ", max), func(t *testing.T) {
			t.Parallel()
			config := "ssh_reconnect: 2\n" // nobody comes back
			if max {
				config = "max_wait: 15\n"
			}
			b := newBroken(t, "ServerAliveInterval=60", "")
			b.want(b.brine("ssh", "web1", "test.ping"), 0) // the agent is placed, however long that takes
			b.write("master", read(t, b.path("master"))+config)
			jid := time.Now().UTC().Format("20060102150405") + "000001"
			p := b.begin("--jid", jid)
			agent := agentOf(t, b.sshd.Home)
			if !max {
				if err := syscall.Kill(agent, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = syscall.Kill(agent, syscall.SIGKILL) }()
			}
			if err := p.cmd.Wait(); err == nil || !strings.Contains(p.out.String(), "Minion did not return") || !strings.Contains(p.out.String(), "jobs.lookup_jid "+jid) {
				t.Errorf("%v: %s", err, p.out)
			}
			if !max {
				if err := syscall.Kill(agent, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			if !lives(pidIn(b.path("call"))) {
				t.Error("the state was ended")
			}
			b.letGo()
			left := filepath.Join(b.sshd.Home, ".cache/brine/agent/cache/returns/*")
			until(t, "the return is left", func() bool { names, _ := filepath.Glob(left); return len(names) == 1 })
			r := b.brine("run", "jobs.lookup_jid", jid)
			b.want(r, 0, "web1", "slow")
		})
	}
}

// agentOf returns the process that runs the state of a home.
func agentOf(t *testing.T, home string) int {
	t.Helper()
	claims, err := filepath.Glob(filepath.Join(home, ".cache/brine/agent/cache/states/2*"))
	if err != nil || len(claims) != 1 {
		t.Fatalf("claims %v, %v", claims, err)
	}
	var claim struct{ PID int }
	if err := json.Unmarshal([]byte(read(t, claims[0])), &claim); err != nil || claim.PID == 0 {
		t.Fatalf("%+v, %v", claim, err)
	}
	return claim.PID
}
