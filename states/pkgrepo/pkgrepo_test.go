package pkgrepo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/cp"
	"brine/modules/pkg/aptpkg"
	"brine/states/pkgrepo"
)

const (
	list = "/etc/apt/sources.list.d/x.list"
	bla  = "This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to the differences in the configured repositories."
	key  = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBGE=\n-----END PGP PUBLIC KEY BLOCK-----\n"
)

func debian(os string) (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	for _, exe := range []string{"apt-get", "dpkg", "dpkg-query", "gpg"} {
		h.PutExe("/usr/bin/" + exe)
	}
	h.PutFile("/var/lib/dpkg/status", "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n\n", 0o644)
	h.PutDir("/etc/apt/sources.list.d", 0o755)
	h.PutDir("/etc/apt/keyrings", 0o755)
	h.HandleCommand("apt-get -q update", func(context.Context, host.Cmd) (host.Output, error) {
		if strings.Contains(h.Text(list), "broken") {
			return host.Output{Status: 100, Stderr: []byte("E: broken\n")}, nil
		}
		return host.Output{}, nil
	})
	h.OnCommand("gpg --batch --show-keys *", host.Output{Stdout: []byte("pub:-:2048:1:936F52D4AF3BEEA1:1::::::scSC:\n")})
	h.PutFile("/srv/salt/key.asc", key, 0o644)
	r := calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "cp", Load: cp.Module},
		fun.Entry{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		fun.Entry{Kind: fun.State, Name: "pkgrepo", Load: pkgrepo.States})
	r.Env.Grains = value.MapOf("os", os, "os_family", "Debian", "osarch", "amd64", "oscodename", "noble")
	return r, h
}

