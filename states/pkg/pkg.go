// Package pkg is Salt's state module "pkg": packages installed, removed and held
// by whatever provider of the execution module "pkg" the machine has.
package pkg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/cause"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/resource"
)

// States returns the rows of the state module "pkg".
func States() fun.Module {
	return fun.Module{
		Name: "pkg", Kind: fun.State, Doc: "Install, remove and hold packages.", Avail: avail,
		Init: modInit, Watch: modWatch, Aggregate: modAggregate, Brings: fun.Always, Specs: specs,
	}
}

func avail(env *fun.Env) (bool, string) {
	mod, why := env.Provider(fun.Exec, "pkg")
	if mod == nil {
		return false, why
	}
	return true, ""
}

// modInit has the first state that installs refresh the package database.
func modInit(_ context.Context, c *fun.Call) fun.Ret {
	switch c.Spec.Name {
	case "installed", "latest":
		pkg.WantRefresh(c.Env)
		return fun.Ret{Result: fun.OK}
	}
	return fun.Ret{}
}

// modWatch runs the state again for a change of what it watches.
func modWatch(ctx context.Context, c *fun.Call) fun.Ret {
	switch c.Spec.Name {
	case "installed", "latest", "purged", "removed":
		return c.Spec.State(ctx, c)
	}
	return fun.Fail("pkg.%s does not work with the watch requisite", c.Spec.Name)
}

// A job is a call of one of the states.
type job struct {
	*fun.Call
	ctx context.Context //nolint:containedctx // a job is one call in progress, made and left within a state function
	kw  *value.Map      // arguments that are the provider's
	cmp pkg.Comparison
	asked
	a *installedArgs // of installed
}

// asked are the arguments that several states share, as far as the one that is
// called has them.
type asked struct {
	packages    value.Value // pkgs
	version     string
	fromRepo    value.Value
	ignoreEpoch value.Value
	unchanged   bool // names are taken as they are, with architectures
}

// newJob begins a state; own is nil for one that passes nothing on to the provider.
func newJob(ctx context.Context, c *fun.Call, own *providerArgs, of asked) *job {
	j := &job{Call: c, ctx: ctx, kw: value.NewMap(8), cmp: resource.Comparison(ctx, c.Env), asked: of}
	if own != nil {
		j.kw = own.given()
	}
	j.kw.Update(c.Kw)
	saltenv := c.Env.SaltEnv
	if c.Low != nil && c.Low.SaltEnv != "" {
		saltenv = c.Low.SaltEnv
	}
	j.kw.Set("saltenv", saltenv)
	return j
}

// with returns the provider's arguments and more; None is left out.
func (j *job) with(kv ...value.Value) *value.Map {
	m := j.kw.Copy()
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i+1] == nil {
			m.Delete(kv[i])
		} else {
			m.Set(kv[i], kv[i+1])
		}
	}
	return m
}

func (j *job) call(name string, kw *value.Map, pos ...value.Value) (value.Value, error) {
	return j.Env.Exec(j.ctx, name, kw, pos...)
}

// mapping calls a function that returns a mapping.
func (j *job) mapping(name string, kw *value.Map, pos ...value.Value) (*value.Map, error) {
	v, err := j.call(name, kw, pos...)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fun.Errorf("%s returned %s", name, value.Repr(v))
	}
	return m, nil
}

func (j *job) has(name string) bool { return j.Env.Has(name) }

// list returns installed packages and lists of their versions.
func (j *job) list(kv ...value.Value) (*value.Map, error) {
	return j.mapping("pkg.list_pkgs", j.with(append(kv, "versions_as_list", true)...))
}

// normalizer returns the provider's way to strip architectures from names; nil if
// it has none or that is not wished.
func (j *job) normalizer() func(string) string {
	if j.unchanged || !j.has("pkg.normalize_name") {
		return nil
	}
	return func(name string) string {
		if v, err := j.call("pkg.normalize_name", nil, name); err == nil {
			return value.Str(v)
		}
		return name
	}
}

// pkgs returns the argument pkgs, or name and version as its only item.
func (j *job) pkgs() []value.Value {
	if l := fun.ItemsOf(j.packages); len(l) > 0 {
		return l
	}
	if j.version != "" {
		return []value.Value{value.MapOf(j.Name, j.version)}
	}
	return []value.Value{j.Name}
}

