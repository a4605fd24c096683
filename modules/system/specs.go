package system

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	offsetArg = fun.Arg{Name: "utc_offset", Type: fun.Str, Doc: "offset from UTC such as +0600; default: the machine's time zone"}
)

var whenArg = fun.Arg{Name: "at_time", Type: fun.Int | fun.Str, Unit: "min", Doc: "when: minutes from now, or another time for shutdown(8) such as 23:30; default: now"}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_computer_desc", Doc: "Return the pretty name of the machine, False if it has none.", Src: "modules/system.py get_computer_desc", Fn: getDesc},
	{Name: "get_computer_name", Doc: "Return the host name.", Src: "modules/system.py get_computer_name", Fn: getName},
	{Name: "get_reboot_required_witnessed", Doc: "Return whether set_reboot_required_witnessed was called since the last boot.", Src: "modules/system.py get_reboot_required_witnessed", Fn: getRebootWitnessed},
	{Name: "get_system_date", Doc: "Return the date, as 'Wed 12/31/2025'.", Src: "modules/system.py get_system_date", Args: []fun.Arg{offsetArg}, Fn: getDate},
	{Name: "get_system_date_time", Doc: "Return the date and time, as '2025-12-31 23:59:59'.", Src: "modules/system.py get_system_date_time", Args: []fun.Arg{offsetArg}, Fn: getDateTime},
	{Name: "get_system_time", Doc: "Return the time, as '11:59:59 PM'.", Src: "modules/system.py get_system_time", Args: []fun.Arg{offsetArg}, Fn: getTime},
	{Name: "halt", Doc: "Halt the machine and return the output of halt(8).", Src: "modules/system.py halt", Fn: halt},
	{Name: "has_settable_hwclock", Doc: "Return whether the machine has a hardware clock that can be set.", Src: "modules/system.py has_settable_hwclock", Fn: hasHWClock},
	{
		Name: "init", Doc: "Change the runlevel and return the output of init(8).", Src: "modules/system.py init",
		Fn: initLevel,
		Args: []fun.Arg{
			{Name: "runlevel", Type: fun.Str, Required: true, Doc: "the runlevel; 0 halts, 6 reboots"},
		},
	},
	{Name: "poweroff", Doc: "Power the machine off and return the output of poweroff(8).", Src: "modules/system.py poweroff", Fn: poweroff},
	{
		Name: "reboot", Doc: "Reboot the machine and return the output of shutdown(8).\n\nIn an orchestration, reboot a minute ahead (system.reboot 1), so that the\nstep returns, and wait with salt.wait_for_event for salt/minion/*/start.", Src: "modules/system.py reboot",
		Fn: reboot,
		Args: []fun.Arg{
			whenArg,
		},
	},
	{
		Name: "set_computer_desc", Doc: "Set the pretty name of the machine; return False if that fails.", Src: "modules/system.py set_computer_desc",
		Fn: setDesc,
		Args: []fun.Arg{
			{Name: "desc", Type: fun.Str, Required: true, Doc: "the name"},
		},
	},
	{
		Name: "set_computer_name", Doc: "Set the host name.", Src: "modules/system.py set_computer_name",
		Fn: setName,
		Args: []fun.Arg{
			{Name: "hostname", Type: fun.Str, Required: true, Doc: "the name"},
		},
	},
	{Name: "set_reboot_required_witnessed", Doc: "Note until the next boot that a reboot is needed.", Src: "modules/system.py set_reboot_required_witnessed", Fn: setRebootWitnessed},
	{
		Name: "set_system_date", Doc: "Set the date, and the hardware clock if there is one.", Src: "modules/system.py set_system_date",
		Fn: setDate,
		Args: []fun.Arg{
			{Name: "newdate", Type: fun.Str, Required: true, Doc: "YYYY-MM-DD, MM-DD-YYYY or MM-DD-YY, also with slashes"},
			offsetArg,
		},
	},
	{
		Name: "set_system_date_time", Doc: "Set parts of the date and time, and the hardware clock if there is one.", Src: "modules/system.py set_system_date_time",
		Fn: setDateTime,
		Args: []fun.Arg{
			{Name: "years", Type: fun.Int, Doc: "the year, four digits; default: unchanged"},
			{Name: "months", Type: fun.Int, Doc: "1 to 12; default: unchanged"},
			{Name: "days", Type: fun.Int, Doc: "1 to 31; default: unchanged"},
			{Name: "hours", Type: fun.Int, Doc: "0 to 23; default: unchanged"},
			{Name: "minutes", Type: fun.Int, Doc: "0 to 59; default: unchanged"},
			{Name: "seconds", Type: fun.Int, Doc: "0 to 59; default: unchanged"},
			offsetArg,
		},
	},
	{
		Name: "set_system_time", Doc: "Set the time, and the hardware clock if there is one; return False for an invalid time.", Src: "modules/system.py set_system_time",
		Fn: setTime,
		Args: []fun.Arg{
			{Name: "newtime", Type: fun.Str, Required: true, Doc: "HH:MM or HH:MM:SS, optionally with AM or PM; quote it twice, since 11:20 is a number in YAML"},
			offsetArg,
		},
	},
	{Name: "shutdown", Doc: "Shut the machine down and return the output of shutdown(8).", Src: "modules/system.py shutdown", Args: []fun.Arg{whenArg}, Fn: shutdown},
}
