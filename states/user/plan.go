package user

import (
	"context"
	"errors"
	"path"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// presentLeaves has an overlay have the user that present would make, with its groups
// and its home directory. A number that the state does not give is the next free one,
// as useradd chooses it.
func presentLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	u, err := o.LookupUser(c.Name)
	fresh := errors.Is(err, host.ErrNoAccount)
	switch {
	case fresh:
		u = host.Account{Name: c.Name, Passwd: "x", Home: "/home/" + c.Name, Shell: "/bin/sh", GID: -1}
		if u.UID, err = o.NextID(value.Truth(c.Args.At("system"))); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if uid, ok := value.AsInt(c.Args.At("uid")); ok {
		u.UID = int(uid)
	}
	if err := primary(&u, c.Args.At("gid"), value.Truth(c.Args.At("system")), c.Args.At("usergroup") == false, o); err != nil {
		return err
	}
	for key, to := range map[string]*string{"home": &u.Home, "shell": &u.Shell, "fullname": &u.Gecos} {
		if text, ok := c.Args.At(key).(string); ok && text != "" {
			*to = text
		}
	}
	o.PutUser(u)
	if err := join(&u, c.Args.List("groups"), c.Args.List("optional_groups"), value.Truth(c.Args.At("remove_groups")), o); err != nil {
		return err
	}
	if !value.Truth(c.Args.At("createhome")) {
		return nil
	}
	return makeHome(&u, o)
}

// primary sets the primary group of a user: that of the argument gid, else that of its
// name, which is made with a new user.
func primary(u *host.Account, gid value.Value, system, shared bool, o *host.Overlay) error {
	if n, ok := value.AsInt(gid); ok {
		u.GID = int(n)
		return nil
	}
	name, given := gid.(string)
	if !given {
		name = u.Name
		if u.GID >= 0 {
			return nil
		}
	}
	g, err := o.LookupGroup(name)
	switch {
	case err == nil:
		u.GID = g.GID
		return nil
	case given || !errors.Is(err, host.ErrNoAccount):
		return err
	case shared:
		u.GID = 100 // as in useradd where nothing is configured
		return nil
	}
	if u.GID = u.UID; taken(u.UID, o) {
		if u.GID, err = o.NextID(system); err != nil {
			return err
		}
	}
	o.PutGroup(host.Group{Name: name, Passwd: "x", GID: u.GID})
	return nil
}

func taken(gid int, o *host.Overlay) bool {
	_, err := o.LookupGID(gid)
	return err == nil
}

// join makes a user a member of groups, and of no others where they are all.
func join(u *host.Account, list, optional *value.List, all bool, o *host.Overlay) error {
	groups, err := o.Groups()
	if err != nil {
		return err
	}
	wanted := append(list.Strs(), optional.Strs()...)
	for _, g := range groups {
		is, has := slices.Contains(wanted, g.Name), slices.Contains(g.Members, u.Name)
		switch {
		case is && !has:
			g.Members = append(slices.Clone(g.Members), u.Name)
		case !is && has && all && list != nil:
			g.Members = slices.DeleteFunc(slices.Clone(g.Members), func(n string) bool { return n == u.Name })
		default:
			continue
		}
		o.PutGroup(g)
	}
	return nil
}

// makeHome makes the home directory of a user, where it is missing, with what
// /etc/skel has.
func makeHome(u *host.Account, o *host.Overlay) error {
	if _, err := o.Stat(u.Home); err == nil {
		return nil
	}
	if err := o.MkdirAll(path.Dir(u.Home), 0o755); err != nil {
		return err
	}
	if err := o.Mkdir(u.Home, 0o755); err != nil {
		return err
	}
	if err := o.Chown(u.Home, u.UID, u.GID); err != nil {
		return err
	}
	names, _ := o.ReadDir("/etc/skel") // without one the directory is empty
	for _, name := range names {
		from := path.Join("/etc/skel", name)
		if st, err := o.Lstat(from); err != nil || !st.Mode.IsRegular() {
			continue
		}
		f, err := o.Open(from)
		if err != nil {
			return err
		}
		err = o.WriteFile(path.Join(u.Home, name), f, host.WriteOptions{UID: &u.UID, GID: &u.GID})
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// absentLeaves takes the user out of an overlay, with its group where nobody else is in
// that, and with its home directory where that is purged.
func absentLeaves(_ context.Context, c *fun.Call, o *host.Overlay) error {
	u, err := o.LookupUser(c.Name)
	if err != nil {
		return err
	}
	o.DropUser(c.Name)
	groups, err := o.Groups()
	if err != nil {
		return err
	}
	for _, g := range groups {
		if !slices.Contains(g.Members, c.Name) {
			continue
		}
		g.Members = slices.DeleteFunc(slices.Clone(g.Members), func(n string) bool { return n == c.Name })
		o.PutGroup(g)
	}
	if g, err := o.LookupGroup(c.Name); err == nil && g.GID == u.GID && len(g.Members) == 0 {
		o.DropGroup(c.Name)
	}
	if value.Truth(c.Args.At("purge")) {
		return o.RemoveAll(u.Home)
	}
	return nil
}
