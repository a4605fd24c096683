package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// mastered is a site whose first hosts have a master of OpenSSH: web1, web2, ...
func mastered(t *testing.T, o sshtest.Options, hosts, masters int) (s *site, pids []int) {
	t.Helper()
	s = newSite(t, o)
	s.roster(hosts)
	dir, err := os.MkdirTemp("", "cm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.write("home/.ssh/config", "ControlMaster auto\nControlPath "+dir+"/%h:%p:%r\n")
	for _, h := range s.sshd.Hosts(masters) {
		pids = append(pids, s.sshd.Master(t, h, fmt.Sprintf("%s/%s:%d:%s", dir, h, s.sshd.Port, s.sshd.User)))
	}
	return s, pids
}

// logins are how many connections have logged in.
func (s *site) logins() int { return strings.Count(s.sshd.Log(), "Accepted publickey") }

// TestSSHMasters: connections that OpenSSH holds open are used, for all that brine
// does over a connection.
func TestSSHMasters(t *testing.T) {
	t.Parallel()
	s, _ := mastered(t, sshtest.Options{}, 3, 2)
	s.write("salt/web.sls", s.path("out")+"-{{ grains.id }}:\n  file.managed:\n    - source: salt://big\nfails:\n  cmd.run:\n    - name: 'echo broken >&2; exit 3'\n    - onlyif: test {{ grains.id }} = web2\n")
	s.write("salt/big", strings.Repeat("a file of the controller\n", 20000))
	s.write("salt/orch.sls", "ping:\n  salt.function:\n    - name: test.ping\n    - tgt: 'web[12]'\nagain:\n  salt.function:\n    - name: test.ping\n    - tgt: 'web[12]'\n    - require:\n      - salt: ping\n")
	if n := s.logins(); n != 2 {
		t.Fatalf("%d logins, want those of the masters", n)
	}
	s.want(s.brine("ssh", "web[12]", "test.ping"), 0, "web1:", "web2:", "True")
	s.want(s.brine("ssh", "web[12]", "state.apply", "web"), 20, "broken", "Failed:    1")
	s.want(s.brine("ssh", "web1", "-r", "echo out; echo err >&2; exit 7"), 20, "out", "err", "7")
	s.want(s.brine("orchestrate", "orch"), 0, "Succeeded: 2")
	if n := s.logins(); n != 2 {
		t.Errorf("%d logins, want those of the masters", n)
	}
	for _, id := range []string{"web1", "web2"} {
		if got := read(t, s.path("out-"+id)); got != read(t, s.path("salt/big")) {
			t.Errorf("%s: %d bytes arrived", id, len(got))
		}
	}
	// A host without one is logged in to, and what the user asks for instead of a
	// master's connection as well.
	s.want(s.brine("ssh", "web*", "test.ping", "-l", "debug"), 0, "web3:", "master", "no master")
	if n := s.logins(); n != 3 {
		t.Errorf("%d logins, want one more", n)
	}
	for i, more := range [][]string{{"--ssh-option", "ControlPath=none"}, {"--host-keys", "strict"}, {"--ssh-option", "ControlMaster=yes"}} {
		s.want(s.brine(append([]string{"ssh", "web1", "test.ping"}, more...)...), 0, "True")
		if n := s.logins(); n != 4+i {
			t.Errorf("%d logins after %v, want one more", n-4-i+1, more)
		}
	}
}

// TestSSHMasterJump: the master of a jump host carries connections to those behind it.
func TestSSHMasterJump(t *testing.T) {
	t.Parallel()
	s, _ := mastered(t, sshtest.Options{}, 3, 1)
	hosts := s.sshd.Hosts(3)
	s.write("home/.ssh/config", read(t, s.path("home/.ssh/config"))+fmt.Sprintf("Host %s %s\nProxyJump %s@%s:%d\n", hosts[1], hosts[2], s.sshd.User, hosts[0], s.sshd.Port))
	s.want(s.brine("ssh", "web[23]", "test.ping"), 0, "web2:", "web3:")
	if n := s.logins(); n != 3 {
		t.Errorf("%d logins, want that of the master and those of the two behind it", n)
	}
}

// TestSSHMasterNotUsed: a master that could be that of another host, refuses, hangs or
// has left its socket does not keep a host from being worked on.
func TestSSHMasterNotUsed(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	t.Run("path", func(t *testing.T) {
		t.Parallel()
		s, _ := mastered(t, sshtest.Options{}, 2, 1)
		conf := read(t, s.path("home/.ssh/config"))
		// All hosts would be the one of the master.
		s.write("home/.ssh/config", strings.Replace(conf, "%h:%p:%r", fmt.Sprintf("%s:%d:%s", s.sshd.Hosts(1)[0], s.sshd.Port, s.sshd.User), 1))
		s.want(s.brine("ssh", "web2", "test.ping", "-l", "debug"), 0, "True", "it could be that of another host")
		if n := s.logins(); n != 2 {
			t.Errorf("%d logins, want one more than the master's", n)
		}
	})
	t.Run("no more sessions", func(t *testing.T) {
		t.Parallel()
		s, _ := mastered(t, sshtest.Options{Config: []string{"MaxSessions 2"}}, 1, 1)
		for i := range 2 {
			pid := s.path(fmt.Sprintf("held%d", i))
			c := exec.Command(sshtest.Require(t, "ssh"), "-F", s.path("home/.ssh/config"), "-p", fmt.Sprint(s.sshd.Port), "-l", s.sshd.User, s.sshd.Hosts(1)[0], "echo $$ >"+pid+"; exec cat")
			stdin, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = stdin.Close()
				_ = c.Wait()
			}()
			until(t, "a session is taken", func() bool { return lives(pidIn(pid)) })
		}
		s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
		s.want(s.brine("ssh", "web1", "-r", "echo once >>"+s.path("raw")), 0)
		if got := read(t, s.path("raw")); got != "once\n" {
			t.Errorf("the command ran: %q", got)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		s, pids := mastered(t, sshtest.Options{}, 1, 1)
		if err := syscall.Kill(pids[0], syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Kill(pids[0], syscall.SIGCONT) }()
		s.want(s.brine("ssh", "web1", "test.ping"), 0, "True", "ControlPath is not used", "no master answers", "brine makes its own connection")
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		s, pids := mastered(t, sshtest.Options{}, 1, 1)
		if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "the master is gone", func() bool { return !lives(pids[0]) })
		r := s.brine("ssh", "web1", "test.ping")
		s.want(r, 0, "True")
		if r.stderr != "" {
			t.Errorf("it says %s", r.stderr)
		}
	})
}

