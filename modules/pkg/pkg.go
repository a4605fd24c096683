// Package pkg is what the providers of Salt's execution module "pkg" and the
// states of that name share: targets, changes, errors, and the refresh that a run
// does once. A provider is a room below this one: aptpkg.
package pkg

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/pkgversion"
	"brine/internal/py/value"
	"brine/outputter"
)

// An Error is Salt's CommandExecutionError with information about what was done
// before it: errors.As finds a *fun.CommandError in it, too.
type Error struct {
	Msg     string
	Errors  []string   // what the package manager said
	Changes *value.Map // what was changed all the same; nil: unknown
	Result  *value.Map // of the command, as cmd.run_all returns it
	Hint    string     // what the user may have meant; not part of the message
}

// Error returns the message with the information, as Salt words it.
func (e *Error) Error() string { return e.text(e.Changes) }

// Comment returns the message without the changes, which a state reports apart.
func (e *Error) Comment() string { return e.text(nil) }

// Unwrap makes e a *fun.CommandError.
func (e *Error) Unwrap() error { return &fun.CommandError{Msg: e.Error(), Hint: e.Hint} }

// HasInfo reports whether there is more to e than its message.
func (e *Error) HasInfo() bool {
	return len(e.Errors) > 0 || e.Changes != nil || e.Result != nil
}

// maxShown is how many versions a hint lists.
const maxShown = 8

// Nearest is the hint where a package has no version as wanted: which of those that
// it has, newest first, is nearest; "" where it has none.
func Nearest(name, wanted string, have *value.List, compare func(a, b string) int) string {
	if have.Len() == 0 {
		return ""
	}
	var shown []string
	near := value.Str(have.Items[0])
	for _, item := range have.Items {
		v := value.Str(item)
		if compare(v, wanted) >= 0 {
			near = v
		}
		if len(shown) < maxShown {
			shown = append(shown, v)
		}
	}
	if have.Len() > maxShown {
		shown = append(shown, "...")
	}
	return fmt.Sprintf("the nearest version of %s is %s (available: %s)", name, near, strings.Join(shown, ", "))
}

// CutVersion divides "foo>=1.0" before the operator, which neither part has.
func CutVersion(word string) (name, version string) {
	i := strings.IndexAny(word, "<>=")
	if i < 0 {
		return word, ""
	}
	return word[:i], strings.TrimLeft(word[i:], "<>=")
}

func (e *Error) text(changes *value.Map) string {
	info := value.NewMap(3)
	if len(e.Errors) > 0 {
		info.Set("errors", value.Strings(e.Errors...))
	}
	if changes != nil {
		info.Set("changes", changes)
	}
	if e.Result != nil {
		info.Set("result", e.Result)
	}
	if info.Len() == 0 {
		return e.Msg
	}
	end := ". "
	if strings.HasSuffix(e.Msg, ".") || strings.HasSuffix(e.Msg, "?") || strings.HasSuffix(e.Msg, "!") {
		end = " "
	}
	return e.Msg + end + "Additional info follows:\n\n" + Nested(info)
}

// Nested returns v as the nested outputter shows it.
func Nested(v value.Value) string {
	var b strings.Builder
	_ = outputter.Nested(&b, v, &outputter.Options{}) // a Builder takes all
	return strings.TrimRight(b.String(), " \n")
}

// CompareDicts returns what differs between two mappings, by key: old and new,
// "" for what is not there.
// Salt: salt/utils/data.py compare_dicts.
func CompareDicts(before, after *value.Map) *value.Map {
	ret := value.NewMap(0)
	for k, v := range after.All() {
		had, ok := before.Get(k)
		switch {
		case !ok:
			ret.Set(k, value.MapOf("old", "", "new", v))
		case !value.Equal(had, v):
			ret.Set(k, value.MapOf("old", had, "new", v))
		}
	}
	for k, v := range before.All() {
		if !after.Has(k) {
			ret.Set(k, value.MapOf("new", "", "old", v))
		}
	}
	return ret
}

// Stringify joins the versions of each package to text, in place.
// Salt: salt/modules/pkg_resource.py stringify.
func Stringify(pkgs *value.Map) {
	for i := range pkgs.Len() {
		k, v := pkgs.Entry(i)
		if items, err := value.Items(v); err == nil {
			pkgs.Set(k, strings.Join(value.NewList(items...).Strs(), ","))
		}
	}
}

// SortVersions sorts the versions of each package and drops doubles, in place.
// Salt: salt/modules/pkg_resource.py sort_pkglist.
func SortVersions(pkgs *value.Map) {
	for i := range pkgs.Len() {
		k, v := pkgs.Entry(i)
		if items, err := value.Items(v); err == nil {
			ss := value.NewList(items...).Strs()
			slices.Sort(ss)
			pkgs.Set(k, value.Strings(slices.Compact(ss)...))
		}
	}
}

