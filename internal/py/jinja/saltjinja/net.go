package saltjinja

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"strings"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
)

// netFilters returns Salt's filters on addresses and networks.
func netFilters() map[string]jinja.Func {
	return map[string]jinja.Func{
		"filter_by_networks": filterByNetworks,
		"gen_mac":            filterGenMAC,
		"ip_host":            filterIPHost,
		"ipaddr":             filterIPs("ipaddr", 0),
		"ipv4":               filterIPs("ipv4", 4),
		"ipv6":               filterIPs("ipv6", 6),
		"ipwrap":             filterIPWrap,
		"is_ip":              filterIsIP("is_ip_filter", 0),
		"is_ipv4":            filterIsIP("is_ipv4_filter", 4),
		"is_ipv6":            filterIsIP("is_ipv6_filter", 6),
		"mac_str_to_bytes":   filterMACBytes,
		"network_hosts":      filterNetworks("network_hosts", networkHosts),
		"network_size":       filterNetworks("network_size", networkSize),
	}
}

// ipEntry is an address, or an address with the length of its network.
type ipEntry struct {
	addr netip.Addr
	bits int // -1: an address alone
}

// parseAddr reads an address as Python's ipaddress does: no leading zeros, no
// IPv4 written as IPv6 in other than hexadecimal output.
func parseAddr(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil
}

// parseInterface reads address/length, address/netmask, or an address.
func parseInterface(s string) (ipEntry, bool) {
	host, mask, hasMask := strings.Cut(s, "/")
	a, ok := parseAddr(host)
	if !ok {
		return ipEntry{}, false
	}
	if !hasMask {
		return ipEntry{a, -1}, true
	}
	bits, ok := prefixBits(a, mask)
	return ipEntry{a, bits}, ok
}

