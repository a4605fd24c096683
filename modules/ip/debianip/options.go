package debianip

import (
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/py/value"
)

// A kind says which values an option takes.
type kind int

const (
	anything kind = iota
	quad
	addr6
	mac
	integer
	decimal
	mask4
	mask6
	spaced  // a list, or words
	proto4  // one of protos4
	proto6  // one of protos6
	scope4  // global, link, host
	scope6  // and site
	tunnel  // gre, ipip, ...
	ternary // 0, 1, 2
	binary  // 0, 1
)

// An option is the name of an option of ifupdown and which values it takes in each
// family; none is -1.
type option struct {
	name   string
	v4, v6 kind
}

const none kind = -1

// known4and6 are the options, alphabetically. Salt: salt/modules/debian_ip.py
// IPV4_ATTR_MAP, IPV6_ATTR_MAP, WIRELESS_ATTR_MAP.
var known4and6 = [...]option{
	{"accept_ra", none, ternary},
	{"address", quad, addr6},
	{"addresses", anything, anything},
	{"autoconf", none, binary},
	{"bootfile", anything, none},
	{"broadcast", quad, addr6},
	{"client", anything, none},
	{"dad-attempts", none, integer},
	{"dad-interval", none, decimal},
	{"dhcp", none, binary},
	{"dns-nameservers", spaced, spaced},
	{"dns-search", spaced, spaced},
	{"dstaddr", quad, none},
	{"enable_ipv4", anything, anything},
	{"enable_ipv6", anything, anything},
	{"endpoint", quad, quad},
	{"gateway", quad, addr6},
	{"hostname", anything, none},
	{"hwaddr", mac, none},
	{"hwaddress", mac, mac},
	{"leasehours", integer, none},
	{"leasetime", integer, none},
	{"local", quad, quad},
	{"media", none, anything},
	{"metric", integer, none},
	{"mode", tunnel, tunnel},
	{"mtu", integer, integer},
	{"netmask", mask4, mask6},
	{"network", anything, none},
	{"options", anything, none},
	{"pointopoint", quad, none},
	{"preferred-lifetime", none, integer},
	{"privext", none, ternary},
	{"proto", proto4, proto6},
	{"provider", anything, none},
	{"scope", scope4, scope6},
	{"server", quad, none},
	{"slaves", anything, anything},
	{"test", anything, anything},
	{"ttl", integer, integer},
	{"unit", integer, none},
	{"vendor", anything, none},
	{"vlan-raw-device", anything, anything},
	{"wireless-essid", anything, anything},
	{"wireless-mode", anything, anything},
	{"wpa-ap-scan", ternary, ternary},
	{"wpa-conf", anything, anything},
	{"wpa-driver", anything, anything},
	{"wpa-group", anything, anything},
	{"wpa-key-mgmt", anything, anything},
	{"wpa-pairwise", anything, anything},
	{"wpa-proto", anything, anything},
	{"wpa-psk", anything, anything},
	{"wpa-roam", anything, anything},
	{"wpa-ssid", anything, anything},
}

func lookup(name string) (option, bool) {
	i, ok := slices.BinarySearchFunc(known4and6[:], name, func(o option, n string) int { return strings.Compare(o.name, n) })
	if !ok {
		return option{}, false
	}
	return known4and6[i], true
}

func known(name string) bool { _, ok := lookup(name); return ok }

// check returns the value of an option as it is written, and whether the option takes
// it in a family.
func check(name string, v value.Value, family string) (value.Value, bool) {
	o, ok := lookup(name)
	k := o.v4
	if family == "inet6" {
		k = o.v6
	}
	if !ok || k == none {
		return v, false
	}
	text := value.Str(v)
	switch k {
	case quad:
		return v, isAddr(v, 32)
	case addr6:
		return v, isAddr(v, 128)
	case mac:
		return v, isMAC(text)
	case integer:
		return whole(v, math.MinInt32, math.MaxInt32)
	case ternary:
		return whole(v, 0, 2)
	case binary:
		return whole(v, 0, 1)
	case mask6:
		return whole(v, 0, 128)
	case mask4:
		if n, ok := whole(v, 0, 32); ok {
			return n, true
		}
		f := strings.Split(text, ".")
		sorted := slices.IsSortedFunc(f, func(a, b string) int { return strings.Compare(b, a) })
		return v, len(f) == 4 && sorted && isAddr(v, 32)
	case decimal:
		f, err := value.ToFloat(v)
		return f, err == nil
	case spaced:
		if s, ok := v.(string); ok {
			l := value.Strings(strings.Fields(s)...)
			return l, l.Len() > 0
		}
		items, err := value.Items(v)
		return v, err == nil && len(items) > 0
	case anything, none:
		return v, true
	default:
		return text, slices.Contains(choices(k), text)
	}
}

