//go:build linux

// Package machine boots throw-away systemd machines for tests: what removes,
// owns, mounts or installs is tried in one of them, never on the machine that runs
// the tests.
//
// A machine is an overlay over an image (see .ci/machines), with a network
// namespace of its own that has a loopback device alone, and systemd as PID 1 by
// systemd-nspawn. It boots in one to three seconds. Start with [Boot].
package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brine/internal/fleet/machine"
)

// Env is the environment of commands in a machine.
var Env = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root", "COLUMNS=120", "TERM=dumb",
}

// rebooted is the exit status of systemd-nspawn where the machine rebooted.
const rebooted = 133

// nspawnRun has to be a mount of its own, or machines see each other's.
const nspawnRun = "/run/systemd/nspawn"

// A Machine is a machine that was booted.
type Machine struct {
	Root string // where its file system is, seen from outside

	name, dir string
	down      atomic.Bool
	nspawn    atomic.Int64  // pid of the systemd-nspawn of now
	groups    []string      // directories of its control groups
	over      chan struct{} // closed when the last systemd-nspawn has ended
	log       *os.File
}

// Image returns the image that machines are booted from: the directory b below
// $BRINE_MACHINES, which "make machines" builds. The test is skipped where there
// is none, where this machine cannot boot any, and with -short; with "machines" in
// $BRINE_TEST_REQUIRE it fails instead.
func Image(t testing.TB) string {
	t.Helper()
	lacks := func(format string, args ...any) {
		t.Helper()
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines") {
			t.Fatalf(format, args...)
		}
		t.Skipf(format, args...)
	}
	if testing.Short() {
		lacks("no machine is booted with -short")
	}
	if os.Geteuid() != 0 {
		lacks("throw-away machines need root")
	}
	for _, tool := range []string{"systemd-nspawn", "ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			lacks("throw-away machines need %s: see .ci/needs", tool)
		}
	}
	dir := os.Getenv("BRINE_MACHINES")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			lacks("no directory of images: %v", err)
		}
		dir = filepath.Join(cache, "brine-machines")
	}
	image := filepath.Join(dir, "b")
	if _, err := os.Stat(filepath.Join(image, "srv/repo/key.asc")); err != nil {
		lacks("no image of a machine in %s: 'make machines' builds it", dir)
	}
	return image
}

var booted atomic.Int64

// Boot boots a machine from image and waits until it is up. It is stopped, and
// everything of it removed, at the end of the test.
func Boot(t testing.TB, image string) *Machine {
	t.Helper()
	m := &Machine{name: fmt.Sprintf("bt%d-%d", os.Getpid(), booted.Add(1)), over: make(chan struct{})}
	// Not t.TempDir: a mount that is left must not be walked into.
	dir, err := os.MkdirTemp("", "brine-machine-")
	if err != nil {
		t.Fatal(err)
	}
	m.dir, m.Root = dir, filepath.Join(dir, "root")
	t.Cleanup(func() {
		if err := m.stop(); err != nil {
			t.Errorf("stop the machine %s: %v", m.name, err)
		}
	})
	if err := m.start(image); err != nil {
		t.Fatalf("boot a machine: %v", err)
	}
	if err := m.wait(0); err != nil {
		t.Fatalf("boot a machine: %v\n%s", err, m.Log())
	}
	return m
}

func (m *Machine) start(image string) error {
	up := filepath.Join(m.dir, "up")
	for _, d := range []string{up, m.Root} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	if err := ownRunDir(); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", up, "tmpfs", 0, "size=3g"); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, d := range []string{"up", "work"} {
		if err := os.Mkdir(filepath.Join(up, d), 0o755); err != nil {
			return err
		}
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s/up,workdir=%s/work", image, up, up)
	if err := syscall.Mount("overlay", m.Root, "overlay", 0, layers); err != nil {
		return fmt.Errorf("mount an overlay: %w", err)
	}
	// A case starts and stops a unit within the seconds in which systemd allows five
	// starts; those that recorded it took longer.
	limits := filepath.Join(m.Root, "etc/systemd/system.conf.d")
	if err := os.MkdirAll(limits, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(limits, "50-starts.conf"), []byte("[Manager]\nDefaultStartLimitIntervalSec=0\n"), 0o644); err != nil {
		return err
	}
	// Each daemon-reload runs all generators: those that have nothing to do here are half its
	// time.
	masks := filepath.Join(m.Root, "etc/systemd/system-generators")
	if err := os.MkdirAll(masks, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"cryptsetup", "debug", "getty", "gpt-auto", "hibernate-resume", "integritysetup", "rc-local", "run", "system-update", "veritysetup"} {
		if err := os.Symlink("/dev/null", filepath.Join(masks, "systemd-"+name+"-generator")); err != nil {
			return err
		}
	}
	if err := ip("netns", "add", m.name); err != nil {
		return err
	}
	if err := ip("-n", m.name, "link", "set", "lo", "up"); err != nil {
		return err
	}
	// A new namespace has the value of this machine, which may be a router.
	if err := ip("netns", "exec", m.name, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/ip_forward"); err != nil {
		return err
	}
	var err error
	if m.groups, err = machine.OwnGroups(filepath.Base(m.dir)); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(m.dir, "log"))
	if err != nil {
		return err
	}
	m.log = log
	go m.run()
	return nil
}

