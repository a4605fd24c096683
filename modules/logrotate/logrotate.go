// Package logrotate is Salt's execution module "logrotate": the configuration of
// logrotate.
package logrotate

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/textfile"
)

// Module returns the execution module "logrotate".
func Module() fun.Module {
	return fun.Module{Name: "logrotate", Kind: fun.Exec, Doc: "Manage the configuration of logrotate.", Specs: specs}
}

// Get returns a directive, or a setting of a block where name is not ""; False
// where there is none. Salt: salt/modules/logrotate.py get.
func Get(env *fun.Env, key, name, conf string) (value.Value, error) {
	m, _, err := read(env.Host, conf, 0)
	if err != nil {
		return nil, err
	}
	v, ok := m.Get(key)
	if !ok {
		return false, nil
	}
	if name == "" {
		return v, nil
	}
	if b, ok := v.(*value.Map); ok && b.Has(name) {
		return b.At(name), nil
	}
	return false, nil
}

// Set gives a directive a value; with has, val is the setting name of the block key.
// It reports whether that has effect. Other lines stay as they are.
//
// Salt: salt/modules/logrotate.py set. Difference: in a block only the line of the
// setting is changed.
func Set(env *fun.Env, key string, name, val value.Value, has bool, conf string) (bool, error) {
	for _, s := range []value.Value{key, name, val} {
		if strings.ContainsAny(value.Str(s), "\r\n\x00{}") {
			return false, fun.Errorf("%s has characters that a line of the configuration cannot have", value.Repr(s))
		}
	}
	m, from, err := read(env.Host, conf, 0)
	if err != nil {
		return false, err
	}
	if path := from[key]; path != "" {
		conf = path
	}
	current, known := m.Get(key)
	_, isBlock := current.(*value.Map)
	switch {
	case !has && isBlock:
		return false, fun.Errorf("Error: %s includes a dict, and a specific setting inside the dict was not declared", key)
	case has && known && !isBlock && value.Truth(current):
		return false, fun.Errorf("Error: A setting for a dict was declared, but the configuration line given is not a dict")
	}
	_, err = textfile.Edit(env, conf, func(text string) (string, error) {
		f := parse(text)
		if has {
			err := f.setBlock(key, value.Str(name), val)
			return textfile.Join(f.text), err
		}
		f.setTop(key, name)
		return textfile.Join(f.text), nil
	})
	if err != nil {
		return false, fun.Errorf("%s", host.OSError(err))
	}
	return true, nil
}

func showConf(_ context.Context, c *fun.Call, a *confArg) (fun.Result, error) {
	m, _, err := read(c.Env.Host, a.ConfFile, 0)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type getArgs struct {
	keyArg
	Value string `arg:"value" doc:"setting of the block"`
	confArg
}

func get(_ context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	v, err := Get(c.Env, a.Key, a.Value, a.ConfFile)
	return fun.Result{Value: v}, err
}

type setArgs struct {
	keyArg
	Value   value.Value `arg:"value,required,str|bool|int" doc:"value of the directive, or name of the setting; False removes a directive"`
	Setting value.Value `arg:"setting,str|bool|int" doc:"value of the setting of a block; False removes it"`
	confArg
}

func set(_ context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	ok, err := Set(c.Env, a.Key, a.Value, a.Setting, a.Setting != nil, a.ConfFile)
	return fun.Result{Value: ok}, err
}
