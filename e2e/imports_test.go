package e2e

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brine/internal/core/version"
)

// graph is the block of docs/imports.md that says which room imports
// which, from the top down.
type graph struct {
	order  []string
	rows   map[string][]string
	floors map[string]string // of each room
}

// readGraph reads the block under a heading: "# floor: text", then the rows of its
// rooms, "room → room room", with further lines that start with a space.
// "floor/{a b}" stands for floor/a and floor/b. The rooms of internal are written
// without that prefix.
func readGraph(t *testing.T, heading string) graph {
	t.Helper()
	const page = "docs/imports.md"
	_, text, _ := strings.Cut("\n"+read(t, page), "\n"+heading+"\n")
	_, text, _ = strings.Cut(text, "\n```\n")
	text, _, ok := strings.Cut(text, "\n```\n")
	if !ok {
		t.Fatalf("%s has no block under %q", page, heading)
	}
	g := graph{rows: map[string][]string{}, floors: map[string]string{}}
	var floor, room, folder string
	for line := range strings.Lines(text) {
		list := line
		if name, ok := strings.CutPrefix(line, "# "); ok {
			floor, _, _ = strings.Cut(name, ":")
			continue
		}
		if name, after, ok := strings.Cut(line, "→"); ok {
			room, list = strings.TrimSpace(name), after
			if g.rows[room] != nil {
				t.Errorf("%s: the room %s has two rows", page, room)
			}
			g.order, g.rows[room], g.floors[room] = append(g.order, room), []string{}, floor
		}
		for to := range strings.FieldsSeq(list) {
			if before, first, ok := strings.Cut(to, "{"); ok {
				folder, to = before, first
			}
			name, last := strings.CutSuffix(to, "}")
			g.rows[room] = append(g.rows[room], folder+name)
			if last {
				folder = ""
			}
		}
	}
	return g
}

// roomOf returns the room of a package, whose directory is dir: the longest row
// that fits.
func (g graph) roomOf(dir string) string {
	if dir == "." {
		return "main"
	}
	for dir = strings.TrimPrefix(dir, "internal/"); dir != "."; dir = path.Dir(dir) {
		if g.rows[dir] != nil {
			return dir
		}
	}
	return ""
}

// folderOf returns the directory of internal that a room is in: its floor. It is ""
// for rooms elsewhere, and for testkit, which is on no floor of its own.
func (g graph) folderOf(room string) string {
	folder, _, _ := strings.Cut(room, "/")
	if info, err := os.Stat(path.Join("internal", folder)); err != nil || !info.IsDir() || "internal/"+folder == testkitDir {
		return ""
	}
	return folder
}

// testkitDir has helpers of tests.
const testkitDir = "internal/testkit"

// A source is a Go file that is no test.
type source struct {
	path, dir string
	imports   []string
}

// sources reads the imports of all files, whatever their build constraints.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(file), dir: filepath.ToSlash(filepath.Dir(file))}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestImports compares the imports with the graph of docs/imports.md: they
// are the same, and each room imports only rooms that are listed below it.
func TestImports(t *testing.T) {
	t.Parallel()
	g := readGraph(t, "# Imports")
	used := map[string]map[string]bool{}
	for _, s := range sources(t) {
		room := g.roomOf(s.dir)
		if room == "" {
			t.Errorf("%s: its room has no row in docs/imports.md", s.path)
			continue
		}
		if used[room] == nil {
			used[room] = map[string]bool{}
		}
		for _, imp := range s.imports {
			dir, ours := strings.CutPrefix(imp, version.Module+"/")
			if !ours {
				continue
			}
			to := g.roomOf(dir)
			if to == room {
				continue
			}
			if !used[room][to] && !slices.Contains(g.rows[room], to) {
				t.Errorf("%s imports %s: the graph of docs/imports.md has no arrow from %s to %s", s.path, imp, room, to)
			}
			used[room][to] = true
		}
	}
	for i, room := range g.order {
		if floor := g.folderOf(room); floor != "" && floor != g.floors[room] {
			t.Errorf("docs/imports.md has the room internal/%s on the floor %s", room, g.floors[room])
		}
		if used[room] == nil {
			t.Errorf("docs/imports.md has a row for %s, which has no code", room)
		}
		for _, to := range g.rows[room] {
			switch at := slices.Index(g.order, to); {
			case at < 0:
				t.Errorf("docs/imports.md: %s → %s, which has no row", room, to)
			case at <= i:
				t.Errorf("docs/imports.md: %s → %s, which is not below it", room, to)
			case !used[room][to]:
				t.Errorf("docs/imports.md: %s → %s, which nothing uses", room, to)
			}
		}
	}
	if t.Failed() {
		for _, room := range g.order {
			t.Logf("imported: %s → %s", room, strings.Join(slices.Sorted(maps.Keys(used[room])), " "))
		}
	}
}

