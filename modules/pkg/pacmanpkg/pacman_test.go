package pacmanpkg_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/pkg/pacmanpkg"
	"brine/modules/pkg/resource"
	"brine/states/pkg"
)

type machine struct {
	*host.Fake
	rig  *calltest.Rig
	have []string // lines of pacman -Q
}

// The outputs are those of pacman 6.0.2 on Debian 12.
func newMachine() *machine {
	m := &machine{Fake: host.NewFake(), have: []string{"epo 1:2.0-1", "foo 1.0-1"}}
	m.PutExe("/usr/bin/pacman")
	answer := func(pattern string, status int, stdout, stderr string) {
		m.OnCommand("pacman "+pattern, host.Output{Status: status, Stdout: []byte(stdout), Stderr: []byte(stderr)})
	}
	m.HandleCommand("pacman -Q", func(context.Context, host.Cmd) (host.Output, error) {
		return host.Output{Stdout: []byte(strings.Join(m.have, "\n") + "\n")}, nil
	})
	answer("-Sp --needed --print-format %n %v *nope*", 1, "", "error: target not found: nope\n")
	answer("-Sp --needed --print-format %n %v foo", 0, "foo 2.0-1\n", "")
	answer("-Sp --needed --print-format %n %v epo", 0, "", "warning: epo-1:2.0-1 is up to date -- skipping\n")
	answer("-S -p -u --print-format %n %v", 0, ":: Starting full system upgrade...\nfoo 2.0-1\n", "")
	answer("-Sl", 0, "test bar 1.0-1\ntest epo 1:2.0-1 [installed]\ntest foo 2.0-1 [installed: 1.0-1]\nextra foo 1.5-1\n", "")
	answer("-Sgg", 0, "grp ga\ngrp gb\nwhole gc\nother gd\n", "")
	answer("-Sgg grp", 0, "grp ga\ngrp gb\n", "")
	answer("-Sgg nope", 1, "", "")
	answer("-Qg", 0, "grp ga\nwhole gc\n", "")
	answer("-Ql foo nope", 1, "foo /opt/\nfoo /opt/a b\n", "error: package 'nope' was not found\n")
	answer("-Qqo /opt/foo", 0, "foo\n", "")
	answer("-Qqo /nope", 1, "", "error: failed to read file '/nope': No such file or directory\n")
	answer("-Sy", 0, ":: Synchronizing package databases...\n test downloading...\n core is up to date\n", "")
	answer("-R --noprogressbar --noconfirm epo", 1, "checking dependencies...\n:: removing epo breaks dependency 'epo' required by bar\n", "error: failed to prepare transaction (could not satisfy dependencies)\n")
	for _, command := range []string{"-S *foo*", "-Su*", "-R* foo"} {
		m.HandleCommand("pacman "+command, func(_ context.Context, c host.Cmd) (host.Output, error) {
			if slices.Contains(c.Argv, "--print-format") {
				return host.Output{Stdout: []byte("foo 2.0-1\n")}, nil
			}
			m.have = m.have[:1]
			if !strings.HasPrefix(c.Argv[1], "-R") {
				m.have = append(m.have, "foo 2.0-1")
			}
			return host.Output{}, nil
		})
	}
	m.rig = calltest.New(m.Fake, fun.Entry{Kind: fun.Exec, Name: "pacmanpkg", Virtual: "pkg", Load: pacmanpkg.Module},
		fun.Entry{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module}, fun.Entry{Kind: fun.State, Name: "pkg", Load: pkg.States})
	m.rig.Env.Grains = value.MapOf("os", "Arch", "os_family", "Arch", "osarch", "x86_64")
	return m
}

