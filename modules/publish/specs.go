package publish

import "brine/internal/fun"

// called are the arguments of publish and full_data.
var called = []fun.Arg{
	{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression over the machines of the run"},
	{Name: "fun", Type: fun.Str, Required: true, Doc: "execution function to call there"},
	{Name: "arg", Type: fun.Any, Doc: "its argument, or a list of them; key=value is one by name"},
	{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt; pillar values are compared exactly"},
	{Name: "returner", Type: fun.Str, Default: "", Doc: "returner that gets each return too"},
	{Name: "timeout", Type: fun.Int | fun.Float | fun.Str, Default: int64(5), Unit: "s", Doc: "how long a machine may be silent before it is asked whether it still works"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "full_data", Src: "modules/publish.py full_data", Fn: fullData, Shared: [][]fun.Arg{called},
		Doc: "Call a function on other machines of the run and return a dict by ID, each return as ret.\nThe controller's option peer has to allow it.",
	},
	{
		Name: "publish", Src: "modules/publish.py publish", Fn: publish, Shared: [][]fun.Arg{called},
		Doc: "Call a function on other machines of the run and return their returns by ID.\nThe controller's option peer has to allow it.",
	},
	{
		Name: "runner", Src: "modules/publish.py runner", Fn: runner,
		Doc: "Call a runner function on the controller and return its return.\nThe controller's option peer_run has to allow it.",
		Args: []fun.Arg{
			{Name: "fun", Type: fun.Str, Required: true, Doc: "runner function"},
			{Name: "arg", Type: fun.Any, Doc: "its argument, or a list of them; key=value is one by name"},
			{Name: "timeout", Type: fun.Int | fun.Float | fun.Str, Default: int64(5), Unit: "s", Doc: "not used: the call is waited for"},
		},
	},
}
