package debianip

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// onOff reads a switch as Salt does; ok is false for other values.
func onOff(v value.Value) (on, ok bool) {
	switch s := v.(type) {
	case bool:
		return s, true
	case string:
		switch s {
		case "yes", "on", "true", "1":
			return true, true
		case "no", "off", "false", "0":
			return false, true
		}
	}
	if n, is := value.AsInt(v); is && (n == 0 || n == 1) { // 1 == True in Python
		return n == 1, true
	}
	return false, false
}

// switches are the values that onOff reads, as errors name them.
const switches = "yes|on|true|1|True|no|off|false|0|False"

// bad is the error about an option of an interface.
func bad(iface, option, expected string) error {
	return fun.Errorf("Invalid option -- Interface: %s, Option: %s, Expected: [%s]", iface, option, expected)
}

// ethtool reads the options of ethtool(8).
func ethtool(o *value.Map, iface string) (*value.Map, error) {
	m := value.NewMap(4)
	flag := func(names ...string) error {
		for _, name := range names {
			if !o.Has(name) {
				continue
			}
			on, ok := onOff(o.At(name))
			if !ok {
				return bad(iface, name, switches)
			}
			m.Set(ethtoolWord(name), onText(on))
		}
		return nil
	}
	if err := flag("autoneg"); err != nil {
		return nil, err
	}
	if v := o.At("duplex"); o.Has("duplex") {
		if v != "full" && v != "half" {
			return nil, bad(iface, "duplex", "full|half")
		}
		m.Set(ethtoolWord("duplex"), v)
	}
	if v := value.Str(o.At("speed")); o.Has("speed") {
		if !slices.Contains([]string{"10", "100", "1000", "10000"}, v) {
			return nil, bad(iface, v, "10|100|1000|10000")
		}
		m.Set(ethtoolWord("speed"), v)
	}
	return m, flag("rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro")
}

func onText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// bondModes are the modes by number, each with what it is called and the options
// that it takes.
var bondModes = [...]struct {
	name    string
	numbers []string // options that are numbers, in order
	targets bool     // arp_ip_target has to be given
	carrier bool
	primary bool
	hashing bool
}{
	{name: "balance-rr", numbers: []string{"arp_interval"}, targets: true},
	{name: "active-backup", numbers: []string{"miimon", "downdelay", "updelay"}, carrier: true, primary: true},
	{name: "balance-xor", numbers: []string{"arp_interval"}, targets: true, hashing: true},
	{name: "broadcast", numbers: []string{"miimon", "downdelay", "updelay"}, carrier: true},
	{name: "802.3ad", numbers: []string{"miimon", "downdelay", "updelay", "lacp_rate", "ad_select"}, carrier: true, hashing: true},
	{name: "balance-tlb", numbers: []string{"miimon", "downdelay", "updelay"}, carrier: true, primary: true},
	{name: "balance-alb", numbers: []string{"miimon", "downdelay", "updelay"}, carrier: true, primary: true},
}

// bondDefault returns what a number is where it is not given.
func bondDefault(name string) string {
	switch name {
	case "miimon":
		return "100"
	case "arp_interval":
		return "250"
	case "downdelay":
		return "200"
	}
	return "0"
}

// bondMode returns the number of a mode by its number or name, -1 where there is none.
func bondMode(given string) int {
	for i, m := range bondModes {
		if given == m.name || given == value.Str(int64(i)) {
			return i
		}
	}
	return -1
}

// bondNumber returns an option of a bond that is a number.
func bondNumber(o *value.Map, iface, name string) (value.Value, error) {
	v, expected := o.At(name), "integer"
	if name == "lacp_rate" {
		expected = "fast|1|slow|0"
		switch v {
		case "fast":
			v = "1"
		case "slow":
			v = "0"
		}
	}
	if !o.Has(name) {
		return bondDefault(name), nil
	}
	if _, err := value.ToInt(v); err != nil {
		return nil, bad(iface, name, expected)
	}
	return v, nil
}

