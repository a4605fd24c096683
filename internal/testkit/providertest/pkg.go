// Package providertest says what the providers of a virtual module promise, as tests that
// the room of each provider runs on a machine of its own.
package providertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// A Machine is a machine for one test, which is as [Pkg] and the others describe it. All
// its functions are found in Env.
type Machine struct {
	Env  *fun.Env
	Host Recorder
}

// A Recorder knows what was done to a machine: a [host.Fake], or a real machine that
// writes it down.
type Recorder interface {
	// Calls are the commands, Writes what else changed.
	Calls() []host.Cmd
	Writes() []string
	// Forget has Calls and Writes start again from nothing.
	Forget()
	// Handle answers commands in the place of their programs.
	Handle(match func(host.Cmd) bool, answer func(context.Context, host.Cmd) (host.Output, error))
}

// A Package is a name with what is installed and what repositories have; "" is nothing.
type Package struct{ Name, Installed, Available string }

// Pkg is what a provider of pkg is tried with.
type Pkg struct {
	New func(t *testing.T) Machine
	// Old can be upgraded, Current is the newest; both are installed. Unknown is in no
	// repository.
	Old, Current Package
	Unknown      string
	// Looks reports whether a command only looks, though it is not marked so; nil: none.
	Looks func(command string) bool
	// Without are the promises that the provider, or the fake of its programs, does not
	// keep, with the reason.
	Without map[string]string
}

// A run is a machine in a test.
type run struct {
	Machine
	t     *testing.T
	looks func(string) bool
}

// newRun returns a run on a machine that nothing was done to yet.
func newRun(t *testing.T, m Machine, looks func(string) bool) *run {
	m.Host.Forget()
	return &run{Machine: m, t: t, looks: looks}
}

// call calls a function and returns its value.
func (r *run) call(name, arg string, kw ...value.Value) (value.Value, error) {
	r.t.Helper()
	args := fun.Args{Kw: value.MapOf(kw...)}
	if arg != "" {
		args.Pos = []value.Value{arg}
	}
	res, err := r.Env.Invoker.Invoke(r.t.Context(), fun.Exec, name, args)
	return res.Value, err
}

// is calls a function that has to return want, as Python prints it.
func (r *run) is(want, name, arg string, kw ...value.Value) {
	r.t.Helper()
	v, err := r.call(name, arg, kw...)
	if got := value.Repr(v); err != nil || got != want {
		r.t.Errorf("%s %s: %s, %v, want %s", name, arg, got, err, want)
	}
}

// fails calls a function that has to return an error.
func (r *run) fails(name, arg string, kw ...value.Value) {
	r.t.Helper()
	if v, err := r.call(name, arg, kw...); err == nil {
		r.t.Errorf("%s %s: %s, want an error", name, arg, value.Repr(v))
	}
}

// state calls a state function, perhaps in test mode.
func (r *run) state(test bool, name, of string, kw ...value.Value) fun.Ret {
	r.t.Helper()
	mod, spec, err := r.Env.Find(fun.State, name)
	if err != nil {
		r.t.Fatalf("the machine has no %s: %v", name, err)
	}
	c, err := r.Env.Invoker.Bind(mod, spec, fun.Args{Kw: value.MapOf(append([]value.Value{"name", of}, kw...)...), Test: test})
	if err != nil {
		r.t.Fatal(err)
	}
	low := value.MapOf("state", mod.Name, "fun", spec.Name, "name", of, "__id__", of, "__sls__", "s", "__env__", "base")
	c.Test, c.Low = test, &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: of, Name: of, Low: low}
	return spec.State(r.t.Context(), c)
}

// twice calls a state, which has to change something the first time only.
func (r *run) twice(name, of string, kw ...value.Value) {
	r.t.Helper()
	for i := range 2 {
		ret := r.state(false, name, of, kw...)
		if ret.Result != fun.OK || ret.Err != nil || value.Truth(ret.Changes) != (i == 0) {
			r.t.Errorf("%s %s, run %d: %v %v, %v, changes %s", name, of, i+1, ret.Result.Value(), ret.Comment, ret.Err, value.Repr(ret.Changes))
		}
	}
}

