package link

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

func TestWhatGoesAhead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	big := strings.Repeat("x", aheadFile+1)
	for p, text := range map[string]string{
		"top.sls":                "base:\n  'web*':\n    - roles.web\n",
		"roles/web.sls":          "include:\n  - nginx\n  - .common\n",
		"roles/common.sls":       "a:\n  test.nop\n",
		"nginx/init.sls":         "{% from \"nginx/map.jinja\" import nginx with context %}\ninclude:\n  - ..other\nconf:\n  file.managed:\n    - source: salt://nginx/files/nginx.conf\n    - big: salt://nginx/files/big\n",
		"nginx/map.jinja":        "{% import_yaml './defaults.yaml' as d %}",
		"nginx/defaults.yaml":    "a: 1\n",
		"nginx/files/nginx.conf": "# include salt://unused/file\n",
		"nginx/files/big":        big,
		"nginx/tree/x/y":         "y",
		"other.sls":              "d:\n  file.recurse:\n    - source: salt://nginx/tree\n",
		"unused/init.sls":        strings.Repeat("# long\n", 50_000),
		"unused/file":            "x",
		"unused/more.txt":        "x",
	} {
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := NewTree(fileserver.New(host.NewLocal(), &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {root}}}))
	snap, err := tree.at(context.Background(), "1")
	if err != nil {
		t.Fatal(err)
	}
	nginx := "nginx/defaults.yaml nginx/files/nginx.conf nginx/init.sls nginx/map.jinja nginx/tree/x/y other.sls"
	for _, tt := range []struct {
		fun  string
		arg  value.Value
		want string
	}{
		{"state.apply", "nginx", nginx},
		{"state.sls", "nginx,roles.common", nginx + " roles/common.sls"},
		{"state.apply", nil, nginx + " roles/common.sls roles/web.sls top.sls"},
		{"state.highstate", nil, nginx + " roles/common.sls roles/web.sls top.sls"},
		{"state.sls", value.Strings("roles.common"), "roles/common.sls"},
	} {
		job := fun.Job{Fun: tt.fun, Args: fun.Args{Kw: value.NewMap(0)}}
		if tt.arg != nil {
			job.Args.Pos = []value.Value{tt.arg}
		}
		var got []string
		for _, r := range tree.aheadOf(context.Background(), snap, job, "base") {
			if r.body {
				got = append(got, r.file.Path)
			} else if r.file.Path != "nginx/files/big" && r.file.Path != "unused/init.sls" || len(r.sum) != 64 {
				t.Errorf("%s goes without its body", r.file.Path)
			}
		}
		sort.Strings(got)
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s %v:\n got %s\nwant %s", tt.fun, tt.arg, s, tt.want)
		}
	}
	again, err := tree.at(context.Background(), "2")
	if err != nil || again != snap {
		t.Errorf("nothing changed, and the snapshot is another one (%v)", err)
	}
}
