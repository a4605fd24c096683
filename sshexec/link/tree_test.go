package link_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/sshexec/link"
)

// hugeFiles are files among so many others that no list is sent.
type hugeFiles struct{ *countFiles }

func (h hugeFiles) List(ctx context.Context, env, prefix string) ([]fun.FileInfo, error) {
	all, err := h.countFiles.List(ctx, env, prefix)
	if prefix != "" || err != nil {
		return all, err
	}
	out := append([]fun.FileInfo(nil), all...)
	for i := range 60_000 {
		out = append(out, fun.FileInfo{Path: fmt.Sprintf("zz/%08d", i), SaltEnv: env, Mode: 0o644, Size: 1})
	}
	return out, nil
}

func TestFilesThatAreTooManyToList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newSite(t, map[string]string{
		"a/init.sls": "include:\n  - .b\n{% import_yaml 'a/d.yaml' as d %}\none:\n  file.managed:\n    - name: " + dir + "/one\n    - source: salt://a/one.txt\n    - contents_newline: {{ d.x }}\n",
		"a/b.sls":    "rec:\n  file.recurse:\n    - name: " + dir + "/rec\n    - source: salt://a/rec\n    - include_empty: True\n",
		"a/d.yaml":   "x: True\n", "a/one.txt": "one\n", "a/rec/x/y": "y\n", "a/rec/z": "z\n",
	})
	if err := os.MkdirAll(s.root+"/a/rec/empty", 0o755); err != nil {
		t.Fatal(err)
	}
	s.opts.Tree = link.NewTree(hugeFiles{s.files})
	c, _ := s.connect()
	for id, r := range results(t, call(t, c, job("state.apply", "a"))) {
		if !strings.HasPrefix(r, "True") {
			t.Errorf("%s: %s", id, r)
		}
	}
	for p, want := range map[string]string{"one": "one\n", "rec/x/y": "y\n", "rec/z": "z\n"} {
		if b, err := os.ReadFile(dir + "/" + p); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v", p, b, err)
		}
	}
	if st, err := os.Stat(dir + "/rec/empty"); err != nil || !st.IsDir() {
		t.Errorf("rec/empty: %v", err)
	}
	if v := call(t, c, job("state.apply", "nothere")); !strings.Contains(value.Str(v), "No matching sls found for 'nothere' in env 'base'") {
		t.Errorf("a missing SLS: %v", value.Repr(v))
	}
	if v := call(t, c, job("cp.hash_file", "salt://a/one.txt")); !strings.Contains(value.Repr(v), "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806") {
		t.Errorf("cp.hash_file = %s", value.Repr(v))
	}
}

func TestASaltenvOfAnyName(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"base/x.sls": "x:\n  test.nop\n", "dev/x.sls": "y:\n  test.nop\n"})
	s.files = &countFiles{Server: fileserver.New(host.NewLocal(), &fileserver.Roots{
		Envs: []string{"base", "__env__"}, Dirs: map[string][]string{"base": {s.root + "/base"}, "__env__": {s.root + "/__env__"}},
	}), opens: map[string]int{}}
	s.opts.Tree = link.NewTree(s.files)
	c, _ := s.connect()
	if v := call(t, c, job("cp.get_file_str", "salt://x.sls?saltenv=dev")); v != "y:\n  test.nop\n" {
		t.Errorf("x.sls of dev = %v", value.Repr(v))
	}
	if v := call(t, c, job("cp.get_file_str", "salt://x.sls")); v != "x:\n  test.nop\n" {
		t.Errorf("x.sls of base = %v", value.Repr(v))
	}
}

func TestTargetOpts(t *testing.T) {
	t.Parallel()
	got := link.TargetOpts(value.MapOf(
		"renderer", "jinja|yaml", "ssh_passwd", "secret", "pillar_roots", value.NewMap(0), "file_roots", value.NewMap(0),
		"mysql.pass", "secret", "state_events", true, "cachedir", "/var/cache", "ssh_minion_opts", value.MapOf("my_key", int64(1)),
	))
	if want := value.MapOf("renderer", "jinja|yaml", "state_events", true, "my_key", int64(1)); !value.Equal(got, want) {
		t.Errorf("TargetOpts = %s, want %s", value.Repr(got), value.Repr(want))
	}
}

// missingFiles has roots that cannot be listed.
type missingFiles struct{ fun.Files }

func (missingFiles) Envs(context.Context) ([]string, error) { return nil, fs.ErrPermission }

func TestATreeThatCannotBeListed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.opts.Tree = link.NewTree(missingFiles{s.files})
	c, _ := s.connect()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if ret := c.Invoke(ctx, job("state.apply", "x")); ret.Stage != fun.Refused || !errors.Is(ret.Err, fs.ErrPermission) {
		t.Errorf("%s, %v", ret.Stage, ret.Err)
	}
	if v := call(t, c, job("test.ping")); v != true {
		t.Errorf("test.ping = %v", v)
	}
}

func TestNoFilesAtAll(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.opts.Tree = link.NewTree(nil)
	c, _ := s.connect()
	if v := call(t, c, job("state.single", "test.nop", value.MapOf("name", "x"))); len(results(t, v)) != 1 {
		t.Errorf("state.single = %s", value.Repr(v))
	}
}
