package linter

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/view/lint"
)

// options finds the tree of a command line, in a directory with some files.
func options(t *testing.T, files map[string]string, args ...string) (string, lint.Options, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var f Flags
	c := &cobra.Command{Use: "lint"}
	f.Register(c.Flags(), lint.Formats())
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "DIR", dir)
	}
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	a := &app.App{Host: host.NewLocal(), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	o, err := Options(a, c, &f, []string{dir})
	return dir, o, err
}

// roots returns the roots of the environment base, without the directory.
func roots(dir string, o lint.Options, key string) []string {
	var out []string
	list, _ := o.Opts.Map(key).At("base").(*value.List)
	for i := range list.Len() {
		out = append(out, strings.TrimPrefix(value.Str(list.Items[i]), dir))
	}
	return out
}

// TestOptions has the roots and systems that the files of a tree and flags give.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		files          map[string]string
		args           []string
		states, pillar []string
		exclude        []string
		systems        int
	}{
		{"a formula", map[string]string{"FORMULA": "", "app/init.sls": "", "pillar/a.sls": ""}, nil, []string{""}, nil, []string{"pillar", "test", "tests"}, 6},
		{"a tree", map[string]string{"salt/a.sls": "", "pillar/a.sls": ""}, nil, []string{"/salt"}, []string{"/pillar"}, nil, 6},
		{"directories of SLS files", map[string]string{"states/app/init.sls": ""}, nil, []string{"/states"}, nil, nil, 6},
		{"a configuration", map[string]string{"minion": "file_roots: {base: [/x]}\npillar_roots: {base: [/y]}\n", "salt/a.sls": ""}, nil, []string{"/x"}, []string{"/y"}, nil, 6},
		{"flags", map[string]string{"salt/a.sls": ""}, []string{"--file-root", "/f", "--pillar-root", "/p", "--exclude", "x", "--system", "debian"}, []string{"/f"}, []string{"/p"}, []string{"x"}, 1},
		{"settings of rules", map[string]string{"salt/a.sls": "", ".brine-lint.yaml": "exclude: [y]\nsystems: [arch, suse]\n"}, nil, []string{"/salt"}, nil, []string{"y"}, 2},
		{"a machine", map[string]string{"salt/a.sls": "", "m.yaml": "local:\n  os: X\n"}, []string{"--grains", "DIR/m.yaml"}, []string{"/salt"}, nil, nil, 1},
		{"a machine and a system", map[string]string{"salt/a.sls": "", "m.yaml": "os: X\nid: y\n"}, []string{"--grains", "DIR/m.yaml", "--system", "arch"}, []string{"/salt"}, nil, nil, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o, err := options(t, tt.files, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := roots(dir, o, "file_roots"); !slices.Equal(got, tt.states) {
				t.Errorf("file roots %q, want %q", got, tt.states)
			}
			if got := roots(dir, o, "pillar_roots"); !slices.Equal(got, tt.pillar) {
				t.Errorf("pillar roots %q, want %q", got, tt.pillar)
			}
			if !slices.Equal(o.Config.Exclude, tt.exclude) || len(o.Systems) != tt.systems {
				t.Errorf("excludes %q on %d systems, want %q on %d", o.Config.Exclude, len(o.Systems), tt.exclude, tt.systems)
			}
			if s := o.Systems[0]; strings.HasPrefix(tt.name, "a machine") && tt.systems == 1 && (s.Name != "m" || s.Grains.Str("os") != "X") {
				t.Errorf("the machine is %s: %v", s.Name, s.Grains)
			}
		})
	}
}

// TestOptionsRefused has trees and flags that are refused.
func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		files map[string]string
		args  []string
		want  string
	}{
		{nil, []string{"--system", "debain"}, `unknown system "debain" (did you mean "debian"?)`},
		{nil, []string{"--grains", "DIR/none.yaml"}, "none.yaml: no such file"},
		{map[string]string{"g.yaml": "[]\n"}, []string{"--grains", "DIR/g.yaml"}, "the grains must be a mapping"},
		{map[string]string{".brine-lint.yaml": "ignor: []\n"}, nil, `unknown option "ignor"`},
	} {
		if _, _, err := options(t, tt.files, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.args, err, tt.want)
		}
	}
}