// noneGiven reports whether pkgs is an empty list.
func (j *job) noneGiven() bool {
	l, ok := j.packages.(*value.List)
	return ok && l.Len() == 0
}

// resolve replaces capabilities in pkgs by names of packages, where that is wished
// and the provider can.
func (j *job) resolve(pkgs []value.Value, refresh bool) ([]value.Value, bool, error) {
	if len(pkgs) == 0 || !j.has("pkg.resolve_capabilities") {
		return pkgs, refresh, nil
	}
	v, err := j.call("pkg.resolve_capabilities", j.with("refresh", refresh), value.NewList(pkgs...))
	if err != nil {
		return nil, false, err
	}
	items, err := value.Items(v)
	return items, false, err
}

// fulfils reports whether one of the versions that exist is as wanted.
func (j *job) fulfils(versions []string, wanted string, allowUpdates bool) bool {
	conditions := pkg.Conditions(wanted)
	if allowUpdates && len(conditions) == 1 && conditions[0].Oper == "==" {
		conditions[0].Oper = ">="
	}
	ignore := pkg.IgnoreEpoch(j.ignoreEpoch)
	return slices.ContainsFunc(versions, func(v string) bool { return j.cmp.Fulfils(v, conditions, ignore) })
}

// fail words an error of the provider; what says what was being done.
func (j *job) fail(what string, err error) fun.Ret {
	var info *pkg.Error
	var cmd *fun.CommandError
	switch {
	case errors.As(err, &info) && info.HasInfo():
		if info.Hint != "" {
			j.hint(errors.New(firstLine(info.Errors)), info.Hint)
		}
		ret := fun.Ret{Comment: info.Comment(), Extra: beside(info.Hint)}
		if info.Changes != nil {
			ret.Changes = info.Changes
		}
		return ret
	case errors.As(err, &cmd):
		if cmd.Hint != "" {
			j.hint(errors.New(firstLine([]string{cmd.Msg})), cmd.Hint)
		}
		ret := fun.Fail("%s: %s", what, err)
		ret.Extra = beside(cmd.Hint)
		return ret
	}
	return fun.Raise(err)
}

// beside is the key of a return for what a hint says of a failure, such as the error of
// dpkg, which the package manager's own does not have.
func beside(hint string) *value.Map {
	if hint == "" {
		return nil
	}
	return value.MapOf(cause.Key, cause.Beside(0, hint))
}

// joined is the keys of two mappings, either of which may be nil.
func joined(a, b *value.Map) *value.Map {
	if a == nil {
		return b
	}
	if b != nil {
		a.Update(b)
	}
	return a
}

func firstLine(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	for line := range strings.SplitSeq(texts[0], "\n") {
		if line != "" && !strings.HasPrefix(line, "Last metadata expiration check") { // of dnf
			return strings.TrimPrefix(line, "E: ")
		}
	}
	return ""
}

// hint shows on stderr what the user may have meant.
func (j *job) hint(err error, hint string) {
	at := source.Pos{}
	if j.Low != nil {
		at = j.Low.Pos
	}
	j.Env.Fault(&source.Error{Pos: at, Err: err, Hint: hint})
}

// versionsOf returns the versions of a package in a mapping to lists.
func versionsOf(pkgs *value.Map, name string) []string {
	l := pkgs.List(name)
	if l == nil {
		return nil
	}
	list := make([]string, l.Len())
	for i, v := range l.Items {
		list[i] = value.Str(v)
	}
	return list
}

// shown is a package with the version that was asked for.
func shown(t pkg.Target) string {
	switch {
	case t.Version == "":
		return t.Name
	case strings.ContainsAny(t.Version[:1], "<>="):
		return t.Name + t.Version
	}
	return t.Name + "=" + t.Version
}

func find(list []pkg.Target, name string) (pkg.Target, bool) {
	for _, t := range list {
		if t.Name == name {
			return t, true
		}
	}
	return pkg.Target{}, false
}

func has(list []pkg.Target, name string) bool {
	_, ok := find(list, name)
	return ok
}

func namesOf(list []pkg.Target) []string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}

// counted is "1 targeted package was" or "3 targeted packages were".
func counted(n int) string {
	if n == 1 {
		return "1 targeted package was"
	}
	return fmt.Sprintf("%d targeted packages were", n)
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
