package host_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
)

// tree is what files show of all that is below a directory.
func tree(t *testing.T, h host.Files, dir string) []string {
	t.Helper()
	var out []string
	names, err := h.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p := filepath.Join(dir, name)
		st, err := h.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.TrimPrefix(p, os.TempDir()) + " " + st.Mode.String()
		switch {
		case st.Mode.IsDir():
			out = append(out, line)
			out = append(out, tree(t, h, p)...)
			continue
		case st.Mode&fs.ModeSymlink != 0:
			to, err := h.Readlink(p)
			if err != nil {
				t.Fatal(err)
			}
			line += " -> " + to
		default:
			data, err := h.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			line += " " + string(data)
		}
		out = append(out, line)
	}
	return out
}

// changes are what is done to a directory of a machine, on an overlay and then on the
// machine itself.
var changes = []struct {
	name string
	do   func(h host.Host, d string) error
}{
	{"write a new file", func(h host.Host, d string) error {
		mode := fs.FileMode(0o600)
		return h.WriteFile(d+"/new", strings.NewReader("n"), host.WriteOptions{Mode: &mode})
	}},
	{"replace a file", func(h host.Host, d string) error {
		return h.WriteFile(d+"/file", strings.NewReader("other"), host.WriteOptions{})
	}},
	{"append", func(h host.Host, d string) error { return h.AppendFile(d+"/file", []byte("+"), 0o644) }},
	{"write in a new directory", func(h host.Host, d string) error {
		if err := h.MkdirAll(d+"/a/b/c", 0o755); err != nil {
			return err
		}
		return h.WriteFile(d+"/a/b/c/f", strings.NewReader("x"), host.WriteOptions{})
	}},
	{"remove a file and make it again", func(h host.Host, d string) error {
		if err := h.Remove(d + "/file"); err != nil {
			return err
		}
		return h.Mkdir(d+"/file", 0o700)
	}},
	{"remove all", func(h host.Host, d string) error { return h.RemoveAll(d + "/dir") }},
	{"remove what is in a directory, then it", func(h host.Host, d string) error {
		for _, p := range []string{"/dir/sub/deep", "/dir/sub", "/dir/x", "/dir"} {
			if err := h.Remove(d + p); err != nil {
				return err
			}
		}
		return nil
	}},
	{"remove a directory that is not empty", func(h host.Host, d string) error { return h.Remove(d + "/dir") }},
	{"rename a directory, and change what is in it", func(h host.Host, d string) error {
		if err := h.Rename(d+"/dir", d+"/moved"); err != nil {
			return err
		}
		if err := h.Chmod(d+"/moved/sub/deep", 0o600); err != nil {
			return err
		}
		return h.WriteFile(d+"/dir", strings.NewReader("a file now"), host.WriteOptions{})
	}},
	{"rename over a file", func(h host.Host, d string) error { return h.Rename(d+"/dir/x", d+"/file") }},
	{"a link and what it leads to", func(h host.Host, d string) error {
		if err := h.Symlink("dir/sub", d+"/l"); err != nil {
			return err
		}
		return h.WriteFile(d+"/l/in", strings.NewReader("in"), host.WriteOptions{})
	}},
	{"write through a link", func(h host.Host, d string) error {
		return h.WriteFile(d+"/link", strings.NewReader("through"), host.WriteOptions{FollowLinks: true})
	}},
	{"replace a link", func(h host.Host, d string) error {
		return h.WriteFile(d+"/link", strings.NewReader("a file"), host.WriteOptions{})
	}},
	{"a hard link", func(h host.Host, d string) error {
		if err := h.Link(d+"/file", d+"/hard"); err != nil {
			return err
		}
		return h.AppendFile(d+"/hard", []byte("both"), 0o644)
	}},
	{"modes", func(h host.Host, d string) error {
		if err := h.Chmod(d+"/file", 0o755|fs.ModeSetgid); err != nil {
			return err
		}
		return h.Chmod(d+"/dir/sub", 0o700)
	}},
	{"a directory that is there", func(h host.Host, d string) error { return h.Mkdir(d+"/dir", 0o755) }},
	{"below a file", func(h host.Host, d string) error { return h.Mkdir(d+"/file/x", 0o755) }},
	{"in no directory", func(h host.Host, d string) error {
		return h.WriteFile(d+"/no/x", strings.NewReader(""), host.WriteOptions{})
	}},
	{"below a root", func(h host.Host, d string) error {
		r, err := h.OpenRoot(d + "/dir")
		if err != nil {
			return err
		}
		defer r.Close()
		if err := r.MkdirAll("p/q", 0o755); err != nil {
			return err
		}
		if err := r.RemoveAll("sub"); err != nil {
			return err
		}
		return r.WriteFile("p/q/f", strings.NewReader("r"), host.WriteOptions{})
	}},
}

