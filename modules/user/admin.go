package user

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// NameTaken is the exit status of useradd where there is a user with the name.
const NameTaken = 9

// An Admin changes accounts by the tools of shadow-utils (useradd, usermod,
// userdel, gpasswd), which know the machine's rules.
type Admin struct {
	tool.Accounts
	// Debian says that userdel's complaint of a missing mail spool is not a fault.
	Debian  bool
	OpenBSD bool // has login classes
}

// NewAdmin returns the Admin of a call.
func NewAdmin(c *fun.Call) *Admin {
	a := &Admin{Accounts: tool.OnAccounts(c, "")}
	if c.Env.Grains != nil {
		family, _ := c.Env.Grains.Get("os_family")
		a.Debian = family == "Debian"
		kernel, _ := c.Env.Grains.Get("kernel")
		a.OpenBSD = kernel == "OpenBSD"
	}
	return a
}

// run runs a tool to its end. The last argument is the name of the user, which
// may not look like an option.
func (a *Admin) run(ctx context.Context, argv ...string) (tool.Out, error) {
	if name := argv[len(argv)-1]; name == "" || strings.HasPrefix(name, "-") {
		return tool.Out{}, fun.Errorf("Invalid user name '%s'", name)
	}
	return a.Run(ctx, nil, "-R", argv...)
}

// Account returns what the machine knows of a user, and whether it does.
func (a *Admin) Account(name string) (host.Account, bool, error) {
	u, err := accounts{a.Host, a.Root}.user(name)
	if errors.Is(err, host.ErrNoAccount) {
		return u, false, nil
	}
	return u, err == nil, err
}

// Info returns what user.info does, nil where there is no such user.
func (a *Admin) Info(name string) (*value.Map, error) {
	u, ok, err := a.Account(name)
	if err != nil || !ok {
		return nil, err
	}
	return accounts{a.Host, a.Root}.info(u)
}

// A New is a user to be added. Nil values are left to useradd.
type New struct {
	Name               string
	UID, GID           value.Value
	Groups             []string
	Home               *string
	Shell              string
	Unique, System     bool
	CreateHome         bool
	NoLogInit          bool
	UserGroup          value.Value // True: a group of the user's name; False: none
	Fullname, Room     string
	WorkPhone, HomeTel string
	Other              string
	LoginClass         string // OpenBSD only
}

// Add makes a user and reports whether that worked. What is set after that,
// groups and personal data, does not count: a later run mends it.
// Salt: salt/modules/useradd.py add.
func (a *Admin) Add(ctx context.Context, n New) (bool, error) {
	argv := []string{"useradd"}
	opt := func(flag string, v value.Value) bool {
		if v == nil || v == "" {
			return false
		}
		argv = append(argv, flag, value.Str(v))
		return true
	}
	if n.Shell != "" {
		opt("-s", n.Shell)
	}
	opt("-u", n.UID)
	switch {
	case opt("-g", n.GID):
	case value.Truth(n.UserGroup):
		argv = append(argv, "-U")
	case slices.Contains(n.Groups, n.Name):
		// useradd refuses to make a group that exists.
		if g, err := a.Host.LookupGroup(n.Name); err == nil && a.ownGroups() {
			argv = append(argv, "-g", fmt.Sprint(g.GID))
		}
	}
	if n.UserGroup == false {
		argv = append(argv, "-N")
	}
	if n.CreateHome {
		argv = append(argv, "-m")
	} else {
		argv = append(argv, "-M")
	}
	for _, f := range []struct {
		flag string
		on   bool
	}{{"-l", n.NoLogInit}, {"-o", !n.Unique}, {"-r", n.System}} {
		if f.on {
			argv = append(argv, f.flag)
		}
	}
	if n.Home != nil {
		argv = append(argv, "-d", *n.Home)
	}
	if n.LoginClass != "" && a.OpenBSD {
		argv = append(argv, "-L", n.LoginClass)
	}
	out, err := a.run(ctx, append(argv, n.Name)...)
	if err != nil || out.Status != 0 {
		return false, err
	}
	if len(n.Groups) > 0 {
		if _, err := a.SetGroups(ctx, n.Name, n.Groups, false); err != nil {
			return true, err
		}
	}
	for _, f := range []struct{ key, v string }{
		{"fullname", n.Fullname}, {"roomnumber", n.Room}, {"workphone", n.WorkPhone}, {"homephone", n.HomeTel}, {"other", n.Other},
	} {
		if f.v == "" {
			continue
		}
		if _, err := a.SetGecos(ctx, n.Name, f.key, f.v); err != nil {
			return true, err
		}
	}
	return true, nil
}

