// Package mysqlgrants is Salt's state module "mysql_grants": what users of MySQL
// and MariaDB servers may do.
package mysqlgrants

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/mysql"
)

// States returns the rows of the state module "mysql_grants".
func States() fun.Module {
	return fun.Module{Name: "mysql_grants", Kind: fun.State, Doc: "Manage privileges of users of MySQL and MariaDB servers.", Specs: specs, Avail: fun.Needs("mysql", "mysql module could not be loaded")}
}

// missingArg names an argument that a grant needs and the state does not have.
func (a *grantArgs) missingArg() string {
	switch {
	case !a.Grant.Given:
		return "grant"
	case !a.Database.Given:
		return "database"
	case !a.User.Given:
		return "user"
	}
	return ""
}

// grant is the grant that a state describes.
func (a *grantArgs) grant() mysql.Grant {
	return mysql.Grant{
		Privileges: a.Grant.V, Database: a.Database.V, User: mysql.User{Name: a.User.V, Host: a.Host}, Option: a.GrantOption, Raw: !a.Escape,
	}
}

type presentGiven struct {
	grantArgs
	RevokeFirst bool        `arg:"revoke_first" default:"False" doc:"first revoke what the user has of that database or table"`
	SSLOption   value.Value `arg:"ssl_option,bool|list" default:"False" doc:"requirements of the connection: a list of SSL, X509, SUBJECT, ISSUER and CIPHER mappings"`
	mysql.ConnArgs
	_ fun.Kwargs
}

// present grants privileges. Salt: salt/states/mysql_grants.py present.
func present(ctx context.Context, c *fun.Call, a *presentGiven) fun.Ret {
	if arg := a.missingArg(); arg != "" {
		return fun.Fail("mysql_grants.present needs the argument %s", arg)
	}
	g := a.grant()
	g.SSL = a.SSLOption
	to := g.User.Name + "@" + g.User.Host
	what := g.Privileges + " on " + g.Database + " to " + to
	conn, err := mysql.Dial(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs))
	if err != nil {
		return fun.Fail("%s", mysql.Fault(c, "mysql_grants", err))
	}
	defer conn.Close()
	ok, err := conn.GrantExists(ctx, g)
	if msg := mysql.Fault(c, "mysql_grants", err); msg != "" {
		return fun.Fail("%s", msg)
	}
	switch {
	case ok:
		return fun.Ret{Result: fun.OK, Comment: "Grant " + what + " is already present"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "MySQL grant " + c.Name + " is set to be created"}
	}
	if a.RevokeFirst {
		if msg := mysql.Fault(c, "mysql_grants", conn.RevokeAll(ctx, g)); msg != "" {
			return fun.Fail("Failed to revoke the grants on %s from %s (%s)", g.Database, to, msg)
		}
	}
	ok, err = conn.AddGrant(ctx, g)
	if ok && err == nil {
		return fun.Ret{Result: fun.OK, Comment: "Grant " + what + " has been added", Changes: value.MapOf(c.Name, "Present")}
	}
	comment := `Failed to execute: "GRANT ` + g.Privileges + " ON " + g.Database + " TO " + to + `"`
	if msg := mysql.Fault(c, "mysql_grants", err); msg != "" {
		comment += " (" + msg + ")"
	}
	return fun.Ret{Comment: comment}
}

type absentArgs struct {
	grantArgs
	mysql.ConnArgs
	_ fun.Kwargs
}

// absent revokes privileges. Salt: salt/states/mysql_grants.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	if arg := a.missingArg(); arg != "" {
		return fun.Fail("mysql_grants.absent needs the argument %s", arg)
	}
	g := a.grant()
	at := g.User.Name + "@" + g.User.Host
	what := g.Privileges + " on " + g.Database
	conn, err := mysql.Dial(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs))
	if err != nil {
		return fun.Fail("Unable to determine if grant %s for %s exists (%s)", what, at, mysql.Fault(c, "mysql_grants", err))
	}
	defer conn.Close()
	ok, err := conn.GrantExists(ctx, g)
	if msg := mysql.Fault(c, "mysql_grants", err); msg != "" {
		return fun.Fail("Unable to determine if grant %s for %s exists (%s)", what, at, msg)
	}
	switch {
	case !ok:
		return fun.Ret{Result: fun.OK, Comment: "Grant " + what + " to " + at + " is not present, so it cannot be revoked"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "MySQL grant " + c.Name + " is set to be revoked"}
	}
	ok, err = conn.RevokeGrant(ctx, g)
	switch {
	case err != nil:
		return fun.Fail("Unable to revoke grant %s for %s (%s)", what, at, err)
	case !ok:
		return fun.Fail("Unable to revoke grant %s for %s (the user still has it)", what, at)
	}
	return fun.Ret{Result: fun.OK, Comment: "Grant " + what + " for " + at + " has been revoked", Changes: value.MapOf(c.Name, "Absent")}
}
