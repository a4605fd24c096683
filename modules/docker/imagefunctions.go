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

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
	"brine/modules/machine"
)

type buildArgs struct {
	Path string `arg:"path" doc:"directory of this machine, or a URL"`
	repositoryArg
	tagArg
	Cache bool `arg:"cache" default:"True" doc:"use the cache"`
	Rm    bool `arg:"rm" default:"True" doc:"remove intermediate containers"`
	apiArg
	_          value.Value `arg:"fileobj,none" doc:"not supported"`
	Dockerfile string      `arg:"dockerfile" doc:"path of the Dockerfile in the directory"`
	Buildargs  value.Value `arg:"buildargs" doc:"arguments of the build, as a mapping"`
	Logfile    string      `arg:"logfile" doc:"file to append the output to"`
}

func build(ctx context.Context, c *fun.Call, a *buildArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.Build(ctx, BuildOf(c, a)) })
}

// BuildOf returns what a call of docker.build builds.
func BuildOf(c *fun.Call, a *buildArgs) Build {
	args, _ := repack(a.Buildargs).(value.Mapping)
	return Build{Path: a.Path, Repository: a.Repository, Tag: a.Tag, Dockerfile: a.Dockerfile, NoCache: !a.Cache, Remove: a.Rm, API: a.APIResponse, Args: args, LogFile: a.Logfile}
}

type commitArgs struct {
	containerArg
	newRepoArg
	latestArg
	Message string `arg:"message" doc:"message of the commit"`
	Author  string `arg:"author" doc:"author of the commit"`
}

func commit(ctx context.Context, c *fun.Call, a *commitArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		start := c.Env.Host.Now()
		q := url.Values{"container": {a.Name}, "repo": {a.Repository}, "tag": {a.Tag}, "comment": {a.Message}, "author": {a.Author}}
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

type danglingArgs struct {
	_     fun.Arguments
	Prune bool `arg:"prune" default:"False" doc:"remove them"`
	Force bool `arg:"force" default:"False" doc:"remove them although they are used"`
}

func dangling(ctx context.Context, c *fun.Call, a *danglingArgs) (fun.Result, error) {
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
		if !a.Prune {
			return value.Strings(ids...), nil
		}
		ret := value.NewMap(len(ids))
		for _, id := range ids {
			m, err := e.RemoveImages(ctx, []string{id}, a.Force, true)
			if err != nil {
				ret.Set(id, value.MapOf("Comment", err.Error(), "Removed", false))
				continue
			}
			ret.Set(id, value.MapOf("Removed", m))
		}
		return ret, nil
	})
}

func depends(ctx context.Context, c *fun.Call, a *imageNameArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		containers, images, err := e.Depends(ctx, a.Name)
		return value.MapOf("Containers", value.Strings(containers...), "Images", value.Strings(images...)), err
	})
}

type historyArgs struct {
	imageNameArg
	Quiet bool `arg:"quiet" default:"False" doc:"return the commands only"`
}

func history(ctx context.Context, c *fun.Call, a *historyArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/"+a.Name+"/history", nil)
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
		if a.Quiet {
			return quiet, nil
		}
		return ret, nil
	})
}

type imagesArgs struct {
	_       fun.Arguments
	Verbose bool `arg:"verbose" default:"False" doc:"with what inspect_image returns"`
	All     bool `arg:"all,kw" default:"False" doc:"also those without a tag"`
}

func images(ctx context.Context, c *fun.Call, a *imagesArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		all, err := e.Images(ctx, a.All)
		if err != nil || !a.Verbose {
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

func inspectImage(ctx context.Context, c *fun.Call, a *imageNameArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) { return e.InspectImage(ctx, a.Name) })
}

func layers(ctx context.Context, c *fun.Call, a *imageNameArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/"+a.Name+"/history", nil)
		if Missing(err) {
			return nil, fun.Errorf("Image '%s' not found", a.Name)
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

func listTags(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		tags, err := e.Tags(ctx)
		return value.Strings(tags...), err
	})
}

type loadArgs struct {
	Path string `arg:"path,required" doc:"path of this machine, or a salt://, http:// or https:// URL"`
	repositoryArg
	tagArg
}

