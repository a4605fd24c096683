package fun

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Find returns the module and row of the function "module.function" as this run
// may call it, or a *NotFoundError that says why its module cannot serve here, or
// which name is nearest.
func (e *Env) Find(kind Kind, name string) (*Module, *Spec, error) {
	mod, fn, ok := strings.Cut(name, ".")
	all := e.Table.byName[tableKey{kind, mod}]
	if !ok || len(all) == 0 {
		return nil, nil, e.Table.NotFound(kind, name)
	}
	l, why := e.provider(kind, mod, all)
	if l == nil {
		if _, _, known := e.Table.Lookup(kind, name); !known {
			nf := e.Table.NotFound(kind, name)
			if mod := &all[0].get().mod; len(mod.Specs) == 0 && mod.Dynamic == nil {
				nf.Reason = why // nothing is known of its functions
			}
			return nil, nil, nf
		}
		return nil, nil, &NotFoundError{Kind: kind, Name: name, Reason: why}
	}
	spec := l.spec(fn)
	if spec == nil {
		if _, _, known := e.Table.Lookup(kind, name); !known {
			return nil, nil, e.Table.NotFound(kind, name)
		}
		return nil, nil, &NotFoundError{Kind: kind, Name: name, Reason: e.whyMissing(l, all)}
	}
	return &l.mod, spec, nil
}

// Has reports whether this run has an execution function, by its name
// "module.function".
func (e *Env) Has(name string) bool {
	_, _, err := e.Find(Exec, name)
	return err == nil
}

// Needs returns the Avail of a module that calls the functions of an execution
// module. why is what it says where that cannot serve; "" is that one's own reason.
func Needs(module, why string) func(*Env) (bool, string) {
	return func(e *Env) (bool, string) {
		mod, reason := e.Provider(Exec, module)
		switch {
		case mod != nil:
			return true, ""
		case why != "":
			return false, why
		}
		return false, reason
	}
}

// whyMissing says why a function that modules of a name are known to have is not there.
func (e *Env) whyMissing(l *loaded, all []*loaded) string {
	for _, o := range all {
		if !o.Custom {
			break
		}
		if ok, why := e.available(o.get()); !ok && why != "" {
			return o.Name + ": " + why
		}
	}
	return "its provider here, " + l.Name + ", does not have it"
}

// Provider returns the module that serves under a name in this run. Where none
// does, it returns nil and the reason, "" for a name that no module has.
//
// Of several providers the first that is available serves, unless the option
// providers names another, which then serves whatever its availability is. A name
// that no provider has is ignored with a warning, as in Salt, unless it looks like
// a misspelt one.
// Salt: salt/loader/__init__.py minion_mods.
func (e *Env) Provider(kind Kind, name string) (*Module, string) {
	all := e.Table.byName[tableKey{kind, name}]
	if len(all) == 0 {
		return nil, ""
	}
	l, why := e.provider(kind, name, all)
	if l == nil {
		return nil, why
	}
	return &l.mod, ""
}

func (e *Env) provider(kind Kind, name string, all []*loaded) (*loaded, string) {
	if kind == State {
		if why := e.forbiddenState(name); why != "" {
			return nil, why
		}
	}
	wanted, why := e.wanted(kind, name, all)
	if why != "" {
		return nil, why
	}
	c := choice{e: e, kind: kind, name: name}
	if wanted != nil {
		c.take(wanted)
	}
	for _, l := range all {
		if l != wanted {
			c.look(l)
		}
	}
	switch {
	case len(c.layers) > 0:
		for _, l := range c.broken {
			e.brokenCustom(name, l)
		}
		return e.Table.merge(kind, name, c.layers), ""
	case len(all) == 1:
		return nil, c.last
	}
	why = "no provider"
	if family, ok := e.grain("os_family"); ok {
		why += " for os_family " + family
	}
	if len(c.reasons) > 0 {
		why += " (" + strings.Join(c.reasons, "; ") + ")"
	}
	return nil, why
}

