package lint

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// TemplateEngines returns the names of the template engines of files.
func TemplateEngines() []string { return render.Engines() }

// maxTemplate bounds the size of a template of a file, in bytes.
const maxTemplate = 1 << 20

// template renders the Jinja template of a state, with the variables that a run gives
// it, and notes what is wrong with it.
func (r *run) template(ctx context.Context, c *fun.Chunk) {
	spec := r.l.known.Spec(fun.State, c.State+"."+c.Fun)
	if spec == nil || !slices.Contains(spec.ArgNames(), "template") || r.vary != nil {
		return
	}
	t := fileTemplate{vars: templateVars(c, r.probe), by: c.Pos.File, asked: r.asked}
	t.open = hasUnknown(c.Low.At("context")) || hasUnknown(c.Low.At("defaults"))
	for _, url := range templateURLs(c) {
		p, saltenv, ok := fun.SplitURL(url)
		if !ok || isUnknown(url) || p == "" {
			continue
		}
		if saltenv == "" {
			saltenv = c.SaltEnv
		}
		t.path, t.saltenv = strings.TrimPrefix(strings.Trim(p, "/"), "|"), saltenv
		if c.Fun == "recurse" {
			if r.templatesBelow(ctx, c, t) {
				break // a run takes the first directory that there is
			}
			continue
		}
		r.oneTemplate(ctx, t)
	}
	if c.State == "file" && c.Fun == "managed" {
		r.contents(ctx, c, t)
	}
}

// maxBelow is how many files below a directory are rendered for one state.
const maxBelow = 2000

// templatesBelow renders the files of a directory that a state lays down. It reports
// whether there is the directory.
func (r *run) templatesBelow(ctx context.Context, c *fun.Chunk, t fileTemplate) bool {
	dir, vars := t.path, t.vars
	files, err := fun.ListFiles(ctx, r.env.Up, t.saltenv, dir)
	if err != nil {
		return false
	}
	depth, bounded := value.AsInt(c.Low.At("maxdepth"))
	include, exclude := c.Low.At("include_pat"), c.Low.At("exclude_pat")
	there, n := false, 0
	for _, f := range files {
		rel, ok := strings.CutPrefix(f.Path, dir+"/")
		there = there || ok
		if !ok || bounded && int64(strings.Count(rel, "/")) > depth {
			continue
		}
		if hasUnknown(include) || hasUnknown(exclude) {
			r.unjudged(posOf(c, "source"), "which files are templates (%s)", machineOnly)
			return there
		}
		if ok, err := fileserver.Included(rel, include, exclude); !ok && (err == nil || value.Truth(include)) {
			continue
		}
		if n++; n > maxBelow {
			r.unjudged(posOf(c, "source"), "more than %d templates are below salt://%s", maxBelow, dir)
			return there
		}
		t.path = f.Path
		t.vars = vars.Copy()
		t.vars.Set("name", path.Join(c.Name, rel))
		t.vars.Set("source", "salt://"+f.Path+"?saltenv="+t.saltenv)
		r.oneTemplate(ctx, t)
	}
	return there
}

// The arguments of a state that have the text of a file.
var contentArgs = [...]string{"contents_pillar", "contents_grains", "contents"}

// contents renders the text that a state has as a template, with the variables that a
// run gives it: only defaults and context.
func (r *run) contents(ctx context.Context, c *fun.Chunk, t fileTemplate) {
	for _, arg := range contentArgs {
		v := c.Low.At(arg)
		if v == nil || isSlot(v) {
			continue
		}
		t.at, t.saltenv, t.path = posOf(c, arg), c.SaltEnv, arg+" of "+c.Name
		if getter, ok := strings.CutPrefix(arg, "contents_"); ok {
			got, known := r.lookup(ctx, getter, c, v)
			if !known {
				r.unjudged(t.at, "the template of %s (%s)", arg, machineOnly)
				return
			}
			v = got
		}
		var lines []string
		for _, x := range itemsOrOne(v) {
			text := value.Str(x)
			t.open = t.open || isUnknown(text)
			lines = append(lines, strings.TrimSuffix(text, "\n"))
		}
		t.text = []byte(strings.Join(lines, "\n") + "\n")
		t.vars = value.NewMap(4)
		for _, arg := range [...]string{"defaults", "context"} {
			m, _ := c.Low.At(arg).(*value.Map)
			t.vars.Update(m)
		}
		t.vars = r.probe.restore(t.vars, 0).(*value.Map)
		r.oneTemplate(ctx, t)
		return
	}
}