func load(ctx context.Context, c *fun.Call, a *loadArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return e.LoadFrom(ctx, a.Path, a.Repository, a.Tag)
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

// loginArgs are the arguments of login and logout.
type loginArgs struct {
	_ fun.Varargs
}

func login(ctx context.Context, c *fun.Call, _ *loginArgs) (fun.Result, error) {
	e, err := New(ctx, c.Env, 0)
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

func logout(ctx context.Context, c *fun.Call, _ *loginArgs) (fun.Result, error) {
	e, err := New(ctx, c.Env, 0)
	if err != nil {
		return fun.Result{}, err
	}
	return eachRegistry(ctx, c, func(name, _, _ string) error { return e.storeAuth(server(name), "") })
}

type pruneArgs struct {
	Containers bool          `arg:"containers" default:"False" doc:"stopped containers"`
	Networks   bool          `arg:"networks" default:"False" doc:"networks without containers"`
	Images     bool          `arg:"images" default:"False" doc:"images without a tag"`
	Build      bool          `arg:"build" default:"False" doc:"the cache of builds"`
	Volumes    bool          `arg:"volumes" default:"False" doc:"volumes without containers"`
	System     fun.Opt[bool] `arg:"system" doc:"all of these but volumes; default: where nothing else is named"`
	Rest       fun.Kwargs
}

func prune(ctx context.Context, c *fun.Call, a *pruneArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		system := a.System.V
		if !a.System.Given {
			system = !a.Containers && !a.Images && !a.Networks && !a.Build
		}
		ret := value.NewMap(4)
		for _, kind := range []struct {
			name string
			on   bool
		}{
			{"containers", system || a.Containers},
			{"images", system || a.Images},
			{"networks", system || a.Networks},
			{"build", system || a.Build},
			{"volumes", a.Volumes},
		} {
			if !kind.on {
				continue
			}
			v, err := e.do(ctx, call{method: http.MethodPost, path: "/" + kind.name + "/prune", query: filtersOf(a.Rest.Map), wait: time.Hour})
			if err != nil {
				return nil, err
			}
			ret.Set(kind.name, v)
		}
		return ret, nil
	})
}

// pullArgs are the arguments of pull and push.
type pullArgs struct {
	imageArg
	insecureArg
	apiArg
	timeoutArg
}

func pull(ctx context.Context, c *fun.Call, a *pullArgs) (fun.Result, error) {
	return within(ctx, c, a.ClientTimeout, func(e *Engine) (value.Value, error) { return e.Pull(ctx, a.Image, a.APIResponse) })
}

func push(ctx context.Context, c *fun.Call, a *pullArgs) (fun.Result, error) {
	return within(ctx, c, a.ClientTimeout, func(e *Engine) (value.Value, error) { return e.Push(ctx, a.Image, a.APIResponse) })
}

func resolveImageID(ctx context.Context, c *fun.Call, a *imageNameArg) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		id, err := e.ImageID(ctx, a.Name)
		if id == "" {
			return false, err
		}
		return id, nil
	})
}

type resolveTagArgs struct {
	imageNameArg
	All bool `arg:"all,kw" default:"False" doc:"return all tags"`
}

func resolveTag(ctx context.Context, c *fun.Call, a *resolveTagArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		tags, err := e.ResolveTags(ctx, a.Name)
		switch {
		case len(tags) == 0:
			return false, err
		case a.All:
			return value.Strings(tags...), nil
		}
		return tags[0], nil
	})
}

type rmiArgs struct {
	Force bool `arg:"force,kw" default:"False" doc:"remove them although they are used"`
	Prune bool `arg:"prune,kw" default:"True" doc:"remove their parents without a tag, too"`
	More  fun.Varargs
}

func rmi(ctx context.Context, c *fun.Call, a *rmiArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		var names []string
		for _, n := range a.More {
			names = append(names, value.Str(n))
		}
		return e.RemoveImages(ctx, names, a.Force, a.Prune)
	})
}

type searchArgs struct {
	_        fun.Arguments
	Name     string `arg:"name,required" doc:"what to search for"`
	Official bool   `arg:"official" default:"False" doc:"only official images"`
	Trusted  bool   `arg:"trusted" default:"False" doc:"only trusted images"`
}

func search(ctx context.Context, c *fun.Call, a *searchArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		list, err := e.list(ctx, "/images/search", url.Values{"term": {a.Name}})
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fun.Errorf("No images matched the search string '%s'", a.Name)
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
			official, trusted := a.Official, a.Trusted
			if !official && !trusted || official && value.Truth(img.At("Official")) || trusted && value.Truth(img.At("Trusted")) {
				ret.Set(m.At("name"), img)
			}
		}
		return ret, nil
	})
}

type tagArgs struct {
	imageNameArg
	newRepoArg
	latestArg
	Force bool `arg:"force" default:"False" doc:"take the tag from another image"`
}

func tag(ctx context.Context, c *fun.Call, a *tagArgs) (fun.Result, error) {
	return with(ctx, c, func(e *Engine) (value.Value, error) {
		return true, e.Tag(ctx, a.Name, a.Repository, a.Tag, a.Force)
	})
}
