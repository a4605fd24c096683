package python_test

import (
	"strings"
	"sync"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

const pyContext = `
import datetime
def put(k, v):
    __context__[k] = v
def get(k):
    return __context__.get(k)
def drop(k):
    return __context__.pop(k, None)
def add(k, v):
    __context__.setdefault(k, []).append(v)
    return __context__[k]
def same():
    l = __context__['same'] = []
    __salt__['st.get']('same')
    return l is __context__['same']
def around():
    __context__['n'] = 1
    __salt__['st.put']('n', [2])
    __context__['n'].append(3)
    return __salt__['st.get']('n')
def broken():
    __context__['e'] = 'kept'
    raise ValueError('no good')
def kinds():
    __context__['kinds'] = {1: (2, b'x'), '!a': {3}, 'n': [None, True, 1.5, 'é', 1 << 70], 't': datetime.datetime(2026, 1, 2)}
def odd():
    __context__['now'] = object()
    __context__[('a',)] = 1
    __context__['long'] = 'x' * (1 << 20)
    __context__['deep'] = l = []
    l.append(l)
    __context__['small'] = 1
    return len(__context__)
def left():
    return sorted(str(k) for k in __context__)
def keep():
    return type(__context__['now']).__name__
`

const starContext = `
def put(k, v):
    __context__[k] = v
def get(k):
    return __context__.get(k)
def drop(k):
    return __context__.pop(k, None)
def add(k, v):
    __context__.setdefault(k, []).append(v)
    return __context__[k]
def walk():
    for k in __context__:
        salt["py.put"]("new", [k])
    return salt["test.ping"]() and __context__["new"]
def fails():
    __context__["f"] = "kept"
    fail("no good")
def odd():
    __context__["fn"] = len
    __context__["rec"] = struct(a = 1)
def left():
    return sorted([str(k) for k in __context__])
`

func contextTree(t *testing.T) *fun.Env {
	t.Helper()
	return tree(t, false, map[string]string{"salt/_modules/py.py": pyContext, "salt/_modules/st.star": starContext})
}

// TestSharedContext: what a module of one language keeps in __context__, one of the
// other finds.
func TestSharedContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// Each step is a function with its arguments, and what it returns; of an error, a part.
		steps []string
	}{
		{"to Starlark", []string{"py.put a 1 = None", "st.get a = '1'", "st.left = ['a']"}},
		{"to Python", []string{"st.put a 1 = None", "py.get a = '1'", "py.left = ['a']"}},
		{"changed in place", []string{"py.add l a = ['a']", "st.add l b = ['a', 'b']", "py.add l c = ['a', 'b', 'c']", "st.get l = ['a', 'b', 'c']"}},
		{"gone", []string{"py.put a 1 = None", "py.put b 1 = None", "st.drop a = '1'", "py.left = ['b']", "py.drop b = '1'", "st.left = []"}},
		{"within a call", []string{"py.around = [2, 3]"}},
		{"the same object", []string{"py.same = True"}},
		{"exceptions", []string{"py.broken ! no good", "st.get e = 'kept'", "st.fails ! no good", "py.get f = 'kept'"}},
		{"kinds", []string{"py.kinds = None", "st.get kinds = {1: (2, b'x'), '!a': {3}, 'n': [None, True, 1.5, 'é', 1180591620717411303424], 't': '2026-01-02T00:00:00'}"}},
		{"what cannot be sent", []string{"py.odd = 5", "st.left = ['small']", "st.put now 1 = None", "py.left = [\"('a',)\", 'deep', 'long', 'now', 'small']", "py.get now = '1'"}},
		{"what cannot be sent from Starlark", []string{"st.odd = None", "py.left = ['rec']", "py.get rec = {'a': 1}"}},
		{"no longer data", []string{"st.put now 1 = None", "py.odd = 5", "st.get now = None", "py.keep = 'object'"}},
		{"walked through", []string{"st.put a 1 = None", "st.walk = ['a']", "py.get new = ['a']"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := contextTree(t)
			for _, step := range tt.steps {
				question, want, fails := strings.Cut(step, " ! ")
				if !fails {
					question, want, _ = strings.Cut(step, " = ")
				}
				words := strings.Fields(question)
				var args []value.Value
				for _, w := range words[1:] {
					args = append(args, w)
				}
				v, err := call(t.Context(), env, words[0], args...)
				if fails {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v, want the error %q", question, err, want)
					}
				} else if err != nil || value.Repr(v) != want {
					t.Errorf("%s = %s, %v, want %s", question, value.Repr(v), err, want)
				}
			}
		})
	}
}

// TestContextOfRuns: a run that is another's fork has a __context__ of its own.
func TestContextOfRuns(t *testing.T) {
	t.Parallel()
	env := contextTree(t)
	if _, err := call(t.Context(), env, "py.put", "a", "1"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"st.get", "py.get"} {
		if v, err := call(t.Context(), env.Fork(nil), name, "a"); v != nil || err != nil {
			t.Errorf("%s in a fork = %v, %v", name, v, err)
		}
		if v, err := call(t.Context(), env.With(func(*fun.Env) {}), name, "a"); v != "1" || err != nil {
			t.Errorf("%s in the run = %v, %v", name, v, err)
		}
	}
}

// TestContextAtOnce: functions of both languages that run at the same time, and call
// each other, end.
func TestContextAtOnce(t *testing.T) {
	t.Parallel()
	env := contextTree(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			name := [...]string{"py.around", "st.walk", "st.add", "py.add"}[i%4]
			args := [...][]value.Value{nil, nil, {"l", "x"}, {"l", "x"}}[i%4]
			if _, err := call(t.Context(), env, name, args...); err != nil && !strings.Contains(err.Error(), "new") && !strings.Contains(err.Error(), "during iteration") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	if _, err := call(t.Context(), env, "py.put", "done", "1"); err != nil {
		t.Fatal(err)
	}
	if v, err := call(t.Context(), env, "st.get", "done"); v != "1" || err != nil {
		t.Errorf("st.get done = %v, %v", v, err)
	}
}

// BenchmarkBoth measures a call of a function in Starlark by one in Python, which both
// use __context__.
func BenchmarkBoth(b *testing.B) {
	env := tree(b, false, map[string]string{"salt/_modules/py.py": "def f():\n    __context__['a'] = __context__.get('a', 0) + 1\n    return __salt__['st.f']()\n", "salt/_modules/st.star": "def f():\n    __context__['b'] = __context__['a'] + 1\n    return __context__['b']\n"})
	for b.Loop() {
		if _, err := call(b.Context(), env, "py.f"); err != nil {
			b.Fatal(err)
		}
	}
}
