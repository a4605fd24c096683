// Package user is Salt's execution module "user": accounts, read and changed.
package user

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module "user".
func Module() fun.Module {
	return fun.Module{Name: "user", Kind: fun.Exec, Doc: "Read and manage users.", Specs: specs}
}

// accounts are the users and groups of the machine, or of a directory with an
// etc of its own.
type accounts struct {
	h    host.Host
	root string
}

func of(c *fun.Call, a *rootArg) accounts { return accounts{c.Env.Host, a.Root} }

func (a accounts) users() ([]host.Account, error) {
	if a.root == "" {
		return a.h.Users()
	}
	text, err := a.h.ReadFile(strings.TrimRight(a.root, "/") + "/etc/passwd")
	return host.ParsePasswd(string(text)), err
}

func (a accounts) user(name string) (host.Account, error) {
	if a.root == "" {
		return a.h.LookupUser(name)
	}
	all, err := a.users()
	if err != nil {
		return host.Account{}, err
	}
	if i := slices.IndexFunc(all, func(u host.Account) bool { return u.Name == name }); i >= 0 {
		return all[i], nil
	}
	return host.Account{}, host.ErrNoAccount
}

// group finds a group by name.
func (a accounts) group(name string) (host.Group, error) {
	if a.root == "" {
		return a.h.LookupGroup(name)
	}
	text, err := a.h.ReadFile(strings.TrimRight(a.root, "/") + "/etc/group")
	if err != nil {
		return host.Group{}, err
	}
	gs := host.ParseGroup(string(text))
	if i := slices.IndexFunc(gs, func(g host.Group) bool { return g.Name == name }); i >= 0 {
		return gs[i], nil
	}
	return host.Group{}, host.ErrNoAccount
}

// groups returns the names of a user's groups, sorted.
func (a accounts) groups(u host.Account) ([]string, error) {
	var names []string
	if a.root != "" {
		text, err := a.h.ReadFile(strings.TrimRight(a.root, "/") + "/etc/group")
		if err != nil {
			return nil, err
		}
		for _, g := range host.ParseGroup(string(text)) {
			if g.GID == u.GID || slices.Contains(g.Members, u.Name) {
				names = append(names, g.Name)
			}
		}
	} else {
		ids, err := a.h.GroupIDs(u.Name)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if g, err := a.h.LookupGID(id); err == nil {
				names = append(names, g.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (a accounts) info(u host.Account) (*value.Map, error) {
	groups, err := a.groups(u)
	if err != nil {
		return nil, err
	}
	gecos := strings.SplitN(u.Gecos, ",", 5)
	for len(gecos) < 5 {
		gecos = append(gecos, "")
	}
	return value.MapOf(
		"gid", int64(u.GID), "groups", value.Strings(groups...), "home", u.Home, "name", u.Name, "passwd", u.Passwd, "shell", u.Shell,
		"uid", int64(u.UID), "fullname", gecos[0], "roomnumber", gecos[1], "workphone", gecos[2], "homephone", gecos[3], "other", gecos[4],
	), nil
}

type infoArgs struct {
	nameArg
	rootArg
}

func info(_ context.Context, c *fun.Call, args *infoArgs) (fun.Result, error) {
	a := of(c, &args.rootArg)
	u, err := a.user(args.Name)
	if errors.Is(err, host.ErrNoAccount) {
		return fun.Value(value.NewMap(0))
	}
	if err != nil {
		return fun.Result{}, err
	}
	m, err := a.info(u)
	return fun.Result{Value: m}, err
}

type getentArgs struct {
	_ bool `arg:"refresh" default:"False" doc:"accepted; accounts are read each time"`
	rootArg
}

func getent(_ context.Context, c *fun.Call, args *getentArgs) (fun.Result, error) {
	a := of(c, &args.rootArg)
	all, err := a.users()
	if err != nil {
		return fun.Result{}, err
	}
	l := value.NewList()
	for _, u := range all {
		m, err := a.info(u)
		if err != nil {
			return fun.Result{}, err
		}
		l.Append(m)
	}
	return fun.Value(l)
}

func listUsers(_ context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	all, err := of(c, a).users()
	if err != nil {
		return fun.Result{}, err
	}
	names := make([]string, len(all))
	for i, u := range all {
		names[i] = u.Name
	}
	slices.Sort(names)
	return fun.Value(value.Strings(names...))
}

func listGroups(_ context.Context, c *fun.Call, args *nameArg) (fun.Result, error) {
	a := accounts{h: c.Env.Host}
	u, err := a.user(args.Name)
	if errors.Is(err, host.ErrNoAccount) {
		return fun.Value(value.NewList())
	}
	if err != nil {
		return fun.Result{}, err
	}
	names, err := a.groups(u)
	return fun.Result{Value: value.Strings(names...)}, err
}

func primaryGroup(_ context.Context, c *fun.Call, a *nameArg) (fun.Result, error) {
	u, err := c.Env.Host.LookupUser(a.Name)
	if err != nil {
		return fun.Result{}, fun.Errorf("User '%s' does not exist", a.Name)
	}
	if g, err := c.Env.Host.LookupGID(u.GID); err == nil {
		return fun.Value(g.Name)
	}
	return fun.Value(strconv.Itoa(u.GID))
}
