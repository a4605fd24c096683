// Package pillar is Salt's runner module "pillar": it shows the pillar of a
// minion as the controller renders it.
package pillar

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
)

// Runners returns the rows of the runner module "pillar".
func Runners() fun.Module {
	return fun.Module{Name: "pillar", Kind: fun.Runner, Doc: "Show the pillar of a minion.", Specs: specs}
}

// minionEnv returns the Env of a minion on this controller, whose grains are
// those of the minion with more over them.
func minionEnv(ctx context.Context, c *fun.Call, id string, more *value.Map) (*fun.Env, error) {
	var grains value.Mapping
	switch id {
	case "", c.Env.ID:
		id, grains = c.Env.ID, c.Env.SubjectGrains()
	default:
		g, err := remoteGrains(ctx, c, id)
		if err != nil {
			return nil, err
		}
		grains = g
	}
	if grains == nil {
		grains = value.MapOf("fqdn", id)
	}
	if more.Len() > 0 {
		grains = over{more, grains}
	}
	return c.Env.Fork(func(e *fun.Env) {
		e.ID = id
		e.Subject = grains
		e.Pillar = value.NewMap(0)
	}), nil
}

// remoteGrains asks a minion of the fleet for its grains; nil where it is not
// there or does not answer.
func remoteGrains(ctx context.Context, c *fun.Call, id string) (value.Mapping, error) {
	if c.Env.Fleet == nil || value.HasGlob(id) {
		return nil, nil
	}
	tgt := value.NewList(id)
	ids, err := c.Env.Fleet.Match(ctx, tgt, "list")
	if err != nil || len(ids) == 0 {
		return nil, nil // nobody of that id: Salt goes on with the id alone
	}
	var grains value.Mapping
	_, err = c.Env.Fleet.Run(ctx, fun.Job{Tgt: tgt, TgtType: "list", Fun: "grains.items"}, func(r fun.Return) error {
		if r.Stage != fun.Returned {
			return nil
		}
		v, err := r.Value()
		if err != nil {
			return err
		}
		grains, _ = v.(value.Mapping)
		return nil
	})
	return grains, err
}

// over is a mapping laid over another.
type over struct {
	top  *value.Map
	base value.Mapping
}

// Get returns the value at key, of the upper mapping first.
func (o over) Get(key value.Value) (value.Value, bool) {
	if v, ok := o.top.Get(key); ok {
		return v, true
	}
	return o.base.Get(key)
}

// Keys returns the keys of both.
func (o over) Keys() []value.Value {
	keys := o.base.Keys()
	for _, k := range o.top.Keys() {
		if _, ok := o.base.Get(k); !ok {
			keys = append(keys, k)
		}
	}
	return keys
}

// Len returns the number of keys.
func (o over) Len() int { return len(o.Keys()) }

type showPillarArgs struct {
	Minion    string `arg:"minion" default:"*" doc:"ID of the minion"`
	Saltenv   string `arg:"saltenv,kw" default:"base" doc:"environment"`
	PillarEnv string `arg:"pillarenv,kw" doc:"the only environment of the pillar"`
	Rest      fun.Kwargs
}

func showPillar(ctx context.Context, c *fun.Call, a *showPillarArgs) (fun.Result, error) {
	req := fun.PillarRequest{SaltEnv: a.Saltenv, PillarEnv: a.PillarEnv}
	env, err := minionEnv(ctx, c, a.Minion, a.Rest.Copy())
	if err != nil {
		return fun.Result{}, err
	}
	m, err := pillar.New(env).Render(ctx, req)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type showTopArgs struct {
	_       fun.Arguments
	Minion  string `arg:"minion" doc:"ID of the minion whose grains the top files use"`
	Saltenv string `arg:"saltenv" default:"base" doc:"environment"`
}

func showTop(ctx context.Context, c *fun.Call, a *showTopArgs) (fun.Result, error) {
	env, err := minionEnv(ctx, c, a.Minion, value.NewMap(0))
	if err != nil {
		return fun.Result{}, err
	}
	top, errs := pillar.New(env).Tops(ctx, fun.PillarRequest{SaltEnv: a.Saltenv})
	if len(errs) > 0 {
		return fun.Result{Value: value.Strings(errs...), Retcode: 1}, nil
	}
	return fun.Value(top)
}
