//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/termtest"
)

// onTerminal runs a brine whose stdin, stdout and stderr are a terminal.
func (s *site) onTerminal(width int, c *exec.Cmd) (*termtest.VT, string, int) {
	s.t.Helper()
	height := 24
	if width == 200 {
		height = 50
	}
	master, slave := termtest.Open(s.t, uint16(width), uint16(height))
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.Env = append(c.Env, "TERM=xterm", "LC_ALL=C.UTF-8", "CI=", "BRINE_PROGRESS=")
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	slave.Close()
	raw, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) {
		s.t.Fatal(err)
	}
	_ = c.Wait()
	v := &termtest.VT{Width: width}
	if _, err := v.Write(raw); err != nil {
		s.t.Errorf("%v", err)
	}
	return v, string(raw), c.ProcessState.ExitCode()
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(2, "dead: {host: 127.0.0.1, port: 1}")
	s.want(s.brine("ssh", "web1", "test.ping"), 0)
	// The first one returns while the view is shown.
	slow := "sleep {{ grains.id[3] }}; echo one; echo two"
	for _, width := range []int{200, 60, 24, 9} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := *s
			s.t = t
			v, raw, exit := s.onTerminal(width, s.command("ssh", "*", "cmd.run", slow, "template=jinja"))
			if exit != 20 {
				t.Errorf("exit status %d: %q", exit, raw)
			}
			text := v.Text()
			if strings.Contains(text, "done") || strings.Contains(text, "waiting for") {
				t.Errorf("something of the view is left:\n%s", text)
			}
			for i := range 2 {
				if want := fmt.Sprintf("web%d:\n    one\n", i+1); width > 20 && !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			seen := strings.Join(v.Seen, "\n")
			for _, want := range map[int][]string{
				200: {`cmd\.run: \d/3 done, 1 failed, (1 connecting, )?\d running  \d+s`, `waiting for web\d \(running \d+s\)`},
				60:  {`cmd\.run: \d/3 done, 1 failed`},
				24:  {`cmd\.run: \d/3 done`},
				9:   {`\d/3 done`},
			}[width] {
				if !regexp.MustCompile(`(?m)^` + want).MatchString(seen) {
					t.Errorf("no line was ever like %s:\n%s", want, seen)
				}
			}
			for _, l := range v.Seen {
				if n := utf8.RuneCountInString(l); strings.Contains(l, "done") && n >= width {
					t.Errorf("a line of %d columns on a terminal of %d: %s", n, width, l)
				}
			}
		})
	}
	// Where nobody asks for one and nobody sees it, there is none.
	for _, tt := range []struct {
		name string
		env  string
		args []string
	}{
		{"dumb", "TERM=dumb", nil},
		{"off", "TERM=xterm", []string{"--no-progress"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			s.t = t
			c := s.command(append([]string{"ssh", "web1", "cmd.run", "sleep 1; echo back"}, tt.args...)...)
			master, slave := termtest.Open(t, 80, 24)
			c.Stderr = slave
			c.Env = append(c.Env, tt.env)
			if err := c.Run(); err != nil {
				t.Error(err)
			}
			slave.Close()
			raw, _ := io.ReadAll(master)
			if len(raw) > 0 {
				t.Errorf("stderr has %q", raw)
			}
		})
	}
	r := s.brine("ssh", "web1", "cmd.run", "sleep 1; echo back")
	if s.want(r, 0); r.stderr != "" || r.stdout != "web1:\n    back\n" {
		t.Errorf("where stderr is no terminal: %q, %q", r.stdout, r.stderr)
	}
}

