//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// A trialTree is a formula with cases, for brine test.
type trialTree struct {
	t          *testing.T
	dir, home  string
	brine      string
	credential *syscall.Credential // nil: as the test
}

// newTrialTree writes a tree: names and texts of files.
func newTrialTree(t *testing.T, files map[string]string) *trialTree {
	t.Helper()
	dir, err := os.MkdirTemp("", "brine-trial-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tree := &trialTree{t: t, dir: filepath.Join(dir, "tree"), home: filepath.Join(dir, "home"), brine: filepath.Join(dir, "brine")}
	must(t, os.Chmod(dir, 0o755))
	must(t, os.MkdirAll(tree.home, 0o755))
	// A program that this process writes cannot be run while another test starts one.
	brine := staticBrine(t)
	if os.Link(brine, tree.brine) != nil { // it is on another disk
		must(t, exec.Command("cp", brine, tree.brine).Run())
	}
	for name, text := range files {
		path := filepath.Join(tree.dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return tree
}

// command is brine test with arguments.
func (x *trialTree) command(args ...string) (c *exec.Cmd, out, stderr *bytes.Buffer) {
	c = exec.Command(x.brine, append([]string{"test"}, args...)...)
	out, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	c.Dir, c.Stdout, c.Stderr = x.dir, out, stderr
	c.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=" + x.home, "TMPDIR=" + x.home}
	if x.credential != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: x.credential}
	}
	return c, out, stderr
}

// run runs brine test, and compares its status and lines of its report.
func (x *trialTree) run(status int, want []string, args ...string) {
	x.t.Helper()
	c, out, stderr := x.command(args...)
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	text := out.String() + stderr.String()
	if got := c.ProcessState.ExitCode(); got != status {
		x.t.Errorf("brine test %s: status %d, want %d\n%s", strings.Join(args, " "), got, status, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			x.t.Errorf("brine test %s: no %q in\n%s", strings.Join(args, " "), w, text)
		}
	}
	x.left()
}

// left checks that nothing is left of the machines.
func (x *trialTree) left() {
	x.t.Helper()
	names, err := os.ReadDir(filepath.Join(x.home, ".cache/brine/test/machines"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.t.Fatal(err)
	}
	for _, n := range names {
		x.t.Errorf("%s was left", n.Name())
	}
}

// asUser makes all that follows run without root, and the tree that of its user.
func (x *trialTree) asUser() {
	x.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	x.credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	for _, dir := range []string{x.home, x.dir} {
		must(x.t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(p, nobody, nobody))
		}))
	}
}

// trialFiles are a formula with faults that only a machine shows.
var trialFiles = map[string]string{
	"app/init.sls": `/etc/app.conf:
  file.managed:
    - contents: port=80
    - mode: '0600'
`,
	"app/again.sls": `stamp:
  cmd.run:
    - name: date >>/etc/stamp
`,
	"app/fails.sls": `broken:
  cmd.run:
    - name: echo no luck; exit 3
`,
	"app/idle.sls": `idle:
  cmd.run:
    - name: touch /etc/idle
    - unless: 'true'
{%- if pillar.more %}
more:
  test.nop: []
{%- endif %}
`,
	"app/broken.sls": `/etc/systemd/system/broken.service:
  file.managed:
    - contents: "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo port 80 is in use >&2; exit 1'\n"
broken:
  service.running: []
`,
	"app/service.sls": `/etc/systemd/system/app.service:
  file.managed:
    - contents: |
        [Service]
        ExecStart=/bin/sh -c 'cp /etc/app.conf /run/app.now; exec sleep 10000'
        [Install]
        WantedBy=multi-user.target
app:
  service.running:
    - enable: True
    - require:
      - file: /etc/systemd/system/app.service
{%- if pillar.restarts %}
    - watch:
      - file: /etc/app.conf
{%- else %}
    - order: 1
{%- endif %}
include:
  - app
`,
}

