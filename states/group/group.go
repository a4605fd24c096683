// Package group is Salt's state module "group": groups of users.
package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	groups "brine/modules/group"
)

// States returns the rows of the state module "group".
func States() fun.Module {
	return fun.Module{Name: "group", Kind: fun.State, Doc: "Manage groups.", Specs: specs}
}

// want holds the desired state of a group, from the arguments of present.
type want struct {
	a      *presentArgs
	c      *fun.Call
	admin  *groups.Admin
	gid    int64
	hasGID bool
	raced  bool // somebody else made the group meanwhile
}

type presentArgs struct {
	_         fun.Arguments
	_         string            `arg:"name,required" doc:"name of the group"`
	GID       value.Value       `arg:"gid,str|int" doc:"group ID"`
	System    bool              `arg:"system" default:"False" doc:"create a system group"`
	Addusers  fun.Opt[[]string] `arg:"addusers" doc:"members to add"`
	Delusers  fun.Opt[[]string] `arg:"delusers" doc:"members to remove"`
	Members   fun.Opt[[]string] `arg:"members" doc:"all members; not together with addusers and delusers"`
	NonUnique bool              `arg:"non_unique" default:"False" doc:"allow a group ID that is already in use"`
}

// present creates a group, or changes one that exists.
//
// It fails where the arguments contradict each other, where the ID is taken, and
// where a change had no effect. Salt: salt/states/group.py present. Differences:
// contradicting arguments fail, an ID of 0 counts, addusers may be a string, and
// no group is created for users who do not exist.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	w := &want{c: c, a: a, admin: groups.NewAdmin(c)}
	ret := w.present(ctx)
	if w.raced { // by another target of the run that is this machine, or by anybody
		ret = (&want{c: c, a: a, admin: groups.NewAdmin(c)}).present(ctx)
	}
	return ret
}

func (w *want) present(ctx context.Context) fun.Ret {
	c, a := w.c, w.a
	if a.Members.Given && (a.Addusers.Given || a.Delusers.Given) {
		return fun.Fail(`Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used together. `)
	}
	for _, u := range a.Addusers.V {
		if slices.Contains(a.Delusers.V, u) {
			return fun.Fail("Error. Same user(s) can not be added and deleted simultaneously")
		}
	}
	if v := a.GID; v != nil {
		n, err := value.ToInt(v)
		if err == nil {
			w.gid, w.hasGID = value.AsInt(n)
		}
		if !w.hasGID {
			return fun.Fail("Invalid gid")
		}
	}
	g, err := w.admin.Lookup(c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if g == nil {
		return w.create(ctx)
	}
	due := w.changes(g)
	ret := fun.Ret{Result: fun.OK, Comment: "Group " + c.Name + " is present and up to date"}
	if due.Len() == 0 {
		return ret
	}
	var text strings.Builder
	text.WriteString("The following group attributes are set to be changed:\n")
	for k, v := range due.All() {
		text.WriteString(value.Str(k) + ": " + w.shown(value.Str(k), v) + "\n")
	}
	ret.Comment = text.String()
	if c.Test {
		ret.Result = fun.WouldChange
		return ret
	}
	if err := w.apply(ctx, due); err != nil {
		return fun.Raise(err)
	}
	left, err := w.left()
	if err != nil {
		return fun.Raise(err)
	}
	if left.Len() > 0 {
		ret.Result, ret.Comment = fun.Failed, text.String()+"Some changes could not be applied"
		ret.Changes = value.MapOf("Failed", left)
		return ret
	}
	ret.Changes = value.MapOf("Final", "All changes applied successfully")
	return ret
}

// shown is a change as Salt prints it: where all members leave they are a set.
func (w *want) shown(key string, v value.Value) string {
	text := value.Str(v)
	if key == "delusers" && w.a.Members.Given {
		return "{" + text[1:len(text)-1] + "}"
	}
	return text
}

// changes returns what there is to change of a group.
// Salt: salt/states/group.py _changes.
func (w *want) changes(g *host.Group) *value.Map {
	a := w.a
	due := value.NewMap(4)
	if w.hasGID && int64(g.GID) != w.gid {
		due.Set("gid", w.gid)
	}
	if a.Members.Given {
		members := a.Members.V
		switch {
		case len(members) == 0 && len(g.Members) > 0:
			due.Set("delusers", value.Strings(g.Members...))
		case len(members) > 0 && !sameSet(members, g.Members):
			due.Set("members", value.Strings(members...))
		}
	}
	pick := func(key string, names []string, is bool) {
		var some []string
		for _, n := range names {
			if slices.Contains(g.Members, n) == is {
				some = append(some, n)
			}
		}
		if len(some) > 0 {
			due.Set(key, value.Strings(some...))
		}
	}
	pick("addusers", a.Addusers.V, false)
	pick("delusers", a.Delusers.V, true)
	return due
}

func sameSet(a, b []string) bool {
	has := func(l []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(l, s) }
	}
	return !slices.ContainsFunc(a, has(b)) && !slices.ContainsFunc(b, has(a))
}

