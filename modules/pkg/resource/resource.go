// Package resource is Salt's execution module "pkg_resource": what providers of
// the module pkg have in common.
package resource

import (
	"context"
	"strings"

	"brine/internal/fun"
	"brine/internal/pkgversion"
	"brine/internal/value"
	"brine/modules/pkg"
)

// Module returns the execution module "pkg_resource".
func Module() fun.Module {
	return fun.Module{Name: "pkg_resource", Kind: fun.Exec, Doc: "Work with names, versions and lists of packages.", Specs: specs}
}

// normalizer returns the provider's way to strip architectures from names; nil if
// the provider has none or it is not wished.
func normalizer(ctx context.Context, c *fun.Call) func(string) string {
	if !c.Bool("normalize") || !pkg.Has(c.Env, "pkg.normalize_name") {
		return nil
	}
	return func(name string) string {
		if v, err := pkg.Call(ctx, c.Env, "pkg.normalize_name", nil, name); err == nil {
			return value.Str(v)
		}
		return name
	}
}

func addPkg(_ context.Context, c *fun.Call) (fun.Result, error) {
	pkgs := c.Map("pkgs")
	name, version := c.Value("name"), c.Value("pkgver")
	if !value.Hashable(name) {
		return fun.Result{}, &fun.InvocationError{Msg: "name must be a string", Arg: "name"}
	}
	if l := pkgs.List(name); l != nil {
		l.Append(version)
	} else if pkgs != nil {
		pkgs.Set(name, value.NewList(version))
	}
	return fun.Value(nil)
}

func sortPkglist(_ context.Context, c *fun.Call) (fun.Result, error) {
	pkg.SortVersions(c.Map("pkgs"))
	return fun.Value(nil)
}

func stringify(_ context.Context, c *fun.Call) (fun.Result, error) {
	pkg.Stringify(c.Map("pkgs"))
	return fun.Value(nil)
}

func packSources(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m := value.NewMap(0)
	for _, s := range pkg.PackSources(c.List("sources"), normalizer(ctx, c)) {
		m.Set(s.Name, s.Path)
	}
	return fun.Value(m)
}

// parseTargets returns a tuple of what is to be installed and where it comes from:
// repository, file or advisory.
func parseTargets(ctx context.Context, c *fun.Call) (fun.Result, error) {
	req := pkg.Request{
		Name: c.Str("name"), Version: c.Str("version"), Pkgs: c.List("pkgs"), Sources: c.List("sources"), SaltEnv: c.Str("saltenv"),
		Normalize: normalizer(ctx, c),
	}
	nothing := value.Tuple{nil, nil}
	ids, advisory := c.Kw.Get("advisory_ids")
	switch {
	case len(req.Pkgs) > 0 && (len(req.Sources) > 0 || advisory):
		return fun.Value(nothing)
	case advisory && value.Truth(ids):
		return fun.Value(value.Tuple{ids, "advisory"})
	case advisory:
		return fun.Value(value.Tuple{value.NewList(c.Value("name")), "advisory"})
	case len(req.Pkgs) == 0 && len(req.Sources) > 0:
		sources, err := req.Files(ctx, c.Env)
		if err != nil || len(sources) == 0 {
			return fun.Result{Value: nothing}, err
		}
		list := value.NewList()
		for _, s := range sources {
			list.Append(s.Path)
		}
		return fun.Value(value.Tuple{list, "file"})
	}
	targets, err := req.Named(c.Env)
	if err != nil || len(targets) == 0 {
		return fun.Result{Value: nothing}, err
	}
	m := value.NewMap(len(targets))
	for _, t := range targets {
		if t.Any {
			m.Set(t.Name, nil)
		} else {
			m.Set(t.Name, t.Version)
		}
	}
	return fun.Value(value.Tuple{m, "repository"})
}

func version(ctx context.Context, c *fun.Call) (fun.Result, error) {
	var names []string
	for _, p := range c.Pos {
		names = append(names, value.Str(p))
	}
	if len(names) == 0 {
		return fun.Value(value.NewMap(0))
	}
	kw := c.Kw.Copy()
	kw.Set("versions_as_list", true)
	v, err := pkg.Call(ctx, c.Env, "pkg.list_pkgs", kw)
	if err != nil {
		return fun.Result{}, err
	}
	installed, ok := v.(*value.Map)
	if !ok {
		return fun.Result{}, fun.Errorf("pkg.list_pkgs returned no mapping")
	}
	return fun.Value(pkg.Versions(installed, names, c.Bool("versions_as_list")))
}

func versionClean(ctx context.Context, c *fun.Call) (fun.Result, error) {
	v := c.Value("verstr")
	if value.Truth(v) && pkg.Has(c.Env, "pkg.version_clean") {
		return c.Env.Invoker.Invoke(ctx, fun.Exec, "pkg.version_clean", fun.Args{Pos: []value.Value{v}, Kw: value.NewMap(0)})
	}
	return fun.Value(v)
}

