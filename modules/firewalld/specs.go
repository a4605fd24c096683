package firewalld

import "brine/internal/fun"

// Arguments that several functions have.
var (
	zoneArg      = fun.Arg{Name: "zone", Type: fun.Str, Doc: "the zone; default: the default zone"}
	mustZone     = fun.Arg{Name: "zone", Type: fun.Str, Required: true, Doc: "the zone"}
	serviceArg   = fun.Arg{Name: "service", Type: fun.Str, Required: true, Doc: "the service"}
	nameArg      = fun.Arg{Name: "name", Type: fun.Str, Required: true, Doc: "the service"}
	portArg      = fun.Arg{Name: "port", Type: fun.Str, Required: true, Doc: "port or range with a protocol, such as 80/tcp"}
	protocolArg  = fun.Arg{Name: "protocol", Type: fun.Str, Required: true, Doc: "the protocol"}
	icmpArg      = fun.Arg{Name: "icmp", Type: fun.Str, Required: true, Doc: "the ICMP type"}
	interfaceArg = fun.Arg{Name: "interface", Type: fun.Str, Required: true, Doc: "the interface"}
	sourceArg    = fun.Arg{Name: "source", Type: fun.Str, Required: true, Doc: "address, network, MAC address or ipset:NAME"}
	ruleArg      = fun.Arg{Name: "rule", Type: fun.Str, Required: true, Doc: "the rich rule"}
	srcArg       = fun.Arg{Name: "src", Type: fun.Str, Required: true, Doc: "port that is forwarded"}
	destArg      = fun.Arg{Name: "dest", Type: fun.Str, Required: true, Doc: "port that it is forwarded to"}
	protoArg     = fun.Arg{Name: "proto", Type: fun.Str, Default: "tcp", Doc: "protocol of the port"}
	dstaddrArg   = fun.Arg{Name: "dstaddr", Type: fun.Str, Default: "", Doc: "address that the port is forwarded to; default: this machine"}
	permanentArg = fun.Arg{Name: "permanent", Type: fun.Bool, Default: true, Doc: "the permanent configuration instead of the runtime one"}
	restartArg   = fun.Arg{Name: "restart", Type: fun.Bool, Default: true, Doc: "load the permanent configuration afterwards"}
	forceArg     = fun.Arg{Name: "force_masquerade", Type: fun.Bool, Default: false, Doc: "have the zone masquerade first"}
)

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_interface", Doc: "Bind an interface to a zone.", Src: "modules/firewalld.py add_interface", Fn: addInterface, Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "add_masquerade", Doc: "Have a zone masquerade.", Src: "modules/firewalld.py add_masquerade", Fn: addMasquerade, Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "add_port", Doc: "Open a port in a zone.", Src: "modules/firewalld.py add_port", Fn: addPort, Args: []fun.Arg{mustZone, portArg, permanentArg, forceArg}},
	{Name: "add_port_fwd", Doc: "Forward a port in a zone.", Src: "modules/firewalld.py add_port_fwd", Fn: addPortFwd, Args: []fun.Arg{mustZone, srcArg, destArg, protoArg, dstaddrArg, permanentArg, forceArg}},
	{Name: "add_rich_rule", Doc: "Add a rich rule to a zone.", Src: "modules/firewalld.py add_rich_rule", Fn: addRichRule, Args: []fun.Arg{mustZone, ruleArg, permanentArg}},
	{Name: "add_service", Doc: "Allow a service in a zone.", Src: "modules/firewalld.py add_service", Fn: addService, Args: []fun.Arg{serviceArg, zoneArg, permanentArg}},
	{Name: "add_service_port", Doc: "Add a port to a service.", Src: "modules/firewalld.py add_service_port", Fn: addServicePort, Args: []fun.Arg{serviceArg, portArg}},
	{Name: "add_service_protocol", Doc: "Add a protocol to a service.", Src: "modules/firewalld.py add_service_protocol", Fn: addServiceProtocol, Args: []fun.Arg{serviceArg, protocolArg}},
	{Name: "add_source", Doc: "Bind a source to a zone.", Src: "modules/firewalld.py add_source", Fn: addSource, Args: []fun.Arg{mustZone, sourceArg, permanentArg}},
	{Name: "allow_icmp", Doc: "Stop blocking an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py allow_icmp", Fn: allowICMP, Args: []fun.Arg{mustZone, icmpArg, permanentArg}},
	{Name: "block_icmp", Doc: "Block an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py block_icmp", Fn: blockICMP, Args: []fun.Arg{mustZone, icmpArg, permanentArg}},
	{Name: "change_interface", Doc: "Bind an interface to another zone.", Src: "modules/firewalld.py change_interface", Fn: changeInterface, Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "default_zone", Doc: "Return the default zone.", Src: "modules/firewalld.py default_zone", Fn: defaultZone},
	{Name: "delete_service", Doc: "Delete a service.", Src: "modules/firewalld.py delete_service", Fn: deleteService, Args: []fun.Arg{nameArg, restartArg}},
	{Name: "delete_zone", Doc: "Delete a zone.", Src: "modules/firewalld.py delete_zone", Fn: deleteZone, Args: []fun.Arg{mustZone, restartArg}},
	{Name: "get_icmp_types", Doc: "Return the ICMP types.", Src: "modules/firewalld.py get_icmp_types", Fn: getICMPTypes, Args: []fun.Arg{permanentArg}},
	{Name: "get_interfaces", Doc: "Return the interfaces of a zone.", Src: "modules/firewalld.py get_interfaces", Fn: getInterfaces, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_masquerade", Doc: "Return whether a zone masquerades.", Src: "modules/firewalld.py get_masquerade", Fn: getMasquerade, Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "get_rich_rules", Doc: "Return the rich rules of a zone.", Src: "modules/firewalld.py get_rich_rules", Fn: getRichRules, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_service_ports", Doc: "Return the ports of a service.", Src: "modules/firewalld.py get_service_ports", Fn: getServicePorts, Args: []fun.Arg{serviceArg}},
	{Name: "get_service_protocols", Doc: "Return the protocols of a service.", Src: "modules/firewalld.py get_service_protocols", Fn: getServiceProtocols, Args: []fun.Arg{serviceArg}},
	{Name: "get_services", Doc: "Return the services.", Src: "modules/firewalld.py get_services", Fn: getServices, Args: []fun.Arg{permanentArg}},
	{Name: "get_sources", Doc: "Return the sources of a zone.", Src: "modules/firewalld.py get_sources", Fn: getSources, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_zones", Doc: "Return the names of the zones.", Src: "modules/firewalld.py get_zones", Fn: getZones, Args: []fun.Arg{permanentArg}},
	{Name: "list_all", Doc: "Return what a zone has.", Src: "modules/firewalld.py list_all", Fn: listAll, Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "list_icmp_block", Doc: "Return the ICMP types that a zone blocks.", Src: "modules/firewalld.py list_icmp_block", Fn: listICMPBlock, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_port_fwd", Doc: "Return the forwarded ports of a zone.", Src: "modules/firewalld.py list_port_fwd", Fn: listPortFwd, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_ports", Doc: "Return the open ports of a zone.", Src: "modules/firewalld.py list_ports", Fn: listPorts, Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_services", Doc: "Return the services that a zone allows.", Src: "modules/firewalld.py list_services", Fn: listServices, Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "list_zones", Doc: "Return what all zones have.", Src: "modules/firewalld.py list_zones", Fn: listZones, Args: []fun.Arg{permanentArg}},
	{Name: "make_permanent", Doc: "Make the runtime configuration permanent.", Src: "modules/firewalld.py make_permanent", Fn: makePermanent},
	{Name: "new_service", Doc: "Create a service.", Src: "modules/firewalld.py new_service", Fn: newService, Args: []fun.Arg{nameArg, restartArg}},
	{Name: "new_zone", Doc: "Create a zone.", Src: "modules/firewalld.py new_zone", Fn: newZone, Args: []fun.Arg{mustZone, restartArg}},
	{Name: "reload_rules", Doc: "Load the permanent configuration; runtime changes are lost.", Src: "modules/firewalld.py reload_rules", Fn: reloadRules},
	{Name: "remove_interface", Doc: "Remove an interface from a zone.", Src: "modules/firewalld.py remove_interface", Fn: removeInterface, Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "remove_masquerade", Doc: "Stop a zone from masquerading.", Src: "modules/firewalld.py remove_masquerade", Fn: removeMasquerade, Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "remove_port", Doc: "Close a port in a zone.", Src: "modules/firewalld.py remove_port", Fn: removePort, Args: []fun.Arg{mustZone, portArg, permanentArg}},
	{Name: "remove_port_fwd", Doc: "Stop forwarding a port in a zone.", Src: "modules/firewalld.py remove_port_fwd", Fn: removePortFwd, Args: []fun.Arg{mustZone, srcArg, destArg, protoArg, dstaddrArg, permanentArg}},
	{Name: "remove_rich_rule", Doc: "Remove a rich rule from a zone.", Src: "modules/firewalld.py remove_rich_rule", Fn: removeRichRule, Args: []fun.Arg{mustZone, ruleArg, permanentArg}},
	{Name: "remove_service", Doc: "Stop allowing a service in a zone.", Src: "modules/firewalld.py remove_service", Fn: removeService, Args: []fun.Arg{serviceArg, zoneArg, permanentArg}},
	{Name: "remove_service_port", Doc: "Remove a port from a service.", Src: "modules/firewalld.py remove_service_port", Fn: removeServicePort, Args: []fun.Arg{serviceArg, portArg}},
	{Name: "remove_service_protocol", Doc: "Remove a protocol from a service.", Src: "modules/firewalld.py remove_service_protocol", Fn: removeServiceProtocol, Args: []fun.Arg{serviceArg, protocolArg}},
	{Name: "remove_source", Doc: "Remove a source from a zone.", Src: "modules/firewalld.py remove_source", Fn: removeSource, Args: []fun.Arg{mustZone, sourceArg, permanentArg}},
	{Name: "set_default_zone", Doc: "Set the default zone.", Src: "modules/firewalld.py set_default_zone", Fn: setDefaultZone, Args: []fun.Arg{mustZone}},
	{Name: "version", Doc: "Return the version of firewalld.", Src: "modules/firewalld.py version", Fn: version},
}
