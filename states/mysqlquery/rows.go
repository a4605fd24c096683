package mysqlquery

import (
	"brine/internal/core/fun"
)

type outputArgs struct {
	_         fun.Arguments
	Output    fun.Opt[string] `arg:"output,path" doc:"grain, or a file for the result; default: only the comment has it"`
	Grain     fun.Opt[string] `arg:"grain" doc:"with output: grain, the grain"`
	Key       fun.Opt[string] `arg:"key" doc:"key of the grain, which is a mapping then"`
	Overwrite bool            `arg:"overwrite" default:"True" doc:"run even if the file or the grain exists"`
}

type checkArg struct {
	_             fun.Arguments
	CheckDBExists bool `arg:"check_db_exists" default:"True" doc:"do nothing if the database does not exist"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "run", Do: run, NearMiss: true, Always: true, Src: "states/mysql_query.py run",
		Doc: "Run an SQL statement.",
	},
	{
		Name: "run_file", Do: runFile, NearMiss: true, Always: true, Src: "states/mysql_query.py run_file",
		Doc: "Run the SQL statements of a file.\nThey run one after the other, up to the first that fails.",
	},
}
