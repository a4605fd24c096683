// Package npm is Salt's state module "npm": packages of Node.js.
package npm

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/npm"
)

// States returns the rows of the state module "npm".
func States() fun.Module {
	return fun.Module{Name: "npm", Kind: fun.State, Doc: "Manage packages of Node.js.", Specs: specs, Avail: fun.Needs("npm", "'npm' binary not found on system"), Brings: fun.Always}
}

var pkgRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(@?[^@\s]+)(?:@(\S+))?`) })

// split returns the name and the version that a package is asked for.
func split(pkg string) (name, version string) {
	if strings.Contains(pkg, "://") {
		return pkg, ""
	}
	if m := pkgRE().FindStringSubmatch(pkg); m != nil {
		return m[1], m[2]
	}
	return pkg, ""
}

// version returns the version of an installed package; ok is false where it is
// not installed.
func version(have *value.Map, name string) (v string, ok bool) {
	if m := have.Map(name); m != nil && m.Has("version") {
		return m.Str("version"), true
	}
	_, at, isURL := strings.Cut(name, "://")
	if !isURL {
		return "", false
	}
	for _, x := range have.All() {
		m, _ := x.(*value.Map)
		if m == nil {
			continue
		}
		for _, key := range []string{"from", "resolved"} {
			if m.At(key) == nil {
				continue
			}
			_, from, _ := strings.Cut(m.Str(key), "://")
			from, _, _ = strings.Cut(from, "#")
			want, _, _ := strings.Cut(at, "#")
			if from != "" && strings.TrimSuffix(from, ".git") == strings.TrimSuffix(want, ".git") && (from == at || !strings.Contains(at, "#") || strings.HasSuffix(m.Str(key), at)) {
				if m.At("version") == nil {
					return "", true
				}
				return m.Str("version"), true
			}
		}
	}
	return "", false
}

type installedArgs struct {
	_              fun.Arguments
	Name           string     `arg:"name,required" doc:"package, with name@version for a version"`
	Pkgs           []string   `arg:"pkgs" doc:"packages, instead of the name"`
	Dir            string     `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	User           string     `arg:"user" doc:"account that runs the program"`
	ForceReinstall bool       `arg:"force_reinstall" default:"False" doc:"install packages that are installed, too"`
	Registry       string     `arg:"registry,secret" doc:"URL of the registry"`
	Env            *value.Map `arg:"env" doc:"environment variables for npm"`
}

// installed makes sure that packages are installed.
// Salt: salt/states/npm.py installed.
func installed(ctx context.Context, c *fun.Call, a *installedArgs) fun.Ret {
	pkgs := a.Pkgs
	if len(pkgs) == 0 {
		pkgs = []string{a.Name}
	}
	n := &npm.Client{Env: c.Env, User: a.User, EnvVars: a.Env}
	have, err := n.List(ctx, "", a.Dir, 0)
	if err != nil {
		return fun.FailedBy(err, "Error looking up '"+a.Name+"': ").ResultFirst()
	}
	var missing, satisfied []string
	for _, pkg := range pkgs {
		name, want := split(pkg)
		now, ok := version(have, name)
		if !ok || a.ForceReinstall || want != "" && want != now {
			missing = append(missing, pkg)
			continue
		}
		satisfied = append(satisfied, name+"@"+now)
	}
	all := strings.Join(pkgs, ", ")
	met := "Package(s) '" + all + "' satisfied by " + strings.Join(satisfied, ", ")
	if len(missing) == 0 {
		return fun.Report(fun.OK, nil, met).ResultFirst()
	}
	changes := value.MapOf("old", &value.List{}, "new", value.Strings(missing...))
	if c.Test {
		comment := "NPM package(s) '" + strings.Join(missing, ", ") + "' are set to be installed"
		if len(satisfied) > 0 {
			comment += ". " + met
		}
		return fun.Report(fun.WouldChange, changes, comment).ResultFirst()
	}
	if _, err := n.Install(ctx, npm.Install{Pkgs: missing, Dir: a.Dir, Registry: a.Registry}); err != nil {
		return fun.FailedBy(err, "Error installing '"+all+"': ").ResultFirst()
	}
	return fun.Report(fun.OK, changes, "Package(s) '", strings.Join(missing, ", "), "' successfully installed").ResultFirst()
}

type removedArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the package"`
	Dir  string `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	User string `arg:"user" doc:"account that runs the program"`
}

// removed makes sure that a package is not installed.
// Salt: salt/states/npm.py removed.
func removed(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	name := a.Name
	n := &npm.Client{Env: c.Env, User: a.User}
	have, err := n.List(ctx, "", a.Dir, 0)
	if err != nil {
		return fun.FailedBy(err, "Error uninstalling '"+name+"': ").ResultFirst()
	}
	if !have.Has(name) {
		return fun.Report(fun.OK, nil, "Package '", name, "' is not installed").ResultFirst()
	}
	if c.Test {
		return fun.Report(fun.WouldChange, nil, "Package '", name, "' is set to be removed").ResultFirst()
	}
	ok, said, err := n.Uninstall(ctx, name, a.Dir)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error removing package '"+name+"': ").ResultFirst()
	case !ok && said != "":
		return fun.Report(fun.Failed, nil, "Error removing package '", name, "': ", said).ResultFirst()
	case !ok:
		return fun.Report(fun.Failed, nil, "Error removing package '", name, "'").ResultFirst()
	}
	return fun.Report(fun.OK, value.MapOf(name, "Removed"), "Package '", name, "' was successfully removed").ResultFirst()
}

// nothing reports whether npm install says that it changed nothing.
func nothing(v value.Value) bool {
	m, ok := v.(*value.Map)
	if !ok {
		return !value.Truth(v)
	}
	if m.Len() == 0 {
		return true
	}
	known := false
	for _, key := range []string{"added", "changed", "removed", "updated", "moved"} {
		switch x := m.At(key).(type) {
		case nil:
		case *value.List:
			known = true
			if len(x.Items) > 0 {
				return false
			}
		default:
			known = true
			if value.Truth(x) {
				return false
			}
		}
	}
	return known
}

type bootstrapArgs struct {
	_      fun.Arguments
	Name   string `arg:"name,required,path" doc:"directory of the project"`
	User   string `arg:"user" doc:"account that runs the program"`
	Silent bool   `arg:"silent" default:"True" doc:"do not let npm show messages"`
}

// bootstrap makes sure that the packages that package.json of a directory names
// are installed. Salt: salt/states/npm.py bootstrap.
func bootstrap(ctx context.Context, c *fun.Call, a *bootstrapArgs) fun.Ret {
	name := a.Name
	got, err := (&npm.Client{Env: c.Env, User: a.User}).Install(ctx, npm.Install{Dir: name, DryRun: c.Test, Loud: !a.Silent})
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error Bootstrapping '"+name+"': ").ResultFirst()
	case nothing(got) && c.Test:
		return fun.Report(fun.OK, nil, name, " is already bootstrapped").ResultFirst()
	case nothing(got):
		return fun.Report(fun.OK, nil, "Directory is already bootstrapped").ResultFirst()
	case c.Test:
		return fun.Report(fun.WouldChange, value.MapOf("old", &value.List{}, "new", got), name, " is set to be bootstrapped").ResultFirst()
	}
	if text, ok := got.(string); ok {
		return fun.Report(fun.Failed, nil, "Could not bootstrap directory: ", text).ResultFirst()
	}
	return fun.Report(fun.OK, value.MapOf(name, "Bootstrapped"), "Directory was successfully bootstrapped").ResultFirst()
}

type cacheCleanedArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,str|none" doc:"package; None is the whole cache"`
	User  string `arg:"user" doc:"account that runs the program"`
	Force bool   `arg:"force" default:"False" doc:"clean the cache although npm thinks that this is not needed; npm 5 and later want it"`
}

// cacheCleaned cleans the cache of npm, or removes a package from it.
// Salt: salt/states/npm.py cache_cleaned.
func cacheCleaned(ctx context.Context, c *fun.Call, a *cacheCleanedArgs) fun.Ret {
	name := a.Name
	what, key := "packages", "cache"
	if name != "" {
		what, key = name, name
	}
	n := &npm.Client{Env: c.Env, User: a.User}
	cached, err := n.CacheList(ctx, name)
	if err != nil {
		return fun.FailedBy(err, "Error looking up cached "+what+": ").ResultFirst()
	}
	if name != "" && !strings.Contains(cached, "/"+name+"/") {
		return fun.Report(fun.OK, nil, "Package ", name, " is not in the cache").ResultFirst()
	}
	if c.Test {
		return fun.Report(fun.WouldChange, nil, "Cached ", what, " set to be removed").ResultFirst()
	}
	ok, said, err := n.CacheClean(ctx, name, a.Force)
	switch {
	case err != nil:
		return fun.FailedBy(err, "Error cleaning cached "+what+": ").ResultFirst()
	case !ok && said != "":
		return fun.Report(fun.Failed, nil, "Error cleaning cached ", what, ": ", said).ResultFirst()
	case !ok:
		return fun.Report(fun.Failed, nil, "Error cleaning cached ", what).ResultFirst()
	}
	return fun.Report(fun.OK, value.MapOf(key, "Removed"), "Cached ", what, " successfully removed").ResultFirst()
}