// TestLiveSteps: an orchestration on terminals: its steps, its hosts, what failed
// and why, and a report of which nothing is lost.
func TestLiveSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	lines := []string{"dead: {host: 127.0.0.1, port: 1}"}
	for n := range 30 {
		lines = append(lines, fmt.Sprintf("n%d: {connection: local}", n+1))
	}
	s.roster(0, lines...)
	s.write("salt/orch.sls", `first:
  salt.function:
    - name: test.ping
    - tgt: 'n*'
broken:
  salt.function:
    - name: test.ping
    - tgt: dead
deploy:
  salt.function:
    - name: cmd.run
    - tgt: 'n*'
    - arg: ['sleep 2']
last:
  salt.function:
    - name: test.ping
    - tgt: n1
`)
	for _, width := range []int{80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			s := *s
			s.t = t
			v, raw, exit := s.onTerminal(width, s.command("orchestrate", "orch"))
			seen, text := strings.Join(v.Seen, "\n"), v.Text()
			if exit != 1 {
				t.Errorf("exit status %d: %q", exit, raw)
			}
			for _, want := range []string{
				`^orch: 2 of 4 steps done, 1 failed, 1 running, 1 waiting  \d+s`,
				`^✓ first  30 hosts  \d`, `^✗ broken  1 of 1 host failed  \d`, `^▸ deploy: 0/30 done, .*30 running  \d+s`,
				`^· next: last`, `^waiting for deploy: n\d+ \(running \d+s\), .* and \d+ more`,
			} {
				if !regexp.MustCompile(`(?m)` + want).MatchString(seen) {
					t.Errorf("no line was ever like %s:\n%s", want, seen)
				}
			}
			for _, want := range []string{`^✗ broken: dead: unreachable: .*connection refused`, `^✗ broken \(\d.*s\): `, `^Succeeded: 3`} {
				if !regexp.MustCompile(`(?m)` + want).MatchString(text) {
					t.Errorf("nothing like %s is left:\n%s", want, text)
				}
			}
			if strings.Contains(text, "waiting for") || strings.Contains(text, "steps done") {
				t.Errorf("something of the view is left:\n%s", text)
			}
		})
	}
}

