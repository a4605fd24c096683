package docker

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/docker"
)

type imagePresentArgs struct {
	_     string          `arg:"name,required" doc:"name of the image"`
	Tag   string          `arg:"tag" doc:"tag of the image; needed with build and load"`
	Build fun.Opt[string] `arg:"build" doc:"directory with a Dockerfile, or a URL"`
	Load  fun.Opt[string] `arg:"load" doc:"archive: a path of this machine, or a salt://, http:// or https:// URL"`
	Force bool            `arg:"force" default:"False" doc:"pull, build or load it although it is there"`
	_     bool            `arg:"insecure_registry" default:"False" doc:"accepted; the engine's own configuration says which registries are insecure"`
	timeoutArg
	Dockerfile string      `arg:"dockerfile" doc:"path of the Dockerfile in the directory"`
	SLS        value.Value `arg:"sls" doc:"refused: images are not built from SLS, which takes Salt in the image"`
	_          string      `arg:"base" default:"opensuse/python" doc:"accepted; only with sls"`
	_          string      `arg:"saltenv" default:"base" doc:"accepted; only with sls"`
	_          string      `arg:"pillarenv" doc:"accepted; only with sls"`
	_          value.Value `arg:"pillar,dict" doc:"accepted; only with sls"`
	Buildargs  value.Value `arg:"buildargs,dict|list" doc:"variables of the build"`
	_          fun.Kwargs
}

// imagePresent pulls, builds or loads an image.
// Salt: salt/states/docker_image.py present.
func imagePresent(ctx context.Context, c *fun.Call, a *imagePresentArgs) fun.Ret {
	return image(ctx, c, a, a.Force)
}

