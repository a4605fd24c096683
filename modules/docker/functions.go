package docker

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/cp"
)

// engine is the engine of a call.
func engine(ctx context.Context, c *fun.Call) (*Engine, error) {
	timeout := time.Duration(0)
	if c.Declares("client_timeout") {
		timeout = c.Seconds("client_timeout")
	}
	return New(ctx, c.Env, timeout)
}

// with calls f with the engine of a call and returns its value.
func with(ctx context.Context, c *fun.Call, f func(*Engine) (value.Value, error)) (fun.Result, error) {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := f(e)
	if err != nil {
		if api, ok := err.(*APIError); ok { //nolint:errorlint // errors that are wrapped say more
			err = fun.Errorf("%s", api.Error())
		}
		return fun.Result{}, err
	}
	return fun.Value(v)
}

// ArgumentsOf returns the arguments of a call that describe a container or a
// network.
func ArgumentsOf(c *fun.Call) *Arguments {
	a := &Arguments{Values: c.Kw.Copy(), Collisions: c.Bool("ignore_collisions"), ValidateIP: c.Bool("validate_ip_addrs")}
	switch v := c.Value("skip_translate"); v {
	case true:
		a.SkipAll = true
	case nil, false:
	default:
		a.Skip = stringList(v)
	}
	for _, group := range [][]fun.Arg{ContainerArgs, NetworkArgs} {
		for _, arg := range group {
			if c.Declares(arg.Name) && !c.IsNone(arg.Name) {
				a.Values.Set(arg.Name, c.Value(arg.Name))
			}
		}
	}
	return a
}

// Prepare pulls an image where it is missing and translates the arguments of a
// container of it.
func (e *Engine) Prepare(ctx context.Context, image string, a *Arguments) (*ContainerSpec, error) {
	spec, err := a.Container(image)
	if err != nil {
		return nil, err
	}
	id, err := e.ImageID(ctx, image)
	if err != nil || id != "" {
		return spec, err
	}
	ret, err := e.Pull(ctx, image, false)
	if err != nil {
		return nil, err
	}
	if l := ret.List("Errors"); l != nil {
		return nil, fun.Errorf("Failed to pull %s: %s", image, value.Str(l.Items[0]))
	}
	return spec, nil
}

func create(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		a := ArgumentsOf(c)
		spec, err := e.Prepare(ctx, c.Str("image"), a)
		if err != nil {
			return nil, err
		}
		m, err := e.Create(ctx, spec, c.Str("name"))
		if err != nil || !c.Bool("start") {
			return m, err
		}
		if _, err := e.Start(ctx, m.Str("Id")); err != nil {
			return nil, fun.Errorf("Failed to start container after creation: %v", err)
		}
		m.Set("Started", true)
		return m, nil
	})
}

// A Run is what RunContainer runs.
type Run struct {
	Image, Name    string
	Background     bool
	Replace, Force bool
	Networks       *value.Map
}

// RunContainer creates and starts a container, and unless it is to be in the
// background waits for its end. The return has what it printed, and its status.
func (e *Engine) RunContainer(ctx context.Context, r Run, a *Arguments) (*value.Map, error) {
	spec, err := e.Prepare(ctx, r.Image, a)
	if err != nil {
		return nil, err
	}
	var removed *value.List
	if r.Name != "" {
		if removed, err = e.makeRoom(ctx, r); err != nil {
			return nil, err
		}
	}
	start := e.env.Host.Now()
	ret, err := e.Create(ctx, spec, r.Name)
	if err != nil {
		return nil, err
	}
	if removed != nil {
		ret.Set("Replaces", removed)
	}
	id := ret.Str("Id")
	for n, conf := range r.Networks.All() {
		m, _ := conf.(value.Mapping)
		if err := e.Connect(ctx, id, value.Str(n), m); err != nil {
			if spec.AutoRemove {
				_, _ = e.Remove(ctx, id, RemoveOptions{})
			}
			return nil, err
		}
	}
	if _, err := e.Start(ctx, id); err != nil && (!spec.AutoRemove || !Missing(err)) {
		return nil, err
	}
	if r.Background {
		ret.Set("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
		return ret, nil
	}
	warn := func(msg string) {
		l := ret.List("Warnings")
		if l == nil {
			l = value.NewList()
			ret.Set("Warnings", l)
		}
		l.Append(msg)
	}
	logs, err := e.Logs(ctx, id, url.Values{"stdout": {"true"}, "stderr": {"true"}, "follow": {"true"}})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		warn("Failed to get logs from container. This may be because the container exited before Salt was able to attach to it to retrieve the logs. Consider setting auto_remove to False.")
	}
	ret.Set("Time_Elapsed", e.env.Host.Now().Sub(start).Seconds())
	ret.Set("Logs", logs)
	if spec.AutoRemove {
		return ret, nil
	}
	m, err := e.Inspect(ctx, id)
	if err != nil {
		warn("Failed to inspect container after running")
		return ret, nil //nolint:nilerr // the container ran
	}
	if m.Map("State").Str("Status") != "exited" {
		warn("Container state is not 'exited'")
	}
	ret.Set("ExitCode", m.Map("State").At("ExitCode"))
	return ret, nil
}

