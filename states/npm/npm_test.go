package npm_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/npm"
	"brine/states/npm"
)

// rig returns a machine whose npm prints what said has for its arguments; what is
// not there fails. The environment of the last run is in env.
func rig(said map[string]string) (r *calltest.Rig, env *[]string) {
	h := host.NewFake()
	h.PutExe("/usr/bin/npm")
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 65534, Home: "/home/ann"})
	for _, d := range []string{"/tmp", "/app", "/home/ann", "/root"} {
		_ = h.MkdirAll(d, 0o755)
	}
	env = &[]string{}
	h.HandleCommand("/usr/bin/npm *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*env = c.Env
		key := strings.Join(c.Argv[1:], " ")
		out, ok := said[key]
		if !ok {
			return host.Output{Status: 1, Stderr: []byte("no " + key)}, nil
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "npm", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "npm", Load: npm.States}), env
}

const listed = `{"dependencies": {"a": {"version": "1.0.0"}, "@s/b": {"version": "2.0.0"}, "odd": {"missing": true}, "u": {"version": "3.0.0", "resolved": "git+ssh://git@h/u.git#abc"}}}`

func TestStates(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"list --json --silent --global --depth=0":                listed,
		"list --json --silent --depth=0":                         "{}",
		"install --json --silent --global --registry=http://r c": `{"added": 1}`,
		"uninstall a --global":                                   "",
		"install --json --silent":                                `{"added": 0, "changed": 0, "removed": 0, "audited": 5}`,
		"install --json --silent --dry-run":                      `{"added": 2, "changed": 0}`,
		"install --json":                                         "what",
		"cache ls":                                               "/root/.npm/express/4/x\n",
		"cache ls express":                                       "make-fetch:https://r/express/-/express-4.tgz",
		"cache ls none":                                          "",
		"cache clean --force":                                    "",
	}
	r, _ := rig(said)
	r.Steps(t, []calltest.Step{
		{"state npm.installed {name: a}", "True: Package(s) 'a' satisfied by a@1.0.0 {}"},
		{"state npm.installed {name: x, pkgs: ['a@1.0.0', '@s/b', 'git+ssh://git@h/u.git#abc']}", "True: Package(s) 'a@1.0.0, @s/b, git+ssh://git@h/u.git#abc' satisfied by a@1.0.0, @s/b@2.0.0, git+ssh://git@h/u.git#abc@3.0.0 {}"},
		{"test npm.installed {name: x, pkgs: [a, 'a@2', odd]}", "None: NPM package(s) 'a@2, odd' are set to be installed. Package(s) 'a, a@2, odd' satisfied by a@1.0.0 {'old': [], 'new': ['a@2', 'odd']}"},
		{"state npm.installed {name: x, pkgs: [a, c], registry: 'http://r'}", "True: Package(s) 'c' successfully installed {'old': [], 'new': ['c']}"},
		{"state npm.installed {name: a, dir: /app}", "False: Error installing 'a': no install --json --silent a {}"},
		{"state npm.installed {name: --evil, dir: /app}", "False: Error installing '--evil': invalid package '--evil': it must not be empty or start with a dash {}"},
		{"state npm.removed {name: c}", "True: Package 'c' is not installed {}"},
		{"test npm.removed {name: a}", "None: Package 'a' is set to be removed {}"},
		{"state npm.removed {name: a}", "True: Package 'a' was successfully removed {'a': 'Removed'}"},
		{"state npm.removed {name: '@s/b'}", "False: Error removing package '@s/b': no uninstall @s/b --global {}"},
		{"state npm.bootstrap {name: /app}", "True: Directory is already bootstrapped {}"},
		{"test npm.bootstrap {name: /app}", "None: /app is set to be bootstrapped {'old': [], 'new': {'added': 2, 'changed': 0}}"},
		{"state npm.bootstrap {name: /app, silent: false}", "False: Could not bootstrap directory: what {}"},
		{"test npm.cache_cleaned {name: null}", "None: Cached packages set to be removed {}"},
		{"state npm.cache_cleaned {name: null, force: true}", "True: Cached packages successfully removed {'cache': 'Removed'}"},
		{"state npm.cache_cleaned {name: null}", "False: Error cleaning cached packages: no cache clean {}"},
		{"state npm.cache_cleaned {name: none}", "True: Package none is not in the cache {}"},
		{"test npm.cache_cleaned {name: express}", "None: Cached express set to be removed {}"},
	})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, env := rig(map[string]string{
		"list --json --silent --depth=2 a":   listed,
		"install --json --global a b":        "npm WARN x\n{\n  \"added\": 1\n}\nbye\n",
		"install --json --silent --dry-run":  "text",
		"config get cache":                   "/root/.npm\n",
		"install --json --silent --global a": "[]",
	})
	r.Steps(t, []calltest.Step{
		{"call npm.list {pkg: odd, dir: /app}", "error: no list --json --silent odd"},
		{"call npm.install {pkgs: [a, b], silent: false}", "{'added': 1}"},
		{"call npm.install {dir: /app, dry_run: true}", "'text'"},
		{"call npm.uninstall {pkg: a}", "False"},
		{"call npm.cache_path {}", "'/root/.npm'"},
		{"call npm.cache_list {path: -x}", "error: invalid package '-x': it must not be empty or start with a dash"},
		{"call npm.install {pkg: a, runas: ann, registry: 'https://u:s3cret@r'}", "[]"},
	})
	all := strings.Join(*env, "\n")
	if !strings.Contains(all, "SUDO_UID=1000") || !strings.Contains(all, "npm_config_registry=https://u:s3cret@r") {
		t.Errorf("environment %s", all)
	}
}
