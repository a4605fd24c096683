package dispatch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// kwargRE is key=value, but not key==value.
// Salt: salt/utils/args.py KWARG_REGEX.
var kwargRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([\p{L}\p{M}_][\p{L}\p{M}\p{N}\p{Pc}.-]*)=(|[^=][^\n]*)\n?$`)
})

// keyword reads "key=value", the value as text.
func keyword(arg string) (key, text string, ok bool) {
	if strings.IndexByte(arg, '=') <= 0 {
		return "", "", false
	}
	m := kwargRE().FindStringSubmatch(arg)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// ParseInput types a function's arguments as Salt does: key=value is a keyword
// argument, and each value is read as YAML. Keys in noParse keep their text.
// Salt: salt/utils/args.py parse_input.
func ParseInput(args, noParse []string) fun.Args {
	out := fun.Args{Kw: value.NewMap(0)}
	for _, arg := range args {
		key, text, ok := keyword(arg)
		switch {
		case !ok:
			out.Pos = append(out.Pos, jidText(yamlify(arg)))
		case slices.Contains(noParse, key):
			out.Kw.Set(key, text)
		default:
			out.Kw.Set(key, yamlify(text))
		}
	}
	return out
}

// Published returns args as a target takes them from a job: text "key=value"
// among the positional ones is a keyword argument, and so is all of a dict with
// __kwarg__.
//
// It returns a *fun.InvocationError that lists the keyword arguments that spec
// does not have. Salt: salt/minion.py load_args_and_kwargs.
func Published(spec *fun.Spec, args fun.Args) (fun.Args, error) {
	out := fun.Args{Pos: make([]value.Value, 0, len(args.Pos)), Kw: value.NewMap(args.Kw.Len())}
	var bad []string
	add := func(key, v value.Value) {
		name := value.Str(key)
		if spec.VarKw || slices.ContainsFunc(spec.Args, func(a fun.Arg) bool { return a.Name == name }) {
			out.Kw.Set(key, v)
		} else {
			bad = append(bad, fmt.Sprintf("%s=%s", name, value.Str(redact.Named(name, v))))
		}
	}
	for _, v := range args.Pos {
		if s, ok := v.(string); ok {
			if key, text, ok := keyword(s); ok {
				add(key, yamlify(text))
				continue
			}
		}
		if m, ok := v.(*value.Map); ok && m.At("__kwarg__") == true {
			for k, x := range m.All() {
				if k != "__kwarg__" {
					add(k, x)
				}
			}
			continue
		}
		out.Pos = append(out.Pos, jidText(v))
	}
	for k, v := range args.Kw.All() {
		add(k, v)
	}
	if len(bad) > 0 {
		return fun.Args{}, &fun.InvocationError{Msg: "The following keyword arguments are not valid: " + strings.Join(bad, ", ")}
	}
	return out, nil
}

// Typed returns args with the text among the positional ones read as YAML, as
// on a command line. Salt: salt/client/mixins.py cmd.
func Typed(args fun.Args) fun.Args {
	out := fun.Args{Kw: args.Kw}
	for _, v := range args.Pos {
		if s, ok := v.(string); ok {
			if _, _, kw := keyword(s); !kw {
				v = yamlify(s)
			}
		}
		out.Pos = append(out.Pos, v)
	}
	return out
}

// jidText keeps a positional jid as text, which is what functions compare.
func jidText(v value.Value) value.Value {
	if s := value.Str(v); len(s) == 20 && value.TypeName(v) == "int" {
		return s
	}
	return v
}

// yamlify reads one argument as YAML where that loses nothing: a dict needs
// braces, a list needs brackets, and what is not YAML stays text.
// Salt: salt/utils/args.py yamlify_arg.
func yamlify(arg string) value.Value {
	trimmed := value.TrimSpace(arg)
	switch {
	case trimmed == "", trimmed == "---", trimmed == "...", arg == "|", arg == "!":
		return arg
	case arg == "None":
		return nil
	case strings.Contains(arg, "_") && strings.Trim(trimmed, "0123456789_") == "":
		return arg // an int, but hardly meant as one
	case strings.ContainsAny(arg, "\t\r\n"):
		return arg // YAML would change the blanks
	}
	v, err := yamlsalt.LoadString(arg)
	if err != nil {
		return arg
	}
	comment := strings.Contains(arg, "#")
	switch v.(type) {
	case *value.Map:
		// Not so in Salt where there is a comment sign.
		if !comment && !strings.HasPrefix(arg, "{") {
			return arg
		}
	case *value.List:
		if !comment && !strings.HasPrefix(arg, "[") {
			return arg
		}
	case nil, string:
		// A comment sign inside text is not a comment on the command line.
		if comment {
			return arg
		}
	default:
		switch value.TypeName(v) {
		case "bool", "int", "float":
		default:
			if !comment {
				return arg
			}
		}
	}
	return v
}
