package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/flosch/pongo2/v6"

	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
)

// Bounds of a pongo2 rendering, which pongo2 itself does not have.
const (
	pongoMaxOutput = 64 << 20 // bytes
	pongoMaxLoads  = 200      // templates loaded
	pongoMaxDepth  = 100      // macros within macros
)

// plainText turns pongo2's escaping for HTML off; it is a switch of the
// library's, and brine renders no HTML.
var plainText = sync.OnceFunc(func() { pongo2.SetAutoescape(false) })

// pongoStage renders a pongo2 template.
func (e *Engine) pongoStage(ctx context.Context, in *Input, s stage, d *datum) (*datum, error) {
	if s.args != "" {
		return nil, &source.Error{Pos: source.Pos{File: in.name(), Line: 1, Col: 1}, Err: fmt.Errorf("Unknown renderer option: %s", s.args)}
	}
	return e.pongo(ctx, in, d.text)
}

// pongo renders text with pongo2. Templates see what Jinja templates see,
// functions by a call: {{ salt("pillar.get", "a:b") }}.
func (e *Engine) pongo(ctx context.Context, in *Input, text string) (d *datum, err error) {
	plainText()
	defer func() {
		// pongo2 lets some faults of templates out as panics.
		if p := recover(); p != nil {
			d, err = nil, &source.Error{Pos: source.Pos{File: in.name()}, Err: fmt.Errorf("pongo2: %v", p)}
		}
	}()
	depth := 0
	vars := pongo2.Context{}
	for k, v := range e.vars(in, text).All() {
		vars[value.Str(k)] = goValue(v, 0)
	}
	vars["salt"] = func(name *pongo2.Value, args ...*pongo2.Value) (*pongo2.Value, error) {
		a := make([]value.Value, len(args))
		for i, x := range args {
			a[i] = fromGo(x.Interface())
		}
		v, err := invoke(ctx, e.env, name.String(), a, nil)
		if err != nil {
			return nil, err
		}
		return pongo2.AsValue(goValue(v, 0)), nil
	}
	vars[enterMacro] = func() (*pongo2.Value, error) {
		if depth++; depth > pongoMaxDepth {
			return nil, fmt.Errorf("macros are nested more than %d deep", pongoMaxDepth)
		}
		return pongo2.AsValue(""), nil
	}
	vars[leaveMacro] = func() *pongo2.Value {
		depth--
		return pongo2.AsValue("")
	}
	l := &pongoLoader{ctx: ctx, e: e, saltenv: in.saltenv()}
	set := pongo2.NewSet(in.name(), l)
	if err := set.BanTag("ssi"); err != nil { // reads any file of the machine
		return nil, err
	}
	t, err := set.FromString(guardMacros(text))
	if err != nil {
		return nil, e.pongoFault(ctx, err, in, text)
	}
	out := &boundedBuffer{max: pongoMaxOutput}
	if err := t.ExecuteWriterUnbuffered(vars, out); err != nil {
		return nil, e.pongoFault(ctx, err, in, text)
	}
	name := in.name()
	return &datum{isText: true, text: out.String(), pos: func(line int) source.Pos { return source.Pos{File: name, Line: line} }}, nil
}

// pongoFault places a fault of pongo2.
func (e *Engine) pongoFault(ctx context.Context, err error, in *Input, text string) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	var pe *pongo2.Error
	pos := source.Pos{File: in.name()}
	cause := err
	if errors.As(err, &pe) {
		if pe.Filename != "" && !strings.HasPrefix(pe.Filename, "<") {
			pos.File = pe.Filename
		}
		pos.Line, pos.Col = pe.Line, pe.Column
		if pe.OrigError != nil {
			cause = pe.OrigError
		}
	}
	salt := "pongo2 error: " + cause.Error()
	if pos.Line > 0 && pos.File == in.name() {
		salt += fmt.Sprintf("; line %d\n\n%s", pos.Line, excerpt(text, pos.Line))
	}
	return &source.Error{Pos: pos, Err: cause, Salt: salt}
}

