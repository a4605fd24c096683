package gitfs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

func load(t testing.TB, text string) *value.Map {
	t.Helper()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "master"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Map)
}

func TestParse(t *testing.T) {
	t.Parallel()
	opts := load(t, `
gitfs_base: main
gitfs_root: all
gitfs_user: anna
gitfs_password: geheim
gitfs_saltenv:
  - dev:
    - ref: develop
    - root: everywhere
gitfs_remotes:
  - https://example.com/a.git
  - https://bob:pw@example.com/b.git:
    - name: b
    - root: salt/states
    - mountpoint: salt://web/
    - base: v1.0
    - saltenv:
      - dev:
        - ref: next
        - mountpoint: salt://dev
    - saltenv_whitelist: dev, base
    - ref_types: [Branch, sha]
    - update_interval: 120
    - ssl_verify: False
  - git@example.com:c.git:
    - privkey: /root/.ssh/c
    - passphrase: secret
  - ssh://git:pw2@example.com:2222/d.git
`)
	rs, err := Parse(opts, Files, opts.At("gitfs_remotes"))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := rs[0], rs[1], rs[2]
	if a.Base != "main" || a.Root != "all" || a.Auth.User != "anna" || a.ref("dev") != "develop" || a.rootOf("dev") != "everywhere" || a.rootOf("qa") != "all" {
		t.Errorf("a = %+v", a)
	}
	if b.URL != "https://example.com/b.git" || b.Auth.User != "bob" || b.Auth.Password != "pw" || b.Label() != "b" || b.Root != "salt/states" ||
		b.Mountpoint != "web" || b.ref("base") != "v1.0" || b.ref("dev") != "next" || b.mountOf("dev") != "dev" || b.rootOf("dev") != "everywhere" ||
		!b.Auth.SkipVerify || b.Interval.Seconds() != 120 || !slices.Equal(b.RefTypes, []string{"branch", "sha"}) {
		t.Errorf("b = %+v", b)
	}
	if c.URL != "git@example.com:c.git" || c.Auth.PrivKey != "/root/.ssh/c" || c.Auth.Passphrase != "secret" {
		t.Errorf("c = %+v", c)
	}
	d := rs[3]
	to, p, err := sshTarget(d)
	if d.URL != "ssh://git@example.com:2222/d.git" || err != nil || to.User != "git" || to.Port != 2222 || to.Auth.Password != "pw2" || p != "/d.git" {
		t.Errorf("d = %+v, %+v, %s, %v", d, to, p, err)
	}
	if s := fmt.Sprintf("%v %+v %#v", b.Auth, b, *b); strings.Contains(s, "pw") {
		t.Errorf("the password is printed: %s", s)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conf, want string }{
		{"gitfs_remotes: [{'https://x/y': [{mountpiont: a}]}]", `no option "mountpiont" (did you mean "mountpoint"?)`},
		{"gitfs_remotes: ['htps://x/y']", `unknown scheme "htps" (did you mean "https"?)`},
		{"gitfs_remotes: [x]", "not a URL: write https://"},
		{"gitfs_remotes: [{'https://x/y': []}]", "remove the colon"},
		{"gitfs_remotes: [{'https://x/y': }]", "remove the colon"},
		{"gitfs_remotes: [{'https://x/y': [{ref_types: [branhc]}]}]", `(did you mean "branch"?)`},
		{"gitfs_remotes: [{'https://x/y': [{root: ../x}]}]", "leads out of the tree"},
		{"gitfs_remotes: [{'https://x/y': [{ssl_verify: maybe}]}]", "must be true or false"},
		{"gitfs_remotes: [{'https://x/y': [{update_interval: soon}]}]", "must be a number of seconds"},
		{"gitfs_remotes: [{'https://x/y': [{refspecs: [heads]}]}]", "is not like +refs/heads"},
		{"gitfs_remotes: [{'https://x/y': [{saltenv: [{dev: [{refs: x}]}]}]}]", `no option "refs" (did you mean "ref"?)`},
		{"gitfs_remotes: ['http://u:pw@x/y']", "unless insecure_auth is true"},
		{"gitfs_remotes: [{'https://x/y': [{privkey: /k}]}]", "privkey is for remotes over SSH"},
		{"gitfs_remotes: [{'ssh://x/y': [{pubkey: /k}]}]", "pubkey needs privkey"},
		{"gitfs_remotes: [{'https://x/y': [{name: a}]}, {'https://x/z': [{name: a}]}]", `two remotes of gitfs have the name "a"`},
		{"gitfs_remotes: [5]", "is a URL"},
		{"gitfs_remotes: ['-x:y']", "not a URL"},
		{"gitfs_mountpiont: a", `unknown option "gitfs_mountpiont" (did you mean "gitfs_mountpoint"?)`},
	} {
		opts := load(t, tt.conf)
		err := CheckGlobals(opts, Files)
		if err == nil {
			_, err = Parse(opts, Files, opts.At("gitfs_remotes"))
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.conf, err, tt.want)
		} else if strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s: the password is in %v", tt.conf, err)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	refs := map[string]string{}
	for i, n := range []string{branchPrefix + "main", branchPrefix + "dev", branchPrefix + "feature/x", tagPrefix + "v1.2", tagPrefix + "dev"} {
		refs[n] = fmt.Sprintf("%040d", i)
	}
	find := func(hash string) (string, bool) { return strings.Repeat("a", 40), strings.HasPrefix(hash, "aaaaaaa") }
	for _, tt := range []struct{ conf, envs, env, commit string }{
		{"base: main", "base dev feature/x v1.2", "base", refs[branchPrefix+"main"]},
		{"base: main", "base dev feature/x v1.2", "dev", refs[branchPrefix+"dev"]},
		{"base: main", "base dev feature/x v1.2", "v1.2", refs[tagPrefix+"v1.2"]},
		{"base: main", "base dev feature/x v1.2", "feature/x", refs[branchPrefix+"feature/x"]},
		{"base: main", "base dev feature/x v1.2", "aaaaaaaa", strings.Repeat("a", 40)},
		{"base: main", "base dev feature/x v1.2", "nope", ""},
		{"base: v1.2", "base dev feature/x main", "base", refs[tagPrefix+"v1.2"]},
		{"base: main, ref_types: [tag]", "dev v1.2", "dev", refs[tagPrefix+"dev"]},
		{"base: main, ref_types: [branch]", "base dev feature/x", "v1.2", ""},
		{"base: main, disable_saltenv_mapping: true", "base", "dev", ""},
		{"base: main, disable_saltenv_mapping: true, saltenv: [{qa: [{ref: dev}]}]", "base qa", "qa", refs[branchPrefix+"dev"]},
		{"base: main, saltenv: [{qa: [{ref: dev}]}]", "base feature/x qa v1.2", "qa", refs[branchPrefix+"dev"]},
		{"base: main, saltenv_whitelist: 'v.*'", "v1.2", "base", ""},
		{"base: main, saltenv_blacklist: [dev, 'feature/*']", "base v1.2", "base", refs[branchPrefix+"main"]},
		{"base: aaaaaaaaaa", "base dev feature/x main v1.2", "base", strings.Repeat("a", 40)},
		{"base: main, all_saltenvs: v1.2", "base dev feature/x v1.2", "anything", refs[tagPrefix+"v1.2"]},
	} {
		opts := load(t, "gitfs_remotes: [{'https://x/y': {"+tt.conf+"}}]")
		rs, err := Parse(opts, Files, opts.At("gitfs_remotes"))
		if err != nil {
			t.Fatal(tt.conf, err)
		}
		if d := cmp.Diff(strings.Fields(tt.envs), rs[0].envs(refs)); d != "" {
			t.Errorf("%s: saltenvs (-want +got):\n%s", tt.conf, d)
		}
		commit := ""
		if rs[0].exposes(tt.env) {
			commit, _ = rs[0].resolve(rs[0].ref(tt.env), refs, find)
		}
		if commit != tt.commit {
			t.Errorf("%s: %s is %q, want %q", tt.conf, tt.env, commit, tt.commit)
		}
	}
}

