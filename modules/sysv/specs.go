package sysv

import (
	"brine/internal/core/fun"
	"brine/modules/service"
)

type nameArgs struct {
	service.NameArg
}

type limitArg struct {
	_     fun.Arguments
	Limit string `arg:"limit" default:"" doc:"only services of one kind: upstart or sysvinit"`
}

// debianSpecs are the functions, alphabetically.
var debianSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/debian_service.py available", Do: debianAvailable},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/debian_service.py disable", Do: debianDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/debian_service.py disabled", Do: debianIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/debian_service.py enable", Do: debianEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/debian_service.py enabled", Do: debianIsEnabled},
	{Name: "force_reload", Doc: "Make a service reload its configuration, or restart it if it cannot. Return whether that worked.", Src: "modules/debian_service.py force_reload", Do: scriptForceReload},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/debian_service.py get_all", Do: debianGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/debian_service.py get_disabled", Do: debianGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/debian_service.py get_enabled", Do: debianGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/debian_service.py missing", Do: debianMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/debian_service.py reload_", Do: scriptReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/debian_service.py restart", Do: scriptRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/debian_service.py start", Do: scriptStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/debian_service.py status", Do: debianStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/debian_service.py stop", Do: scriptStop},
}

// redhatSpecs are the functions, alphabetically.
var redhatSpecs = []fun.Spec{
	{Name: "available", Doc: "Return whether there is such a service.", Src: "modules/rh_service.py available", Do: redhatAvailable},
	{Name: "delete", Doc: "Take a service out of the hands of chkconfig or upstart. Return whether that worked.", Src: "modules/rh_service.py delete", Do: redhatDelete},
	{Name: "disable", Doc: "Have a service not start at boot. Return whether that worked.", Src: "modules/rh_service.py disable", Do: redhatDisable},
	{Name: "disabled", Doc: "Return whether a service does not start at boot.", Src: "modules/rh_service.py disabled", Do: redhatIsDisabled},
	{Name: "enable", Doc: "Have a service start at boot. Return whether that worked.", Src: "modules/rh_service.py enable", Do: redhatEnable},
	{Name: "enabled", Doc: "Return whether a service starts at boot.", Src: "modules/rh_service.py enabled", Do: redhatIsEnabled},
	{Name: "get_all", Doc: "Return the names of all services.", Src: "modules/rh_service.py get_all", Do: redhatGetAll},
	{Name: "get_disabled", Doc: "Return the names of the services that do not start at boot.", Src: "modules/rh_service.py get_disabled", Do: redhatGetDisabled},
	{Name: "get_enabled", Doc: "Return the names of the services that start at boot.", Src: "modules/rh_service.py get_enabled", Do: redhatGetEnabled},
	{Name: "missing", Doc: "Return whether there is no such service.", Src: "modules/rh_service.py missing", Do: redhatMissing},
	{Name: "reload", Doc: "Make a service reload its configuration. Return whether that worked.", Src: "modules/rh_service.py reload_", Do: redhatReload},
	{Name: "restart", Doc: "Restart a service. Return whether that worked.", Src: "modules/rh_service.py restart", Do: redhatRestart},
	{Name: "start", Doc: "Start a service. Return whether that worked.", Src: "modules/rh_service.py start", Do: redhatStart},
	{Name: "status", Doc: "Return whether a service runs, or a dict of those that a pattern matches.", Src: "modules/rh_service.py status", Do: redhatStatus},
	{Name: "stop", Doc: "Stop a service. Return whether that worked.", Src: "modules/rh_service.py stop", Do: redhatStop},
}
