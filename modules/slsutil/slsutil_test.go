package slsutil_test

import (
	"log/slog"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/calltest"
	defaultsmod "brine/modules/defaults"
	slsutilmod "brine/modules/slsutil"
)

func newEnv(files map[string]string) *fun.Env {
	h := host.NewFake()
	h.PutDir("/srv/salt", 0o755)
	for p, text := range files {
		h.PutFile("/srv/salt/"+p, text, 0o644)
	}
	e := &fun.Env{
		Identity: fun.Identity{ID: "m", SaltEnv: "base"},
		Data:     fun.Data{Opts: value.MapOf("file_roots", value.MapOf("base", value.Strings("/srv/salt"))), Grains: value.MapOf("id", "m"), Pillar: value.NewMap(0), Memo: &fun.Memo{}},
		Machine:  fun.Machine{Host: h},
		UI:       fun.UI{Logger: slog.New(slog.DiscardHandler)},
	}
	e.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "slsutil", Load: slsutilmod.Module}, {Kind: fun.Exec, Name: "defaults", Load: defaultsmod.Module}})
	e.Up = &fileserver.Local{Server: fileserver.New(h, fileserver.RootsOf(e.Opts, "file_roots"))}
	e.Invoker = dispatch.New(e)
	return e
}

// call calls a function whose arguments are a YAML list, the last one of which
// may be {kw: {...}}.
func call(t *testing.T, e *fun.Env, name, args string) (value.Value, error) {
	t.Helper()
	v, err := yamlsalt.LoadString(args)
	if err != nil {
		t.Fatal(err)
	}
	a := fun.Args{Kw: value.NewMap(0)}
	for _, x := range v.(*value.List).Items {
		if m, ok := x.(*value.Map); ok && m.Has("kw") {
			a.Kw = m.Map("kw")
			continue
		}
		a.Pos = append(a.Pos, x)
	}
	r, err := e.Invoker.Invoke(t.Context(), fun.Exec, name, a)
	return r.Value, err
}

