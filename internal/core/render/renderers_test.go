package render_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	httpmod "brine/modules/http"
)

func TestRenderers(t *testing.T) {
	e := tree(t, map[string]string{
		"ex.sls":      "#!jinja|yamlex\npkgs: !aggregate {{ grains.os }}\npkgs: !aggregate [b]\nx: {y: 1}\nx: {z: 2}\n",
		"text.sls":    "#!jinja\nplain {{ 1 + 1 }}\n",
		"json.sls":    "#!jinja|json\n{\"a\": {{ [1, none, 'x']|tojson }}}\n",
		"toml.sls":    "#!jinja|toml\na = {{ 1 + 1 }}\n",
		"gpgtext.sls": "#!gpg|yaml\na: 1\n",
		"gpgdata.sls": "#!jinja|yaml|gpg\na: [1, x]\n",
	})
	e.Host.(*host.Fake).PutFile("/usr/bin/gpg", "", 0o755)
	for _, tt := range []struct{ sls, want string }{
		{"ex", "{'pkgs': ['Debian', 'b'], 'x': {'z': 2}}"},
		{"text", "'#!jinja\\nplain 2\\n'"},
		{"json", "{'a': [1, None, 'x']}"},
		{"toml", "{'a': 2}"},
		{"gpgtext", "{'a': 1}"},
		{"gpgdata", "{'a': [1, 'x']}"},
	} {
		v, err := sls(t, e, tt.sls)
		if err != nil || calltest.Plain(v) != tt.want {
			t.Errorf("%s = %s, %v; want %s", tt.sls, value.Repr(v), err, tt.want)
		}
	}
}

