package testing

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "arg", Src: "runners/test.py arg", Do: arg,
		Doc: "Return the arguments as they arrived: args and kwargs.",
	},
	{
		Name: "get_opts", Src: "runners/test.py get_opts", Do: getOpts,
		Doc: "Return the configuration.",
	},
	{
		Name: "metasyntactic", Src: "runners/test.py metasyntactic", Do: metasyntactic,
		Doc: "Return the metasyntactic variables of a country.",
	},
	{
		Name: "raw_arg", Src: "runners/test.py raw_arg", Do: arg,
		Doc: "Return all arguments as they arrived.",
	},
	{
		Name: "sleep", Src: "runners/test.py sleep", Do: sleep,
		Doc: "Sleep for some seconds.",
	},
	{
		Name: "stdout_print", Src: "runners/test.py stdout_print", Do: stdoutPrint,
		Doc: "Return \"bar\". Salt also prints \"foo\"; here standard output is only the report.",
	},
}