// The expected results are those of salt/modules/slsutil.py and defaults.py.
func TestCalls(t *testing.T) {
	e := newEnv(map[string]string{
		"a/b/file.sls":        "x: {{ mine }} {{ saltenv }}\n",
		"a/defaults.yaml":     "users: {root: 0}\n",
		"a/map.jinja":         "",
		"j/defaults.json":     `{"k": [1]}`,
		"empty/defaults.yaml": "",
	})
	for _, tt := range []struct{ fn, args, want string }{
		{"slsutil.merge", "[{a: {x: 1}}, {a: {y: 2}}]", "{'a': {'x': 1, 'y': 2}}"},
		{"slsutil.merge", "[{a: {x: 1}}, {a: {y: 2}}, overwrite]", "{'a': {'y': 2}}"},
		{"slsutil.merge", "[{a: [1]}, {a: [2]}, {kw: {merge_lists: true}}]", "{'a': [1, 2]}"},
		{"slsutil.merge", "[{a: 1}, text]", "Cannot update using non-dict types in dictupdate.update()"},
		{"slsutil.merge_all", "[[{a: 1}, {b: {x: 1}}, {b: {y: 2}}]]", "{'a': 1, 'b': {'x': 1, 'y': 2}}"},
		{"slsutil.update", "[{a: {x: 1}}, {a: {y: 2}}]", "{'a': {'x': 1, 'y': 2}}"},
		{"slsutil.update", "[{a: {x: 1}}, {a: {y: 2}}, false]", "{'a': {'y': 2}}"},
		{"slsutil.boolstr", "[1, 'yes', 'no']", "'yes'"},
		{"slsutil.boolstr", "[0]", "'false'"},
		{"slsutil.serialize", "[json, {b: 1, a: [é]}]", `'{"b": 1, "a": ["é"]}'`},
		{"slsutil.serialize", "[json, {b: 1, a: 2}, {kw: {indent: 2, sort_keys: true}}]", `'{\n  "a": 2,\n  "b": 1\n}'`},
		{"slsutil.serialize", "[yaml, {b: 1, a: [1, 2]}]", `'a: [1, 2]\nb: 1'`},
		{"slsutil.serialize", "[yaml, {b: {c: 1}}, {kw: {default_flow_style: false}}]", `'b:\n  c: 1'`},
		{"slsutil.serialize", "[python, {b: null}]", `"{'b': None}"`},
		{"slsutil.serialize", "[yml, {}]", `Serializer 'yml' not found. (did you mean "yaml"?)`},
		{"slsutil.deserialize", "[json, '{\"b\": [1, null]}']", "{'b': [1, None]}"},
		{"slsutil.deserialize", "[yaml, 'b: [1, yes]']", "{'b': [1, True]}"},
		{"slsutil.deserialize", "[toml, 'b = [1, 2]']", "{'b': [1, 2]}"},
		{"slsutil.file_exists", "[a/map.jinja]", "True"},
		{"slsutil.file_exists", "[a/b]", "False"},
		{"slsutil.dir_exists", "[a/b]", "True"},
		{"slsutil.dir_exists", "[a/map.jinja]", "False"},
		{"slsutil.path_exists", "[a/b]", "True"},
		{"slsutil.path_exists", "[../etc]", "False"},
		{"slsutil.findup", "[a/b, map.jinja]", "'a/map.jinja'"},
		{"slsutil.findup", "[a/b/file.sls, [nope, a]]", "'a'"},
		{"slsutil.findup", "['', a/map.jinja]", "'a/map.jinja'"},
		{"slsutil.findup", "[a/b, nope]", "File pattern(s) not found in path ancestry"},
		{"slsutil.findup", "[nope, x]", "Starting path not found in the state tree: nope"},
		{"slsutil.findup", "[a, 5]", "Filenames argument must be a string or list of strings"},
		{"slsutil.renderer", "[{kw: {string: 'a: {{ name }}', name: world}}]", "{'a': 'world'}"},
		{"slsutil.renderer", "[{kw: {string: 'Hi {{ name }}', default_renderer: jinja, name: world}}]", "'Hi world'"},
		{"slsutil.renderer", "[salt://a/b/file.sls, {kw: {mine: 5}}]", "{'x': '5 base'}"},
		{"slsutil.renderer", "[/srv/salt/a/b/file.sls, {kw: {mine: 6}}]", "{'x': '6 base'}"},
		{"slsutil.renderer", "[]", "Must pass either path or string"},
		{"slsutil.renderer", `[{kw: {string: "a: {{ 1 }}\r\nb: 2\r\n", default_renderer: jinja}}]`, `'a: 1\r\nb: 2\r\n'`},
		{"slsutil.renderer", `[{kw: {string: "a: {{ 1 }}\r\nb: 2\r\n"}}]`, "{'a': 1, 'b': 2}"},
		{"slsutil.renderer", "[salt://nope.sls]", "{}"},
		{"slsutil.renderer", "[salt://a]", "{}"},
		{"slsutil.renderer", "[/srv/salt/nope.sls, {kw: {default_renderer: jinja}}]", "{}"},
		{"slsutil.renderer", "[a/b/file.sls]", "Path 'a/b/file.sls' is not absolute"},
		{"defaults.get", "['a:users:root']", "0"},
		{"defaults.get", "['a:nope', d]", "'d'"},
		{"defaults.get", "[j]", "{'k': [1]}"},
		{"defaults.get", "[empty]", "{}"},
		{"defaults.get", "[nope]", "None"},
		{"defaults.merge", "[{a: {x: 1}, l: [1]}, {a: {y: 2}, l: [2]}]", "{'a': {'x': 1, 'y': 2}, 'l': [2]}"},
		{"defaults.merge", "[{l: [1]}, {l: [2]}, true]", "{'l': [1, 2]}"},
		{"defaults.merge", "[null, {l: [2]}]", "{'l': [2]}"},
		{"defaults.update", "[{n1: {a: 1}, n2: null}, {a: 0, b: {c: 1}}]", "{'n1': {'a': 1, 'b': {'c': 1}}, 'n2': {'a': 0, 'b': {'c': 1}}}"},
		{"defaults.deepcopy", "[{a: [1]}]", "{'a': [1]}"},
	} {
		t.Run(tt.fn+tt.args, func(t *testing.T) {
			v, err := call(t, e, tt.fn, tt.args)
			got := calltest.Plain(v)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestInPlace(t *testing.T) {
	e := newEnv(nil)
	dest := value.MapOf("a", value.MapOf("x", int64(1)))
	src := value.MapOf("a", value.MapOf("y", int64(2)))
	for _, tt := range []struct {
		fn   string
		kw   *value.Map
		want string
	}{
		{"defaults.merge", value.MapOf("in_place", false), "{'a': {'x': 1}}"},
		{"slsutil.merge", value.NewMap(0), "{'a': {'x': 1}}"},
		{"defaults.merge", value.NewMap(0), "{'a': {'x': 1, 'y': 2}}"},
	} {
		if _, err := e.Invoker.Invoke(t.Context(), fun.Exec, tt.fn, fun.Args{Pos: []value.Value{dest, src}, Kw: tt.kw}); err != nil {
			t.Fatal(err)
		}
		if got := value.Repr(dest); got != tt.want {
			t.Errorf("%s: dest = %s, want %s", tt.fn, got, tt.want)
		}
	}
}

// The boxes are those of salt/modules/slsutil.py banner.
func TestBanner(t *testing.T) {
	e := newEnv(nil)
	for _, tt := range []struct{ args, want string }{
		{"[]", `########################################################################
#                                                                      #
#              THIS FILE IS MANAGED BY SALT - DO NOT EDIT              #
#                                                                      #
# The contents of this file are managed by Salt. Any changes to this   #
# file may be overwritten automatically and without warning.           #
########################################################################`},
		{"[{kw: {commentchar: ' *', borderchar: '*', blockstart: '/**', blockend: ' */', newline: true}}]", `/**
 ***********************************************************************
 *                                                                    ` + ` *
 *              THIS FILE IS MANAGED BY SALT - DO NOT EDIT             *
 *                                                                    ` + ` *
 * The contents of this file are managed by Salt. Any changes to this  *
 * file may be overwritten automatically and without warning.          *
 ***********************************************************************
 */
`},
		{"[{kw: {width: 30, title: T, text: 'a well-known averyveryveryverylongwordindeed x'}}]", `##############################
#                            #
#             T              #
#                            #
# a well-known averyveryvery #
# verylongwordindeed x       #
##############################`},
	} {
		v, err := call(t, e, "slsutil.banner", tt.args)
		if err != nil || v != tt.want {
			t.Errorf("banner%s:\n%v\nwant\n%s\n(%v)", tt.args, v, tt.want, err)
		}
	}
	if _, err := call(t, e, "slsutil.banner", "[3]"); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("width 3: %v", err)
	}
}
