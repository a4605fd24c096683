package user_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/group"
	"brine/modules/tool"
	"brine/modules/user"
)

// machine is a host with the user ann, whose tools change what the tests need.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", Passwd: "x", UID: 1000, GID: 1000, Gecos: "Ann,1", Home: "/home/ann", Shell: "/bin/sh"})
	h.PutUser(host.Account{Name: "bob", Passwd: "x", UID: 1001, GID: 4711})
	h.PutGroup(host.Group{Name: "ann", Passwd: "x", GID: 1000})
	h.PutGroup(host.Group{Name: "adm", Passwd: "x", GID: 4, Members: []string{"ann"}})
	h.PutFile("/etc/login.defs", "# USERGROUPS_ENAB no\nUSERGROUPS_ENAB yes\n", 0o644)
	h.PutFile("/r/etc/passwd", "eve:x:7:8::/home/eve:/bin/sh\n", 0o644)
	h.PutFile("/r/etc/group", "eve:x:8:\nwheel:x:10:\n", 0o644)
	h.HandleCommand("usermod *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		u, err := h.LookupUser(c.Argv[len(c.Argv)-1])
		if err != nil {
			return host.Output{Status: 6}, nil
		}
		switch v := c.Argv[2]; c.Argv[1] {
		case "-l":
			h.DropUser(u.Name)
			u.Name = v
		case "-g":
			u.GID = 4
		case "-s":
			u.Shell = v
		case "-d":
			u.Home = v
		case "-c":
			u.Gecos = v
		case "-u", "-G", "-a":
			return host.Output{Status: 4, Stderr: []byte("usermod: no\n")}, nil
		}
		h.PutUser(u)
		return host.Output{}, nil
	})
	h.OnCommand("usermod -g none ann", host.Output{Status: 6})
	h.OnCommand("usermod -G far ann", host.Output{Status: 6, Stderr: []byte("usermod: user 'ann' not found in /etc/passwd")})
	h.OnCommand("gpasswd *", host.Output{Status: 3})
	h.OnCommand("gpasswd -a ann far", host.Output{})
	h.OnCommand("useradd *", host.Output{})
	h.OnCommand("useradd -m taken", host.Output{Status: 9})
	h.OnCommand("userdel ann", host.Output{Status: 8})
	h.OnCommand("userdel -r -f ann", host.Output{Status: 12, Stderr: []byte("userdel: /var/mail/ann not owned by ann")})
	h.OnCommand("userdel bob", host.Output{})
	h.OnCommand("groupadd *", host.Output{})
	h.OnCommand("groupmod *", host.Output{Status: 4})
	h.OnCommand("groupdel *", host.Output{Status: 6})
	h.OnCommand("userinfo ann", host.Output{Stdout: []byte("login\tann\nclass\tstaff\n")})
	return h
}

