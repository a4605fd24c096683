package timezone

import "brine/internal/fun"

var zoneArgs = []fun.Arg{
	{Name: "timezone", Type: fun.Str, Required: true, Doc: "name of the zone, such as Europe/Paris"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_hwclock", Doc: "Return whether the hardware clock is set to UTC or to local time (localtime).", Src: "modules/timezone.py get_hwclock", Fn: getHwclock},
	{Name: "get_offset", Doc: "Return the offset of the local time from UTC, such as +0100.", Src: "modules/timezone.py get_offset", Fn: getOffset},
	{Name: "get_zone", Doc: "Return the name of the time zone.", Src: "modules/timezone.py get_zone", Fn: getZone},
	{Name: "get_zonecode", Doc: "Return the abbreviation of the time zone, such as CET.", Src: "modules/timezone.py get_zonecode", Fn: getZonecode},
	{
		Name: "set_hwclock", Doc: "Set the hardware clock to be UTC or local time. Return whether that worked.", Src: "modules/timezone.py set_hwclock",
		Fn:   setHwclock,
		Args: []fun.Arg{{Name: "clock", Type: fun.Str, Required: true, Doc: "UTC or localtime"}},
	},
	{Name: "set_zone", Doc: "Set the time zone.", Src: "modules/timezone.py set_zone", Args: zoneArgs, Fn: setZone},
	{Name: "zone_compare", Doc: "Return whether the local time is that of a zone, whatever its name.", Src: "modules/timezone.py zone_compare", Args: zoneArgs, Fn: zoneCompare},
}
