//go:build linux

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"brine/internal/core/host"
	fleetmachine "brine/internal/fleet/machine"
	"brine/internal/testkit/machine"
	"brine/internal/testkit/sshtest"
	"brine/internal/testkit/turn"
)

// A givenHost is a machine behind a port, which is another one after each reset.
type givenHost struct {
	t     *testing.T
	image string
	pool  *fleetmachine.Pool
	conf  *ssh.ServerConfig
	addr  string
	known string // key of it, as in known_hosts
	stop  context.CancelFunc
	over  sync.WaitGroup
	m     *fleetmachine.Machine
}

// newGivenHost starts a host that who has the key may enter.
func newGivenHost(t *testing.T, dir string) *givenHost {
	g := &givenHost{t: t, image: machine.Image(t), pool: &fleetmachine.Pool{Host: host.NewLocal(), Dir: filepath.Join(dir, "machines")}, addr: "127.0.0.1:0"}
	hostKey, client := sshtest.WriteKey(t, filepath.Join(dir, "host_key"), ""), sshtest.WriteKey(t, filepath.Join(dir, "key"), "")
	g.conf = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(client.PublicKey().Marshal()) {
			return nil, fmt.Errorf("another key")
		}
		return nil, nil
	}}
	g.conf.AddHostKey(hostKey)
	g.known = string(ssh.MarshalAuthorizedKey(hostKey.PublicKey()))
	g.start()
	t.Cleanup(g.end)
	return g
}

// start makes a machine and serves SSH for it.
func (g *givenHost) start() {
	drivers := fleetmachine.Drivers()
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	var err error
	for i := range drivers {
		if drivers[i].Name == "namespace" {
			g.m, err = g.pool.Create(ctx, &drivers[i], fleetmachine.Spec{Name: "given", Image: g.image})
		}
	}
	must(g.t, err)
	l, err := net.Listen("tcp", g.addr)
	must(g.t, err)
	g.addr = l.Addr().String()
	g.over.Go(func() { g.m.ServeSSH(ctx, l, g.conf) })
}

func (g *givenHost) end() {
	g.stop()
	g.over.Wait()
	must(g.t, g.m.Close())
}

// roster is a roster with the host.
func (g *givenHost) roster(dir string) string {
	_, port, err := net.SplitHostPort(g.addr)
	must(g.t, err)
	must(g.t, os.WriteFile(filepath.Join(dir, "known_hosts"), []byte("[127.0.0.1]:"+port+" "+g.known), 0o600))
	return "given:\n  host: 127.0.0.1\n  port: " + port + "\n  user: root\n  priv: " + filepath.Join(dir, "key") +
		"\n  ssh_options: [UserKnownHostsFile=" + filepath.Join(dir, "known_hosts") + "]\n"
}

// sh runs a script on the host and returns what it printed.
func (g *givenHost) sh(script string) string {
	g.t.Helper()
	out, err := g.m.Run(g.t.Context(), host.Cmd{Argv: []string{"/bin/sh", "-c", script}, Merge: true, Timeout: time.Minute})
	must(g.t, err)
	return string(out.Stdout)
}

// resets brings the host back each time that the command is run that it returns.
func (g *givenHost) resets(dir string) (command string) {
	ask, answer := filepath.Join(dir, "ask"), filepath.Join(dir, "answer")
	must(g.t, syscall.Mkfifo(ask, 0o600))
	must(g.t, syscall.Mkfifo(answer, 0o600))
	// Open for both ways, it waits for no other end and has no end of its own.
	asked, err := os.OpenFile(ask, os.O_RDWR, 0)
	must(g.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 1); ; {
			if _, err := asked.Read(b); err != nil || b[0] == 'q' {
				return
			}
			g.end()
			g.start()
			if f, err := os.OpenFile(answer, os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString("x\n")
				_ = f.Close()
			}
		}
	}()
	g.t.Cleanup(func() {
		_, _ = asked.WriteString("q")
		<-done
		_ = asked.Close()
	})
	return "printf r >" + ask + " && read -r x <" + answer
}

