package assembly

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// odd are values of every shape that a tree or a command line may hold.
func odd() []value.Value {
	return []value.Value{
		nil, true, false, int64(-1), int64(1) << 62, 1.5, "", "abc", "30d", "1k", "0o9", "a\x00b", "__slot__:x", strings.Repeat("x", 4096),
		value.NewList(), value.NewList(int64(1), nil, value.MapOf("a", int64(1))), value.NewList(value.NewList(value.NewList())),
		value.NewMap(0), value.MapOf("k", value.NewList(value.MapOf(int64(1), nil))), value.MapOf(int64(7), "x"),
		value.Tuple{"t"},
		value.Bytes("\xff"),
	}
}

// TestWrongTypes gives every function of the table a value that is not of its
// declared type, for each argument: dispatch refuses to make the call, with an
// error that names the argument.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, mod := range modules(kind) {
			for i := range mod.Specs {
				spec := &mod.Specs[i]
				where := kind.String() + " " + mod.Name + "." + spec.Name
				env, _ := fakeEnv(fakeHost())
				for n := range spec.Args {
					arg := &spec.Args[n]
					for _, v := range odd() {
						if _, _, err := arg.Convert(v); err == nil || v == "__slot__:x" {
							continue
						}
						args := sampleArgs(spec)
						args.Kw.Set(arg.Name, v)
						_, err := env.Invoker.Bind(mod, spec, args)
						var refused *fun.InvocationError
						if !errors.As(err, &refused) || refused.Arg != arg.Name || !strings.Contains(refused.Msg, arg.Name+" must be ") {
							t.Errorf("%s(%s=%.60s): %v, want an error that names the argument", where, arg.Name, value.Repr(v), err)
						}
					}
				}
			}
		}
	}
}

// waiting are the functions that wait for what never comes here, or that reach
// for the network.
var waiting = []string{"event.", "http.", "salt.wait_for_event", "state.event", "test.sleep", "test.rand_sleep", "test.stack", "network.", "salt.parallel_runners"}

// TestOddValues gives every function every odd value that its types let through:
// none panics, and all return. It runs on a machine that is not there.
func TestOddValues(t *testing.T) {
	t.Parallel()
	for _, kind := range []fun.Kind{fun.Exec, fun.State, fun.Runner, fun.Wheel} {
		for _, mod := range modules(kind) {
			for i := range mod.Specs {
				spec := &mod.Specs[i]
				name := mod.Name + "." + spec.Name
				if containsPrefix(waiting, name) {
					continue
				}
				t.Run(kind.String()+"/"+name, func(t *testing.T) {
					t.Parallel()
					for n := range spec.Args {
						for _, v := range odd() {
							env, _ := fakeEnv(fakeHost())
							args := sampleArgs(spec)
							args.Kw.Set(spec.Args[n].Name, v)
							ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
							err := invokeSpec(ctx, env, mod, spec, args)
							if err != nil && strings.Contains(err.Error(), "internal error") {
								t.Errorf("%s=%.60s: %v", spec.Args[n].Name, value.Repr(v), err)
							}
							if ctx.Err() != nil {
								t.Errorf("%s=%.60s: does not return", spec.Args[n].Name, value.Repr(v))
							}
							cancel()
						}
					}
				})
			}
		}
	}
}

func containsPrefix(list []string, name string) bool {
	for _, p := range list {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// sampleArgs are plausible values for what a function requires.
func sampleArgs(spec *fun.Spec) fun.Args {
	args := fun.Args{Kw: value.NewMap(4)}
	for _, a := range spec.Args {
		switch {
		case a.Required:
			args.Kw.Set(a.Name, sampleOf(&a))
		case a.Name == "bits":
			args.Kw.Set(a.Name, int64(1024)) // a key of the usual size takes long to make
		}
	}
	return args
}

// invokeSpec binds and calls a function as dispatch does.
func invokeSpec(ctx context.Context, env *fun.Env, mod *fun.Module, spec *fun.Spec, args fun.Args) (err error) {
	if mod.Kind == fun.State && !args.Kw.Has("name") {
		args.Kw.Set("name", "/srv/thing")
	}
	c, err := env.Invoker.Bind(mod, spec, args)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("internal error: " + value.Str(p))
			if e, ok := p.(error); ok {
				err = errors.New("internal error: " + e.Error())
			}
		}
	}()
	if mod.Kind != fun.State {
		_, err = spec.Fn(ctx, c)
		return err
	}
	c.Low = &fun.Chunk{State: mod.Name, Fun: spec.Name, ID: "thing", Name: "/srv/thing", SLS: "s", SaltEnv: "base", Low: args.Kw}
	for _, c.Test = range []bool{true, false} {
		if ret := spec.State(ctx, c); ret.Err != nil {
			err = ret.Err
		}
	}
	return err
}
