//go:build linux

package assembly

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A jail is a machine for a test that calls whatever there is as root: namespaces
// of its own, a file system that is an overlay over this machine's in memory, no
// devices, no network, and no capability to change the kernel.

const (
	jailStage = "BRINE_JAIL"
	jailBind  = "BRINE_JAIL_BIND" // a directory of the machine's own file system
)

// jailGrounds are directories on an overlay, in memory, and on the file system of
// temporary files.
var jailGrounds = []string{"/ground", "/memory/ground", "/bound/ground"}

// kept are the capabilities in a jail.
var kept = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID,
	unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SETFCAP, unix.CAP_LINUX_IMMUTABLE, unix.CAP_MKNOD,
}

// enterJail runs the test that calls it in a jail. It returns true there; outside it
// returns false when that has ended, and has failed the test where it failed. more are further capabilities
// there.
func enterJail(t *testing.T, more ...int) (inside bool) {
	t.Helper()
	switch os.Getenv(jailStage) {
	case "build":
		if err := buildJail(append(slices.Clone(kept), more...)); err != nil {
			t.Fatalf("no jail: %v", err)
		}
	case "inside":
		return true
	}
	lacks := func(why string) {
		t.Helper()
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines") {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	if os.Geteuid() != 0 {
		lacks("a jail needs root")
	}
	if testing.Short() {
		t.Skip("there is no jail with -short")
	}
	dir := t.TempDir()
	for _, d := range []string{"bound", "tmp", "jail"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=20m")
	cmd.Env = append(os.Environ(), jailStage+"=build", jailBind+"="+dir, "TMPDIR="+filepath.Join(dir, "tmp"))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  unix.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case errors.Is(err, unix.EPERM):
		lacks("no namespaces here")
	case strings.Contains(text, "no jail: "):
		lacks(text)
	case err != nil:
		t.Errorf("in the jail: %v\n%s", err, text)
	default:
		t.Log(text)
	}
	return false
}

// buildJail makes the file system of the jail and starts the test in it.
func buildJail(kept []int) error {
	dir := os.Getenv(jailBind)
	at := func(p string) string { return filepath.Join(dir, "jail", p) }
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", at(""), "tmpfs", 0, ""); err != nil {
		return err
	}
	for _, d := range []string{"up", "work", "root"} {
		if err := os.Mkdir(at(d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("overlay", at("root"), "overlay", 0, "lowerdir=/,upperdir="+at("up")+",workdir="+at("work")); err != nil {
		return err
	}
	for _, d := range []string{"dev", "proc", "sys", "tmp", "run", "memory", "bound", "ground"} {
		if err := os.MkdirAll(at("root/"+d), 0o755); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		what, at, kind string
		flags          uintptr
	}{
		{"proc", "proc", "proc", 0},
		{"tmpfs", "dev", "tmpfs", 0},
		{"tmpfs", "tmp", "tmpfs", 0},
		{"tmpfs", "run", "tmpfs", 0},
		{"tmpfs", "sys", "tmpfs", 0},
		{"tmpfs", "memory", "tmpfs", 0},
		{filepath.Join(dir, "bound"), "bound", "", unix.MS_BIND},
	} {
		if err := unix.Mount(m.what, at("root/"+m.at), m.kind, m.flags, ""); err != nil {
			return err
		}
	}
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		if err := unix.Mknod(at("root/dev/"+name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil {
			return err
		}
	}
	if err := os.Symlink("/proc/self/fd", at("root/dev/fd")); err != nil {
		return err
	}
	for _, d := range []string{"sys", "irq", "bus", "sysrq-trigger"} { // the kernel's own settings
		p := at("root/proc/" + d)
		if unix.Mount(p, p, "", unix.MS_BIND, "") == nil {
			if err := unix.Mount("", p, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				return err
			}
		}
	}
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Chroot(at("root")), os.Chdir("/"), os.Chmod("/tmp", 0o777|os.ModeSticky)); err != nil {
		return err
	}
	runtime.LockOSThread()
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if !has(kept, c) {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
				return err
			}
		}
	}
	for k, v := range map[string]string{jailStage: "inside", "TMPDIR": "/tmp", "HOME": "/root", "LC_ALL": "C.UTF-8"} {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	// It must outlive the exec, which the test binary of Go does not clear.
	if _, err := unix.FcntlInt(exe.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	return unix.Exec("/proc/self/fd/"+strconv.Itoa(int(exe.Fd())), os.Args, os.Environ())
}

func has(list []int, n int) bool {
	return slices.Contains(list, n)
}

// prepareJail makes what examples take for granted.
func prepareJail(t *testing.T) {
	t.Helper()
	for _, d := range append([]string{"/srv/salt", "/var/cache/brine", "/root"}, jailGrounds...) {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	passwd, _ := os.ReadFile("/etc/passwd")
	add := "mallory:x:61234:61234::/ground/home:/bin/sh\n"
	if err := os.WriteFile("/etc/passwd", append(passwd, add...), 0o644); err != nil {
		t.Fatal(err)
	}
	group, _ := os.ReadFile("/etc/group")
	if err := os.WriteFile("/etc/group", append(group, "mallory:x:61234:\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range jailSources {
		if err := os.MkdirAll(filepath.Dir("/srv/salt/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("/srv/salt/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range jailCommands {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Logf("%s: %v %s", line, err, out)
		}
	}
}
