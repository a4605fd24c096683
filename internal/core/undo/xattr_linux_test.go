package undo

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// acl is an access control list of user 1234, as Linux keeps it: version, then entries of
// tag, permissions and number.
const acl = "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\xd2\x04\x00\x00" +
	"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"

// TestXattrs: what a run changes comes back with its ACL and its attributes, whether the
// run replaced it, changed its mode, or removed it.
func TestXattrs(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	file, sub := filepath.Join(dir, "file"), filepath.Join(dir, "dir")
	below := filepath.Join(sub, "below")
	want := map[string]map[string]string{
		file:  {"user.note": "a\x00b", "system.posix_acl_access": acl},
		sub:   {"user.of": "dir", "system.posix_acl_default": acl},
		below: {"user.note": "", "system.posix_acl_access": acl},
	}
	set := func() {
		t.Helper()
		if err := os.MkdirAll(sub, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{file, below} {
			if err := os.WriteFile(p, []byte("old"), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		for p, x := range want {
			err := host.SetXattrs(h, p, x)
			if errors.Is(err, syscall.ENOTSUP) {
				t.Skip("the file system has no extended attributes: " + err.Error())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	set()
	for _, tt := range []struct {
		name string
		do   func(h host.Host) error
	}{
		{"written", func(h host.Host) error {
			return h.WriteFile(file, strings.NewReader("new"), host.WriteOptions{})
		}},
		{"mode", func(h host.Host) error {
			return errors.Join(h.Chmod(file, 0o600), h.Chmod(sub, 0o700))
		}},
		{"attributes", func(h host.Host) error {
			return errors.Join(host.SetXattrs(h, file, map[string]string{"user.other": "x"}), host.SetXattrs(h, sub, nil))
		}},
		{"removed", func(h host.Host) error { return errors.Join(h.Remove(file), h.RemoveAll(sub)) }},
	} {
		cache := t.TempDir()
		env := envOf(h, cache, firstRun)
		r, err := Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		act(t, r, env, "it", tt.do)
		r.End(env)
		same := true
		for p, x := range want {
			now, err := host.Xattrs(h, p)
			same = same && err == nil && maps.Equal(now, x)
		}
		if same && tt.name != "mode" {
			t.Errorf("%s: the run changed no attributes", tt.name)
		}
		items, err := StoreOf(env).Undo(t.Context(), envOf(h, cache, secondRun), firstRun, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if it.Verdict != Back {
				t.Errorf("%s: %s: %v %s", tt.name, it.Name, it.Verdict, it.Comment)
			}
		}
		for p, x := range want {
			if now, err := host.Xattrs(h, p); err != nil || !maps.Equal(now, x) {
				t.Errorf("%s: %s has %q, want %q (%v)", tt.name, p, now, x, err)
			}
			if st, err := os.Lstat(p); err != nil || st.Mode().Perm() != map[bool]fs.FileMode{true: 0o750, false: 0o640}[p == sub] {
				t.Errorf("%s: %s: %v, %v", tt.name, p, st, err)
			}
		}
	}
}

// TestXattrsSince: an attribute that somebody changed after the run is named, and stays; one
// that an older brine did not look at is left alone.
func TestXattrsSince(t *testing.T) {
	t.Parallel()
	h, dir, cache := host.NewLocal(), t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := envOf(h, cache, firstRun)
	r, err := Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	act(t, r, env, "it", func(h host.Host) error {
		return h.WriteFile(file, strings.NewReader("new"), host.WriteOptions{})
	})
	r.End(env)
	err = host.SetXattrs(h, file, map[string]string{"user.later": "x"})
	if errors.Is(err, syscall.ENOTSUP) {
		t.Skip("the file system has no extended attributes: " + err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	items, err := StoreOf(env).Undo(t.Context(), envOf(h, cache, secondRun), firstRun, Options{Test: true})
	if err != nil || len(items) != 1 || items[0].Verdict != Since || !strings.Contains(items[0].Comment, "extended attributes (user.later)") {
		t.Errorf("%+v, %v", items, err)
	}
	if older := statOf(value.MapOf("type", "file", "mode", int64(0o600))); !older.Unasked || len(unlike(older, &Stat{Xattrs: map[string]string{"user.x": "y"}})) > 0 {
		t.Error("what an older brine kept says that there were no attributes")
	}
}