// makeRoom removes the container that has the name, where it may.
func (e *Engine) makeRoom(ctx context.Context, r Run) (*value.List, error) {
	state, err := e.State(ctx, r.Name)
	switch {
	case Missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case state == Running && (!r.Replace || !r.Force):
		return nil, fun.Errorf("Container '%s' exists and is running. Run with replace=True and force=True to force removal of the existing container.", r.Name)
	case !r.Replace:
		return nil, fun.Errorf("Container '%s' exists. Run with replace=True to remove the existing container", r.Name)
	}
	return e.Remove(ctx, r.Name, RemoveOptions{Force: r.Force})
}

func runContainer(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		nets, err := namedNets(c.Value("networks"))
		if err != nil {
			return nil, err
		}
		return e.RunContainer(ctx, Run{Image: c.Str("image"), Name: c.Str("name"), Background: c.Bool("bg"), Replace: c.Bool("replace"), Force: c.Bool("force"), Networks: nets}, ArgumentsOf(c))
	})
}

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

func build(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Build(ctx, BuildOf(c)) })
}

// BuildOf returns what a call of docker.build builds.
func BuildOf(c *fun.Call) Build {
	args, _ := repack(c.Value("buildargs")).(value.Mapping)
	return Build{Path: c.Str("path"), Repository: c.Str("repository"), Tag: c.Str("tag"), Dockerfile: c.Str("dockerfile"), NoCache: !c.Bool("cache"), Remove: c.Bool("rm"), API: c.Bool("api_response"), Args: args, LogFile: c.Str("logfile")}
}

func commit(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		start := c.Env.Host.Now()
		q := url.Values{"container": {c.Str("name")}, "repo": {c.Str("repository")}, "tag": {c.Str("tag")}, "comment": {c.Str("message")}, "author": {c.Str("author")}}
		v, err := e.do(ctx, call{method: http.MethodPost, path: "/commit", query: q, body: value.NewMap(0), wait: time.Hour})
		if err != nil {
			return nil, err
		}
		m, _ := v.(*value.Map)
		if !m.Has("Id") {
			return nil, fun.Errorf("No image ID was returned in API response")
		}
		return value.MapOf("Time_Elapsed", c.Env.Host.Now().Sub(start).Seconds(), "Id", m.At("Id")), nil
	})
}

func compareContainers(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Compare(ctx, c.Str("first"), c.Str("second"), c.Strings("ignore"))
	})
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

func dangling(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Images(ctx, true)
		if err != nil {
			return nil, err
		}
		parents := map[value.Value]bool{}
		for _, v := range all.All() {
			m, _ := v.(*value.Map)
			parents[m.At("ParentId")] = true
		}
		var ids []string
		for k, v := range all.All() {
			m, _ := v.(*value.Map)
			if tags := items(m.At("RepoTags")); !parents[k] && (len(tags) == 0 || len(tags) == 1 && tags[0] == "<none>:<none>") {
				s := strings.TrimPrefix(value.Str(k), "sha256:")
				ids = append(ids, s[:min(12, len(s))])
			}
		}
		if !c.Bool("prune") {
			return value.Strings(ids...), nil
		}
		ret := value.NewMap(len(ids))
		for _, id := range ids {
			m, err := e.RemoveImages(ctx, []string{id}, c.Bool("force"), true)
			if err != nil {
				ret.Set(id, value.MapOf("Comment", err.Error(), "Removed", false))
				continue
			}
			ret.Set(id, value.MapOf("Removed", m))
		}
		return ret, nil
	})
}

