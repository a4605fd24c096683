package grains

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Interfaces returns the network interfaces as Salt's network.interfaces
// prints them: by name, each with up, hwaddr, inet (address, netmask,
// broadcast, label), inet6 (address, prefixlen, scope) and secondary.
func Interfaces(h host.Host) (*value.Map, error) {
	ifs, err := h.Interfaces()
	if err != nil {
		return nil, err
	}
	m := value.NewMap(len(ifs))
	for _, i := range ifs {
		m.Set(i.Name, interfaceData(i))
	}
	return m, nil
}

func interfaceData(i host.Interface) *value.Map {
	m := value.MapOf("up", i.Up)
	switch {
	case i.MAC != "":
		m.Set("hwaddr", i.MAC)
	case i.Loopback:
		m.Set("hwaddr", "00:00:00:00:00:00")
	}
	var inet, inet6, secondary []value.Value
	for n, a := range i.Addrs {
		var d host.AddrDetail
		if n < len(i.Details) {
			d = i.Details[n]
		}
		ip, ok := netip.AddrFromSlice(a.IP)
		if !ok {
			continue
		}
		ip = ip.Unmap()
		ones, _ := a.Mask.Size()
		if ip.Is6() {
			inet6 = append(inet6, value.MapOf("address", ip.String(), "prefixlen", strconv.Itoa(ones), "scope", scope(d, ip)))
			continue
		}
		var broadcast value.Value
		if d.Broadcast != nil {
			broadcast = d.Broadcast.String()
		}
		label := d.Label
		if label == "" {
			label = i.Name
		}
		if d.Secondary {
			secondary = append(secondary, value.MapOf("type", "inet", "address", ip.String(), "netmask", net.IP(a.Mask).String(), "broadcast", broadcast, "label", label))
			continue
		}
		inet = append(inet, value.MapOf("address", ip.String(), "netmask", net.IP(a.Mask).String(), "broadcast", broadcast, "label", label))
	}
	for _, l := range []struct {
		key   string
		items []value.Value
	}{{"inet", inet}, {"inet6", inet6}, {"secondary", secondary}} {
		if len(l.items) > 0 {
			m.Set(l.key, value.NewList(l.items...))
		}
	}
	return m
}

func scope(d host.AddrDetail, ip netip.Addr) string {
	switch {
	case d.Scope != "":
		return d.Scope
	case ip.IsLoopback():
		return "host"
	case ip.IsLinkLocalUnicast():
		return "link"
	}
	return "global"
}

// An IPFilter chooses addresses.
type IPFilter struct {
	V6       bool
	Loopback bool     // include loopback addresses
	Ifaces   []string // name patterns; nil is all
}

// IPs returns the addresses of the machine that f chooses, sorted by number.
func IPs(h host.Host, f IPFilter) ([]netip.Prefix, error) {
	ifs, err := h.Interfaces()
	if err != nil {
		return nil, err
	}
	var out []netip.Prefix
	for _, i := range ifs {
		if f.Ifaces != nil && !slices.ContainsFunc(f.Ifaces, func(p string) bool { return value.Fnmatch(p, i.Name) }) {
			continue
		}
		for _, a := range i.Addrs {
			ip, ok := netip.AddrFromSlice(a.IP)
			if !ok {
				continue
			}
			ip = ip.Unmap()
			if ip.Is6() != f.V6 || ip.IsLoopback() && !f.Loopback {
				continue
			}
			ones, _ := a.Mask.Size()
			p := netip.PrefixFrom(ip, ones)
			if !slices.ContainsFunc(out, func(o netip.Prefix) bool { return o.Addr() == ip }) {
				out = append(out, p)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Addr().Less(out[j].Addr()) })
	return out, nil
}

// addrList returns addresses as text.
func addrList(ps []netip.Prefix) *value.List {
	l := value.NewList()
	for _, p := range ps {
		l.Append(p.Addr().String())
	}
	return l
}

// addresses gives the addresses, of all and by interface.
func (c *collector) addresses() *value.Map {
	data, err := Interfaces(c.h)
	if err != nil {
		return nil
	}
	v4, _ := IPs(c.h, IPFilter{Loopback: true})
	v6, _ := IPs(c.h, IPFilter{V6: true, Loopback: true})
	m := value.MapOf("ipv4", addrList(v4), "ipv6", addrList(v6))
	all, only4, only6, hw := value.NewMap(data.Len()), value.NewMap(data.Len()), value.NewMap(data.Len()), value.NewMap(data.Len())
	for name, d := range data.All() {
		d := d.(*value.Map)
		l4, l6, second := addressesOf(d, "inet"), addressesOf(d, "inet6"), addressesOf(d, "secondary")
		all.Set(name, value.NewList(slices.Concat(l4, l6, second)...))
		only4.Set(name, value.NewList(slices.Concat(l4, second)...))
		only6.Set(name, value.NewList(l6...))
		if a, ok := d.Get("hwaddr"); ok {
			hw.Set(name, a)
		}
	}
	m.Set("ip_interfaces", all)
	m.Set("ip4_interfaces", only4)
	m.Set("ip6_interfaces", only6)
	m.Set("hwaddr_interfaces", hw)
	return m
}

func addressesOf(d *value.Map, key string) []value.Value {
	l := d.List(key)
	if l == nil {
		return nil
	}
	var out []value.Value
	for _, x := range l.Items {
		out = append(out, x.(*value.Map).At("address"))
	}
	return out
}

// localhost gives the name that the kernel has for the machine.
func (c *collector) localhost() *value.Map {
	name, err := c.h.Hostname()
	if err != nil {
		return nil
	}
	return value.MapOf("localhost", name)
}

// fqdn gives the full name and its parts. The name is looked for in the hosts
// file, then asked of the name servers; the kernel's name is the last resort.
func (c *collector) fqdn() *value.Map {
	name := c.fullName()
	short, domain, _ := strings.Cut(name, ".")
	return value.MapOf("fqdn", name, "host", short, "domain", domain)
}

func (c *collector) fullName() string {
	name, err := c.h.Hostname()
	if err != nil || name == "" {
		return "localhost.localdomain"
	}
	if full := c.fromHosts(name); full != "" {
		return full
	}
	ctx, cancel := lookupContext()
	defer cancel()
	if full, err := c.h.LookupCNAME(ctx, name); err == nil && full != "" {
		return full
	}
	return name
}

// fromHosts returns the first name on the line of the hosts file that has name.
func (c *collector) fromHosts(name string) string {
	text, _ := c.read("/etc/hosts")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) > 1 && slices.ContainsFunc(f[1:], func(n string) bool { return strings.EqualFold(n, name) }) {
			return f[1]
		}
	}
	return ""
}

