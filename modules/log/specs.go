package log

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type messageArg struct {
	_       fun.Arguments
	Message value.Value `arg:"message,required" doc:"the message; other values are formatted as Python does"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "critical", Doc: "Log a message at level critical; return True.", Src: "modules/logmod.py critical", Do: critical},
	{Name: "debug", Doc: "Log a message at level debug; return True.", Src: "modules/logmod.py debug", Do: debug},
	{Name: "error", Doc: "Log a message at level error; return True.", Src: "modules/logmod.py error", Do: logError},
	{Name: "exception", Doc: "Log a message at level error; return True.", Src: "modules/logmod.py exception", Do: logError},
	{Name: "info", Doc: "Log a message at level info; return True.", Src: "modules/logmod.py info", Do: info},
	{Name: "warning", Doc: "Log a message at level warning; return True.", Src: "modules/logmod.py warning", Do: warning},
}
