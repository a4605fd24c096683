package network

import (
	"brine/internal/fun"
)

// Arguments that several functions have.
var (
	ifaceArg   = fun.Arg{Name: "iface", Type: fun.Str, Required: true, Doc: "name of the interface"}
	addressArg = fun.Arg{Name: "ip_addr", Type: fun.Str, Required: true, Doc: "the address"}
	cidrArg    = fun.Arg{Name: "cidr", Type: fun.Str, Required: true, Doc: "the network"}
	familyArg  = fun.Arg{Name: "family", Type: fun.Str, Doc: "inet or inet6; None is both"}
	hostArg    = fun.Arg{Name: "host", Type: fun.Str, Required: true, Doc: "name or address"}
)

// addrArgs say which addresses of the machine are returned.
var addrArgs = []fun.Arg{
	{Name: "interface", Type: fun.Commas, Doc: "globs of interface names, as a list or separated by commas; None is all"},
	{Name: "include_loopback", Type: fun.Bool, Default: false, Doc: "include loopback addresses"},
	{Name: "cidr", Type: fun.Str, Doc: "only addresses in this network"},
}

var typeArgs = []fun.Arg{
	{Name: "type", Type: fun.Str, Doc: "None is both", OneOf: []string{"public", "private"}},
}

var netArgs = []fun.Arg{
	{Name: "interface", Type: fun.Commas, Doc: "globs of interface names, as a list or separated by commas; None is all"},
	{Name: "include_loopback", Type: fun.Bool, Default: false, Doc: "include loopback addresses"},
	{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return details by network"},
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "active_tcp", Doc: "Return the established TCP connections.", Src: "modules/network.py active_tcp", Fn: activeTCP},
	{Name: "arp", Doc: "Return the IP addresses of the neighbours by hardware address.", Src: "modules/network.py arp", Fn: arp},
	{
		Name: "calc_net", Doc: "Return the network of an address.", Src: "modules/network.py calc_net",
		Fn: calcNet,
		Args: []fun.Arg{
			{Name: "ip_addr", Type: fun.Str, Required: true, Doc: "the address, with or without a prefix length"},
			{Name: "netmask", Type: fun.Str, Doc: "netmask or prefix length"},
		},
	},
	{
		Name: "connect", Doc: "Try a TCP connection; return result and comment.", Src: "modules/network.py connect",
		VarKw: true, Fn: connect,
		Args: []fun.Arg{
			hostArg,
			{Name: "port", Type: fun.Int, Doc: "the port"},
		},
	},
	{Name: "convert_cidr", Doc: "Return the address, netmask and broadcast address of a network.", Src: "modules/network.py convert_cidr", Args: []fun.Arg{cidrArg}, Fn: convertCIDR},
	{Name: "default_route", Doc: "Return the default routes.", Src: "modules/network.py default_route", Args: []fun.Arg{familyArg}, Fn: defaultRoute},
	{Name: "dig", Doc: "Return the output of dig(1).", Src: "modules/network.py dig", Args: []fun.Arg{hostArg}, Fn: dig},
	{Name: "fqdns", Doc: "Return the DNS names of the machine's addresses.", Src: "modules/network.py fqdns", Fn: fqdns},
	{Name: "get_bufsize", Doc: "Return the buffer sizes of an interface.", Src: "modules/network.py get_bufsize", Args: []fun.Arg{ifaceArg}, Fn: getBufsize},
	{Name: "get_fqdn", Doc: "Return the fully qualified domain name of the machine.", Src: "modules/network.py get_fqdn", Fn: getFQDN},
	{Name: "get_hostname", Doc: "Return the host name of the machine.", Src: "modules/network.py get_hostname", Fn: getHostname},
	{
		Name: "get_route", Doc: "Return the way to an address.", Src: "modules/network.py get_route",
		Fn: getRoute,
		Args: []fun.Arg{
			{Name: "ip", Type: fun.Str, Required: true, Doc: "the address"},
		},
	},
	{Name: "hw_addr", Doc: "Return the hardware address of an interface.", Src: "modules/network.py hw_addr", Args: []fun.Arg{ifaceArg}, Fn: hwAddr},
	{Name: "hwaddr", Doc: "Return the hardware address of an interface.", Src: "modules/network.py hwaddr", Args: []fun.Arg{ifaceArg}, Fn: hwAddr},
	{
		Name: "ifacestartswith", Doc: "Return the interfaces that have an IPv4 address with a prefix.", Src: "modules/network.py ifacestartswith",
		Fn: ifaceStartsWith,
		Args: []fun.Arg{
			{Name: "cidr", Type: fun.Str, Required: true, Doc: "the start of the address"},
		},
	},
	{Name: "in_subnet", Doc: "Return whether the machine has an address in a network.", Src: "modules/network.py in_subnet", Args: []fun.Arg{cidrArg}, Fn: inSubnet},
	{Name: "interface", Doc: "Return the IPv4 addresses of an interface.", Src: "modules/network.py interface", Args: []fun.Arg{ifaceArg}, Fn: interfaceFn},
	{Name: "interface_ip", Doc: "Return the first IPv4 address of an interface.", Src: "modules/network.py interface_ip", Args: []fun.Arg{ifaceArg}, Fn: interfaceIP},
	{Name: "interfaces", Doc: "Return all interfaces with their addresses.", Src: "modules/network.py interfaces", Fn: interfaces},
	{Name: "ip_addrs", Doc: "Return the machine's IPv4 addresses.", Src: "modules/network.py ip_addrs", Shared: [][]fun.Arg{addrArgs, typeArgs}, Fn: ipAddrs},
	{Name: "ip_addrs6", Doc: "Return the machine's IPv6 addresses.", Src: "modules/network.py ip_addrs6", Shared: [][]fun.Arg{addrArgs}, Fn: ipAddrs6},
	{Name: "ip_in_subnet", Doc: "Return whether an address is in a network.", Src: "modules/network.py ip_in_subnet", Args: []fun.Arg{addressArg, cidrArg}, Fn: ipInSubnet},
	{Name: "ip_networks", Doc: "Return the machine's IPv4 networks.", Src: "modules/network.py ip_networks", Shared: [][]fun.Arg{netArgs}, Fn: ipNetworks},
	{Name: "ip_networks6", Doc: "Return the machine's IPv6 networks.", Src: "modules/network.py ip_networks6", Shared: [][]fun.Arg{netArgs}, Fn: ipNetworks6},
	{Name: "ipaddrs", Doc: "Return the machine's IPv4 addresses.", Src: "modules/network.py ipaddrs", Shared: [][]fun.Arg{addrArgs, typeArgs}, Fn: ipAddrs},
	{Name: "ipaddrs6", Doc: "Return the machine's IPv6 addresses.", Src: "modules/network.py ipaddrs6", Shared: [][]fun.Arg{addrArgs}, Fn: ipAddrs6},
	{
		Name: "iphexval", Doc: "Return an IPv4 address in hexadecimal.", Src: "modules/network.py iphexval",
		Fn: ipHex,
		Args: []fun.Arg{
			{Name: "ip", Type: fun.Str, Required: true, Doc: "the address"},
		},
	},
	{Name: "is_loopback", Doc: "Return whether an address is a loopback address.", Src: "modules/network.py is_loopback", Args: []fun.Arg{addressArg}, Fn: isLoopback},
	{Name: "is_private", Doc: "Return whether an address is private.", Src: "modules/network.py is_private", Args: []fun.Arg{addressArg}, Fn: isPrivate},
	{
		Name: "mod_bufsize", Doc: "Set the buffer sizes of an interface: rx, tx, rx-mini, rx-jumbo.", Src: "modules/network.py mod_bufsize",
		Args: []fun.Arg{ifaceArg}, VarArg: true, VarKw: true, Fn: modBufsize,
	},
	{
		Name: "mod_hostname", Doc: "Set the host name.", Src: "modules/network.py mod_hostname",
		Fn: modHostname,
		Args: []fun.Arg{
			{Name: "hostname", Type: fun.Str | fun.None, Required: true, Doc: "the name; None changes nothing"},
		},
	},
	{Name: "netstat", Doc: "Return the sockets of TCP and UDP with their programs.", Src: "modules/network.py netstat", Fn: netstat},
	{
		Name: "ping", Doc: "Run ping(1) four times; return its output, or with return_boolean whether it succeeded.", Src: "modules/network.py ping",
		Fn: ping,
		Args: []fun.Arg{
			hostArg,
			{Name: "timeout", Type: fun.Int | fun.Float, Default: false, Unit: "s", Doc: "how long to wait for a reply"},
			{Name: "return_boolean", Type: fun.Bool, Default: false, Doc: "return True or False"},
		},
	},
	{Name: "reverse_ip", Doc: "Return the reverse DNS name of an address.", Src: "modules/network.py reverse_ip", Args: []fun.Arg{addressArg}, Fn: reverseIP},
	{Name: "routes", Doc: "Return the routing table.", Src: "modules/network.py routes", Args: []fun.Arg{familyArg}, Fn: routes},
	{
		Name: "subnets", Doc: "Return the machine's IPv4 networks.", Src: "modules/network.py subnets",
		Fn: subnets,
		Args: []fun.Arg{
			{Name: "interfaces", Type: fun.Strs, Doc: "names of interfaces; None is all"},
		},
	},
	{Name: "subnets6", Doc: "Return the machine's IPv6 networks.", Src: "modules/network.py subnets6", Fn: subnets6},
	{Name: "traceroute", Doc: "Return the hops to a host, by traceroute(8).", Src: "modules/network.py traceroute", Args: []fun.Arg{hostArg}, Fn: traceroute},
	{
		Name: "wol", Doc: "Send the packet that wakes a machine.", Src: "modules/network.py wol",
		Fn: wol,
		Args: []fun.Arg{
			{Name: "mac", Type: fun.Str, Required: true, Doc: "the hardware address, with or without separators"},
			{Name: "bcast", Type: fun.Str, Default: "255.255.255.255", Doc: "the address to send to"},
			{Name: "destport", Type: fun.Int, Default: int64(9), Doc: "the UDP port"},
		},
	},
}