// FormatVersion joins epoch, version and release.
// Salt: salt/modules/pkg_resource.py format_version.
func FormatVersion(epoch, version, release string) string {
	if epoch != "" {
		version = epoch + ":" + version
	}
	if release != "" {
		version += "-" + release
	}
	return version
}

type refreshKey struct{}

// WantRefresh notes that the first state of a run that installs is to refresh the
// package database.
// Salt: salt/utils/pkg/__init__.py write_rtag.
func WantRefresh(env *fun.Env) {
	if env.Memo != nil {
		env.Memo.Store(refreshKey{}, true)
	}
}

// Refreshed notes that the database was refreshed.
func Refreshed(env *fun.Env) {
	if env.Memo != nil {
		env.Memo.Delete(refreshKey{})
	}
}

// ShouldRefresh says whether to refresh before installing, by the argument
// refresh of a state: True, False, or None for once in a run.
func ShouldRefresh(env *fun.Env, refresh value.Value) bool {
	if refresh != nil {
		return value.Truth(refresh)
	}
	if env.Memo == nil {
		return false
	}
	_, due := env.Memo.Load(refreshKey{})
	return due
}

// A Condition is a part of a version specification: ">=1.2".
type Condition struct{ Oper, Version string }

// Conditions divides a specification at its commas. An operator that is missing
// or "=" is "==".
func Conditions(spec string) []Condition {
	spec = value.TrimSpace(spec)
	if spec == "" {
		return nil
	}
	var list []Condition
	for part := range strings.SplitSeq(spec, ",") {
		part = value.TrimSpace(part)
		if rest, ok := strings.CutPrefix(part, "=="); ok {
			list = append(list, Condition{"==", value.TrimSpace(rest)})
			continue
		}
		oper, version := pkgversion.Split(part)
		if oper == "" || oper == "=" {
			oper = "=="
		}
		list = append(list, Condition{oper, version})
	}
	return list
}

// A Comparison compares two versions. known is false where the package manager
// cannot compare them.
type Comparison func(a, b string, ignoreEpoch bool) (n int, known bool)

// Comparer returns the Comparison of a format.
func Comparer(cmp pkgversion.Compare) Comparison {
	return func(a, b string, ignoreEpoch bool) (int, bool) {
		if ignoreEpoch {
			a, b = pkgversion.IgnoreEpoch(a), pkgversion.IgnoreEpoch(b)
		}
		return cmp(a, b), true
	}
}

// Holds reports whether "version oper wanted" is true; false where the versions
// cannot be compared.
func (cmp Comparison) Holds(version, oper, wanted string, ignoreEpoch bool) bool {
	n, known := cmp(version, wanted, ignoreEpoch)
	return known && pkgversion.Holds(func(string, string) int { return n }, "", oper, "")
}

// Fulfils reports whether a version meets all conditions. A version that == asks
// for may have wildcards. ignoreEpoch is nil where that was not given: the epoch
// then is ignored for == and != and a version without one.
func (cmp Comparison) Fulfils(version string, conditions []Condition, ignoreEpoch *bool) bool {
	for _, c := range conditions {
		if c.Oper == "==" && value.Fnmatch(c.Version, version) {
			continue
		}
		if !cmp.Holds(version, c.Oper, c.Version, skipEpoch(c, ignoreEpoch)) {
			return false
		}
	}
	return true
}

func skipEpoch(c Condition, ignoreEpoch *bool) bool {
	if ignoreEpoch != nil {
		return *ignoreEpoch
	}
	return !strings.ContainsAny(c.Oper, "<>") && !strings.Contains(c.Version, ":")
}

// IgnoreEpoch returns the argument ignore_epoch: nil where it is None.
func IgnoreEpoch(v value.Value) *bool {
	if v == nil {
		return nil
	}
	b := value.Truth(v)
	return &b
}

// Versions returns the versions of packages among installed ones, a mapping to
// lists: text for one name, else a mapping; a name with * stands for all that match.
// Salt: salt/modules/pkg_resource.py version.
func Versions(installed *value.Map, names []string, asList bool) value.Value {
	ret := value.NewMap(len(names))
	glob := false
	for _, n := range names {
		if !strings.Contains(n, "*") {
			if v, ok := installed.Get(n); ok {
				ret.Set(n, v)
			} else {
				ret.Set(n, value.NewList())
			}
			continue
		}
		glob = true
		for k, v := range installed.All() {
			if s, ok := k.(string); ok && value.Fnmatch(n, s) {
				ret.Set(k, v)
			}
		}
	}
	if !asList {
		Stringify(ret)
	}
	if ret.Len() == 1 && !glob {
		_, v := ret.Entry(0)
		return v
	}
	return ret
}
