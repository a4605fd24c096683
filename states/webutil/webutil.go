// Package webutil is Salt's state module "webutil": users of web servers in password
// files of htpasswd(1).
package webutil

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "webutil".
func States() fun.Module {
	return fun.Module{Name: "webutil", Kind: fun.State, Doc: "Users in password files of web servers.", Specs: specs}
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the user"`
}

type fileArg struct {
	_            fun.Arguments
	HtpasswdFile value.Value `arg:"htpasswd_file,path" doc:"the file"`
}

type runasArg struct {
	_     fun.Arguments
	Runas value.Value `arg:"runas,str" doc:"account that a new file belongs to"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "user_absent", Doc: "Remove a user.", Src: "states/webutil.py user_absent", Do: userAbsent,
	},
	{
		Name: "user_exists", Doc: "Add a user.", Src: "states/webutil.py user_exists", Do: userExists,
	},
}

// call calls a function of webutil on the user of the state.
func call(ctx context.Context, c *fun.Call, htpasswdFile value.Value, runas value.Value, name string, kw *value.Map) (value.Value, error) {
	kw.Set("pwfile", htpasswdFile)
	kw.Set("user", c.Name)
	kw.Set("runas", runas)
	return c.Env.Exec(ctx, "webutil."+name, kw)
}

// exists reports whether the file has the user.
func exists(c *fun.Call, a *fileArg) bool {
	b, err := c.Env.Host.ReadFile(fun.TextOf(a.HtpasswdFile))
	return err == nil && strings.Contains("\n"+string(b), "\n"+c.Name+":")
}

type userExistsArgs struct {
	nameArg
	Password value.Value `arg:"password,secret,str" doc:"the password"`
	fileArg
	Options value.Value `arg:"options,str" default:"" doc:"letters of options of htpasswd(1): B is bcrypt, 2 and 5 are SHA-256 and SHA-512, s is SHA-1, m is MD5 (default), p is plain"`
	Force   bool        `arg:"force" default:"False" doc:"write the password on every run"`
	runasArg
	Update bool `arg:"update" default:"False" doc:"change the password of a user who has another"`
}

// userExists adds a user. Salt: salt/states/webutil.py user_exists.
func userExists(ctx context.Context, c *fun.Call, a *userExistsArgs) fun.Ret {
	if fun.TextOf(a.HtpasswdFile) == "" {
		return fun.Fail("htpasswd_file is needed")
	}
	password := value.MapOf("password", a.Password, "opts", a.Options)
	there := exists(c, &a.fileArg)
	changed := !there || a.Force
	if !changed && a.Update {
		same, err := call(ctx, c, a.HtpasswdFile, a.Runas, "verify", password)
		if err != nil {
			return fun.Raise(err)
		}
		changed = !value.Truth(same)
	}
	if !changed {
		return fun.Ret{Result: fun.OK, Comment: "User already known"}
	}
	if a.Password == nil {
		return fun.Fail("a password is needed for user %s", c.Name)
	}
	changes := value.MapOf(c.Name, true)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("User '%s' is set to be added to htpasswd file", c.Name), Changes: changes}
	}
	v, err := call(ctx, c, a.HtpasswdFile, a.Runas, "useradd", password)
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

type userAbsentArgs struct {
	nameArg
	fileArg
	runasArg
}

// userAbsent removes a user. Salt: salt/states/webutil.py user_absent. Difference:
// test mode is True where the user is not there.
func userAbsent(ctx context.Context, c *fun.Call, a *userAbsentArgs) fun.Ret {
	if !exists(c, &a.fileArg) {
		return fun.Ret{Result: fun.OK, Comment: "User already not in file"}
	}
	changes := value.MapOf(c.Name, true)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: fmt.Sprintf("User '%s' is set to be removed from htpasswd file", c.Name), Changes: changes}
	}
	v, err := call(ctx, c, a.HtpasswdFile, a.Runas, "userdel", value.MapOf("all_results", true))
	if err != nil {
		return fun.Raise(err)
	}
	return report(v, changes)
}
