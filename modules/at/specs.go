package at

import "brine/internal/core/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "at", Doc: "Queue a job; return it.\n\nArguments are the time as at(1) takes it, then the command.", Src: "modules/at.py at",
		Do: add,
	},
	{
		Name: "atc", Doc: "Return the script of a job.", Src: "modules/at.py atc", Do: atc,
	},
	{
		Name: "atq", Doc: "Return the jobs that wait.", Src: "modules/at.py atq", Do: atq,
	},
	{
		Name: "atrm", Doc: "Remove jobs.\n\nArguments are numbers of jobs, or all, or all and a tag.", Src: "modules/at.py atrm",
		Do: atrm,
	},
	{
		Name: "jobcheck", Doc: "Return the jobs that fit all conditions.", Src: "modules/at.py jobcheck",
		Do: jobcheck,
	},
}
