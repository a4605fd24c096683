package yumpkg_test

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
	"brine/modules/pkg/resource"
	"brine/modules/pkg/rpm"
	"brine/modules/pkg/yumpkg"
	"brine/states/pkg"
)

// A machine has dnf and rpm as far as the tests need them; have are installed
// packages: name and version.
type machine struct {
	*host.Fake
	*calltest.Rig
	have [][2]string
}

const comps = `Last metadata expiration check: 0:00:01 ago on Sun Nov 22 16:06:29 2026.
Group: Test Tools
 Description: Tools for tests
 Mandatory Packages:
   grp-a
 Default Packages:
   grp-b
 Optional Packages:
   grp-c
`

// The outputs are those of dnf 4.14 and rpm 4.18 on Debian 12.
func newMachine(t *testing.T, programs ...string) *machine {
	t.Helper()
	m := &machine{Fake: host.NewFake(), have: [][2]string{{"foo", "1.0-1"}, {"epo", "1:1.0-1"}}}
	_ = m.Setenv("PATH", "/usr/bin")
	for _, p := range append(programs, "rpm") {
		m.PutExe("/usr/bin/" + p)
	}
	m.PutFile("/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\n", 0o644)
	m.PutFile("/etc/yum.repos.d/test.repo", "# header\n[one]\nname=One\n# about\nbaseurl=file:///srv/one\nenabled=1\n\n[two]\nname=Two\nbaseurl=file:///srv/two\nenabled=0\n", 0o644)
	m.HandleCommand("rpm -qa *", func(context.Context, host.Cmd) (host.Output, error) {
		var b strings.Builder
		for _, p := range m.have {
			epoch, evr, ok := strings.Cut(p[1], ":")
			if !ok {
				epoch, evr = "(none)", p[1]
			}
			b.WriteString(p[0] + "_|-" + epoch + "_|-" + strings.Replace(evr, "-", "_|-", 1) + "_|-noarch_|-1700000000\n")
		}
		return host.Output{Stdout: []byte(b.String())}, nil
	})
	answer := func(pattern string, status int, stdout, stderr string) {
		m.OnCommand(pattern, host.Output{Status: status, Stdout: []byte(stdout), Stderr: []byte(stderr)})
	}
	for _, p := range programs {
		answer(p+" *", 1, "", "Error: unexpected question")
		answer(p+" --quiet * list *available*", 0, "Available Packages\nepo.noarch  1:2.0-1  one\nfoo.noarch  2.0-1  one\nvery-long-name-of-a-package.noarch\n            1.0-1  one\n", "")
		answer(p+" --quiet list *available*", 0, "Available Packages\nepo.noarch  1:2.0-1  one\nfoo.noarch  2.0-1  one\n", "")
		answer(p+" --quiet list *upgrades", 0, "Available Upgrades\nfoo.noarch  2.0-1  one\n", "")
		answer(p+" --quiet list updates", 0, "Updated Packages\nfoo.noarch  2.0-1  one\n", "")
		answer(p+" --quiet --disablerepo=[*] --enablerepo=one list --showduplicates*", 0, "", "")
		answer(p+" --quiet * list --showduplicates*", 0, "Installed Packages\nfoo.noarch  1.0-1  @System\nAvailable Packages\nfoo.noarch  1.0-1  one\nfoo.noarch  1.1-1  one\nfoo.noarch  2.0-1  one\nfoo.noarch  3.0-1  two\n", "")
		answer(p+" --quiet --assumeyes clean expire-cache*", 0, "", "")
		answer(p+" --assumeyes check-update*", 100, "foo.noarch  2.0-1  one\n", "")
		answer(p+" --quiet groupinfo *", 0, strings.SplitN(comps, "\n", 2)[1], "")
		answer(p+" --quiet groupinfo nope", 1, "", "Error: No groups matched.")
		answer(p+" --quiet updateinfo list all", 0, "i RHSA-2024:1 Important/Sec. foo-1.0-1.noarch\n  RHSA-2024:2 Moderate/Sec. foo-2.0-1.noarch\ni RHSA-2024:2 Moderate/Sec. epo-2.0-1.noarch\n", "")
		answer(p+" versionlock list", 0, "Last metadata expiration check: 0:00:01 ago on 2026-11-22.\nepo-1:1.0-1.*\n", "")
		answer(p+" versionlock *o", 0, "Adding versionlock on: foo-0:1.0-1.*\n", "")
		answer(p+" versionlock nope", 1, "", "No package found for: nope")
		for _, command := range []string{"install", "upgrade", "downgrade", "remove", "update"} {
			m.HandleCommand(p+" *"+command+" *", m.transact)
		}
		m.HandleCommand(p+" *upgrade", m.transact)
	}
	m.Rig = calltest.New(locks{m.Fake}, fun.Entry{Kind: fun.Exec, Name: "yumpkg", Virtual: "pkg", Load: yumpkg.Module}, fun.Entry{Kind: fun.Exec, Name: "rpm_lowpkg", Virtual: "lowpkg", Load: rpm.Module},
		fun.Entry{Kind: fun.Exec, Name: "pkg_resource", Load: resource.Module}, fun.Entry{Kind: fun.State, Name: "pkg", Load: pkg.States})
	m.Rig.Env.Grains = value.MapOf("os", "Fedora", "os_family", "RedHat", "osarch", "x86_64", "osmajorrelease", int64(38))
	return m
}