// TestStatesLive: --state-output=live prints a state while the next one runs.
func TestStatesLive(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(0)
	flag := s.path("go")
	s.write("salt/long.sls", fmt.Sprintf("one:\n  test.succeed_with_changes: []\ntwo:\n  test.nop: []\nwait:\n  cmd.run:\n    - name: while [ ! -e %s ]; do sleep 0.05; done\n", flag))
	c := s.command("call", "state.apply", "long", "--state-output=live", "--file-root="+s.path("salt"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(text.String(), "Name: two - Function: test.nop - Result: Clean") {
		n, err := out.Read(buf)
		if text.Write(buf[:n]); err != nil {
			t.Fatalf("%v, after %q", err, text.String())
		}
	}
	s.write("go", "")
	rest, _ := io.ReadAll(out)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	text.Write(rest)
	got := text.String()
	if !strings.HasPrefix(got, "local:\n----------\n          ID: one\n") || strings.Count(got, "ID: one") != 1 || strings.Count(got, "local:\n") != 1 ||
		!strings.Contains(got, "\nSummary for local\n------------\nSucceeded: 3 (changed=2)\n") {
		t.Errorf("the report:\n%s", got)
	}
}

// TestGroups: a report on a terminal ends with who failed, and has equal results
// together where many targets answer.
func TestGroups(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	var lines []string
	for n := range 21 {
		lines = append(lines, fmt.Sprintf("n%d: {connection: local}", n+1))
	}
	s.roster(0, append(lines, "dead1: {host: 127.0.0.1, port: 1}", "dead2: {host: 127.0.0.1, port: 1}")...)
	for _, tt := range []struct {
		args []string
		exit int
		want string // a regular expression
	}{
		{[]string{"n*", "test.ping"}, 0, `^n\[1-21\]:\n    True\n21 targets, 0 failed\n$`},
		{[]string{"*", "test.ping"}, 20, `^n\[1-21\]:\n    True\ndead\[1-2\]:\n(.*\n)+.*connection refused(.*\n)+23 targets, 2 failed: dead\[1-2\]\n$`},
		{[]string{"n*", "test.ping", "--no-group"}, 0, `(?m)^n21:\n(.*\n)*21 targets, 0 failed\n$`},
		{[]string{"n*", "test.echo", "{{ grains.id }}"}, 0, `^n\[1-21\]:`},
		{[]string{"n*", "grains.get", "id"}, 0, `(?s)^n1:\n    n1\nn2:\n    n2\n.*n21:\n    n21\n21 targets, 0 failed\n$`},
		{[]string{"n[12]", "test.ping"}, 0, `^n[12]:\n    True\nn[12]:\n    True\n2 targets, 0 failed\n$`},
		{[]string{"n1", "test.ping"}, 0, `^n1:\n    True\n$`},
		{[]string{"n[12]", "test.ping", "--summary", "--static"}, 0, `# of targets: 2, failed: 0\n$`},
		{[]string{"n[12]", "test.ping", "--out=json"}, 0, `^\{\n    "n1": true,\n    "n2": true\n\}\n2 targets, 0 failed\n$`},
	} {
		v, raw, exit := s.onTerminal(200, s.command(append([]string{"ssh", "--no-progress"}, tt.args...)...))
		text := strings.TrimRight(v.Text(), "\n") + "\n"
		if exit != tt.exit || !regexp.MustCompile(tt.want).MatchString(text) {
			t.Errorf("%v: exit status %d, want %d and %s: %q", tt.args, exit, tt.exit, tt.want, raw)
		}
	}
}

// TestPlanLive: while a plan is made, a terminal shows its steps and hosts, also
// those of an orchestration within it, and what would fail; then the plan alone.
func TestPlanLive(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	s.roster(0, "n1: {connection: local}", "n2: {connection: local}")
	s.write("salt/quick.sls", "quick:\n  test.nop: []\n")
	s.write("salt/bad.sls", "bad:\n  test.fail_without_changes: []\n")
	s.write("salt/slow.sls", "slow:\n  cmd.run:\n    - name: 'true'\n    - onlyif: sleep 1\n")
	s.write("salt/inner.sls", "deep:\n  salt.state:\n    - tgt: 'n*'\n    - sls: slow\n")
	s.write("salt/orch.sls", `first:
  salt.state:
    - tgt: 'n*'
    - sls: quick
broken:
  salt.state:
    - tgt: n1
    - sls: bad
deploy:
  salt.runner:
    - name: state.orchestrate
    - mods: inner
last:
  salt.state:
    - tgt: n1
    - sls: quick
`)
	for _, width := range []int{80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s := *s
			s.t = t
			v, raw, exit := s.onTerminal(width, s.command("plan", "orch"))
			seen, text := strings.Join(v.Seen, "\n"), v.Text()
			if exit != 1 {
				t.Errorf("exit status %d: %q", exit, raw)
			}
			for _, want := range []string{
				`^plan of orch: 2 of 4 steps done, 1 failed, 1 running, 1 waiting`, `^✓ first  2 hosts  \d`, `^✗ broken  1 of 1 host failed  \d`,
				`^▸ deploy: 0/2 done, .*2 running`, `^· next: last`, `^waiting for deploy: n\d \(running \d+s\)`,
			} {
				if !regexp.MustCompile(`(?m)` + want).MatchString(seen) {
					t.Errorf("no line was ever like %s:\n%s", want, seen)
				}
			}
			for _, want := range []string{`^✗ broken \(\d.*s\): would fail on n1: bad`, `^3\. deploy \(salt\.runner\) state\.orchestrate`, `^   3\.1\. deep \(salt\.state\)`, `^2 hosts, 2 changes, 1 failure`} {
				if !regexp.MustCompile(`(?m)` + want).MatchString(text) {
					t.Errorf("nothing like %s is left:\n%s", want, text)
				}
			}
			if strings.Contains(text, "waiting for") || strings.Contains(text, "steps done") {
				t.Errorf("something of the view is left:\n%s", text)
			}
		})
	}
}