// ownGroups reports whether login.defs gives each user a group.
func (a *Admin) ownGroups() bool {
	text, _ := a.Host.ReadFile("/etc/login.defs")
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "USERGROUPS_ENAB") {
			return strings.Contains(line, "yes")
		}
	}
	return false
}

// Delete takes a user out; remove also takes home and mail, force a user who
// is logged in. Salt: salt/modules/useradd.py delete.
func (a *Admin) Delete(ctx context.Context, name string, remove, force bool) (bool, error) {
	if err := a.CheckHome(name); err != nil && remove {
		return false, err
	}
	argv := []string{"userdel"}
	if remove {
		argv = append(argv, "-r")
	}
	if force {
		argv = append(argv, "-f")
	}
	out, err := a.run(ctx, append(argv, name)...)
	if err != nil {
		return false, err
	}
	if out.Status == 12 && a.Debian {
		// userdel of Debian fails where there was no mail spool to remove.
		s := out.Stderr
		return strings.Contains(s, "var/mail") || strings.Contains(s, "var/spool/mail"), nil
	}
	return out.Status == 0, nil
}

// gecosFields are the personal data of an account, in their order there.
var gecosFields = [...]string{"fullname", "roomnumber", "workphone", "homephone", "other"}

// SetGecos sets one of the personal data of a user.
// Salt: salt/modules/useradd.py _update_gecos.
func (a *Admin) SetGecos(ctx context.Context, name, key, v string) (bool, error) {
	info, err := a.Info(name)
	if err != nil {
		return false, err
	}
	if info == nil {
		return false, noUser(name)
	}
	if info.Str(key) == v {
		return true, nil
	}
	info.Set(key, v)
	parts := make([]string, len(gecosFields))
	for i, f := range gecosFields {
		parts[i] = info.Str(f)
	}
	if _, err := a.run(ctx, "usermod", "-c", strings.TrimRight(strings.Join(parts, ","), ","), name); err != nil {
		return false, err
	}
	if info, err = a.Info(name); err != nil || info == nil {
		return false, err
	}
	return info.Str(key) == v, nil
}

// Set changes one thing of a user by usermod and reports whether it holds:
// key is that of user.info, argv what usermod gets.
func (a *Admin) Set(ctx context.Context, name, key string, v value.Value, argv ...string) (bool, error) {
	info, err := a.Info(name)
	if err != nil {
		return false, err
	}
	if info == nil {
		return false, noUser(name)
	}
	if value.Equal(info.At(key), v) {
		return true, nil
	}
	if _, err := a.run(ctx, append(append([]string{"usermod"}, argv...), name)...); err != nil {
		return false, err
	}
	if info, err = a.Info(name); err != nil || info == nil {
		return false, err
	}
	return value.Equal(info.At(key), v), nil
}

// GroupID returns the ID that v is, as a number or in digits; it reports false
// for the name of a group. The tools read digits as an ID, too.
func GroupID(v value.Value) (int64, bool) {
	if id, ok := value.AsInt(v); ok {
		return id, true
	}
	id, err := strconv.ParseUint(value.Str(v), 10, 32)
	return int64(id), err == nil
}

// SetGID sets the primary group of a user, given by name or ID.
// Salt: salt/modules/useradd.py chgid. Difference: with the name of a group the
// answer is whether the user has that group; Salt's is always False.
func (a *Admin) SetGID(ctx context.Context, name string, gid value.Value) (bool, error) {
	id, isID := GroupID(gid)
	if !isID {
		group, err := accounts{a.Host, a.Root}.group(value.Str(gid))
		if errors.Is(err, host.ErrNoAccount) {
			_, err := a.run(ctx, "usermod", "-g", value.Str(gid), name) // says what is wrong
			return false, err
		}
		if err != nil {
			return false, err
		}
		id = int64(group.GID)
	}
	return a.Set(ctx, name, "gid", id, "-g", value.Str(id))
}

