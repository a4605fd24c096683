package jinja

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"brine/internal/source"
	"brine/internal/value"
)

// oddValues are one or two of every type, and such as are at its edges.
func oddValues(s *State) []value.Value {
	loop := value.NewList(int64(1))
	loop.Append(loop)
	own := value.MapOf("a", int64(1))
	own.Set("self", own)
	ordered := value.MapOf("b", int64(1), "a", nil)
	ordered.Ordered = true
	return []value.Value{
		nil, true, int64(0), int64(-7), int64(3), int64(1) << 40, new(big.Int).Lsh(big.NewInt(1), 90), 1.5, math.Copysign(0, -1), 1e300,
		"", "a", "2024-02-29", "%s {0} <b>\n\tx", "Zé日\xff\xfe", "10.0.0.1/8", "[a-", "a:b", value.Bytes("a\xff"), Markup("<i>"),
		value.NewList(), value.NewList("b", "a", int64(1), nil), loop,
		value.Tuple{int64(1), "a"},
		value.NewSet(int64(1), "x"),
		value.MapOf("a", value.MapOf("b", int64(1)), int64(2), "x"), ordered, own,
		value.Range{Start: 0, Stop: 4, Step: 1},
		&value.View{Of: own, Kind: value.Pairs}, time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC), value.Delta(time.Hour),
		s.Undefined("nope"), &Undefined{Kind: Plain, Name: "p"}, &Callable{Name: "f", Fn: func(c *Call) (value.Value, error) { return nil, nil }},
		&groupTuple{"g", value.NewList("x")}, &cycler{items: []value.Value{"x"}}, &Namespace{Attrs: value.NewMap(0)},
	}
}

// TestNoPanic calls every filter, test, global and method with odd values: all
// must end, without a panic, and fail only as Python would.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	env := libEnv(false)
	s := &State{run: newRun(context.Background(), env, value.NewMap(0)), tmpl: &Template{Name: "t", env: env}}
	check := func(what string, fn Func, args []value.Value, kw *value.Map) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s%s: panic: %v", what, describe(args), p)
			}
		}()
		v, err := fn(&Call{S: s, Args: args, Kw: kw})
		if err == nil {
			if g, ok := v.(value.Iterator); ok {
				_, _, err = g.Next()
			}
		}
		var p *value.PyError
		var e *source.Error
		if err != nil && !errors.As(err, &p) && !errors.As(err, &e) {
			t.Errorf("%s%s: no Python error: %v", what, describe(args), err)
		}
	}
	all := func(what string, fn Func, first []value.Value) {
		odd := oddValues(s)
		check(what, fn, nil, nil)
		for i, v := range first {
			check(what, fn, []value.Value{v}, nil)
			for j := range odd {
				if (i+j)%4 != 0 {
					continue
				}
				check(what, fn, []value.Value{v, odd[j]}, nil)
				check(what, fn, []value.Value{v, odd[j], odd[(i*7+j)%len(odd)]}, nil)
				check(what, fn, []value.Value{v, odd[(j*5)%len(odd)], odd[j], odd[(i+2*j)%len(odd)]}, nil)
			}
			check(what, fn, []value.Value{v}, value.MapOf("attribute", odd[i%len(odd)], "default", "x"))
			check(what, fn, []value.Value{v, "a"}, value.MapOf("x", odd[i%len(odd)]))
		}
	}
	for _, name := range filterNames() {
		fn, ok := filter(name)
		if !ok {
			t.Errorf("no filter %q", name)
			continue
		}
		all(name, fn, oddValues(s))
		if f := builtinFilter(name); f != nil {
			all("jinja2 "+name, f, oddValues(s))
		}
	}
	for _, name := range testNames() {
		fn, ok := test(name)
		if !ok {
			t.Errorf("no test %q", name)
			continue
		}
		all("is "+name, fn, oddValues(s))
	}
	for _, name := range []string{"cycler", "dict", "joiner", "namespace", "range", "odict", "raise", "show_full_context", "ifelse"} {
		v, ok := global(name)
		if !ok {
			t.Errorf("no global %q", name)
			continue
		}
		all(name, func(c *Call) (value.Value, error) { return s.CallValue(v, c.Args, c.Kw) }, oddValues(s))
	}
	methods := strings.Fields(`upper lower casefold capitalize title swapcase strip lstrip rstrip split rsplit splitlines partition
		rpartition center ljust rjust zfill expandtabs isalnum isdigit isidentifier istitle find index rfind count startswith endswith
		replace join format format_map removeprefix encode decode translate maketrans unescape striptags escape keys values items get
		copy fromkeys clear pop popitem setdefault update move_to_end append extend insert remove reverse sort union intersection
		difference symmetric_difference issubset isdisjoint add discard bit_length to_bytes from_bytes is_integer hex
		as_integer_ratio strftime isoformat weekday timestamp toordinal isocalendar total_seconds next reset`)
	for _, name := range methods {
		for i := range oddValues(s) {
			bound := func(c *Call) (value.Value, error) {
				// A fresh receiver each time: methods change it.
				recv := oddValues(s)[i]
				fn, ok, err := s.attr(recv, name)
				if err != nil || !ok {
					return nil, err
				}
				return s.CallValue(fn, c.Args, c.Kw)
			}
			recv := oddValues(s)[i]
			if _, ok, _ := s.attr(recv, name); !ok {
				continue
			}
			odd := oddValues(s)
			what := value.TypeName(recv) + "." + name
			check(what, bound, nil, nil)
			for j, a := range odd {
				check(what, bound, []value.Value{a}, nil)
				check(what, bound, []value.Value{a, odd[(j*3+i)%len(odd)]}, nil)
				check(what, bound, []value.Value{odd[(j+i)%len(odd)], a, odd[(j*7)%len(odd)]}, nil)
			}
			check(what, bound, nil, value.MapOf("key", "x", "reverse", true))
		}
	}
}

func describe(args []value.Value) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = fmt.Sprintf("%.60s", value.Repr(a))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// TestIfelse checks that ifelse is the function match.ifelse of the minion.
func TestIfelse(t *testing.T) {
	t.Parallel()
	salt := value.MapOf("match.ifelse", &Callable{Name: "ifelse", Fn: func(c *Call) (value.Value, error) {
		return value.Repr(value.Tuple(c.Args)) + value.Repr(c.Kw), nil
	}})
	got, err := render(New(Options{}, nil), "t", "{{ ifelse('foo*', 1, 2, minion_id='bar') }}", value.MapOf("salt", salt))
	if want := "('foo*', 1, 2){'minion_id': 'bar'}"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func FuzzStrFormat(f *testing.F) {
	for _, s := range []string{"{} {0}", "{a[b].c!r:>{w}}", "{:%Y}", "{{}}", "{0[x]}{:_x}", "{!s:é^9}"} {
		f.Add(s, "x", int64(3))
	}
	env := libEnv(false)
	s := &State{run: newRun(context.Background(), env, value.NewMap(0)), tmpl: &Template{Name: "t", env: env}}
	f.Fuzz(func(t *testing.T, format, arg string, n int64) {
		for _, markup := range []bool{false, true} {
			_, err := strFormat(format, markup, "format")(&Call{S: s, Args: []value.Value{arg, n, value.NewList(arg)}, Kw: value.MapOf("a", value.MapOf("b", arg), "w", n)})
			if p := new(value.PyError); err != nil && !errors.As(err, &p) {
				t.Fatalf("no Python error: %v", err)
			}
		}
	})
}