// choices returns the words that an option takes.
func choices(k kind) []string {
	switch k { //nolint:exhaustive // the others take no words
	case proto4:
		return []string{"bootp", "dhcp", "static", "manual", "loopback", "ppp"}
	case proto6:
		return []string{"auto", "loopback", "static", "manual", "dhcp", "v4tunnel", "6to4"}
	case scope4:
		return []string{"global", "link", "host"}
	case scope6:
		return []string{"global", "site", "link", "host"}
	case tunnel:
		return []string{"gre", "GRE", "ipip", "IPIP", "802.3ad"}
	}
	return nil
}

// whole returns a value as a number between two others.
func whole(v value.Value, low, high int64) (value.Value, bool) {
	n, err := value.ToInt(v)
	if err != nil {
		return v, false
	}
	i, ok := value.AsInt(n)
	return n, ok && low <= i && i <= high
}

// isAddr reports whether a value is an address, with or without a prefix length, of
// a family with addresses of that many bits.
func isAddr(v value.Value, bits int) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	addr, length, has := strings.Cut(s, "/")
	a, err := netip.ParseAddr(addr)
	if err != nil || a.BitLen() != bits || a.Zone() != "" {
		return false
	}
	if !has {
		return true
	}
	n, err := strconv.Atoi(length)
	return err == nil && n >= 1 && n <= bits
}

var macPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([0-9a-f]{1,2}-){5}[0-9a-f]{1,2}$|^([0-9a-f]{1,2}:){5}[0-9a-f]{1,2}$|^([0-9a-f]{1,2}\.){5}[0-9a-f]{1,2}$`)
})

func isMAC(s string) bool { return macPattern().MatchString(s) }

// ethtoolWords are the options of ethtool(8): Salt's names and those of the file,
// alphabetically by the latter. Salt: salt/modules/debian_ip.py _ETHTOOL_CONFIG_OPTS.
var ethtoolWords = [...]struct{ salt, file string }{
	{"driver-message-level", "driver-message-level"},
	{"autoneg", "ethernet-autoneg"},
	{"ethernet-pause-autoneg", "ethernet-pause-autoneg"},
	{"ethernet-pause-rx", "ethernet-pause-rx"},
	{"ethernet-pause-tx", "ethernet-pause-tx"},
	{"ethernet-port", "ethernet-port"},
	{"wol", "ethernet-wol"},
	{"hardware-dma-ring-rx", "hardware-dma-ring-rx"},
	{"hardware-dma-ring-rx-jumbo", "hardware-dma-ring-rx-jumbo"},
	{"hardware-dma-ring-rx-mini", "hardware-dma-ring-rx-mini"},
	{"hardware-dma-ring-tx", "hardware-dma-ring-tx"},
	{"hardware-irq-coalesce-adaptive-rx", "hardware-irq-coalesce-adaptive-rx"},
	{"hardware-irq-coalesce-adaptive-tx", "hardware-irq-coalesce-adaptive-tx"},
	{"hardware-irq-coalesce-rx-frames", "hardware-irq-coalesce-rx-frames"},
	{"hardware-irq-coalesce-rx-usecs", "hardware-irq-coalesce-rx-usecs"},
	{"duplex", "link-duplex"},
	{"speed", "link-speed"},
	{"gro", "offload-gro"},
	{"gso", "offload-gso"},
	{"lro", "offload-lro"},
	{"rx", "offload-rx"},
	{"sg", "offload-sg"},
	{"tso", "offload-tso"},
	{"tx", "offload-tx"},
	{"ufo", "offload-ufo"},
}

func isEthtool(file string) bool {
	for _, w := range ethtoolWords {
		if w.file == file {
			return true
		}
	}
	return false
}

func ethtoolWord(salt string) string {
	for _, w := range ethtoolWords {
		if w.salt == salt {
			return w.file
		}
	}
	return salt
}