func depends(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		containers, images, err := e.Depends(ctx, c.Str("name"))
		return value.MapOf("Containers", value.Strings(containers...), "Images", value.Strings(images...)), err
	})
}

func diff(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/containers/"+c.Str("name")+"/changes", nil)
		ret := value.NewMap(3)
		for _, m := range list {
			kind := "Unknown"
			if n, ok := value.AsInt(m.At("Kind")); ok && n >= 0 && n < 3 {
				kind = [...]string{"Changed", "Added", "Deleted"}[n]
			}
			l := ret.List(kind)
			if l == nil {
				l = value.NewList()
				ret.Set(kind, l)
			}
			l.Append(m.At("Path"))
		}
		return ret, err
	})
}

func exists(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		_, err := e.Inspect(ctx, c.Str("name"))
		if Missing(err) {
			return false, nil
		}
		return err == nil, err
	})
}

func history(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/"+c.Str("name")+"/history", nil)
		if err != nil {
			return nil, err
		}
		ret, quiet := value.NewList(), value.NewList()
		slices.Reverse(list)
		for _, m := range list {
			step := value.NewMap(m.Len() + 2)
			for k, v := range m.All() {
				switch k {
				case "CreatedBy":
					cmd := "FROM scratch"
					if value.Truth(v) {
						cmd = strings.TrimPrefix(strings.TrimPrefix(value.Str(v), "/bin/sh -c "), "#(nop) ")
					}
					step.Set("Command", cmd)
				case "Created":
					step.Set("Time_Created_Epoch", v)
				default:
					step.Set(k, v)
				}
			}
			if s, ok := local(m.At("Created")); ok {
				step.Set("Time_Created_Local", s)
			}
			sizes(step)
			ret.Append(step)
			quiet.Append(step.At("Command"))
		}
		if c.Bool("quiet") {
			return quiet, nil
		}
		return ret, nil
	})
}

func images(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Images(ctx, c.Bool("all"))
		if err != nil || !c.Bool("verbose") {
			return all, err
		}
		for k, v := range all.All() {
			info, err := e.InspectImage(ctx, value.Str(k))
			if err != nil {
				return nil, err
			}
			m, _ := v.(*value.Map)
			m.Set("Info", info)
		}
		return all, nil
	})
}

func info(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.mapping(ctx, "/info") })
}

func inspect(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("name")
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		for _, look := range []func(context.Context, string) (*value.Map, error){e.Inspect, e.InspectImage, e.inspectVolume, e.InspectNetwork} {
			m, err := look(ctx, name)
			if !Missing(err) {
				return m, err
			}
		}
		return nil, fun.Errorf("Error 404: No such image/container/volume/network: %s", name)
	})
}

func (e *Engine) inspectVolume(ctx context.Context, name string) (*value.Map, error) {
	return e.mapping(ctx, "/volumes/"+name)
}

func inspectContainer(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Inspect(ctx, c.Str("name")) })
}

func inspectImage(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectImage(ctx, c.Str("name")) })
}

func inspectNetwork(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectNetwork(ctx, c.Str("network_id")) })
}

func inspectVolume(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.inspectVolume(ctx, c.Str("name")) })
}

func kill(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.act(ctx, c.Str("name"), "kill", Stopped, call{}) })
}

func layers(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/"+c.Str("name")+"/history", nil)
		if Missing(err) {
			return nil, fun.Errorf("Image '%s' not found", c.Str("name"))
		}
		out := value.NewList()
		slices.Reverse(list)
		for _, m := range list {
			s := strings.TrimPrefix(m.Str("Id"), "sha256:")
			if s != "<missing>" {
				s = s[:min(12, len(s))]
			}
			out.Append(s)
		}
		return out, err
	})
}

func listContainers(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		names, err := e.Names(ctx, c.Bool("all"))
		return value.Strings(names...), err
	})
}

func listTags(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		tags, err := e.Tags(ctx)
		return value.Strings(tags...), err
	})
}

func load(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.LoadFrom(ctx, c.Str("path"), c.Str("repository"), c.Str("tag"))
	})
}