func prefixBits(a netip.Addr, mask string) (int, bool) {
	if mask == "" {
		return 0, false
	}
	n, digits := 0, true
	for i := range len(mask) {
		if mask[i] < '0' || mask[i] > '9' || n > 1000 {
			digits = false
			break
		}
		n = n*10 + int(mask[i]-'0')
	}
	if digits {
		return n, n <= a.BitLen()
	}
	if !a.Is4() {
		return 0, false
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() {
		return 0, false
	}
	b := m.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	// A netmask is ones, then zeros; a hostmask is the other way round.
	for n := range 33 {
		net := uint32(uint64(0xffffffff) << (32 - n))
		if v == net || v == ^net && n > 0 && n < 32 {
			return n, true
		}
	}
	return 0, false
}

// addrText prints an address as Python does: an IPv4 address within IPv6 in
// hexadecimal.
func addrText(a netip.Addr) string {
	if !a.Is4In6() {
		return a.String()
	}
	b := a.As16()
	s := fmt.Sprintf("::ffff:%x:%x", uint16(b[12])<<8|uint16(b[13]), uint16(b[14])<<8|uint16(b[15]))
	if z := a.Zone(); z != "" {
		s += "%" + z
	}
	return s
}

func (e ipEntry) String() string {
	if e.bits < 0 {
		return addrText(e.addr)
	}
	return fmt.Sprintf("%s/%d", addrText(e.addr), e.bits)
}

// entryOf reads a value as Salt's filters do: text, or the number of an
// address.
func entryOf(v value.Value) (ipEntry, bool) {
	if s, ok := value.AsText(v); ok {
		return parseInterface(s)
	}
	if b, ok := v.(value.Bytes); ok {
		a, ok := netip.AddrFromSlice([]byte(b))
		return ipEntry{a, -1}, ok
	}
	if n, ok := value.AsBig(v); ok && n.Sign() >= 0 && n.BitLen() <= 128 {
		size := 16
		if n.BitLen() <= 32 {
			size = 4
		}
		a, ok := netip.AddrFromSlice(n.FillBytes(make([]byte, size)))
		return ipEntry{a, -1}, ok
	}
	return ipEntry{}, false
}

// ipCheck is Salt's _is_ipv: the entry as text where it is of the version (4,
// 6 or 0 for any) and has all the properties of options, else "".
func ipCheck(v value.Value, version int, options []string) string {
	e, ok := entryOf(v)
	if !ok || version == 4 && !e.addr.Is4() || version == 6 && e.addr.Is4() {
		return ""
	}
	for _, o := range options {
		var holds bool
		switch o {
		case "global", "public":
			holds = !inAny(e.addr, privateNets)
		case "private":
			holds = inAny(e.addr, privateNets)
		case "link-local", "linklocal", "ll", "link_local":
			holds = inAny(e.addr, "169.254.0.0/16 fe80::/10")
		case "loopback", "lo":
			holds = inAny(e.addr, "127.0.0.0/8 ::1/128")
		case "multicast":
			holds = inAny(e.addr, "224.0.0.0/4 ff00::/8")
		case "reserved":
			holds = inAny(e.addr, reservedNets)
		case "site-local", "sl", "site_local":
			holds = inAny(e.addr, "fec0::/10")
		case "unspecified":
			holds = inAny(e.addr, "0.0.0.0/32 ::/128")
		default:
			continue // what Salt does not know it passes over
		}
		if !holds {
			return ""
		}
	}
	return e.String()
}

// Networks of a kind as Python 3.10's ipaddress has them.
const (
	privateNets = "0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29 192.0.0.170/31 192.0.2.0/24 " +
		"192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 255.255.255.255/32 " +
		"::1/128 ::/128 ::ffff:0:0/96 100::/64 2001::/23 2001:2::/48 2001:db8::/32 2001:10::/28 fc00::/7 fe80::/10"
	reservedNets = "240.0.0.0/4 ::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/3 6000::/3 8000::/3 a000::/3 c000::/3 " +
		"e000::/4 f000::/5 f800::/6 fe00::/9"
)

func inAny(a netip.Addr, nets string) bool {
	a = a.WithZone("")
	for n := range strings.FieldsSeq(nets) {
		p := netip.MustParsePrefix(n)
		if p.Addr().Is4() != a.Is4() {
			continue
		}
		if a.Is4In6() { // netip takes it for IPv4
			if containsBits(p, a) {
				return true
			}
		} else if p.Contains(a) {
			return true
		}
	}
	return false
}

// containsBits compares the leading bits alone.
func containsBits(p netip.Prefix, a netip.Addr) bool {
	if p.Addr().BitLen() != a.BitLen() {
		return false
	}
	x, y := p.Addr().AsSlice(), a.AsSlice()
	for i := range p.Bits() {
		if (x[i/8]^y[i/8])>>(7-i%8)&1 != 0 {
			return false
		}
	}
	return true
}

// optionNames splits the options argument; none is nil.
func optionNames(v value.Value) ([]string, error) {
	v = pymethod.OrNil(v)
	if v == nil || !value.Truth(v) {
		return nil, jinja.NotStrict(v)
	}
	s, ok := value.AsText(v)
	if !ok {
		return nil, value.Raise("AttributeError", "'%s' object has no attribute 'split'", value.TypeName(v))
	}
	names := strings.Split(s, ",")
	for i := range names {
		names[i] = value.TrimSpace(names[i])
	}
	return names, nil
}

func filterIsIP(fname string, version int) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(fname, 0, "ip_addr", "options?")
		if err != nil {
			return nil, err
		}
		if err := jinja.NotStrict(a[0]); err != nil {
			return nil, err
		}
		options, err := optionNames(a[1])
		if err != nil {
			return nil, err
		}
		return ipCheck(a[0], version, options) != "", nil
	}
}

// entries returns what of v is an address or a network of the version; single
// says that v is one and no list, known that it is either.
func entries(v value.Value, version int, options []string) (found []string, single, known bool, err error) {
	switch v.(type) {
	case string, markupsafe.Markup, value.Bytes:
		if s := ipCheck(v, version, options); s != "" {
			found = []string{s}
		}
		return found, true, true, nil
	case *value.List, value.Tuple, value.Tupler, *jinja.Generator:
		items, err := value.Items(v)
		if err != nil {
			return nil, false, true, err
		}
		// Of a mixed list Salt gives IPv4 first.
		versions := []int{version}
		if version == 0 {
			versions = []int{4, 6}
		}
		for _, ver := range versions {
			for _, it := range items {
				if s := ipCheck(it, ver, options); s != "" {
					found = append(found, s)
				}
			}
		}
		return found, false, true, nil
	}
	return nil, false, false, nil // an undefined as well
}

func filterIPs(fname string, version int) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		a, err := c.Params(fname, 0, "value", "options?")
		if err != nil {
			return nil, err
		}
		options, err := optionNames(a[1])
		if err != nil {
			return nil, err
		}
		found, single, known, err := entries(a[0], version, options)
		switch {
		case err != nil || !known || single && len(found) == 0:
			return nil, err
		case single:
			return found[0], nil
		}
		return value.Strings(found...), nil
	}
}

