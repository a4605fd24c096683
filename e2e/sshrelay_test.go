package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"brine/internal/testkit/proxytest"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// TestSSHRelay: states, functions, raw commands and orchestrations on targets
// behind a relay, whose agent is placed as that of any target.
func TestSSHRelay(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	hosts := s.sshd.Hosts(4)
	s.write("roster", fmt.Sprintf("b1: {host: %s}\nweb1: {host: %s, relay: b1}\nweb2: {host: %s, relay: b1, thin_dir: %s}\nweb3: {host: %s, relay: b1, ssh_options: ['ProxyJump=nowhere.invalid']}\n",
		hosts[0], hosts[1], hosts[2], s.path("thin"), hosts[3]))
	s.write("pillar/top.sls", "base: {'web*': [p]}\n")
	s.write("pillar/p.sls", "who: {{ grains.id }}\n")
	s.write("salt/big", strings.Repeat("a file of the controller\n", 20000))
	s.write("salt/web.sls", s.path("out")+"-{{ grains.id }}:\n  file.managed:\n    - source: salt://big\n"+s.path("who")+"-{{ grains.id }}:\n  file.managed:\n    - contents_pillar: who\n")
	s.write("salt/orch.sls", "web:\n  salt.state:\n    - tgt: 'web*'\n    - sls: web\nping:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n    - require:\n      - salt: web\n")
	r := s.brine("orchestrate", "orch", "-l", "debug")
	s.want(r, 0, "Succeeded: 2")
	if n := strings.Count(r.stderr, "relay started"); n != 1 {
		t.Errorf("the relay was started %d times:\n%s", n, r.stderr)
	}
	// The hosts share a home, but for the one with a directory of its own.
	if n := strings.Count(r.stderr, "agent sent by its relay"); n == 0 {
		t.Errorf("the relay did not send the agent:\n%s", r.stderr)
	}
	// So does a large file of the tree, but for who finds it in a cache by then.
	if n := strings.Count(r.stderr, "file sent by its relay"); n == 0 {
		t.Errorf("the relay did not send the file:\n%s", r.stderr)
	}
	for _, h := range hosts[1:] {
		if strings.Contains(r.stderr, fmt.Sprintf("address=%s:", h)) {
			t.Errorf("%s was connected to directly", h)
		}
	}
	for _, id := range []string{"web1", "web2", "web3"} {
		if got := read(t, s.path("out-"+id)); got != read(t, s.path("salt/big")) {
			t.Errorf("%s: %d bytes arrived", id, len(got))
		}
		if got := read(t, s.path("who-"+id)); strings.TrimSpace(got) != id {
			t.Errorf("%s got the pillar of %s", id, got)
		}
	}
	s.want(s.brine("ssh", "web*", "-r", "echo $((6*7))", "--static"), 0, "web1:", "web3:", "42")
	s.want(s.brine("ssh", "web1", "test.ping", "--wipe"), 0, "True")
	if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine/agent")); err == nil {
		t.Error("--wipe left the agent")
	}
	// Another key there than the controller knows, whatever the relay thinks of it.
	s.write("home/.ssh/known_hosts", fmt.Sprintf("[%s]:%d %s", hosts[0], s.sshd.Port, ssh.MarshalAuthorizedKey(s.sshd.HostKey)))
	s.want(s.brine("ssh", "web1", "test.ping"), 20, "web1 ("+hosts[1], "host key")
}

// newBehind is newBroken with the host behind a relay, which has a network of its
// own.
func newBehind(t *testing.T, entry string) (b *broken, relay *proxytest.Proxy) {
	t.Helper()
	b = newBroken(t, "ServerAliveInterval=60", "")
	relay = proxytest.Start(t, net.JoinHostPort("127.0.0.1", fmt.Sprint(b.sshd.Port)), proxytest.Options{})
	b.write("roster", fmt.Sprintf("b1: {host: 127.0.0.1, port: %d}\n", relay.Port())+
		strings.Replace(read(t, b.path("roster")), "{", "{relay: b1, "+entry, 1))
	b.write("home/.ssh/known_hosts", read(t, b.path("home/.ssh/known_hosts"))+
		fmt.Sprintf("[127.0.0.1]:%d %s", relay.Port(), ssh.MarshalAuthorizedKey(b.sshd.HostKey)))
	return b, relay
}

