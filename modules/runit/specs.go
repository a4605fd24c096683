package runit

import (
	"brine/internal/fun"
	"brine/modules/service"
)

var nameArgs = []fun.Arg{service.NameArg}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_svc_avail_path", Doc: "Add a directory of available services, for this run. Return whether it is there.", Src: "modules/runit.py add_svc_avail_path", Args: []fun.Arg{{Name: "path", Type: fun.Path, Required: true, Doc: "directory of services"}}, Fn: addAvailPath},
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/runit.py available", Args: nameArgs, Fn: available},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/runit.py disable", Args: []fun.Arg{service.NameArg, {Name: "stop", Type: fun.Bool, Default: false, Doc: "stop the service, too"}}, VarKw: true, Fn: disable},
	{Name: "disabled", Doc: "Return whether a service is not enabled.", Src: "modules/runit.py disabled", Args: nameArgs, Fn: isDisabled},
	{Name: "enable", Doc: "Link a service into the service directory. Return whether that worked.", Src: "modules/runit.py enable", Args: []fun.Arg{service.NameArg, {Name: "start", Type: fun.Bool, Default: false, Doc: "start the service, too"}}, VarKw: true, Fn: enable},
	{Name: "enabled", Doc: "Return whether a service is in the service directory.", Src: "modules/runit.py enabled", Args: nameArgs, Fn: isEnabled},
	{Name: "full_restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/runit.py full_restart", Args: nameArgs, Fn: restart},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/runit.py get_all", Fn: getAll},
	{Name: "get_disabled", Doc: "Return the names of the services that are not enabled.", Src: "modules/runit.py get_disabled", Fn: getDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that are enabled.", Src: "modules/runit.py get_enabled", Fn: getEnabled},
	{Name: "get_svc_alias", Doc: "Return the aliases among the available services, by service.", Src: "modules/runit.py get_svc_alias", Fn: alias},
	{Name: "get_svc_avail_path", Doc: "Return the directories of available services.", Src: "modules/runit.py get_svc_avail_path", Fn: availPath},
	{Name: "get_svc_broken_path", Doc: "Return the entries of the service directory that are not services.", Src: "modules/runit.py get_svc_broken_path", Args: []fun.Arg{{Name: "name", Type: fun.Str, Default: "*", Doc: "pattern of names"}}, Fn: brokenPath},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/runit.py missing", Args: nameArgs, Fn: missing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/runit.py reload_", Args: nameArgs, Fn: reload},
	{Name: "remove", Doc: "Stop a service and remove it from the service directory. Return whether that worked.", Src: "modules/runit.py remove", Args: nameArgs, Fn: remove},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/runit.py restart", Args: nameArgs, Fn: restart},
	{Name: "show", Doc: "Return what is known of a service.", Src: "modules/runit.py show", Args: nameArgs, Fn: show},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/runit.py start", Args: nameArgs, Fn: start},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/runit.py status", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: status},
	{Name: "status_autostart", Doc: "Return whether a service starts when the machine does.", Src: "modules/runit.py status_autostart", Args: nameArgs, Fn: statusAutostart},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/runit.py stop", Args: nameArgs, Fn: stop},
}
