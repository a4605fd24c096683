package cmd

import (
	"regexp"
	"strings"
	"sync"

	"brine/internal/fun"
	"brine/internal/value"
	"brine/internal/yamlsalt"
)

// kwargRE is key=value, but not key==value.
// Salt: salt/utils/args.py KWARG_REGEX.
var kwargRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([\p{L}\p{M}_][\p{L}\p{M}\p{N}\p{Pc}.-]*)=(|[^=][^\n]*)\n?$`)
})

// parseInput types a function's arguments as Salt does: key=value is a keyword
// argument, and each value is read as YAML. Keys in noParse keep their text.
// Salt: salt/utils/args.py parse_input.
func parseInput(args, noParse []string) fun.Args {
	out := fun.Args{Kw: value.NewMap(0)}
	for _, arg := range args {
		if strings.IndexByte(arg, '=') > 0 {
			if m := kwargRE().FindStringSubmatch(arg); m != nil {
				if contains(noParse, m[1]) {
					out.Kw.Set(m[1], m[2])
				} else {
					out.Kw.Set(m[1], yamlify(m[2]))
				}
				continue
			}
		}
		out.Pos = append(out.Pos, jidText(yamlify(arg)))
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
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
	trimmed := strings.TrimSpace(arg)
	switch {
	case trimmed == "", arg == "|", arg == "!":
		return arg
	case arg == "None":
		return nil
	case strings.Contains(arg, "_") && strings.Trim(trimmed, "0123456789_") == "":
		return arg
	}
	v, err := yamlsalt.LoadString(arg)
	if err != nil {
		return arg
	}
	switch v := v.(type) {
	case *value.Map:
		if !strings.HasPrefix(arg, "{") {
			return arg
		}
	case *value.List:
		if !strings.HasPrefix(arg, "[") {
			return arg
		}
	case nil:
		if strings.Contains(arg, "#") {
			return arg
		}
	case string:
		// A comment sign inside text is no comment on the command line, and
		// line ends are not folded.
		if strings.ContainsAny(arg, "#\n") {
			return arg
		}
		return v
	}
	switch value.TypeName(v) {
	case "dict", "OrderedDict", "list", "NoneType", "bool", "int", "float":
		return v
	}
	return arg
}
