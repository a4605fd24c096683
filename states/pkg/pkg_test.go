package pkg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/debtest"
	"brine/modules/pkg/aptpkg"
	"brine/modules/pkg/dpkg"
	"brine/modules/pkg/resource"
	"brine/states/pkg"
)

const status = `tool 1.0
lib 1.2
held 1.0 hold installed
epoch 1:1.0-1
gone 3:1.0-1 deinstall config-files
leaving 1.0 purge installed
`

func machine(t testing.TB, status string) *debtest.Machine {
	return debtest.New(t, fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		{Kind: fun.Exec, Name: "dpkg_lowpkg", Virtual: "lowpkg", Load: dpkg.Module},
		{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module},
		{Kind: fun.State, Name: "pkg", Load: pkg.States},
	}), status)
}

// The comments and changes are those of salt/states/pkg.py, but for what
// testdata/machines-open.d/pkg.txt names.
func TestStates(t *testing.T) {
	t.Parallel()
	const would = "The following packages would be installed/updated: "
	for _, tt := range []struct {
		name, args string
		test       bool
		want       string
	}{
		{"installed", "name: tool", false, "True | All specified packages are already installed | {}"},
		{"installed", "name: 'tool:amd64'", false, "True | All specified packages are already installed | {}"},
		{"installed", "{name: tool, version: '1.0'}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: tool, version: ==1.0}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: tool, version: 1.*}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: tool, version: '>=1.0, <2, !=1.1'}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: tool, version: '0.9', allow_updates: True}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: epoch, version: 1.0-1}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: epoch, version: 1.0-1, ignore_epoch: False}", true, "None | " + would + "epoch | {'epoch': {'new': 'installed', 'old': ''}}"},
		{"installed", "{name: tool, version: '2.0'}", true, "None | " + would + "tool | {'tool': {'new': 'installed', 'old': ''}}"},
		{"installed", "{name: tool, version: '2.0'}", false, "True | The following packages were installed/updated: tool=2.0 | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"installed", "{name: tool, version: '>1.0,<2'}", false, "True | The following packages were installed/updated: tool>1.0,<2 | {'tool': {'old': '1.0', 'new': '1.1'}}"},
		{"installed", "{name: tool, version: latest}", false, "True | The following packages were installed/updated: tool=2.0 | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"installed", "{name: lib, version: latest}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: tool, version: '7'}", false, "False | Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - E: Version '7' for 'tool' was not found | {}"},
		{"installed", "{name: x, pkgs: []}", false, "True | No packages to install provided | {}"},
		{"installed", "{name: x, pkgs: [tool: '1.0', lib: ]}", false, "True | All specified packages are already installed and are at the desired version | {}"},
		{"installed", "{name: x, pkgs: [a: 1, b: 2], sources: [a: /b]}", false, `False | Only one of "pkgs" and "sources" is permitted. | {}`},
		{"installed", "{name: x, pkgs: [[a]]}", false, "False | Invalidly formatted 'pkgs' parameter. See minion log. | {}"},
		{"installed", "{name: x, sources: [a]}", false, "False | Invalidly formatted 'sources' parameter. See minion log. | {}"},
		{"installed", "{name: x, pkgs: [tool, tool: '1']}", false, "error: You are passing a list of packages that contains duplicated packages names: ['tool', {'tool': '1'}]. This cannot be processed. In case you are targeting different versions of the same package, please target them individually"},
		{"installed", "{name: tool, pkg_verify: True}", false, "False | pkg.verify not implemented | {}"},
		{"installed", "{name: tool, reinstall: True}", true, "None | The following packages would be reinstalled: tool | {'tool': {'new': 'installed', 'old': ''}}"},
		{"installed", "{name: lib, reinstall: True}", false, "True | Package lib was reinstalled. | {'lib': {'old': '1.2', 'new': '1.2'}}"},
		{"installed", "{name: new, only_upgrade: True}", false, "False | Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - E: Unable to locate package new | {}"},
		{"installed", "name: odd-fails", false, "False | Problem encountered installing package(s). Additional info follows:\n\nerrors:\n    - E: Sub-process /usr/bin/dpkg returned an error code (1) | {'odd-fails': {'old': '', 'new': '1.0 (half-configured)'}}"},
		{"installed", "name: leaving", true, "None | The following packages would have their selection status changed from 'purge' to 'install': leaving | {'leaving': {'new': 'installed', 'old': ''}}"},
		{"installed", "name: leaving", false, "True | The following packages were already installed: leaving | {'purge_desired': {'leaving': {'new': '', 'old': '1.0'}}}"},
		{"installed", "{name: tool, hold: True}", true, "None | All specified packages are already installed.\nPackage tool is set to be held. | {}"},
		{"installed", "{name: tool, hold: True}", false, "True | All specified packages are already installed.\nPackage tool is now being held. | {'tool': {'old': 'install', 'new': 'hold'}}"},
		{"installed", "{name: held, hold: True}", false, "True | All specified packages are already installed.\nPackage held is already set to be held. | {}"},
		{"installed", "{name: held, hold: False}", false, "True | All specified packages are already installed.\nPackage held is no longer being held. | {'held': {'old': 'hold', 'new': 'install'}}"},
		{"installed", "{name: tool, version: '2.0', hold: True}", false, "True | The following packages were installed/updated: tool=2.0\nPackage tool is now being held. | {'tool': {'old': '1.0\\ninstall', 'new': '2.0\\nhold'}}"},
		{"installed", "{name: x, sources: [more: /srv/more_1.0_all.deb]}", true, "None | " + would + "more | {'more': {'new': 'installed', 'old': ''}}"},
		{"installed", "{name: x, sources: [more: /srv/more_1.0_all.deb]}", false, "True | The following packages were installed/updated: more | {'more': {'old': '', 'new': '1.0'}}"},
		{"installed", "{name: x, sources: [tool: /srv/tool_1.0_all.deb]}", false, "True | All specified packages are already installed | {}"},
		{"installed", "{name: x, sources: [tool: /srv/none.deb]}", false, "False | Unable to cache /srv/none.deb: file not found | {}"},
		{"installed", "{name: x, sources: [other: /srv/more_1.0_all.deb]}", false, "False | The following packages failed to install/update: other | {'more': {'old': '', 'new': '1.0'}}"},
		{"installed", "name: --help", false, "False | An error was encountered while installing package(s): invalid package name '--help' | {}"},

		{"latest", "name: tool", true, "None | The following packages would be installed/upgraded: tool | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"latest", "name: tool", false, "True | The following packages were successfully installed/upgraded: tool | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"latest", "name: lib", false, "True | Package lib is already up-to-date | {}"},
		{"latest", "{name: x, pkgs: [tool, lib]}", true, "None | The following packages would be installed/upgraded: tool\nThe following packages are already up-to-date: lib (1.2) | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"latest", "{name: x, pkgs: [tool, lib]}", false, "True | The following packages were successfully installed/upgraded: tool The following packages were already up-to-date: lib | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"latest", "name: none", false, "False | No information found for 'none'. | {}"},
		{"latest", "{name: x, pkgs: []}", false, "True | No packages to install provided | {}"},
		{"latest", "{name: x, sources: [a: /b]}", false, `False | The "sources" parameter is not supported. | {}`},
		{"latest", "name: odd-fails", false, "False | An error was encountered while installing package(s): Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\n    odd-fails:\n        ----------\n        new:\n            1.0 (half-configured)\n        old:\nerrors:\n    - E: Sub-process /usr/bin/dpkg returned an error code (1) | {'odd-fails': {'old': '', 'new': '1.0 (half-configured)'}}"},

		{"removed", "name: tool", true, "None | The following packages will be removed: tool. | {'tool': {'new': 'removed', 'old': ''}}"},
		{"removed", "name: lib", true, "None | The following packages will be removed: lib, tool. | {'lib': {'new': 'removed', 'old': ''}, 'tool': {'new': 'removed', 'old': ''}}"},
		{"removed", "name: held", true, "False | Problem encountered removing package(s). Additional info follows:\n\nerrors:\n    - E: Held packages were changed and -y was used without --allow-change-held-packages. | {}"},
		{"removed", "name: tool", false, "True | All targeted packages were removed. | {'tool': {'new': '', 'old': '1.0'}}"},
		{"removed", "{name: x, pkgs: [tool, none]}", false, "True | The following packages were not installed: none The following packages were removed: tool. | {'tool': {'new': '', 'old': '1.0'}}"},
		{"removed", "name: none", false, "True | All specified packages are already absent | {}"},
		{"removed", "{name: tool, version: '2.0'}", false, "True | All specified packages (matching specified versions) are already absent | {}"},
		{"removed", "{name: tool, version: '<2.0'}", false, "True | All targeted packages were removed. | {'tool': {'new': '', 'old': '1.0'}}"},
		{"removed", "name: held", false, "False | Problem encountered removing package(s). Additional info follows:\n\nerrors:\n    - E: Held packages were changed and -y was used without --allow-change-held-packages. | {}"},
		{"removed", "{name: tool, pkgs: []}", false, "True | All specified packages are already absent | {}"},
		{"purged", "name: gone", true, "None | The following packages will be purged: gone. | {'gone': {'new': 'purged', 'old': ''}}"},
		{"purged", "{name: x, pkgs: [gone, lib]}", false, "True | All targeted packages were purged. | {'removed': {'gone': {'new': '', 'old': '3:1.0-1'}}, 'installed': {'lib': {'new': '', 'old': '1.2'}}}"},
		{"purged", "name: none", false, "True | None of the targeted packages are installed or partially installed | {}"},

		{"held", "name: tool", true, "None | The following package would be held: tool | {}"},
		{"held", "{name: x, pkgs: [tool, held]}", false, "True | Package tool is now being held | {'tool': {'name': 'tool', 'changes': {'old': 'install', 'new': 'hold'}, 'result': True, 'comment': 'Package tool is now being held.'}}"},
		{"held", "name: held", false, "True | No changes made | {}"},
		{"held", "name: none", false, "False | Package none was not held | {'none': {'name': 'none', 'changes': {}, 'result': False, 'comment': 'Package none is not known to dpkg, which cannot hold it.'}}"},
		{"held", "{name: x, pkgs: []}", false, "True | No packages to be held provided | {}"},
		{"held", "{name: x, pkgs: [], replace: True}", false, "True | Package held is no longer being held. | {'held': {'name': 'held', 'changes': {'old': 'hold', 'new': 'install'}, 'result': True, 'comment': 'Package held is no longer being held.'}}"},
		{"held", "{name: tool, replace: True}", true, "None | The following package would be held: tool\nThe following package would be unheld: held | {}"},
		{"unheld", "name: held", true, "None | The following package would be unheld: held | {}"},
		{"unheld", "{name: x, all: True}", false, "True | Package held is no longer being held. | {'held': {'name': 'held', 'changes': {'old': 'hold', 'new': 'install'}, 'result': True, 'comment': 'Package held is no longer being held.'}}"},
		{"unheld", "name: tool", false, "True | No changes made | {}"},
		{"unheld", "{name: x, pkgs: []}", false, "True | No packages to be unheld provided | {}"},

		{"uptodate", "name: x", true, "None | System update will be performed | {'tool': {'new': '2.0', 'old': '1.0'}, 'held': {'new': '2.0', 'old': '1.0'}, 'epoch': {'new': '1:2.0-1', 'old': '1:1.0-1'}}"},
		{"uptodate", "{name: x, pkgs: [tool]}", false, "True | Upgrade ran successfully | {'tool': {'old': '1.0', 'new': '2.0'}}"},
		{"uptodate", "{name: x, pkgs: [lib]}", false, "True | System is already up-to-date | {}"},

		{"downloaded", "name: tool", true, "None | The following packages would be downloaded: tool | {}"},
		{"downloaded", "{name: lib, version: '1.2'}", false, "True | All specified packages (matching specified versions) are already downloaded | {}"},
		{"downloaded", "name: lib", false, "True | All specified packages are already downloaded | {}"},
		{"downloaded", "{name: x, pkgs: []}", false, "True | No packages to download provided | {}"},
		{"group_installed", "name: x", false, "False | pkg.group_install not available for this platform | {}"},
		{"patch_installed", "name: x", false, "False | The pkg.patch_installed state is not available on this platform | {}"},
		{"patch_downloaded", "name: x", false, "False | The pkg.patch_downloaded state is not available on this platform | {}"},
	} {
		m := machine(t, status)
		for _, f := range []string{"/srv/more_1.0_all.deb", "/srv/tool_1.0_all.deb", "/var/cache/apt/archives/lib_1.2_all.deb"} {
			m.PutFile(f, "", 0o644)
		}
		before := m.Text("/var/lib/dpkg/status")
		got := m.State("pkg."+tt.name, tt.args, tt.test)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s: %s", tt.name, tt.args, diff)
		}
		if tt.test && m.Text("/var/lib/dpkg/status") != before {
			t.Errorf("%s %s: a dry run changed packages", tt.name, tt.args)
		}
		if tt.test || !strings.HasPrefix(got, "True") {
			continue
		}
		m.Forget()
		if got := m.State("pkg."+tt.name, tt.args, false); !strings.HasPrefix(got, "True") || !strings.HasSuffix(got, " | {}") && !strings.Contains(tt.args, "reinstall") {
			t.Errorf("%s %s again: %s", tt.name, tt.args, got)
		}
	}
}

