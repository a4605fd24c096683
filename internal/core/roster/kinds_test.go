package roster_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/roster"
	"brine/internal/py/value"
)

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"adm@web1", "adm web1 0"},
		{"adm@web1:2222", "adm web1 2222"},
		{"ssh://adm@web1:22", "adm web1 22"},
		{"adm@[fe80::1]:2222", "adm fe80::1 2222"},
		{"adm@[::1]", "adm ::1 0"},
		{"adm@::1", "adm ::1 0"},
		{"a@b@host", "a@b host 0"},
		{"web1", "-"},
		{"*@web1", "-"},
		{"web*", "-"},
		{"@web1", "!the user is missing"},
		{"adm@", "!is not a host"},
		{"adm@-oX", "!is not a host"},
		{"adm@a b", "!is not a host"},
		{"adm@web1:", "!a port follows"},
		{"adm@web1:x", "!is not a port"},
		{"adm@web1:99999", "!is not a port"},
		{"adm@web*", "!is not a host"},
	} {
		a, ok, err := roster.ParseAddress(tt.in)
		got := fmt.Sprintf("%s %s %d", a.User, a.Host, a.Port)
		switch {
		case err != nil:
			got = "!" + err.Error()
		case !ok:
			got = "-"
		}
		if got != tt.want && (!strings.HasPrefix(tt.want, "!") || !strings.HasPrefix(got, "!") || !strings.Contains(got, tt.want[1:])) {
			t.Errorf("ParseAddress(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestAdHoc(t *testing.T) {
	f := files{"/r": "web1: {host: 10.0.0.1, user: ops, port: 2200, sudo: True}\n"}
	o := roster.Options{Defaults: value.MapOf("timeout", int64(3)), AdHoc: []roster.Address{{User: "adm", Host: "web1"}, {User: "me", Host: "10.0.0.9", Port: 23}}}
	r := load(t, f, o, roster.Source{Kind: "flat", Path: "/r"})
	if e, _ := r.Get("web1"); e.Host != "10.0.0.1" || e.User != "adm" || e.Port != 2200 || !e.Sudo {
		t.Errorf("web1 = %+v", e)
	}
	if e, _ := r.Get("10.0.0.9"); e == nil || e.Host != "10.0.0.9" || e.User != "me" || e.Port != 23 || e.Timeout == 0 {
		t.Errorf("10.0.0.9 = %+v", e)
	}
	o.AdHoc = append(o.AdHoc, roster.Address{User: "you", Host: "10.0.0.9"})
	o.Files, o.Render = f, f.render
	if _, err := roster.Load(o, roster.Source{Kind: "flat", Path: "/r"}); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("twice: %v", err)
	}
	// An id that looks like an address is that id.
	f["/r"] += "web1@prod: {host: 10.0.0.2}\n"
	o.AdHoc = []roster.Address{{Text: "web1@prod", User: "web1", Host: "prod"}}
	if r = load(t, f, o, roster.Source{Kind: "flat", Path: "/r"}); len(r.Entries()) != 2 {
		t.Errorf("%d entries", len(r.Entries()))
	}
	// What is written to a roster is read again.
	for _, a := range []roster.Address{{User: "me", Host: "10.0.0.9", Port: 23}, {User: "o'neil {{", Host: "fe80::1"}, {User: "007", Host: "12"}} {
		f := files{"/r": a.Lines()}
		r := load(t, f, roster.Options{}, roster.Source{Kind: "flat", Path: "/r"})
		if e, _ := r.Get(a.ID()); e == nil || e.Host != a.Host || e.User != a.User || e.Port != a.Port || e.Err != nil {
			t.Errorf("%+v is read as %+v: %s", a, e, a.Lines())
		}
	}
}

// One warning for a fault, however many entries have it.
func TestSlips(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "web%d: {host: a, usr: x, passwd: hush}\n", i)
	}
	b.WriteString("db: {host: a, usr: x, prot: 2}\n")
	exposed := 0
	r := load(t, files{"/r": b.String()}, roster.Options{Exposed: func(string) bool { exposed++; return true }}, roster.Source{Kind: "flat", Path: "/r"})
	var got []string
	for _, w := range r.Warnings() {
		got = append(got, w.Error())
	}
	want := []string{
		"r: the file has passwords and every user can read it: chmod o-rwx r",
		`r:1:17: roster entry "web0" and 500 more: unknown key "usr" (did you mean "user"?)`,
		`r:501:23: roster entry "db": unknown key "prot" (did you mean "port"?)`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || exposed != 1 {
		t.Errorf("warnings %q, %d looks; want %q", got, exposed, want)
	}
	r = load(t, files{"/r": "a: {host: b}\n"}, roster.Options{Exposed: func(string) bool { return true }, Defaults: value.MapOf("passwd", "hush")}, roster.Source{Kind: "flat", Path: "/r"})
	if len(r.Warnings()) > 0 {
		t.Errorf("a roster without passwords: %v", r.Warnings())
	}
}

