package jobs

import (
	"context"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// maxInner bounds how many files the SLS of a step may lead to, and maxInnerSize
// how much of each is read for what it leads to.
const (
	maxInner     = 1000
	maxInnerSize = 1 << 20
)

// inner returns digests of the files that the steps of an orchestration lead to on
// their targets, by path, for each step that applies SLS there: those of the SLS,
// of what they include and import, and the salt:// files that they name. Names that
// templates make are not among them.
func inner(ctx context.Context, env *fun.Env, chunks []*fun.Chunk) *value.Map {
	out := value.NewMap(0)
	if env.Up == nil {
		return out
	}
	w := &innerWalk{env: env, sums: map[string]string{}}
	for _, c := range chunks {
		if c.State != "salt" || c.Fun != "state" {
			continue
		}
		saltenv := c.Low.Str("saltenv")
		if saltenv == "" || saltenv == "None" {
			saltenv = "base"
		}
		if m := w.files(ctx, saltenv, c.Low); m.Len() > 0 {
			out.Set(c.Tag(), m)
		}
	}
	return out
}

type innerWalk struct {
	env  *fun.Env
	sums map[string]string // by saltenv and path; "" is not there
}

// files returns the digests of the files of one step.
func (w *innerWalk) files(ctx context.Context, saltenv string, low *value.Map) *value.Map {
	var todo []string
	sls := func(names ...string) {
		for _, n := range names {
			if fi, err := fun.FindSLS(ctx, w.env.Up, saltenv, n); err == nil {
				todo = append(todo, fi.Path)
			}
		}
	}
	sls(slsNames(low.At("sls"))...)
	if value.Truth(low.At("highstate")) || value.Truth(low.At("top")) {
		top := low.Str("top")
		if top == "" || top == "None" {
			top = "top.sls"
		}
		todo = append(todo, top)
		sls(listed(w.text(ctx, saltenv, top))...)
	}
	out := value.NewMap(len(todo))
	for len(todo) > 0 && out.Len() < maxInner && ctx.Err() == nil {
		p := todo[0]
		todo = todo[1:]
		if out.Has(p) {
			continue
		}
		sum := w.sum(ctx, saltenv, p)
		if sum == "" {
			continue
		}
		out.Set(p, sum)
		switch path.Ext(p) {
		case ".sls":
			text := w.text(ctx, saltenv, p)
			sls(included(p, text)...)
			todo = append(todo, named(p, text)...)
		case ".jinja", ".j2", ".yaml", ".yml":
			todo = append(todo, named(p, w.text(ctx, saltenv, p))...)
		}
	}
	return out
}

// slsNames returns the SLS of a step: a name, names with commas, or a list.
func slsNames(v value.Value) []string {
	switch v := v.(type) {
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case *value.List:
		var out []string
		for _, x := range v.Items {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func (w *innerWalk) sum(ctx context.Context, saltenv, p string) string {
	key := saltenv + "\x00" + p
	if s, ok := w.sums[key]; ok {
		return s
	}
	s, err := w.env.Up.Hash(ctx, saltenv, p, "sha256")
	if err != nil {
		s = ""
	}
	w.sums[key] = s
	return s
}

// text returns a file, "" where it cannot be read or is large.
func (w *innerWalk) text(ctx context.Context, saltenv, p string) string {
	r, err := w.env.Up.Open(ctx, saltenv, p)
	if err != nil {
		return ""
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxInnerSize+1))
	if err != nil || len(b) > maxInnerSize {
		return ""
	}
	return string(b)
}

// listed returns the entries of lists in a text, such as the SLS of a top file.
func listed(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if name, ok := entry(line); ok {
			out = append(out, name)
		}
	}
	return out
}

// entry returns the name in a line that is an entry of a list.
func entry(line string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	name = strings.Trim(strings.TrimSpace(name), `'"`)
	return name, ok && name != "" && !strings.ContainsAny(name, " :{}%")
}

// included returns the SLS that the text of an SLS includes.
func included(file, text string) []string {
	var out []string
	in := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "include:"):
			in = true
		case trimmed == "", strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "{%"):
		case in:
			name, ok := entry(line)
			if !ok {
				in = false
				continue
			}
			out = append(out, absolute(file, name))
		}
	}
	return out
}

// absolute returns the SLS that a relative name in an SLS means: one dot is the
// directory of its file, each further dot the one above.
func absolute(file, name string) string {
	rest := strings.TrimLeft(name, ".")
	dots := len(name) - len(rest)
	if dots == 0 {
		return name
	}
	dir := path.Dir(file)
	for range dots - 1 {
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "/" {
		return rest
	}
	return strings.ReplaceAll(dir, "/", ".") + "." + rest
}

// named returns the files that a template imports or includes and those with a
// salt:// URL.
func named(file, text string) []string {
	var out []string
	for _, m := range innerName().FindAllStringSubmatch(text, -1) {
		p := m[1] + m[2]
		if rel, ok := strings.CutPrefix(p, "./"); ok {
			p = path.Join(path.Dir(file), rel)
		} else if strings.HasPrefix(p, "../") {
			p = path.Join(path.Dir(file), p)
		}
		if fs.ValidPath(p) {
			out = append(out, p)
		}
	}
	return out
}

var innerName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`salt://([^\s'"{}?|,\])]+)|\{%[-+]?\s*(?:from|import|include|import_yaml|import_json|import_text|extends)\s+['"](?:salt://)?([^'"]+)['"]`)
})

// changedInner says which files of a step are not what they were; "" where all
// are.
func changedInner(then, now *value.Map) string {
	var names []string
	for k, sum := range then.All() {
		if v, ok := now.Get(k); !ok || v != sum {
			names = append(names, value.Str(k))
		}
	}
	for k := range now.All() {
		if !then.Has(k) {
			names = append(names, value.Str(k))
		}
	}
	slices.Sort(names)
	const most = 5
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return strings.Join(names, ", ")
}