// locks takes the option about locks, which is the same everywhere, out of the
// command lines, so that tables need not have it.
type locks struct{ *host.Fake }

const exitOnLock = "--setopt=exit_on_lock=True"

func (h locks) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	c.Argv = slices.DeleteFunc(slices.Clone(c.Argv), func(w string) bool { return w == exitOnLock })
	return h.Fake.Run(ctx, c)
}

// TestLock waits for a lock that another program has, and names the program.
func TestLock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ program, said, want string }{
		{"dnf", "metadata already locked by 62\n  The application with PID 62 is: sleep\n    Memory : 1.8 M RSS (2.9 MB VSZ)\n", "metadata already locked by 62: The application with PID 62 is: sleep"},
		{"yum", "Existing lock /var/run/yum.pid: another copy is running as pid 62.\n", "Existing lock /var/run/yum.pid: another copy is running as pid 62"},
		{"dnf5", "error: can't create transaction lock on /usr/lib/sysimage/rpm/.rpm.lock (Resource temporarily unavailable)\n", "can't create transaction lock on /usr/lib/sysimage/rpm/.rpm.lock (Resource temporarily unavailable), held by process 62 (dnf5)"},
	} {
		m := newMachine(t, tt.program)
		m.PutFile("/proc/locks", "1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n2: POSIX  ADVISORY  WRITE 62 fe:00:131 0 EOF\n2: -> POSIX  ADVISORY  WRITE 63 fe:00:131 0 EOF\n", 0o444)
		m.PutFile("/proc/62/comm", "dnf5\n", 0o444)
		m.PutLink("/proc/62/fd/3", "/usr/lib/sysimage/rpm/.rpm.lock")
		busy, asked := 3, 0
		m.HandleCommand(tt.program+" *remove *", func(ctx context.Context, c host.Cmd) (host.Output, error) {
			if busy--; busy >= 0 {
				return host.Output{Status: 200, Stderr: []byte(tt.said)}, nil
			}
			return m.transact(ctx, c)
		})
		m.Rig.Env.Host = &watched{locks{m.Fake}, func(c host.Cmd) {
			if slices.Contains(c.Argv, exitOnLock) != (tt.program != "dnf5") && c.Argv[0] == tt.program {
				asked++
			}
		}}
		var said []string
		m.Rig.Env.OnWarn = func(w fun.Warning) { said = append(said, w.Text) }
		if got := m.Fn(t, "pkg.remove", "[foo]"); got != "{'foo': {'new': '', 'old': '1.0-1'}}" {
			t.Errorf("%s: %s", tt.program, got)
		}
		if len(said) != 1 || said[0] != tt.want+"; waiting for up to 15m0s (option pkg.lock_timeout)" {
			t.Errorf("%s warned %q, want %q", tt.program, said, tt.want)
		}
		if asked > 0 {
			t.Errorf("%s was run %d times so that it may wait without end", tt.program, asked)
		}
	}
}

// watched shows every command line to see.
type watched struct {
	locks
	see func(host.Cmd)
}

func (w *watched) Run(ctx context.Context, c host.Cmd) (host.Output, error) {
	w.see(c)
	return w.locks.Run(ctx, c)
}

