// Package mysqldatabase is Salt's state module "mysql_database": databases of MySQL
// and MariaDB servers.
package mysqldatabase

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/mysql"
)

// States returns the rows of the state module "mysql_database".
func States() fun.Module {
	return fun.Module{Name: "mysql_database", Kind: fun.State, Doc: "Manage databases of MySQL and MariaDB servers.", Specs: specs, Avail: fun.Needs("mysql", "mysql module could not be loaded")}
}

// same reports whether a character set or a collation is the wanted one. Servers
// show utf8 as utf8mb3.
func same(want, have string) bool {
	if want == "" || strings.EqualFold(want, have) {
		return true
	}
	rest, ok := strings.CutPrefix(strings.ToLower(want), "utf8")
	return ok && (rest == "" || rest[0] == '_') && strings.EqualFold("utf8mb3"+rest, have)
}

type presentArgs struct {
	nameArg
	CharacterSet string `arg:"character_set" doc:"default character set"`
	Collate      string `arg:"collate" doc:"default collation"`
	mysql.ConnArgs
	_ fun.Kwargs
}

// present creates a database or sets its defaults.
// Salt: salt/states/mysql_database.py present.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	want := mysql.Charset{Set: a.CharacterSet, Collate: a.Collate}
	conn, err := mysql.Dial(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs))
	if err != nil {
		return fun.Fail("%v", err)
	}
	defer conn.Close()
	have, known, err := conn.Charset(ctx, c.Name)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case known:
		return alter(ctx, c, conn, want, have)
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Database " + c.Name + " is not present and needs to be created"}
	}
	ok, err := conn.Create(ctx, c.Name, want)
	switch {
	case err != nil:
		return fun.Fail("Failed to create database %s (%v)", c.Name, err)
	case !ok:
		return fun.Fail("Failed to create database %s", c.Name)
	}
	return fun.Ret{Result: fun.OK, Comment: "The database " + c.Name + " has been created", Changes: value.MapOf(c.Name, "Present")}
}

// alter sets the defaults of a database that exists.
func alter(ctx context.Context, c *fun.Call, conn *mysql.Conn, want, have mysql.Charset) fun.Ret {
	comment := "Database " + c.Name + " is already present"
	set, collate := !same(want.Set, have.Set), !same(want.Collate, have.Collate)
	if set {
		comment = "Database character set " + want.Set + " != " + have.Set + " needs to be updated"
	}
	if collate {
		comment += "\nDatabase collate " + want.Collate + " != " + have.Collate + " needs to be updated"
	}
	switch {
	case !set && !collate:
		return fun.Ret{Result: fun.OK, Comment: comment}
	case c.Test && !collate:
		return fun.Ret{Result: fun.WouldChange, Comment: comment + "\nDatabase " + c.Name + " is going to be updated"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: comment}
	}
	if _, err := conn.Alter(ctx, c.Name, want); err != nil {
		return fun.Fail("%s\n%v", comment, err)
	}
	now, _, err := conn.Charset(ctx, c.Name)
	if err != nil {
		return fun.Fail("%s\n%v", comment, err)
	}
	changes := value.NewMap(2)
	if now.Collate != have.Collate {
		changes.Set("collate", value.MapOf("before", have.Collate, "now", now.Collate))
	}
	if now.Set != have.Set {
		changes.Set("character_set", value.MapOf("before", have.Set, "now", now.Set))
	}
	return fun.Ret{Result: fun.OK, Comment: comment, Changes: changes}
}

type absentArgs struct {
	nameArg
	mysql.ConnArgs
	_ fun.Kwargs
}

// absent removes a database. Salt: salt/states/mysql_database.py absent.
func absent(ctx context.Context, c *fun.Call, a *absentArgs) fun.Ret {
	conn, err := mysql.Dial(ctx, c.Env, mysql.OptionsOf(c, &a.ConnArgs))
	if err != nil {
		return fun.Fail("%v", err)
	}
	defer conn.Close()
	ok, err := conn.DatabaseExists(ctx, c.Name)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case !ok:
		return fun.Ret{Result: fun.OK, Comment: "Database " + c.Name + " is not present, so it cannot be removed"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Database " + c.Name + " is present and needs to be removed"}
	}
	ok, err = conn.Drop(ctx, c.Name)
	switch {
	case err != nil:
		return fun.Fail("Unable to remove database %s (%v)", c.Name, err)
	case !ok:
		return fun.Fail("Unable to remove database %s", c.Name)
	}
	return fun.Ret{Result: fun.OK, Comment: "Database " + c.Name + " has been removed", Changes: value.MapOf(c.Name, "Absent")}
}
