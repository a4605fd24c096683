package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A silent server accepts connections and says nothing over them.
type silent struct {
	net.Listener
	came chan bool
}

func newSilent(t *testing.T) *silent {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silent{l, make(chan bool, 1000)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			s.came <- true
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return s
}

// fleetTree writes a tree with a fleet at a server.
func fleetTree(t *testing.T, s *silent, timeout int) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"master": fmt.Sprintf("id: ctl\ncachedir: %[1]s/cache\nfile_roots: {base: [%[1]s/states]}\nqueue: {store: sqlite3, database: %[1]s/queue.db}\n"+
			"fleets:\n  lab: {type: salt-api, url: 'http://%[2]s', user: u, password: open-sesame, timeout: %[3]d}\n", dir, s.Addr(), timeout),
		"roster":           "here1: {host: localhost, connection: local}\n",
		"states/find.sls":  "a:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n",
		"states/call.sls":  "a:\n  salt.runner:\n    - name: manage.up\n    - fleet: lab\n",
		"states/wheel.sls": "a:\n  salt.wheel:\n    - name: key.list_all\n    - fleet: lab\n",
		"chains/c.yml":     "steps:\n  - {action: cmd, id: 1, targets: '*', command: uptime}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "BRINE_PROGRESS=none"}
	if err := scriptHome(t.TempDir(), func(k, v string) { env = append(env, k+"="+v) }); err != nil {
		t.Fatal(err)
	}
	return dir, env
}

// fleetCommands are those that use a fleet. A queue has an entry for the worker.
var fleetCommands = []string{
	"ssh * test.ping", "run salt.execute * test.ping", "orchestrate find", "orchestrate call", "orchestrate wheel", "plan find", "chain run c --yes", "worker --queue deploy --drain-empty",
}

// TestHangingMaster: each command that uses a fleet names one that hangs, what was waited
// for and what says how long; completion asks none.
func TestHangingMaster(t *testing.T) {
	t.Parallel()
	brine, err := exec.LookPath("brine")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, line := range fleetCommands {
		s := newSilent(t)
		dir, env := fleetTree(t, s, 2)
		wg.Go(func() {
			out := runBrine(t, brine, dir, env, line, nil)
			for _, want := range []string{"fleet lab (http://" + s.Addr().String() + "): ", ": no answer within 2s: the server took the request, but did not begin to answer", "the key timeout of the fleet lab"} {
				if !strings.Contains(out, want) {
					t.Errorf("brine %s: no %q in\n%s", line, want, out)
				}
			}
			if strings.Contains(out, "open-sesame") {
				t.Errorf("brine %s shows the password", line)
			}
		})
	}
	s := newSilent(t)
	dir, env := fleetTree(t, s, 600)
	if out := runBrine(t, brine, dir, env, "__complete ssh h", nil); !strings.Contains(out, "here1") || len(s.came) > 0 {
		t.Errorf("completion asked %d times:\n%s", len(s.came), out)
	}
}

// TestHangingMasterStopped: one Ctrl-C ends each of them while the fleet hangs. A worker
// ends the entry that it runs at the second one, as always.
func TestHangingMasterStopped(t *testing.T) {
	t.Parallel()
	brine, err := exec.LookPath("brine")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, line := range fleetCommands {
		s := newSilent(t)
		dir, env := fleetTree(t, s, 600)
		wg.Go(func() { runBrine(t, brine, dir, env, line, s.came) })
	}
}

// runBrine runs a command to its end, and interrupts it when something comes. What ends
// takes no more than a minute and a half then.
func runBrine(t *testing.T, brine, dir string, env []string, line string, came chan bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	start := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.CommandContext(ctx, brine, args...)
		c.Dir, c.Env = dir, env
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		return c, &out
	}
	if strings.HasPrefix(line, "worker") {
		c, out := start("orchestrate", "find", "--queue", "deploy", "-c", dir)
		if err := c.Run(); err != nil {
			t.Errorf("enqueue: %v\n%s", err, out)
			return ""
		}
	}
	args := append(strings.Fields(line), "-c", dir)
	if strings.HasPrefix(line, "__complete") {
		words := strings.Fields(line)
		args = append([]string{words[0], words[1], "-c", dir}, words[2:]...)
	}
	c, out := start(args...)
	if err := c.Start(); err != nil {
		t.Error(err)
		return ""
	}
	if came != nil {
		select {
		case <-came:
			_ = c.Process.Signal(os.Interrupt)
		case <-ctx.Done():
			t.Errorf("brine %s does not ask the fleet:\n%s", line, out)
		}
	}
	if came != nil && strings.HasPrefix(line, "worker") { // which the first one only has take no further entry
		again := time.AfterFunc(time.Second, func() { _ = c.Process.Signal(os.Interrupt) })
		defer again.Stop()
	}
	_ = c.Wait()
	if ctx.Err() != nil {
		t.Errorf("brine %s does not end:\n%s", line, out)
	}
	return out.String()
}
