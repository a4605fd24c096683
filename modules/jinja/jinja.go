// Package jinja is Salt's execution module "jinja": what templates define.
package jinja

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/value"
)

// Module returns the execution module "jinja".
func Module() fun.Module {
	return fun.Module{Name: "jinja", Kind: fun.Exec, Doc: "Read what templates define.", Specs: specs}
}

// tempName is the name of the template that load_map and the others render: Salt's is
// a temporary file. Variables such as tpldir are those of it, as in Salt.
const tempName = "__salt.tmp"

// run renders a template that ends in the JSON of a value, and reads it.
func run(ctx context.Context, c *fun.Call, text string) (fun.Result, error) {
	in := render.Input{Path: tempName, Abs: "/tmp/" + tempName, Name: "jinja." + c.Spec.Name, SaltEnv: c.Env.SaltEnv, Pipeline: "jinja|json", Text: []byte(text)}
	v, err := render.For(c.Env).SLS(ctx, in)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}

type loadMapArgs struct {
	_     fun.Arguments
	Path  string `arg:"path,required,path" doc:"the template, relative to the file roots"`
	Value string `arg:"value,required" doc:"the variable"`
}

// loadMap imports a variable with context. Salt: salt/modules/jinja.py
// load_map.
func loadMap(ctx context.Context, c *fun.Call, a *loadMapArgs) (fun.Result, error) {
	name := a.Value
	if !identifier(name) {
		return fun.Result{}, fun.Errorf("%s is not the name of a variable", value.Repr(name))
	}
	return run(ctx, c, "{% from "+value.Repr(a.Path)+" import "+name+" with context %}{{ "+name+" | tojson }}")
}

func identifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func importJSON(ctx context.Context, c *fun.Call, a *fileArg) (fun.Result, error) {
	return importAs(ctx, c, a, "json")
}

func importYAML(ctx context.Context, c *fun.Call, a *fileArg) (fun.Result, error) {
	return importAs(ctx, c, a, "yaml")
}

func importAs(ctx context.Context, c *fun.Call, a *fileArg, kind string) (fun.Result, error) {
	return run(ctx, c, "{% import_"+kind+" "+value.Repr(a.Path)+" as data %}{{ data | tojson }}")
}
