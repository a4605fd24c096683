// Package mine is Salt's execution module "mine": data of machines that other
// machines read.
package mine

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Module returns the execution module "mine".
func Module() fun.Module {
	return fun.Module{Name: "mine", Kind: fun.Exec, Doc: "Share data of this machine with other machines.", Specs: specs}
}

// A definition is one entry of mine_functions.
type definition struct {
	alias, function string
	args            fun.Args
	allow           *value.Map // allow_tgt and allow_tgt_type; nil: everybody
}

// name is the function that the definition calls.
func (d definition) name() string {
	if d.function != "" {
		return d.function
	}
	return d.alias
}

// parse reads an entry of mine_functions: arguments as a list, in which dicts are
// keyword arguments, or keyword arguments alone. Everything else is not an argument.
//
// Salt: salt/utils/mine.py parse_function_definition.
func parse(alias string, v value.Value) definition {
	d := definition{alias: alias, args: fun.Args{Kw: value.NewMap(0)}}
	switch v := v.(type) {
	case *value.Map:
		d.args.Kw = v.Copy()
	case *value.List:
		for _, x := range v.Items {
			if kw, ok := x.(*value.Map); ok {
				d.args.Kw.Update(kw)
			} else {
				d.args.Pos = append(d.args.Pos, x)
			}
		}
	}
	d.function = taken(d.args.Kw, "mine_function")
	d.allow = acl(d.args.Kw)
	return d
}

// taken removes a key and returns its text.
func taken(m *value.Map, key string) string {
	v := m.At(key)
	m.Delete(key)
	if !value.Truth(v) {
		return ""
	}
	return value.Str(v)
}

// acl removes what says who may read the data; nil: everybody may.
func acl(kw *value.Map) *value.Map {
	out := value.NewMap(2)
	for _, k := range []string{"allow_tgt", "allow_tgt_type"} {
		if v := kw.At(k); value.Truth(v) {
			out.Set(k, v)
		}
		kw.Delete(k)
	}
	if !out.Has("allow_tgt") {
		return nil
	}
	return out
}

// wrap adds who may read it to data.
func wrap(v value.Value, allow *value.Map) value.Value {
	if allow == nil {
		return v
	}
	m := value.MapOf(fun.MineACLData, v, fun.MineACL, int64(1))
	m.Update(allow)
	return m
}

// definitions returns mine_functions of the configuration and the pillar, or those
// given. An entry whose function is not there is left out, with a warning.
func definitions(ctx context.Context, c *fun.Call, given value.Value) ([]definition, *value.Map, error) {
	if !value.Truth(given) {
		res, err := c.Env.Exec(ctx, "config.merge", value.NewMap(0), "mine_functions", value.NewMap(0))
		if err != nil {
			return nil, nil, err
		}
		given = res
	}
	var all *value.Map
	switch v := given.(type) {
	case *value.Map:
		all = v
	case *value.List:
		all = value.NewMap(v.Len())
		for _, x := range v.Items {
			if one, ok := x.(*value.Map); ok {
				all.Update(one)
			} else {
				all.Set(value.Str(x), value.NewMap(0))
			}
		}
	default:
		if value.Truth(v) {
			return nil, nil, fun.Errorf("mine_functions must be a mapping of functions to their arguments, not %s", value.Kind(v))
		}
	}
	var out []definition
	for k, v := range all.All() {
		d := parse(value.Str(k), v)
		if _, _, err := c.Env.Find(fun.Exec, d.name()); err != nil {
			c.Env.Warnf(all.Pos(k), "Function %s in mine_functions not available: %v", d.name(), err)
			continue
		}
		out = append(out, d)
	}
	return out, all, nil
}

// ask asks the mine of the run in the name of this machine.
func ask(ctx context.Context, c *fun.Call, req fun.MineRequest) (*value.Map, error) {
	if c.Env.Mine == nil {
		return nil, fun.Errorf("there is no mine here: a run of a controller or 'brine call' has one")
	}
	req.ID, req.JID = c.Env.ID, c.Env.JID
	return c.Env.Mine.Mine(ctx, req)
}

type updateArgs struct {
	_             fun.Arguments
	Clear         bool        `arg:"clear" default:"False" doc:"remove data of other functions"`
	MineFunctions value.Value `arg:"mine_functions,list|dict" doc:"functions to run instead of those of the configuration and pillar"`
}

