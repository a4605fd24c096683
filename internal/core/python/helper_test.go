package python_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/config"
	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/py/value"
)

// A machine is a host that may have no python3, and that knows which processes it
// has started.
type machine struct {
	host.Host
	without bool
}

func (m machine) LookPath(name, path string) (string, error) {
	if m.without && name == "python3" {
		return "", fs.ErrNotExist
	}
	return m.Host.LookPath(name, path)
}

// tree returns the Env of a machine with a tree.
func tree(tb testing.TB, without bool, files map[string]string) *fun.Env {
	tb.Helper()
	return treeOf(tb.Context(), tb, without, files)
}

// treeOf is tree for a run whose context is ctx.
func treeOf(ctx context.Context, tb testing.TB, without bool, files map[string]string) *fun.Env {
	tb.Helper()
	if !without {
		if err := exec.Command("python3", "-c", "import inspect, json").Run(); err != nil {
			tb.Skipf("there is no python3 with its library: %v", err)
		}
	}
	dir := tb.TempDir()
	files["conf/minion"] = "id: web1\nfile_roots: {base: [" + dir + "/salt]}\ncachedir: " + dir + "/cache\n"
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	h := machine{host.NewLocal(), without}
	cfg, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: filepath.Join(dir, "conf"), NoSaltfile: true})
	if err != nil {
		tb.Fatal(err)
	}
	return assembly.NewEnv(ctx, assembly.EnvOptions{Host: h, Config: cfg, Table: assembly.Table(), Bus: event.NewRing(0, time.Now), JID: "20260102030405000000"})
}

func call(ctx context.Context, env *fun.Env, name string, args ...value.Value) (value.Value, error) {
	res, err := env.Invoker.Invoke(ctx, fun.Exec, name, fun.Args{Pos: args, Kw: value.NewMap(0)})
	return res.Value, err
}

const module = `
import os, signal

def echo(x):
    return x

def pid():
    return os.getpid()

def back(n):
    return n and __salt__['mymod.back'](n - 1) + 1

def die(when):
    if when == 'now':
        os.kill(os.getpid(), signal.SIGKILL)
    __salt__['test.echo'](when)
    os.kill(os.getpid(), signal.SIGKILL)

def loop():
    for n in range(100):
        __salt__['test.echo'](n)
    return n
`

// TestKills kills the helper at random moments, BRINE_TEST_KILLS times: a call is answered whole or fails,
// and the next one works.
func TestKills(t *testing.T) {
	t.Parallel()
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		kills = n
	}
	env := tree(t, false, map[string]string{"salt/_modules/mymod.py": module})
	for n := range kills {
		pid, err := call(t.Context(), env, "mymod.pid")
		if err != nil {
			t.Fatalf("%d: the helper did not start again: %v", n, err)
		}
		p, err := os.FindProcess(int(pid.(int64)))
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(20000))*time.Microsecond, func() { _ = p.Kill() })
		v, err := call(t.Context(), env, "mymod.loop")
		for err == nil { // the moment was too late for this one
			if v != int64(99) {
				t.Fatalf("%d: half a result: %s", n, value.Repr(v))
			}
			v, err = call(t.Context(), env, "mymod.loop")
		}
		timer.Stop()
		if !strings.Contains(err.Error(), "python3 was ended by signal 9") && !strings.Contains(err.Error(), "pipe") {
			t.Errorf("%d: %v", n, err)
		}
	}
	for _, when := range []string{"now", "later"} {
		if _, err := call(t.Context(), env, "mymod.die", when); err == nil || !strings.Contains(err.Error(), "signal 9") {
			t.Errorf("die %s: %v", when, err)
		}
	}
	if v, err := call(t.Context(), env, "mymod.back", int64(30)); err != nil || v != int64(30) {
		t.Errorf("back = %v, %v", v, err)
	}
}

// TestHelperEnds: where a run is over and nobody has it any more, its helpers end.
func TestHelperEnds(t *testing.T) {
	t.Parallel()
	p := func() *os.Process {
		env := tree(t, false, map[string]string{"salt/_modules/mymod.py": module, "salt/_grains/roles.py": "def roles():\n    return {'a': 1}\n"})
		pid, err := call(t.Context(), env, "mymod.pid")
		if err != nil {
			t.Fatal(err)
		}
		p, err := os.FindProcess(int(pid.(int64)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}()
	for range 500 {
		runtime.GC()
		if p.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the helper of a run that is over does not end")
}

// TestLoadEnds: a module that does not end while it is loaded ends with the run.
func TestLoadEnds(t *testing.T) {
	t.Parallel()
	flag := filepath.Join(t.TempDir(), "loading")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := treeOf(ctx, t, false, map[string]string{"salt/_modules/slow.py": fmt.Sprintf("import time\nopen(%q, 'w').close()\ntime.sleep(600)\ndef f():\n    return 1\n", flag)})
	done := make(chan error, 1)
	go func() {
		_, err := call(t.Context(), env, "slow.f")
		done <- err
	}()
	deadline := time.After(time.Minute)
	for {
		if _, err := os.Stat(flag); err == nil {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the call ended before the module was loaded: %v", err)
		case <-deadline:
			t.Fatal("the module is not loaded")
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "slow.py cannot be loaded") {
			t.Errorf("the call ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the module is still being loaded")
	}
}

// TestNoPython names the file that needs it; all else works.
func TestNoPython(t *testing.T) {
	t.Parallel()
	env := tree(t, true, map[string]string{
		"salt/_modules/mymod.py": module, "salt/_states/thing.py": "def present(name):\n    return {}\n",
		"salt/_grains/roles.py": "def roles():\n    return {}\n", "salt/_pillar/extra.py": "def ext_pillar(i, p):\n    return {}\n",
	})
	if _, err := call(t.Context(), env, "mymod.echo", int64(1)); err == nil || !strings.Contains(err.Error(), "salt://_modules/mymod.py is Python, and python3 is not installed here") {
		t.Errorf("err = %v", err)
	}
	if v, err := call(t.Context(), env, "test.ping"); err != nil || v != true {
		t.Errorf("test.ping = %v, %v", v, err)
	}
	if _, err := python.Open(t.Context(), env, "pillar", "extra"); !errors.Is(err, python.ErrNoPython) {
		t.Errorf("err = %v", err)
	}
}

// TestParallel calls functions that call back from many goroutines.
func TestParallel(t *testing.T) {
	t.Parallel()
	env := tree(t, false, map[string]string{"salt/_modules/mymod.py": module})
	errs := make(chan error)
	for n := range int64(20) {
		go func() {
			v, err := call(t.Context(), env, "mymod.back", n)
			if err == nil && v != n {
				err = fmt.Errorf("back(%d) = %v", n, v)
			}
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkCall measures a call of a function after the first one.
func BenchmarkCall(b *testing.B) {
	env := tree(b, false, map[string]string{"salt/_modules/mymod.py": module})
	for b.Loop() {
		if _, err := call(b.Context(), env, "mymod.echo", "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirst measures the first call of a run: it starts the helper.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		env := tree(b, false, map[string]string{"salt/_modules/mymod.py": module})
		b.StartTimer()
		if _, err := call(b.Context(), env, "mymod.echo", "x"); err != nil {
			b.Fatal(err)
		}
	}
}
