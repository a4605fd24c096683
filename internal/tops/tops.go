// Package tops is Salt's master_tops: programs and Python modules of the tree that
// tell the controller which SLS a target gets, beside its top files.
package tops

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/proc"
	"brine/internal/python"
	"brine/internal/source"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

// Names are the interfaces that are part of brine.
func Names() []string { return []string{"ext_nodes"} }

// Of returns the SLS of the target of env by saltenv. Where an interface fails, the
// result is an error with the place of its entry: Salt goes on without, which
// leaves states out of a run that nobody misses.
//
// Salt: salt/daemons/masterapi.py _master_tops.
func Of(ctx context.Context, env *fun.Env) (*value.Map, error) {
	out := value.NewMap(1)
	conf := env.Opts.Map("master_tops")
	for k, v := range conf.All() {
		name := value.Str(k)
		m, err := call(ctx, env, name, v)
		if err != nil {
			return nil, &source.Error{Pos: conf.Pos(k), Err: fmt.Errorf("master_tops %s: %w", name, err)}
		}
		for e, sls := range m.All() {
			list, ok := sls.(*value.List)
			if !ok {
				return nil, &source.Error{Pos: conf.Pos(k), Err: fmt.Errorf("master_tops %s: saltenv %s has no list of SLS but a %s", name, value.Str(e), value.TypeName(sls))}
			}
			have := out.List(e)
			if have == nil {
				have = value.NewList()
			}
			have.Append(list.Items...)
			out.Set(e, have)
		}
	}
	return out, nil
}

func call(ctx context.Context, env *fun.Env, name string, conf value.Value) (*value.Map, error) {
	switch {
	case name == "ext_nodes":
		return extNodes(ctx, env, conf)
	case python.Exists(ctx, env, "tops", name):
		return module(ctx, env, name)
	}
	return nil, fmt.Errorf("it is neither part of brine nor in salt://_tops%s", source.DidYouMean(name, Names()))
}

// module calls top of a module of _tops.
func module(ctx context.Context, env *fun.Env, name string) (*value.Map, error) {
	mod, err := python.Open(ctx, env, "tops", name)
	if err != nil {
		return nil, err
	}
	grains := env.SubjectGrains()
	opts := env.Opts.Copy()
	opts.Set("grains", grains)
	v, err := mod.CallFor(ctx, grains, "top", value.NewList(), value.MapOf("opts", opts, "grains", grains))
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok && value.Truth(v) {
		return nil, fmt.Errorf("top of salt://_tops/%s.py returned a %s instead of a dict", name, value.TypeName(v))
	}
	return m, nil
}

// timeout bounds a program of ext_nodes.
const timeout = time.Minute

// extNodes runs a program with the id as its last argument. It prints YAML with
// classes, a list or a dict, and may name the environment.
//
// Salt: salt/tops/ext_nodes.py.
func extNodes(ctx context.Context, env *fun.Env, conf value.Value) (*value.Map, error) {
	command, _ := conf.(string)
	argv, err := proc.Split(command)
	if err != nil || len(argv) == 0 {
		return nil, fmt.Errorf("it needs the command of a program, not %s", value.Repr(conf))
	}
	out, err := env.Host.Run(ctx, host.Cmd{Argv: append(argv, env.ID), Timeout: timeout})
	switch {
	case err != nil:
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	case out.TimedOut:
		return nil, fmt.Errorf("%s was ended after %s", argv[0], timeout)
	case out.Status != 0:
		return nil, fmt.Errorf("%s ended with status %d%s", argv[0], out.Status, stderr(out))
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: argv[0]}, out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("what %s printed is not YAML: %w", argv[0], err)
	}
	data, ok := v.(*value.Map)
	if !ok {
		if v == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("%s printed a %s instead of a mapping", argv[0], value.TypeName(v))
	}
	in := "base"
	if e, ok := data.Get("environment"); ok {
		in = value.Str(e)
	}
	switch c := data.At("classes").(type) {
	case *value.Map:
		return value.MapOf(in, value.NewList(c.Keys()...)), nil
	case *value.List:
		return value.MapOf(in, c), nil
	case nil:
		return nil, nil
	default:
		return nil, fmt.Errorf("classes of %s is not a list or a mapping but a %s", argv[0], value.TypeName(c))
	}
}

// stderr is what a program wrote there, shortened.
func stderr(out host.Output) string {
	const most = 300
	text := strings.TrimSpace(string(out.Stderr))
	if text == "" {
		return ""
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return ": " + text
}
