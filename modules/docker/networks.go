package docker

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// A NetworkSpec is what a network is to be, as the engine takes it.
type NetworkSpec struct {
	Config *value.Map
	IPAM   *value.Map // with Config, a list of pools
}

// poolKeys are the arguments of a pool, and where the engine has them.
var poolKeys = [...][3]string{
	{"subnet", "", "Subnet"},
	{"iprange", "ip_range", "IPRange"},
	{"gateway", "", "Gateway"},
	{"aux_addresses", "aux_address", "AuxiliaryAddresses"},
}

// Network translates arguments to what the engine takes.
// Salt: salt/utils/dockermod/translate/network.py.
func (a *Arguments) Network() (*NetworkSpec, error) {
	x := &invalid{}
	config := value.NewMap(8)
	for _, p := range []struct{ name, alias, key string }{{"internal", "", "Internal"}, {"enable_ipv6", "ipv6", "EnableIPv6"}, {"attachable", "", "Attachable"}, {"ingress", "", "Ingress"}, {"check_duplicate", "", "CheckDuplicate"}} {
		if v, ok := a.take(x, p.name, p.alias); ok {
			config.Set(p.key, value.Truth(v))
		}
	}
	if v, ok := a.take(x, "driver", ""); ok {
		config.Set("Driver", value.Str(v))
	}
	if v, ok := a.take(x, "scope", ""); ok {
		config.Set("Scope", value.Str(v))
	}
	for _, alias := range []string{"driver_opt", "driver_opts"} {
		if v, ok := a.Values.Get(alias); ok && v != nil {
			a.options(x, config, "options", "Options", v)
		}
	}
	if v, ok := a.Values.Get("options"); ok && v != nil {
		a.options(x, config, "options", "Options", v)
	}
	if v, ok := a.take(x, "labels", ""); ok {
		l, err := labels(repack(v))
		if err != nil {
			x.add("labels", err)
		}
		config.Set("Labels", l)
	}
	if !config.Has("CheckDuplicate") {
		config.Set("CheckDuplicate", true)
	}
	ipam := a.ipam(x)
	return &NetworkSpec{config, ipam}, x.err()
}

func (a *Arguments) options(x *invalid, into *value.Map, name, key string, v value.Value) {
	if a.SkipAll || slices.Contains(a.Skip, name) {
		into.Set(key, v)
		return
	}
	m, err := keyVals(repack(v), "=")
	if err != nil {
		x.add(name, err)
		return
	}
	into.Set(key, texted(m))
}

// ipam returns the addresses of a network.
func (a *Arguments) ipam(x *invalid) *value.Map {
	pool := a.pool(x, a.Values)
	pools := value.NewList()
	if pool.Len() > 0 {
		pools.Append(pool)
	}
	whole, given := a.Values.Get("ipam")
	more, _ := a.Values.Get("ipam_pools")
	driver, hasDriver := a.take(x, "ipam_driver", "")
	opts, hasOpts := a.take(x, "ipam_opts", "")
	if given && whole != nil {
		m, ok := repack(whole).(value.Mapping)
		if pools.Len() > 0 || more != nil || hasDriver || hasOpts {
			x.msgs = append(x.msgs, "Cannot mix the 'ipam' argument with any of the IPAM config arguments. See documentation for details.")
		}
		if !ok {
			x.add("ipam", fun.Errorf("'%s' is not a dictionary", value.Str(whole)))
			return value.NewMap(0)
		}
		return value.ToMap(m)
	}
	if more != nil {
		l, ok := more.(*value.List)
		for _, item := range items(more) {
			m, is := repack(item).(value.Mapping)
			ok = ok && is
			if is {
				pools.Append(a.pool(x, m))
			}
		}
		if !ok || l == nil {
			x.add("ipam_pools", fun.Errorf("ipam_pools must be a list of dictionaries"))
		}
	}
	for _, p := range pools.Items {
		if m, _ := p.(*value.Map); !m.Has("Subnet") {
			x.msgs = append(x.msgs, "A subnet is required in each IPAM pool")
		}
	}
	out := value.MapOf("Driver", "default", "Config", pools)
	if hasDriver {
		out.Set("Driver", value.Str(driver))
	}
	if hasOpts {
		a.options(x, out, "ipam_opts", "Options", opts)
	}
	return out
}

