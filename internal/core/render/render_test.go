package render_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/serial"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	"brine/internal/testkit/pythontest"
	testmod "brine/modules/test"
)

// TestMain lets the test binary be the process that renders pongo2. Times are
// those of UTC, wherever the tests run.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == render.PongoCommand {
		os.Exit(render.ServePongo(os.Stdin, os.Stdout, os.Stderr))
	}
	time.Local = time.UTC
	pythontest.Direct()
	os.Exit(m.Run())
}

// tree returns an Env whose salt:// files are those given, by path.
func tree(t testing.TB, files map[string]string) *fun.Env {
	t.Helper()
	h := host.NewFake()
	h.PutDir("/srv/salt", 0o755)
	for p, text := range files {
		h.PutFile("/srv/salt/"+p, text, 0o644)
	}
	return env(t, h, "/srv/salt")
}

func env(t testing.TB, h host.Host, root string) *fun.Env {
	t.Helper()
	e := &fun.Env{
		Identity: fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:     fun.Data{Opts: value.MapOf("renderer", "jinja|yaml", "file_roots", value.MapOf("base", value.Strings(root))), Grains: value.MapOf("os", "Debian", "id", "minion1"), Pillar: value.MapOf("a", value.MapOf("b", int64(1))), Memo: &fun.Memo{}},
		Machine:  fun.Machine{Host: h},
		UI:       fun.UI{Logger: slog.New(slog.DiscardHandler)},
	}
	e.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "test", Load: testmod.Module}, {Kind: fun.Exec, Name: "boom", Load: boom}})
	e.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(e.Opts, "file_roots"))}
	e.Invoker = dispatch.New(e)
	return e
}

// boom is a module whose functions fail.
func boom() fun.Module {
	return fun.Module{Name: "boom", Kind: fun.Exec, Specs: []fun.Spec{
		{Name: "command", Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Result{}, fun.Errorf("the command failed")
		}},
		{Name: "python", Fn: func(context.Context, *fun.Call) (fun.Result, error) {
			return fun.Result{}, value.Raise("ValueError", "bad value")
		}},
	}}
}