// changes are the commands since the machine was made that may change it.
func (r *run) changes() []string {
	var list []string
	for _, c := range r.Host.Calls() {
		if s := strings.Join(c.Argv, " "); !c.ReadOnly && (r.looks == nil || !r.looks(s)) {
			list = append(list, s)
		}
	}
	return list
}

// kept reports that nothing changed the machine.
func (r *run) kept(what string) {
	r.t.Helper()
	if list := r.changes(); len(list) > 0 {
		r.t.Errorf("%s: %q may have changed the machine", what, list)
	}
	if list := r.Host.Writes(); len(list) > 0 {
		r.t.Errorf("%s: it wrote %q", what, list)
	}
}

// breaks makes all programs that may change the machine fail.
func (r *run) breaks() {
	r.Host.Handle(func(c host.Cmd) bool { return !c.ReadOnly }, failing)
}

// odd are names that a program would take for something else.
var odd = []string{"-x", "--force", "-y foo"}

func change(of, to string) string { return fmt.Sprintf("{'old': '%s', 'new': '%s'}", of, to) }

// quiet are the arguments of a query that must not look for news.
var quiet = []value.Value{"refresh", false}

var pkgPromises = []struct {
	name string
	test func(p *Pkg, m *run)
}{
	{"list_pkgs maps names to versions", func(p *Pkg, m *run) {
		v, err := m.call("pkg.list_pkgs", "")
		list, _ := v.(*value.Map)
		if err != nil || list.Str(p.Old.Name) != p.Old.Installed {
			m.t.Errorf("list_pkgs: %s, %v, want %s %s", value.Repr(v), err, p.Old.Name, p.Old.Installed)
		}
		for k, v := range list.All() {
			if _, isText := v.(string); !isText || value.Str(k) == "" {
				m.t.Errorf("list_pkgs: %s: %s, want text", value.Repr(k), value.Repr(v))
			}
		}
	}},
	{"list_pkgs with versions_as_list maps names to lists", func(p *Pkg, m *run) {
		v, err := m.call("pkg.list_pkgs", "", "versions_as_list", true)
		list, _ := v.(*value.Map)
		if l := list.List(p.Old.Name); err != nil || l == nil || value.Repr(l) != "['"+p.Old.Installed+"']" {
			m.t.Errorf("list_pkgs: %s, %v", value.Repr(v), err)
		}
	}},
	{"version is text, empty for what is not installed", func(p *Pkg, m *run) {
		m.is("'"+p.Old.Installed+"'", "pkg.version", p.Old.Name)
		m.is("''", "pkg.version", p.Unknown)
	}},
	{"latest_version is what an upgrade brings, else empty", func(p *Pkg, m *run) {
		m.is("'"+p.Old.Available+"'", "pkg.latest_version", p.Old.Name, quiet...)
		m.is("''", "pkg.latest_version", p.Unknown, quiet...)
	}},
	{"latest_version of the newest version is empty", func(p *Pkg, m *run) {
		m.is("''", "pkg.latest_version", p.Current.Name, quiet...)
	}},
	{"upgrade_available says whether there is a newer version", func(p *Pkg, m *run) {
		m.is("True", "pkg.upgrade_available", p.Old.Name)
		m.is("False", "pkg.upgrade_available", p.Current.Name)
		m.is("False", "pkg.upgrade_available", p.Unknown)
	}},
	{"queries change nothing", func(p *Pkg, m *run) {
		for _, name := range []string{"pkg.version", "pkg.latest_version", "pkg.list_upgrades", "pkg.list_pkgs"} {
			arg, kw := "", quiet
			switch name {
			case "pkg.version":
				arg, kw = p.Old.Name, nil
			case "pkg.latest_version":
				arg = p.Old.Name
			case "pkg.list_pkgs":
				kw = nil
			}
			if _, err := m.call(name, arg, kw...); err != nil {
				m.t.Errorf("%s: %v", name, err)
			}
		}
		m.kept("queries")
	}},
	{"install returns the old and the new version", func(p *Pkg, m *run) {
		m.is("{'"+p.Old.Name+"': "+change(p.Old.Installed, p.Old.Available)+"}", "pkg.install", p.Old.Name)
		m.is("'"+p.Old.Available+"'", "pkg.version", p.Old.Name)
	}},
	{"install of what is there returns no changes", func(p *Pkg, m *run) {
		m.is("{}", "pkg.install", p.Current.Name)
	}},
	{"install of an unknown package is an error", func(p *Pkg, m *run) {
		m.fails("pkg.install", p.Unknown)
	}},
	{"install whose program fails is an error", func(p *Pkg, m *run) {
		m.breaks()
		m.fails("pkg.install", p.Old.Name)
	}},
	{"remove returns the version that was there", func(p *Pkg, m *run) {
		m.is("{'"+p.Old.Name+"': {'new': '', 'old': '"+p.Old.Installed+"'}}", "pkg.remove", p.Old.Name)
		m.is("''", "pkg.version", p.Old.Name)
	}},
	{"purge returns the version that was there", func(p *Pkg, m *run) {
		m.is("{'"+p.Old.Name+"': {'new': '', 'old': '"+p.Old.Installed+"'}}", "pkg.purge", p.Old.Name)
	}},
	{"remove and purge of what is not installed do nothing", func(p *Pkg, m *run) {
		m.is("{}", "pkg.remove", p.Unknown)
		m.is("{}", "pkg.purge", p.Unknown)
		m.kept("remove")
	}},
	{"remove whose program fails is an error", func(p *Pkg, m *run) {
		m.breaks()
		m.fails("pkg.remove", p.Old.Name)
	}},
	{"names that begin with a dash reach no program", func(p *Pkg, m *run) {
		for _, name := range odd {
			m.fails("pkg.install", name)
			m.fails("pkg.install", "", "pkgs", value.NewList(name))
			for _, fn := range []string{"pkg.remove", "pkg.purge"} {
				_, _ = m.call(fn, name) // what is not installed needs no program
			}
		}
		for _, c := range m.changes() {
			for _, name := range odd {
				if strings.Contains(c+" ", " "+name+" ") && !strings.Contains(c, "-- ") {
					m.t.Errorf("%q has the name %s", c, name)
				}
			}
		}
	}},
	{"refresh_db succeeds", func(p *Pkg, m *run) {
		if v, err := m.call("pkg.refresh_db", ""); err != nil || v == false {
			m.t.Errorf("refresh_db: %s, %v", value.Repr(v), err)
		}
	}},
	{"refresh_db whose program fails says so", func(p *Pkg, m *run) {
		m.breaks()
		v, err := m.call("pkg.refresh_db", "")
		if err != nil || !value.Truth(v) {
			return
		}
		if by, ok := v.(*value.Map); ok { // by repository
			for _, ok := range by.All() {
				if ok == false {
					return
				}
			}
		}
		m.t.Errorf("refresh_db: %s, want an error or False", value.Repr(v))
	}},
	{"pkg.installed in test mode changes nothing", func(p *Pkg, m *run) {
		for _, name := range []string{"installed", "latest", "removed", "purged"} {
			var kw []value.Value
			if name == "installed" || name == "latest" {
				kw = quiet
			}
			ret := m.state(true, "pkg."+name, p.Old.Name, kw...)
			if name != "installed" && ret.Result != fun.WouldChange || ret.Err != nil || ret.Result == fun.Failed {
				m.t.Errorf("pkg.%s: %v %v, %v", name, ret.Result.Value(), ret.Comment, ret.Err)
			}
		}
		m.kept("test mode")
	}},
}

func failing(context.Context, host.Cmd) (host.Output, error) {
	return host.Output{Status: 1, Stderr: []byte("E: the program failed\n")}, nil
}

// Test runs the suite.
func (p *Pkg) Test(t *testing.T) {
	var names []string
	for _, q := range pkgPromises {
		names = append(names, q.name)
		check(t, q.name, p.Without, func(t *testing.T) {
			q.test(p, newRun(t, p.New(t), p.Looks))
		})
	}
	unknown(t, p.Without, names)
}

// check tries a promise, unless it is among those that are not made.
func check(t *testing.T, name string, without map[string]string, test func(*testing.T)) {
	if reason, ok := without[name]; ok {
		if reason == "" {
			t.Errorf("%s: there is no reason why it is not promised", name)
		}
		return
	}
	t.Run(name, test)
}

// unknown reports names of promises that there are none of.
func unknown(t *testing.T, without map[string]string, all []string) {
	for name := range without {
		if !slices.Contains(all, name) {
			t.Errorf("there is no promise %q", name)
		}
	}
}