// TestSSHRelayAgentOnce: an agent crosses the link to a relay once, for the relay itself
// and for all targets behind it.
func TestSSHRelayAgentOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	link := proxytest.Start(t, net.JoinHostPort("127.0.0.1", fmt.Sprint(s.sshd.Port)), proxytest.Options{})
	hosts := s.sshd.Hosts(2)
	roster := fmt.Sprintf("b1: {host: 127.0.0.1, port: %d, thin_dir: %s}\n", link.Port(), s.path("relay"))
	for i, h := range hosts {
		roster += fmt.Sprintf("web%d: {host: %s, relay: b1, thin_dir: %s}\n", i, h, s.path(fmt.Sprint("thin", i)))
	}
	s.write("roster", roster)
	s.write("home/.ssh/known_hosts", read(t, s.path("home/.ssh/known_hosts"))+
		fmt.Sprintf("[127.0.0.1]:%d %s", link.Port(), ssh.MarshalAuthorizedKey(s.sshd.HostKey)))
	r := s.brine("ssh", "*", "test.ping", "-l", "debug")
	s.want(r, 0, "b1:", "web0:", "web1:")
	if n := strings.Count(r.stderr, "agent sent by its relay"); n != len(hosts) {
		t.Errorf("the relay sent the agent to %d targets:\n%s", n, r.stderr)
	}
	kept, err := filepath.Glob(s.path("relay/agent/cache/relay/*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the relay keeps %q, %v", kept, err)
	}
	up, _ := link.Passed()
	if size := int64(len(read(t, kept[0]))); size < 1<<20 || up < size || up > size*3/2 {
		t.Errorf("%d bytes crossed the link, and an agent of %d bytes does once", up, size)
	}
}

// relayPID is the process that carries connections; 0 is none.
func (b *broken) relayPID() int {
	b.t.Helper()
	for _, p := range commandsIn(b.sshd.Home) {
		if strings.Contains(p.line, "--relay") {
			return p.pid
		}
	}
	return 0
}

type running struct {
	pid  int
	line string
}

// commandsIn returns the processes whose program is below a directory.
func commandsIn(dir string) (out []running) {
	exes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range exes {
		if to, err := os.Readlink(exe); err != nil || !strings.HasPrefix(to, dir) {
			continue
		}
		var p running
		if _, err := fmt.Sscanf(exe, "/proc/%d/exe", &p.pid); err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(exe), "cmdline"))
		if err == nil {
			p.line = strings.ReplaceAll(string(line), "\x00", " ")
			out = append(out, p)
		}
	}
	return out
}

// TestSSHRelayBreaks: a run goes on when the connection to the relay breaks, the
// one behind it, or the relay is killed, and goes by the fallback when it is gone.
func TestSSHRelayBreaks(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	for _, tt := range []struct {
		name, entry string
		fault       func(b *broken, relay *proxytest.Proxy)
		says        string
	}{
		{name: "before the relay", fault: func(_ *broken, relay *proxytest.Proxy) { relay.Reset() }},
		{name: "behind the relay", fault: func(b *broken, _ *proxytest.Proxy) { b.net.Reset() }},
		{name: "killed", fault: func(b *broken, _ *proxytest.Proxy) {
			pid := b.relayPID()
			if pid == 0 {
				b.t.Fatal("no relay runs")
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				b.t.Fatal(err)
			}
		}},
		{name: "gone", entry: "relay_fallback: direct, ", fault: func(_ *broken, relay *proxytest.Proxy) {
			relay.Refuse(true)
			relay.Reset()
		}, says: "the relay b1 cannot be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, relay := newBehind(t, tt.entry)
			p := b.begin()
			tt.fault(b, relay)
			b.letGo()
			b.good(p)
			if !strings.Contains(p.out.String(), tt.says) {
				t.Errorf("no %q in %s", tt.says, p.out)
			}
			until(t, "the relay ends with the run", func() bool { return b.relayPID() == 0 })
		})
	}
}
