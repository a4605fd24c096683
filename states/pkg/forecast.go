package pkg

import (
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/pkg"
)

// simulates is the argument by which functions of a provider return what they would
// change.
const simulates = "simulate"

// forecast adds to the return of a state what a plan shows: every package that a
// function of the provider would change, with its versions before and after. list are
// the packages that the state asks for. refreshed says that the function is to know
// newer lists of packages by then: what it cannot do now may work.
//
// Where the provider cannot say what comes along, only the packages that are asked
// for are shown, and that is said.
func (j *job) forecast(ret fun.Ret, name string, kw *value.Map, list []pkg.Target, refreshed bool) fun.Ret {
	have, err := j.list()
	if err != nil {
		return j.fail("An error was encountered while planning package(s)", err)
	}
	_, spec, err := j.Env.Find(fun.Exec, name)
	if err != nil || !slices.ContainsFunc(spec.Args, func(a fun.Arg) bool { return a.Name == simulates }) {
		ret = ret.Planned(fun.PlanUnknown, "which packages come along is not known: the package manager is not asked")
		return ret.Planned(fun.PlanPackages, j.shownPackages(j.alone(name, list, have), list, have))
	}
	kw = kw.Copy()
	kw.Set(simulates, true)
	changes, err := j.mapping(name, kw)
	if err == nil {
		return ret.Planned(fun.PlanPackages, j.shownPackages(changes, list, have))
	}
	failed := j.fail("An error was encountered while planning package(s)", err)
	if refreshed {
		return ret.Planned(fun.PlanUnknown, "which packages change is not known: the package lists are refreshed first, and with those of now it fails: "+oneLine(value.Str(failed.Comment)))
	}
	if failed.Err == nil {
		failed.Changes = nil
	}
	return failed
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// alone returns what is known of the packages that are asked for without the package
// manager's word: the versions that are installed, and those that are wanted.
func (j *job) alone(name string, list []pkg.Target, have *value.Map) *value.Map {
	changes := value.NewMap(len(list))
	var open []value.Value
	for _, t := range list {
		if t.Any {
			open = append(open, t.Name)
		}
	}
	remove := name == "pkg.remove" || name == "pkg.purge"
	newest := value.NewMap(0)
	if len(open) > 0 && !remove {
		v, err := j.call("pkg.latest_version", j.with("refresh", false, "fromrepo", j.fromRepo), open...)
		switch v := v.(type) {
		case *value.Map:
			newest = v
		case string:
			if err == nil {
				newest.Set(open[0], v)
			}
		}
	}
	for _, t := range list {
		old := strings.Join(versionsOf(have, t.Name), ",")
		now := t.Version
		switch {
		case remove:
			now = ""
			if old == "" {
				continue
			}
		case t.Any:
			if now = newest.Str(t.Name); now == "" {
				now = "?"
			}
		}
		changes.Set(t.Name, value.MapOf("old", old, "new", now))
	}
	return changes
}

// shownPackages returns changes as a plan has them, sorted by name: those that are asked
// for first.
func (j *job) shownPackages(changes *value.Map, list []pkg.Target, have *value.Map) *value.List {
	normalize := j.normalizer()
	out := &value.List{}
	var along []value.Value
	names := changes.Keys()
	slices.SortFunc(names, func(a, b value.Value) int { return strings.Compare(value.Str(a), value.Str(b)) })
	for _, k := range names {
		m := changes.Map(k)
		if m == nil {
			continue
		}
		name := value.Str(k)
		if normalize != nil {
			name = normalize(name)
		}
		old, now := m.Str("old"), m.Str("new")
		asked := has(list, name)
		p := value.MapOf("name", name, "old", old, "new", now, "action", j.action(name, old, now, have), "asked", asked)
		if asked {
			out.Append(p)
		} else {
			along = append(along, p)
		}
	}
	out.Append(along...)
	return out
}

// action says what happens to a package. A version that is not one, such as a
// comparison, is not compared.
func (j *job) action(name, old, now string, have *value.Map) string {
	if all := versionsOf(have, name); len(all) > 1 {
		old = all[len(all)-1]
	}
	switch {
	case now == "":
		return "remove"
	case old == "":
		return "install"
	case old == now:
		return "reinstall"
	}
	if n, known := j.cmp(now, old, false); known && n < 0 {
		return "downgrade"
	}
	return "upgrade"
}

// asTargets are packages by their names, in the versions that are known.
func asTargets(names []string, versions *value.Map) []pkg.Target {
	list := make([]pkg.Target, len(names))
	for i, n := range names {
		v := versions.Str(n)
		list[i] = pkg.Target{Name: n, Version: v, Any: v == ""}
	}
	return list
}

// expectedTargets are the packages of changes, in the versions after them.
func expectedTargets(changes *value.Map) []pkg.Target {
	var list []pkg.Target
	for k, v := range changes.All() {
		m, _ := v.(*value.Map)
		list = append(list, pkg.Target{Name: value.Str(k), Version: m.Str("new")})
	}
	return list
}
