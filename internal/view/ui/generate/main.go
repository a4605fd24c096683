// Command generate writes the Go files of the templates of internal/view/ui. Run it by
// "go generate ./internal/view/ui".
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/a-h/templ/generator"
	"github.com/a-h/templ/parser/v2"
)

func main() {
	files, err := generate(".")
	for path, text := range files {
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// A change makes the code of templates smaller: it would take 0.4 MB of the binary
// more. The expressions of templates return no errors, and a writer that fails keeps
// its error until the end: no write has to be checked. Templates that are inlined
// would have copies at each place that uses them.
type change struct {
	re *regexp.Regexp
	to string
}

const (
	checked = `\s+if templ_7745c5c3_Err != nil \{\s+return templ_7745c5c3_Err\s+\}`
	buffer  = `\s+templ_7745c5c3_Buffer, templ_7745c5c3_IsBuffer := templruntime\.GetBuffer\(templ_7745c5c3_W\)` +
		`\s+if !templ_7745c5c3_IsBuffer \{\s+defer func\(\) \{[^}]*\}\s+\}\(\)\s+\}\s+ctx = templ\.InitializeContext\(ctx\)`
	ended = `(?:\s+if templ_7745c5c3_CtxErr := ctx\.Err\(\); [^}]*\})?` // nested ones do not look
	body  = `templruntime\.GeneratedTemplate\(func\(templ_7745c5c3_Input templruntime\.GeneratedComponentInput\) \(templ_7745c5c3_Err error\) \{` +
		`\s+templ_7745c5c3_W, ctx := templ_7745c5c3_Input\.Writer, templ_7745c5c3_Input\.Context` + ended + buffer
	parameters = `(ctx context.Context, templ_7745c5c3_Buffer *templruntime.Buffer`
)

var changes = []change{
	{regexp.MustCompile(`templ_7745c5c3_Err = templruntime\.WriteString\(templ_7745c5c3_Buffer, \d+, (".*")\)` + checked), `writeHTML(templ_7745c5c3_Buffer, $1)`},
	{joined("string", "JoinStringErrs"), `writeText(templ_7745c5c3_Buffer, $1)`},
	{joined(`templ\.SafeURL`, "JoinURLErrs"), `writeURL(templ_7745c5c3_Buffer, $1)`},
	{
		regexp.MustCompile(body + `\s+(templ_7745c5c3_Var\d+) := templ\.GetChildren\(ctx\)\s+if [^}]*\}\s+ctx = templ\.ClearChildren\(ctx\)`),
		`component(func` + parameters + `, $1 templ.Component) (templ_7745c5c3_Err error) {`,
	},
	{regexp.MustCompile(body), `part(func` + parameters + `) (templ_7745c5c3_Err error) {`},
	{regexp.MustCompile(`templ_7745c5c3_Err = (.*)\.Render\((.*), templ_7745c5c3_Buffer\)` + checked), `writePart($2, templ_7745c5c3_Buffer, $1)`},
	{regexp.MustCompile(`templ_7745c5c3_Err = (templ\.Render\w+\(.*\))` + checked), `_ = $1`},
	{regexp.MustCompile(`(?m)^func .* templ\.Component \{$`), "//go:noinline\n$0"},
	{regexp.MustCompile(`return templ\.Error\{.*\}`), "return templ_7745c5c3_Err"},
	{regexp.MustCompile(`(?m)^import templruntime `), "import \"context\"\n$0"},
}

// verbatim matches how values are written that browsers send back or look for: as they are,
// while the text that people read has nothing that hides or reorders other text.
var verbatim = regexp.MustCompile(`(writeHTML\(templ_7745c5c3_Buffer, "(?:[^"\\]|\\.)*(?: (?:value|name|id|for|class|data-[a-z]+|aria-[a-z]+by)=\\"|<textarea(?:[^>"\\]|\\.)*>)"\)\s+)writeText\(`)

// joined matches how the value of an expression is written.
func joined(typ, join string) *regexp.Regexp {
	return regexp.MustCompile(`var templ_7745c5c3_Var\d+ ` + typ + `\s+templ_7745c5c3_Var\d+, templ_7745c5c3_Err = templ\.` + join + `\((.*)\)` + `\s+if templ_7745c5c3_Err != nil \{\s+return templ.*\s+\}` +
		`\s+_, templ_7745c5c3_Err = templ_7745c5c3_Buffer\.WriteString\(templ\.EscapeString\(templ_7745c5c3_Var\d+\)\)` + checked)
}

// generate returns the Go files of the templates of a directory, by their paths.
func generate(dir string) (map[string][]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.templ"))
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, name := range names {
		tree, err := parser.Parse(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var b bytes.Buffer
		if _, err := generator.Generate(tree, &b, generator.WithFileName("internal/view/ui/"+filepath.Base(name))); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := format.Source(b.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range changes {
			text = c.re.ReplaceAll(text, []byte(c.to))
		}
		text = verbatim.ReplaceAll(text, []byte("${1}writeValue("))
		if text, err = format.Source(text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[strings.TrimSuffix(name, ".templ")+"_templ.go"] = text
	}
	return out, nil
}
