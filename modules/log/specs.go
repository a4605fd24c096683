package log

import (
	"brine/internal/fun"
)

var messageArg = fun.Arg{Name: "message", Required: true, Doc: "the message; other values are formatted as Python does"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "critical", Doc: "Log a message at level critical; return True.", Src: "modules/logmod.py critical", Args: []fun.Arg{messageArg}, Fn: critical},
	{Name: "debug", Doc: "Log a message at level debug; return True.", Src: "modules/logmod.py debug", Args: []fun.Arg{messageArg}, Fn: debug},
	{Name: "error", Doc: "Log a message at level error; return True.", Src: "modules/logmod.py error", Args: []fun.Arg{messageArg}, Fn: logError},
	{Name: "exception", Doc: "Log a message at level error; return True.", Src: "modules/logmod.py exception", Args: []fun.Arg{messageArg}, Fn: logError},
	{Name: "info", Doc: "Log a message at level info; return True.", Src: "modules/logmod.py info", Args: []fun.Arg{messageArg}, Fn: info},
	{Name: "warning", Doc: "Log a message at level warning; return True.", Src: "modules/logmod.py warning", Args: []fun.Arg{messageArg}, Fn: warning},
}
