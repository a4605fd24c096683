package network

import (
	"context"
	"net/netip"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/pyre"
	"brine/internal/py/value"
	"brine/modules/tool"
)

// A route is a line of a routing table.
type route struct{ family, destination, gateway, netmask, flags, iface string }

func (r route) value() *value.Map {
	return value.MapOf("addr_family", r.family, "destination", r.destination, "gateway", r.gateway, "netmask", r.netmask, "flags", r.flags, "interface", r.iface)
}

// table reads the routing table by netstat(8), else by ip(8).
func table(ctx context.Context, c *fun.Call, a *familyArg) ([]route, error) {
	if err := linux(c); err != nil {
		return nil, err
	}
	family := a.Family
	if family != "" && family != "inet" && family != "inet6" {
		return nil, fun.Errorf("Invalid address family %s", family)
	}
	var all []route
	for _, f := range []string{"inet", "inet6"} {
		if family != "" && f != family {
			continue
		}
		var argv []string
		read := ipRoute
		switch {
		case tool.Has(c.Env.Host, "netstat"):
			argv, read = []string{"netstat", "-A", f, "-rn"}, netstatRoute
		case f == "inet":
			argv = []string{"ip", "-4", "route", "show", "table", "main"}
		default:
			argv = []string{"ip", "-6", "route", "show", "table", "all"}
		}
		out, err := tool.LookMerged(ctx, c.Env.Host, argv...)
		if err != nil {
			return nil, err
		}
		for _, line := range out.Lines() {
			if r, ok := read(f, strings.Fields(line)); ok {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// netstatRoute reads a line of netstat -rn.
func netstatRoute(family string, f []string) (route, bool) {
	if len(f) == 0 || f[0] == "Kernel" || f[0] == "Destination" {
		return route{}, false
	}
	if family == "inet" {
		return route{family, f[0], at(f, 1), at(f, 2), at(f, 3), at(f, 7)}, len(f) >= 8
	}
	return route{family, f[0], at(f, 1), "", at(f, 2), f[len(f)-1]}, len(f) == 6 || len(f) == 7
}

// ipRoute reads a line of ip route, and returns what netstat would say.
func ipRoute(family string, f []string) (route, bool) {
	if len(f) == 0 {
		return route{}, false
	}
	after := func(key string) string {
		for i, w := range f[:len(f)-1] {
			if w == key {
				return f[i+1]
			}
		}
		return ""
	}
	r := route{family: family, destination: f[0], gateway: "::", flags: "U", iface: after("dev")}
	if family == "inet" {
		r.gateway = "0.0.0.0"
	}
	switch f[0] {
	case "unicast", "broadcast", "throw", "unreachable", "prohibit", "blackhole", "nat", "anycast", "multicast":
		return route{}, false
	case "default":
		r.destination = "::/0"
		if family == "inet" {
			r.destination, r.netmask = "0.0.0.0", "0.0.0.0"
		}
		if via := after("via"); via != "" {
			r.gateway, r.flags = via, "UG"
		}
	case "local":
		r.destination = at(f, 1) + "/128"
	default:
		if family == "inet" {
			p, err := parseNetwork(f[0])
			if err != nil {
				return route{}, false
			}
			r.destination, r.netmask = p.Masked().Addr().String(), netmask(p)
			if via := after("via"); via != "" {
				r.gateway, r.flags = via, "UG"
			}
		}
	}
	return r, true
}

func list(rs []route) *value.List {
	l := value.NewList()
	for _, r := range rs {
		l.Append(r.value())
	}
	return l
}

func routes(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	rs, err := table(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(list(rs))
}

// defaultRoute lists the routes to everywhere. Salt: salt/modules/network.py
// default_route. Difference: routes that refuse traffic, such as those of IPv6 that
// the kernel keeps for the loopback interface, lead nowhere and are left out.
func defaultRoute(ctx context.Context, c *fun.Call, a *familyArg) (fun.Result, error) {
	rs, err := table(ctx, c, a)
	if err != nil {
		return fun.Result{}, err
	}
	var found []route
	for _, r := range rs {
		switch r.destination {
		case "0.0.0.0", "::/0", "default":
			if !strings.Contains(r.flags, "!") {
				found = append(found, r)
			}
		}
	}
	return fun.Value(list(found))
}

// getRoute asks ip(8) for the way to an address.
func getRoute(ctx context.Context, c *fun.Call, a *ipHexArgs) (fun.Result, error) {
	if err := linux(c); err != nil {
		return fun.Result{}, err
	}
	ip := a.IP
	if _, err := netip.ParseAddr(ip); err != nil {
		if _, err := netip.ParsePrefix(ip); err != nil {
			return fun.Result{}, fun.Errorf("%s does not appear to be an IPv4 or IPv6 address", value.Repr(ip))
		}
	}
	out, err := tool.LookMerged(ctx, c.Env.Host, "ip", "route", "get", ip)
	if err != nil {
		return fun.Result{}, err
	}
	re, err := pyre.Compile(`(via\s+(?P<gateway>[\w\.:]+))?\s+dev\s+(?P<interface>[\w\.\:\-]+)\s+.*src\s+(?P<source>[\w\.:]+)`, 0)
	if err != nil {
		return fun.Result{}, err
	}
	first, _, _ := strings.Cut(out.Text, "\n")
	m, err := re.Search(first)
	if err != nil {
		return fun.Result{}, err
	}
	if out.Status != 0 || m == nil {
		return fun.Result{}, fun.Errorf("no route to %s: %s", ip, out.Text)
	}
	group := func(name string) value.Value {
		if s, ok := m.Group(re.Names()[name]); ok {
			return s
		}
		return nil
	}
	return fun.Value(value.MapOf("destination", ip, "gateway", group("gateway"), "interface", group("interface"), "source", group("source")))
}
