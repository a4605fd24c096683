package docker

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
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

type compareContainerNetworksArgs struct {
	_      fun.Arguments
	First  string `arg:"first,required" doc:"one container"`
	Second string `arg:"second,required" doc:"the other"`
}

func compareContainerNetworks(ctx context.Context, c *fun.Call, a *compareContainerNetworksArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		one, err := e.Inspect(ctx, a.First)
		if err != nil {
			return nil, err
		}
		two, err := e.Inspect(ctx, a.Second)
		if err != nil {
			return nil, err
		}
		return e.CompareNetworks(ctx, one, two)
	})
}

type compareNetworksArgs struct {
	_      fun.Arguments
	First  string   `arg:"first,required" doc:"one network"`
	Second string   `arg:"second,required" doc:"the other"`
	Ignore []string `arg:"ignore,comma[str]" default:"'Name,Id,Created,Containers'" doc:"keys that do not count"`
}

func compareNetworks(ctx context.Context, c *fun.Call, a *compareNetworksArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		one, err := e.InspectNetwork(ctx, a.First)
		if err != nil {
			return nil, err
		}
		two, err := e.InspectNetwork(ctx, a.Second)
		if err != nil {
			return nil, err
		}
		return CompareNets(one, two, a.Ignore), nil
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

type connectedArgs struct {
	_       fun.Arguments
	Name    string `arg:"name,required" doc:"name or ID of the network"`
	Verbose bool   `arg:"verbose" default:"False" doc:"return what is known of each"`
}

func connected(ctx context.Context, c *fun.Call, a *connectedArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.Connected(ctx, a.Name)
		if err != nil || a.Verbose {
			return m, err
		}
		return value.NewList(m.Keys()...), nil
	})
}

type connectArgs struct {
	Container string `arg:"container,required" doc:"name or ID of the container"`
	NetID     string `arg:"net_id,required" doc:"name or ID of the network"`
	endpointArgs
	Rest fun.Kwargs
}

func connect(ctx context.Context, c *fun.Call, args *connectArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		conf := args.Rest.Copy()
		for k, v := range value.MapOf(
			"aliases", args.Aliases, "driver_opt", args.DriverOpt, "ipv4_address", args.IPv4Address, "ipv6_address", args.IPv6Address,
			"link_local_ips", args.LinkLocalIPs, "links", args.Links,
		).All() {
			if v != nil {
				conf.Set(k, v)
			}
		}
		return true, e.Connect(ctx, args.Container, args.NetID, conf)
	})
}

type disconnectArgs struct {
	Container string `arg:"container,required" doc:"name or ID of the container"`
	networkIDArg
}

func disconnect(ctx context.Context, c *fun.Call, a *disconnectArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return true, e.Disconnect(ctx, a.Container, a.NetworkID)
	})
}

func disconnectAll(ctx context.Context, c *fun.Call, a *networkIDArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Connected(ctx, a.NetworkID)
		if err != nil {
			return nil, err
		}
		var gone, failed []string
		for _, k := range all.Keys() {
			switch err := e.Disconnect(ctx, value.Str(k), a.NetworkID); {
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

type createNetworkArgs struct {
	Name string `arg:"name,required" doc:"name of the network"`
	TranslateArgs
	timeoutArg
	NetworkArgs
	_ fun.Kwargs
}

func createNetwork(ctx context.Context, c *fun.Call, a *createNetworkArgs) (fun.Result, error) {
	return within(ctx, c, a.ClientTimeout, func(e *Engine) (value.Value, error) {
		spec, err := ArgumentsOf(c, &a.TranslateArgs, &a.NetworkArgs).Network()
		if err != nil {
			return nil, err
		}
		return e.CreateNetwork(ctx, a.Name, spec)
	})
}

type createVolumeArgs struct {
	volumeArg
	Driver     string      `arg:"driver" doc:"driver of the volume"`
	DriverOpts value.Value `arg:"driver_opts" doc:"options of the driver, as a mapping"`
}

func createVolume(ctx context.Context, c *fun.Call, a *createVolumeArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		opts, _ := repack(a.DriverOpts).(value.Mapping)
		return e.CreateVolume(ctx, a.Name, a.Driver, opts)
	})
}

func (e *Engine) inspectVolume(ctx context.Context, name string) (*value.Map, error) {
	return e.mapping(ctx, "/volumes/"+name)
}

func inspectNetwork(ctx context.Context, c *fun.Call, a *networkIDArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectNetwork(ctx, a.NetworkID) })
}

func inspectVolume(ctx context.Context, c *fun.Call, a *volumeArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.inspectVolume(ctx, a.Name) })
}

type networksArgs struct {
	_     fun.Arguments
	Names []string `arg:"names,comma[str]" doc:"only those with these names"`
	Ids   []string `arg:"ids,comma[str]" doc:"only those with these IDs"`
}

func networks(ctx context.Context, c *fun.Call, a *networksArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Networks(ctx, a.Names, a.Ids)
		return listOf(all), err
	})
}

func removeNetwork(ctx context.Context, c *fun.Call, a *networkIDArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveNetwork(ctx, a.NetworkID) })
}

func removeVolume(ctx context.Context, c *fun.Call, a *volumeArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveVolume(ctx, a.Name) })
}

func volumeList(ctx context.Context, c *fun.Call, a *filtersArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Volumes(ctx, repack(a.Filters)) })
}
