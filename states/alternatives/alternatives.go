// Package alternatives is Salt's state module "alternatives": which of several
// programs serves under a name.
package alternatives

import (
	"context"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	alts "brine/modules/alternatives"
	"brine/states/dryrun"
)

// States returns the rows of the state module "alternatives".
func States() fun.Module {
	return fun.Module{Name: "alternatives", Kind: fun.State, Doc: "Choose between programs that do the same.", Avail: provided, Specs: specs}
}

func provided(env *fun.Env) (bool, string) {
	mod, why := env.Provider(fun.Exec, "alternatives")
	return mod != nil, why
}

type nameArg struct {
	_ fun.Arguments
	_ string `arg:"name,required" doc:"name of the alternative, such as editor"`
}

type pathArg struct {
	_    fun.Arguments
	Path string `arg:"path,required,path" doc:"path that serves under the name"`
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{
		Name: "auto", Doc: "Let the path with the highest priority serve.", Src: "states/alternatives.py auto", Do: auto,
	},
	{
		Name: "install", Doc: "Register a path for a name.", Src: "states/alternatives.py install", Do: install,
	},
	{
		Name: "remove", Doc: "Remove a path from those of a name.", Src: "states/alternatives.py remove", Do: remove,
	},
	{
		Name: "set", Doc: "Choose the path that serves under a name.", Src: "states/alternatives.py set_", Do: set,
	},
}

// A report makes the returns of a state: they have its arguments in them, as Salt's do.
type report struct{ args *value.Map }

func (r report) ret(result fun.Outcome, format string, a ...any) fun.Ret {
	ret := fun.Ret{Result: result, Comment: fmt.Sprintf(format, a...), Extra: r.args.Copy(), Order: []string{"name"}}
	for k := range r.args.All() {
		ret.Order = append(ret.Order, value.Str(k))
	}
	ret.Order = append(ret.Order, "result", "changes", "comment")
	return ret
}

// fail is the return for an error of an execution function.
func (r report) fail(err error) fun.Ret { return r.ret(fun.Failed, "%v", err) }

type installArgs struct {
	nameArg
	Link string `arg:"link,required,path" doc:"link by which the name is used"`
	pathArg
	Priority int64 `arg:"priority,required" doc:"in automatic mode the path with the highest priority serves"`
}

func install(ctx context.Context, c *fun.Call, a *installArgs) fun.Ret {
	r := report{value.MapOf("link", a.Link, "path", a.Path, "priority", a.Priority)}
	name, link, path, priority := c.Name, a.Link, a.Path, a.Priority
	has, there, err := alts.Registered(ctx, c.Env, name, path)
	if err != nil {
		return r.fail(err)
	}
	if there && has.Priority == priority {
		return r.ret(fun.OK, "Alternative %s for %s is already registered", path, name)
	}
	if c.Test {
		if _, err := c.Env.Host.Stat(path); err != nil && dryrun.Certain(c) {
			return r.ret(fun.Failed, "Alternative for %s not installed: alternative path %s doesn't exist", name, path)
		}
		return r.ret(fun.WouldChange, "Alternative will be set for %s to %s with priority %d", name, path, priority)
	}
	out, err := c.Env.Exec(ctx, "alternatives.install", nil, name, link, path, priority)
	if err != nil {
		return r.fail(err)
	}
	has, there, err = alts.Registered(ctx, c.Env, name, path)
	if err != nil {
		return r.fail(err)
	}
	if !there || has.Priority != priority {
		return r.ret(fun.Failed, "Alternative for %s not installed: %s", name, value.Str(out))
	}
	now, err := c.Env.Exec(ctx, "alternatives.show_current", nil, name)
	if err != nil {
		return r.fail(err)
	}
	text := "Alternative for %s set to path %s with priority %d"
	if now != path {
		text = "Alternative %[2]s for %[1]s registered with priority %[3]d and not set to default"
	}
	done := r.ret(fun.OK, text, name, path, priority)
	done.Changes = value.MapOf("name", name, "link", link, "path", path, "priority", priority)
	return done
}

