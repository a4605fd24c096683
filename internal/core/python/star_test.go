package python_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/python"
	"brine/internal/core/python/wire"
	"brine/internal/core/star"
	"brine/internal/py/value"
	"brine/internal/testkit/pythontest"
)

// TestMain lets the test binary be the process that runs Starlark.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == wire.Starlark {
		os.Exit(star.Serve(os.Stdin, os.Stdout, os.Stderr))
	}
	pythontest.Direct()
	os.Exit(m.Run())
}

// TestStarlark checks the language and what a module sees. Each case is the body of
// a function, and what it returns as JSON, or a part of its error.
func TestStarlark(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, want, err string }{
		{name: "values", body: `return [None, True, -1, 1.5, "é", {"a": (1, 2)}, 1 << 70]`, want: `[null, true, -1, 1.5, "é", {"a": [1, 2]}, 1180591620717411303424]`},
		{name: "sets", body: `return sorted(set([2, 1]) | set([3]))`, want: `[1, 2, 3]`},
		{name: "structs", body: `return struct(a = 1, b = [struct()])`, want: `{"a": 1, "b": [{}]}`},
		{name: "jsons", body: `return json.decode(json.encode({"a": [1.5]}))`, want: `{"a": [1.5]}`},
		{name: "lazy", body: `return range(3)`, want: `[0, 1, 2]`},
		{name: "comprehension", body: `return {k: v for k, v in zip("ab".elems(), [1, 2])}`, want: `{"a": 1, "b": 2}`},
		{name: "closure", body: "def f(n): return lambda x: x + n\n    return f(1)(2)", want: `3`},
		{name: "loads", body: `return [shout("a"), near("b")]`, want: `["A!", "b?"]`},
		{name: "salts", body: `return [salt["test.echo"](text = "a"), __salt__.test.echo("b"), "no.such" in salt, salt.get("no.such", 5), "test.ping" in salt.keys()]`, want: `["a", "b", false, 5, true]`},
		{name: "itself", body: `return salt["mymod.values"]()[2]`, want: `-1`},
		{name: "dunders", body: `return [__grains__["id"], grains["id"], __opts__["id"], opts["id"], pillar.get("x"), __proxy__, __low__]`, want: `["web1", "web1", "web1", "web1", null, {}, null]`},
		{name: "write", body: `__context__["seen"] = 1; return None`, want: `null`},
		{name: "read", body: `return salt["mymod.write"]() or __context__["seen"]`, want: `1`},
		{name: "kept", body: `salt["mymod.write"](); __context__["l"] = []; salt["mymod.ping"](); __context__["l"].append(1); return __context__["l"]`, want: `[1]`},
		{name: "ping", body: `return True`, want: `true`},
		{name: "frozen", body: `grains["id"] = "x"`, err: "cannot insert into frozen hash table"},
		{name: "globals", body: `names.append("x")`, err: "cannot append to frozen list"},
		{name: "missing", body: `return salt["no.such"]()`, err: "unknown function no.such"},
		{name: "raised", body: `return salt["test.exception"]("no good")`, err: "no good"},
		{name: "failed", body: `fail("no", 1)`, err: "no 1"},
		{name: "key", body: `return {}["a"]`, err: `mymod.star:70:14: StarlarkError: key "a" not in dict`},
		{name: "chain", body: `return key()`, err: `key "a" not in dict (called from `},
		{name: "function", body: `return key`, err: "a value of the type function cannot leave Starlark"},
		{name: "endless", body: `x = []; x.append(x); return x`, err: "nested too deep, or holds itself"},
		{name: "recursion", body: `return recursion()`, err: "function recursion called recursively"},
		{name: "argument", body: `return salt["test.echo"](text = 1, no = 2)`, err: "unexpected keyword argument 'no'"},
		{name: "opened", body: `return salt["test.echo"](key)`, err: "cannot leave Starlark"},
	}
	var b strings.Builder
	b.WriteString("\"\"\"Tests.\"\"\"\nload(\"//lib/names.star\", \"shout\")\nload(\"near.star\", \"near\")\nnames = []\n")
	for _, tt := range cases {
		fmt.Fprintf(&b, "\ndef %s():\n    %s\n", tt.name, tt.body)
	}
	text := b.String()
	line := strings.Count(text[:strings.Index(text, `return {}["a"]`)], "\n") + 1
	env := tree(t, true, map[string]string{
		"salt/_modules/mymod.star": text, "salt/lib/names.star": "load(\"deep/low.star\", \"low\")\ndef shout(s):\n    return s.upper() + low\n",
		"salt/lib/deep/low.star": "low = '!'\n", "salt/_modules/near.star": "def near(s):\n    return s + '?'\n",
	})
	for _, tt := range cases {
		v, err := call(t.Context(), env, "mymod."+tt.name)
		want := strings.Replace(tt.err, ":70:", fmt.Sprintf(":%d:", line), 1)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v, want the error %q", tt.name, v, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		default:
			got, err := value.AppendJSON(nil, v, value.JSONOptions{Repr: true})
			if err != nil || string(got) != tt.want {
				t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
			}
		}
	}
}

