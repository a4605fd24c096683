//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/termtest"
	"brine/internal/testkit/turn"
)

// A typist works with a program on a terminal.
type typist struct {
	t      *testing.T
	c      *exec.Cmd
	master *os.File

	mu   sync.Mutex
	text bytes.Buffer // what the terminal showed
}

// onTerminal starts brine test on a terminal of its own.
func (x *trialTree) onTerminal(args ...string) *typist {
	x.t.Helper()
	c, _, _ := x.command(args...)
	master, slave := termtest.Open(x.t, 120, 40)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.Env = append(c.Env, "TERM=xterm")
	must(x.t, c.Start())
	slave.Close()
	y := &typist{t: x.t, c: c, master: master}
	x.t.Cleanup(func() { _ = c.Process.Kill() })
	go y.read()
	return y
}

func (y *typist) read() {
	buf := make([]byte, 4096)
	for {
		n, err := y.master.Read(buf)
		y.mu.Lock()
		y.text.Write(buf[:n])
		y.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (y *typist) shown() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return strings.ReplaceAll(y.text.String(), "\r\n", "\n")
}

// sees waits until the terminal shows a text.
func (y *typist) sees(text string) {
	y.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(y.shown(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			y.t.Fatalf("the terminal does not show %q:\n%s", text, y.shown())
		}
	}
}

func (y *typist) types(text string) {
	y.t.Helper()
	_, err := y.master.WriteString(text)
	must(y.t, err)
}

// ends waits until the program ends with a status.
func (y *typist) ends(status int) {
	y.t.Helper()
	_ = y.c.Wait()
	if got := y.c.ProcessState.ExitCode(); got != status {
		y.t.Errorf("status %d, want %d:\n%s", got, status, y.shown())
	}
}

// shellCases are cases of which two fail.
func shellCases(image string) map[string]string {
	files := trialCases("systems: [debian-12]\nimages: {debian-12: " + image + "}\ncases:\n" +
		"  broken: {sls: app.fails}\n  good: {sls: app}\n  wrong: {sls: app, expect: {files: {/etc/app.conf: {mode: '0644'}}}}\n")
	files["slow/tests/all.yml"] = "systems: [debian-12]\nimages: {debian-12: " + image + "}\ncases:\n  broken: {sls: fails}\n  slow: {sls: slow}\n"
	files["slow/slow.sls"], files["slow/fails.sls"] = "wait:\n  cmd.run:\n    - name: exec sleep 10000\n", trialFiles["app/fails.sls"]
	return files
}

// TestTrialLogin: a shell on a machine sees what the case made; Ctrl-C ends what runs in
// it, and neither the shell nor brine.
func TestTrialLogin(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, shellCases(image))
	for _, driver := range []string{"namespace", "nspawn"} {
		y := x.onTerminal("login", "good", "--driver", driver)
		y.sees("a shell on debian-12 of good on debian-12; the machine is thrown away when it ends")
		y.types("echo on-$(hostname) at-$PWD user-$(id -u) term-$TERM; cat /etc/app.conf; tty\n")
		y.sees("on-debian-12 at-/ user-0 term-xterm\nport=80\n")
		y.types("echo sle''eping; sleep 1000; echo sta''tus $?\n")
		y.sees("sleeping\n")
		y.types("\x03")
		y.types("echo st''ill $(hostname)\n")
		y.sees("still debian-12\n")
		y.types("exit\n")
		y.ends(0)
		y.sees("1 test: 1 passed, 0 failed")
		for _, complaint := range []string{"job control", "process group"} {
			if strings.Contains(y.shown(), complaint) {
				t.Errorf("%s: the shell complains of the terminal:\n%s", driver, y.shown())
			}
		}
		x.left()
	}
}

// TestTrialShellOnFailure: what failed is shown, and a shell is opened where it did.
func TestTrialShellOnFailure(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, shellCases(image))
	y := x.onTerminal("--shell-on-failure", "--driver", "namespace", "--jobs", "1")
	y.sees("a shell on debian-12 of broken on debian-12")
	y.types("exit\n")
	y.sees("a shell on debian-12 of wrong on debian-12")
	if shown := y.shown(); !strings.Contains(shown, "expected the mode 644, found 600") {
		t.Errorf("the shell comes before the failure is shown:\n%s", shown)
	}
	y.types("stat -c mode-%a /etc/app.conf; exit 7\n")
	y.sees("mode-600\n")
	y.ends(1)
	y.sees("3 tests: 1 passed, 2 failed")
	x.left()

	// After a shell, Ctrl-C ends brine as ever.
	y = x.onTerminal("slow", "--shell-on-failure", "--driver", "namespace", "--jobs", "1")
	y.sees("a shell on debian-12 of broken on debian-12")
	y.types("exit\n")
	x.waitSleeping()
	y.types("\x03")
	y.ends(130)
	x.left()

	// So it does with --watch, while a test runs.
	y = x.onTerminal("slow", "-k", "slow", "--watch", "--driver", "namespace")
	x.waitSleeping()
	y.types("\x03")
	y.ends(130)
	if strings.Contains(y.shown(), "waiting for changes") {
		t.Errorf("brine waits for changes after Ctrl-C:\n%s", y.shown())
	}
	x.left()
}

