package render

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"path"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// PongoCommand is the hidden command of brine that is [ServePongo].
const PongoCommand = "pongo2-render"

// Bounds of a pongo2 rendering, which pongo2 itself does not have.
const (
	pongoMaxOutput = 64 << 20 // bytes
	pongoMaxLoads  = 200      // templates loaded
	pongoMaxMemory = 1 << 30  // bytes
	pongoMaxStack  = 32 << 20 // bytes
)

// pongoStage renders a pongo2 template.
func (e *Engine) pongoStage(ctx context.Context, in *Input, s stage, d *datum) (*datum, error) {
	if s.args != "" {
		return nil, &source.Error{Pos: source.Pos{File: in.name(), Line: 1, Col: 1}, Err: fmt.Errorf("Unknown renderer option: %s", s.args)}
	}
	return e.pongo(ctx, in, d.text)
}

// What parent and child tell each other is a line of JSON each, a dict. The
// parent begins with a job: name, text and vars. It answers each of the child's
// calls (call, a function, with args) and loads (load, a template's path) with
// value or error. The child ends with done: out, or the fault with msg, file,
// line and col.
type pongoWire struct {
	r *bufio.Reader
	w io.Writer
}

func newPongoWire(r io.Reader, w io.Writer) *pongoWire {
	return &pongoWire{bufio.NewReader(r), w}
}

func (w *pongoWire) send(keysAndValues ...any) error {
	_, err := w.w.Write(append(value.EncodeJSON(value.MapOf(keysAndValues...)), '\n'))
	return err
}

func (w *pongoWire) receive() (*value.Map, error) {
	line, err := w.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	v, err := value.ParseJSON(line)
	if err != nil {
		return nil, err
	}
	if m, ok := v.(*value.Map); ok {
		return m, nil
	}
	return nil, errors.New("a dict was expected")
}

// A pongoFault is what pongo2 finds wrong with a template.
type pongoFault struct {
	Msg       string
	File      string // "" is the template itself
	Line, Col int
}

// pongo renders text with pongo2. Templates see what Jinja templates see,
// functions by a call: {{ salt("pillar.get", "a:b") }}.
//
// pongo2 cannot bound a template: a macro that calls itself overflows the
// stack, which ends a process, and an endless loop cannot be stopped. So it
// runs in a process of its own, which has no rights to functions and files but
// those that this one answers for.
func (e *Engine) pongo(ctx context.Context, in *Input, text string) (*datum, error) {
	exe, err := host.Executable()
	if err != nil {
		return nil, fmt.Errorf("run pongo2: %w", err)
	}
	limit := e.maxTime()
	ctx2, cancel := context.WithCancel(ctx)
	defer cancel()
	clock := newClock(limit, cancel)
	defer clock.pause()

	asks, childOut := io.Pipe()
	childIn, answers := io.Pipe()
	type ending struct {
		out host.Output
		err error
	}
	ended := make(chan ending, 1)
	var stderr bytes.Buffer
	go func() {
		// The child is a part of brine and not of the machine that it manages.
		out, err := host.NewLocal().Run(ctx2, host.Cmd{
			Argv: []string{exe, PongoCommand}, Stdin: childIn, Stdout: childOut,
			Stderr: &limitedBuffer{b: &stderr, max: 64 << 10}, MaxOutput: math.MaxInt64,
		})
		_ = childOut.Close() // a pipe's Close returns nil
		_ = childIn.Close()
		ended <- ending{out, err}
	}()
	fault, out, err := e.servePongo(ctx, in, text, asks, answers, clock)
	_ = answers.Close()
	_ = asks.Close()
	end := <-ended
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && fault == nil:
		name := in.name()
		return &datum{isText: true, text: out, pos: func(line int) source.Pos { return source.Pos{File: name, Line: line} }}, nil
	case fault != nil:
	case ctx2.Err() != nil:
		fault = &pongoFault{Msg: fmt.Sprintf("the template takes longer than %s", limit)}
	case strings.Contains(stderr.String(), "stack exceeds"):
		fault = &pongoFault{Msg: "the template is nested too deep: a macro or template that calls itself without end?"}
	case end.err != nil:
		return nil, fmt.Errorf("run pongo2: %w", end.err)
	case strings.HasPrefix(stderr.String(), pongoMemoryText):
		fault = &pongoFault{Msg: strings.TrimSpace(stderr.String())}
	default:
		fault = &pongoFault{Msg: fmt.Sprintf("pongo2 ended with status %d: %v", end.out.Status, err)}
	}
	return nil, pongoError(fault, in, text)
}

