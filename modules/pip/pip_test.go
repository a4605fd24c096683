package pip_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	"brine/modules/pip"
)

// rig returns a machine with an environment /v whose pip answers as said has it
// for its arguments; the first character is the status where it is a digit and !.
func rig(said map[string]string) (*calltest.Rig, *host.Fake, *[]host.Cmd) {
	h := host.NewFake()
	h.PutExe("/v/bin/python")
	h.PutExe("/usr/bin/python3")
	h.PutFile("/notexe", "", 0o644)
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 65534, Home: "/home/ann"})
	for _, d := range []string{"/wh", "/root", "/home/ann", "/empty"} {
		_ = h.MkdirAll(d, 0o755)
	}
	calls := &[]host.Cmd{}
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*calls = append(*calls, c)
		out, ok := said[strings.Join(c.Argv[3:], " ")]
		switch {
		case !ok:
			return host.Output{Status: 1, Stderr: []byte("unexpected: " + strings.Join(c.Argv, " "))}, nil
		case strings.HasPrefix(out, "1!"):
			return host.Output{Status: 1, Stderr: []byte(out[2:])}, nil
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "pip", Load: pip.Module}), h, calls
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, _, _ := rig(map[string]string{
		"--version":                     "pip 23.0.1 from /x (python 3.11)\n",
		"list --format=json":            `[{"name": "Alpha_Pkg", "version": "1.0"}, {"name": "beta", "version": "2"}]`,
		"freeze --all":                  "alpha==1.0\n-e git+https://u:p@h/r@abc#egg=edit\n# c\nodd @ file:///x\nthree===3\n",
		"list --outdated --format=json": `[{"name": "beta", "version": "2", "latest_version": "3", "latest_filetype": "wheel"}]`,
		"index versions -- alpha":       "alpha (2.0)\nAvailable versions: 2.0, 2.0rc1, 1.10, 1.9b1, 1.9\n",
		"install --find-links /wh --no-index alpha>=1,<2":      "Successfully installed\n",
		"install --timeout 5 --upgrade --no-deps x --opt v -q": "ok\n",
		"install --requirement /srv/salt/req.txt":              "ok\n",
		"uninstall -y alpha":                                   "gone\n",
		"install -U beta":                                      "",
	})
	h := r.Env.Host.(*host.Fake)
	h.PutFile("/srv/salt/req.txt", "alpha\n", 0o644)
	r.Steps(t, []calltest.Step{
		{"call pip.version [/v]", "'23.0.1'"},
		{"call pip.version [/none]", "error: Access denied to /none, could not find a pip binary"},
		{"call pip.version [/notexe]", "error: Access denied to /notexe, could not find a pip binary"},
		{"call pip.version [/empty]", "error: Could not find a pip binary in virtualenv /empty"},
		{"call pip.list {bin_env: /v}", "{'Alpha_Pkg': '1.0', 'beta': '2'}"},
		{"call pip.list {bin_env: /v, prefix: AL}", "{'Alpha_Pkg': '1.0'}"},
		{"call pip.is_installed {pkgname: alpha-pkg, bin_env: /v}", "True"},
		{"call pip.is_installed {pkgname: alpha, bin_env: /v}", "False"},
		{"call pip.list_freeze_parse {bin_env: /v}", "{'pip': '23.0.1', 'alpha': '1.0', 'edit': 'git+https://<redacted>@h/r@abc', 'odd': 'file:///x', 'three': '3'}"},
		{"call pip.list_upgrades {bin_env: /v}", "{'beta': '3 [wheel]'}"},
		{"call pip.upgrade_available {pkg: Beta, bin_env: /v}", "True"},
		{"call pip.upgrade {bin_env: /v}", "{'changes': {}, 'result': True, 'comment': ''}"},
		{"call pip.list_all_versions {pkg: alpha, bin_env: /v}", "['1.9', '1.10', '2.0']"},
		{"call pip.list_all_versions {pkg: -x, bin_env: /v}", "error: invalid package '-x': it must not be empty or start with a dash"},
		{"call pip.list_all_versions {pkg: x, bin_env: /v, index_url: nope}", "error: 'nope' is not a valid URL"},
		{"call pip.install {pkgs: 'alpha>=1;<2', bin_env: /v, find_links: /wh, no_index: true}", "{'pid': 5011, 'retcode': 0, 'stdout': 'Successfully installed', 'stderr': ''}"},
		{"call pip.install {pkgs: x, bin_env: /v, timeout: 5, upgrade: true, no_deps: true, extra_args: [{--opt: v}, -q]}", "{'pid': 5013, 'retcode': 0, 'stdout': 'ok', 'stderr': ''}"},
		{"call pip.install {requirements: 'salt://req.txt', bin_env: /v}", "{'pid': 5015, 'retcode': 0, 'stdout': 'ok', 'stderr': ''}"},
		{"call pip.install {requirements: 'salt://none.txt', bin_env: /v}", `{'result': False, 'comment': "pip requirements file 'salt://none.txt' not found"}`},
		{"call pip.install {bin_env: /v}", "{'retcode': 0, 'stdout': 'No packages to install.'}"},
		{"call pip.install {pkgs: -r/etc/shadow, bin_env: /v}", "error: invalid package '-r/etc/shadow': it must not be empty or start with a dash"},
		{"call pip.install {editable: git+x, bin_env: /v}", "error: You must specify an egg for this editable"},
		{"call pip.install {pkgs: x, bin_env: /v, find_links: /none}", "error: '/none' is not a valid URL or path"},
		{"call pip.install {pkgs: x, bin_env: /v, exists_action: z}", "error: The exists_action pip option only supports the values s, i, w, and b. 'z' is not valid."},
		{"call pip.install {pkgs: x, bin_env: /v, mirrors: 'http://m'}", "error: pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url instead"},
		{"call pip.install {pkgs: x, bin_env: /v, log: /wh}", "error: '/wh' is a directory. Use --log path_to_file"},
		{"call pip.uninstall {pkgs: alpha, bin_env: /v}", "{'pid': 5017, 'retcode': 0, 'stdout': 'gone', 'stderr': ''}"},
	})
}