// TestTrialKeep: kept machines can be entered by the command that is printed, until
// Ctrl-C.
func TestTrialKeep(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, shellCases(image))
	for _, driver := range []string{"namespace", "nspawn"} {
		y := x.onTerminal("--keep", "-k", "good", "--driver", driver, "--report", "kept.xml")
		const before = "good on debian-12 is kept until Ctrl-C: debian-12: "
		y.sees(before)
		y.sees("/bin/sh\n")
		_, after, _ := strings.Cut(y.shown(), before)
		line, _, _ := strings.Cut(after, "\n")
		c := exec.Command("sh", "-c", line)
		c.Stdin = strings.NewReader("cat /etc/app.conf\n")
		if out, err := c.CombinedOutput(); err != nil || string(out) != "port=80\n" {
			t.Errorf("%s: %v %s", line, err, out)
		}
		pids, err := filepath.Glob(filepath.Join(x.home, ".cache/brine/test/machines/*/pid"))
		must(t, err)
		text, err := os.ReadFile(pids[0])
		must(t, err)
		y.types("\x03")
		y.ends(0)
		waitGone(t, strings.TrimSpace(string(text)))
		if _, err := os.Stat(filepath.Join(x.dir, "kept.xml")); err != nil || strings.Count(y.shown(), "1 test: 1 passed") != 1 {
			t.Errorf("the report: %v\n%s", err, y.shown())
		}
		x.left()
	}
}

// TestTrialWatch: a change tests the cases again that use the file, and no others, on
// fresh machines and by compiling; the status is that of the last tests.
func TestTrialWatch(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	for _, how := range [][]string{{"--driver", "namespace"}, {"--compile"}} {
		x := newTrialTree(t, map[string]string{
			"one.sls":       "{% from 'lib/map.jinja' import name with context %}\n{{ name }}:\n  file.managed:\n    - source: salt://files/one.conf\n",
			"lib/map.jinja": "{% set name = '/etc/one' %}\n", "files/one.conf": "one\n",
			"two.sls":       "two:\n  test.nop: []\n",
			"tests/all.yml": "systems: [debian-12]\nimages: {debian-12: " + image + "}\ncases:\n  one: {sls: one}\n  two: {sls: two, pillar_files: two.pillar}\n",
			"two.pillar":    "a: 1\n", "README": "x\n",
		})
		y := x.onTerminal(append(how, "--watch")...)
		const waits = "brine: waiting for changes of .; Ctrl-C ends\n"
		rounds := 1
		y.seesTimes(waits, rounds)
		for _, step := range []struct{ file, text, want, not string }{
			{"README", "unused\n", "", ""},
			{"files/one.conf", "other\n", "one on debian-12  ok", "two on debian-12"},
			{"two.pillar", "a: 2\n", "two on debian-12  ok", "one on debian-12"},
			{"lib/map.jinja", "{% set name = 'relative' %}\n", "one on debian-12", "two on debian-12"},
			{"one.sls", "{{ broken\n", "one on debian-12  FAILED", "two on debian-12"},
			{"tests/all.yml", "nothing\n", "the file must be a mapping", "on debian-12"},
		} {
			before := len(y.shown())
			must(t, os.WriteFile(filepath.Join(x.dir, step.file), []byte(step.text), 0o644))
			if step.want == "" {
				continue // nothing is said of it, and the next step tests no more than without it
			}
			rounds++
			y.seesTimes(waits, rounds)
			if got := y.shown()[before:]; !strings.Contains(got, step.want) || step.not != "" && strings.Contains(got, step.not) {
				t.Errorf("%v, %s: want %q and not %q:\n%s", how, step.file, step.want, step.not, got)
			}
		}
		y.types("\x03")
		y.ends(1)
		if n := strings.Count(y.shown(), waits); n != rounds {
			t.Errorf("%v: %d rounds, want %d:\n%s", how, n, rounds, y.shown())
		}
		x.left()
	}
}

// seesTimes waits until the terminal has shown a text several times.
func (y *typist) seesTimes(text string, times int) {
	y.t.Helper()
	for end := time.Now().Add(time.Minute); strings.Count(y.shown(), text) < times; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			y.t.Fatalf("the terminal does not show %q %d times:\n%s", text, times, y.shown())
		}
	}
}
