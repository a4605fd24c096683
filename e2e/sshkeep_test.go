package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
	"brine/sshexec"
)

// A keptRow is a connection as brine ssh --connections lists it.
type keptRow struct {
	Host, User, Ends, Socket string
	PID                      int
}

// kept returns the connections that are kept, by id.
func (s *site) kept() map[string]keptRow {
	s.t.Helper()
	r := s.brine("ssh", "--connections", "--out=json")
	s.want(r, 0)
	out := map[string]keptRow{}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		s.t.Fatalf("%v: %s", err, r.stdout)
	}
	return out
}

// keepingSite is a site whose connections are kept.
func keepingSite(t *testing.T, hosts int) *site {
	t.Helper()
	s := newSite(t, sshtest.Options{})
	s.roster(hosts)
	run, err := os.MkdirTemp("", "r") // its path is short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "XDG_RUNTIME_DIR="+run, "BRINE_RUN_DIR="+run+"/events")
	t.Cleanup(func() {
		kept, err := sshexec.ListKept(context.Background(), filepath.Join(run, "brine/ssh"), os.Geteuid())
		if err != nil {
			t.Error(err)
		}
		for _, k := range kept {
			_ = syscall.Kill(k.PID, syscall.SIGKILL)
		}
		_ = os.RemoveAll(run)
	})
	return s
}

// wantLogins checks how many connections have logged in.
func (s *site) wantLogins(n int, after string) {
	s.t.Helper()
	if got := s.logins(); got != n {
		s.t.Errorf("%d log-ins after %s, want %d", got, after, n)
	}
}

// TestSSHKept: connections outlive a run where that is asked for, and the next runs use
// them. What they run is of their own time.
func TestSSHKept(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s := keepingSite(t, 2)
	persist := func(args ...string) result {
		t.Helper()
		return s.brine(append([]string{"ssh", "web*"}, append(args, "--ssh-persist", "600")...)...)
	}
	s.want(s.brine("ssh", "web*", "test.ping"), 0, "web1:", "web2:")
	s.wantLogins(2, "a run that keeps nothing")
	s.want(s.brine("ssh", "--connections"), 0, "no connections are kept")
	s.want(persist("test.ping"), 0, "web1:", "web2:")
	s.wantLogins(4, "the first run")

	s.write("salt/top.sls", "base: {'*': [web]}\n")
	s.write("pillar/top.sls", "base: {'*': [data]}\n")
	roster := read(t, s.path("roster"))
	for i, text := range []string{"first", "second"} {
		s.write("pillar/data.sls", "word: "+text+"\n")
		s.write("roster", strings.ReplaceAll(roster, "role: web", "role: web, turn: "+text))
		s.write("salt/web.sls", "{{ grains.id }}:\n  file.managed:\n    - name: "+s.path("out")+"-{{ grains.id }}\n    - contents: {{ pillar.word }} {{ grains.turn }} "+text+"\n")
		s.want(persist("state.apply"), 0, "Succeeded: 1", "changed=1")
		for _, id := range []string{"web1", "web2"} {
			if got := read(t, s.path("out-"+id)); strings.TrimSpace(got) != strings.Repeat(text+" ", 2)+text {
				t.Errorf("run %d: %s has %q", i, id, got)
			}
		}
	}
	s.want(persist("-r", "echo raw; exit 3"), 20, "raw")
	s.wantLogins(4, "four runs")
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	s.wantLogins(5, "a run that does not ask for it")

	k := s.kept()
	if len(k) != 2 || k["web1"].PID != k["web2"].PID || k["web1"].User != s.sshd.User || !strings.HasSuffix(k["web1"].Host, fmt.Sprint(":", s.sshd.Port)) {
		t.Fatalf("%+v", k)
	}
	st, err := os.Stat(filepath.Dir(k["web1"].Socket))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the sockets has mode %v, %v", st, err)
	}
	s.want(s.brine("ssh", "--connections=close", "web2"), 0, "web2")
	s.want(s.brine("ssh", "--connections=close", "web2"), 1, "no connection is kept to web2")
	if k := s.kept(); len(k) != 1 {
		t.Errorf("%+v", k)
	}

	// Of the agents, those of runs have ended, and one waits for the next run.
	until(t, "one agent is left", func() bool { return len(commandsIn(s.sshd.Home)) == 1 })
	waits := commandsIn(s.sshd.Home)
	if len(waits) != 1 {
		t.Fatalf("%v", waits)
	}
	s.want(persist("cmd.run", "echo agent $PPID", "--limit", "web1"), 0, fmt.Sprint("agent ", waits[0].pid))
	until(t, "the next one waits", func() bool {
		next := commandsIn(s.sshd.Home)
		return len(next) == 1 && next[0].pid != waits[0].pid
	})

	// A keeper that is killed is noticed.
	if err := syscall.Kill(k["web1"].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the keeper is gone", func() bool { return !lives(k["web1"].PID) })
	r := persist("test.ping")
	s.want(r, 0, "web1:", "web2:")
	if r.stderr != "" {
		t.Errorf("it says %s", r.stderr)
	}
	s.wantLogins(7, "the keeper was killed")

	s.want(s.brine("ssh", "--connections=close"), 0, "web1", "web2")
	until(t, "no agent is left", func() bool { return len(commandsIn(s.sshd.Home)) == 0 })

	// Another key in the same file is another connection.
	sshtest.WriteKey(t, s.sshd.Key, "")
	s.want(persist("test.ping"), 20, "authentication")
}

// TestSSHKeptControlPersist: ControlPersist of ssh_config keeps connections as well.
func TestSSHKeptControlPersist(t *testing.T) {
	t.Parallel()
	s := keepingSite(t, 1)
	s.write("home/.ssh/config", "ControlMaster auto\nControlPath "+s.path("cm")+"-%C\nControlPersist yes\n")
	for range 2 {
		s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	}
	s.wantLogins(1, "two runs")
	if k := s.kept(); k["web1"].Ends != "not by itself" {
		t.Errorf("%+v", k)
	}
	s.want(s.brine("ssh", "web1", "test.ping", "--ssh-persist", "0"), 0, "True")
	s.wantLogins(2, "a run with --ssh-persist 0")
}

// TestSSHKeptDies: a run goes on over a connection of its own when the keeper is killed
// under it. What runs is not begun again.
func TestSSHKeptDies(t *testing.T) {
	t.Parallel()
	s := keepingSite(t, 1)
	s.write("home/.ssh/config", "ControlMaster auto\nControlPath "+s.path("cm")+"-%C\nControlPersist 600\n")
	s.write("salt/slow.sls", "slow:\n  cmd.run:\n    - name: 'echo $$ >"+s.path("call")+"; echo x >>"+s.path("times")+"; until [ -e "+s.path("go")+" ]; do sleep 0.1; done'\n"+
		"after:\n  file.managed:\n    - name: "+s.path("after")+"\n    - source: salt://late\n    - require: [{cmd: slow}]\n")
	s.write("salt/late", strings.Repeat("a file of the controller\n", 20000))
	s.want(s.brine("ssh", "web1", "test.ping"), 0, "True")
	b := &broken{site: s}
	p := b.begin()
	if err := syscall.Kill(s.kept()["web1"].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.letGo()
	b.good(p)
	if got := read(t, s.path("times")); got != "x\n" {
		t.Errorf("the command ran %d times", strings.Count(got, "x"))
	}
	s.wantLogins(2, "the keeper was killed")
}
