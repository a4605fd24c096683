package beacon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/internal/core/host"
	"brine/internal/py/pyre"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// counters are the counters of an interface, as ps.network_io_counters has them.
var counters = []string{"bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "errin", "errout", "dropin", "dropout"}

// networkInfo finds counters of interfaces that have come to a number.
// Salt: salt/beacons/network_info.py.
var networkInfo = Kind{
	Name: "network_info", Doc: "counters of network interfaces that have come to a number",
	keys: []key{{name: "interfaces", required: true, check: (*checking).isMapping}},
	check: func(c *checking) {
		c.mappings("interfaces", append([]string{"type"}, counters...), false, func(at source.Pos, where string, m *value.Map) {
			for k, v := range m.All() {
				if k != "type" {
					c.isInt(m.Pos(k), where+": "+value.Str(k), v)
				} else if v != "equal" && v != "greater" {
					c.fault(m.Pos(k), "", "%s: type: %s is neither equal nor greater", where, value.Repr(v))
				}
			}
		})
	},
	look: lookCounters,
}

func lookCounters(ctx context.Context, l *look) (found []*value.Map, err error) {
	var errs []error
	for k, v := range l.mapping("interfaces").All() {
		name, limits := value.Str(k), v.(*value.Map)
		got, err := l.exec(ctx, "ps.network_io_counters", name)
		have, _ := got.(*value.Map)
		if err != nil || have == nil {
			errs = append(errs, cmpErr(err, "there is no interface "+name))
			continue
		}
		hit := false
		for k, limit := range limits.All() {
			is, ok := value.AsInt(have.At(k))
			want, _ := value.AsInt(limit)
			if k == "type" || !ok {
				continue
			}
			hit = hit || is == want && limits.Str("type") != "greater" || is > want && limits.Str("type") == "greater"
		}
		if hit {
			found = append(found, value.MapOf("interface", name, "network_info", have))
		}
	}
	return found, errors.Join(errs...)
}

// cmpErr returns err, or one with this text where it is nil.
func cmpErr(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// settings are the settings of an interface, with the file of sysfs that has each; those
// without a file are worked out.
var settings = map[string]string{
	"address": "address", "broadcast": "broadcast", "carrier": "carrier", "carrier_changes": "carrier_changes", "flags": "flags",
	"group": "netdev_group", "index": "ifindex", "ifname": "", "ipaddr": "", "linkmode": "link_mode", "mtu": "mtu",
	"operstate": "operstate", "promiscuity": "", "txqlen": "tx_queue_len",
}

// settingNames returns the names of all settings, sorted.
func settingNames() []string {
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// networkSettings tells of settings of network interfaces that have changed.
// Salt: salt/beacons/network_settings.py. Difference: settings that only netlink has are
// not there.
var networkSettings = Kind{
	Name: "network_settings", Doc: "settings of network interfaces that have changed",
	keys: []key{
		{name: "interfaces", required: true, check: (*checking).isMapping},
		{name: "coalesce", check: (*checking).isBool},
	},
	check: func(c *checking) {
		c.mappings("interfaces", settingNames(), true, func(at source.Pos, where string, m *value.Map) {
			for k, v := range m.All() {
				if o, ok := v.(*value.Map); v != nil && (!ok || o.Len() != 1 || !o.Has("onvalue")) {
					c.fault(m.Pos(k), "write '"+value.Str(k)+": {onvalue: 1}', or nothing", "%s: %s: %s is not an onvalue", where, value.Str(k), value.Repr(v))
				}
			}
		})
		all := c.mapping("interfaces")
		for k := range all.All() {
			if _, err := pyre.Compile(value.Str(k), 0); err != nil {
				c.fault(all.Pos(k), "", "interfaces: %q is not a regular expression: %v", value.Str(k), err)
			}
		}
	},
	look: lookSettings,
}

func lookSettings(_ context.Context, l *look) (found []*value.Map, err error) {
	all, err := l.env.Host.Interfaces()
	if err != nil {
		return nil, err
	}
	last, kept, together := l.state.Map("last"), value.NewMap(len(all)), value.NewMap(0)
	if last == nil {
		last = value.NewMap(0)
	}
	var errs []error
	for k, v := range l.mapping("interfaces").All() {
		wanted, _ := v.(*value.Map)
		matching, err := interfacesOf(all, value.Str(k))
		if err == nil && len(matching) == 0 {
			err = fmt.Errorf("there is no interface %s", value.Str(k))
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, i := range matching {
			is := settingsOf(l.env.Host, i)
			kept.Set(i.Name, is)
			change := changed(last.Map(i.Name), is, wanted)
			if change.Len() == 0 {
				continue
			}
			together.Set(i.Name, change)
			found = append(found, value.MapOf("tag", i.Name, "interface", i.Name, "change", change))
		}
	}
	l.state.Set("last", kept)
	if l.flag("coalesce", false) && together.Len() > 0 {
		found = []*value.Map{value.MapOf("tag", "result", "changes", together)}
	}
	return found, errors.Join(errs...)
}

// interfacesOf returns the interface of a name, else those that it matches as a regular
// expression.
func interfacesOf(all []host.Interface, name string) (out []host.Interface, err error) {
	if i := slices.IndexFunc(all, func(i host.Interface) bool { return i.Name == name }); i >= 0 {
		return all[i : i+1], nil
	}
	re, err := pyre.Compile(name, 0)
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		hit, err := re.Has(i.Name)
		if err != nil {
			return nil, err
		}
		if hit {
			out = append(out, i)
		}
	}
	return out, nil
}

// settingsOf reads the settings of an interface; those that it has not are left out.
func settingsOf(h host.Host, i host.Interface) *value.Map {
	m := value.NewMap(len(settings))
	for _, name := range settingNames() {
		file := settings[name]
		if file == "" {
			continue
		}
		text, err := h.ReadFile("/sys/class/net/" + i.Name + "/" + file)
		if err != nil {
			continue
		}
		m.Set(name, numberOr(strings.TrimSpace(string(text))))
	}
	if flags, ok := value.AsInt(m.At("flags")); ok {
		const promiscuous = 0x100
		m.Set("promiscuity", flags&promiscuous/promiscuous)
	}
	addrs := value.NewList()
	for _, a := range i.Addrs {
		ones, _ := a.Mask.Size()
		addrs.Append(value.NewList(a.IP.String(), int64(ones)))
	}
	m.Set("ipaddr", addrs)
	m.Set("ifname", i.Name)
	return m
}

// numberOr returns a number, decimal or hexadecimal, else the text.
func numberOr(text string) value.Value {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return n
	}
	return text
}

// changed returns the wanted settings that are not what they were; those with an onvalue
// where they have become that.
func changed(was, is, wanted *value.Map) *value.Map {
	out := value.NewMap(2)
	if was == nil { // the first look knows of no change
		return out
	}
	for k, v := range wanted.All() {
		now, ok := is.Get(k)
		if !ok || value.Equal(now, was.At(k)) {
			continue
		}
		if o, _ := v.(*value.Map); o == nil || value.Equal(o.At("onvalue"), now) {
			out.Set(k, now)
		}
	}
	return out
}
