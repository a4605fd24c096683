package library

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
)

// TestFormOf finds the form of a formula where formulas have it, and no other one.
func TestFormOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tree/beside/init.sls": "", "tree/beside/form.yml": "beside: {$type: text}\n",
		"tree/suse.sls": "", "tree/metadata/suse/form.yml": "suse: {$type: text}\n",
		"tree/plain/init.sls": "", "tree/wrong/init.sls": "", "tree/wrong/form.yml": "- a\n", "tree/odd/init.sls": "", "tree/odd/form.yml": "x: {$type: nothing}\n",
		"tree/large/init.sls": "", "tree/large/form.yml": strings.Repeat("# \n", maxForm/2),
		"repo/own/init.sls": "", "repo/metadata/form.yml": "own: {$type: text}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	roots := &fileserver.Roots{Envs: []string{"base"}, Dirs: map[string][]string{"base": {filepath.Join(dir, "tree"), filepath.Join(dir, "repo")}}}
	env := &fun.Env{}
	env.SaltEnv, env.Up = "base", &fileserver.Local{Server: fileserver.New(host.NewLocal(), roots)}
	for sls, want := range map[string]string{
		"beside": "beside", "suse": "suse", "own": "own", "plain": "", "none": "", "wrong": "error: wrong/form.yml:1:1: must be a mapping, not a list",
		"odd": "error: odd/form.yml:1:", "large": "error: salt://large/form.yml: it has more than 1048576 bytes",
	} {
		f, err := FormOf(t.Context(), env, sls)
		got := ""
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case f != nil:
			got = f.Fields[0].Name
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("FormOf(%s) = %s, want %s", sls, got, want)
		}
	}
}