// TestSSHMasterDies: a run goes on over a connection of its own when the master that
// it used is killed. What runs is not begun again.
func TestSSHMasterDies(t *testing.T) {
	t.Parallel()
	s, pids := mastered(t, sshtest.Options{}, 1, 1)
	s.write("salt/slow.sls", "slow:\n  cmd.run:\n    - name: 'echo $$ >"+s.path("call")+"; echo x >>"+s.path("times")+"; until [ -e "+s.path("go")+" ]; do sleep 0.1; done'\n"+
		"after:\n  file.managed:\n    - name: "+s.path("after")+"\n    - source: salt://late\n    - require: [{cmd: slow}]\n")
	s.write("salt/late", strings.Repeat("a file of the controller\n", 20000))
	b := &broken{site: s}
	p := b.begin()
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.letGo()
	b.good(p)
	if got := read(t, s.path("times")); got != "x\n" {
		t.Errorf("the command ran %d times", strings.Count(got, "x"))
	}
	if n := s.logins(); n != 2 {
		t.Errorf("%d logins, want the master's and one more", n)
	}
}

// TestSSHMasterSudo: sudo is given its password over a session of a master.
func TestSSHMasterSudo(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(sudoScript), 0o755); err != nil {
		t.Fatal(err)
	}
	s, _ := mastered(t, sshtest.Options{Env: []string{"PATH=" + bin + ":/usr/bin:/bin:/usr/sbin:/sbin", "SUDO_LOG=" + filepath.Join(bin, "log")}}, 1, 1)
	host := s.sshd.Hosts(1)[0]
	s.write("roster", fmt.Sprintf("with: {host: %s, sudo: True, passwd: \"the pass'word\"}\nwrong: {host: %[1]s, sudo: True, passwd: wrong}\n", host))
	s.want(s.brine("ssh", "with", "test.ping"), 0, "True")
	s.want(s.brine("ssh", "wrong", "test.ping"), 20, "sudo does not take the password")
	if n := s.logins(); n != 1 {
		t.Errorf("%d logins, want the master's", n)
	}
}
