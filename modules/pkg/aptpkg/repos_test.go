package aptpkg_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/modules/cp"
	"brine/modules/pkg/aptpkg"
)

const keyText = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: a key\n\nmQEN\nBGE=\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"

const keyList = `pub:-:2048:1:936F52D4AF3BEEA1:1795341770:::-:::scSC::::::23::0:
fpr:::::::::6D62DABBFD634F88CE6B05EA936F52D4AF3BEEA1:
uid:-::::1795341770::ECB84F5062F984D8D1E77E637ED31C72560CE161::Rec test key <rec@example.org>::::::::::0:
sub:-:4096:1:6ED0E7B82643E131:1674301461:1926589461:::::s::::::23:
fpr:::::::::4CB50190207B4758A3F73A796ED0E7B82643E131:
`

// repoRig is a Debian machine. Addresses with "away" cannot be reached, and apt
// refuses ones with "broken".
func repoRig() (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	for _, exe := range []string{"apt-get", "dpkg", "dpkg-query", "apt-key", "gpg"} {
		h.PutExe("/usr/bin/" + exe)
	}
	h.PutFile("/var/lib/dpkg/status", "Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\n\n", 0o644)
	h.PutDir("/etc/apt/sources.list.d", 0o755)
	h.PutDir("/etc/apt/keyrings", 0o755)
	h.HandleCommand("apt-get -q update", func(context.Context, host.Cmd) (host.Output, error) {
		lists := h.Text("/etc/apt/sources.list") + h.Text("/etc/apt/sources.list.d/x.list")
		switch {
		case strings.Contains(lists, "broken"):
			return host.Output{Status: 100, Stderr: []byte("E: broken\n")}, nil
		case strings.Contains(lists, "away"):
			return host.Output{Stdout: []byte("Err:1 http://away/d stable InRelease\n"), Stderr: []byte("W: Failed to fetch\n")}, nil
		}
		return host.Output{Stdout: []byte("Get:1 http://a stable InRelease [1 kB]\n")}, nil
	})
	h.HandleCommand("apt-key add -", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if b, _ := io.ReadAll(c.Stdin); !strings.HasPrefix(string(b), "-----BEGIN") {
			return host.Output{Status: 2, Stderr: []byte("gpg: no valid OpenPGP data found.\n")}, nil
		}
		return host.Output{Stdout: []byte("OK\n")}, nil
	})
	h.OnCommand("apt-key del *", host.Output{Stdout: []byte("OK\n")})
	h.OnCommand("apt-key adv --batch --list-public-keys *", host.Output{Stdout: []byte(keyList)})
	h.HandleCommand("gpg --batch --show-keys *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		if len(c.Argv) > 5 && strings.Contains(h.Text(c.Argv[len(c.Argv)-1]), "\x99") {
			return host.Output{Stdout: []byte(keyList)}, nil
		}
		return host.Output{Status: 2}, nil
	})
	h.PutFile("/srv/salt/key.asc", keyText, 0o644)
	h.PutFile("/srv/salt/page.gpg", "<html>", 0o644)
	r := calltest.New(h,
		fun.Entry{Kind: fun.Exec, Name: "cp", Load: cp.Module},
		fun.Entry{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module})
	r.Env.Grains = value.MapOf("os", "Debian", "os_family", "Debian", "osarch", "amd64", "oscodename", "bookworm")
	return r, h
}

