package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/cmd/app"
)

// inQuotes is a command line of brine in the text of a message or of help.
var inQuotes = regexp.MustCompile("['`](brine [^'`]+)['`]")

// faultOf says what is wrong with a command line that a message names; "" is nothing.
func faultOf(line string) string {
	words := strings.Fields(line)[1:]
	if slices.Contains(app.SaltPrograms[:], words[0]) {
		return "" // it has the flags of that program
	}
	c := Commands()
	for _, w := range words {
		name, isFlag := strings.CutPrefix(w, "--")
		name, _, _ = strings.Cut(name, "=")
		switch {
		case isFlag && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil:
			return "no flag " + w + " of " + c.CommandPath()
		case isFlag || !c.HasSubCommands():
		default:
			sub, _, err := c.Find([]string{w})
			if err != nil || sub == c {
				return "no command " + w + " of " + c.CommandPath()
			}
			c = sub
		}
	}
	return ""
}

// TestHints holds the command lines that messages and help name to the commands.
func TestHints(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			lit, ok := node.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, m := range inQuotes.FindAllStringSubmatch(text, -1) {
				n++
				if fault := faultOf(m[1]); fault != "" {
					t.Errorf("%s: %q: %s", files.Position(lit.Pos()), m[1], fault)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Errorf("%d command lines found: does the test still see them?", n)
	}
	for _, line := range []string{"brine submit", "brine orchestrate x --quue NAME", "brine agent bild"} {
		if faultOf(line) == "" {
			t.Errorf("faultOf(%q) finds nothing", line)
		}
	}
}
