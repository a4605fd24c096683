package saltjinja

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/py/jinja"
	"brine/internal/py/value"
	"brine/internal/testkit/jinjatest"
)

// TestMain lets times be those of UTC, wherever the tests run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// saltEnv returns an environment with what Salt adds, and the filter repr.
func saltEnv(o jinja.Options, l jinja.Loader) *jinja.Env {
	o.Extension = New(Options{Host: testHost{}})
	o.Extension.Filters["repr"] = jinjatest.Repr
	return jinja.New(o, l)
}

// TestLibrary compares what Salt adds with what Python's libraries that
// Salt calls gave, and with Salt's documentation (testdata/record_salt.py).
// What needs Salt's tags to write is compared with Jinja2
// (testdata/record_sets.py).
func TestLibrary(t *testing.T) {
	t.Parallel()
	jinjatest.Compare(t, "testdata/oracle-salt.json", saltEnv(jinja.Options{}, nil), nil)
	jinjatest.Compare(t, "testdata/oracle-sets.json", saltEnv(jinja.Options{}, nil), nil)
}

// TestNoPanic calls every filter, test and global with odd values.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	jinjatest.NewProber(t, saltEnv(jinja.Options{}, nil)).ProbeNames()
}

// TestMemory ends templates that hold much more than they may. It is not
// parallel, for the memory that counts is the process's.
func TestMemory(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"read", "{% set all, text = [], '[' ~ '{\"a\":1},' * 20000 ~ '1]' %}\n{% for i in range(1000) %}\n{% do all.append(text|load_json) %}{% endfor %}"},
		{"permuted", "\n\n{% set l = range(22)|permutations|list %}"},
		{"multiplied", "\n\n{% set l = range(10)|product(repeat=20)|list %}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := jinjatest.Fault(t, saltEnv(jinja.Options{MaxMemory: 64 << 20}, nil), tt.text, value.NewMap(0))
			if e.PyType != "MemoryError" || e.Msg != "the template holds more than 64 MiB of data" || e.Pos.Line != 3 {
				t.Errorf("%s %q at line %d", e.PyType, e.Msg, e.Pos.Line)
			}
		})
	}
}

// TestSelfContaining prints containers that hold themselves, which Salt's
// finalizer cannot walk.
func TestSelfContaining(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{% set l = [] %}{% do l.append(l) %}{{ l }}", "{% set d = {} %}{% do d.update({'a': d}) %}{{ d }}"} {
		if e := jinjatest.Fault(t, saltEnv(jinja.Options{}, nil), text, nil); e.PyType != "RecursionError" {
			t.Errorf("%s: %s", text, e.PyType)
		}
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	var got []string
	o := jinja.Options{Profile: func(label, source string) func() {
		return func() { got = append(got, label+"|"+source) }
	}}
	files := jinjatest.Files{"a.txt": "text"}
	out, err := jinjatest.Render(saltEnv(o, files), "t", "{% profile as 'x' ~ 1 %}{% set y = 1 %}in{% endprofile %}{{ y }}{% import_text 'a.txt' as t %}{{ t }}", nil)
	if err != nil || out != "in1text" {
		t.Errorf("%q, %v", out, err)
	}
	if diff := cmp.Diff([]string{"x1|profile block", "a.txt|import_text"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestIfelse checks that ifelse is the function match.ifelse of the minion.
func TestIfelse(t *testing.T) {
	t.Parallel()
	salt := value.MapOf("match.ifelse", &jinja.Callable{Name: "ifelse", Fn: func(c *jinja.Call) (value.Value, error) {
		return value.Repr(value.Tuple(c.Args)) + value.Repr(c.Kw), nil
	}})
	got, err := jinjatest.Render(saltEnv(jinja.Options{}, nil), "t", "{{ ifelse('foo*', 1, 2, minion_id='bar') }}", value.MapOf("salt", salt))
	if want := "('foo*', 1, 2){'minion_id': 'bar'}"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
