package sys

import (
	"brine/internal/core/fun"
)

type moduleArgs struct {
	_      fun.Arguments
	Module string `arg:"module" default:"" doc:"module, function or glob; default: all"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "argspec", Doc: "Return the arguments of functions.", Src: "modules/sysmod.py argspec", Do: argspec},
	{Name: "doc", Doc: "Return the documentation of functions.", Src: "modules/sysmod.py doc", Do: doc},
	{Name: "list_functions", Doc: "List execution functions.", Src: "modules/sysmod.py list_functions", Do: functions},
	{Name: "list_modules", Doc: "List execution modules.", Src: "modules/sysmod.py list_modules", Do: modules},
	{Name: "list_renderers", Doc: "List renderers.", Src: "modules/sysmod.py list_renderers", Do: listRenderers},
	{Name: "list_runner_functions", Doc: "List runner functions.", Src: "modules/sysmod.py list_runner_functions", Do: runnerFunctions},
	{Name: "list_runners", Doc: "List runner modules.", Src: "modules/sysmod.py list_runners", Do: runners},
	{Name: "list_state_functions", Doc: "List state functions.", Src: "modules/sysmod.py list_state_functions", Do: stateFunctions},
	{Name: "list_state_modules", Doc: "List state modules.", Src: "modules/sysmod.py list_state_modules", Do: stateModules},
	{Name: "reload_modules", Doc: "Return True: functions are looked up at each call.", Src: "modules/sysmod.py reload_modules", Do: reloadModules},
	{Name: "runner_argspec", Doc: "Return the arguments of runner functions.", Src: "modules/sysmod.py runner_argspec", Do: runnerArgspec},
	{Name: "runner_doc", Doc: "Return the documentation of runner functions.", Src: "modules/sysmod.py runner_doc", Do: runnerDoc},
	{Name: "state_argspec", Doc: "Return the arguments of state functions.", Src: "modules/sysmod.py state_argspec", Do: stateArgspec},
	{Name: "state_doc", Doc: "Return the documentation of state functions.", Src: "modules/sysmod.py state_doc", Do: stateDoc},
}
