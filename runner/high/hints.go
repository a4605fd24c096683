package high

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// notDictHint says what an SLS that is not a mapping should look like.
func notDictHint(v value.Value) string {
	switch v.(type) {
	case *value.List:
		return `an SLS is a map of IDs: start it with "some_id:" instead of "-"`
	case string:
		return `an SLS is a map of IDs: is a colon missing?`
	}
	return ""
}

// bodyHint says what the body of an ID should look like.
func bodyHint(v value.Value) string {
	switch v := v.(type) {
	case nil:
		return "the ID has no states: indent its states further than the ID"
	case string:
		return fmt.Sprintf(`write the function with its module, such as "test.nop", instead of %q`, v)
	case *value.List:
		return `an ID holds states such as "pkg.installed:", and those hold the list`
	}
	return ""
}

func listHint(name string, v value.Value) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("write %s: [%s]", name, s)
	}
	return fmt.Sprintf(`write each item of %s with a "-"`, name)
}

func envHint(name string, envs []string) string {
	if n, ok := source.Nearest(name, envs); ok {
		return `did you mean saltenv "` + n + `"?`
	}
	return "the environments are " + strings.Join(envs, ", ")
}

var lostColon = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_]\w*) - (.+)$`) })

// spaceHint explains a function name with blanks: a line without its colon
// swallows the list below it.
func spaceHint(arg string, pos source.Pos) string {
	if m := lostColon().FindStringSubmatch(arg); m != nil {
		return fmt.Sprintf(`%s: "- %s" lacks its colon: write "- %s:" above "- %s"`, pos, m[1], m[1], strings.ReplaceAll(m[2], " - ", `", "- `))
	}
	if key, _, ok := strings.Cut(arg, " "); ok {
		return fmt.Sprintf(`is "%s:" meant?`, key)
	}
	return ""
}

// twoFunsHint explains a list with two functions: a bare item at the
// indentation of the key above it belongs below that key. funs is what the
// functions seem to be.
func twoFunsHint(args *value.List, funs []string) string {
	for i, a := range args.Items {
		s, ok := a.(string)
		if !ok {
			continue
		}
		if i > 0 {
			if m, ok := args.Items[i-1].(*value.Map); ok && m.Len() == 1 {
				if k, v := m.Entry(0); v == nil {
					return fmt.Sprintf(`%s: "- %s" has the indentation of "- %s:" above it (%s): indent it further`,
						args.PosAt(i), s, value.Str(k), args.PosAt(i-1))
				}
			}
		}
		if m := lostColon().FindStringSubmatch(s); m != nil {
			return spaceHint(s, args.PosAt(i))
		}
		if k, v, ok := strings.Cut(s, ":"); ok && k != "" && v != "" && !strings.Contains(k, " ") {
			return fmt.Sprintf(`%s: a blank is missing: write "- %s: %s"`, args.PosAt(i), k, strings.TrimSpace(v))
		}
	}
	return "leave one of these: " + strings.Join(funs, ", ")
}
