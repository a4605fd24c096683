package network

import (
	"brine/internal/core/fun"
)

type ifaceArg struct {
	_     fun.Arguments
	Iface string `arg:"iface,required" doc:"name of the interface"`
}

type addressArg struct {
	_      fun.Arguments
	IPAddr string `arg:"ip_addr,required" doc:"the address"`
}

type cidrArg struct {
	_    fun.Arguments
	Cidr string `arg:"cidr,required" doc:"the network"`
}

type familyArg struct {
	_      fun.Arguments
	Family string `arg:"family" doc:"inet or inet6; None is both"`
}

type hostArg struct {
	_    fun.Arguments
	Host string `arg:"host,required" doc:"name or address"`
}

// addrArgs say which addresses of the machine are returned.
type addrArgs struct {
	_               fun.Arguments
	Interface       fun.Opt[[]string] `arg:"interface,comma[str]" doc:"globs of interface names, as a list or separated by commas; None is all"`
	IncludeLoopback bool              `arg:"include_loopback" default:"False" doc:"include loopback addresses"`
	Cidr            string            `arg:"cidr" doc:"only addresses in this network"`
}

type netArgs struct {
	_               fun.Arguments
	Interface       fun.Opt[[]string] `arg:"interface,comma[str]" doc:"globs of interface names, as a list or separated by commas; None is all"`
	IncludeLoopback bool              `arg:"include_loopback" default:"False" doc:"include loopback addresses"`
	Verbose         bool              `arg:"verbose" default:"False" doc:"return details by network"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "active_tcp", Doc: "Return the established TCP connections.", Src: "modules/network.py active_tcp", Do: activeTCP},
	{Name: "arp", Doc: "Return the IP addresses of the neighbours by hardware address.", Src: "modules/network.py arp", Do: arp},
	{
		Name: "calc_net", Doc: "Return the network of an address.", Src: "modules/network.py calc_net",
		Do: calcNet,
	},
	{
		Name: "connect", Doc: "Try a TCP connection; return result and comment.", Src: "modules/network.py connect",
		Do: connect,
	},
	{Name: "convert_cidr", Doc: "Return the address, netmask and broadcast address of a network.", Src: "modules/network.py convert_cidr", Do: convertCIDR},
	{Name: "default_route", Doc: "Return the default routes.", Src: "modules/network.py default_route", Do: defaultRoute},
	{Name: "dig", Doc: "Return the output of dig(1).", Src: "modules/network.py dig", Do: dig},
	{Name: "fqdns", Doc: "Return the DNS names of the machine's addresses.", Src: "modules/network.py fqdns", Do: fqdns},
	{Name: "get_bufsize", Doc: "Return the buffer sizes of an interface.", Src: "modules/network.py get_bufsize", Do: getBufsize},
	{Name: "get_fqdn", Doc: "Return the fully qualified domain name of the machine.", Src: "modules/network.py get_fqdn", Do: getFQDN},
	{Name: "get_hostname", Doc: "Return the host name of the machine.", Src: "modules/network.py get_hostname", Do: getHostname},
	{
		Name: "get_route", Doc: "Return the way to an address.", Src: "modules/network.py get_route",
		Do: getRoute,
	},
	{Name: "hw_addr", Doc: "Return the hardware address of an interface.", Src: "modules/network.py hw_addr", Do: hwAddr},
	{Name: "hwaddr", Doc: "Return the hardware address of an interface.", Src: "modules/network.py hwaddr", Do: hwAddr},
	{
		Name: "ifacestartswith", Doc: "Return the interfaces that have an IPv4 address with a prefix.", Src: "modules/network.py ifacestartswith",
		Do: ifaceStartsWith,
	},
	{Name: "in_subnet", Doc: "Return whether the machine has an address in a network.", Src: "modules/network.py in_subnet", Do: inSubnet},
	{Name: "interface", Doc: "Return the IPv4 addresses of an interface.", Src: "modules/network.py interface", Do: interfaceFn},
	{Name: "interface_ip", Doc: "Return the first IPv4 address of an interface.", Src: "modules/network.py interface_ip", Do: interfaceIP},
	{Name: "interfaces", Doc: "Return all interfaces with their addresses.", Src: "modules/network.py interfaces", Do: interfaces},
	{Name: "ip_addrs", Doc: "Return the machine's IPv4 addresses.", Src: "modules/network.py ip_addrs", Do: ipAddrs},
	{Name: "ip_addrs6", Doc: "Return the machine's IPv6 addresses.", Src: "modules/network.py ip_addrs6", Do: ipAddrs6},
	{Name: "ip_in_subnet", Doc: "Return whether an address is in a network.", Src: "modules/network.py ip_in_subnet", Do: ipInSubnet},
	{Name: "ip_networks", Doc: "Return the machine's IPv4 networks.", Src: "modules/network.py ip_networks", Do: ipNetworks},
	{Name: "ip_networks6", Doc: "Return the machine's IPv6 networks.", Src: "modules/network.py ip_networks6", Do: ipNetworks6},
	{Name: "ipaddrs", Doc: "Return the machine's IPv4 addresses.", Src: "modules/network.py ipaddrs", Do: ipAddrs},
	{Name: "ipaddrs6", Doc: "Return the machine's IPv6 addresses.", Src: "modules/network.py ipaddrs6", Do: ipAddrs6},
	{
		Name: "iphexval", Doc: "Return an IPv4 address in hexadecimal.", Src: "modules/network.py iphexval",
		Do: ipHex,
	},
	{Name: "is_loopback", Doc: "Return whether an address is a loopback address.", Src: "modules/network.py is_loopback", Do: isLoopback},
	{Name: "is_private", Doc: "Return whether an address is private.", Src: "modules/network.py is_private", Do: isPrivate},
	{
		Name: "mod_bufsize", Doc: "Set the buffer sizes of an interface.", Src: "modules/network.py mod_bufsize",
		Do: modBufsize,
	},
	{
		Name: "mod_hostname", Doc: "Set the host name.", Src: "modules/network.py mod_hostname",
		Do: modHostname,
	},
	{Name: "netstat", Doc: "Return the sockets of TCP and UDP with their programs.", Src: "modules/network.py netstat", Do: netstat},
	{
		Name: "ping", Doc: "Run ping(1) four times; return its output, or with return_boolean whether it succeeded.", Src: "modules/network.py ping",
		Do: ping,
	},
	{Name: "reverse_ip", Doc: "Return the reverse DNS name of an address.", Src: "modules/network.py reverse_ip", Do: reverseIP},
	{Name: "routes", Doc: "Return the routing table.", Src: "modules/network.py routes", Do: routes},
	{
		Name: "subnets", Doc: "Return the machine's IPv4 networks.", Src: "modules/network.py subnets",
		Do: subnets,
	},
	{Name: "subnets6", Doc: "Return the machine's IPv6 networks.", Src: "modules/network.py subnets6", Do: subnets6},
	{Name: "traceroute", Doc: "Return the hops to a host, by traceroute(8).", Src: "modules/network.py traceroute", Do: traceroute},
	{
		Name: "wol", Doc: "Send the packet that wakes a machine.", Src: "modules/network.py wol",
		Do: wol,
	},
}
