package rpm_test

import (
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/pkg/repofile"
	"brine/modules/pkg/rpm"
)

const database = `bash_|-(none)_|-5.1.8_|-6.el9_|-x86_64_|-1700000000
kernel_|-(none)_|-5.14.0_|-70.el9_|-x86_64_|-1700000001
kernel_|-(none)_|-5.14.0_|-100.el9_|-x86_64_|-1700000002
vim-enhanced_|-2_|-8.2.2637_|-20.el9_|-x86_64_|-1700000003
glibc_|-0_|-2.34_|-60.el9_|-i686_|-1700000004
gpg-pubkey_|-(none)_|-fd431d51_|-4ae0493b_|-(none)_|-1700000005
not a package
`

func rig(t *testing.T) (*calltest.Rig, *host.Fake) {
	t.Helper()
	h := host.NewFake()
	h.PutExe("/usr/bin/rpm")
	h.PutFile("/var/lib/rpm/rpmdb.sqlite", "one", 0o644)
	h.OnCommand("rpm -qa --queryformat %{NAME}_|-*", host.Output{Stdout: []byte(database)})
	r := calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "rpm_lowpkg", Virtual: "lowpkg", Load: rpm.Module})
	r.Env.Grains = value.MapOf("os", "CentOS Stream", "os_family", "RedHat", "osarch", "x86_64")
	return r, h
}

