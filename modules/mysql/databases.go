package mysql

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

var likeEscapes = strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`)

// DatabaseExists reports whether there is a database.
func (c *Conn) DatabaseExists(ctx context.Context, name string) (bool, error) {
	pattern := likeEscapes.Replace(name)
	if c.plain {
		// Without an escape character in strings LIKE has none either.
		pattern = name
	}
	r, err := c.Query(ctx, "SHOW DATABASES LIKE ?", pattern)
	return err == nil && len(r.Rows) == 1, err
}

// A Charset is the default character set and collation of a database.
type Charset struct{ Set, Collate string }

// Charset returns those of a database; known is false where there is none.
func (c *Conn) Charset(ctx context.Context, name string) (cs Charset, known bool, err error) {
	r, err := c.Query(ctx, "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?", name)
	if err != nil || len(r.Rows) == 0 {
		return Charset{}, false, err
	}
	return Charset{value.Str(r.Rows[0][0]), value.Str(r.Rows[0][1])}, true, nil
}

// Alter sets the defaults of a database; what is "" stays.
func (c *Conn) Alter(ctx context.Context, name string, cs Charset) (bool, error) {
	r, err := c.Raw(ctx, "ALTER DATABASE "+Identifier(name)+c.defaults(cs))
	return err == nil && r.Affected > 0, err
}

// defaults returns the clauses that set the defaults of a database.
func (c *Conn) defaults(cs Charset) string {
	text := ""
	if cs.Set != "" {
		text += " CHARACTER SET " + c.Literal(cs.Set)
	}
	if cs.Collate != "" {
		text += " COLLATE " + c.Literal(cs.Collate)
	}
	return text
}

// Create creates a database. It reports false where there is one already.
func (c *Conn) Create(ctx context.Context, name string, cs Charset) (bool, error) {
	if have, err := c.DatabaseExists(ctx, name); have || err != nil {
		return false, err
	}
	r, err := c.Raw(ctx, "CREATE DATABASE IF NOT EXISTS "+Identifier(name)+c.defaults(cs))
	return err == nil && r.Affected > 0, err
}

// Drop removes a database. It reports false where there is none, and for the
// server's own.
func (c *Conn) Drop(ctx context.Context, name string) (bool, error) {
	if have, err := c.DatabaseExists(ctx, name); !have || err != nil {
		return false, err
	}
	if name == "mysql" || name == "information_schema" || name == "information_scheme" {
		c.env.Log().Info("mysql: database may not be removed", "name", name)
		return false, nil
	}
	if _, err := c.Raw(ctx, "DROP DATABASE "+Identifier(name)); err != nil {
		return false, err
	}
	have, err := c.DatabaseExists(ctx, name)
	return !have && err == nil, err
}

// alterDBArgs are the arguments of alterDB and dbCreate.
type alterDBArgs struct {
	nameArg
	charsetArg
	collateArg
	ConnArgs
	_ fun.Kwargs
}

func alterDB(ctx context.Context, c *fun.Call, a *alterDBArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.Alter(ctx, a.Name, Charset{a.CharacterSet, a.Collate})
	})
}

func dbCreate(ctx context.Context, c *fun.Call, a *alterDBArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.Create(ctx, a.Name, Charset{a.CharacterSet, a.Collate})
	})
}

// dbExistsArgs are the arguments of dbExists, dbGet, dbRemove and dbTables.
type dbExistsArgs struct {
	nameArg
	ConnArgs
	_ fun.Kwargs
}

func dbExists(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.DatabaseExists(ctx, a.Name)
	})
}

func dbGet(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		cs, known, err := conn.Charset(ctx, a.Name)
		if !known {
			return value.NewMap(0), err
		}
		return value.MapOf("character_set", cs.Set, "collate", cs.Collate), nil
	})
}

// dbListArgs are the arguments of dbList, status, version, slaveLag, freeSlave, processlist, masterStatus and others.
type dbListArgs struct {
	ConnArgs
	_ fun.Kwargs
}

func dbList(ctx context.Context, c *fun.Call, a *dbListArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, value.NewList(), func(ctx context.Context, conn *Conn) (value.Value, error) {
		return first(conn.Query(ctx, "SHOW DATABASES"))
	})
}

func first(r *Rows, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	return r.First(), nil
}

func dbRemove(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		return conn.Drop(ctx, a.Name)
	})
}

// tables returns the tables of a database; known is false where there is none.
func (c *Conn) tables(ctx context.Context, name string) (l *value.List, known bool, err error) {
	if have, err := c.DatabaseExists(ctx, name); !have || err != nil {
		return nil, false, err
	}
	r, err := c.Raw(ctx, "SHOW TABLES IN "+Identifier(name))
	if err != nil {
		return nil, false, err
	}
	return r.First(), true, nil
}

func dbTables(ctx context.Context, c *fun.Call, a *dbExistsArgs) (fun.Result, error) {
	return call(ctx, c, &a.ConnArgs, false, func(ctx context.Context, conn *Conn) (value.Value, error) {
		l, known, err := conn.tables(ctx, a.Name)
		if !known {
			return false, err
		}
		return l, nil
	})
}

// dbCheckArgs are the arguments of dbCheck, dbOptimize and dbRepair.
type dbCheckArgs struct {
	nameArg
	Table fun.Opt[string] `arg:"table" doc:"only this table"`
	ConnArgs
	_ fun.Kwargs
}

func dbCheck(ctx context.Context, c *fun.Call, a *dbCheckArgs) (fun.Result, error) {
	return maintain(ctx, c, a, "CHECK")
}

func dbOptimize(ctx context.Context, c *fun.Call, a *dbCheckArgs) (fun.Result, error) {
	return maintain(ctx, c, a, "OPTIMIZE")
}

func dbRepair(ctx context.Context, c *fun.Call, a *dbCheckArgs) (fun.Result, error) {
	return maintain(ctx, c, a, "REPAIR")
}

// maintain checks, optimizes or repairs one table or all of a database.
func maintain(ctx context.Context, c *fun.Call, a *dbCheckArgs, verb string) (fun.Result, error) {
	none := value.Value(value.NewMap(0))
	if !a.Table.Given {
		none = value.NewList()
	}
	return call(ctx, c, &a.ConnArgs, none, func(ctx context.Context, conn *Conn) (value.Value, error) {
		do := func(table string) (value.Value, error) {
			return dicts(conn.Raw(ctx, verb+" TABLE "+Identifier(a.Name)+"."+Identifier(table)))
		}
		if a.Table.Given {
			return do(a.Table.V)
		}
		l, known, err := conn.tables(ctx, a.Name)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, fun.Errorf("Database '%s' does not exist", a.Name)
		}
		all := value.NewList()
		for _, t := range l.Items {
			v, err := do(value.Str(t))
			if err != nil {
				return nil, err
			}
			all.Append(v)
		}
		return all, nil
	})
}
