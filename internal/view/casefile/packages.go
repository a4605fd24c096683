package casefile

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Package is an empty package that the machines of a case can install.
type Package struct {
	Pos      source.Pos
	Name     string
	Version  string
	Services []string // names of units, without ".service"
	Users    []string
	Depends  []string
	// Conflicts, Provides and Replaces are as in the description of a package.
	Conflicts, Provides, Replaces []string
	Files                         []PackageFile
}

// A PackageFile is a file of an empty package.
type PackageFile struct{ Path, Text string }

// DefaultVersion is that of packages for which a case names none. It is high since others
// break old versions of them: that is what libc6 says of chrony.
const DefaultVersion = "99.0"

var (
	packageName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`) })
	packageVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+:)?[0-9][A-Za-z0-9.+~-]*$`) })
	unitName       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9:_.@-]*$`) })
	userName       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`) })
	relation       = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+( \((<<|<=|=|>=|>>) [A-Za-z0-9.+:~-]+\))?$`)
	})
)

// IsPackageName reports whether a package can have a name.
func IsPackageName(name string) bool { return packageName().MatchString(name) }

// NewPackage is an empty package that has a service of its name.
func NewPackage(pos source.Pos, name string) Package {
	return Package{Pos: pos, Name: name, Version: DefaultVersion, Services: []string{name}}
}

// packages reads the empty packages of a case, and the directories of others.
func (r *reader) packages(c *Case, m *value.Map) {
	if m.Has("packages") {
		c.Machine.Packages = nil
		l := m.List("packages")
		if l == nil {
			r.Fault(m.Pos("packages"), "packages must be a list of names, or of mappings such as {nginx: {version: '1.22'}}, not %s", value.Kind(m.At("packages")))
		}
		for i := range l.Len() {
			r.onePackage(c, l.PosAt(i), l.Items[i])
		}
	}
	if m.Has("package_dirs") {
		c.Machine.PackageDirs = nil
		for _, dir := range r.Texts(m, "package_dirs") {
			c.Machine.PackageDirs = append(c.Machine.PackageDirs, PackageDir{m.Pos("package_dirs"), r.path(dir)})
		}
	}
}

// onePackage reads one item of packages.
func (r *reader) onePackage(c *Case, pos source.Pos, item value.Value) {
	var name string
	var of *value.Map
	switch v := item.(type) {
	case string:
		name = v
	case *value.Map:
		if v.Len() != 1 {
			r.Fault(pos, "packages: each item must be a name, or a mapping with one name")
			return
		}
		k, x := v.Entry(0)
		name, pos = value.Str(k), v.Pos(k)
		var ok bool
		if of, ok = x.(*value.Map); !ok && x != nil {
			r.Fault(pos, "the package %s must be a mapping, such as {version: '1.22'}, not %s", name, value.Kind(x))
			return
		}
	default:
		r.Fault(pos, "packages: each item must be a name, or a mapping with one name, not %s", value.Kind(item))
		return
	}
	if !IsPackageName(name) {
		r.Fault(pos, "the package %q: names of packages have lower-case letters, digits, '+', '-' and '.'", name)
	}
	if slices.ContainsFunc(c.Machine.Packages, func(p Package) bool { return p.Name == name }) {
		r.Fault(pos, "the package %s is named twice", name)
	}
	p := NewPackage(pos, name)
	r.Keys(of, "the package "+name, "conflicts", "depends", "files", "provides", "replaces", "services", "users", "version")
	if of.Has("version") {
		p.Version = r.Text(of, "version")
		if !packageVersion().MatchString(p.Version) {
			r.Fault(of.Pos("version"), "the version %q: versions of packages begin with a digit, such as 1.22.1-9", p.Version)
		}
	}
	if of.Has("services") {
		p.Services = r.matching(of, "services", unitName(), "the service %q: it must be the name of a unit, without '.service'")
	}
	p.Users = r.matching(of, "users", userName(), "the user %q: names of users have lower-case letters, digits, '_' and '-'")
	for _, x := range []struct {
		key  string
		into *[]string
	}{{"conflicts", &p.Conflicts}, {"depends", &p.Depends}, {"provides", &p.Provides}, {"replaces", &p.Replaces}} {
		*x.into = r.matching(of, x.key, relation(), x.key+": %q must be a package, or one with a version such as 'libc6 (>= 2.36)'")
	}
	files := r.mapping(of, "files")
	for k, v := range files.All() {
		name := value.Str(k)
		text, ok := v.(string)
		switch {
		case !path.IsAbs(name) || path.Clean(name) != name || name == "/" || strings.ContainsAny(name, "\n\x00"):
			r.Fault(files.Pos(k), "the file %q of the package: its path must be absolute", name)
		case !ok:
			r.Fault(files.Pos(k), "the file %s of the package must be text, not %s", name, value.Kind(v))
		}
		p.Files = append(p.Files, PackageFile{name, text})
	}
	c.Machine.Packages = append(c.Machine.Packages, p)
}

// matching reads texts that match a pattern; fault is what is complained of others.
func (r *reader) matching(m *value.Map, key string, pattern *regexp.Regexp, fault string) []string {
	all := r.Texts(m, key)
	for _, text := range all {
		if !pattern.MatchString(text) || key == "services" && strings.HasSuffix(text, ".service") {
			r.Fault(m.Pos(key), fault, text)
		}
	}
	return all
}
