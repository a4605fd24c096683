package star

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"brine/internal/py/value"
)

// localDir and localEnv are where a thread keeps the directory and the saltenv of
// the file that it runs.
const (
	localDir = "dir"
	localEnv = "saltenv"
)

// run executes a file of the tree.
func (c *child) run(src *value.Map) (doc string, globals starlark.StringDict, err error) {
	name := src.Str("file")
	ast, prog, err := starlark.SourceProgramOptions(fileOptions(), name, src.Str("source"), c.names.Has)
	if err != nil {
		return "", nil, err
	}
	err = c.within(name, func(t *starlark.Thread) error {
		t.SetLocal(localDir, path.Dir(src.Str("path")))
		t.SetLocal(localEnv, src.Str("saltenv"))
		globals, err = prog.Init(t, c.names)
		globals.Freeze()
		return err
	})
	return docOf(ast), globals, err
}

// docOf is the docstring of a file.
func docOf(f *syntax.File) string {
	if len(f.Stmts) > 0 {
		if stmt, ok := f.Stmts[0].(*syntax.ExprStmt); ok {
			if lit, ok := stmt.X.(*syntax.Literal); ok && lit.Token == syntax.STRING {
				s, _ := lit.Value.(string)
				return clean(s)
			}
		}
	}
	return ""
}

