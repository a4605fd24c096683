package user

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/modules/shadow"
	users "brine/modules/user"
)

// update changes a user who is there and reports what changed.
func (w *want) update(ctx context.Context, ret fun.Ret, due *value.Map) fun.Ret {
	before, err := w.admin.Info(w.name)
	if err != nil || before == nil {
		return fun.Raise(err)
	}
	secret, err := w.shadow.Info(w.name)
	if err != nil {
		return fun.Raise(err)
	}
	if secret == nil {
		secret = &shadow.Entry{}
	}
	if err := w.apply(ctx, due, before); err != nil {
		return fun.Raise(err)
	}
	after, err := w.admin.Info(w.name)
	if err != nil {
		return fun.Raise(err)
	}
	changes := value.NewMap(4)
	for k, v := range after.All() {
		if !value.Equal(before.At(k), v) {
			changes.Set(k, v)
		}
	}
	if w.password == "" || w.lock != nil || secret.Passwd != w.password {
		now, err := w.shadow.Info(w.name)
		if err != nil {
			return fun.Raise(err)
		}
		if now != nil {
			old := secret.Map()
			for k, v := range now.Map().All() {
				switch {
				case value.Equal(old.At(k), v):
				case k == "passwd":
					changes.Set(k, redact.Hidden)
				default:
					changes.Set(k, v)
				}
			}
		}
	}
	ret.Changes = changes
	if changes.Len() > 0 {
		ret.Comment = "Updated user " + w.name
	}
	left, _, _, err := w.changes(true, true)
	if err != nil {
		return fun.Raise(err)
	}
	if left.Len() > 0 {
		if left.Has("passwd") {
			left.Set("passwd", redact.Hidden)
		}
		ret.Result, ret.Comment = fun.Failed, "These values could not be changed: "+value.Repr(left)
	}
	return ret
}

