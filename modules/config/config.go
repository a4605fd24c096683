// Package config is Salt's execution module "config": it reads options of the
// configuration, of grains and of the pillar.
package config

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/sdb"
	"brine/internal/py/value"
)

// Module returns the execution module "config".
func Module() fun.Module {
	return fun.Module{Name: "config", Kind: fun.Exec, Doc: "Read options of the configuration, grains and pillar.", Specs: specs}
}

// defaults returns what options are that nothing sets.
func defaults() *value.Map {
	return value.MapOf(
		"mongo.db", "salt", "mongo.host", "salt", "mongo.password", "", "mongo.port", int64(27017), "mongo.user", "",
		"redis.db", "0", "redis.host", "salt", "redis.port", int64(6379),
		"test.foo", "unconfigured",
		"ca.cert_base_path", "/etc/pki",
		"solr.cores", value.NewList(), "solr.host", "localhost", "solr.port", "8983", "solr.baseurl", "/solr", "solr.type", "master",
		"solr.request_timeout", nil, "solr.init_script", "/etc/rc.d/solr",
		"solr.dih.import_options", value.MapOf("clean", false, "optimize", true, "commit", true, "verbose", false),
		"solr.backup_path", nil, "solr.num_backups", int64(1),
		"poudriere.config", "/usr/local/etc/poudriere.conf", "poudriere.config_dir", "/usr/local/etc/poudriere.d",
		"ldap.uri", "", "ldap.server", "localhost", "ldap.port", "389", "ldap.tls", false, "ldap.no_verify", false,
		"ldap.anonymous", true, "ldap.scope", int64(2), "ldap.attrs", nil, "ldap.binddn", "", "ldap.bindpw", "",
		"hosts.file", "/etc/hosts", "aliases.file", "/etc/aliases",
		"virt.images", "/srv/salt-images", "virt.tunnel", false,
	)
}

func pillarOf(c *fun.Call) value.Mapping { return orEmpty(c.Env.Pillar) }

func orEmpty(m value.Mapping) value.Mapping {
	if m == nil {
		return value.NewMap(0)
	}
	return m
}

// masterOf returns the master's options, which pillar_opts puts in the pillar.
func masterOf(c *fun.Call) value.Mapping {
	v, _ := pillarOf(c).Get("master")
	m, _ := v.(*value.Map)
	return m
}

// A place is where options are looked for.
type place struct {
	omit bool
	data func() value.Mapping
}

// omits are the sources that a call skips.
type omits struct{ opts, grains, pillar, master bool }

// places returns the sources in the order in which the first that has an
// option counts.
func places(c *fun.Call, omit omits) []place {
	return []place{
		{omit.opts, func() value.Mapping { return c.Env.Opts }},
		{omit.grains, func() value.Mapping { return orEmpty(c.Env.SubjectGrains()) }},
		{omit.pillar, func() value.Mapping { return pillarOf(c) }},
		{omit.master, func() value.Mapping { return masterOf(c) }},
		{false, func() value.Mapping { return defaults() }},
	}
}

type getArgs struct {
	_          fun.Arguments
	Key        value.Value     `arg:"key,required,str|int|list" doc:"the option; colons separate nested keys"`
	Default    value.Value     `arg:"default" default:"''" doc:"returned if nothing is found"`
	Delimiter  string          `arg:"delimiter" default:":" doc:"separates the parts of the key"`
	Merge      fun.Opt[string] `arg:"merge" doc:"recurse or overwrite"`
	OmitOpts   bool            `arg:"omit_opts" default:"False" doc:"skip the configuration"`
	OmitPillar bool            `arg:"omit_pillar" default:"False" doc:"skip the pillar"`
	OmitMaster bool            `arg:"omit_master" default:"False" doc:"skip the master's options (pillar_opts)"`
	OmitGrains bool            `arg:"omit_grains" default:"False" doc:"skip the grains"`
}

func (a *getArgs) omits() omits {
	return omits{opts: a.OmitOpts, grains: a.OmitGrains, pillar: a.OmitPillar, master: a.OmitMaster}
}

func get(ctx context.Context, c *fun.Call, a *getArgs) (fun.Result, error) {
	key, delim := a.Key, a.Delimiter
	if a.Merge.Given {
		return getMerged(ctx, c, a, key, delim)
	}
	for _, p := range places(c, a.omits()) {
		if p.omit {
			continue
		}
		if v, ok := value.TraverseKey(p.data(), key, delim); ok {
			return found(ctx, c, v)
		}
	}
	return fun.Value(a.Default)
}

