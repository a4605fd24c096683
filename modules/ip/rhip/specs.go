package rhip

import "brine/internal/fun"

// Arguments that several functions have.
var (
	ifaceArg   = fun.Arg{Name: "iface", Type: fun.Str, Required: true, Doc: "name of the interface"}
	typeArg    = fun.Arg{Name: "iface_type", Type: fun.Str, Required: true, Doc: "type of the interface: eth, bond, bridge, slave, vlan, team, teamport, ipip, ib, alias"}
	enabledArg = fun.Arg{Name: "enabled", Type: fun.Bool, Required: true, Doc: "bring it up at boot"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "apply_network_settings", Doc: "Restart networking, with apply_hostname also set the host name.", Src: "modules/rh_ip.py apply_network_settings", VarKw: true, Hands: true, Fn: applySettings},
	{Name: "build_interface", Doc: "Write an interface; return its lines.", Src: "modules/rh_ip.py build_interface", Args: []fun.Arg{ifaceArg, typeArg, enabledArg}, VarKw: true, Hands: true, Fn: buildInterface},
	{Name: "build_network_settings", Doc: "Write the global settings: enabled, hostname, gateway.", Src: "modules/rh_ip.py build_network_settings", VarKw: true, Hands: true, Fn: buildSettings},
	{Name: "build_routes", Doc: "Write the routes of an interface; return the lines.", Src: "modules/rh_ip.py build_routes", Args: []fun.Arg{ifaceArg}, VarKw: true, Hands: true, Fn: buildRoutes},
	{Name: "down", Doc: "Take an interface down.", Src: "modules/rh_ip.py down", Args: []fun.Arg{ifaceArg, typeArg}, Fn: down},
	{Name: "get_interface", Doc: "Return the lines of an interface.", Src: "modules/rh_ip.py get_interface", Args: []fun.Arg{ifaceArg}, Fn: getInterface},
	{Name: "get_network_settings", Doc: "Return the global settings.", Src: "modules/rh_ip.py get_network_settings", Fn: getSettings},
	{Name: "get_routes", Doc: "Return the routes of an interface.", Src: "modules/rh_ip.py get_routes", Args: []fun.Arg{ifaceArg}, Fn: getRoutes},
	{Name: "up", Doc: "Bring an interface up.", Src: "modules/rh_ip.py up", Args: []fun.Arg{ifaceArg, typeArg}, Fn: up},
}
