package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// newBoxes lays out a controller with the tree testdata/seeds/reboots and
// machines box1, box2, ... in this process. set is called for each before it
// answers.
func newBoxes(t *testing.T, n int, set func(i int, m *sshtest.Machine)) (*site, []*sshtest.Machine) {
	t.Helper()
	s := &site{t: t, sshd: &sshtest.Server{}, dir: t.TempDir()}
	s.home = filepath.Join(s.dir, "home")
	if err := os.CopyFS(s.dir, os.DirFS("testdata/seeds/reboots")); err != nil {
		t.Fatal(err)
	}
	var roster, known strings.Builder
	boxes := make([]*sshtest.Machine, n)
	for i := range boxes {
		cache := t.TempDir()
		m := sshtest.NewMachine(t, func(ctx context.Context, rw io.ReadWriteCloser, h host.Host) error {
			return assembly.ServeAgent(ctx, rw, assembly.AgentOptions{Host: h, Table: assembly.Table(), Version: "test", CacheDir: cache})
		})
		m.Minute, m.Down = 1500*time.Millisecond, 700*time.Millisecond
		set(i+1, m)
		m.Start()
		boxes[i] = m
		fmt.Fprintf(&roster, "box%d: {host: 127.0.0.1, port: %d, minion_opts: {cachedir: %s}}\n", i+1, m.Port(), s.path("scratch"))
		fmt.Fprintln(&known, xknownhosts.Line([]string{m.Addr}, m.HostKey.PublicKey()))
	}
	s.write("roster", roster.String())
	s.write("home/.ssh/known_hosts", known.String())
	return s, boxes
}

// A step is what the report has of a step.
type step struct {
	Result  *bool
	Comment string
	Changes map[string]any
}

func (s step) ok() bool { return s.Result != nil && *s.Result }

// orchestrate runs an orchestration of the tree with pillar data and returns
// its steps by their IDs.
func (s *site) orchestrate(sls, pillar string) (map[string]step, result) {
	s.t.Helper()
	return s.steps("orchestrate", sls, "pillar="+pillar, "--out=json")
}

// steps is orchestrate with another command line.
func (s *site) steps(args ...string) (map[string]step, result) {
	s.t.Helper()
	r := s.brine(args...)
	var doc struct{ Data map[string]map[string]step }
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		s.t.Fatalf("%v: %s\n%s", err, r.stdout, r.stderr)
	}
	steps := map[string]step{}
	for tag, st := range doc.Data["ctl"] {
		steps[strings.Split(tag, "_|-")[1]] = st
	}
	return steps, r
}

const two = `"targets": ["box1", "box2"]`

// wantBack fails the test unless all steps succeeded, the boxes were booted
// anew, and the last step, which came after, worked on them.
func (s *site) wantBack(steps map[string]step, r result, wait string, boxes []*sshtest.Machine) {
	s.t.Helper()
	s.want(r, 0)
	for id, st := range steps {
		if !st.ok() {
			s.t.Errorf("%s: %s", id, st.Comment)
		}
	}
	if c := steps[wait].Comment; !strings.HasPrefix(c, "All events seen in ") || strings.Contains(c, "No reboot") {
		s.t.Errorf("%s: %s", wait, c)
	}
	for i, m := range boxes {
		if m.Boots() != 2 {
			s.t.Errorf("box%d was booted %d times", i+1, m.Boots())
		}
		if _, err := os.Stat(s.path(fmt.Sprintf("scratch/box%d/page.html", i+1))); err != nil {
			s.t.Error(err)
		}
	}
}

func TestRebootAMinuteLate(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(int, *sshtest.Machine) {})
	steps, r := s.orchestrate("orch.upgrade", "{"+two+"}")
	s.wantBack(steps, r, "chain_entry_2_wait_for_reboots", boxes)
	if got := boxes[0].Asked(); len(got) != 1 || got[0] != "shutdown -r 1" {
		t.Errorf("asked: %q", got)
	}
	if seen, _ := steps["chain_entry_2_wait_for_reboots"].Changes["minions_seen"].([]any); len(seen) != 2 {
		t.Errorf("changes of the wait: %v", steps["chain_entry_2_wait_for_reboots"].Changes)
	}
	if r.stderr != "" {
		t.Errorf("stderr: %s", r.stderr)
	}
}

