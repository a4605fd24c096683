// Package logrotate is Salt's state module "logrotate".
package logrotate

import (
	"context"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/logrotate"
)

// States returns the rows of the state module "logrotate".
func States() fun.Module {
	return fun.Module{Name: "logrotate", Kind: fun.State, Doc: "Manage the configuration of logrotate.", Specs: specs}
}

// specs are the functions.
var specs = []fun.Spec{
	{
		Name: "set", Do: set, Src: "states/logrotate.py set_",
		Doc: "Set a directive, or a setting of a block.",
	},
}

type setArgs struct {
	_        fun.Arguments
	_        string      `arg:"name,required" doc:"accepted; key says what is set"`
	Key      string      `arg:"key,required" doc:"directive, or log file of a block"`
	Value    value.Value `arg:"value,required,str|bool|int" doc:"value of the directive, or name of the setting; False removes a directive"`
	Setting  value.Value `arg:"setting,str|bool|int" doc:"value of the setting of a block; False removes it"`
	ConfFile string      `arg:"conf_file,path" default:"/etc/logrotate.conf" doc:"the configuration"`
}

// set sets a directive or a setting. Salt: salt/states/logrotate.py set_.
func set(_ context.Context, c *fun.Call, a *setArgs) fun.Ret {
	key, conf := a.Key, a.ConfFile
	name, want, has := value.Value(""), logrotate.Number(a.Value), a.Setting != nil
	what, set := "ommand '"+key+"'", "Set c"
	if has {
		name, want = fun.TextOf(a.Value), logrotate.Number(a.Setting)
		what, set = "lock '"+key+"' command '"+fun.TextOf(a.Value)+"'", "Set b"
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
