package sysv

import (
	"brine/internal/fun"
	"brine/modules/service"
)

var nameArgs = []fun.Arg{service.NameArg}

var limitArg = fun.Arg{Name: "limit", Type: fun.Str, Default: "", Doc: "only services of one kind: upstart or sysvinit"}

// debianSpecs are the functions, alphabetically.
var debianSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/debian_service.py available", Example: "call service.available ssh", Args: nameArgs, Fn: debianAvailable},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/debian_service.py disable", Example: "call service.disable ssh", Args: nameArgs, VarKw: true, Fn: debianDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/debian_service.py disabled", Example: "call service.disabled ssh", Args: nameArgs, Fn: debianIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/debian_service.py enable", Example: "call service.enable ssh", Args: nameArgs, VarKw: true, Fn: debianEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/debian_service.py enabled", Example: "call service.enabled ssh", Args: nameArgs, VarKw: true, Fn: debianIsEnabled},
	{Name: "force_reload", Doc: "Make a service reload its configuration, or restart it if it cannot. Return whether that worked.", Src: "modules/debian_service.py force_reload", Example: "call service.force_reload ssh", Args: nameArgs, Fn: scriptForceReload},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/debian_service.py get_all", Example: "call service.get_all", Fn: debianGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/debian_service.py get_disabled", Example: "call service.get_disabled", Fn: debianGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/debian_service.py get_enabled", Example: "call service.get_enabled", Fn: debianGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/debian_service.py missing", Example: "call service.missing ssh", Args: nameArgs, Fn: debianMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/debian_service.py reload_", Example: "call service.reload ssh", Args: nameArgs, Fn: scriptReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/debian_service.py restart", Example: "call service.restart ssh", Args: nameArgs, Fn: scriptRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/debian_service.py start", Example: "call service.start ssh", Args: nameArgs, Fn: scriptStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/debian_service.py status", Example: "call service.status 'ssh*'", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: debianStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/debian_service.py stop", Example: "call service.stop ssh", Args: nameArgs, Fn: scriptStop},
}

// redhatSpecs are the functions, alphabetically.
var redhatSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/rh_service.py available", Example: "call service.available sshd", Args: []fun.Arg{service.NameArg, limitArg}, Fn: redhatAvailable},
	{Name: "delete", Doc: "Take a service out of the hands of chkconfig or upstart. Return whether that worked.", Src: "modules/rh_service.py delete", Example: "call service.delete sshd", Args: nameArgs, VarKw: true, Fn: redhatDelete},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/rh_service.py disable", Example: "call service.disable sshd", Args: nameArgs, VarKw: true, Fn: redhatDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/rh_service.py disabled", Example: "call service.disabled sshd", Args: nameArgs, Fn: redhatIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/rh_service.py enable", Example: "call service.enable sshd", Args: nameArgs, VarKw: true, Fn: redhatEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/rh_service.py enabled", Example: "call service.enabled sshd", Args: nameArgs, VarKw: true, Fn: redhatIsEnabled},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/rh_service.py get_all", Example: "call service.get_all", Args: []fun.Arg{limitArg}, Fn: redhatGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/rh_service.py get_disabled", Example: "call service.get_disabled", Args: []fun.Arg{limitArg}, Fn: redhatGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/rh_service.py get_enabled", Example: "call service.get_enabled", Args: []fun.Arg{limitArg}, Fn: redhatGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/rh_service.py missing", Example: "call service.missing sshd", Args: []fun.Arg{service.NameArg, limitArg}, Fn: redhatMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/rh_service.py reload_", Example: "call service.reload sshd", Args: nameArgs, Fn: redhatReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/rh_service.py restart", Example: "call service.restart sshd", Args: nameArgs, Fn: redhatRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/rh_service.py start", Example: "call service.start sshd", Args: nameArgs, Fn: redhatStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/rh_service.py status", Example: "call service.status 'ssh*'", Args: []fun.Arg{service.NameArg, service.SigArg}, Fn: redhatStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/rh_service.py stop", Example: "call service.stop sshd", Args: nameArgs, Fn: redhatStop},
}