// versioned are the arguments value, options, version.
func versioned(c *jinja.Call, fname string) (found []string, single bool, err error) {
	a, err := c.Params(fname, 0, "value", "options?", "version?")
	if err != nil {
		return nil, false, err
	}
	options, err := optionNames(a[1])
	if err != nil {
		return nil, false, err
	}
	version := 0
	if v := pymethod.OrNil(a[2]); v != nil {
		if version, err = pymethod.AsIndex(v); err != nil {
			return nil, false, err
		}
		if version != 4 && version != 6 && version != 0 {
			return nil, false, nil
		}
	}
	found, single, _, err = entries(a[0], version, options)
	return found, single, err
}

func filterIPHost(c *jinja.Call) (value.Value, error) {
	found, single, err := versioned(c, "ip_host")
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for i, s := range found {
		e, _ := parseInterface(s)
		if e.bits < 0 {
			e.bits = e.addr.BitLen()
		}
		found[i] = e.String()
	}
	if single {
		return found[0], nil
	}
	return value.Strings(found...), nil
}

// filterNetworks applies f to one network, or to each of a list.
func filterNetworks(fname string, f func(netip.Prefix) (value.Value, error)) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		found, single, err := versioned(c, fname)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		out := &value.List{}
		for _, s := range found {
			e, _ := parseInterface(s)
			if e.bits < 0 {
				e.bits = e.addr.BitLen()
			}
			p := netip.PrefixFrom(e.addr.WithZone(""), e.bits).Masked()
			v, err := f(p)
			if err != nil || single {
				return v, err
			}
			out.Append(v)
		}
		return out, nil
	}
}

func networkSize(p netip.Prefix) (value.Value, error) {
	return value.NormInt(new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))), nil
}

// networkHosts returns the addresses of a network but its first and, of IPv4,
// its last; all of a network of two or one.
func networkHosts(p netip.Prefix) (value.Value, error) {
	free := p.Addr().BitLen() - p.Bits()
	if free > 22 {
		return nil, value.CheckItems(-1)
	}
	size := 1 << free
	from, to := 1, size-1 // without the network's own address, and its broadcast
	if !p.Addr().Is4() {
		to = size
	}
	if free <= 1 {
		from, to = 0, size
	}
	l := &value.List{Items: make([]value.Value, 0, to-from)}
	a := p.Addr()
	for i := range to {
		if i >= from {
			l.Append(addrText(a))
		}
		a = a.Next()
	}
	return l, nil
}

// filterIPWrap puts IPv6 addresses in brackets; the length of a network stays
// behind them.
func filterIPWrap(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("ipwrap", 0, "value")
	if err != nil {
		return nil, err
	}
	wrap := func(v value.Value) value.Value {
		s := ipCheck(v, 6, nil)
		if s == "" {
			return v
		}
		if addr, bits, ok := strings.Cut(s, "/"); ok {
			return "[" + addr + "]/" + bits
		}
		return "[" + s + "]"
	}
	switch a[0].(type) {
	case *value.List, value.Tuple, *jinja.Generator:
		items, err := value.Items(a[0])
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i] = wrap(items[i])
		}
		return &value.List{Items: items}, nil
	}
	return wrap(a[0]), jinja.NotStrict(a[0])
}

// filterByNetworks keeps the addresses that lie in one of some networks; of a
// dict, those of each of its lists. Salt: salt/utils/network.py
// filter_by_networks.
func filterByNetworks(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("filter_by_networks", 0, "values", "networks")
	if err != nil {
		return nil, err
	}
	if a[1] == nil {
		return a[0], jinja.NotStrict(a[0])
	}
	nets, err := networks(a[1])
	if err != nil {
		return nil, err
	}
	m, ok := a[0].(value.Mapping)
	if !ok {
		if !jinja.IsSequence(a[0]) {
			if err := jinja.Defined(a[0]); err != nil {
				return nil, err
			}
			return nil, value.Raise("ValueError", "Do not know how to filter a %s", value.TypeName(a[0]))
		}
		return inNetworks(nets, a[0])
	}
	out := value.NewMap(m.Len())
	for _, k := range m.Keys() {
		v, _ := m.Get(k)
		l, err := inNetworks(nets, v)
		if err != nil {
			return nil, err
		}
		out.Set(k, l)
	}
	return out, nil
}

// networks reads a list of networks.
func networks(v value.Value) ([]netip.Prefix, error) {
	items, err := value.Items(v)
	if err != nil {
		return nil, err
	}
	var nets []netip.Prefix
	for _, it := range items {
		e, ok := entryOf(it)
		if ok && e.bits < 0 {
			e.bits = e.addr.BitLen()
		}
		if !ok {
			return nil, value.Raise("ValueError", "%s does not appear to be an IPv4 or IPv6 network", value.Repr(it))
		}
		p := netip.PrefixFrom(e.addr, e.bits)
		if p != p.Masked() {
			return nil, value.Raise("ValueError", "%s has host bits set", e)
		}
		nets = append(nets, p)
	}
	return nets, nil
}

