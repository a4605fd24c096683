package linuxacl_test

import (
	"context"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/testkit/calltest"
	mod "brine/modules/linuxacl"
	"brine/states/linuxacl"
)

// machine has getfacl and setfacl for /d, which keep the entries in memory.
func machine() (*calltest.Rig, *host.Fake) {
	h := host.NewFake()
	h.PutExe("/usr/bin/getfacl")
	h.PutExe("/usr/bin/setfacl")
	h.PutDir("/d", 0o755)
	h.PutFile("/d/f\\x", "", 0o644)
	entries := []string{"user::rwx", "group::r-x", "other::---"}
	h.HandleCommand("getfacl --absolute-names*", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name := c.Argv[len(c.Argv)-1]
		if name == "/gone" {
			return host.Output{Status: 1, Stderr: []byte("getfacl: /gone: No such file or directory\n")}, nil
		}
		return host.Output{Stdout: []byte("# file: " + name + "\n# owner: root\n# group: adm\n# flags: s-t\n" + strings.Join(entries, "\n") + "\n\n")}, nil
	})
	h.HandleCommand("setfacl *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		for i, a := range c.Argv {
			if a != "-m" && a != "-x" {
				continue
			}
			spec := strings.Replace(c.Argv[i+1], "d:", "default:", 1)
			for short, long := range map[string]string{"u:": "user:", "g:": "group:", "o:": "other:"} {
				if rest, ok := strings.CutPrefix(strings.TrimPrefix(spec, "default:"), short); ok {
					spec = strings.TrimSuffix(spec, short+rest) + long + rest
					break
				}
			}
			if strings.Contains(spec, "nosuch") {
				return host.Output{Status: 2, Stderr: []byte("setfacl: Option -m: Invalid argument near character 3\n")}, nil
			}
			key := spec
			if a == "-m" {
				key = spec[:strings.LastIndex(spec, ":")]
				spec = key + ":" + mod.Text(map[string]int{"rx": 5, "rw": 6, "r": 4, "rwX": 7}[spec[len(key)+1:]])
			}
			var kept []string
			for _, e := range entries {
				if !strings.HasPrefix(e, key+":") {
					kept = append(kept, e)
				}
			}
			if entries = kept; a == "-m" {
				entries = append(entries, spec)
			}
		}
		return host.Output{}, nil
	})
	h.OnCommand("getfacl --version", host.Output{Stdout: []byte("getfacl 2.3.1\n")})
	return calltest.New(h, fun.Entry{Kind: fun.Exec, Name: "linux_acl", Virtual: "acl", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "linux_acl", Virtual: "acl", Load: linuxacl.States}), h
}

