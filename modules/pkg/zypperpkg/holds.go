package zypperpkg

import (
	"context"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
	"brine/modules/pkg/rpm"
	"brine/modules/textfile"
)

// locksFile has the locks: paragraphs of "key: value".
const locksFile = "/etc/zypp/locks"

// locks returns the locks by the names that they are for.
func (z *zypper) locks() *value.Map {
	m := value.NewMap(0)
	text, err := textfile.Read(z.env.Host, z.root+locksFile)
	if err != nil {
		z.env.Log().Warn("the locks cannot be read", "path", z.root+locksFile, "err", err)
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		one := value.NewMap(4)
		for line := range strings.SplitSeq(paragraph, "\n") {
			if key, val, ok := strings.Cut(line, ":"); ok {
				one.Set(strings.TrimSpace(key), strings.TrimSpace(val))
			}
		}
		if name := one.Str("solvable_name"); name != "" {
			one.Delete("solvable_name")
			m.Set(name, one)
		}
	}
	return m
}

func listLocks(_ context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	return fun.Value(newZypper(c, a.Root).locks())
}

type listHoldsArgs struct {
	Pattern string `arg:"pattern" doc:"regular expression for the names of packages"`
	Full    bool   `arg:"full" default:"True" doc:"return versions, too"`
	rootArg
	_ fun.Kwargs
}

// listHolds returns the installed packages that locks are for.
func listHolds(ctx context.Context, c *fun.Call, a *listHoldsArgs) (fun.Result, error) {
	re, err := pattern(a.Pattern)
	if err != nil {
		return fun.Result{}, err
	}
	z := newZypper(c, a.Root)
	names, err := z.lockedNames(ctx)
	if err != nil || len(names) == 0 {
		return fun.Result{Value: value.NewList()}, err
	}
	info, err := rpm.Info(ctx, c.Env, rpm.InfoQuery{Names: names, Attr: "edition,epoch", All: true, Root: z.root})
	if err != nil {
		return fun.Result{}, err
	}
	var list []string
	for k, v := range info.All() {
		for _, x := range v.(*value.List).Items {
			hold := value.Str(k)
			if a.Full {
				hold += edition(x.(*value.Map))
			}
			if re != nil {
				if m, err := re.Match(hold); err != nil || m == nil {
					continue
				}
			}
			if !slices.Contains(list, hold) {
				list = append(list, hold)
			}
		}
	}
	return fun.Value(value.Strings(list...))
}

// edition is what follows the name of a held package: -EPOCH:VERSION-RELEASE.*
func edition(about *value.Map) string {
	epoch := about.Str("epoch")
	if epoch == "" {
		epoch = "0"
	}
	version := about.Str("edition")
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	return "-" + epoch + ":" + version + ".*"
}

// lockedNames returns the installed packages that locks are for.
func (z *zypper) lockedNames(ctx context.Context) ([]string, error) {
	var names []string
	for k, v := range z.locks().All() {
		name, lock := value.Str(k), v.(*value.Map)
		if kind := lock.Str("type"); kind != "" && kind != "package" {
			continue
		}
		match := "exact"
		if strings.Contains(name, "*") {
			match = ""
		}
		opts := []string{"--installed-only", "--details"}
		if lock.Str("case_sensitive") != "off" {
			opts = append(opts, "--case-sensitive")
		}
		found, err := z.search(ctx, name, match, opts...)
		if err != nil {
			return nil, err
		}
		for n := range found.All() {
			if !slices.Contains(names, value.Str(n)) {
				names = append(names, value.Str(n))
			}
		}
	}
	return names, nil
}

func cleanLocks(ctx context.Context, c *fun.Call, a *rootArg) (fun.Result, error) {
	z := newZypper(c, a.Root)
	ret := value.MapOf("removed", int64(0))
	if _, err := c.Env.Host.Stat(z.root + locksFile); err != nil {
		return fun.Value(ret)
	}
	out, err := z.run(ctx, how{xml: true}, "cl")
	if err != nil {
		return fun.Result{}, err
	}
	for _, m := range parseXML(out.Stdout).all("message") {
		if f := strings.Fields(strings.ToLower(m.content())); len(f) > 1 && f[0] == "removed" {
			ret.Set("removed", f[1])
			break
		}
	}
	return fun.Value(ret)
}