// Names of the functions that guardMacros puts in.
const enterMacro, leaveMacro = "brine_enter_macro", "brine_leave_macro"

// guardMacros puts a counter into each macro of a pongo2 template: one that
// calls itself without end would overflow the stack, which ends the process.
func guardMacros(text string) string {
	if !strings.Contains(text, "macro") {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "{%")
		if i < 0 {
			break
		}
		end := tagEnd(text[i:])
		if end < 0 {
			break
		}
		tag := text[i : i+end]
		fields := strings.Fields(strings.Trim(tag[2:len(tag)-2], "-"))
		word := ""
		if len(fields) > 0 {
			word = fields[0]
		}
		b.WriteString(text[:i])
		if word == "endmacro" {
			b.WriteString("{{ " + leaveMacro + "() }}")
		}
		b.WriteString(tag)
		if word == "macro" {
			b.WriteString("{{ " + enterMacro + "() }}")
		}
		text = text[i+end:]
	}
	b.WriteString(text)
	return b.String()
}

// tagEnd returns where the tag that text starts with ends, -1 if it does not.
func tagEnd(text string) int {
	quote := byte(0)
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '%' && i+1 < len(text) && text[i+1] == '}':
			return i + 2
		}
	}
	return -1
}

// pongoLoader finds templates for include, extends and import of pongo2.
type pongoLoader struct {
	ctx     context.Context
	e       *Engine
	saltenv string
	loads   int
}

// Abs returns the path below the roots of a template that another names.
func (l *pongoLoader) Abs(base, name string) string {
	if p, _, ok := fun.SplitURL(name); ok {
		return p
	}
	if head, _, _ := strings.Cut(name, "/"); head == "." || head == ".." {
		return path.Join(path.Dir(base), name)
	}
	return name
}

// Get returns the text of a template.
func (l *pongoLoader) Get(p string) (io.Reader, error) {
	if l.loads++; l.loads > pongoMaxLoads {
		return nil, fmt.Errorf("more than %d templates are included", pongoMaxLoads)
	}
	fi, err := l.e.files.Stat(l.ctx, l.saltenv, p)
	if err != nil {
		return nil, err
	}
	text, err := Read(l.ctx, l.e.files, fi)
	if err != nil {
		return nil, err
	}
	return strings.NewReader(guardMacros(string(text))), nil
}

// A boundedBuffer takes up to max bytes.
type boundedBuffer struct {
	bytes.Buffer
	max int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.max {
		return 0, fmt.Errorf("the rendered text is larger than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}

func (b *boundedBuffer) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// maxGo bounds how deep data is made plain for pongo2.
const maxGo = 64

// goValue makes plain Go data of v, which pongo2 works on.
func goValue(v value.Value, depth int) any {
	if depth > maxGo {
		return nil
	}
	switch v := v.(type) {
	case *value.List:
		return goItems(v.Items, depth)
	case value.Tuple:
		return goItems(v, depth)
	case *value.Set:
		return goItems(v.Items(), depth)
	case value.Bytes:
		return string(v)
	case *saltObject:
		return nil
	case value.Mapping:
		m := make(map[string]any, v.Len())
		for _, k := range v.Keys() {
			x, _ := v.Get(k)
			m[value.Str(k)] = goValue(x, depth+1)
		}
		return m
	}
	return v
}

func goItems(items []value.Value, depth int) []any {
	out := make([]any, len(items))
	for i, x := range items {
		out[i] = goValue(x, depth+1)
	}
	return out
}

// fromGo makes a value of what pongo2 gives; what is no data is nil.
func fromGo(x any) value.Value {
	switch x := x.(type) {
	case *pongo2.Value:
		return fromGo(x.Interface())
	case map[string]any:
		return value.From(x)
	case func(*pongo2.Value, ...*pongo2.Value) (*pongo2.Value, error):
		return nil
	}
	return value.From(x)
}
