package openrc

import (
	"brine/internal/core/fun"
	"brine/modules/service"
)

type nameArgs struct {
	service.NameArg
}

// levelArgs are among Salt's **kwargs.
type levelArgs struct {
	service.NameArg
	Runlevels []string `arg:"runlevels" doc:"the runlevels; default: the current one"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/gentoo_service.py available", Do: isAvailable},
	{Name: "disable", Doc: "Take a service out of runlevels. Return whether that worked.", Src: "modules/gentoo_service.py disable", Do: disable},
	{Name: "disabled", Doc: "Return whether a service is in no runlevel.", Src: "modules/gentoo_service.py disabled", Do: disabled},
	{Name: "enable", Doc: "Put a service into runlevels. Return whether that worked.", Src: "modules/gentoo_service.py enable", Do: enable},
	{Name: "enabled", Doc: "Return whether a service is in runlevels.", Src: "modules/gentoo_service.py enabled", Do: enabled},
	{Name: "get_all", Doc: "Return the runlevels of all services.", Src: "modules/gentoo_service.py get_all", Do: getAll},
	{Name: "get_disabled", Doc: "Return the names of the services that are in no runlevel.", Src: "modules/gentoo_service.py get_disabled", Do: getDisabled},
	{Name: "get_enabled", Doc: "Return the services that are in runlevels, with these.", Src: "modules/gentoo_service.py get_enabled", Do: getEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/gentoo_service.py missing", Do: missing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/gentoo_service.py reload_", Do: reload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/gentoo_service.py restart", Do: restart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/gentoo_service.py start", Do: start},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/gentoo_service.py status", Do: status},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/gentoo_service.py stop", Do: stop},
	{Name: "zap", Doc: "Reset a service to stopped, without stopping it. Return whether that worked.", Src: "modules/gentoo_service.py zap", Do: zap},
}