// TestStarlarkModule checks what a module says of itself.
func TestStarlarkModule(t *testing.T) {
	t.Parallel()
	env := tree(t, true, map[string]string{
		"salt/_modules/a.star":    "__virtualname__ = 'named'\ndef __virtual__():\n    return True\n__func_alias__ = {'list_': 'list'}\ndef list_():\n    return [1]\ndef _hidden():\n    return 1\ndef f(a, b = 2, *args, c, d = (1,), **kw):\n    '''Does it.'''\n    return [a, b, args, c, d, kw]\n",
		"salt/_modules/b.star":    "def __virtual__():\n    return (False, 'not today')\ndef f():\n    return 1\n",
		"salt/_modules/c.star":    "def f(:\n",
		"salt/_modules/d.star":    "def f():\n    return nothing\n",
		"salt/_modules/e.star":    "load('e.star', 'f')\n",
		"salt/_modules/g.star":    "load('../../conf/minion', 'f')\n",
		"salt/_modules/h.star":    "load('//no/such.star', 'f')\n",
		"salt/_modules/i.star":    "def f():\n    while True:\n        pass\n",
		"salt/_modules/j.star":    "l = [1]\nfor x in range(3):\n    l = l + [x]\ndef f():\n    return l\n",
		"salt/_modules/loop.star": "load('x.star', 'f')\n", "salt/_modules/x.star": "load('loop.star', 'f')\n",
		"salt/_modules/code.star": "def set(n):\n    __context__['retcode'] = n\ndef outer(n):\n    salt['code.set'](n)\ndef cmd(c):\n    return salt['cmd.run'](c, python_shell = True)\n",
	})
	for name, want := range map[string]string{
		"b.f": "not today", "c.f": "c.star:1:8: SyntaxError: got ':', want ')'", "d.f": "d.star:2:12: NameError: undefined: nothing",
		"e.f": "loads itself", "g.f": "load takes .star files of the tree", "h.f": "salt://no/such.star is not in the tree",
		"i.f": "does not support while loops", "loop.f": "loads itself", "named._hidden": "not available",
	} {
		if _, err := call(t.Context(), env, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if v, err := call(t.Context(), env, "j.f"); err != nil || value.Repr(v) != "[1, 0, 1, 2]" {
		t.Errorf("j.f = %s, %v", value.Repr(v), err)
	}
	if v, err := call(t.Context(), env, "named.list"); err != nil || value.Repr(v) != "[1]" {
		t.Errorf("named.list = %s, %v", value.Repr(v), err)
	}
	res, err := env.Invoker.Invoke(t.Context(), fun.Exec, "named.f", fun.Args{Pos: []value.Value{int64(1), int64(3), int64(4)}, Kw: value.MapOf("c", "x", "y", "z")})
	if err != nil || value.Repr(res.Value) != "[1, 3, (4,), 'x', (1,), {'y': 'z'}]" {
		t.Errorf("named.f = %s, %v", value.Repr(res.Value), err)
	}
	if _, spec, ok := env.Table.Lookup(fun.Exec, "named.f"); !ok || spec.Doc != "Does it." || len(spec.Args) != 4 || !spec.Args[2].KwOnly || !spec.Args[2].Required || spec.Args[3].Required {
		t.Errorf("the signature of named.f: %+v", spec)
	}
	for _, tt := range []struct {
		name string
		arg  value.Value
		want int
	}{{"code.set", int64(3), 3}, {"code.outer", int64(4), 4}, {"code.set", int64(0), 0}, {"code.cmd", "exit 5", 5}, {"code.cmd", "true", 0}} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, tt.name, fun.Args{Pos: []value.Value{tt.arg}, Kw: value.NewMap(0)})
		if err != nil || res.Retcode != tt.want {
			t.Errorf("%s(%v): retcode %d, %v, want %d", tt.name, tt.arg, res.Retcode, err, tt.want)
		}
	}
}