// fqdnIPs gives the addresses that the full name has.
func (c *collector) fqdnIPs() *value.Map {
	m := value.MapOf("fqdn_ip4", value.NewList(), "fqdn_ip6", value.NewList())
	ctx, cancel := lookupContext()
	defer cancel()
	ips, err := c.h.LookupIP(ctx, c.str("fqdn"))
	if err != nil {
		return m
	}
	for _, key := range []string{"4", "6"} {
		own, _ := c.lookup("ipv" + key)
		if !value.Truth(own) {
			continue
		}
		seen := value.NewSet()
		for _, ip := range ips {
			a, ok := netip.AddrFromSlice(ip)
			if ok && a.Unmap().Is4() == (key == "4") {
				seen.Add(a.Unmap().String())
			}
		}
		m.Set("fqdn_ip"+key, value.NewList(seen.Items()...))
	}
	return m
}

// fqdns gives the names that the machine's addresses have.
func (c *collector) fqdns() *value.Map {
	if !c.enabled("enable_fqdns_grains", c.str("kernel") != "Darwin") {
		return value.MapOf("fqdns", value.NewList())
	}
	v4, _ := IPs(c.h, IPFilter{})
	v6, _ := IPs(c.h, IPFilter{V6: true})
	return value.MapOf("fqdns", reverse(c.h, slices.Concat(v4, v6)))
}

