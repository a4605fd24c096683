package system

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type offsetArg struct {
	_         fun.Arguments
	UtcOffset fun.Opt[string] `arg:"utc_offset" doc:"offset from UTC such as +0600; default: the machine's time zone"`
}

type whenArg struct {
	_      fun.Arguments
	AtTime value.Value `arg:"at_time,str|int" unit:"min" doc:"when: minutes from now, or another time for shutdown(8) such as 23:30; default: now"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_computer_desc", Doc: "Return the pretty name of the machine, False if it has none.", Src: "modules/system.py get_computer_desc", Do: getDesc},
	{Name: "get_computer_name", Doc: "Return the host name.", Src: "modules/system.py get_computer_name", Do: getName},
	{Name: "get_reboot_required_witnessed", Doc: "Return whether set_reboot_required_witnessed was called since the last boot.", Src: "modules/system.py get_reboot_required_witnessed", Do: getRebootWitnessed},
	{Name: "get_system_date", Doc: "Return the date, as 'Wed 12/31/2025'.", Src: "modules/system.py get_system_date", Do: getDate},
	{Name: "get_system_date_time", Doc: "Return the date and time, as '2025-12-31 23:59:59'.", Src: "modules/system.py get_system_date_time", Do: getDateTime},
	{Name: "get_system_time", Doc: "Return the time, as '11:59:59 PM'.", Src: "modules/system.py get_system_time", Do: getTime},
	{Name: "halt", Doc: "Halt the machine and return the output of halt(8).", Src: "modules/system.py halt", Do: halt},
	{Name: "has_settable_hwclock", Doc: "Return whether the machine has a hardware clock that can be set.", Src: "modules/system.py has_settable_hwclock", Do: hasHWClock},
	{
		Name: "init", Doc: "Change the runlevel and return the output of init(8).", Src: "modules/system.py init",
		Do: initLevel,
	},
	{Name: "poweroff", Doc: "Power the machine off and return the output of poweroff(8).", Src: "modules/system.py poweroff", Do: poweroff},
	{
		Name: "reboot", Doc: "Reboot the machine and return the output of shutdown(8).\n\nIn an orchestration, reboot a minute ahead (system.reboot 1), so that the\nstep returns, and wait with salt.wait_for_event for salt/minion/*/start.", Src: "modules/system.py reboot",
		Do: reboot,
	},
	{
		Name: "set_computer_desc", Doc: "Set the pretty name of the machine; return False if that fails.", Src: "modules/system.py set_computer_desc",
		Do: setDesc,
	},
	{
		Name: "set_computer_name", Doc: "Set the host name.", Src: "modules/system.py set_computer_name",
		Do: setName,
	},
	{Name: "set_reboot_required_witnessed", Doc: "Note until the next boot that a reboot is needed.", Src: "modules/system.py set_reboot_required_witnessed", Do: setRebootWitnessed},
	{
		Name: "set_system_date", Doc: "Set the date, and the hardware clock if there is one.", Src: "modules/system.py set_system_date",
		Do: setDate,
	},
	{
		Name: "set_system_date_time", Doc: "Set parts of the date and time, and the hardware clock if there is one.", Src: "modules/system.py set_system_date_time",
		Do: setDateTime,
	},
	{
		Name: "set_system_time", Doc: "Set the time, and the hardware clock if there is one; return False for an invalid time.", Src: "modules/system.py set_system_time",
		Do: setTime,
	},
	{Name: "shutdown", Doc: "Shut the machine down and return the output of shutdown(8).", Src: "modules/system.py shutdown", Do: shutdown},
}
