package user

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
)

// done is the return of a change; one that failed has the exit status of the
// tool.
func (a *Admin) done(ok bool, err error) (fun.Result, error) {
	res := fun.Result{Value: ok}
	if !ok {
		res.Retcode = a.Status
	}
	return res, err
}

func add(ctx context.Context, c *fun.Call) (fun.Result, error) {
	n := New{
		Name: c.Str("name"), UID: c.Value("uid"), GID: c.Value("gid"), Groups: c.Strings("groups"), Shell: c.Str("shell"),
		Unique: c.Bool("unique"), System: c.Bool("system"), CreateHome: c.Bool("createhome"), NoLogInit: c.Bool("nologinit"),
		UserGroup: c.Value("usergroup"), Fullname: c.Str("fullname"), Room: c.Str("roomnumber"),
		WorkPhone: c.Str("workphone"), HomeTel: c.Str("homephone"), Other: c.Str("other"), LoginClass: c.Str("loginclass"),
	}
	if v := c.Value("home"); v != nil {
		s := value.Str(v)
		n.Home = &s
	}
	a := NewAdmin(c)
	return a.done(a.Add(ctx, n))
}

func remove(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.Delete(ctx, c.Str("name"), c.Bool("remove"), c.Bool("force")))
}

func rename(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.Rename(ctx, c.Str("name"), c.Str("new_name")))
}

func chgroups(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGroups(ctx, c.Str("name"), c.Strings("groups"), c.Bool("append")))
}

func chhome(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetHome(ctx, c.Str("name"), c.Str("home"), c.Bool("persist")))
}

// setGecos sets one of the personal data, the argument of that name.
func setGecos(ctx context.Context, c *fun.Call, key string) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGecos(ctx, c.Str("name"), key, c.Str(key)))
}

func chfullname(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setGecos(ctx, c, "fullname")
}

func chhomephone(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setGecos(ctx, c, "homephone")
}

func chother(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setGecos(ctx, c, "other")
}

func chroomnumber(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setGecos(ctx, c, "roomnumber")
}

func chworkphone(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return setGecos(ctx, c, "workphone")
}

// set sets one thing of user.info, the argument of that name, by a flag of usermod.
func set(ctx context.Context, c *fun.Call, key, flag string) (fun.Result, error) {
	v := c.Value(key)
	a := NewAdmin(c)
	return a.done(a.Set(ctx, c.Str("name"), key, v, flag, value.Str(v)))
}

func chgid(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	return a.done(a.SetGID(ctx, c.Str("name"), c.Value("gid")))
}

func chshell(ctx context.Context, c *fun.Call) (fun.Result, error) { return set(ctx, c, "shell", "-s") }

func chuid(ctx context.Context, c *fun.Call) (fun.Result, error) { return set(ctx, c, "uid", "-u") }

func chloginclass(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	return a.done(a.SetLoginClass(ctx, c.Str("name"), c.Str("loginclass")))
}

func getLoginclass(ctx context.Context, c *fun.Call) (fun.Result, error) {
	a := NewAdmin(c)
	if !a.OpenBSD {
		return fun.Value(false)
	}
	class, err := a.LoginClass(ctx, c.Str("name"))
	return fun.Result{Value: class}, err
}
