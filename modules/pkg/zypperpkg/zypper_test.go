package zypperpkg_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/pkg/resource"
	"brine/modules/pkg/zypperpkg"
	"brine/states/pkg"
)

const found = `<?xml version='1.0'?>
<stream>
<message type="info">Loading repository data...</message>
<search-result version="0.0">
<solvable-list>
<solvable status="installed" name="foo" kind="package" edition="1.0-1" arch="noarch" repository="(System Packages)"/>
<solvable status="not-installed" name="foo" kind="package" edition="2.0-1" arch="noarch" repository="One &amp; &quot;only&quot;"/>
<solvable status="not-installed" name="foo" kind="package" edition="1.1-1" arch="noarch" repository="One &amp; &quot;only&quot;"/>
<solvable status="not-installed" name="foobar" kind="package" edition="1.0-1" arch="noarch" repository="One &amp; &quot;only&quot;"/>
</solvable-list>
</search-result>
</stream>
`

const about = `Loading repository data...
Reading installed packages...


Information for package foo:
----------------------------
Repository     : One
Name           : foo
Version        : 2.0-1
Arch           : noarch
Vendor         : 
Installed Size : 13 B
Installed      : Yes
Status         : out-of-date (version 1.0-1 installed)
Summary        : Test package foo
Description    : 
    A package for tests.
    It has two paragraphs: name: x.


package 'nope' not found.
`

type machine struct {
	*host.Fake
	rig  *calltest.Rig
	have string // the version of foo, "" where it is not installed
}

// The outputs are those of zypper 1.14.42 and rpm 4.18 on Debian 12.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{Fake: host.NewFake(), have: "1.0"}
	m.PutExe("/usr/bin/zypper")
	m.PutFile("/etc/zypp/repos.d/one.repo", "[one]\nname=One\nenabled=1\nautorefresh=0\nbaseurl=dir:///srv/one\nmirrorlist=NONE\n", 0o644)
	m.HandleCommand("rpm -qa --queryformat %{NAME}*", func(context.Context, host.Cmd) (host.Output, error) {
		text := "gpg-pubkey_|-(none)_|-a_|-b_|-(none)_|-1\nzypper_|-(none)_|-1.14.42_|-2_|-x86_64_|-1700000000\n"
		if m.have != "" {
			text += "foo_|-(none)_|-" + m.have + "_|-1_|-noarch_|-1700000000\n"
		}
		return host.Output{Stdout: []byte(text)}, nil
	})
	answer := func(pattern string, status int, stdout string) {
		m.OnCommand("zypper --non-interactive "+pattern, host.Output{Status: status, Stdout: []byte(stdout)})
	}
	m.OnCommand("rpm -q --queryformat *--whatprovides ptf()", host.Output{Status: 1})
	m.OnCommand("rpm -q --provides --whatprovides pattern()", host.Output{Stdout: []byte("pattern() = base\npattern() = .alias\nother\n")})
	m.OnCommand("rpm -qa --queryformat [%{PROVIDES}*", host.Output{Stdout: []byte("capability_|-foo\nfoo_|-foo\n")})
	answer("*", 0, "<stream/>")
	answer("refresh*", 0, "Forcing raw metadata refresh\nBuilding repository 'One' cache [....done]\nRepository 'Two' is up to date.\n")
	answer("--xmlout --no-refresh se -s*", 0, found)
	answer("--xmlout --no-refresh se -v foo", 0, found)
	answer("--xmlout --no-refresh se -v none", 104, "<stream><message type=\"error\">No matching items found.</message></stream>")
	answer("--xmlout --no-refresh search*", 104, "<stream/>")
	answer("--xmlout --no-refresh search* foo", 0, found)
	answer("--xmlout --no-refresh search*--provides capability", 0, `<stream><solvable name="foo"/></stream>`)
	answer("--xmlout --no-refresh list-updates*", 0, `<stream><update-list><update kind="package" name="foo" edition="2.0-1"><summary>x</summary></update><update kind="patch" name="p" edition="1"/></update-list></stream>`)
	answer("--no-refresh info -t package*", 104, about)
	answer("--no-refresh install*nope", 104, "Package 'nope' not found.")
	install := func(_ context.Context, c host.Cmd) (host.Output, error) {
		switch words := strings.Join(c.Argv, " "); {
		case strings.Contains(words, " remove "):
			m.have = ""
		case strings.HasSuffix(words, "foo=0.9-1") && !strings.Contains(words, "--force"):
			return host.Output{Stdout: []byte("The selected package 'foo=0.9-1' from repository 'One' has lower version than the installed one.\n")}, nil
		case strings.HasSuffix(words, "foo=0.9-1"):
			m.have = "0.9"
		case strings.HasSuffix(words, "foo=1.1-1"):
			m.have = "1.1"
		default:
			m.have = "2.0"
		}
		return host.Output{}, nil
	}
	for _, command := range []string{"install* foo*", "remove foo*", "update*"} {
		m.HandleCommand("zypper --non-interactive --no-refresh "+command, install)
	}
	m.rig = calltest.New(m.Fake, fun.Entry{Kind: fun.Exec, Name: "zypperpkg", Virtual: "pkg", Load: zypperpkg.Module},
		fun.Entry{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module}, fun.Entry{Kind: fun.State, Name: "pkg", Load: pkg.States})
	m.rig.Env.Grains = value.MapOf("os", "SUSE", "os_family", "Suse", "osarch", "x86_64")
	return m
}

