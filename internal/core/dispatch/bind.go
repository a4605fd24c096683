package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Bind binds args to spec by Python's rules (positional ones in order, keyword
// ones by name, defaults for the rest) and converts each to its declared type.
//
// It returns a *fun.ArgError where the arguments do not fit the function, and a
// *fun.InvocationError for a value that is not of its argument's type and for an
// argument that a state function does not have. What the state system reads
// (require, order and so on) is left out for a state function, and unknown
// arguments of one with VarKw are a warning, since Salt accepts them. Of the other
// functions with VarKw, those that look like a mistake are one.
func (i *Invoker) Bind(mod *fun.Module, spec *fun.Spec, args fun.Args) (*fun.Call, error) {
	b := &binding{i: i, mod: mod, spec: spec, args: args}
	return b.bind()
}

// A binding is one Bind in progress.
type binding struct {
	i    *Invoker
	mod  *fun.Module
	spec *fun.Spec
	args fun.Args
	call *fun.Call

	positional int     // how many of the declared arguments may be given by position
	faults     []error // what is wrong with the arguments: *fun.InvocationError and *fun.ArgError
}

// fault returns all that is wrong with the arguments as one error, which is the first
// with what the others say after it.
func (b *binding) fault() error {
	switch len(b.faults) {
	case 0:
		return nil
	case 1:
		return b.faults[0]
	}
	var others []string
	for _, err := range b.faults[1:] {
		text := err.Error()
		if a, ok := err.(*fun.ArgError); ok { //nolint:errorlint // they are made here
			if text = a.Msg; a.Nearest != "" {
				text += fmt.Sprintf(" (did you mean %q?)", a.Nearest)
			}
		}
		others = append(others, text)
	}
	more := "; " + strings.Join(others, "; ")
	switch first := b.faults[0].(type) { //nolint:errorlint // they are made here
	case *fun.InvocationError:
		all := *first
		all.Msg += more
		return &all
	case *fun.ArgError:
		all := *first
		all.Msg += more
		return &all
	}
	return b.faults[0]
}

func (b *binding) bind() (*fun.Call, error) {
	b.call = &fun.Call{Mod: b.mod, Spec: b.spec, Args: value.NewMap(len(b.spec.Args)), Kw: value.NewMap(0)}
	b.positional = b.spec.Positional()
	if n := len(b.args.Pos); n > b.positional {
		if b.spec.VarArg {
			b.call.Pos = b.args.Pos[b.positional:]
		} else {
			b.faults = append(b.faults, b.wrong("%s", tooMany(b.spec, n)))
		}
		for _, v := range b.call.Pos {
			if err := value.Fault(v, "str"); err != nil && !b.spec.Raw {
				return nil, err
			}
		}
	}
	missing, err := b.declared()
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 && b.mod.Kind != fun.State {
		b.faults = append(b.faults, b.wrong("%s", value.MissingArguments(missing)))
	}
	b.further()
	if len(missing) > 0 && b.mod.Kind == fun.State {
		b.faults = append(b.faults, b.wrong("%s", value.MissingArguments(missing)))
	}
	if err := b.fault(); err != nil {
		return nil, err
	}
	if b.mod.Kind == fun.State {
		if n, ok := b.args.Kw.Get("name"); ok {
			b.call.Name = value.Str(n)
			b.i.env.Secrets.AddArg("name", false, n)
		}
	}
	b.call.Attach(b.i.env)
	return b.call, nil
}

func (b *binding) name() string { return b.mod.Name + "." + b.spec.Name }

func (b *binding) wrong(format string, a ...any) error {
	return &fun.ArgError{Name: b.name(), Msg: fmt.Sprintf(format, a...), Spec: b.spec}
}

// declared binds the declared arguments; missing are those that are required and
// not given.
func (b *binding) declared() (missing []string, err error) {
	known := b.i.env.Secrets
	for n := range b.spec.Args {
		a := &b.spec.Args[n]
		v, byName := b.args.Kw.Get(a.Key())
		switch {
		case n < len(b.args.Pos) && n < b.positional:
			if byName {
				b.faults = append(b.faults, b.wrong("got multiple values for argument '%s'", a.Name))
			}
			v = b.args.Pos[n]
		case !byName && a.Required:
			missing = append(missing, "'"+a.Name+"'")
			continue
		case !byName:
			// Defaults are shared by all calls, so a mutable one is copied.
			b.call.Args.Set(a.Key(), value.Clone(a.Default))
			continue
		}
		known.AddArg(a.Name, a.Secret, v)
		v, err = b.convert(a, v)
		if _, is := err.(*fun.InvocationError); is { //nolint:errorlint // Convert returns it unwrapped
			b.faults = append(b.faults, err) // the others may be wrong, too
		} else if err != nil {
			return nil, err
		}
		b.call.Args.Set(a.Key(), v)
	}
	return missing, nil
}

// slotPrefix starts an argument of a state that a function computes when the
// state runs; where it is bound before that, it is not looked at.
const slotPrefix = "__slot__:"

func (b *binding) convert(a *fun.Arg, v value.Value) (value.Value, error) {
	if s, ok := v.(string); ok && b.mod.Kind == fun.State && strings.HasPrefix(s, slotPrefix) {
		return v, nil
	}
	out, hint, err := a.Convert(v)
	if err != nil {
		if inv, ok := err.(*fun.InvocationError); ok { //nolint:errorlint // Convert returns it unwrapped
			inv.Pos = b.args.Kw.Pos(a.Name)
		}
		return nil, err
	}
	if hint != "" {
		b.warn(a.Name, a.Name+": "+hint)
	}
	return out, nil
}

