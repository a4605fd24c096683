package debianip

import (
	"slices"
	"strings"

	"brine/internal/py/value"
)

// shown are the options that an interface is written with, in this order.
// Salt: salt/templates/debian_ip/debian_eth.jinja.
var shown = [...]string{
	"autoconf", "privext", "dhcp", "hwaddress", "vlan_raw_device", "address", "addresses", "netmask", "metric", "gateway", "pointopoint", "scope",
	"hostname", "media", "leasehours", "leasetime", "vendor", "client", "bootfile", "server", "mode", "endpoint", "dstaddr", "local", "ttl", "mtu",
	"provider", "unit", "options", "master", "dns_nameservers", "wireless_mode", "wpa_ap_scan", "wpa_conf", "wpa_driver", "wpa_group", "wpa_key_mgmt",
	"wpa_pairwise", "wpa_proto", "wpa_psk", "wpa_roam", "wpa_ssid", "accept_ra",
}

// word returns the name of an option in the file.
func word(opt string) string {
	switch opt {
	case "addresses":
		return "address"
	case "master":
		return "bond-master"
	case "accept_ra":
		return opt
	}
	return strings.ReplaceAll(opt, "_", "-")
}

// words returns the items of a list, or one text.
func words(v value.Value) []string {
	items, err := value.Items(v)
	if _, isText := v.(string); isText || err != nil {
		return []string{value.Str(v)}
	}
	out := make([]string, len(items))
	for i, x := range items {
		out[i] = value.Str(x)
	}
	return out
}

// render returns the stanzas of an adapter.
func (a *adapter) render() string {
	var b strings.Builder
	for _, line := range a.raw {
		b.WriteString(line + "\n")
	}
	for _, s := range a.sources {
		b.WriteString("\nsource " + s + "\n")
	}
	if a.enabled {
		b.WriteString("auto " + a.name + "\n")
	}
	if a.hotplug {
		b.WriteString("allow-hotplug " + a.name + "\n")
	}
	for _, family := range families {
		if m := a.family[family]; m != nil && m.Str("addrfam") == family && value.Truth(m.At("proto")) {
			b.WriteString("iface " + a.name + " " + family + " " + value.Str(m.At("proto")) + "\n")
			a.options(&b, family, m)
		}
	}
	return b.String()
}

func (a *adapter) options(b *strings.Builder, family string, m *value.Map) {
	put := func(name, text string) { b.WriteString("    " + name + " " + text + "\n") }
	for _, opt := range shown {
		v := m.At(opt)
		switch {
		case !value.Truth(v):
		case opt == "dns_nameservers":
			put(word(opt), strings.Join(words(v), " "))
		default:
			for _, s := range words(v) {
				put(word(opt), s)
			}
		}
	}
	for _, group := range [...]struct{ name, prefix string }{{"ethtool", ""}, {"bonding", "bond-"}, {"bridging", "bridge_"}} {
		d := m.Map(group.name)
		var keys []string
		for k := range d.All() {
			keys = append(keys, value.Str(k))
		}
		slices.Sort(keys)
		for _, k := range keys {
			if v := d.At(k); v != nil {
				put(group.prefix+k, strings.Join(words(v), " "))
			}
		}
	}
	for _, cmd := range commands {
		if v := m.At(strings.ReplaceAll(cmd, "-", "_") + "_cmds"); value.Truth(v) {
			for _, s := range words(v) {
				put(cmd, s)
			}
		}
	}
	for _, line := range a.other[family] {
		b.WriteString("    " + line + "\n")
	}
}

// lines returns a text as Salt's difflib gets it: the lines with their ends, and one
// more after the last end.
func lines(text string) []string {
	parts := strings.Split(text, "\n")
	for i := range parts {
		parts[i] += "\n"
	}
	return parts
}
