// Package aptpkg is the provider of Salt's execution module "pkg" for Debian and
// its derivatives: dpkg and apt.
//
// What is installed is read from dpkg's database in this process; apt is run for
// what it decides: candidates, dependencies, changes.
package aptpkg

import (
	"context"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/dpkg"
)

// Module returns the provider aptpkg of the execution module "pkg".
func Module() fun.Module {
	return fun.Module{Name: "pkg", Kind: fun.Exec, Doc: "Query, install and remove packages with apt and dpkg.", Avail: avail, Specs: specs}
}

func avail(env *fun.Env) (bool, string) {
	if ok, why := dpkg.Avail(env); !ok {
		return false, why
	}
	if _, err := env.Host.LookPath("apt-get", ""); err != nil {
		return false, "apt-get is missing"
	}
	return true, ""
}

// An apt is the package manager of a call.
type apt struct {
	env     *fun.Env
	more    *value.Map // variables for the programs
	retcode int        // of the last program that failed; see result
}

func newApt(c *fun.Call) *apt { return &apt{env: c.Env} }

// result returns v, and the status of a program that failed as Salt's
// __context__['retcode'].
func (a *apt) result(v value.Value) (fun.Result, error) {
	return fun.Result{Value: v, Retcode: a.retcode}, nil
}

// query runs a program that changes nothing. A status other than 0 is noted.
func (a *apt) query(ctx context.Context, argv ...string) (dpkg.Output, error) {
	out, err := dpkg.Look(ctx, a.env.Host, a.more, argv...)
	if out.Status != 0 {
		a.retcode = out.Status
	}
	return out, err
}

// run runs a program that may change the machine; see [dpkg.Locked].
func (a *apt) run(ctx context.Context, argv ...string) (dpkg.Output, error) {
	before := a.retcode
	return pkg.Scoped(ctx, a.env, argv, func(argv []string) (dpkg.Output, error) {
		a.retcode = before
		return a.locked(ctx, "", argv...)
	})
}

func (a *apt) locked(ctx context.Context, stdin string, argv ...string) (dpkg.Output, error) {
	out, err := dpkg.Locked(ctx, a.env, a.more, stdin, argv...)
	if out.Status != 0 {
		a.retcode = out.Status
	}
	return out, err
}

// installed returns the versions of installed packages, joined to text.
func (a *apt) installed() (*value.Map, error) { return a.list(dpkg.Installed) }

func (a *apt) list(which dpkg.List) (*value.Map, error) {
	db, err := dpkg.Read(a.env)
	if err != nil {
		return nil, err
	}
	m := db.List(which)
	pkg.Stringify(m)
	return m, nil
}

// compare is the comparison of versions.
var compare = pkg.Comparer(pkgversion.Deb)

// arch is the machine's architecture by dpkg's name.
func arch(env *fun.Env) string {
	if env.Grains == nil {
		return ""
	}
	v, _ := env.Grains.Get("osarch")
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// normalize strips the machine's architecture from a name.
func normalize(env *fun.Env, name string) string {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name
	}
	switch name[i+1:] {
	case arch(env), "all", "any":
		return name[:i]
	}
	return name
}

// checkName refuses a name that apt would take for something else than a package
// to act on: an option, or one that its last character turns into the opposite.
func checkName(name string) error {
	if strings.HasSuffix(name, "-") {
		return fun.Errorf("invalid package name %s", value.Repr(name))
	}
	return pkg.CheckName(name)
}

func checkNames(names []string) error {
	for _, n := range names {
		if err := checkName(n); err != nil {
			return err
		}
	}
	return nil
}

// names returns the positional arguments as text.
func names(c *fun.Call) []string { return pkg.Names(c) }

// one returns the answer for a name where only one was asked for, else all of
// them.
func one(names []string, all *value.Map) value.Value { return pkg.One(names, all) }