// TestAbsentRenderers says of each renderer of Salt that brine has not what to
// do instead.
func TestAbsentRenderers(t *testing.T) {
	for name, want := range map[string]string{
		"wempy": "not supported", "cheetah": "not supported", "genshi": "not supported",
		"jinya": `did you mean "jinja"?`, "hjson": "not supported",
	} {
		e := tree(t, map[string]string{"a.sls": "#!" + name + "\na: 1\n"})
		_, err := sls(t, e, "a")
		var se *source.Error
		if !errors.As(err, &se) {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(se.Err.Error(), want) || se.Hint == "" || se.Pos.Line != 1 || se.SaltText() != `The renderer "`+name+`" is not available` {
			t.Errorf("%s: %s\nSalt: %s\nwant %s", name, se.Trace(), se.SaltText(), want)
		}
	}
}

// TestRenderersWithoutPython: those that need it say so, and what to do.
func TestRenderersWithoutPython(t *testing.T) {
	for _, name := range []string{"py", "pyobjects", "pydsl", "mako"} {
		_, err := sls(t, tree(t, map[string]string{"a.sls": "#!" + name + "\n"}), "a")
		var se *source.Error
		if !errors.As(err, &se) {
			t.Fatalf("%s: %v", name, err)
		}
		want := "a.sls:1:1: the renderer \"" + name + "\" cannot run: python3 is not installed here\nhint: install python3, or write the file as \"#!jinja|yaml\""
		if se.Trace() != want || se.SaltText() != `The renderer "`+name+`" is not available` {
			t.Errorf("%s: %s\nSalt: %s", name, se.Trace(), se.SaltText())
		}
	}
}

// gpgHome makes a directory with a new key and returns a function that encrypts
// for it.
func gpgHome(t *testing.T, h host.Host) (dir string, encrypt func(string) string) {
	t.Helper()
	gpg, err := h.LookPath("gpg", "")
	if err != nil {
		if strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "gpg") {
			t.Fatal(err)
		}
		t.Skip("gpg is not installed")
	}
	// Sockets below a long path cannot be made.
	dir, err = os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	run := func(in string, args ...string) string {
		out, err := h.Run(t.Context(), host.Cmd{Argv: append([]string{gpg, "--homedir", dir, "--batch", "--yes", "--trust-model", "always"}, args...), Stdin: strings.NewReader(in), Timeout: time.Minute})
		if err != nil || out.Status != 0 {
			t.Fatalf("gpg %v: %v %s", args, err, out.Stderr)
		}
		return string(out.Stdout)
	}
	t.Cleanup(func() {
		if kill, err := h.LookPath("gpgconf", ""); err == nil {
			_, _ = h.Run(context.Background(), host.Cmd{Argv: []string{kill, "--homedir", dir, "--kill", "all"}, Timeout: time.Minute})
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	run("", "--passphrase", "", "--pinentry-mode", "loopback", "--quick-generate-key", "brine test <brine@example.org>", "default", "default", "never")
	return dir, func(s string) string { return run(s, "--armor", "--encrypt", "-r", "brine@example.org") }
}

func TestGPG(t *testing.T) {
	h := host.NewLocal()
	dir, encrypt := gpgHome(t, h)
	root := t.TempDir()
	indent := func(s string, n int) string {
		return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+strings.Repeat(" ", n))
	}
	for name, text := range map[string]string{
		"block":  "#!jinja|yaml|gpg\na: |\n  " + indent(encrypt("secret\n"), 2) + "\nb: [{c: \"" + strings.ReplaceAll(strings.TrimSpace(encrypt("x: y\\")), "\n", `\n`) + "\"}, 1]\nd: plain\n",
		"two":    "#!yaml|gpg\na: |\n  user=" + indent(encrypt("u"), 2) + ";\n  pass=" + indent(encrypt("p\n\n"), 2) + "\n",
		"text":   "#!gpg|yaml\na: 1\n" + encrypt("b: 2\nc: 3\n") + "d: 4\ne: 5\n",
		"place":  "#!gpg|yaml\na: 1\n" + encrypt("b: 2\n") + "c: 3\na: 5\n",
		"broken": "#!yaml|gpg\na: \"-----BEGIN PGP MESSAGE-----\\nxx\\n-----END PGP MESSAGE-----\"\n",
		"binary": "#!yaml|gpg\na: |\n  " + indent(encrypt("\xff\xfe"), 2) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name+".sls"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ sls, want string }{
		{"block", `{'a': 'secret', 'b': [{'c': 'x: y\\'}, 1], 'd': 'plain'}`},
		{"two", `{'a': 'user=u;\npass=p'}`},
		{"text", "{'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}"},
		{"broken", `{'a': '-----BEGIN PGP MESSAGE-----\nxx\n-----END PGP MESSAGE-----'}`},
		{"binary", `{'a': b'\xff\xfe'}`},
	} {
		e := env(t, h, root)
		e.Opts.Set("gpg_keydir", dir)
		v, err := sls(t, e, tt.sls)
		if err != nil || calltest.Plain(v) != tt.want {
			t.Errorf("%s = %s, %v; want %s", tt.sls, value.Repr(v), err, tt.want)
		}
	}
	e := env(t, h, root)
	e.Opts.Set("gpg_keydir", dir)
	e.Opts.Set("gpg_decrypt_must_succeed", true)
	_, err := sls(t, e, "broken")
	var se *source.Error
	if !errors.As(err, &se) || !strings.HasPrefix(se.SaltText(), "Could not decrypt cipher") || !strings.Contains(se.Hint, dir) {
		t.Errorf("broken: err = %v", err)
	}
	_, err = sls(t, e, "place")
	lines := strings.Count(string(read(t, filepath.Join(root, "place.sls"))), "\n")
	if !errors.As(err, &se) || se.Pos.Line != lines {
		t.Errorf("place: err = %v, want line %d", err, lines)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestNoGPG(t *testing.T) {
	e := tree(t, map[string]string{"a.sls": "#!yaml|gpg\na: 1\n"})
	_, err := sls(t, e, "a")
	var se *source.Error
	if !errors.As(err, &se) || se.SaltText() != "GPG unavailable" || !strings.Contains(se.Hint, "install") {
		t.Errorf("err = %v", err)
	}
}

// TestEndless gives templates that never end little time.
func TestEndless(t *testing.T) {
	e := tree(t, map[string]string{
		"loop.sls":  "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}\n",
		"macro.sls": "{% macro m(x) %}{{ m(x) }}{% endmacro %}\n\n{{ m(1) }}\n",
		"grow.sls":  "{% set ns = namespace(s='x') %}\n{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}\n",
		"self.sls":  "{% include 'self.sls' %}\n",
		"p.sls":     "#!pongo2|yaml\n{% for a in l %}{% for b in l %}{% for c in l %}{% for d in l %}{% endfor %}{% endfor %}{% endfor %}{% endfor %}\n",
		"slow.sls":  "a: {{ salt['test.sleep'](2) }}\n",
		"pslow.sls": "#!pongo2|yaml\na: '{{ salt(\"test.sleep\", 2) }}'\n",
	})
	e.Opts.Set("jinja_max_time", 0.5)
	l := value.NewList()
	for i := range 1000 {
		l.Append(int64(i))
	}
	e.Opts.Set("l", l)
	for _, tt := range []struct{ sls, want string }{
		{"loop", "the template took too long (limit 500ms)"},
		{"macro", "maximum recursion depth exceeded"},
		{"grow", "MemoryError"},
		{"self", "maximum recursion depth exceeded"},
		{"p", "takes longer than 500ms"},
	} {
		in := input(t, e, tt.sls)
		in.Vars = value.MapOf("l", l)
		_, err := render.For(e).SLS(t.Context(), in)
		var se *source.Error
		if !errors.As(err, &se) {
			t.Fatalf("%s: %v", tt.sls, err)
		}
		if got := se.Trace() + se.SaltText(); tt.want != "MemoryError" && !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.sls, got, tt.want)
		}
		if !strings.HasPrefix(tt.sls, "p") && se.Pos.Line == 0 {
			t.Errorf("%s: no place: %v", tt.sls, se)
		}
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		local := env(t, host.NewLocal(), t.TempDir())
		for _, filter := range []string{"file_hashsum", "is_text_file", "is_bin_file"} {
			_, err := render.For(local).Template(t.Context(), "jinja", render.Input{Path: "x", Text: []byte("{{ '/dev/zero' | " + filter + " }}")})
			if (err != nil) != (filter == "file_hashsum") {
				t.Errorf("%s of /dev/zero: %v", filter, err)
			}
		}
	}
	// The time of functions is not the template's.
	for _, name := range []string{"slow", "pslow"} {
		if v, err := sls(t, e, name); err != nil {
			t.Errorf("%s = %v, %v", name, v, err)
		}
	}
}

func TestPongo(t *testing.T) {
	e := tree(t, map[string]string{
		"a.sls":       "#!pongo2|yaml\n{% include 'sub/inc.txt' %}\nn: {{ pillar.a.b }}\nl: {{ salt('test.echo', l).2 }}\nf: {{ 0.5 }}\nbig: {{ big }}\nx: {{ salt('test.echo', \"it's <b>\") }}\n",
		"sub/inc.txt": "inc: {{ grains.os }}",
		"bad.sls":     "#!pongo2|yaml\n\n{{ salt('boom.command') }}\n",
		"none.sls":    "#!pongo2|yaml\n{% include '../../etc/passwd' %}\n",
		"base.sls":    "{% block one %}a: 1{% endblock %}\n",
		"child.sls":   "#!pongo2|yaml\n{% extends 'base.sls' %}{% block one %}{{ block.Super }}\n{% for w in l %}{{ w }}{{ forloop.Counter }}: '{% cycle 'p' 'q' as c %}{{ c.String }}'\n{% endfor %}{% endblock %}",
	})
	child := input(t, e, "child")
	child.Vars = value.MapOf("l", value.NewList("x", "yz"))
	if v, err := render.For(e).SLS(t.Context(), child); err != nil || calltest.Plain(v) != "{'a': 1, 'x1': 'pp', 'yz2': 'qq'}" {
		t.Errorf("methods of pongo2's values: %s, %v", value.Repr(v), err)
	}
	in := input(t, e, "a")
	in.Vars = value.MapOf("l", value.NewList(int64(1), "x", int64(1<<53+1)), "big", int64(1<<62))
	v, err := render.For(e).SLS(t.Context(), in)
	if want := "{'inc': 'Debian', 'n': 1, 'l': 9007199254740993, 'f': 0.5, 'big': 4611686018427387904, 'x': \"it's <b>\"}"; err != nil || calltest.Plain(v) != want {
		t.Errorf("got %s, %v; want %s", value.Repr(v), err, want)
	}
	for name, want := range map[string]string{"bad": "the command failed", "none": "etc/passwd"} {
		if _, err := sls(t, e, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: err = %v, want %q", name, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := render.For(e).SLS(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestServePongoWithoutJob(t *testing.T) {
	var out, stderr bytes.Buffer
	if got := render.ServePongo(strings.NewReader(hex.EncodeToString([]byte("x"))), &out, &stderr); got != 2 || out.Len() > 0 {
		t.Errorf("status %d, %q, %q", got, out.String(), stderr.String())
	}
}

// TestQuery asks a web server from a template.
func TestQuery(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"`+q.Method+`": "`+q.URL.Query().Get("k")+`"}`)
	}))
	defer srv.Close()
	e := tree(t, map[string]string{
		"a.sls": "{% set r = '" + srv.URL + "' | http_query(method='POST', params={'k': 'v'}, decode=True, status=True) %}\na: {{ r.dict.POST }}{{ r.status }}\nb: {{ salt['http.query']('" + srv.URL + "').body | load_json }}\n",
		"b.sls": "a: 1\n{{ 'ftp://x' | http_query }}\n",
	})
	e.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "http", Load: httpmod.Module}})
	if v, err := sls(t, e, "a"); err != nil || calltest.Plain(v) != "{'a': 'v200', 'b': {'GET': ''}}" {
		t.Errorf("%s, %v", value.Repr(v), err)
	}
	_, err := sls(t, e, "b")
	var se *source.Error
	if !errors.As(err, &se) || se.Pos.Line != 2 || !strings.Contains(se.Error(), "Unsupported url scheme: ftp://x") {
		t.Errorf("%v", err)
	}
}
