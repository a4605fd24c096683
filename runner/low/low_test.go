package low_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/memtree"
	"brine/runner/high"
	"brine/runner/low"
)

// compileText returns the high data of one SLS, s.sls.
func compileText(tb testing.TB, sls string) *high.High {
	tb.Helper()
	return high.New(memtree.Tree{"s.sls": sls}.Env(tb), nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
}

// chunksOf compiles one SLS that has no faults.
func chunksOf(t *testing.T, sls string) []*fun.Chunk {
	t.Helper()
	h := compileText(t, sls)
	if len(h.Faults) > 0 {
		t.Fatal(h.Faults)
	}
	chunks, err := (&low.Compiler{}).Compile(h)
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

// TestRequisitesIn shows what states get from others, as "id: key value".
func TestRequisitesIn(t *testing.T) {
	for _, tt := range []struct {
		name, sls string
		want      []string
	}{
		{"require_in list", `
a: {test.nop: []}
b: {test.nop: [require_in: [test: a]]}
`, []string{"a require [{'test': 'b'}]"}},
		{"several give to one", `
a: {test.nop: [require: [test: z]]}
b: {test.nop: [require_in: [test: a]]}
c: {test.nop: [require_in: [test: a]]}
z: {test.nop: []}
`, []string{"a require [{'test': 'z'}, {'test': 'b'}, {'test': 'c'}]"}},
		{"dict form", `
a: {test.nop: []}
b: {test.nop: [watch_in: {test: a}]}
`, []string{"a watch [{'test': 'b'}]"}},
		{"by name", `
a: {cmd.run: [name: echo x]}
b: {test.nop: [onchanges_in: [cmd: echo x]]}
`, []string{"a onchanges [{'test': 'b'}]"}},
		{"bare id", `
a: {test.nop: []}
b: {test.nop: [onfail_in: [a]]}
`, []string{"a onfail [{'test': 'b'}]"}},
		{"bare name", `
a: {cmd.run: [name: echo x]}
b: {test.nop: [require_in: [echo x]]}
`, []string{"a require [{'test': 'b'}]"}},
		{"by sls", `
b: {test.nop: [require_in: [sls: s]]}
`, []string{"b require [{'test': 'b'}]"}},
		{"by id", `
a: {test.nop: [], cmd.run: [name: x]}
b: {test.nop: [require_in: [id: a]]}
`, []string{"a require [{'test': 'b'}]", "a require [{'test': 'b'}]"}},
		{"prereq", `
a: {test.nop: []}
b: {test.nop: [prereq: [test: a]]}
`, []string{"a prerequired [{'test': 'b'}]", "b prereq [{'test': 'a'}]"}},
		{"prereq_in", `
a: {test.nop: []}
b: {test.nop: [prereq_in: [test: a]]}
`, []string{"a prereq [{'test': 'b'}]", "b prerequired [{'test': 'a'}]"}},
		{"the first items of a list again with each after them", `
a: {test.nop: [watch: [test: z]]}
b: {test.nop: []}
c: {test.nop: [watch_in: [test: a, test: b, c, d]]}
d: {test.nop: []}
z: {test.nop: [prereq: [test: b, test: d]]}
`, []string{
			"a watch [{'test': 'z'}, {'test': 'c'}, {'test': 'c'}, {'test': 'c'}, {'test': 'c'}]",
			"b watch [{'test': 'c'}, {'test': 'c'}, {'test': 'c'}]", "b prerequired [{'test': 'z'}, {'test': 'z'}]",
			"c watch [{'test': 'c'}, {'test': 'c'}]",
			"d watch [{'test': 'c'}]", "d prerequired [{'test': 'z'}]", "z prereq [{'test': 'b'}, {'test': 'd'}]",
		}},
		{"an sls is not joined to the items before it", `
a: {test.nop: [require_in: [test: b, sls: none, test: c]]}
b: {test.nop: []}
c: {test.nop: []}
`, []string{"b require [{'test': 'a'}]", "c require [{'test': 'a'}]"}},
		{"bare name of two", `
a: {cmd.run: [name: echo x]}
b: {cmd.wait: [name: echo x]}
c: {test.nop: [require_in: [echo x]]}
`, []string{"a require [{'test': 'c'}]"}},
		{"listen_in is for the run", `
a: {test.nop: []}
b: {test.nop: [listen_in: [test: a]]}
`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range chunksOf(t, tt.sls) {
				for _, key := range []string{"require", "watch", "onchanges", "onfail", "prereq", "prerequired"} {
					if v, ok := c.Low.Get(key); ok {
						got = append(got, c.ID+" "+key+" "+plain(v))
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// plain prints v with dicts that are not ordered.
func plain(v value.Value) string {
	v = value.Clone(v)
	var walk func(value.Value)
	walk = func(v value.Value) {
		switch v := v.(type) {
		case *value.Map:
			v.Ordered = false
			for _, x := range v.All() {
				walk(x)
			}
		case *value.List:
			for _, x := range v.Items {
				walk(x)
			}
		}
	}
	walk(v)
	return value.Str(v)
}

func arguments(c *fun.Chunk) string {
	var out []string
	for k, v := range c.Low.All() {
		switch k {
		case "state", "fun", "__sls__", "__env__", "__id__", "order", "use", "use_in":
		default:
			out = append(out, fmt.Sprintf("%v=%s", k, plain(v)))
		}
	}
	return c.ID + ": " + strings.Join(out, " ")
}

func TestUse(t *testing.T) {
	for _, tt := range []struct{ name, sls, want string }{
		{"use", `
a: {file.managed: [name: /a, mode: '0640', user: root, require: [test: z]]}
b: {file.managed: [name: /b, user: me, use: [file: a]]}
z: {test.nop: []}
`, "b: name=/b user=me mode=0640"},
		{"use_in", `
b: {file.managed: [name: /b]}
a: {file.managed: [name: /a, contents: x, use_in: [file: b]]}
`, "b: name=/b contents=x"},
		{"use by name", `
a: {file.managed: [name: /a, contents: x]}
b: {file.managed: [name: /b, use: [file: /a]]}
`, "b: name=/b contents=x"},
		{"use as dict", `
a: {file.managed: [name: /a, contents: x]}
b: {file.managed: [name: /b, use: {file: a}]}
`, "b: name=/b contents=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range chunksOf(t, tt.sls) {
				if got := arguments(c); c.ID == "b" && got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
		})
	}
}

func TestExtend(t *testing.T) {
	for _, tt := range []struct{ name, sls, want string }{
		{"replaces and adds", `
extend: {a: {file: [mode: '2', user: x]}}
a: {file.managed: [mode: '1', name: /a]}
`, "a.managed: name=/a mode=2 user=x"},
		{"replaces the function", `
extend: {a: {file.absent: []}}
a: {file.managed: [name: /a]}
`, "a.absent: name=/a"},
		{"joins requisites", `
extend: {a: {test: [require: [test: c]]}}
a: {test.nop: [require: [test: b]]}
b: {test.nop: []}
c: {test.nop: []}
`, "a.nop: name=a require=[{'test': 'b'}, {'test': 'c'}]"},
		{"by name", `
extend: {/etc/a: {file: [mode: '2']}}
a: {file.managed: [name: /etc/a]}
`, "a.managed: name=/etc/a mode=2"},
		{"name instead of names", `
extend: {a: {test: [name: one]}}
a: {test.nop: [names: [x, y]]}
`, "a.nop: name=one"},
		{"a state of another module, which the ID has not", `
extend: {a: {test: [nop, order: 1]}}
a: {file.managed: [name: /a]}
`, "a.nop: name=a"},
		{"what an excluded SLS says does not count", `
include: [other]
exclude: [other]
a: {file.managed: [name: /a]}
`, "a.managed: name=/a"},
		{"nor where the exclude names it as sls", `
include: [other]
exclude: [sls: other]
a: {file.managed: [name: /a]}
`, "a.managed: name=/a"},
		{"several times", `
include: [other]
extend: {a: {file: [mode: '2']}}
a: {file.managed: [name: /a]}
`, "a.managed: name=/a mode=3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := memtree.Tree{"s.sls": tt.sls, "other.sls": "extend: {a: {file: [mode: '3']}}"}.Env(t)
			h := high.New(env, nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
			before := value.Str(h.Data)
			chunks, err := (&low.Compiler{}).Compile(h)
			if err != nil || len(h.Faults) > 0 {
				t.Fatal(err, h.Faults)
			}
			got := strings.Replace(arguments(chunks[0]), ":", "."+chunks[0].Fun+":", 1)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if value.Str(h.Data) != before {
				t.Errorf("the high data was changed:\n%s\n%s", before, value.Str(h.Data))
			}
		})
	}
}

func TestOrder(t *testing.T) {
	// Expected values: Salt's order_chunks by hand.
	sls := `
plain: {test.nop: []}
last: {test.nop: [order: last]}
first: {test.nop: [order: first]}
five: {test.nop: [order: 5]}
half: {test.nop: [order: 5.5]}
minus: {test.nop: [order: -1]}
minus_two: {test.nop: [order: -2]}
odd: {test.nop: [order: sometime]}
many: {test.nop: [names: [m2, m1]]}
same_b: {test.nop: [order: 7]}
same_a: {test.nop: [order: 7]}
`
	var got []string
	for _, c := range chunksOf(t, sls) {
		got = append(got, c.Name+" "+value.Str(c.Low.At("order")))
	}
	want := []string{
		"first 0", "five 5", "half 5.5", "same_a 7", "same_b 7", "plain 10000", "m2 10001.0001", "m1 10001.0002",
		"odd 10100", "minus_two 1010098", "minus 1010099", "last 1010100",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	sls := `
a:
  cmd.run:
    - cwd: /
    - names:
      - one
      - one
      - two: [cwd: /tmp, umask: '077']
      - three: {cwd: /var}
      - four:
b:
  test.nop:
    - name: 5
    - state: other
`
	var got []string
	for _, c := range chunksOf(t, sls) {
		got = append(got, arguments(c))
	}
	want := []string{"a: name=one cwd=/", "a: name=two cwd=/tmp umask=077", "a: name=three cwd=/var", "a: name=four cwd=/", "b: name=b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExclude(t *testing.T) {
	tree := memtree.Tree{
		"main.sls":  "include: [a.one, a.two, b]\nexclude: [b, {sls: 'a.t*'}, {id: gone}, {sls: nowhere}]\ngone: {test.nop: []}\nkept: {test.nop: []}\n",
		"a/one.sls": "a_one: {test.nop: []}\n",
		"a/two.sls": "a_two: {test.nop: []}\n",
		"b.sls":     "b: {test.nop: []}\n",
	}
	h := high.New(tree.Env(t), nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"main"}}})
	chunks, err := (&low.Compiler{}).Compile(h)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range chunks {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff([]string{"a_one", "kept"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFaults checks Salt's texts, the places and the hints.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name, sls string
		want      []string // "line:col text"
		hint      string
	}{
		{"list below a key without colon", "a:\n  test.nop:\n    - tgt: x\n    - sls\n      - bootstrap\n", []string{
			`4:7 The function "sls - bootstrap" in state "a" in SLS "s" has whitespace, a function with whitespace is not supported, perhaps this is an argument that is missing a ":"`,
			"2:3 Too many functions declared in state 'test' in SLS 's'",
		}, `s.sls:4:7: "- sls" lacks its colon: write "- sls:" above "- bootstrap"`},
		{"list at the indentation of its key", "a:\n  test.nop:\n    - sls:\n    - other\n", []string{
			"2:3 Too many functions declared in state 'test' in SLS 's'",
		}, `s.sls:4:7: "- other" has the indentation of "- sls:" above it (s.sls:3:7): indent it further`},
		{"blank after colon", "a:\n  file.managed:\n    - mode:644\n", []string{
			"2:3 Too many functions declared in state 'file' in SLS 's'",
		}, `s.sls:3:7: a blank is missing: write "- mode: 644"`},
		{"short declaration with colon", "a:\n  test.nop:\n", []string{
			"2:3 ID 'a' in SLS 's' contains a short declaration (test.nop) with a trailing colon. When not passing any arguments to a state, the colon must be omitted.",
		}, `write "- test.nop" or "test.nop: []"`},
		{"names", "a:\n  test.nop:\n    - names: x\n", []string{"3:7 The 'names' argument in state 'a' in SLS 's' needs to be formed as a list"}, ""},
		{"requisite with a dot", "a:\n  test.nop:\n    - require:\n      - test.nop: b\n", []string{
			"4:9 Invalid requisite type 'test.nop' in state 'a', in SLS 's'. Requisite types must not contain dots, did you mean 'test'?",
		}, ""},
		{"requisite that is a number", "a:\n  test.nop:\n    - require: [5]\n", []string{
			"3:17 Requisite declaration 5 in SLS s is not formed as a single key dictionary",
		}, ""},
		{"requisite of a list", "a:\n  test.nop:\n    - require: [{test: [x]}]\n", []string{
			"3:17 Illegal requisite \"['x']\", please check your syntax.\n",
		}, ""},
		{"requisite of nothing", "a:\n  test.nop:\n    - require:\n      - test:\n", []string{
			"4:9 Illegal requisite \"None\", please check your syntax.\n",
		}, `write "- test: ID"`},
		{"two arguments in one item", "a:\n  test.nop:\n    - require: [{test: b}]\n      watch: [{test: b}]\nb: test.nop\n", []string{
			"3:7 Multiple dictionaries defined in argument of state 'a' in SLS 's'",
		}, ""},
		{"same module twice", "a:\n  test.nop: []\n  test.succeed: []\n", []string{
			"3:3 ID 'a' in SLS 's' contains multiple state declarations of the same type",
		}, `give "test.succeed" an ID of its own`},
		{"extend of nothing", "extend:\n  web_confg:\n    file: [mode: x]\nweb_config: {file.managed: []}\n", []string{
			"2:3 Cannot extend ID 'web_confg' in 'base:s'. It is not part of the high state.\nThis is likely due to a missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of 'web_confg' is available\nin environment 'base' and to SLS 's'",
		}, `did you mean "web_config"?`},
		{"require_in of nothing", "a:\n  test.nop:\n    - require_in:\n      - test: nothing\n", []string{
			"4:9 Cannot extend ID 'nothing' in 'base:s'. It is not part of the high state.\nThis is likely due to a missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of 'nothing' is available\nin environment 'base' and to SLS 's'",
		}, ""},
		{"require_in of another module", "a:\n  test.nop:\n    - require_in:\n      - cmd: b\nb: test.nop\n", []string{
			"4:9 Cannot extend ID 'b' in 'base:s'. It is not part of the high state.\nThis is likely due to a missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of 'b' is available\nin environment 'base' and to SLS 's'",
		}, `b has no state of "cmd", but of "test"`},
		{"two functions", "a:\n  test: [nop, succeed]\n", []string{
			"2:3 Too many functions declared in state 'test' in SLS 's'",
		}, "leave one of these: nop, succeed"},
		{"require_in with a dot", "a:\n  test.nop:\n    - require_in:\n      - test.nop: b\nb: test.nop\n", []string{
			"4:9 Invalid requisite in require: test.nop for b, in SLS 's'. Requisites must not contain dots, did you mean 'test'?",
			"4:9 Cannot extend ID 'b' in 'base:s'. It is not part of the high state.\nThis is likely due to a missing include statement or an incorrectly typed ID.\nEnsure that a state with an ID of 'b' is available\nin environment 'base' and to SLS 's'",
		}, ""},
		{"extend that is no dict", "extend: [a]\n", []string{"1:1 Extension value in SLS 's' is not a dictionary"}, ""},
		{"extend of a list", "extend:\n  a: [x]\n", []string{"2:3 Extension name 'a' in SLS 's' is not a dictionary"}, ""},
		{"exclude that is no list", "exclude: a\nb: test.nop\n", []string{"1:1 Exclude Declaration in SLS s is not formed as a list"}, "write exclude: [a]"},
		{"include that is no list", "include: a.b\nb: test.nop\n", []string{"1:1 Include Declaration in SLS s is not formed as a list"}, "write include: [a.b]"},
		{"state that is no text", "a:\n  5: []\n", []string{"2:3 State '5' of ID 'a' in SLS 's' is not formed as a string, but is a int"}, ""},
		{"recursion by bare id is for the run", "a: {test.nop: [require: [b]]}\nb: {test.nop: [require: [a]]}\n", nil, ""},
		{"recursion of two modules", "a:\n  test.nop:\n    - require: [cmd: b]\nb:\n  cmd.run:\n    - watch: [test: a]\n", []string{
			`6:15 A recursive requisite was found, SLS "s" ID "b" ID "a"`,
		}, "b → a → b"},
		{"itself", "a:\n  test.nop:\n    - require: [test: a]\n", []string{
			`3:17 A recursive requisite was found, SLS "s" ID "a" ID "a"`,
		}, ""},
		{"empty argument", "a:\n  test.nop:\n    - {}\n", []string{"3:7 Empty argument in state 'a' in SLS 's'"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := compileText(t, tt.sls)
			faults := h.Faults
			if len(faults) == 0 {
				_, err := (&low.Compiler{}).Compile(h)
				faults = source.Faults(err)
			}
			var got []string
			hint := ""
			for _, f := range faults {
				if f.Pos.File != "s.sls" {
					t.Errorf("file %q", f.Pos.File)
				}
				got = append(got, fmt.Sprintf("%d:%d %s", f.Pos.Line, f.Pos.Col, f.SaltText()))
				if hint == "" || f.Hint == tt.hint {
					hint = f.Hint
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if tt.hint != "" && hint != tt.hint {
				t.Errorf("hint %q, want %q", hint, tt.hint)
			}
		})
	}
}

func TestNoFunction(t *testing.T) {
	h := compileText(t, "a: {test: [x: 1]}\n")
	faults := h.Verify()
	if len(faults) != 1 || faults[0].SaltText() != "No function declared in state 'test' in SLS 's'" {
		t.Errorf("show: %v", faults)
	}
	chunks, err := (&low.Compiler{}).Compile(h)
	if err != nil || chunks[0].Fun != "__call__" {
		t.Errorf("run: %v", err)
	}
}

func TestUnknown(t *testing.T) {
	table := fun.NewTable([]fun.Entry{{Kind: fun.State, Name: "file", Load: func() fun.Module {
		return fun.Module{
			Name: "file", Kind: fun.State, Specs: []fun.Spec{{Name: "managed"}, {Name: "absent"}},
			Watch: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{} },
		}
	}}})
	h := compileText(t, "include: []\na: {file.manged: []}\nb: {file.absent: []}\nc: {file.mod_watch: []}\n")
	chunks, err := (&low.Compiler{}).Compile(h)
	if err != nil {
		t.Fatal(err)
	}
	faults := low.Unknown(table, h, chunks)
	if len(faults) != 1 || faults[0].Trace() != "s.sls:2:1: unknown state function \"file.manged\"\nhint: did you mean \"file.managed\"?" {
		t.Errorf("%v", faults)
	}
}

func TestDisabledRequisites(t *testing.T) {
	h := compileText(t, "a: {test.nop: []}\nb: {test.nop: [require_in: [test: a]]}\n")
	chunks, err := (&low.Compiler{Disabled: []string{"require_in"}, OrchJID: "2026"}).Compile(h)
	if err != nil || chunks[0].Low.Has("require") || chunks[0].Low.Str("__orchestration_jid__") != "2026" {
		t.Errorf("%v %v", err, chunks[0].Low)
	}
}

// FuzzHigh compiles any YAML: no panic, an end, and a place for each fault.
func FuzzHigh(f *testing.F) {
	for _, s := range []string{
		"a: {test.nop: [require_in: [b]]}\nb: test.nop\n",
		"include: [.x, {dev: y}, 5]\nexclude: [{id: a}, b]\nextend: {a: {test: [x: 1, name: q]}}\na: {test: [nop, {names: [q, {r: [x: 2]}]}]}\n",
		"a: &x {test.nop: &l [use: {test: b}, prereq_in: [sls: s, id: b, {}]]}\nb: *x\nc: {test.nop: *l}\n",
		"a: {test.nop: [require: [{a.b: c}, [x], 5, {}, {x: {y: z}}]]}\n1: {2: 3}\n__x: y\n__extend__: [{a: b}]\n",
		"a: {test.nop: [names: [{x: y}, {}, [z]], order: x, order: -5, name: [1]]}\n",
		"[[a, b], [c, d]]\n", "- a: b\n", "a:\n", "a: 5\n", "a: b.c.d\n", "extend: {a: {b: {c: d}}, e: {}}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		env := memtree.Tree{"s.sls": text, "x.sls": "c: test.nop\n", "dev:y.sls": "d: test.nop\n"}.Env(t)
		env.OnWarn = nil
		h := high.New(env, yamlOnly).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
		faults := append(h.Faults, h.Verify()...)
		if len(h.Faults) == 0 {
			_, err := (&low.Compiler{}).Compile(h)
			faults = append(faults, source.Faults(err)...)
		}
		if len(faults) == 0 {
			if _, err := low.Show(h); err != nil {
				faults = append(faults, source.Faults(err)...)
			}
		}
		_, _ = (&low.Compiler{}).Lowstate(h, nil)
		for _, e := range faults {
			if e.Pos.File == "" {
				t.Errorf("no place: %s", e.SaltText())
			}
		}
	})
}

func yamlOnly(_ context.Context, in render.Input) (value.Value, error) {
	return yamlsalt.Load(yamlsalt.LoadOptions{Name: in.Path}, in.Text)
}

// manyStates returns an SLS of n states of which each requires five others.
func manyStates(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "state_%d:\n  test.nop:\n    - name: name_%d\n    - require:\n", i, i)
		for j := 1; j <= 3; j++ {
			fmt.Fprintf(&b, "      - test: state_%d\n", max(0, i-j))
		}
		if i > 0 {
			fmt.Fprintf(&b, "    - require_in:\n      - test: name_%d\n      - test: state_%d\n", (i+1)%n, n-1)
		}
	}
	return strings.Replace(b.String(), "      - test: state_0\n      - test: state_0\n      - test: state_0\n", "      - test: name_1\n", 1)
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			env := memtree.Tree{"s.sls": manyStates(n)}.Env(b)
			h := high.New(env, yamlOnly).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
			if len(h.Faults) > 0 {
				b.Fatal(h.Faults[0])
			}
			b.ReportAllocs()
			for b.Loop() {
				chunks, err := (&low.Compiler{}).Compile(h)
				if err != nil || len(chunks) != n {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIncludes compiles a formula whose init includes hundreds of SLS, which
// include each other: each is read and rendered once.
func BenchmarkIncludes(b *testing.B) {
	const n = 400
	tree := memtree.Tree{}
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "  - f.s%d\n", i)
		var own strings.Builder
		for k := range 20 {
			fmt.Fprintf(&own, "  - f.s%d\n", (i*7+k*13)%n)
		}
		tree[fmt.Sprintf("f/s%d.sls", i)] = fmt.Sprintf("include:\n%ss%d:\n  test.nop:\n    - name: n%d\n", own.String(), i, i)
	}
	tree["f/init.sls"] = "include:\n" + all.String()
	env := tree.Env(b)
	b.ReportAllocs()
	for b.Loop() {
		renders := 0
		count := func(ctx context.Context, in render.Input) (value.Value, error) {
			renders++
			return yamlOnly(ctx, in)
		}
		h := high.New(env, count).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"f"}}})
		if len(h.Faults) > 0 || h.Data.Len() != n || renders != n+1 {
			b.Fatal(h.Faults, h.Data.Len(), renders)
		}
		if _, err := (&low.Compiler{}).Compile(h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for _, n := range []int{2000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			env := memtree.Tree{"s.sls": manyStates(n)}.Env(b)
			data, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "s.sls"}, []byte(manyStates(n)))
			if err != nil {
				b.Fatal(err)
			}
			loaded := func(context.Context, render.Input) (value.Value, error) { return data, nil }
			b.ReportAllocs()
			for b.Loop() {
				h := high.New(env, loaded).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}})
				if h.Data.Len() != n {
					b.Fatal(h.Faults)
				}
			}
		})
	}
}
