package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// machine returns a fake machine with files by path.
func machine(files map[string]string) *host.Fake {
	f := host.NewFake()
	f.Name = "web1"
	for p, text := range files {
		if before, ok := strings.CutSuffix(p, "/"); ok {
			f.PutDir(before, 0o755)
			continue
		}
		f.PutFile(p, text, 0o644)
	}
	return f
}

func load(t *testing.T, f *host.Fake, o Options) *Config {
	t.Helper()
	o.Host = f
	if o.Kind == "" {
		o.Kind = Minion
	}
	c, err := Load(o)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, machine(nil), Options{})
	for key, want := range map[string]value.Value{
		"file_roots":                     value.MapOf("base", value.Strings("/srv/salt", "/srv/spm/salt")),
		"pillar_roots":                   value.MapOf("base", value.Strings("/srv/pillar", "/srv/spm/pillar")),
		"file_client":                    "local",
		"state_output":                   "full",
		"state_verbose":                  true,
		"renderer":                       "jinja|yaml",
		"pillar_source_merging_strategy": "smart",
		"hash_type":                      "sha256",
		"saltenv":                        nil,
		"id":                             "web1",
		"__role":                         "minion",
		"config_dir":                     "/etc/salt",
		"timeout":                        int64(5),
	} {
		if got, ok := c.Opts.Get(key); !ok || !value.Equal(got, want) {
			t.Errorf("%s = %s, want %s", key, value.Repr(got), value.Repr(want))
		}
	}
	if len(c.Warnings) != 0 || len(c.Files) != 0 {
		t.Errorf("warnings %v, files %v; want none", c.Warnings, c.Files)
	}
}

func TestMasterID(t *testing.T) {
	if got := load(t, machine(nil), Options{Kind: Master}).Opts.Str("id"); got != "web1_master" {
		t.Errorf("id = %q, want web1_master", got)
	}
	f := machine(map[string]string{"/etc/salt/master": "id: orch\n"})
	if got := load(t, f, Options{Kind: Master}).Opts.Str("id"); got != "orch" {
		t.Errorf("id = %q, want orch", got)
	}
}

// A directory of brine's own is read before Salt's, but not one that a package left
// empty.
func TestOwnDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		dir   string
	}{
		{"nothing", nil, "/etc/salt"},
		{"an empty one", map[string]string{"/etc/brine/README": "", "/etc/salt/master": "id: orch"}, "/etc/salt"},
		{"a master", map[string]string{"/etc/brine/master": "id: own", "/etc/salt/master": "id: orch"}, "/etc/brine"},
		{"a piece of a minion", map[string]string{"/etc/brine/minion.d/a.conf": "id: own", "/etc/salt/master": "id: orch"}, "/etc/brine"},
	} {
		c, err := Load(Options{Host: machine(tt.files), Kind: Master})
		if err != nil || c.Dir != tt.dir {
			t.Errorf("%s: %q, want %q (%v)", tt.name, c.Dir, tt.dir, err)
		}
	}
}

