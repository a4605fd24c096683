package systemd

import (
	"brine/internal/core/fun"
)

type noBlockArg struct {
	_       fun.Arguments
	NoBlock bool `arg:"no_block" default:"False" doc:"do not wait until it is done"`
}

type runtimeArg struct {
	_       fun.Arguments
	Runtime bool `arg:"runtime" default:"False" doc:"the mask that lasts until the next boot"`
}

type rootArg struct {
	_    fun.Arguments
	Root string `arg:"root,path" doc:"root directory to use instead of /"`
}

type unmaskArgs struct {
	_             fun.Arguments
	Unmask        bool `arg:"unmask" default:"False" doc:"remove a mask first"`
	UnmaskRuntime bool `arg:"unmask_runtime" default:"False" doc:"remove a mask that lasts until the next boot first"`
}

type rootArgs struct {
	rootArg
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "available", Doc: "Return whether there is such a unit.", Src: "modules/systemd_service.py available",
		Do: isAvailable,
	},
	{
		Name: "disable", Doc: "Disable a unit: it does not start at boot. Return whether that worked.", Src: "modules/systemd_service.py disable",
		Do: disable,
	},
	{
		Name: "disabled", Doc: "Return whether a unit does not start at boot.", Src: "modules/systemd_service.py disabled",
		Do: disabled,
	},
	{
		Name: "enable", Doc: "Enable a unit: it starts at boot.", Src: "modules/systemd_service.py enable",
		Do: enable,
	},
	{
		Name: "enabled", Doc: "Return whether a unit starts at boot.\nA static unit, which cannot be enabled, counts as enabled.", Src: "modules/systemd_service.py enabled",
		Do: enabled,
	},
	{
		Name: "execs", Doc: "Return the programs that the services start, by service.", Src: "modules/systemd_service.py execs",
		Do: execs,
	},
	{
		Name: "firstboot", Doc: "Set basic settings that are not set yet with systemd-firstboot.", Src: "modules/systemd_service.py firstboot",
		Do: firstboot,
	},
	{
		Name: "force_reload", Doc: "Make a unit reload its configuration, or restart it if it cannot.", Src: "modules/systemd_service.py force_reload",
		Do: forceReload,
	},
	{
		Name: "get_all", Doc: "Return the names of all units and init scripts.", Src: "modules/systemd_service.py get_all",
		Do: getAll,
	},
	{
		Name: "get_disabled", Doc: "Return the names of all units that are disabled.", Src: "modules/systemd_service.py get_disabled",
		Do: getDisabled,
	},
	{
		Name: "get_enabled", Doc: "Return the names of all units that are enabled.", Src: "modules/systemd_service.py get_enabled",
		Do: getEnabled,
	},
	{
		Name: "get_running", Doc: "Return the names of all units that run.", Src: "modules/systemd_service.py get_running",
		Do: getRunning,
	},
	{
		Name: "get_static", Doc: "Return the names of all units that are static: they cannot be enabled.", Src: "modules/systemd_service.py get_static",
		Do: getStatic,
	},
	{
		Name: "mask", Doc: "Mask a unit: it cannot be started.", Src: "modules/systemd_service.py mask",
		Do: mask,
	},
	{
		Name: "masked", Doc: "Return whether a unit has a mask.", Src: "modules/systemd_service.py masked",
		Do: isMasked,
	},
	{
		Name: "missing", Doc: "Return whether there is no such unit.", Src: "modules/systemd_service.py missing",
		Do: missing,
	},
	{
		Name: "offline", Doc: "Return whether systemd's tools are there but systemd does not run.", Src: "modules/systemd_service.py offline",
		Do: offline,
	},
	{
		Name: "reload", Doc: "Make a unit reload its configuration.", Src: "modules/systemd_service.py reload_",
		Do: reload,
	},
	{
		Name: "restart", Doc: "Restart a unit.", Src: "modules/systemd_service.py restart",
		Do: restart,
	},
	{
		Name: "show", Doc: "Return the properties of a unit.", Src: "modules/systemd_service.py show",
		Do: show,
	},
	{
		Name: "start", Doc: "Start a unit.", Src: "modules/systemd_service.py start",
		Do: start,
	},
	{
		Name: "status", Doc: "Return whether a unit runs, or a dict of those that a pattern matches.", Src: "modules/systemd_service.py status",
		Do: status,
	},
	{
		Name: "stop", Doc: "Stop a unit. Return whether that worked.", Src: "modules/systemd_service.py stop",
		Do: stop,
	},
	{
		Name: "systemctl_reload", Doc: "Make systemd read all unit files again.", Src: "modules/systemd_service.py systemctl_reload",
		Do: systemctlReload,
	},
	{
		Name: "unmask", Doc: "Remove the mask of a unit, if it has one.", Src: "modules/systemd_service.py unmask_",
		Do: unmask,
	},
}
