package gem_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/gem"
	"brine/states/gem"
)

// rig returns a machine whose programs print what said has for their command
// lines; what is not there fails.
func rig(said map[string]string, programs ...string) (*calltest.Rig, *[]host.Cmd) {
	h := host.NewFake()
	for _, p := range programs {
		h.PutExe(p)
	}
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 65534, Home: "/home/ann"})
	_ = h.MkdirAll("/home/ann", 0o755)
	calls := &[]host.Cmd{}
	h.HandleCommand("*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*calls = append(*calls, c)
		key := strings.Join(c.Argv, " ")
		out, ok := said[strings.TrimPrefix(key, "/usr/bin/")]
		if !ok {
			return host.Output{Status: 1, Stderr: []byte("no " + key)}, nil
		}
		return host.Output{Stdout: []byte(out)}, nil
	})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "gem", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "gem", Load: gem.States}), calls
}

func TestStates(t *testing.T) {
	t.Parallel()
	r, _ := rig(map[string]string{
		"gem --version": "3.3.15\n",
		"gem list json": "json (2.6.1 x86_64-linux, default: 2.5.0)\njson-x (1.0)\n",
		"gem list new":  "",
		"gem install new --version 1.0 --no-document": "Successfully installed new-1.0\n",
		"gem uninstall json -a -x":                    "ok\n",
		"gem sources":                                 "*** CURRENT SOURCES ***\n\nhttps://rubygems.org/\n",
		"gem sources --add https://g/":                "https://g/ added to sources\n",
		"gem sources --remove https://rubygems.org/":  "removed\n",
	}, "/usr/bin/gem")
	r.Steps(t, []calltest.Step{
		{"state gem.installed {name: json}", "True: Gem is already installed. {}"},
		{"state gem.installed {name: json, version: 2.5.0}", "True: Gem is already installed. {}"},
		{"state gem.installed {name: json, version: '~> 2.6'}", "True: Installed Gem meets version requirements. {}"},
		{"test gem.installed {name: json, version: '> 2.6.1'}", "None: The gem json would have been installed {}"},
		{"state gem.installed {name: json, version: 3.0}", "False: Could not install gem. no /usr/bin/gem install json --version 3.0 --no-document {}"},
		{"state gem.installed {name: new, version: '1.0'}", "True: Gem was successfully installed {'new': 'Installed'}"},
		{"state gem.installed {name: -x}", "False: Could not list gems. invalid gem '-x': it must not be empty or start with a dash {}"},
		{"state gem.removed {name: new}", "True: Gem is not installed. {}"},
		{"test gem.removed {name: json}", "None: The gem json would have been removed {}"},
		{"state gem.removed {name: json}", "True: Gem was successfully removed. {'json': 'Removed'}"},
		{"state gem.sources_add {name: 'https://rubygems.org/'}", "True: Gem source is already added. {}"},
		{"test gem.sources_add {name: 'https://g/'}", "None: The gem source https://g/ would have been added. {}"},
		{"state gem.sources_add {name: 'https://g/'}", "True: Gem source was successfully added. {'https://g/': 'Installed'}"},
		{"state gem.sources_remove {name: 'https://g/'}", "True: Gem source is already removed. {}"},
		{"test gem.sources_remove {name: 'https://rubygems.org/'}", "None: The gem source would have been removed. {}"},
		{"state gem.sources_remove {name: 'https://rubygems.org/'}", "True: Gem source was successfully removed. {'https://rubygems.org/': 'Removed'}"},
	})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, calls := rig(map[string]string{
		"/opt/gem --version": "2.7.6\n",
		"/opt/gem install a b --version 1 --no-rdoc --no-ri --pre --source https://s": "done\n",
		"/opt/gem outdated":                          "a (1.0 < 1.1)\nodd\n",
		"/opt/gem update a":                          "updated",
		"/opt/gem update --system":                   "system",
		"/usr/local/rvm/bin/rvm default do gem list": "a (1.0)\n",
		"/usr/local/rvm/bin/rvm 2.7 do gem sources":  "x\n\nhttps://s\n",
	}, "/opt/gem", "/usr/local/rvm/bin/rvm")
	r.Steps(t, []calltest.Step{
		{"call gem.version {gem_bin: /opt/gem}", "'2.7.6'"},
		{"call gem.install {gems: a b, gem_bin: /opt/gem, version: 1, pre_releases: true, source: 'https://s', proxy: 'http://u:p@h'}", "'done'"},
		{"call gem.list_upgrades {gem_bin: /opt/gem}", "{'a': '1.1'}"},
		{"call gem.update {gems: a, gem_bin: /opt/gem}", "'updated'"},
		{"call gem.update_system {gem_bin: /opt/gem}", "'system'"},
		{"call gem.list {}", "{'a': ['1.0']}"},
		{"call gem.sources_list {ruby: '2.7'}", "['https://s']"},
		{"call gem.uninstall {gems: [a]}", "error: no /usr/local/rvm/bin/rvm default do gem uninstall a -a -x"},
	})
	for _, c := range *calls {
		if strings.Contains(strings.Join(c.Argv, " "), "u:p@") {
			t.Errorf("password among the arguments: %q", c.Argv)
		}
	}
}

func TestRbenv(t *testing.T) {
	t.Parallel()
	r, calls := rig(map[string]string{"gem --version": "3.4.1\n", "gem install a --no-document": "done\n", "/home/ann/.rbenv/bin/rbenv rehash": ""},
		"/home/ann/.rbenv/bin/rbenv", "/home/ann/.rbenv/shims/gem", "/usr/bin/gem")
	h := r.Env.Host.(*host.Fake)
	h.HandleCommand("/home/ann/.rbenv/shims/gem *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		*calls = append(*calls, c)
		if c.Argv[1] == "--version" {
			return host.Output{Stdout: []byte("3.4.1\n")}, nil
		}
		return host.Output{Stdout: []byte("done\n")}, nil
	})
	r.Steps(t, []calltest.Step{{"call gem.install {gems: a, runas: ann, ruby: 3.1.0}", "'done'"}})
	last := (*calls)[len(*calls)-1]
	if got := strings.Join(last.Argv, " "); got != "/home/ann/.rbenv/bin/rbenv rehash" {
		t.Errorf("last run: %s", got)
	}
	if env := strings.Join((*calls)[0].Env, "\n"); !strings.Contains(env, "RBENV_VERSION=3.1.0") {
		t.Errorf("environment %s", env)
	}
}
