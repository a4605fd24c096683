// Package out is Salt's execution module "out": the outputters as functions.
package out

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/outputter"
)

// Module returns the execution module "out".
func Module() fun.Module {
	return fun.Module{Name: "out", Kind: fun.Exec, Doc: "Format data with outputters.", Specs: specs}
}

type formatGiven struct {
	Data   value.Value    `arg:"data,required" doc:"the data"`
	Out    string         `arg:"out" default:"nested" doc:"the outputter"`
	Opts   *value.Map     `arg:"opts" doc:"settings of the outputter"`
	Indent fun.Opt[int64] `arg:"output_indent,kw" doc:"columns by which the outputter indents"`
	_      fun.Kwargs
}

// format prints to text. Salt: salt/modules/out.py string_format.
func format(_ context.Context, c *fun.Call, a *formatGiven) (fun.Result, error) {
	opts := c.Env.Opts
	if m := a.Opts; m != nil {
		opts = m
	}
	// The option output, which --out sets, goes before what the caller names.
	name := a.Out
	if o := opts.Str("output"); o != "" && o != "highstate" {
		name = o
	}
	f, err := outputter.Lookup(name)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	o := &outputter.Options{Opts: opts, StateOutput: opts.Str("state_output")}
	if a.Indent.Given {
		i := int(a.Indent.V)
		o.Indent = &i
	}
	var b strings.Builder
	if err := f(&b, a.Data, o); err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(strings.TrimSuffix(b.String(), "\n"))
}
