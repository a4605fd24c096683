package trial

import (
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// reads is a Host that notes which files are read, as a case is compiled.
type reads struct {
	host.Host
	mu    sync.Mutex
	files map[string]bool
}

func (r *reads) note(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[path] = true
}

// ReadFile notes a file that is read.
func (r *reads) ReadFile(path string) ([]byte, error) {
	r.note(path)
	return r.Host.ReadFile(path)
}

// Open notes a file that is read.
func (r *reads) Open(path string) (io.ReadCloser, error) {
	r.note(path)
	return r.Host.Open(path)
}

// sources notes the files and directories that states name by salt:// URLs, and those
// that their templates import.
func (r *reads) sources(v value.Value, roots []string) {
	switch v := v.(type) {
	case string:
		name, ok := strings.CutPrefix(v, "salt://")
		if name, _, _ = strings.Cut(name, "?"); ok {
			r.source(name, roots)
		}
	case *value.List:
		for i := range v.Len() {
			r.sources(v.Items[i], roots)
		}
	case *value.Map:
		for _, x := range v.All() {
			r.sources(x, roots)
		}
	}
}

// imported is what a template imports or includes under a literal name.
var imported = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:import|include|from|extends)\s+["']([^"']+)["']`)
})

// source notes a file of the tree.
func (r *reads) source(name string, roots []string) {
	for _, root := range roots {
		path := filepath.Join(root, name)
		if r.files[path] {
			return
		}
		r.note(path)
		text, err := r.Host.ReadFile(path)
		if err != nil {
			continue // it is in another root, or a directory
		}
		for _, m := range imported().FindAllStringSubmatch(string(text), -1) {
			r.source(strings.TrimPrefix(m[1], "salt://"), append([]string{filepath.Dir(path)}, roots...))
		}
		return
	}
}

// Uses reports whether a test of the job may come out otherwise after files changed. What
// did not compile may depend on anything.
func (r *Result) Uses(changed []string) bool {
	return !r.compiled || slices.ContainsFunc(changed, r.uses)
}

func (r *Result) uses(path string) bool {
	return isForAll(path) || slices.ContainsFunc(r.Files, func(f string) bool {
		return path == f || strings.HasPrefix(path, f+"/")
	})
}

// isForAll reports whether a file is used by each case: modules of the tree, and what
// configures it.
func isForAll(path string) bool {
	if base := filepath.Base(path); base == "minion" || base == "master" {
		return true
	}
	return slices.ContainsFunc(strings.Split(filepath.Dir(path), "/"), func(dir string) bool {
		return dir == "minion.d" || dir == "master.d" || len(dir) > 1 && dir[0] == '_' && dir[1] != '_'
	})
}

// A Stamp is what a file was like when it was looked at.
type Stamp struct {
	Size int64
	Time int64
}

// Dirs are the directories that the cases of a suite are read from.
func (w *World) Dirs(s *casefile.Suite) []string {
	dirs := []string{w.Tree}
	add := func(l *value.List) {
		for i := range l.Len() {
			dirs = append(dirs, value.Str(l.Items[i]))
		}
	}
	for _, key := range []string{"file_roots", "pillar_roots"} {
		for _, v := range w.Opts.Map(key).All() {
			l, _ := v.(*value.List)
			add(l)
		}
	}
	for _, c := range s.Cases {
		dirs = append(dirs, c.Roots...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Snapshot returns the files below directories. Those of version control are left out.
func Snapshot(dirs []string) map[string]Stamp {
	seen := map[string]Stamp{}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it went meanwhile: it is not in the snapshot
			case d.IsDir() && d.Name() == ".git":
				return fs.SkipDir
			case d.IsDir():
				return nil
			}
			if info, err := d.Info(); err == nil {
				seen[path] = Stamp{info.Size(), info.ModTime().UnixNano()}
			}
			return nil
		})
	}
	return seen
}

// Changed returns the files that differ between two snapshots, sorted.
func Changed(before, after map[string]Stamp) []string {
	var out []string
	for path, s := range after {
		if old, ok := before[path]; !ok || old != s {
			out = append(out, path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
