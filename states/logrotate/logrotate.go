// Package logrotate is Salt's state module "logrotate".
package logrotate

import (
	"context"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/modules/logrotate"
)

// States returns the rows of the state module "logrotate".
func States() fun.Module {
	return fun.Module{Name: "logrotate", Kind: fun.State, Doc: "Manage the configuration of logrotate.", Specs: specs}
}

// specs are the functions.
var specs = []fun.Spec{
	{
		Name: "set", State: set, Src: "states/logrotate.py set_",
		Doc: "Set a directive, or a setting of a block.",
		Args: []fun.Arg{
			{Name: "name", Type: fun.Str, Required: true, Doc: "accepted; key says what is set"},
			{Name: "key", Type: fun.Str, Required: true, Doc: "directive, or log file of a block"},
			{Name: "value", Type: fun.Str | fun.Int | fun.Bool, Required: true, Doc: "value of the directive, or name of the setting; False removes a directive"},
			{Name: "setting", Type: fun.Str | fun.Int | fun.Bool, Doc: "value of the setting of a block; False removes it"},
			{Name: "conf_file", Type: fun.Path, Default: logrotate.DefaultConf, Doc: "the configuration"},
		},
	},
}

// set sets a directive or a setting. Salt: salt/states/logrotate.py set_.
func set(_ context.Context, c *fun.Call) fun.Ret {
	key, conf := c.Str("key"), c.Str("conf_file")
	name, want, has := value.Value(""), logrotate.Number(c.Value("value")), !c.IsNone("setting")
	what, set := "ommand '"+key+"'", "Set c"
	if has {
		name, want = c.Str("value"), logrotate.Number(c.Value("setting"))
		what, set = "lock '"+key+"' command '"+c.Str("value")+"'", "Set b"
	}
	first := map[bool]string{false: "C", true: "B"}[has]
	have, err := logrotate.Get(c.Env, key, value.Str(name), conf)
	if err != nil {
		return fun.Raise(err)
	}
	text := value.Str(want)
	if value.Equal(have, want) && (have == true) == (want == true) {
		return fun.Ret{Result: fun.OK, Comment: first + what + " already has value: " + text}
	}
	changes := value.MapOf("old", have, "new", want)
	if c.Test {
		return fun.Ret{Result: fun.WouldChange, Comment: first + what + " will be set to value: " + text, Changes: changes}
	}
	if has {
		_, err = logrotate.Set(c.Env, key, name, want, true, conf)
	} else {
		_, err = logrotate.Set(c.Env, key, want, nil, false, conf)
	}
	if err != nil {
		return fun.Raise(err)
	}
	return fun.Ret{Result: fun.OK, Comment: set + what + " value: " + text, Changes: changes}
}