func TestRepos(t *testing.T) {
	t.Parallel()
	r, h := repoRig()
	h.PutFile("/etc/apt/sources.list.d/o.list", "# of others\ndeb [trusted=yes]   http://o stable main\n", 0o644)
	h.PutFile("/etc/apt/sources.list.d/d.sources", "Types: deb\nURIs: http://d\nSuites: stable testing\nComponents: main\nSigned-By: /k.gpg\n", 0o644)
	const def = "deb http://o stable main"
	r.Steps(t, []calltest.Step{
		{"call pkg.get_repo ['" + def + "']", "{'file': '/etc/apt/sources.list.d/o.list', 'comps': ['main'], 'disabled': False, 'enabled': True, 'dist': 'stable', 'type': 'deb', 'uri': 'http://o', 'line': 'deb [trusted=yes]   http://o stable main', 'architectures': [], 'signedby': ''}"},
		{"call pkg.get_repo ['deb http://d testing main']", "{'file': '/etc/apt/sources.list.d/d.sources', 'comps': ['main'], 'disabled': False, 'enabled': True, 'dist': 'testing', 'type': 'deb', 'uri': 'http://d', 'line': 'deb [signed-by=/k.gpg] http://d testing main', 'architectures': [], 'signedby': '/k.gpg'}"},
		{"call pkg.get_repo ['deb http://o stable extra']", "{}"},
		{"call pkg.get_repo [nonsense]", "{}"},
		{"call pkg.mod_repo [nonsense]", "error: Error: repo 'nonsense' not a well formatted definition"},
		{"call pkg.mod_repo ['ppa:a/b']", "error: cannot parse \"ppa:\" style repo definitions: ppa:a/b"},
		{"call pkg.mod_repo {repo: '" + def + "', comps: \"a\\nb\"}", "error: comps cannot have 'a\\nb'"},
		{"call pkg.mod_repo {repo: '" + def + "', file: x.list}", "error: file must be an absolute path, not 'x.list'"},
		{"call pkg.mod_repo {repo: '" + def + "', comps: 'main,extra', architectures: [amd64]}", "{'deb http://o stable main': {'architectures': ['amd64'], 'comps': ['main', 'extra'], 'disabled': False, 'file': '/etc/apt/sources.list.d/o.list', 'type': 'deb', 'uri': 'http://o', 'line': 'deb [trusted=yes]   http://o stable main\\n', 'signedby': ''}}"},
		{"call pkg.mod_repo {repo: 'deb http://d stable main', disabled: true}", "{'deb http://d stable main': {'architectures': [], 'comps': ['main'], 'disabled': True, 'file': '/etc/apt/sources.list.d/d.sources', 'type': 'deb', 'uri': 'http://d', 'line': 'deb [signed-by=/k.gpg] http://d stable main', 'signedby': '/k.gpg'}}"},
		{"call pkg.mod_repo {repo: 'deb http://d testing contrib', file: /etc/apt/sources.list.d/x.list, comments: [a, b]}", "{'deb http://d testing contrib': {'architectures': [], 'comps': ['contrib'], 'disabled': False, 'file': '/etc/apt/sources.list.d/x.list', 'type': 'deb', 'uri': 'http://d', 'line': 'deb http://d testing contrib\\n', 'signedby': '/k.gpg'}}"},
		{"call pkg.mod_repo {repo: 'deb http://away/d stable main', file: /etc/apt/sources.list.d/x.list}", "error: apt cannot fetch http://away/d stable InRelease:\nW: Failed to fetch"},
		{"call pkg.mod_repo {repo: 'deb http://broken stable main'}", "error: E: broken"},
		{"call pkg.del_repo ['deb http://o stable extra']", "error: Repo deb http://o stable extra doesn't exist in the sources.list(s)"},
		{"call pkg.del_repo ['deb [arch=amd64] http://o stable extra']", "\"Repo 'deb [arch=amd64] http://o stable extra' has been removed from /etc/apt/sources.list.d/o.list.\\n\""},
		{"call pkg.del_repo ['deb http://d testing contrib']", "\"File /etc/apt/sources.list.d/x.list containing repo 'deb http://d testing contrib' has been removed.\""},
		{"call pkg.expand_repo_def {}", "error: missing 'repo' argument"},
		{"call pkg.expand_repo_def {repo: 'deb http://o stable main', comps: [a, b], disabled: true}", "{'file': '/etc/apt/sources.list', 'comps': ['a', 'b'], 'disabled': True, 'dist': 'stable', 'type': 'deb', 'uri': 'http://o', 'line': '# deb http://o stable a b', 'architectures': [], 'signedby': ''}"},
		{"call pkg.get_repo_keys {aptkey: false}", "{}"},
		{"call pkg.get_repo_keys {aptkey: false, keydir: /none}", "False"},
		{"call pkg.add_repo_key {path: 'salt://page.gpg', aptkey: false}", "False"},
		{"call pkg.add_repo_key {path: 'salt://none.gpg', aptkey: false}", "False"},
		{"call pkg.add_repo_key {path: 'salt://key.asc', aptkey: false, keyfile: k.gpg}", "True"},
		{"call pkg.add_repo_key {text: nonsense}", "False"},
		{"call pkg.add_repo_key {keyserver: x}", "error: No keyid or keyid too short for keyserver: x"},
		{"call pkg.add_repo_key {keyid: ABCD}", "error: No keyserver specified for keyid: ABCD"},
		{"call pkg.add_repo_key {keyid: AF3BEEA1, keyserver: x}", "True"},
		{"call pkg.add_repo_key {}", "error: add_repo_key() takes at least 1 argument (0 given)"},
		{"call pkg.del_repo_key {keyid: AF3BEEA1, aptkey: false}", "'AF3BEEA1'"},
		{"call pkg.del_repo_key {keyid: AF3BEEA1, aptkey: false}", "False"},
		{"call pkg.del_repo_key {keyid: '-x'}", "error: '-x' is not the ID of a key"},
		{"call pkg.del_repo_key {keyid: 0}", "0"},
		{"call pkg.del_repo_key {}", "error: keyid or keyid_ppa and PPA name must be passed"},
	})
	for file, want := range map[string]string{
		"/etc/apt/sources.list.d/o.list":    "# of others\ndeb [arch=amd64 trusted=yes] http://o stable main\n",
		"/etc/apt/sources.list.d/d.sources": "Types: deb\nURIs: http://d\nSuites: testing\nComponents: main\nSigned-By: /k.gpg\n\nTypes: deb\nURIs: http://d\nSuites: stable\nComponents: main\nSigned-By: /k.gpg\nEnabled: no\n",
		"/etc/apt/sources.list.d/x.list":    "",
		"/etc/apt/sources.list":             "",
	} {
		if diff := cmp.Diff(want, h.Text(file)); diff != "" {
			t.Errorf("%s\n%s", file, diff)
		}
	}
}

// FuzzParseKeys reads what gpg may print, and keys.
func FuzzParseKeys(f *testing.F) {
	f.Add(keyList)
	f.Add(keyText)
	f.Add("sub:\nfpr:\nuid:\npub::::")
	f.Fuzz(func(_ *testing.T, text string) {
		aptpkg.ParseKeys(text)
		aptpkg.Dearmor([]byte(text))
	})
}