func image(ctx context.Context, c *fun.Call, a *imagePresentArgs, force bool) fun.Ret {
	build, load, tag := a.Build.V, a.Load.V, a.Tag
	name := c.Name
	switch {
	case a.SLS != nil:
		return fun.Fail("brine does not build images from SLS, which takes Salt in the image: use 'build' with a Dockerfile")
	case a.Build.Given && a.Load.Given:
		return fun.Fail("Only one of 'build', 'load', or 'sls' is permitted.")
	case (a.Build.Given || a.Load.Given) && tag == "":
		return fun.Fail("The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used.")
	}
	full := name
	if tag != "" {
		full = name + ":" + tag
	}
	action := "pulled"
	switch {
	case build != "":
		action = "built"
	case load != "":
		action = "loaded"
	default:
		name = full
	}
	e, err := docker.New(ctx, c.Env, a.ClientTimeout)
	if err != nil {
		return fun.Fail("%v", err)
	}
	have, err := e.InspectImage(ctx, full)
	switch {
	case err != nil && !docker.Missing(err):
		return fun.Fail("%v", err)
	case have != nil && !force:
		return fun.Ret{Result: fun.OK, Comment: "Image " + full + " already present"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "Image " + full + " will be " + action}
	}
	changes, ret := obtain(ctx, a, e, name, full, have)
	if ret != nil {
		return *ret
	}
	if _, err := e.InspectImage(ctx, full); err != nil {
		return fun.Ret{Comment: "Failed to inspect image '" + full + "' after it was " + action + ": " + err.Error(), Changes: changes}
	}
	if changes.Len() == 0 {
		return fun.Ret{Result: fun.OK, Comment: "Image '" + name + "' was " + action + ", but there were no changes"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Image '" + full + "' was " + action, Changes: changes}
}

// short is the ID of an image in the short form.
func short(m *value.Map) string {
	id := strings.TrimPrefix(m.Str("Id"), "sha256:")
	return id[:min(12, len(id))]
}

// obtain builds, loads or pulls an image, and returns what changed.
func obtain(ctx context.Context, a *imagePresentArgs, e *docker.Engine, name, full string, have *value.Map) (*value.Map, *fun.Ret) {
	stop := func(err error, format ...string) (*value.Map, *fun.Ret) {
		r := fun.Fail("Encountered error %s: %v", strings.Join(format, ""), err)
		return nil, &r
	}
	none := value.NewMap(0)
	switch build, load := a.Build.V, a.Load.V; {
	case build != "":
		args, _ := docker.Repack(a.Buildargs).(value.Mapping)
		m, err := e.Build(ctx, docker.Build{Path: build, Repository: name, Tag: a.Tag, Dockerfile: a.Dockerfile, Remove: true, Args: args})
		if err != nil {
			return stop(err, "building ", build, " as ", full)
		}
		if have != nil && short(m) == short(have) {
			return none, nil
		}
		return m, nil
	case load != "":
		m, err := e.LoadFrom(ctx, load, name, a.Tag)
		if err != nil {
			return stop(err, "loading ", load, " as ", full)
		}
		if l := m.List("Layers"); have != nil && (l == nil || len(l.Items) == 0) {
			return none, nil
		}
		return m, nil
	}
	m, err := e.Pull(ctx, full, false)
	if err != nil {
		return stop(err, "pulling ", full)
	}
	if l := m.List("Errors"); l != nil {
		r := fun.Fail("Encountered error pulling %s: %s", full, value.Str(l.Items[0]))
		return nil, &r
	}
	if have == nil || m.Map("Layers").Has("Pulled") {
		return m, nil
	}
	return none, nil
}

type imageAbsentArgs struct {
	_      fun.Arguments
	_      string            `arg:"name" doc:"name of the image"`
	Images fun.Opt[[]string] `arg:"images" doc:"list of images, instead of the name"`
	Force  bool              `arg:"force" default:"False" doc:"remove them although they are used"`
}

// imageAbsent removes images. Salt: salt/states/docker_image.py absent.
func imageAbsent(ctx context.Context, c *fun.Call, a *imageAbsentArgs) fun.Ret {
	targets := []string{c.Name}
	if a.Images.Given {
		targets = a.Images.V
	}
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	var todo []string
	for _, t := range targets {
		tags, err := e.ResolveTags(ctx, t)
		if err != nil {
			return fun.Fail("%v", err)
		}
		switch {
		case len(tags) == 0:
		case strings.Contains(t, ":") && slices.Contains(tags, t):
			todo = append(todo, t)
		default:
			todo = append(todo, tags[0])
		}
	}
	switch {
	case len(todo) == 0 && len(targets) == 1:
		return fun.Ret{Result: fun.OK, Comment: "Image " + targets[0] + " is not present"}
	case len(todo) == 0:
		return fun.Ret{Result: fun.OK, Comment: "All specified images are not present"}
	case c.Test && len(todo) == 1:
		return fun.Ret{Result: fun.WouldChange, Comment: "Image " + todo[0] + " will be removed"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The following images will be removed: " + strings.Join(todo, ", ")}
	}
	return removeImages(ctx, e, todo, a.Force)
}

func removeImages(ctx context.Context, e *docker.Engine, todo []string, force bool) fun.Ret {
	result, err := e.RemoveImages(ctx, todo, force, true)
	if err != nil {
		return fun.Fail("%v", err)
	}
	var failed []string
	for _, t := range todo {
		tags, err := e.ResolveTags(ctx, t)
		if err != nil {
			return fun.Fail("%v", err)
		}
		if len(tags) > 0 {
			failed = append(failed, t)
		}
	}
	switch {
	case len(failed) > 0 && len(failed) < len(todo):
		return fun.Ret{Comment: "The following image(s) failed to be removed: " + strings.Join(failed, ", "), Changes: result}
	case len(failed) > 0:
		comment := "None of the specified images were removed"
		if l := result.List("Errors"); l != nil {
			var errs []string
			for _, x := range l.Items {
				errs = append(errs, value.Str(x))
			}
			comment += ". The following errors were encountered: " + strings.Join(errs, "; ")
		}
		return fun.Ret{Comment: comment}
	case len(todo) == 1:
		return fun.Ret{Result: fun.OK, Comment: "Image " + todo[0] + " was removed", Changes: result}
	}
	return fun.Ret{Result: fun.OK, Comment: "The following images were removed: " + strings.Join(todo, ", "), Changes: result}
}

// imageWatch is mod_watch: it pulls, builds or loads an image again.
// Salt: salt/states/docker_image.py mod_watch.
func imageWatch(ctx context.Context, c *fun.Call, a *imagePresentArgs) fun.Ret {
	if sfun := c.Low.Low.Str("sfun"); sfun != "present" {
		return fun.Fail("watch requisite is not implemented for %s", sfun)
	}
	return image(ctx, c, a, true)
}