// bonding reads the options of a bond. Salt: salt/modules/debian_ip.py
// _parse_settings_bond.
func bonding(c *fun.Call, o *value.Map, iface string) (*value.Map, error) {
	mode := bondMode(value.Str(o.At("mode")))
	if mode < 0 {
		return nil, bad(iface, "mode", "0|1|2|3|4|5|6|balance-rr|active-backup|balance-xor|broadcast|802.3ad|balance-tlb|balance-alb")
	}
	takes, m := bondModes[mode], value.MapOf("mode", value.Str(int64(mode)))
	if takes.targets {
		l, _ := o.At("arp_ip_target").(*value.List)
		if l == nil || l.Len() < 1 || l.Len() > 16 {
			return nil, bad(iface, "arp_ip_target", "list of ips (up to 16)")
		}
		m.Set("arp_ip_target", strings.Join(words(l), ","))
	}
	for _, name := range takes.numbers {
		v, err := bondNumber(o, iface, name)
		if err != nil {
			return nil, err
		}
		m.Set(name, v)
	}
	if v := o.At("primary"); takes.primary && o.Has("primary") {
		m.Set("primary", v)
	}
	// Ubuntu 16.04 and later have no such option for this mode.
	if takes.carrier && (mode != 1 || !ubuntuFrom(c, 16)) {
		m.Set("use_carrier", "on")
		if o.Has("use_carrier") {
			on, ok := onOff(o.At("use_carrier"))
			if !ok {
				return nil, bad(iface, "use_carrier", switches)
			}
			m.Set("use_carrier", map[bool]string{true: "1", false: "0"}[on])
		}
	}
	if v := o.At("hashing-algorithm"); takes.hashing && o.Has("hashing-algorithm") {
		if v != "layer2" && v != "layer2+3" && v != "layer3+4" {
			return nil, bad(iface, "hashing-algorithm", "layer2|layer2+3|layer3+4")
		}
		m.Set("xmit_hash_policy", v)
	}
	return m, nil
}

// ubuntuFrom reports whether this is Ubuntu of a version or later.
func ubuntuFrom(c *fun.Call, version int64) bool {
	if machine.Grain(c.Env, "os") != "Ubuntu" && machine.Grain(c.Env, "osfullname") != "Ubuntu" {
		return false
	}
	major, _, _ := strings.Cut(machine.Grain(c.Env, "osrelease"), ".")
	n, err := value.ToInt(major)
	i, ok := value.AsInt(n)
	return err == nil && ok && i >= version
}

var hwPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[0-9a-f]{2}(:[0-9a-f]{2}){5}$|^[0-9a-f]{2}(-[0-9a-f]{2}){5}$`)
})

// bridging reads the options of a bridge. Salt: salt/modules/debian_ip.py
// _parse_bridge_opts.
func bridging(o *value.Map, iface string) (*value.Map, error) {
	m := value.NewMap(8)
	if o.Has("ports") {
		m.Set("ports", strings.Join(words(o.At("ports")), " "))
	}
	for _, name := range []string{"ageing", "fd", "gcint", "hello", "maxage"} {
		if o.Has(name) {
			if _, err := value.ToFloat(o.At(name)); err != nil {
				return nil, bad(iface, name, "float")
			}
			m.Set(name, o.At(name))
		}
	}
	for _, name := range []string{"bridgeprio", "maxwait"} {
		if o.Has(name) {
			if _, ok := o.At(name).(int64); !ok {
				return nil, bad(iface, name, "integer")
			}
			m.Set(name, o.At(name))
		}
	}
	if o.Has("hw") {
		if !hwPattern().MatchString(value.Str(o.At("hw"))) {
			return nil, bad(iface, "hw", "valid MAC address")
		}
		m.Set("hw", o.At("hw"))
	}
	for _, name := range []string{"pathcost", "portprio"} {
		if o.Has(name) {
			f := strings.Fields(value.Str(o.At(name)))
			if len(f) != 2 {
				return nil, bad(iface, name, "interface integer")
			}
			if _, err := value.ToInt(f[1]); err != nil {
				return nil, bad(iface, name, "interface integer")
			}
			m.Set(name, strings.Join(f, " "))
		}
	}
	return m, bridgeTree(o, m, iface)
}

// bridgeTree reads stp and waitport.
func bridgeTree(o, m *value.Map, iface string) error {
	if o.Has("stp") {
		on, ok := onOff(o.At("stp"))
		if !ok {
			return bad(iface, "stp", switches)
		}
		m.Set("stp", onText(on))
	}
	if o.Has("waitport") {
		v := o.At("waitport")
		if _, ok := v.(int64); !ok {
			f := strings.Fields(value.Str(v))
			if len(f) < 2 || strings.Trim(f[0], "0123456789") != "" {
				return bad(iface, "waitport", "integer [interfaces]")
			}
			v = strings.Join(f, " ")
		}
		m.Set("waitport", v)
	}
	return nil
}

// pppOptions are the options of pppoe; those that are switches come first.
var pppOptions = [...]string{
	"noipdefault", "usepeerdns", "defaultroute", "hide-password", "noauth", "persist", "noaccomp",
	"user", "password", "provider", "pppoe_iface", "holdoff", "maxfail", "lcp-echo-interval", "lcp-echo-failure", "connect", "mtu", "linkname",
}

const pppSwitches = 7

// pppoe puts the options of pppoe among those of a family.
func pppoe(o, m *value.Map, iface string) error {
	if o.Has("provider") && !value.Truth(o.At("provider")) {
		return bad(iface, "provider", switches)
	}
	for i, name := range pppOptions {
		if !o.Has(name) {
			continue
		}
		v := o.At(name)
		if i < pppSwitches {
			on, ok := onOff(v)
			if !ok {
				return bad(iface, name, switches)
			}
			v = value.Str(on)
		}
		m.Set(name, v)
	}
	return nil
}

// deviceOf returns the interface that a VLAN is on: eth0 of eth0.5.
func deviceOf(iface string) string {
	dev, _, _ := strings.Cut(iface, ".")
	return dev
}

// settle makes the adapter that the settings describe. Salt: salt/modules/debian_ip.py
// _parse_settings_eth.
func settle(c *fun.Call, o *value.Map, typ string, enabled bool, iface string) (*adapter, error) {
	a := &adapter{name: iface, enabled: enabled, hotplug: value.Truth(o.At("hotplug")), family: map[string]*value.Map{}, other: map[string][]string{}}
	for _, family := range families {
		m := value.NewMap(8)
		a.family[family] = m
		if err := special(c, o, m, typ, iface); err != nil {
			return nil, err
		}
		if typ != "eth" {
			m.Set("addrfam", family)
		}
	}
	if typ == "slave" {
		o.Set("proto", "manual")
	}
	o.Delete("mode")
	for k, v := range o.All() {
		a.set(value.Str(k), v)
	}
	for _, cmd := range commands {
		name := strings.ReplaceAll(cmd, "-", "_") + "_cmds"
		if o.Has(name) {
			a.family["inet"].Set(name, o.At(name))
			a.family["inet6"].Set(name, o.At(name))
		}
	}
	for i, family := range families {
		if o.At([]string{"enable_ipv4", "enable_ipv6"}[i]) == false || a.family[family].Str("addrfam") != family {
			delete(a.family, family)
		}
	}
	return a, nil
}

// special puts the options of a type of interface among those of a family.
func special(c *fun.Call, o, m *value.Map, typ, iface string) error {
	if typ != "bridge" {
		d, err := ethtool(o, iface)
		if err != nil {
			return err
		}
		if d.Len() > 0 {
			m.Set("ethtool", d)
		}
	}
	switch typ {
	case "bridge":
		d, err := bridging(o, iface)
		if err != nil {
			return err
		}
		m.Set("bridging", d)
	case "bond":
		d, err := bonding(c, o, iface)
		if err != nil {
			return err
		}
		d.Set("slaves", o.At("slaves"))
		m.Set("bonding", d)
	case "slave":
		m.Set("master", o.At("master"))
	case "vlan":
		m.Set("vlan_raw_device", deviceOf(iface))
	case "pppoe":
		return pppoe(o, m, iface)
	}
	return nil
}

// set puts one setting among the options of the families that take it. One whose name
// begins with ipv4 or ipv6 is for that family, and an address is for IPv4.
func (a *adapter) set(name string, v value.Value) {
	only := ""
	switch {
	case strings.HasPrefix(name, "ipv4"):
		only = "inet"
		name = name[len("ipv4"):]
	case strings.HasPrefix(name, "ipv6"):
		only = "inet6"
		name = name[len("ipv6"):]
	case slices.Contains([]string{"ipaddr", "address", "ipaddresses", "addresses", "gateway", "proto"}, name):
		only = "inet"
	}
	if only != "" {
		a.family[only].Set("addrfam", only)
	}
	switch name {
	case "dns":
		name = "dns-nameservers"
	case "search":
		name = "dns-search"
	case "hwaddr":
		name = "hwaddress"
	case "ipaddr":
		name = "address"
	case "addr": // ipv6addr, as the documentation of the states has it
		if only != "" {
			name = "address"
		}
	case "ipaddrs":
		name = "addresses"
	}
	key := strings.ReplaceAll(name, "-", "_")
	for _, family := range families {
		w, ok := check(name, v, family)
		if m := a.family[family]; ok && (only == family || only == "" && !m.Has(key)) {
			m.Set(key, w)
		}
	}
}