// LoadFrom is Load for an archive of this machine, the file server or the web.
func (e *Engine) LoadFrom(ctx context.Context, source, repo, tag string) (*value.Map, error) {
	file := source
	if cp.IsRemote(source) || strings.HasPrefix(source, "salt://") {
		var err error
		if file, err = cp.New(e.env, e.env.SaltEnv).CacheFile(ctx, source, cp.Options{}); err != nil {
			return nil, err
		}
	}
	return e.Load(ctx, file, source, repo, tag)
}

// registries returns the credentials of registries, as configured.
func registries(ctx context.Context, c *fun.Call) *value.Map {
	all := value.NewMap(2)
	if m, ok := setting(ctx, c.Env, "docker-registries").(value.Mapping); ok {
		all.Update(m)
	}
	for _, from := range []value.Mapping{c.Env.Opts, c.Env.Pillar} {
		if from == nil {
			continue
		}
		for _, k := range from.Keys() {
			if v, _ := from.Get(k); strings.HasSuffix(value.Str(k), "-docker-registries") {
				if m, ok := v.(value.Mapping); ok {
					all.Update(m)
				}
			}
		}
	}
	return all
}

// eachRegistry calls do for the registries of a call, or all that are configured,
// and collects how that went.
func eachRegistry(ctx context.Context, c *fun.Call, do func(name, user, password string) error) (fun.Result, error) {
	all := registries(ctx, c)
	errs, results := value.NewList(), value.NewMap(2)
	names := all.Keys()
	if len(c.Pos) > 0 {
		names = c.Pos
	}
	for _, k := range names {
		name := value.Str(k)
		conf := all.Map(name)
		switch {
		case !all.Has(name):
			errs.Append("No match found for registry '" + name + "'")
		case conf == nil:
			errs.Append("Invalid configuration for registry '" + name + "'")
		case !conf.Has("username") || !conf.Has("password"):
			errs.Append("Missing 'username' or 'password' for registry '" + name + "'")
		default:
			err := do(name, conf.Str("username"), conf.Str("password"))
			results.Set(name, err == nil)
			if err != nil {
				errs.Append(err.Error())
			}
		}
	}
	code := int64(0)
	if errs.Len() > 0 {
		code = 1
	}
	return fun.Value(value.MapOf("retcode", code, "Errors", errs, "Results", results))
}

// storeAuth writes the credentials of a registry into the docker client's
// configuration; auth "" removes them.
func (e *Engine) storeAuth(server, auth string) error {
	file := e.configFile()
	m := value.NewMap(1)
	if raw, err := e.env.Host.ReadFile(file); err == nil {
		v, err := value.ParseJSON(value.DecodeReplace(raw))
		have, ok := v.(*value.Map)
		if err != nil || !ok {
			return fun.Errorf("%s is not a JSON object", file)
		}
		m = have
	}
	auths := m.Map("auths")
	if auths == nil {
		auths = value.NewMap(1)
		m.Set("auths", auths)
	}
	if auth == "" {
		if !auths.Delete(server) {
			return nil
		}
	} else {
		auths.Set(server, value.MapOf("auth", auth))
	}
	if err := e.env.Host.MkdirAll(path.Dir(file), 0o700); err != nil {
		return fun.Errorf("%s", host.OSError(err))
	}
	mode := host.FileMode(0o600)
	if err := e.env.Host.WriteFile(file, strings.NewReader(string(value.EncodeJSON(m))+"\n"), host.WriteOptions{Mode: &mode, FollowLinks: true}); err != nil {
		return fun.Errorf("%s", host.OSError(err))
	}
	return nil
}

// server is the name of a registry in the docker client's configuration.
func server(name string) string {
	if strings.EqualFold(name, "hub") {
		return hub
	}
	return name
}

func login(ctx context.Context, c *fun.Call) (fun.Result, error) {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return eachRegistry(ctx, c, func(name, user, password string) error {
		body := value.MapOf("username", user, "password", password, "serveraddress", server(name))
		if err := e.post(ctx, "/auth", nil, body); err != nil {
			return err
		}
		return e.storeAuth(server(name), base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	})
}

func logout(ctx context.Context, c *fun.Call) (fun.Result, error) {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Result{}, err
	}
	return eachRegistry(ctx, c, func(name, _, _ string) error { return e.storeAuth(server(name), "") })
}