// No trace on the machine: that system.reboot was called is known here.
func TestRebootWithoutTrace(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(_ int, m *sshtest.Machine) { m.Traceless = true })
	steps, r := s.orchestrate("orch.upgrade", "{"+two+"}")
	s.wantBack(steps, r, "chain_entry_2_wait_for_reboots", boxes)
}

func TestRebootOverBeforeTheWait(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(_ int, m *sshtest.Machine) { m.Down = 100 * time.Millisecond })
	steps, r := s.orchestrate("orch.upgrade", "{"+two+`, "when": 0, "nap": 2}`)
	s.wantBack(steps, r, "chain_entry_2_wait_for_reboots", boxes)
}

// The connection ends under system.reboot itself, or nothing comes of it any
// more.
func TestRebootCutsTheCall(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(i int, m *sshtest.Machine) { m.Cut, m.Silent = true, i == 2 })
	s.write("master", read(t, s.path("master"))+"timeout: 1\ngather_job_timeout: 5\n")
	steps, r := s.orchestrate("orch.upgrade", "{"+two+`, "when": 0}`)
	s.wantBack(steps, r, "chain_entry_2_wait_for_reboots", boxes)
	if c := steps["chain_entry_2_reboot"].Comment; c != "Function ran successfully. Function system.reboot ran on box1, box2." {
		t.Errorf("the reboot: %s", c)
	}
}

// The template of the RFC: the states of a step call shutdown(8).
func TestRebootByCommand(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(int, *sshtest.Machine) {})
	steps, r := s.orchestrate("update_box", "{"+two+"}")
	s.wantBack(steps, r, "entry2_wait_for_reboots", boxes)
	if got := boxes[1].Asked(); len(got) != 1 || got[0] != "shutdown -r +1" {
		t.Errorf("asked: %q", got)
	}
}

// The connections of a machine that loses its power stay open.
func TestRebootWithoutFarewell(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(_ int, m *sshtest.Machine) { m.Silent = true })
	steps, r := s.orchestrate("orch.upgrade", "{"+two+"}")
	s.wantBack(steps, r, "chain_entry_2_wait_for_reboots", boxes)
}

// A connection that was not used for a while is asked whether anybody is there
// before a call goes over it.
func TestDeadConnectionBetweenSteps(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s, boxes := newBoxes(t, 1, func(int, *sshtest.Machine) {})
	s.write("salt/dead.sls", `
one: {salt.function: [{name: test.ping}, {tgt: box1}]}
nap: {cmd.run: [{name: '`+s.meanwhile(boxes[0].Freeze)+`; sleep 11'}]}
two: {salt.function: [{name: test.ping}, {tgt: box1}]}
`)
	steps, r := s.orchestrate("dead", "{}")
	s.want(r, 0)
	if !steps["two"].ok() || boxes[0].Dials.Load() != 2 {
		t.Errorf("%s, %d connections", steps["two"].Comment, boxes[0].Dials.Load())
	}
}

// States call the function, too. Agents that wipe themselves are asked over the
// connection that stands.
func TestRebootByModuleRun(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(int, *sshtest.Machine) {})
	s.write("salt/update_box/entry2_reboot.sls", "reboot_box:\n  module.run:\n    - system.reboot:\n      - at_time: 1\n")
	s.write("master", read(t, s.path("master"))+"ssh_wipe: True\n")
	steps, r := s.orchestrate("update_box", "{"+two+"}")
	s.wantBack(steps, r, "entry2_wait_for_reboots", boxes)
	if got := boxes[1].Asked(); len(got) != 1 || got[0] != "shutdown -r 1" {
		t.Errorf("asked: %q", got)
	}
}

