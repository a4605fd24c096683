package environ

import "brine/internal/fun"

var specs = []fun.Spec{
	{
		Name: "setenv", State: setenv, Src: "states/environ.py setenv",
		Doc: "Set environment variables.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "name of the variable, unless value is a mapping"},
			{Name: "value", Required: true, Doc: "text, False, or a mapping of names to such values"},
			{Name: "false_unsets", Type: fun.Bool, Default: false, Doc: "unset a variable whose value is False instead of emptying it"},
			{Name: "clear_all", Type: fun.Bool, Default: false, Doc: "treat all other variables as False"},
			{Name: "update_minion", Type: fun.Bool, Default: false, Doc: "send an event environ_setenv"},
			{Name: "permanent", Type: fun.Bool | fun.Str, Default: false, Doc: "Windows only"},
		},
	},
}
