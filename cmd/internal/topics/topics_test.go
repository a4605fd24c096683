package topics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/cmd/internal/columns"
	"brine/cmd/internal/topics"
)

// notForPeople are variables in the code that no user sets.
var notForPeople = map[string]string{
	"BRINE_GIT_USER":     "brine sets it for the helper that git asks",
	"BRINE_GIT_PASSWORD": "brine sets it for the helper that git asks",
	"SHLVL":              "of the shell; the relay of an agent looks whether there is one",
	"GOGC":               "of Go's runtime",
	"GOMEMLIMIT":         "of Go's runtime",
	"SHELL":              "the value of a grain",
	"SOURCE_DATE_EPOCH":  "of builds: the date of manual pages",
}

var (
	ours     = regexp.MustCompile(`\bBRINE_[A-Z][A-Z_]*\b`)
	variable = regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`)
)

// readByCode returns the variables that the code reads or names, and where.
func readByCode(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	set := token.NewFileSet()
	for _, dir := range []string{"cmd", "internal", "modules", "states", "runner", "sshexec", "outputter"} {
		err := filepath.WalkDir(filepath.Join("../../..", dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testkit" || d.Name() == "testdata" || d.Name() == "topics"):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					for _, name := range ours.FindAllString(n.Value, -1) {
						found[name] = set.Position(n.Pos()).String()
					}
				case *ast.CallExpr:
					if name := variableOf(n); name != "" {
						found[name] = set.Position(n.Pos()).String()
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// variableOf returns the variable that a call reads: os.Getenv("X"), a.Getenv("X"),
// getenv("X") and the like.
func variableOf(n *ast.CallExpr) string {
	name := ""
	switch f := n.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name != "Getenv" && name != "getenv" && name != "LookupEnv" || len(n.Args) != 1 {
		return ""
	}
	lit, ok := n.Args[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil || !variable.MatchString(text) {
		return ""
	}
	return text
}

func rows(t *testing.T, topic string) []string {
	t.Helper()
	at, ok := topics.Find(topic)
	if !ok {
		t.Fatalf("there is no topic %s", topic)
	}
	var names []string
	for _, p := range at.Parts {
		for _, r := range p.Rows {
			names = append(names, r.Name)
		}
	}
	return names
}

// TestEnvironment compares the documented variables with the code: each that brine reads
// is documented, and each of brine's own that is documented is read.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	names, code := rows(t, "environment"), readByCode(t)
	for name, place := range code {
		if !slices.Contains(names, name) && notForPeople[name] == "" {
			t.Errorf("%s: brine help environment does not have %s", place, name)
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "BRINE_") && code[name] == "" {
			t.Errorf("nothing reads %s", name)
		}
	}
	if len(code) < 20 {
		t.Errorf("only %d variables were found in the code", len(code))
	}
}

// TestStatuses compares the documented exit statuses with the constants of the commands.
func TestStatuses(t *testing.T) {
	t.Parallel()
	names := rows(t, "exit-status")
	constant := regexp.MustCompile(`(?m)^\t[eE]xit[A-Z]\w* += (\d+)`)
	n := 0
	for _, file := range []string{"app/exit.go", "ssh/report.go"} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(text), -1) {
			n++
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s: brine help exit-status does not have %s", file, strings.TrimSpace(m[0]))
			}
		}
	}
	if n < 9 {
		t.Errorf("only %d statuses were found", n)
	}
}

// TestText: a topic fits the terminal and has all its rows.
func TestText(t *testing.T) {
	t.Parallel()
	for _, at := range topics.All() {
		for _, width := range []int{40, 60, 80, 120} {
			text := at.Text(width)
			for line := range strings.Lines(text) {
				if line = strings.TrimRight(line, "\n"); columns.Len(line) > width && len(strings.Fields(line)) > 1 {
					t.Errorf("%s, %d columns: %q", at.Name, width, line)
				}
			}
		}
		wide, page, man := at.Text(100000), at.Markdown(), at.Roff()
		for _, name := range rows(t, at.Name) {
			if !strings.Contains(wide, "\n  "+name) || !strings.Contains(page, "| `"+name+"` |") || !strings.Contains(man, `\fB`+strings.ReplaceAll(name, "-", `\-`)) {
				t.Errorf("%s has no %s", at.Name, name)
			}
		}
	}
}
