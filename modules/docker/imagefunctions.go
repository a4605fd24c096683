package docker

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/value"
	"brine/modules/cp"
	"brine/modules/machine"
)

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

func inspectImage(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectImage(ctx, c.Str("name")) })
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
	if m, ok := machine.Option(ctx, c.Env, "docker-registries").(value.Mapping); ok {
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

func pull(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Pull(ctx, c.Str("image"), c.Bool("api_response")) })
}

func push(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Push(ctx, c.Str("image"), c.Bool("api_response")) })
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

func tag(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return true, e.Tag(ctx, c.Str("name"), c.Str("repository"), c.Str("tag"), c.Bool("force"))
	})
}