// CheckHome returns an error where the home directory of a user is a system
// directory, which is not removed or moved with the user.
func (a *Admin) CheckHome(name string) error {
	acc, ok, err := a.Account(name)
	if err != nil || !ok {
		return err
	}
	return a.Host.CheckSystem(filepath.Join("/", a.Root, acc.Home), true)
}

// SetHome sets the home directory; persist moves what is in the old one.
func (a *Admin) SetHome(ctx context.Context, name, home string, persist bool) (bool, error) {
	if err := a.CheckHome(name); err != nil && persist {
		return false, err
	}
	argv := []string{"-d", home}
	if persist {
		argv = append(argv, "-m")
	}
	return a.Set(ctx, name, "home", home, argv...)
}

// SetGroups sets the further groups of a user, or adds to them.
// Salt: salt/modules/useradd.py chgroups.
func (a *Admin) SetGroups(ctx context.Context, name string, groups []string, add bool) (bool, error) {
	u, ok, err := a.Account(name)
	if err != nil {
		return false, err
	}
	if ok {
		have, err := accounts{a.Host, a.Root}.groups(u)
		if err != nil {
			return false, err
		}
		want := slices.Clone(groups)
		slices.Sort(want)
		if slices.Equal(have, slices.Compact(want)) {
			return true, nil
		}
	}
	argv := []string{"usermod"}
	if add {
		argv = append(argv, "-a")
	}
	out, err := a.run(ctx, append(argv, "-G", strings.Join(groups, ","), name)...)
	if err != nil || out.Status == 0 || !strings.Contains(out.Stderr, "not found in") {
		return err == nil && out.Status == 0, err
	}
	// Users of a directory service are in no file that usermod changes.
	a.Status = 0
	all := true
	for _, g := range groups {
		if strings.HasPrefix(g, "-") {
			return false, fun.Errorf("Invalid group name '%s'", g)
		}
		o, err := tool.RunWith(ctx, a.Host, tool.Options{Accounts: true}, "gpasswd", "-a", name, g)
		if err != nil {
			return false, err
		}
		if o.Status != 0 {
			a.Status, all = o.Status, false
		}
	}
	return all, nil
}

// Rename gives a user another name. Salt: salt/modules/useradd.py rename.
func (a *Admin) Rename(ctx context.Context, name, to string) (bool, error) {
	u, ok, err := a.Account(name)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, noUser(name)
	}
	if _, taken, err := a.Account(to); err != nil || taken {
		if err == nil {
			err = fun.Errorf("User '%s' already exists", to)
		}
		return false, err
	}
	if _, err := a.run(ctx, "usermod", "-l", to, u.Name); err != nil {
		return false, err
	}
	_, ok, err = a.Account(to)
	return ok, err
}

// noUser is the error where a user is to be changed who does not exist.
func noUser(name string) error { return fun.Errorf("User '%s' does not exist", name) }

// LoginClass returns the login class of a user of OpenBSD, "" where it has none.
// Salt: salt/modules/useradd.py get_loginclass.
func (a *Admin) LoginClass(ctx context.Context, name string) (string, error) {
	out, err := a.run(ctx, "userinfo", name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out.Stdout) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "class" {
			return strings.Join(f[1:], " "), nil
		}
	}
	return "", nil
}

// SetLoginClass sets the login class of a user of OpenBSD.
// Salt: salt/modules/useradd.py chloginclass.
func (a *Admin) SetLoginClass(ctx context.Context, name, class string) (bool, error) {
	have, err := a.LoginClass(ctx, name)
	if err != nil || have == class {
		return err == nil, err
	}
	if _, err := a.run(ctx, "usermod", "-L", class, name); err != nil {
		return false, err
	}
	have, err = a.LoginClass(ctx, name)
	return have == class, err
}
