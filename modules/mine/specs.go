package mine

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "delete", Doc: "Remove the data of one function of this machine from the mine.", Src: "modules/mine.py delete", Fn: remove,
		Args: []fun.Arg{{Name: "fun", Type: fun.Str, Required: true, Doc: "name of the function, or its alias"}},
	},
	{Name: "flush", Doc: "Remove all data of this machine from the mine.", Src: "modules/mine.py flush", Fn: flush},
	{
		Name: "get", Src: "modules/mine.py get", Fn: get,
		Doc: "Return mine data of machines by ID.\nThe first call of a job has the machines of the run update their data.",
		Args: []fun.Arg{
			{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression"},
			{Name: "fun", Type: fun.Str | fun.List, Required: true, Doc: "function to get the data of; several, as a list or separated by commas, return data by function"},
			{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt; pillar values are compared exactly"},
			{Name: "exclude_minion", Type: fun.Bool, Default: false, Doc: "leave out this machine"},
		},
	},
	{
		Name: "send", Src: "modules/mine.py send", Fn: send, VarArg: true, VarKw: true, Hands: true,
		Doc:  "Run a function and keep its result in the mine; mine_function, allow_tgt and allow_tgt_type are as in mine_functions, further arguments are the function's.",
		Args: []fun.Arg{{Name: "name", Type: fun.Str, Required: true, Doc: "name of the data, and of the function unless mine_function names it"}},
	},
	{
		Name: "update", Src: "modules/mine.py update", Fn: update,
		Doc: "Run the functions of mine_functions and keep their results in the mine.",
		Args: []fun.Arg{
			{Name: "clear", Type: fun.Bool, Default: false, Doc: "remove data of other functions"},
			{Name: "mine_functions", Type: fun.Dict | fun.List, Doc: "functions to run instead of those of the configuration and pillar"},
		},
	},
	{Name: "valid", Doc: "Return the valid entries of mine_functions.", Src: "modules/mine.py valid", Fn: valid},
}
