//go:build !slim

// Package etcd is Salt's execution module "etcd": keys of etcd.
package etcd

import (
	"context"
	"slices"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
)

// Module returns the execution module "etcd".
func Module() fun.Module {
	return fun.Module{Name: "etcd", Kind: fun.Exec, Doc: "Read and write keys of etcd.", Specs: specs}
}

// A Profile names the settings of a server: an option, or a key of the pillar.
type Profile struct {
	Profile string `arg:"profile" doc:"the option, or key of the pillar, with etcd.host, etcd.port, ...; default: the options that begin so"`
}

// A Server is what counts instead of settings of the profile.
type Server struct {
	Host       string      `arg:"host,kw" doc:"instead of etcd.host"`
	Port       value.Value `arg:"port,kw,str" doc:"instead of etcd.port"`
	Username   string      `arg:"username,kw" doc:"instead of etcd.username"`
	Password   string      `arg:"password,kw,secret" doc:"instead of etcd.password"`
	CA         string      `arg:"ca,kw" doc:"instead of etcd.ca"`
	ClientKey  string      `arg:"client_key,kw" doc:"instead of etcd.client_key"`
	ClientCert string      `arg:"client_cert,kw" doc:"instead of etcd.client_cert"`
	Packed     value.Value `arg:"encode_values,kw" doc:"instead of etcd.encode_values, for version 3"`
}

// Open connects to the server.
//
// Salt: salt/utils/etcd_util.py get_conn. Difference: a profile that does not exist is an
// error; Salt asks the server on this machine then.
func Open(ctx context.Context, env *fun.Env, p Profile, s *Server) (*sdb.Etcd, error) {
	conf := value.NewMap(8)
	pillar, _ := env.Pillar.(*value.Map)
	var from []*value.Map
	if p.Profile == "" {
		from = []*value.Map{pillar.Map("master"), pillar, env.Opts}
	} else {
		for _, m := range []*value.Map{pillar.Map("master"), pillar, env.Opts} {
			if m.Map(p.Profile) != nil {
				from = []*value.Map{m.Map(p.Profile)}
			}
		}
		if from == nil {
			return nil, fun.Errorf("neither the configuration nor the pillar has a profile %q", p.Profile)
		}
	}
	for _, m := range from {
		for k, v := range m.All() {
			if name, ok := k.(string); ok && strings.HasPrefix(name, "etcd.") {
				conf.Set(name, v)
			}
		}
	}
	for _, set := range []struct {
		key string
		v   value.Value
	}{
		{"etcd.host", s.Host},
		{"etcd.port", s.Port},
		{"etcd.username", s.Username},
		{"etcd.password", s.Password},
		{"etcd.ca", s.CA},
		{"etcd.client_key", s.ClientKey},
		{"etcd.client_cert", s.ClientCert},
		{"etcd.encode_values", s.Packed},
	} {
		if set.v != nil && set.v != "" {
			conf.Set(set.key, set.v)
		}
	}
	e, err := sdb.OpenEtcd(ctx, env, conf)
	if err != nil {
		return nil, fun.Errorf("%v", err)
	}
	return e, nil
}

type keyArgs struct {
	_   fun.Arguments
	Key string `arg:"key,required" doc:"the key"`
}

type getArgs struct {
	keyArgs
	Recurse bool `arg:"recurse" doc:"return what is below it, as nested mappings"`
	Profile
	Server
}

type rmArgs struct {
	keyArgs
	Recurse bool `arg:"recurse" doc:"remove what is below it, too"`
	Profile
	Server
}

type setArgs struct {
	keyArgs
	Value value.Value `arg:"value,required" doc:"its value"`
	Profile
	TTL value.Value `arg:"ttl,int" doc:"for how long it stays, in seconds; default: for ever"`
	Dir bool        `arg:"directory" doc:"make a directory, which version 2 has"`
	Server
}

type updateArgs struct {
	_      fun.Arguments
	Fields *value.Map `arg:"fields,required" doc:"values by key; mappings are keys below"`
	Path   string     `arg:"path" doc:"above all of them"`
	Profile
	Server
}

type watchArgs struct {
	keyArgs
	Recurse bool `arg:"recurse" doc:"watch what is below it, too"`
	Profile
	Timeout time.Duration `arg:"timeout" unit:"s" doc:"how long to wait; default: for ever"`
	Index   int64         `arg:"index" doc:"a change of this revision or later counts, too"`
	Server
}

type pathArgs struct {
	_    fun.Arguments
	Path string `arg:"path" default:"/" doc:"the path"`
	Profile
	Server
}

// specs are the functions, alphabetically.
var specs = []fun.Spec{
	{Name: "get", Doc: "Return the value of a key; None where there is none.", Src: "modules/etcd_mod.py get_", Do: get},
	{Name: "ls", Doc: "Return the keys right below a path, by their whole names.", Src: "modules/etcd_mod.py ls_", Do: ls},
	{Name: "rm", Doc: "Remove a key; None where there is none.", Src: "modules/etcd_mod.py rm_", Do: rm},
	{Name: "set", Doc: "Write a key, or make a directory.", Src: "modules/etcd_mod.py set_", Do: set},
	{Name: "tree", Doc: "Return all below a path, as nested mappings; None where there is none.", Src: "modules/etcd_mod.py tree", Do: tree},
	{Name: "update", Doc: "Write several keys.", Src: "modules/etcd_mod.py update", Do: update},
	{Name: "watch", Doc: "Wait until a key changes.", Src: "modules/etcd_mod.py watch", Do: watch},
}

