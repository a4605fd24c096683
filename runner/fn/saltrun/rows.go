package saltrun

import "brine/internal/fun"

var saltSpecs = []fun.Spec{
	{
		Name: "cmd", Src: "runners/salt.py cmd", VarArg: true, VarKw: true, Fn: cmd,
		Doc:  "Run an execution function on this controller.",
		Args: []fun.Arg{{Name: "fun", Type: fun.Str, Required: true, Doc: "function to run"}},
	},
	{
		Name: "execute", Src: "runners/salt.py execute", VarKw: true, Fn: execute,
		Doc: "Run an execution function on targets and return their results by ID.",
		Args: []fun.Arg{
			{Name: "tgt", Type: fun.Str | fun.List, Required: true, Doc: "target expression"},
			{Name: "fun", Type: fun.Str, Required: true, Doc: "function to run"},
			{Name: "arg", Type: fun.List, Doc: "positional arguments of the function"},
			{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "ask a silent target after this time whether it is still working"},
			{Name: "tgt_type", Type: fun.Str, Default: "glob", Doc: "type of tgt"},
			{Name: "ret", Type: fun.Str, Default: "", Doc: "returner"},
			{Name: "kwarg", Type: fun.Dict, Doc: "keyword arguments of the function"},
		},
	},
}

var configSpecs = []fun.Spec{
	{
		Name: "get", Src: "runners/config.py get", Fn: option,
		Doc: "Return a configuration option.",
		Args: []fun.Arg{
			{Name: "key", Type: fun.Str, Required: true, Doc: "name of the option; delimiter separates nested keys"},
			{Name: "default", Default: "", Doc: "value to return if the option does not exist"},
			{Name: "delimiter", Type: fun.Str, Default: ":", Doc: "separator of nested keys"},
		},
	},
}

// ErrorDoc documents error.error, which is a runner and a wheel function.
const ErrorDoc = "Fail with a message; without a name return {}."

var errorSpecs = []fun.Spec{
	{
		Name: "error", Src: "runners/error.py error", Fn: Fail,
		Doc: ErrorDoc,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Doc: "Python exception such as Exception; only the message is shown"},
			{Name: "message", Type: fun.Str, Default: "", Doc: "error message"},
		},
	},
}

var httpSpecs = []fun.Spec{
	{
		Name: "query", Src: "runners/http.py query", VarKw: true, Hands: true, Fn: query,
		Doc: "Send a request and return the response; further arguments are passed to the function http.query.",
		Args: []fun.Arg{
			{Name: "url", Type: fun.Str, Required: true, Doc: "URL"},
			{Name: "output", Type: fun.Bool, Default: true, Doc: "accepted without effect; the return is printed"},
		},
	},
}
