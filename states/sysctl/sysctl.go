// Package sysctl is Salt's state module "sysctl": kernel parameters.
package sysctl

import (
	"context"
	"errors"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// States returns the rows of the state module "sysctl".
func States() fun.Module {
	return fun.Module{Name: "sysctl", Kind: fun.State, Doc: "Manage kernel parameters.", Specs: specs, Avail: fun.Needs("sysctl", "sysctl module could not be loaded")}
}

type presentArgs struct {
	_      fun.Arguments
	_      string      `arg:"name,required" doc:"name of the parameter"`
	Value  value.Value `arg:"value,required,str|bool|int|float" doc:"its value"`
	Config string      `arg:"config,path" doc:"file in which the parameter is kept; default: /etc/sysctl.d/99-salt.conf with systemd, else /etc/sysctl.conf"`
}

// present sets a parameter and keeps it. Salt: salt/states/sysctl.py present.
// Difference: a dry run sees that the file has another value than the kernel.
func present(ctx context.Context, c *fun.Call, a *presentArgs) fun.Ret {
	name, val := c.Name, a.Value
	config := a.Config
	if config == "" {
		v, err := c.Env.Exec(ctx, "sysctl.default_config", nil)
		if err != nil {
			return fun.Raise(err)
		}
		config = value.Str(v)
	}
	if c.Test {
		return predict(ctx, c, name, value.Str(val), config)
	}
	did, err := c.Env.Exec(ctx, "sysctl.persist", value.MapOf("name", name, "value", val, "config", config))
	var failed *fun.CommandError
	switch {
	case errors.As(err, &failed):
		return fun.Fail("Failed to set %s to %s: %s", name, value.Str(val), failed.Msg)
	case err != nil:
		return fun.Raise(err)
	case did == "Already set":
		return fun.Ret{Result: fun.OK, Comment: "Sysctl value " + name + " = " + value.Str(val) + " is already set"}
	}
	return fun.Ret{Result: fun.OK, Comment: "Updated sysctl value " + name + " = " + value.Str(val), Changes: value.MapOf(name, val)}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// predict says what present would do.
func predict(ctx context.Context, c *fun.Call, name, val, config string) fun.Ret {
	due := func(comment string) fun.Ret { return fun.Ret{Result: fun.WouldChange, Comment: comment} }
	kept, err := c.Env.Exec(ctx, "sysctl.show", value.MapOf("config_file", config))
	if err != nil {
		return fun.Raise(err)
	}
	if kept == nil {
		return due("Sysctl option " + name + " might be changed, we failed to check config file at " + config + ". The file is either unreadable, or missing.")
	}
	now, err := c.Env.Exec(ctx, "sysctl.get", value.MapOf("name", name))
	if err != nil {
		return fun.Raise(err)
	}
	var inFile value.Value
	m, _ := kept.(*value.Map)
	if m != nil {
		inFile = m.At(name)
	}
	current := value.Str(now)
	switch {
	case inFile != nil && current == "" && val != "":
		return due("Sysctl value " + name + " is present in configuration file but is not present in the running config. The value " + name + " is set to be changed to " + val)
	case inFile != nil && squeeze(current) == squeeze(val) && squeeze(value.Str(inFile)) == squeeze(val):
		return fun.Ret{Result: fun.OK, Comment: "Sysctl value " + name + " = " + val + " is already set"}
	case inFile != nil || current == "":
		return due("Sysctl option " + name + " would be changed to " + val)
	case squeeze(current) != squeeze(val):
		return due("Sysctl option " + name + " set to be changed to " + val)
	}
	return due("Sysctl value is currently set on the running system but not in a config file. Sysctl option " + name + " set to be changed to " + val + " in config file.")
}