// TestStarlarkHostile: what a script takes is bounded, and the next call works.
func TestStarlarkHostile(t *testing.T) {
	t.Parallel()
	env := tree(t, true, map[string]string{
		"conf/minion.d/limits.conf": "custom_memory: 256\ncustom_steps: 10000000\n",
		"salt/_modules/deep.star":   "def f():\n    return " + strings.Repeat("(", 1_500_000) + "1\n",
		"salt/_modules/bad.star": `
def fine():
    return 1

def large():
    x = "x" * (1 << 29)
    return x + x

def doubling():
    l = [1]
    for n in range(60):
        l = l + l

def growing():
    l = []
    for n in range(1 << 40):
        l.append("%d" % n * 1000)

def forever():
    for n in range(1 << 60):
        pass

def within():
    for n in range(1 << 60):
        salt["bad.forever"]()

def mutual(n = 0):
    salt["bad.mutual"](n + 1)

def nested():
    l = []
    for n in range(60000):
        l = [l]
    return str(l)

def huge():
    l = ["x" * 100]
    for n in range(40):
        l = [l, l]
    return l

def talk():
    for n in range(20000):
        print("x" * 1000)
    return 1
`,
	})
	for _, tt := range []struct{ name, want string }{
		{"large", "it took more than 256 MiB of memory (option custom_memory)"},
		{"doubling", "it took more than 256 MiB of memory (option custom_memory)"},
		{"growing", "it took more than 256 MiB of memory (option custom_memory)"},
		{"forever", "it takes more than 10000000 steps (option custom_steps)"},
		{"within", "it takes more than 10000000 steps (option custom_steps)"},
		{"mutual", "calls are nested more than 100 deep"},
		{"nested", "its code or its data is nested too deep"},
		{"huge", "the value is too large"},
	} {
		if v, err := call(t.Context(), env, "bad."+tt.name); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.name, value.TypeName(v), err, tt.want)
		}
		if v, err := call(t.Context(), env, "bad.fine"); err != nil || v != int64(1) {
			t.Errorf("after %s: %v, %v", tt.name, v, err)
		}
	}
	if v, err := call(t.Context(), env, "bad.talk"); err != nil || v != int64(1) {
		t.Errorf("talk: %v, %v", v, err)
	}
	if _, err := call(t.Context(), env, "deep.f"); err == nil || !strings.Contains(err.Error(), "deep.star:2:89: SyntaxError: excessive nesting") {
		t.Errorf("deep.f: %v", err)
	}
}

