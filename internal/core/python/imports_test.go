package python_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"brine/internal/py/value"
)

// What the package salt of brine offers of what public trees use of Salt's, in
// percent of what was counted.
const (
	importsOffered = 95
	namesOffered   = 90
)

// finder is a module that tells which names there are.
const finder = `
import importlib

def find(module, names):
    try:
        found = importlib.import_module(module)
        for name in names:
            try:
                found = getattr(found, name)
            except AttributeError:
                found = importlib.import_module(found.__name__ + '.' + name)
    except (ImportError, AttributeError) as exc:
        return '%s: %s' % (type(exc).__name__, exc)

def imports(rows):
    return [find(module, [] if name == '-' else [name]) for module, name in rows]

def names(rows):
    out = []
    for (name,) in rows:
        parts = name.split('.')
        for n in range(len(parts), 0, -1):
            try:
                importlib.import_module('.'.join(parts[:n]))
            except ImportError:
                continue
            out.append(find('.'.join(parts[:n]), parts[n:]))
            break
    return out
`

// TestImports measures how much of what public trees import of Salt, and of what
// they use by its whole name, is there.
func TestImports(t *testing.T) {
	t.Parallel()
	env := tree(t, false, map[string]string{"salt/_modules/finder.py": finder})
	for _, tt := range []struct {
		file, fun string
		keys      int
		least     float64
	}{{"imports", "finder.imports", 2, importsOffered}, {"names", "finder.names", 1, namesOffered}} {
		rows, counts := readCounts(t, "testdata/"+tt.file+".tsv", tt.keys)
		got, err := call(t.Context(), env, tt.fun, rows)
		if err != nil {
			t.Fatal(err)
		}
		var all, there int
		for i, why := range got.(*value.List).Items {
			all += counts[i]
			if why == nil {
				there += counts[i]
				continue
			}
			t.Logf("%s %d times: %s", value.Str(rows.Items[i]), counts[i], value.Str(why))
		}
		share := 100 * float64(there) / float64(all)
		t.Logf("%s: %d of %d, %.1f %%", tt.file, there, all, share)
		if share < tt.least {
			t.Errorf("%s: %.1f %% are there, less than %.0f %%", tt.file, share, tt.least)
		}
	}
}

// readCounts reads rows whose first columns are a key and whose next one is a count.
func readCounts(t *testing.T, path string, keys int) (*value.List, []int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, counts := &value.List{}, []int(nil)
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		cells, key := strings.Split(s.Text(), "\t"), &value.List{}
		for _, cell := range cells[:keys] {
			key.Append(cell)
		}
		n, err := strconv.Atoi(cells[keys])
		if err != nil {
			t.Fatal(err)
		}
		rows.Append(key)
		counts = append(counts, n)
	}
	return rows, counts
}

// TestOldPython checks that what brine runs needs no newer Python than 3.6.
func TestOldPython(t *testing.T) {
	t.Parallel()
	env := tree(t, false, map[string]string{"salt/_modules/old.py": `
import ast, os, sys

def check(folders):
    if sys.version_info < (3, 8):
        return [0, []]  # this Python is old itself, or cannot read as an older one
    count, faults = 0, []
    for folder in folders:
        for place, _, files in os.walk(folder):
            for name in files:
                if name.endswith('.py'):
                    path = os.path.join(place, name)
                    count += 1
                    with open(path, encoding='utf-8') as handle:
                        tree = ast.parse(handle.read(), path, feature_version=(3, 6))
                    for node in ast.walk(tree):
                        if isinstance(node, getattr(ast, 'NamedExpr', ())) or getattr(node, 'posonlyargs', None) or isinstance(node, ast.ImportFrom) and any(alias.name == 'annotations' for alias in node.names):
                            faults.append('%s:%d' % (path, node.lineno))
                        # What the library has only later.
                        if isinstance(node, ast.keyword) and node.arg in ('capture_output', 'dirs_exist_ok', 'missing_ok'):
                            faults.append('%s: %s' % (path, node.arg))
                        if isinstance(node, ast.Attribute) and node.attr in ('fromisoformat', 'removeprefix', 'removesuffix', 'nullcontext', 'get_running_loop'):
                            faults.append('%s:%d: %s' % (path, node.lineno, node.attr))
    return [count, faults]
`})
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := call(t.Context(), env, "old.check", value.NewList(wd+"/runtime", wd+"/outside"))
	if err != nil {
		t.Fatal(err)
	}
	items := got.(*value.List).Items
	if n, _ := value.AsInt(items[0]); n != 0 && n < 60 {
		t.Errorf("only %d files were read", n)
	}
	for _, fault := range items[1].(*value.List).Items {
		t.Errorf("needs a newer Python than 3.6: %s", value.Str(fault))
	}
}