func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	defs, all, err := definitions(ctx, c, a.MineFunctions)
	if err != nil || all.Len() == 0 {
		return fun.Result{}, err
	}
	data := value.NewMap(len(defs))
	for _, d := range defs {
		res, err := c.Env.Exec(ctx, d.name(), d.args.Kw, d.args.Pos...)
		if err != nil {
			if ctx.Err() != nil {
				return fun.Result{}, ctx.Err()
			}
			c.Env.Warnf(all.Pos(d.alias), "Function %s in mine.update failed to execute: %v", d.name(), err)
			continue
		}
		data.Set(d.alias, wrap(res, d.allow))
	}
	if _, err := ask(ctx, c, fun.MineRequest{Op: fun.MineStore, Data: data, Clear: a.Clear}); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

type sendArgs struct {
	Name         string `arg:"name,required" doc:"name of the data, and of the function unless mine_function names it"`
	MineFunction string `arg:"mine_function,kw" doc:"the function; default: name"`
	allowArgs
	More fun.Varargs
	Rest fun.Kwargs
}

// allowArgs say who may get data.
type allowArgs struct {
	_ fun.Arguments
	_ value.Value `arg:"allow_tgt,kw" doc:"the minions that may get the data: a target"`
	_ string      `arg:"allow_tgt_type,kw" doc:"type of allow_tgt; default: glob"`
}

func send(ctx context.Context, c *fun.Call, a *sendArgs) (fun.Result, error) {
	kw := value.NewMap(a.Rest.Len())
	for k, v := range a.Rest.All() {
		if !strings.HasPrefix(value.Str(k), "__") {
			kw.Set(k, v)
		}
	}
	name := a.Name
	allow := acl(c.Given(&a.allowArgs))
	d := definition{alias: name, function: a.MineFunction, allow: allow, args: fun.Args{Pos: a.More, Kw: kw}}
	res, err := c.Env.Exec(ctx, d.name(), d.args.Kw, d.args.Pos...)
	if err != nil {
		if ctx.Err() != nil {
			return fun.Result{}, ctx.Err()
		}
		c.Env.Warn(fun.Warning{Text: "Function " + d.name() + " in mine.send failed to execute: " + err.Error()})
		return fun.Value(false)
	}
	if _, err := ask(ctx, c, fun.MineRequest{Op: fun.MineStore, Data: value.MapOf(name, wrap(res, d.allow))}); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

type getArgs struct {
	_             fun.Arguments
	Tgt           value.Value `arg:"tgt,required,str|list" doc:"target expression"`
	Fun           value.Value `arg:"fun,required,str|list" doc:"function to get the data of; several, as a list or separated by commas, return data by function"`
	TgtType       string      `arg:"tgt_type" default:"glob" doc:"type of tgt; pillar values are compared exactly"`
	ExcludeMinion bool        `arg:"exclude_minion" default:"False" doc:"leave out this machine"`
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	names, byFunction := fun.MineFunctions(a.Fun)
	data, err := ask(ctx, c, fun.MineRequest{Op: fun.MineGet, Tgt: a.Tgt, TgtType: a.TgtType, Funs: names})
	if err != nil {
		return fun.Result{}, err
	}
	if a.ExcludeMinion {
		for _, v := range data.All() {
			if m, ok := v.(*value.Map); ok {
				m.Delete(c.Env.ID)
			}
		}
	}
	return fun.Value(fun.MineShape(data, names, byFunction))
}

type removeArgs struct {
	_   fun.Arguments
	Fun string `arg:"fun,required" doc:"name of the function, or its alias"`
}

func remove(ctx context.Context, c *fun.Call, a *removeArgs) (fun.Result, error) {
	if _, err := ask(ctx, c, fun.MineRequest{Op: fun.MineDelete, Funs: []string{a.Fun}}); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func flush(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	if _, err := ask(ctx, c, fun.MineRequest{Op: fun.MineFlush}); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func valid(ctx context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	defs, all, err := definitions(ctx, c, nil)
	if err != nil || all.Len() == 0 {
		return fun.Result{}, err
	}
	out := value.NewMap(len(defs))
	for _, d := range defs {
		if d.function == "" {
			out.Set(d.alias, all.At(d.alias))
			continue
		}
		args := value.NewList(d.args.Pos...)
		for k, v := range d.args.Kw.All() {
			args.Append(value.MapOf(k, v))
		}
		out.Set(d.alias, value.MapOf(d.function, args))
	}
	return fun.Value(out)
}
