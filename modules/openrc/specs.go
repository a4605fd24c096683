package openrc

import (
	"brine/internal/fun"
	"brine/modules/service"
)

var nameArgs = []fun.Arg{service.NameArg}

// levelArgs are among Salt's **kwargs.
var levelArgs = []fun.Arg{
	service.NameArg,
	{Name: "runlevels", Type: fun.Strs, Doc: "the runlevels; default: the current one"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/gentoo_service.py available", Args: nameArgs, Fn: isAvailable},
	{Name: "disable", Doc: "Take a service out of runlevels. Return whether that worked.", Src: "modules/gentoo_service.py disable", Args: levelArgs, VarKw: true, Fn: disable},
	{Name: "disabled", Doc: "Return whether a service is in no runlevel.", Src: "modules/gentoo_service.py disabled", Args: nameArgs, Fn: disabled},
	{Name: "enable", Doc: "Put a service into runlevels. Return whether that worked.", Src: "modules/gentoo_service.py enable", Args: levelArgs, VarKw: true, Fn: enable},
	{Name: "enabled", Doc: "Return whether a service is in runlevels.", Src: "modules/gentoo_service.py enabled", Args: levelArgs, VarKw: true, Fn: enabled},
	{Name: "get_all", Doc: "Return the runlevels of all services.", Src: "modules/gentoo_service.py get_all", Fn: getAll},
	{Name: "get_disabled", Doc: "Return the names of the services that are in no runlevel.", Src: "modules/gentoo_service.py get_disabled", Fn: getDisabled},
	{Name: "get_enabled", Doc: "Return the services that are in runlevels, with these.", Src: "modules/gentoo_service.py get_enabled", Fn: getEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/gentoo_service.py missing", Args: nameArgs, Fn: missing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/gentoo_service.py reload_", Args: nameArgs, Fn: reload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/gentoo_service.py restart", Args: nameArgs, Fn: restart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/gentoo_service.py start", Args: nameArgs, Fn: start},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/gentoo_service.py status", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: status},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/gentoo_service.py stop", Args: nameArgs, Fn: stop},
	{Name: "zap", Doc: "Reset a service to stopped, without stopping it. Return whether that worked.", Src: "modules/gentoo_service.py zap", Args: nameArgs, Fn: zap},
}
