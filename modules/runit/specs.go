package runit

import (
	"brine/internal/core/fun"
	"brine/modules/service"
)

type nameArgs struct {
	service.NameArg
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_svc_avail_path", Doc: "Add a directory of available services, for this run. Return whether it is there.", Src: "modules/runit.py add_svc_avail_path", Do: addAvailPath},
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/runit.py available", Do: available},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/runit.py disable", Do: disable},
	{Name: "disabled", Doc: "Return whether a service is not enabled.", Src: "modules/runit.py disabled", Do: isDisabled},
	{Name: "enable", Doc: "Link a service into the service directory. Return whether that worked.", Src: "modules/runit.py enable", Do: enable},
	{Name: "enabled", Doc: "Return whether a service is in the service directory.", Src: "modules/runit.py enabled", Do: isEnabled},
	{Name: "full_restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/runit.py full_restart", Do: restart},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/runit.py get_all", Do: getAll},
	{Name: "get_disabled", Doc: "Return the names of the services that are not enabled.", Src: "modules/runit.py get_disabled", Do: getDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that are enabled.", Src: "modules/runit.py get_enabled", Do: getEnabled},
	{Name: "get_svc_alias", Doc: "Return the aliases among the available services, by service.", Src: "modules/runit.py get_svc_alias", Do: alias},
	{Name: "get_svc_avail_path", Doc: "Return the directories of available services.", Src: "modules/runit.py get_svc_avail_path", Do: availPath},
	{Name: "get_svc_broken_path", Doc: "Return the entries of the service directory that are not services.", Src: "modules/runit.py get_svc_broken_path", Do: brokenPath},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/runit.py missing", Do: missing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/runit.py reload_", Do: reload},
	{Name: "remove", Doc: "Stop a service and remove it from the service directory. Return whether that worked.", Src: "modules/runit.py remove", Do: remove},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/runit.py restart", Do: restart},
	{Name: "show", Doc: "Return what is known of a service.", Src: "modules/runit.py show", Do: show},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/runit.py start", Do: start},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/runit.py status", Do: status},
	{Name: "status_autostart", Doc: "Return whether a service starts when the machine does.", Src: "modules/runit.py status_autostart", Do: statusAutostart},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/runit.py stop", Do: stop},
}
