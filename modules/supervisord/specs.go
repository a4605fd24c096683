package supervisord

import "brine/internal/fun"

// Arguments that several functions have.
var (
	nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "process, or group as group:"}
	allArg  = fun.Arg{Name: "name", Type: fun.Str, Default: "all", Doc: "process, or group as group:"}
	someArg = fun.Arg{Name: "name", Type: fun.Str, Doc: "process or group; default: all"}
	// CtlArgs say how supervisorctl is called.
	CtlArgs = []fun.Arg{userArg, confArg, binArg}
	userArg = fun.Arg{Name: "user", Type: fun.Str, Doc: "user that runs supervisorctl; default: the current one"}
	confArg = fun.Arg{Name: "conf_file", Type: fun.Path, Doc: "configuration file of supervisord"}
	binArg  = fun.Arg{Name: "bin_env", Type: fun.Path, Doc: "path of supervisorctl, or of the virtualenv that has it"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add", Doc: "Activate the configuration of a process or group.", Src: "modules/supervisord.py add", Fn: add, Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{CtlArgs}},
	{
		Name: "custom", Doc: "Run a command of supervisorctl.", Src: "modules/supervisord.py custom", Fn: custom,
		Args: []fun.Arg{{Name: "command", Type: fun.Str, Required: true, Doc: "the command with its arguments"}}, Shared: [][]fun.Arg{CtlArgs},
	},
	{
		Name: "options", Doc: "Return the settings of a process in the configuration file.", Src: "modules/supervisord.py options", Fn: options,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the process"},
			{Name: "conf_file", Type: fun.Path, Doc: "configuration file; default: /etc/supervisor/supervisord.conf or /etc/supervisord.conf"},
		},
	},
	{Name: "remove", Doc: "Remove a stopped process or group.", Src: "modules/supervisord.py remove", Fn: remove, Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{CtlArgs}},
	{Name: "reread", Doc: "Read the configuration again.", Src: "modules/supervisord.py reread", Fn: reread, Shared: [][]fun.Arg{CtlArgs}},
	{Name: "restart", Doc: "Restart a process or group.", Src: "modules/supervisord.py restart", Fn: restart, Args: []fun.Arg{allArg}, Shared: [][]fun.Arg{CtlArgs}},
	{Name: "start", Doc: "Start a process or group.", Src: "modules/supervisord.py start", Fn: start, Args: []fun.Arg{allArg}, Shared: [][]fun.Arg{CtlArgs}},
	{Name: "status", Doc: "Return the state of the processes, and its reason.", Src: "modules/supervisord.py status", Fn: status, Args: []fun.Arg{someArg}, Shared: [][]fun.Arg{CtlArgs}},
	{
		Name: "status_bool", Doc: "Report whether a process exists, and is in a state.", Src: "modules/supervisord.py status_bool", Fn: statusBool,
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the process"},
			{Name: "expected_state", Type: fun.Str, Doc: "state that it has to be in, such as RUNNING"},
		}, Shared: [][]fun.Arg{CtlArgs},
	},
	{Name: "status_raw", Doc: "Return what supervisorctl status prints.", Src: "modules/supervisord.py status_raw", Fn: statusRaw, Args: []fun.Arg{someArg}, Shared: [][]fun.Arg{CtlArgs}},
	{Name: "stop", Doc: "Stop a process or group.", Src: "modules/supervisord.py stop", Fn: stop, Args: []fun.Arg{allArg}, Shared: [][]fun.Arg{CtlArgs}},
	{
		Name: "update", Doc: "Read the configuration again and restart what changed.", Src: "modules/supervisord.py update", Fn: update,
		Args: []fun.Arg{userArg, confArg, binArg, {Name: "name", Type: fun.Str, Doc: "only this group"}},
	},
}
