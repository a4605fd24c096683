package firewalld

import "brine/internal/fun"

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "present", State: present, Src: "states/firewalld.py present",
		Doc: "Create or update a zone.\nThe permanent configuration is changed, and loaded if it changed. Existing items stay unless prune_... is set.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the zone"},
			{Name: "block_icmp", Type: fun.Strs, Doc: "ICMP types to block; those that firewalld does not know are left out"},
			{Name: "prune_block_icmp", Type: fun.Bool, Default: false, Doc: "block no other ICMP types"},
			{Name: "default", Type: fun.Bool, Doc: "make this the default zone"},
			{Name: "masquerade", Type: fun.Bool, Default: false, Doc: "masquerade; False turns it off"},
			{Name: "ports", Type: fun.Strs, Doc: "ports or ranges with a protocol, such as 80/tcp"},
			{Name: "prune_ports", Type: fun.Bool, Default: false, Doc: "close other ports"},
			{Name: "port_fwd", Type: fun.Strs, Doc: "forwarded ports, as PORT:TOPORT:PROTOCOL or PORT:TOPORT:PROTOCOL:ADDRESS"},
			{Name: "prune_port_fwd", Type: fun.Bool, Default: false, Doc: "forward no other ports"},
			{Name: "services", Type: fun.Strs, Doc: "services to allow"},
			{Name: "prune_services", Type: fun.Bool, Default: false, Doc: "allow no other services"},
			{Name: "interfaces", Type: fun.Strs, Doc: "interfaces to bind to the zone"},
			{Name: "prune_interfaces", Type: fun.Bool, Default: false, Doc: "remove other interfaces"},
			{Name: "sources", Type: fun.Strs, Doc: "addresses, networks, MAC addresses or ipset:NAME to bind to the zone"},
			{Name: "prune_sources", Type: fun.Bool, Default: false, Doc: "remove other sources"},
			{Name: "rich_rules", Type: fun.Strs, Doc: "rich rules, in the order of words that firewall-cmd --list-rich-rules shows"},
			{Name: "prune_rich_rules", Type: fun.Bool, Default: false, Doc: "remove other rich rules"},
		},
	},
	{
		Name: "service", State: service, Src: "states/firewalld.py service",
		Doc: "Create or update a service. It has exactly these ports and protocols.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "the service"},
			{Name: "ports", Type: fun.Strs, Doc: "ports or ranges with a protocol, such as 80/tcp"},
			{Name: "protocols", Type: fun.Strs, Doc: "protocols"},
		},
	},
}
