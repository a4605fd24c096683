package pkg

import (
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Names returns the positional arguments of a call as text.
func Names(c *fun.Call) []string {
	list := make([]string, len(c.Pos))
	for i, p := range c.Pos {
		list[i] = value.Str(p)
	}
	return list
}

// Anys returns names as values.
func Anys(names []string) []value.Value {
	list := make([]value.Value, len(names))
	for i, n := range names {
		list[i] = n
	}
	return list
}

// One returns the answer for a name where only one was asked for, else all of
// them.
func One(names []string, all *value.Map) value.Value {
	if len(names) == 1 {
		return all.At(names[0])
	}
	return all
}

// CheckName refuses a name that a package manager would take for an option.
func CheckName(name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n") {
		return fun.Errorf("invalid package name %s", value.Repr(name))
	}
	return nil
}

// CheckNames is CheckName for several names.
func CheckNames(names []string) error {
	for _, n := range names {
		if err := CheckName(n); err != nil {
			return err
		}
	}
	return nil
}

// AsCommandError words invalid arguments as Salt does, which raises them as errors
// of the function.
func AsCommandError(err error) error {
	if inv, ok := err.(*fun.InvocationError); ok { //nolint:errorlint // it is returned unwrapped
		return &fun.CommandError{Msg: inv.Msg}
	}
	return err
}

// TestMode reports whether the run, or the state that calls, changes nothing.
func TestMode(c *fun.Call) bool {
	if v, ok := c.Kw.Get("test"); ok {
		return value.Truth(v)
	}
	return c.Env.Opts != nil && value.Truth(c.Env.Opts.At("test"))
}

// HoldArgs are the arguments of pkg.hold and pkg.unhold that name packages.
type HoldArgs struct {
	_       fun.Arguments
	Name    string        `arg:"name" doc:"name of the package"`
	Pkgs    []value.Value `arg:"pkgs" doc:"names of several packages"`
	Sources []value.Value `arg:"sources" doc:"mappings of a name to a package file; the names count"`
}

// Targets returns what the arguments mean: names, and mappings of a name to a version.
func (a *HoldArgs) Targets() ([]value.Value, error) {
	pkgs, sources := a.Pkgs, a.Sources
	switch {
	case a.Name == "" && len(pkgs) == 0 && len(sources) == 0:
		return nil, &fun.InvocationError{Msg: "One of name, pkgs, or sources must be specified."}
	case len(pkgs) > 0 && len(sources) > 0:
		return nil, &fun.InvocationError{Msg: "Only one of pkgs or sources can be specified."}
	case len(sources) > 0:
		return sources, nil
	case len(pkgs) > 0:
		return pkgs, nil
	}
	return []value.Value{a.Name}, nil
}

// Names returns the names of the targets.
func (a *HoldArgs) Names() ([]string, error) {
	targets, err := a.Targets()
	if err != nil {
		return nil, err
	}
	list := make([]string, len(targets))
	for i, t := range targets {
		if m, ok := t.(*value.Map); ok && m.Len() > 0 {
			t, _ = m.Entry(0)
		}
		list[i] = value.Str(t)
	}
	return list, nil
}

// Words returns the items of an argument that is a list, or text that is divided at
// commas.
// Salt: salt/utils/args.py split_input.
func Words(v value.Value) []string {
	if v == nil {
		return nil
	}
	var list []string
	if items, err := value.Items(v); err == nil {
		if _, text := v.(string); !text {
			for _, x := range items {
				list = append(list, value.Str(x))
			}
			return list
		}
	}
	for part := range strings.SplitSeq(value.Str(v), ",") {
		list = append(list, value.TrimSpace(part))
	}
	return list
}
