// Package docker has Salt's state modules for Docker: docker_container,
// docker_image, docker_network and docker_volume. Each function that returns a
// module is one of them.
package docker

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/docker"
)

// noEngine is why the modules cannot serve where the module docker cannot.
const noEngine = "'docker.version' is not available."

// Containers returns the rows of the state module "docker_container".
func Containers() fun.Module {
	return fun.Module{Name: "docker_container", Aliases: []string{"moby_container"}, Kind: fun.State, Doc: "Manage containers of a Docker engine.", Specs: containerSpecs, Avail: fun.Needs("docker", noEngine), Watch: containerWatch}
}

// Images returns the rows of the state module "docker_image".
func Images() fun.Module {
	return fun.Module{Name: "docker_image", Aliases: []string{"moby_image"}, Kind: fun.State, Doc: "Manage images of a Docker engine.", Specs: imageSpecs, Avail: fun.Needs("docker", noEngine), Watch: fun.StateFunc(imageWatch).State}
}

// Networks returns the rows of the state module "docker_network".
func Networks() fun.Module {
	return fun.Module{Name: "docker_network", Aliases: []string{"moby_network"}, Kind: fun.State, Doc: "Manage networks of a Docker engine.", Specs: networkSpecs, Avail: fun.Needs("docker", noEngine)}
}

// Volumes returns the rows of the state module "docker_volume".
func Volumes() fun.Module {
	return fun.Module{Name: "docker_volume", Aliases: []string{"moby_volume"}, Kind: fun.State, Doc: "Manage volumes of a Docker engine.", Specs: volumeSpecs, Avail: fun.Needs("docker", noEngine)}
}

// engine is the engine of a state that has no argument client_timeout.
func engine(ctx context.Context, c *fun.Call) (*docker.Engine, error) {
	return docker.New(ctx, c.Env, 0)
}

// A report collects what a state did.
type report struct {
	changes  *value.Map
	comments []string
	warnings []string
}

func newReport() *report { return &report{changes: value.NewMap(4)} }

func (r *report) say(comment string) { r.comments = append(r.comments, comment) }

// part returns the mapping of changes under a key, which it makes.
func (r *report) part(key string) *value.Map {
	m := r.changes.Map(key)
	if m == nil {
		m = value.NewMap(2)
		r.changes.Set(key, m)
	}
	return m
}

// ret makes a return: several comments are sentences.
func (r *report) ret(result fun.Outcome) fun.Ret {
	text := strings.Join(r.comments, ". ")
	if len(r.comments) > 1 {
		text += "."
	}
	ret := fun.Ret{Result: result, Comment: text, Changes: r.changes}
	if len(r.warnings) > 0 {
		ret.Extra = value.MapOf("warnings", value.Strings(r.warnings...))
	}
	return ret
}

// fail is ret of a failure with a comment more.
func (r *report) fail(err error) fun.Ret {
	r.say(err.Error())
	return r.ret(fun.Failed)
}

// volume returns a volume, nil where there is none.
func volume(ctx context.Context, e *docker.Engine, name string) (*value.Map, error) {
	all, err := e.Volumes(ctx, nil)
	if err != nil {
		return nil, err
	}
	if l := all.List("Volumes"); l != nil {
		for _, v := range l.Items {
			if m, ok := v.(*value.Map); ok && m.Str("Name") == name {
				return m, nil
			}
		}
	}
	return nil, nil
}

type volumePresentArgs struct {
	volumeArg
	Driver     string      `arg:"driver" doc:"driver of the volume"`
	DriverOpts value.Value `arg:"driver_opts" doc:"options of the driver, as a mapping"`
	Force      bool        `arg:"force" default:"False" doc:"replace a volume with another driver; its data is lost"`
}

// volumePresent creates a volume, or replaces one with another driver.
// Salt: salt/states/docker_volume.py present.
func volumePresent(ctx context.Context, c *fun.Call, a *volumePresentArgs) fun.Ret {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	opts, _ := docker.Repack(a.DriverOpts).(value.Mapping)
	have, err := volume(ctx, e, c.Name)
	if err != nil {
		return fun.Fail("%v", err)
	}
	changes := value.NewMap(2)
	driver := a.Driver
	switch {
	case have == nil && c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The volume '" + c.Name + "' will be created"}
	case have == nil:
	case driver == "" || have.Str("Driver") == driver:
		return fun.Ret{Result: fun.OK, Comment: "Volume '" + c.Name + "' already exists."}
	case !a.Force:
		ret := fun.Fail("Driver for existing volume '%s' ('%s') does not match specified driver ('%s') and force is False", c.Name, have.Str("Driver"), driver)
		if c.Test {
			ret.Result = fun.WouldChange
		}
		return ret
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The volume '" + c.Name + "' will be replaced with a new one using the driver '" + driver + "'"}
	default:
		if err := e.RemoveVolume(ctx, c.Name); err != nil {
			return fun.Fail("Failed to remove volume '%s': %v", c.Name, err)
		}
		changes.Set("removed", true)
	}
	v, err := e.CreateVolume(ctx, c.Name, driver, opts)
	if err != nil {
		return fun.Ret{Comment: "Failed to create volume '" + c.Name + "': " + err.Error(), Changes: changes}
	}
	changes.Set("created", v)
	return fun.Ret{Result: fun.OK, Comment: "", Changes: changes}
}

type volumeAbsentArgs struct {
	volumeArg
	_ string `arg:"driver" doc:"accepted; the name is enough"`
}

// volumeAbsent removes a volume. Salt: salt/states/docker_volume.py absent.
func volumeAbsent(ctx context.Context, c *fun.Call, _ *volumeAbsentArgs) fun.Ret {
	e, err := engine(ctx, c)
	if err != nil {
		return fun.Fail("%v", err)
	}
	have, err := volume(ctx, e, c.Name)
	switch {
	case err != nil:
		return fun.Fail("%v", err)
	case have == nil:
		return fun.Ret{Result: fun.OK, Comment: "Volume '" + c.Name + "' already absent"}
	case c.Test:
		return fun.Ret{Result: fun.WouldChange, Comment: "The volume '" + c.Name + "' will be removed"}
	}
	if err := e.RemoveVolume(ctx, c.Name); err != nil {
		return fun.Fail("Failed to remove volume '%s': %v", c.Name, err)
	}
	return fun.Ret{Result: fun.OK, Comment: "", Changes: value.MapOf("removed", true)}
}
