package jinja_test

import (
	"errors"
	"strings"
	"testing"

	"brine/internal/py/jinja"
	"brine/internal/py/jinja/markupsafe"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// TestNoPanic calls every filter, test, global and method with odd values: all
// must end, without a panic, and fail only as Python would.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	p := jinjatest.NewProber(t, jinja.New(jinja.Options{}, nil))
	p.ProbeNames()
	s := p.State
	methods := strings.FieldsSeq(`upper lower casefold capitalize title swapcase strip lstrip rstrip split rsplit splitlines partition
		rpartition center ljust rjust zfill expandtabs isalnum isdigit isidentifier istitle find index rfind count startswith endswith
		replace join format format_map removeprefix encode decode translate maketrans unescape striptags escape keys values items get
		copy fromkeys clear pop popitem setdefault update move_to_end append extend insert remove reverse sort union intersection
		difference symmetric_difference issubset isdisjoint add discard bit_length to_bytes from_bytes is_integer hex
		as_integer_ratio strftime isoformat weekday timestamp toordinal isocalendar total_seconds next reset`)
	for name := range methods {
		for i := range p.Values() {
			bound := func(c *jinja.Call) (value.Value, error) {
				// A fresh receiver each time: methods change it.
				recv := p.Values()[i]
				fn, ok, err := s.Attr(recv, name)
				if err != nil || !ok {
					return nil, err
				}
				return s.CallValue(fn, c.Args, c.Kw)
			}
			recv := p.Values()[i]
			if _, ok, _ := s.Attr(recv, name); !ok {
				continue
			}
			odd := p.Values()
			what := value.TypeName(recv) + "." + name
			p.Check(what, bound, nil, nil)
			for j, a := range odd {
				p.Check(what, bound, []value.Value{a}, nil)
				p.Check(what, bound, []value.Value{a, odd[(j*3+i)%len(odd)]}, nil)
				p.Check(what, bound, []value.Value{odd[(j+i)%len(odd)], a, odd[(j*7)%len(odd)]}, nil)
			}
			p.Check(what, bound, nil, value.MapOf("key", "x", "reverse", true))
		}
	}
}

func FuzzStrFormat(f *testing.F) {
	for _, s := range []string{"{} {0}", "{a[b].c!r:>{w}}", "{:%Y}", "{{}}", "{0[x]}{:_x}", "{!s:é^9}"} {
		f.Add(s, "x", int64(3))
	}
	_, s := jinjatest.Eval(f, jinja.New(jinja.Options{}, nil), "0")
	f.Fuzz(func(t *testing.T, format, arg string, n int64) {
		for _, recv := range []value.Value{format, markupsafe.Markup(format)} {
			fn, err := s.GetAttr(recv, "format")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.CallValue(fn, []value.Value{arg, n, value.NewList(arg)}, value.MapOf("a", value.MapOf("b", arg), "w", n))
			if p := new(value.PyError); err != nil && !errors.As(err, &p) {
				t.Fatalf("no Python error: %v", err)
			}
		}
	})
}