// TestImportsInside compares the imports between the rooms of modules and states with
// their rows in docs/imports.md. A room imports the small rooms that all share, a
// state the module of its name, and else what its row names.
func TestImportsInside(t *testing.T) {
	t.Parallel()
	const page = "docs/imports.md"
	g := readGraph(t, "## Inside modules and states")
	used := map[string]map[string]bool{"modules": {}, "states": {}}
	for _, room := range g.order {
		used[room] = map[string]bool{}
	}
	for _, s := range sources(t) {
		from := insideOf(s.dir)
		if from == "" {
			continue
		}
		for _, imp := range s.imports {
			dir, _ := strings.CutPrefix(imp, version.Module+"/")
			to := insideOf(dir)
			if to == "" || to == from {
				continue
			}
			house, name := path.Split(to)
			house = path.Clean(house)
			shared := slices.Index(g.rows[house], name)
			switch {
			case shared >= 0 && (path.Dir(from) != house || slices.Index(g.rows[house], path.Base(from)) < shared):
				used[house][name] = true
			case house == "modules" && from == "states/"+name:
			case house == "modules" && slices.Contains(g.rows[from], name):
				used[from][name] = true
			default:
				t.Errorf("%s imports %s: %s has no arrow from %s to %s", s.path, imp, page, from, to)
			}
		}
	}
	for i, room := range g.order {
		for _, name := range g.rows[room] {
			if !used[room][name] {
				t.Errorf("%s: %s → %s, which nothing uses or needs no row", page, room, name)
			}
			if at := slices.Index(g.order, "modules/"+name); at >= 0 && at <= i && room != "modules" {
				t.Errorf("%s: %s → %s, which is not below it", page, room, name)
			}
		}
	}
}

// insideOf returns the room of modules or states that a directory is in, such as
// modules/pkg; "" of one elsewhere.
func insideOf(dir string) string {
	words := strings.SplitN(dir, "/", 3)
	if len(words) < 2 || words[0] != "modules" && words[0] != "states" {
		return ""
	}
	return words[0] + "/" + words[1]
}

// TestNoCycles: between the directories of the top level and those of internal,
// whatever finer rows the graph has, no way leads back.
func TestNoCycles(t *testing.T) {
	t.Parallel()
	roomOf := func(dir string) string {
		words := strings.SplitN(dir, "/", 3)
		if words[0] == "internal" {
			return path.Join(words[:min(2, len(words))]...)
		}
		return words[0]
	}
	arrows := map[string]map[string]bool{}
	for _, s := range sources(t) {
		from := roomOf(s.dir)
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, imp := range s.imports {
			if dir, ours := strings.CutPrefix(imp, version.Module+"/"); ours && roomOf(dir) != from {
				arrows[from][roomOf(dir)] = true
			}
		}
	}
	done := map[string]bool{}
	var visit func(way []string, room string)
	visit = func(way []string, room string) {
		if i := slices.Index(way, room); i >= 0 {
			t.Errorf("imports lead back: %s → %s", strings.Join(way[i:], " → "), room)
			return
		}
		if done[room] {
			return
		}
		for _, to := range slices.Sorted(maps.Keys(arrows[room])) {
			visit(append(slices.Clip(way), room), to)
		}
		done[room] = true
	}
	for _, room := range slices.Sorted(maps.Keys(arrows)) {
		visit(nil, room)
	}
}

// TestPlaces: what is for tests is imported by tests alone, and only the rooms
// that stand for the machine run programs and look up accounts themselves.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const kit = testkitDir
	inside := func(dir string, rooms ...string) bool {
		return slices.ContainsFunc(rooms, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
	}
	for _, s := range sources(t) {
		for _, imp := range s.imports {
			if inside(s.dir, "bench", "cmd/licenses") {
				continue // measurements, and a generator that runs go
			}
			if inside(imp, version.Module+"/"+kit, "testing") && !inside(s.dir, kit) {
				t.Errorf("%s imports %s, which is for tests", s.path, imp)
			}
			if (imp == "os/exec" || imp == "os/user") && !inside(s.dir, "internal/core/host", "sshexec", kit) {
				t.Errorf("%s imports %s: rooms touch the machine through internal/core/host", s.path, imp)
			}
		}
	}
	if entries, err := os.ReadDir(kit); err != nil || len(entries) == 0 {
		t.Errorf("%s: %d packages, %v", kit, len(entries), err)
	}
}

// TestWhereToLook: the files that docs/architecture.md sends newcomers to exist, and have the
// names that it gives with them.
func TestWhereToLook(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "docs/architecture.md"), "### Where to look")
	table, _, _ = strings.Cut(table, "\n## ")
	n := 0
	for _, m := range regexp.MustCompile("(?:`(\\w+)` in )?`([\\w/.]+/[\\w.]+)`").FindAllStringSubmatch(table, -1) {
		n++
		if text := read(t, m[2]); !strings.Contains(text, m[1]) {
			t.Errorf("%s has no %s", m[2], m[1])
		}
	}
	if n < 15 {
		t.Errorf("%d files", n)
	}
}

// Every nolint is for a linter that .golangci.yml enables, and says why.
func TestImportsNolint(t *testing.T) {
	enabled := map[string]bool{}
	_, list, _ := strings.Cut(read(t, ".golangci.yml"), "enable:")
	list, _, _ = strings.Cut(list, "settings:")
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "-" {
			enabled[f[1]] = true
		}
	}
	if len(enabled) == 0 {
		t.Fatal("no linters")
	}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		for line := range strings.Lines(read(t, name)) {
			_, rest, ok := strings.Cut(line, "//"+"nolint:")
			if !ok {
				continue
			}
			linters, reason, _ := strings.Cut(rest, " // ")
			for l := range strings.SplitSeq(linters, ",") {
				if !enabled[l] || strings.TrimSpace(reason) == "" {
					t.Errorf("%s: nolint for %q, with the reason %q", name, l, reason)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
