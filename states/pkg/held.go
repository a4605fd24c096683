package pkg

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// A lock is a package that is held; version is that of the lock, where the
// provider has one.
type lock struct{ name, version, kind string }

// locks are the held packages of a machine.
type locks struct {
	list     []lock
	versions bool // the provider locks versions
}

func (l *locks) find(name string) *lock {
	for i := range l.list {
		if l.list[i].name == name {
			return &l.list[i]
		}
	}
	return nil
}

// holdPattern is a lock of yum: name-epoch:version-release.*
var holdPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)-(\d+):(.*)\.\*`) })

// locks asks the provider which packages are held; ret is not nil where it has no
// answer.
func (j *job) locks() (l locks, ret *fun.Ret) {
	var err error
	switch {
	case j.has("pkg.list_locks"):
		var m *value.Map
		l.versions = true
		if m, err = j.mapping("pkg.list_locks", nil); err != nil {
			break
		}
		for k, v := range m.All() {
			about, _ := v.(*value.Map)
			kind := about.Str("type")
			if kind == "" {
				kind = "package"
			}
			l.list = append(l.list, lock{value.Str(k), strings.TrimLeft(about.Str("version"), "= "), kind})
		}
	case j.has("pkg.list_holds"):
		var v value.Value
		if v, err = j.call("pkg.list_holds", value.MapOf("full", true)); err != nil {
			break
		}
		items, _ := value.Items(v)
		for _, x := range items {
			one := lock{name: value.Str(x), kind: "package"}
			if m := holdPattern().FindStringSubmatch(one.name); m != nil {
				one.name, one.version = m[1], m[3]
				if m[2] != "0" {
					one.version = m[2] + ":" + m[3]
				}
			}
			l.list = append(l.list, one)
		}
	case j.has("pkg.get_selections"):
		var m *value.Map
		if m, err = j.mapping("pkg.get_selections", value.MapOf("state", "hold")); err != nil {
			break
		}
		normalize := j.normalizer()
		for _, name := range stringsOf(m.List("hold")) {
			if normalize != nil {
				name = normalize(name)
			}
			l.list = append(l.list, lock{name: name, kind: "package"})
		}
	default:
		r := fun.Fail("No any function to get the list of held packages available.\nCheck if the package manager supports package locking.")
		return l, &r
	}
	if err != nil {
		r := fun.FailedBy(err, "")
		return l, &r
	}
	if !j.has("pkg.hold") {
		r := fun.Fail("`hold` function is not implemented for the package manager.")
		return l, &r
	}
	return l, nil
}

// change holds or unholds one package. It returns the answer of the provider, and
// whether that was a success.
func (j *job) change(function string, p value.Value, name string, changes *value.Map) (comment string, ok bool, err error) {
	m, err := j.mapping(function, value.MapOf("name", j.Name, "pkgs", value.NewList(p)))
	if err != nil {
		return "", false, err
	}
	changes.Update(m)
	one := m.Map(name)
	return one.Str("comment"), value.Truth(one.At("result")), nil
}

func ofVersion(version string) string {
	if version == "" {
		return ""
	}
	return " (version = " + version + ")"
}

type heldArgs struct {
	_       string      `arg:"name,required" doc:"name of the package; ignored where pkgs is given"`
	Version string      `arg:"version" doc:"version to hold (zypper)"`
	Pkgs    value.Value `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
	Replace bool        `arg:"replace" default:"False" doc:"release all other packages that are held"`
	_       fun.Kwargs
}