// The values are those of Salt 3006 beside zypper 1.14.42, for packages like these.
func TestQueries(t *testing.T) {
	t.Parallel()
	newMachine(t).rig.Steps(t, []calltest.Step{
		{"call pkg.list_pkgs", "{'zypper': '1.14.42-2', 'foo': '1.0-1'}"},
		{"call pkg.latest_version [foo, nope]", "{'foo': '2.0-1', 'nope': ''}"},
		{"call pkg.upgrade_available [foo]", "True"},
		{"call pkg.info_available [foo]", "{'foo': {'repository': 'One', 'version': '2.0-1', 'arch': 'noarch', 'installed size': '13 B', 'installed': True, 'status': 'out-of-date (version 1.0-1 installed)', 'summary': 'Test package foo'}}"},
		{"call pkg.list_upgrades", "{'foo': '2.0-1'}"},
		{"call pkg.refresh_db", "{'One': True, 'Two': False}"},
		{"call pkg.list_repo_pkgs {byrepo: true, fromrepo: 'One & \"only\"'}", "{'One & \"only\"': {'foo': ['2.0-1', '1.1-1'], 'foobar': ['1.0-1']}}"},
		{"call pkg.list_repo_pkgs [foo]", "{'foo': ['2.0-1', '1.1-1', '1.0-1']}"},
		{"call pkg.search [zzz]", "error: No packages found matching 'zzz'"},
		{"call pkg.resolve_capabilities {pkgs: [foo, capability: '1', nothing], resolve_capabilities: true}", "['foo', {'foo': '1'}, 'nothing']"},
		{"call pkg.resolve_capabilities {pkgs: [capability]}", "['capability']"},
		{"call pkg.list_provides", "{'capability': ['foo']}"},
		{"call pkg.list_installed_patterns", "{'base': {'installed': True, 'summary': 'Non-visible pattern'}}"},
		{"call pkg.list_repos", "{'one': {'name': 'One', 'enabled': True, 'autorefresh': False, 'baseurl': 'dir:///srv/one', 'mirrorlist': None, 'alias': 'one'}}"},
		{"call pkg.mod_repo {repo: two}", "error: Repository 'two' not found, and neither 'baseurl' nor 'mirrorlist' was specified"},
		{"call pkg.mod_repo {repo: two, url: 'dir:///srv/one'}", "error: Repository 'two' already exists as 'one'."},
		{"call pkg.mod_repo {repo: two, url: nonsense}", "error: Repository 'two' not found and URL for baseurl/mirrorlist is malformed"},
		{"call pkg.del_repo [two]", "error: Repository 'two' not found."},
	})
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const prefix = "zypper --non-interactive --no-refresh install --auto-agree-with-licenses "
	for _, tt := range []struct {
		call, want string
		calls      []string
	}{
		{"call pkg.install [foo]", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{prefix + "--name foo"}},
		{"call pkg.install {name: foo, version: '1.1*'}", "{'foo': {'old': '1.0-1', 'new': '1.1-1'}}", []string{prefix + "--name foo=1.1-1"}},
		{"call pkg.install {pkgs: [foo: '0.9-1']}", "{'foo': {'old': '1.0-1', 'new': '0.9-1'}}", []string{prefix + "--name foo=0.9-1", prefix + "--name --force foo=0.9-1"}},
		{"call pkg.install {name: foo, version: '!=1'}", "error: Zypper do not supports operator \"!=\".", nil},
		{"call pkg.install {name: none, version: '1*'}", "error: No packages found matching 'none'", nil},
		{"call pkg.install [nope]", "error: Zypper command failure: Package 'nope' not found.", []string{prefix + "--name nope"}},
		{"call pkg.install {name: foo, fromrepo: one, resolve_capabilities: true, no_recommends: true, skip_verify: true, allowvendorchange: true}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"zypper --non-interactive --no-gpg-checks --no-refresh install --allow-vendor-change --auto-agree-with-licenses --capability --force --force-resolution --from one --no-recommends foo"}},
		{"call pkg.remove {pkgs: [foo: '1.0-1', nope: ]}", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"zypper --non-interactive --no-refresh remove foo-1.0-1"}},
		{"call pkg.remove", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.purge {pkgs: []}", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.remove [nope]", "{}", nil},
		{"call pkg.upgrade {refresh: false}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"zypper --non-interactive --no-refresh update --auto-agree-with-licenses"}},
	} {
		m := newMachine(t)
		m.OnCommand("zypper --non-interactive --no-gpg-checks *", host.Output{})
		if strings.Contains(tt.call, "skip_verify") {
			m.HandleCommand("zypper --non-interactive --no-gpg-checks *", func(context.Context, host.Cmd) (host.Output, error) {
				m.have = "2.0"
				return host.Output{}, nil
			})
		}
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

func TestHolds(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.PutFile("/etc/zypp/locks", "\ntype: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: foo\n\ntype: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: epo\nversion: == 1:1.0-1\n\n", 0o644)
	m.OnCommand("rpm -q --queryformat name: *", host.Output{Stdout: []byte("name: foo\nedition: 1.0-1\n\n\x1d\n")})
	m.rig.Steps(t, []calltest.Step{
		{"call pkg.list_locks", "{'foo': {'type': 'package', 'match_type': 'glob', 'case_sensitive': 'on'}, 'epo': {'type': 'package', 'match_type': 'glob', 'case_sensitive': 'on', 'version': '== 1:1.0-1'}}"},
		{"call pkg.list_holds", "['foo-0:1.0-1.*']"},
		{"call pkg.hold {pkgs: [foo, new: '1']}", "{'foo': {'name': 'foo', 'changes': {}, 'result': True, 'comment': 'Package foo is already set to be held.'}, 'new': {'name': 'new', 'changes': {'new': 'hold', 'old': ''}, 'result': True, 'comment': 'Package new is now being held.'}}"},
		{"call pkg.unhold {pkgs: [epo: '2']}", "{'epo': {'name': 'epo', 'changes': {}, 'result': False, 'comment': 'Unable to unhold package epo as it is held with the other version.'}}"},
		{"call pkg.unhold [nope]", "{'nope': {'name': 'nope', 'changes': {}, 'result': True, 'comment': 'Package nope was already unheld.'}}"},
		{"call pkg.hold", "error: Name or packages must be specified."},
	})
	calls := m.Calls()
	if got := strings.Join(calls[len(calls)-1].Argv, " "); got != "zypper --non-interactive --no-refresh al new=1" {
		t.Error(got)
	}
}

// A lock is waited for, and its holder named.
func TestLock(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	n := 0
	m.HandleCommand("zypper --non-interactive --no-refresh remove foo", func(context.Context, host.Cmd) (host.Output, error) {
		if n++; n < 3 {
			return host.Output{Status: 7, Stderr: []byte("System management is locked by the application with pid 77 (zypper).\nClose this application before trying again.\n")}, nil
		}
		m.have = ""
		return host.Output{}, nil
	})
	var warned string
	m.rig.Env.OnWarn = func(w fun.Warning) { warned += w.Text }
	if got, want := m.rig.Fn(t, "pkg.remove", "[foo]"), "{'foo': {'new': '', 'old': '1.0-1'}}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !strings.HasPrefix(warned, "System management is locked by the application with pid 77 (zypper); waiting for up to 15m") {
		t.Error(warned)
	}
}