func TestTerraform(t *testing.T) {
	for name, text := range map[string]string{
		"new": `{"version": 4, "resources": [
			{"type": "aws_instance", "name": "x", "instances": [{"attributes": {"salt_id": "no"}}]},
			{"type": "salt_host", "name": "db", "instances": [
				{"attributes": {"salt_id": "db1", "host": "10.0.0.1", "user": "adm", "passwd": "hush", "port": 2222, "sudo": true, "timeout": 0, "tty": null, "minion_opts": {"a": 1}, "other": 1}},
				{"attributes": {"host": "10.0.0.2"}}]}]}`,
		"old": `{"modules": [{"resources": {"salt_host.db": {"type": "salt_host", "primary": {"attributes": {"salt_id": "db1", "host": "10.0.0.1", "user": "adm", "passwd": "hush", "port": "2222", "sudo": "true", "tty": "false"}}}, "salt_host.x": {"type": "salt_host"}}}]}`,
	} {
		r := load(t, files{"/t.tfstate": text}, roster.Options{}, roster.Source{Kind: "terraform", Path: "/t.tfstate"})
		e, _ := r.Get("db1")
		if e == nil || e.Err != nil || len(r.Entries()) != 1 || e.Host != "10.0.0.1" || e.User != "adm" || e.Port != 2222 || !e.Sudo || e.TTY || e.Passwd.Reveal() != "hush" {
			t.Errorf("%s: %+v", name, e)
		}
		if len(r.Warnings()) != 1 || !strings.Contains(r.Warnings()[0].Error(), "has no salt_id") {
			t.Errorf("%s: warnings %v", name, r.Warnings())
		}
	}
	for text, want := range map[string]string{"{": "read Terraform state", "{}": "neither resources nor modules", "[]": "neither resources nor modules"} {
		if _, err := roster.Load(roster.Options{Files: files{"/t": text}}, roster.Source{Kind: "terraform", Path: "/t"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := roster.Load(roster.Options{Files: files{}}, roster.Source{Kind: "terraform", Path: "terraform.tfstate"}); err == nil || !strings.Contains(err.Error(), "--roster-file") {
		t.Errorf("none: %v", err)
	}
	r := load(t, files{"/t": `{"resources": []}`}, roster.Options{}, roster.Source{Kind: "terraform", Path: "/t"})
	if len(r.Warnings()) != 1 {
		t.Errorf("empty: %v", r.Warnings())
	}
}

func TestNodeSet(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"web1", "web1"},
		{"web[1-3],db", "web1 web2 web3 db"},
		{"web[1-3,7,9-10]", "web1 web2 web3 web7 web9 web10"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[0-10/5]x", "n0x n5x n10x"},
		{"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
		{"a,a, a", "a"},
		{"", ""},
		{"web[1-", "!not closed"},
		{"web[3-1]", "!not a range"},
		{"web[a-c]", "!not a range"},
		{"web]", "!not the name"},
		{"n[0-9/0]", "!not a range"},
		{"@all", "!there are no groups"},
		{"a[1-4]!a2", "a1 a3 a4"},
		{"a[1-4]&a[3-9]", "a3 a4"},
		{"a[1-3]^a[3-4]", "a1 a2 a4"},
		{"a[1-4]!a[2,3],b!a4", "a1 b"},
		{"a!", "!a name is missing after !"},
		{"n[1-99999999]", "!stands for more"},
		{"n[1-60000][1-60000]", "!stands for more"},
		{"web*", "!not the name"},
	} {
		names, err := roster.NodeSet(tt.in, nil)
		got := strings.Join(names, " ")
		if err != nil {
			got = "!" + err.Error()
		}
		if got != tt.want && (!strings.HasPrefix(tt.want, "!") || !strings.Contains(got, tt.want[1:])) {
			t.Errorf("NodeSet(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestNodeGroups: groups of ClusterShell's files. Sources that run commands are
// refused by name.
func TestNodeGroups(t *testing.T) {
	fs := files{
		"/me/.config/clustershell/groups.d/site.yaml": "racks:\n  r1: 'n[1-2]'\n  r2: ['n3', 'n[4-5]']\nnone:\n",
		"/etc/clustershell/groups.d/local.cfg":        "# ours\nweb: web[1-3]\ndb: db1\nall: @web,@db\nloop: @loop\n",
		"/etc/clustershell/groups.conf":               "[Main]\ndefault: local\n[local]\nmap: sed x\n[slurm,sinfo]\nmap: sinfo -h\n",
	}
	for _, tt := range []struct{ in, want string }{
		{"@web", "web1 web2 web3"},
		{"@all!web2", "web1 web3 db1"},
		{"@local:db,x", "db1 x"},
		{"@racks:r[1-2]", "n1 n2 n3 n4 n5"},
		{"@racks:*&n[2-4]", "n2 n3 n4"},
		{"@nobody", `!no group "nobody" in the source "local"`},
		{"@other:x", `!no source "other" of groups in the configuration of ClusterShell (/me/.config/clustershell`},
		{"@slurm:x", "!runs commands, which is not supported"},
		{"@loop", "!or in themselves"},
	} {
		r, err := load(t, fs, roster.Options{Home: "/me"}).Name("clustershell", tt.in)
		var got string
		if err != nil {
			got = "!" + err.Error()
		} else {
			var ids []string
			for _, e := range r.Entries() {
				ids = append(ids, e.ID)
			}
			got = strings.Join(ids, " ")
		}
		if got != tt.want && (!strings.HasPrefix(tt.want, "!") || !strings.Contains(got, tt.want[1:])) {
			t.Errorf("%q = %s, want %s", tt.in, got, tt.want)
		}
	}
	fs["/etc/clustershell/groups.d/bad.yaml"] = "- a list\n"
	if _, err := load(t, fs, roster.Options{Home: "/me"}).Name("clustershell", "@web"); err == nil || !strings.Contains(err.Error(), "bad.yaml") {
		t.Error(err)
	}
}

func FuzzNodeSet(f *testing.F) {
	f.Add("web[1-3,7],db[01-09/2]")
	f.Add("a[")
	f.Fuzz(func(t *testing.T, s string) {
		names, err := roster.NodeSet(s, func(_, name string) (string, error) { return name + ",@" + s, nil })
		if err == nil && len(names) > 1<<17 {
			t.Errorf("%d names", len(names))
		}
		_, _, _ = roster.ParseAddress(s)
	})
}

func TestScan(t *testing.T) {
	open := func(host string, port int) bool {
		return host == "192.0.2.1" && port == 22 || host == "192.0.2.2" && port == 2222
	}
	o := roster.Options{Open: open, ScanPorts: []string{"22", "2222"}, Defaults: value.MapOf("user", "adm")}
	name := func(r *roster.Roster, kind, target string) *roster.Roster {
		t.Helper()
		named, err := r.Name(kind, target)
		if err != nil {
			t.Fatal(err)
		}
		return named
	}
	r := load(t, files{"/r": "192.0.2.1: {host: there, user: adm}\n"}, o, roster.Source{Path: "/r"})
	var got []string
	for _, e := range name(r, "scan", "192.0.2.0/29,192.0.2.2").Entries() {
		got = append(got, fmt.Sprintf("%s:%d %s", e.Host, e.Port, e.User))
	}
	if s := strings.Join(got, ", "); s != "there:0 adm, 192.0.2.2:2222 adm" {
		t.Errorf("scan: %s", s)
	}
	if got := strings.Join(ids(name(r, "clustershell", "192.0.2.[1-3]")), " "); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Errorf("clustershell: %s", got)
	}
	if got := strings.Join(ids(r), " "); got != "192.0.2.1 192.0.2.2 192.0.2.3" {
		t.Errorf("the roster has %s now", got)
	}
	if e, _ := r.Get("192.0.2.2"); e.Port != 2222 {
		t.Errorf("port %d", e.Port)
	}
	for target, want := range map[string]string{"web*": "not \"web*\"", "10.0.0.0/8": "too many to scan", "": "needs an address"} {
		if _, err := r.Name("scan", target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scan %q: %v", target, err)
		}
	}
	o.ScanPorts = []string{"ssh"}
	if _, err := load(t, files{}, o).Name("clustershell", "web1"); err == nil || !strings.Contains(err.Error(), "ssh_scan_ports") {
		t.Errorf("a port that is none: %v", err)
	}
	if _, err := roster.Load(roster.Options{}, roster.Source{Kind: "cache"}); err == nil || !strings.Contains(err.Error(), "write a flat roster") {
		t.Errorf("cache: %v", err)
	}
}

// An inventory as projects have it: a directory with variables beside it.
func TestInventoryDirectory(t *testing.T) {
	f := files{
		"/inv/01-hosts":                      "[web]\nweb1\nweb2 ansible_port=2222\n[win]\nwin1 ansible_connection=winrm\n[web:vars]\nansible_user=inventory\ntier=inventory\n",
		"/inv/02-more.yml":                   "all:\n  children:\n    db:\n      hosts:\n        db1:\n          ansible_password: !vault |\n            $ANSIBLE_VAULT;1.1;AES256\n            6162\n          note: !unsafe '{{ x }}'\n",
		"/inv/03-dynamic":                    "#!/usr/bin/env python3\n",
		"/inv/04-aws.yml":                    "plugin: amazon.aws.aws_ec2\ncache: true\ncache_plugin: ansible.builtin.jsonfile\ncache_connection: ../cache\n",
		"/inv/05-gcp.yml":                    "plugin: gcp_compute\n",
		"/cache/ansible_inventory_aws_ec2_1": `{"_meta": {"hostvars": {"ec2-1": {"ansible_host": "10.1.1.1"}, "ec2-2": {}}}, "tag_web": {"hosts": ["ec2-1"]}}`,
		"/inv/README.md":                     "[x\n",
		"/inv/old.bak":                       "[x\n",
		"/inv/group_vars/all.yml":            "ansible_user: all\ntier: all\nregion: eu\n",
		"/inv/group_vars/web/main.yml":       "tier: web\n",
		"/inv/group_vars/web/vault.yml":      "$ANSIBLE_VAULT;1.1;AES256\n6162\n",
		"/inv/group_vars/db":                 "ansible_port: 2200\nsecret: {password: !vault x, name: db}\nkeys: [!vault x, a]\n",
		"/inv/host_vars/web2.yml":            "ansible_port: 2223\n",
		"/inv/host_vars/other.yml":           "{",
	}
	r := load(t, f, roster.Options{}, roster.Source{Kind: "ansible", Path: "/inv"})
	if got := strings.Join(ids(r), " "); got != "web1 web2 db1 ec2-1 ec2-2" {
		t.Fatalf("ids %s: %v", got, r.Warnings())
	}
	for id, want := range map[string]string{
		"web1":  "web1 all 0 web eu",
		"web2":  "web2 all 2223 web eu",
		"db1":   "db1 all 2200 all eu",
		"ec2-1": "10.1.1.1 all 0 all eu",
	} {
		e, _ := r.Get(id)
		if got := fmt.Sprintf("%s %s %d %s %s", e.Host, e.User, e.Port, e.MinionOpts.Str("tier"), e.MinionOpts.Str("region")); got != want || e.Err != nil {
			t.Errorf("%s = %s, want %s (%v)", id, got, want, e.Err)
		}
	}
	db, _ := r.Get("db1")
	if db.Passwd.IsSet() || value.Repr(db.MinionOpts.At("secret")) != "{'name': 'db'}" || value.Repr(db.MinionOpts.At("keys")) != "['a']" || db.MinionOpts.Str("note") != "{{ x }}" {
		t.Errorf("db1 = %+v, %s", db, value.Repr(db.MinionOpts))
	}
	if got := value.Repr(r.Nodegroups().At("all")); strings.Contains(got, "win1") {
		t.Errorf("the group all is %s", got)
	}
	var got []string
	for _, w := range r.Warnings() {
		got = append(got, w.Error())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		`/inv/03-dynamic:1: an inventory that is a program is not run`, `the inventory plugin "gcp_compute" is not run and has no JSON cache`,
		`/inv/group_vars/web/vault.yml: the file is encrypted`, `roster entry "win1": left out: its connection is winrm, not SSH`,
		`roster entry "db1": the variable ansible_password is encrypted (!vault) and is left out`, `the variable secret:password is encrypted`, `the variable keys is encrypted`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in:\n%s", want, all)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d warnings:\n%s", len(got), all)
	}
	for text, want := range map[string]string{"$ANSIBLE_VAULT;1.1\n": "is encrypted", "#!/bin/sh": "is not run"} {
		if _, err := roster.Load(roster.Options{Files: files{"/i": text}}, roster.Source{Kind: "ansible", Path: "/i"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := roster.Load(roster.Options{Files: files{"/i": "[web]\nweb1\n", "/host_vars/web1": "[a]"}}, roster.Source{Kind: "ansible", Path: "/i"}); err == nil || !strings.Contains(err.Error(), "variables are a mapping") {
		t.Errorf("host_vars: %v", err)
	}
}
