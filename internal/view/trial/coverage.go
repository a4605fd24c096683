package trial

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// notStates are the directories of a formula whose SLS files are not its states.
var notStates = []string{"pillar", "test", casefile.Dir, "docs"}

// Untested returns the SLS files of the tree that no result compiled. Only the results of
// all cases tell that.
func (w *World) Untested(results []*Result) []string {
	seen := map[string]bool{}
	for _, r := range results {
		for _, s := range r.SLS {
			seen[s] = true
		}
	}
	var out []string
	l := w.Opts.Map("file_roots").List("base")
	for i := range l.Len() {
		root := value.Str(l.Items[i])
		w.walk(root, "", func(name string) {
			if !seen[name] && !slices.Contains(out, name) {
				out = append(out, name)
			}
		})
	}
	slices.Sort(out)
	return out
}

// maxDepth bounds how deep SLS files are looked for.
const maxDepth = 20

// walk calls found with the names of the SLS files below a root, top files left out.
func (w *World) walk(root, dir string, found func(string)) {
	names, err := w.Host.ReadDir(filepath.Join(root, dir))
	if err != nil || strings.Count(dir, "/") > maxDepth {
		return // what cannot be read cannot be compiled either
	}
	for _, n := range names {
		rel := path.Join(dir, n)
		base, isSLS := strings.CutSuffix(rel, ".sls")
		switch {
		case strings.HasPrefix(n, ".") || dir == "" && (strings.HasPrefix(n, "_") || slices.Contains(notStates, n) || n == "top.sls"):
		case isSLS:
			found(strings.ReplaceAll(strings.TrimSuffix(base, "/init"), "/", "."))
		default:
			w.walk(root, rel, found)
		}
	}
}
