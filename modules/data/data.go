// Package data is Salt's execution module "data": a small store of values that
// outlives a run.
package data

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "data".
func Module() fun.Module {
	return fun.Module{Name: "data", Kind: fun.Exec, Doc: "Store values between runs.", Specs: specs}
}

func path(c *fun.Call) string { return filepath.Join(c.Env.CacheDir, "datastore.json") }

func load(c *fun.Call) (*value.Map, error) {
	b, err := c.Env.Host.ReadFile(path(c))
	if errors.Is(err, fs.ErrNotExist) {
		return value.NewMap(0), nil
	}
	if err != nil {
		return nil, fun.Errorf("read the data store: %v", err)
	}
	v, err := value.DecodeJSON(bytes.NewReader(b))
	m, ok := v.(*value.Map)
	if err != nil || !ok {
		return nil, fun.Errorf("the data store %s is damaged; data.clear makes a new one", path(c))
	}
	return m, nil
}

func save(c *fun.Call, m *value.Map) error {
	if err := c.Env.Host.MkdirAll(c.Env.CacheDir, 0o700); err != nil {
		return fun.Errorf("write the data store: %v", err)
	}
	mode := fs.FileMode(0o600)
	if err := c.Env.Host.WriteFile(path(c), bytes.NewReader(value.EncodeJSON(m)), host.WriteOptions{Mode: &mode}); err != nil {
		return fun.Errorf("write the data store: %v", err)
	}
	return nil
}

// with loads the store for a function that reads.
func with(c *fun.Call, f func(*value.Map) value.Value) (fun.Result, error) {
	m, err := load(c)
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(f(m))
}

// change loads the store and, where f says so, writes it back.
func change(c *fun.Call, f func(*value.Map) (v value.Value, write bool)) (fun.Result, error) {
	m, err := load(c)
	if err != nil {
		return fun.Result{}, err
	}
	v, write := f(m)
	if write {
		if err := save(c, m); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(v)
}

func orDefault(m *value.Map, argDefault value.Value, key string) value.Value {
	if v, ok := m.Get(key); ok {
		return v
	}
	return argDefault
}

type getArgs struct {
	Key value.Value `arg:"key,required,str|list" doc:"the key, or a list of keys"`
	defaultArg
}

// get returns a value; of a list of keys those that exist, or with a default one for
// each key. Salt: salt/modules/data.py get.
func get(_ context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	if keys, ok := a.Key.(*value.List); ok {
		return with(c, func(m *value.Map) value.Value {
			out := value.NewList()
			for _, k := range keys.Items {
				v, ok := m.Get(k)
				switch {
				case ok:
					out.Append(v)
				case a.Default != nil:
					out.Append(a.Default)
				}
			}
			return out
		})
	}
	return with(c, func(m *value.Map) value.Value { return orDefault(m, a.Default, fun.TextOf(a.Key)) })
}

func hasKey(_ context.Context, c *fun.Call, a *keyArg) (fun.Result, error) {
	return with(c, func(m *value.Map) value.Value { return m.Has(a.Key) })
}

func items(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(c, func(m *value.Map) value.Value { return m })
}

func keys(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(c, func(m *value.Map) value.Value { return value.NewList(m.Keys()...) })
}

func values(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return with(c, func(m *value.Map) value.Value {
		l := value.NewList()
		for _, v := range m.All() {
			l.Append(v)
		}
		return l
	})
}

type updateArgs struct {
	keyArg
	valueArg
}

func update(_ context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	return change(c, func(m *value.Map) (value.Value, bool) {
		m.Set(a.Key, a.Value)
		return true, true
	})
}

type popArgs struct {
	keyArg
	defaultArg
}

func pop(_ context.Context, c *fun.Call, a *popArgs) (fun.Result, error) {
	return change(c, func(m *value.Map) (value.Value, bool) {
		v := orDefault(m, a.Default, a.Key)
		return v, m.Delete(a.Key)
	})
}

type casArgs struct {
	keyArg
	valueArg
	OldValue value.Value `arg:"old_value,required" doc:"the expected value"`
}

func cas(_ context.Context, c *fun.Call, a *casArgs) (fun.Result, error) {
	return change(c, func(m *value.Map) (value.Value, bool) {
		v, ok := m.Get(a.Key)
		if !ok || !value.Equal(v, a.OldValue) {
			return false, false
		}
		m.Set(a.Key, a.Value)
		return true, true
	})
}

type dumpArgs struct {
	_       fun.Arguments
	NewData value.Value `arg:"new_data,required" doc:"the new content, a mapping or the text of one"`
}

// dump replaces the store by a mapping, or by the one that a text spells, as in
// module.run with text of a template.
//
// Salt: salt/modules/data.py dump, which takes Python's spelling only and fails
// with a traceback, or returns False, for what is not a mapping.
func dump(_ context.Context, c *fun.Call, a *dumpArgs) (fun.Result, error) {
	v := a.NewData
	if s, ok := v.(string); ok {
		v, _ = yamlsalt.LoadString(s) // what is not YAML is not a mapping either
	}
	m, ok := v.(*value.Map)
	if !ok {
		return fun.Result{}, &fun.InvocationError{Msg: "new_data has to be a mapping, such as {eggs: spam}; the data store is as it was", Arg: "new_data"}
	}
	if err := save(c, m); err != nil {
		return fun.Result{}, err
	}
	return fun.Value(true)
}

func clearAll(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	err := c.Env.Host.Remove(path(c))
	return fun.Value(err == nil || errors.Is(err, fs.ErrNotExist))
}