// transact installs, upgrades or removes foo, and knows nothing else.
func (m *machine) transact(_ context.Context, c host.Cmd) (host.Output, error) {
	last := c.Argv[len(c.Argv)-1]
	switch {
	case strings.HasPrefix(last, "nope") || last == "foo-7":
		return host.Output{Status: 1, Stdout: []byte("No match for argument: " + last + "\nError: Unable to find a match: " + last + "\n")}, nil
	case slices.Contains(c.Argv, "remove"):
		m.have = slices.DeleteFunc(m.have, func(p [2]string) bool { return p[0] == strings.SplitN(last, "-", 2)[0] })
	case last == "upgrade" || last == "foo":
		m.have[0][1] = "2.0-1"
	case strings.HasPrefix(last, "foo-"):
		m.have[0][1] = strings.TrimPrefix(last, "foo-")
	case last == "grp-b":
		m.have = append(m.have, [2]string{"grp-a", "1.0-1"}, [2]string{"grp-b", "1.0-1"})
	}
	return host.Output{}, nil
}

// changes are the commands that may have changed the machine.
func (m *machine) changes() []string {
	var list []string
	for _, c := range m.Calls() {
		if !c.ReadOnly {
			list = append(list, strings.Join(c.Argv, " "))
		}
	}
	return list
}