// apply makes the changes. Groups come last: a new primary group would undo
// them.
func (w *want) apply(ctx context.Context, due, before *value.Map) error {
	name := w.name
	if due.Has("passwd") {
		if _, err := w.shadow.SetPassword(ctx, name, w.field()); err != nil {
			return err
		}
	}
	if due.Has("empty_password") {
		if err := w.shadow.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := w.applyHome(ctx, due, before); err != nil {
		return err
	}
	if err := w.setDays(ctx, due.Has); err != nil {
		return err
	}
	if lock, ok := due.Get("password_lock"); ok {
		if err := w.shadow.SetLock(ctx, name, lock == true); err != nil {
			return err
		}
	}
	if err := w.applyFields(ctx, due); err != nil {
		return err
	}
	if due.Has("groups") {
		if _, err := w.admin.SetGroups(ctx, name, due.List("groups").Strs(), !w.a.RemoveGroups); err != nil {
			return err
		}
	}
	return nil
}

// applyHome sets the home directory, and makes it where it is missing.
func (w *want) applyHome(ctx context.Context, due, before *value.Map) error {
	dir, missing := due.Get("homeDoesNotExist")
	if !missing {
		var ok bool
		if dir, ok = due.Get("home"); !ok {
			return nil
		}
	}
	if _, err := w.admin.SetHome(ctx, w.name, value.Str(dir), false); err != nil || !missing {
		return err
	}
	return w.makeHome(value.Str(dir), before)
}

// applyFields sets the fields of passwd(5) that are numbers or text.
func (w *want) applyFields(ctx context.Context, due *value.Map) error {
	a, name := w.admin, w.name
	if v, ok := due.Get("uid"); ok {
		if _, err := a.Set(ctx, name, "uid", v, "-u", value.Str(v)); err != nil {
			return err
		}
	}
	if v, ok := due.Get("gid"); ok {
		if _, err := a.SetGID(ctx, name, v); err != nil {
			return err
		}
	}
	if v, ok := due.Get("shell"); ok {
		if _, err := a.Set(ctx, name, "shell", v, "-s", value.Str(v)); err != nil {
			return err
		}
	}
	for _, f := range w.a.gecos() {
		if v, ok := due.Get(f.key); ok {
			if _, err := a.SetGecos(ctx, name, f.key, value.Str(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeHome makes a home directory that useradd did not.
func (w *want) makeHome(dir string, of *value.Map) error {
	h := w.c.Env.Host
	if st, err := h.Stat(dir); err == nil && st.Mode.IsDir() {
		return nil
	}
	if err := h.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := h.Chmod(dir, 0o755); err != nil {
		return err
	}
	uid, _ := value.AsInt(of.At("uid"))
	gid, _ := value.AsInt(of.At("gid"))
	return h.Lchown(dir, int(uid), int(gid))
}

// setDays sets the limits of the password for which due is true.
func (w *want) setDays(ctx context.Context, due func(any) bool) error {
	for _, d := range w.a.days() {
		if !due(d.arg) {
			continue
		}
		if _, err := w.shadow.SetAge(ctx, w.name, d.arg, d.value); err != nil {
			return err
		}
	}
	return nil
}

// create makes a user who is not there.
func (w *want) create(ctx context.Context, ret fun.Ret) fun.Ret {
	n := users.New{
		Name: w.name, UID: w.uid, GID: w.gid, Groups: append(append([]string{}, w.list...), w.optional...), Shell: w.a.Shell,
		Unique: w.a.Unique, System: w.a.System, CreateHome: w.a.Createhome, NoLogInit: w.a.Nologinit,
		UserGroup: w.a.Usergroup, Fullname: w.a.Fullname.V, Room: w.a.Roomnumber.V, WorkPhone: w.a.Workphone.V,
		HomeTel: w.a.Homephone.V, Other: w.a.Other.V, LoginClass: w.a.Loginclass,
	}
	if w.a.Home.Given {
		n.Home = &w.a.Home.V
	}
	ok, err := w.admin.Add(ctx, n)
	if err != nil {
		return fun.Raise(err)
	}
	if !ok {
		_, there, err := w.admin.Account(w.name)
		w.raced = err == nil && there && w.admin.Status == users.NameTaken
		ret.Result, ret.Comment = fun.Failed, "Failed to create new user "+w.name
		return ret
	}
	changes, err := w.admin.Info(w.name)
	if err != nil {
		return fun.Raise(err)
	}
	if changes == nil {
		changes = value.NewMap(2)
	}
	if !n.CreateHome {
		changes.Set("home", "") // passwd has one, but nothing is there
	}
	ret.Comment, ret.Changes = "New user "+w.name+" created", changes
	if err := w.secrets(ctx, &ret, changes); err != nil {
		return fun.Raise(err)
	}
	return ret
}

// secrets sets password and limits of a new user.
func (w *want) secrets(ctx context.Context, ret *fun.Ret, changes *value.Map) error {
	fail := func(why string) { ret.Result, ret.Comment = fun.Failed, "User "+w.name+" created but failed to "+why }
	empty := w.a.EmptyPassword
	if w.password != "" && !empty {
		ok, err := w.shadow.SetPassword(ctx, w.name, w.field())
		if err != nil {
			return err
		}
		if !ok {
			fail("set password to " + redact.Hidden)
		}
		changes.Set("password", redact.Hidden)
	}
	if empty && w.password == "" {
		if err := w.shadow.Delete(ctx, w.name); err != nil {
			return err
		}
		if e, err := w.shadow.Info(w.name); err != nil || e == nil || e.Passwd != "" {
			fail("empty password")
		}
		changes.Set("password", "")
	}
	what := map[string]string{
		"date": "last change date", "mindays": "minimum days", "maxdays": "maximum days", "inactdays": "inactive days",
		"warndays": "warning days", "expire": "expire days",
	}
	for _, d := range w.a.days() {
		if d.value == nil || w.isDefault(d) {
			continue
		}
		ok, err := w.shadow.SetAge(ctx, w.name, d.arg, d.value)
		if err != nil {
			return err
		}
		if !ok {
			fail("set " + what[d.arg] + " to " + value.Str(d.value))
		}
		changes.Set(d.arg, d.value)
	}
	return nil
}

// isDefault reports whether a limit of 0 is what a new user has.
func (w *want) isDefault(d limit) bool {
	n, _ := shadow.Days(d.value)
	if n != 0 || d.arg == "date" {
		return false
	}
	e, err := w.shadow.Info(w.name)
	return d.arg == "expire" || err == nil && e != nil && e.Map().At(d.key) == n
}