// servePongo gives the child its job and answers what it asks for.
func (e *Engine) servePongo(ctx context.Context, in *Input, text string, asks io.Reader, answers io.Writer, clock *clock) (*pongoFault, string, error) {
	vars := value.NewMap(16)
	for k, v := range e.vars(in).All() {
		if name := value.Str(k); name != "salt" {
			vars.Set(name, plainValue(v, 0))
		}
	}
	wire := newPongoWire(asks, answers)
	if err := wire.send("name", in.name(), "text", text, "vars", vars); err != nil {
		return nil, "", err
	}
	for loads := 0; ; {
		ask, err := wire.receive()
		if err != nil {
			return nil, "", err
		}
		clock.pause() // what the template asks for is not its own time
		var answer value.Value
		switch {
		case ask.Has("done"):
			if f := ask.Map("fault"); f != nil {
				line, _ := value.AsInt(f.At("line"))
				col, _ := value.AsInt(f.At("col"))
				return &pongoFault{f.Str("msg"), f.Str("file"), int(line), int(col)}, "", nil
			}
			return nil, ask.Str("out"), nil
		case ask.Has("call"):
			var args []value.Value
			if l, ok := ask.At("args").(*value.List); ok {
				args = l.Items
			}
			if answer, err = invoke(ctx, e.env, ask.Str("call"), args, nil); err == nil {
				answer = plainValue(answer, 0)
			}
		default:
			loads++
			answer, err = e.loadPongo(ctx, in.saltenv(), ask.Str("load"))
			if loads > pongoMaxLoads {
				err = fmt.Errorf("more than %d templates are included", pongoMaxLoads)
			}
		}
		clock.run()
		if err != nil {
			err = wire.send("error", err.Error())
		} else {
			err = wire.send("value", answer)
		}
		if err != nil {
			return nil, "", err
		}
	}
}

// A clock calls a function when its time is up, unless it is paused.
type clock struct {
	left    time.Duration
	started time.Time
	timer   *time.Timer
}

// newClock returns a clock that runs.
func newClock(limit time.Duration, up func()) *clock {
	return &clock{left: limit, started: time.Now(), timer: time.AfterFunc(limit, up)}
}

func (c *clock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.started)
}

func (c *clock) run() {
	c.started = time.Now()
	c.timer.Reset(max(0, c.left))
}

// loadPongo returns the text of a template below the roots.
func (e *Engine) loadPongo(ctx context.Context, saltenv, p string) (string, error) {
	if q, env, ok := fun.SplitURL(p); ok {
		if p = q; env != "" {
			saltenv = env
		}
	}
	fi, err := e.files.Stat(ctx, saltenv, path.Clean("/" + p)[1:])
	if err != nil {
		return "", err
	}
	text, err := Read(ctx, e.files, fi)
	return string(text), err
}

// pongoError places a fault of pongo2.
func pongoError(f *pongoFault, in *Input, text string) error {
	pos := source.Pos{File: in.name(), Line: f.Line, Col: f.Col}
	if f.File != "" {
		pos.File = f.File
	}
	salt := "pongo2 error: " + f.Msg
	if pos.Line > 0 && pos.File == in.name() {
		salt += fmt.Sprintf("; line %d\n\n%s", pos.Line, value.Excerpt(text, pos.Line))
	}
	return &source.Error{Pos: pos, Err: errors.New(f.Msg), Salt: salt}
}

// A limitedBuffer keeps up to max bytes and drops the rest.
type limitedBuffer struct {
	b   *bytes.Buffer
	max int
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, l.max-l.b.Len()))])
	return len(p), nil
}

// maxGo bounds how deep data is made plain for pongo2.
const maxGo = 64

// plainValue converts v to the types of JSON; anything else is nil. Whole
// floats become ints, since pongo2 prints floats with six digits.
func plainValue(v value.Value, depth int) value.Value {
	if depth > maxGo {
		return nil
	}
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v
	case float64:
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return value.Str(v)
		case v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return int64(v)
		}
		return v
	case *big.Int:
		return v.String()
	case time.Time:
		return value.Str(v)
	case value.Bytes:
		return string(v)
	case markupsafe.Markup:
		return string(v)
	case *value.List:
		return plainItems(v.Items, depth)
	case value.Tuple:
		return plainItems(v, depth)
	case *value.Set:
		return plainItems(v.Items(), depth)
	case *saltObject:
		return nil
	case value.Mapping:
		m := value.NewMap(v.Len())
		for _, k := range v.Keys() {
			x, _ := v.Get(k)
			m.Set(value.Str(k), plainValue(x, depth+1))
		}
		return m
	}
	return nil
}

func plainItems(items []value.Value, depth int) value.Value {
	out := make([]value.Value, len(items))
	for i, x := range items {
		out[i] = plainValue(x, depth+1)
	}
	return value.NewList(out...)
}

// goValue makes what pongo2 works on of plain data.
func goValue(v value.Value) any {
	switch v := v.(type) {
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	case *value.List:
		out := make([]any, len(v.Items))
		for i, x := range v.Items {
			out[i] = goValue(x)
		}
		return out
	case *value.Map:
		m := make(map[string]any, v.Len())
		for k, x := range v.All() {
			m[value.Str(k)] = goValue(x)
		}
		return m
	}
	return v
}
