package mysqlquery

import (
	"brine/internal/fun"
	"brine/modules/mysql"
)

var outputArgs = []fun.Arg{
	{Name: "output", Type: fun.Path, Doc: "grain, or a file for the result; default: only the comment has it"},
	{Name: "grain", Type: fun.Str, Doc: "with output: grain, the grain"},
	{Name: "key", Type: fun.Str, Doc: "key of the grain, which is a mapping then"},
	{Name: "overwrite", Type: fun.Bool, Default: true, Doc: "run even if the file or the grain exists"},
}

var checkArg = fun.Arg{Name: "check_db_exists", Type: fun.Bool, Default: true, Doc: "do nothing if the database does not exist"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "run", State: run, VarKw: true, NearMiss: true, Always: true, Src: "states/mysql_query.py run",
		Doc: "Run an SQL statement.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the state"},
			{Name: "database", Type: fun.Str, Required: true, Doc: "database that the statement is about"},
			{Name: "query", Type: fun.Str, Required: true, Doc: "the statement"},
		},
		Shared: [][]fun.Arg{outputArgs, {checkArg}, mysql.ConnArgs},
	},
	{
		Name: "run_file", State: runFile, VarKw: true, NearMiss: true, Always: true, Src: "states/mysql_query.py run_file",
		Doc: "Run the SQL statements of a file.\nThey run one after the other, up to the first that fails.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the state"},
			{Name: "database", Type: fun.Str, Required: true, Doc: "database that the statements are about"},
			{Name: "query_file", Type: fun.Path, Required: true, Doc: "path on this machine, or a salt://, http:// or https:// URL"},
		},
		Shared: [][]fun.Arg{outputArgs, {{Name: "saltenv", Type: fun.Str, Doc: "environment of a salt:// URL; default: that of the state"}, checkArg}, mysql.ConnArgs},
	},
}