// sls renders an SLS of e's tree.
func sls(t testing.TB, e *fun.Env, name string) (value.Value, error) {
	t.Helper()
	ctx := t.Context()
	fi, err := fun.FindSLS(ctx, e.Up, "base", name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := render.Read(ctx, e.Up, fi)
	if err != nil {
		t.Fatal(err)
	}
	return render.For(e).SLS(ctx, render.Input{Path: fi.Path, Abs: fi.Abs, SLS: name, SaltEnv: "base", Text: text})
}

func TestSLS(t *testing.T) {
	e := tree(t, map[string]string{
		"plain.sls":         "a: {{ 1 + 1 }}\nb: {{ pillar['a'].b }}\nc: {{ grains.os }}\nd: {{ salt['test.echo']('x') }}{{ salt.test.echo('y') }}{{ salt.get('test.echo')('z') }}\n",
		"web/front.sls":     "v: [{{ tplfile }}, {{ tpldir }}, {{ tpldot }}, {{ slspath }}, {{ slsdotpath }}, {{ slscolonpath }}, {{ sls_path }}, {{ tplroot is defined }}, {{ sls }}, {{ saltenv }}, {{ tplpath }}]\n",
		"web/sub/init.sls":  "v: [{{ tplfile }}, {{ tpldir }}, {{ slspath }}, {{ slsdotpath }}, {{ slscolonpath }}, {{ sls_path }}, {{ env is defined }}]\n",
		"top_level.sls":     "v: [{{ tplfile }}, '{{ tpldir }}', '{{ tpldot }}', '{{ slspath }}', '{{ tmplpath is defined }}']\n",
		"rel/main.sls":      "{% from './map.jinja' import x %}{% import '../web/lib.jinja' as l %}{% from 'rel/map.jinja' import x as y %}{% import 'salt://rel/map.jinja' as z %}v: [{{ x }}, {{ l.y }}, {{ y }}, {{ z.x }}]\n",
		"rel/map.jinja":     "{% set x = 'rel' %}",
		"web/lib.jinja":     "{% set y = salt['test.echo'](grains.id) %}",
		"yaml.sls":          "#!yaml\n'{{ x }}': 1\n",
		"json.sls":          "#!json\n{\"b\": 1, \"a\": [true, null]}",
		"jj.sls":            "#!jinja|json\n{\"n{{ 2 }}\": 1}\n",
		"old.sls":           "#!yaml_jinja\na: {{ 3 }}\n",
		"toml.sls":          "#!toml\nz = 1\na = 'x'\n[t]\ny = [1, 2]\nb.c = 2024-05-06\n[[l]]\nq = 1\n[[l]]\np = 2\n",
		"pongo.sls":         "#!pongo2|yaml\nv: {{ pillar.a.b }}\n{% for k in list %}{% endfor %}w: '{{ salt(\"test.echo\", \"<x>\") }}'\n",
		"bom.sls":           "\ufeffa: 1\n",
		"empty.sls":         "\n  \n",
		"comments.sls":      "# nothing\n",
		"context.sls":       "v: {{ 'test.echo' in salt }} \nw: {{ 'no.such' in salt }}\nx: {{ salt['no.such'] is defined }}\n",
		"mutate.sls":        "{% do pillar.update({'new': 1}) %}v: {{ pillar.new }}\n",
		"crlf.sls":          "a: 1\r\nb: {{ 2 }}\r\n",
		"web/inc.sls":       "{% include 'web/part.yaml' %}\n",
		"web/part.yaml":     "part: {{ tpldir }}",
		"rel/deep.sls":      "{% from './sub/one.jinja' import one %}v: {{ one }}\n",
		"rel/sub/one.jinja": "{% from './two.jinja' import two %}{% set one = two %}",
		"rel/sub/two.jinja": "{% set two = 'beside' %}",
		"users/init.sls":    "{% from 'openssh/map.jinja' import root, file %}{% from 'openssh/map.jinja' import root as r2 with context %}{% from './m.jinja' import d %}v: [{{ root }}, {{ file }}, {{ r2 }}, {{ d }}, {{ tpldir }}]\n",
		"openssh/map.jinja": "{% set root = tpldir.split('/')[0] %}{% set file = tplfile %}",
		"users/m.jinja":     "{% set d = tpldir %}",
	})
	for _, tt := range []struct{ sls, want string }{
		{"plain", "{'a': 2, 'b': 1, 'c': 'Debian', 'd': 'xyz'}"},
		{"web.front", "{'v': ['web/front.sls', 'web', 'web', 'web', 'web', 'web', 'web', False, 'web.front', 'base', '/srv/salt/web/front.sls']}"},
		{"web.sub", "{'v': ['web/sub/init.sls', 'web/sub', 'web/sub', 'web.sub', 'web:sub', 'web_sub', False]}"},
		{"top_level", "{'v': ['top_level.sls', '.', '', '', 'False']}"},
		{"rel.main", "{'v': ['rel', 'minion1', 'rel', 'rel']}"},
		{"rel.deep", "{'v': 'beside'}"},
		{"yaml", "{'{{ x }}': 1}"},
		{"json", "{'b': 1, 'a': [True, None]}"},
		{"jj", "{'n2': 1}"},
		{"old", "{'a': 3}"},
		{"toml", "{'z': 1, 'a': 'x', 't': {'y': [1, 2], 'b': {'c': '2024-05-06'}}, 'l': [{'q': 1}, {'p': 2}]}"},
		{"pongo", "{'v': 1, 'w': '<x>'}"},
		{"bom", "{'a': 1}"},
		{"empty", "{}"},
		{"comments", "{}"},
		{"context", "{'v': True, 'w': False, 'x': False}"},
		{"mutate", "{'v': 1}"},
		{"crlf", "{'a': 1, 'b': 2}"},
		{"users", "{'v': ['openssh', 'openssh/map.jinja', 'users', 'users', 'users']}"},
		{"web.inc", "{'part': 'web'}"},
	} {
		t.Run(tt.sls, func(t *testing.T) {
			v, err := sls(t, e, tt.sls)
			if err != nil {
				t.Fatal(err)
			}
			if got := calltest.Plain(v); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The expected texts are those of real Salt 3006: SaltRenderError of
// salt/utils/templates.py, run with the same files.
func TestFaults(t *testing.T) {
	e := tree(t, map[string]string{
		"undef.sls":        "a:\n  b: {{ nope }}\n",
		"attr.sls":         "{{ grains['nope'] }}\n",
		"cmd.sls":          "x: {{ salt['boom.command']() }}\n",
		"py.sls":           "x: {{ salt['boom.python']() }}\n",
		"arity.sls":        "x: {{ salt['test.echo']() }}\n",
		"nofun.sls":        "x: {{ salt['nope.fun']() }}\n",
		"nomodfun.sls":     "x: {{ salt.test.nope() }}\n",
		"imports.sls":      "{% import 'lib.jinja' as l %}\nx: {{ l.m() }}\n",
		"lib.jinja":        "{% macro m() %}\n{{ nope }}\n{% endmacro %}\n",
		"outside.sls":      "{% import '../../etc/passwd' as l %}\n",
		"json.sls":         "#!json\n{\"a\": }\n",
		"py2.sls":          "#!py\ndef run(): return {}\n",
		"unknown.sls":      "#!jinja|yamll\na: 1\n",
		"option.sls":       "#!jinja -x|yaml\na: 1\n",
		"dup.sls":          "{% set x = 1 %}\na: 1\n{% if x %}\na: 2\n{% endif %}\n",
		"long.sls":         strings.Repeat("# line\n", 10) + "{{ nope }}\n" + strings.Repeat("# after\n", 10),
		"binary.sls":       "a: \xff\n",
		"pongo.sls":        "#!pongo2|yaml\na: {{ x|nofilter }}\n",
		"pongomacro.sls":   "#!pongo2|yaml\n{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}\n",
		"pongoinclude.sls": "#!pongo2|yaml\n{% include 'pongoinclude.sls' %}\n",
		"ssi.sls":          "#!pongo2|yaml\n{% ssi '/etc/passwd' %}\n",
		"tomlbad.sls":      "#!toml\na = = 1\n",
	})
	for _, tt := range []struct {
		sls, salt string // salt: how Salt's text begins
		line, col int
		file      string
		handled   bool
	}{
		{"undef", "Jinja variable 'nope' is undefined; line 2\n\n---\na:\n  b: {{ nope }}    <======================\n---", 2, 9, "undef.sls", true},
		{"attr", "Jinja variable 'dict object' has no attribute 'nope'; line 1\n\n---\n{{ grains['nope'] }}    <======================\n---", 1, 0, "attr.sls", true},
		{"cmd", "Problem running salt function in Jinja template: the command failed; line 1\n\n---\nx: {{ salt['boom.command']() }}    <======================\n---", 1, 0, "cmd.sls", true},
		{"py", "Jinja error: bad value\n", 1, 0, "py.sls", true},
		{"arity", "Jinja error: echo() missing 1 required positional argument: 'text'\n", 1, 0, "arity.sls", true},
		{"nofun", "Jinja variable 'salt.utils.templates.AliasedLoader object' has no attribute 'nope.fun'; line 1\n", 1, 0, "nofun.sls", true},
		{"nomodfun", "Jinja variable 'salt.loader.lazy.LoadedMod object' has no attribute 'nope'; line 1\n", 1, 0, "nomodfun.sls", true},
		{"imports", "Jinja variable 'nope' is undefined\n/srv/salt/lib.jinja(2):\n---\n{% macro m() %}\n{{ nope }}    <======================\n{% endmacro %}\n---", 2, 0, "lib.jinja", true},
		{"outside", "Jinja error: ../../etc/passwd\n", 1, 0, "outside.sls", true},
		{"json", "Expecting value: line 1 column 7 (char 6)", 2, 7, "json.sls", false},
		{"py2", `The renderer "py" is not available`, 1, 1, "py2.sls", true},
		{"unknown", `The renderer "jinja|yamll" is not available`, 1, 1, "unknown.sls", true},
		{"option", "Unknown renderer option: -x", 1, 1, "option.sls", true},
		{"dup", "found conflicting ID 'a'", 4, 1, "dup.sls", true},
		{"long", "Jinja variable 'nope' is undefined; line 11\n\n---\n[...]\n# line\n# line\n# line\n# line\n# line\n{{ nope }}    <======================\n# after\n# after\n# after\n# after\n# after\n[...]\n---", 11, 0, "long.sls", true},
		{"binary", "'utf-8' codec can't decode byte 0xff in position 3: invalid start byte", 1, 4, "binary.sls", false},
		{"pongo", "pongo2 error: ", 2, 0, "pongo.sls", true},
		{"pongomacro", "pongo2 error: the template is nested too deep", 0, 0, "pongomacro.sls", true},
		{"pongoinclude", "pongo2 error: ", 0, 0, "", true},
		{"ssi", "pongo2 error: ", 0, 0, "ssi.sls", true},
		{"tomlbad", "", 2, 5, "tomlbad.sls", false},
	} {
		t.Run(tt.sls, func(t *testing.T) {
			_, err := sls(t, e, tt.sls)
			var se *source.Error
			if !errors.As(err, &se) {
				t.Fatalf("err = %v (%T), want a placed one", err, err)
			}
			if got := se.SaltText(); !strings.HasPrefix(got, tt.salt) && !strings.Contains(got, tt.salt) {
				t.Errorf("Salt text:\n%s\nwant it to begin with:\n%s", got, tt.salt)
			}
			if tt.line > 0 && se.Pos.Line != tt.line || tt.col > 0 && se.Pos.Col != tt.col || tt.file != "" && se.Pos.File != tt.file {
				t.Errorf("place = %v, want %s:%d:%d", se.Pos, tt.file, tt.line, tt.col)
			}
			if got := render.Handled(err); got != tt.handled {
				t.Errorf("Handled = %v, want %v", got, tt.handled)
			}
		})
	}
}

// TestRecordings compares the faults with what real Salt said.
func TestRecordings(t *testing.T) {
	for _, name := range []string{"compile-err-jinja", "compile-err-yaml", "compile-err-yaml-equals"} {
		dir := filepath.Join("../../../testdata/conformance", name)
		files, err := filepath.Glob(filepath.Join(dir, "expected*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no recordings in %s (%v)", dir, err)
		}
		abs, err := filepath.Abs(filepath.Join(dir, "tree/salt"))
		if err != nil {
			t.Fatal(err)
		}
		e := env(t, host.NewLocal(), abs)
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct{ Local []string }
			if json.Unmarshal(raw, &doc) != nil || len(doc.Local) == 0 {
				continue
			}
			want := doc.Local[0]
			var id string
			if rest, ok := strings.CutPrefix(want, "Rendering SLS 'base:"); ok {
				id, want, _ = strings.Cut(rest, "' failed: ")
			} else if rest, ok := strings.CutPrefix(want, "Rendering SLS "); ok {
				id, want, _ = strings.Cut(rest, " failed, render error: ")
			} else {
				continue
			}
			t.Run(name+"/"+id, func(t *testing.T) {
				_, err := sls(t, e, id)
				var se *source.Error
				if !errors.As(err, &se) {
					t.Fatalf("err = %v, want a placed one", err)
				}
				got := se.SaltText()
				if before, _, ok := strings.Cut(want, "\nTraceback (most recent call last)"); ok {
					// Python's own traceback is not to be had.
					want = before
					got = got[:min(len(got), len(want))]
				}
				if got != want {
					t.Errorf("got:\n%s\nwant:\n%s", got, want)
				}
				if se.Pos.Line == 0 {
					t.Errorf("place = %v, want a line", se.Pos)
				}
			})
		}
	}
}

func TestTemplate(t *testing.T) {
	e := tree(t, map[string]string{"lib.jinja": "{% set x = 5 %}"})
	r := render.For(e)
	for _, tt := range []struct{ engine, text, want string }{
		{"jinja", "{% from 'lib.jinja' import x %}{{ x }} {{ mine }} {{ grains.id }}\n\n", "5 here minion1\n\n"},
		{"jinja", "no newline", "no newline"},
		{"pongo2", "{{ mine }} & {{ grains.id }}\n", "here & minion1\n"},
	} {
		got, err := r.Template(t.Context(), tt.engine, render.Input{Path: "f.conf", SaltEnv: "base", Text: []byte(tt.text), Vars: value.MapOf("mine", "here")})
		if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.engine, got, err, tt.want)
		}
	}
	for engine, want := range map[string]string{"wempy": "not supported", "jinga": `did you mean "jinja"?`} {
		_, err := r.Template(t.Context(), engine, render.Input{Path: "f"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %q", engine, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	files := map[string]string{"a.sls": "{% if true %}\n  {% if true %}\nx: 1\n  {% endif %}\n{% endif %}\nv: '{{ x }}'\n"}
	e := tree(t, files)
	if _, err := sls(t, e, "a"); err == nil {
		t.Error("an undefined variable is no error")
	}
	e = tree(t, files)
	e.Opts.Set("allow_undefined", true)
	v, err := sls(t, e, "a")
	if err != nil || calltest.Plain(v) != "{'x': 1, 'v': ''}" {
		t.Errorf("got %s, %v", value.Repr(v), err)
	}
	e = tree(t, map[string]string{"a.sls": "# comment\n% if true\nx: 1\n% endif\n"})
	e.Opts.Set("jinja_sls_env", value.MapOf("line_statement_prefix", "%"))
	v, err = sls(t, e, "a")
	if err != nil || calltest.Plain(v) != "{'x': 1}" {
		t.Errorf("got %s, %v", value.Repr(v), err)
	}
	e = tree(t, map[string]string{"a.sls": "#!jinja|yaml\na: '{{ 1 }}'\n"})
	limit(e, "renderer_blacklist", "jinja")
	if v, err := sls(t, e, "a"); err != nil || calltest.Plain(v) != "{'a': '{{ 1 }}'}" {
		t.Errorf("a renderer that is barred ran: %s, %v", value.Repr(v), err)
	}
	// Templates see the options, and what one changes there allows nothing.
	e = tree(t, map[string]string{"a.sls": "{% do opts.update({'disable_renders': []}) %}{{ salt['slsutil.renderer'](string='x', default_renderer='py') }}", "b.sls": "#!py\ndef run(): return {}\n"})
	limit(e, "disable_renders", "py")
	_, _ = sls(t, e, "a")
	if v, err := sls(t, e, "b"); err == nil || !strings.Contains(err.Error(), `the renderer "py" is disabled by the option disable_renders`) {
		t.Errorf("a renderer that is disabled ran: %s, %v", value.Repr(v), err)
	}
}

// limit restricts an Env by an option of strings.
func limit(e *fun.Env, option string, entries ...string) {
	e.Limits, _ = fun.NewLimits(value.MapOf(option, value.Strings(entries...)))
}

// TestFileTemplate checks that the template of a file has no names of an SLS but
// those that its context brings, and that binary files stay as they are.
func TestFileTemplate(t *testing.T) {
	e := tree(t, map[string]string{"lib/map.jinja": "{% set x = 'lib' %}", "files/map.jinja": "{% set x = 'files' %}"})
	for _, tt := range []struct {
		text string
		vars *value.Map
		want string
	}{
		{"{{ tpldir is defined }} {{ sls is defined }} {{ slspath is defined }} {{ saltenv }}", nil, "False False False base"},
		{"{{ tpldir }} {% from tpldir ~ '/map.jinja' import x %}{{ x }}", value.MapOf("tpldir", "lib"), "lib lib"},
		{"{% from './map.jinja' import x %}{{ x }}", nil, "files"},
		{"{{ sls }} {{ slspath }} {{ slsdotpath }} {{ tpldir is defined }}", value.MapOf("sls", "a.b"), "a.b a/b a.b False"},
		{"{{ 1 }}\x00\xff", nil, "{{ 1 }}\x00\xff"},
		{"{{ 1 }} \xe4", nil, "{{ 1 }} \xe4"},
	} {
		in := render.Input{Path: "files/x.conf", Abs: "/srv/salt/files/x.conf", Text: []byte(tt.text), Vars: tt.vars}
		if got, err := render.For(e).Template(t.Context(), "jinja", in); err != nil || got != tt.want {
			t.Errorf("%q: got %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
	text := strings.Repeat("a", 3000) + "\xff"
	if _, err := render.For(e).Template(t.Context(), "jinja", render.Input{Path: "x", Text: []byte(text)}); err == nil {
		t.Error("a text with a bad byte far down is taken")
	}
}

func TestPillarIsLazy(t *testing.T) {
	e := tree(t, map[string]string{"a.sls": "x: {{ 1 }}\n", "b.sls": "x: {{ pillar.y }}\n"})
	loaded := 0
	e.Pillar = value.NewLazyMap(func() *value.Map { loaded++; return value.MapOf("y", int64(2)) })
	if _, err := sls(t, e, "a"); err != nil || loaded != 0 {
		t.Errorf("err %v, loaded %d times; want 0", err, loaded)
	}
	for range 2 {
		if v, err := sls(t, e, "b"); err != nil || calltest.Plain(v) != "{'x': 2}" || loaded != 1 {
			t.Errorf("got %s, %v, loaded %d times; want 1", value.Repr(v), err, loaded)
		}
	}
}

func FuzzSLS(f *testing.F) {
	for _, s := range []string{"a: {{ 1 }}\n", "#!json\n{}", "#!toml\na=1", "#!pongo2|yaml\n{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "#!jinja|yaml\n{% for x in range(3) %}a{{ x }}: 1\n{% endfor %}", "#!yaml\n- [", "#!", "#! |", "#!a|b c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := tree(t, nil)
		e.Opts.Set("jinja_max_time", int64(1))
		_, err := render.For(e).SLS(t.Context(), render.Input{Path: "a.sls", SLS: "a", Text: []byte(s)})
		var se *source.Error
		if err != nil && !errors.As(err, &se) {
			t.Errorf("%q: %v (%T) has no place", s, err, err)
		}
	})
}

func BenchmarkSLS(b *testing.B) {
	e := tree(b, map[string]string{"map.jinja": "{% set m = {'a': 1} %}", "a.sls": "{% from 'map.jinja' import m %}\n" + strings.Repeat("{% if m.a %}x{{ m.a }}: {test.nop: [{name: y}]}\n{% endif %}", 1)})
	for b.Loop() {
		if _, err := sls(b, e, "a"); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{"a = 1", "[t]\nb.c = [{x = 1}, {y = 2}]", "[[l]]\na=1\n[[l.m]]\nb=2", "\"q k\" = 'x'\nd = 2024-05-06T07:08:09Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := serial.ReadTOML([]byte(s))
		if err == nil {
			value.Repr(m)
		}
	})
}