// trialCases returns the tree with a case file.
func trialCases(cases string) map[string]string {
	files := map[string]string{"tests/all.yml": cases}
	maps.Copy(files, trialFiles)
	return files
}

// TestTrialMachines applies cases to machines of both drivers: what is right passes, and
// each planted fault is found and named.
func TestTrialMachines(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, trialCases("systems: [debian-12]\nimages: {debian-12: "+image+`}
cases:
  good:
    sls: app
    expect:
      files:
        /etc/app.conf: {mode: '0600', user: root, content: "port=80\n"}
        /etc/nothing: {type: absent}
      functions:
        - test.ping: []
        - cmd.run: {args: 'cat /etc/app.conf; exit 3', status: 3, match: ^port=80$}
        - file.stats: {args: /etc/app.conf, has: {user: root}}
        - grains.get: {args: os, is: Debian}
      states:
        - file.managed: {name: /etc/app.conf, contents: port=80}
      script: grep -q port=80 /etc/app.conf
  again: {sls: app.again}
  stamped: {sls: app.again, always_changes: sta*}
  some: {sls: app.idle, pillar: {more: true}}
  idle: {sls: app.idle, pillar: {more: false}}
  fails: {sls: app.fails}
  wrong:
    sls: app
    expect:
      files: {/etc/app.conf: {mode: '0644'}, /etc/nothing: {}}
      functions:
        - cmd.run: {args: echo hello, match: goodbye}
      states:
        - file.managed: {name: /etc/app.conf, contents: port=81}
        - file.managed: {name: /etc/app.conf, unless: 'true'}
      ports: [9]
      script: echo sorry; exit 4
`))
	for _, driver := range []string{"namespace", "nspawn"} {
		x.run(0, []string{
			"skipped: not run, by onlyif, unless, creates or onchanges: idle; apply: 2 states",
			"3 tests: 3 passed, 0 failed; 1 check not made",
		}, "-k", "good,some,stamped", "--driver", driver)
		x.run(1, []string{
			"app/again.sls:2:3: again: stamp (cmd.run) in app.again changed something the second time",
			"app/fails.sls:2:3: apply: broken (cmd.run) in app.fails failed: Command \"echo no luck; exit 3\" run",
			"expect: not made, since the states failed",
			"file /etc/app.conf: expected the mode 644, found 600",
			"hint: it is made by /etc/app.conf (file.managed) in app",
			"file /etc/nothing: expected a file, and it does not exist",
			"hint: no state of the case is about /etc/nothing",
			`cmd.run echo hello: expected what matches "goodbye", found hello`,
			"file.managed /etc/app.conf: expected no change",
			"it was not run, so that nothing was looked at: unless condition is true",
			"apply: no state was run: onlyif, unless, creates or onchanges skipped each of them: idle",
			"port 9: nothing listens on it",
			"script: it ended with status 4\n    sorry",
			"4 tests: 0 passed, 4 failed",
		}, "-k", "again,fails,idle,wrong", "--driver", driver)
	}
}