// A reboot that was called off is none to wait for.
func TestRebootCalledOff(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 1, func(_ int, m *sshtest.Machine) { m.Minute = time.Hour })
	s.write("salt/called_off.sls", `
ask: {salt.function: [{name: system.reboot}, {tgt: box1}, {arg: [1]}]}
undo: {salt.function: [{name: cmd.run}, {tgt: box1}, {arg: ['shutdown -c']}]}
wait: {salt.wait_for_event: [{name: salt/minion/box1/start}, {id_list: [box1]}, {timeout: 60}]}
`)
	steps, r := s.orchestrate("called_off", "{}")
	s.want(r, 0)
	if c := steps["wait"].Comment; !strings.HasSuffix(c, "No reboot was pending on box1: a new connection counts as the start.") || boxes[0].Boots() != 1 {
		t.Errorf("the wait: %s, %d boots", c, boxes[0].Boots())
	}
}

// meanwhile returns a command that lets do run in this process and ends when it
// has.
func (s *site) meanwhile(do func()) string {
	begun, over := s.path("begun"), s.path("over")
	go func() {
		for s.t.Context().Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				do()
				_ = os.WriteFile(over, nil, 0o600)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return "touch " + begun + "; while [ ! -e " + over + " ]; do sleep 0.1; done"
}

func TestRebootByHand(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(int, *sshtest.Machine) {})
	console := s.meanwhile(func() {
		boxes[0].Schedule(time.Second) // it waits for its time
		boxes[1].Reboot()              // it is gone
	})
	steps, r := s.orchestrate("orch.by_hand", "{"+two+`, "console": "`+console+`"}`)
	s.wantBack(steps, r, "wait", boxes)
}

func TestRebootNeverComes(t *testing.T) {
	t.Parallel()
	s, _ := newBoxes(t, 3, func(i int, m *sshtest.Machine) {
		switch i {
		case 1: // stays up
			m.Minute = time.Hour
		case 2: // goes down and stays there
			m.Minute, m.Down = 100*time.Millisecond, time.Hour
		}
	})
	steps, r := s.orchestrate("orch.upgrade", `{"targets": ["box1", "box2", "box3"], "timeout": 10}`)
	s.want(r, 1, "chain_entry_2_wait_for_reboots: no event \"salt/minion/*/start\" came of box1, box2")
	c := steps["chain_entry_2_wait_for_reboots"].Comment
	for _, text := range []string{"Timeout value reached. Missing: box1 (it is up with the boot that it had: its reboot is to begin at ", "), box2 (", ")."} {
		if !strings.Contains(c, text) {
			t.Errorf("no %q in %q", text, c)
		}
	}
	if strings.Contains(c, "box3") {
		t.Errorf("box3 is back: %q", c)
	}
	if st := steps["chain_entry_3_site"]; st.ok() || !strings.Contains(st.Comment, "One or more requisite failed") {
		t.Errorf("the step after: %s", st.Comment)
	}
}

// An orchestration that is resumed at its wait compares with the boots that the
// run before it had met.
func TestRebootResumed(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(i int, m *sshtest.Machine) {
		m.Traceless = true
		if i == 1 {
			m.Minute = time.Hour // it goes down when it is told to, below
		}
	})
	resume := func(pillar string) (map[string]step, result) {
		t.Helper()
		list := s.brine("run", "jobs.list_jobs", "search_function=runner.state.orchestrate", "--out=json")
		var runs map[string]any
		if err := json.Unmarshal([]byte(list.stdout), &runs); err != nil || len(runs) == 0 {
			t.Fatalf("%v: %s%s", err, list.stdout, list.stderr)
		}
		return s.steps("orchestrate", "--resume", slices.Max(slices.Collect(maps.Keys(runs))), "pillar="+pillar, "--out=json")
	}
	const wait = "chain_entry_2_wait_for_reboots"
	pillar := "{" + two + `, "timeout": 10}`
	steps, r := s.orchestrate("orch.upgrade", pillar)
	s.want(r, 1)
	if c := steps[wait].Comment; !strings.Contains(c, "box1 (it is up with the boot that it had: system.reboot was called, and no shutdown is pending)") {
		t.Errorf("the first wait: %s", c)
	}
	// It was asked to, and is up as before: another process knows that, too.
	steps, r = resume(pillar)
	s.want(r, 1)
	if c := steps[wait].Comment; !strings.Contains(c, "box1 (it is up with the boot that it had: system.reboot was called, and no shutdown is pending)") {
		t.Errorf("the second wait: %s", c)
	}
	boxes[0].Reboot()
	// The third goes on where the second ended, which did none of the steps before.
	for range 10 { // ten seconds may be too few on a busy machine
		if steps, r = resume(pillar); steps[wait].ok() {
			break
		}
	}
	s.wantBack(steps, r, wait, boxes)
	for i, m := range boxes {
		if got := m.Asked(); len(got) != 1 {
			t.Errorf("box%d was asked %q", i+1, got)
		}
	}
}

