package user_test

import (
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/group"
	"brine/modules/user"
)

func TestModules(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutUser(host.Account{Name: "ann", Passwd: "x", UID: 1000, GID: 1000, Gecos: "Ann A,R1,W2,H3,other,more", Home: "/home/ann", Shell: "/bin/bash"})
	h.PutGroup(host.Group{Name: "ann", Passwd: "x", GID: 1000})
	h.PutGroup(host.Group{Name: "adm", Passwd: "x", GID: 4, Members: []string{"ann", "bob"}})
	h.PutFile("/srv/root/etc/passwd", "eve:!:7:8::/home/eve:/bin/sh\n", 0o644)
	h.PutFile("/srv/root/etc/group", "eve:x:8:\nwheel:x:10:eve\n", 0o644)
	env := &fun.Env{Machine: fun.Machine{Host: h}}
	env.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "user", Load: user.Module}, {Kind: fun.Exec, Name: "group", Load: group.Module}})
	env.Invoker = dispatch.New(env)
	load := func(s string) value.Value {
		v, err := yamlsalt.LoadString(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const ann = "{gid: 1000, groups: [adm, ann], home: /home/ann, name: ann, passwd: x, shell: /bin/bash, uid: 1000, fullname: Ann A, roomnumber: R1, workphone: W2, homephone: H3, other: 'other,more'}"
	const eve = "{gid: 8, groups: [eve, wheel], home: /home/eve, name: eve, passwd: '!', shell: /bin/sh, uid: 7, fullname: '', roomnumber: '', workphone: '', homephone: '', other: ''}"
	for _, tt := range []struct{ fun, args, want string }{
		{"user.info", "{name: ann}", ann},
		{"user.info", "{name: none}", "{}"},
		{"user.info", "{name: eve, root: /srv/root}", eve},
		{"user.getent", "{root: /srv/root}", "[" + eve + "]"},
		{"user.list_users", "{}", "[ann, nobody, root]"},
		{"user.list_groups", "{name: ann}", "[adm, ann]"},
		{"user.list_groups", "{name: none}", "[]"},
		{"user.primary_group", "{name: ann}", "ann"},
		{"group.info", "{name: adm}", "{name: adm, passwd: x, gid: 4, members: [ann, bob]}"},
		{"group.info", "{name: none}", "{}"},
		{"group.info", "{name: wheel, root: /srv/root}", "{name: wheel, passwd: x, gid: 10, members: [eve]}"},
		{"group.getent", "{root: /srv/root}", "[{name: eve, passwd: x, gid: 8, members: []}, {name: wheel, passwd: x, gid: 10, members: [eve]}]"},
	} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, tt.fun, fun.Args{Kw: load(tt.args).(*value.Map)})
		if err != nil || !value.Equal(res.Value, load(tt.want)) {
			t.Errorf("%s %s = %s, %v, want %s", tt.fun, tt.args, value.Repr(res.Value), err, tt.want)
		}
	}
}
