package fileserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// serve lays files out below a temporary directory and serves its
// directories base and over (saltenv base) and dev (saltenv dev). A file whose
// text begins with "-> " is a link.
func serve(t testing.TB, files map[string]string, change func(*Roots)) (*Server, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"over", "base", "dev"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for p, text := range files {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(strings.ReplaceAll(to, "DIR", dir), full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := &Roots{Envs: []string{"base", "dev"}, Dirs: map[string][]string{
		"base": {filepath.Join(dir, "over"), filepath.Join(dir, "base")},
		"dev":  {filepath.Join(dir, "dev"), filepath.Join(dir, "missing")},
	}}
	if change != nil {
		change(r)
	}
	return New(host.NewLocal(), r), dir
}

func text(t *testing.T, s *Server, env, p string) string {
	t.Helper()
	r, err := s.Open(t.Context(), env, p)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStatAndOpen(t *testing.T) {
	s, dir := serve(t, map[string]string{
		"base/a.sls":       "base a",
		"over/a.sls":       "over a",
		"base/d/init.sls":  "d",
		"base/in":          "-> d/init.sls",
		"base/indir":       "-> d",
		"base/cross":       "-> ../dev/x",
		"base/out":         "-> /etc/hostname",
		"base/outdir":      "-> /etc",
		"base/dangling":    "-> nowhere",
		"base/loop":        "-> loop",
		"over/both":        "-> /etc/hostname",
		"base/both":        "good",
		"dev/x":            "dev x",
		"secret":           "secret",
		"base2/x":          "beside",
		"base/d/deep/file": "deep",
	}, nil)
	for _, tt := range []struct{ env, path, want string }{
		{"base", "a.sls", "over a"},
		{"base", "/a.sls", "over a"},
		{"base", "d//init.sls", "d"},
		{"base", "d/../a.sls", "over a"},
		{"base", "in", "d"},
		{"base", "indir/deep/file", "deep"},
		{"base", "cross", "dev x"},
		{"base", "both", "good"},
		{"dev", "x", "dev x"},
	} {
		if got := text(t, s, tt.env, tt.path); got != tt.want {
			t.Errorf("%s of %s = %q, want %q", tt.path, tt.env, got, tt.want)
		}
	}
	for _, tt := range []struct {
		env, path string
		want      error
	}{
		{"base", "nope", fs.ErrNotExist},
		{"base", "a.sls/x", fs.ErrNotExist},
		{"base", "dangling", fs.ErrNotExist},
		{"nope", "a.sls", fs.ErrNotExist},
		{"base", "", fs.ErrInvalid},
		{"base", "d", fs.ErrInvalid},
		{"base", "..", fs.ErrPermission},
		{"base", "../secret", fs.ErrPermission},
		{"base", "../base2/x", fs.ErrPermission},
		{"base", "d/../../secret", fs.ErrPermission},
		{"base", "out", fs.ErrPermission},
		{"base", "outdir/hostname", fs.ErrPermission},
		{"base", "a\x00b", fs.ErrNotExist},
	} {
		if _, err := s.Open(t.Context(), tt.env, tt.path); !errors.Is(err, tt.want) {
			t.Errorf("%s of %s: %v, want %v", tt.path, tt.env, err, tt.want)
		}
	}
	if _, err := s.Open(t.Context(), "base", "loop"); err == nil {
		t.Error("a link to itself opens")
	}
	var r *RefusedError
	if _, err := s.Stat(t.Context(), "base", "out"); !errors.As(err, &r) || r.To == "" {
		t.Errorf("out: %v, want where it leads", err)
	}
	fi, err := s.Stat(t.Context(), "base", "in")
	if err != nil || fi.Link != "d/init.sls" || !fi.Mode.IsRegular() || fi.Size != 1 || fi.Abs != filepath.Join(dir, "base/in") {
		t.Errorf("in = %+v, %v", fi, err)
	}
	if _, err := s.Stat(t.Context(), "deb", "x"); err == nil || !strings.Contains(err.Error(), `did you mean "dev"?`) {
		t.Errorf("saltenv deb: %v", err)
	}
}

func paths(fis []fun.FileInfo) []string {
	out := []string{}
	for _, fi := range fis {
		out = append(out, fi.Path)
	}
	return out
}

func TestList(t *testing.T) {
	files := map[string]string{
		"base/a.sls": "", "over/a.sls": "o", "base/d/x": "", "base/d/y/z": "", "base/d.txt": "", "over/d/o": "",
		"base/ln": "-> d", "base/d/up": "-> ..", "base/out": "-> /etc", "base/f": "-> a.sls", "base/dead": "-> nope",
		"base/.hidden": "",
	}
	s, _ := serve(t, files, nil)
	list := func(s *Server, prefix string) []string {
		t.Helper()
		fis, err := s.List(t.Context(), "base", prefix)
		if err != nil {
			t.Fatal(err)
		}
		return paths(fis)
	}
	want := []string{".hidden", "a.sls", "d.txt", "d/o", "d/up", "d/x", "d/y/z", "dead", "f", "ln", "ln/up", "ln/x", "ln/y/z", "out"}
	if d := cmp.Diff(want, list(s, "")); d != "" {
		t.Errorf("List (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"d/o", "d/up", "d/x", "d/y/z"}, list(s, "d")); d != "" {
		t.Errorf("List d (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"d/y/z"}, list(s, "/d/y/")); d != "" {
		t.Errorf("List d/y (-want +got):\n%s", d)
	}
	plain, err := fun.ListFiles(t.Context(), s, "base", "")
	if d := cmp.Diff([]string{".hidden", "a.sls", "d.txt", "d/o", "d/x", "d/y/z", "dead", "f", "ln/x", "ln/y/z", "out"}, paths(plain)); err != nil || d != "" {
		t.Errorf("ListFiles (-want +got):\n%s %v", d, err)
	}
	all, err := s.List(t.Context(), "base", "")
	if i := slices.IndexFunc(all, func(fi fun.FileInfo) bool { return fi.Path == "ln" }); err != nil || i < 0 || all[i].Link != "d" || !all[i].Mode.IsDir() {
		t.Errorf("a link to a directory: %+v, %v", all, err)
	}
	dirs, err := s.Dirs(t.Context(), "base", "")
	if d := cmp.Diff([]string{"d", "d/y", "ln", "ln/y"}, dirs); err != nil || d != "" {
		t.Errorf("Dirs (-want +got):\n%s %v", d, err)
	}
	s, _ = serve(t, files, func(r *Roots) { r.NoFollow = true })
	if got := list(s, "ln"); len(got) != 0 {
		t.Errorf("without following links: %v", got)
	}
	if got := list(s, ""); !slices.Contains(got, "ln") {
		t.Errorf("without following links: %v lacks a link to a directory", got)
	}
	if dirs, err := s.Dirs(t.Context(), "base", ""); err != nil || !slices.Contains(dirs, "ln") {
		t.Errorf("without following links, Dirs = %v, %v", dirs, err)
	}
	s, _ = serve(t, files, func(r *Roots) {
		r.NoLinks = true
		r.IgnoreGlob = []string{"*.txt"}
		r.IgnoreRegex = []string{`/y/`}
	})
	if d := cmp.Diff([]string{".hidden", "a.sls", "d/o", "d/x"}, list(s, "")); d != "" {
		t.Errorf("with things ignored (-want +got):\n%s", d)
	}
	if _, err := s.Stat(t.Context(), "base", "d.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an ignored file: %v", err)
	}
	s, _ = serve(t, nil, func(r *Roots) { r.IgnoreRegex = []string{"("} })
	if _, err := s.List(t.Context(), "base", ""); err == nil || !strings.Contains(err.Error(), "file_ignore_regex") {
		t.Errorf("a bad pattern: %v", err)
	}
}

func TestListIsKept(t *testing.T) {
	s, dir := serve(t, map[string]string{"base/a": ""}, nil)
	for _, want := range []int{1, 1} {
		fis, err := s.List(t.Context(), "base", "")
		if err != nil || len(fis) != want {
			t.Errorf("List = %v, %v; want %d", fis, err, want)
		}
		if err := os.WriteFile(filepath.Join(dir, "base/b"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Forget()
	if fis, _ := s.List(t.Context(), "base", ""); len(fis) != 2 {
		t.Errorf("after Forget: %v", fis)
	}
}

func TestAnyEnv(t *testing.T) {
	s, dir := serve(t, map[string]string{"any/qa/f": "qa", "any/base/f": "no", "base/f": "base"}, nil)
	s.roots.Envs = append(s.roots.Envs, "__env__")
	s.roots.Dirs["__env__"] = []string{filepath.Join(dir, "any/__env__")}
	for env, want := range map[string]string{"qa": "qa", "base": "base"} {
		if got := text(t, s, env, "f"); got != want {
			t.Errorf("f of %s = %q, want %q", env, got, want)
		}
	}
	if _, err := s.Open(t.Context(), "..", "base/f"); err == nil {
		t.Error("a saltenv named .. is served")
	}
	if envs, _ := s.Envs(t.Context()); !cmp.Equal(envs, []string{"base", "dev"}) {
		t.Errorf("Envs = %v", envs)
	}
}

func TestLinkedRoot(t *testing.T) {
	s, dir := serve(t, map[string]string{"real/f": "x", "real/l": "-> f", "link": "-> real"}, nil)
	s.roots.Dirs["base"] = []string{filepath.Join(dir, "link")}
	for _, p := range []string{"f", "l"} {
		if got := text(t, s, "base", p); got != "x" {
			t.Errorf("%s = %q", p, got)
		}
	}
}

func TestHash(t *testing.T) {
	s, _ := serve(t, map[string]string{"base/f": "abc"}, nil)
	for algo, want := range map[string]string{
		"md5":    "900150983cd24fb0d6963f7d28e17f72",
		"sha1":   "a9993e364706816aba3e25717850c26c9cd0d89d",
		"SHA256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"sha224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
	} {
		if got, err := s.Hash(t.Context(), "base", "f", algo); err != nil || got != want {
			t.Errorf("%s = %s, %v", algo, got, err)
		}
	}
	if _, err := s.Hash(t.Context(), "base", "f", "sha265"); err == nil || !strings.Contains(err.Error(), `"sha256"`) {
		t.Errorf("sha265: %v", err)
	}
}

func TestSLS(t *testing.T) {
	s, _ := serve(t, map[string]string{"base/a/b.sls": "", "base/a/init.sls": "", "base/c/init.sls": "", "base/a/b/init.sls": "", "base/x.txt": "", "base/e.sls/f": ""}, nil)
	names, err := fun.ListSLS(t.Context(), s, "base")
	if d := cmp.Diff([]string{"a", "a.b", "c"}, names); err != nil || d != "" {
		t.Errorf("ListSLS (-want +got):\n%s %v", d, err)
	}
	for sls, want := range map[string]string{"a": "a/init.sls", "a.b": "a/b.sls", "a/b": "a/b.sls", "c": "c/init.sls"} {
		if fi, err := fun.FindSLS(t.Context(), s, "base", sls); err != nil || fi.Path != want {
			t.Errorf("FindSLS(%s) = %s, %v; want %s", sls, fi.Path, err, want)
		}
	}
	if _, err := fun.FindSLS(t.Context(), s, "base", "e"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("FindSLS(e): %v", err)
	}
}

func TestSplitURL(t *testing.T) {
	for _, tt := range []struct {
		url, path, env string
		ok             bool
	}{
		{"salt://a/b", "a/b", "", true},
		{"salt://a?saltenv=dev", "a", "dev", true},
		{"salt://a?env=dev", "a", "", true},
		{"salt://a?b", "a?b", "", true},
		{"salt://|a?b", "a?b", "", true},
		{"https://x", "https://x", "", false},
		{"/abs", "/abs", "", false},
	} {
		if p, env, ok := fun.SplitURL(tt.url); p != tt.path || env != tt.env || ok != tt.ok {
			t.Errorf("SplitURL(%q) = %q, %q, %v", tt.url, p, env, ok)
		}
	}
}

func TestLocalPillar(t *testing.T) {
	l := &Local{}
	if m, err := l.Pillar(t.Context(), fun.PillarRequest{}); err != nil || m.Len() != 0 {
		t.Errorf("Pillar = %v, %v", m, err)
	}
	l.Render = func(context.Context, fun.PillarRequest) (*value.Map, error) { return value.MapOf("a", true), nil }
	if m, _ := l.Pillar(t.Context(), fun.PillarRequest{}); !m.Has("a") {
		t.Errorf("Pillar = %v", m)
	}
}

func FuzzStat(f *testing.F) {
	for _, p := range []string{"a", "../secret", "d/../../secret", "//a", "a/\x00", "indir/../../secret"} {
		f.Add("base", p)
	}
	s, dir := serve(f, map[string]string{"base/a": "", "secret": "", "base/indir": "-> .", "base/out": "-> .."}, nil)
	f.Fuzz(func(t *testing.T, env, p string) {
		fi, err := s.Stat(context.Background(), env, p)
		if err != nil {
			return
		}
		real, err := filepath.EvalSymlinks(fi.Abs)
		if err != nil || !strings.HasPrefix(real, filepath.Join(dir, "base")) && !strings.HasPrefix(real, filepath.Join(dir, "over")) && !strings.HasPrefix(real, filepath.Join(dir, "dev")) {
			t.Errorf("Stat(%q, %q) is %s, out of the roots (%v)", env, p, real, err)
		}
	})
}

// BenchmarkList lists 2,000 files; BenchmarkStat looks one of them up.
func BenchmarkList(b *testing.B) {
	s, _ := big(b)
	for b.Loop() {
		s.Forget()
		if fis, err := s.List(b.Context(), "base", ""); err != nil || len(fis) != 2000 {
			b.Fatal(len(fis), err)
		}
	}
}

func BenchmarkStat(b *testing.B) {
	s, _ := big(b)
	for b.Loop() {
		if _, err := s.Stat(b.Context(), "base", "d19/f7.sls"); err != nil {
			b.Fatal(err)
		}
	}
}

func big(b *testing.B) (*Server, string) {
	files := make(map[string]string, 2000)
	for i := range 2000 {
		files[fmt.Sprintf("base/d%d/f%d.sls", i/50, i%50)] = "x: {test.nop: []}\n"
	}
	return serve(b, files, nil)
}

// An ownDir is a backend of one directory, whose SLS hide those of others.
type ownDir struct{ Dir }

func (ownDir) Name() string { return "own" }

func (ownDir) Envs(context.Context) ([]string, error) { return []string{"base"}, nil }

func (d ownDir) Dirs(context.Context, string) ([]Dir, bool, error) { return []Dir{d.Dir}, true, nil }

// TestOwnSLS finds an SLS of a directory in front of the roots in either form.
func TestOwnSLS(t *testing.T) {
	roots, dir := serve(t, map[string]string{
		"mine/a/init.sls": "", "mine/b.sls": "", "mine/c/init.sls/x": "",
		"base/a.sls": "", "base/a/more.sls": "", "base/b/init.sls": "", "base/c.sls": "", "base/a.txt": "", "mine/d.sls": "", "mine/d/init.sls": "",
	}, nil)
	for own, want := range map[bool]map[string]string{
		true:  {"a": "mine/a/init.sls", "a.more": "base/a/more.sls", "b": "mine/b.sls", "c": "base/c.sls", "d": "mine/d.sls"},
		false: {"a": "base/a.sls", "a.more": "base/a/more.sls", "b": "mine/b.sls", "c": "base/c.sls", "d": "mine/d.sls"},
	} {
		s := Over(host.NewLocal(), roots.Roots(), ownDir{Dir{Path: filepath.Join(dir, "mine"), Within: filepath.Join(dir, "mine"), Own: own}}, roots.Roots().Backend())
		for sls, path := range want {
			if fi, err := fun.FindSLS(t.Context(), s, "base", sls); err != nil || fi.Abs != filepath.Join(dir, path) {
				t.Errorf("own %v: FindSLS(%s) = %s, %v; want %s", own, sls, fi.Abs, err, path)
			}
		}
		files, err := s.List(t.Context(), "base", "")
		listed := slices.ContainsFunc(files, func(fi fun.FileInfo) bool { return fi.Path == "a.sls" })
		if err != nil || listed == own || !slices.ContainsFunc(files, func(fi fun.FileInfo) bool { return fi.Path == "d.sls" }) {
			t.Errorf("own %v: a.sls is listed: %v, %v, %v", own, listed, files, err)
		}
	}
}
