// Package network is the part of Salt's execution module "network" that tells
// of interfaces, addresses and networks, and tries connections.
package network

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"brine/internal/fun"
	"brine/internal/grains"
	"brine/internal/value"
)

// Module returns the rows of the execution module "network".
func Module() fun.Module {
	src := func(name string) string { return "modules/network.py " + name }
	iface := []fun.Arg{{Name: "iface", Type: fun.Str, Required: true, Doc: "name of the interface"}}
	arg := func(name, doc string) fun.Arg { return fun.Arg{Name: name, Type: fun.Str, Required: true, Doc: doc} }
	addrs := []fun.Arg{
		{Name: "interface", Type: fun.List, Doc: "patterns of interface names, a list or separated by commas; None is all"},
		{Name: "include_loopback", Type: fun.Bool, Default: false, Doc: "addresses of the machine itself too"},
		{Name: "cidr", Type: fun.Str, Doc: "only addresses of this network"},
	}
	addrs4 := append(slices.Clone(addrs), fun.Arg{Name: "type", Type: fun.Str, Doc: "public or private; None is both"})
	nets := append(slices.Clone(addrs[:2]), fun.Arg{Name: "verbose", Type: fun.Bool, Default: false, Doc: "return details by network"})
	m := fun.Module{
		Name: "network", Kind: fun.Exec, Doc: "Interfaces, addresses and networks.",
		Specs: []fun.Spec{
			{
				Name: "calc_net", Doc: "Return the network of an address.", Src: src("calc_net"), Fn: calcNet,
				Args: []fun.Arg{arg("ip_addr", "the address, with or without a prefix length"), {Name: "netmask", Type: fun.Str, Doc: "netmask or prefix length"}},
			},
			{Name: "convert_cidr", Doc: "Return address, netmask and broadcast address of a network.", Src: src("convert_cidr"), Args: []fun.Arg{arg("cidr", "the network")}, Fn: convertCIDR},
			{Name: "fqdns", Doc: "Return the names that name servers have for the machine's addresses.", Src: src("fqdns"), Fn: fqdns},
			{Name: "get_fqdn", Doc: "Return the full name of the machine.", Src: src("get_fqdn"), Fn: getFQDN},
			{Name: "get_hostname", Doc: "Return the name of the machine.", Src: src("get_hostname"), Fn: getHostname},
			{Name: "hw_addr", Doc: "Return the hardware address of an interface.", Src: src("hw_addr"), Args: iface, Fn: hwAddr},
			{Name: "hwaddr", Doc: "Return the hardware address of an interface.", Src: src("hwaddr"), Args: iface, Fn: hwAddr},
			{Name: "in_subnet", Doc: "Return whether the machine has an address in a network.", Src: src("in_subnet"), Args: []fun.Arg{arg("cidr", "the network")}, Fn: inSubnet},
			{Name: "interface", Doc: "Return the IPv4 addresses of an interface.", Src: src("interface"), Args: iface, Fn: interfaceFn},
			{Name: "interface_ip", Doc: "Return the first IPv4 address of an interface.", Src: src("interface_ip"), Args: iface, Fn: interfaceIP},
			{Name: "interfaces", Doc: "Return what is known of all interfaces.", Src: src("interfaces"), Fn: interfaces},
			{Name: "ip_addrs", Doc: "Return the machine's IPv4 addresses.", Src: src("ip_addrs"), Args: addrs4, Fn: ipAddrs},
			{Name: "ip_addrs6", Doc: "Return the machine's IPv6 addresses.", Src: src("ip_addrs6"), Args: addrs, Fn: ipAddrs6},
			{
				Name: "ip_in_subnet", Doc: "Return whether an address lies in a network.", Src: src("ip_in_subnet"), Fn: ipInSubnet,
				Args: []fun.Arg{arg("ip_addr", "the address"), arg("cidr", "the network")},
			},
			{Name: "ip_networks", Doc: "Return the machine's IPv4 networks.", Src: src("ip_networks"), Args: nets, Fn: ipNetworks},
			{Name: "ip_networks6", Doc: "Return the machine's IPv6 networks.", Src: src("ip_networks6"), Args: nets, Fn: ipNetworks6},
			{Name: "ipaddrs", Doc: "Return the machine's IPv4 addresses.", Src: src("ipaddrs"), Args: addrs4, Fn: ipAddrs},
			{Name: "ipaddrs6", Doc: "Return the machine's IPv6 addresses.", Src: src("ipaddrs6"), Args: addrs, Fn: ipAddrs6},
			{Name: "is_loopback", Doc: "Return whether an address is one of the machine itself.", Src: src("is_loopback"), Args: []fun.Arg{arg("ip_addr", "the address")}, Fn: isLoopback},
			{Name: "is_private", Doc: "Return whether an address is not routed on the Internet.", Src: src("is_private"), Args: []fun.Arg{arg("ip_addr", "the address")}, Fn: isPrivate},
			{Name: "reverse_ip", Doc: "Return the name under which name servers have an address.", Src: src("reverse_ip"), Args: []fun.Arg{arg("ip_addr", "the address")}, Fn: reverseIP},
			{
				Name: "subnets", Doc: "Return the machine's IPv4 networks.", Src: src("subnets"), Fn: subnets,
				Args: []fun.Arg{{Name: "interfaces", Type: fun.Any, Doc: "a name or a list of names of interfaces; None is all"}},
			},
			{Name: "subnets6", Doc: "Return the machine's IPv6 networks.", Src: src("subnets6"), Fn: subnets6},
		},
	}
	m.Specs = append(m.Specs, probeSpecs()...)
	m.SortSpecs()
	return m
}

