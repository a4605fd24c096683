package aptpkg_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/debtest"
	"brine/modules/config"
	"brine/modules/pkg"
	"brine/modules/pkg/aptpkg"
	"brine/modules/pkg/dpkg"
	"brine/modules/pkg/resource"
	pkgstates "brine/states/pkg"
)

const status = `tool 1.0
lib 1.2
held 1.0 hold installed
gone 3:1.0-1 deinstall config-files
leaving 1.0 purge installed
half 1.0 install half-configured
tool:i386 1.0
`

func machine(t *testing.T) *debtest.Machine {
	t.Helper()
	return debtest.New(t, fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		{Kind: fun.Exec, Name: "config", Load: config.Module},
		{Kind: fun.Exec, Name: "dpkg_lowpkg", Virtual: "lowpkg", Load: dpkg.Module},
		{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module},
		{Kind: fun.State, Name: "pkg", Load: pkgstates.States},
	}), status)
}

func pos(v ...value.Value) []value.Value { return v }

func TestQueries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, kw string
		pos      []value.Value
		want     string
	}{
		{"pkg.list_pkgs", "", nil, "{'held': '1.0', 'leaving': '1.0', 'lib': '1.2', 'tool': '1.0', 'tool:i386': '1.0'}"},
		{"pkg.list_pkgs", "versions_as_list: True", nil, "{'held': ['1.0'], 'leaving': ['1.0'], 'lib': ['1.2'], 'tool': ['1.0'], 'tool:i386': ['1.0']}"},
		{"pkg.list_pkgs", "removed: True", nil, "{'gone': '3:1.0-1'}"},
		{"pkg.list_pkgs", "purge_desired: True", nil, "{'leaving': '1.0'}"},
		{"pkg.version", "", pos("tool"), "'1.0'"},
		{"pkg.version", "", pos("tool", "none"), "{'tool': '1.0', 'none': ''}"},
		{"pkg.version", "", pos("tool*"), "{'tool': '1.0', 'tool:i386': '1.0'}"},
		{"pkg.version", "versions_as_list: True", pos("tool"), "['1.0']"},
		{"pkg.version", "", nil, "{}"},
		{"pkg.latest_version", "refresh: False", nil, "''"},
		{"pkg.latest_version", "refresh: False", pos("tool"), "'2.0'"},
		{"pkg.latest_version", "refresh: False", pos("tool", "lib", "none", "a*"), "{'tool': '2.0', 'lib': '', 'none': '', 'a*': ''}"},
		{"pkg.latest_version", "{refresh: False, show_installed: True}", pos("lib"), "'1.2'"},
		{"pkg.latest_version", "repo: x", pos("lib"), "error: The 'repo' argument is invalid, use 'fromrepo' instead"},
		{"pkg.upgrade_available", "", pos("tool"), "True"},
		{"pkg.upgrade_available", "", pos("lib"), "False"},
		{"pkg.list_upgrades", "refresh: False", nil, "{'tool': '2.0', 'held': '2.0'}"},
		{"pkg.list_repo_pkgs", "", pos("tool", "lib"), "{'tool': ['2.0', '1.1', '1.0'], 'lib': ['1.2']}"},
		{"pkg.version_cmp", "", pos("1.0~rc1", "1.0"), "-1"},
		{"pkg.version_cmp", "ignore_epoch: True", pos("1:1.0", "1.0"), "0"},
		{"pkg.version_cmp", "", pos("1 0", "1.0"), "None"},
		{"pkg.normalize_name", "", pos("tool:amd64"), "'tool'"},
		{"pkg.normalize_name", "", pos("tool:i386"), "'tool:i386'"},
		{"pkg.parse_arch", "", pos("tool:i386"), "{'name': 'tool', 'arch': 'i386'}"},
		{"pkg.show", "filter: priority", pos("lib"), "{'lib': {'1.2': {'Priority': 'optional'}}}"},
		{"pkg.get_selections", "", pos("tool"), "{'install': ['tool', 'tool:i386']}"},
		{"pkg.get_selections", "state: hold", nil, "{'hold': ['held']}"},
		{"pkg.get_selections", "state: purge", pos("t*"), "{'purge': []}"},
		{"pkg.refresh_db", "", nil, "{'http://deb.example bookworm InRelease': None, 'http://deb.example sid InRelease': True, 'x': False, 'y z': False}"},
		{"pkg.refresh_db", "failhard: True", nil, "error: Error getting repos: y z"},
		{"pkg.refresh_db", "cache_valid_time: 1000000000", nil, "{}"},
		{"pkg.list_downloaded", "", nil, "{}"},
		{"pkg.services_need_restart", "", nil, "error: 'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories."},
		{"lowpkg.bin_pkg_info", "", pos("/srv/thing.deb"), "error: /srv/thing.deb does not exist on minion"},
		{"lowpkg.bin_pkg_info", "", pos("thing.deb"), "error: thing.deb does not exist on minion"},
		{"lowpkg.list_pkgs", "", pos("-x"), "error: invalid package name '-x'"},
		{"pkg.owner", "", nil, "''"},
	} {
		if got := machine(t).Exec(tt.name, tt.kw, tt.pos...); got != tt.want {
			t.Errorf("%s %s %v: %s, want %s", tt.name, tt.kw, tt.pos, got, tt.want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const prefix = "apt-get -q -y -o DPkg::Options::=--force-confold -o DPkg::Options::=--force-confdef "
	for _, tt := range []struct {
		name, kw string
		want     string
		calls    []string
	}{
		{"pkg.install", "name: tool", "{'tool': {'old': '1.0', 'new': '2.0'}}", []string{prefix + "install -- tool"}},
		{"pkg.install", "{name: tool, version: 1.0}", "{}", []string{prefix + "install -- tool=1.0"}},
		{"pkg.install", "{name: tool, version: '>=1,<2'}", "{'tool': {'old': '1.0', 'new': '1.1'}}", []string{"apt-cache show -- tool", prefix + "install -- tool=1.1"}},
		{"pkg.install", "{name: tool, version: 1.1*}", "{'tool': {'old': '1.0', 'new': '1.1'}}", []string{"apt-cache show -- tool", prefix + "install -- tool=1.1"}},
		{"pkg.install", "{name: tool, version: '=1.1'}", "{'tool': {'old': '1.0', 'new': '1.1'}}", []string{prefix + "install -- tool=1.1"}},
		{
			"pkg.install", "{name: tool, version: '>3'}", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - No version matching 'tool>3' could be found (available: 2.0, 1.1, 1.0)",
			[]string{"apt-cache show -- tool"},
		},
		{"pkg.install", "pkgs: [tool: '0.9']", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Version '0.9' for 'tool' was not found", []string{prefix + "--allow-downgrades install -- tool=0.9", "apt-cache show -- tool"}},
		{"pkg.install", "{pkgs: [lib], reinstall: True}", "{'lib': {'old': '1.2', 'new': '1.2'}}", []string{prefix + "--reinstall install -- lib"}},
		{
			"pkg.install", "{pkgs: [held: '2.0']}", "{'held': {'old': '1.0', 'new': '2.0'}}",
			[]string{"dpkg --set-selections", prefix + "install -- held=2.0", "dpkg --set-selections"},
		},
		{
			"pkg.install", "{name: tool, refresh: True, install_recommends: False, only_upgrade: True, skip_verify: True, fromrepo: sid, force_conf_new: True, force_yes: True}", "{'tool': {'old': '1.0', 'new': '2.0'}}",
			[]string{"apt-get -q update", "apt-get -q -y -o DPkg::Options::=--force-confnew --allow-downgrades --allow-remove-essential --allow-change-held-packages --allow-unauthenticated --no-install-recommends --only-upgrade --allow-unauthenticated -t sid install -- tool"},
		},
		{"pkg.install", "{name: tool, version: '2.0', refresh: True}", "{'tool': {'old': '1.0', 'new': '2.0'}}", []string{"apt-cache -q policy -- tool", prefix + "install -- tool=2.0"}},
		{"pkg.install", "name: odd-fails", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\n    odd-fails:\n        ----------\n        new:\n            1.0 (half-configured)\n        old:\nerrors:\n    - E: Sub-process /usr/bin/dpkg returned an error code (1)", []string{prefix + "install -- odd-fails"}},
		{"pkg.install", "name: tol", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Unable to locate package tol", []string{prefix + "install -- tol", "apt-cache pkgnames"}},
		{"pkg.install", "name: --reinstall", "error: invalid package name '--reinstall'", nil},
		{"pkg.install", "name: tool-", "error: invalid package name 'tool-'", nil},
		{"pkg.install", "{pkgs: [a], sources: [b: /c]}", "error: Only one of \"pkgs\" and \"sources\" can be used.", nil},
		{"pkg.install", "sources: [new: /srv/new_1.0_all.deb]", "{'new': {'old': '', 'new': '1.0'}}", []string{"dpkg-deb -f /srv/new_1.0_all.deb Package Version Architecture", prefix + "install -- /srv/new_1.0_all.deb"}},
		{"pkg.install", "sources: [tool: /srv/tool_0.5_all.deb]", "{'tool': {'old': '1.0', 'new': '0.5'}}", []string{"dpkg-deb -f /srv/tool_0.5_all.deb Package Version Architecture", prefix + "--allow-downgrades install -- /srv/tool_0.5_all.deb"}},
		{"pkg.install", "sources: [bad: /srv/bad.deb]", "error: Unable to get info for /srv/bad.deb: dpkg-deb: error: '/srv/bad.deb' is not a Debian format archive", []string{"dpkg-deb -f /srv/bad.deb Package Version Architecture"}},
		{"pkg.install", "sources: [none: none.deb]", "error: Path none.deb for package none is either not absolute or an invalid protocol", nil},
		{"pkg.install", "", "{}", nil},
		{"pkg.install", "{name: tool, simulate: True, refresh: True, debconf: salt://x}", "{'tool': {'old': '1.0', 'new': '2.0'}}", []string{prefix + "--simulate install -- tool"}},
		{"pkg.install", "{pkgs: [held: '2.0'], simulate: True}", "{'held': {'old': '1.0', 'new': '2.0'}}", []string{prefix + "--simulate --allow-change-held-packages install -- held=2.0"}},
		{"pkg.install", "{pkgs: [tool: '0.9'], simulate: True}", "{'tool': {'old': '1.0', 'new': '0.9'}}", []string{prefix + "--simulate --allow-downgrades install -- tool=0.9"}},
		{"pkg.install", "{name: tol, simulate: True}", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Unable to locate package tol", []string{prefix + "--simulate install -- tol", "apt-cache pkgnames"}},
		{"pkg.remove", "{name: lib, simulate: True}", "{'lib': {'new': '', 'old': '1.2'}, 'tool': {'new': '', 'old': '1.0'}}", []string{"apt-get -q -y --simulate remove -- lib"}},
		{"pkg.upgrade", "{pkgs: [tool], simulate: True}", "{'tool': {'old': '1.0', 'new': '2.0'}}", []string{prefix + "--simulate --only-upgrade install -- tool"}},
		{"pkg.remove", "name: 'lib,none'", "{'lib': {'new': '', 'old': '1.2'}}", []string{"apt-get -q -y remove -- lib"}},
		{"pkg.remove", "name: held", "error: Problem encountered removing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Held packages were changed and -y was used without --allow-change-held-packages.", []string{"apt-get -q -y remove -- held"}},
		{"pkg.remove", "", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"pkg.purge", "pkgs: []", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"pkg.remove", "name: none", "{}", nil},
		{"pkg.purge", "pkgs: [lib, gone]", "{'removed': {'gone': {'new': '', 'old': '3:1.0-1'}}, 'installed': {'lib': {'new': '', 'old': '1.2'}}}", []string{"apt-get -q -y purge -- lib gone"}},
		{"pkg.upgrade", "{refresh: False, pkgs: [tool, none]}", "{'tool': {'old': '1.0', 'new': '2.0'}}", []string{prefix + "--only-upgrade install -- tool"}},
		{"pkg.hold", "name: tool", "{'tool': {'name': 'tool', 'changes': {'old': 'install', 'new': 'hold'}, 'result': True, 'comment': 'Package tool is now being held.'}}", []string{"dpkg --set-selections"}},
		{"pkg.hold", "{name: tool, test: True}", "{'tool': {'name': 'tool', 'changes': {}, 'result': None, 'comment': 'Package tool is set to be held.'}}", nil},
		{"pkg.hold", "pkgs: [held, nope: '1']", "{'held': {'name': 'held', 'changes': {}, 'result': True, 'comment': 'Package held is already set to be held.'}, 'nope': {'name': 'nope', 'changes': {}, 'result': False, 'comment': 'Package nope is not known to dpkg, which cannot hold it.'}}", []string{"dpkg --set-selections"}},
		{"pkg.hold", "", "error: One of name, pkgs, or sources must be specified.", nil},
		{"pkg.unhold", "name: held", "{'held': {'name': 'held', 'changes': {'old': 'hold', 'new': 'install'}, 'result': True, 'comment': 'Package held is no longer being held.'}}", []string{"dpkg --set-selections"}},
		{"pkg.unhold", "pkgs: [tool, nope]", "{'tool': {'name': 'tool', 'changes': {}, 'result': True, 'comment': 'Package tool is already set not to be held.'}, 'nope': {'name': 'nope', 'changes': {}, 'result': False, 'comment': 'Package nope does not have a state.'}}", nil},
		{"pkg.set_selections", "selection: {hold: [tool, nope], install: [lib]}", "{'tool': {'old': 'install', 'new': 'hold'}}", []string{"dpkg --set-selections"}},
		{"pkg.set_selections", "selection: '{hold: tool}'", "{'tool': {'old': 'install', 'new': 'hold'}}", []string{"dpkg --set-selections"}},
		{"pkg.set_selections", "selection: {bogus: [tool]}", "error: Invalid state(s): bogus", nil},
		{"pkg.set_selections", "", "{}", nil},
		{"lowpkg.unpurge", "", "{}", nil},
	} {
		m := machine(t)
		for _, f := range []string{"/srv/new_1.0_all.deb", "/srv/tool_0.5_all.deb", "/srv/bad.deb"} {
			m.PutFile(f, "", 0o644)
		}
		if got := m.Exec(tt.name, tt.kw); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.kw, got, tt.want)
		}
		if diff := cmp.Diff(tt.calls, m.Lines()); diff != "" {
			t.Errorf("%s %s: %s", tt.name, tt.kw, diff)
		}
		if got := m.Exec("pkg.get_selections", "state: hold"); strings.Contains(tt.name, "install") && got != "{'hold': ['held']}" {
			t.Errorf("%s %s: held is %s", tt.name, tt.kw, got)
		}
	}
}

// What only looks is marked so: what is known of the machine holds after it.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	m := machine(t)
	for _, kw := range []string{"{name: tool, simulate: True}", "{name: tool, version: '>=1,<2', simulate: True}"} {
		m.Exec("pkg.install", kw)
	}
	m.Exec("pkg.remove", "{name: lib, simulate: True}")
	m.Exec("pkg.latest_version", "refresh: False", "tool")
	m.Exec("pkg.list_upgrades", "refresh: False")
	m.Exec("pkg.autoremove", "list_only: True")
	m.Exec("pkg.list_repo_pkgs", "", "tool")
	for _, c := range m.Calls() {
		if !c.ReadOnly {
			t.Errorf("%q is not marked as one that only looks", c.Argv)
		}
	}
	if len(m.Calls()) < 7 {
		t.Errorf("only %d commands", len(m.Calls()))
	}
	m.Forget()
	m.Exec("pkg.install", "name: tool")
	for _, c := range m.Calls() {
		if c.ReadOnly {
			t.Errorf("%q is marked as one that only looks", c.Argv)
		}
	}
}

// A lock is waited for, and programs are never asked a question.
func TestLock(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.SetTick(0)
	var warned []string
	m.Env().OnWarn = func(w fun.Warning) { warned = append(warned, w.Text) }
	m.Locked = 5
	start := m.Now()
	if got, want := m.Exec("pkg.install", "name: tool"), "{'tool': {'old': '1.0', 'new': '2.0'}}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := m.Now().Sub(start).Seconds(); got != 2+4+8+8+8 {
		t.Errorf("waited %v s", got)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "held by process 77 (unattended-upgr); waiting for up to 15m0s (option pkg.lock_timeout)") {
		t.Errorf("warnings: %q", warned)
	}
	for _, c := range m.Calls() {
		if !slices.Contains(c.Env, "DEBIAN_FRONTEND=noninteractive") {
			t.Errorf("%v can ask: %v", c.Argv, c.Env)
		}
	}
	m.Locked = 1 << 20
	if got := m.Exec("pkg.remove", "name: tool"); !strings.Contains(got, "held by process 77") || !strings.Contains(got, "Gave up after 15m0s (option pkg.lock_timeout)") {
		t.Errorf("a lock for ever: %s", got)
	}
}

// The option pkg.lock_timeout says how long a lock is waited for.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		option value.Value
		waited float64
		want   string
	}{
		{int64(5), 5, "Gave up after 5s"},
		{"2.5", 2.5, "Gave up after 2.5s"},
		{int64(0), 0, "Gave up after 0s"},
		{"soon", 0, "error: the option pkg.lock_timeout must be a number of seconds, not 'soon'"},
	} {
		m := machine(t)
		m.SetTick(0)
		m.Locked = 1 << 20
		m.Env().Opts = value.MapOf("pkg.lock_timeout", tt.option)
		start := m.Now()
		if got := m.Exec("pkg.install", "name: tool"); !strings.Contains(got, tt.want) {
			t.Errorf("%v: %s, want %s", tt.option, got, tt.want)
		}
		if got := m.Now().Sub(start).Seconds(); got != tt.waited {
			t.Errorf("%v: waited %v s, want %v", tt.option, got, tt.waited)
		}
	}
}

