package rhip

import (
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// keys are the settings of an interface and what they are called in its file, in the
// order of the file. The file is read by a shell.
var keys = [...]struct{ name, key string }{
	{"name", "DEVICE"},
	{"nickname", "NAME"},
	{"hwaddr", "HWADDR"},
	{"macaddr", "MACADDR"},
	{"uuid", "UUID"},
	{"userctl", "USERCTL"},
	{"master", "MASTER"},
	{"slave", "SLAVE"},
	{"vlan", "VLAN"},
	{"reorder_hdr", "REORDER_HDR"},
	{"vlan_id", "VID"},
	{"phys_dev", "PHYSDEV"},
	{"devtype", "TYPE"},
	{"devicetype", "DEVICETYPE"},
	{"team_config", "TEAM_CONFIG"},
	{"team_port_config", "TEAM_PORT_CONFIG"},
	{"team_master", "TEAM_MASTER"},
	{"proto", "BOOTPROTO"},
	{"onboot", "ONBOOT"},
	{"onparent", "ONPARENT"},
	{"ipv4_failure_fatal", "IPV4_FAILURE_FATAL"},
	{"ipaddr", "IPADDR"},
	{"ipaddr_start", "IPADDR_START"},
	{"ipaddr_end", "IPADDR_END"},
	{"clonenum_start", "CLONENUM_START"},
	{"netmask", "NETMASK"},
	{"prefix", "PREFIX"},
	{"ipaddrs", ""},
	{"gateway", "GATEWAY"},
	{"arpcheck", "ARPCHECK"},
	{"enable_ipv6", "IPV6INIT"},
	{"ipv6_autoconf", "IPV6_AUTOCONF"},
	{"dhcpv6c", "DHCPV6C"},
	{"ipv6addr", "IPV6ADDR"},
	{"ipv6gateway", "IPV6_DEFAULTGW"},
	{"ipv6addrs", "IPV6ADDR_SECONDARIES"},
	{"ipv6_peerdns", "IPV6_PEERDNS"},
	{"ipv6_defroute", "IPV6_DEFROUTE"},
	{"ipv6_peerroutes", "IPV6_PEERROUTES"},
	{"srcaddr", "SRCADDR"},
	{"peerdns", "PEERDNS"},
	{"peerroutes", "PEERROUTES"},
	{"peerntp", "PEERNTP"},
	{"defroute", "DEFROUTE"},
	{"bridge", "BRIDGE"},
	{"stp", "STP"},
	{"delay", "DELAY"},
	{"mtu", "MTU"},
	{"zone", "ZONE"},
	{"my_inner_ipaddr", "MY_INNER_IPADDR"},
	{"my_outer_ipaddr", "MY_OUTER_IPADDR"},
	{"bonding", "BONDING_OPTS"},
	{"ethtool", "ETHTOOL_OPTS"},
	{"domain", "DOMAIN"},
	{"nm_controlled", "NM_CONTROLLED"},
}

// render returns the file of the interface. Salt: salt/templates/rh_ip/rh8_eth.jinja.
func (a *adapter) render() (string, error) {
	a.out.Set("ipv6addrs", strings.Join(a.given("ipv6addrs"), " "))
	var b strings.Builder
	for _, k := range keys {
		v := a.out.At(k.name)
		switch {
		case k.name == "ipaddrs":
			for i, cidr := range a.given("ipaddrs") {
				addr, prefix, _ := strings.Cut(strings.ReplaceAll(cidr, " ", ""), "/")
				n := strconv.Itoa(i + 1)
				b.WriteString("IPADDR" + n + `="` + addr + "\"\nPREFIX" + n + `="` + prefix + "\"\n")
			}
		case !value.Truth(v) && (k.name != "delay" || !value.Equal(v, int64(0))) || a.hides(k.key):
		default:
			line, err := assignment(k.key, value.Str(v))
			if err != nil {
				return "", bad(a.name, k.name, err.Error())
			}
			b.WriteString(line)
		}
	}
	dns := a.out.List("dns")
	for i := range dns.Len() {
		line, err := assignment("DNS"+strconv.Itoa(i+1), value.Str(dns.Items[i]))
		if err != nil {
			return "", bad(a.name, "dns", err.Error())
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// hides reports whether a key is not written because of another one: those of IPv6
// where it is off, those of VLANs for what is none.
func (a *adapter) hides(key string) bool {
	switch key {
	case "REORDER_HDR", "VID", "PHYSDEV":
		return a.out.Str("vlan") == ""
	}
	return !a.out.Has("enable_ipv6") && (strings.HasPrefix(key, "IPV6") || key == "DHCPV6C")
}

// assignment returns the line of a file that a shell reads. A value that the shell
// would not take as it is gets an error that says what it must not have.
func assignment(key, val string) (string, error) {
	quote, evil := `"`, "\"`$\\"
	switch key {
	case "TEAM_CONFIG", "TEAM_PORT_CONFIG":
		quote, evil = "'", "'"
	case "ONPARENT", "MY_INNER_IPADDR", "MY_OUTER_IPADDR":
		quote = ""
	}
	if strings.ContainsAny(val, evil) || strings.ContainsFunc(val, func(r rune) bool { return r < ' ' }) {
		return "", fun.Errorf("a value without control characters and %s", strings.Join(strings.Split(evil, ""), " "))
	}
	return key + "=" + quote + val + quote + "\n", nil
}