// getMerged merges all sources, later ones first. Only the first part of the
// key is merged: that alone can show in the result.
func getMerged(ctx context.Context, c *fun.Call, args *getArgs, key value.Value, delim string) (fun.Result, error) {
	strategy := value.Strategy(args.Merge.V)
	if strategy != value.Recurse && strategy != value.Overwrite {
		c.Env.Log().Warn("config.get: unsupported merge strategy, falling back to recurse", "merge", string(strategy))
		strategy = value.Recurse
	}
	first := key
	if s, ok := key.(string); ok {
		head, _, _ := strings.Cut(s, delim)
		first = head
	}
	lists := value.Truth(c.Env.Opts.At("pillar_merge_lists"))
	data := value.NewMap(1)
	all := places(c, args.omits())
	for i, a := range slices.Backward(all) {
		if a.omit {
			continue
		}
		if v, ok := a.data().Get(first); ok {
			if i > 0 {
				// Each further merge copies what it merges into: the result can be
				// changed without changing pillar or grains.
				v = value.Clone(v)
			}
			data = value.Merge(data, value.MapOf(first, v), strategy, "", lists)
		}
	}
	if v, ok := value.TraverseKey(data, key, delim); ok {
		return found(ctx, c, v)
	}
	return fun.Value(args.Default)
}

// found returns an option, or the value that it names by the URI of an sdb profile.
func found(ctx context.Context, c *fun.Call, v value.Value) (fun.Result, error) {
	if sdb.Is(v) {
		var err error
		if v, err = sdb.Get(ctx, c.Env, v, false); err != nil {
			return fun.Result{}, fun.Errorf("%v", err)
		}
	}
	return fun.Value(v)
}

type optionArgs struct {
	_          fun.Arguments
	Value      string      `arg:"value,required" doc:"the option; with wildcard a glob"`
	Default    value.Value `arg:"default" doc:"returned if nothing is found; '' if not given"`
	OmitOpts   bool        `arg:"omit_opts" default:"False" doc:"skip the configuration"`
	OmitGrains bool        `arg:"omit_grains" default:"False" doc:"skip the grains"`
	OmitPillar bool        `arg:"omit_pillar" default:"False" doc:"skip the pillar"`
	OmitMaster bool        `arg:"omit_master" default:"False" doc:"skip the master's options (pillar_opts)"`
	OmitAll    bool        `arg:"omit_all" default:"False" doc:"skip everything but the built-in defaults"`
	Wildcard   bool        `arg:"wildcard" default:"False" doc:"return a mapping of all options that match"`
}

func (a *optionArgs) omits() omits {
	all := a.OmitAll
	return omits{opts: all || a.OmitOpts, grains: all || a.OmitGrains, pillar: all || a.OmitPillar, master: all || a.OmitMaster}
}

func option(_ context.Context, c *fun.Call, a *optionArgs) (fun.Result, error) {
	name := a.Value
	if a.Wildcard {
		return optionGlob(c, a, name)
	}
	for _, p := range places(c, a.omits()) {
		if p.omit {
			continue
		}
		if v, ok := p.data().Get(name); ok {
			return fun.Value(v)
		}
	}
	if a.Default == nil {
		return fun.Value("")
	}
	return fun.Value(a.Default)
}

func optionGlob(c *fun.Call, a *optionArgs, pattern string) (fun.Result, error) {
	ret := value.NewMap(0)
	all := places(c, a.omits())
	for i := len(all) - 2; i >= 0; i-- {
		if all[i].omit {
			continue
		}
		data := all[i].data()
		for _, k := range data.Keys() {
			if value.Fnmatch(pattern, value.Str(k)) {
				v, _ := data.Get(k)
				ret.Set(k, v)
			}
		}
	}
	for k, v := range defaults().All() {
		if value.Fnmatch(pattern, value.Str(k)) && !ret.Has(k) {
			ret.Set(k, v)
		}
	}
	if ret.Len() == 0 && a.Default != nil {
		return fun.Value(a.Default)
	}
	return fun.Value(ret)
}

