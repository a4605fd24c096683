// Package out is Salt's execution module "out": the outputters as functions.
package out

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/outputter"
)

// Module returns the rows of the execution module "out".
func Module() fun.Module {
	args := []fun.Arg{
		{Name: "data", Required: true, Doc: "what to print"},
		{Name: "out", Type: fun.Str, Default: "nested", Doc: "the outputter"},
		{Name: "opts", Type: fun.Dict, Doc: "settings of the outputter"},
	}
	return fun.Module{
		Name: "out", Kind: fun.Exec, Doc: "The outputters as functions.",
		Specs: []fun.Spec{
			{Name: "out_format", Doc: "Return data as an outputter prints it.", Src: "modules/out.py out_format", Args: args, VarKw: true, Fn: format},
			{Name: "string_format", Doc: "Return data as an outputter prints it, without colours.", Src: "modules/out.py string_format", Args: args, VarKw: true, Fn: format},
		},
	}
}

// format prints to text. Salt: salt/modules/out.py string_format.
func format(_ context.Context, c *fun.Call) (fun.Result, error) {
	opts := c.Env.Opts
	if m := c.Map("opts"); m != nil {
		opts = m
	}
	// The option output, which --out sets, goes before what the caller names.
	name := c.Str("out")
	if o := opts.Str("output"); o != "" && o != "highstate" {
		name = o
	}
	f, err := outputter.Lookup(name)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	o := &outputter.Options{Opts: opts, StateOutput: opts.Str("state_output")}
	if n, ok := value.AsInt(c.Kw.At("output_indent")); ok {
		i := int(n)
		o.Indent = &i
	}
	var b strings.Builder
	if err := f(&b, c.Value("data"), o); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(strings.TrimSuffix(b.String(), "\n"))
}