// FuzzParse reads remotes and maps refs: nothing panics, no saltenv is served
// that is not exposed, and no password is in an error.
func FuzzParse(f *testing.F) {
	f.Add("https://u:pw@h/p", "root", "a/../b", "main", "v1")
	f.Add("git@h:p", "saltenv", "[{dev: [{ref: x}]}]", "x/y", "..")
	f.Add("ssh://h:22/p", "refspecs", "+refs/*:refs/*", "a..b", "refs/heads/a")
	f.Add("file:///p", "saltenv_whitelist", "(", "-", "")
	f.Fuzz(func(t *testing.T, url, key, val, ref, env string) {
		var conf value.Value = val
		if v, err := yamlsalt.Load(yamlsalt.LoadOptions{}, []byte(val)); err == nil {
			conf = v
		}
		opts := value.MapOf("gitfs_remotes", value.NewList(value.MapOf(url, value.NewList(value.MapOf(key, conf)))))
		rs, err := Parse(opts, Files, opts.At("gitfs_remotes"))
		if err != nil {
			return
		}
		refs := map[string]string{}
		for _, s := range rs[0].Refspecs {
			if dst, ok := s.match("refs/heads/" + ref); ok && validRef(dst) {
				refs[dst] = strings.Repeat("b", 40)
			}
		}
		for _, e := range rs[0].envs(refs) {
			if !rs[0].exposes(e) {
				t.Errorf("%q is served", e)
			}
		}
		_, _ = rs[0].resolve(rs[0].ref(env), refs, func(string) (string, bool) { return "", false })
		if p := rs[0].rootOf(env); p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
			t.Errorf("root %q leads out", p)
		}
	})
}

// FuzzRefs reads what a remote says.
func FuzzRefs(f *testing.F) {
	f.Add([]byte("001e# service=git-upload-pack\n0000" + pkt("%s HEAD\x00side-band-64k\n", strings.Repeat("1", 40)) + pkt("%s refs/heads/main\n", strings.Repeat("1", 40)) + "0000"))
	f.Add([]byte(pkt("ERR no\x1b[31m\n")))
	f.Add([]byte("ffff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ad, err := readRefs(newReader(b))
		if err == nil {
			for name := range ad.refs {
				if !validRef(name) {
					t.Errorf("the ref %q is taken", name)
				}
			}
		}
		if es, err := readTree(b); err == nil {
			for _, e := range es {
				if strings.ContainsRune(e.name, 0) {
					t.Errorf("a name with NUL: %q", e.name)
				}
			}
		}
		if r, err := packIn(&refAd{caps: []string{"side-band-64k"}}, newReader(b)); err == nil {
			buf := make([]byte, 100)
			for range 1000 {
				if _, err := r.Read(buf); err != nil {
					break
				}
			}
		}
	})
}
