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
	{Name: "add_interface", Doc: "Bind an interface to a zone.", Src: "modules/firewalld.py add_interface", Fn: addInterface, Example: "call firewalld.add_interface public eth0", Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "add_masquerade", Doc: "Have a zone masquerade.", Src: "modules/firewalld.py add_masquerade", Fn: addMasquerade, Example: "call firewalld.add_masquerade public", Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "add_port", Doc: "Open a port in a zone.", Src: "modules/firewalld.py add_port", Fn: addPort, Example: "call firewalld.add_port public 443/tcp", Args: []fun.Arg{mustZone, portArg, permanentArg, forceArg}},
	{Name: "add_port_fwd", Doc: "Forward a port in a zone.", Src: "modules/firewalld.py add_port_fwd", Fn: addPortFwd, Example: "call firewalld.add_port_fwd public 80 8080 tcp", Args: []fun.Arg{mustZone, srcArg, destArg, protoArg, dstaddrArg, permanentArg, forceArg}},
	{Name: "add_rich_rule", Doc: "Add a rich rule to a zone.", Src: "modules/firewalld.py add_rich_rule", Fn: addRichRule, Example: "call firewalld.add_rich_rule public 'rule service name=\"ssh\" accept'", Args: []fun.Arg{mustZone, ruleArg, permanentArg}},
	{Name: "add_service", Doc: "Allow a service in a zone.", Src: "modules/firewalld.py add_service", Fn: addService, Example: "call firewalld.add_service ssh zone=public", Args: []fun.Arg{serviceArg, zoneArg, permanentArg}},
	{Name: "add_service_port", Doc: "Add a port to a service.", Src: "modules/firewalld.py add_service_port", Fn: addServicePort, Example: "call firewalld.add_service_port web 80/tcp", Args: []fun.Arg{serviceArg, portArg}},
	{Name: "add_service_protocol", Doc: "Add a protocol to a service.", Src: "modules/firewalld.py add_service_protocol", Fn: addServiceProtocol, Example: "call firewalld.add_service_protocol web sctp", Args: []fun.Arg{serviceArg, protocolArg}},
	{Name: "add_source", Doc: "Bind a source to a zone.", Src: "modules/firewalld.py add_source", Fn: addSource, Example: "call firewalld.add_source public 192.0.2.0/24", Args: []fun.Arg{mustZone, sourceArg, permanentArg}},
	{Name: "allow_icmp", Doc: "Stop blocking an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py allow_icmp", Fn: allowICMP, Example: "call firewalld.allow_icmp public echo-reply", Args: []fun.Arg{mustZone, icmpArg, permanentArg}},
	{Name: "block_icmp", Doc: "Block an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py block_icmp", Fn: blockICMP, Example: "call firewalld.block_icmp public echo-reply", Args: []fun.Arg{mustZone, icmpArg, permanentArg}},
	{Name: "change_interface", Doc: "Bind an interface to another zone.", Src: "modules/firewalld.py change_interface", Fn: changeInterface, Example: "call firewalld.change_interface public eth0", Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "default_zone", Doc: "Return the default zone.", Src: "modules/firewalld.py default_zone", Fn: defaultZone, Example: "call firewalld.default_zone"},
	{Name: "delete_service", Doc: "Delete a service.", Src: "modules/firewalld.py delete_service", Fn: deleteService, Example: "call firewalld.delete_service web", Args: []fun.Arg{nameArg, restartArg}},
	{Name: "delete_zone", Doc: "Delete a zone.", Src: "modules/firewalld.py delete_zone", Fn: deleteZone, Example: "call firewalld.delete_zone work", Args: []fun.Arg{mustZone, restartArg}},
	{Name: "get_icmp_types", Doc: "Return the ICMP types.", Src: "modules/firewalld.py get_icmp_types", Fn: getICMPTypes, Example: "call firewalld.get_icmp_types", Args: []fun.Arg{permanentArg}},
	{Name: "get_interfaces", Doc: "Return the interfaces of a zone.", Src: "modules/firewalld.py get_interfaces", Fn: getInterfaces, Example: "call firewalld.get_interfaces public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_masquerade", Doc: "Return whether a zone masquerades.", Src: "modules/firewalld.py get_masquerade", Fn: getMasquerade, Example: "call firewalld.get_masquerade public", Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "get_rich_rules", Doc: "Return the rich rules of a zone.", Src: "modules/firewalld.py get_rich_rules", Fn: getRichRules, Example: "call firewalld.get_rich_rules public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_service_ports", Doc: "Return the ports of a service.", Src: "modules/firewalld.py get_service_ports", Fn: getServicePorts, Example: "call firewalld.get_service_ports ssh", Args: []fun.Arg{serviceArg}},
	{Name: "get_service_protocols", Doc: "Return the protocols of a service.", Src: "modules/firewalld.py get_service_protocols", Fn: getServiceProtocols, Example: "call firewalld.get_service_protocols ssh", Args: []fun.Arg{serviceArg}},
	{Name: "get_services", Doc: "Return the services.", Src: "modules/firewalld.py get_services", Fn: getServices, Example: "call firewalld.get_services", Args: []fun.Arg{permanentArg}},
	{Name: "get_sources", Doc: "Return the sources of a zone.", Src: "modules/firewalld.py get_sources", Fn: getSources, Example: "call firewalld.get_sources public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "get_zones", Doc: "Return the names of the zones.", Src: "modules/firewalld.py get_zones", Fn: getZones, Example: "call firewalld.get_zones", Args: []fun.Arg{permanentArg}},
	{Name: "list_all", Doc: "Return what a zone has.", Src: "modules/firewalld.py list_all", Fn: listAll, Example: "call firewalld.list_all public", Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "list_icmp_block", Doc: "Return the ICMP types that a zone blocks.", Src: "modules/firewalld.py list_icmp_block", Fn: listICMPBlock, Example: "call firewalld.list_icmp_block public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_port_fwd", Doc: "Return the forwarded ports of a zone.", Src: "modules/firewalld.py list_port_fwd", Fn: listPortFwd, Example: "call firewalld.list_port_fwd public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_ports", Doc: "Return the open ports of a zone.", Src: "modules/firewalld.py list_ports", Fn: listPorts, Example: "call firewalld.list_ports public", Args: []fun.Arg{mustZone, permanentArg}},
	{Name: "list_services", Doc: "Return the services that a zone allows.", Src: "modules/firewalld.py list_services", Fn: listServices, Example: "call firewalld.list_services public", Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "list_zones", Doc: "Return what all zones have.", Src: "modules/firewalld.py list_zones", Fn: listZones, Example: "call firewalld.list_zones", Args: []fun.Arg{permanentArg}},
	{Name: "make_permanent", Doc: "Make the runtime configuration permanent.", Src: "modules/firewalld.py make_permanent", Fn: makePermanent, Example: "call firewalld.make_permanent"},
	{Name: "new_service", Doc: "Create a service.", Src: "modules/firewalld.py new_service", Fn: newService, Example: "call firewalld.new_service web", Args: []fun.Arg{nameArg, restartArg}},
	{Name: "new_zone", Doc: "Create a zone.", Src: "modules/firewalld.py new_zone", Fn: newZone, Example: "call firewalld.new_zone work", Args: []fun.Arg{mustZone, restartArg}},
	{Name: "reload_rules", Doc: "Load the permanent configuration; runtime changes are lost.", Src: "modules/firewalld.py reload_rules", Fn: reloadRules, Example: "call firewalld.reload_rules"},
	{Name: "remove_interface", Doc: "Remove an interface from a zone.", Src: "modules/firewalld.py remove_interface", Fn: removeInterface, Example: "call firewalld.remove_interface public eth0", Args: []fun.Arg{mustZone, interfaceArg, permanentArg}},
	{Name: "remove_masquerade", Doc: "Stop a zone from masquerading.", Src: "modules/firewalld.py remove_masquerade", Fn: removeMasquerade, Example: "call firewalld.remove_masquerade public", Args: []fun.Arg{zoneArg, permanentArg}},
	{Name: "remove_port", Doc: "Close a port in a zone.", Src: "modules/firewalld.py remove_port", Fn: removePort, Example: "call firewalld.remove_port public 443/tcp", Args: []fun.Arg{mustZone, portArg, permanentArg}},
	{Name: "remove_port_fwd", Doc: "Stop forwarding a port in a zone.", Src: "modules/firewalld.py remove_port_fwd", Fn: removePortFwd, Example: "call firewalld.remove_port_fwd public 80 8080 tcp", Args: []fun.Arg{mustZone, srcArg, destArg, protoArg, dstaddrArg, permanentArg}},
	{Name: "remove_rich_rule", Doc: "Remove a rich rule from a zone.", Src: "modules/firewalld.py remove_rich_rule", Fn: removeRichRule, Example: "call firewalld.remove_rich_rule public 'rule service name=\"ssh\" accept'", Args: []fun.Arg{mustZone, ruleArg, permanentArg}},
	{Name: "remove_service", Doc: "Stop allowing a service in a zone.", Src: "modules/firewalld.py remove_service", Fn: removeService, Example: "call firewalld.remove_service ssh zone=public", Args: []fun.Arg{serviceArg, zoneArg, permanentArg}},
	{Name: "remove_service_port", Doc: "Remove a port from a service.", Src: "modules/firewalld.py remove_service_port", Fn: removeServicePort, Example: "call firewalld.remove_service_port web 80/tcp", Args: []fun.Arg{serviceArg, portArg}},
	{Name: "remove_service_protocol", Doc: "Remove a protocol from a service.", Src: "modules/firewalld.py remove_service_protocol", Fn: removeServiceProtocol, Example: "call firewalld.remove_service_protocol web sctp", Args: []fun.Arg{serviceArg, protocolArg}},
	{Name: "remove_source", Doc: "Remove a source from a zone.", Src: "modules/firewalld.py remove_source", Fn: removeSource, Example: "call firewalld.remove_source public 192.0.2.0/24", Args: []fun.Arg{mustZone, sourceArg, permanentArg}},
	{Name: "set_default_zone", Doc: "Set the default zone.", Src: "modules/firewalld.py set_default_zone", Fn: setDefaultZone, Example: "call firewalld.set_default_zone work", Args: []fun.Arg{mustZone}},
	{Name: "version", Doc: "Return the version of firewalld.", Src: "modules/firewalld.py version", Fn: version, Example: "call firewalld.version"},
}
