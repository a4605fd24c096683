// Package jinja is Salt's execution module "jinja": what templates define.
package jinja

import (
	"context"

	"brine/internal/fun"
	"brine/internal/render"
	"brine/internal/value"
)

// Module returns the rows of the execution module "jinja".
func Module() fun.Module {
	imp := func(kind string) fun.Spec {
		return fun.Spec{
			Name: "import_" + kind, Doc: "Return what import_" + kind + " makes of a file of the file server.", Src: "modules/jinja.py import_" + kind,
			Args: []fun.Arg{{Name: "path", Type: fun.Str, Required: true, Doc: "the file, below the roots"}}, Fn: importFn(kind),
		}
	}
	return fun.Module{
		Name: "jinja", Kind: fun.Exec, Doc: "What templates define.",
		Specs: []fun.Spec{
			imp("json"), imp("yaml"),
			{
				Name: "load_map", Doc: "Return a variable that a template sets.", Src: "modules/jinja.py load_map", Fn: loadMap,
				Args: []fun.Arg{
					{Name: "path", Type: fun.Str, Required: true, Doc: "the template, below the roots"},
					{Name: "data", Type: fun.Str, Required: true, Doc: "the variable"},
				},
			},
		},
	}
}

// run renders a template that ends in the JSON of a value, and reads it.
func run(ctx context.Context, c *fun.Call, text string) (fun.Result, error) {
	v, err := render.For(c.Env).SLS(ctx, render.Input{Path: "", SaltEnv: c.Env.SaltEnv, Pipeline: "jinja|json", Text: []byte(text)})
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}

// loadMap imports a variable with context. Salt: salt/modules/jinja.py
// load_map.
func loadMap(ctx context.Context, c *fun.Call) (fun.Result, error) {
	name := c.Str("data")
	if !identifier(name) {
		return fun.Result{}, fun.Errorf("%s is not the name of a variable", value.Repr(name))
	}
	return run(ctx, c, "{% from "+value.Repr(c.Str("path"))+" import "+name+" with context %}{{ "+name+" | tojson }}")
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

func importFn(kind string) fun.ExecFn {
	return func(ctx context.Context, c *fun.Call) (fun.Result, error) {
		return run(ctx, c, "{% import_"+kind+" "+value.Repr(c.Str("path"))+" as data %}{{ data | tojson }}")
	}
}
