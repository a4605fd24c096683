package machine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/core/host"
	"brine/internal/fleet/machine"
)

// A fakeRemote is a connection to a host that runs nothing.
type fakeRemote struct {
	busy  bool          // another test uses the host
	left  string        // what it says of leftovers
	dead  chan struct{} // closed when the connection ends
	deaf  bool          // it does not tidy
	once  sync.Once
	marks int
}

func newFakeRemote() *fakeRemote { return &fakeRemote{left: "no"} }

var errLost = errors.New("the host closed the connection")

func (r *fakeRemote) Script(_ context.Context, script string, in io.Reader, out io.Writer) (stderr string, status int, err error) {
	first, _, _ := strings.Cut(script, "\n")
	switch {
	case first == "set -- mark" && r.busy:
		return "another brine test uses the host: wait until it ends\n", 3, nil
	case first == "set -- mark":
		r.marks++
		return "", 0, nil
	case !strings.HasPrefix(first, "set -- use"):
		select {
		case <-r.dead:
			return "", 0, errLost
		default:
			return "", 0, nil
		}
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	fmt.Fprintf(out, "ready Linux %s %s no\n", arch, r.left)
	tidied := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		if !r.deaf {
			close(tidied)
		}
	}()
	select {
	case <-tidied:
		return "", 0, nil
	case <-r.dead:
		return "", 0, errLost
	}
}

func (r *fakeRemote) Enter() []string { return nil }

func (r *fakeRemote) Close() error {
	r.once.Do(func() { close(r.dead) })
	return nil
}

// given makes the machine that is a given host behind r.
func given(ctx context.Context, dir, reset string, r *fakeRemote) (*machine.Machine, error) {
	p := &machine.Pool{
		Host: host.NewLocal(), Dir: filepath.Join(dir, "machines"), ResetDir: dir,
		Dial: func(context.Context, string) (machine.Remote, error) {
			r.dead, r.once = make(chan struct{}), sync.Once{}
			return r, nil
		},
	}
	for _, d := range machine.Drivers() {
		if d.TakesHosts() {
			return p.Create(ctx, &d, machine.Spec{Name: "given", Given: &machine.Given{Target: "given", Reset: reset}})
		}
	}
	panic("no driver of given hosts")
}

// TestGivenDies: a host that dies is not taken for one that was tidied, and Close waits for
// none that is silent.
func TestGivenDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deaf, dies bool
		want       string
	}{
		"alive":  {},
		"dies":   {dies: true, want: "/.brine-test and processes may be left there until the next test of it, which removes them: the host closed the connection"},
		"silent": {deaf: true, want: "/.brine-test and processes may be left there until the next test of it, which removes them: the host closed the connection"},
	} {
		dir := t.TempDir()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newFakeRemote()
				r.deaf = c.deaf
				m, err := given(t.Context(), dir, "", r)
				if err != nil {
					t.Fatal(err)
				}
				if c.dies {
					_ = r.Close()
					synctest.Wait()
					if _, err := m.Run(t.Context(), host.Cmd{Argv: []string{"true"}}); err == nil || !strings.Contains(err.Error(), errLost.Error()) {
						t.Errorf("on a host that died: %v", err)
					}
				}
				if err := m.Close(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("Close: %v, want %q", err, c.want)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "machines", "*")); len(left) > 0 {
					t.Errorf("%s was left", left)
				}
			})
		})
	}
}

// TestGivenBusy: a host that another test uses is not brought back under it, and what was
// left on one is known.
func TestGivenBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newFakeRemote()
	r.busy, r.left = true, "yes"
	ran := filepath.Join(dir, "ran")
	if _, err := given(t.Context(), dir, "touch "+ran, r); err == nil || !strings.Contains(err.Error(), "the host given cannot be used: another brine test uses the host") {
		t.Errorf("on another machine: %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a host was brought back that another test uses")
	}
	r.busy = false
	m, err := given(t.Context(), dir, "touch "+ran, r)
	if err != nil || !m.HadLeftovers() || r.marks != 1 {
		t.Fatalf("%v; leftovers %v, marks %d", err, m.HadLeftovers(), r.marks)
	}
	if _, err := given(t.Context(), dir, "", newFakeRemote()); err == nil || !strings.Contains(err.Error(), "another brine test of yours uses the host: wait until it ends") {
		t.Errorf("on this machine: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestGivenReset: each way to fail of a reset command has its own message, and nothing of it
// is left.
func TestGivenReset(t *testing.T) {
	t.Parallel()
	for reset, want := range map[string]string{
		"echo no snapshot; exit 4":      "the host given cannot be used: reset: the command ended with status 4: no snapshot",
		"exit 5":                        "reset: the command ended with status 5: it printed nothing",
		"kill -KILL $$":                 "reset: the command ended with status 137",
		"no-such-program-of-brine":      "no-such-program-of-brine",
		"read -r x || exit 6":           "reset: the command ended with status 6",
		"echo out; echo err >&2; false": "out\nerr",
	} {
		t.Run(reset, func(t *testing.T) {
			t.Parallel()
			if _, err := given(t.Context(), t.TempDir(), reset, newFakeRemote()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestGivenInterrupted: Ctrl-C ends a reset command, and so does kill -9, which its script
// sees by the end of its stdin.
func TestGivenInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := given(ctx, dir, "echo $$ >"+pidFile+"; sleep 1000; :", newFakeRemote())
		ended <- err
	}()
	pid := waitFor(t, pidFile)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
	waitEnd(t, pid)

	for name, command := range map[string]string{"kind": "sleep 1000; :", "deaf": "trap '' TERM; while :; do sleep 1000; done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile("reset.sh")
			pidFile := filepath.Join(t.TempDir(), "pid")
			c := exec.Command("sh", "-c", string(script), "reset.sh", "echo $$ >"+pidFile+"; "+command)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stdin, err2 := c.StdinPipe()
			if err := errors.Join(err, err2, c.Start()); err != nil {
				t.Fatal(err)
			}
			pid := waitFor(t, pidFile)
			_ = stdin.Close()
			_ = c.Wait()
			waitEnd(t, pid)
		})
	}
}

// waitFor waits for a line in a file.
func waitFor(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(path); strings.HasSuffix(string(text), "\n") {
			return strings.TrimSpace(string(text))
		}
	}
	t.Fatalf("nothing is in %s", path)
	return ""
}

// waitEnd waits until a process has ended.
func waitEnd(t *testing.T, pid string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
	}
	t.Errorf("process %s runs on", pid)
}
