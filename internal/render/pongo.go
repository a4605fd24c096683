package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path"
	"strings"
	"time"

	"brine/internal/fun"
	"brine/internal/host"
	"brine/internal/jinja/markupsafe"
	"brine/internal/source"
	"brine/internal/value"
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

// What parent and child tell each other, a line of JSON each. The parent begins
// with a pongoJob, answers each Call and Load with a pongoAnswer, and the child
// ends with Done.
type (
	pongoJob struct {
		Name string         `json:"name"`
		Text string         `json:"text"`
		Vars map[string]any `json:"vars"`
	}
	pongoAsk struct {
		Call  string      `json:"call,omitempty"` // a function, with Args
		Args  []any       `json:"args,omitempty"`
		Load  string      `json:"load,omitempty"` // a template's path
		Done  bool        `json:"done,omitempty"` // Out or Fault is there
		Out   string      `json:"out,omitempty"`
		Fault *pongoFault `json:"fault,omitempty"`
	}
	pongoAnswer struct {
		Value any    `json:"value,omitempty"`
		Error string `json:"error,omitempty"`
	}
	pongoFault struct {
		Msg  string `json:"msg"`
		File string `json:"file,omitempty"`
		Line int    `json:"line,omitempty"`
		Col  int    `json:"col,omitempty"`
	}
)

// pongo renders text with pongo2. Templates see what Jinja templates see,
// functions by a call: {{ salt("pillar.get", "a:b") }}.
//
// pongo2 cannot bound a template: a macro that calls itself overflows the
// stack, which ends a process, and an endless loop cannot be stopped. So it
// runs in a process of its own, which has no rights to functions and files but
// those that this one answers for.
func (e *Engine) pongo(ctx context.Context, in *Input, text string) (*datum, error) {
	exe, err := os.Executable()
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
		childOut.Close()
		childIn.Close()
		ended <- ending{out, err}
	}()
	fault, out, err := e.servePongo(ctx, in, text, asks, answers, clock)
	answers.Close()
	asks.Close()
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
	vars := map[string]any{}
	for k, v := range e.vars(in, text).All() {
		vars[value.Str(k)] = goValue(v, 0)
	}
	delete(vars, "salt")
	enc, dec := json.NewEncoder(answers), json.NewDecoder(asks)
	dec.UseNumber()
	if err := enc.Encode(pongoJob{Name: in.name(), Text: text, Vars: vars}); err != nil {
		return nil, "", err
	}
	for loads := 0; ; {
		var ask pongoAsk
		if err := dec.Decode(&ask); err != nil {
			return nil, "", err
		}
		clock.pause() // what the template asks for is not its own time
		var a pongoAnswer
		switch {
		case ask.Done:
			return ask.Fault, ask.Out, nil
		case ask.Call != "":
			args := make([]value.Value, len(ask.Args))
			for i, x := range ask.Args {
				args[i] = value.From(fromWire(x))
			}
			v, err := invoke(ctx, e.env, ask.Call, args, nil)
			if err != nil {
				a.Error = err.Error()
			} else {
				a.Value = goValue(v, 0)
			}
		default:
			loads++
			t, err := e.loadPongo(ctx, in.saltenv(), ask.Load)
			if loads > pongoMaxLoads {
				err = fmt.Errorf("more than %d templates are included", pongoMaxLoads)
			}
			if err != nil {
				a.Error = err.Error()
			} else {
				a.Value = t
			}
		}
		clock.run()
		if err := enc.Encode(a); err != nil {
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

// goValue makes plain data of v, of JSON's kinds; what is no data is nil.
func goValue(v value.Value, depth int) any {
	if depth > maxGo {
		return nil
	}
	switch v := v.(type) {
	case nil, bool, int64, string:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return value.Str(v)
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
		return goItems(v.Items, depth)
	case value.Tuple:
		return goItems(v, depth)
	case *value.Set:
		return goItems(v.Items(), depth)
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
	return nil
}

func goItems(items []value.Value, depth int) []any {
	out := make([]any, len(items))
	for i, x := range items {
		out[i] = goValue(x, depth+1)
	}
	return out
}

// fromWire makes ints of the whole numbers of decoded JSON.
func fromWire(x any) any {
	switch x := x.(type) {
	case json.Number:
		if i, err := x.Int64(); err == nil {
			return i
		}
		f, _ := x.Float64()
		return f
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int64(x)
		}
		return x
	case []any:
		for i := range x {
			x[i] = fromWire(x[i])
		}
	case map[string]any:
		for k, v := range x {
			x[k] = fromWire(v)
		}
	}
	return x
}