// TestTrialPrepare: tests that prepare the same start from a snapshot of it, others never do;
// and what is left after a case was undone is found.
func TestTrialPrepare(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	files := trialCases("systems: [debian-12]\nimages: {debian-12: " + image + `}
prepare: base
cases:
  one:
    sls: goes
    clean: gone
    expect: {files: {/opt/base/x: {content: "none\n"}}, script: 'test -z "$(ls /etc/apt/apt.conf.d)"; test "$(wc -l </opt/base/runs)" = 1'}
  two: {sls: goes, clean: half}
  other: {sls: goes, pillar: {v: mine}, expect: {files: {/opt/base/x: {content: "mine\n"}}}}
  broken: {sls: goes, prepare: app.fails}
  broken2: {sls: goes, prepare: app.fails}
`)
	// A directory of the image that is made again has nothing in it, also in the snapshot.
	files["base.sls"] = "/opt/base/x:\n  file.managed:\n    - makedirs: True\n    - contents: {{ pillar.get('v', 'none') }}\n" +
		"runs:\n  cmd.run:\n    - name: echo >>/opt/base/runs; rm -r /etc/apt/apt.conf.d; mkdir /etc/apt/apt.conf.d\n"
	files["goes.sls"] = "/etc/cron.d/zz:\n  file.managed:\n    - contents: x\nu1:\n  user.present: []\n"
	files["gone.sls"] = "/etc/cron.d/zz:\n  file.absent: []\nu1:\n  user.absent:\n    - purge: True\n"
	files["half.sls"] = "/etc/cron.d/zz:\n  file.absent: []\n"
	x := newTrialTree(t, files)
	x.run(1, []string{
		"one on debian-12      ok      machine: namespace; prepare: 2 states, from a snapshot made for ",
		"plan: empty; clean: the files are as before",
		"clean: the machine is not as it was before: /etc/group, /etc/gshadow, /etc/passwd, ",
		"other on debian-12    ok      machine: namespace; prepare: 2 states; test: no file changed",
		"app/fails.sls:2:3: prepare: broken (cmd.run) in app.fails failed: ",
		"5 tests: 2 passed, 3 failed\n",
	}, "--driver", "namespace")
	x.run(1, []string{"clean: the files are as before", "2 tests: 1 passed, 1 failed\n"}, "-k", "one,two", "--driver", "nspawn")
}

// TestTrialServices: a service that is not restarted after its file changed is found, and why one
// does not start is said.
func TestTrialServices(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	expect := `
    sls: app.service
    expect:
      files: {/run/app.now: {match: port=80}}
      functions:
        - service.status: app
`
	x := newTrialTree(t, trialCases("systems: [debian-12]\nimages: {debian-12: "+image+"}\ncases:\n  broken: {sls: app.broken}\n  restarts:\n    pillar: {restarts: true}"+expect+
		"  missing:\n    pillar: {restarts: false}"+expect))
	x.run(1, []string{"app/broken.sls:5:3: apply: broken (service.running) in app.broken failed: ", "in its journal:\n", "port 80 is in use\n"}, "-k", "broken", "--driver", "nspawn")
	x.run(0, []string{"1 test: 1 passed"}, "-k", "restarts", "--driver", "nspawn")
	x.run(1, []string{"file /run/app.now: expected a file, and it does not exist"}, "-k", "missing", "--driver", "nspawn")
}

// TestTrialEnds: nothing is left of a run that Ctrl-C ends, and what one that was killed
// leaves is removed by the next.
func TestTrialEnds(t *testing.T) {
	turn.Skip(t)
	image := machine.Image(t)
	t.Parallel()
	x := newTrialTree(t, map[string]string{
		"app.sls":       "wait:\n  cmd.run:\n    - name: echo here >&2; exec sleep 10000\n",
		"tests/all.yml": "systems: [debian-12]\nimages: {debian-12: " + image + "}\ncases:\n  slow: {sls: app}\n  fast: {sls: fast}\n",
		"fast.sls":      "x:\n  test.nop: []\n",
	})
	for _, driver := range []string{"namespace", "nspawn"} {
		waitGone(t, x.begin(driver, syscall.SIGINT)...)
		x.left()
		waitGone(t, x.begin(driver, syscall.SIGKILL)...)
		x.run(0, []string{"brine: removed what process", "1 test: 1 passed"}, "-k", "fast", "--driver", driver)
	}
}

// begin starts a test that waits, sends brine a signal, and returns the processes that held
// the machines.
func (x *trialTree) begin(driver string, sig syscall.Signal) (holders []string) {
	x.t.Helper()
	c, _, stderr := x.command("-k", "slow", "--driver", driver)
	must(x.t, c.Start())
	x.t.Cleanup(func() { _ = c.Process.Kill() })
	holders = x.waitSleeping()
	must(x.t, c.Process.Signal(sig))
	_ = c.Wait()
	if want := 130; sig == syscall.SIGINT && c.ProcessState.ExitCode() != want {
		x.t.Errorf("brine test ended with %d after Ctrl-C, want %d: %s", c.ProcessState.ExitCode(), want, stderr)
	}
	return holders
}

