package service

import "brine/internal/fun"

// nameArg is the one argument that every function has.
var nameArg = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "name of the service, or unit with its type, such as backup.timer"}

// bootArgs are the arguments of running and dead.
var bootArgs = []fun.Arg{
	{Name: "enable", Type: fun.Bool | fun.Str, Doc: "whether the service is to start at boot; default, and the text None: leave that as it is"},
	{Name: "sig", Type: fun.Str, Doc: "regular expression that finds the service's process in ps; not used with systemd"},
	{Name: "init_delay", Type: fun.Duration, Unit: "s", Doc: "wait this long before the service is looked at again"},
	{Name: "no_block", Type: fun.Bool, Doc: "systemd: do not wait until the service has started or stopped"},
}

var timeoutArgs = []fun.Arg{
	{Name: "timeout", Type: fun.Duration, Unit: "s", Doc: "fail if starting or stopping takes longer"},
}

var unmaskArgs = []fun.Arg{
	{Name: "unmask", Type: fun.Bool, Doc: "systemd: remove a mask first"},
	{Name: "unmask_runtime", Type: fun.Bool, Doc: "systemd: remove a mask that lasts until the next boot first"},
}

// enableArgs are for the functions that enable and disable.
var enableArgs = []fun.Arg{
	{Name: "runlevels", Type: fun.Strs, Doc: "OpenRC: the runlevels in which the service starts"},
}

var watchArgs = []fun.Arg{
	{Name: "reload", Type: fun.Bool, Default: false, Doc: "with watch: reload the service instead of restarting it"},
	{Name: "full_restart", Type: fun.Bool, Default: false, Doc: "with watch: stop and start the service, where its provider can"},
	{Name: "force", Type: fun.Bool, Default: false, Doc: "with watch and reload: restart the service if it cannot reload"},
}

var runtimeArgs = []fun.Arg{
	{Name: "runtime", Type: fun.Bool, Default: false, Doc: "the mask that lasts until the next boot"},
}

var bootOnlyArgs = []fun.Arg{
	{Name: "no_block", Type: fun.Bool, Doc: "systemd: accepted; enabling does not wait for anything"},
	{Name: "root", Type: fun.Path, Doc: "systemd: root directory to use instead of /"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "dead", Doc: "Stop a service.", Src: "states/service.py dead", State: dead, VarKw: true,
		Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{bootArgs, timeoutArgs, enableArgs},
	},
	{
		Name: "disabled", Doc: "Disable a service: it does not start at boot.\nIt is not stopped; see dead for that.", Src: "states/service.py disabled", State: disabled, VarKw: true,
		Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{bootOnlyArgs, enableArgs},
	},
	{
		Name: "enabled", Doc: "Enable a service: it starts at boot.\nIt is not started; see running for that.", Src: "states/service.py enabled", State: enabled, VarKw: true,
		Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{bootOnlyArgs, unmaskArgs, enableArgs},
	},
	{
		Name: "masked", Doc: "Mask a unit of systemd: it cannot be started.", Src: "states/service.py masked", State: masked,
		Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{runtimeArgs},
	},
	{
		Name: "running", Doc: "Start a service, and restart it when what it watches changes.", Src: "states/service.py running", State: running, VarKw: true,
		Args: []fun.Arg{nameArg},
		Shared: [][]fun.Arg{bootArgs, timeoutArgs, unmaskArgs, {
			{Name: "wait", Type: fun.Duration, Unit: "s", Default: int64(3), Doc: "systemd, with no_block: wait this long for the service to start"},
		}, enableArgs, watchArgs},
	},
	{
		Name: "unmasked", Doc: "Remove the mask of a unit of systemd.", Src: "states/service.py unmasked", State: unmasked,
		Args: []fun.Arg{nameArg}, Shared: [][]fun.Arg{runtimeArgs},
	},
}