func logs(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		q := url.Values{"stdout": {"true"}, "stderr": {"true"}, "tail": {"all"}}
		for _, k := range []string{"stdout", "stderr", "timestamps", "follow"} {
			if !c.IsNone(k) {
				q.Set(k, strconv.FormatBool(c.Bool(k)))
			}
		}
		for _, k := range []string{"tail", "since", "until"} {
			if !c.IsNone(k) {
				q.Set(k, c.Str(k))
			}
		}
		return e.Logs(ctx, c.Str("name"), q)
	})
}

func networks(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Networks(ctx, c.Strings("names"), c.Strings("ids"))
		return listOf(all), err
	})
}

func pause(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		if m, err := e.except(ctx, c.Str("name"), Stopped, "pause"); m != nil || err != nil {
			return m, err
		}
		return e.act(ctx, c.Str("name"), "pause", Paused, call{})
	})
}

func pid(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.Inspect(ctx, c.Str("name"))
		return m.Map("State").At("Pid"), err
	})
}

func port(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		name, pattern := c.Str("name"), "*"
		switch v := c.Value("private_port").(type) {
		case nil:
		case int64:
			pattern = strconv.FormatInt(v, 10) + "/*"
		default:
			num, proto, _ := strings.Cut(value.Str(v), "/")
			proto = strings.ToLower(proto)
			if _, err := strconv.Atoi(num); err != nil || proto != "tcp" && proto != "udp" {
				return nil, fun.Errorf("Invalid private_port '%s'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)", value.Str(v))
			}
			pattern = num + "/" + proto
		}
		names := []string{name}
		if value.HasGlob(name) {
			all, err := e.Names(ctx, true)
			if err != nil {
				return nil, err
			}
			names = value.FnmatchFilter(all, name)
		}
		ret := value.NewMap(len(names))
		for _, n := range names {
			m, err := e.Inspect(ctx, n)
			if err != nil {
				return nil, err
			}
			ports := value.NewMap(2)
			for k, v := range m.Map("NetworkSettings").Map("Ports").All() {
				if value.Fnmatch(pattern, value.Str(k)) {
					ports.Set(k, v)
				}
			}
			ret.Set(n, ports)
		}
		if value.HasGlob(name) {
			return ret, nil
		}
		return ret.At(name), nil
	})
}

func prune(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		system := c.Bool("system")
		if c.IsNone("system") {
			system = !c.Bool("containers") && !c.Bool("images") && !c.Bool("networks") && !c.Bool("build")
		}
		ret := value.NewMap(4)
		for _, k := range []string{"containers", "images", "networks", "build", "volumes"} {
			if !c.Bool(k) && (!system || k == "volumes") {
				continue
			}
			v, err := e.do(ctx, call{method: http.MethodPost, path: "/" + k + "/prune", query: filtersOf(c.Kw), wait: time.Hour})
			if err != nil {
				return nil, err
			}
			ret.Set(k, v)
		}
		return ret, nil
	})
}

func ps(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.PS(ctx, repack(c.Value("filters")), c.Bool("all"))
		if err != nil || !c.Bool("verbose") {
			return all, err
		}
		for k, v := range all.All() {
			info, err := e.Inspect(ctx, value.Str(k))
			if err != nil {
				return nil, err
			}
			m, _ := v.(*value.Map)
			m.Set("Info", info)
		}
		return all, nil
	})
}

func pull(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Pull(ctx, c.Str("image"), c.Bool("api_response")) })
}

func push(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Push(ctx, c.Str("image"), c.Bool("api_response")) })
}

func removeNetwork(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveNetwork(ctx, c.Str("network_id")) })
}

func removeVolume(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.RemoveVolume(ctx, c.Str("name")) })
}

func rename(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Rename(ctx, c.Str("name"), c.Str("new_name")) })
}

func resolveImageID(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		id, err := e.ImageID(ctx, c.Str("name"))
		if id == "" {
			return false, err
		}
		return id, nil
	})
}

func resolveTag(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		tags, err := e.ResolveTags(ctx, c.Str("name"))
		switch {
		case len(tags) == 0:
			return false, err
		case c.Bool("all"):
			return value.Strings(tags...), nil
		}
		return tags[0], nil
	})
}

func restart(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		n := c.Int("timeout")
		m, err := e.act(ctx, c.Str("name"), "restart", Running, call{query: url.Values{"t": {strconv.FormatInt(n, 10)}}, wait: time.Duration(max(0, min(n, 86400))) * time.Second})
		if err == nil && m.At("result") == true {
			m.Set("restarted", true)
		}
		return m, err
	})
}

