package fun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// A MissingError is what a function of a custom module returns that its module does not
// have, which only the call has told. It has done nothing.
type MissingError struct{ Name, File string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not a function of %s", e.Name, e.File)
}

type mergedKey struct {
	kind Kind
	name string
	of   string
}

// merge returns one module with the functions of several, the first before the others:
// custom modules before brine's own of the same name. mod_watch and what else a module
// has of its own are those of the first that has them.
//
// Salt: salt/loader/lazy.py LazyLoader._load_module. Difference: there, which comes
// first depends on the names of the files and on what was called before, and a file with
// the name of Salt's own replaces it.
func (t *Table) merge(kind Kind, name string, layers []*loaded) *loaded {
	if len(layers) == 1 {
		return layers[0].get()
	}
	var of strings.Builder
	for _, l := range layers {
		fmt.Fprintf(&of, "%p ", l)
	}
	key := mergedKey{kind, name, of.String()}
	if m, ok := t.merged.Load(key); ok {
		return m.(*loaded)
	}
	base := layers[len(layers)-1].get()
	m := &loaded{Entry: base.Entry, layers: layers, mod: base.mod}
	m.once.Do(func() {})
	m.mod.Avail, m.mod.Specs = nil, nil
	names := map[string]bool{}
	for _, l := range slices.Backward(layers) {
		mod := l.get().mod
		if mod.Watch != nil {
			m.mod.Watch = mod.Watch
		}
		if mod.Init != nil {
			m.mod.Init = mod.Init
		}
		if mod.Aggregate != nil {
			m.mod.Aggregate = mod.Aggregate
		}
		if mod.Dynamic != nil {
			m.mod.Dynamic = m.spec
		}
		for i := range mod.Specs {
			names[mod.Specs[i].Name] = true
		}
	}
	for fn := range names {
		m.mod.Specs = append(m.mod.Specs, *m.spec(fn))
	}
	m.mod.SortSpecs()
	m.bound.Do(func() { m.all = m.mod })
	kept, _ := t.merged.LoadOrStore(key, m)
	return kept.(*loaded)
}

// orBelow returns the row of a function of a module that may turn out not to have it:
// then the first of the modules below that has it is called.
func orBelow(s *Spec, below []*loaded) *Spec {
	if !s.MayLack || s.Fn == nil {
		return s
	}
	for i, l := range below {
		lower := l.spec(s.Name)
		if lower == nil {
			continue
		}
		lower = orBelow(lower, below[i+1:])
		mod, fn, both := &l.get().mod, s.Fn, *s
		both.Fn = func(ctx context.Context, c *Call) (Result, error) {
			res, err := fn(ctx, c)
			if _, missing := errors.AsType[*MissingError](err); !missing {
				return res, err
			}
			kw := value.NewMap(c.Kw.Len())
			for k, v := range c.Kw.All() {
				if !strings.HasPrefix(value.Str(k), "__") { // those of the call itself are added again
					kw.Set(k, v)
				}
			}
			c, err = c.Env.Invoker.Bind(mod, lower, Args{Pos: c.Pos, Kw: kw})
			if err != nil {
				return Result{}, err
			}
			return lower.Fn(ctx, c)
		}
		return &both
	}
	return s
}