// wanted returns the provider that the option providers names for a module; nil where
// it names none of them. why says that it cannot serve.
func (e *Env) wanted(kind Kind, name string, all []*loaded) (l *loaded, why string) {
	want := e.override(kind, name)
	if want == "" {
		return nil, ""
	}
	names := make([]string, 0, len(all))
	for _, l := range all {
		if l.Name == want {
			return l, e.forbidden(kind, name, l)
		}
		names = append(names, l.Name)
	}
	if near := source.DidYouMean(want, names); near != "" {
		return nil, fmt.Sprintf("the option providers names %s for %s, which has %s%s", want, name, strings.Join(names, ", "), near)
	}
	e.ignoredProvider(name, want, names)
	return nil, ""
}

// A choice is the search for the modules that serve under a name: custom ones, whose
// functions come first, and one of brine's own. A provider that is asked for comes
// before the custom modules, and is all where it is brine's own.
type choice struct {
	e    *Env
	kind Kind
	name string

	layers  []*loaded
	own     bool // one of brine's own is among them: nothing comes after it
	broken  []*loaded
	reasons []string
	last    string // why the last one that was looked at does not serve
}

func (c *choice) take(l *loaded) { c.layers, c.own = append(c.layers, l), !l.Custom }

func (c *choice) look(l *loaded) {
	if c.own {
		return
	}
	if c.last = c.e.forbidden(c.kind, c.name, l); c.last == "" {
		var ok bool
		if ok, c.last = c.e.available(l.get()); ok {
			c.take(l)
			return
		}
		if l.mod.Broken != "" {
			c.broken = append(c.broken, l)
		}
	}
	if c.last != "" {
		c.reasons = append(c.reasons, l.Name+": "+c.last)
	}
}

type brokenKey struct{ l *loaded }

// brokenCustom warns once that a custom module does not add its functions to another.
func (e *Env) brokenCustom(name string, l *loaded) {
	if e.Memo == nil {
		return
	}
	e.Memo.Once(brokenKey{l}, func() any {
		e.Warn(Warning{Text: fmt.Sprintf("%s; other modules serve as %s without it", l.mod.Broken, name)})
		return true
	})
}

type ignoredKey struct{ name, want string }

// ignoredProvider warns once that a provider is not there. Trees name systemd for
// service, as the module systemd_service was called before: that needs no warning.
func (e *Env) ignoredProvider(name, want string, names []string) {
	if e.Memo == nil || slices.Contains(names, want+"_"+name) {
		return
	}
	e.Memo.Once(ignoredKey{name, want}, func() any {
		e.Warn(Warning{Text: fmt.Sprintf("%s is not a provider of %s and is ignored; the providers are %s", want, name, strings.Join(names, ", "))})
		return true
	})
}

func (e *Env) grain(name string) (string, bool) {
	if e.Grains == nil {
		return "", false
	}
	v, ok := e.Grains.Get(name)
	return value.Str(v), ok
}

// override returns the provider that the option providers names for an
// execution module.
func (e *Env) override(kind Kind, name string) string {
	if kind != Exec || e.Opts == nil {
		return ""
	}
	m := e.Opts.Map("providers")
	if m == nil {
		return ""
	}
	return m.Str(name)
}

// An availability is a module's answer to whether it may serve a run. Asking may
// cost a look at the machine, so answers are kept until [Env.ForgetAvailable].
type availability struct {
	ok  bool
	why string
}

type availableKey struct{}

func (e *Env) available(l *loaded) (bool, string) {
	if l.mod.Avail == nil {
		return true, ""
	}
	if e.Memo == nil {
		return l.mod.Avail(e)
	}
	kept := e.Memo.Once(availableKey{}, func() any { return &sync.Map{} }).(*sync.Map)
	if a, ok := kept.Load(l); ok {
		a := a.(availability)
		return a.ok, a.why
	}
	ok, why := l.mod.Avail(e)
	kept.Store(l, availability{ok, why})
	return ok, why
}

// ForgetAvailable has every module asked again whether it may serve: a state may
// have installed what it needs.
func (e *Env) ForgetAvailable() {
	if e.Memo != nil {
		e.Memo.Delete(availableKey{})
	}
}
