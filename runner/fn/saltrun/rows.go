package saltrun

import "brine/internal/core/fun"

var saltSpecs = []fun.Spec{
	{
		Name: "cmd", Src: "runners/salt.py cmd", Do: cmd,
		Doc: "Run an execution function on this controller.",
	},
	{
		Name: "execute", Src: "runners/salt.py execute", Do: execute,
		Doc: "Run an execution function on targets and return their results by ID.",
	},
}

var configSpecs = []fun.Spec{
	{
		Name: "get", Src: "runners/config.py get", Do: option,
		Doc: "Return a configuration option.",
	},
}

// ErrorDoc documents error.error, which is a runner and a wheel function.
const ErrorDoc = "Fail with a message; without a name return {}."

var errorSpecs = []fun.Spec{
	{
		Name: "error", Src: "runners/error.py error", Do: Fail,
		Doc: ErrorDoc,
	},
}

var httpSpecs = []fun.Spec{
	{
		Name: "query", Src: "runners/http.py query", Of: "http.query", Do: query,
		Doc: "Send a request and return the response.",
	},
}
