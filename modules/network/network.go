// Package network is Salt's execution module "network": interfaces, addresses,
// routes, sockets, connections and the name of the machine.
package network

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Module returns the execution module "network".
func Module() fun.Module {
	return fun.Module{Name: "network", Kind: fun.Exec, Doc: "Interfaces, addresses, routes and connections.", Specs: specs}
}

// Interfaces returns all interfaces with their addresses, as network.interfaces does.
func Interfaces(h host.Host) (*value.Map, error) { return grains.Interfaces(h) }

func interfaces(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	m, err := Interfaces(c.Env.Host)
	return fun.Result{Value: m}, err
}

// oneInterface returns an interface, or the text by which Salt answers that
// there is none of that name.
func oneInterface(c *fun.Call, a *ifaceArg) (m *value.Map, text string, err error) {
	all, err := grains.Interfaces(c.Env.Host)
	if err != nil {
		return nil, "", err
	}
	name := a.Iface
	if m = all.Map(name); m != nil {
		return m, "", nil
	}
	names := make([]string, 0, all.Len())
	for _, k := range all.Keys() {
		names = append(names, value.Str(k))
	}
	return nil, fmt.Sprintf(`Interface "%s" not in available interfaces: "%s"`, name, strings.Join(names, `", "`)), nil
}

func hwAddr(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	m, text, err := oneInterface(c, a)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	return fun.Value(m.Str("hwaddr"))
}

func interfaceFn(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	m, text, err := oneInterface(c, a)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	if l, ok := m.Get("inet"); ok {
		return fun.Value(l)
	}
	return fun.Value("")
}

func interfaceIP(_ context.Context, c *fun.Call, a *ifaceArg) (fun.Result, error) {
	m, text, err := oneInterface(c, a)
	if m == nil {
		return fun.Result{Value: text}, err
	}
	if l := m.List("inet"); l.Len() > 0 {
		return fun.Value(l.Items[0].(*value.Map).At("address"))
	}
	return fun.Value("")
}

// patterns returns the patterns of interface names that are given; nil is all.
func patterns(given fun.Opt[[]string]) []string {
	if !given.Given {
		return nil
	}
	return given.V
}

func addrs(c *fun.Call, a *addrArgs, typ string, v6 bool) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, grains.IPFilter{V6: v6, Loopback: a.IncludeLoopback, Ifaces: patterns(a.Interface)})
	if err != nil {
		return fun.Result{}, err
	}
	keep := func(netip.Addr) bool { return true }
	if cidr := a.Cidr; cidr != "" {
		n, ok := strictNetwork(cidr)
		keep = func(a netip.Addr) bool { return ok && n.Contains(a) }
	} else {
		switch typ {
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

type ipAddrsArgs struct {
	addrArgs
	Type string `arg:"type" oneof:"public|private" doc:"None is both"`
}

func ipAddrs(_ context.Context, c *fun.Call, a *ipAddrsArgs) (fun.Result, error) {
	return addrs(c, &a.addrArgs, a.Type, false)
}

func ipAddrs6(_ context.Context, c *fun.Call, a *addrArgs) (fun.Result, error) {
	return addrs(c, a, "", true)
}

// sortedNetworks returns the networks of addresses, each once, sorted.
func sortedNetworks(ps []netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range ps {
		if n := p.Masked(); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if d := out[i].Addr().Compare(out[j].Addr()); d != 0 {
			return d < 0
		}
		return out[i].Bits() < out[j].Bits()
	})
	return out
}

func networks(c *fun.Call, a *netArgs, v6 bool) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, grains.IPFilter{V6: v6, Loopback: a.IncludeLoopback, Ifaces: patterns(a.Interface)})
	if err != nil {
		return fun.Result{}, err
	}
	ns := sortedNetworks(found)
	if !a.Verbose {
		return fun.Value(texts(ns))
	}
	m := value.NewMap(len(ns))
	for _, n := range ns {
		m.Set(n.String(), value.MapOf("address", n.Addr().String(), "netmask", netmask(n), "num_addresses", size(n), "prefixlen", int64(n.Bits())))
	}
	return fun.Value(m)
}

func ipNetworks(_ context.Context, c *fun.Call, a *netArgs) (fun.Result, error) {
	return networks(c, a, false)
}

func ipNetworks6(_ context.Context, c *fun.Call, a *netArgs) (fun.Result, error) {
	return networks(c, a, true)
}

func texts(ns []netip.Prefix) *value.List {
	l := value.NewList()
	for _, n := range ns {
		l.Append(n.String())
	}
	return l
}

type subnetsArgs struct {
	_          fun.Arguments
	Interfaces fun.Opt[[]string] `arg:"interfaces" doc:"names of interfaces; None is all"`
}

func subnets(_ context.Context, c *fun.Call, a *subnetsArgs) (fun.Result, error) {
	var names []string
	if a.Interfaces.Given {
		names = a.Interfaces.V
	}
	return subnetsOf(c, grains.IPFilter{Ifaces: names})
}

func subnets6(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return subnetsOf(c, grains.IPFilter{V6: true})
}

func subnetsOf(c *fun.Call, f grains.IPFilter) (fun.Result, error) {
	found, err := grains.IPs(c.Env.Host, f)
	return fun.Result{Value: texts(sortedNetworks(found))}, err
}

func fqdns(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(value.MapOf("fqdns", grains.FQDNs(c.Env.Host)))
}

func getFQDN(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	v, _ := c.Env.Grains.Get("fqdn")
	return fun.Value(v)
}

func getHostname(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	name, err := c.Env.Host.Hostname()
	return fun.Result{Value: name}, err
}
