package docker

import (
	"context"
	"slices"
	"strings"

	"brine/internal/py/value"
	"brine/modules/machine"
)

// items are the members of a list, or nothing.
func items(v value.Value) []value.Value {
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

// sorted returns a list in the order of what its members print.
func sorted(v value.Value) value.Value {
	l, ok := v.(*value.List)
	if !ok {
		return v
	}
	out := slices.Clone(l.Items)
	slices.SortFunc(out, func(a, b value.Value) int { return strings.Compare(value.Repr(a), value.Repr(b)) })
	return value.NewList(out...)
}

// without returns the members of a list that are none of some.
func without(v value.Value, some ...string) value.Value {
	l, ok := v.(*value.List)
	if !ok {
		return v
	}
	out := value.NewList()
	for _, item := range l.Items {
		if !slices.Contains(some, value.Str(item)) {
			out.Append(item)
		}
	}
	if out.Len() == 0 {
		return nil
	}
	return out
}

// differ notes that a key is another.
func differ(into *value.Map, key value.Value, old, now value.Value) {
	into.Set(key, value.MapOf("old", old, "new", now))
}

// scrubbed returns links without the name of the container that has them.
func scrubbed(v value.Value, name string) value.Value {
	out := value.NewList()
	for _, item := range items(v) {
		out.Append(strings.Replace(value.Str(item), "/"+name+"/", "/", 1))
	}
	return sorted(out)
}

// Compare returns the differences of two containers, by Config and HostConfig.
// Salt: salt/modules/dockermod.py compare_containers.
func (e *Engine) Compare(ctx context.Context, first, second string, ignore []string) (*value.Map, error) {
	one, err := e.Inspect(ctx, first)
	if err != nil {
		return nil, err
	}
	two, err := e.Inspect(ctx, second)
	if err != nil {
		return nil, err
	}
	ret := value.NewMap(2)
	for _, part := range []string{"Config", "HostConfig"} {
		a, b, diff := one.Map(part), two.Map(part), value.NewMap(4)
		for _, k := range keysOf(a, b) {
			if slices.Contains(ignore, value.Str(k)) {
				continue
			}
			old, now := a.At(k), b.At(k)
			switch k {
			case "Image":
				if old, now, err = e.imageIDs(ctx, old, now); err != nil {
					return nil, err
				}
			case "Links":
				old, now = scrubbed(old, first), scrubbed(now, second)
			case "Env":
				old, now = withoutHostname(old, a.At("Hostname")), withoutHostname(now, b.At("Hostname"))
			}
			if another(k, old, now) {
				differ(diff, k, old, now)
			}
		}
		if diff.Len() > 0 {
			ret.Set(part, diff)
		}
	}
	return ret, nil
}

// keysOf returns the keys of two mappings, those of the first one first.
func keysOf(a, b *value.Map) []value.Value {
	keys := a.Keys()
	for _, k := range b.Keys() {
		if !a.Has(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// another reports whether the values of a key differ. None is nothing, and so is
// what is empty beside it.
func another(key, old, now value.Value) bool {
	if key == "OomKillDisable" || old == nil || now == nil {
		return value.Truth(old) != value.Truth(now)
	}
	if key == "Ulimits" || key == "Env" {
		old, now = sorted(old), sorted(now)
	}
	return !value.Equal(old, now)
}

// withoutHostname returns the variables of a container without HOSTNAME, where it is
// the container's host name or ID: podman adds it when the container starts.
func withoutHostname(env, hostname value.Value) value.Value {
	l, ok := env.(*value.List)
	if !ok {
		return env
	}
	items := slices.DeleteFunc(slices.Clone(l.Items), func(x value.Value) bool {
		name, ok := strings.CutPrefix(value.Str(x), "HOSTNAME=")
		isID := len(name) == 12 && strings.Trim(name, "0123456789abcdef") == ""
		return ok && (isID || name == value.Str(hostname))
	})
	return value.NewList(items...)
}

// imageIDs returns the IDs of two images; None stays.
func (e *Engine) imageIDs(ctx context.Context, a, b value.Value) (x, y value.Value, err error) {
	if a == nil || b == nil {
		return a, b, nil
	}
	if x, err = e.imageID(ctx, value.Str(a)); err != nil {
		return nil, nil, err
	}
	y, err = e.imageID(ctx, value.Str(b))
	return x, y, err
}

func (e *Engine) imageID(ctx context.Context, name string) (value.Value, error) {
	m, err := e.InspectImage(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.At("Id"), nil
}

// Keys of networks that are compared; see docker.compare_container_networks.
var (
	staticKeys = []string{"Aliases", "Links", "IPAMConfig"}
	autoKeys   = []string{"IPAddress", "Gateway", "GlobalIPv6Address", "IPv6Gateway"}
)

// AutoKeys are the keys of a network that the engine chooses, as configured.
func (e *Engine) AutoKeys(ctx context.Context) []string {
	return e.compareKeys(ctx, "automatic", autoKeys)
}

func (e *Engine) compareKeys(ctx context.Context, kind string, def []string) []string {
	m, ok := machine.Option(ctx, e.env, "docker.compare_container_networks").(value.Mapping)
	if !ok {
		return def
	}
	v, ok := m.Get(kind)
	if !ok || v == nil {
		return nil
	}
	return stringList(v)
}

// Networks returns the networks of an inspected container by name.
func Networks(c *value.Map) *value.Map {
	if m := c.Map("NetworkSettings").Map("Networks"); m != nil {
		return m
	}
	return value.NewMap(0)
}

// CompareNetworks returns the differences of the networks of two inspected
// containers, by network.
// Salt: salt/modules/dockermod.py compare_container_networks.
func (e *Engine) CompareNetworks(ctx context.Context, one, two *value.Map) (*value.Map, error) {
	a, b := Networks(one).Copy(), Networks(two).Copy()
	var names []string
	for _, m := range []*value.Map{a, b} {
		for _, k := range m.Keys() {
			if n := value.Str(k); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	for _, n := range names {
		net, err := e.mapping(ctx, "/networks/"+n)
		if err != nil {
			e.env.Log().Warn("docker: failed to inspect a network", "name", n, "error", err.Error())
			continue
		}
		members := net.Map("Containers")
		for c, nets := range map[*value.Map]*value.Map{one: a, two: b} {
			if StateOf(c) == Running && !members.Has(c.At("Id")) {
				nets.Delete(n)
			}
		}
	}
	ret, keys, auto := value.NewMap(2), e.compareKeys(ctx, "static", staticKeys), e.AutoKeys(ctx)
	for _, n := range names {
		diff := compareNet(a.Map(n), b.Map(n), keys, auto, ownNames(one), ownNames(two))
		if diff.Len() > 0 {
			ret.Set(n, diff)
		}
	}
	return ret, nil
}

// ownNames are the aliases that the engine gives a container by itself.
func ownNames(c *value.Map) []string {
	id := c.Str("Id")
	return []string{c.Map("Config").Str("Hostname"), id[:min(12, len(id))]}
}

// compareNet compares the connection of two containers to one network; nil means no
// connection.
func compareNet(a, b *value.Map, keys, auto, ownA, ownB []string) *value.Map {
	diff := value.NewMap(2)
	if a == nil && b == nil {
		return diff
	}
	for _, k := range keys {
		old, now := sorted(a.At(k)), sorted(b.At(k))
		if k == "Aliases" {
			old, now = without(old, ownA...), without(now, ownB...)
		}
		switch {
		case k == "IPAMConfig":
			compareIP(diff, a, b, auto)
		case !value.Truth(old) && !value.Truth(now):
		case !value.Equal(old, now):
			differ(diff, k, old, now)
		}
	}
	return diff
}

// compareIP compares how addresses are given: by the engine, or as configured.
func compareIP(diff, a, b *value.Map, auto []string) {
	old, now := a.At("IPAMConfig"), b.At("IPAMConfig")
	autoA, autoB := a != nil && !value.Truth(old), b != nil && !value.Truth(now)
	how := func(m *value.Map) string {
		if m == nil {
			return "not connected"
		}
		return "static"
	}
	chosen := func(m *value.Map, set func(key string, v value.Value)) (any bool) {
		for _, k := range auto {
			if v := m.At(k); value.Truth(v) {
				set(k, v)
				any = true
			}
		}
		return any
	}
	switch {
	case autoA && !autoB:
		found := chosen(a, func(k string, v value.Value) { differ(diff, k, v, nil) })
		if b != nil {
			differ(diff, "IPAMConfig", nil, now)
		}
		if !found {
			differ(diff, "IPConfiguration", "automatic", how(b))
		}
	case autoB && !autoA:
		if !chosen(b, func(k string, v value.Value) { differ(diff, k, nil, v) }) {
			differ(diff, "IPConfiguration", how(a), "automatic")
		}
		if a != nil {
			differ(diff, "IPAMConfig", old, nil)
		}
	case !value.Equal(old, now) && (value.Truth(old) || value.Truth(now)):
		differ(diff, "IPAMConfig", old, now)
	}
}

// CompareNets returns the differences of two inspected networks.
// Salt: salt/modules/dockermod.py compare_networks.
func CompareNets(one, two *value.Map, ignore []string) *value.Map {
	ret := value.NewMap(2)
	for _, k := range keysOf(one, two) {
		old, now := one.At(k), two.At(k)
		if slices.Contains(ignore, value.Str(k)) || !value.Truth(old) && !value.Truth(now) {
			continue
		}
		oldMap, isMap := old.(*value.Map)
		nowMap, _ := now.(*value.Map)
		switch {
		case k == "IPAM" && isMap:
			if diff := compareParts(withoutDefault(oldMap), withoutDefault(nowMap), ""); diff.Len() > 0 {
				ret.Set(k, diff)
			}
		case k == "Options" && isMap:
			if diff := compareParts(oldMap, nowMap, "com.docker.network.bridge.name"); diff.Len() > 0 {
				ret.Set(k, diff)
			}
		case !value.Equal(old, now):
			differ(ret, k, old, now)
		}
	}
	return ret
}

// withoutDefault returns the address management of a network without the option
// that podman names its usual driver by.
func withoutDefault(ipam *value.Map) *value.Map {
	opts := ipam.Map("Options")
	if opts.Len() != 1 || opts.At("driver") != "host-local" {
		return ipam
	}
	out := ipam.Copy()
	out.Delete("Options")
	return out
}

func compareParts(a, b *value.Map, ignore string) *value.Map {
	diff := value.NewMap(2)
	for _, k := range keysOf(a, b) {
		old, now := sorted(a.At(k)), sorted(b.At(k))
		if k == ignore || !value.Truth(old) && !value.Truth(now) || value.Equal(old, now) {
			continue
		}
		differ(diff, k, old, now)
	}
	return diff
}