// The values are those of Salt 3006 beside dnf 4.14, for packages like these.
func TestQueries(t *testing.T) {
	t.Parallel()
	newMachine(t, "dnf").Steps(t, []calltest.Step{
		{"call pkg.list_pkgs", "{'foo': '1.0-1', 'epo': '1:1.0-1'}"},
		{"call pkg.list_pkgs [true]", "{'foo': ['1.0-1'], 'epo': ['1:1.0-1']}"},
		{"call pkg.list_pkgs {removed: true}", "{}"},
		{"call pkg.list_pkgs {attr: 'version,arch'}", "{'foo': [{'version': '1.0', 'arch': 'noarch'}], 'epo': [{'version': '1.0', 'arch': 'noarch'}]}"},
		{"call pkg.version [foo, nope]", "{'foo': '1.0-1', 'nope': ''}"},
		{"call pkg.latest_version [foo]", "'2.0-1'"},
		{"call pkg.latest_version [foo, epo, nope]", "{'foo': '2.0-1', 'epo': '1:2.0-1', 'nope': ''}"},
		{"call pkg.latest_version [--x]", "error: invalid package name '--x'"},
		{"call pkg.upgrade_available [foo]", "True"},
		{"call pkg.list_upgrades", "{'foo': '2.0-1'}"},
		{"call pkg.list_repo_pkgs [foo]", "{'foo': ['2.0-1', '1.1-1', '1.0-1']}"},
		{"call pkg.list_repo_pkgs {byrepo: true, fromrepo: two}", "{'two': {'foo': ['3.0-1']}}"},
		{"call pkg.list_repo_pkgs {byrepo: true, repo: two}", "{'two': {'foo': ['3.0-1']}}"},
		{"call pkg.refresh_db", "True"},
		{"call pkg.list_patches", "{'RHSA-2024:1': {'installed': True, 'summary': ['foo-1.0-1.noarch']}, 'RHSA-2024:2': {'installed': False, 'summary': ['foo-2.0-1.noarch', 'epo-2.0-1.noarch']}}"},
		{"call pkg.list_installed_patches", "{'RHSA-2024:1': {'installed': True, 'summary': ['foo-1.0-1.noarch']}}"},
		{"call pkg.list_holds", "error: Cannot proceed, python3-dnf-plugin-versionlock is not installed."},
		{"call pkg.group_info [Test Tools]", "{'type': 'package group', 'group': 'Test Tools', 'id': None, 'description': 'Tools for tests', 'mandatory': ['grp-a'], 'optional': ['grp-c'], 'default': ['grp-b'], 'conditional': []}"},
		{"call pkg.group_info [nope]", "error: Group 'nope' not found"},
		{"call pkg.group_diff [Test Tools]", "{'mandatory': {'installed': [], 'not installed': ['grp-a']}, 'optional': {'installed': [], 'not installed': ['grp-c']}, 'default': {'installed': [], 'not installed': ['grp-b']}, 'conditional': {'installed': [], 'not installed': []}}"},
		{"call pkg.version_cmp ['1.0~rc1', '1.0']", "-1"},
		{"call pkg.services_need_restart", "error: systemd is required to list outdated services."},
	})
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "dnf")
	m.Steps(t, []calltest.Step{
		{"call pkg.get_repo [one]", "{'name': 'One', 'baseurl': 'file:///srv/one', 'enabled': '1', 'comments': ['about']}"},
		{"call pkg.get_repo [nope]", "{}"},
		{"call pkg.mod_repo {repo: new, name: New}", "error: The repo does not exist and needs to be created, but either a baseurl or a mirrorlist needs to be given"},
		{"call pkg.mod_repo {repo: ../new, name: New, baseurl: x}", "error: invalid name of a repository: '../new'"},
		{"call pkg.mod_repo {repo: new, name: New, baseurl: 'http://x', mirrorlist: 'http://y'}", "error: Only one of 'mirrorlist' and 'baseurl' can be specified"},
		{"call pkg.mod_repo {repo: new, name: New, baseurl: 'http://x', gpgcheck: true, enabled: 0}", "{'/etc/yum.repos.d/new.repo': {'new': {'name': 'New', 'baseurl': 'http://x', 'gpgcheck': True, 'enabled': 0}}}"},
		{"call pkg.get_repo [new]", "{'name': 'New', 'baseurl': 'http://x', 'gpgcheck': '1', 'enabled': '0'}"},
		{"call pkg.mod_repo {repo: new, baseurl: ''}", "error: Cannot delete baseurl without specifying mirrorlist"},
		{"call pkg.mod_repo {repo: new, name: ''}", "error: The repo name cannot be deleted"},
		{"call pkg.mod_repo {repo: new, \"evil\\n[x]\": '1'}", "error: invalid option of a repository: 'evil\\n[x]'"},
		{"call pkg.mod_repo {repo: two, enabled: true}", "{'/etc/yum.repos.d/test.repo': {'one': {'name': 'One', 'baseurl': 'file:///srv/one', 'enabled': '1'}, 'two': {'name': 'Two', 'baseurl': 'file:///srv/two', 'enabled': True}}}"},
		{"call pkg.del_repo [two]", "'Repo two has been removed from /etc/yum.repos.d/test.repo'"},
		{"call pkg.del_repo [new]", "'File /etc/yum.repos.d/new.repo containing repo new has been removed'"},
		{"call pkg.del_repo [new]", "\"Error: the new repo does not exist in ['/etc/yum/repos.d', '/etc/yum.repos.d']\""},
	})
	text, err := m.ReadFile("/etc/yum.repos.d/test.repo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("# header\n[one]\nname=One\nbaseurl=file:///srv/one\nenabled=1\n# about\n\n", string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	const common = "dnf -y --best --allowerasing "
	for _, tt := range []struct {
		call, want string
		calls      []string
	}{
		{"call pkg.install [foo]", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{common + "install foo"}},
		{"call pkg.install {name: foo, version: '>=1.1,<2'}", "{'foo': {'old': '1.0-1', 'new': '1.1-1'}}", []string{common + "install foo-1.1-1"}},
		{"call pkg.install {name: foo, version: '1.1*'}", "{'foo': {'old': '1.0-1', 'new': '1.1-1'}}", []string{common + "install foo-1.1-1"}},
		{"call pkg.install {name: foo, version: 0.9-1}", "{'foo': {'old': '1.0-1', 'new': '0.9-1'}}", []string{"dnf -y downgrade foo-0.9-1"}},
		{"call pkg.install {name: foo, version: '>9'}", "error: Error occurred installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - No version matching 'foo>9' could be found (available: 2.0-1, 1.1-1, 1.0-1)", nil},
		{"call pkg.install {pkgs: [epo: '1.0-1'], reinstall: true}", "{'epo': {'old': '1:1.0-1', 'new': '1:1.0-1'}}", []string{"dnf -y reinstall epo-1.0-1"}},
		{"call pkg.install {name: foo, fromrepo: two, skip_verify: true, setopt: 'a=1,b=2'}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{common + "--disablerepo=* --enablerepo=two --setopt a=1 --setopt b=2 --nogpgcheck install foo"}},
		{"call pkg.install [--assumeno]", "error: invalid package name '--assumeno'", nil},
		{"call pkg.install [nope]", "error: Error occurred installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - No match for argument: nope\n      Error: Unable to find a match: nope", []string{common + "install nope"}},
		{"call pkg.install {name: x, advisory_ids: ['RHSA-2024:9']}", `error: Advisory id "RHSA-2024:9" not found`, nil},
		{"call pkg.install {name: x, advisory_ids: ['RHSA-2024:2']}", "{}", []string{common + "update --advisory=RHSA-2024:2"}},
		{"call pkg.install", "{}", nil},
		{"call pkg.remove", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.purge {pkgs: []}", "error: no package to remove is named: give its name, or a list of names as pkgs", nil},
		{"call pkg.remove ['foo,nope']", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"dnf -y remove foo"}},
		{"call pkg.remove {pkgs: [foo: '1.0-1']}", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"dnf -y remove foo-1.0-1"}},
		{"call pkg.remove {pkgs: [foo: '2.0-1']}", "{}", nil},
		{"call pkg.purge ['f*']", "{'foo': {'new': '', 'old': '1.0-1'}}", []string{"dnf -y remove foo"}},
		{"call pkg.upgrade {refresh: false}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"dnf --quiet -y upgrade"}},
		{"call pkg.upgrade {refresh: false, security: true, exclude: 'k*', saltenv: base, name: foo}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"dnf --quiet -y --exclude=k* --security upgrade foo"}},
		{"call pkg.update {refresh: false}", "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}", []string{"dnf --quiet -y --setopt obsoletes=False upgrade"}},
		{"call pkg.group_install [Test Tools]", "{'grp-a': {'old': '', 'new': '1.0-1'}, 'grp-b': {'old': '', 'new': '1.0-1'}}", []string{common + "install grp-a grp-b"}},
	} {
		m := newMachine(t, "dnf")
		m.OnCommand("dnf -y reinstall *", host.Output{})
		m.Steps(t, []calltest.Step{{tt.call, tt.want}})
		if diff := cmp.Diff(tt.calls, m.changes()); diff != "" {
			t.Errorf("%s: %s", tt.call, diff)
		}
	}
}

// Held packages are changed only if that is asked for, and are held again.
func TestHolds(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "dnf")
	m.PutFile("/etc/dnf/plugins/versionlock.conf", "", 0o644)
	m.Steps(t, []calltest.Step{
		{"call pkg.list_holds", "['epo-1:1.0-1.*']"},
		{"call pkg.list_holds {full: false}", "['epo']"},
		{"call pkg.list_holds {pattern: 'x.*'}", "[]"},
		{"call pkg.list_holds {pattern: '['}", "error: invalid pattern: unterminated character set at position 1"},
		{"call pkg.hold [foo]", "{'foo': {'name': 'foo', 'changes': {'new': 'hold', 'old': ''}, 'result': True, 'comment': 'Package foo is now being held.'}}"},
		{"call pkg.hold {name: foo, test: true}", "{'foo': {'name': 'foo', 'changes': {}, 'result': None, 'comment': 'Package foo is set to be held.'}}"},
		{"call pkg.hold [nope]", "{'nope': {'name': 'nope', 'changes': {}, 'result': False, 'comment': 'Package nope was unable to be held.'}}"},
		{"call pkg.hold {pkgs: [epo: 1]}", "{'epo': {'name': 'epo', 'changes': {}, 'result': True, 'comment': 'Package epo is already set to be held.'}}"},
		{"call pkg.unhold [foo]", "{'foo': {'name': 'foo', 'changes': {}, 'result': True, 'comment': 'Package foo is not being held.'}}"},
		{"call pkg.unhold [epo]", "{'epo': {'name': 'epo', 'changes': {'new': '', 'old': 'hold'}, 'result': True, 'comment': 'Package epo is no longer held.'}}"},
		{"call pkg.install {name: epo, version: '2.0-1'}", "error: Error occurred installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - The following package(s) could not be updated because they are being held: epo. Set 'update_holds' to True to temporarily unhold these packages so that they can be updated."},
	})
	m.Forget()
	if got := m.Fn(t, "pkg.install", "{name: epo, version: '2.0-1', update_holds: true}"); got != "{}" {
		t.Error(got)
	}
	want := []string{"dnf versionlock delete epo", "dnf -y --best --allowerasing install epo-2.0-1"}
	if got := m.changes(); !slices.Equal(got, want) { // it is still listed as held, so that nothing holds it again
		t.Errorf("%q, want %q", got, want)
	}
}

// The program is the first one in PATH; dnf may be dnf5.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		programs []string
		want     string
	}{
		{[]string{"dnf5", "dnf"}, "dnf5 --quiet list --available foo"},
		{[]string{"dnf", "yum"}, "dnf --quiet list available foo"},
		{[]string{"yum"}, "yum --quiet list available foo"},
	} {
		m := newMachine(t, tt.programs...)
		m.Fn(t, "pkg.latest_version", "{name: foo, refresh: false}")
		if got := m.Fn(t, "pkg.latest_version", "[foo]"); got != "'2.0-1'" {
			t.Errorf("%v: %s", tt.programs, got)
		}
		var lines []string
		for _, c := range m.Calls() {
			lines = append(lines, strings.Join(c.Argv, " "))
		}
		if !slices.Contains(lines, tt.want) {
			t.Errorf("%v: %q, want %q", tt.programs, lines, tt.want)
		}
	}
	m := newMachine(t)
	if got := m.Fn(t, "pkg.list_pkgs", "{}"); !strings.Contains(got, "dnf and yum are missing") {
		t.Errorf("without a program: %s", got)
	}
	m = newMachine(t, "dnf5")
	m.OnCommand("dnf5 versionlock list", host.Output{Stdout: []byte("# Added by 'versionlock add' command on 2024-05-16 11:03:36\nPackage name: epo\nevr = 1:1.0-1\n\n# x\nPackage name: foo\nevr = 1.0-1\n")})
	m.Steps(t, []calltest.Step{
		{"call pkg.list_holds", "['epo-1:1.0-1.*', 'foo-0:1.0-1.*']"},
		{"call pkg.group_list", "error: pkg.group_list works with dnf and yum, not with dnf5"},
	})
}

