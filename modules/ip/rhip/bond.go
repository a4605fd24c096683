package rhip

import (
	"slices"
	"strconv"
	"strings"

	"brine/internal/py/value"
	"brine/modules/machine"
)

// modes are the modes of bonds, by their numbers.
var modes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// A bonding collects the options of a bond in their order.
type bonding struct {
	*adapter
	parts []string
}

func (b *bonding) add(key, val string) { b.parts = append(b.parts, key+"="+val) }

// integer returns a setting that has to be a whole number.
func (b *bonding) integer(key string) (int64, error) {
	n, err := value.ToInt(b.o.At(key))
	if err != nil {
		return 0, bad(b.name, key, "integer")
	}
	i, _ := value.AsInt(n)
	return i, nil
}

// bond reads the options of a bond. Salt: salt/modules/rh_ip.py _parse_settings_bond
// and what it calls.
func (a *adapter) bond() error {
	if !a.is("bond") {
		return nil
	}
	b := &bonding{adapter: a}
	text := value.Str(a.o.At("mode"))
	mode := slices.Index(modes, text)
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(modes) && len(text) == 1 {
		mode = n
	}
	if mode < 0 {
		return bad(a.name, "mode", "0|1|2|3|4|5|6|"+strings.Join(modes, "|"))
	}
	b.add("mode", strconv.Itoa(mode))
	if err := b.monitor(); err != nil {
		return err
	}
	arps := mode == 0 || mode == 2
	if arps {
		if err := b.arp(); err != nil {
			return err
		}
	}
	if !a.o.Has("miimon") {
		if !arps {
			return bad(a.name, "miimon", "integer")
		}
		if !a.o.Has("arp_interval") {
			return bad(a.name, "miimon or arp_interval", "at least one of these is required")
		}
	}
	if v := a.o.At("primary"); v != nil && (mode == 1 || mode >= 5) {
		b.add("primary", value.Str(v))
	}
	if mode == 4 {
		if err := b.lacp(); err != nil {
			return err
		}
	}
	if err := b.hashing(mode); err != nil {
		return err
	}
	a.out.Set("bonding", strings.Join(b.parts, " "))
	a.out.Set("devtype", "Bond")
	return nil
}

// monitor reads how the links are watched.
func (b *bonding) monitor() error {
	given := map[string]int64{}
	for _, key := range []string{"miimon", "downdelay", "updelay"} {
		if !b.o.Has(key) {
			continue
		}
		n, err := b.integer(key)
		if err != nil {
			return err
		}
		given[key] = n
		b.add(key, strconv.FormatInt(n, 10))
	}
	interval, ok := given["miimon"]
	if !ok {
		return nil
	}
	if interval == 0 {
		return bad(b.name, "miimon", "nonzero integer")
	}
	if _, ok := given["downdelay"]; !ok {
		b.add("downdelay", strconv.FormatInt(2*interval, 10))
	}
	for _, key := range []string{"downdelay", "updelay"} {
		if given[key]%interval != 0 {
			return bad(b.name, key, "0 or a multiple of miimon ("+strconv.FormatInt(interval, 10)+")")
		}
	}
	carrier := "0"
	if b.o.Has("use_carrier") {
		on, ok := onOff(b.o.At("use_carrier"))
		if !ok {
			return bad(b.name, "use_carrier", yesNo)
		}
		if on {
			carrier = "1"
		}
	}
	b.add("use_carrier", carrier)
	return nil
}

// arp reads which addresses are asked whether they are there.
func (b *bonding) arp() error {
	if !b.o.Has("arp_interval") {
		return nil
	}
	n, err := b.integer("arp_interval")
	if err != nil {
		return err
	}
	targets, _ := b.o.At("arp_ip_target").(*value.List)
	if targets.Len() < 1 || targets.Len() > 16 {
		return bad(b.name, "arp_ip_target", "list of ips (up to 16)")
	}
	b.add("arp_interval", strconv.FormatInt(n, 10))
	b.add("arp_ip_target", strings.Join(b.given("arp_ip_target"), ","))
	return nil
}

func (b *bonding) lacp() error {
	rate := "0"
	if b.o.Has("lacp_rate") {
		switch value.Str(b.o.At("lacp_rate")) {
		case "fast", "1":
			rate = "1"
		case "slow", "0":
		default:
			return bad(b.name, "lacp_rate", "fast|1|slow|0")
		}
	}
	b.add("lacp_rate", rate)
	sel := int64(0)
	if b.o.Has("ad_select") {
		var err error
		if sel, err = b.integer("ad_select"); err != nil {
			return err
		}
	}
	b.add("ad_select", strconv.FormatInt(sel, 10))
	return nil
}

func (b *bonding) hashing(mode int) error {
	if !b.o.Has("hashing-algorithm") || mode != 2 && mode != 4 {
		return nil
	}
	valid := []string{"layer2", "layer2+3", "layer3+4"}
	if mode == 4 {
		valid = append(valid, "encap2+3", "encap3+4")
		if major, _ := strconv.Atoi(machine.Grain(b.c.Env, "osmajorrelease")); major >= 8 {
			valid = append(valid, "vlan+srcmac")
		}
	}
	policy := value.Str(b.o.At("hashing-algorithm"))
	if !slices.Contains(valid, policy) {
		return bad(b.name, "hashing-algorithm", strings.Join(valid, "|"))
	}
	b.add("xmit_hash_policy", policy)
	return nil
}