// The first state of a run that installs refreshes, once.
func TestRefreshOnce(t *testing.T) {
	t.Parallel()
	m := machine(t, status)
	mod, spec, err := m.Env().Find(fun.State, "pkg.installed")
	if err != nil {
		t.Fatal(err)
	}
	if ret := mod.Init(t.Context(), &fun.Call{Mod: mod, Spec: spec, Env: m.Env()}); ret.Result != fun.OK {
		t.Fatalf("mod_init: %+v", ret)
	}
	updates := func() int { return strings.Count(strings.Join(m.Lines(), "\n"), "apt-get -q update") }
	m.State("pkg.installed", "name: tool", false)
	if n := updates(); n != 0 {
		t.Errorf("%d refreshes for what is installed", n)
	}
	m.State("pkg.latest", "name: tool", false)
	m.State("pkg.installed", "{name: x, pkgs: [tool: '1.1']}", false)
	if n := updates(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	m.State("pkg.installed", "{name: x, refresh: True, pkgs: [tool: '1.0']}", false)
	if n := updates(); n != 1 {
		t.Errorf("%d refreshes with refresh: True", n)
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	m := machine(t, status)
	chunk := func(low string) *fun.Chunk {
		kw := m.Args(low)
		return &fun.Chunk{State: "pkg", Fun: "installed", ID: kw.Str("name"), Name: kw.Str("name"), Low: kw}
	}
	first := chunk("{name: a, version: '1'}")
	others := []*fun.Chunk{
		first, chunk("name: b"), chunk("{name: c, pkgs: [a: '1', d: '2']}"), chunk("{name: a, version: '2', order: 1}"), chunk("{name: e, fromrepo: sid}"),
		chunk("{name: f, hold: True}"), chunk("{name: g, sources: [g: /g]}"), chunk("{name: h, unknown: 1}"), chunk("name: done"),
	}
	others[3].ID = "other"
	mod, spec, _ := m.Env().Find(fun.State, "pkg.installed")
	c, err := m.Env().Invoker.Bind(mod, spec, fun.Args{Kw: first.Low})
	if err != nil {
		t.Fatal(err)
	}
	c.Low = first
	got := mod.Aggregate(t.Context(), c, others, value.MapOf(others[8].Tag(), true))
	if got == nil {
		t.Fatal("nothing was joined")
	}
	if want := "[{'a': '1'}, 'b', {'d': '2'}, 'h']"; value.Repr(got.Low.At("pkgs")) != want || got.Low.Has("version") {
		t.Errorf("joined: %s, want %s", value.Repr(got.Low), want)
	}
	var marked []string
	for _, o := range others {
		if value.Truth(o.Low.At("__agg__")) {
			marked = append(marked, o.Name)
		}
	}
	if diff := cmp.Diff([]string{"b", "c", "h"}, marked); diff != "" {
		t.Error(diff)
	}
}

func many(n int) (status, args string) {
	var s, a strings.Builder
	a.WriteString("{name: x, pkgs: [")
	for i := range n {
		fmt.Fprintf(&s, "package-%d 1.%d\n", i, i)
		if i < 300 {
			fmt.Fprintf(&a, "package-%d: '>=1.0', ", i)
		}
	}
	return s.String(), a.String() + "]}"
}

func BenchmarkInstalled300(b *testing.B) {
	status, args := many(2000)
	m := machine(b, status)
	for b.Loop() {
		m.Env().Memo = &fun.Memo{}
		if got := m.State("pkg.installed", args, false); !strings.HasPrefix(got, "True") {
			b.Fatal(got)
		}
	}
}

func BenchmarkInstalledOneByOne(b *testing.B) {
	status, _ := many(2000)
	m := machine(b, status)
	for b.Loop() {
		m.Env().Memo = &fun.Memo{}
		for i := range 300 {
			m.State("pkg.installed", fmt.Sprintf("name: package-%d", i), false)
		}
	}
}

// In a plan, a return has every package that would change, with its versions; the rest
// of it is what test mode returns.
func TestPlan(t *testing.T) {
	t.Parallel()
	const along = "'asked': False}"
	for _, tt := range []struct{ name, args, want string }{
		{"installed", "{name: tool, version: '2.0', refresh: False}", "[{'name': 'tool', 'old': '1.0', 'new': '2.0', 'action': 'upgrade', 'asked': True}, {'name': 'epoch', 'old': '1:1.0-1', 'new': '', 'action': 'remove', " + along + "]"},
		{"installed", "{name: held, version: '0.5', refresh: False}", "[{'name': 'held', 'old': '1.0', 'new': '0.5', 'action': 'downgrade', 'asked': True}]"},
		{"installed", "{name: odd-fails, refresh: False}", "[{'name': 'odd-fails', 'old': '', 'new': '1.0', 'action': 'install', 'asked': True}]"},
		{"installed", "{name: lib, reinstall: True, refresh: False}", "[{'name': 'lib', 'old': '1.2', 'new': '1.2', 'action': 'reinstall', 'asked': True}]"},
		{"installed", "{name: nowhere, refresh: False}", "failed: E: Unable to locate package nowhere"},
		{"installed", "{name: nowhere, refresh: True}", "unknown: which packages change is not known: the package lists are refreshed first, and with those of now it fails"},
		{"latest", "{name: tool, refresh: False}", "[{'name': 'tool', 'old': '1.0', 'new': '2.0', 'action': 'upgrade', 'asked': True}, {'name': 'epoch', 'old': '1:1.0-1', 'new': '', 'action': 'remove', " + along + "]"},
		{"removed", "name: lib", "[{'name': 'lib', 'old': '1.2', 'new': '', 'action': 'remove', 'asked': True}, {'name': 'tool', 'old': '1.0', 'new': '', 'action': 'remove', " + along + "]"},
	} {
		m := machine(t, status)
		plain := m.State("pkg."+tt.name, tt.args, true)
		m.Env().Plan = true
		ret := m.Ret("pkg."+tt.name, tt.args, true)
		extra := ret.Extra.Map(fun.PlanKey)
		switch want, fails := strings.CutPrefix(tt.want, "failed: "); {
		case fails:
			if ret.Result != fun.Failed || !strings.Contains(value.Str(ret.Comment), want) {
				t.Errorf("%s %s: %v %s", tt.name, tt.args, ret.Result, ret.Comment)
			}
			continue
		case strings.HasPrefix(tt.want, "unknown: "):
			if got := extra.Str(fun.PlanUnknown); !strings.Contains(got, tt.want[len("unknown: "):]) {
				t.Errorf("%s %s: unknown is %q", tt.name, tt.args, got)
			}
			continue
		}
		if got := value.Repr(extra.At(fun.PlanPackages)); got != tt.want {
			t.Errorf("%s %s:\n%s, want\n%s", tt.name, tt.args, got, tt.want)
		}
		if got := m.State("pkg."+tt.name, tt.args, true); got != plain {
			t.Errorf("%s %s: %s in a plan, %s in test mode", tt.name, tt.args, got, plain)
		}
		m.Env().Plan = false
		if ret := m.Ret("pkg."+tt.name, tt.args, true); ret.Extra.Has(fun.PlanKey) {
			t.Errorf("%s %s: test mode returns %s", tt.name, tt.args, value.Repr(ret.Extra))
		}
	}
}