func TestACL(t *testing.T) {
	t.Parallel()
	r, h := machine()
	r.Steps(t, []calltest.Step{
		{"test acl.present {name: /d, acl_type: user, acl_name: ua, perms: rx}", "None: New permissions will be applied for ua: rx {'new': {'acl_name': 'ua', 'acl_type': 'user', 'perms': 'rx'}}"},
		{"state acl.present {name: /d, acl_type: user, acl_name: ua, perms: rx}", "True: Applied new permissions for ua {'new': {'acl_name': 'ua', 'acl_type': 'user', 'perms': 'rx'}}"},
		{"state acl.present {name: /d, acl_type: user, acl_name: ua, perms: rx}", "True: Permissions are in the desired state {}"},
		{"test acl.present {name: /d, acl_type: user, acl_name: ua, perms: r}", "None: Updated permissions will be applied for ua: r-x -> r {'new': {'acl_name': 'ua', 'acl_type': 'user', 'perms': 'r'}, 'old': {'acl_name': 'ua', 'acl_type': 'user', 'perms': 'r-x'}}"},
		{"state acl.present {name: /d, acl_type: group, acl_name: ga, perms: rwX, force: True}", "True: Applied new permissions for ga {'new': {'acl_name': 'ga', 'acl_type': 'group', 'perms': 'rwX'}}"},
		{"state acl.present {name: /d, acl_type: group, acl_name: ga, perms: rwX}", "True: Permissions are in the desired state {}"},
		{"state acl.present {name: /d, acl_type: other, perms: r}", "True: Updated permissions for  {'new': {'acl_name': '', 'acl_type': 'other', 'perms': 'r'}, 'old': {'acl_name': '', 'acl_type': 'other', 'perms': '---'}}"},
		{"state acl.present {name: /d, acl_type: 'default:user', acl_name: ub, perms: rw}", "True: Applied new permissions for ub {'new': {'acl_name': 'ub', 'acl_type': 'default:user', 'perms': 'rw'}}"},
		{"state acl.present {name: /d, acl_type: user, acl_name: nosuch, perms: r}", "False: Error updating permissions for nosuch: setfacl: Option -m: Invalid argument near character 3 {}"},
		{"state acl.present {name: /d, acl_type: user, acl_name: 'a:b', perms: r}", "False: Error updating permissions for a:b: invalid name of a user or group: 'a:b' {}"},
		{"state acl.present {name: /none, acl_type: user, perms: r}", "False: /none does not exist {}"},
		{"state acl.present {name: /d, acl_type: bogus, perms: r}", "False: ACL Type does not exist {}"},
		{"test acl.list_present {name: /d, acl_type: user, acl_names: [ua, uc], perms: r}", "None: New permissions will be applied for ['ua', 'uc']: r {'new': {'acl_name': 'ua, uc', 'acl_type': 'user', 'perms': 'r'}}"},
		{"state acl.list_present {name: /d, acl_type: user, acl_names: [ua, uc], perms: r}", "True: Applied new permissions for ua, uc {'new': {'acl_name': 'ua, uc', 'acl_type': 'user', 'perms': 'r'}}"},
		{"test acl.list_present {name: /d, acl_type: user, acl_names: [ua, uc], perms: rw}", "None: Updated permissions will be applied for ['ua', 'uc']: r-- -> rw {'new': {'acl_name': 'ua, uc', 'acl_type': 'user', 'perms': 'rw'}, 'old': {'acl_name': 'ua, uc', 'acl_type': 'user', 'perms': 'r--'}}"},
		{"test acl.list_absent {name: /d, acl_type: user, acl_names: [ua, ux]}", "None: Removing permissions {'old': {'acl_name': 'ua', 'acl_type': 'user', 'perms': 'r--'}}"},
		{"state acl.list_absent {name: /d, acl_type: user, acl_names: [ua, uc]}", "True: Removing permissions {'old': {'acl_name': 'ua, uc', 'acl_type': 'user', 'perms': 'r--'}}"},
		{"state acl.absent {name: /d, acl_type: user, acl_name: ua}", "True: Permissions are in the desired state {}"},
		{"state acl.absent {name: /d, acl_type: user}", "True: Permissions are in the desired state {}"},
		{"state acl.absent {name: /d, acl_type: 'd:user', acl_name: ub}", "True: Removing permissions {'old': {'acl_name': 'ub', 'acl_type': 'd:user', 'perms': 'rw-'}}"},
		{"call acl.version []", "'2.3.1'"},
		{"call acl.getfacl []", "error: You need to specify at least one file or directory to work with!"},
		{"call acl.getfacl [/gone]", "{}"},
		{"call acl.wipefacls [/d]", "True"},
		{"call acl.delfacl [user, ua, /d]", "True"},
		{"call acl.modfacl [user, ua, 'q', /d]", "error: permissions are letters of rwxX-, not 'q'"},
	})
	want := "{'/d': {'comment': {'file': '/d', 'owner': 'root', 'group': 'adm', 'flags': 's-t'}, 'user': [{'root': {'permissions': {'read': True, 'write': True, 'execute': True}, 'octal': 7}}], "
	if got := r.Fn(t, "acl.getfacl", "[/d]"); !strings.HasPrefix(got, want) {
		t.Errorf("getfacl: %s", got)
	}
	h.Forget()
	r.Fn(t, "acl.modfacl", "[user, ua, rx, '-x', /d]")
	if got := strings.Join(h.Calls()[0].Argv, " "); got != "setfacl -m u:ua:rx -- -x /d" {
		t.Errorf("command: %s", got)
	}
}

// TestMasked: an entry is what the mask leaves of it, so that a mode that shut an entry out is
// mended, and not reported as if it were there.
func TestMasked(t *testing.T) {
	t.Parallel()
	all := mod.Parse("# file: /d\nuser::rw-\nuser:ua:rw-\t#effective:---\nuser:ub:rwx\t\t#effective:r--\nmask::r--\nother::---\n")
	if len(all) != 1 || len(all[0].Entries) != 5 || all[0].Entries[1].Perm != 0 || all[0].Entries[2].Perm != 4 {
		t.Fatalf("%+v", all)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# file: a\\040b\n# owner: root\n# group: x\nuser::rwx\nuser:a:rwx\t#effective:r--\ndefault:mask::r--\n")
	f.Fuzz(func(_ *testing.T, text string) {
		for _, a := range mod.Parse(text) {
			a.Find(true, "user", "x")
			a.Has(false, "mask")
		}
	})
}
