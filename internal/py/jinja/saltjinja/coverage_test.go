package saltjinja

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/pymethod"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// recorded returns the text of all recorded cases.
func recorded(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{
		"../testdata/oracle-core.json", "../testdata/oracle-lib.json",
		"testdata/oracle-salt.json", "testdata/oracle-sets.json", "testdata/jinja-cases.json",
	} {
		for _, c := range jinjatest.Decode(t, name).List("cases").Items {
			c := c.(*value.Map)
			b.WriteString(c.Str("t") + c.Str("template") + "\n")
			for _, text := range c.Map("files").All() {
				b.WriteString(value.Str(text) + "\n")
			}
		}
	}
	if b.Len() < 100_000 {
		t.Fatalf("only %d bytes of cases", b.Len())
	}
	return b.String()
}

// TestEveryNameHasACase holds the corpora to one recorded case at least for
// each filter, test, global, tag and method.
func TestEveryNameHasACase(t *testing.T) {
	t.Parallel()
	text := recorded(t)
	env := jinja.New(jinja.Options{Extension: New(Options{})}, nil)
	has := func(kind, name, pattern string) {
		t.Helper()
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no case for the %s %s", kind, name)
		}
	}
	named := func(name string) string { return `\(\s*['"]` + regexp.QuoteMeta(name) + `['"]` }
	for _, name := range env.FilterNames() {
		has("filter", name, `\|\s*`+name+`\b|%-?\s*filter\s+`+name+`\b|map`+named(name))
	}
	for _, name := range env.TestNames() {
		q := regexp.QuoteMeta(name)
		has("test", name, `\bis\s+(not\s+)?`+q+`(\b|\s|\()|(select|reject)`+named(name)+`|(select|reject)attr\([^)]*,\s*['"]`+q+`['"]`)
	}
	for _, name := range env.GlobalNames() {
		has("global", name, `[^.\w'"]`+name+`\s*[(.]`)
	}
	for _, name := range append(env.TagNames(), "elif", "else", "recursive", "ignore missing", "with context", "without context", "required", "scoped") {
		has("tag", name, `(%-?|\+|-)?\s*`+name+`\b`)
	}
	for typ, names := range pythonMethods() {
		recv := map[string]value.Value{
			"str": "x", "bytes": value.Bytes("x"), "list": value.NewList(), "dict": value.NewMap(0), "set": value.NewSet(),
			"tuple": value.Tuple{}, "int": int64(1), "float": 1.5, "bool": true,
		}[typ]
		for _, name := range names {
			if _, ok := pymethod.Of(recv, name); ok {
				has(typ+" method", name, `\.`+name+`\b|method_call\(\s*'`+name+`'`)
			}
		}
	}
}

// pythonMethods are the methods of Python 3.11 that may be there, by type.
func pythonMethods() map[string][]string {
	m := map[string][]string{}
	for typ, names := range map[string]string{
		"str": `capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha
			isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower
			lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split
			splitlines startswith strip swapcase title translate upper zfill`,
		"bytes": `capitalize center count decode endswith expandtabs find fromhex hex index isalnum isalpha isascii isdigit
			islower isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix replace
			rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill`,
		"list":  `append clear copy count extend index insert pop remove reverse sort`,
		"dict":  `clear copy fromkeys get items keys pop popitem setdefault update values move_to_end`,
		"tuple": `count index`,
		"set": `add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset
			issuperset pop remove symmetric_difference symmetric_difference_update union update`,
		"int":   `as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes`,
		"float": `as_integer_ratio conjugate fromhex hex imag is_integer real`,
		"bool":  `as_integer_ratio bit_length conjugate`,
	} {
		m[typ] = strings.Fields(names)
	}
	return m
}

// TestDocsNameEverything holds docs/templates.md to naming what there is.
func TestDocsNameEverything(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	env := jinja.New(jinja.Options{Extension: New(Options{})}, nil)
	var names []string
	names = append(names, env.FilterNames()...)
	names = append(names, env.TagNames()...)
	names = append(names, env.GlobalNames()...)
	for _, n := range names {
		if n != "debug" && !strings.Contains(doc, "`"+n+"`") {
			t.Errorf("docs/templates.md does not name %s", n)
		}
	}
	for _, n := range env.TestNames() {
		// Of the tests that have two names, one is enough.
		if strings.Trim(n, "=<>!") == "" || strings.Contains(" equalto greaterthan lessthan ", " "+n+" ") {
			continue
		}
		if !strings.Contains(doc, "`"+n+"`") {
			t.Errorf("docs/templates.md does not name the test %s", n)
		}
	}
}
