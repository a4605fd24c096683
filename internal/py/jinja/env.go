package jinja

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"brine/internal/py/source"
	"brine/internal/py/value"
)

// A Source is the text of a template as a [Loader] gives it.
type Source struct {
	Name string // as errors show it; empty: the name it was asked for by
	Text string
	Key  string // templates of one Key and Text are parsed once; empty: Name
}

// A Loader finds templates by name. from is the name of the template that
// asks. A missing template is a [*NotFoundError].
type Loader interface {
	Load(ctx context.Context, name, from string) (Source, error)
}

// An Env has the options and the parsed templates. It is safe for use by
// several goroutines.
type Env struct {
	opts   Options
	loader Loader

	mu    sync.Mutex
	cache map[cacheKey]*Template
}

type cacheKey struct {
	key, name, text string
	anonymous       bool
}

// New returns an environment. l may be nil: then templates cannot import others.
func New(o Options, l Loader) *Env {
	return &Env{opts: o.withDefaults(), loader: l, cache: map[cacheKey]*Template{}}
}

// Options returns the options, defaults filled in.
func (e *Env) Options() Options { return e.opts }

// A Template is a parsed template.
type Template struct {
	Name string

	env       *Env
	text      string // newlines normalized
	anonymous bool   // not loaded by name: Jinja2's messages do not name it
	newline   bool   // the text ended with a newline
	root      *code
	blocks    map[string]*code

	lastSize, lastMarks atomic.Int32 // of the last rendering
}

func (t *Template) reprName() string {
	if t.anonymous {
		return "None"
	}
	return value.QuoteStr(t.Name)
}

// Parse returns the template of a text. A fault is an *Error. Equal texts of
// one name are parsed once.
func (e *Env) Parse(name, text string) (*Template, error) {
	return e.parsed(cacheKey{name: name, text: text, anonymous: true})
}

// Get returns the template of that name from the loader, parsed once. from is
// the name of the template that asks. A missing template is a
// *NotFoundError.
func (e *Env) Get(ctx context.Context, name, from string) (*Template, error) {
	if e.loader == nil {
		return nil, value.Raise("TypeError", "no loader for this environment specified")
	}
	src, err := e.loader.Load(ctx, name, from)
	if err != nil {
		return nil, err
	}
	if src.Name == "" {
		src.Name = name
	}
	return e.parsed(cacheKey{key: src.Key, name: src.Name, text: src.Text})
}

func (e *Env) parsed(k cacheKey) (*Template, error) {
	e.mu.Lock()
	t := e.cache[k]
	e.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t = &Template{Name: k.name, env: e, anonymous: k.anonymous}
	t.text = normalize(&e.opts, k.text)
	t.newline = len(k.text) > 0 && k.text[len(k.text)-1] == '\n'
	if len(t.text) > 1<<30 {
		return nil, &Error{Kind: Syntax, PyType: "MemoryError", Msg: "the template is too large", Pos: source.Pos{File: k.name}}
	}
	body, err := parse(e, t.Name, t.text)
	if err != nil {
		return nil, err
	}
	if err := compileTemplate(t, body); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.cache[k] = t
	e.mu.Unlock()
	return t, nil
}

// Render renders the template with vars, which the templates that it imports
// or includes see too. A newline that ends the template ends the output. A
// fault is an *Error.
func (t *Template) Render(ctx context.Context, vars *value.Map) (*Output, error) {
	r := newRun(ctx, t.env, vars)
	// The last rendering tells how much room this one needs.
	w := &writer{run: r, buf: make([]byte, 0, max(len(t.text)+len(t.text)/2, int(t.lastSize.Load()))), marks: make([]mark, 0, t.lastMarks.Load())}
	if err := t.root.run(newState(r, t, nil), w, nil, 0); err != nil {
		return nil, finish(err)
	}
	if t.newline {
		w.buf = append(w.buf, '\n')
	}
	t.lastSize.Store(int32(min(len(w.buf), maxRoom)))
	t.lastMarks.Store(int32(min(len(w.marks), maxRoom)))
	// The buffer is used no more, so the text need not be a copy of it.
	return &Output{Text: unsafe.String(unsafe.SliceData(w.buf), len(w.buf)), name: t.Name, marks: w.marks}, nil
}

// maxRoom bounds what is set aside for a rendering beforehand.
const maxRoom = 1 << 20

