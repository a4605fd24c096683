package test_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	moduletest "brine/modules/test"
)

// clock is a host that only tells and spends time.
type clock struct {
	host.Host
	slept time.Duration
}

func (c *clock) Now() time.Time { return time.Unix(0, 0) }
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept += d
	return ctx.Err()
}

func newEnv(c *clock) *fun.Env {
	stub := func(name, fn string) fun.Entry {
		return fun.Entry{Kind: fun.Exec, Name: name, Load: func() fun.Module {
			return fun.Module{Name: name, Kind: fun.Exec, Specs: []fun.Spec{{Name: fn, VarArg: true, VarKw: true, Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
				return fun.Value(name + "." + fn + value.Repr(value.Tuple(c.Pos)) + value.Repr(c.Kw))
			}}}}
		}}
	}
	env := &fun.Env{
		Machine:   fun.Machine{Host: c},
		Data:      fun.Data{Opts: value.MapOf("id", "m", "hash_type", "sha1"), Grains: value.MapOf("saltversion", "3006.0")},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "test", Load: moduletest.Module}, stub("grains", "items"), stub("config", "option")})},
	}
	env.Invoker = dispatch.New(env)
	return env
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	pos := func(vs ...value.Value) []value.Value { return vs }
	for _, tt := range []struct {
		fn   string
		pos  []value.Value
		kw   *value.Map
		want string // repr, or "raises TYPE: text"
	}{
		{"ping", nil, nil, "True"},
		{"ping", pos("any"), nil, "raises *fun.ArgError: ping() takes 0 positional arguments but 1 was given"},
		{"true", nil, nil, "True"},
		{"false", nil, nil, "False"},
		{"echo", pos("some text"), nil, "'some text'"},
		{"echo", nil, nil, "raises *fun.ArgError: echo() missing 1 required positional argument: 'text'"},
		{"outputter", nil, value.MapOf("data", value.NewList(int64(1))), "[1]"},
		{"arg", pos(int64(1), "two", nil), value.MapOf("a", int64(1), "__pub_fun", "test.arg"), "{'args': (1, 'two', None), 'kwargs': {'a': 1, '__pub_fun': 'test.arg'}}"},
		{"arg_clean", pos(int64(1)), value.MapOf("a", int64(1), "__pub_fun", "x"), "{'args': (1,), 'kwargs': {'a': 1}}"},
		{"arg_repr", pos(int64(1)), value.MapOf("x", "two"), `{'args': '(1,)', 'kwargs': "{'x': 'two'}"}`},
		{
			"arg_type", pos(int64(1), "s", 1.5, nil, true), value.MapOf("l", value.NewList(), "d", value.NewMap(0)),
			`{'args': ["<class 'int'>", "<class 'str'>", "<class 'float'>", "<class 'NoneType'>", "<class 'bool'>"], 'kwargs': {'l': "<class 'list'>", 'd': "<class 'dict'>"}}`,
		},
		{"kwarg", nil, value.MapOf("n", int64(3), "s", "text"), "{'n': 3, 's': 'text'}"},
		{"assertion", pos(true), nil, "None"},
		{"assertion", pos(false), nil, "raises AssertionError: "},
		{"exception", nil, nil, "raises Exception: Test Exception"},
		{"exception", pos("boom"), nil, "raises Exception: boom"},
		{"attr_call", nil, nil, "'grains.items(){}'"},
		{"conf_test", nil, nil, `"config.option('test.foo',){}"`},
		{"cross_test", pos("test.echo", value.NewList("x")), nil, "'x'"},
		{"cross_test", pos("test.ping"), nil, "True"},
		{"cross_test", pos("test.pong"), nil, "raises *fun.NotFoundError: 'test.pong' is not available."},
		{"try", pos("test.echo"), value.MapOf("text", "x", "__pub_fun", "test.try"), "'x'"},
		{"try", pos("test.exception"), value.MapOf("message", "m"), "None"},
		{"try", pos("test.exception"), value.MapOf("message", "m", "return_try_exception", true), "'m'"},
		{"try", pos("test.nope"), nil, "None"},
		{"raise_exception", nil, nil, "raises *fun.ArgError: raise_exception() missing 1 required positional argument: 'name'"},
		{"raise_exception", pos("TypeError", "An integer is required"), nil, "raises TypeError: An integer is required"},
		{"raise_exception", pos("KeyError", "a"), nil, "raises KeyError: 'a'"},
		{"raise_exception", pos("OSError", int64(2), "x"), nil, "raises OSError: [Errno 2] x"},
		{"raise_exception", pos("ValueError", int64(1), int64(2)), nil, "raises ValueError: (1, 2)"},
		{"raise_exception", pos("salt.exceptions.CommandExecutionError", "Something went wrong"), nil, "raises *fun.CommandError: Something went wrong"},
		{"raise_exception", pos("NoSuchThing"), nil, "False"},
		{"raise_exception", pos("int"), nil, "False"},
		{"provider", pos("test"), nil, "'test'"},
		{"provider", pos("none"), nil, "''"},
		{"providers", nil, nil, "{'config': 'config', 'grains': 'grains', 'test': 'test'}"},
		{"deprecation_warning", nil, nil, "True"},
		{"fib", pos(int64(10)), nil, "(55, 0.0)"},
		{"fib", pos("100"), nil, "(354224848179261915075, 0.0)"},
		{"fib", pos(int64(0)), nil, "(0, 0.0)"},
		{"fib", pos(int64(-1)), nil, "raises ValueError: Negative number is not allowed!"},
		{"fib", pos("x"), nil, "raises ValueError: invalid literal for int() with base 10: 'x'"},
		{"collatz", pos(int64(10)), nil, "([10, 5.0, 16.0, 8.0, 4.0, 2.0], 0.0)"},
		{"collatz", pos(int64(7)), nil, "([7, 22, 11.0, 34.0, 17.0, 52.0, 26.0, 13.0, 40.0, 20.0, 10.0, 5.0, 16.0, 8.0, 4.0, 2.0], 0.0)"},
		{"collatz", pos(int64(0)), nil, "raises ValueError: the sequence starts with a number above 0"},
		{"get_opts", nil, nil, "{'id': 'm', 'hash_type': 'sha1'}"},
		{"opts_pkg", nil, nil, "{'id': 'm', 'hash_type': 'sha1', 'grains': {'saltversion': '3006.0'}}"},
		{"sleep", pos("2"), nil, "True"},
		{"sleep", pos(int64(-1)), nil, "raises ValueError: sleep length must be non-negative"},
		{"rand_sleep", pos(int64(3)), nil, "True"},
		{"retcode", nil, nil, "True"},
		{"version", nil, nil, "'3006.0'"},
	} {
		env := newEnv(&clock{})
		res, err := env.Invoker.Invoke(context.Background(), fun.Exec, "test."+tt.fn, fun.Args{Pos: tt.pos, Kw: tt.kw})
		got := value.Repr(res.Value)
		if err != nil {
			got = "raises " + kind(err) + ": " + err.Error()
		}
		if got != tt.want {
			t.Errorf("test.%s%s %s = %s, want %s", tt.fn, value.Repr(value.Tuple(tt.pos)), value.Repr(tt.kw), got, tt.want)
		}
	}
}