// lookup returns what a state takes from the pillar or the grains as its content, and
// whether lint knows it. Nothing is there for a key that does not exist.
func (r *run) lookup(ctx context.Context, from string, c *fun.Chunk, keys value.Value) (value.Value, bool) {
	delimiter := c.Low.Str("contents_delimiter")
	if delimiter == "" {
		delimiter = ":"
	}
	r.probe.begin(world{yes: true}) // what may be there is there
	out := value.NewList()
	for _, key := range itemsOrOne(keys) {
		if hasUnknown(key) {
			return nil, false
		}
		v, err := r.env.Exec(ctx, from+".get", value.MapOf("delimiter", delimiter), key, "")
		if err != nil || hasUnknown(v) {
			return nil, false
		}
		out.Items = append(out.Items, itemsOrOne(v)...)
	}
	return out, true
}

// A fileTemplate is a template of a file, with what a state gives it.
type fileTemplate struct {
	path, saltenv string
	text          []byte     // what it is if it is not a file
	at            source.Pos // where the state has this text
	vars          *value.Map
	by            string // the SLS of the state
	open          bool   // an unknown value may give it further variables
	asked         bool   // the state depends on an unknown value
}

// templateURLs returns the files that a state renders. Of several sources, a run takes
// the first that exists.
func templateURLs(c *fun.Chunk) []string {
	arg := "source"
	if c.State == "cron" || c.State == "cmd" && !c.Low.Has("source") {
		arg = "name"
	}
	switch c.Fun {
	case "managed", "append", "prepend", "blockreplace", "script", "file", "keyvalue", "patch", "recurse":
	default:
		return nil
	}
	var urls []string
	for _, v := range append(itemsOrOne(c.Low.At(arg)), itemsOrOne(c.Low.At("sources"))...) {
		if url, ok := v.(string); ok && strings.HasPrefix(url, "salt://") {
			urls = append(urls, url)
		}
	}
	return urls
}

// templateVars returns the variables of the template of a state: its arguments, then
// defaults and context.
func templateVars(c *fun.Chunk, p *probe) *value.Map {
	vars := value.MapOf("name", c.Name, "source", nil, "user", nil, "group", nil, "mode", nil, "attrs", nil, "accumulator", unknown{p: p, path: "accumulator"})
	for k, v := range c.Low.All() {
		if name, ok := k.(string); ok && !strings.HasPrefix(name, "__") && name != "context" && name != "defaults" {
			vars.Set(name, v)
		}
	}
	for _, arg := range []string{"defaults", "context"} {
		m, _ := c.Low.At(arg).(*value.Map)
		for k, v := range m.All() {
			vars.Set(k, v)
		}
	}
	return p.restore(vars, 0).(*value.Map)
}

// restore returns data in which the text of unknown values is unknown values again.
func (p *probe) restore(v value.Value, deep int) value.Value {
	if deep > maxDeep {
		return v
	}
	switch v := v.(type) {
	case string:
		if isUnknown(v) {
			return unknown{p: p, path: v}
		}
	case *value.List:
		if hasUnknown(v) {
			out := value.NewList()
			for _, x := range v.Items {
				out.Append(p.restore(x, deep+1))
			}
			return out
		}
	case *value.Map:
		if hasUnknown(v) {
			out := value.NewMap(v.Len())
			for k, x := range v.All() {
				out.Set(k, p.restore(x, deep+1))
			}
			return out
		}
	}
	return v
}

// oneTemplate renders a file of the tree, unless it was with these variables.
func (r *run) oneTemplate(ctx context.Context, t fileTemplate) {
	k := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%t%t\x00%s", t.saltenv, t.path, t.by, t.at, t.text, t.open, t.asked, value.Repr(t.vars))
	got := r.templates[k]
	if got == nil {
		got = newPass()
		r.within(got, func() { r.renderTemplate(ctx, t) })
		if ctx.Err() == nil {
			r.templates[k] = got
		}
	}
	if r.at != nil {
		maps.Copy(r.at.deps, got.deps)
		r.at.found = append(r.at.found, got.found...)
	}
}

// renderTemplate renders a file of the tree in several worlds.
func (r *run) renderTemplate(ctx context.Context, t fileTemplate) {
	r.note(false, t.saltenv, t.by) // what its text mentions counts
	input := render.Input{Path: t.path, SaltEnv: t.saltenv, Text: t.text, Vars: t.vars}
	if t.text == nil && !r.readTemplate(ctx, t, &input) {
		return
	}
	base := r.templateIn(ctx, t, input, world{})
	if base == 0 {
		return
	}
	yes := r.templateIn(ctx, t, input, world{yes: true})
	if !r.explores {
		return
	}
	for i, left := 1, maxVariants; i <= max(base, yes) && left > 0 && ctx.Err() == nil; i++ {
		if i <= base && base > 1 {
			left--
			r.templateIn(ctx, t, input, world{flip: i})
		}
		if i <= yes && yes > 1 {
			left--
			r.templateIn(ctx, t, input, world{yes: true, flip: i})
		}
	}
}

