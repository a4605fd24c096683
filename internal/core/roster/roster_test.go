package roster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/roster"
	"brine/internal/core/target"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/memtest"
)

// files is a machine of files alone.
type files map[string]string

func (f files) ReadFile(p string) ([]byte, error) {
	s, ok := f[p]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", p, fs.ErrNotExist)
	}
	return []byte(s), nil
}

func (f files) ReadDir(p string) ([]string, error) {
	var names []string
	for k := range f {
		if rest, ok := strings.CutPrefix(k, strings.TrimSuffix(p, "/")+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if names == nil {
		return nil, fmt.Errorf("open %s: %w", p, fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, nil
}

func (f files) render(p string) (value.Value, error) {
	b, err := f.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return yamlsalt.Load(yamlsalt.LoadOptions{Name: path.Base(p)}, b)
}

// ids returns the ids of r in the order of their sources.
func ids(r *roster.Roster) []string {
	var ids []string
	for _, e := range r.Entries() {
		ids = append(ids, e.ID)
	}
	return ids
}

func load(t testing.TB, f files, o roster.Options, s ...roster.Source) *roster.Roster {
	t.Helper()
	o.Files, o.Render = f, f.render
	r, err := roster.Load(o, s...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const flat = `
web1: 10.0.0.1
web2:
  host: web2.example.com
  port: 2222
  user: ops
  passwd: 's3cr3t'
  priv: /keys/id
  priv_passwd: 0123
  sudo: True
  sudo_user: app
  tty: yes
  timeout: 2.5
  minion_opts: {grains: {role: web, dc: north}, log_level: debug}
  grains: {dc: south}
  thin_dir: /tmp/thin
  set_path: '$PATH:/opt/bin'
  ssh_options: [ProxyJump=gate, Compression=yes]
  cmd_umask: 0077
  ssh_pre_flight: /srv/pre.sh
  ssh_pre_flight_args: one 'two three' --x="a b"
  identities_only: true
  remote_port_forwards: '80:localhost:80'
here: {connection: local}
7: seven
`

func TestFlat(t *testing.T) {
	r := load(t, files{"/r": flat}, roster.Options{Defaults: value.MapOf("user", "root", "port", int64(22), "sudo", true)}, roster.Source{Kind: "flat", Path: "/r"})
	if got := strings.Join(ids(r), " "); got != "web1 web2 here 7" {
		t.Errorf("ids %s", got)
	}
	e, _ := r.Get("web1")
	if e.Host != "10.0.0.1" || e.Port != 22 || e.User != "root" || !e.Sudo || e.Connection != roster.SSH || e.Pos.String() != "r:2:1" || e.Err != nil {
		t.Errorf("web1 = %+v", e)
	}
	e, _ = r.Get("web2")
	want := fmt.Sprint("web2.example.com", 2222, "ops", "/keys/id", true, "app", true, 2500*time.Millisecond, "/tmp/thin", "$PATH:/opt/bin", []string{"ProxyJump=gate", "Compression=yes"}, "0077", "/srv/pre.sh", []string{"one", "two three", "--x=a b"}, true, "80:localhost:80")
	if got := fmt.Sprint(e.Host, e.Port, e.User, e.Priv, e.Sudo, e.SudoUser, e.TTY, e.Timeout, e.ThinDir, e.SetPath, e.SSHOptions, e.CmdUmask, e.PreFlight, e.PreFlightArgs, e.IdentitiesOnly, e.RemotePortForwards); got != want {
		t.Errorf("web2 = %s\nwant   %s", got, want)
	}
	if e.Err != nil || e.Passwd.Reveal() != "s3cr3t" || e.PrivPasswd.Reveal() != "123" || value.Repr(e.Grains) != "{'role': 'web', 'dc': 'south'}" || e.MinionOpts.Str("log_level") != "debug" {
		t.Errorf("web2 = %+v, grains %s", e, value.Repr(e.Grains))
	}
	if e, _ = r.Get("here"); e.Connection != roster.Local || e.Host != "here" {
		t.Errorf("here = %+v", e)
	}
	if _, ok := r.Get("7"); !ok {
		t.Error("an id that is a number is not there")
	}
	if w := r.Warnings(); len(w) != 2 || !strings.Contains(w[0].Error(), `r:9:3: roster entry "web2": priv_passwd is a int to YAML`) ||
		!strings.Contains(w[1].Error(), `r:23:3: roster entry "web2": remote_port_forwards has no effect`) {
		t.Errorf("warnings %v", w)
	}
}

func TestFaultsAndWarnings(t *testing.T) {
	f := files{
		"/a/r1": "web1: {host: a, prot: 23}\nbad: {host: a, port: 99999}\nodd: 5\n", "/a/r2": "web1: b\nx: {host: -oProxyCommand=id}\n", "/a/.hidden": "{", "/a/r3~": "{", "/a/sub/x": "{",
		"/b": "u: {password: hush, user: -x, grains: 5, timeout: soon, connection: loca, cmd_umask: '9', winrm: true, sudo: 'no'}\n",
	}
	r := load(t, f, roster.Options{}, roster.Source{Path: "/a"}, roster.Source{Path: "/b"})
	for _, want := range []string{
		`r1:1:17: roster entry "web1": unknown key "prot" (did you mean "port"?)`,
		`r1:3:1: roster entry "odd" must be a host or a mapping, not a number`,
		`r2:1:1: roster entry "web1" is there already, in r1:1:1, which counts`,
		`unknown key "password" (did you mean "passwd"?)`,
		`sudo: "no" is text, and text is true`,
	} {
		if !strings.Contains(r.Warnings().Error(), want) {
			t.Errorf("warnings %v lack %s", r.Warnings(), want)
		}
	}
	for id, wants := range map[string][]string{
		"bad": {`r1:2:16: roster entry "bad": port: 99999 is not a port`},
		"x":   {`"-oProxyCommand=id" is not the name of a host`},
		"u":   {`"-x" is not the name of a user`, "grains: needs a mapping, not a number", `"soon" is not a number of seconds`, `unknown connection "loca" (did you mean "local"?)`, `"9" is not an octal umask`, "winrm are not supported"},
	} {
		e, ok := r.Get(id)
		if !ok || e.Err == nil {
			t.Errorf("%s = %+v", id, e)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(e.Err.Error(), want) {
				t.Errorf("%s: %v lacks %s", id, e.Err, want)
			}
		}
	}
	if e, _ := r.Get("u"); strings.Contains(value.Repr(e.Extra), "hush") {
		t.Errorf("extra %s", value.Repr(e.Extra))
	}
	if e, _ := r.Get("web1"); e.Host != "a" {
		t.Errorf("web1 = %+v", e)
	}
	if _, err := roster.Load(roster.Options{Files: f, Render: f.render}, roster.Source{Kind: "flat", Path: "/none"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v", err)
	}
	if _, err := roster.Load(roster.Options{Files: f, Render: files{"/l": "[a]"}.render}, roster.Source{Kind: "flat", Path: "/l"}); err == nil || !strings.Contains(err.Error(), "a roster is a mapping of ids, not a list") {
		t.Errorf("Load = %v", err)
	}
	if _, err := roster.Load(roster.Options{}, roster.Source{Kind: "flatt"}); err == nil || !strings.Contains(err.Error(), `(did you mean "flat"?)`) {
		t.Errorf("Load = %v", err)
	}
}

func TestSecret(t *testing.T) {
	e := &roster.Entry{ID: "x", Passwd: roster.NewSecret("hush")}
	j, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "e", e.Passwd, "all", e)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "e", e.Passwd, "all", e)
	all := fmt.Sprintf("%v %+v %#v %s %q %x %d %s %v", e, *e, e.Passwd, e.Passwd, e.Passwd, e.Passwd, e.Passwd, j, &e.Passwd) + b.String()
	if strings.Contains(all, "hush") || strings.Contains(all, "68757368") || !strings.Contains(all, "********") {
		t.Errorf("printed: %s", all)
	}
	if !e.Passwd.IsSet() || e.PrivPasswd.IsSet() || e.PrivPasswd.String() != "" {
		t.Error("IsSet")
	}
}

func TestDir(t *testing.T) {
	f := files{"/d/m1": "user: ubuntu\n", "/d/m2": "host: 10.0.0.2\n", "/d/bad": "a: [", "/d/empty": "", "/d/.x": "a: b", "/d/list": "[a]"}
	r := load(t, f, roster.Options{Domain: "example.org"}, roster.Source{Kind: "dir", Path: "/d"})
	m1, _ := r.Get("m1")
	m2, _ := r.Get("m2")
	if strings.Join(ids(r), " ") != "m1 m2" || m1.Host != "m1.example.org" || m1.User != "ubuntu" || m2.Host != "10.0.0.2" || len(r.Warnings()) != 2 {
		t.Errorf("%v %+v %+v %v", ids(r), m1, m2, r.Warnings())
	}
}

func TestSources(t *testing.T) {
	f := files{"/etc/salt/roster": "a: b", "/srv/rosters/prod": "a: b", "/w/r": "", "/h/.ssh/config": "Host a"}
	list := func(ss ...string) *value.List { return value.Strings(ss...) }
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.MapOf(), "flat /etc/salt/roster"},
		{value.MapOf("roster", "flat", "roster_file", "/w/r"), "flat /w/r"},
		{value.MapOf("roster_file", "prod", "rosters", list("/none", "/srv/rosters")), "flat /srv/rosters/prod"},
		{value.MapOf("roster_file", list("/w/r", "/srv/rosters")), "flat /w/r, flat /srv/rosters"},
		{value.MapOf("roster", "sshconfig,flat"), "sshconfig /h/.ssh/config, flat /etc/salt/roster"},
		{value.MapOf("roster", list("dir"), "roster_dir", "/rd"), "dir /rd"},
		{value.MapOf("roster", "sshconfig", "ssh_config_file", "~/x"), "sshconfig /h/x"},
		{value.MapOf("roster", "ansible", "roster_file", "/w/r"), "ansible /w/r"},
		{value.MapOf("roster", "flatt"), `!unknown kind of roster "flatt" (did you mean "flat"?); kinds are flat, dir, sshconfig, ansible, terraform, scan, clustershell`},
		{value.MapOf("roster_file", "/srv/rosters/prdo"), `!roster file "/srv/rosters/prdo" not found (did you mean "prod"?): file does not exist`},
	} {
		s, err := roster.Sources(tt.opts, f, "/etc/salt", "/h")
		if strings.Contains(tt.want, "unknown kind") {
			_, err = roster.Load(roster.Options{}, s...) // a module could have it
		}
		var got []string
		for _, x := range s {
			got = append(got, x.Kind+" "+x.Path)
		}
		g := strings.Join(got, ", ")
		if err != nil {
			g = "!" + err.Error()
		}
		if g != tt.want {
			t.Errorf("Sources(%s) = %s, want %s", value.Repr(tt.opts), g, tt.want)
		}
	}
	if s, err := roster.Sources(value.MapOf(), files{}, "/etc/salt", "/h"); err != nil || len(s) != 0 {
		t.Errorf("Sources without a file = %v, %v", s, err)
	}
	d := roster.Defaults(value.MapOf("ssh_user", "ops", "ssh_port", "23", "ssh_passwd", "", "ssh_options", list("A=b"), "roster_defaults", value.MapOf("user", "adm", "tty", true)))
	if got := value.Repr(d); got != "{'user': 'adm', 'port': '23', 'ssh_options': ['A=b'], 'tty': True}" {
		t.Errorf("Defaults = %s", got)
	}
}

func TestSSHConfig(t *testing.T) {
	f := files{
		"/h/.ssh/config":   "# c\nHost gate\n  HostName 1.2.3.4\n  User adm\n\nHost web1 \"web 2\" *.x !no\n    Port 2222\n    IdentityFile ~/.ssh/web\nHost=eq\n  User = e\nHost web*\n  User ops\nHost *\n  User all\n  Port 24\nInclude conf.d/*\n",
		"/h/.ssh/conf.d/a": "Host inc\n  User i\n", "/h/.ssh/conf.d/b": "Host gate\n",
	}
	r := load(t, f, roster.Options{}, roster.Source{Kind: "sshconfig", Path: "/h/.ssh/config"})
	if got := strings.Join(ids(r), "|"); got != "gate|web1|eq|inc" && got != "gate|web1|web 2|eq|inc" {
		t.Errorf("ids %s (%v)", got, r.Warnings())
	}
	web, _ := r.Get("web1")
	if web.Host != "web1" || web.User != "ops" || web.Port != 2222 || web.Priv != "~/.ssh/web" || web.Pos.String() != "/h/.ssh/config:6:6" {
		t.Errorf("web1 = %+v", web)
	}
	if gate, _ := r.Get("gate"); gate.User != "adm" || gate.Port != 24 || gate.Host != "gate" {
		t.Errorf("gate = %+v", gate)
	}
	// What the reader cannot evaluate leaves the names.
	r = load(t, files{"/c": "Match exec true\n  User x\nHost a b\n"}, roster.Options{}, roster.Source{Kind: "sshconfig", Path: "/c"})
	if strings.Join(ids(r), " ") != "a b" || len(r.Warnings()) != 1 {
		t.Errorf("%v %v", ids(r), r.Warnings())
	}
}

const ini = `
# comment
lone.example.com ansible_host=10.9.9.9
[web]
web[01:03] ansible_user=ops ansible_port=23 # trailing
special:2200 ansible_ssh_pass='p w' ansible_become=yes
[fe80::1]:2222

[db]
db-[a:b].x ansible_connection=local
web01

[prod:children]
web
db

[web:vars]
ansible_user=group
ansible_ssh_private_key_file=/keys/web
ansible_ssh_common_args='-o ProxyJump=gate -o StrictHostKeyChecking=no'
[prod:vars]
ansible_user = prod
ansible_become_user="root"
ansible_sudo_pass=hush
release = 1.4
workers=5
debug=True
motto="as it is"
zip="01234"
floor='7'
mode=0644
[all:vars]
ansible_port=24
`

func TestInventoryINI(t *testing.T) {
	r := load(t, files{"/hosts": ini}, roster.Options{}, roster.Source{Kind: "ansible", Path: "/hosts"})
	if got := strings.Join(ids(r), " "); got != "lone.example.com web01 web02 web03 special fe80::1 db-a.x db-b.x" {
		t.Fatalf("ids %s", got)
	}
	for id, want := range map[string]string{
		"lone.example.com": "10.9.9.9 24   false  []",
		"web01":            "web01 23 ops /keys/web true root [ProxyJump=gate StrictHostKeyChecking=no]",
		"special":          "special 2200 group /keys/web true root [ProxyJump=gate StrictHostKeyChecking=no]",
		"fe80::1":          "fe80::1 2222 group /keys/web true root [ProxyJump=gate StrictHostKeyChecking=no]",
		"db-a.x":           "db-a.x 24 prod  true root []",
	} {
		e, _ := r.Get(id)
		if got := fmt.Sprint(e.Host, " ", e.Port, " ", e.User, " ", e.Priv, " ", e.Sudo, " ", e.SudoUser, " ", e.SSHOptions); got != want || e.Err != nil {
			t.Errorf("%s = %q, %v, want %q", id, got, e.Err, want)
		}
	}
	if e, _ := r.Get("web01"); value.Repr(e.MinionOpts) != "{'release': 1.4, 'workers': 5, 'debug': True, 'motto': 'as it is', 'zip': '01234', 'floor': '7', 'mode': '0644'}" {
		t.Errorf("minion_opts %s", value.Repr(e.MinionOpts))
	}
	if e, _ := r.Get("special"); e.Passwd.Reveal() != "p w" {
		t.Errorf("passwd %q", e.Passwd.Reveal())
	}
	if e, _ := r.Get("db-b.x"); e.Connection != roster.Local {
		t.Errorf("db-b.x = %+v", e)
	}
	want := "{'all': ['lone.example.com', 'web01', 'web02', 'web03', 'special', 'fe80::1', 'db-a.x', 'db-b.x'], 'db': ['web01', 'db-a.x', 'db-b.x'], 'prod': ['web01', 'web02', 'web03', 'special', 'fe80::1', 'db-a.x', 'db-b.x'], 'ungrouped': ['lone.example.com'], 'web': ['web01', 'web02', 'web03', 'special', 'fe80::1']}"
	if got := value.Repr(r.Nodegroups()); got != want {
		t.Errorf("groups %s\nwant   %s", got, want)
	}
	m, err := target.Compile("N@web and not N@db", "compound", r.Nodegroups())
	if err != nil {
		t.Fatal(err)
	}
	var hit []string
	for _, id := range ids(r) {
		if ok, _ := m.Match(target.Minion{ID: id}); ok {
			hit = append(hit, id)
		}
	}
	if got := strings.Join(hit, " "); got != "web02 web03 special fe80::1" {
		t.Errorf("matched %s", got)
	}
}

func TestInventoryYAML(t *testing.T) {
	f := files{
		"/i.yml":  "all:\n  vars: {ansible_user: a}\n  hosts:\n    h0: {}\n  children:\n    web:\n      hosts:\n        web[1:2]: {ansible_port: 23}\n      vars: {ansible_user: w}\n    db: {hosts: {db1: }}\n",
		"/i.json": `{"web": {"hosts": ["w1", "w2"], "vars": {"ansible_user": "u"}}, "plain": ["p1"], "all": {"children": ["web", "plain"]}, "_meta": {"hostvars": {"w1": {"ansible_host": "10.0.0.1", "ansible_password": 5}}}}`,
	}
	r := load(t, f, roster.Options{}, roster.Source{Kind: "ansible", Path: "/i.yml"}, roster.Source{Kind: "ansible", Path: "/i.json"})
	var got []string
	for _, e := range r.Entries() {
		got = append(got, fmt.Sprint(e.ID, e.Host, e.Port, e.User, e.Passwd.Reveal()))
	}
	want := "h0h00a web1web123w web2web223w db1db10a w110.0.0.10u5 w2w20u p1p10"
	if strings.Join(got, " ") != want {
		t.Errorf("entries %s, want %s", got, want)
	}
	if g := value.Repr(r.Nodegroups()); !strings.Contains(g, "'web': ['web1', 'web2']") || !strings.Contains(g, "'plain': ['p1']") {
		t.Errorf("groups %s", g)
	}
}

func TestInventoryFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[web:vrs]\n":                      `hosts:1:1: section [web:vrs] has an unknown kind (did you mean "vars"?)`,
		"[a:children]\nb\n[b:children]\na": `group "a" contains itself: a → b → a`,
		"[a]\nx y\n":                       `hosts:2:1: "y" behind a host needs KEY=VALUE`,
		"[a]\nx y='z\n":                    "hosts:2:1: a quote is not closed",
		"[a:vars]\nx\n":                    "hosts:2:1: a variable of [a:vars] needs KEY=VALUE",
		"x[1:999999999]\n":                 "stands for too many hosts",
		"x[1:9999][1:9999]\n":              "stands for too many hosts",
		"x[9:1]\n":                         "[9:1] is not a range",
		"x[01:100]\n":                      "need the same number of digits",
		"#!/bin/sh\n":                      "an inventory that is a program is not run",
		"all:\n  hosts: 5\n":               `hosts:2:3: hosts of group "all" needs a mapping, not a number`,
		"all:\n  host: {}\n":               `hosts:2:3: group "all": unknown key "host" (did you mean "hosts"?)`,
		"---\n- a\n":                       "an inventory is a mapping of groups, not a list",
		"all: [":                           "hosts:",
	} {
		f := files{"hosts": text}
		_, err := roster.Load(roster.Options{Files: f}, roster.Source{Kind: "ansible", Path: "hosts"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("inventory %q: %v, want %s", text, err, want)
		}
	}
}

func FuzzRoster(f *testing.F) {
	for _, s := range []string{flat, ini, "Host a b\n  User x\n", "[]:", "'-'", "x[1:5:9223372036854775807]", "all: {hosts: {a: {}}}", "[a:children]\na", "x[a:z]", "a: {sudo: 1}"} {
		f.Add(s)
	}
	debug.SetMemoryLimit(512 << 20)
	f.Fuzz(func(t *testing.T, s string) {
		// A range may stand for as many hosts as a roster may have.
		stop, peak := memtest.Watch()
		defer func() {
			if stop(); *peak > int64(4096*len(s))+384<<20 {
				t.Errorf("%d bytes of memory for %d", *peak, len(s))
			}
		}()
		m := files{"/r": s, "/d/a": s}
		for _, src := range []roster.Source{{Kind: "flat", Path: "/r"}, {Kind: "dir", Path: "/d"}, {Kind: "ansible", Path: "/r"}, {Kind: "sshconfig", Path: "/r"}} {
			if src.Kind == "sshconfig" && strings.Contains(strings.ToLower(s), "include") {
				continue // it would read files of the machine
			}
			r, err := roster.Load(roster.Options{Files: m, Render: m.render}, src)
			if err != nil {
				continue
			}
			for _, e := range r.Entries() {
				if e.ID == "" && e.Err == nil || e.Err == nil && e.Connection == roster.SSH && (strings.HasPrefix(e.Host, "-") || strings.HasPrefix(e.User, "-")) {
					t.Fatalf("%s: entry %+v", src.Kind, e)
				}
			}
		}
	})
}

// TestInventoryAsRoster has inventories of Ansible that are read as rosters, and rosters
// that look a little like them.
func TestInventoryAsRoster(t *testing.T) {
	t.Parallel()
	for text, is := range map[string]bool{
		"[web]\nh1\nh2\n":                                     true,
		"h1 ansible_host=192.0.2.1\nh2\n":                     true,
		"# all\n[web:children]\na\n":                          true,
		"all:\n  hosts: h1\n":                                 false,
		"all:\n  hosts:\n    h1: {ansible_host: 192.0.2.1}\n": true,
		"all:\n  children: {web: {hosts: {h1: {}}}}\n":        true,
		`{"_meta": {"hostvars": {}}, "web": {"hosts": []}}`:   true,
		"[a]":               false,
		"[a, b]: [":         false,
		"all: 192.0.2.1\n":  false,
		"all: {host: h1}\n": false,
		"web: {":            false,
	} {
		f := files{"/r": text}
		_, err := roster.Load(roster.Options{Files: f, Render: f.render}, roster.Source{Path: "/r"})
		var at *source.Error
		if got := errors.As(err, &at) && strings.Contains(at.Hint, "--roster ansible"); got != is {
			t.Errorf("%q: error %v, want one of an inventory: %v", text, err, is)
		}
	}
}