// with opens the server and returns what f does. What goes wrong is an error, where Salt
// logs it and returns None.
func with(ctx context.Context, c *fun.Call, p Profile, s *Server, f func(e *sdb.Etcd) (value.Value, error)) (fun.Result, error) {
	e, err := Open(ctx, c.Env, p, s)
	if err != nil {
		return fun.Result{}, err
	}
	v, err := f(e)
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Result{Value: v}, nil
}

// orNone keeps a nil mapping from becoming a value that is not nil.
func orNone(m *value.Map, err error) (value.Value, error) {
	if m == nil || err != nil {
		return nil, err
	}
	return m, nil
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		if a.Recurse {
			return orNone(e.Tree(ctx, a.Key))
		}
		k, err := e.Get(ctx, a.Key)
		if k == nil || err != nil {
			return nil, err
		}
		return k.Value, nil
	})
}

// Lifetime reads the argument ttl: seconds, 0 is for ever.
func Lifetime(v value.Value) (int64, error) {
	ttl, ok := value.AsInt(v)
	if v != nil && (!ok || ttl < 0) {
		return 0, fun.Errorf("ttl must be a number of seconds, not %s", value.Repr(v))
	}
	return ttl, nil
}

func set(ctx context.Context, c *fun.Call, a *setArgs) (fun.Result, error) {
	ttl, err := Lifetime(a.TTL)
	if err != nil {
		return fun.Result{}, err
	}
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		if !a.Dir {
			return e.Set(ctx, a.Key, a.Value, ttl)
		}
		_, err := e.MakeDir(ctx, a.Key, ttl)
		return err == nil, err
	})
}

// flat makes keys of nested mappings, with those of empty ones.
//
// Salt: salt/utils/etcd_util.py _flatten.
func flat(into, fields *value.Map, path string) {
	path = strings.Trim(path, "/")
	if path != "" {
		path = "/" + path
	}
	if fields.Len() == 0 {
		into.Set(path, fields)
	}
	for k, v := range fields.All() {
		key := path + "/" + strings.Trim(value.Str(k), "/")
		if m, ok := v.(*value.Map); ok {
			flat(into, m, key)
		} else {
			into.Set(key, v)
		}
	}
}

func update(ctx context.Context, c *fun.Call, a *updateArgs) (fun.Result, error) {
	all := value.NewMap(8)
	flat(all, a.Fields, a.Path)
	if all.Has("") {
		return fun.Result{}, fun.Errorf("fields is empty, and there is no path: there is nothing to write")
	}
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		out := value.NewMap(all.Len())
		for k, v := range all.All() {
			key := k.(string)
			var (
				stored value.Value = true
				err    error
			)
			if _, ok := v.(*value.Map); ok {
				_, err = e.MakeDir(ctx, key, 0)
			} else {
				stored, err = e.Set(ctx, key, v, 0)
			}
			if err != nil {
				if out.Len() > 0 {
					err = fun.Errorf("%v; written before: %s", err, strings.Join(names(out), ", "))
				}
				return nil, err
			}
			out.Set(key, stored)
		}
		return out, nil
	})
}

func names(m *value.Map) []string {
	var out []string
	for _, k := range m.Keys() {
		out = append(out, value.Str(k))
	}
	slices.Sort(out)
	return out
}

func watch(ctx context.Context, c *fun.Call, a *watchArgs) (fun.Result, error) {
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		k, err := e.Watch(ctx, a.Key, a.Recurse, a.Timeout, a.Index)
		if err != nil {
			return nil, err
		}
		ret := value.MapOf("key", a.Key, "value", nil, "changed", k != nil, "mIndex", int64(0), "dir", false)
		if k == nil {
			if k, err = e.Get(ctx, a.Key); err != nil {
				return nil, err
			}
		} else if a.Recurse {
			ret.Set("key", k.Name)
		}
		if k != nil {
			ret.Set("value", k.Value)
			ret.Set("mIndex", k.Revision)
			ret.Set("dir", k.Dir)
		}
		return ret, nil
	})
}

func ls(ctx context.Context, c *fun.Call, a *pathArgs) (fun.Result, error) {
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		m, err := e.List(ctx, a.Path)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			return value.NewMap(0), nil
		}
		return value.MapOf(a.Path, m), nil
	})
}

func rm(ctx context.Context, c *fun.Call, a *rmArgs) (fun.Result, error) {
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) {
		removed, err := e.Remove(ctx, a.Key, a.Recurse)
		if !removed || err != nil {
			return nil, err
		}
		return true, nil
	})
}

func tree(ctx context.Context, c *fun.Call, a *pathArgs) (fun.Result, error) {
	return with(ctx, c, a.Profile, &a.Server, func(e *sdb.Etcd) (value.Value, error) { return orNone(e.Tree(ctx, a.Path)) })
}
