package machine_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/fleet/machine"
)

// TestStub: dpkg reads an empty package, and another repository takes it from a directory.
func TestStub(t *testing.T) {
	t.Parallel()
	h, dir := host.NewLocal(), t.TempDir()
	r, err := machine.NewRepository(h, filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	stub := machine.Stub{
		Name: "web", Version: "1:2.0-1", Services: []string{"web", "web@"}, Users: []string{"web"}, Depends: []string{"libc6 (>= 2)", "adduser"},
		Provides: []string{"httpd"}, Files: []machine.StubFile{{"/etc/web.conf", "port=80\n"}, {"/usr/bin/web", "#!/bin/sh\n"}},
	}
	if err := r.AddStub(stub); err != nil {
		t.Fatal(err)
	}
	if err := r.AddStub(stub); err == nil || !strings.Contains(err.Error(), "there are two packages web_1%3a2.0-1_all.deb") {
		t.Errorf("the same package again: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "one/Packages"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Package: web\n", "Depends: libc6 (>= 2), adduser\n", "Provides: httpd\n", "Filename: ./web_1%3a2.0-1_all.deb\n"} {
		if !strings.Contains(string(index), want) {
			t.Errorf("no %q in the index:\n%s", want, index)
		}
	}
	other, err := machine.NewRepository(h, filepath.Join(dir, "two"))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := other.AddDir(filepath.Join(dir, "one")); n != 1 || err != nil {
		t.Errorf("the directory: %d packages, %v", n, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "two/Packages")); err != nil || !bytes.Equal(again, index) {
		t.Errorf("the index of the directory: %v\n%s", err, again)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("no dpkg-deb")
	}
	out, err := exec.Command("dpkg-deb", "-c", filepath.Join(dir, "one/web_1%3a2.0-1_all.deb")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"-rw-r--r-- root/root         8 ", "-rwxr-xr-x root/root        10 ", "./usr/lib/systemd/system/web@.service"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in the package:\n%s", want, out)
		}
	}
}

// tarOf is an archive of tar with one file.
func tarOf(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ar is an archive with one member.
func ar(name, text string) string {
	return fmt.Sprintf("!<arch>\n%-16s%-12d%-6d%-6d%-8o%-10d`\n%s", name, 0, 0, 0, 0o644, len(text), text)
}

// TestHostilePackages: a package of a directory cannot put others into the index, and what
// is damaged is refused.
func TestHostilePackages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"another package", ar("control.tar", tarOf(t, "control", "Package: a\n\nPackage: libc6\n")), "its description has an empty line"},
		{"a file elsewhere", ar("control.tar", tarOf(t, "control", "Package: a\nfilename: ../../etc/shadow\n")), "its description has the field filename"},
		{"no field", ar("control.tar", tarOf(t, "control", "Package: a\nnothing\n")), `its description has the line "nothing"`},
		{"no name", ar("control.tar", tarOf(t, "control", "Version: 1\n")), "its description does not name it"},
		{"no description", ar("control.tar", tarOf(t, "other", "x")), "its description is damaged"},
		{"much", ar("control.tar", tarOf(t, "control", "Package: a\n"+strings.Repeat("a: b\n", 1<<18))), "has more than 1 MiB"},
		{"more", ar("control.tar", tarOf(t, "other", strings.Repeat("\x00", 17<<20))), "its description is damaged"},
		{"cut", ar("control.tar.xz", "x")[:60], "it has no description"},
		{"too long", strings.Replace(ar("control.tar", "x"), "1         `", "-9        `", 1), "its archive is damaged"},
		{"compression", ar("control.tar.lz4", "x"), "control.tar.lz4 has an unknown compression"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.deb"), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := machine.NewRepository(host.NewLocal(), filepath.Join(dir, "r"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.AddDir(dir); err == nil || !strings.Contains(err.Error(), "a.deb is not a package of Debian: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