// What dnf 4.14 says it would do becomes what it would change.
func TestSimulate(t *testing.T) {
	t.Parallel()
	const table = "Dependencies resolved.\n=====\n Package   Architecture  Version  Repository  Size\n=====\n"
	for _, tt := range []struct {
		call, command, said string
		status              int
		want                string
	}{
		{
			"call pkg.install {name: bar, refresh: true, simulate: true}", "dnf --assumeno --best --allowerasing install bar",
			table + "Installing:\n bar    noarch    1.0-1   one    6.2 k\nUpgrading:\n foo    noarch    2.0-1    one    6.2 k\n     replacing  epo.noarch 1:1.0-1\nInstalling dependencies:\n very-long-name-of-a-package\n      noarch   3.0-1  one   1.0 M\nInstalling Groups:\n Some Tools For\n\nTransaction Summary\n=====\nInstall 2 Packages\n", 1,
			"{'bar': {'old': '', 'new': '1.0-1'}, 'foo': {'old': '1.0-1', 'new': '2.0-1'}, 'epo': {'old': '1:1.0-1', 'new': ''}, 'very-long-name-of-a-package': {'old': '', 'new': '3.0-1'}}",
		},
		{
			"call pkg.install {name: foo, version: 0.9-1, simulate: true}", "dnf --assumeno downgrade foo-0.9-1",
			table + "Downgrading:\n foo   noarch   0.9-1   one   6.2 k\n\nTransaction Summary\n", 1, "{'foo': {'old': '1.0-1', 'new': '0.9-1'}}",
		},
		{
			"call pkg.remove {name: foo, simulate: true}", "dnf --assumeno remove foo",
			table + "Removing:\n foo   noarch   1.0-1   @one   13\nRemoving dependent packages:\n bar   noarch   1.0-1   @one   13\n\nTransaction Summary\n", 1,
			"{'foo': {'old': '1.0-1', 'new': ''}, 'bar': {'old': '1.0-1', 'new': ''}}",
		},
		{"call pkg.install {name: foo, simulate: true}", "dnf --assumeno --best --allowerasing install foo", "Dependencies resolved.\nNothing to do.\nComplete!\n", 0, "{}"},
		{
			"call pkg.install {name: broken, simulate: true}", "dnf --assumeno --best --allowerasing install broken", "Error: nothing provides x", 1,
			"error: Error occurred installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - Error: nothing provides x",
		},
		{"call pkg.upgrade {simulate: true}", "dnf --assumeno upgrade", table + "Upgrading:\n foo   noarch   2.0-1   one   6.2 k\n\nTransaction Summary\n", 1, "{'foo': {'old': '1.0-1', 'new': '2.0-1'}}"},
	} {
		m := newMachine(t, "dnf")
		m.OnCommand(tt.command, host.Output{Status: tt.status, Stdout: []byte(tt.said)})
		m.Steps(t, []calltest.Step{{tt.call, tt.want}})
		if got := m.changes(); got != nil {
			t.Errorf("%s: %q may change the machine", tt.call, got)
		}
	}
}