func TestQueries(t *testing.T) {
	t.Parallel()
	newMachine().rig.Steps(t, []calltest.Step{
		{"call pkg.list_pkgs", "{'epo': '1:2.0-1', 'foo': '1.0-1'}"},
		{"call pkg.version [foo, nope]", "{'foo': '1.0-1', 'nope': ''}"},
		{"call pkg.latest_version [epo]", "''"},
		{"call pkg.latest_version [foo, nope]", "{'foo': '2.0-1', 'nope': ''}"},
		{"call pkg.upgrade_available [foo]", "True"},
		{"call pkg.list_upgrades", "{'foo': '2.0-1'}"},
		{"call pkg.refresh_db", "{'test': True, 'core': False}"},
		{"call pkg.list_repo_pkgs ['f*']", "{'foo': ['2.0-1', '1.5-1']}"},
		{"call pkg.list_repo_pkgs {byrepo: true, fromrepo: extra}", "{'extra': {'foo': ['1.5-1']}}"},
		{"call pkg.group_list", "{'installed': ['whole'], 'partially_installed': ['grp'], 'available': ['other']}"},
		{"call pkg.group_info [grp]", "{'mandatory': [], 'optional': [], 'default': ['ga', 'gb'], 'conditional': []}"},
		{"call pkg.group_info [nope]", "error: Group 'nope' not found"},
		{"call pkg.file_list [foo, nope]", "{'errors': [\"error: package 'nope' was not found\"], 'files': ['/opt/', '/opt/a b']}"},
		{"call pkg.file_dict [foo, nope]", "{'errors': [\"error: package 'nope' was not found\"], 'packages': {'foo': ['/opt/', '/opt/a b']}}"},
		{"call pkg.owner [/opt/foo, /nope]", "{'/opt/foo': 'foo', '/nope': ''}"},
		{"call pkg.version_cmp ['1.0a', '1.0']", "-1"},
	})
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const flags = "--noprogressbar --noconfirm "
	for _, tt := range []struct {
		call, want string
		calls      []string
	}{
		{"call pkg.install [foo]", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"pacman -S " + flags + "--needed foo"}},
		{"call pkg.install {name: foo, refresh: true}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"pacman -S -y -u " + flags + "--needed foo"}},
		{"call pkg.install {name: foo, refresh: true, sysupgrade: false, version: '2.*'}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"pacman -Sy", "pacman -S " + flags + "--needed foo=2.0-1"}},
		{"call pkg.install {pkgs: [foo: '>=2.0']}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"pacman -S " + flags + "--needed foo>=2.0"}},
		{"call pkg.install {pkgs: [foo: '3*']}", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - No version matching '3*' found for package 'foo' (available: 2.0-1, 1.5-1)", nil},
		{"call pkg.install {pkgs: [foo: '>3*']}", "error: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - Invalid wildcard for foo>3*", nil},
		{"call pkg.install ['-Rsc']", "error: invalid package name '-Rsc'", nil},
		{"call pkg.remove", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.purge {pkgs: []}", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.remove ['foo,nope']", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"pacman -R " + flags + "foo"}},
		{"call pkg.remove [epo]", "error: Problem encountered removing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - error: failed to prepare transaction (could not satisfy dependencies)\n      :: removing epo breaks dependency 'epo' required by bar", []string{"pacman -R " + flags + "epo"}},
		{"call pkg.purge [foo]", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"pacman -Rsc " + flags + "foo"}},
		{"call pkg.upgrade", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"pacman -Su " + strings.TrimSpace(flags)}},
	} {
		m := newMachine()
		m.rig.Steps(t, []calltest.Step{{tt.call, tt.want}})
		var calls []string
		for _, c := range m.Calls() {
			if !c.ReadOnly {
				calls = append(calls, strings.Join(c.Argv, " "))
			}
		}
		if diff := cmp.Diff(tt.calls, calls); diff != "" {
			t.Errorf("%s: %s", tt.call, diff)
		}
	}
}

// The lock of a pacman that runs is waited for; one that was left behind is not.
func TestLock(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		m := newMachine()
		if running {
			m.PutFile("/proc/77/comm", "pacman\n", 0o444)
		}
		n := 0
		m.HandleCommand("pacman -R *", func(context.Context, host.Cmd) (host.Output, error) {
			if n++; n < 3 {
				return host.Output{Status: 1, Stderr: []byte("error: failed to init transaction (unable to lock database)\n")}, nil
			}
			m.have = m.have[:1]
			return host.Output{}, nil
		})
		got := m.rig.Fn(t, "pkg.remove", "[foo]")
		if running && got != "{'foo': {'new': '', 'old': '1.0-1'}}" || !running && (n != 1 || !strings.Contains(got, "unable to lock database")) {
			t.Errorf("running %v: %s after %d runs", running, got, n)
		}
	}
}