// TestStarlarkOrphan: the process ends with the one that started it, even where it
// does not read its input.
func TestStarlarkOrphan(t *testing.T) {
	t.Parallel()
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close() // until then, there is no end of its input
	cmd := exec.Command("sh", "-c", `"$0" "$1" <&3 & wait`, os.Args[0], wire.Starlark)
	cmd.ExtraFiles = []*os.File{in}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	frame, err := wire.Frame(value.MapOf("steps", int64(1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Write(feed, frame); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.Read(out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the process goes on without its parent")
		feed.Close()
		<-ended
	}
	_ = cmd.Wait()
}

// TestLargeLimits: a limit that nobody reaches is none.
func TestLargeLimits(t *testing.T) {
	t.Parallel()
	env := tree(t, true, map[string]string{
		"conf/minion.d/limits.conf": "custom_timeout: 9223372036854775807\ncustom_memory: 9223372036854775807\n",
		"salt/_modules/a.star":      "def f():\n    return 1\n",
	})
	if v, err := call(t.Context(), env, "a.f"); err != nil || v != int64(1) {
		t.Errorf("a.f: %v, %v", v, err)
	}
}

// TestTimeout: the time of a function counts in all, however often it calls brine.
func TestTimeout(t *testing.T) {
	t.Parallel()
	env := tree(t, true, map[string]string{
		"conf/minion.d/limits.conf": "custom_timeout: 2\n",
		"salt/_modules/slow.star":   "def calls():\n    for n in range(1 << 60):\n        salt[\"test.ping\"]()\n",
	})
	if v, err := call(t.Context(), env, "slow.calls"); err == nil || !strings.Contains(err.Error(), "it did not answer within 2s (option custom_timeout)") {
		t.Errorf("slow.calls: %v, %v", v, err)
	}
}

// TestStarlarkSaltEnv: a file loads others of its own saltenv.
func TestStarlarkSaltEnv(t *testing.T) {
	t.Parallel()
	const module = "load('//lib.star', 'name')\ndef f():\n    return name\n"
	dir := t.TempDir()
	for _, saltenv := range []string{"base", "dev"} {
		for name, text := range map[string]string{"_returners/r.star": module, "lib.star": "name = '" + saltenv + "'\n"} {
			p := filepath.Join(dir, saltenv, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	env := tree(t, true, map[string]string{"conf/minion.d/roots.conf": "file_roots: {base: [" + dir + "/base], dev: [" + dir + "/dev]}\n"})
	for _, saltenv := range []string{"base", "dev"} {
		env := env.Fork(func(e *fun.Env) { e.SaltEnv = saltenv })
		m, err := python.Open(t.Context(), env, "returners", "r")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := m.Call(t.Context(), "f", nil, nil); err != nil || v != saltenv {
			t.Errorf("in %s: %v, %v", saltenv, v, err)
		}
	}
}

// TestStarlarkAndPython: each language calls the other, and a return code counts.
func TestStarlarkAndPython(t *testing.T) {
	t.Parallel()
	env := tree(t, false, map[string]string{
		"salt/_modules/py.py":     "def f(n):\n    return __salt__['st.f'](n - 1) + ['py'] if n else []\ndef code():\n    __context__['retcode'] = 7\ndef run(c):\n    __salt__['cmd.run'](c, python_shell=True)\n    return __context__.get('retcode')\ndef outer():\n    __salt__['st.code']()\ndef keys():\n    return 'test.ping' in list(__salt__) and len(__salt__) > 1000\n",
		"salt/_modules/st.star":   "def f(n):\n    return salt['py.f'](n - 1) + ['st'] if n else []\ndef code():\n    salt['py.code']()\n    return __context__['retcode']\n",
		"salt/_modules/both.py":   "def f():\n    return 'py'\n",
		"salt/_modules/both.star": "def f():\n    return 'star'\n",
		"salt/_returners/r.star":  "def returner(ret):\n    salt['test.echo'](ret)\n",
		"salt/_pillar/p.star":     "def ext_pillar(minion_id, pillar, word):\n    return {'a': [minion_id, word]}\n",
	})
	if v, err := call(t.Context(), env, "py.f", int64(5)); err != nil || value.Repr(v) != "['py', 'st', 'py', 'st', 'py']" {
		t.Errorf("py.f = %s, %v", value.Repr(v), err)
	}
	for _, tt := range []struct {
		name string
		args []value.Value
		want int
		ret  string
	}{{"st.code", nil, 7, "7"}, {"py.outer", nil, 7, "None"}, {"py.run", []value.Value{"exit 3"}, 3, "3"}, {"py.run", []value.Value{"exit 0"}, 0, "0"}} {
		res, err := env.Invoker.Invoke(t.Context(), fun.Exec, tt.name, fun.Args{Pos: tt.args, Kw: value.NewMap(0)})
		if err != nil || res.Retcode != tt.want || value.Repr(res.Value) != tt.ret {
			t.Errorf("%s%v = %s, retcode %d, %v", tt.name, tt.args, value.Repr(res.Value), res.Retcode, err)
		}
	}
	if v, err := call(t.Context(), env, "py.keys"); err != nil || v != true {
		t.Errorf("py.keys = %v, %v", v, err)
	}
	if v, err := call(t.Context(), env, "both.f"); err != nil || v != "py" {
		t.Errorf("of a module in both languages, %v, %v is used", v, err)
	}
	m, err := python.Open(t.Context(), env, "pillar", "p")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Call(t.Context(), "ext_pillar", value.NewList("web1", nil, "w"), nil); err != nil || value.Repr(v) != "{'a': ['web1', 'w']}" {
		t.Errorf("ext_pillar = %s, %v", value.Repr(v), err)
	}
}

// BenchmarkStarlark measures a call of a function in Starlark after the first one.
func BenchmarkStarlark(b *testing.B) {
	env := tree(b, true, map[string]string{"salt/_modules/mymod.star": "def echo(x):\n    return x\n"})
	for b.Loop() {
		if _, err := call(b.Context(), env, "mymod.echo", "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStarlarkThousand measures a function that calls brine 1,000 times, with
// the start of the process.
func BenchmarkStarlarkThousand(b *testing.B) {
	for b.Loop() {
		env := tree(b, true, map[string]string{"salt/_modules/mymod.star": "def loop():\n    for n in range(1000):\n        salt.test.ping()\n"})
		if _, err := call(b.Context(), env, "mymod.loop"); err != nil {
			b.Fatal(err)
		}
	}
}
