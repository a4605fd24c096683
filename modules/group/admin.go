package group

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
)

// An Admin changes groups by groupadd, groupmod, groupdel and gpasswd.
type Admin struct {
	Host host.Host
	Root string // a directory to work in, "" is the machine itself
}

// NewAdmin returns the Admin of a call.
func NewAdmin(c *fun.Call) *Admin {
	a := &Admin{Host: c.Env.Host}
	if c.Args.Has("root") {
		a.Root = c.Str("root")
	}
	return a
}

// run runs a tool and reports whether it ended well. flag is how the tool
// names the directory to work in.
func (a *Admin) run(ctx context.Context, flag string, argv ...string) (bool, error) {
	if a.Root != "" {
		argv = append(argv, flag, a.Root)
	}
	out, err := a.Host.Run(ctx, host.Cmd{Argv: argv})
	if err != nil {
		return false, fun.Errorf("Unable to run command '%s': %v", strings.Join(argv, " "), err)
	}
	return out.Status == 0, ctx.Err()
}

// Lookup returns a group, nil where there is none.
func (a *Admin) Lookup(name string) (*host.Group, error) {
	if a.Root == "" {
		g, err := a.Host.LookupGroup(name)
		if errors.Is(err, host.ErrNoAccount) {
			return nil, nil
		}
		return &g, err
	}
	text, err := a.Host.ReadFile(strings.TrimRight(a.Root, "/") + "/etc/group")
	if err != nil {
		return nil, err
	}
	gs := host.ParseGroup(string(text))
	if i := slices.IndexFunc(gs, func(g host.Group) bool { return g.Name == name }); i >= 0 {
		return &gs[i], nil
	}
	return nil, nil
}

// Add makes a group; shared takes a number that is in use.
// Salt: salt/modules/groupadd.py add.
func (a *Admin) Add(ctx context.Context, name string, gid value.Value, system, shared bool) (bool, error) {
	argv := []string{"groupadd"}
	if value.Truth(gid) {
		argv = append(argv, "-g", value.Str(gid))
		if shared {
			argv = append(argv, "-o")
		}
	}
	if system {
		argv = append(argv, "-r")
	}
	return a.run(ctx, "-R", append(argv, name)...)
}

// Delete removes a group. Salt: salt/modules/groupadd.py delete.
func (a *Admin) Delete(ctx context.Context, name string) (bool, error) {
	return a.run(ctx, "-R", "groupdel", name)
}

// SetGID gives a group another number. Salt: salt/modules/groupadd.py chgid.
func (a *Admin) SetGID(ctx context.Context, name string, gid int64, shared bool) (bool, error) {
	g, err := a.Lookup(name)
	if err != nil {
		return false, err
	}
	if g != nil && int64(g.GID) == gid {
		return true, nil
	}
	argv := []string{"groupmod", "-g", strconv.FormatInt(gid, 10)}
	if shared {
		argv = append(argv, "-o")
	}
	if _, err := a.run(ctx, "-R", append(argv, name)...); err != nil {
		return false, err
	}
	g, err = a.Lookup(name)
	return g != nil && int64(g.GID) == gid, err
}

// AddUser makes a user a member. Salt: salt/modules/groupadd.py adduser.
func (a *Admin) AddUser(ctx context.Context, name, user string) (bool, error) {
	return a.run(ctx, "-Q", "gpasswd", "--add", user, name)
}

// DropUser makes a user no member; one who is none is fine.
// Salt: salt/modules/groupadd.py deluser.
func (a *Admin) DropUser(ctx context.Context, name, user string) (bool, error) {
	g, err := a.Lookup(name)
	if err != nil {
		return false, err
	}
	if g == nil || !slices.Contains(g.Members, user) {
		return true, nil
	}
	return a.run(ctx, "-Q", "gpasswd", "--del", user, name)
}

// SetMembers replaces the members. Salt: salt/modules/groupadd.py members.
func (a *Admin) SetMembers(ctx context.Context, name string, users []string) (bool, error) {
	return a.run(ctx, "-Q", "gpasswd", "--members", strings.Join(users, ","), name)
}

// changeSpecs are the rows that change groups.
func changeSpecs() []fun.Spec {
	name := fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the group"}
	root := fun.Arg{Name: "root", Type: fun.Str, Doc: "a directory to work in instead of the machine's own"}
	user := fun.Arg{Name: "username", Type: fun.Str, Required: true, Doc: "name of the user"}
	shared := fun.Arg{Name: "non_unique", Type: fun.Bool, Default: false, Doc: "take a number that is in use"}
	spec := func(n, doc string, fn func(context.Context, *Admin, *fun.Call) (bool, error), args ...fun.Arg) fun.Spec {
		return fun.Spec{
			Name: n, Doc: doc, Src: "modules/groupadd.py " + n, Args: append([]fun.Arg{name}, args...),
			Fn: func(ctx context.Context, c *fun.Call) (fun.Result, error) {
				ok, err := fn(ctx, NewAdmin(c), c)
				return fun.Result{Value: ok}, err
			},
		}
	}
	return []fun.Spec{
		spec("add", "Make a group; return whether that worked.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			return a.Add(ctx, c.Str("name"), c.Value("gid"), c.Bool("system"), c.Bool("non_unique"))
		}, fun.Arg{Name: "gid", Doc: "number of the group"}, fun.Arg{Name: "system", Type: fun.Bool, Default: false, Doc: "make a system group"}, root, shared),
		spec("adduser", "Make a user a member of a group; return whether that worked.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			return a.AddUser(ctx, c.Str("name"), c.Str("username"))
		}, user, root),
		spec("chgid", "Give a group another number; return whether it has it.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			gid := c.Int("gid")
			return a.SetGID(ctx, c.Str("name"), gid, c.Bool("non_unique"))
		}, fun.Arg{Name: "gid", Type: fun.Int, Required: true, Doc: "the number"}, root, shared),
		spec("delete", "Remove a group; return whether that worked.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			return a.Delete(ctx, c.Str("name"))
		}, root),
		spec("deluser", "Make a user no member of a group; return whether that holds.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			return a.DropUser(ctx, c.Str("name"), c.Str("username"))
		}, user, root),
		spec("members", "Replace the members of a group; return whether that worked.", func(ctx context.Context, a *Admin, c *fun.Call) (bool, error) {
			return a.SetMembers(ctx, c.Str("name"), c.Strings("members_list"))
		}, fun.Arg{Name: "members_list", Type: fun.List, Required: true, Doc: "the members, a list or text with commas"}, root),
	}
}
