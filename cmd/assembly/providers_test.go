package assembly

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// suites are the virtual modules whose providers have a contract in common, and the suite
// of internal/testkit/providertest that tries it.
var suites = map[string]string{"pkg": "providertest.Pkg{", "service": "providertest.Service{"}

// alike are rooms of modules that are not virtual and run a suite all the same. firewalld
// has zones in the place of chains, and functions of its own.
var alike = map[string]string{"states/group": "providertest.Group{", "states/iptables": "providertest.Firewall{", "states/nftables": "providertest.Firewall{"}

// TestProvidersRunTheirSuite: the room of each provider in the table runs the suite of its
// virtual module, once for each provider that it has.
func TestProvidersRunTheirSuite(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string]string{}
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = p
	}
	due := map[string]int{} // by room and suite
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		suite, room, exec := "", "", false
		for _, e := range lit.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, _ := kv.Key.(*ast.Ident)
			sel, _ := kv.Value.(*ast.SelectorExpr)
			switch {
			case key == nil:
			case key.Name == "Virtual":
				if l, ok := kv.Value.(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(l.Value)
					suite = suites[name]
				}
			case key.Name == "Kind" && sel != nil:
				exec = sel.Sel.Name == "Exec"
			case key.Name == "Load" && sel != nil:
				if id, ok := sel.X.(*ast.Ident); ok {
					room = imports[id.Name]
				}
			}
		}
		if suite != "" && exec {
			due[room+" "+suite]++
		}
		return true
	})
	for room, suite := range alike {
		due["brine/"+room+" "+suite]++
	}
	n := 0
	for key, want := range due {
		n += want
		room, suite, _ := strings.Cut(key, " ")
		files, err := filepath.Glob("../../" + strings.TrimPrefix(room, "brine/") + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got += strings.Count(string(text), suite)
		}
		if got < want {
			t.Errorf("%s has %d providers, and its tests %d times %s}", room, want, got, suite)
		}
	}
	if n < 10 {
		t.Errorf("%d providers were found in the table", n)
	}
}
