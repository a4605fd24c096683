package apkpkg_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/pkg/apkpkg"
	"brine/modules/pkg/resource"
	"brine/states/pkg"
)

type machine struct {
	*host.Fake
	rig *calltest.Rig
	foo string // what apk info -v says of foo-bar
}

// The outputs are in the form that apk(8) of apk-tools 2.14 documents.
func newMachine() *machine {
	m := &machine{Fake: host.NewFake(), foo: "foo-bar-1.0-r0"}
	m.PutExe("/sbin/apk")
	answer := func(pattern string, status int, stdout, stderr string) {
		m.OnCommand("apk "+pattern, host.Output{Status: status, Stdout: []byte(stdout), Stderr: []byte(stderr)})
	}
	m.HandleCommand("apk info -v", func(context.Context, host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte("WARNING: opening /x: No such file\nbusybox-1.36.1-r2\n" + m.foo + "\n")}, nil
	})
	answer("upgrade -s", 0, "(1/1) Upgrading foo-bar (1.0-r0 -> 1.1-r0)\nOK: 8 MiB in 15 packages\n", "")
	answer("search *", 0, "", "")
	answer("search new", 0, "new-0.9-r0\nnewer-2.0-r0\nnew-1.0-r1\n", "")
	answer("search busybox", 0, "busybox-1.36.1-r2\nbusybox-extras-1.36.1-r2\n", "")
	answer("info -L busybox", 0, "busybox-1.36.1-r2 contains:\nbin/busybox\netc/securetty\n\n", "")
	answer("info -L nope", 1, "", "ERROR: nope: no such package")
	answer("info -W /bin/busybox", 0, "/bin/busybox is owned by busybox-1.36.1-r2\n", "")
	answer("info -W /nope", 1, "", "ERROR: /nope: Could not find owner package")
	answer("update", 0, "OK: 20 distinct packages available\n", "")
	answer("add nope", 1, "", "ERROR: unable to select packages:\n  nope (no such package):\n    required by: world[nope]")
	for _, command := range []string{"add * foo-bar*", "upgrade", "del *foo-bar"} {
		m.HandleCommand("apk "+command, func(_ context.Context, c host.Cmd) (host.Output, error) {
			m.foo = "foo-bar-1.1-r0"
			if c.Argv[1] == "del" {
				m.foo = ""
			}
			return host.Output{}, nil
		})
	}
	m.rig = calltest.New(m.Fake, fun.Entry{Kind: fun.Exec, Name: "apkpkg", Virtual: "pkg", Load: apkpkg.Module},
		fun.Entry{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module}, fun.Entry{Kind: fun.State, Name: "pkg", Load: pkg.States})
	m.rig.Env.Grains = value.MapOf("os", "Alpine", "os_family", "Alpine", "osarch", "x86_64")
	return m
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step  calltest.Step
		calls []string
	}{
		{calltest.Step{"call pkg.list_pkgs", "{'busybox': '1.36.1-r2', 'foo-bar': '1.0-r0'}"}, nil},
		{calltest.Step{"call pkg.version [foo-bar]", "'1.0-r0'"}, nil},
		{calltest.Step{"call pkg.latest_version {refresh: false}", "''"}, nil},
		{calltest.Step{"call pkg.latest_version [foo-bar, new, busybox, nope]", "{'foo-bar': '1.1-r0', 'new': '1.0-r1', 'busybox': '', 'nope': ''}"}, []string{"update"}},
		{calltest.Step{"call pkg.list_upgrades {refresh: false}", "{'foo-bar': '1.1-r0'}"}, nil},
		{calltest.Step{"call pkg.refresh_db", "True"}, []string{"update"}},
		{calltest.Step{"call pkg.install [foo-bar]", "{'foo-bar': {'old': '1.0-r0', 'new': '1.1-r0'}}"}, []string{"add -u foo-bar"}},
		{calltest.Step{"call pkg.install {pkgs: [foo-bar: '>=1.1'], refresh: true}", "{'foo-bar': {'old': '1.0-r0', 'new': '1.1-r0'}}"}, []string{"update", "add -u foo-bar>=1.1"}},
		{calltest.Step{"call pkg.install [nope]", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - ERROR: unable to select packages:\n        nope (no such package):\n          required by: world[nope]"}, []string{"add nope"}},
		{calltest.Step{"call pkg.install ['--force']", "error: invalid package name '--force'"}, nil},
		{calltest.Step{"call pkg.remove", "error: no package to remove is named: give its name, or a list of names as pkgs"}, nil},
		{calltest.Step{"call pkg.purge {pkgs: []}", "error: no package to remove is named: give its name, or a list of names as pkgs"}, nil},
		{calltest.Step{"call pkg.remove [foo-bar]", "{'foo-bar': {'new': '', 'old': '1.0-r0'}}"}, []string{"del foo-bar"}},
		{calltest.Step{"call pkg.purge {pkgs: [foo-bar, nope]}", "{'foo-bar': {'new': '', 'old': '1.0-r0'}}"}, []string{"del --purge foo-bar"}},
		{calltest.Step{"call pkg.upgrade {refresh: false}", "{'changes': {'foo-bar': {'old': '1.0-r0', 'new': '1.1-r0'}}, 'result': True, 'comment': ''}"}, []string{"upgrade"}},
		{calltest.Step{"call pkg.file_dict [busybox, nope]", "{'errors': ['ERROR: nope: no such package'], 'packages': {'busybox': ['bin/busybox', 'etc/securetty']}}"}, nil},
		{calltest.Step{"call pkg.owner [/bin/busybox, /nope]", "{'/bin/busybox': 'busybox-1.36.1-r2', '/nope': 'Could not find owner package'}"}, nil},
		{calltest.Step{"call pkg.version_cmp [1.0_rc1, '1.0']", "-1"}, nil},
		{calltest.Step{"state pkg.uptodate {name: up}", "True: Upgrade ran successfully {'foo-bar': {'old': '1.0-r0', 'new': '1.1-r0'}}"}, []string{"upgrade"}},
		{calltest.Step{"test pkg.installed {name: new}", "None: The following packages would be installed/updated: new {'new': {'new': 'installed', 'old': ''}}"}, nil},
		{calltest.Step{"state pkg.latest {name: foo-bar}", "True: The following packages were successfully installed/upgraded: foo-bar {'foo-bar': {'old': '1.0-r0', 'new': '1.1-r0'}}"}, []string{"add -u foo-bar"}},
		{calltest.Step{"state pkg.removed {name: foo-bar}", "True: All targeted packages were removed. {'foo-bar': {'new': '', 'old': '1.0-r0'}}"}, []string{"del foo-bar"}},
	} {
		m := newMachine()
		m.rig.Steps(t, []calltest.Step{tt.step})
		var calls []string
		for _, c := range m.Calls() {
			if !c.ReadOnly {
				calls = append(calls, strings.TrimPrefix(strings.Join(c.Argv, " "), "apk "))
			}
		}
		if diff := cmp.Diff(tt.calls, calls); diff != "" {
			t.Errorf("%s: %s", tt.step[0], diff)
		}
	}
}