func checkExtraRequirements(ctx context.Context, c *fun.Call) (fun.Result, error) {
	v := c.Value("pkgver")
	if value.Truth(v) && pkg.Has(c.Env, "pkg.check_extra_requirements") {
		return c.Env.Invoker.Invoke(ctx, fun.Exec, "pkg.check_extra_requirements", fun.Args{Pos: []value.Value{c.Value("pkgname"), v}, Kw: value.NewMap(0)})
	}
	return fun.Value(true)
}

// versionCompare compares as the provider of pkg does, else loosely.
func versionCompare(ctx context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(Comparison(ctx, c.Env).Holds(c.Str("ver1"), c.Str("oper"), c.Str("ver2"), c.Bool("ignore_epoch")))
}

// Comparison returns the comparison of versions of the provider of pkg, a loose
// one where it has none.
func Comparison(ctx context.Context, env *fun.Env) pkg.Comparison {
	if !pkg.Has(env, "pkg.version_cmp") {
		return pkg.Comparer(pkgversion.Loose)
	}
	return func(a, b string, ignoreEpoch bool) (int, bool) {
		v, err := pkg.Call(ctx, env, "pkg.version_cmp", value.MapOf("ignore_epoch", ignoreEpoch), a, b)
		n, ok := value.AsInt(v)
		if err != nil || !ok {
			return 0, false
		}
		return int(max(-1, min(1, n))), true
	}
}

// formatKeys are the attributes that format_pkg_list returns.
var formatKeys = []string{"epoch", "version", "release", "arch", "install_date", "install_date_time_t"}

func formatPkgList(ctx context.Context, c *fun.Call) (fun.Result, error) {
	m, err := Format(c.Map("packages"), c.Bool("versions_as_list"), c.Strings("attr"), func(name string) (string, value.Value) { return splitArch(ctx, c, name) })
	return fun.Result{Value: m}, err
}

// Format returns packages as list_pkgs of providers does: versions, as text or as
// lists, or mappings of the attributes that attr names. packages has lists of such
// mappings by name. split divides a name into the package and its architecture.
// Salt: salt/modules/pkg_resource.py format_pkg_list.
func Format(pkgs *value.Map, asList bool, attr []string, split func(string) (string, value.Value)) (*value.Map, error) {
	ret := value.NewMap(pkgs.Len())
	for name, v := range pkgs.All() {
		items, err := value.Items(v)
		if err != nil {
			return nil, &fun.InvocationError{Msg: "packages must be a mapping of names to lists of mappings", Arg: "packages"}
		}
		key, list := name, value.NewList()
		if len(attr) == 0 {
			for _, x := range items {
				m, _ := x.(*value.Map)
				list.Append(pkg.FormatVersion(text(m.At("epoch")), text(m.At("version")), text(m.At("release"))))
			}
		} else {
			key = formatOne(name, items, list, attr, split)
		}
		if had := ret.List(key); had != nil {
			had.Append(list.Items...)
		} else {
			ret.Set(key, list)
		}
	}
	if len(attr) == 0 && !asList {
		pkg.Stringify(ret)
	}
	return ret, nil
}

// formatOne adds the attributes of the versions of a package to list. It returns the
// name under which they are: without the architecture where that is an attribute.
func formatOne(name value.Value, items []value.Value, list *value.List, attr []string, split func(string) (string, value.Value)) value.Value {
	key := name
	base, arch := split(value.Str(name))
	for _, x := range items {
		m, _ := x.(*value.Map)
		kept := value.NewMap(len(formatKeys))
		for _, k := range formatKeys {
			if m.Has(k) && (wants(attr, "all") || wants(attr, k) || k == "version" || k == "arch") {
				kept.Set(k, m.At(k))
			}
		}
		list.Append(kept)
		if base != "" && value.Equal(kept.At("arch"), arch) {
			key = base
		}
	}
	return key
}

func splitArch(ctx context.Context, c *fun.Call, name string) (base string, arch value.Value) {
	if pkg.Has(c.Env, "pkg.parse_arch") {
		if v, err := pkg.Call(ctx, c.Env, "pkg.parse_arch", nil, name); err == nil {
			if m, ok := v.(*value.Map); ok {
				return m.Str("name"), m.At("arch")
			}
		}
	}
	return name, nil
}

func wants(attr []string, key string) bool {
	for _, a := range attr {
		if strings.TrimSpace(a) == key {
			return true
		}
	}
	return false
}

// text is a part of a version: None is "".
func text(v value.Value) string {
	if v == nil {
		return ""
	}
	return value.Str(v)
}

func formatVersion(_ context.Context, c *fun.Call) (fun.Result, error) {
	return fun.Value(pkg.FormatVersion(c.Str("epoch"), c.Str("version"), c.Str("release")))
}
