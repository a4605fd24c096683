package exec

import (
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// providersOf returns the providers of execution modules that a state names for
// itself by its argument provider: a string is the provider of the module that
// has the state's name, a list has mappings from modules to providers. nil is
// none. Salt: salt/state.py State.load_modules.
func providersOf(c *fun.Chunk) *value.Map {
	switch p := c.Low.At("provider").(type) {
	case string:
		if p != "" {
			return value.MapOf(c.State, p)
		}
	case *value.List:
		m := value.NewMap(1)
		for _, x := range p.Items {
			if of, ok := x.(*value.Map); ok {
				m.Update(of)
			}
		}
		if m.Len() > 0 {
			return m
		}
	}
	return nil
}

// withProviders returns env with more entries of the option providers. What the
// run remembers (Env.Memo) is shared.
func withProviders(env *fun.Env, providers *value.Map) *fun.Env {
	all := value.NewMap(providers.Len())
	if m := env.Opts.Map("providers"); m != nil {
		all.Update(m)
	}
	all.Update(providers)
	return env.With(func(e *fun.Env) {
		e.Opts = env.Opts.Copy()
		e.Opts.Set("providers", all)
	})
}