// Credentials of URLs reach pip by its environment.
func TestCredentials(t *testing.T) {
	t.Parallel()
	r, _, calls := rig(map[string]string{"--version": "pip 23.0.1 from /x\n", "install x": "Looking in https://u:s3cret@h/simple\n"})
	got := r.Fn(t, "pip.install", "{pkgs: x, index_url: 'https://u:s3cret@h/simple', proxy: 'http://u:s3cret@p:1'}")
	if strings.Contains(got, "s3cret") || !strings.Contains(got, "'retcode': 0") {
		t.Error(got)
	}
	last := (*calls)[len(*calls)-1]
	if strings.Contains(strings.Join(last.Argv, " "), "s3cret") {
		t.Errorf("password among the arguments: %q", last.Argv)
	}
	env := strings.Join(last.Env, "\n")
	if !strings.Contains(env, "PIP_INDEX_URL=https://u:s3cret@h/simple") || !strings.Contains(env, "PIP_PROXY=http://u:s3cret@p:1") {
		t.Errorf("environment %s", env)
	}
}

// Requirements files are copied for the account, with the files that they name.
func TestRequirementsForUser(t *testing.T) {
	t.Parallel()
	r, h, calls := rig(map[string]string{"--version": "pip 23.0.1 from /x\n"})
	h.PutFile("/srv/salt/app/req.txt", "-r ../base.txt\n--constraint=sub/c.txt # why\nalpha\n", 0o600)
	h.PutFile("/srv/salt/base.txt", "beta\n", 0o600)
	h.PutFile("/srv/salt/app/sub/c.txt", "alpha<2\n", 0o600)
	var seen []string
	h.HandleCommand("* install --requirement *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*calls = append(*calls, c)
		at := c.Argv[len(c.Argv)-1]
		dir := at[:len(at)-len("req.txt")]
		for _, f := range []string{"req.txt", "../base.txt", "sub/c.txt"} {
			st, err := h.Stat(dir + f)
			seen = append(seen, h.Text(dir+f))
			if err != nil || st.UID != 1000 {
				t.Errorf("%s: %v %v", f, st, err)
			}
		}
		return host.Output{}, nil
	})
	if got := r.Fn(t, "pip.install", "{requirements: 'salt://app/req.txt', bin_env: /v, user: ann}"); !strings.Contains(got, "'retcode': 0") {
		t.Error(got)
	}
	if want := []string{"-r ../base.txt\n--constraint=sub/c.txt # why\nalpha\n", "beta\n", "alpha<2\n"}; !cmp.Equal(seen, want) {
		t.Error(cmp.Diff(want, seen))
	}
	last := (*calls)[len(*calls)-1]
	if _, err := h.Stat(last.Argv[len(last.Argv)-1]); err == nil {
		t.Error("the copy is still there")
	}
}

func TestParseRequirement(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/wh/pkg_a-1.0-py3-none-any.whl", "", 0o644)
	_ = h.MkdirAll("/src/proj", 0o755)
	for _, tt := range []struct {
		in, name string
		specs    [][2]string
		err      string
	}{
		{in: "django", name: "django"},
		{in: " Foo_bar.baz [x,y] >= 1.0 , < 2 ; python_version<'4'", name: "Foo-bar.baz", specs: [][2]string{{">=", "1.0"}, {"<", "2"}}},
		{in: "a==1.*", name: "a", specs: [][2]string{{"==", "1.*"}}},
		{in: "a (==1)", name: "a", specs: [][2]string{{"==", "1"}}},
		{in: "a @ https://h/x.zip", name: "a"},
		{in: "git+https://h/r.git@v1#egg=my_pkg&subdirectory=x", name: "my-pkg"},
		{in: "https://h/r.tar.gz", name: ""},
		{in: "/wh/pkg_a-1.0-py3-none-any.whl", name: "pkg-a", specs: [][2]string{{"==", "1.0"}}},
		{in: "./proj", name: ""},
		{in: "a=1", err: "Invalid version specification in package a=1. '=' is not supported, use '==' instead."},
		{in: "!!", err: "pip raised an exception while parsing '!!': Invalid requirement: '!!'"},
		{in: "no/such", err: "pip raised an exception while parsing 'no/such': Invalid requirement: 'no/such'\nHint: It looks like a path. File 'no/such' does not exist."},
		{in: "--pre", err: "pip raised an exception while parsing '--pre': Invalid requirement: '--pre'"},
		{in: "a==x y", err: "pip raised an exception while parsing 'a==x y': Invalid requirement: 'a==x y'"},
	} {
		r, err := pip.ParseRequirement(h, "/src", tt.in)
		if tt.err != "" {
			var ce *fun.CommandError
			if !errors.As(err, &ce) || ce.Msg != tt.err {
				t.Errorf("%q: error %v, want %s", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || r.Name != tt.name || !cmp.Equal(r.Specs, tt.specs) {
			t.Errorf("%q: %+v, %v", tt.in, r, err)
		}
	}
}

func FuzzRequirement(f *testing.F) {
	f.Add("a[b]>=1,<2;x")
	f.Add("git+https://h/r#egg=")
	h := host.NewFake()
	f.Fuzz(func(t *testing.T, s string) {
		r, err := pip.ParseRequirement(h, "/", s)
		if err == nil {
			_ = r.Fulfills("1.0")
			_ = pip.Normal(r.Name)
		}
	})
}
