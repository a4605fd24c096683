package group_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/states/group"
)

// machine is a host with the group adm, whose tools do what they are told.
func machine() *host.Fake {
	h := host.NewFake()
	h.PutGroup(host.Group{Name: "adm", Passwd: "x", GID: 4, Members: []string{"ann", "bob"}})
	h.PutUser(host.Account{Name: "ann", UID: 1000, GID: 1000})
	locked := 2
	h.HandleCommand("groupadd *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		name := c.Argv[len(c.Argv)-1]
		switch {
		case name == "bad":
			return host.Output{Status: 1}, nil
		case name == "busy" && locked > 0:
			locked--
			return host.Output{Status: 10, Stderr: []byte("groupadd: cannot lock /etc/group; try again later.\n")}, nil
		}
		h.PutGroup(host.Group{Name: name, Passwd: "x", GID: 77})
		if name == "raced" { // by somebody else
			return host.Output{Status: 9}, nil
		}
		return host.Output{}, nil
	})
	h.HandleCommand("groupmod -g *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		g, _ := h.LookupGroup(c.Argv[3])
		g.GID = 5
		h.PutGroup(g)
		return host.Output{}, nil
	})
	h.HandleCommand("gpasswd *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		g, _ := h.LookupGroup(c.Argv[3])
		switch c.Argv[1] {
		case "--add":
			g.Members = append(g.Members, c.Argv[2])
		case "--members":
			g.Members = strings.Split(c.Argv[2], ",")
		case "--del":
			var left []string
			for _, m := range g.Members {
				if m != c.Argv[2] {
					left = append(left, m)
				}
			}
			g.Members = left
		}
		h.PutGroup(g)
		return host.Output{}, nil
	})
	h.HandleCommand("groupdel *", func(_ context.Context, c host.Cmd) (host.Output, error) {
		h.DropGroup(c.Argv[1])
		return host.Output{}, nil
	})
	return h
}

