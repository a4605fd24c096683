package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// resolvers are the functions that tell where a path leads, other than by opening
// it. What is done by their result afterwards has left the link out of sight of
// internal/core/host, so each use is listed here with what it is for: "directory function".
var resolvers = map[string]string{
	"modules/alternatives current":      "shows the name",
	"modules/archive Extract":           "the name in errors; the directory is open",
	"modules/archive inside":            "says why the open directory will refuse",
	"modules/cmd mountAll":              "refuses any link",
	"modules/cmd processesIn":           "reads /proc",
	"modules/cp push":                   "what is read, or removed, is walked to again",
	"modules/cp pushDir":                "what is read is walked to again",
	"modules/docker packFile":           "copies the link itself",
	"modules/file symlink":              "compares the text of a link",
	"modules/file RealPath":             "for those below",
	"modules/file Line":                 "a name in an error",
	"modules/file editable":             "a name in an error",
	"modules/file Replace":              "copies the text of a link to one beside it",
	"modules/file copyTree":             "copies the link itself",
	"modules/file readlink":             "shows the name",
	"modules/file stats":                "shows the name",
	"modules/file openFiles":            "reads /proc",
	"modules/linuxlvm pvdisplay":        "shows the name",
	"modules/mount mountFromPath":       "compares with the names of mounts",
	"modules/mount deviceFromPath":      "compares with the names of mounts",
	"modules/pkg Holder":                "reads /proc",
	"modules/pkg/yumpkg program":        "compares the name of a program of the system",
	"modules/ps link":                   "reads /proc",
	"modules/runit enabled":             "compares with the name of a service",
	"modules/runit aliases":             "compares with the name of a service",
	"modules/runit remove":              "asks whether it is a link",
	"modules/ssh trusted":               "refuses before the layer does, with a reason",
	"modules/systemd linked":            "compares with the name of a unit",
	"modules/systemd masked":            "compares with /dev/null",
	"modules/timezone linked":           "shows the name of the zone",
	"modules/timezone link":             "compares the text of a link",
	"states/file symlink":               "compares the text of a link",
	"states/file replaces":              "compares the text of a link",
	"states/file wouldLink":             "compares the text of a link",
	"states/lvm extend":                 "compares the names of devices",
	"states/mount swap":                 "compares with the names of swaps",
	"states/mount mounted":              "compares with the names of mounts",
	"states/mount target":               "compares with the names of mounts",
	"states/mount check":                "compares with the names of mounts",
	"internal/core/beacon content":      "compares the text of a link",
	"internal/core/event Group":         "reads back a link of its own, in a directory of its own",
	"internal/core/fileserver stat":     "finds out whether a file is below the roots; it is walked to again",
	"internal/core/fileserver inside":   "the same",
	"internal/core/fileserver addReal":  "the same",
	"internal/core/fileserver tree":     "the same",
	"internal/core/fileserver link":     "the same",
	"internal/core/formula hashTree":    "hashes the text of a link",
	"internal/core/grains disks":        "reads /sys",
	"internal/core/undo real":           "names what is kept; it is changed by the name that was given",
	"internal/core/undo led":            "the same",
	"internal/fleet/machine add":        "copies the text of a link",
	"internal/fleet/machine sumOfFiles": "hashes the text of a link",
	"internal/fleet/jobs beside":        "reads /proc",
	"internal/view/lint EvalSymlinks":   "hands on",
	"internal/view/lint ReadTarget":     "hands on",
	"internal/view/lint Readlink":       "hands on",
	"internal/view/lsp newTree":         "compares names of directories",
	"internal/fleet/pillar dir":         "finds out whether a directory is below the root; it is walked to again",
	"runner/exec leads":                 "names where a path leads in a plan; it is written to by the name that was given",
	"runner/exec leftPath":              "shows the text of a link in a plan",
	"cmd/assembly sharedAgents":         "the directory of brine itself",
	"modules/file Backup":               "names the copy in the cache",
	"modules/file copyBeside":           "names a copy beside the file, which is walked to again",
	"modules/file manageNew":            "finds the directory that has to be made, which is walked to again",
	"modules/cmd runChroot":             "checked by CheckAlone",
	"modules/textfile ByProgram":        "names files beside the file, which are walked to again",
	"internal/view/lint Target":         "hands on",
	"internal/core/undo describe":       "keeps the text of a link",
}

// direct are functions of the standard library that open or change files without
// internal/core/host. Rooms of functions do not call them.
var direct = map[string][]string{
	"os": {
		"Open", "OpenFile", "OpenRoot", "OpenInRoot", "Create", "CreateTemp", "ReadFile", "WriteFile", "ReadDir", "DirFS", "CopyFS", "Mkdir", "MkdirAll", "MkdirTemp",
		"Remove", "RemoveAll", "Rename", "Chmod", "Chown", "Lchown", "Chtimes", "Symlink", "Link", "Truncate", "Readlink", "Chdir", "StartProcess",
	},
	"filepath": {"EvalSymlinks", "Walk", "WalkDir", "Glob"},
	"ioutil":   {"ReadFile", "WriteFile", "ReadDir", "TempDir", "TempFile"},
	"syscall":  {"Open", "Creat", "Unlink", "Rename", "Chmod", "Chown", "Symlink", "Link", "Mkdir", "Rmdir", "Readlink"},
	"unix":     {"Open", "Openat", "Openat2", "Creat", "Unlink", "Rename", "Chmod", "Chown", "Symlink", "Link", "Mkdir", "Rmdir", "Readlink"},
}

// TestNothingResolvesFirst: outside of internal/core/host a path is opened as it was
// given. To resolve its links and to use the result afterwards would show the layer
// a path without links, whoever made them.
func TestNothingResolvesFirst(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, top := range []string{"modules", "states", "runner", "internal", "sshexec", "cmd"} {
		rooms := top == "modules" || top == "states" || top == "runner"
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(p)
			if d.IsDir() && (name == filepath.Join("internal", "core", "host") || name == filepath.Join("internal", "testkit")) {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, text, 0)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				where := filepath.Dir(name)
				if f, ok := decl.(*ast.FuncDecl); ok {
					where += " " + f.Name.Name
				}
				ast.Inspect(decl, func(n ast.Node) bool {
					s, ok := n.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					pkg, _ := s.X.(*ast.Ident)
					switch {
					case pkg != nil && rooms && slices.Contains(direct[pkg.Name], s.Sel.Name):
						t.Errorf("%s calls %s.%s: files are those of the Host", set.Position(s.Pos()), pkg.Name, s.Sel.Name)
					case !slices.Contains([]string{"EvalSymlinks", "ReadTarget", "Target", "RealPath", "Readlink"}, s.Sel.Name):
					case s.Sel.Name == "Target" && !isCall(decl, s), strings.HasPrefix(name, "sshexec"): // a field; files of the target
					case resolvers[where] == "":
						t.Errorf("%s, in %s, calls %s: hand the path as it was given to what opens it, which follows links by the rules of internal/core/host/reach.go; where the result is only compared or shown, say so in this test", set.Position(s.Pos()), where, s.Sel.Name)
					}
					if slices.Contains([]string{"EvalSymlinks", "ReadTarget", "Target", "RealPath", "Readlink"}, s.Sel.Name) {
						seen[where] = true
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for where := range resolvers {
		if !seen[where] {
			t.Errorf("%q is in the list and it resolves nothing", where)
		}
	}
}

// isCall reports whether a selector is called in a declaration.
func isCall(decl ast.Node, s *ast.SelectorExpr) bool {
	found := false
	ast.Inspect(decl, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && c.Fun == s {
			found = true
		}
		return !found
	})
	return found
}
