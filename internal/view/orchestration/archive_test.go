package orchestration_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/view/orchestration"
)

// entry is a member of an archive that a test makes.
type entry struct {
	name, text string
	kind       byte // 0: a file
}

func archive(t *testing.T, entries ...entry) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o4777, Size: int64(len(e.text)), Linkname: "/etc/passwd"}
		if e.kind == 0 {
			h.Typeflag, h.Linkname = tar.TypeReg, ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// good is an archive of a template.
var good = []entry{{name: "states/x/init.sls", text: "a: {test.nop: []}\n"}, {name: "metadata/x/metadata.yml", text: "description: d\n"}}

// under returns the paths of all files below a directory.
func under(t *testing.T, h *host.Fake, dir string) (all []string) {
	t.Helper()
	names, err := h.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		st, err := h.Lstat(dir + "/" + n)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode.IsDir() {
			all = append(all, under(t, h, dir+"/"+n)...)
			continue
		}
		all = append(all, dir+"/"+n)
	}
	slices.Sort(all)
	return all
}

// TestImportHostile: an archive that anybody may have made writes nothing but the files of one
// template, and nothing at all where it has anything else.
func TestImportHostile(t *testing.T) {
	t.Parallel()
	many := slices.Clone(good)
	for i := range 2000 {
		many = append(many, entry{name: "states/x/f" + strings.Repeat("0", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/100), text: ""})
	}
	big := strings.Repeat("x", 9<<20)
	for _, x := range []struct {
		name string
		add  []entry
		want string
	}{
		{"parent", []entry{{name: "states/x/../../../etc/cron.d/x", text: "x"}}, "must be below"},
		{"parent of the part", []entry{{name: "../states/x/a"}}, "must be below"},
		{"absolute", []entry{{name: "/states/x/a"}}, "must be below"},
		{"other part", []entry{{name: "other/x/a"}}, "must be below"},
		{"file as part", []entry{{name: "states"}}, "must be below"},
		{"control", []entry{{name: "states/x/a\x1b[2J"}}, "must be below"},
		{"backslash", []entry{{name: `states/x/..\..\a`}}, "must be below"},
		{"link", []entry{{name: "states/x/a", kind: tar.TypeSymlink}}, "neither a file"},
		{"hard link", []entry{{name: "states/x/a", kind: tar.TypeLink}}, "neither a file"},
		{"device", []entry{{name: "states/x/a", kind: tar.TypeChar}}, "neither a file"},
		{"directory that is a link", []entry{{name: "states/x/d", kind: tar.TypeSymlink}, {name: "states/x/d/a"}}, "neither a file"},
		{"file as template", []entry{{name: "states/x"}}, "neither a file"},
		{"two templates", []entry{{name: "states/y/init.sls"}}, "two templates"},
		{"wrong name", []entry{{name: "states/-x y/init.sls"}}, "-x y"},
		{"twice", []entry{{name: "states/x/init.sls"}}, "twice"},
		{"many", many[2:], "more than 2000"},
		{"big", []entry{{name: "states/x/a", text: big}, {name: "states/x/b", text: big}}, "16 MiB"},
		{"file and directory", []entry{{name: "states/x/a"}, {name: "states/x/a/b"}}, "a"},
	} {
		for _, first := range []bool{true, false} {
			h := host.NewFake()
			all := slices.Concat(good, x.add)
			if first {
				if x.name == "twice" || x.name == "many" {
					continue
				}
				all = slices.Concat(x.add, good)
			}
			_, made, err := orchestration.Import(h, archive(t, all...), "/t", "")
			if err == nil || !strings.Contains(err.Error(), x.want) || made != nil {
				t.Errorf("%s: %v, %v; want %q", x.name, made, err, x.want)
			}
			if left := under(t, h, "/t"); left != nil {
				t.Errorf("%s left %v", x.name, left)
			}
		}
	}
	for name, in := range map[string]*bytes.Buffer{
		"empty":       archive(t),
		"no states":   archive(t, good[1]),
		"no metadata": archive(t, good[0]),
		"bad yaml":    archive(t, good[0], entry{name: "metadata/x/metadata.yml", text: "nosuch: 1\n"}),
		"text":        bytes.NewBufferString("not an archive, but long enough to be one: " + strings.Repeat("x", 600)),
		"nothing":     {},
		"cut":         bytes.NewBuffer(archive(t, good...).Bytes()[:700]),
		"gzip":        bytes.NewBufferString("\x1f\x8bnot gzip"),
	} {
		h := host.NewFake()
		if _, _, err := orchestration.Import(h, in, "/t", ""); err == nil {
			t.Errorf("%s is taken", name)
		} else if strings.Contains(err.Error(), ".import-") {
			t.Errorf("%s: %v", name, err)
		}
		if left := under(t, h, "/t"); left != nil {
			t.Errorf("%s left %v", name, left)
		}
	}
}

// TestExport: an archive is the same for the same files, and has all of them.
func TestExport(t *testing.T) {
	t.Parallel()
	h := tree(t, map[string]string{"states/x/init.sls": "a: {test.nop: []}\n", "states/x/more/b.sls": "{}\n", "metadata/x/metadata.yml": "description: d\n", "metadata/x/form.yml": "{}\n"})
	x, err := orchestration.Find(h, []string{"/t"}, "x")
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := errors.Join(orchestration.Export(h, x, &one), orchestration.Export(h, x, &two)); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Fatalf("%v; %d and %d bytes", err, one.Len(), two.Len())
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(one.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name, made, err := orchestration.Import(h, &zipped, "/u", "y")
	want := []string{"/u/metadata/y/form.yml", "/u/metadata/y/metadata.yml", "/u/states/y/init.sls", "/u/states/y/more/b.sls"}
	if slices.Sort(made); err != nil || name != "y" || !slices.Equal(made, want) || !slices.Equal(under(t, h, "/u"), want) {
		t.Errorf("%s, %v, %v; there are %v", name, made, err, under(t, h, "/u"))
	}
	if b, err := h.ReadFile("/u/states/y/more/b.sls"); err != nil || string(b) != "{}\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, _, err := orchestration.Import(h, bytes.NewReader(one.Bytes()), "/u", "y"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	_, _, err = orchestration.Import(h, archive(t, good...), "/v", "")
	if st, serr := h.Lstat("/v/states/x/init.sls"); err != nil || serr != nil || st.Mode.Perm() != 0o755 {
		t.Errorf("modes: %v, %v, %v", st, err, serr)
	}
}
