package lint

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/source"
)

// Used is what a tree uses: names with one place of each.
type Used struct {
	mu        sync.Mutex
	Functions map[fun.Kind]map[string]source.Pos // "module.function", state functions as well
	Custom    map[fun.Kind]map[string]bool       // the custom modules of the tree
	Renderers map[string]source.Pos
	// Modules are the custom modules of the tree of the kinds without functions.
	Modules map[string]map[string]bool
	// Python are the modules that the Python files of the tree import.
	Python map[string]source.Pos
}

func newUsed() *Used {
	return &Used{
		Functions: map[fun.Kind]map[string]source.Pos{fun.Exec: {}, fun.State: {}, fun.Runner: {}, fun.Wheel: {}},
		Custom:    map[fun.Kind]map[string]bool{fun.Exec: {}, fun.State: {}, fun.Runner: {}, fun.Wheel: {}},
		Renderers: map[string]source.Pos{}, Modules: map[string]map[string]bool{}, Python: map[string]source.Pos{},
	}
}

func (u *Used) function(kind fun.Kind, name string, pos source.Pos) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.Functions[kind][name]; !ok {
		u.Functions[kind][name] = pos
	}
}

// resolve makes the files of all places absolute.
func (u *Used) resolve(paths map[string]string) {
	for _, names := range u.Functions {
		for name, pos := range names {
			if abs := paths[pos.File]; abs != "" {
				pos.File = abs
				names[name] = pos
			}
		}
	}
}

func (u *Used) state(c *fun.Chunk) {
	if name := c.State + "." + c.Fun; !isUnknown(name) {
		u.function(fun.State, name, c.Pos)
	}
}

func (u *Used) renderers(f *file) {
	for _, name := range pipelineOf(f.lines[0]) {
		if _, ok := u.Renderers[name]; !ok {
			u.Renderers[name] = source.Pos{File: f.Abs, Line: 1, Col: 1}
		}
	}
}

var importPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:import\s+([\w.]+(?:\s*,\s*[\w.]+)*)|from\s+([\w.]+)\s+import\b)`)
})

// python notes what a Python file of the tree imports.
func (u *Used) python(f *file) {
	if path.Ext(f.Path) != ".py" || !strings.HasPrefix(f.Path, "_") {
		return
	}
	for i, line := range f.lines {
		m := importPattern().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for name := range strings.SplitSeq(m[1]+m[2], ",") {
			name = strings.TrimSpace(name)
			if _, ok := u.Python[name]; !ok && name != "" && !strings.HasPrefix(name, ".") {
				u.Python[name] = source.Pos{File: f.Abs, Line: i + 1, Col: 1}
			}
		}
	}
}
