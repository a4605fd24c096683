// Package npm is Salt's state module "npm": packages of Node.js.
package npm

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/npm"
)

// States returns the rows of the state module "npm".
func States() fun.Module {
	return fun.Module{Name: "npm", Kind: fun.State, Doc: "Manage packages of Node.js.", Specs: specs, Avail: available, Brings: fun.Always}
}

func available(e *fun.Env) (bool, string) {
	if m, _ := e.Provider(fun.Exec, "npm"); m == nil {
		return false, "'npm' binary not found on system"
	}
	return true, ""
}

var order = []string{"name", "result", "comment", "changes"}

func done(result fun.Outcome, changes value.Value, comment ...string) fun.Ret {
	return fun.Ret{Result: result, Comment: strings.Join(comment, ""), Changes: changes, Order: order}
}

// failed reports what npm said in a comment.
func failed(err error, comment ...string) fun.Ret {
	if ce, ok := errors.AsType[*fun.CommandError](err); ok {
		return done(fun.Failed, nil, strings.Join(comment, ""), ce.Msg)
	}
	return fun.Raise(err)
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
	User           string     `arg:"user" doc:"account that runs npm"`
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
		return failed(err, "Error looking up '", a.Name, "': ")
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
		return done(fun.OK, nil, met)
	}
	changes := value.MapOf("old", &value.List{}, "new", value.Strings(missing...))
	if c.Test {
		comment := "NPM package(s) '" + strings.Join(missing, ", ") + "' are set to be installed"
		if len(satisfied) > 0 {
			comment += ". " + met
		}
		return done(fun.WouldChange, changes, comment)
	}
	if _, err := n.Install(ctx, npm.Install{Pkgs: missing, Dir: a.Dir, Registry: a.Registry}); err != nil {
		return failed(err, "Error installing '", all, "': ")
	}
	return done(fun.OK, changes, "Package(s) '", strings.Join(missing, ", "), "' successfully installed")
}

type removedArgs struct {
	_    fun.Arguments
	Name string `arg:"name,required" doc:"name of the package"`
	Dir  string `arg:"dir,path" doc:"directory of the project; default: the global packages"`
	User string `arg:"user" doc:"account that runs npm"`
}

// removed makes sure that a package is not installed.
// Salt: salt/states/npm.py removed.
func removed(ctx context.Context, c *fun.Call, a *removedArgs) fun.Ret {
	name := a.Name
	n := &npm.Client{Env: c.Env, User: a.User}
	have, err := n.List(ctx, "", a.Dir, 0)
	if err != nil {
		return failed(err, "Error uninstalling '", name, "': ")
	}
	if !have.Has(name) {
		return done(fun.OK, nil, "Package '", name, "' is not installed")
	}
	if c.Test {
		return done(fun.WouldChange, nil, "Package '", name, "' is set to be removed")
	}
	ok, said, err := n.Uninstall(ctx, name, a.Dir)
	switch {
	case err != nil:
		return failed(err, "Error removing package '", name, "': ")
	case !ok && said != "":
		return done(fun.Failed, nil, "Error removing package '", name, "': ", said)
	case !ok:
		return done(fun.Failed, nil, "Error removing package '", name, "'")
	}
	return done(fun.OK, value.MapOf(name, "Removed"), "Package '", name, "' was successfully removed")
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
	User   string `arg:"user" doc:"account that runs npm"`
	Silent bool   `arg:"silent" default:"True" doc:"do not let npm show messages"`
}

// bootstrap makes sure that the packages that package.json of a directory names
// are installed. Salt: salt/states/npm.py bootstrap.
func bootstrap(ctx context.Context, c *fun.Call, a *bootstrapArgs) fun.Ret {
	name := a.Name
	got, err := (&npm.Client{Env: c.Env, User: a.User}).Install(ctx, npm.Install{Dir: name, DryRun: c.Test, Loud: !a.Silent})
	switch {
	case err != nil:
		return failed(err, "Error Bootstrapping '", name, "': ")
	case nothing(got) && c.Test:
		return done(fun.OK, nil, name, " is already bootstrapped")
	case nothing(got):
		return done(fun.OK, nil, "Directory is already bootstrapped")
	case c.Test:
		return done(fun.WouldChange, value.MapOf("old", &value.List{}, "new", got), name, " is set to be bootstrapped")
	}
	if text, ok := got.(string); ok {
		return done(fun.Failed, nil, "Could not bootstrap directory: ", text)
	}
	return done(fun.OK, value.MapOf(name, "Bootstrapped"), "Directory was successfully bootstrapped")
}

type cacheCleanedArgs struct {
	_     fun.Arguments
	Name  string `arg:"name,str|none" doc:"package; None is the whole cache"`
	User  string `arg:"user" doc:"account that runs npm"`
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
		return failed(err, "Error looking up cached ", what, ": ")
	}
	if name != "" && !strings.Contains(cached, "/"+name+"/") {
		return done(fun.OK, nil, "Package ", name, " is not in the cache")
	}
	if c.Test {
		return done(fun.WouldChange, nil, "Cached ", what, " set to be removed")
	}
	ok, said, err := n.CacheClean(ctx, name, a.Force)
	switch {
	case err != nil:
		return failed(err, "Error cleaning cached ", what, ": ")
	case !ok && said != "":
		return done(fun.Failed, nil, "Error cleaning cached ", what, ": ", said)
	case !ok:
		return done(fun.Failed, nil, "Error cleaning cached ", what)
	}
	return done(fun.OK, value.MapOf(key, "Removed"), "Cached ", what, " successfully removed")
}
