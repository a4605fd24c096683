package fun

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"brine/internal/source"
	"brine/internal/value"
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
		return nil, nil, &NotFoundError{Kind: kind, Name: name, Reason: e.lacks(l, all)}
	}
	return &l.mod, spec, nil
}

// lacks says why a function that modules of a name are known to have is not there.
func (e *Env) lacks(l *loaded, all []*loaded) string {
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
	var layers []*loaded
	if want := e.override(kind, name); want != "" {
		var names []string
		for _, l := range all {
			if l.Name == want {
				if why := e.forbidden(kind, name, l); why != "" {
					return nil, why
				}
				layers = append(layers, l)
				break
			}
			names = append(names, l.Name)
		}
		if near := source.DidYouMean(want, names); layers == nil && near != "" {
			return nil, fmt.Sprintf("the option providers names %s for %s, which has %s%s", want, name, strings.Join(names, ", "), near)
		}
		if layers == nil {
			e.ignoredProvider(name, want, names)
		}
	}
	// A provider that is asked for comes before the custom modules, and is all where it
	// is brine's own.
	own := len(layers) > 0 && !layers[0].Custom
	var reasons []string
	var broken []*loaded
	for _, l := range all {
		if len(layers) > 0 && l == layers[0] || !l.Custom && own {
			continue
		}
		forbidden := e.forbidden(kind, name, l)
		ok, why := false, forbidden
		if forbidden == "" {
			ok, why = e.available(l.get())
		}
		switch {
		case ok:
			layers, own = append(layers, l), !l.Custom
		case len(all) == 1:
			return nil, why
		case forbidden == "" && l.mod.Broken != "":
			broken = append(broken, l)
		}
		if !ok && why != "" {
			reasons = append(reasons, l.Name+": "+why)
		}
		if own {
			break
		}
	}
	if len(layers) > 0 {
		for _, l := range broken {
			e.brokenCustom(name, l)
		}
		return e.Table.merge(kind, name, layers), ""
	}
	why := "no provider"
	if family, ok := e.grain("os_family"); ok {
		why += " for os_family " + family
	}
	if len(reasons) > 0 {
		why += " (" + strings.Join(reasons, "; ") + ")"
	}
	return nil, why
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
