package user

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// changeSpecs are the rows that change accounts.
func changeSpecs() []fun.Spec {
	src := func(name string) string { return "modules/useradd.py " + name }
	name := fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"}
	root := fun.Arg{Name: "root", Type: fun.Str, Doc: "a directory to work in instead of the machine's own"}
	spec := func(n, doc string, fn fun.ExecFn, args ...fun.Arg) fun.Spec {
		return fun.Spec{Name: n, Doc: doc, Src: src(n), Fn: fn, Args: append(append([]fun.Arg{name}, args...), root)}
	}
	text := func(n, doc string) fun.Arg { return fun.Arg{Name: n, Required: true, Doc: doc} }
	gecos := func(n, key, doc string) fun.Spec {
		return spec(n, "Set "+doc+" of a user.", gecosFn(key), text(key, doc))
	}
	return []fun.Spec{
		spec("add", "Make a user.", add,
			fun.Arg{Name: "uid", Doc: "number of the user"},
			fun.Arg{Name: "gid", Doc: "name or number of the primary group"},
			fun.Arg{Name: "groups", Type: fun.List, Doc: "further groups"},
			fun.Arg{Name: "home", Doc: "home directory"},
			fun.Arg{Name: "shell", Doc: "login shell"},
			fun.Arg{Name: "unique", Type: fun.Bool, Default: true, Doc: "refuse a number that is taken"},
			fun.Arg{Name: "system", Type: fun.Bool, Default: false, Doc: "make a system account"},
			fun.Arg{Name: "fullname", Default: "", Doc: "full name"},
			fun.Arg{Name: "roomnumber", Default: "", Doc: "room"},
			fun.Arg{Name: "workphone", Default: "", Doc: "telephone at work"},
			fun.Arg{Name: "homephone", Default: "", Doc: "telephone at home"},
			fun.Arg{Name: "other", Default: "", Doc: "other personal data"},
			fun.Arg{Name: "createhome", Type: fun.Bool, Default: true, Doc: "make the home directory"},
			fun.Arg{Name: "loginclass", Doc: "of BSD"},
			fun.Arg{Name: "nologinit", Type: fun.Bool, Default: false, Doc: "keep the user out of lastlog and faillog"},
			fun.Arg{Name: "usergroup", Doc: "True: make a group of the same name; False: make none"},
		),
		spec("chfullname", "Set the full name of a user.", gecosFn("fullname"), text("fullname", "the full name")),
		spec("chgid", "Set the primary group of a user.", ch("gid", "-g"), text("gid", "number of the group")),
		spec("chgroups", "Set the further groups of a user.", chgroups,
			fun.Arg{Name: "groups", Type: fun.List, Required: true, Doc: "the groups"},
			fun.Arg{Name: "append", Type: fun.Bool, Default: false, Doc: "keep those that the user has"}),
		spec("chhome", "Set the home directory of a user.", chhome, text("home", "the directory"),
			fun.Arg{Name: "persist", Type: fun.Bool, Default: false, Doc: "move what is in the old one"}),
		gecos("chhomephone", "homephone", "the telephone at home"),
		gecos("chother", "other", "the other personal data"),
		gecos("chroomnumber", "roomnumber", "the room"),
		spec("chshell", "Set the login shell of a user.", ch("shell", "-s"), text("shell", "the shell")),
		spec("chuid", "Set the number of a user.", ch("uid", "-u"), text("uid", "the number")),
		gecos("chworkphone", "workphone", "the telephone at work"),
		spec("delete", "Remove a user; return whether that worked.", remove,
			fun.Arg{Name: "remove", Type: fun.Bool, Default: false, Doc: "remove home and mail as well"},
			fun.Arg{Name: "force", Type: fun.Bool, Default: false, Doc: "remove a user who is logged in"}),
		spec("rename", "Give a user another name.", rename, text("new_name", "the new name")),
	}
}

// done is the return of a change.
func done(ok bool, err error) (fun.Result, error) { return fun.Result{Value: ok}, err }

func text(v value.Value) string {
	if v == nil {
		return ""
	}
	return value.Str(v)
}

func add(ctx context.Context, c *fun.Call) (fun.Result, error) {
	n := New{
		Name: c.Str("name"), UID: c.Value("uid"), GID: c.Value("gid"), Groups: c.Strings("groups"), Shell: text(c.Value("shell")),
		Unique: c.Bool("unique"), System: c.Bool("system"), CreateHome: c.Bool("createhome"), NoLogInit: c.Bool("nologinit"),
		UserGroup: c.Value("usergroup"), Fullname: text(c.Value("fullname")), Room: text(c.Value("roomnumber")),
		WorkPhone: text(c.Value("workphone")), HomeTel: text(c.Value("homephone")), Other: text(c.Value("other")),
	}
	if v := c.Value("home"); v != nil {
		s := value.Str(v)
		n.Home = &s
	}
	return done(NewAdmin(c).Add(ctx, n))
}

func remove(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return done(NewAdmin(c).Delete(ctx, c.Str("name"), c.Bool("remove"), c.Bool("force")))
}

func rename(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return done(NewAdmin(c).Rename(ctx, c.Str("name"), c.Str("new_name")))
}

func chgroups(ctx context.Context, c *fun.Call) (fun.Result, error) {
	var groups []string
	for _, g := range c.Strings("groups") {
		groups = append(groups, strings.Split(g, ",")...)
	}
	return done(NewAdmin(c).SetGroups(ctx, c.Str("name"), groups, c.Bool("append")))
}

func chhome(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return done(NewAdmin(c).SetHome(ctx, c.Str("name"), c.Str("home"), c.Bool("persist")))
}

// gecosFn returns the function that sets one of the personal data.
func gecosFn(key string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		return done(NewAdmin(c).SetGecos(ctx, c.Str("name"), key, text(c.Value(key))))
	}
}

// ch returns the function that sets one thing of user.info by a flag.
func ch(key, flag string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		v := c.Value(key)
		return done(NewAdmin(c).Set(ctx, c.Str("name"), key, v, flag, value.Str(v)))
	}
}
