package lint

import (
	"context"
	"errors"
	"iter"
	"strings"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/jinja"
	"brine/internal/py/value"
)

// marker is what an unknown value prints as: a text that YAML reads as itself and
// that nobody writes.
const marker = "brine_lint_unknown"

// isUnknown reports whether a text depends on an unknown value.
func isUnknown(s string) bool { return strings.Contains(s, marker) }

// unknown is the answer of a function that only a machine could give: a text
// whose attributes, items and results are unknown as well; it is false, and a
// loop over it is empty.
type unknown struct{}

var (
	_ jinja.AttrGetter = unknown{}
	_ jinja.ItemGetter = unknown{}
	_ jinja.Caller     = unknown{}
	_ value.Truther    = unknown{}
	_ value.Iterable   = unknown{}
	_ value.Mapping    = unknown{}
	_ value.Operator   = unknown{}
	_ value.Reprer     = unknown{}
	_ value.Stringer   = unknown{}
)

// TypeName is what messages call it.
func (unknown) TypeName() string { return "unknown" }

// Repr prints the marker in quotes.
func (unknown) Repr() string { return "'" + marker + "'" }

// PyStr prints the marker.
func (unknown) PyStr() string { return marker }

// Truth returns false.
func (unknown) Truth() bool { return false }

// Len returns 0.
func (unknown) Len() int { return 0 }

// Get returns an unknown value for every key.
func (unknown) Get(value.Value) (value.Value, bool) { return unknown{}, true }

// Keys returns none.
func (unknown) Keys() []value.Value { return nil }

// Iterate returns nothing.
func (unknown) Iterate() iter.Seq[value.Value] { return func(func(value.Value) bool) {} }

// BinaryOp returns an unknown value.
func (unknown) BinaryOp(string, value.Value, bool) (value.Value, bool, error) {
	return unknown{}, true, nil
}

// GetAttr returns an unknown value.
func (unknown) GetAttr(*jinja.State, string) (value.Value, bool, error) { return unknown{}, true, nil }

// GetItem returns an unknown value.
func (unknown) GetItem(*jinja.State, value.Value) (value.Value, bool, error) {
	return unknown{}, true, nil
}

// Call returns an unknown value.
func (unknown) Call(*jinja.Call) (value.Value, error) { return unknown{}, nil }

// A probe remembers that something was asked of a machine that there is not.
type probe struct{ asked bool }

// knownMap is a mapping, such as the grains, of which not all is known: what it
// does not have is noted.
type knownMap struct {
	value.Mapping
	probe *probe
}

// Get returns the value at key.
func (m knownMap) Get(key value.Value) (value.Value, bool) {
	v, ok := m.Mapping.Get(key)
	if !ok {
		m.probe.asked = true
	}
	return v, ok
}

// pureModules have only functions that compute; of pureFunctions' modules, others
// act or look at the machine.
var (
	pureModules   = words("grains pillar defaults match jinja hashutil")
	pureFunctions = words(`config.get config.option config.merge config.manage_mode config.valid_fileproto
		cp.list_master cp.list_master_dirs cp.list_states cp.envs file.dirname file.basename file.join file.normpath
		slsutil.merge slsutil.merge_all slsutil.update slsutil.boolstr slsutil.serialize slsutil.deserialize slsutil.banner
		slsutil.file_exists slsutil.dir_exists slsutil.path_exists slsutil.findup slsutil.renderer
		test.echo test.ping test.true_ test.false_ test.arg test.arg_repr test.arg_type test.kwarg test.version test.versions_information
		test.outputter test.opts_pkg test.get_opts test.fib test.collatz`)
	impureFunctions = words("grains.append grains.delkey grains.delval grains.set grains.setval grains.setvals grains.remove")
)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		m[w] = true
	}
	return m
}

// IsPure reports whether an execution function answers from data alone: it runs nothing,
// changes nothing, and does not look at the machine.
func IsPure(name string) bool {
	mod, _, _ := strings.Cut(name, ".")
	return pureFunctions[name] || pureModules[mod] && !impureFunctions[name]
}

// An invoker calls the functions that only compute; all others answer an unknown
// value.
type invoker struct {
	real  fun.Invoker
	env   *fun.Env
	probe *probe
}

// Invoke calls a function. Wrong arguments are an error whatever the function is.
func (v *invoker) Invoke(ctx context.Context, kind fun.Kind, name string, args fun.Args) (fun.Result, error) {
	mod, spec, err := v.env.Find(kind, name)
	if err != nil {
		return fun.Result{}, err
	}
	if kind == fun.Exec && IsPure(name) && spec.Fn != nil {
		return v.real.Invoke(ctx, kind, name, args)
	}
	v.probe.asked = true
	if mod.Dynamic == nil {
		var wrong *fun.ArgError
		if _, err := v.real.Bind(mod, spec, args); errors.As(err, &wrong) {
			v.probe.asked = false
			return fun.Result{}, err
		}
	}
	return fun.Value(unknown{})
}

// Bind binds the arguments of a function.
func (v *invoker) Bind(mod *fun.Module, spec *fun.Spec, args fun.Args) (*fun.Call, error) {
	return v.real.Bind(mod, spec, args)
}

func newInvoker(e *fun.Env, p *probe) fun.Invoker {
	return &invoker{real: dispatch.New(e), env: e, probe: p}
}
