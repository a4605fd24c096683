package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/termtest"
)

// TestSSHPlan plans and applies over a real sshd: nothing is changed by the plan,
// equal machines are together, and what changed on a machine is found.
func TestSSHPlan(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(3)
	s.write("pillar/top.sls", "base: {'*': [site]}\n")
	s.write("pillar/site.sls", "api_token: s3cret-s3cret\n")
	s.write("salt/conf", "new\n")
	s.write("salt/web.sls", "conf:\n  file.managed:\n    - name: "+s.path("out")+"/conf\n    - source: salt://conf\nkey:\n  file.managed:\n    - name: "+s.path("out")+"/{{ grains.id }}\n    - contents: {{ pillar.api_token }}\n")
	s.write("salt/orch.sls", "web:\n  salt.state:\n    - tgt: '*'\n    - sls: web\n    - test: False\nreboot:\n  salt.function:\n    - name: system.reboot\n    - tgt: web1\n    - onfail: [{salt: web}]\n")
	s.write("out/conf", "old\n")

	s.want(s.brine("plan", "orch", "-o", "d.plan"), 0, "1. web (salt.state)", "1 host: web1", "-old", "+new", "it runs only if a step of its onfail fails", "3 hosts, 6 changes, 1 not known yet")
	if read(t, s.path("out/conf")) != "old\n" {
		t.Fatal("a plan changed a file")
	}
	if text := read(t, s.path("d.plan")); strings.Contains(text, "s3cret") {
		t.Error("the plan has a secret")
	}
	r := s.brine("plan", "--ssh", "web*", "state.sls", "web", "--out=json")
	s.want(r, 0)
	var doc struct {
		Steps []struct {
			Targets []string
			Hosts   map[string]map[string]string
		}
		Inputs struct{ Pillar, Roster, Tree map[string]string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Steps) != 1 || len(doc.Steps[0].Targets) != 3 || len(doc.Steps[0].Hosts) != 3 || len(doc.Inputs.Pillar) != 3 || len(doc.Inputs.Roster) != 3 {
		t.Errorf("a plan of 3 targets: %s", r.stdout)
	}

	s.write("out/conf", "new\n")
	s.want(s.program("brine", "apply", "d.plan"), 1, "step web: web1 answers differently: conf (file.managed) is no longer due", "nothing was run")
	s.write("out/conf", "old\n")
	s.want(s.program("brine", "apply", "d.plan"), 0, "Updating web1, web2, web3.")
	if read(t, s.path("out/conf")) != "new\n" || read(t, s.path("out/web3")) != "s3cret-s3cret\n" {
		t.Error("the plan was not applied")
	}
	s.want(s.program("brine", "apply", "d.plan"), 1, "nothing was run")

	s.roster(2, "web9: {host: 127.0.0.1, port: 1}")
	s.want(s.brine("plan", "orch", "-o", "n.plan"), 1, "web9: ", "1 not reached", "n.plan was not written")
	if _, err := os.Stat(s.path("n.plan")); err == nil {
		t.Error("a plan that cannot be applied was written")
	}
}

// TestPlanAsks applies a plan on a terminal, where it is asked for once, and
// where any other answer than yes runs nothing.
func TestPlanAsks(t *testing.T) {
	t.Parallel()
	s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
	s.home = s.path("home")
	s.write("master", "file_roots: {base: ["+s.path("salt")+"]}\ncachedir: "+s.path("cache")+"\n")
	s.write("roster", "web1: {connection: local}\n")
	s.write("salt/web.sls", "file:\n  file.touch:\n    - name: "+s.path("made")+"\n")
	s.want(s.brine("plan", "--ssh", "web1", "state.apply", "web", "-o", "d.plan"), 0)
	for _, tt := range []struct {
		answer, want string
		exit         int
		made         bool
	}{
		{answer: "no", want: "nothing was run", exit: 1},
		{answer: "", want: "nothing was run", exit: 1},
		{answer: "yes", want: "Succeeded: 1", made: true},
	} {
		master, slave := termtest.Open(t, 200, 24)
		self := brineProgram()
		c := exec.CommandContext(t.Context(), self, "apply", "d.plan")
		c.Dir, c.Stdin, c.Stdout, c.Stderr = s.dir, slave, slave, slave
		c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_CACHE_HOME="+s.path("xdg"), "BRINE_RUN_DIR="+s.path("cache")+"/events", "NO_COLOR=1", "TERM=xterm")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		// The terminal keeps the line until it is read.
		if _, err := master.WriteString(tt.answer + "\n"); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(master)
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		_ = c.Wait()
		text := string(raw)
		_, err = os.Stat(s.path("made"))
		if c.ProcessState.ExitCode() != tt.exit || !strings.Contains(text, tt.want) || (err == nil) != tt.made || strings.Count(text, "Run it?") != 1 || !strings.Contains(text, "1 host, 1 change\r\n") {
			t.Errorf("answer %q: exit status %d, made %t:\n%s", tt.answer, c.ProcessState.ExitCode(), err == nil, text)
		}
	}
}