// held keeps packages from being changed. Salt: salt/states/pkg.py held.
func held(ctx context.Context, c *fun.Call, a *heldArgs) fun.Ret {
	j := newJob(ctx, c, nil, asked{packages: a.Pkgs, version: a.Version})
	if j.noneGiven() && !a.Replace {
		return fun.Ret{Result: fun.OK, Comment: "No packages to be held provided"}
	}
	var list []pkg.Target
	if !j.noneGiven() {
		var err error
		if list, err = pkg.Repack(j.pkgs(), nil); err != nil {
			return fun.Raise(err)
		}
	}
	have, stop := j.locks()
	if stop != nil {
		return *stop
	}
	ret := fun.Ret{Result: fun.OK}
	changes := value.NewMap(0)
	var comments []string
	for _, t := range list {
		had := have.find(t.Name)
		if had != nil && (!have.versions || had.version == t.Version) {
			continue
		}
		if c.Test {
			ret.Result = fun.WouldChange
			if had != nil {
				comments = append(comments, "The following package's hold rule would be updated: "+t.Name+ofVersion(t.Version))
			} else {
				comments = append(comments, "The following package would be held: "+t.Name+ofVersion(t.Version))
			}
			continue
		}
		ok, word, err := j.lock(t, had != nil, changes)
		if err != nil {
			return fun.FailedBy(err, "")
		}
		if !ok {
			ret.Result = fun.Failed
		}
		comments = append(comments, "Package "+t.Name+word)
	}
	if a.Replace {
		if err := j.release(&ret, have, changes, &comments, func(l lock) bool { return !has(list, l.name) }, nil); err != nil {
			return fun.FailedBy(err, "")
		}
	}
	return withComments(ret, changes, comments)
}

// lock holds a package, again where it is locked to another version, and says what
// came of it.
func (j *job) lock(t pkg.Target, again bool, changes *value.Map) (ok bool, word string, err error) {
	word = " is now being held"
	if again {
		_, ok, err := j.change("pkg.unhold", t.Name, t.Name, value.NewMap(0))
		if err != nil {
			return false, "", err
		}
		if ok {
			word = " was updated with hold rule"
		}
	}
	_, ok, err = j.change("pkg.hold", pkg.Pack([]pkg.Target{t}).Items[0], t.Name, changes)
	if err != nil {
		return false, "", err
	}
	if !ok {
		word = " was not held"
	}
	return ok, word, nil
}

// release unholds the locks that which says. wanted are the versions that were
// asked for, by name.
func (j *job) release(ret *fun.Ret, have locks, changes *value.Map, comments *[]string, which func(lock) bool, wanted []pkg.Target) error {
	for _, l := range have.list {
		if l.kind != "package" || !which(l) {
			continue
		}
		if j.Test {
			if ret.Result == fun.OK {
				ret.Result = fun.WouldChange
			}
			version := ""
			if t, ok := find(wanted, l.name); ok && t.Version != "" {
				version = l.version
			}
			*comments = append(*comments, "The following package would be unheld: "+l.name+ofVersion(version))
			continue
		}
		comment, ok, err := j.change("pkg.unhold", l.name, l.name, changes)
		if err != nil {
			return err
		}
		if !ok {
			ret.Result = fun.Failed
		}
		if comment != "" {
			*comments = append(*comments, comment)
		}
	}
	return nil
}

// withComments returns a return with its changes and all comments.
func withComments(ret fun.Ret, changes *value.Map, comments []string) fun.Ret {
	ret.Changes, ret.Comment = changes, strings.Join(comments, "\n")
	if changes.Len() == 0 && len(comments) == 0 {
		ret.Comment = "No changes made"
	}
	return ret
}

type unheldArgs struct {
	_       string      `arg:"name,required" doc:"name of the package; ignored where pkgs is given"`
	Version string      `arg:"version" doc:"version that is held (zypper)"`
	Pkgs    value.Value `arg:"pkgs,list" doc:"several packages: names, or mappings of a name to a version"`
	All     bool        `arg:"all" default:"False" doc:"release all packages"`
	_       fun.Kwargs
}

// unheld lets packages be changed again. Salt: salt/states/pkg.py unheld.
func unheld(ctx context.Context, c *fun.Call, a *unheldArgs) fun.Ret {
	j := newJob(ctx, c, nil, asked{packages: a.Pkgs, version: a.Version})
	all := a.All
	if j.noneGiven() && !all {
		return fun.Ret{Result: fun.OK, Comment: "No packages to be unheld provided"}
	}
	list, err := pkg.Repack(j.pkgs(), nil)
	if err != nil {
		return fun.Raise(err)
	}
	have, stop := j.locks()
	if stop != nil {
		return *stop
	}
	ret := fun.Ret{Result: fun.OK}
	changes := value.NewMap(0)
	var comments []string
	which := func(l lock) bool {
		t, ok := find(list, l.name)
		return all || ok && (!have.versions || l.version == "" || l.version == t.Version)
	}
	if err := j.release(&ret, have, changes, &comments, which, list); err != nil {
		return fun.FailedBy(err, "")
	}
	return withComments(ret, changes, comments)
}
