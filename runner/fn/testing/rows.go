package testing

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "arg", Src: "runners/test.py arg", VarArg: true, VarKw: true, Fn: arg,
		Doc: "Return the arguments as they arrived: args and kwargs.",
	},
	{
		Name: "get_opts", Src: "runners/test.py get_opts", Fn: getOpts,
		Doc: "Return the configuration.",
	},
	{
		Name: "metasyntactic", Src: "runners/test.py metasyntactic", Fn: metasyntactic,
		Doc:  "Return the metasyntactic variables of a country.",
		Args: []fun.Arg{{Name: "locality", Type: fun.Str, Default: "us", OneOf: localities, Doc: "us or uk"}},
	},
	{
		Name: "raw_arg", Src: "runners/test.py raw_arg", VarArg: true, VarKw: true, Fn: arg,
		Doc: "Return all arguments as they arrived.",
	},
	{
		Name: "sleep", Src: "runners/test.py sleep", Fn: sleep,
		Doc:  "Sleep for some seconds.",
		Args: []fun.Arg{{Name: "s_time", Type: fun.Duration, Default: int64(10), Unit: "s", Doc: "how long to sleep"}},
	},
	{
		Name: "stdout_print", Src: "runners/test.py stdout_print", Fn: stdoutPrint,
		Doc: "Return \"bar\". Salt also prints \"foo\"; here standard output is only the report.",
	},
}

var localities = []string{"us", "uk"}
