package options

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the directory of the module.
const root = "../../../.."

// notReaders have the names of options and read none.
var notReaders = []string{
	"internal/core/config/defaults.go", "internal/core/config/options/rows.go", "internal/view/lint/systems.go", "bench", ".ci", "internal/testkit",
}

// readers returns the strings that the program's files have as arguments of calls,
// in lists and in comparisons, by file: the names of options that they may read.
// The one in a row of a function's arguments (Name:, Doc:) is none.
var readers = sync.OnceValues(func() (map[string][]string, error) {
	out := map[string][]string{}
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || slices.Contains(notReaders, rel)):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || slices.Contains(notReaders, rel):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok && (id.Name == "Name" || id.Name == "Doc" || id.Name == "Src") {
					return false
				}
			}
			if spec, ok := n.(*ast.ValueSpec); ok && slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return id.Name == "targetOpts" }) {
				return false // what is handed on, not what is read
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				s, _ := strconv.Unquote(lit.Value)
				if files := out[s]; s != "" && !slices.Contains(files, rel) {
					out[s] = append(files, rel)
				}
			}
			return true
		})
		return nil
	})
	return out, err
})

// asked are options that are read by a name which is put together, or that are
// common words, and the file that reads each.
var asked = map[string]string{
	"color": "cmd/output/output.go", "environment": "internal/core/config/assemble.go", "id": "internal/core/config/assemble.go", "include": "internal/core/config/config.go",
	"test": "runner/fn/state/session.go", "timeout": "cmd/assembly/fleet.go", "features": "modules/x509/x509.go", "return": "cmd/session/returners.go",
	"roster": "internal/core/roster/roster.go", "output": "cmd/output/output.go", "peer": "cmd/assembly/fleet.go", "providers": "internal/core/fun/provider.go", "grains": "internal/core/grains/grains.go",
	"renderer": "internal/core/render/render.go", "sock_dir": "internal/core/config/assemble.go",
}

// prefixed are the beginnings of options whose ends are names in a list of their own.
var prefixed = map[string]string{
	"git_pillar_": "internal/core/gitfs/options.go", "gitfs_": "internal/core/gitfs/options.go", "hgfs_": "internal/core/gitfs/options.go", "svnfs_": "internal/core/gitfs/options.go", "s3fs_": "internal/core/gitfs/buckets.go", "ssh_": "internal/core/roster/roster.go", "stateconf_": "internal/core/render/stateconf.go", "docker.": "modules/docker/docker.go",
}

// reads returns the file that reads an option; "" where none does.
func reads(t *testing.T, name string) string {
	t.Helper()
	found, err := readers()
	if err != nil {
		t.Fatal(err)
	}
	if file, ok := asked[name]; ok {
		if !slices.Contains(found[name], file) {
			return ""
		}
		return file
	}
	if files := found[name]; len(files) > 0 {
		return files[0]
	}
	for prefix, file := range prefixed {
		end, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), strconv.Quote(end)) {
			return file
		}
	}
	return ""
}

// TestRead: an option that is honoured is read by code.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, o := range All() {
		if o.Verdict == Honoured && reads(t, o.Name) == "" {
			t.Errorf("%s is honoured, and no code reads it", o.Name)
		}
	}
	for _, name := range ownOptions {
		if reads(t, name) == "" {
			t.Errorf("no code reads %s", name)
		}
	}
	common := 0
	for _, o := range All() {
		if o.Verdict == Honoured && !strings.ContainsAny(o.Name, "_.") && asked[o.Name] == "" {
			common++
		}
	}
	if common > 8 {
		t.Errorf("%d honoured options have names of one word, and the test does not say which file reads them", common)
	}
	if got := reads(t, "no_such_option"); got != "" {
		t.Errorf("%s reads an option that there is not", got)
	}
}

