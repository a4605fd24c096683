package trial

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/render"
	"brine/internal/py/jinja"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Coverage says what of a tree no case touched.
type Coverage struct {
	States, Branches, Keys int     // in all
	MissingStates          []Place // that no case has
	MissingBranches        []Place // of Jinja, that no case takes
	MissingKeys            []Place // of the pillar, that templates read and no case sets
	Unseen                 []Unseen

	touchedByCases map[string][]string // IDs of states by SLS and function
	pillars        []value.Value
	taken          map[branchKey]bool  // branches that a case takes
	passed         map[string][][2]int // lines of branches that no case takes, by file
	branchesOf     func(sls bool, path, text string) ([]jinja.Branch, error)
	renderer       string // of SLS files that name none
}

// Unseen is what is not looked at, and so is neither counted nor among what is missing.
type Unseen struct{ Name, Why string }

// A part of a Coverage is one kind of what no case touched.
type coveragePart struct {
	what, key string // as text, and in data
	all       int
	missing   []Place
}

func (c *Coverage) parts() []coveragePart {
	return []coveragePart{
		{"states that no case has", "states", c.States, c.MissingStates},
		{"branches of Jinja that no case takes", "branches", c.Branches, c.MissingBranches},
		{"pillar keys that no case sets", "pillar_keys", c.Keys, c.MissingKeys},
	}
}

// unseen are the names of what is not looked at, by why.
func (c *Coverage) unseen() (whys []string, names map[string][]string) {
	names = map[string][]string{}
	for _, u := range c.Unseen {
		if names[u.Why] == nil {
			whys = append(whys, u.Why)
		}
		names[u.Why] = append(names[u.Why], u.Name)
	}
	return whys, names
}

// A Place is a state or a key where a file of the tree has it.
type Place struct {
	Name string
	Pos  source.Pos
}

// Coverage compares the files of the tree with what results compiled.
func (w *World) Coverage(ctx context.Context, results []*Result) *Coverage {
	env := w.NewEnv(ctx, w.Host, w.Opts, func(error) {})
	c := &Coverage{
		touchedByCases: map[string][]string{}, taken: map[branchKey]bool{}, passed: map[string][][2]int{},
		branchesOf: render.For(env).Branches, renderer: cmp.Or(w.Opts.Str("renderer"), render.DefaultPipeline),
	}
	for _, r := range results {
		maps.Copy(c.taken, r.branches)
		if !r.compiled {
			c.Unseen = append(c.Unseen, Unseen{r.Name(), "tests that do not compile without a machine"})
		}
		c.pillars = append(c.pillars, r.pillars...)
		for _, s := range r.states {
			c.touchedByCases[s.sls+" "+s.fun] = append(c.touchedByCases[s.sls+" "+s.fun], s.id)
		}
	}
	seen, keys := map[string]bool{}, map[string]bool{}
	l := w.Opts.Map("file_roots").List("base")
	for i := range l.Len() {
		root := value.Str(l.Items[i])
		w.walkFiles(root, "", func(path string) {
			if text, err := w.Host.ReadFile(path); err == nil {
				c.branches(w.Name(path), path, string(text))
				c.keys(path, string(text), keys)
			}
		})
		w.walk(root, "", func(name string) {
			if seen[name] {
				return // another root has it, too, and comes first
			}
			seen[name] = true
			for _, end := range []string{".sls", "/init.sls"} {
				path := filepath.Join(root, strings.ReplaceAll(name, ".", "/")+end)
				if text, err := w.Host.ReadFile(path); err == nil {
					c.sls(name, path, string(text))
				}
			}
		})
	}
	return c
}

// maxTemplate bounds the size of the files in which keys of the pillar are looked for.
const maxTemplate = 1 << 20

// walkFiles calls found with the paths of the files below a root that may be templates.
func (w *World) walkFiles(root, dir string, found func(path string)) {
	names, err := w.Host.ReadDir(filepath.Join(root, dir))
	if err != nil || strings.Count(dir, "/") > maxDepth {
		return
	}
	for _, n := range names {
		rel := filepath.Join(dir, n)
		st, err := w.Host.Stat(filepath.Join(root, rel))
		switch {
		case err != nil || strings.HasPrefix(n, ".") || dir == "" && (strings.HasPrefix(n, "_") || slices.Contains(notStates, n)):
		case st.Mode.IsDir():
			w.walkFiles(root, rel, found)
		case dir == "" && !slices.Contains([]string{".sls", ".jinja", ".j2"}, filepath.Ext(n)):
			// The README of a formula, its kitchen.yml and so on.
		case st.Mode.IsRegular() && st.Size <= maxTemplate:
			found(filepath.Join(root, rel))
		}
	}
}

