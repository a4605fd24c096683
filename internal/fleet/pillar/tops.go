package pillar

import (
	"context"
	"fmt"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/python"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// tops returns what the option master_tops gives to a machine: SLS by environment.
// A module that fails gives nothing and is warned of.
//
// Salt: salt/daemons/masterapi.py _master_tops.
func (c *Compiler) tops(ctx context.Context, req fun.PillarRequest) (*value.Map, error) {
	j := c.newJob(req, nil)
	out, all := value.NewMap(1), j.opts.Map("master_tops")
	if all == nil {
		return out, nil
	}
	for k, args := range all.All() {
		name := value.Str(k)
		got, err := j.masterTop(ctx, name, args)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			j.warn(all.Pos(k), "master_tops %s: %v", name, err)
			continue
		}
		for saltenv, v := range got.All() {
			if err := addSLS(out, saltenv, v); err != nil {
				j.warn(all.Pos(k), "master_tops %s: %v", name, err)
			}
		}
	}
	return out, nil
}

// addSLS adds a list of SLS to those of an environment.
func addSLS(tops *value.Map, saltenv, v value.Value) error {
	l, ok := v.(*value.List)
	if !ok {
		return fmt.Errorf("the SLS of %s must be a list, not %s", value.Str(saltenv), value.Kind(v))
	}
	have := tops.List(value.Str(saltenv))
	if have == nil {
		have = value.NewList()
		tops.Set(value.Str(saltenv), have)
	}
	known := map[string]bool{}
	for _, it := range have.Items {
		known[value.Str(it)] = true
	}
	for _, it := range l.Items {
		if s := value.Str(it); !known[s] {
			known[s] = true
			have.Append(s)
		}
	}
	return nil
}

// masterTop asks one module: ext_nodes, or a Python module of _tops, whose function top
// gets the options and the grains of the machine.
func (j *job) masterTop(ctx context.Context, name string, args value.Value) (*value.Map, error) {
	if name == "ext_nodes" {
		return j.extNodes(ctx, args)
	}
	if f := topMore(name); f != nil {
		return f(j, ctx, args)
	}
	if !python.Exists(ctx, j.env, "tops", name) {
		if why := absent.ReasonSuffix(absent.Top, name); why != "" {
			return nil, fmt.Errorf("it is not in brine%s", why)
		}
		return nil, fmt.Errorf("there is no salt://_tops/%s.py%s", name, source.DidYouMean(name, TopNames()))
	}
	mod, err := python.Open(ctx, j.env, "tops", name)
	if err != nil {
		return nil, err
	}
	opts := j.opts.Copy()
	opts.Set("id", j.env.ID)
	v, err := mod.CallFor(ctx, j.env.SubjectGrains(), "top", nil, value.MapOf("opts", opts, "grains", j.env.SubjectGrains()))
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok && value.Truth(v) {
		return nil, fmt.Errorf("top of salt://_tops/%s.py returned %s instead of a dict", name, value.TypeName(v))
	}
	if m == nil {
		m = value.NewMap(0)
	}
	return m, nil
}

// extNodes runs a command with the id as its last argument. It prints YAML:
// classes, which are SLS, and the environment that they are of.
//
// Salt: salt/tops/ext_nodes.py.
func (j *job) extNodes(ctx context.Context, v value.Value) (*value.Map, error) {
	cmd, ok := v.(string)
	if !ok || cmd == "" {
		return nil, fmt.Errorf("ext_nodes needs a command")
	}
	out, err := j.env.Host.Run(ctx, host.Cmd{Argv: []string{"/bin/sh", "-c", cmd + ` "$1"`, "sh", j.env.ID}, Timeout: extTimeout})
	switch {
	case err != nil:
		return nil, fmt.Errorf("run %q: %w", cmd, err)
	case out.TimedOut:
		return nil, fmt.Errorf("%q was ended after %s", cmd, extTimeout)
	case out.Status != 0:
		return nil, fmt.Errorf("%q ended with status %d: %s", cmd, out.Status, firstLine(string(out.Stderr)))
	}
	data, err := yamlsalt.Load(yamlsalt.LoadOptions{}, out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("what %q printed does not parse: %w", cmd, err)
	}
	m, ok := data.(*value.Map)
	if !ok {
		return value.NewMap(0), nil
	}
	saltenv := "base"
	if m.Has("environment") {
		saltenv = value.Str(m.At("environment"))
	}
	switch classes := m.At("classes").(type) {
	case *value.Map:
		return value.MapOf(saltenv, value.NewList(classes.Keys()...)), nil
	case *value.List:
		return value.MapOf(saltenv, classes), nil
	}
	return value.NewMap(0), nil
}

// TopNames returns the modules of master_tops that there are.
func TopNames() []string { return append([]string{"ext_nodes"}, topMoreNames()...) }
