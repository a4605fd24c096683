package systemd

import (
	"brine/internal/fun"
	"brine/modules/service"
)

// Arguments that several functions have.
var (
	noBlockArg = fun.Arg{Name: "no_block", Type: fun.Bool, Default: false, Doc: "do not wait until it is done"}
	runtimeArg = fun.Arg{Name: "runtime", Type: fun.Bool, Default: false, Doc: "the mask that lasts until the next boot"}
	rootArg    = fun.Arg{Name: "root", Type: fun.Path, Doc: "root directory to use instead of /"}
)

var unmaskArgs = []fun.Arg{
	{Name: "unmask", Type: fun.Bool, Default: false, Doc: "remove a mask first"},
	{Name: "unmask_runtime", Type: fun.Bool, Default: false, Doc: "remove a mask that lasts until the next boot first"},
}

var rootArgs = []fun.Arg{rootArg}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "available", Doc: "Return whether there is such a unit.", Src: "modules/systemd_service.py available",
		Args: []fun.Arg{service.NameArg}, Fn: isAvailable,
	},
	{
		Name: "disable", Doc: "Disable a unit: it does not start at boot. Return whether that worked.", Src: "modules/systemd_service.py disable",
		Args: []fun.Arg{service.NameArg, noBlockArg, rootArg}, VarKw: true, Fn: disable,
	},
	{
		Name: "disabled", Doc: "Return whether a unit does not start at boot.", Src: "modules/systemd_service.py disabled",
		Args: []fun.Arg{service.NameArg, rootArg}, Fn: disabled,
	},
	{
		Name: "enable", Doc: "Enable a unit: it starts at boot.", Src: "modules/systemd_service.py enable",
		Args: []fun.Arg{service.NameArg, noBlockArg}, Shared: [][]fun.Arg{unmaskArgs, rootArgs}, VarKw: true, Fn: enable,
	},
	{
		Name: "enabled", Doc: "Return whether a unit starts at boot.\nA static unit, which cannot be enabled, counts as enabled.", Src: "modules/systemd_service.py enabled",
		Args: []fun.Arg{service.NameArg, rootArg}, VarKw: true, Fn: enabled,
	},
	{
		Name: "execs", Doc: "Return the programs that the services start, by service.", Src: "modules/systemd_service.py execs",
		Args: []fun.Arg{rootArg}, Fn: execs,
	},
	{
		Name: "firstboot", Doc: "Set basic settings that are not set yet with systemd-firstboot.", Src: "modules/systemd_service.py firstboot",
		Fn: firstboot,
		Args: []fun.Arg{
			{Name: "locale", Type: fun.Str, Doc: "locale (LANG)"},
			{Name: "locale_message", Type: fun.Str, Doc: "locale of messages (LC_MESSAGES)"},
			{Name: "keymap", Type: fun.Str, Doc: "key map of the console"},
			{Name: "timezone", Type: fun.Str, Doc: "time zone"},
			{Name: "hostname", Type: fun.Str, Doc: "host name"},
			{Name: "machine_id", Type: fun.Str, Doc: "machine ID, 32 hexadecimal digits"},
			rootArg,
		},
	},
	{
		Name: "force_reload", Doc: "Make a unit reload its configuration, or restart it if it cannot.", Src: "modules/systemd_service.py force_reload",
		Fn: forceReload,
		Args: []fun.Arg{
			service.NameArg,
			{Name: "no_block", Type: fun.Bool, Default: true, Doc: "do not wait until it is done"},
		},
		Shared: [][]fun.Arg{unmaskArgs},
	},
	{
		Name: "get_all", Doc: "Return the names of all units and init scripts.", Src: "modules/systemd_service.py get_all",
		Args: []fun.Arg{rootArg}, Fn: getAll,
	},
	{
		Name: "get_disabled", Doc: "Return the names of all units that are disabled.", Src: "modules/systemd_service.py get_disabled",
		Args: []fun.Arg{rootArg}, Fn: getDisabled,
	},
	{
		Name: "get_enabled", Doc: "Return the names of all units that are enabled.", Src: "modules/systemd_service.py get_enabled",
		Args: []fun.Arg{rootArg}, Fn: getEnabled,
	},
	{
		Name: "get_running", Doc: "Return the names of all units that run.", Src: "modules/systemd_service.py get_running",
		Fn: getRunning,
	},
	{
		Name: "get_static", Doc: "Return the names of all units that are static: they cannot be enabled.", Src: "modules/systemd_service.py get_static",
		Args: []fun.Arg{rootArg}, Fn: getStatic,
	},
	{
		Name: "mask", Doc: "Mask a unit: it cannot be started.", Src: "modules/systemd_service.py mask",
		Args: []fun.Arg{service.NameArg, runtimeArg, rootArg}, Fn: mask,
	},
	{
		Name: "masked", Doc: "Return whether a unit has a mask.", Src: "modules/systemd_service.py masked",
		Args: []fun.Arg{service.NameArg, runtimeArg, rootArg}, Fn: isMasked,
	},
	{
		Name: "missing", Doc: "Return whether there is no such unit.", Src: "modules/systemd_service.py missing",
		Args: []fun.Arg{service.NameArg}, Fn: missing,
	},
	{
		Name: "offline", Doc: "Return whether systemd's tools are there but systemd does not run.", Src: "modules/systemd_service.py offline",
		Fn: offline,
	},
	{
		Name: "reload", Doc: "Make a unit reload its configuration.", Src: "modules/systemd_service.py reload_",
		Args: []fun.Arg{service.NameArg, noBlockArg}, Shared: [][]fun.Arg{unmaskArgs}, Fn: reload,
	},
	{
		Name: "restart", Doc: "Restart a unit.", Src: "modules/systemd_service.py restart",
		Args: []fun.Arg{service.NameArg, noBlockArg}, Shared: [][]fun.Arg{unmaskArgs}, Fn: restart,
	},
	{
		Name: "show", Doc: "Return the properties of a unit.", Src: "modules/systemd_service.py show",
		Args: []fun.Arg{service.NameArg, rootArg}, Fn: show,
	},
	{
		Name: "start", Doc: "Start a unit.", Src: "modules/systemd_service.py start",
		Args: []fun.Arg{service.NameArg, noBlockArg}, Shared: [][]fun.Arg{unmaskArgs}, Fn: start,
	},
	{
		Name: "status", Doc: "Return whether a unit runs, or a dict of those that a pattern matches.", Src: "modules/systemd_service.py status",
		Fn: status,
		Args: []fun.Arg{
			service.NameArg,
			{Name: "sig", Type: fun.Str, Doc: "accepted; systemd knows the processes of a unit"},
		},
	},
	{
		Name: "stop", Doc: "Stop a unit. Return whether that worked.", Src: "modules/systemd_service.py stop",
		Args: []fun.Arg{service.NameArg, noBlockArg}, Fn: stop,
	},
	{
		Name: "systemctl_reload", Doc: "Make systemd read all unit files again.", Src: "modules/systemd_service.py systemctl_reload",
		Fn: systemctlReload,
	},
	{
		Name: "unmask", Doc: "Remove the mask of a unit, if it has one.", Src: "modules/systemd_service.py unmask_",
		Args: []fun.Arg{service.NameArg, runtimeArg, rootArg}, Fn: unmask,
	},
}