// Parts of SLS files, as far as lines show them: states whose place in the file depends
// on a template are there whether a case has them or not.
var (
	idLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:'([^']+)'|"([^"]+)"|([^\s#{%][^#]*?)):(?:\s+(?:\{\s*)?([a-z_]\w*\.[a-z_]\w*)\b.*)?\s*$`)
	})
	funLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+)([a-z_]\w*)\.([a-z_]\w*)(?::.*)?$`) })
	modLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+)([a-z_]\w*):\s*$`) })
	shortLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+- ([a-z_]\w*)\s*$`) })
	notID     = []string{"include", "exclude", "extend"}
	inJinja   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}`) })
)

// sls looks for states in an SLS file. Those of other renderers than Jinja and YAML are
// named.
func (c *Coverage) sls(name, path, text string) {
	if pipe := c.pipeline(text); !strings.Contains(pipe, "yaml") {
		c.Unseen = append(c.Unseen, Unseen{name, "SLS files of other renderers than Jinja and YAML"})
		return
	}
	id, indent, mod := "", "", ""
	for i, line := range strings.Split(text, "\n") {
		if m := idLine().FindStringSubmatch(line); m != nil {
			id, indent, mod = m[1]+m[2]+m[3], "", ""
			if slices.Contains(notID, id) {
				id = ""
			} else if m[4] != "" {
				c.state(name, path, i+1, id, m[4])
			}
			continue
		}
		if id == "" {
			continue
		}
		if m := funLine().FindStringSubmatch(line); m != nil && (indent == "" || indent == m[1]) {
			indent, mod = m[1], ""
			c.state(name, path, i+1, id, m[2]+"."+m[3])
		} else if m := modLine().FindStringSubmatch(line); m != nil && (indent == "" || indent == m[1]) {
			indent, mod = m[1], m[2]
		} else if m := shortLine().FindStringSubmatch(line); m != nil && mod != "" {
			c.state(name, path, i+1, id, mod+"."+m[1])
			mod = ""
		}
	}
}

// state notes a state, and whether a case has it. What a template writes of its ID may be
// anything.
func (c *Coverage) state(sls, path string, line int, id, fn string) {
	c.States++
	var pattern strings.Builder
	rest := id
	for loc := inJinja().FindStringIndex(rest); loc != nil; loc = inJinja().FindStringIndex(rest) {
		pattern.WriteString(regexp.QuoteMeta(rest[:loc[0]]) + ".*")
		rest = rest[loc[1]:]
	}
	re := regexp.MustCompile("(?s)^" + pattern.String() + regexp.QuoteMeta(rest) + "$")
	passed := slices.ContainsFunc(c.passed[path], func(lines [2]int) bool { return lines[0] <= line && line <= lines[1] })
	if passed || !slices.ContainsFunc(c.touchedByCases[sls+" "+fn], re.MatchString) {
		c.MissingStates = append(c.MissingStates, Place{id + " (" + fn + ")", source.Pos{File: path, Line: line, Col: 1}})
	}
}

// How templates read the pillar.
var (
	getKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bpillar\.get(?:['"]\])?\(\s*['"]([\w:.-]+)['"]`) })
	pathKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bpillar((?:\.[A-Za-z_]\w*|\[['"][^'"\]]+['"]\])+)(?:\(\s*['"]([\w.-]+)['"])?`)
	})
	keyPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([A-Za-z_]\w*)|\[['"]([^'"\]]+)['"]\]`) })
	methods = []string{"get", "items", "iteritems", "keys", "values", "update", "setdefault", "pop"}
)

// keys looks for keys of the pillar that a template reads.
func (c *Coverage) keys(path, text string, seen map[string]bool) {
	for i, line := range strings.Split(text, "\n") {
		for _, m := range getKey().FindAllStringSubmatchIndex(line, -1) {
			c.key(path, i+1, m[0]+1, line[m[2]:m[3]], seen)
		}
		for _, m := range pathKey().FindAllStringSubmatchIndex(line, -1) {
			var parts []string
			for _, p := range keyPart().FindAllStringSubmatch(line[m[2]:m[3]], -1) {
				parts = append(parts, p[1]+p[2])
			}
			if last := len(parts) - 1; slices.Contains(methods, parts[last]) {
				parts = parts[:last]
				if len(parts) > 0 && m[4] >= 0 {
					parts = append(parts, line[m[4]:m[5]])
				}
			}
			if len(parts) > 0 {
				c.key(path, i+1, m[0]+1, strings.Join(parts, value.DefaultDelim), seen)
			}
		}
	}
}

// key notes a key, and whether a case sets it.
func (c *Coverage) key(path string, line, col int, key string, seen map[string]bool) {
	if seen[key] {
		return
	}
	seen[key] = true
	c.Keys++
	if !slices.ContainsFunc(c.pillars, func(p value.Value) bool {
		_, ok := value.Traverse(p, key, "")
		return ok
	}) {
		c.MissingKeys = append(c.MissingKeys, Place{key, source.Pos{File: path, Line: line, Col: col}})
	}
}