// clean takes the indentation of the later lines off a docstring.
//
// Python: inspect.cleandoc.
func clean(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "        "), "\n")
	margin := -1
	for _, l := range lines[1:] {
		if text := strings.TrimLeft(l, " "); text != "" {
			if n := len(l) - len(text); margin < 0 || n < margin {
				margin = n
			}
		}
	}
	lines[0] = strings.TrimLeft(lines[0], " ")
	for i, l := range lines[1:] {
		lines[i+1] = l[min(max(margin, 0), len(l)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// needs returns which data a text names.
func needs(text string) map[string]bool {
	out := map[string]bool{}
	for _, what := range data {
		if strings.Contains(text, what) {
			out[what] = true
		}
	}
	return out
}

// load loads a module from its source and describes it.
func (c *child) load(m *value.Map) (*value.Map, error) {
	mod := &module{needs: needs(m.Str("source"))}
	if err := c.refresh(m, mod.needs); err != nil {
		return nil, err
	}
	doc, globals, err := c.run(m)
	if err != nil {
		return nil, err
	}
	mod.globals = globals
	facts, err := c.describe(mod, m.Str("name"))
	if err != nil {
		return nil, err
	}
	facts.Set("doc", doc)
	c.modules[m.Str("key")] = mod
	return value.MapOf("value", facts), nil
}

// loadFile is the statement load.
func (c *child) loadFile(t *starlark.Thread, name string) (starlark.StringDict, error) {
	p, fromRoot := strings.CutPrefix(name, "//")
	if !fromRoot {
		if p, fromRoot = strings.CutPrefix(name, "salt://"); !fromRoot {
			dir, _ := t.Local(localDir).(string)
			p = path.Join(dir, name)
		}
	}
	saltenv, _ := t.Local(localEnv).(string)
	key := [2]string{saltenv, p}
	f, known := c.files[key]
	if known {
		if f.globals == nil && f.err == nil {
			return nil, fmt.Errorf("salt://%s loads itself", p)
		}
		return f.globals, f.err
	}
	f = &file{}
	c.files[key] = f
	defer func() {
		if f.err != nil || f.globals == nil { // it failed, or a built-in function panicked
			delete(c.files, key) // it may be another one the next time
		}
	}()
	answer, err := c.ask(value.MapOf("op", "file", "saltenv", saltenv, "name", p))
	if err != nil {
		f.err = err
		return nil, err
	}
	src, ok := answer.(*value.Map)
	if !ok {
		f.err = fmt.Errorf("salt://%s cannot be read", p)
		return nil, f.err
	}
	for what := range needs(src.Str("source")) {
		c.common[what] = true
	}
	if f.err = c.fetch(c.common); f.err == nil {
		_, f.globals, f.err = c.run(src)
	}
	return f.globals, f.err
}

// describe tells whether a module serves, under which name, and its functions.
func (c *child) describe(mod *module, name string) (*value.Map, error) {
	g := mod.globals
	out := value.MapOf("name", name, "serves", true, "why", "")
	out.Set("aliases", aliasesOf(g))
	if init, ok := g["__init__"].(*starlark.Function); ok {
		if _, err := c.invoke(init, starlark.Tuple{c.names["__opts__"]}, nil); err != nil {
			return nil, err
		}
	}
	if virtual, ok := g["__virtual__"].(*starlark.Function); ok {
		answer, err := c.invoke(virtual, nil, nil)
		if err != nil {
			return nil, err
		}
		if t, ok := answer.(starlark.Tuple); ok && len(t) > 0 {
			if len(t) > 1 {
				out.Set("why", text(t[1]))
			}
			answer = t[0]
		}
		if s, ok := starlark.AsString(answer); answer == starlark.True || ok && s != name {
			if v, ok := starlark.AsString(orNone(g["__virtualname__"])); ok {
				s = v
			}
			if s != "" {
				out.Set("name", s)
			}
		}
		out.Set("serves", bool(answer.Truth()))
	}
	listed := g.Keys()
	if it, ok := g["__load__"].(starlark.Iterable); ok {
		listed = nil
		for v := range starlark.Elements(it) {
			listed = append(listed, text(v))
		}
	}
	slices.Sort(listed)
	alias, _ := g["__func_alias__"].(*starlark.Dict)
	functions := value.NewMap(len(listed))
	for _, attribute := range listed {
		fn, ok := g[attribute].(*starlark.Function)
		if strings.HasPrefix(attribute, "_") || !ok {
			continue
		}
		facts := signature(fn)
		facts.Set("attribute", attribute)
		functions.Set(lookup(alias, attribute, attribute), facts)
	}
	out.Set("functions", functions)
	return out, nil
}

// aliasesOf returns the further names of a module.
func aliasesOf(g starlark.StringDict) *value.List {
	aliases := value.NewList()
	if it, ok := g["__virtual_aliases__"].(starlark.Iterable); ok {
		for v := range starlark.Elements(it) {
			aliases.Append(text(v))
		}
	} else if s, ok := starlark.AsString(orNone(g["__virtual_aliases__"])); ok {
		aliases.Append(s)
	}
	return aliases
}

func orNone(v starlark.Value) starlark.Value {
	if v == nil {
		return starlark.None
	}
	return v
}

// text is a value as the function str makes it.
func text(v starlark.Value) string {
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	return v.String()
}

// lookup returns a string of a dict of strings.
func lookup(d *starlark.Dict, key, otherwise string) string {
	if d == nil {
		return otherwise
	}
	v, ok, err := d.Get(starlark.String(key))
	if !ok || err != nil {
		return otherwise
	}
	return text(v)
}

// signature describes the arguments of a function.
func signature(fn *starlark.Function) *value.Map {
	n := fn.NumParams()
	if fn.HasKwargs() {
		n--
	}
	if fn.HasVarargs() {
		n--
	}
	args := &value.List{}
	for i := range n {
		name, _ := fn.Param(i)
		arg := value.MapOf("name", name, "keyword", i >= n-fn.NumKwonlyParams())
		if d := fn.ParamDefault(i); d != nil {
			v, err := fromStarlark(d)
			if err != nil {
				v = text(d)
			}
			arg.Set("default", v)
			arg.Set("optional", true)
		}
		args.Append(arg)
	}
	return value.MapOf("args", args, "varargs", fn.HasVarargs(), "varkw", fn.HasKwargs(), "doc", clean(fn.Doc()))
}

// refresh takes the data that holds for a question.
func (c *child) refresh(m *value.Map, needs map[string]bool) error {
	if m.Has("versions") {
		c.versions = m.Map("versions")
		c.enter(m)
	}
	if err := c.fetch(needs); err != nil {
		return err
	}
	return c.fetch(c.common)
}

// enter takes the __context__ that holds for a question.
func (c *child) enter(m *value.Map) {
	number, _ := value.AsInt(m.At("context"))
	s := c.contexts[number]
	if s == nil {
		s = newShared()
		c.contexts[number] = s
	}
	s.take(m.Map("shared"))
	c.names["__context__"] = s
}

// fetch asks for the data that is needed and not here.
func (c *child) fetch(needs map[string]bool) error {
	for _, what := range data {
		version, ok := value.AsInt(c.versions.At(what))
		if mark, has := c.marks[what]; !needs[what] || !ok || has && mark == version {
			continue
		}
		answer, err := c.ask(value.MapOf("op", "data", "what", what))
		if err != nil {
			return err
		}
		v, err := toStarlark(answer)
		if err != nil {
			return err
		}
		d, ok := v.(*starlark.Dict)
		if !ok {
			d = starlark.NewDict(0)
		}
		d.Freeze()
		c.marks[what] = version
		if what == "opts" {
			c.options = d
		}
		c.bind(what, d)
	}
	return nil
}

// retest puts the test mode of a call into opts.
func (c *child) retest(test value.Value) error {
	c.test = test
	if c.options == nil || test == nil {
		return nil
	}
	v, err := toStarlark(test)
	if err != nil {
		return err
	}
	d := starlark.NewDict(c.options.Len())
	for k, item := range c.options.Entries() {
		if err := d.SetKey(k, item); err != nil {
			return err
		}
	}
	if err := d.SetKey(starlark.String("test"), v); err != nil {
		return err
	}
	d.Freeze()
	c.bind("opts", d)
	return nil
}

func (c *child) invoke(fn starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (v starlark.Value, err error) {
	err = c.within("", func(t *starlark.Thread) error {
		v, err = starlark.Call(t, fn, args, kwargs)
		return err
	})
	return v, err
}

// function returns a function of a loaded module.
func (c *child) function(m *value.Map, attribute string) (*starlark.Function, error) {
	mod := c.modules[m.Str("key")]
	if mod == nil {
		return nil, errors.New("the module is not loaded")
	}
	if err := c.refresh(m, mod.needs); err != nil {
		return nil, err
	}
	fn, ok := mod.globals[attribute].(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("there is no function %s", attribute)
	}
	return fn, nil
}

// call calls a function of a loaded module.
func (c *child) call(m *value.Map) (*value.Map, error) {
	attribute := m.Str("attribute")
	fn, err := c.function(m, attribute)
	if err != nil {
		return nil, err
	}
	defer c.leave(c.names["opts"], c.test)
	for k, v := range m.Map("frame").All() {
		s, err := toStarlark(v)
		if err != nil {
			return nil, err
		}
		c.names[dunder(value.Str(k))] = s
	}
	test := c.test
	if m.Has("test") {
		test = m.At("test")
	}
	if err := c.retest(test); err != nil {
		return nil, err
	}
	args, kwargs, err := arguments(m)
	if err != nil {
		return nil, err
	}
	result, err := c.invoke(fn, args, kwargs)
	if err != nil {
		return nil, err
	}
	out, err := fromStarlark(result)
	if err != nil {
		return nil, fmt.Errorf("what %s returns: %w", attribute, err)
	}
	answer := value.MapOf("value", out)
	if err := c.retcode(answer); err != nil {
		return nil, err
	}
	if m.Has("back") {
		i, _ := value.AsInt(m.At("back"))
		if i < 0 || i >= int64(len(args)) {
			return nil, fmt.Errorf("there is no argument %d", i)
		}
		back, err := fromStarlark(args[i])
		if err != nil {
			return nil, err
		}
		answer.Set("back", back)
	}
	d, _ := c.modules[m.Str("key")].globals["__outputter__"].(*starlark.Dict)
	if s := lookup(d, attribute, ""); s != "" {
		answer.Set("out", s)
	}
	return answer, nil
}

// leave ends a call: the test mode and the chunk of the one around it hold again.
// Those of the chunk are restored by serve, except for the outermost call.
func (c *child) leave(opts starlark.Value, test value.Value) {
	c.bind("opts", opts)
	c.test = test
	for _, what := range frame {
		c.names[dunder(what)] = starlark.None
	}
}

func arguments(m *value.Map) (starlark.Tuple, []starlark.Tuple, error) {
	var args starlark.Tuple
	if l := m.List("args"); l != nil {
		items, err := itemsToStarlark(l.Items)
		if err != nil {
			return nil, nil, err
		}
		args = items
	}
	var kwargs []starlark.Tuple
	for k, v := range m.Map("kwargs").All() {
		a, err := toStarlark(v)
		if err != nil {
			return nil, nil, err
		}
		kwargs = append(kwargs, starlark.Tuple{starlark.String(value.Str(k)), a})
	}
	return args, kwargs, nil
}

// render calls the function render of a module of _renderers.
func (c *child) render(m *value.Map) (*value.Map, error) {
	fn, err := c.function(m, "render")
	if err != nil {
		return nil, err
	}
	args, kwargs, err := arguments(m)
	if err != nil {
		return nil, err
	}
	data, err := toStarlark(m.At("data"))
	if err != nil {
		return nil, err
	}
	if !fn.HasKwargs() {
		kwargs = slices.DeleteFunc(kwargs, func(kv starlark.Tuple) bool { return !declares(fn, text(kv[0])) })
	}
	result, err := c.invoke(fn, append(starlark.Tuple{data}, args...), kwargs)
	if err != nil {
		return nil, err
	}
	out, err := fromStarlark(result)
	return value.MapOf("value", out), err
}

func declares(fn *starlark.Function, arg string) bool {
	for i := range fn.NumParams() {
		if name, _ := fn.Param(i); name == arg {
			return true
		}
	}
	return false
}
