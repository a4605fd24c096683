package manage

import "brine/internal/fun"

var pingArgs = []fun.Arg{
	{Name: "tgt", Type: fun.Str | fun.List, Default: "*", Doc: "target expression"},
	{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt"},
	{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "ask a silent target after this time whether it is still working"},
	{Name: "gather_job_timeout", Type: fun.Duration, Unit: "s", Doc: "how long a silent target may take to respond"},
}

var specs = []fun.Spec{
	{
		Name: "down", Src: "runners/manage.py down", Fn: down,
		Doc: "List the targets that do not respond to test.ping.",
		Shared: [][]fun.Arg{{
			{Name: "removekeys", Type: fun.Bool, Default: false, Doc: "accepted without effect; targets have no keys"},
		}, pingArgs},
	},
	{
		Name: "status", Src: "runners/manage.py status", Fn: status,
		Doc: "List the targets that respond to test.ping, and those that do not.",
		Shared: [][]fun.Arg{{
			{Name: "output", Type: fun.Bool, Default: true, Doc: "accepted without effect; the return is printed"},
		}, pingArgs},
	},
	{
		Name: "up", Src: "runners/manage.py up", Args: pingArgs, Fn: up,
		Doc: "List the targets that respond to test.ping.",
	},
}
