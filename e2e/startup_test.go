package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// roomAtStart is what a package may allocate before main, in bytes: room for a table that
// several commands use.
const roomAtStart = 24 << 10

// TestStartup has no package prepare before main what only some commands need: each start
// of brine on each host would pay for it.
func TestStartup(t *testing.T) {
	t.Parallel()
	exe := brineProgram()
	c := exec.Command(exe, "version")
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (brine/\S+) @.* clock, (\d+) bytes, \d+ allocs$`)
	seen := line.FindAllStringSubmatch(string(out), -1)
	if len(seen) < 20 {
		t.Fatalf("%d packages of brine were started, which is too few to be all:\n%s", len(seen), out)
	}
	for _, m := range seen {
		if strings.HasPrefix(m[1], "brine/e2e") || strings.HasPrefix(m[1], "brine/internal/testkit") {
			continue
		}
		if bytes, err := strconv.Atoi(m[2]); err != nil || bytes > roomAtStart {
			t.Errorf("%s allocates %s bytes before main; a package may %d", m[1], m[2], roomAtStart)
		}
	}
}

// TestExpressionsWait has regular expressions compiled when they are first used: one
// costs 5 to 50 KiB.
func TestExpressionsWait(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"modules", "states", "runner", "internal", "sshexec", "cmd", "outputter"} {
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			program := strings.HasPrefix(p, "internal/testkit") || p == "internal/view/ui/generate" || strings.HasPrefix(p, "cmd/licenses")
			if d.IsDir() && program {
				return fs.SkipDir
			}
			if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, p, nil, 0)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				if spec.Path.Value == `"runtime/metrics"` {
					t.Errorf("%s: runtime/metrics makes its tables at each start, which takes longer than any package of brine: runtime.ReadMemStats has what it counts", set.Position(spec.Pos()))
				}
			}
			for _, decl := range file.Decls {
				if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
					ast.Inspect(g, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
							t.Errorf("%s: a regular expression that is compiled at each start: wrap it in sync.OnceValue", set.Position(s.Pos()))
						}
						_, later := n.(*ast.FuncLit)
						return !later
					})
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