// waitSleeping waits until a state sleeps on a machine, and returns the processes that hold
// the machines.
func (x *trialTree) waitSleeping() (holders []string) {
	x.t.Helper()
	pattern := filepath.Join(x.home, ".cache/brine/test/machines/*/pid")
	for end := time.Now().Add(time.Minute); len(holders) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatal("no state sleeps on a machine")
		}
		if files, _ := filepath.Glob(pattern); slices.ContainsFunc(files, sleeps) {
			for _, f := range files {
				text, err := os.ReadFile(f)
				must(x.t, err)
				holders = append(holders, strings.TrimSpace(string(text)))
			}
		}
	}
	return holders
}

// sleeps reports whether the state of a machine has begun to sleep: whether such a process
// has its mounts.
func sleeps(pidFile string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	root := filepath.Dir(pidFile)
	for _, d := range dirs {
		line, _ := os.ReadFile(d)
		if !strings.HasPrefix(string(line), "sleep\x0010000\x00") {
			continue
		}
		mounts, _ := os.ReadFile(filepath.Join(filepath.Dir(d), "mountinfo"))
		if strings.Contains(string(mounts), root) {
			return true
		}
	}
	return false
}

// waitGone waits until processes have ended.
func waitGone(t *testing.T, pids ...string) {
	t.Helper()
	end := time.Now().Add(time.Minute)
	for _, pid := range pids {
		for isThere(pid) {
			if time.Now().After(end) {
				t.Fatalf("the process %s is still there", pid)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func isThere(pid string) bool {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}

// TestTrialUser: without root, a tree without services is tested in namespaces, on an
// image that has nothing but a few files.
func TestTrialUser(t *testing.T) {
	turn.Skip(t)
	t.Parallel()
	x := newTrialTree(t, map[string]string{
		"app.sls":              "/etc/app.conf:\n  file.managed:\n    - contents: port=80\n    - mode: '0600'\n",
		"tests/all.yml":        "systems: [debian-12]\nimages: {debian-12: image, rockylinux-9: image}\ncases:\n  other: {sls: app, systems: rockylinux-9}\n  good:\n    sls: app\n    expect: {files: {/etc/app.conf: {mode: '0600'}, /etc/hosts: {match: '^127.0.0.1\\s+localhost$'}}}\n  wrong:\n    sls: app\n    expect: {files: {/etc/app.conf: {mode: '0644'}}}\n  shell: {orchestrate: orch, machines: {web1: {}}}\n",
		"orch.sls":             siteStep("all", "*", "glob", "app"),
		"image/etc/passwd":     "root:x:0:0::/root:/bin/sh\n",
		"image/etc/group":      "root:x:0:\n",
		"image/etc/os-release": "NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_ID=12\n",
	})
	x.asUser()
	if c := exec.Command("unshare", "--user", "--map-root-user", "--mount", "true"); func() bool {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: x.credential}
		return c.Run() != nil
	}() {
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines") {
			t.Fatal("a user cannot make namespaces here")
		}
		t.Skip("a user cannot make namespaces here")
	}
	x.run(0, []string{"good on debian-12", "1 test: 1 passed, 0 failed"}, "-k", "good")
	x.run(1, []string{"file /etc/app.conf: expected the mode 644, found 600"}, "-k", "wrong")
	x.run(1, []string{"machine: it is Debian 12, and the system rockylinux-9 is Rocky 9: the test would say nothing of it"}, "-k", "other")
	x.run(1, []string{"web1: unreachable: ", "no such file or directory"}, "-k", "shell")
	x.run(1, []string{"the driver nspawn cannot be used: it needs root", "hint: run brine test as root, or use --driver namespace"}, "--driver", "nspawn")
}