// TestDefaults: an option that has a default is read by code, or the table says that
// there is nothing to do with it, so that templates alone see the default.
func TestDefaults(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/core/config/defaults.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !slices.Contains([]string{"common", "minionDefaults", "masterDefaults"}, fn.Name.Name) {
			continue
		}
		ast.Inspect(fn, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if id, isID := callee(call, ok); !isID || id != "dict" {
				return true
			}
			for i := 0; i < len(call.Args); i += 2 {
				lit, ok := call.Args[i].(*ast.BasicLit)
				if !ok {
					t.Fatalf("argument %d of dict is not a name", i)
				}
				name, _ := strconv.Unquote(lit.Value)
				if name == "__role" {
					continue
				}
				n++
				o := Of(name)
				if reads(t, name) == "" && (o.Verdict == Honoured || o.Verdict == Own || o.Verdict == Unknown) {
					t.Errorf("%s has a default, no code reads it, and the table has it as %s", name, o.Verdict)
				}
			}
			return false
		})
	}
	if n < 250 {
		t.Errorf("%d defaults were found", n)
	}
}

func callee(c *ast.CallExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	id, ok := c.Fun.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// TestTable: names are in order, each once, and each row that needs a reason has one.
func TestTable(t *testing.T) {
	t.Parallel()
	before := ""
	for _, o := range All() {
		if o.Name <= before {
			t.Errorf("%s stands behind %s", o.Name, before)
		}
		before = o.Name
		if o.Verdict != Honoured && o.Note == "" {
			t.Errorf("%s is %s, and there is no reason", o.Name, o.Verdict)
		}
		if !slices.Contains(Verdicts()[:4], o.Verdict) || o.In == 0 {
			t.Errorf("%s: %q in %s", o.Name, o.Verdict, o.In)
		}
		if o.Cosmetic && (o.Verdict != Unsupported || o.Restrictive) {
			t.Errorf("%s is cosmetic, and %s", o.Name, o.Verdict)
		}
		if got, ok := Find(o.Name); !ok || got.Name != o.Name {
			t.Errorf("Find(%s) = %v, %v", o.Name, got, ok)
		}
		if slices.Contains(ownOptions[:], o.Name) {
			t.Errorf("%s is Salt's", o.Name)
		}
	}
	if !slices.IsSorted(ownOptions[:]) {
		t.Error("brine's own options are not in order")
	}
}

// TestRestrictive: options that restrict are honoured, or a run that has them set is
// refused (which package cmd tests), or nothing is there that they could restrict.
func TestRestrictive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"cmd_blacklist_glob", "cmd_whitelist_glob", "disable_modules", "whitelist_modules", "disable_returners", "disable_grains", "disable_states",
		"disable_runners", "publisher_acl", "publisher_acl_blacklist", "external_auth", "sudo_acl", "renderer_blacklist", "renderer_whitelist",
		"extmod_blacklist", "extmod_whitelist", "grains_blacklist", "disabled_requisites", "pillar_safe_render_error", "file_recv", "peer", "peer_run",
		"mine_get", "on_demand_ext_pillar", "lock_saltenv", "sudo_user",
	} {
		if o, ok := Find(name); !ok || !o.Restrictive {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Verdict{
		"test": Honoured, "worker_threads": Meaningless, "mask_secrets": Own, "mysql.host": Own, "my_own_key": Unknown,
	} {
		if got := Of(name); got.Verdict != want || got.Name != name {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}

// TestNames: every option of Salt has a row that says which of its files it belongs
// to, and no other name has one but those that Salt reads without naming them.
func TestNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	salt := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		name, where := words[0], words[1:]
		salt[name] = true
		o, ok := Find(name)
		if !ok {
			t.Errorf("%s has no row", name)
			continue
		}
		for file, has := range map[File][]string{master: {"conf-master", "doc-master"}, minion: {"conf-minion", "doc-minion"}} {
			if slices.ContainsFunc(has, func(w string) bool { return slices.Contains(where, w) }) && o.In&file == 0 {
				t.Errorf("%s is in %s, and Salt has it in %s", name, o.In, file)
			}
		}
	}
	if len(salt) < 500 {
		t.Errorf("%d names were recorded", len(salt))
	}
	hidden := []string{"disable_grains", "disable_pillars", "disable_renders", "disable_runners", "disable_states", "disable_wheels", "use_deprecated", "use_superseded"}
	for _, o := range All() {
		if !salt[o.Name] && !slices.Contains(hidden, o.Name) {
			t.Errorf("Salt has no option %s", o.Name)
		}
	}
}
