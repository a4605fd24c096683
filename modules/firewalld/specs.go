package firewalld

import "brine/internal/core/fun"

type zoneArg struct {
	_    fun.Arguments
	Zone string `arg:"zone" doc:"the zone; default: the default zone"`
}

type mustZone struct {
	_    fun.Arguments
	Zone string `arg:"zone,required" doc:"the zone"`
}

type serviceArg struct {
	_       fun.Arguments
	Service string `arg:"service,required" doc:"the service"`
}

type nameArg struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"the service"`
}

type portArg struct {
	_    fun.Arguments
	Port string `arg:"port,required" doc:"port or range with a protocol, such as 80/tcp"`
}

type protocolArg struct {
	_        fun.Arguments
	Protocol string `arg:"protocol,required" doc:"the protocol"`
}

type icmpArg struct {
	_    fun.Arguments
	Icmp string `arg:"icmp,required" doc:"the ICMP type"`
}

type interfaceArg struct {
	_         fun.Arguments
	Interface string `arg:"interface,required" doc:"the interface"`
}

type sourceArg struct {
	_      fun.Arguments
	Source string `arg:"source,required" doc:"address, network, MAC address or ipset:NAME"`
}

type ruleArg struct {
	_    fun.Arguments
	Rule string `arg:"rule,required" doc:"the rich rule"`
}

// forwardArgs are the arguments about a forwarded port.
type forwardArgs struct {
	_       fun.Arguments
	Src     string `arg:"src,required" doc:"port that is forwarded"`
	Dest    string `arg:"dest,required" doc:"port that it is forwarded to"`
	Proto   string `arg:"proto" default:"tcp" doc:"protocol of the port"`
	Dstaddr string `arg:"dstaddr" default:"" doc:"address that the port is forwarded to; default: this machine"`
}

type permanentArg struct {
	_         fun.Arguments
	Permanent bool `arg:"permanent" default:"True" doc:"the permanent configuration instead of the runtime one"`
}

type restartArg struct {
	_       fun.Arguments
	Restart bool `arg:"restart" default:"True" doc:"load the permanent configuration afterwards"`
}

type forceArg struct {
	_               fun.Arguments
	ForceMasquerade bool `arg:"force_masquerade" default:"False" doc:"have the zone masquerade first"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "add_interface", Doc: "Bind an interface to a zone.", Src: "modules/firewalld.py add_interface", Do: addInterface},
	{Name: "add_masquerade", Doc: "Have a zone masquerade.", Src: "modules/firewalld.py add_masquerade", Do: addMasquerade},
	{Name: "add_port", Doc: "Open a port in a zone.", Src: "modules/firewalld.py add_port", Do: addPort},
	{Name: "add_port_fwd", Doc: "Forward a port in a zone.", Src: "modules/firewalld.py add_port_fwd", Do: addPortFwd},
	{Name: "add_rich_rule", Doc: "Add a rich rule to a zone.", Src: "modules/firewalld.py add_rich_rule", Do: addRichRule},
	{Name: "add_service", Doc: "Allow a service in a zone.", Src: "modules/firewalld.py add_service", Do: addService},
	{Name: "add_service_port", Doc: "Add a port to a service.", Src: "modules/firewalld.py add_service_port", Do: addServicePort},
	{Name: "add_service_protocol", Doc: "Add a protocol to a service.", Src: "modules/firewalld.py add_service_protocol", Do: addServiceProtocol},
	{Name: "add_source", Doc: "Bind a source to a zone.", Src: "modules/firewalld.py add_source", Do: addSource},
	{Name: "allow_icmp", Doc: "Stop blocking an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py allow_icmp", Do: allowICMP},
	{Name: "block_icmp", Doc: "Block an ICMP type in a zone. Return False for a type that firewalld does not know.", Src: "modules/firewalld.py block_icmp", Do: blockICMP},
	{Name: "change_interface", Doc: "Bind an interface to another zone.", Src: "modules/firewalld.py change_interface", Do: changeInterface},
	{Name: "default_zone", Doc: "Return the default zone.", Src: "modules/firewalld.py default_zone", Do: defaultZone},
	{Name: "delete_service", Doc: "Delete a service.", Src: "modules/firewalld.py delete_service", Do: deleteService},
	{Name: "delete_zone", Doc: "Delete a zone.", Src: "modules/firewalld.py delete_zone", Do: deleteZone},
	{Name: "get_icmp_types", Doc: "Return the ICMP types.", Src: "modules/firewalld.py get_icmp_types", Do: getICMPTypes},
	{Name: "get_interfaces", Doc: "Return the interfaces of a zone.", Src: "modules/firewalld.py get_interfaces", Do: getInterfaces},
	{Name: "get_masquerade", Doc: "Return whether a zone masquerades.", Src: "modules/firewalld.py get_masquerade", Do: getMasquerade},
	{Name: "get_rich_rules", Doc: "Return the rich rules of a zone.", Src: "modules/firewalld.py get_rich_rules", Do: getRichRules},
	{Name: "get_service_ports", Doc: "Return the ports of a service.", Src: "modules/firewalld.py get_service_ports", Do: getServicePorts},
	{Name: "get_service_protocols", Doc: "Return the protocols of a service.", Src: "modules/firewalld.py get_service_protocols", Do: getServiceProtocols},
	{Name: "get_services", Doc: "Return the services.", Src: "modules/firewalld.py get_services", Do: getServices},
	{Name: "get_sources", Doc: "Return the sources of a zone.", Src: "modules/firewalld.py get_sources", Do: getSources},
	{Name: "get_zones", Doc: "Return the names of the zones.", Src: "modules/firewalld.py get_zones", Do: getZones},
	{Name: "list_all", Doc: "Return what a zone has.", Src: "modules/firewalld.py list_all", Do: listAll},
	{Name: "list_icmp_block", Doc: "Return the ICMP types that a zone blocks.", Src: "modules/firewalld.py list_icmp_block", Do: listICMPBlock},
	{Name: "list_port_fwd", Doc: "Return the forwarded ports of a zone.", Src: "modules/firewalld.py list_port_fwd", Do: listPortFwd},
	{Name: "list_ports", Doc: "Return the open ports of a zone.", Src: "modules/firewalld.py list_ports", Do: listPorts},
	{Name: "list_services", Doc: "Return the services that a zone allows.", Src: "modules/firewalld.py list_services", Do: listServices},
	{Name: "list_zones", Doc: "Return what all zones have.", Src: "modules/firewalld.py list_zones", Do: listZones},
	{Name: "make_permanent", Doc: "Make the runtime configuration permanent.", Src: "modules/firewalld.py make_permanent", Do: makePermanent},
	{Name: "new_service", Doc: "Create a service.", Src: "modules/firewalld.py new_service", Do: newService},
	{Name: "new_zone", Doc: "Create a zone.", Src: "modules/firewalld.py new_zone", Do: newZone},
	{Name: "reload_rules", Doc: "Load the permanent configuration; runtime changes are lost.", Src: "modules/firewalld.py reload_rules", Do: reloadRules},
	{Name: "remove_interface", Doc: "Remove an interface from a zone.", Src: "modules/firewalld.py remove_interface", Do: removeInterface},
	{Name: "remove_masquerade", Doc: "Stop a zone from masquerading.", Src: "modules/firewalld.py remove_masquerade", Do: removeMasquerade},
	{Name: "remove_port", Doc: "Close a port in a zone.", Src: "modules/firewalld.py remove_port", Do: removePort},
	{Name: "remove_port_fwd", Doc: "Stop forwarding a port in a zone.", Src: "modules/firewalld.py remove_port_fwd", Do: removePortFwd},
	{Name: "remove_rich_rule", Doc: "Remove a rich rule from a zone.", Src: "modules/firewalld.py remove_rich_rule", Do: removeRichRule},
	{Name: "remove_service", Doc: "Stop allowing a service in a zone.", Src: "modules/firewalld.py remove_service", Do: removeService},
	{Name: "remove_service_port", Doc: "Remove a port from a service.", Src: "modules/firewalld.py remove_service_port", Do: removeServicePort},
	{Name: "remove_service_protocol", Doc: "Remove a protocol from a service.", Src: "modules/firewalld.py remove_service_protocol", Do: removeServiceProtocol},
	{Name: "remove_source", Doc: "Remove a source from a zone.", Src: "modules/firewalld.py remove_source", Do: removeSource},
	{Name: "set_default_zone", Doc: "Set the default zone.", Src: "modules/firewalld.py set_default_zone", Do: setDefaultZone},
	{Name: "version", Doc: "Return the version of firewalld.", Src: "modules/firewalld.py version", Do: version},
}
