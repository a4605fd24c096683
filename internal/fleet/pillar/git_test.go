package pillar_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// TestGit renders the trees of repositories: each has its own top file, and sees
// the files of the others of its environment.
func TestGit(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top.sls": "base: {'*': [own]}", "own.sls": "own: 1\nwho: roots",
		"/a/top.sls": "base: {'*': [x, shared, m.y]}", "/a/x.sls": "a: {{ grains.role }}\nwho: a",
		"/b/top.sls": "base: {'*': [z]}", "/b/z.sls": "z: 1\nwho: b", "/b/shared.sls": "shared: 1",
		"/d/top.sls": "dev: {'*': [x]}", "/d/x.sls": "dev: 1",
		"/m/y.sls": "mounted: 1", "/bad/top.sls": "base: {'*': [nope]}",
	}
	base := []fun.PillarTree{{Env: "base", Path: "/a"}, {Env: "base", Path: "/b"}, {Env: "dev", Path: "/d"}, {Env: "base", Path: "/m", Mount: "m"}}
	for _, tt := range []struct {
		conf  string
		trees []fun.PillarTree
		err   error
		want  string
	}{
		{"", base, nil, "{'own': 1, 'who': 'b', 'a': 'web', 'shared': 1, 'mounted': 1, 'z': 1, 'dev': 1}"},
		{"pillarenv: base", base, nil, "{'own': 1, 'who': 'b', 'a': 'web', 'shared': 1, 'mounted': 1, 'z': 1}"},
		{
			"git_pillar_includes: false", base[:1], nil,
			"{'own': 1, 'who': 'a', 'a': 'web', '_errors': [\"Specified SLS 'shared' in environment 'base' is not available on the salt master\", \"Specified SLS 'm.y' in environment 'base' is not available on the salt master\"]}",
		},
		{"", []fun.PillarTree{{Env: "base", Path: "/bad"}}, nil, `{'own': 1, 'who': 'roots', '_errors': ["Specified SLS 'nope' in environment 'base' is not available on the salt master"]}`},
		{"", nil, errors.New("no network"), `{'own': 1, 'who': 'roots', '_errors': ['Failed to load ext_pillar git: no network']}`},
	} {
		r := fake(t, files, tt.conf+"\next_pillar:\n- git:\n  - main https://x/y\n  - dev https://x/y:\n    - root: z\n")
		r.env.PillarTrees = func(_ context.Context, _ string, _ *value.Map, remotes *value.List) ([]fun.PillarTree, error) {
			if remotes.Len() != 2 {
				t.Errorf("remotes = %s", value.Repr(remotes))
			}
			return tt.trees, tt.err
		}
		if got := r.lazy(); got != tt.want {
			t.Errorf("%s: %s, want %s\n%s", tt.conf, got, tt.want, strings.Join(r.faults, "\n"))
		}
	}
}