// TestTrialGiven: a given host is tested if the case says that it may be changed. It counts
// as fresh only where it was brought back.
func TestTrialGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := newGivenHost(t, dir)
	reset := g.resets(dir)
	cases := func(word string) string {
		return "systems: [debian-12]\ndriver: ssh\nhosts:\n  debian-12: {target: given, " + word + "}\ncases:\n" +
			"  good:\n    sls: app\n    expect: {files: {/etc/app.conf: {mode: '0600'}, /etc/left: {type: absent}}}\n  leaves: {sls: leaves}\n  again: {sls: app.again}\n"
	}
	files := trialCases(cases("may_be_changed: true, reset: '" + reset + "'"))
	files["leaves.sls"] = "/etc/left:\n  file.managed:\n    - contents: x\n"
	files["roster"] = g.roster(dir)
	x := newTrialTree(t, files)
	say := func(word string) {
		must(t, os.WriteFile(filepath.Join(x.dir, "tests/all.yml"), []byte(cases(word)), 0o644))
	}
	// Two tests of the host do not run at the same time, and the file of one is not there in the next.
	x.run(1, []string{
		"good on debian-12    ok      machine: ssh: given, brought back, with its own network; test: no file changed",
		"leaves on debian-12  ok ",
		"app/again.sls:2:3: again: stamp (cmd.run) in app.again changed something the second time",
		"3 tests: 2 passed, 1 failed\n",
	})
	if left, err := g.m.Files(t.Context()); err != nil || left["/.brine-test/used"] == "" || left["/.brine-test/brine"] != "" {
		t.Errorf("the host has no mark, or more than that: %v, %v", left, err)
	}
	say("may_be_changed: true, reset: 'true'")
	x.run(1, []string{"the command under reset succeeded, and did not bring the host back"}, "-k", "good")
	say("may_be_changed: true, reset: echo no snapshot; exit 4")
	x.run(1, []string{
		"the host given cannot be used: reset: the command ended with status 4: no snapshot\n",
		"hint: mend the command under reset, and try it in the directory of the tree: echo no snapshot; exit 4\n",
	}, "-k", "good")
	say("may_be_changed: true, reset: false")
	x.run(0, []string{"machine: ssh: given, not fresh: it is as the last test left it", "1 test: 1 passed, 0 failed; 1 test not on a fresh machine\n"}, "-k", "leaves")
	if left, err := g.m.Files(t.Context()); err != nil || left["/.brine-test"] != "" {
		t.Errorf("a test is left on the host: %v, %v", left, err)
	}
	say("reset: false")
	x.run(1, []string{"tests/all.yml:4:3: the host of debian-12 is not used: a test changes it, and may break it."}, "-k", "good")
	say("may_be_changed: true")
	x.run(1, []string{"tests/all.yml:4:3: the host of debian-12 needs a reset"}, "-k", "good")
	say("may_be_changed: true, reset: false")
	must(t, os.WriteFile(filepath.Join(x.dir, "roster"), []byte("givem: 127.0.0.1\n"), 0o600))
	x.run(1, []string{"the host given cannot be used: the roster has no \"given\" (did you mean \"givem\"?)"}, "-k", "good")
}

// TestTrialGivenFaults: nothing of a test is left on a given host when brine is killed or
// interrupted. A host that dies fails its test, and the next one removes what was left there
// and says so.
func TestTrialGivenFaults(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	dir := t.TempDir()
	g := newGivenHost(t, dir)
	x := newTrialTree(t, map[string]string{
		"roster": g.roster(dir), "slow.sls": "wait:\n  cmd.run:\n    - name: echo >/began; sleep 10000\n", "fast.sls": "/etc/fast:\n  file.managed: []\n",
		"tests/all.yml": "systems: [debian-12]\ndriver: ssh\nhosts:\n  debian-12: {target: given, may_be_changed: true, reset: false}\ncases:\n  slow: {sls: slow}\n  fast: {sls: fast}\n",
	})
	// begin starts the slow test and waits until its state runs.
	begin := func() (end func(status int) string) {
		t.Helper()
		g.sh("rm -f /began")
		c, out, stderr := x.command("-k", "slow")
		must(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill() })
		for end := time.Now().Add(time.Minute); g.sh("cat /began 2>/dev/null") == ""; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no state runs on the host")
			}
		}
		return func(status int) string {
			t.Helper()
			switch status {
			case -1:
				must(t, c.Process.Kill())
			case 130:
				must(t, c.Process.Signal(os.Interrupt))
			}
			_ = c.Wait()
			if got := c.ProcessState.ExitCode(); got != status {
				t.Errorf("status %d, want %d", got, status)
			}
			return out.String() + stderr.String()
		}
	}
	const looks = "ls -d /.brine-test /run/brine-test.running 2>/dev/null; grep -l 'slee[p]' /proc/[0-9]*/cmdline 2>/dev/null"
	tidy := func(when string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); g.sh(looks) != ""; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s, there are on the host: %s", when, g.sh(looks))
			}
		}
	}
	if text := begin()(130); !strings.Contains(text, "interrupted: nothing of the tests runs on; given hosts are as the tests left them\n") {
		t.Errorf("after Ctrl-C: %s", text)
	}
	x.left()
	tidy("after Ctrl-C")
	begin()(-1)
	tidy("after kill -9")
	x.run(0, []string{"brine: removed what process ", " left when it was killed\n"}, "-k", "fast")

	end := begin()
	g.end()
	text := end(1)
	for _, want := range []string{"the host closed the connection", "tidy the host: /.brine-test and processes may be left there until the next test of it, which removes them: given (127.0.0.1:", "1 test: 0 passed, 1 failed; 3 checks not made"} {
		if !strings.Contains(text, want) {
			t.Errorf("when the host dies: no %q in\n%s", want, text)
		}
	}
	x.left()
	g.start()
	g.sh("mkdir /.brine-test && echo x >/.brine-test/brine")
	x.run(0, []string{"with its own network; removed what a test that was cut off left there; test: no file changed"}, "-k", "fast")
	tidy("after a test")
}
