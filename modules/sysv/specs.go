package sysv

import (
	"brine/internal/fun"
	"brine/modules/service"
)

var nameArgs = []fun.Arg{service.NameArg}

var limitArg = fun.Arg{Name: "limit", Type: fun.Str, Default: "", Doc: "only services of one kind: upstart or sysvinit"}

// debianSpecs are the functions, alphabetically.
var debianSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/debian_service.py available", Args: nameArgs, Fn: debianAvailable},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/debian_service.py disable", Args: nameArgs, VarKw: true, Fn: debianDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/debian_service.py disabled", Args: nameArgs, Fn: debianIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/debian_service.py enable", Args: nameArgs, VarKw: true, Fn: debianEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/debian_service.py enabled", Args: nameArgs, VarKw: true, Fn: debianIsEnabled},
	{Name: "force_reload", Doc: "Make a service reload its configuration, or restart it if it cannot. Return whether that worked.", Src: "modules/debian_service.py force_reload", Args: nameArgs, Fn: scriptForceReload},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/debian_service.py get_all", Fn: debianGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/debian_service.py get_disabled", Fn: debianGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/debian_service.py get_enabled", Fn: debianGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/debian_service.py missing", Args: nameArgs, Fn: debianMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/debian_service.py reload_", Args: nameArgs, Fn: scriptReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/debian_service.py restart", Args: nameArgs, Fn: scriptRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/debian_service.py start", Args: nameArgs, Fn: scriptStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/debian_service.py status", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: debianStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/debian_service.py stop", Args: nameArgs, Fn: scriptStop},
}

// redhatSpecs are the functions, alphabetically.
var redhatSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/rh_service.py available", Args: []fun.Arg{service.NameArg, limitArg}, Fn: redhatAvailable},
	{Name: "delete", Doc: "Take a service out of the hands of chkconfig or upstart. Return whether that worked.", Src: "modules/rh_service.py delete", Args: nameArgs, VarKw: true, Fn: redhatDelete},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/rh_service.py disable", Args: nameArgs, VarKw: true, Fn: redhatDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/rh_service.py disabled", Args: nameArgs, Fn: redhatIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/rh_service.py enable", Args: nameArgs, VarKw: true, Fn: redhatEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/rh_service.py enabled", Args: nameArgs, VarKw: true, Fn: redhatIsEnabled},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/rh_service.py get_all", Args: []fun.Arg{limitArg}, Fn: redhatGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/rh_service.py get_disabled", Args: []fun.Arg{limitArg}, Fn: redhatGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/rh_service.py get_enabled", Args: []fun.Arg{limitArg}, Fn: redhatGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/rh_service.py missing", Args: []fun.Arg{service.NameArg, limitArg}, Fn: redhatMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/rh_service.py reload_", Args: nameArgs, Fn: redhatReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/rh_service.py restart", Args: nameArgs, Fn: redhatRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/rh_service.py start", Args: nameArgs, Fn: redhatStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/rh_service.py status", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: redhatStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/rh_service.py stop", Args: nameArgs, Fn: redhatStop},
}
