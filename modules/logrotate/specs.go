package logrotate

import "brine/internal/fun"

// Arguments that several functions have.
var (
	confArg = fun.Arg{Name: "conf_file", Type: fun.Path, Default: DefaultConf, Doc: "the configuration"}
	keyArg  = fun.Arg{Name: "key", Type: fun.Str, Required: true, Doc: "directive, or log file of a block"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get", Doc: "Return a directive, or a setting of a block; False if there is none.", Src: "modules/logrotate.py get", Fn: get,
		Args: []fun.Arg{keyArg, {Name: "value", Type: fun.Str, Doc: "setting of the block"}, confArg},
	},
	{
		Name: "set", Doc: "Set a directive, or a setting of a block.", Src: "modules/logrotate.py set", Fn: set,
		Args: []fun.Arg{
			keyArg,
			{Name: "value", Type: fun.Str | fun.Int | fun.Bool, Required: true, Doc: "value of the directive, or name of the setting; False removes a directive"},
			{Name: "setting", Type: fun.Str | fun.Int | fun.Bool, Doc: "value of the setting of a block; False removes it"},
			confArg,
		},
	},
	{Name: "show_conf", Doc: "Return the parsed configuration.", Src: "modules/logrotate.py show_conf", Fn: showConf, Args: []fun.Arg{confArg}},
}