type mergeOptionArgs struct {
	_          fun.Arguments
	Value      string      `arg:"value,required" doc:"the option"`
	Default    value.Value `arg:"default" default:"''" doc:"returned if nothing is found"`
	OmitOpts   bool        `arg:"omit_opts" default:"False" doc:"skip the configuration"`
	OmitMaster bool        `arg:"omit_master" default:"False" doc:"skip the master's options (pillar_opts)"`
	OmitPillar bool        `arg:"omit_pillar" default:"False" doc:"skip the pillar"`
}

func mergeOption(_ context.Context, c *fun.Call, a *mergeOptionArgs) (fun.Result, error) {
	name := a.Value
	var ret value.Value
	all := places(c, omits{opts: a.OmitOpts, pillar: a.OmitPillar, master: a.OmitMaster})
	for _, p := range []place{all[0], all[3], all[2]} {
		if p.omit {
			continue
		}
		v, ok := p.data().Get(name)
		if !ok {
			continue
		}
		switch r := ret.(type) {
		case nil:
			ret = v
		case *value.Map:
			if m, ok := v.(*value.Map); ok {
				ret = value.Update(m.Copy(), r, false, false)
			}
		case *value.List:
			if l, ok := v.(*value.List); ok {
				ret = value.NewList(append(r.Items[:r.Len():r.Len()], l.Items...)...)
			}
		}
		if s, ok := ret.(string); ok {
			return fun.Value(s)
		}
	}
	if ret == nil {
		if v, ok := defaults().Get(name); ok {
			return fun.Value(v)
		}
	}
	if !value.Truth(ret) {
		return fun.Value(a.Default)
	}
	return fun.Value(ret)
}

func items(_ context.Context, c *fun.Call, _ *fun.NoArgs) (fun.Result, error) {
	return fun.Value(c.Env.Opts)
}

type backupModeArgs struct {
	_      fun.Arguments
	Backup string `arg:"backup" default:"" doc:"returned if given"`
}

func backupMode(_ context.Context, c *fun.Call, a *backupModeArgs) (fun.Result, error) {
	if b := a.Backup; b != "" {
		return fun.Value(b)
	}
	if v, ok := c.Env.Opts.Get("backup_mode"); ok {
		return fun.Value(v)
	}
	if v, ok := pillarOf(c).Get("backup_mode"); ok {
		return fun.Value(v)
	}
	return fun.Value("")
}

type dotValsArgs struct {
	_     fun.Arguments
	Value string `arg:"value,required" doc:"the name"`
}

func dotVals(_ context.Context, c *fun.Call, a *dotValsArgs) (fun.Result, error) {
	ret := value.NewMap(0)
	prefix := a.Value + "."
	for _, m := range []value.Mapping{masterOf(c), c.Env.Opts} {
		for _, k := range m.Keys() {
			if s, ok := k.(string); ok && strings.HasPrefix(s, prefix) {
				v, _ := m.Get(k)
				ret.Set(k, v)
			}
		}
	}
	return fun.Value(ret)
}

type manageModeArgs struct {
	_    fun.Arguments
	Mode value.Value `arg:"mode,required" doc:"the mode; None is None"`
}

func manageMode(_ context.Context, c *fun.Call, a *manageModeArgs) (fun.Result, error) {
	if a.Mode == nil {
		return fun.Value(nil)
	}
	return fun.Value(Mode(a.Mode))
}

// Mode returns a file mode as text: without quotes, with a leading zero, at
// least four digits.
//
// Salt: salt/utils/files.py normalize_mode.
func Mode(mode value.Value) string {
	s := strings.Trim(strings.Trim(value.Str(mode), `"`), `'`)
	if d, ok := strings.CutPrefix(s, "0o"); ok {
		s = "0" + d
	}
	s = strings.TrimLeft(s, "0")
	for len(s) < 4 {
		s = "0" + s
	}
	return s
}

type validFileprotoArgs struct {
	_   fun.Arguments
	URI value.Value `arg:"uri,required" doc:"the URI"`
}

func validFileproto(_ context.Context, c *fun.Call, a *validFileprotoArgs) (fun.Result, error) {
	s, ok := a.URI.(string)
	if !ok {
		return fun.Value(false)
	}
	for _, proto := range []string{"salt", "http", "https", "ftp", "s3", "swift", "file"} {
		if strings.HasPrefix(s, proto+"://") {
			return fun.Value(true)
		}
	}
	return fun.Value(false)
}