// further binds the keyword arguments that the function does not declare.
func (b *binding) further() {
	var unknown []string
	for k, v := range b.args.Kw.All() {
		name, _ := k.(string)
		if b.call.Args.Has(name) {
			continue
		}
		if b.mod.Kind == fun.State {
			if Internal(name) {
				// Salt also hands provider to functions that take any argument.
				if name == "provider" && b.spec.VarKw {
					b.call.Kw.Set(k, v)
				}
				continue
			}
			if !b.spec.VarKw {
				unknown = append(unknown, name)
				continue
			}
			b.suspect(name)
		} else {
			if !b.spec.VarKw {
				b.faults = append(b.faults, &fun.ArgError{
					Name: b.name(), Spec: b.spec, Nearest: b.nearest(name),
					Msg: fmt.Sprintf("got an unexpected keyword argument '%s'", name),
				})
				continue
			}
			if err := b.miss(name); err != nil {
				b.faults = append(b.faults, err)
			}
		}
		b.i.env.Secrets.AddArg(name, false, v)
		b.call.Kw.Set(k, v)
	}
	if len(unknown) > 0 {
		b.faults = append(b.faults, &fun.InvocationError{Msg: InvalidKeywords(unknown, b.name()), Arg: unknown[0], Pos: b.args.Kw.Pos(unknown[0])})
	}
}

// InvalidKeywords returns Salt's text for arguments that a state function does
// not have. Salt: salt/utils/args.py format_call.
func InvalidKeywords(names []string, function string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "'" + n + "'"
	}
	if last := len(quoted) - 1; last > 0 {
		return strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " are invalid keyword arguments for '" + function + "'"
	}
	return quoted[0] + " is an invalid keyword argument for '" + function + "'"
}

// Unknown returns the arguments of a state in low that its function does not
// take, in order; none where it takes any.
func Unknown(spec *fun.Spec, low *value.Map) []string {
	if spec.VarKw {
		return nil
	}
	var names []string
	for k := range low.All() {
		if name, _ := k.(string); !spec.Declares(name) && !Internal(name) {
			names = append(names, name)
		}
	}
	return names
}

// Suggest returns the argument that was likely meant by name in a state of the
// function spec: one of its own or one that every state has; "" is none.
func Suggest(spec *fun.Spec, name string) string {
	return suggest(spec, nil, name)
}

func suggest(spec, of *fun.Spec, name string) string {
	near, _ := source.Nearest(name, slices.Concat(argNames(spec), of.ArgNames(), requisiteNames))
	return near
}

// Miss looks at an argument of a state that its function accepts and does not declare.
// known is false where the function that further arguments are handed on to does not
// declare it either; near is the argument that was likely meant, or "".
func Miss(table *fun.Table, spec *fun.Spec, name string) (near string, known bool) {
	var of *fun.Spec
	if spec.Of != "" {
		if of = table.Spec(fun.Exec, spec.Of); of != nil && of.Declares(name) {
			return "", true
		}
	}
	return suggest(spec, of, name), false
}

func argNames(spec *fun.Spec) []string {
	names := make([]string, len(spec.Args))
	for n := range spec.Args {
		names[n] = spec.Args[n].Name
	}
	return names
}

// nearest returns the argument of the function that was likely meant by name, or
// "".
func (b *binding) nearest(name string) string {
	if strings.HasPrefix(name, "__") {
		return ""
	}
	near, _ := source.Nearest(name, argNames(b.spec))
	return near
}

// miss looks at a keyword argument that a function other than a state accepts and
// does not declare. One that is close to a declared one is likely a mistake: functions
// with NearMiss refuse it, the others warn.
func (b *binding) miss(name string) error {
	near := b.nearest(name)
	switch {
	case near == "" || b.spec.Hands || b.spec.Of != "" || strings.EqualFold(near, name): // state.apply reads Test=True, too, as Salt does
	case b.spec.NearMiss:
		return &fun.ArgError{Name: b.name(), Spec: b.spec, Nearest: near, Msg: fmt.Sprintf("got an unexpected keyword argument '%s'", name)}
	default:
		b.warnOnce(name, fmt.Sprintf("%s has no argument %q (did you mean %q?)", b.name(), name, near))
	}
	return nil
}

// suspectKey is an argument that was warned of in this run, with its function.
type suspectKey struct{ function, name string }

// warnOnce is warn for what a template may call again and again.
func (b *binding) warnOnce(name, text string) {
	if memo := b.i.env.Memo; memo != nil {
		key := suspectKey{b.name(), name}
		if _, said := memo.Load(key); said {
			return
		}
		memo.Store(key, true)
	}
	b.warn(name, text)
}

// suspect warns of an argument that a state function does not have and accepts. What
// functions of the tree read from their **kwargs is not known: of those, only a name
// close to a declared one is warned of.
func (b *binding) suspect(name string) {
	if b.spec.Hands {
		return
	}
	near, known := Miss(b.i.env.Table, b.spec, name)
	switch {
	case known, near == "" && strings.HasPrefix(b.spec.Src, "salt://"):
		return
	case near != "":
		near = ` (did you mean "` + near + `"?)`
	}
	b.warn(name, fmt.Sprintf("%s has no argument %q%s", b.name(), name, near))
}

// warn warns of the argument name, at its place where that is known.
func (b *binding) warn(name, text string) {
	b.i.env.Warnf(b.args.Kw.Pos(name), "%s", text)
}

func tooMany(spec *fun.Spec, given int) string {
	n, required := spec.Positional(), len(spec.Required())
	takes := fmt.Sprintf("takes %d positional argument%s", n, value.Plural(n))
	if required < n {
		takes = fmt.Sprintf("takes from %d to %d positional arguments", required, n)
	}
	if given == 1 {
		return takes + " but 1 was given"
	}
	return fmt.Sprintf("%s but %d were given", takes, given)
}