// TestOverlay does the same on an overlay and on the machine: the overlay shows what
// the machine then has, and the machine is as it was until then.
func TestOverlay(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, l := t.TempDir(), host.NewLocal()
			for _, p := range []string{"dir/sub/deep", "dir/x", "file"} {
				if err := os.MkdirAll(filepath.Dir(d+"/"+p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(d+"/"+p, []byte(p), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("file", d+"/link"); err != nil {
				t.Fatal(err)
			}
			before := tree(t, l, d)
			o := overlay(t, l)
			if diff := cmp.Diff(before, tree(t, o, d)); diff != "" {
				t.Errorf("an overlay without changes (-machine +overlay):\n%s", diff)
			}
			planned := c.do(o, d)
			shown := tree(t, o, d)
			if diff := cmp.Diff(before, tree(t, l, d)); diff != "" {
				t.Fatalf("the machine was changed:\n%s", diff)
			}
			done := c.do(l, d)
			if (planned == nil) != (done == nil) || planned != nil && errors.Is(planned, fs.ErrNotExist) != errors.Is(done, fs.ErrNotExist) {
				t.Errorf("on the overlay: %v, on the machine: %v", planned, done)
			}
			if diff := cmp.Diff(tree(t, l, d), shown); diff != "" {
				t.Errorf("after it (-machine +overlay):\n%s", diff)
			}
		})
	}
}

func overlay(t *testing.T, h host.Host) *host.Overlay {
	t.Helper()
	o, err := host.NewOverlay(h)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestOverlayRuns: programs that only look run, and nothing else does.
func TestOverlayRuns(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.OnCommand("look", host.Output{Stdout: []byte("seen")})
	o := overlay(t, f)
	ctx := context.Background()
	if out, err := o.Run(ctx, host.Cmd{Argv: []string{"look"}, ReadOnly: true}); err != nil || string(out.Stdout) != "seen" {
		t.Errorf("a program that only looks: %q, %v", out.Stdout, err)
	}
	_, runs := o.Run(ctx, host.Cmd{Argv: []string{"look"}})
	_, starts := o.Start(host.Cmd{Argv: []string{"look"}})
	_, dials := o.Dial(ctx, "tcp", "127.0.0.1:1")
	for _, err := range []error{runs, starts, dials, o.Signal(1, 15), o.Connect(ctx, "127.0.0.1", 1), o.SendUDP(ctx, "127.0.0.1", 1, nil)} {
		if _, ok := errors.AsType[*host.RefusedError](err); !ok {
			t.Errorf("%v is no *RefusedError", err)
		}
	}
	if len(f.Calls()) != 1 || o.Asked() != 1 || o.Refused() != 6 {
		t.Errorf("%d calls, %d asked, %d refused; want 1, 1, 6", len(f.Calls()), o.Asked(), o.Refused())
	}
}

// TestOverlayLooking: what only looks reads the overlay, and writes to the machine,
// but for what only the overlay has.
func TestOverlayLooking(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/etc/old", "old", 0o644)
	o := overlay(t, f)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(o.Mkdir("/etc/new", 0o755))
	must(o.RemoveAll("/etc/old"))
	f.Forget()
	l := o.Looking()
	if _, err := l.Stat("/etc/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
	must(l.WriteFile("/etc/new/x", strings.NewReader("x"), host.WriteOptions{}))
	must(l.WriteFile("/etc/old", strings.NewReader("x"), host.WriteOptions{}))
	must(l.MkdirAll("/var/cache/brine", 0o755))
	must(l.WriteFile("/var/cache/brine/copy", strings.NewReader("c"), host.WriteOptions{}))
	dir, err := l.MkdirTemp("", "x*")
	must(err)
	must(l.RemoveAll(dir))
	if data, err := l.ReadFile("/var/cache/brine/copy"); err != nil || string(data) != "c" {
		t.Errorf("a file of the machine: %q, %v", data, err)
	}
	want := []string{"MkdirAll /var/cache/brine", "WriteFile /var/cache/brine/copy", "MkdirTemp " + dir, "RemoveAll " + dir}
	if d := cmp.Diff(want, f.Writes()); d != "" {
		t.Errorf("on the machine (-want +got):\n%s", d)
	}
}

// TestOverlayBound: of content that is too large, the size alone is kept.
func TestOverlayBound(t *testing.T) {
	t.Parallel()
	o := overlay(t, host.NewFake())
	big := bytes.Repeat([]byte("x"), 5<<20)
	if err := o.WriteFile("/etc/big", bytes.NewReader(big), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if st, err := o.Stat("/etc/big"); err != nil || st.Size != int64(len(big)) {
		t.Errorf("size %d, %v", st.Size, err)
	}
	if _, err := o.ReadFile("/etc/big"); err == nil {
		t.Error("content that is too large was kept")
	}
	part, all := big[:3<<20], 0
	for i := range 30 {
		p := "/etc/part" + string(rune('a'+i))
		if err := o.WriteFile(p, bytes.NewReader(part), host.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if data, err := o.ReadFile(p); err == nil {
			all += len(data)
		}
	}
	if all > 64<<20 || all < 60<<20 {
		t.Errorf("%d bytes are kept, want at most 64 MiB", all)
	}
	names, err := o.ReadDir("/etc")
	if err != nil || !slices.Contains(names, "big") {
		t.Errorf("ReadDir: %v, %v", names, err)
	}
}