// inNetworks returns the addresses of v that are in nets.
func inNetworks(nets []netip.Prefix, v value.Value) (*value.List, error) {
	ips, err := value.Items(v)
	if err != nil {
		return nil, err
	}
	out := &value.List{}
	for _, ip := range ips {
		e, ok := entryOf(ip)
		if !ok || e.bits >= 0 {
			return nil, value.Raise("ValueError", "%s does not appear to be an IPv4 or IPv6 address", value.Repr(ip))
		}
		for _, n := range nets { // once for each network, as in Salt
			if containsBits(n, e.addr.WithZone("")) {
				out.Append(ip)
			}
		}
	}
	return out, nil
}

func filterGenMAC(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("gen_mac", 0, "prefix?")
	if err != nil {
		return nil, err
	}
	prefix := "AC:DE:48"
	if pymethod.Given(a[0]) {
		if prefix, err = c.State.Str(a[0]); err != nil {
			return nil, err
		}
	}
	return fmt.Sprintf("%s:%02X:%02X:%02X", prefix, rand.IntN(256), rand.IntN(256), rand.IntN(256)), nil
}

func filterMACBytes(c *jinja.Call) (value.Value, error) {
	a, err := c.Params("mac_str_to_bytes", 0, "mac_str")
	if err != nil {
		return nil, err
	}
	s, err := wantText(a[0], "object of type '%s' has no len()")
	if err != nil {
		return nil, err
	}
	switch value.TextLen(s) {
	case 12:
	case 17:
		s = strings.ReplaceAll(s, value.TextSlice(s, 2, 3), "")
	default:
		return nil, value.Raise("ValueError", "Invalid MAC address")
	}
	b := make([]byte, 6)
	for i := range b {
		part := value.TextSlice(s, 2*i, 2*i+2)
		n, err := value.ParseInt(part, 16)
		if err != nil {
			return nil, err
		}
		v := n.(int64)
		if v < 0 {
			return nil, value.Raise("ValueError", "bytes must be in range(0, 256)")
		}
		b[i] = byte(v)
	}
	return value.Bytes(b), nil
}

// dnsCheck resolves a name; of its addresses it gives the first that takes
// a connection, else the first. Salt: salt/utils/network.py dns_check.
func (m machine) dnsCheck(name string) jinja.Func {
	return func(c *jinja.Call) (value.Value, error) {
		names := []string{"addr", "port?", "safe?", "ipv6?", "attempt_connect?"}
		if name == "connection_check" {
			names = names[:4]
		}
		a, err := c.Params(name, 0, names...)
		if err != nil {
			return nil, err
		}
		host, err := wantText(a[0], "getaddrinfo() argument 1 must be string or None, not %s")
		if err != nil {
			return nil, err
		}
		port, err := pymethod.IntArg(a[1], 80)
		if err != nil {
			return nil, err
		}
		safe, err := c.BoolArg(a[2], false)
		if err != nil {
			return nil, err
		}
		family := "ip"
		if v := pymethod.OrNil(a[3]); v != nil {
			if family = "ip4"; value.Truth(v) {
				family = "ip6"
			}
		}
		connect := true
		if len(a) > 4 {
			if connect, err = c.BoolArg(a[4], true); err != nil {
				return nil, err
			}
		}
		return m.check(c.State.Context(), host, family, port, safe, connect)
	}
}

// check returns the first address of host, or with connect one that accepts
// connections. Where there is none, safe has it raise SaltClientError.
func (m machine) check(ctx context.Context, host, family string, port int, safe, connect bool) (value.Value, error) {
	h, err := m.ops()
	if err != nil {
		return nil, err
	}
	addrs, err := h.LookupHost(ctx, family, host)
	if err != nil && family == "ip6" {
		addrs, err = h.LookupHost(ctx, "ip4", host)
	}
	if err != nil || len(addrs) == 0 {
		typ := "SaltSystemExit"
		if safe {
			typ = "SaltClientError"
		}
		return nil, value.Raise(typ, "DNS lookup or connection check of '%s' failed.", host)
	}
	if connect {
		return reachable(ctx, h, addrs, port), nil
	}
	return addrs[0], nil
}

func reachable(ctx context.Context, h HostOps, addrs []string, port int) string {
	for _, a := range addrs {
		if h.Connect(ctx, a, port) == nil {
			return a
		}
	}
	return addrs[0]
}
