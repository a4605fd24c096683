package host

import (
	"errors"
	"testing"
)

// A fake's own methods refuse system directories; the local machine's share the
// check, which only reads here.
func TestSystemDirectories(t *testing.T) {
	t.Parallel()
	refused := func(err error) bool { return errors.As(err, new(*SystemPathError)) }
	machine := func() *Fake {
		f := NewFake()
		f.PutDir("/data", 0o755)
		f.PutDir("/usr/lib", 0o755)
		f.PutLink("/lib", "usr/lib")
		f.PutLink("/data/etc", "/etc")
		f.PutLink("/data/all", "/")
		f.PutDir("/disk/srv", 0o755)
		f.PutLink("/srv", "/disk/srv")
		return f
	}
	for _, path := range []string{"/", "//", "/etc/..", "/etc", "/etc/", "//etc//", "/./etc/.", "/data/all/etc", "/data/all/../etc", "/lib", "/usr/lib", "/srv"} {
		f := machine()
		for name, err := range map[string]error{
			"CheckSystem": f.CheckSystem(path, false), "Remove": f.Remove(path), "RemoveAll": f.RemoveAll(path), "Rename": f.Rename(path, "/data/new"), "Rename to": f.Rename("/data/etc", path),
		} {
			if !refused(err) {
				t.Errorf("%s(%q) = %v", name, path, err)
			}
		}
		if w := f.Writes(); len(w) > 0 {
			t.Errorf("%s: wrote %v", path, w)
		}
		below, done, err := Beneath(f, "/")
		if err != nil {
			t.Fatal(err)
		}
		if err := below.RemoveAll("/etc"); !refused(err) {
			t.Errorf("RemoveAll(/etc) below / = %v", err)
		}
		done()
	}
	for path, follow := range map[string]bool{"/data": true, "/data/etc": false, "/data/all": false, "/etc/passwd": true, "/usr/lib/x": true, "etc": true, "/etcetera": true} {
		if err := machine().CheckSystem(path, follow); err != nil {
			t.Errorf("CheckSystem(%q, %v) = %v", path, follow, err)
		}
	}
	for _, path := range []string{"/data/etc", "/data/all", "/data/etc/", "/disk/srv"} {
		if err := machine().CheckSystem(path, true); !refused(err) {
			t.Errorf("CheckSystem(%q, true) = %v", path, err)
		}
	}
	for _, path := range []string{"/", "/etc/..", "//usr/", "/proc/self/root", "/proc/self/root/etc"} {
		if err := NewLocal().CheckSystem(path, true); !refused(err) {
			t.Errorf("CheckSystem(%q, true) of this machine = %v", path, err)
		}
	}
	f := machine()
	if err := f.Force().RemoveAll("/etc"); err != nil {
		t.Error(err)
	}
	if _, err := f.Lstat("/etc"); err == nil {
		t.Error("/etc is still there")
	}
	if err := f.Fork().Force().CheckSystem("/", true); err != nil {
		t.Error(err)
	}
}
