package logrotate

import "brine/internal/core/fun"

type confArg struct {
	_        fun.Arguments
	ConfFile string `arg:"conf_file,path" default:"/etc/logrotate.conf" doc:"the configuration"`
}

type keyArg struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"directive, or log file of a block"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "get", Doc: "Return a directive, or a setting of a block; False if there is none.", Src: "modules/logrotate.py get", Do: get,
	},
	{
		Name: "set", Doc: "Set a directive, or a setting of a block.", Src: "modules/logrotate.py set", Do: set,
	},
	{Name: "show_conf", Doc: "Return the parsed configuration.", Src: "modules/logrotate.py show_conf", Do: showConf},
}