// left returns what is still to change.
func (w *want) left() (*value.Map, error) {
	g, err := w.admin.Lookup(w.c.Name)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("group %s is gone", w.c.Name)
	}
	return w.changes(g), nil
}

// apply makes the changes; one that fails is found by looking again.
func (w *want) apply(ctx context.Context, due *value.Map) error {
	name := w.c.Name
	if due.Has("gid") {
		if _, err := w.admin.SetGID(ctx, name, w.gid, w.a.NonUnique); err != nil {
			return err
		}
	}
	for _, u := range due.List("addusers").Strs() {
		if _, err := w.admin.AddUser(ctx, name, u); err != nil {
			return err
		}
	}
	for _, u := range due.List("delusers").Strs() {
		if _, err := w.admin.DropUser(ctx, name, u); err != nil {
			return err
		}
	}
	if due.Has("members") {
		if _, err := w.admin.SetMembers(ctx, name, w.a.Members.V); err != nil {
			return err
		}
	}
	return nil
}

// missing returns the users who do not exist.
func (w *want) missing(names []string) (none []string) {
	for _, n := range names {
		if _, err := w.c.Env.Host.LookupUser(n); errors.Is(err, host.ErrNoAccount) {
			none = append(none, n)
		}
	}
	return none
}

// create makes a group that does not exist.
func (w *want) create(ctx context.Context) fun.Ret {
	c := w.c
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Group " + c.Name + " set to be added"}
	}
	if w.hasGID && !w.a.NonUnique {
		g, err := c.Env.Host.LookupGID(int(w.gid))
		if err == nil {
			return fun.Fail("Group %s is not present but gid %d is already taken by group %s", c.Name, w.gid, g.Name)
		}
		if !errors.Is(err, host.ErrNoAccount) {
			return fun.Raise(err)
		}
	}
	members := w.a.Members.V
	if len(members) == 0 {
		members = w.a.Addusers.V
	}
	if missing := w.missing(members); len(missing) > 0 {
		return fun.Fail("The following user(s) are not present: %s", strings.Join(missing, ","))
	}
	var gid value.Value
	if w.hasGID {
		gid = w.gid
	}
	ok, err := w.admin.Add(ctx, c.Name, gid, w.a.System, w.a.NonUnique)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		g, err := w.admin.Lookup(c.Name)
		w.raced = err == nil && g != nil && w.admin.Status == groups.NameTaken
		return fun.Fail("Failed to create new group %s", c.Name)
	}
	if len(members) > 0 {
		if _, err := w.admin.SetMembers(ctx, c.Name, members); err != nil {
			return fun.Raise(err)
		}
	}
	g, err := w.admin.Lookup(c.Name)
	if err != nil || g == nil {
		return fun.Fail("Failed to create new group %s", c.Name)
	}
	if left := w.changes(g); left.Len() > 0 {
		return fun.Ret{
			Comment: "Group " + c.Name + " has been created but, some changes could not be applied",
			Changes: value.MapOf("Failed", left),
		}
	}
	return fun.Ret{Result: fun.OK, Changes: groups.Info(*g), Comment: "New group " + c.Name + " created"}
}

type absentArgs struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the group"`
}

// absent removes a group. Salt: salt/states/group.py absent.
func absent(ctx context.Context, c *fun.Call, _ *absentArgs) fun.Ret {
	a := groups.NewAdmin(c)
	g, err := a.Lookup(c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if g == nil {
		return fun.Ret{Result: fun.OK, Comment: "Group not present"}
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "Group " + c.Name + " is set for removal"}
	}
	ok, err := a.Delete(ctx, c.Name)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		return fun.Fail("Failed to remove group %s", c.Name)
	}
	return fun.Ret{Result: fun.OK, Changes: value.MapOf(c.Name, ""), Comment: "Removed group " + c.Name}
}
