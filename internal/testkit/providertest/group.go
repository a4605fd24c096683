package providertest

import (
	"slices"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Group is what a provider of group is tried with.
type Group struct {
	New func(t *testing.T) Machine
	// Have is a group with the only member Member; User is in no group of these. There is no
	// group Unknown, and no group has the number Free.
	Have, Member, User, Unknown string
	Free                        int64
	// Looks and Without are those of Pkg.
	Looks   func(command string) bool
	Without map[string]string
}

// has checks the number (unless it is 0) and the members of a group.
func (r *run) has(group string, gid int64, members ...string) {
	r.t.Helper()
	v, err := r.call("group.info", group)
	m, _ := v.(*value.Map)
	if err != nil || m.Str("name") != group {
		r.t.Fatalf("group.info %s: %s, %v", group, value.Repr(v), err)
	}
	got, _ := m.Get("gid")
	if gid != 0 && got != value.Value(gid) {
		r.t.Errorf("%s has the number %s, want %d", group, value.Repr(got), gid)
	}
	if list, _ := m.Get("members"); value.Repr(list) != value.Repr(value.Strings(members...)) {
		r.t.Errorf("%s has the members %s, want %q", group, value.Repr(list), members)
	}
}

var groupPromises = []struct {
	name string
	test func(p *Group, m *run)
}{
	{"info is name, number and members, empty for no group", func(p *Group, m *run) {
		m.has(p.Have, 0, p.Member)
		m.is("{}", "group.info", p.Unknown)
	}},
	{"getent has all groups", func(p *Group, m *run) {
		v, err := m.call("group.getent", "")
		items, fault := value.Items(v)
		if err != nil || fault != nil || !slices.ContainsFunc(items, func(x value.Value) bool {
			g, _ := x.(*value.Map)
			return g.Str("name") == p.Have
		}) {
			m.t.Errorf("group.getent: %s, %v, lacks %s", value.Repr(v), err, p.Have)
		}
	}},
	{"queries change nothing", func(p *Group, m *run) {
		for _, fn := range []string{"info", "getent"} {
			arg := ""
			if fn == "info" {
				arg = p.Have
			}
			if _, err := m.call("group."+fn, arg); err != nil {
				m.t.Errorf("group.%s: %v", fn, err)
			}
		}
		m.kept("queries")
	}},
	{"add makes a group with its number", func(p *Group, m *run) {
		m.is("True", "group.add", p.Unknown, "gid", p.Free)
		m.has(p.Unknown, p.Free)
	}},
	{"chgid changes the number", func(p *Group, m *run) {
		m.is("True", "group.chgid", p.Have, "gid", p.Free)
		m.has(p.Have, p.Free, p.Member)
	}},
	{"adduser and deluser change one member", func(p *Group, m *run) {
		m.is("True", "group.adduser", p.Have, "username", p.User)
		m.has(p.Have, 0, p.Member, p.User)
		m.is("True", "group.deluser", p.Have, "username", p.Member)
		m.has(p.Have, 0, p.User)
	}},
	{"members replaces all members", func(p *Group, m *run) {
		m.is("True", "group.members", p.Have, "members_list", p.User)
		m.has(p.Have, 0, p.User)
	}},
	{"delete removes a group", func(p *Group, m *run) {
		m.is("True", "group.delete", p.Have)
		m.is("{}", "group.info", p.Have)
	}},
	{"what a program refuses is no success", func(p *Group, m *run) {
		m.breaks()
		m.not("group.add", p.Unknown)
		m.not("group.delete", p.Have)
		m.not("group.adduser", p.Have, "username", p.User)
		m.not("group.deluser", p.Have, "username", p.Member)
		m.not("group.members", p.Have, "members_list", p.User)
	}},
	{"group.present and absent in test mode change nothing", func(p *Group, m *run) {
		for name, of := range map[string]string{"present": p.Unknown, "absent": p.Have} {
			if ret := m.state(true, "group."+name, of); ret.Result != fun.WouldChange || ret.Err != nil {
				m.t.Errorf("group.%s %s: %v %v, %v", name, of, ret.Result.Value(), ret.Comment, ret.Err)
			}
		}
		m.kept("test mode")
	}},
	{"group.present and absent have nothing to do the second time", func(p *Group, m *run) {
		m.twice("group.present", p.Unknown)
		m.twice("group.absent", p.Have)
	}},
}

// Test runs the suite.
func (p *Group) Test(t *testing.T) {
	var names []string
	for _, q := range groupPromises {
		names = append(names, q.name)
		check(t, q.name, p.Without, func(t *testing.T) {
			q.test(p, newRun(t, p.New(t), p.Looks))
		})
	}
	unknown(t, p.Without, names)
}