// Who may not take a lock does not wait for it.
func TestNotRoot(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.SetTick(0)
	m.OnCommand("apt-get *", host.Output{Status: 100, Stderr: []byte("E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)\nE: Unable to lock directory /var/lib/apt/lists/\n")})
	start := m.Now()
	if got, want := m.Exec("pkg.refresh_db", ""), "error: E: Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)\nE: Unable to lock directory /var/lib/apt/lists/"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if m.Now() != start {
		t.Errorf("waited until %v", m.Now())
	}
}

// Where systemd runs the machine, apt has a scope of its own, unless that cannot be
// had.
func TestScope(t *testing.T) {
	t.Parallel()
	m := machine(t)
	m.PutDir("/run/systemd/system", 0o755)
	m.PutExe("/usr/bin/systemd-run")
	m.OnCommand("systemd-run *", host.Output{Status: 1, Stderr: []byte("Failed to connect to bus: No such file or directory\n")})
	if got, want := m.Exec("pkg.remove", "name: tool"), "{'tool': {'new': '', 'old': '1.0'}}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []string{"systemd-run --scope --quiet --collect -- apt-get -q -y remove -- tool", "apt-get -q -y remove -- tool"}
	if diff := cmp.Diff(want, m.Lines()); diff != "" {
		t.Error(diff)
	}
}