// The outputs are those of rpm 4.18 on Debian 12, and the values those of Salt 3006
// for them, but that it takes "missing" for flags, and that a package that is not
// installed is for it a file.
func TestFunctions(t *testing.T) {
	t.Parallel()
	r, h := rig(t)
	answer := func(pattern string, status int, stdout string) {
		h.OnCommand(pattern, host.Output{Status: status, Stdout: []byte(stdout)})
	}
	answer("rpm -V bash", 1, "S.5....T.  c /etc/bashrc\nmissing     /usr/bin/bash\n.......T.  d /usr/share/doc/a b\n??5......    /etc/secret\nUnsatisfied dependencies for bash-5.1-1.x86_64:\n")
	answer("rpm --nomtime -V bash", 0, "")
	answer("rpm -V nope", 1, "package nope is not installed\n")
	answer("rpm -Va bash", 1, "S.5....T.  c /etc/bashrc\nmissing     /usr/bin/bash\n")
	answer("rpm -Va broken", 2, "")
	answer("rpm -ql bash nope", 1, "/etc/bashrc\n/usr/bin/bash\npackage nope is not installed\n")
	answer(`rpm -q --queryformat %{NAME}\n* bash empty nope`, 1, "bash\n\t/etc/bashrc\n\t/usr/bin/bash\nempty\npackage nope is not installed\n")
	answer(`rpm -qf --queryformat %{NAME}\n /usr/bin/bash /bin/vi`, 0, "bash\nvim-enhanced\n")
	answer(`rpm -qf --queryformat %{NAME}\n /usr/bin/bash`, 0, "bash\n")
	answer(`rpm -qf --queryformat %{NAME}\n /etc/passwd`, 1, "file /etc/passwd is not owned by any package\n")
	answer(`rpm -qf --queryformat %{NAME}\n /usr/bin/bash /etc/passwd`, 1, "bash\nfile /etc/passwd is not owned by any package\n")
	answer(`rpm -q --queryformat %{NAME} %{VERSION}\n bash nope`, 1, "bash 5.1.8\npackage nope is not installed\n")
	answer("rpm -q --queryformat name: *", 0, "name: kernel\nversion: 5.14.0\nrelease: 70.el9\nbuild_date: 1690000000\nbuild_date_time_t: 1690000000\ninstall_date: (not installed)\nedition: 5.14.0-70.el9\ndescription:\nThe kernel.\n\n-----\nname: x\n\n\x1d\n"+
		"name: kernel\nversion: 5.14.0\nrelease: 100.el9\nbuild_date: 1690000001\nbuild_date_time_t: 1690000001\nedition: 5.14.0-100.el9\ndescription:\nThe kernel.\n\n\x1d\n")
	answer("rpm -qa gpg-pubkey*", 0, "gpg-pubkey-fd431d51-4ae0493b\n")
	answer("rpm -qi gpg-pubkey-fd431d51-4ae0493b", 0, "Name        : gpg-pubkey\nSize        : 0\nPackager    : (none)\nBuild Date  : Mon Jan  1 00:00:00 2024\nDescription :\n-----BEGIN PGP PUBLIC KEY BLOCK-----\nx\n-----END PGP PUBLIC KEY BLOCK-----\nDistribution: (none)\n")
	answer("rpm -e gpg-pubkey-fd431d51-4ae0493b", 0, "")
	answer("rpm --import *", 1, "")
	answer("rpm -qp --queryformat * /srv/a.rpm", 0, "a_|-1_|-2.0_|-3_|-noarch_|-(none)")
	answer("rpm -qp --queryformat * /srv/b.rpm", 1, "")
	answer("rpm -K --quiet /srv/a.rpm", 0, "")
	h.PutFile("/srv/a.rpm", "a", 0o644)
	h.PutFile("/srv/b.rpm", "b", 0o644)
	r.Steps(t, []calltest.Step{
		{"call lowpkg.list_pkgs", "{'bash': '5.1.8', 'kernel': '5.14.0', 'vim-enhanced': '8.2.2637', 'glibc': '2.34', 'gpg-pubkey': 'fd431d51'}"},
		{"call lowpkg.list_pkgs [bash, nope]", "{'bash': '5.1.8'}"},
		{"call lowpkg.list_pkgs [-x]", "error: invalid package name '-x'"},
		{"call lowpkg.verify [bash]", "{'/etc/bashrc': {'mismatch': ['size', 'md5sum', 'mtime'], 'type': 'config'}, '/usr/bin/bash': {'missing': True}, '/usr/share/doc/a b': {'mismatch': ['mtime'], 'type': 'doc'}, '/etc/secret': {'mismatch': ['md5sum']}}"},
		{"call lowpkg.verify [nope]", "error: Failed to verify package(s): package nope is not installed"},
		{"call lowpkg.modified [bash]", "{'/etc/bashrc': ['size', 'checksum', 'time', 'config'], '/usr/bin/bash': ['missing']}"},
		{"call lowpkg.modified [broken]", "{'retcode': 2, 'stderr': ''}"},
		{"call lowpkg.file_list [bash, nope]", "{'errors': ['package nope is not installed'], 'files': ['/etc/bashrc', '/usr/bin/bash']}"},
		{"call lowpkg.file_dict [bash, empty, nope]", "{'errors': ['package nope is not installed'], 'packages': {'bash': ['/etc/bashrc', '/usr/bin/bash'], 'empty': []}}"},
		{"call lowpkg.owner [/usr/bin/bash]", "'bash'"},
		{"call lowpkg.owner [/usr/bin/bash, /bin/vi]", "{'/usr/bin/bash': 'bash', '/bin/vi': 'vim-enhanced'}"},
		{"call lowpkg.owner [/usr/bin/bash, /etc/passwd]", "{'/usr/bin/bash': 'bash', '/etc/passwd': ''}"},
		{"call lowpkg.owner []", "''"},
		{"call lowpkg.info [kernel]", "{'kernel': {'version': '5.14.0', 'release': '100.el9', 'build_date': '2023-07-22T04:26:41Z', 'build_date_time_t': 1690000001, 'description': 'The kernel.'}}"},
		{"call lowpkg.info {attr: nonsense}", "error: No valid attributes found."},
		{"call lowpkg.list_gpg_keys", "['gpg-pubkey-fd431d51-4ae0493b']"},
		{"call lowpkg.list_gpg_keys [true]", "{'gpg-pubkey-fd431d51-4ae0493b': {'Name': 'gpg-pubkey', 'Size': 0, 'Packager': None, 'Build Date': 'Mon Jan  1 00:00:00 2024', 'Description': '-----BEGIN PGP PUBLIC KEY BLOCK-----\\nx\\n-----END PGP PUBLIC KEY BLOCK-----', 'Distribution': None}}"},
		{"call lowpkg.remove_gpg_key [gpg-pubkey-fd431d51-4ae0493b]", "True"},
		{"call lowpkg.remove_gpg_key [bash]", "error: not a key: 'bash'"},
		{"call lowpkg.import_gpg_key [no key]", "False"},
		{"call lowpkg.bin_pkg_info [/srv/a.rpm]", "{'name': 'a', 'version': '1:2.0-3', 'arch': 'noarch', 'repoid': 'none', 'install_date': None, 'install_date_time_t': None}"},
		{"call lowpkg.bin_pkg_info [/srv/b.rpm]", "None"},
		{"call lowpkg.bin_pkg_info [/srv/c.rpm]", "error: /srv/c.rpm does not exist on minion"},
		{"call lowpkg.checksum [/srv/a.rpm, /srv/c.rpm]", "{'/srv/a.rpm': True, '/srv/c.rpm': False}"},
		{"call lowpkg.version_cmp ['1:1.0', '2.0']", "1"},
		{"call lowpkg.version_cmp ['1:1.0', '2.0', true]", "-1"},
		{"call lowpkg.version_cmp ['3.2', '3.2-1']", "0"},
		{"call lowpkg.diff [/srv/a.rpm, /etc/bashrc]", "error: The 'rpm2cpio' binary was not found in $PATH."},
	})
	for _, w := range h.Writes() {
		if strings.Contains(w, "brine-key-") && !strings.Contains(w, "remove") {
			return
		}
	}
	t.Error("import_gpg_key wrote no key")
}