// removeArgs are the arguments of remove and set.
type removeArgs struct {
	nameArg
	pathArg
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) fun.Ret {
	r := report{value.MapOf("path", a.Path)}
	name, path := c.Name, a.Path
	_, there, err := alts.Registered(ctx, c.Env, name, path)
	if err != nil {
		return r.fail(err)
	}
	if there && c.Test {
		return r.ret(fun.WouldChange, "Alternative for %s will be removed", name)
	}
	var out value.Value
	if there {
		if out, err = c.Env.Exec(ctx, "alternatives.remove", nil, name, path); err != nil {
			return r.fail(err)
		}
		_, left, err := alts.Registered(ctx, c.Env, name, path)
		if err != nil {
			return r.fail(err)
		}
		if left {
			return r.ret(fun.Failed, "Alternative %s for %s not removed: %s", path, name, value.Str(out))
		}
	}
	now, err := c.Env.Exec(ctx, "alternatives.show_current", nil, name)
	switch {
	case err != nil:
		return r.fail(err)
	case there && value.Truth(now):
		done := r.ret(fun.OK, "Alternative for %s removed. Falling back to path %s", name, value.Str(now))
		done.Changes = value.MapOf("path", now)
		return done
	case there:
		return r.ret(fun.OK, "Alternative for %s removed", name)
	case value.Truth(now):
		return r.ret(fun.OK, "Alternative for %s is set to it's default path %s", name, value.Str(now))
	}
	return r.ret(fun.Failed, "Alternative for %s doesn't exist", name)
}

func auto(ctx context.Context, c *fun.Call, _ *nameArg) fun.Ret {
	r := report{value.NewMap(0)}
	shown, err := c.Env.Exec(ctx, "alternatives.display", nil, c.Name)
	if err != nil {
		return r.fail(err)
	}
	first, _, _ := strings.Cut(value.Str(shown), "\n")
	known := strings.HasSuffix(first, " mode") || strings.HasSuffix(first, " mode.")
	switch {
	case strings.HasSuffix(strings.TrimSuffix(first, "."), " auto mode"), strings.HasSuffix(first, "status is auto."):
		return r.ret(fun.OK, "%s already in auto mode", c.Name)
	case !known && strings.Contains(first, "no alternatives for") && (!c.Test || dryrun.Certain(c)):
		return r.ret(fun.Failed, "%s", first)
	case c.Test:
		return r.ret(fun.WouldChange, "%s will be put in auto mode", c.Name)
	}
	res, err := c.Env.Invoker.Invoke(ctx, fun.Exec, "alternatives.auto", fun.Args{Pos: []value.Value{c.Name}})
	if err != nil {
		return r.fail(err)
	}
	if res.Retcode != 0 {
		return r.ret(fun.Failed, "%s", value.Str(res.Value))
	}
	done := r.ret(fun.OK, "")
	done.Changes = value.MapOf("result", res.Value)
	return done
}

func set(ctx context.Context, c *fun.Call, a *removeArgs) fun.Ret {
	r := report{value.MapOf("path", a.Path)}
	name, path := c.Name, a.Path
	now, err := c.Env.Exec(ctx, "alternatives.show_current", nil, name)
	if err != nil {
		return r.fail(err)
	}
	if now == path {
		return r.ret(fun.OK, "Alternative for %s already set to %s", name, path)
	}
	_, there, err := alts.Registered(ctx, c.Env, name, path)
	switch {
	case err != nil:
		return r.fail(err)
	case !there && (!c.Test || dryrun.Certain(c)):
		return r.ret(fun.Failed, "Alternative %s for %s doesn't exist", path, name)
	case c.Test:
		return r.ret(fun.WouldChange, "Alternative for %s will be set to path %s", name, path)
	}
	if _, err := c.Env.Exec(ctx, "alternatives.set", nil, name, path); err != nil {
		return r.fail(err)
	}
	if now, err = c.Env.Exec(ctx, "alternatives.show_current", nil, name); err != nil {
		return r.fail(err)
	}
	if now != path {
		return r.ret(fun.Failed, "Alternative for %s not updated", name)
	}
	done := r.ret(fun.OK, "Alternative for %s set to path %s", name, path)
	done.Changes = value.MapOf("path", now)
	return done
}