func TestDebian(t *testing.T) {
	t.Parallel()
	r, h := debian("Debian")
	const def = "deb http://x stable main"
	const would = "None: Package repo '" + def + "' would be configured. " + bla + " "
	args := func(more string) string { return "{name: '" + def + "', file: " + list + more + "}" }
	r.Steps(t, []calltest.Step{
		{"test pkgrepo.managed " + args(""), would + "{'repo': 'deb http://x stable main'}"},
		{"state pkgrepo.managed " + args(""), "True: Configured package repo '" + def + "' {'repo': '" + def + "'}"},
		{"state pkgrepo.managed " + args(""), "True: Package repo '" + def + "' already configured {}"},
		{"test pkgrepo.managed " + args(", comps: 'main,extra'"), would + "{'comps': {'new': ['main', 'extra'], 'old': ['main']}, 'line': {'new': 'deb http://x stable main extra', 'old': 'deb http://x stable main'}}"},
		{"state pkgrepo.managed " + args(", comments: [why]"), "True: Configured package repo '" + def + "' {'line': {'new': 'deb http://x stable main #why', 'old': 'deb http://x stable main'}}"},
		{"state pkgrepo.managed " + args(", comments: [why]"), "True: Package repo '" + def + "' already configured {}"},
		{"test pkgrepo.managed " + args(", disabled: true"), would + "{'disabled': {'new': True, 'old': False}, 'line': {'new': '# deb http://x stable main', 'old': 'deb http://x stable main #why'}}"},
		{"state pkgrepo.managed " + args(", enabled: false"), "True: Configured package repo '" + def + "' {'disabled': {'new': True, 'old': False}, 'line': {'new': '# deb http://x stable main #why', 'old': 'deb http://x stable main #why'}}"},
		{"state pkgrepo.managed " + args(", enabled: 'False'"), "True: Package repo '" + def + "' already configured {}"},
		{"state pkgrepo.managed {name: '" + def + "'}", "True: Configured package repo '" + def + "' {'disabled': {'new': False, 'old': True}, 'line': {'new': 'deb http://x stable main #why', 'old': '# deb http://x stable main #why'}}"},
		{"test pkgrepo.managed {name: nonsense}", "False: Failed to configure repo 'nonsense': Error: repo 'nonsense' not a well formatted definition {}"},
		{"state pkgrepo.managed " + args(", enabled: true, disabled: false"), "False: Only one of enabled/disabled is allowed {}"},
		{"state pkgrepo.managed " + args(", repo: x"), "False: 'repo' is not a supported argument for this state. The 'name' argument is probably what was intended. {}"},
		{"state pkgrepo.managed " + args(", key_url: x, keyid: y"), "False: You may not use both \"keyid\"/\"keyserver\" and \"key_url\" argument. {}"},
		{"state pkgrepo.managed " + args(", key_url: 'http://x', allow_insecure_key: false"), "False: Cannot have 'key_url' using http with 'allow_insecure_key' set to True {}"},
		{"state pkgrepo.managed {name: 'deb [signed-by=/k.gpg] http://y stable main', keyid: AF3BEEA1}", "False: Failed to configure repo 'deb [signed-by=/k.gpg] http://y stable main': both keyserver and keyid options required. {}"},
		{"state pkgrepo.managed {name: 'deb [signed-by=/k.gpg] http://y stable main', keyserver: x}", "False: Failed to configure repo 'deb [signed-by=/k.gpg] http://y stable main': both keyserver and keyid options required. {}"},
		{"test pkgrepo.managed {name: 'deb http://y stable main', key_url: 'salt://key.asc', aptkey: false}", "False: Failed to configure repo 'deb http://y stable main': missing 'signedby' option when apt-key is missing {}"},
		{"state pkgrepo.managed {name: 'deb http://broken stable main', file: " + list + "}", "False: Failed to configure repo 'deb http://broken stable main': E: broken {}"},
		{"test pkgrepo.absent {name: 'deb http://x/ stable main'}", "None: Package repo 'deb http://x/ stable main' will be removed. " + bla + " {}"},
		{"state pkgrepo.absent {name: nonsense}", "False: Failed to configure repo 'nonsense': Error: repo 'nonsense' not a well formatted definition {}"},
		{"state pkgrepo.absent {name: x, ppa: a/b}", "False: Failed to configure repo 'ppa:a/b': cannot parse \"ppa:\" style repo definitions: ppa:a/b {}"},
		{"state pkgrepo.absent {name: 'deb http://x/ stable main'}", "True: Removed repo deb http://x/ stable main {'repo': 'deb http://x/ stable main'}"},
		{"state pkgrepo.absent {name: 'deb http://x/ stable main'}", "True: Package repo deb http://x/ stable main is absent {}"},
	})
	if diff := cmp.Diff("", h.Text(list)); diff != "" {
		t.Error(diff)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	r, h := debian("Debian")
	const ring = "/etc/apt/keyrings/k.gpg"
	const def = "deb [signed-by=" + ring + "] http://x stable main"
	const args = "{name: '" + def + "', file: " + list + ", key_url: 'salt://key.asc', aptkey: false}"
	r.Steps(t, []calltest.Step{
		{"state pkgrepo.managed " + args, "True: Configured package repo '" + def + "' {'repo': '" + def + "'}"},
		{"state pkgrepo.managed " + args, "True: Package repo '" + def + "' already configured {}"},
		{"state pkgrepo.managed {name: 'deb http://x stable main'}", "True: Package repo 'deb http://x stable main' already configured {}"},
	})
	if got := h.Text(ring); got != "\x99\x01\x0d\x04\x61" {
		t.Errorf("the keyring has %q", got)
	}
	if err := h.Remove(ring); err != nil {
		t.Fatal(err)
	}
	r.Steps(t, []calltest.Step{
		{"state pkgrepo.managed " + args, "True: Configured package repo '" + def + "' {}"},
		{"state pkgrepo.managed {name: 'deb http://x stable extra', file: /etc/apt/sources.list.d/y.list}", "True: Configured package repo 'deb http://x stable extra' {'repo': 'deb http://x stable extra'}"},
		{"state pkgrepo.absent {name: 'deb http://x stable extra', keyid: 00000001, aptkey: false}", "True: Removed repo deb http://x stable extra {'repo': 'deb http://x stable extra'}"},
		{"state pkgrepo.absent {name: '" + def + "', keyid: AF3BEEA1, aptkey: false}", "True: Removed repo " + def + ", and keyid AF3BEEA1 {'repo': '" + def + "', 'keyid': 'AF3BEEA1'}"},
	})
	if h.Text(ring) != "" {
		t.Error("the keyring is still there")
	}
}

func TestPPA(t *testing.T) {
	t.Parallel()
	r, h := debian("Ubuntu")
	h.PutExe("/usr/bin/apt-add-repository")
	h.HandleCommand("apt-add-repository -y ppa:a/b", func(context.Context, host.Cmd) (host.Output, error) {
		h.PutFile("/etc/apt/sources.list.d/a-b.sources", "Types: deb\nURIs: https://ppa.launchpadcontent.net/a/b/ubuntu/\nSuites: noble\nComponents: main\nSigned-By:\n -----BEGIN\n", 0o644)
		return host.Output{}, nil
	})
	r.Steps(t, []calltest.Step{
		{"test pkgrepo.managed {name: x, ppa: a/b}", "None: Package repo 'x' would be configured. " + bla + " {'repo': 'x'}"},
		{"state pkgrepo.managed {name: x, ppa: a/b}", "True: Configured package repo 'x' {'repo': 'ppa:a/b'}"},
		{"state pkgrepo.managed {name: x, ppa: a/b}", "True: Package repo 'x' already configured {}"},
		{"state pkgrepo.managed {name: x, ppa: ab}", "False: Failed to examine repo 'x': Unable to get PPA info from argument. Expected format \"<PPA_OWNER>/<PPA_NAME>\" (e.g. saltstack/salt) not found.  Received 'ab' instead. {}"},
		{"state pkgrepo.absent {name: x, ppa: a/b}", "True: Removed repo ppa:a/b {'repo': 'ppa:a/b'}"},
		{"state pkgrepo.absent {name: x, ppa: a/b}", "True: Package repo ppa:a/b is absent {}"},
	})
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	r, _ := debian("Debian")
	var warned []string
	r.Env.OnWarn = func(w fun.Warning) { warned = append(warned, w.Text) }
	r.State(t, "pkgrepo.managed", "{name: 'deb http://x stable main', key_ulr: x, gpgcheck: 1}", true)
	if diff := cmp.Diff([]string{`pkgrepo.managed has no argument "key_ulr" with apt`}, warned); diff != "" {
		t.Error(diff)
	}
}

func TestKeyringsAgree(t *testing.T) {
	t.Parallel()
	r, h := debian("Debian")
	h.PutFile(list, "deb http://x stable main\ndeb-src http://x/ stable main\ndeb http://x testing main\n", 0o644)
	r.Steps(t, []calltest.Step{
		{"state pkgrepo.managed {name: 'deb [signed-by=/k] http://x stable main'}", "True: Configured package repo 'deb [signed-by=/k] http://x stable main' {'line': {'new': 'deb [signed-by=/k] http://x stable main', 'old': 'deb http://x stable main'}, 'signedby': {'new': '/k', 'old': ''}}"},
		{"state pkgrepo.managed {name: 'deb-src [signed-by=/k] http://x/ stable main'}", "True: Package repo 'deb-src [signed-by=/k] http://x/ stable main' already configured {}"},
	})
	if diff := cmp.Diff("deb [signed-by=/k] http://x stable main\ndeb-src [signed-by=/k] http://x/ stable main\ndeb http://x testing main\n", h.Text(list)); diff != "" {
		t.Error(diff)
	}
}

// yum is a provider of "pkg" that keeps its repositories in memory.
func yum() fun.Module {
	repos := value.NewMap(0)
	find := func(c *fun.Call) string { return c.Args.Str("repo") }
	repo := []fun.Arg{{Name: "repo", Type: fun.Str, Doc: "id"}}
	return fun.Module{Name: "pkg", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "del_repo", VarKw: true, Args: repo, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			repos.Delete(find(c))
			return fun.Value("")
		}},
		{Name: "get_repo", VarKw: true, Args: repo, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			if m := repos.Map(find(c)); m != nil {
				return fun.Value(m)
			}
			return fun.Value(value.NewMap(0))
		}},
		{Name: "list_repos", VarKw: true, Fn: func(context.Context, *fun.Call) (fun.Result, error) { return fun.Value(repos) }},
		{Name: "mod_repo", VarKw: true, Args: repo, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
			if c.Kw.Has("bad") {
				return fun.Result{}, fun.Errorf("bad")
			}
			m := c.Kw.Copy()
			m.Set("enabled", map[bool]string{true: "1", false: "0"}[c.Kw.At("enabled") == true])
			m.Set("file", "/etc/yum.repos.d/x.repo")
			repos.Set(find(c), m)
			return fun.Value(m)
		}},
	}}
}

