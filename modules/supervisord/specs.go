package supervisord

import "brine/internal/core/fun"

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"process, or group as group:"`
}

type allArg struct {
	_    fun.Arguments
	Name string `arg:"name" default:"all" doc:"process, or group as group:"`
}

type someArg struct {
	_    fun.Arguments
	Name string `arg:"name" doc:"process or group; default: all"`
}

// CtlArgs say how supervisorctl is called.
type CtlArgs struct {
	_        fun.Arguments
	User     string `arg:"user" doc:"user that runs supervisorctl; default: the current one"`
	ConfFile string `arg:"conf_file,path" doc:"configuration file of supervisord"`
	BinEnv   string `arg:"bin_env,path" doc:"path of supervisorctl, or of the virtualenv that has it"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add", Doc: "Activate the configuration of a process or group.", Src: "modules/supervisord.py add", Do: add},
	{
		Name: "custom", Doc: "Run a command of supervisorctl.", Src: "modules/supervisord.py custom", Do: custom,
	},
	{
		Name: "options", Doc: "Return the settings of a process in the configuration file.", Src: "modules/supervisord.py options", Do: options,
	},
	{Name: "remove", Doc: "Remove a stopped process or group.", Src: "modules/supervisord.py remove", Do: remove},
	{Name: "reread", Doc: "Read the configuration again.", Src: "modules/supervisord.py reread", Do: reread},
	{Name: "restart", Doc: "Restart a process or group.", Src: "modules/supervisord.py restart", Do: restart},
	{Name: "start", Doc: "Start a process or group.", Src: "modules/supervisord.py start", Do: start},
	{Name: "status", Doc: "Return the state of the processes, and its reason.", Src: "modules/supervisord.py status", Do: status},
	{
		Name: "status_bool", Doc: "Report whether a process exists, and is in a state.", Src: "modules/supervisord.py status_bool", Do: statusBool,
	},
	{Name: "status_raw", Doc: "Return what supervisorctl status prints.", Src: "modules/supervisord.py status_raw", Do: statusRaw},
	{Name: "stop", Doc: "Stop a process or group.", Src: "modules/supervisord.py stop", Do: stop},
	{
		Name: "update", Doc: "Read the configuration again and restart what changed.", Src: "modules/supervisord.py update", Do: update,
	},
}
