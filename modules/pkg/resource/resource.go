// Package resource is Salt's execution module "pkg_resource": what providers of
// the module pkg have in common.
package resource

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// Module returns the execution module "pkg_resource".
func Module() fun.Module {
	return fun.Module{Name: "pkg_resource", Kind: fun.Exec, Doc: "Work with names, versions and lists of packages.", Specs: specs}
}

// normalizer returns the provider's way to strip architectures from names; nil if
// the provider has none or it is not wished.
func normalizer(ctx context.Context, c *fun.Call, a *normalizeArg) func(string) string {
	if !a.Normalize || !c.Env.Has("pkg.normalize_name") {
		return nil
	}
	return func(name string) string {
		if v, err := c.Env.Exec(ctx, "pkg.normalize_name", nil, name); err == nil {
			return value.Str(v)
		}
		return name
	}
}

type addPkgArgs struct {
	pkgsArg
	Name   value.Value `arg:"name,required,str" doc:"name of the package"`
	Pkgver value.Value `arg:"pkgver,required,str|none" doc:"version to add"`
}

func addPkg(_ context.Context, c *fun.Call, a *addPkgArgs) (fun.Result, error) {
	pkgs := a.Pkgs
	name, version := a.Name, a.Pkgver
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

func sortPkglist(_ context.Context, c *fun.Call, a *pkgsArg) (fun.Result, error) {
	pkg.SortVersions(a.Pkgs)
	return fun.Value(nil)
}

func stringify(_ context.Context, c *fun.Call, a *pkgsArg) (fun.Result, error) {
	pkg.Stringify(a.Pkgs)
	return fun.Value(nil)
}

type packSourcesArgs struct {
	Sources []value.Value `arg:"sources,required" doc:"the list, or text that is one"`
	normalizeArg
}

func packSources(ctx context.Context, c *fun.Call, a *packSourcesArgs) (fun.Result, error) {
	m := value.NewMap(0)
	for _, s := range pkg.PackSources(a.Sources, normalizer(ctx, c, &a.normalizeArg)) {
		m.Set(s.Name, s.Path)
	}
	return fun.Value(m)
}

type parseTargetsArgs struct {
	Name    value.Value   `arg:"name,str" doc:"name of the package, or several with commas between them"`
	Pkgs    []value.Value `arg:"pkgs" doc:"names, or mappings of a name to a version"`
	Sources []value.Value `arg:"sources" doc:"mappings of a name to a package file"`
	Saltenv string        `arg:"saltenv" default:"base" doc:"environment of salt:// URLs"`
	normalizeArg
	Version     string                 `arg:"version,kw" doc:"version of name"`
	AdvisoryIDs fun.Opt[[]value.Value] `arg:"advisory_ids,kw" doc:"advisories to install instead of packages"`
	_           fun.Kwargs
}

// parseTargets returns a tuple of what is to be installed and where it comes from:
// repository, file or advisory.
func parseTargets(ctx context.Context, c *fun.Call, a *parseTargetsArgs) (fun.Result, error) {
	req := pkg.Request{
		Name: fun.TextOf(a.Name), Version: a.Version, Pkgs: a.Pkgs, Sources: a.Sources, SaltEnv: a.Saltenv,
		Normalize: normalizer(ctx, c, &a.normalizeArg),
	}
	nothing := value.Tuple{nil, nil}
	ids, advisory := c.Args.At("advisory_ids"), a.AdvisoryIDs.Given
	switch {
	case len(req.Pkgs) > 0 && (len(req.Sources) > 0 || advisory):
		return fun.Value(nothing)
	case advisory && value.Truth(ids):
		return fun.Value(value.Tuple{ids, "advisory"})
	case advisory:
		return fun.Value(value.Tuple{value.NewList(a.Name), "advisory"})
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

type versionArgs struct {
	VersionsAsList bool `arg:"versions_as_list,kw" default:"False" doc:"return lists of versions rather than text"`
	More           fun.Varargs
	Rest           fun.Kwargs
}

func version(ctx context.Context, c *fun.Call, a *versionArgs) (fun.Result, error) {
	var names []string
	for _, p := range a.More {
		names = append(names, value.Str(p))
	}
	if len(names) == 0 {
		return fun.Value(value.NewMap(0))
	}
	kw := a.Rest.Copy()
	kw.Set("versions_as_list", true)
	v, err := c.Env.Exec(ctx, "pkg.list_pkgs", kw)
	if err != nil {
		return fun.Result{}, err
	}
	installed, ok := v.(*value.Map)
	if !ok {
		return fun.Result{}, fun.Errorf("pkg.list_pkgs returned no mapping")
	}
	return fun.Value(pkg.Versions(installed, names, a.VersionsAsList))
}

type versionCleanArgs struct {
	_      fun.Arguments
	Verstr value.Value `arg:"verstr,required" doc:"the version"`
}

func versionClean(ctx context.Context, c *fun.Call, a *versionCleanArgs) (fun.Result, error) {
	v := a.Verstr
	if value.Truth(v) && c.Env.Has("pkg.version_clean") {
		return c.Env.Invoker.Invoke(ctx, fun.Exec, "pkg.version_clean", fun.Args{Pos: []value.Value{v}, Kw: value.NewMap(0)})
	}
	return fun.Value(v)
}

type checkExtraRequirementsArgs struct {
	_       fun.Arguments
	Pkgname value.Value `arg:"pkgname,required,str" doc:"name of the package"`
	Pkgver  value.Value `arg:"pkgver,required,str|none" doc:"version with the requirements"`
}

func checkExtraRequirements(ctx context.Context, c *fun.Call, a *checkExtraRequirementsArgs) (fun.Result, error) {
	v := a.Pkgver
	if value.Truth(v) && c.Env.Has("pkg.check_extra_requirements") {
		return c.Env.Invoker.Invoke(ctx, fun.Exec, "pkg.check_extra_requirements", fun.Args{Pos: []value.Value{a.Pkgname, v}, Kw: value.NewMap(0)})
	}
	return fun.Value(true)
}

type versionCompareArgs struct {
	_           fun.Arguments
	Ver1        string `arg:"ver1,required,str|none" doc:"a version"`
	Oper        string `arg:"oper,required" doc:"one of ==, !=, >=, <=, > and <"`
	Ver2        string `arg:"ver2,required,str|none" doc:"another version"`
	IgnoreEpoch bool   `arg:"ignore_epoch" default:"False" doc:"ignore the epochs"`
}

// versionCompare compares as the provider of pkg does, else loosely.
func versionCompare(ctx context.Context, c *fun.Call, a *versionCompareArgs) (fun.Result, error) {
	return fun.Value(Comparison(ctx, c.Env).Holds(a.Ver1, a.Oper, a.Ver2, a.IgnoreEpoch))
}

// Comparison returns the comparison of versions of the provider of pkg, a loose
// one where it has none.
func Comparison(ctx context.Context, env *fun.Env) pkg.Comparison {
	if !env.Has("pkg.version_cmp") {
		return pkg.Comparer(pkgversion.Loose)
	}
	return func(a, b string, ignoreEpoch bool) (int, bool) {
		v, err := env.Exec(ctx, "pkg.version_cmp", value.MapOf("ignore_epoch", ignoreEpoch), a, b)
		n, ok := value.AsInt(v)
		if err != nil || !ok {
			return 0, false
		}
		return int(max(-1, min(1, n))), true
	}
}

// formatKeys are the attributes that format_pkg_list returns.
var formatKeys = []string{"epoch", "version", "release", "arch", "install_date", "install_date_time_t"}

type formatPkgListArgs struct {
	_              fun.Arguments
	Packages       *value.Map `arg:"packages,required" doc:"mapping of names to lists of mappings with epoch, version, release and more"`
	VersionsAsList bool       `arg:"versions_as_list,required,bool|none" doc:"return lists of versions rather than text"`
	Attr           []string   `arg:"attr,required,comma[str]|none" doc:"attributes to return in place of versions, or all"`
}

func formatPkgList(ctx context.Context, c *fun.Call, a *formatPkgListArgs) (fun.Result, error) {
	m, err := Format(a.Packages, a.VersionsAsList, a.Attr, func(name string) (string, value.Value) { return splitArch(ctx, c, name) })
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
				list.Append(pkg.FormatVersion(fun.TextOf(m.At("epoch")), fun.TextOf(m.At("version")), fun.TextOf(m.At("release"))))
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
	if c.Env.Has("pkg.parse_arch") {
		if v, err := c.Env.Exec(ctx, "pkg.parse_arch", nil, name); err == nil {
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

type formatVersionArgs struct {
	_       fun.Arguments
	Epoch   string `arg:"epoch,required,str|none" doc:"the epoch, or an empty string"`
	Version string `arg:"version,required,str|none" doc:"the version"`
	Release string `arg:"release,required,str|none" doc:"the release, or an empty string"`
}

func formatVersion(_ context.Context, c *fun.Call, a *formatVersionArgs) (fun.Result, error) {
	return fun.Value(pkg.FormatVersion(a.Epoch, a.Version, a.Release))
}