func timeoutOf(c *fun.Call) *int64 {
	if c.IsNone("timeout") {
		return nil
	}
	n := c.Int("timeout")
	return &n
}

func rm(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Remove(ctx, c.Str("name"), RemoveOptions{c.Bool("force"), c.Bool("volumes"), c.Bool("stop"), timeoutOf(c)})
	})
}

func rmi(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		var names []string
		for _, n := range c.Pos {
			names = append(names, value.Str(n))
		}
		return e.RemoveImages(ctx, names, c.Bool("force"), c.Bool("prune"))
	})
}

func search(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/search", url.Values{"term": {c.Str("name")}})
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fun.Errorf("No images matched the search string '%s'", c.Str("name"))
		}
		keys := map[value.Value]string{"description": "Description", "is_official": "Official", "is_trusted": "Trusted", "star_count": "Stars"}
		ret := value.NewMap(len(list))
		for _, m := range list {
			img := value.NewMap(m.Len())
			for k, v := range m.All() {
				switch to := keys[k]; {
				case k == "name":
				case to != "":
					img.Set(to, v)
				default:
					img.Set(k, v)
				}
			}
			official, trusted := c.Bool("official"), c.Bool("trusted")
			if !official && !trusted || official && value.Truth(img.At("Official")) || trusted && value.Truth(img.At("Trusted")) {
				ret.Set(m.At("name"), img)
			}
		}
		return ret, nil
	})
}

func signal(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return true, e.Signal(ctx, c.Str("name"), c.Str("signal")) })
}

func start(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Start(ctx, c.Str("name")) })
}

func state(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.State(ctx, c.Str("name")) })
}

func stop(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.Stop(ctx, c.Str("name"), timeoutOf(c), c.Bool("unpause"))
	})
}

func tag(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return true, e.Tag(ctx, c.Str("name"), c.Str("repository"), c.Str("tag"), c.Bool("force"))
	})
}

func top(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.mapping(ctx, "/containers/"+c.Str("name")+"/top")
		titles, ret := items(m.At("Titles")), value.NewList()
		for _, p := range items(m.At("Processes")) {
			row := value.NewMap(len(titles))
			for i, v := range items(p) {
				if i < len(titles) {
					row.Set(value.Str(titles[i]), v)
				}
			}
			ret.Append(row)
		}
		return ret, err
	})
}

func unpause(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		if m, err := e.except(ctx, c.Str("name"), Stopped, "unpause"); m != nil || err != nil {
			return m, err
		}
		return e.act(ctx, c.Str("name"), "unpause", Running, call{})
	})
}

// numbers returns the numbers of a version: (20, 10, 24).
func numbers(s string) value.Tuple {
	var out value.Tuple
	for part := range strings.SplitSeq(s, ".") {
		end := 0
		for end < len(part) && part[end] >= '0' && part[end] <= '9' {
			end++
		}
		n, err := strconv.ParseInt(part[:end], 10, 64)
		if err != nil {
			break
		}
		out = append(out, n)
		if end < len(part) {
			break
		}
	}
	return out
}

func version(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		m, err := e.mapping(ctx, "/version")
		if err != nil {
			return nil, err
		}
		for _, k := range []string{"Version", "ApiVersion"} {
			if n := numbers(m.Str(k)); len(n) > 0 {
				m.Set(k+"Info", n)
			}
		}
		return m, nil
	})
}

func volumeList(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Volumes(ctx, repack(c.Value("filters"))) })
}

func wait(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		name, ignore := c.Str("name"), c.Bool("ignore_already_stopped")
		before, err := e.State(ctx, name)
		if Missing(err) {
			return value.MapOf("result", ignore, "comment", "Container '"+name+"' absent"), nil
		}
		if err != nil {
			return nil, err
		}
		code, err := e.Wait(ctx, name)
		if err != nil {
			return nil, err
		}
		var after value.Value
		if s, err := e.State(ctx, name); err == nil {
			after = s
		}
		stopped := before == Stopped
		ok := after == Stopped
		if stopped {
			ok = ignore
		}
		if c.Bool("fail_on_exit_status") && ok {
			ok = code == int64(0)
		}
		m := value.MapOf("result", ok, "state", value.MapOf("old", before, "new", after), "exit_status", code)
		if stopped {
			m.Set("comment", "Container '"+name+"' already stopped")
		}
		return m, nil
	})
}