// The commands are those of salt/modules/useradd.py and groupadd.py.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fun, args, want string // want: the value and the exit status
		calls           []string
	}{
		{"user.add", "{name: eve, uid: 5, gid: adm, shell: /bin/sh, home: /h, unique: False, system: True, createhome: False, nologinit: True, usergroup: False}", "True 0", []string{"useradd -s /bin/sh -u 5 -g adm -N -M -l -o -r -d /h eve"}},
		{"user.add", "{name: eve, usergroup: True}", "True 0", []string{"useradd -U -m eve"}},
		{"user.add", "{name: adm, groups: 'adm'}", "True 0", []string{"useradd -g 4 -m adm", "usermod -G adm adm"}},
		{"user.add", "{name: eve, root: /new}", "True 0", []string{"useradd -R /new -m eve"}},
		{"user.add", "{name: eve, loginclass: staff}", "True 0", []string{"useradd -m eve"}},
		{"user.add", "{name: taken}", "False 9", []string{"useradd -m taken"}},
		{"user.add", "{name: -r}", "Invalid user name '-r'", nil},
		{"user.chfullname", "{name: ann, fullname: Ann}", "True 0", nil},
		{"user.chother", "{name: ann, other: 7}", "True 0", []string{"usermod -c Ann,1,,,7 ann"}},
		{"user.chroomnumber", "{name: ann, roomnumber: null}", "True 0", []string{"usermod -c Ann ann"}},
		{"user.chfullname", "{name: none, fullname: x}", "User 'none' does not exist", nil},
		{"user.chgid", "{name: ann, gid: adm}", "True 0", []string{"usermod -g 4 ann"}},
		{"user.chgid", "{name: ann, gid: '1000'}", "True 0", nil},
		{"user.chgid", "{name: ann, gid: none}", "False 6", []string{"usermod -g none ann"}},
		{"user.chgid", "{name: eve, gid: eve, root: /r}", "True 0", nil},
		{"user.chgid", "{name: eve, gid: none, root: /r}", "False 6", []string{"usermod -R /r -g none eve"}},
		{"user.chgroups", "{name: ann, groups: [ann, adm]}", "True 0", nil},
		{"user.chgroups", "{name: ann, groups: 'x,y', append: True}", "False 4", []string{"usermod -a -G x,y ann"}},
		{"user.chgroups", "{name: ann, groups: far}", "True 0", []string{"usermod -G far ann", "gpasswd -a ann far"}},
		{"user.chhome", "{name: ann, home: /h, persist: True}", "True 0", []string{"usermod -d /h -m ann"}},
		{"user.chloginclass", "{name: ann, loginclass: staff}", "False 0", nil},
		{"user.chshell", "{name: ann, shell: /bin/zsh}", "True 0", []string{"usermod -s /bin/zsh ann"}},
		{"user.chuid", "{name: ann, uid: 1001}", "False 4", []string{"usermod -u 1001 ann"}},
		{"user.delete", "{name: ann}", "False 8", []string{"userdel ann"}},
		{"user.delete", "{name: ann, remove: True, force: True}", "False 12", []string{"userdel -r -f ann"}},
		{"user.delete", "{name: bob}", "True 0", []string{"userdel bob"}},
		{"user.get_loginclass", "{name: ann}", "False 0", nil},
		{"user.primary_group", "{name: bob}", "4711 0", nil},
		{"user.rename", "{name: ann, new_name: eve}", "True 0", []string{"usermod -l eve ann"}},
		{"user.rename", "{name: ann, new_name: bob}", "User 'bob' already exists", nil},
		{"user.rename", "{name: none, new_name: eve}", "User 'none' does not exist", nil},
		{"group.add", "{name: g, gid: 0, non_unique: True, system: True}", "True 0", []string{"groupadd -g 0 -o -r g"}},
		{"group.add", "{name: g, non_unique: True, root: /r}", "True 0", []string{"groupadd -R /r g"}},
		{"group.add", "{name: --help}", "Invalid group name '--help'", nil},
		{"group.chgid", "{name: adm, gid: 4}", "True 0", nil},
		{"group.chgid", "{name: adm, gid: 5, non_unique: True}", "False 4", []string{"groupmod -g 5 -o adm"}},
		{"group.chgid", "{name: none, gid: 5}", "False 0", nil},
		{"group.adduser", "{name: adm, username: bob}", "False 3", []string{"gpasswd --add bob adm"}},
		{"group.deluser", "{name: adm, username: bob}", "True 0", nil},
		{"group.deluser", "{name: adm, username: ann}", "False 3", []string{"gpasswd --del ann adm"}},
		{"group.deluser", "{name: none, username: ann}", "True 0", nil},
		{"group.members", "{name: adm, members_list: 'ann,bob', root: /r}", "False 3", []string{"gpasswd -Q /r --members ann,bob adm"}},
		{"group.delete", "{name: adm}", "False 6", []string{"groupdel adm"}},
	} {
		t.Run(tt.fun+" "+tt.args, func(t *testing.T) {
			t.Parallel()
			h := machine()
			env := &fun.Env{Machine: fun.Machine{Host: h}}
			env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "user", Load: user.Module}, {Kind: fun.Exec, Name: "group", Load: group.Module}})
			args, err := yamlsalt.LoadString(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			env.Invoker = dispatch.New(env)
			res, err := env.Invoker.Invoke(t.Context(), fun.Exec, tt.fun, fun.Args{Kw: args.(*value.Map)})
			got := value.Str(res.Value) + " " + value.Str(int64(res.Retcode))
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			var calls []string
			for _, c := range h.Calls() {
				calls = append(calls, strings.Join(c.Argv, " "))
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReason: the log has why a program failed.
func TestReason(t *testing.T) {
	t.Parallel()
	h := machine()
	h.OnCommand("useradd -m eve", host.Output{Status: 9, Stderr: []byte("useradd: no space left on device\n")})
	var log strings.Builder
	env := &fun.Env{Machine: fun.Machine{Host: h}, UI: fun.UI{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "user", Load: user.Module}})
	env.Invoker = dispatch.New(env)
	res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "user.add", fun.Args{Kw: value.MapOf("name", "eve")})
	if want := `level=ERROR msg="useradd failed" status=9 message="useradd: no space left on device"`; err != nil || res.Value != false || !strings.Contains(log.String(), want) {
		t.Errorf("user.add = %v, %v; the log is %q, want %q in it", res.Value, err, log.String(), want)
	}
}

// The tools of an Admin know the families that differ.
func TestFamilies(t *testing.T) {
	t.Parallel()
	h := machine()
	a := &user.Admin{Accounts: tool.Accounts{Host: h}, Debian: true, OpenBSD: true}
	if ok, err := a.Delete(t.Context(), "ann", true, true); !ok || err != nil {
		t.Errorf("a missing mail spool of Debian = %v, %v, want true", ok, err)
	}
	if class, err := a.LoginClass(t.Context(), "ann"); class != "staff" || err != nil {
		t.Errorf("LoginClass = %q, %v", class, err)
	}
	if ok, err := a.SetLoginClass(t.Context(), "ann", "staff"); !ok || err != nil {
		t.Errorf("SetLoginClass of the same class = %v, %v", ok, err)
	}
	if ok, err := a.SetLoginClass(t.Context(), "ann", "other"); ok || err != nil {
		t.Errorf("SetLoginClass without effect = %v, %v", ok, err)
	}
}
