package archive_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/testkit/archivetest"
	"brine/internal/testkit/memtest"
	"brine/modules/archive"
)

// TestHostileMembers unpacks archives whose members go through links that
// earlier ones made, or have names that lead out: nothing outside is written,
// removed, or given another mode, owner or time.
func TestHostileMembers(t *testing.T) {
	t.Parallel()
	suid := archivetest.Entry{Name: "l", Text: "x", Mode: fs.ModeSetuid | 0o777, UID: 4711}
	dirAt := func(n string) archivetest.Entry {
		return archivetest.Entry{Name: n + "/", Mode: fs.ModeDir | 0o777, UID: 4711}
	}
	for name, entries := range map[string][]archivetest.Entry{
		"mode of a link to a file":     {archivetest.Link("l", "../secret"), suid},
		"directory, then a link":       {dirAt("d"), archivetest.Link("d", "..")},
		"link, then a directory":       {archivetest.Link("d", ".."), dirAt("d")},
		"link, then what is in it":     {archivetest.Link("d", ".."), dirAt("d/kept")},
		"absolute link":                {archivetest.Link("d", "OUT"), dirAt("d/kept"), archivetest.File("d/new")},
		"link to a file outside":       {archivetest.Link("f", "../secret"), archivetest.File("f")},
		"hard link to a link":          {archivetest.Link("f", "../secret"), {Name: "h", Hard: "f"}, {Name: "h", Text: "evil", Mode: 0o777, UID: 4711}},
		"hard link outside":            {{Name: "h", Hard: "../secret"}},
		"hard link, absolute":          {{Name: "h", Hard: "/secret"}},
		"good ones before a hard link": {archivetest.File("good"), {Name: "h", Hard: "../secret"}},
		"link of two steps":            {archivetest.Link("a", "."), archivetest.Link("a/b", ".."), archivetest.File("a/b/secret")},
		"good members before a bad":    {archivetest.File("good"), archivetest.File("../new")},
		"parent of the directory":      {dirAt(".."), archivetest.File("good")},
		"dots":                         {archivetest.File("a/../../new")},
		"directory over a link to dir": {archivetest.Link("d/e", "../.."), dirAt("d/e"), dirAt("d/e/kept")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(h host.Host, top string, tool func(testing.TB, ...archivetest.Entry) []byte, format string) {
				entries := slices.Clone(entries)
				for i := range entries {
					if entries[i].Link == "OUT" {
						entries[i].Link = top
					}
					if format == "zip" && entries[i].Hard != "" {
						return
					}
				}
				mode := fs.FileMode(0o600)
				for _, err := range []error{
					h.MkdirAll(filepath.Join(top, "kept"), 0o700), h.MkdirAll(filepath.Join(top, "out"), 0o755),
					h.WriteFile(filepath.Join(top, "secret"), strings.NewReader("secret"), host.WriteOptions{Mode: &mode}),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				ar := filepath.Join(top, "ar")
				if err := h.WriteFile(ar, strings.NewReader(string(tool(t, entries...))), host.WriteOptions{Mode: &mode}); err != nil {
					t.Fatal(err)
				}
				look := func() string {
					var b strings.Builder
					names, _ := h.ReadDir(top)
					for _, n := range append(names, "kept/x") {
						st, err := h.Lstat(filepath.Join(top, n))
						text, _ := h.ReadFile(filepath.Join(top, n))
						if n != "out" && err == nil {
							b.WriteString(strings.Join([]string{n, st.Mode.String(), st.Mtime.String(), string(text)}, " "))
							if st.UID == 4711 {
								b.WriteString(" given away")
							}
							b.WriteString("\n")
						}
					}
					sub, _ := h.ReadDir(filepath.Join(top, "kept"))
					return b.String() + strings.Join(sub, " ")
				}
				before := look()
				_, err := archive.Extract(context.Background(), h, ar, format, filepath.Join(top, "out"), bounds, true)
				if after := look(); after != before {
					t.Errorf("%s, %v:\n%s\nbefore:\n%s", format, err, after, before)
				}
				if slices.ContainsFunc(entries, func(e archivetest.Entry) bool { return archive.Outside(e.Name) || archive.Outside(e.Hard) }) {
					if left, _ := h.ReadDir(filepath.Join(top, "out")); err == nil || len(left) > 0 {
						t.Errorf("%s: %v, and %q was written", format, err, left)
					}
				}
			}
			for format, tool := range map[string]func(testing.TB, ...archivetest.Entry) []byte{"tar": archivetest.TarGz, "zip": archivetest.Zip} {
				check(host.NewFake(), "/t", tool, format)
				check(host.NewLocal(), filepath.Join(t.TempDir()), tool, format)
			}
		})
	}
}

// TestHostileSizes unpacks and lists bombs.
func TestHostileSizes(t *testing.T) { // not parallel: it looks at memory
	dir := t.TempDir()
	h := host.NewLocal()
	many := make([]archivetest.Entry, 3000)
	for i := range many {
		many[i] = archivetest.Entry{Name: strings.Repeat("d/", i%50) + "f"}
	}
	bomb := archivetest.Entry{Name: "zeros", Zero: 64 << 20}
	limits := archive.Limits{Bytes: 8 << 20, Members: 1000}
	for name, b := range map[string][]byte{
		"bomb.tar": archivetest.TarGz(t, bomb), "bomb.zip": archivetest.Zip(t, bomb),
		"many.tar": archivetest.TarGz(t, many...), "many.zip": archivetest.Zip(t, many...),
		"lies.zip": lyingZip(t, many),
	} {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, name+".out")
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		format := archive.Guess(name)
		peak := memtest.Peak(func() {
			if _, err := archive.Extract(t.Context(), h, p, format, out, limits, true); err == nil {
				t.Errorf("%s is unpacked", name)
			}
			if _, err := archive.List(t.Context(), h, p, format, limits, 0); err == nil && name != "bomb.zip" {
				t.Errorf("%s is listed", name)
			}
		})
		if peak > 32<<20 {
			t.Errorf("%s: %d MiB of memory", name, peak>>20)
		}
		var used int64
		_ = filepath.WalkDir(out, func(_ string, d fs.DirEntry, err error) error {
			if fi, ierr := d.Info(); err == nil && ierr == nil && fi.Mode().IsRegular() {
				used += fi.Size()
			}
			return err
		})
		if used > limits.Bytes {
			t.Errorf("%s: %d bytes are on the disk", name, used)
		}
	}
}

// lyingZip says that it has one member.
func lyingZip(t *testing.T, entries []archivetest.Entry) []byte {
	b := archivetest.Zip(t, entries...)
	i := strings.LastIndex(string(b), "PK\x05\x06")
	b[i+8], b[i+9], b[i+10], b[i+11] = 1, 0, 1, 0
	return b
}