// pool returns one pool of addresses.
func (a *Arguments) pool(x *invalid, from value.Mapping) *value.Map {
	out := value.NewMap(4)
	for _, k := range poolKeys {
		v, ok := from.Get(k[0])
		if (!ok || v == nil) && k[1] != "" {
			v, ok = from.Get(k[1])
		}
		if !ok || v == nil {
			continue
		}
		err := error(nil)
		switch k[0] {
		case "aux_addresses":
			var m value.Mapping
			if m, err = keyVals(repack(v), "="); err == nil {
				t := texted(m)
				for _, ip := range t.All() {
					if e := validIP(value.Str(ip)); e != nil && a.ValidateIP {
						err = e
					}
				}
				out.Set(k[2], t)
			}
		case "gateway":
			err = validIP(value.Str(v))
			out.Set(k[2], value.Str(v))
		default:
			err = validSubnet(value.Str(v))
			out.Set(k[2], value.Str(v))
		}
		if err != nil && (a.ValidateIP || k[0] == "aux_addresses") {
			x.add(k[0], err)
		}
	}
	return out
}

// InspectNetwork returns what is known of a network.
func (e *Engine) InspectNetwork(ctx context.Context, name string) (*value.Map, error) {
	return e.mapping(ctx, "/networks/"+name)
}

// Networks returns the networks, and which containers they have.
func (e *Engine) Networks(ctx context.Context, names, ids []string) ([]*value.Map, error) {
	f := value.NewMap(2)
	if len(names) > 0 {
		f.Set("name", value.Strings(names...))
	}
	if len(ids) > 0 {
		f.Set("id", value.Strings(ids...))
	}
	all, err := e.list(ctx, "/networks", filtersOf(f))
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		if m, err := e.InspectNetwork(ctx, n.Str("Id")); err == nil && m.Map("Containers").Len() > 0 {
			n.Set("Containers", m.At("Containers"))
		}
	}
	return all, nil
}

// CreateNetwork creates a network.
func (e *Engine) CreateNetwork(ctx context.Context, name string, spec *NetworkSpec) (value.Value, error) {
	body := value.MapOf("Name", name)
	body.Update(spec.Config)
	if spec.IPAM.Len() > 0 {
		body.Set("IPAM", spec.IPAM)
	}
	return e.do(ctx, call{method: http.MethodPost, path: "/networks/create", body: body})
}

// RemoveNetwork removes a network.
func (e *Engine) RemoveNetwork(ctx context.Context, name string) error {
	_, err := e.do(ctx, call{method: http.MethodDelete, path: "/networks/" + name})
	return err
}

// Volumes returns the volumes as the engine lists them.
func (e *Engine) Volumes(ctx context.Context, filters value.Value) (*value.Map, error) {
	v, err := e.get(ctx, "/volumes", filtersOf(filters))
	if err != nil {
		return nil, err
	}
	m, _ := v.(*value.Map)
	return m, nil
}

// CreateVolume creates a volume.
func (e *Engine) CreateVolume(ctx context.Context, name, driver string, opts value.Mapping) (value.Value, error) {
	body := value.MapOf("Name", name)
	if driver != "" {
		body.Set("Driver", driver)
	}
	if opts != nil {
		body.Set("DriverOpts", texted(opts))
	}
	return e.do(ctx, call{method: http.MethodPost, path: "/volumes/create", body: body})
}

// RemoveVolume removes a volume.
func (e *Engine) RemoveVolume(ctx context.Context, name string) error {
	_, err := e.do(ctx, call{method: http.MethodDelete, path: "/volumes/" + name, query: url.Values{}})
	return err
}

// Repack makes a mapping of a list of mappings with one key each; other values
// stay.
func Repack(v value.Value) value.Value { return repack(v) }
