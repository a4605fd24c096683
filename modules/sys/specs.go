package sys

import (
	"brine/internal/fun"
)

var moduleArgs = []fun.Arg{
	{Name: "module", Type: fun.Str, Default: "", Doc: "module, function or glob; default: all"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "argspec", Doc: "Return the arguments of functions.", Src: "modules/sysmod.py argspec", VarArg: true, Args: moduleArgs, Fn: argspec},
	{Name: "doc", Doc: "Return the documentation of functions.", Src: "modules/sysmod.py doc", VarArg: true, Fn: doc},
	{Name: "list_functions", Doc: "List execution functions.", Src: "modules/sysmod.py list_functions", VarArg: true, VarKw: true, Fn: functions},
	{Name: "list_modules", Doc: "List execution modules.", Src: "modules/sysmod.py list_modules", VarArg: true, Fn: modules},
	{Name: "list_renderers", Doc: "List renderers.", Src: "modules/sysmod.py list_renderers", VarArg: true, Fn: listRenderers},
	{Name: "list_runner_functions", Doc: "List runner functions.", Src: "modules/sysmod.py list_runner_functions", VarArg: true, VarKw: true, Fn: runnerFunctions},
	{Name: "list_runners", Doc: "List runner modules.", Src: "modules/sysmod.py list_runners", VarArg: true, Fn: runners},
	{Name: "list_state_functions", Doc: "List state functions.", Src: "modules/sysmod.py list_state_functions", VarArg: true, VarKw: true, Fn: stateFunctions},
	{Name: "list_state_modules", Doc: "List state modules.", Src: "modules/sysmod.py list_state_modules", VarArg: true, Fn: stateModules},
	{Name: "reload_modules", Doc: "Return True: functions are looked up at each call.", Src: "modules/sysmod.py reload_modules", Fn: reloadModules},
	{Name: "runner_argspec", Doc: "Return the arguments of runner functions.", Src: "modules/sysmod.py runner_argspec", VarArg: true, Args: moduleArgs, Fn: runnerArgspec},
	{Name: "runner_doc", Doc: "Return the documentation of runner functions.", Src: "modules/sysmod.py runner_doc", VarArg: true, Fn: runnerDoc},
	{Name: "state_argspec", Doc: "Return the arguments of state functions.", Src: "modules/sysmod.py state_argspec", VarArg: true, Args: moduleArgs, Fn: stateArgspec},
	{Name: "state_doc", Doc: "Return the documentation of state functions.", Src: "modules/sysmod.py state_doc", VarArg: true, Fn: stateDoc},
}