func TestID(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		over  *value.Map
		want  string
	}{
		{"host name", nil, nil, "web1"},
		{"configuration", map[string]string{"/etc/salt/minion": "id: m1"}, nil, "m1"},
		{"number", map[string]string{"/etc/salt/minion": "id: 12"}, nil, "12"},
		{"command line", map[string]string{"/etc/salt/minion": "id: m1"}, value.MapOf("id", "cli"), "cli"},
		{"minion_id", map[string]string{"/etc/salt/minion_id": "\ufeffcached.example.com\n"}, nil, "cached.example.com"},
		{"minion_id localhost", map[string]string{"/etc/salt/minion_id": "localhost\n"}, nil, "web1"},
		{"no caching", map[string]string{"/etc/salt/minion_id": "cached", "/etc/salt/minion": "minion_id_caching: no"}, nil, "web1"},
		{"append_domain", map[string]string{"/etc/salt/minion": "id: m1\nappend_domain: foo.org"}, nil, "m1.foo.org"},
		{"append_domain is there", map[string]string{"/etc/salt/minion": "id: m1.foo.org\nappend_domain: foo.org"}, nil, "m1.foo.org"},
		{"hosts file", map[string]string{"/etc/hosts": "127.0.0.1 localhost\n127.0.1.1 web1.example.com web1\n"}, nil, "web1.example.com"},
		{"hosts file without domain", map[string]string{"/etc/hosts": "10.0.0.1 web1 # me\n"}, nil, "web1"},
		{"lowercase", map[string]string{"/etc/hosts": "1.2.3.4 WEB1.Example.com web1", "/etc/salt/minion": "minion_id_lowercase: true"}, nil, "web1.example.com"},
		{"remove domain", map[string]string{"/etc/hosts": "1.2.3.4 web1.example.com web1", "/etc/salt/minion": "minion_id_remove_domain: true"}, nil, "web1"},
		{"remove domains", map[string]string{"/etc/hosts": "1.2.3.4 web1.a.b web1", "/etc/salt/minion": "minion_id_remove_domain: [x.y, a.b]"}, nil, "web1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := load(t, machine(tt.files), Options{Override: tt.over}).Opts.Str("id"); got != tt.want {
				t.Errorf("id = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIncludes(t *testing.T) {
	f := machine(map[string]string{
		"/c/minion":            "a: main\nb: main\nm: {x: 1}\ninclude: more/*.conf\n",
		"/c/minion.d/01.conf":  "b: one\nm: {y: 1}\nlist: [1]\n",
		"/c/minion.d/02.conf":  "m: {z: 2}\nlist: [2]\nextra_thing: {deep: 1}\n",
		"/c/minion.d/x.ignore": "b: no\n",
		"/c/more/a.conf":       "a: included\ninclude: sub.txt\n",
		"/c/more/sub.txt":      "fromsub: true\n",
	})
	c := load(t, f, Options{Dir: "/c"})
	want := map[string]string{"a": "'included'", "b": "'one'", "m": "{'y': 1, 'z': 2}", "list": "[1, 2]", "extra_thing": "{'deep': 1}", "fromsub": "True"}
	for k, w := range want {
		if got := value.Repr(c.Opts.At(k)); got != w {
			t.Errorf("%s = %s, want %s", k, got, w)
		}
	}
	files := []string{"/c/minion", "/c/minion.d/01.conf", "/c/minion.d/02.conf", "/c/more/a.conf", "/c/more/sub.txt"}
	if d := cmp.Diff(files, c.Files); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func TestIncludeLoop(t *testing.T) {
	f := machine(map[string]string{"/c/minion": "include: minion\n"})
	if _, err := Load(Options{Host: f, Kind: Minion, Dir: "/c"}); err == nil || !strings.Contains(err.Error(), "without end") {
		t.Errorf("err = %v, want that files include each other", err)
	}
}

func TestLookup(t *testing.T) {
	files := map[string]string{
		"/etc/salt/minion": "who: etc\n",
		"/salt/minion":     "who: salt\n",
		"/brine/minion":    "who: brine\n",
		"/flag/minion":     "who: flag\n",
		"/cwd/conf/minion": "who: saltfile\n",
		"/cwd/":            "",
	}
	for _, tt := range []struct {
		name     string
		env      []string
		dir      string
		saltfile string
		want     string
	}{
		{"default", nil, "", "", "etc"},
		{"saltfile", nil, "", "salt-call:\n  config_dir: conf\n", "saltfile"},
		{"saltfile of another command", nil, "", "salt-ssh:\n  config_dir: conf\n", "etc"},
		{"SALT_CONFIG_DIR", []string{"SALT_CONFIG_DIR=/salt"}, "", "salt-call:\n  config_dir: conf\n", "salt"},
		{"BRINE_CONFIG_DIR", []string{"SALT_CONFIG_DIR=/salt", "BRINE_CONFIG_DIR=/brine"}, "", "", "brine"},
		{"-c", []string{"SALT_CONFIG_DIR=/salt", "BRINE_CONFIG_DIR=/brine"}, "/flag", "", "flag"},
		{"-c with a file", nil, "/flag/minion", "", "flag"},
		{"-c relative", nil, "conf", "", "saltfile"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := machine(files)
			f.Env = tt.env
			f.Cwd = "/cwd"
			if tt.saltfile != "" {
				f.PutFile("/cwd/Saltfile", tt.saltfile, 0o644)
			}
			c := load(t, f, Options{Dir: tt.dir, Section: "salt-call"})
			if got := c.Opts.Str("who"); got != tt.want {
				t.Errorf("who = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSaltfileOptions(t *testing.T) {
	f := machine(map[string]string{
		"/w/Saltfile":    "salt-ssh:\n  config_dir: etc\n  roster_file: etc/roster\n  ssh_max_procs: 3\n  ssh_usr: me\n  ssh_timeout: 9\n  my_own: 1\nsalt-rnu: {}\n",
		"/w/etc/master":  "ssh_max_procs: 9\nkeep: me\n",
		"/w/etc/roster":  "",
		"/elsewhere/etc": "",
	})
	f.Cwd = "/w"
	c := load(t, f, Options{Kind: Master, Section: "salt-ssh"})
	if got := c.Opts.At("ssh_max_procs"); got != int64(3) {
		t.Errorf("ssh_max_procs = %v, want 3", got)
	}
	if !c.Given("ssh_max_procs") || !c.Given("keep") || c.Given("ssh_port") {
		t.Errorf("given: %t %t %t, want ssh_max_procs and keep", c.Given("ssh_max_procs"), c.Given("keep"), c.Given("ssh_port"))
	}
	if got := c.Opts.Str("roster_file"); got != "/w/etc/roster" {
		t.Errorf("roster_file = %q", got)
	}
	want := []Warning{
		{source.Pos{File: "/w/Saltfile", Line: 8, Col: 1}, `a Saltfile has no section "salt-rnu" (did you mean "salt-run"?)`},
		{source.Pos{File: "/w/Saltfile", Line: 5, Col: 3}, `unknown option "ssh_usr" (did you mean "ssh_user"?)`},
	}
	if !slices.Equal(c.Warnings, want) {
		t.Errorf("warnings = %v, want %v", c.Warnings, want)
	}
}

func TestOtherKindServes(t *testing.T) {
	f := machine(map[string]string{"/c/master": "who: master\n"})
	if c := load(t, f, Options{Dir: "/c"}); c.Opts.Str("who") != "master" || c.Opts.Str("__role") != "minion" {
		t.Errorf("who = %q, role = %q", c.Opts.Str("who"), c.Opts.Str("__role"))
	}
	f = machine(map[string]string{"/c/master": "who: master\n", "/c/minion.d/a.conf": "who: minion.d\n"})
	if c := load(t, f, Options{Dir: "/c"}); c.Opts.Str("who") != "minion.d" {
		t.Errorf("who = %q, want that of minion.d", c.Opts.Str("who"))
	}
}

func TestRoots(t *testing.T) {
	f := machine(map[string]string{
		"/c/minion":      "file_roots:\n  base: [tree, /abs]\n  dev: [glob/*, 'nope']\n  none:\npillar_roots:\n  base: [other]\n",
		"/c/tree/x":      "",
		"/abs/x":         "",
		"/c/glob/a/x":    "",
		"/c/glob/b/x":    "",
		"/cwd/other/x":   "",
		"/cwd/cli/x":     "",
		"/cwd/cli2/file": "",
	})
	f.Cwd = "/cwd"
	c := load(t, f, Options{Dir: "/c"})
	if got, want := value.Repr(c.Opts.At("file_roots")), "{'base': ['/c/tree', '/abs'], 'dev': ['/c/glob/a', '/c/glob/b', '/c/nope'], 'none': []}"; got != want {
		t.Errorf("file_roots = %s\nwant %s", got, want)
	}
	if got, want := value.Repr(c.Opts.At("pillar_roots")), "{'base': ['/cwd/other']}"; got != want {
		t.Errorf("pillar_roots = %s, want %s", got, want)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Text, "/c/nope does not exist") || c.Warnings[0].Pos.Line != 3 {
		t.Errorf("warnings = %v, want one about /c/nope in line 3", c.Warnings)
	}
	c = load(t, f, Options{Dir: "/c", FileRoots: []string{"cli", "/abs"}, PillarRoots: []string{"cli2"}})
	if got, want := value.Repr(c.Opts.At("file_roots"))+value.Repr(c.Opts.At("pillar_roots")), "{'base': ['/cwd/cli', '/abs']}{'base': ['/cwd/cli2']}"; got != want {
		t.Errorf("roots = %s, want %s", got, want)
	}
}

func TestOrdinaryUser(t *testing.T) {
	f := machine(map[string]string{"/home/zoe/": ""})
	f.UID = 1000
	f.PutUser(host.Account{Name: "zoe", UID: 1000, GID: 1000, Home: "/home/zoe"})
	f.Env = []string{"HOME=/home/zoe"}
	c := load(t, f, Options{})
	if c.CacheDir != "/home/zoe/.cache/brine" || c.Opts.Str("cachedir") != c.CacheDir || c.Opts.Str("user") != "zoe" {
		t.Errorf("cachedir %q, user %q", c.CacheDir, c.Opts.Str("user"))
	}
	f.Env = append(f.Env, "XDG_CACHE_HOME=/x")
	if got := load(t, f, Options{}).CacheDir; got != "/x/brine" {
		t.Errorf("cachedir = %q, want /x/brine", got)
	}

	f.Env = append(f.Env, "BRINE_CACHE_DIR=/y/z/")
	if c := load(t, f, Options{}); c.CacheDir != "/y/z" || c.Opts.Str("sqlite_queue_dir") != "/y/z/queues" {
		t.Errorf("cachedir = %q, sqlite_queue_dir = %q, want /y/z and /y/z/queues", c.CacheDir, c.Opts.Str("sqlite_queue_dir"))
	}
	f.UID = 0
	if got := load(t, f, Options{}).CacheDir; got != "/y/z" {
		t.Errorf("cachedir of root = %q, want /y/z", got)
	}
	f.Env = append(f.Env[:len(f.Env)-1], "BRINE_CACHE_DIR=y")
	if got := load(t, f, Options{}).CacheDir; got != "/var/cache/brine" {
		t.Errorf("cachedir = %q, want /var/cache/brine", got)
	}

	// Without a home there is no directory that only this user could have made.
	f = machine(nil)
	f.UID = 12345
	f.Env = []string{"TMPDIR=/tmp"}
	if got := load(t, f, Options{}).CacheDir; got != "/nonexistent/.cache/brine" {
		t.Errorf("cachedir without HOME = %q", got)
	}
}

func TestRootDir(t *testing.T) {
	f := machine(map[string]string{"/c/minion": "root_dir: /c\ncachedir: /var/cache/salt\npki_dir: /c/pki\nlog_file: file:///dev/log\n"})
	c := load(t, f, Options{Dir: "/c"})
	for k, w := range map[string]string{"cachedir": "/c/var/cache/salt", "pki_dir": "/c/pki", "log_file": "file:///dev/log", "extension_modules": "/c/var/cache/salt/extmods"} {
		if got := c.Opts.Str(k); got != w {
			t.Errorf("%s = %q, want %q", k, got, w)
		}
	}
}

func TestFileMode(t *testing.T) {
	f := machine(map[string]string{"/c/minion": "file_mode: local\nfile_client: remote\nenvironment: dev\n"})
	c := load(t, f, Options{Dir: "/c"})
	if c.Opts.Str("file_client") != "local" || c.Opts.Str("saltenv") != "dev" || c.Opts.Str("file_mode") != "local" {
		t.Errorf("file_client %q saltenv %q", c.Opts.Str("file_client"), c.Opts.Str("saltenv"))
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		line, col        int
	}{
		{"tab", "a: 1\nb:\n\tc: 2\n", "cannot start any token", 3, 1},
		{"duplicate", "a: 1\nb: 2\na: 3\n", "conflicting ID 'a'", 3, 1},
		{"list", "- a\n- b\n", "must be a mapping, not a list", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Options{Host: machine(map[string]string{"/c/minion": tt.text}), Kind: Minion, Dir: "/c"})
			var e *source.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want %q", err, tt.want)
			}
			if want := (source.Pos{File: "/c/minion", Line: tt.line, Col: tt.col}); e.Pos != want {
				t.Errorf("place = %v, want %v", e.Pos, want)
			}
		})
	}
	_, err := Load(Options{Host: machine(nil), Kind: Minion, Dir: "/nope"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/nope") {
		t.Errorf("err = %v, want that /nope is not there", err)
	}
}

func TestPlaces(t *testing.T) {
	c := load(t, machine(map[string]string{"/c/minion": "id: m\nmine: 1\nfile_roots: text\n"}), Options{Dir: "/c"})
	if got := c.Opts.Pos("mine").String(); got != "/c/minion:2:1" {
		t.Errorf("place of mine = %s", got)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].Pos.Line != 3 {
		t.Errorf("warnings = %v, want one in line 3", c.Warnings)
	}
}

// TestLocalHost reads a real directory, as the command does.
func TestLocalHost(t *testing.T) {
	dir := t.TempDir()
	h := host.NewLocal()
	if err := h.WriteFile(filepath.Join(dir, "minion"), strings.NewReader("id: real\nfile_roots: {base: [tree]}\n"), host.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Options{Host: h, Kind: Minion, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value.Repr(c.Opts.Map("file_roots").At("base")), "['"+filepath.Join(dir, "tree")+"']"; got != want {
		t.Errorf("file_roots = %s, want %s", got, want)
	}
}

func BenchmarkLoad(b *testing.B) {
	f := machine(map[string]string{"/c/minion": "id: m1\nfile_client: local\nfile_roots: {base: [/srv/salt]}\n"})
	for b.Loop() {
		if _, err := Load(Options{Host: f, Kind: Minion, Dir: "/c"}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"id: 5\nappend_domain: x\n", "file_roots: {base: [a, '*'], 5: x, dev:}\n", "include: '*'\ndefault_include: [x]\n", "root_dir: rel\ncachedir: 5\nfileserver_backend: [git]\nfile_ignore_regex: '('\n", "rosters: [x]\nminion_id_remove_domain: [1]\nhash_type: 5\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Load(Options{Host: machine(map[string]string{"/c/minion": text}), Kind: Minion, Dir: "/c"})
		if err == nil && c.Opts.Str("id") == "" {
			t.Errorf("%q: no id", text)
		}
	})
}

// TestKeepJobs: keep_jobs, in hours, counts where keep_jobs_seconds has its default.
func TestKeepJobs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"":                                      86400,
		"keep_jobs: 24\n":                       86400,
		"keep_jobs: 2\n":                        7200,
		"keep_jobs: 0\n":                        0,
		"keep_jobs: 2\nkeep_jobs_seconds: 60\n": 60,
	} {
		c := load(t, machine(map[string]string{"/etc/salt/master": text}), Options{Kind: Master})
		if got, _ := value.AsInt(c.Opts.At("keep_jobs_seconds")); got != want {
			t.Errorf("%q: %d seconds, want %d", text, got, want)
		}
	}
	c := load(t, machine(map[string]string{"/etc/salt/master": "keep_jobs: many\n"}), Options{Kind: Master})
	if len(c.Warnings) != 1 || c.Warnings[0].Pos.Line != 1 {
		t.Errorf("warnings: %v", c.Warnings)
	}
}

// TestSettings: what files set has a place.
func TestSettings(t *testing.T) {
	t.Parallel()
	f := machine(map[string]string{
		"/etc/salt/minion": "test: true\ninclude: more\n", "/etc/salt/more": "id: here\ninclude: further\n", "/etc/salt/further": "\nfailhard: true\n",
		"/etc/salt/minion.d/a.conf": "grains: {a: 1}\n", "/etc/salt/minion.d/b.conf": "grains: {b: 1}\nid: x\n",
	})
	c := load(t, f, Options{Override: value.MapOf("saltenv", "dev")})
	for name, want := range map[string]string{"test": "/etc/salt/minion:1:1", "id": "/etc/salt/more:1:1", "failhard": "/etc/salt/further:2:1", "grains": "/etc/salt/minion.d/b.conf:1:1", "saltenv": ""} {
		if got := c.Place(name).String(); !c.Settings().Has(name) || strings.TrimPrefix(got, "-") != want {
			t.Errorf("%s is set at %q, want %q", name, got, want)
		}
	}
	if got := Default(Master, "worker_threads"); !value.Equal(got, int64(5)) {
		t.Errorf("worker_threads is %s", value.Repr(got))
	}
}
