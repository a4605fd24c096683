// Package pillar is Salt's execution module "pillar": it reads the pillar of
// this target and renders it again.
package pillar

import (
	"context"
	"path/filepath"

	"brine/internal/core/fun"
	"brine/internal/fleet/pillar"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// Module returns the execution module "pillar".
func Module() fun.Module {
	return fun.Module{Name: "pillar", Kind: fun.Exec, Doc: "Read and render the pillar.", Specs: specs}
}

// unset is the default of an argument that was not given, where None is
// another thing.
type unset struct{}

// Repr prints as Salt's default.
func (unset) Repr() string { return "<class 'KeyError'>" }

// Text is the default as documentation shows it: it has the effect of this one,
// unless pillar_raise_on_missing is set.
func (unset) Text() string { return "''" }

// retBroken is the return code of a function that reads a pillar whose files do
// not all render. Difference: Salt has none.
const retBroken = 5

// answer is the return of a function: all of a pillar, or what it does not have,
// may be missing because of the pillar's errors.
func answer(p value.Mapping, v value.Value, missing bool) (fun.Result, error) {
	res := fun.Result{Value: v}
	if errs, _ := p.Get(pillar.ErrorsKey); missing && value.Truth(errs) {
		res.Retcode = retBroken
	}
	return res, nil
}

// current returns the pillar that a function reads: the run's, or, where an
// environment is named, one that is rendered for it.
func current(ctx context.Context, c *fun.Call, pillarenv, saltenv value.Value) (value.Mapping, error) {
	if pillarenv != nil || saltenv != nil {
		return fresh(ctx, c, value.MapOf("pillarenv", pillarenv, "saltenv", saltenv))
	}
	if c.Env.Pillar == nil {
		return value.NewMap(0), nil
	}
	return c.Env.Pillar, nil
}

// fresh renders the pillar by the keywords of pillar.items.
func fresh(ctx context.Context, c *fun.Call, kw *value.Map) (*value.Map, error) {
	req := fun.PillarRequest{Base: c.Env.Pillar}
	if v := kw.At("pillarenv"); v != nil {
		req.PillarEnv = value.Str(v)
	}
	if v := kw.At("saltenv"); v != nil && value.Truth(c.Env.Opts.At("pillarenv_from_saltenv")) {
		req.SaltEnv = value.Str(v)
	}
	if v, ok := kw.Get("pillar"); ok && value.Truth(v) {
		if enc := kw.At("pillar_enc"); value.Truth(enc) {
			m, err := pillar.Given(ctx, c.Env, v, value.Str(enc))
			if err != nil {
				return nil, err
			}
			req.Override = m
			return c.Env.Up.Pillar(ctx, req)
		}
		m, ok := v.(value.Mapping)
		if !ok {
			c.Env.Warn(fun.Warning{Text: "Pillar data must be a dictionary: a " + value.TypeName(v) + " is passed over"})
		}
		req.Override = value.ToMap(m)
	}
	return c.Env.Up.Pillar(ctx, req)
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	p, err := current(ctx, c, a.Pillarenv, a.Saltenv)
	if err != nil {
		return fun.Result{}, err
	}
	def := a.Default
	_, missing := def.(unset)
	if missing {
		def = ""
	}
	found, ok := value.TraverseKey(p, a.Key, a.Delimiter)
	if a.Merge {
		lists := a.MergeNestedLists.Or(value.Truth(c.Env.Opts.At("pillar_merge_lists")))
		if v, done := merged(c, lists, def, found, ok); done {
			return fun.Value(v)
		}
	}
	if !ok {
		if missing && value.Truth(c.Env.Opts.At("pillar_raise_on_missing")) {
			return fun.Result{}, value.Raise("KeyError", "'Pillar key not found: %s'", value.Str(a.Key))
		}
		return answer(p, def, true)
	}
	return fun.Value(found)
}

// merged returns what is in the pillar merged over the default, false where
// the two are of other types: then Salt does not merge. lists says whether nested lists
// are put together.
func merged(c *fun.Call, lists bool, def, found value.Value, ok bool) (value.Value, bool) {
	switch d := def.(type) {
	case value.Mapping:
		m := value.ToMap(value.Clone(d))
		f, isMap := found.(value.Mapping)
		if !ok {
			return m, true
		}
		if isMap {
			return value.Update(m, f, true, lists), true
		}
	case *value.List:
		l := value.Clone(d).(*value.List)
		f, isList := found.(*value.List)
		if !ok {
			return l, true
		}
		if isList {
			for _, x := range f.Items {
				if !value.In(d.Items, x) {
					l.Append(x)
				}
			}
			return l, true
		}
	default:
		c.Env.Log().Error("pillar.get: the default must be a dict or a list to merge", "type", value.TypeName(def))
		return nil, false
	}
	c.Env.Log().Error("pillar.get: the default and the pillar differ in type and are not merged",
		"default", value.TypeName(def), "pillar", value.TypeName(found))
	return nil, false
}

// itemsArgs are the arguments of items, item, ls and obfuscate.
type itemsArgs struct {
	Default   value.Value `arg:"default,kw" default:"''" doc:"of names: returned for keys that are not found"`
	Delimiter string      `arg:"delimiter,kw" doc:"of names: separates the parts of a key; default: the option pillar_delimiter"`
	renderArgs
	More fun.Varargs
	_    fun.Kwargs
}

// renderArgs say how the pillar is rendered.
type renderArgs struct {
	_         fun.Arguments
	_         value.Value `arg:"pillar,kw" doc:"mapping that is merged over the pillar"`
	_         value.Value `arg:"pillar_enc,kw,str" doc:"renderer that decrypts pillar first: gpg"`
	Pillarenv value.Value `arg:"pillarenv,kw,str" doc:"environment of the pillar"`
	Saltenv   value.Value `arg:"saltenv,kw,str" doc:"as pillarenv, with pillarenv_from_saltenv"`
}

func items(ctx context.Context, c *fun.Call, a *itemsArgs) (fun.Result, error) {
	if len(a.More) > 0 {
		return item(ctx, c, a)
	}
	m, err := fresh(ctx, c, c.Given(&a.renderArgs))
	if err != nil {
		return fun.Result{}, err
	}
	return answer(m, m, true)
}

func item(ctx context.Context, c *fun.Call, a *itemsArgs) (fun.Result, error) {
	p, err := current(ctx, c, a.Pillarenv, a.Saltenv)
	if err != nil {
		return fun.Result{}, err
	}
	delim := a.Delimiter
	if delim == "" {
		delim = c.Env.Opts.Str("pillar_delimiter")
	}
	m := value.NewMap(len(a.More))
	missing := false
	for _, key := range a.More {
		v, ok := value.TraverseKey(p, key, delim)
		if !ok {
			v, missing = a.Default, true
		}
		m.Set(key, v)
	}
	return answer(p, m, missing)
}

type rawArgs struct {
	_   fun.Arguments
	Key value.Value `arg:"key,str|int" doc:"a key; default: all"`
}

func raw(_ context.Context, c *fun.Call, a *rawArgs) (fun.Result, error) {
	p := c.Env.Pillar
	if p == nil {
		p = value.NewMap(0)
	}
	if !value.Truth(a.Key) {
		return fun.Value(value.ToMap(p).Copy())
	}
	v, ok := p.Get(a.Key)
	if !ok {
		v = value.NewMap(0)
	}
	return fun.Value(v)
}

type keysArgs struct {
	_         fun.Arguments
	Key       value.Value `arg:"key,required,str|int|list" doc:"keys and list indices, separated by colons"`
	Delimiter string      `arg:"delimiter" default:":" doc:"separates the parts of the key"`
}

func keys(_ context.Context, c *fun.Call, a *keysArgs) (fun.Result, error) {
	var p value.Value = value.NewMap(0)
	if c.Env.Pillar != nil {
		p = c.Env.Pillar
	}
	v, ok := value.TraverseKey(p, a.Key, a.Delimiter)
	if !ok {
		return fun.Result{}, value.Raise("KeyError", "'Pillar key not found: %s'", value.Str(a.Key))
	}
	m, ok := v.(value.Mapping)
	if !ok {
		return fun.Result{}, value.Raise("ValueError", "Pillar value in key %s is not a dict", value.Str(a.Key))
	}
	return fun.Value(value.NewList(m.Keys()...))
}

func ls(ctx context.Context, c *fun.Call, a *itemsArgs) (fun.Result, error) {
	r, err := items(ctx, c, a)
	if err != nil {
		return r, err
	}
	return fun.Value(value.NewList(r.Value.(*value.Map).Keys()...))
}

func obfuscate(ctx context.Context, c *fun.Call, a *itemsArgs) (fun.Result, error) {
	r, err := items(ctx, c, a)
	if err != nil {
		return r, err
	}
	return fun.Value(types(r.Value))
}

// types returns v with each scalar as the name of its type.
func types(v value.Value) value.Value {
	switch v := v.(type) {
	case value.Mapping:
		m := value.NewMap(v.Len())
		for _, k := range v.Keys() {
			x, _ := v.Get(k)
			m.Set(k, types(x))
		}
		return m
	case *value.List:
		l := value.NewList()
		for _, x := range v.Items {
			l.Append(types(x))
		}
		return l
	case value.Tuple:
		t := make(value.Tuple, len(v))
		for i, x := range v {
			t[i] = types(x)
		}
		return t
	}
	return "<" + value.TypeName(v) + ">"
}

type extArgs struct {
	_        fun.Arguments
	External value.Value `arg:"external,required,str|dict" doc:"a mapping of the interface and its arguments, also as YAML text"`
	Pillar   *value.Map  `arg:"pillar" doc:"merged over the pillar"`
}

func ext(ctx context.Context, c *fun.Call, a *extArgs) (fun.Result, error) {
	e := a.External
	if s, ok := e.(string); ok {
		v, err := yamlsalt.LoadString(s)
		if err != nil {
			return fun.Result{}, err
		}
		e = v
	}
	m, err := c.Env.Up.Pillar(ctx, fun.PillarRequest{Ext: e, Override: a.Pillar, Base: c.Env.Pillar})
	if err != nil {
		return fun.Result{}, err
	}
	return fun.Value(m)
}

type filterByArgs struct {
	_          fun.Arguments
	LookupDict *value.Map  `arg:"lookup_dict,required" doc:"the entries, by a glob that the pillar value matches"`
	Pillar     string      `arg:"pillar,required" doc:"key of the value in the pillar"`
	Merge      value.Value `arg:"merge" doc:"a mapping merged over the result"`
	Default    value.Value `arg:"default" default:"'default'" doc:"the key if nothing matches"`
	Base       value.Value `arg:"base" doc:"a key whose mapping is merged under the result"`
}

func filterBy(_ context.Context, c *fun.Call, a *filterByArgs) (fun.Result, error) {
	var p value.Value = value.NewMap(0)
	if c.Env.Pillar != nil {
		p = c.Env.Pillar
	}
	v, err := value.FilterBy(a.LookupDict, p, a.Pillar, a.Merge, a.Default, a.Base)
	return fun.Result{Value: v}, err
}

type fileExistsArgs struct {
	_       fun.Arguments
	Path    string `arg:"path,required,path" doc:"path relative to the roots"`
	Saltenv string `arg:"saltenv" doc:"look only in this environment"`
}

func fileExists(_ context.Context, c *fun.Call, a *fileExistsArgs) (fun.Result, error) {
	roots := c.Env.Opts.Map("pillar_roots")
	if roots.Len() == 0 {
		return fun.Result{}, fun.Errorf("No pillar_roots found. Are you running this on the master?")
	}
	for env, dirs := range roots.All() {
		if only := a.Saltenv; only != "" && value.Str(env) != only {
			continue
		}
		l, _ := dirs.(*value.List)
		for i := range l.Len() {
			st, err := c.Env.Host.Stat(filepath.Join(value.Str(l.Items[i]), a.Path))
			if err == nil && st.Mode.IsRegular() {
				return fun.Value(true)
			}
		}
	}
	return fun.Value(false)
}