// kind names the type of err: that of the exception it stands for.
func kind(err error) string {
	var py *value.PyError
	var arg *fun.ArgError
	var missing *fun.NotFoundError
	switch {
	case errors.As(err, &py):
		return py.Type
	case errors.As(err, &arg):
		return "*fun.ArgError"
	case errors.As(err, &missing):
		return "*fun.NotFoundError"
	}
	return "*fun.CommandError"
}

func invoke(t *testing.T, env *fun.Env, fn string, args ...value.Value) fun.Result {
	t.Helper()
	res, err := env.Invoker.Invoke(context.Background(), fun.Exec, "test."+fn, fun.Args{Pos: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestMore(t *testing.T) {
	t.Parallel()
	c := &clock{}
	env := newEnv(c)
	if res := invoke(t, env, "retcode", int64(7)); res.Retcode != 7 {
		t.Errorf("retcode = %d, want 7", res.Retcode)
	}
	invoke(t, env, "sleep", int64(20))
	if c.slept != 20*time.Second {
		t.Errorf("slept %v, want 20 s", c.slept)
	}
	for range 20 {
		c.slept = 0
		if invoke(t, env, "rand_sleep"); c.slept > 60*time.Second {
			t.Errorf("slept %v, want at most 60 s", c.slept)
		}
	}
	for hash, n := range map[string]int{"": 40, "md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128} {
		var got string
		if hash == "" {
			got = invoke(t, env, "random_hash").Value.(string)
		} else {
			got = invoke(t, env, "random_hash", int64(9), hash).Value.(string)
		}
		if len(got) != n || strings.Trim(got, "0123456789abcdef") != "" {
			t.Errorf("random_hash(%q) = %q, want %d hex digits", hash, got, n)
		}
	}
	if _, err := env.Invoker.Invoke(context.Background(), fun.Exec, "test.random_hash", fun.Args{Kw: value.MapOf("hash_type", "crc")}); err == nil {
		t.Error("random_hash takes any hash_type")
	}
	report := invoke(t, env, "module_report").Value.(*value.Map)
	if value.Repr(report.At("modules")) != "['config', 'grains', 'test']" || report.List("missing_subs").Len() != 0 {
		t.Errorf("module_report = %s", value.Repr(report))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := env.Invoker.Invoke(ctx, fun.Exec, "test.sleep", fun.Args{Pos: []value.Value{int64(1)}}); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep in an ended context: %v", err)
	}
}

// TestRows: the rows are in alphabetical order and say what they are.
func TestRows(t *testing.T) {
	t.Parallel()
	last := ""
	for _, s := range moduletest.Module().Loaded().Specs {
		if s.Name <= last || s.Doc == "" || s.Src == "" || s.Fn == nil {
			t.Errorf("row %q: order, doc, source or function", s.Name)
		}
		last = s.Name
	}
}