// ownRunDir sees that /run/systemd/nspawn is a mount.
func ownRunDir() error {
	if err := os.MkdirAll(nspawnRun, 0o755); err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	if strings.Contains(string(mounts), " "+nspawnRun+" ") {
		return nil
	}
	return syscall.Mount("tmpfs", nspawnRun, "tmpfs", 0, "")
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// run runs systemd-nspawn, again after each reboot of the machine.
func (m *Machine) run() {
	defer close(m.over)
	for range 20 {
		args := append([]string{"-c", machine.JoinGroups, "sh"}, m.groups...)
		args = append(args, "--", "systemd-nspawn", "-q", "-D", m.Root, "-M", m.name, "-b", "--register=no", "--keep-unit",
			"--network-namespace-path=/run/netns/"+m.name, "--capability=CAP_NET_ADMIN", "--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=pipe")
		c := exec.Command("sh", args...)
		c.Stdout, c.Stderr = m.log, m.log
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			fmt.Fprintln(m.log, err)
			return
		}
		m.nspawn.Store(int64(c.Process.Pid))
		err := c.Wait()
		m.nspawn.Store(0)
		var exit *exec.ExitError
		if m.down.Load() || !errors.As(err, &exit) || exit.ExitCode() != rebooted {
			return
		}
	}
}

// PID returns the machine's PID 1 seen from outside, 0 where it is not up.
func (m *Machine) PID() int {
	n := m.nspawn.Load()
	if n == 0 {
		return 0
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", n, n))
	if err != nil {
		return 0
	}
	for c := range strings.FieldsSeq(string(children)) {
		comm, err := os.ReadFile("/proc/" + c + "/comm")
		if err == nil && strings.Contains(string(comm), "systemd") {
			pid, _ := strconv.Atoi(c)
			return pid
		}
	}
	return 0
}

// wait waits until the machine is up with another PID 1 than not.
func (m *Machine) wait(not int) error {
	const most = 90 * time.Second
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		select {
		case <-m.over:
			return errors.New("systemd-nspawn has ended")
		default:
		}
		if p := m.PID(); p == 0 || p == not {
			continue
		}
		r := m.Run(10*time.Second, "/", "systemctl", "is-system-running")
		if state := strings.TrimSpace(r.Stdout); state == "running" || state == "degraded" {
			return nil
		}
	}
	return fmt.Errorf("it is not up after %s", most)
}

// A Result is what a command in a machine did.
type Result struct {
	Stdout, Stderr string
	Exit           int           // -1: it did not end in time, or the machine is not up
	CPU            time.Duration // of it and of what it waited for
}

// Run runs a command in the machine as root, in a directory there, with nothing on
// stdin and the environment [Env].
func (m *Machine) Run(timeout time.Duration, dir string, argv ...string) Result {
	pid := m.PID()
	if pid == 0 {
		return Result{Exit: -1, Stderr: "the machine is not up"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	args := append([]string{"-t", strconv.Itoa(pid), "-a", "--wdns=" + dir, "env", "-i"}, Env...)
	c := exec.CommandContext(ctx, "nsenter", append(args, argv...)...)
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &errOut, time.Second
	err := c.Run()
	r := Result{Stdout: out.String(), Stderr: errOut.String(), Exit: c.ProcessState.ExitCode()}
	if c.ProcessState != nil {
		r.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if ctx.Err() != nil {
		r.Exit = -1
	} else if err != nil && c.ProcessState == nil {
		r.Stderr += err.Error()
	}
	return r
}

// Shell runs a line of sh in the machine, in a directory there.
func (m *Machine) Shell(dir, line string) Result {
	return m.Run(time.Minute, dir, "sh", "-c", line)
}

// Write writes a file of the machine, and the directories above it that are missing.
func (m *Machine) Write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	path = filepath.Join(m.Root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// Install copies a program into the machine. Another process writes it: one that this
// process starts meanwhile would inherit the open file, and what is open to be written
// cannot be run.
func (m *Machine) Install(t testing.TB, path, program string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "install", "-D", "-m", "755", program, filepath.Join(m.Root, path)).CombinedOutput(); err != nil {
		t.Fatalf("copy %s into the machine: %v: %s", program, err, out)
	}
}

// Log returns what the machine printed on its console.
func (m *Machine) Log() string {
	b, _ := os.ReadFile(filepath.Join(m.dir, "log"))
	return string(b)
}

// stop ends everything in the machine and removes what was made for it.
func (m *Machine) stop() error {
	m.down.Store(true)
	if p := m.PID(); p != 0 {
		_ = syscall.Kill(p, syscall.SIGKILL) // with PID 1 goes all of its namespace
	} else if n := m.nspawn.Load(); n != 0 {
		_ = syscall.Kill(int(n), syscall.SIGKILL)
	}
	if m.log != nil {
		<-m.over
		_ = m.log.Close()
	}
	for _, d := range []string{m.Root, filepath.Join(m.dir, "up")} {
		if err := unmount(d); err != nil {
			return err
		}
	}
	_ = ip("netns", "del", m.name)
	if err := machine.RemoveGroups(m.groups); err != nil {
		return err
	}
	return os.RemoveAll(m.dir)
}

func unmount(dir string) error {
	var err error
	for range 50 {
		// EINVAL: it is no mount.
		if err = syscall.Unmount(dir, 0); err == nil || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("unmount %s: %w", dir, err)
}
