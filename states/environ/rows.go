package environ

import "brine/internal/core/fun"

var specs = []fun.Spec{
	{
		Name: "setenv", Do: setenv, Src: "states/environ.py setenv",
		Doc: "Set environment variables.",
	},
}
