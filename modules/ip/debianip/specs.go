package debianip

import "brine/internal/core/fun"

type ifaceArg struct {
	_     fun.Arguments
	Iface string `arg:"iface,required" doc:"name of the interface"`
}

type typeArg struct {
	_         fun.Arguments
	IfaceType string `arg:"iface_type,required" doc:"type of the interface: eth, bond, bridge, slave, vlan, pppoe, source"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "apply_network_settings", Doc: "Restart networking, with apply_hostname also set the host name.", Src: "modules/debian_ip.py apply_network_settings", Do: applySettings},
	{Name: "build_bond", Doc: "Write the options of a bond for the kernel.", Src: "modules/debian_ip.py build_bond", Do: buildBond},
	{Name: "build_interface", Doc: "Write an interface; return its lines.", Src: "modules/debian_ip.py build_interface", Do: buildInterface},
	{Name: "build_network_settings", Doc: "Write the global settings.", Src: "modules/debian_ip.py build_network_settings", Do: buildSettings},
	{Name: "build_routes", Doc: "Write the routes of an interface; return the lines.", Src: "modules/debian_ip.py build_routes", Do: buildRoutes},
	{Name: "down", Doc: "Take an interface down.", Src: "modules/debian_ip.py down", Do: down},
	{Name: "get_bond", Doc: "Return the options of a bond for the kernel.", Src: "modules/debian_ip.py get_bond", Do: getBond},
	{Name: "get_interface", Doc: "Return the lines of an interface.", Src: "modules/debian_ip.py get_interface", Do: getInterface},
	{Name: "get_network_settings", Doc: "Return the global settings.", Src: "modules/debian_ip.py get_network_settings", Do: getSettings},
	{Name: "get_routes", Doc: "Return the routes of an interface.", Src: "modules/debian_ip.py get_routes", Do: getRoutes},
	{Name: "up", Doc: "Bring an interface up.", Src: "modules/debian_ip.py up", Do: up},
}
