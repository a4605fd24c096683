package assembly

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestArgumentsAreRead: each field that declares an argument is read by the code of its
// room, or of a room that embeds the struct; one that is accepted and not read is blank.
// It goes by names, so that it takes a field for read where another of the same name is.
func TestArgumentsAreRead(t *testing.T) {
	t.Parallel()
	type declared struct{ field, at string }
	fields := map[string][]declared{}          // by room
	read := map[string]map[string]bool{}       // names that a room selects
	importedBy := map[string]map[string]bool{} // rooms by the room that they import
	rooms := 0
	for _, root := range []string{"../../modules", "../../states", "../../runner/fn", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			room := "brine/" + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")
			if read[room] == nil {
				read[room] = map[string]bool{}
				rooms++
			}
			for _, i := range f.Imports {
				of := strings.Trim(i.Path.Value, `"`)
				if importedBy[of] == nil {
					importedBy[of] = map[string]bool{}
				}
				importedBy[of][room] = true
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.SelectorExpr:
					read[room][x.Sel.Name] = true
				case *ast.Field:
					if x.Tag != nil && strings.Contains(x.Tag.Value, `arg:"`) {
						for _, name := range x.Names {
							if name.Name != "_" {
								fields[room] = append(fields[room], declared{name.Name, files.Position(name.Pos()).String()})
							}
						}
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
	n := 0
	for room, all := range fields {
		for _, d := range all {
			n++
			found := read[room][d.field]
			for other := range importedBy[room] {
				found = found || read[other][d.field]
			}
			if !found {
				t.Errorf("%s: nothing reads %s: name it _ if the argument is accepted without effect", d.at, d.field)
			}
		}
	}
	if rooms < 100 || n < 1000 {
		t.Errorf("%d rooms with %d arguments were looked at", rooms, n)
	}
}
