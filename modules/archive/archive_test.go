package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
	"brine/internal/testkit/archivetest"
	"brine/internal/testkit/memtest"
	"brine/modules/archive"
)

// bounds are those that hold unless the configuration says otherwise.
var bounds = archive.LimitsOf(nil)

// tarOf packs headers; the content of a file is its name.
func tarOf(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.ModTime = time.Unix(1577836800, 0)
		body := ""
		if h.Typeflag == tar.TypeReg {
			body = h.Name
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func dir(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o750}
}

func file(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o640, Uid: 7, Gid: 8}
}

func link(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestListAndExtract(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, dir("pk"), file("pk/one"), dir("pk/inner"), file("pk/inner/two"), link("pk/l", "one"))
	var z bytes.Buffer
	zw := zip.NewWriter(&z)
	for _, n := range []string{"pk/", "pk/one", "pk/inner/two"} {
		w, err := zw.Create(n)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(n, "/") {
			if _, err := w.Write([]byte(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, format string
		links              []string
	}{
		{"tar", plain, "tar", []string{"pk/l"}},
		{"tar.gz", zipped(t, plain), "tar", []string{"pk/l"}},
		{"zip", z.String(), "zip", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := host.NewFake()
			f.PutFile("/a", tt.text, 0o644)
			f.PutDir("/out", 0o755)
			ctx := context.Background()
			l, err := archive.List(ctx, f, "/a", tt.format, bounds, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := &archive.Listing{
				Dirs: []string{"pk/", "pk/inner/"}, Files: []string{"pk/inner/two", "pk/one"}, Links: tt.links,
				TopDirs: []string{"pk/"},
			}
			if d := cmp.Diff(want, l); d != "" {
				t.Error(d)
			}
			if l, err = archive.List(ctx, f, "/a", tt.format, bounds, 1); err != nil || cmp.Diff([]string{"one"}, l.TopFiles) != "" {
				t.Errorf("stripped: %+v, %v", l, err)
			}
			if _, err := archive.Extract(ctx, f, "/a", tt.format, "/out", bounds, true); err != nil {
				t.Fatal(err)
			}
			if got := f.Text("/out/pk/inner/two"); got != "pk/inner/two" {
				t.Errorf("content %q", got)
			}
			if tt.format != "tar" {
				return
			}
			st, err := f.Lstat("/out/pk/one")
			if err != nil || st.Perm() != 0o640 || st.UID != 7 || st.GID != 8 || st.Mtime.Unix() != 1577836800 {
				t.Errorf("one: %+v, %v", st, err)
			}
			if st, err := f.Lstat("/out/pk"); err != nil || st.Perm() != 0o750 {
				t.Errorf("pk: %o, %v", st.Perm(), err)
			}
			if to, err := f.Readlink("/out/pk/l"); to != "one" || err != nil {
				t.Errorf("link to %q, %v", to, err)
			}
		})
	}
}

// TestHostile checks that nothing is written outside of the directory.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]tar.Header{
		"parent":        {file("../evil")},
		"inner parent":  {file("a/../../evil")},
		"absolute":      {file("/evil")},
		"through link":  {link("l", "/"), file("l/evil")},
		"two links":     {link("a", "."), link("a/b", ".."), file("a/b/evil")},
		"to nowhere":    {link("l", "/nowhere"), file("l/evil")},
		"hard link out": {{Typeflag: tar.TypeLink, Name: "h", Linkname: "../secret"}, file("ok")},
		"device":        {{Typeflag: tar.TypeChar, Name: "dev", Mode: 0o666}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := host.NewFake()
			f.PutFile("/a", tarOf(t, headers...), 0o644)
			f.PutFile("/secret", "secret", 0o600)
			f.PutDir("/out", 0o755)
			_, err := archive.Extract(context.Background(), f, "/a", "tar", "/out", bounds, true)
			if err == nil {
				t.Error("no error")
			}
			for _, w := range f.Writes() {
				if strings.Contains(w, " /evil") || strings.Contains(w, "nowhere/") {
					t.Errorf("wrote outside: %s", w)
				}
			}
			if f.Text("/evil") != "" {
				t.Error("/evil is there")
			}
		})
	}
}