// What is installed is asked once, and again when rpm's database changes.
func TestDatabaseIsKept(t *testing.T) {
	t.Parallel()
	r, h := rig(t)
	ask := func() *rpm.Database {
		db, err := rpm.Read(t.Context(), r.Env, "")
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	first := ask()
	if ask() != first || len(h.Calls()) != 1 {
		t.Errorf("asked %d times", len(h.Calls()))
	}
	h.PutFile("/var/lib/rpm/rpmdb.sqlite-wal", "", 0o644)
	if ask() != first {
		t.Error("an empty log is no change")
	}
	h.PutFile("/var/lib/rpm/rpmdb.sqlite", "another", 0o644)
	if ask() == first {
		t.Error("the database changed and was not asked")
	}
	if got, want := value.Repr(first.Versions()), "{'bash': ['5.1.8-6.el9'], 'kernel': ['5.14.0-70.el9', '5.14.0-100.el9'], 'vim-enhanced': ['2:8.2.2637-20.el9'], 'glibc.i686': ['2.34-60.el9'], 'gpg-pubkey.(none)': ['fd431d51-4ae0493b']}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, osarch, want, base, arch string }{
		{"zsh.x86_64", "x86_64", "zsh", "zsh", "x86_64"},
		{"zsh.noarch", "x86_64", "zsh", "zsh", "noarch"},
		{"zsh.i686", "x86_64", "zsh.i686", "zsh", "i686"},
		{"zsh.i686", "i386", "zsh", "zsh", "i686"},
		{"java-1.8.0", "x86_64", "java-1.8.0", "java-1.8.0", ""},
		{"zsh", "x86_64", "zsh", "zsh", ""},
	} {
		env := &fun.Env{Data: fun.Data{Grains: value.MapOf("osarch", tt.osarch)}}
		if got := rpm.NormalizeName(env, tt.name); got != tt.want {
			t.Errorf("NormalizeName(%q) on %s = %q, want %q", tt.name, tt.osarch, got, tt.want)
		}
		if base, arch := rpm.SplitArch(tt.name); base != tt.base || arch != tt.arch {
			t.Errorf("SplitArch(%q) = %q, %q", tt.name, base, arch)
		}
	}
}

// FuzzRepositories looks for files that cannot be read, and for content that
// changes when it is written and read again.
func FuzzRepositories(f *testing.F) {
	f.Add("# head\n[a]\nname=A\n# about a\nbaseurl=http://x\n  http://y\n\n[b]\nname: B\n; other\n")
	f.Add("x=1\n[a]\n")
	f.Add("[a]\n[a]\n=\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := repofile.Parse(text, false)
		if err != nil || strings.ContainsAny(text, "\r\v\f\x00\x1c\x1d\x1e\u0085\u2028\u2029") {
			return
		}
		again, err := repofile.Parse(file.String(), false)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, file.String(), err)
		}
		if third := again.String(); third != file.String() {
			t.Errorf("%q becomes %q", file.String(), third)
		}
	})
}
