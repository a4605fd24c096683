package docker

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
)

// namedNets returns networks by name: given as a mapping, a list, or text that is
// split at commas.
func namedNets(v value.Value) (*value.Map, error) {
	out := value.NewMap(2)
	if v == nil {
		return out, nil
	}
	if m, ok := repack(v).(value.Mapping); ok {
		for _, k := range m.Keys() {
			x, _ := m.Get(k)
			conf, ok := repack(x).(value.Mapping)
			if !ok && x != nil {
				return nil, fun.Errorf("Invalid format for networks argument")
			}
			if conf == nil {
				conf = value.NewMap(0)
			}
			out.Set(k, conf)
		}
		return out, nil
	}
	for _, s := range stringList(v) {
		if s != "" {
			out.Set(s, value.NewMap(0))
		}
	}
	return out, nil
}

func compareContainerNetworks(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		one, err := e.Inspect(ctx, c.Str("first"))
		if err != nil {
			return nil, err
		}
		two, err := e.Inspect(ctx, c.Str("second"))
		if err != nil {
			return nil, err
		}
		return e.CompareNetworks(ctx, one, two)
	})
}

func compareNetworks(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		one, err := e.InspectNetwork(ctx, c.Str("first"))
		if err != nil {
			return nil, err
		}
		two, err := e.InspectNetwork(ctx, c.Str("second"))
		if err != nil {
			return nil, err
		}
		return CompareNets(one, two, c.Strings("ignore")), nil
	})
}

// Connected returns the containers of a network by name.
func (e *Engine) Connected(ctx context.Context, network string) (*value.Map, error) {
	m, err := e.InspectNetwork(ctx, network)
	if err != nil {
		return nil, err
	}
	out := value.NewMap(2)
	for id, v := range m.Map("Containers").All() {
		if info, ok := v.(*value.Map); ok && info.Has("Name") {
			info = info.Copy()
			name := info.At("Name")
			info.Delete("Name")
			info.Set("Id", id)
			out.Set(name, info)
		}
	}
	return out, nil
}

func connected(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.Connected(ctx, c.Str("name"))
		if err != nil || c.Bool("verbose") {
			return m, err
		}
		return value.NewList(m.Keys()...), nil
	})
}

func connect(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		conf := c.Kw.Copy()
		for _, a := range endpointArgs {
			if !c.IsNone(a.Name) {
				conf.Set(a.Name, c.Value(a.Name))
			}
		}
		return true, e.Connect(ctx, c.Str("container"), c.Str("net_id"), conf)
	})
}

func disconnect(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return true, e.Disconnect(ctx, c.Str("container"), c.Str("network_id"))
	})
}

func disconnectAll(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Connected(ctx, c.Str("network_id"))
		if err != nil {
			return nil, err
		}
		var gone, failed []string
		for _, k := range all.Keys() {
			switch err := e.Disconnect(ctx, value.Str(k), c.Str("network_id")); {
			case err == nil:
				gone = append(gone, value.Str(k))
			case !Missing(err):
				failed = append(failed, err.Error())
			}
		}
		if len(failed) > 0 {
			return nil, fun.Errorf("One or more containers failed to be removed: %s", strings.Join(failed, "; "))
		}
		return value.Strings(gone...), nil
	})
}

func createNetwork(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		spec, err := ArgumentsOf(c).Network()
		if err != nil {
			return nil, err
		}
		return e.CreateNetwork(ctx, c.Str("name"), spec)
	})
}

func createVolume(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		opts, _ := repack(c.Value("driver_opts")).(value.Mapping)
		return e.CreateVolume(ctx, c.Str("name"), c.Str("driver"), opts)
	})
}

func (e *Engine) inspectVolume(ctx context.Context, name string) (*value.Map, error) {
	return e.mapping(ctx, "/volumes/"+name)
}

func inspectNetwork(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectNetwork(ctx, c.Str("network_id")) })
}

func inspectVolume(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.inspectVolume(ctx, c.Str("name")) })
}

func networks(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Networks(ctx, c.Strings("names"), c.Strings("ids"))
		return listOf(all), err
	})
}

func removeNetwork(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveNetwork(ctx, c.Str("network_id")) })
}

func removeVolume(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveVolume(ctx, c.Str("name")) })
}

func volumeList(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Volumes(ctx, repack(c.Value("filters"))) })
}
