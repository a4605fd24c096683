package group

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// NameTaken is the exit status of groupadd where there is a group with the name.
const NameTaken = 9

// An Admin changes groups by groupadd, groupmod, groupdel and gpasswd.
type Admin struct {
	tool.Accounts
}

// NewAdmin returns the Admin of a call, for the machine itself.
func NewAdmin(c *fun.Call) *Admin { return admin(c, "") }

func admin(c *fun.Call, root string) *Admin {
	return &Admin{tool.OnAccounts(c, root)}
}

// run runs a tool and reports whether it succeeded. flag is how the tool names
// the directory to work in; the last argument is the name of the group, which
// may not look like an option.
func (a *Admin) run(ctx context.Context, flag string, argv ...string) (bool, error) {
	if name := argv[len(argv)-1]; name == "" || strings.HasPrefix(name, "-") {
		return false, fun.Errorf("Invalid group name '%s'", name)
	}
	out, err := a.Run(ctx, nil, flag, argv...)
	return err == nil && out.OK(), err
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
	if gid != nil {
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
	if g == nil || int64(g.GID) == gid {
		return g != nil, nil
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

type addArgs struct {
	nameArg
	GID    value.Value `arg:"gid,int" doc:"group ID"`
	System bool        `arg:"system" default:"False" doc:"create a system group"`
	rootArg
	nonUniqueArgs
}

func add(ctx context.Context, c *fun.Call, args *addArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.Add(ctx, args.Name, args.GID, args.System, args.NonUnique))
}

// addUserArgs are the arguments of addUser and delUser.
type addUserArgs struct {
	nameArg
	userArg
	rootArg
}

func addUser(ctx context.Context, c *fun.Call, args *addUserArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.AddUser(ctx, args.Name, args.Username))
}

type chgidArgs struct {
	nameArg
	GID int64 `arg:"gid,required" doc:"the new group ID"`
	rootArg
	nonUniqueArgs
}

func chgid(ctx context.Context, c *fun.Call, args *chgidArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.SetGID(ctx, args.Name, args.GID, args.NonUnique))
}

// removeArgs are the arguments of remove and info.
type removeArgs struct {
	nameArg
	rootArg
}

func remove(ctx context.Context, c *fun.Call, args *removeArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.Delete(ctx, args.Name))
}

func delUser(ctx context.Context, c *fun.Call, args *addUserArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.DropUser(ctx, args.Name, args.Username))
}

type membersArgs struct {
	nameArg
	MembersList []string `arg:"members_list,required,comma[str]" doc:"the members, as a list or separated by commas"`
	rootArg
}

func members(ctx context.Context, c *fun.Call, args *membersArgs) (fun.Result, error) {
	a := admin(c, args.Root)
	return a.Changed(a.SetMembers(ctx, args.Name, args.MembersList))
}
