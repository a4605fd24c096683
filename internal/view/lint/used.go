package lint

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/absent"
	"brine/internal/core/fun"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// Used is what a tree uses: names with one place of each.
type Used struct {
	mu        sync.Mutex
	Functions map[fun.Kind]map[string]source.Pos // "module.function", state functions as well
	Custom    map[fun.Kind]map[string]bool       // the custom modules of the tree
	// Needs are the modules of the kinds without functions, by kind and name: renderers,
	// serializers, and returners that states name.
	Needs map[string]map[string]source.Pos
	// Pillar are the options that pillar files set, such as beacons and schedule.
	Pillar []*value.Map
	// Modules are the custom modules of the tree of the kinds without functions.
	Modules map[string]map[string]bool
	// Python are the modules that the Python files of the tree import.
	Python map[string]source.Pos
}

func newUsed() *Used {
	return &Used{
		Functions: map[fun.Kind]map[string]source.Pos{fun.Exec: {}, fun.State: {}, fun.Runner: {}, fun.Wheel: {}},
		Custom:    map[fun.Kind]map[string]bool{fun.Exec: {}, fun.State: {}, fun.Runner: {}, fun.Wheel: {}},
		Needs:     map[string]map[string]source.Pos{}, Modules: map[string]map[string]bool{}, Python: map[string]source.Pos{},
	}
}

func (u *Used) function(kind fun.Kind, name string, pos source.Pos) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.Functions[kind][name]; !ok {
		u.Functions[kind][name] = pos
	}
}

// need notes a module of a kind without functions.
func (u *Used) need(kind, name string, pos source.Pos) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.Needs[kind] == nil {
		u.Needs[kind] = map[string]source.Pos{}
	}
	if _, ok := u.Needs[kind][name]; !ok && name != "" && !isUnknown(name) {
		u.Needs[kind][name] = pos
	}
}

// resolve makes the files of all places absolute.
func (u *Used) resolve(paths map[string]string) {
	all := slices.AppendSeq(slices.Collect(maps.Values(u.Functions)), maps.Values(u.Needs))
	for _, names := range all {
		for name, pos := range names {
			if abs := paths[pos.File]; abs != "" {
				pos.File = abs
				names[name] = pos
			}
		}
	}
}

func (u *Used) state(c *fun.Chunk) {
	name := c.State + "." + c.Fun
	if isUnknown(name) {
		return
	}
	u.function(fun.State, name, c.Pos)
	if engine, ok := c.Low.At("template").(string); ok {
		u.need(absent.Renderer, engine, posOf(c, "template"))
	}
	for _, arg := range needArguments[name] {
		for _, v := range itemsOrOne(c.Low.At(arg.name)) {
			names, _ := v.(string)
			for name := range strings.SplitSeq(names, ",") {
				u.need(arg.kind, strings.TrimSpace(name), posOf(c, arg.name))
			}
		}
	}
}

// needArguments are the arguments of states that name modules of a kind without
// functions, one or several with commas.
var needArguments = map[string][]struct{ name, kind string }{
	"file.serialize":   {{"serializer", absent.Serializer}, {"formatter", absent.Serializer}},
	"salt.function":    {{"ret", absent.Returner}},
	"salt.state":       {{"ret", absent.Returner}},
	"schedule.present": {{"returner", absent.Returner}},
}

func (u *Used) renderers(f *file) {
	for _, name := range pipelineOf(f.lines[0]) {
		u.need(absent.Renderer, name, source.Pos{File: f.Abs, Line: 1, Col: 1})
	}
}

// pillar notes the options that a pillar file sets.
func (u *Used) pillar(data *value.Map) {
	set := value.NewMap(0)
	for _, key := range []string{"beacons", "proxy", "schedule"} {
		if data.Has(key) {
			set.Set(key, data.At(key))
			set.SetPos(key, data.Pos(key))
		}
	}
	if set.Len() > 0 {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.Pillar = append(u.Pillar, set)
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