func TestNoArchive(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/empty", "", 0o644)
	f.PutFile("/text", strings.Repeat("no archive\n", 100), 0o644)
	f.PutFile("/gz", "\x1f\x8bnot really", 0o644)
	for _, p := range []string{"/empty", "/text", "/gz"} {
		for _, format := range []string{"tar", "zip"} {
			if _, err := archive.List(context.Background(), f, p, format, bounds, 0); err == nil {
				t.Errorf("%s as %s: no error", p, format)
			}
		}
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a.tar": "tar", "x/a.TGZ": "tar", "a.tar.xz": "tar", "a.zip": "zip", "a.rar": "rar", "a.txt": "", "tar": ""} {
		if got := archive.Guess(in); got != want {
			t.Errorf("Guess(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("x"), "tar")
	f.Add([]byte("PK\x03\x04"), "zip")
	hostile := []archivetest.Entry{archivetest.Link("l", "/"), archivetest.File("l/x"), archivetest.File("../x"), archivetest.Dir("d"), archivetest.Link("d", "..")}
	f.Add(archivetest.Tar(f, hostile...), "tar")
	f.Add(archivetest.Zip(f, hostile...), "zip")
	f.Add(archivetest.TarGz(f, archivetest.Entry{Name: "z", Zero: 4 << 20}), "tar")
	debug.SetMemoryLimit(512 << 20)
	small := archive.Limits{Bytes: 1 << 20, Members: 1000}
	f.Fuzz(func(t *testing.T, text []byte, format string) {
		h := host.NewFake()
		h.PutFile("/a", string(text), 0o644)
		h.PutDir("/out", 0o755)
		peak := memtest.Peak(func() {
			_, _ = archive.Extract(context.Background(), h, "/a", format, "/out", small, true)
		})
		if peak > 64<<20 {
			t.Errorf("%d bytes of memory for an archive of %d", peak, len(text))
		}
		for _, w := range h.Writes() {
			if p := strings.Fields(w); len(p) > 1 && p[1] != "/out" && !strings.HasPrefix(p[1], "/out/") {
				t.Errorf("outside: %s", w)
			}
		}
	})
}

// TestByProgram reads tar archives whose compression only a program knows.
func TestByProgram(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, dir("pk"), file("pk/one"))
	f := host.NewFake()
	f.PutExe("/usr/bin/xz")
	f.PutExe("/usr/bin/lzip")
	f.PutFile("/a.txz", "\xfd7zXZ\x00...", 0o644)
	f.PutFile("/a.lz", "LZIP...", 0o644)
	f.PutFile("/a.zst", "\x28\xb5\x2f\xfd...", 0o644)
	f.PutDir("/out", 0o755)
	f.HandleCommand("xz --decompress --stdout", func(_ context.Context, c host.Cmd) (host.Output, error) {
		in, err := io.ReadAll(c.Stdin)
		if err != nil || string(in) != "\xfd7zXZ\x00..." {
			return host.Output{Status: 1}, err
		}
		return host.Output{Stdout: []byte(plain)}, nil
	})
	f.OnCommand("lzip -dc /a.lz", host.Output{Stdout: []byte(plain)})
	ctx := context.Background()
	want := []string{"pk/one"}
	l, err := archive.List(ctx, f, "/a.txz", "tar", bounds, 0)
	if err != nil || !slices.Equal(l.Files, want) {
		t.Fatalf("xz: %+v, %v", l, err)
	}
	if names, err := archive.Extract(ctx, f, "/a.txz", "tar", "/out", bounds, true); err != nil || !slices.Equal(names, []string{"pk", "pk/one"}) || f.Text("/out/pk/one") != "pk/one" {
		t.Errorf("xz: unpacked %v, %v", names, err)
	}
	if l, err = archive.List(ctx, f, "/a.lz", "tar", bounds, 0, "lzip", "-dc"); err != nil || !slices.Equal(l.Files, want) {
		t.Errorf("lzip: %+v, %v", l, err)
	}
	for _, p := range []string{"/a.lz", "/a.zst"} { // of unknown compression, and without the program
		if _, err := archive.List(ctx, f, p, "tar", bounds, 0); !errors.Is(err, archive.ErrFormat) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestNames has the names that Salt gives for archives of a directory itself,
// and of files without entries for their directories.
func TestNames(t *testing.T) {
	t.Parallel()
	f := host.NewFake()
	f.PutFile("/dot", tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}, file("./a"), dir("./s"), file("./s/b")), 0o644)
	f.PutFile("/bare", tarOf(t, file("pk/one"), file("pk/in/two")), 0o644)
	for _, tt := range []struct {
		path  string
		strip int
		want  archive.Listing
	}{
		{"/dot", 0, archive.Listing{Dirs: []string{"./", "./s/"}, Files: []string{"./a", "./s/b"}, Links: []string{}, TopDirs: []string{"./"}}},
		{"/dot", 1, archive.Listing{Dirs: []string{"s/"}, Files: []string{"a", "s/b"}, Links: []string{}, TopDirs: []string{"s/"}, TopFiles: []string{"a"}}},
		{"/bare", 0, archive.Listing{Dirs: []string{}, Files: []string{"pk/in/two", "pk/one"}, Links: []string{}}},
	} {
		got, err := archive.List(context.Background(), f, tt.path, "tar", bounds, tt.strip)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&tt.want, got); d != "" {
			t.Errorf("%s, %d: %s", tt.path, tt.strip, d)
		}
	}
}