// held are the packages that a call of hold or unhold means.
func held(a *holdGiven) ([]pkg.Target, error) {
	pkgs := a.Pkgs
	if len(pkgs) == 0 {
		if a.Name == "" {
			return nil, fun.Errorf("Name or packages must be specified.")
		}
		for n := range strings.SplitSeq(a.Name, ",") {
			pkgs = append(pkgs, strings.TrimSpace(n))
		}
	}
	list, err := pkg.Repack(pkgs, nil)
	if err != nil {
		return nil, pkg.AsCommandError(err)
	}
	if list == nil {
		return nil, &fun.InvocationError{Msg: "pkgs must be a list of names and mappings of one name to a version", Arg: "pkgs"}
	}
	for _, t := range list {
		if err := pkg.CheckName(t.Name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func outcome(name string, result value.Value, comment string, changes *value.Map) *value.Map {
	if changes == nil {
		changes = value.NewMap(0)
	}
	return value.MapOf("name", name, "changes", changes, "result", result, "comment", comment)
}

// holdGiven are the arguments of hold and unhold.
type holdGiven struct {
	holdArgs
	_ fun.Kwargs
}

func hold(ctx context.Context, c *fun.Call, a *holdGiven) (fun.Result, error) {
	list, err := held(a)
	if err != nil {
		return fun.Result{}, err
	}
	z := newZypper(c, a.Root)
	locks, test := z.locks(), pkg.TestMode(c)
	var added []string
	ret := value.NewMap(len(list))
	for _, t := range list {
		word := t.Name
		if t.Version != "" {
			word += "=" + t.Version
		}
		switch {
		case locks.Has(t.Name):
			ret.Set(t.Name, outcome(t.Name, true, "Package "+t.Name+" is already set to be held.", nil))
		case test:
			ret.Set(t.Name, outcome(t.Name, nil, "Package "+t.Name+" is set to be held.", nil))
		default:
			added = append(added, word)
			ret.Set(t.Name, outcome(t.Name, true, "Package "+t.Name+" is now being held.", value.MapOf("new", "hold", "old", "")))
		}
	}
	if len(added) > 0 {
		if _, err := z.run(ctx, how{}, append([]string{"al"}, added...)...); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(ret)
}

func unhold(ctx context.Context, c *fun.Call, a *holdGiven) (fun.Result, error) {
	list, err := held(a)
	if err != nil {
		return fun.Result{}, err
	}
	z := newZypper(c, a.Root)
	locks, test := z.locks(), pkg.TestMode(c)
	var removed []string
	ret := value.NewMap(len(list))
	for _, t := range list {
		word := t.Name
		version := strings.TrimLeft(locks.Map(t.Name).Str("version"), "= ")
		if version != "" {
			word += "=" + version
		}
		switch {
		case !locks.Has(t.Name):
			ret.Set(t.Name, outcome(t.Name, true, "Package "+t.Name+" was already unheld.", nil))
		case t.Version != "" && version != t.Version:
			ret.Set(t.Name, outcome(t.Name, false, "Unable to unhold package "+t.Name+" as it is held with the other version.", nil))
		case test:
			ret.Set(t.Name, outcome(t.Name, nil, "Package "+t.Name+" is set to be unheld.", nil))
		default:
			removed = append(removed, word)
			ret.Set(t.Name, outcome(t.Name, true, "Package "+t.Name+" is no longer held.", value.MapOf("new", "", "old", "hold")))
		}
	}
	if len(removed) > 0 {
		if _, err := z.run(ctx, how{}, append([]string{"rl"}, removed...)...); err != nil {
			return fun.Result{}, err
		}
	}
	return fun.Value(ret)
}