// Module renders the template for the names that it sets at top level, as an
// import of it with vars as context does.
func (t *Template) Module(ctx context.Context, vars *value.Map) (*Module, error) {
	r := newRun(ctx, t.env, vars)
	m, err := newModule(newState(r, t, nil), nil, 0)
	if err != nil {
		return nil, finish(err)
	}
	return m, nil
}

// finish makes sure that an error names a line.
func finish(err error) error {
	var e *Error
	if errors.As(err, &e) && e.At.IsZero() {
		e.At = source.Pos{File: e.Pos.File, Line: e.Pos.Line}
	}
	return err
}

// run is what the templates of one rendering share.
type run struct {
	ctx  context.Context //nolint:containedctx // one rendering in progress, whose functions (State) take no context
	env  *Env
	vars *value.Map // the context of the rendering; imported templates see it too

	// importVars gives imported templates variables of their own; may be nil.
	importVars func(template string) *value.Map

	deadline time.Time // when the template has had its time

	depth int
	ticks int
	size  int // bytes written so far

	built     int       // bytes of the values that were made so far, about
	weighAt   int       // where built reaches it, memory is looked at
	nextWeigh time.Time // but not before

	spare   []*writer
	kept    map[*byte]captured
	modules map[*Template]*Module
	loaded  map[loadKey]*Template
	shared  []shared
	at      *Template // the template and offset of the current call
	off     int32
}

func newRun(ctx context.Context, e *Env, vars *value.Map) *run {
	r := &run{ctx: ctx, env: e, vars: vars, deadline: time.Now().Add(e.opts.MaxTime)}
	r.importVars, _ = ctx.Value(importVarsKey{}).(func(string) *value.Map)
	return r
}

// shared is something that a rendering keeps for an extension.
type shared struct{ key, value any }

type loadKey struct{ name, from string }

// writer returns a writer for captured text; its done gives it back.
func (r *run) writer() *writer {
	if n := len(r.spare); n > 0 {
		w := r.spare[n-1]
		r.spare = r.spare[:n-1]
		w.buf, w.marks, w.text = w.buf[:0], w.marks[:0], ""
		return w
	}
	return &writer{run: r}
}

// enter counts a level of calls; leave ends it.
func (r *run) enter() error {
	if r.depth++; r.depth > r.env.opts.MaxDepth {
		r.depth--
		return value.Raise("RecursionError", "maximum recursion depth exceeded")
	}
	return r.tick()
}

func (r *run) leave() { r.depth-- }

// tick ends a rendering whose time is up.
func (r *run) tick() error {
	if r.ticks++; r.ticks&0xf != 0 {
		return nil
	}
	return r.late()
}

// late returns an error where the time of the rendering is up.
func (r *run) late() error {
	switch err := r.ctx.Err(); {
	case err == nil:
		if time.Now().After(r.deadline) {
			return &timeUpError{context.DeadlineExceeded, "the template took too long (limit " + r.env.opts.MaxTime.String() + ")"}
		}
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &timeUpError{err, "the template took too long"}
	default:
		return &timeUpError{err, "rendering was stopped"}
	}
}

// Late returns an error if the time of the rendering is up.
func (s *State) Late() error { return s.run.late() }

// Tick counts a small step of work. From time to time it checks, as
// [State.Late] does, whether the time of the rendering is up.
func (s *State) Tick() error { return s.run.tick() }

// IsTimeUp reports whether err says that the time of a rendering is up, or that
// it was stopped.
func IsTimeUp(err error) bool {
	var up *timeUpError
	return errors.As(err, &up)
}

// Shared returns what the rendering keeps under key, whose type should be the
// caller's own. create makes it at first use.
func (s *State) Shared(key any, create func() any) any {
	for _, kept := range s.run.shared {
		if kept.key == key {
			return kept.value
		}
	}
	v := create()
	s.run.shared = append(s.run.shared, shared{key, v})
	return v
}

// Untimed calls fn and does not count its time: what fn does, such as to run a
// program, has other limits.
func (s *State) Untimed(fn func() (value.Value, error)) (value.Value, error) {
	start := time.Now()
	v, err := fn()
	s.run.deadline = s.run.deadline.Add(time.Since(start))
	return v, err
}

// timeUpError is an error of the context of a rendering.
type timeUpError struct {
	err error
	msg string
}

func (t *timeUpError) Error() string { return t.msg }

// Unwrap returns the context's error.
func (t *timeUpError) Unwrap() error { return t.err }
