package environ

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "setenv", Do: setenv, Src: "states/environ.py setenv",
		Doc: "Set environment variables.",
	},
}