// The comments and changes are those of salt/states/group.py.
func TestGroup(t *testing.T) {
	t.Parallel()
	const due = `"The following group attributes are set to be changed:\n`
	for _, tt := range []struct {
		name, fun, args string
		test            bool
		want            string
		calls           []string
	}{
		{"up to date", "present", "{name: adm, gid: 4, members: [bob, ann], system: True}", false, "{r: true, c: Group adm is present and up to date, x: {}}", nil},
		{"gid as text", "present", "{name: adm, gid: '4'}", false, "{r: true, c: Group adm is present and up to date, x: {}}", nil},
		{"bad gid", "present", "{name: adm, gid: four}", false, "{r: false, c: Invalid gid, x: {}}", nil},
		{
			"test", "present", "{name: adm, gid: 5, addusers: [ann, eve], delusers: [bob, x]}", true,
			"{r: null, c: " + due + `gid: 5\naddusers: ['eve']\ndelusers: ['bob']\n", x: {}}`, nil,
		},
		{
			"change", "present", "{name: adm, gid: 5, addusers: [eve], delusers: [bob]}", false,
			"{r: true, c: " + due + `gid: 5\naddusers: ['eve']\ndelusers: ['bob']\n", x: {Final: All changes applied successfully}}`,
			[]string{"groupmod -g 5 adm", "gpasswd --add eve adm", "gpasswd --del bob adm"},
		},
		{
			"members", "present", "{name: adm, members: [eve]}", false,
			"{r: true, c: " + due + `members: ['eve']\n", x: {Final: All changes applied successfully}}`,
			[]string{"gpasswd --members eve adm"},
		},
		{"no members", "present", "{name: adm, members: []}", true, "{r: null, c: " + due + `delusers: {'ann', 'bob'}\n", x: {}}`, nil},
		{
			"not applied", "present", "{name: adm, gid: 6}", false,
			"{r: false, c: " + due + `gid: 6\nSome changes could not be applied", x: {Failed: {gid: 6}}}`,
			[]string{"groupmod -g 6 adm"},
		},
		{
			"conflict", "present", "{name: adm, members: [a], delusers: [b]}", false,
			`{r: false, c: 'Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used together. ', x: {}}`, nil,
		},
		{"both", "present", "{name: adm, addusers: [a], delusers: [a]}", false, "{r: false, c: Error. Same user(s) can not be added and deleted simultaneously, x: {}}", nil},
		{
			"new", "present", "{name: g, gid: 77, system: True, addusers: [ann]}", false,
			"{r: true, c: New group g created, x: {name: g, passwd: x, gid: 77, members: [ann]}}",
			[]string{"groupadd -g 77 -r g", "gpasswd --members ann g"},
		},
		{"new for unknown users", "present", "{name: g, members: [ann, eve, x]}", false, "{r: false, c: 'The following user(s) are not present: eve,x', x: {}}", nil},
		{"new for unknown users, test", "present", "{name: g, members: [eve]}", true, "{r: null, c: Group g set to be added, x: {}}", nil},
		{"one user", "present", "{name: adm, addusers: ann}", false, "{r: true, c: Group adm is present and up to date, x: {}}", nil},
		{"gid 0", "present", "{name: g, gid: 0}", false, "{r: false, c: Group g is not present but gid 0 is already taken by group root, x: {}}", nil},
		{"gid 0 of another", "present", "{name: adm, gid: 0}", true, "{r: null, c: " + due + `gid: 0\n", x: {}}`, nil},
		{"new test", "present", "{name: g}", true, "{r: null, c: Group g set to be added, x: {}}", nil},
		{"taken", "present", "{name: g, gid: 4}", false, "{r: false, c: Group g is not present but gid 4 is already taken by group adm, x: {}}", nil},
		{
			"taken, shared", "present", "{name: g, gid: 4, non_unique: True}", false,
			"{r: false, c: 'Group g has been created but, some changes could not be applied', x: {Failed: {gid: 4}}}",
			[]string{"groupadd -g 4 -o g"},
		},
		{"groupadd fails", "present", "{name: bad}", false, "{r: false, c: Failed to create new group bad, x: {}}", []string{"groupadd bad"}},
		{"made by somebody else", "present", "{name: raced}", false, "{r: true, c: Group raced is present and up to date, x: {}}", []string{"groupadd raced"}},
		{
			"locked by somebody else", "present", "{name: busy}", false, "{r: true, c: New group busy created, x: {name: busy, passwd: x, gid: 77, members: []}}",
			[]string{"groupadd busy", "groupadd busy", "groupadd busy"},
		},
		{"absent", "absent", "{name: adm}", false, "{r: true, c: Removed group adm, x: {adm: ''}}", []string{"groupdel adm"}},
		{"absent test", "absent", "{name: adm}", true, "{r: null, c: Group adm is set for removal, x: {}}", nil},
		{"absent already", "absent", "{name: g}", false, "{r: true, c: Group not present, x: {}}", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := machine()
			env := &fun.Env{Machine: fun.Machine{Host: h}}
			env.Table = fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "group", Load: group.States}})
			mod, spec, _ := env.Table.Lookup(fun.State, "group."+tt.fun)
			c, err := dispatch.New(env).Bind(mod, spec, fun.Args{Kw: calltest.YAML(t, tt.args).(*value.Map)})
			if err != nil {
				t.Fatal(err)
			}
			c.Test = tt.test
			ret := spec.State(t.Context(), c)
			if ret.Err != nil {
				t.Fatal(ret.Err)
			}
			if ret.Changes == nil {
				ret.Changes = value.NewMap(0)
			}
			got := value.Repr(value.MapOf("r", ret.Result.Value(), "c", ret.Comment, "x", ret.Changes))
			if diff := cmp.Diff(value.Repr(calltest.YAML(t, tt.want)), got); diff != "" {
				t.Error(diff)
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
