package timezone

import "brine/internal/core/fun"

type zoneArgs struct {
	_        fun.Arguments
	Timezone string `arg:"timezone,required" doc:"name of the zone, such as Europe/Paris"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get_hwclock", Doc: "Return whether the hardware clock is set to UTC or to local time (localtime).", Src: "modules/timezone.py get_hwclock", Do: getHwclock},
	{Name: "get_offset", Doc: "Return the offset of the local time from UTC, such as +0100.", Src: "modules/timezone.py get_offset", Do: getOffset},
	{Name: "get_zone", Doc: "Return the name of the time zone.", Src: "modules/timezone.py get_zone", Do: getZone},
	{Name: "get_zonecode", Doc: "Return the abbreviation of the time zone, such as CET.", Src: "modules/timezone.py get_zonecode", Do: getZonecode},
	{
		Name: "set_hwclock", Doc: "Set the hardware clock to be UTC or local time. Return whether that worked.", Src: "modules/timezone.py set_hwclock",
		Do: setHwclock,
	},
	{Name: "set_zone", Doc: "Set the time zone.", Src: "modules/timezone.py set_zone", Do: setZone},
	{Name: "zone_compare", Doc: "Return whether the local time is that of a zone, whatever its name.", Src: "modules/timezone.py zone_compare", Do: zoneCompare},
}