// reverse returns the names of addresses, sorted.
func reverse(h host.Host, addrs []netip.Prefix) *value.List {
	ctx, cancel := lookupContext()
	defer cancel()
	var mu sync.Mutex
	set := map[string]bool{}
	var wg sync.WaitGroup
	for _, a := range addrs {
		wg.Go(func() {
			names, err := h.LookupAddr(ctx, a.Addr().String())
			if err == nil && len(names) > 0 {
				mu.Lock()
				set[names[0]] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sortedStrings(set)
}

// FQDNs returns the names of the machine's addresses, loopback ones aside,
// sorted, as name servers have them.
func FQDNs(h host.Host) *value.List {
	v4, _ := IPs(h, IPFilter{})
	v6, _ := IPs(h, IPFilter{V6: true})
	return reverse(h, slices.Concat(v4, v6))
}

func sortedStrings(set map[string]bool) *value.List {
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	return value.Strings(names...)
}

// gateways gives the default routes that the kernel's tables have.
func (c *collector) gateways() *value.Map {
	v4, ok4 := c.read("/proc/net/route")
	v6, ok6 := c.read("/proc/net/ipv6_route")
	if !ok4 && !ok6 {
		return nil
	}
	gw4, gw6 := gateway4(v4), gateway6(v6)
	return value.MapOf("ip_gw", value.Truth(gw4) || value.Truth(gw6), "ip4_gw", gw4, "ip6_gw", gw6)
}

const (
	routeUp     = 0x1
	routeReject = 0x200
)

// gateway4 returns the address of the default gateway of the least metric,
// True where the default route has none, False where there is no default
// route.
func gateway4(table string) value.Value {
	best, found := int64(1<<62), value.Value(false)
	for line := range strings.Lines(table) {
		// Iface Destination Gateway Flags RefCnt Use Metric Mask ...
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		flags, err := strconv.ParseInt(f[3], 16, 64)
		metric, err2 := strconv.ParseInt(f[6], 10, 64)
		raw, err3 := strconv.ParseUint(f[2], 16, 32)
		if err != nil || err2 != nil || err3 != nil || flags&routeUp == 0 || flags&routeReject != 0 || metric >= best {
			continue
		}
		best, found = metric, true
		if raw != 0 {
			var b [4]byte
			binary.NativeEndian.PutUint32(b[:], uint32(raw)) // the file has the number as it lies in memory
			found = netip.AddrFrom4(b).String()
		}
	}
	return found
}

func gateway6(table string) value.Value {
	best, found := uint64(1<<63), value.Value(false)
	for line := range strings.Lines(table) {
		// destination prefixlen source prefixlen gateway metric refcnt use flags device
		f := strings.Fields(line)
		if len(f) < 10 || strings.Trim(f[0], "0") != "" || f[1] != "00" || f[9] == "lo" {
			continue
		}
		flags, err := strconv.ParseUint(f[8], 16, 64)
		metric, err2 := strconv.ParseUint(f[5], 16, 64)
		raw, err3 := hex.DecodeString(f[4])
		if err != nil || err2 != nil || err3 != nil || flags&routeUp == 0 || flags&routeReject != 0 || metric >= best {
			continue
		}
		best, found = metric, true
		if a, ok := netip.AddrFromSlice(raw); ok && !a.IsUnspecified() {
			found = a.String()
		}
	}
	return found
}

// dns gives the resolver's configuration.
func (c *collector) dns() *value.Map {
	text, ok := c.read("/run/systemd/resolve/resolv.conf")
	if !ok {
		if text, ok = c.read("/etc/resolv.conf"); !ok {
			return nil
		}
	}
	return value.MapOf("dns", parseResolv(text))
}

// parseResolv reads a resolv.conf.
//
// Salt: salt/utils/dns.py parse_resolv.
func parseResolv(text string) *value.Map {
	ns, ns4, ns6 := value.NewSet(), value.NewSet(), value.NewSet()
	sortlist, options := value.NewSet(), value.NewSet()
	domain, search := "", value.NewList()
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if i := slices.IndexFunc(f[1:], func(s string) bool { return s[0] == '#' || s[0] == ';' }); i >= 0 {
			f = f[:i+1]
		}
		if len(f) < 2 {
			continue
		}
		switch args := f[1:]; strings.ToLower(f[0]) {
		case "nameserver":
			ip, err := netip.ParseAddr(args[0])
			if err != nil {
				continue
			}
			ns.Add(ip.String())
			if ip.Is4() {
				ns4.Add(ip.String())
			} else {
				ns6.Add(ip.String())
			}
		case "domain":
			domain = args[0]
		case "search":
			search = value.Strings(args...)
		case "sortlist":
			for _, a := range args {
				if s, ok := sortNet(a); ok {
					sortlist.Add(s)
				}
			}
		case "options":
			options.Add(args[0])
		}
	}
	list := func(s *value.Set) *value.List { return value.NewList(s.Items()...) }
	return value.MapOf("nameservers", list(ns), "ip4_nameservers", list(ns4), "ip6_nameservers", list(ns6),
		"sortlist", list(sortlist), "domain", domain, "search", search, "options", list(options))
}

// sortNet returns an entry of sortlist as network/netmask; without a mask it
// is that of the address's class.
func sortNet(s string) (string, bool) {
	addr, mask, masked := strings.Cut(s, "/")
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return "", false
	}
	bits := ip.BitLen()
	switch {
	case masked:
		if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
			b := m.As4()
			bits, _ = net.IPMask(b[:]).Size()
		} else if bits, err = strconv.Atoi(mask); err != nil {
			return "", false
		}
	case ip.Is4():
		switch b := ip.As4()[0]; {
		case b < 128:
			bits = 8
		case b < 192:
			bits = 16
		case b < 224:
			bits = 24
		}
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return "", false
	}
	return p.Addr().String() + "/" + net.IP(net.CIDRMask(bits, ip.BitLen())).String(), true
}

// appendDomain gives the option of that name, where it is set.
func (c *collector) appendDomain() *value.Map {
	if v, ok := c.opts.Get("append_domain"); ok {
		return value.MapOf("append_domain", v)
	}
	return nil
}
