package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/core/python"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// pyStage runs an SLS in Python: what its function run returns is its data, or text
// for the next renderer. As in Salt, it takes the file, whatever stands before it in
// the pipeline.
//
// Salt: salt/renderers/py.py.
func (e *Engine) pyStage(ctx context.Context, in *Input, _ stage, d *datum) (*datum, error) {
	if in.Path == ":string:" {
		return nil, &source.Error{Pos: d.pos(1), Err: fmt.Errorf("the renderer py takes files only"), Salt: "Template is not a file!"}
	}
	text, err := e.decode(in)
	if err != nil {
		return nil, err
	}
	v, err := e.python(ctx, in, text)
	if err != nil {
		return nil, err
	}
	return e.pyDatum(d, v), nil
}

// python runs a Python file with the variables of a template.
func (e *Engine) python(ctx context.Context, in *Input, text string) (value.Value, error) {
	env := e.env
	vars := e.vars(in)
	for _, name := range []string{"salt", "grains", "opts", "pillar", "proxy"} {
		vars.Delete(name) // the helper has them
	}
	vars.Update(in.Vars)
	if !vars.Has("env") {
		vars.Set("env", in.saltenv())
	}
	vars.Set("__env__", in.saltenv())
	vars.Set("__sls__", in.SLS)
	if in.Pillar != nil {
		env = env.With(func(c *fun.Env) { c.Pillar = in.Pillar })
	}
	file := in.Abs
	if file == "" {
		file = in.name()
	}
	v, err := python.Run(ctx, env, python.Script{File: file, Text: text, Vars: vars, Grains: e.env.SubjectGrains()})
	if err != nil {
		return nil, pyFault(in, "py", err)
	}
	return v, nil
}

// pyTemplate runs a template of file.managed in Python: its function run returns the
// text.
func (e *Engine) pyTemplate(ctx context.Context, in *Input, text string) (string, error) {
	v, err := e.python(ctx, in, text)
	if err != nil {
		return "", err
	}
	s, ok := value.AsText(v)
	if !ok {
		return "", &source.Error{Pos: source.Pos{File: in.name()}, Err: fmt.Errorf("run() must return text, not %s", value.TypeName(v))}
	}
	return s, nil
}

// pyDatum is what a renderer in Python returned.
func (e *Engine) pyDatum(d *datum, v value.Value) *datum {
	if s, ok := value.AsText(v); ok {
		return &datum{isText: true, text: s, pos: d.pos}
	}
	if !value.Truth(v) {
		v = value.NewMap(0)
	}
	return &datum{data: v}
}

// pyFault gives what Python raised the words of Salt and a place.
func pyFault(in *Input, renderer string, err error) *source.Error {
	if errors.Is(err, python.ErrNoPython) {
		return &source.Error{
			Pos: source.Pos{File: in.name(), Line: 1, Col: 1}, Err: fmt.Errorf("the renderer %q cannot run: %w", renderer, python.ErrNoPython),
			Hint: `install python3, or write the file as "#!jinja|yaml"`, Salt: fmt.Sprintf("The renderer %q is not available", renderer),
		}
	}
	re, ok := python.Raised(err)
	if ok && strings.HasSuffix(re.Type, ".Missing") {
		return &source.Error{
			Pos: source.Pos{File: in.name(), Line: 1, Col: 1}, Err: fmt.Errorf("the renderer %q cannot run: %s", renderer, re.Msg),
			Hint: `install it for python3 (Debian: apt install python3-mako), or write the file as "#!jinja|yaml"`, Salt: fmt.Sprintf("The renderer %q is not available", renderer),
		}
	}
	if !ok {
		return &source.Error{Pos: source.Pos{File: in.name()}, Err: err}
	}
	pos, ok := python.PlaceOf(re.Place)
	if !ok {
		pos = source.Pos{File: in.name()}
	} else if pos.File == in.Abs {
		pos.File = in.name()
	}
	return &source.Error{Pos: pos, Err: fmt.Errorf("%s: %s", re.Type, re.Msg), Salt: re.Traceback()}
}

// custom returns the renderer of the tree's _renderers by a name; nil where there is
// none.
func (e *Engine) custom(ctx context.Context, name string) func(*Engine, context.Context, *Input, stage, *datum) (*datum, error) {
	if !python.Exists(ctx, e.env, "renderers", name) {
		return nil
	}
	return (*Engine).customStage
}

// customStage calls the function render of a module of _renderers.
func (e *Engine) customStage(ctx context.Context, in *Input, s stage, d *datum) (*datum, error) {
	m, err := python.Open(ctx, e.env, "renderers", s.name)
	if err != nil {
		return nil, &source.Error{Pos: source.Pos{File: in.name(), Line: 1}, Err: err}
	}
	if !m.Has("render") {
		return nil, &source.Error{Pos: source.Pos{File: in.name(), Line: 1}, Err: fmt.Errorf("salt://_renderers/%s.py has no function render", s.name)}
	}
	v, err := e.renderBy(ctx, m, in, s, d, in.Vars)
	if err != nil {
		return nil, pyFault(in, s.name, err)
	}
	return e.pyDatum(d, v), nil
}

// renderBy calls the function render of a module with what comes from the renderer
// before it, and the variables vars.
func (e *Engine) renderBy(ctx context.Context, m *python.Module, in *Input, s stage, d *datum, vars *value.Map) (value.Value, error) {
	tmplpath := in.Abs
	if tmplpath == "" {
		tmplpath = in.Path
	}
	kw := value.MapOf("tmplpath", tmplpath)
	if s.args != "" {
		kw.Set("argline", s.args)
	}
	if vars.Len() > 0 {
		kw.Set("context", vars)
	}
	data := d.data
	if d.isText {
		data = d.text
	}
	return m.Render(ctx, e.env.SubjectGrains(), data, d.isText, value.NewList(in.saltenv(), in.SLS), kw)
}

// pythonStage runs a renderer that brine has in Python.
//
// Salt: salt/renderers/pyobjects.py, pydsl.py, mako.py.
func (e *Engine) pythonStage(ctx context.Context, in *Input, s stage, d *datum) (*datum, error) {
	env := e.env
	if in.Pillar != nil {
		env = env.With(func(c *fun.Env) { c.Pillar = in.Pillar })
	}
	m, err := python.Renderer(ctx, env, s.name)
	if err != nil {
		return nil, pyFault(in, s.name, err)
	}
	vars := in.Vars
	if s.name == "mako" { // which sees what other templates see
		vars = e.vars(in)
		for _, name := range []string{"salt", "grains", "opts", "pillar", "proxy"} {
			vars.Delete(name)
		}
		vars.Update(in.Vars)
	}
	v, err := e.renderBy(ctx, m, in, s, d, vars)
	if err != nil {
		fault := pyFault(in, s.name, err)
		// What others than mako raise is an exception to Salt, not a fault of rendering.
		if re, ok := python.Raised(err); ok && s.name != "mako" {
			fault.Err, fault.Salt = &PlainError{re.Type[strings.LastIndexByte(re.Type, '.')+1:], re.Msg}, ""
		}
		return nil, fault
	}
	return e.pyDatum(d, v), nil
}