func TestNoRebootPending(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 2, func(int, *sshtest.Machine) {})
	steps, r := s.orchestrate("orch.restart", "{"+two+"}")
	s.want(r, 0)
	if c := steps["wait_for_agents"].Comment; !strings.HasSuffix(c, " No reboot was pending on box1, box2: a new connection counts as the start.") {
		t.Errorf("the wait: %s", c)
	}
	for i, m := range boxes {
		// One connection before the wait and one since: the step after it uses
		// the new one.
		if n := m.Dials.Load(); m.Boots() != 1 || n != 2 {
			t.Errorf("box%d: %d boots, %d connections", i+1, m.Boots(), n)
		}
	}
}

// The chain without a reboot over a real sshd.
func TestSSHNoRebootPending(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2)
	for _, name := range []string{"orch/restart.sls", "packages.sls", "site.sls"} {
		s.write("salt/"+name, read(t, "testdata/seeds/reboots/salt/"+name))
	}
	s.write("pillar/top.sls", "base: {'*': [home]}\n")
	s.write("pillar/home.sls", "home: "+s.path("boxes")+"/{{ grains['id'] }}\n")
	r := s.brine("orchestrate", "orch.restart", `pillar={"targets": ["web1", "web2"]}`)
	s.want(r, 0, "No reboot was pending on web1, web2: a new connection counts as the start.", "Succeeded: 4")
	if got := read(t, s.path("boxes/web2/page.html")); got != "<p>web2</p>\n" {
		t.Errorf("page.html: %q", got)
	}
}

// A connection that ended between two steps is made anew.
func TestConnectionEndedBetweenSteps(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	s, boxes := newBoxes(t, 1, func(int, *sshtest.Machine) {})
	s.write("salt/cut.sls", `
one: {salt.function: [{name: test.ping}, {tgt: box1}]}
nap: {cmd.run: [{name: '`+s.meanwhile(boxes[0].Kill)+`; sleep 1'}]}
two: {salt.function: [{name: test.ping}, {tgt: box1}]}
`)
	steps, r := s.orchestrate("cut", "{}")
	s.want(r, 0)
	if !steps["two"].ok() || boxes[0].Dials.Load() != 2 {
		t.Errorf("%s, %d connections", steps["two"].Comment, boxes[0].Dials.Load())
	}
}

func TestInterruptEndsTheWait(t *testing.T) {
	t.Parallel()
	s, boxes := newBoxes(t, 1, func(_ int, m *sshtest.Machine) { m.Schedule(time.Hour) })
	self := brineProgram()
	c := exec.Command(self)
	c.Args = []string{"brine", "orchestrate", "-c", s.dir, "orch.by_hand", `pillar={"targets": ["box1"], "timeout": 600}`}
	c.Dir = s.dir
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "HOME="+s.home, "XDG_RUNTIME_DIR="+s.path("scratch"), "BRINE_RUN_DIR="+s.path("scratch")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	deadline := time.After(90 * time.Second)
	for boxes[0].Dials.Load() < 2 { // the second is that of the wait
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, out.String())
		case <-deadline:
			t.Fatal("the wait does not begin")
		case <-time.After(10 * time.Millisecond):
		}
	}
	_ = c.Process.Signal(os.Interrupt)
	select {
	case err := <-ended:
		var ee *exec.ExitError
		if !errors.As(err, &ee) || ee.ExitCode() != 130 {
			t.Errorf("it ended with %v", err)
		}
	case <-deadline:
		_ = c.Process.Signal(syscall.SIGKILL)
		t.Fatal("the interrupt does not end the wait")
	}
	if !strings.Contains(out.String(), "Interrupted while waiting for event 'salt/minion/*/start'. Missing: box1 (") {
		t.Errorf("the report:\n%s", out.String())
	}
}