func TestRedHat(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutFile("/etc/yum.repos.d/x.repo", "[x]\n", 0o644)
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "yumpkg", Virtual: "pkg", Load: yum}, fun.Entry{Kind: fun.State, Name: "pkgrepo", Load: pkgrepo.States})
	r.Env.Grains = value.MapOf("os", "Rocky", "os_family", "RedHat")
	r.Steps(t, []calltest.Step{
		{"test pkgrepo.managed {name: x, humanname: X, baseurl: 'http://x', gpgcheck: 1}", "None: Package repo 'x' would be configured. " + bla + " {'repo': 'x'}"},
		{"state pkgrepo.managed {name: x, humanname: X, baseurl: 'http://x', gpgcheck: 1}", "True: Configured package repo 'x' {'repo': 'x'}"},
		{"state pkgrepo.managed {name: x, humanname: X, baseurl: 'http://x', gpgcheck: true, enabled: 1}", "True: Package repo 'x' already configured {}"},
		{"test pkgrepo.managed {name: x, humanname: Y, disabled: true}", "None: Package repo 'x' would be configured. " + bla + " {'name': {'new': 'Y', 'old': 'X'}, 'enabled': {'new': False, 'old': '1'}}"},
		{"state pkgrepo.managed {name: x, humanname: X, enabled: false}", "True: Configured package repo 'x' {'enabled': {'new': '0', 'old': '1'}}"},
		{"state pkgrepo.managed {name: y, bad: 1, file: /etc/yum.repos.d/x.repo, clean_file: true}", "False: Failed to configure repo 'y': bad {}"},
		{"state pkgrepo.managed {name: c, copr: a/b}", "True: Configured package repo 'c' {'repo': 'copr:a/b'}"},
		{"state pkgrepo.managed {name: c, copr: a/b}", "True: Package repo 'c' already configured {}"},
		{"state pkgrepo.absent {name: c, copr: a/b}", "True: Removed repo copr:a/b {'repo': 'copr:a/b'}"},
		{"state pkgrepo.absent {name: x, keyid: 1}", "False: Repo key management is not implemented for this platform {}"},
		{"state pkgrepo.absent {name: x}", "True: Removed repo x {'repo': 'x'}"},
		{"state pkgrepo.absent {name: x}", "True: Package repo x is absent {}"},
	})
	if h.Text("/etc/yum.repos.d/x.repo") != "[x]\n" {
		t.Error("a failure empties the file")
	}
}
