// Package mysqluser is Salt's state module "mysql_user": users of MySQL and
// MariaDB servers.
package mysqluser

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/mysql"
)

// States returns the rows of the state module "mysql_user".
func States() fun.Module {
	return fun.Module{Name: "mysql_user", Kind: fun.State, Doc: "Manage users of MySQL and MariaDB servers.", Specs: specs, Avail: fun.Needs("mysql", "mysql module could not be loaded")}
}

// want returns the user that a state describes.
func want(a *presentArgs) mysql.User {
	return mysql.User{
		Name: a.Name, Host: a.Host,
		Password: a.Password.V, HasPassword: a.Password.Given,
		Hash: a.PasswordHash.V, HasHash: a.PasswordHash.Given,
		Passwordless: a.AllowPasswordless, Socket: a.UnixSocket,
		Column: a.PasswordColumn, Plugin: a.AuthPlugin,
	}
}

type presentArgs struct {
	nameArg
	hostArg
	Password          fun.Opt[string] `arg:"password,secret" doc:"the password"`
	PasswordHash      fun.Opt[string] `arg:"password_hash,secret" doc:"the password as the server keeps it, instead of password"`
	AllowPasswordless bool            `arg:"allow_passwordless" default:"False" doc:"allow a login without a password"`
	UnixSocket        bool            `arg:"unix_socket" default:"False" doc:"log in as the operating system user of that name"`
	PasswordColumn    string          `arg:"password_column" doc:"column of mysql.user with the password; default: that of the server"`
	AuthPlugin        string          `arg:"auth_plugin" default:"mysql_native_password" doc:"authentication plugin of a new user on MySQL 8"`
	mysql.ConnArgs
	_ fun.Kwargs
}

// present creates a user or sets how it logs in.
// Salt: salt/states/mysql_user.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	u := want(a)
	at := u.Name + "@" + u.Host
	none := u.Password == "" && u.Hash == ""
	if none && !u.Passwordless && !u.Socket {
		return fun.Fail("Either password or password_hash must be specified, unless allow_passwordless is True")
	}
	conn, err := mysql.DialAs(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs), u.Password)
	if err != nil {
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	}
	defer conn.Close()
	same := u
	same.Passwordless = none
	ok, err := conn.UserExists(ctx, same)
	if err != nil {
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	}
	if ok {
		return fun.Ret{Result: fun.OK, Comment: "User " + at + " is already present" + login(u, none)}
	}
	ok, err = conn.UserExists(ctx, mysql.User{Name: u.Name, Host: u.Host})
	switch {
	case err != nil:
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	case ok:
		return change(ctx, c, conn, u, none)
	}
	return create(ctx, c, conn, u)
}

// login says how a user who is there logs in.
func login(u mysql.User, none bool) string {
	switch {
	case none && u.Passwordless:
		return " with passwordless login"
	case none:
		return ""
	case u.Plugin != "mysql_native_password":
		return ". Unable to verify password."
	case u.Password == "":
		return " with the desired password hash"
	}
	return " with the desired password"
}

// change sets the password of a user who is there.
func change(ctx context.Context, c *fun.Call, conn *mysql.Conn, u mysql.User, none bool) fun.Ret {
	at, verb, done := u.Name+"@"+u.Host, "change", "changed"
	if none {
		verb, done = "clear", "cleared"
	}
	if c.Test {
		comment := "Password for user " + at + " is set to be " + done
		if none && !u.Passwordless {
			return fun.Fail("%s, but allow_passwordless != True", comment)
		}
		return fun.Ret{Result: fun.WouldChange, Comment: comment}
	}
	ok, err := conn.Chpass(ctx, u)
	if ok && err == nil {
		return fun.Ret{Result: fun.OK, Comment: "Password for user " + at + " has been " + done, Changes: value.MapOf(u.Name, "Updated")}
	}
	comment := "Failed to " + verb + " password for user " + at
	if msg := mysql.Fault(c, "mysql_user", err); msg != "" {
		comment += " (" + msg + ")"
	}
	if none && !u.Passwordless {
		comment += ". Note: allow_passwordless must be True to permit passwordless login."
	}
	return fun.Ret{Comment: comment}
}

// create creates a user.
func create(ctx context.Context, c *fun.Call, conn *mysql.Conn, u mysql.User) fun.Ret {
	at, how := u.Name+"@"+u.Host, ""
	if u.Passwordless {
		how = " with passwordless login"
	}
	if u.Socket {
		how += " using unix_socket"
	}
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: "User " + at + " is set to be added" + how}
	}
	ok, err := conn.CreateUser(ctx, u)
	if ok && err == nil {
		return fun.Ret{Result: fun.OK, Comment: "The user " + at + " has been added" + how, Changes: value.MapOf(u.Name, "Present")}
	}
	comment := "Failed to create user " + at
	if msg := mysql.Fault(c, "mysql_user", err); msg != "" {
		comment += " (" + msg + ")"
	}
	return fun.Ret{Comment: comment}
}

type absentArgs struct {
	nameArg
	hostArg
	mysql.ConnArgs
	_ fun.Kwargs
}

// absent removes a user. Salt: salt/states/mysql_user.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	u := mysql.User{Name: a.Name, Host: a.Host}
	at := u.Name + "@" + u.Host
	conn, err := mysql.Dial(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs))
	if err != nil {
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	}
	defer conn.Close()
	ok, err := conn.UserExists(ctx, u)
	switch {
	case err != nil:
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	case !ok:
		return fun.Ret{Result: fun.OK, Comment: "User " + at + " is not present, so it cannot be removed"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "User " + at + " is set to be removed"}
	}
	ok, err = conn.RemoveUser(ctx, u)
	switch {
	case err != nil:
		return fun.Fail("%s", mysql.Fault(c, "mysql_user", err))
	case !ok:
		return fun.Fail("User %s has not been removed", at)
	}
	return fun.Ret{Result: fun.OK, Comment: "User " + at + " has been removed", Changes: value.MapOf(u.Name, "Absent")}
}