func interfaces(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, err := grains.Interfaces(c.Env.Host)
	return fun.Result{Value: m}, err
}

// oneInterface returns an interface, or the text by which Salt answers that
// there is none of that name.
func oneInterface(c *fun.Call) (m *value.Map, text string, err error) {
	all, err := grains.Interfaces(c.Env.Host)
	if err != nil {
		return nil, "", err
	}
	name := c.Str("iface")
	if m = all.Map(name); m != nil {
		return m, "", nil
	}
	names := make([]string, 0, all.Len())
	for _, k := range all.Keys() {
		names = append(names, value.Str(k))
	}
	return nil, fmt.Sprintf(`Interface "%s" not in available interfaces: "%s"`, name, strings.Join(names, `", "`)), nil
}

func hwAddr(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, text, err := oneInterface(c)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	return fun.Value(m.Str("hwaddr"))
}

func interfaceFn(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, text, err := oneInterface(c)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	if l, ok := m.Get("inet"); ok {
		return fun.Value(l)
	}
	return fun.Value("")
}

func interfaceIP(_ context.Context, c *fun.Call) (fun.Result, error) {
	m, text, err := oneInterface(c)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	if l := m.List("inet"); l.Len() > 0 {
		return fun.Value(l.Items[0].(*value.Map).At("address"))
	}
	return fun.Value("")
}

// patterns returns the names in a list argument, which may also be separated
// by commas; nil is all.
func patterns(c *fun.Call, name string) []string {
	if c.IsNone(name) {
		return nil
	}
	ps := []string{}
	for _, s := range c.Strings(name) {
		for _, p := range strings.Split(s, ",") {
			ps = append(ps, strings.TrimSpace(p))
		}
	}
	return ps
}

func addrs(c *fun.Call, v6 bool) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, grains.IPFilter{V6: v6, Loopback: c.Bool("include_loopback"), Ifaces: patterns(c, "interface")})
	if err != nil {
		return fun.Result{}, err
	}
	keep := func(netip.Addr) bool { return true }
	if cidr := c.Str("cidr"); cidr != "" {
		n, ok := strictNetwork(cidr)
		keep = func(a netip.Addr) bool { return ok && n.Contains(a) }
	} else if c.Args.Has("type") {
		switch c.Str("type") {
		case "public":
			keep = func(a netip.Addr) bool { return !private(a) }
		case "private":
			keep = private
		}
	}
	l := value.NewList()
	for _, p := range found {
		if keep(p.Addr()) {
			l.Append(p.Addr().String())
		}
	}
	return fun.Value(l)
}

func ipAddrs(_ context.Context, c *fun.Call) (fun.Result, error)  { return addrs(c, false) }
func ipAddrs6(_ context.Context, c *fun.Call) (fun.Result, error) { return addrs(c, true) }

// sortedNetworks returns the networks of addresses, each once, sorted.
func sortedNetworks(ps []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range ps {
		if n := p.Masked(); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int {
		if d := a.Addr().Compare(b.Addr()); d != 0 {
			return d
		}
		return a.Bits() - b.Bits()
	})
	return out
}

func networks(c *fun.Call, v6 bool) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, grains.IPFilter{V6: v6, Loopback: c.Bool("include_loopback"), Ifaces: patterns(c, "interface")})
	if err != nil {
		return fun.Result{}, err
	}
	ns := sortedNetworks(found)
	if !c.Bool("verbose") {
		return fun.Value(texts(ns))
	}
	m := value.NewMap(len(ns))
	for _, n := range ns {
		m.Set(n.String(), value.MapOf("address", n.Addr().String(), "netmask", netmask(n), "num_addresses", size(n), "prefixlen", int64(n.Bits())))
	}
	return fun.Value(m)
}

func ipNetworks(_ context.Context, c *fun.Call) (fun.Result, error)  { return networks(c, false) }
func ipNetworks6(_ context.Context, c *fun.Call) (fun.Result, error) { return networks(c, true) }

func texts(ns []netip.Prefix) *value.List {
	l := value.NewList()
	for _, n := range ns {
		l.Append(n.String())
	}
	return l
}

func subnets(_ context.Context, c *fun.Call) (fun.Result, error) {
	var names []string
	if !c.IsNone("interfaces") {
		names = c.Strings("interfaces")
	}
	return subnetsOf(c, grains.IPFilter{Ifaces: names})
}

func subnets6(_ context.Context, c *fun.Call) (fun.Result, error) {
	return subnetsOf(c, grains.IPFilter{V6: true})
}

func subnetsOf(c *fun.Call, f grains.IPFilter) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, f)
	return fun.Result{Value: texts(sortedNetworks(found))}, err
}

func fqdns(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(value.MapOf("fqdns", grains.FQDNs(c.Env.Host)))
}

func getFQDN(_ context.Context, c *fun.Call) (fun.Result, error) {
	v, _ := c.Env.Grains.Get("fqdn")
	return fun.Value(v)
}

func getHostname(_ context.Context, c *fun.Call) (fun.Result, error) {
	name, err := c.Env.Host.Hostname()
	return fun.Result{Value: name}, err
}
