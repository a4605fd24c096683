package network

import (
	"context"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/py/value"
)

// parseAddr reads an address; the error is Python's.
func parseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" && a.Is4() {
		return netip.Addr{}, value.Raise("ValueError", "%s does not appear to be an IPv4 or IPv6 address", value.Repr(s))
	}
	return a, nil
}

// parseNetwork reads address/bits or address/netmask; a bare address is a
// network of its own. Host bits may be set.
func parseNetwork(s string) (netip.Prefix, error) {
	fault := value.Raise("ValueError", "%s does not appear to be an IPv4 or IPv6 network", value.Repr(s))
	addr, mask, masked := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return netip.Prefix{}, fault
	}
	bits := a.BitLen()
	if masked {
		if n, err := strconv.ParseUint(mask, 10, 8); err == nil {
			bits = int(n)
		} else if bits, err = maskBits(mask); err != nil || !a.Is4() {
			return netip.Prefix{}, fault
		}
	}
	if bits > a.BitLen() {
		return netip.Prefix{}, fault
	}
	return netip.PrefixFrom(a, bits), nil
}

// maskBits returns the prefix length of a netmask (255.255.255.0) or a host
// mask (0.0.0.255).
func maskBits(s string) (int, error) {
	m, err := netip.ParseAddr(s)
	if err != nil || !m.Is4() {
		return 0, fmt.Errorf("no netmask: %q", s)
	}
	b := m.As4()
	if ones, size := net.IPMask(b[:]).Size(); size > 0 {
		return ones, nil
	}
	for i := range b {
		b[i] = ^b[i]
	}
	if ones, size := net.IPMask(b[:]).Size(); size > 0 {
		return ones, nil
	}
	return 0, fmt.Errorf("no netmask: %q", s)
}

// strictNetwork reads a network without host bits.
func strictNetwork(s string) (netip.Prefix, bool) {
	p, err := parseNetwork(s)
	return p, err == nil && p.Masked() == p
}

func netmask(n netip.Prefix) string {
	m, _ := netip.AddrFromSlice(net.CIDRMask(n.Bits(), n.Addr().BitLen()))
	return m.String()
}

// size returns the number of addresses of a network.
func size(n netip.Prefix) value.Value {
	return value.NormInt(new(big.Int).Lsh(big.NewInt(1), uint(n.Addr().BitLen()-n.Bits())))
}

// last returns the last address of a network, for IPv4 the broadcast address.
func last(n netip.Prefix) netip.Addr {
	b := n.Masked().Addr().AsSlice()
	for i := n.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

type calcNetArgs struct {
	_       fun.Arguments
	IPAddr  string          `arg:"ip_addr,required" doc:"the address, with or without a prefix length"`
	Netmask fun.Opt[string] `arg:"netmask" doc:"netmask or prefix length"`
}

func calcNet(_ context.Context, c *fun.Call, a *calcNetArgs) (fun.Result, error) {
	s := a.IPAddr
	if a.Netmask.Given {
		s += "/" + a.Netmask.V
	}
	p, err := parseNetwork(s)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(p.Masked().String())
}

func convertCIDR(_ context.Context, c *fun.Call, a *cidrArg) (fun.Result, error) {
	p, err := parseNetwork(a.Cidr)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(value.MapOf("network", p.Masked().Addr().String(), "netmask", netmask(p), "broadcast", last(p).String()))
}

func inSubnet(_ context.Context, c *fun.Call, a *cidrArg) (fun.Result, error) {
	n, ok := strictNetwork(a.Cidr)
	if !ok {
		return fun.Value(false)
	}
	found, err := grains.IPs(c.Env.Host, grains.IPFilter{V6: n.Addr().Is6()})
	for _, p := range found {
		if n.Contains(p.Addr()) {
			return fun.Value(true)
		}
	}
	return fun.Result{Value: false}, err
}

type ipInSubnetArgs struct {
	addressArg
	cidrArg
}

func ipInSubnet(_ context.Context, c *fun.Call, args *ipInSubnetArgs) (fun.Result, error) {
	n, ok := strictNetwork(args.Cidr)
	if !ok {
		return fun.Value(false)
	}
	a, err := parseAddr(args.IPAddr)
	return fun.Result{Value: err == nil && n.Contains(a)}, err
}

func isLoopback(_ context.Context, c *fun.Call, args *addressArg) (fun.Result, error) {
	a, err := parseAddr(args.IPAddr)
	return fun.Result{Value: err == nil && a.IsLoopback()}, err
}

func isPrivate(_ context.Context, c *fun.Call, args *addressArg) (fun.Result, error) {
	a, err := parseAddr(args.IPAddr)
	return fun.Result{Value: err == nil && private(a)}, err
}

// private reports whether an address is of a network that the Internet does
// not route, as Python's ipaddress has them.
func private(a netip.Addr) bool {
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/29", "192.0.0.170/31",
		"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
		"::1/128", "::/128", "::ffff:0:0/96", "100::/64", "2001::/23", "2001:2::/48", "2001:db8::/32", "2001:10::/28", "fc00::/7", "fe80::/10",
	} {
		if n := netip.MustParsePrefix(s); n.Addr().Is4() == a.Is4() && n.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}

func reverseIP(_ context.Context, c *fun.Call, args *addressArg) (fun.Result, error) {
	a, err := parseAddr(args.IPAddr)
	if err != nil {
		return fun.Result{}, err
	}
	var parts []string
	if a.Is4() {
		b := a.As4()
		for i := len(b) - 1; i >= 0; i-- {
			parts = append(parts, strconv.Itoa(int(b[i])))
		}
		return fun.Value(strings.Join(parts, ".") + ".in-addr.arpa")
	}
	b := a.As16()
	for i := len(b) - 1; i >= 0; i-- {
		parts = append(parts, fmt.Sprintf("%x.%x", b[i]&15, b[i]>>4))
	}
	return fun.Value(strings.Join(parts, ".") + ".ip6.arpa")
}
