package python

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/python/wire"
	"brine/internal/py/value"
)

// A world is the data that a function sees, and what answers its questions.
type world struct {
	env    *fun.Env
	grains value.Mapping // instead of the Env's; nil: those
}

// data returns opts, grains or pillar.
func (w world) data(what string) value.Value {
	switch what {
	case "opts":
		return w.env.Opts
	case "pillar":
		if w.env.Pillar == nil {
			return nil
		}
		return w.env.Pillar
	}
	g := w.grains
	if g == nil {
		g = w.env.Grains
	}
	if g == nil {
		return nil
	}
	return g
}

// ask asks the helper and serves what it asks meanwhile. src, if any, is loaded first
// where the process has not got it; a nil question is that of loading it again.
//
// A question that comes while a function waits for one of brine is answered within
// that: it may be part of what the function waits for.
func (h *Helper) ask(ctx context.Context, w world, src *source, question *value.Map) (*value.Map, error) {
	if question == nil {
		question = src.question()
	}
	// Lazy data is worked out before the question begins; versions come on top.
	packed, err := wire.Pack(question)
	if err != nil {
		return nil, err
	}
	h.gather(ctx, w)
	if err := h.acquire(ctx); err != nil {
		return nil, err
	}
	defer h.release()
	p := h.p
	if h.depth == 0 {
		if p, err = h.running(ctx, w.env); err != nil {
			return nil, err
		}
	}
	defer p.guard(ctx)()
	load := question.Str("op") == "load"
	if src != nil && !load && !p.loaded[src.key] {
		if _, err := h.exchange(ctx, p, w, src.question()); err != nil {
			return nil, err
		}
		p.loaded[src.key] = true
	}
	answer, err := h.exchange(ctx, p, w, packed.(*value.Map))
	if load && err == nil {
		p.loaded[src.key] = true
	}
	return answer, err
}

// acquire waits until the process can take a question.
func (h *Helper) acquire(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.free.Broadcast()
	})
	defer stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.busy {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.free.Wait()
	}
	h.busy = true
	return nil
}

func (h *Helper) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	h.free.Broadcast()
}

// whileWaiting calls f while the process waits for what it does.
func (h *Helper) whileWaiting(f func()) {
	h.mu.Lock()
	h.depth++
	depth := h.depth
	h.busy = false
	h.free.Broadcast()
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for h.busy || h.depth != depth {
			h.free.Wait()
		}
		h.busy = true
		h.depth--
	}()
	f()
}

func (h *Helper) exchange(ctx context.Context, p *process, w world, question *value.Map) (*value.Map, error) {
	question.Set("versions", h.current(w))
	shared := contextOf(w.env)
	question.Set("context", shared.number)
	if err := h.addChanges(p, shared, question); err != nil {
		return nil, err
	}
	left, began := p.limit, time.Now()
	p.clock.Reset(left)
	defer p.clock.Stop()
	b, err := wire.Encode(question)
	if err != nil {
		return nil, err
	}
	if err := p.write(b); err != nil {
		return nil, p.fault(ctx, err)
	}
	for {
		m, err := p.receive()
		if err != nil {
			return nil, p.fault(ctx, err)
		}
		if value.Truth(m.At("context")) {
			p.share(shared).dirty = true
		}
		switch m.Str("op") {
		case "ret":
			return m, nil
		case "err":
			return nil, raised(m)
		case "log":
			w.env.Log().Log(ctx, logLevel(m.Str("level")), m.Str("msg"))
			continue
		}
		p.clock.Stop() // how long brine's functions take is not the module's fault
		left -= time.Since(began)
		var answer *value.Map
		h.whileWaiting(func() {
			answer = h.answer(ctx, w, m)
			h.gather(ctx, w)
		})
		reply, err := h.reply(p, shared, answer)
		if err != nil {
			p.endWith(err)
			return nil, err
		}
		began = time.Now()
		p.clock.Reset(max(left, 0))
		if err := p.write(reply); err != nil {
			return nil, p.fault(ctx, err)
		}
	}
}

// answer serves a question of the helper. The answer is packed: data that is lazy has
// been worked out.
func (h *Helper) answer(ctx context.Context, w world, m *value.Map) *value.Map {
	answer := value.MapOf("op", "ret", "value", nil)
	err := h.serve(ctx, w, m, answer)
	if err == nil {
		var packed value.Value
		if packed, err = wire.Pack(answer); err == nil {
			return packed.(*value.Map)
		}
	}
	return failed(err)
}

// failed is the answer that tells an error.
func failed(err error) *value.Map {
	return value.MapOf("op", "err", "type", errorType(err), "msg", err.Error())
}

// reply encodes a packed answer, with what others have changed in __context__.
func (h *Helper) reply(p *process, s *shared, answer *value.Map) ([]byte, error) {
	b, err := wire.Encode(answer)
	if err != nil {
		answer = failed(err)
	}
	n := answer.Len()
	if err := h.addChanges(p, s, answer); err != nil {
		return nil, err
	}
	if b != nil && n == answer.Len() {
		return b, nil
	}
	return wire.Encode(answer)
}

