package host

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHostileView has mallory change his home between the moment at which a view was
// planned and the one at which a program is started with it: it starts with what was
// checked, or not at all. It runs with mounts of its own.
func TestHostileView(t *testing.T) {
	t.Parallel()
	const inside = "BRINE_TEST_VIEW"
	if os.Getenv(inside) == "" {
		if os.Geteuid() != 0 {
			t.Skip("only root can mount")
		}
		c := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestHostileView$", "-test.v")
		c.Env = append(os.Environ(), inside+"=1")
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
		out, err := c.CombinedOutput()
		switch {
		case (errors.Is(err, unix.EPERM) || bytes.Contains(out, []byte("no mounts: "))) && !strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "machines"):
			t.Skipf("no mounts here: %v %s", err, out)
		case err != nil:
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatalf("no mounts: %v", err)
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"); err != nil {
		t.Fatalf("no mounts: %v", err)
	}
	h := NewLocal()
	for _, tt := range []struct {
		name  string
		paths []string         // of the program, below home
		swap  string           // what takes the place of home/app
		want  func(error) bool // nil: it works
	}{
		{"nothing", []string{"app"}, "", nil},
		{"his directory", []string{"app"}, "his", isShared},
		{"his link", []string{"app"}, "link", isShared},
		{"another of root's, with his in it", []string{"app/sub"}, "other", isShared},
		{"a way by a link that is not in the view", []string{"way/app"}, "", isShared},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := viewHome(t)
			paths := make([]string, len(tt.paths))
			for i, p := range tt.paths {
				paths[i] = filepath.Join(home, p)
			}
			a, err := planApart(h, "user", paths)
			if err != nil || a == nil {
				t.Fatalf("planned %v, %v", a, err)
			}
			if tt.swap != "" {
				if err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(home, "app"), unix.AT_FDCWD, filepath.Join(home, tt.swap), unix.RENAME_EXCHANGE); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			c := exec.Command("/bin/sh", "-c", "pwd -P; ls -A ..; (: >../new) 2>/dev/null && echo written; : >made")
			c.Dir, c.Stdout = filepath.Join(home, "app"), &out
			err = startUmask(c, nil, a)
			if err == nil {
				_ = c.Wait()
			}
			if tt.want != nil {
				if err == nil || !tt.want(err) {
					t.Errorf("started: %v, %s", err, &out)
				}
			} else if want := home + "/app\napp\n"; err != nil || out.String() != want {
				t.Errorf("the program sees %q, %v, want %q", &out, err, want)
			}
			for p, want := range map[string]bool{"app/made": tt.want == nil, "new": false, "../etc/made": false, "his/made": false} {
				if _, err := os.Lstat(filepath.Join(home, p)); (err == nil) != want {
					t.Errorf("%s is there: %v", p, err == nil)
				}
			}
			if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), home) {
				t.Errorf("a mount is left: %v\n%s", err, mounts)
			}
		})
	}
}

func isShared(err error) bool { return errors.As(err, new(*SharedPathError)) }

// viewHome makes a home of mallory's with directories of root's in it.
func viewHome(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("/tmp", "brine-view-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	at := func(p string) string { return filepath.Join(top, p) }
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"etc/sub", "home/app/sub", "home/his/sub", "home/other/sub", "home/d/app"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home/link": "../etc", "home/way": "d"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"home", "home/his", "home/his/sub", "home/link", "home/other/sub", "home/d", "home/way"} {
		if err := os.Lchown(at(p), mallory, mallory); err != nil {
			t.Fatal(err)
		}
	}
	return at("home")
}
