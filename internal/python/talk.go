package python

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"brine/internal/fun"
	"brine/internal/value"
)

// A level is a question that the helper is working on. What brine asks while it
// answers the helper's own questions is one level deeper; one question of a level
// goes on at a time.
type level struct {
	h  *Helper
	mu sync.Mutex
}

type levelKey struct{}

// ask asks the helper and serves what it asks meanwhile. A question that comes
// from within a function that the helper calls joins that conversation; another
// waits for its turn.
func (h *Helper) ask(ctx context.Context, env *fun.Env, question *value.Map) (*value.Map, error) {
	if l, ok := ctx.Value(levelKey{}).(*level); ok && l.h == h {
		l.mu.Lock()
		defer l.mu.Unlock()
		return h.exchange(ctx, env, question)
	}
	select {
	case <-h.turn:
		defer func() { h.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := h.running(ctx, env)
	if err != nil {
		return nil, err
	}
	defer p.guard(ctx, env)()
	return h.exchange(ctx, env, question)
}

func (h *Helper) exchange(ctx context.Context, env *fun.Env, question *value.Map) (*value.Map, error) {
	p := h.p
	question.Set("versions", p.current(env))
	if err := p.send(question); err != nil {
		return nil, p.fault(ctx, err)
	}
	for {
		m, err := p.receive()
		if err != nil {
			return nil, p.fault(ctx, err)
		}
		switch m.Str("op") {
		case "ret":
			return m, nil
		case "err":
			return nil, raised(m)
		case "log":
			env.Log().Log(ctx, logLevel(m.Str("level")), m.Str("msg"))
			continue
		}
		answer, err := h.serve(ctx, env, m)
		if err != nil {
			answer = value.MapOf("op", "err", "type", errorType(err), "msg", err.Error())
		} else {
			answer = value.MapOf("op", "ret", "value", answer)
		}
		if err := p.send(answer.(*value.Map)); err != nil {
			return nil, p.fault(ctx, err)
		}
	}
}

// fault tells why the process ended, if it did.
func (p *process) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if why := p.why.Load(); why != nil {
		return *why
	}
	select {
	case <-p.done:
		if p.err != nil && !errors.Is(p.err, context.Canceled) {
			return p.err
		}
	default:
	}
	return err
}

// serve answers a question of the helper.
func (h *Helper) serve(ctx context.Context, env *fun.Env, m *value.Map) (value.Value, error) {
	switch op := m.Str("op"); op {
	case "has":
		_, _, err := env.Find(kindOf(m.Str("kind")), m.Str("name"))
		return err == nil, nil
	case "names":
		l := &value.List{}
		for name := range env.Table.Names(kindOf(m.Str("kind"))) {
			l.Append(name)
		}
		return l, nil
	case "data":
		v := h.p.versions[m.Str("what")].of
		if lazy, ok := v.(*value.LazyMap); ok {
			v = lazy.Map()
		}
		return v, nil
	case "source":
		src, err := h.utils(ctx, m.Str("name"))
		if src == nil {
			return nil, err
		}
		return src, err
	case "invoke":
		args := fun.Args{Kw: m.Map("kwargs")}
		if l, ok := m.At("args").(*value.List); ok {
			args.Pos = l.Items
		}
		ctx = context.WithValue(ctx, levelKey{}, &level{h: h})
		res, err := env.Invoker.Invoke(ctx, kindOf(m.Str("kind")), m.Str("name"), args)
		return res.Value, err
	default:
		return nil, fmt.Errorf("the helper asked %q", op)
	}
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
}

// Error returns the message, with the place.
func (e *RaisedError) Error() string {
	if e.Place == "" {
		return e.Type + ": " + e.Msg
	}
	return e.Place + ": " + e.Type + ": " + e.Msg
}

func raised(m *value.Map) error {
	return &RaisedError{m.Str("type"), m.Str("msg"), m.Str("place"), m.Str("tb")}
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
