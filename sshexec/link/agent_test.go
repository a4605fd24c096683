package link_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// agentEnv makes the test binary an agent.
const agentEnv = "BRINE_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" {
		os.Args = append([]string{"brine"}, strings.Split(os.Getenv(agentEnv), " ")...)
		os.Exit(cmd.Main())
	}
	os.Exit(m.Run())
}

// A process is an agent in a process of its own.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
	err bytes.Buffer
	tmp string // its directory for temporary files
}

func (p *process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p *process) Close() error {
	p.in.Close()
	return p.out.Close()
}

// start starts an agent whose cache is in dir.
func start(t *testing.T, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe), tmp: t.TempDir()}
	p.cmd.Env = append(os.Environ(), agentEnv+"=agent --cache-dir="+dir, "TMPDIR="+p.tmp)
	p.cmd.Stderr = &p.err
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// wait waits for the agent's end, for ten seconds at most.
func (p *process) wait(t *testing.T) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the agent lives on")
		_ = p.cmd.Process.Kill()
		<-ended
	}
}

func TestAgentProcess(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*process){
		"input ends":  func(p *process) { p.in.Close() },
		"output gone": func(p *process) { p.out.Close(); _, _ = p.in.Write([]byte("garbage")) },
		"both gone":   func(p *process) { p.Close() },
		"SIGTERM":     func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":      func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			dir := t.TempDir()
			p := start(t, dir)
			c := s.attach(p)
			if f := c.Facts(); f.PID != p.cmd.Process.Pid {
				t.Errorf("pid = %d, want %d", f.PID, p.cmd.Process.Pid)
			}
			trap := ""
			if name == "input ends" { // the worst case: programs that ignore SIGTERM
				trap = "trap '' TERM; "
			}
			file := filepath.Join(t.TempDir(), "pid")
			got := make(chan fun.Return, 1)
			go func() { got <- c.Invoke(t.Context(), job("cmd.run", trap+sleeper(file))) }()
			n := pid(t, file)
			begin := time.Now()
			end(p)
			if ret := <-got; ret.Stage != fun.Lost {
				t.Errorf("Invoke = %s, %v", ret.Stage, ret.Err)
			}
			p.wait(t)
			t.Logf("the agent ended after %v", time.Since(begin))
			gone(t, n)
			c.Close()
			if left, err := os.ReadDir(p.tmp); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// What counts is that the agent does not grow with the file: how much of its program
// is in memory, which may be more than the file, depends on the system.
func TestAgentProcessHoldsNoBigFile(t *testing.T) { // not parallel: it looks at memory
	const size = 256 << 20
	dst := t.TempDir()
	state := func(name string) string {
		return name + ":\n  file.managed:\n    - name: " + filepath.Join(dst, name) + "\n    - source: salt://" + name + ".bin\n    - show_changes: False\n"
	}
	s := newSite(t, map[string]string{"small.sls": state("small"), "big.sls": state("big")})
	p := start(t, t.TempDir())
	c := s.attach(p)
	apply := func(name string, size int64) (peak int64) {
		t.Helper()
		want := sparse(t, filepath.Join(s.root, name+".bin"), size)
		got := results(t, call(t, c, job("state.apply", name)))
		if !strings.HasPrefix(got[name], "True") || fileSum(t, filepath.Join(dst, name)) != want {
			t.Errorf("result = %v", got)
		}
		return peakMemory(p.cmd.Process.Pid)
	}
	small, big := apply("small", 1<<20), apply("big", size)
	if small < 0 {
		t.Log("the system tells nothing of the agent's memory")
	} else if t.Logf("the agent's largest size: %d MiB, and %d MiB with the file", small>>20, big>>20); big-small > size/2 {
		t.Errorf("the agent grew from %d to %d MiB for a file of %d MiB", small>>20, big>>20, size>>20)
	}
	c.Close()
	p.wait(t)
}

// peakMemory returns the largest size in bytes that a process had in memory, -1
// where that is not known. What the system counts for the end of a process has
// the memory of its parent in it, which it shared until it became a program.
func peakMemory(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); !ok || err != nil {
		return -1
	}
	return kib << 10
}

// TestEachOfSeveral: the return code of each of several functions comes with the
// return.
func TestEachOfSeveral(t *testing.T) {
	t.Parallel()
	c, _ := newSite(t, nil).connect()
	ret := c.Invoke(t.Context(), job("test.ping,no.such,cmd.run", value.NewList(), value.NewList(), value.NewList("exit 3")))
	code, success := ret.Outcome()
	if got := value.Repr(code) + " " + value.Repr(success); got != "{'test.ping': 0, 'cmd.run': 3} {'test.ping': True, 'no.such': False, 'cmd.run': False}" || ret.Retcode != 3 || ret.Success() {
		t.Errorf("%s, %d, %v", got, ret.Retcode, ret.Err)
	}
}