// A version or a package that is not there has the nearest one as a hint.
func TestHint(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"{name: tool, version: '1.2'}": "the nearest version of tool is 2.0 (available: 2.0, 1.1, 1.0)",
		"{name: tool, version: '0.9'}": "the nearest version of tool is 1.0 (available: 2.0, 1.1, 1.0)",
		"name: tol":                    `did you mean the package "tool"?`,
		"name: quite-another":          "",
	} {
		m := machine(t)
		_, err := m.Env().Invoker.Invoke(t.Context(), fun.Exec, "pkg.install", fun.Args{Kw: m.Args(args)})
		var failed *pkg.Error
		if !errors.As(err, &failed) || failed.Hint != want {
			t.Errorf("%s: %v, hint %q, want %q", args, err, failed.Hint, want)
		}
		if _, ok := errors.AsType[*fun.CommandError](err); !ok {
			t.Errorf("%s: %T is no command error", args, err)
		}
	}
}

// What is installed is read once, and again when dpkg's files change.
func TestDatabaseIsKept(t *testing.T) {
	t.Parallel()
	m := machine(t)
	a, err := dpkg.Read(m.Env())
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := dpkg.Read(m.Env()); a != b {
		t.Error("read twice")
	}
	m.PutFile("/var/lib/dpkg/updates/0001", "Package: lib\nStatus: install ok unpacked\nArchitecture: amd64\nVersion: 1.3\n\n", 0o644)
	m.PutFile("/var/lib/dpkg/updates/tmp.i", "Package: lib\n", 0o644)
	c, _ := dpkg.Read(m.Env())
	if got := c.Broken().Str("lib"); a == c || got != "1.3 (unpacked)" {
		t.Errorf("the journal says %q", got)
	}
	m.Exec("pkg.install", "name: tool")
	if got := m.Exec("pkg.version", "", "tool"); got != "'2.0'" {
		t.Errorf("after an installation: %s", got)
	}
}