// readTemplate reads a template of the tree, and reports whether there is one to check.
func (r *run) readTemplate(ctx context.Context, t fileTemplate, input *render.Input) bool {
	info, err := r.env.Up.Stat(ctx, t.saltenv, t.path)
	if err != nil {
		return false // that it is not there is a finding of its own
	}
	pos := source.Pos{File: cmp.Or(info.Abs, t.path), Line: 1, Col: 1}
	if info.Size > maxTemplate {
		r.unjudged(pos, "the template has more than %d MB", maxTemplate>>20)
		return false
	}
	if r.l.unreadable(false, t.saltenv, t.path) {
		r.unjudged(pos, "the file cannot be read")
		return false
	}
	in, err := r.env.Up.Open(ctx, t.saltenv, t.path)
	if err == nil {
		input.Text, err = io.ReadAll(in)
		in.Close()
	}
	if err != nil {
		r.unjudged(pos, "the file cannot be read: %s", reason(err))
		return false
	}
	input.Abs = info.Abs
	r.templateCalls(t, info.Abs, input.Text)
	return true
}

// templateCalls checks the functions that a template of a file calls, on every branch. Those of
// SLS files and of what they import are checked by their text.
func (r *run) templateCalls(t fileTemplate, abs string, text []byte) {
	f := r.l.fileOf(cmp.Or(abs, t.path))
	if f != nil && f.isTemplate() || !bytes.Contains(text, []byte("salt")) {
		return
	}
	lines, inside := withoutComments(strings.Split(string(text), "\n")), false
	whole := strings.Join(lines, "\n")
	for i, line := range lines {
		begun := inside
		inside = within(line, begun)
		for name, col := range callsOf(line) {
			if !within(line[:col-1], begun) || asksFor(whole, name) {
				continue
			}
			r.function(fun.Exec, name, source.Pos{File: cmp.Or(abs, t.path), Line: i + 1, Col: col})
		}
	}
}

// within reports whether the end of a text is in an expression or statement of Jinja, if it
// begins in one or not.
func within(text string, begun bool) bool {
	open := max(strings.LastIndex(text, "{{"), strings.LastIndex(text, "{%"))
	shut := max(strings.LastIndex(text, "}}"), strings.LastIndex(text, "%}"))
	if open < 0 && shut < 0 {
		return begun
	}
	return open > shut
}

// templateIn renders a template in a world and returns how many questions it asked.
func (r *run) templateIn(ctx context.Context, t fileTemplate, in render.Input, w world) int {
	r.probe.begin(w)
	_, err := r.engine.Template(ctx, "jinja", in)
	if err == nil || ctx.Err() != nil {
		return r.probe.choices
	}
	for _, f := range source.Faults(err) {
		rule := renderError
		if faultRule(f) == undefinedVariable {
			rule = undefinedVariable
		}
		pos, message := f.Pos, f.Err.Error()
		if t.text != nil && (pos.File == in.Path || pos.File == "") {
			pos, message = t.at, fmt.Sprintf("line %d of %s: %s", f.Pos.Line, in.Path, message)
		}
		switch {
		case isSyntax(f) && (t.text == nil || !t.open), !r.probe.asked && !t.asked && !t.open, r.l.isUnbound(f, in, t):
			r.add(Finding{Rule: rule, Pos: pos, Message: message, Hint: f.Hint, Via: f.Via})
		case t.text != nil:
			r.unjudged(pos, "%s (%s)", clean(message), machineOnly)
		default:
			r.unjudgedFaults(in.Path, f)
		}
	}
	return r.probe.choices
}

var undefinedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^'(\w+)' is undefined`) })

var bindingTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{%[-+]?\s*(?:set|for|import|from|include|macro|call|with|block|filter|load_yaml|load_json|load_text|import_yaml|import_json|import_text)\b[^%]*%\}`)
})

// isUnbound reports whether a fault is a variable that neither the text of the template
// nor that of the SLS gives: it is undefined whatever the unknown values are.
func (l *linter) isUnbound(f *source.Error, in render.Input, t fileTemplate) bool {
	m := undefinedName().FindStringSubmatch(f.Err.Error())
	if m == nil || t.open || f.Pos.File != in.Path {
		return false
	}
	if sls := l.fileOf(t.by); t.asked && (sls == nil || sls.words[m[1]]) {
		return false
	}
	for _, tag := range bindingTag().FindAllString(string(in.Text), -1) {
		if slices.Contains(strings.FieldsFunc(tag, notWord), m[1]) || strings.Contains(tag, "include") {
			return false
		}
	}
	return true
}
