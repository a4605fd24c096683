package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// sendTimeout bounds one attempt to send.
const sendTimeout = 10 * time.Second

// A Guard decides which addresses may be connected to. It looks at the address of each
// connection when it is made, so that neither a name that resolves to another address
// later nor a redirect leads into a private network.
type Guard struct {
	// Private are the networks that are permitted beside public addresses.
	Private []netip.Prefix
	// Clear says that the connection is not encrypted, which is for permitted private
	// networks alone.
	Clear bool
	// Roots are who may have signed certificates; nil: who the machine trusts.
	Roots *x509.CertPool
}

// An AddressError says that an address is not permitted.
type AddressError struct {
	Addr  netip.Addr
	Clear bool
}

// Error says what to do.
func (e *AddressError) Error() string {
	if e.Clear {
		return fmt.Sprintf("%s would be sent secrets without encryption: use https, or permit the address with allow_private", e.Addr)
	}
	return fmt.Sprintf("%s is an address of this machine, of a private network or of another special kind: allow_private permits it", e.Addr)
}

// special are the networks that are not public, beside those that netip.Addr knows.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

// embedding are the networks of IPv6 whose addresses lead to one of IPv4, by the first
// of its bytes.
var embedding = map[netip.Prefix]int{netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// isPublic reports whether an address is one of the public Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || contain(special, a) {
		return false
	}
	for p, at := range embedding {
		if p.Contains(a) {
			b := a.As16()
			return isPublic(netip.AddrFrom4([4]byte(b[at : at+4])))
		}
	}
	return true
}

func contain(all []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Check returns an *AddressError for an address that is not permitted.
func (g *Guard) Check(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	switch {
	case contain(g.Private, a):
		return nil
	case !isPublic(a):
		return &AddressError{Addr: a}
	case g.Clear:
		return &AddressError{Addr: a, Clear: true}
	}
	return nil
}

// Dial connects to an address that is permitted.
func (g *Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: sendTimeout, ControlContext: func(_ context.Context, _, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil {
			return err
		}
		return g.Check(at.Addr())
	}}
	return d.DialContext(ctx, network, address)
}

// errRedirect is what a request ends with that is sent elsewhere.
var errRedirect = errors.New("it redirects to another address, which is not followed: configure that one")

// Client returns a client for permitted addresses. It uses no proxy and follows no
// redirect, because secrets would go along.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Timeout: sendTimeout,
		Transport: &http.Transport{
			DialContext: g.Dial, DisableKeepAlives: true, TLSHandshakeTimeout: sendTimeout, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{RootCAs: g.Roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}
