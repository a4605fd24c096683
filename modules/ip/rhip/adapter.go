package rhip

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/grains"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// yesNo are the words that switches take, as errors name them.
const yesNo = "yes|on|true|1|True|no|off|false|0|False"

func bad(iface, option, expected string) error {
	return fun.Errorf("Invalid option -- Interface: %s, Option: %s, Expected: [%s]", iface, option, expected)
}

// onOff reads a switch.
func onOff(v value.Value) (on, ok bool) {
	switch s := v.(type) {
	case bool:
		return s, true
	case string:
		switch strings.ToLower(s) {
		case "yes", "on", "true", "1":
			return true, true
		case "no", "off", "false", "0":
			return false, true
		}
	}
	n, ok := value.AsInt(v)
	return n == 1, ok && (n == 0 || n == 1)
}

func word(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

// An adapter is an interface that is to be described: o are the settings given, out
// what is written.
type adapter struct {
	a         *buildInterfaceArgs
	c         *fun.Call
	name, typ string
	o, out    *value.Map
	filtered  int64 // 1: the packets of a bridge pass the firewall
}

func (a *adapter) is(types ...string) bool { return slices.Contains(types, a.typ) }

// given returns the items of a setting that is a list, or a text of words.
func (a *adapter) given(key string) []string {
	switch v := a.o.At(key).(type) {
	case nil:
		return nil
	case *value.List:
		out := make([]string, len(v.Items))
		for i, x := range v.Items {
			out[i] = value.Str(x)
		}
		return out
	default:
		return strings.Fields(value.Str(v))
	}
}

// A step settles a part of the settings.
type step func(*adapter) error

// settle reads the settings. Salt: salt/modules/rh_ip.py _parse_settings_eth.
func (a *adapter) settle() error {
	for _, s := range []step{
		(*adapter).basics, (*adapter).hardware, (*adapter).team, (*adapter).bond, (*adapter).vlan, (*adapter).address,
		(*adapter).bridge, (*adapter).tunnel, (*adapter).texts, (*adapter).addresses, (*adapter).switches,
	} {
		if err := s(a); err != nil {
			return err
		}
	}
	return nil
}

func (a *adapter) basics() error {
	a.out.Set("name", a.name)
	if v := a.o.At("proto"); v != nil {
		proto := value.Str(v)
		if !slices.Contains([]string{"none", "bootp", "dhcp"}, proto) {
			return bad(a.name, proto, "none|bootp|dhcp")
		}
		a.out.Set("proto", proto)
	}
	if a.is("slave") {
		a.out.Set("proto", "none")
	}
	if dns := a.given("dns"); len(dns) > 0 {
		a.out.Set("dns", value.Strings(dns...))
		a.out.Set("peerdns", "yes")
	}
	if a.o.Has("mtu") {
		n, err := value.ToInt(a.o.At("mtu"))
		if err != nil {
			return bad(a.name, "mtu", "integer")
		}
		a.out.Set("mtu", n)
	}
	if a.o.Has("hwaddr") && a.o.Has("macaddr") {
		return fun.Errorf("Cannot pass both hwaddr and macaddr. Must use either hwaddr or macaddr")
	}
	return nil
}

// advertised are the values of the option advertise of ethtool(8).
var advertised = strings.Fields("0x001 0x002 0x004 0x008 0x010 0x020 0x20000 0x8000 0x1000 0x40000 0x80000 0x200000 0x400000 0x800000 0x1000000 0x2000000 0x4000000")

// hardware reads the options of ethtool(8). Salt: salt/modules/rh_ip.py
// _parse_ethtool_opts.
func (a *adapter) hardware() error {
	if a.is("bridge") {
		return nil
	}
	var parts []string
	toggle := func(key string) error {
		if !a.o.Has(key) {
			return nil
		}
		on, ok := onOff(a.o.At(key))
		if !ok {
			return bad(a.name, key, yesNo)
		}
		parts = append(parts, key+" "+map[bool]string{true: "on", false: "off"}[on])
		return nil
	}
	choice := func(key string, valid ...string) error {
		v := value.Str(a.o.At(key))
		if !a.o.Has(key) {
			return nil
		}
		if !slices.Contains(valid, v) {
			return bad(a.name, key, strings.Join(valid, "|"))
		}
		parts = append(parts, key+" "+v)
		return nil
	}
	if err := toggle("autoneg"); err != nil {
		return err
	}
	if err := choice("duplex", "full", "half"); err != nil {
		return err
	}
	if err := choice("speed", "10", "100", "1000", "10000"); err != nil {
		return err
	}
	if err := choice("advertise", advertised...); err != nil {
		return err
	}
	channels, err := a.channels()
	if err != nil {
		return err
	}
	parts = append(parts, channels...)
	for _, key := range []string{"rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro"} {
		if err := toggle(key); err != nil {
			return err
		}
	}
	if len(parts) > 0 {
		a.out.Set("ethtool", strings.Join(parts, " "))
	}
	return nil
}

// channels returns the option -L of ethtool(8).
func (a *adapter) channels() ([]string, error) {
	m := a.o.Map("channels")
	if m == nil {
		return nil, nil
	}
	cpus, _ := strconv.ParseInt(machine.Grain(a.c.Env, "num_cpus"), 10, 64)
	var parts []string
	for _, key := range []string{"rx", "tx", "other", "combined"} {
		if !m.Has(key) {
			continue
		}
		n, ok := value.AsInt(m.At(key))
		if !ok || n < 1 || n > cpus {
			return nil, bad(a.name, "channels "+key, "1 to "+strconv.FormatInt(cpus, 10))
		}
		parts = append(parts, key+" "+strconv.FormatInt(n, 10))
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return []string{"-L " + a.name + " " + strings.Join(parts, " ")}, nil
}

func (a *adapter) team() error {
	config := func(key string) {
		if v := a.o.At(key); v != nil {
			b, _ := value.AppendJSON(nil, v, value.JSONOptions{})
			a.out.Set(key, string(b))
		}
	}
	switch a.typ {
	case "team":
		a.out.Set("devicetype", "Team")
		config("team_config")
	case "teamport":
		a.out.Set("devicetype", "TeamPort")
		a.out.Set("team_master", a.o.At("team_master"))
		config("team_port_config")
	}
	return nil
}

func (a *adapter) vlan() error {
	if !a.is("vlan") {
		return nil
	}
	found := false
	if a.o.Has("reorder_hdr") {
		on, ok := onOff(a.o.At("reorder_hdr"))
		if !ok {
			return bad(a.name, "reorder_hdr", yesNo)
		}
		a.out.Set("reorder_hdr", word(on))
		found = true
	}
	if a.o.Has("vlan_id") {
		n, err := value.ToInt(a.o.At("vlan_id"))
		if i, _ := value.AsInt(n); err != nil || i <= 0 {
			return bad(a.name, "vlan_id", "Positive integer")
		}
		a.out.Set("vlan_id", n)
		found = true
	}
	if a.o.Has("phys_dev") {
		if !value.Truth(a.o.At("phys_dev")) {
			return bad(a.name, "phys_dev", "Non-empty string")
		}
		a.out.Set("phys_dev", a.o.At("phys_dev"))
		found = true
	}
	if found {
		a.out.Set("devtype", "Vlan")
	}
	return nil
}

var macRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([0-9a-f]{1,2}[-:]){5}[0-9a-f]{1,2}$`)
})

// address finds the hardware address.
func (a *adapter) address() error {
	if a.is("eth") {
		a.out.Set("devtype", "Ethernet")
	}
	if a.is("ib") {
		a.out.Set("devtype", "InfiniBand")
	}
	hw, given := value.Str(a.o.At("hwaddr")), a.o.Has("hwaddr")
	switch {
	case given && macRE().MatchString(hw):
		a.out.Set("hwaddr", hw)
		return nil
	case given && hw != "auto" && hw != "none":
		return bad(a.name, hw, "AA:BB:CC:DD:EE:FF|auto|none")
	case given && hw == "none", a.o.Has("macaddr"), a.is("slave", "bond", "team", "vlan", "bridge", "ipip"):
		return nil
	}
	all, err := grains.Interfaces(a.c.Env.Host)
	if err != nil {
		return err
	}
	if m := all.Map(a.name); m.Has("hwaddr") {
		a.out.Set("hwaddr", m.At("hwaddr"))
	}
	return nil
}

func (a *adapter) bridge() error {
	if !a.is("bridge") {
		if v := a.o.At("bridge"); v != nil {
			a.out.Set("bridge", v)
		}
		return nil
	}
	a.out.Set("devtype", "Bridge")
	if a.o.Has("bypassfirewall") {
		on, ok := onOff(a.o.At("bypassfirewall"))
		if !ok {
			return bad(a.name, "bypassfirewall", yesNo)
		}
		if !on {
			a.filtered = 1
		}
	}
	return nil
}

func (a *adapter) tunnel() error {
	if !a.is("ipip") {
		return nil
	}
	a.out.Set("devtype", "IPIP")
	for _, key := range []string{"my_inner_ipaddr", "my_outer_ipaddr"} {
		v := a.o.At(key)
		if _, err := netip.ParseAddr(value.Str(v)); err != nil {
			return bad(a.name, key, "1.2.3.4")
		}
		a.out.Set(key, v)
	}
	return nil
}

// texts takes the settings that are written as they are.
func (a *adapter) texts() error {
	if a.o.Has("prefix") && a.o.Has("netmask") {
		return fun.Errorf("Cannot use prefix and netmask together")
	}
	for _, key := range []string{
		"prefix", "netmask", "ipaddr", "master", "srcaddr", "delay", "gateway", "uuid", "nickname", "zone", "ipv6addr", "ipv6gateway",
		"ipaddr_start", "ipaddr_end", "clonenum_start", "macaddr",
	} {
		if v := a.o.At(key); v != nil {
			a.out.Set(key, v)
		}
	}
	if domain := a.given("domain"); len(domain) > 0 {
		a.out.Set("domain", strings.Join(domain, " "))
	}
	return nil
}

// addresses reads the lists of addresses with prefixes.
func (a *adapter) addresses() error {
	for _, cidr := range a.given("ipaddrs") {
		p, err := netip.ParsePrefix(strings.ReplaceAll(cidr, " ", ""))
		if err != nil || !p.Addr().Is4() {
			return fun.Errorf("ipv4 CIDR is invalid")
		}
	}
	for _, addr := range a.given("ipv6addrs") {
		host, _, _ := strings.Cut(addr, "/")
		ip, err := netip.ParseAddr(host)
		if _, prefixErr := netip.ParsePrefix(addr); err != nil || !ip.Is6() || host != addr && prefixErr != nil {
			return fun.Errorf("ipv6 CIDR is invalid")
		}
	}
	return nil
}

// switches reads the settings that are yes or no.
func (a *adapter) switches() error {
	for _, key := range []string{
		"onparent", "peerdns", "peerroutes", "slave", "vlan", "defroute", "stp", "ipv6_peerdns", "ipv6_defroute", "ipv6_peerroutes",
		"ipv6_autoconf", "ipv4_failure_fatal", "dhcpv6c", "userctl", "nm_controlled", "enable_ipv6", "arpcheck",
	} {
		if !a.o.Has(key) {
			continue
		}
		on, ok := onOff(a.o.At(key))
		if !ok {
			return bad(a.name, key, yesNo)
		}
		if (key == "arpcheck") && on || (key == "enable_ipv6") && !on {
			continue // what is the case without the setting
		}
		a.out.Set(key, word(on))
	}
	a.out.Set("onboot", word(a.a.Enabled))
	for _, key := range []string{"userctl", "nm_controlled"} {
		if !a.out.Has(key) {
			a.out.Set(key, "no")
		}
	}
	return nil
}