// fault ends a process that cannot be spoken with and tells why that is so.
func (p *process) fault(ctx context.Context, err error) error {
	p.broken.Store(true)
	defer p.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if why := p.why.Load(); why != nil {
		return *why
	}
	// The pipe breaks a little before the process has ended, which nothing may hold up.
	_ = p.in.Close()
	select {
	case <-p.done:
		if p.err != nil && !errors.Is(p.err, context.Canceled) {
			return p.err
		}
	case <-time.After(time.Second):
	}
	return err
}

// serve puts the answer to a question of the helper into a message.
func (h *Helper) serve(ctx context.Context, w world, m, answer *value.Map) error {
	if m.Str("op") == "invoke" {
		return invoke(ctx, w.env, m, answer)
	}
	v, err := lookup(ctx, w, m)
	answer.Set("value", v)
	return err
}

// lookup answers what needs no function of brine.
func lookup(ctx context.Context, w world, m *value.Map) (value.Value, error) {
	env := w.env
	switch op := m.Str("op"); op {
	case "has":
		_, _, err := env.Find(kindOf(m.Str("kind")), m.Str("name"))
		return err == nil, nil
	case "names":
		return value.Strings(env.Table.Names(kindOf(m.Str("kind")))...), nil
	case "data":
		v := w.data(m.Str("what"))
		if lazy, ok := v.(*value.LazyMap); ok {
			v = lazy.Map()
		}
		return v, nil
	case "source":
		src, err := find(ctx, env, "utils", m.Str("name"), python3)
		if src == nil {
			return nil, err
		}
		return src.question(), err
	case "file":
		return loadable(ctx, env, m.Str("saltenv"), m.Str("name"))
	default:
		return nil, fmt.Errorf("the helper asked %q", op)
	}
}

// invoke calls a function of brine or of the tree. Its return code is what it leaves
// in __context__.
func invoke(ctx context.Context, env *fun.Env, m, answer *value.Map) error {
	args := fun.Args{Kw: m.Map("kwargs"), Test: m.At("test")}
	if args.Kw == nil {
		args.Kw = value.NewMap(1)
	}
	if l, ok := m.At("args").(*value.List); ok {
		args.Pos = l.Items
	}
	kind := kindOf(m.Str("kind"))
	if kind == fun.State && len(args.Pos) > 0 && !args.Kw.Has("name") {
		// The first argument of every state function is its name.
		args.Kw.Set("name", args.Pos[0])
		args.Pos = args.Pos[1:]
	}
	res, err := env.Invoker.Invoke(ctx, kind, m.Str("name"), args)
	answer.Set("value", res.Value)
	if err == nil && kind != fun.State && (res.Retcode != 0 || setsRetcode(m.Str("name"))) {
		answer.Set("retcode", int64(res.Retcode))
	}
	return err
}

// setsRetcode reports whether a function of brine sets the return code of its caller
// where it succeeds, too.
//
// Salt: salt/modules/cmdmod.py _run, salt/modules/test.py retcode.
func setsRetcode(name string) bool {
	return strings.HasPrefix(name, "cmd.") || name == "test.retcode"
}

func kindOf(s string) fun.Kind {
	switch s {
	case "state":
		return fun.State
	case "runner":
		return fun.Runner
	}
	return fun.Exec
}

func logLevel(s string) slog.Level {
	switch s {
	case "debug":
		return slog.LevelDebug
	case "info":
		return slog.LevelInfo
	case "warning":
		return slog.LevelWarn
	}
	return slog.LevelError
}

// A RaisedError is an exception of a module.
type RaisedError struct {
	Type  string // "ValueError", "salt.exceptions.CommandExecutionError"
	Msg   string
	Place string // "/srv/salt/_modules/mymod.py:12"; "" is unknown
	Trace string // the last calls, as Python shows them
	// Callers are the places of the calls that led to Place, the innermost first, as
	// Starlark tells them.
	Callers []string
}

// Error returns the message, with the place and what led there.
func (e *RaisedError) Error() string {
	text := e.Type + ": " + e.Msg
	if e.Place != "" {
		text = e.Place + ": " + text
	}
	if len(e.Callers) > 0 {
		text += " (called from " + strings.Join(e.Callers, ", ") + ")"
	}
	return text
}

// Traceback is the exception as Python and Salt show it.
func (e *RaisedError) Traceback() string {
	trace := e.Trace
	if trace != "" {
		trace += "\n"
	}
	return "Traceback (most recent call last):\n" + trace + e.Type + ": " + e.Msg
}

func raised(m *value.Map) error {
	re := &RaisedError{Type: m.Str("type"), Msg: m.Str("msg"), Place: m.Str("place"), Trace: m.Str("tb")}
	if callers := m.List("callers"); callers != nil {
		for _, place := range callers.Items {
			re.Callers = append(re.Callers, value.Str(place))
		}
	}
	return re
}

// errorType is the Python exception that stands for an error of brine's function.
func errorType(err error) string {
	var (
		ae *fun.ArgError
		ie *fun.InvocationError
		pe *value.PyError
		re *RaisedError
	)
	switch {
	case errors.As(err, &re):
		return re.Type
	case errors.As(err, &pe):
		return pe.Type
	case errors.As(err, &ie):
		return "salt.exceptions.SaltInvocationError"
	case errors.As(err, &ae):
		return "TypeError"
	}
	return "salt.exceptions.CommandExecutionError"
}
