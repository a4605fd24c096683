// Package webutil is Salt's state module "webutil": users of web servers in password
// files of htpasswd(1).
package webutil

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// States returns the rows of the state module "webutil".
func States() fun.Module {
	return fun.Module{Name: "webutil", Kind: fun.State, Doc: "Users in password files of web servers.", Specs: specs}
}

// Arguments that both functions have.
var (
	nameArg  = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the user"}
	fileArg  = fun.Arg{Name: "htpasswd_file", Type: fun.Path, Doc: "the file"}
	runasArg = fun.Arg{Name: "runas", Type: fun.Str, Doc: "account that a new file belongs to"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "user_absent", Doc: "Remove a user.", Src: "states/webutil.py user_absent", State: userAbsent,
		Args: []fun.Arg{nameArg, fileArg, runasArg},
	},
	{
		Name: "user_exists", Doc: "Add a user.", Src: "states/webutil.py user_exists", State: userExists,
		Args: []fun.Arg{
			nameArg,
			{Name: "password", Type: fun.Str, Secret: true, Doc: "the password"},
			fileArg,
			{Name: "options", Type: fun.Str, Default: "", Doc: "letters of options of htpasswd(1): B is bcrypt, 2 and 5 are SHA-256 and SHA-512, s is SHA-1, m is MD5 (default), p is plain"},
			{Name: "force", Type: fun.Bool, Default: false, Doc: "write the password on every run"},
			runasArg,
			{Name: "update", Type: fun.Bool, Default: false, Doc: "change the password of a user who has another"},
		},
	},
}

// call calls a function of webutil on the user of the state.
func call(ctx context.Context, c *fun.Call, name string, kw *value.Map) (value.Value, error) {
	kw.Set("pwfile", c.Value("htpasswd_file"))
	kw.Set("user", c.Name)
	kw.Set("runas", c.Value("runas"))
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "webutil."+name, fun.Args{Kw: kw})
	return res.Value, err
}

// exists reports whether the file has the user.
func exists(c *fun.Call) bool {
	b, err := c.Env.Host.ReadFile(c.Str("htpasswd_file"))
	return err == nil && strings.Contains("\n"+string(b), "\n"+c.Name+":")
}

// userExists adds a user. Salt: salt/states/webutil.py user_exists.
func userExists(ctx context.Context, c *fun.Call) fun.Ret {
	if c.Str("htpasswd_file") == "" {
		return fun.Fail("htpasswd_file is needed")
	}
	password := value.MapOf("password", c.Value("password"), "opts", c.Value("options"))
	there := exists(c)
	changed := !there || c.Bool("force")
	if !changed && c.Bool("update") {
		same, err := call(ctx, c, "verify", password)
		if err != nil {
			return fun.Raise(err)
		}
		changed = !value.Truth(same)
	}
	if !changed {
		return fun.Ret{Result: fun.OK, Comment: "User already known"}
	}
	if c.IsNone("password") {
		return fun.Fail("a password is needed for user %s", c.Name)
	}
	changes := value.MapOf(c.Name, true)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("User '%s' is set to be added to htpasswd file", c.Name), Changes: changes}
	}
	v, err := call(ctx, c, "useradd", password)
	if err != nil {
		return fun.Raise(err)
	}
	return report(v, changes)
}

// report returns what a function of webutil did.
func report(v value.Value, changes *value.Map) fun.Ret {
	m, ok := v.(*value.Map)
	if !ok {
		return fun.Fail("%s", value.Str(v))
	}
	if !value.Equal(m.At("retcode"), int64(0)) {
		return fun.Fail("%s", m.Str("stderr"))
	}
	return fun.Ret{Result: fun.OK, Comment: m.Str("stderr"), Changes: changes}
}

// userAbsent removes a user. Salt: salt/states/webutil.py user_absent. Difference:
// test mode is True where the user is not there.
func userAbsent(ctx context.Context, c *fun.Call) fun.Ret {
	if !exists(c) {
		return fun.Ret{Result: fun.OK, Comment: "User already not in file"}
	}
	changes := value.MapOf(c.Name, true)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("User '%s' is set to be removed from htpasswd file", c.Name), Changes: changes}
	}
	v, err := call(ctx, c, "userdel", value.MapOf("all_results", true))
	if err != nil {
		return fun.Raise(err)
	}
	return report(v, changes)
}
