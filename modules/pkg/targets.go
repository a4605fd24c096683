package pkg

import (
	"context"
	"math/big"
	"path"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/cp"
)

// A Target is a package that is asked for.
type Target struct {
	Name    string
	Version string // a version, a specification or "latest"
	Any     bool   // no version was given
}

// Repack reads the argument pkgs: names, and mappings of one name to a version.
// normalize, where not nil, is applied to the names. It returns none where the
// list is not of that form, and an *fun.InvocationError for a name that is in it
// twice.
// Salt: salt/modules/pkg_resource.py _repack_pkgs.
func Repack(pkgs []value.Value, normalize func(string) string) ([]Target, error) {
	var list []Target
	for _, p := range pkgs {
		t, ok := target(p)
		if !ok {
			return nil, nil
		}
		if normalize != nil {
			t.Name = normalize(t.Name)
		}
		list = append(list, t)
	}
	seen := make(map[string]bool, len(list))
	for _, t := range list {
		if seen[t.Name] {
			return nil, &fun.InvocationError{Msg: "You are passing a list of packages that contains duplicated packages names: " + value.Repr(value.NewList(pkgs...)) +
				". This cannot be processed. In case you are targeting different versions of the same package, please target them individually"}
		}
		seen[t.Name] = true
	}
	return list, nil
}

// target reads an item of pkgs.
func target(p value.Value) (Target, bool) {
	switch p := p.(type) {
	case string, int64, *big.Int, float64, bool:
		return Target{Name: value.Str(p), Any: true}, true
	case *value.Map:
		if p.Len() != 1 {
			return Target{}, false
		}
		name, version := p.Entry(0)
		if version == nil {
			return Target{Name: value.Str(name), Any: true}, true
		}
		return Target{Name: value.Str(name), Version: value.Str(version)}, true
	}
	return Target{}, false
}

// Pack returns targets as the argument pkgs.
func Pack(list []Target) *value.List {
	l := value.NewList()
	for _, t := range list {
		if t.Any {
			l.Append(value.MapOf(t.Name, nil))
		} else {
			l.Append(value.MapOf(t.Name, t.Version))
		}
	}
	return l
}

// A Source is a package file and the name of the package that it is to bring.
type Source struct{ Name, Path string }

// PackSources reads the argument sources: a list of mappings of one name to a
// file. It returns none where the list is not of that form.
// Salt: salt/modules/pkg_resource.py pack_sources.
func PackSources(sources []value.Value, normalize func(string) string) []Source {
	if len(sources) == 1 {
		if s, ok := sources[0].(string); ok { // a list as text
			v, err := yamlsalt.LoadString(s)
			l, isList := v.(*value.List)
			if err != nil || !isList {
				return nil
			}
			sources = l.Items
		}
	}
	var list []Source
	for _, s := range sources {
		m, ok := s.(*value.Map)
		if !ok || m.Len() != 1 {
			return nil
		}
		name, file := m.Entry(0)
		src := Source{value.Str(name), value.Str(file)}
		if normalize != nil {
			src.Name = normalize(src.Name)
		}
		list = append(list, src)
	}
	return list
}

// A Request is what pkg.install and pkg.remove are asked for.
type Request struct {
	Name      string
	Version   string // of Name
	Pkgs      []value.Value
	Sources   []value.Value
	SaltEnv   string
	Normalize func(string) string // nil: names stay as they are
}

// Named returns the packages that pkgs or name ask for. None and a nil error
// means that nothing, or nothing that makes sense, is asked for. Name may be
// several names with commas between them.
// Salt: salt/modules/pkg_resource.py parse_targets.
func (r *Request) Named(env *fun.Env) ([]Target, error) {
	if len(r.Pkgs) > 0 {
		if r.Version != "" {
			env.Log().Warn("the version is ignored, since several packages are asked for")
		}
		list, err := Repack(r.Pkgs, r.Normalize)
		if err == nil && list == nil {
			env.Log().Error("pkgs is not a list of names and mappings of one name to a version")
		}
		return list, err
	}
	var list []Target
	if r.Name == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(r.Name, ",") {
		if r.Normalize != nil {
			name = r.Normalize(name)
		}
		t := Target{Name: name, Version: r.Version, Any: r.Version == ""}
		if !containsTarget(list, name) {
			list = append(list, t)
		}
	}
	return list, nil
}

// ToRemove is Named for functions that remove: nothing to remove is a fault of the
// call, as it is in Salt, which fails with a traceback.
func (r *Request) ToRemove(env *fun.Env) ([]Target, error) {
	list, err := r.Named(env)
	if err != nil {
		return nil, AsCommandError(err)
	}
	if len(list) == 0 {
		return nil, &fun.InvocationError{Msg: "no package to remove is named: give its name, or a list of names as pkgs", Arg: "name"}
	}
	return list, nil
}

func containsTarget(list []Target, name string) bool {
	for _, t := range list {
		if t.Name == name {
			return true
		}
	}
	return false
}

// Files brings the package files that sources name to this machine and returns
// where they are, in order.
func (r *Request) Files(ctx context.Context, env *fun.Env) ([]Source, error) {
	list := PackSources(r.Sources, r.Normalize)
	for i, s := range list {
		local, err := Fetch(ctx, env, s.Path, r.SaltEnv)
		if err != nil {
			return nil, err
		}
		if local == "" {
			if cp.Scheme(s.Path) == "" {
				return nil, &fun.InvocationError{Msg: "Path " + s.Path + " for package " + s.Name + " is either not absolute or an invalid protocol"}
			}
			return nil, fun.Errorf("Unable to retrieve %s from saltenv '%s'", cp.Redact(s.Path), saltEnv(env, r.SaltEnv))
		}
		list[i].Path = local
	}
	return list, nil
}

func saltEnv(env *fun.Env, name string) string {
	for _, s := range []string{name, env.SaltEnv} {
		if s != "" {
			return s
		}
	}
	return "base"
}

// Fetch brings a file to this machine and returns its path: that of a local file
// as it is, "" for a path that is not absolute and for a remote file that is not
// there.
func Fetch(ctx context.Context, env *fun.Env, source, saltenv string) (string, error) {
	if cp.Scheme(source) != "" {
		return cp.New(env, saltenv).CacheFile(ctx, source, cp.Options{})
	}
	if !path.IsAbs(source) {
		return "", nil
	}
	return source, nil
}
