// Package out is Salt's execution module "out": the outputters as functions.
package out

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/outputter"
)

// Module returns the execution module "out".
func Module() fun.Module {
	return fun.Module{Name: "out", Kind: fun.Exec, Doc: "Format data with outputters.", Specs: specs}
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
