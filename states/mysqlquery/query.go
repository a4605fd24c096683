// Package mysqlquery is Salt's state module "mysql_query": SQL statements for MySQL
// and MariaDB servers.
package mysqlquery

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/grains"
	"brine/modules/mysql"
)

// States returns the rows of the state module "mysql_query".
func States() fun.Module {
	return fun.Module{Name: "mysql_query", Kind: fun.State, Doc: "Run SQL statements on MySQL and MariaDB servers.", Specs: specs, Avail: fun.Needs("mysql", "mysql module could not be loaded")}
}

type runArgs struct {
	_        string `arg:"name,required" doc:"name of the state"`
	Database string `arg:"database,required" doc:"database that the statement is about"`
	Query    string `arg:"query,required" doc:"the statement"`
	outputArgs
	checkArg
	mysql.ConnArgs
	_ fun.Kwargs
}

// run runs a statement. Salt: salt/states/mysql_query.py run.
func run(ctx context.Context, c *fun.Call, a *runArgs) fun.Ret {
	t := target{mysql.OptionsOf(c, &a.ConnArgs), a.Database, a.CheckDBExists}
	if ret, stop := look(ctx, c, &a.outputArgs, t, c.Name); stop {
		return ret
	}
	conn, err := mysql.DialDatabase(ctx, c.Env, t.options, t.database)
	if err != nil {
		return fun.Fail("%v", err)
	}
	defer conn.Close()
	r, err := conn.Run(ctx, a.Query)
	if err != nil {
		return fun.Fail("%v", err)
	}
	return keep(c, &a.outputArgs, r.Value(true))
}

type runFileArgs struct {
	_         string `arg:"name,required" doc:"name of the state"`
	Database  string `arg:"database,required" doc:"database that the statements are about"`
	QueryFile string `arg:"query_file,required,path" doc:"path on this machine, or a salt://, http:// or https:// URL"`
	outputArgs
	Saltenv string `arg:"saltenv" doc:"environment of a salt:// URL; default: that of the state"`
	checkArg
	mysql.ConnArgs
	_ fun.Kwargs
}

// runFile runs the statements of a file. Salt: salt/states/mysql_query.py run_file.
func runFile(ctx context.Context, c *fun.Call, a *runFileArgs) fun.Ret {
	saltenv := a.Saltenv
	if saltenv == "" {
		saltenv = c.Env.SaltEnv
	}
	text, at, err := mysql.ReadSQL(ctx, c.Env, a.QueryFile, saltenv)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fun.Fail("File %s does not exist", at)
	case err != nil:
		return fun.Fail("%v", err)
	}
	t := target{mysql.OptionsOf(c, &a.ConnArgs), a.Database, a.CheckDBExists}
	if ret, stop := look(ctx, c, &a.outputArgs, t, a.Database); stop {
		return ret
	}
	conn, err := mysql.DialDatabase(ctx, c.Env, t.options, t.database)
	if err != nil {
		return fun.Fail("%v", err)
	}
	defer conn.Close()
	b, err := conn.RunFile(ctx, text)
	if err != nil {
		return fun.Fail("%v", err)
	}
	return keep(c, &a.outputArgs, b.Value(true))
}

// A target is the database that statements are about, and how its server is reached.
type target struct {
	options  mysql.Options
	database string
	check    bool // whether it is there
}

// look finds out whether there is something to do; stop where there is not, or
// where the run is a test. missing is how the comment names a database that is
// not there.
func look(ctx context.Context, c *fun.Call, a *outputArgs, t target, missing string) (ret fun.Ret, stop bool) {
	if t.check {
		conn, err := mysql.Dial(ctx, c.Env, t.options)
		if err != nil {
			return fun.Fail("%v", err), true
		}
		ok, err := conn.DatabaseExists(ctx, t.database)
		conn.Close()
		if err != nil {
			return fun.Fail("%v", err), true
		}
		if !ok {
			return fun.Ret{Result: fun.WouldChange, Comment: "Database " + missing + " is not present"}, true
		}
	}
	where, have, err := stored(c, a)
	switch {
	case err != nil:
		return fun.Fail("%v", err), true
	case have && !a.Overwrite:
		return fun.Ret{Result: fun.OK, Comment: "No execution needed. " + strings.ToUpper(where[:1]) + strings.Replace(where[1:], ": ", " ", 1) + " already set"}, true
	case c.Test && where == "":
		return fun.Ret{Result: fun.WouldChange, Comment: "Query would execute, not storing result"}, true
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Query would execute, storing result in " + where}, true
	}
	return ret, false
}

// stored says where the result goes, "" for the comment alone, and whether there
// is something already.
func stored(c *fun.Call, a *outputArgs) (where string, have bool, err error) {
	output, grain, key := a.Output.V, a.Grain.V, a.Key.V
	switch {
	case !a.Output.Given:
		return "", false, nil
	case output != "grain":
		st, err := c.Env.Host.Stat(output)
		return "file: " + output, err == nil && st.Mode.IsRegular(), nil
	case !a.Grain.Given:
		return "", false, errors.New("Error: output type 'grain' needs the grain parameter\n")
	case !a.Key.Given:
		return "grain: " + grain, c.Env.Grains != nil && has(c.Env.Grains, grain), nil
	}
	return "grain: " + grain + ":" + key, grainDict(c, grain).Has(key), nil
}

func has(m value.Mapping, key string) bool {
	_, ok := m.Get(key)
	return ok
}

// grainDict returns the grain that holds results by key.
func grainDict(c *fun.Call, grain string) *value.Map {
	v, _ := grains.Get(c.Env, grain, value.DefaultDelim)
	if m, ok := v.(value.Mapping); ok {
		return value.ToMap(m).Copy()
	}
	return value.NewMap(1)
}

// keep stores the result of a query and reports it.
func keep(c *fun.Call, a *outputArgs, result *value.Map) fun.Ret {
	ret := fun.Ret{Result: fun.OK, Comment: value.Str(result), Changes: value.MapOf("query", "Executed")}
	output, grain := a.Output.V, a.Grain.V
	var err error
	switch {
	case !a.Output.Given:
		return ret
	case output != "grain":
		ret.Changes = value.MapOf("query", "Executed. Output into "+output)
		err = c.Env.Host.WriteFile(output, strings.NewReader(lines(result)), host.WriteOptions{FollowLinks: true})
	case !a.Key.Given:
		ret.Changes = value.MapOf("query", "Executed. Output into grain: "+grain)
		_, err = grains.SetVal(c.Env, grain, result, false)
	default:
		ret.Changes = value.MapOf("query", "Executed. Output into grain: "+grain+":"+a.Key.V)
		m := grainDict(c, grain)
		m.Set(a.Key.V, result)
		_, err = grains.SetVal(c.Env, grain, m, true)
	}
	if err != nil {
		ret.Result, ret.Comment = fun.Failed, "The query was executed, but its result could not be stored: "+host.OSError(err)
	}
	return ret
}

// lines is a result as a file has it.
func lines(result *value.Map) string {
	var b strings.Builder
	write := func(m *value.Map) {
		for k, v := range m.All() {
			b.WriteString(value.Str(k) + ":" + value.Str(v) + "\n")
		}
	}
	rows, ok := result.Get("results")
	if !ok {
		write(result)
		return b.String()
	}
	if l, ok := rows.(*value.List); ok {
		for _, row := range l.Items {
			if m, ok := row.(*value.Map); ok {
				write(m)
			}
		}
	}
	return b.String()
}
