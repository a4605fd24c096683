package http_test

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/modules/http"
)

// server answers as the tests below want it.
func server(w nethttp.ResponseWriter, q *nethttp.Request) {
	w.Header()["Date"] = nil
	h := w.Header()
	switch q.URL.Path {
	case "/text":
		h.Set("Content-Type", "text/plain")
		io.WriteString(w, "hello\n")
	case "/latin":
		h.Set("Content-Type", "text/plain; charset=ISO-8859-1")
		w.Write([]byte("caf\xe9"))
	case "/bytes":
		h.Set("Content-Type", "application/octet-stream")
		w.Write([]byte("a\xff"))
	case "/json":
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `{"b": [1, null], "a": "x"}`)
	case "/badjson":
		h.Set("Content-Type", "application/json")
		io.WriteString(w, `nope`)
	case "/yaml":
		h.Set("Content-Type", "application/x-yaml")
		io.WriteString(w, "a: [1, b]\n")
	case "/xml":
		h.Set("Content-Type", "text/xml")
		io.WriteString(w, "<?xml version=\"1.0\"?>\n<!-- c --><r x='1'><a>1 &amp; 2</a><b><c>x</c><c y=\">\">z</c><c/></b><n:d xmlns:n='u'><![CDATA[<&]]></n:d></r>\n")
	case "/untyped":
		h["Content-Type"] = nil
		io.WriteString(w, `[1]`)
	case "/gzip":
		h.Set("Content-Type", "text/plain")
		h.Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, "packed")
		z.Close()
	case "/head":
		h.Set("Content-Encoding", "gzip")
	case "/echo":
		b, _ := io.ReadAll(q.Body)
		user, pass, _ := q.BasicAuth()
		h["Content-Type"] = nil
		fmt.Fprintf(w, "%s %s|%s|%s:%s|%s|%s|%s", q.Method, q.URL.RequestURI(), b, user, pass, q.Header.Get("Content-Type"), q.Header.Get("X-One"), q.Header.Get("User-Agent"))
	case "/moved":
		nethttp.Redirect(w, q, "/text", nethttp.StatusFound)
	case "/loop":
		nethttp.Redirect(w, q, "/loop", nethttp.StatusFound)
	case "/teapot":
		w.WriteHeader(nethttp.StatusTeapot)
		io.WriteString(w, "no coffee")
	case "/cut":
		h.Set("Content-Length", "100")
		io.WriteString(w, "short")
	default:
		nethttp.NotFound(w, q)
	}
}

func env(h host.Host, opts *value.Map) *fun.Env {
	e := &fun.Env{Data: fun.Data{Opts: opts, Memo: &fun.Memo{}}, Machine: fun.Machine{Host: h}, UI: fun.UI{Logger: slog.New(slog.DiscardHandler)}}
	e.Table = fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "http", Load: http.Module}})
	e.Invoker = dispatch.New(e)
	return e
}

func call(t *testing.T, e *fun.Env, name, url, args string) (value.Value, error) {
	t.Helper()
	kw, err := yamlsalt.LoadString("{" + args + "}")
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Invoker.Invoke(t.Context(), fun.Exec, "http."+name, fun.Args{Pos: []value.Value{url}, Kw: kw.(*value.Map)})
	return res.Value, err
}

func TestQuery(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nethttp.HandlerFunc(server))
	defer srv.Close()
	h := host.NewFake()
	h.PutFile("/srv/body", "from a file", 0o644)
	h.PutFile("/srv/headers", "X-One: from: file\nbad\n", 0o644)
	e := env(h, value.MapOf("http_max_body", int64(1000)))
	for _, tt := range []struct{ path, args, want, fails string }{
		{"/text", "", "{'body': 'hello\\n'}", ""},
		{"/text", "status: true, text: true, headers: true", "{'body': 'hello\\n', 'status': 200, 'headers': {'Content-Length': '6', 'Content-Type': 'text/plain'}, 'text': 'hello\\n'}", ""},
		{"/text", "decode: true", "{'body': 'hello\\n', 'text': 'hello\\n'}", ""},
		{"/latin", "", "{'body': 'café'}", ""},
		{"/bytes", "", "", "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte"},
		{"/bytes", "decode_body: false", "{'body': b'a\\xff'}", ""},
		{"/json", "decode: true", `{'body': '{"b": [1, null], "a": "x"}', 'dict': {'b': [1, None], 'a': 'x'}}`, ""},
		{"/json", "decode: true, decode_type: plain", `{'body': '{"b": [1, null], "a": "x"}', 'text': '{"b": [1, null], "a": "x"}'}`, ""},
		{"/json", "decode: true, decode_type: yaml", `{'body': '{"b": [1, null], "a": "x"}', 'dict': {'b': [1, None], 'a': 'x'}}`, ""},
		{"/json", "decode: true, decode_type: toml", `{'body': '{"b": [1, null], "a": "x"}', 'error': "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')"}`, ""},
		{"/badjson", "decode: true", "", "Expecting value: line 1 column 1 (char 0)"},
		{"/untyped", "decode: true", "{'body': '[1]', 'dict': [1]}", ""},
		{"/yaml", "decode: true", "{'body': 'a: [1, b]\\n', 'dict': {'a': [1, 'b']}}", ""},
		{"/text", "decode: true, decode_type: xml", "", "syntax error: line 1, column 0"},
		{"/gzip", "", "{'body': 'packed'}", ""},
		{"/echo", "", "{'body': 'GET /echo||:|||Salt/3006.0 http.query()'}", ""},
		{"/echo?a=1", "params: {b: x y, c: [1]}", "{'body': 'GET /echo?a=1&b=x+y&c=%5B1%5D||:|||Salt/3006.0 http.query()'}", ""},
		{"/echo", "params: [[b, 1], [b, 2]], agent: me", "{'body': 'GET /echo?b=1&b=2||:|||me'}", ""},
		{"/echo", "params: b=1", "", "'args' parameter should be dict, list or tuple. Not <class 'str'>"},
		{"/echo", "method: POST, data: a text, agent: me", "{'body': 'POST /echo|a text|:|application/x-www-form-urlencoded||me'}", ""},
		{"/echo", "method: PUT, data: {a: b c, d: 1}, agent: me", "{'body': 'PUT /echo|a=b+c&d=1|:|application/x-www-form-urlencoded||me'}", ""},
		{"/echo", "method: POST, data_file: /srv/body, header_dict: {Content-Type: text/plain, x-one: 1}, agent: me", "{'body': 'POST /echo|from a file|:|text/plain|1|me'}", ""},
		{"/echo", "data_file: /srv/none", "", "[Errno 2] No such file or directory: '/srv/none'"},
		{"/echo", "username: u, password: 'p:w', agent: me", "{'body': 'GET /echo||u:p:w|||me'}", ""},
		{"/echo", "auth: [u, w], header_list: ['X-One: a:b', nothing], agent: me", "{'body': 'GET /echo||u:w||a:b|me'}", ""},
		{"/echo", "auth: [u]", "", "http.query: auth has to be a list of two: user and password"},
		{"/head", "method: HEAD", "{'body': ''}", ""},
		{"/echo", "header_file: /srv/headers, agent: me", "{'body': 'GET /echo||:||from: file|me'}", ""},
		{"/echo", "header_dict: {\"a b\": c}", "", `not a header: "a b"`},
		{"/moved", "status: true", "{'body': 'hello\\n', 'status': 200}", ""},
		{"/loop", "", "{'status': 302, 'error': 'HTTP 302: Found', 'body': '<a href=\"/loop\">Found</a>.\\n\\n'}", ""},
		{"/none", "", "{'status': 404, 'error': 'HTTP 404: Not Found', 'body': '404 page not found\\n'}", ""},
		{"/none", "raise_error: false, status: true, text: true", "{'body': '404 page not found\\n', 'status': 404, 'text': '404 page not found\\n'}", ""},
		{"/teapot", "", "{'status': 418, 'error': \"HTTP 418: I'm a teapot\", 'body': 'no coffee'}", ""},
		{"/cut", "", "{'status': 599, 'error': 'HTTP 599: Stream closed'}", ""},
		{"/text", "test: true", "{}", ""},
		{"/text", "test: true, test_url: URL/none, raise_error: false", "{'test': True, 'body': '404 page not found\\n'}", ""},
		{"/text", "opts: {http_max_body: 3}", "", "the answer has more than 3 bytes (http_max_body)"},
		{"/text", "formdata: true", "", "http.query: the argument 'formdata' is not supported: no cookies and sessions, rendered files, streams and forms of several parts"},
		{"/text", "cookies: false, more: 1", "{'body': 'hello\\n'}", ""},
		{"/text", "timeout: soon", "", "timeout must be a number of seconds, not 'soon'"},
		{"/text", "opts: {http_request_timeout: soon}", "", "http_request_timeout must be a number of seconds, not 'soon'"},
		{"/text", "opts: {http_connect_timeout: soon}", "", "http_connect_timeout must be a number of seconds, not 'soon'"},
		{"/text", "cert: /srv/none", "", "[Errno 2] No such file or directory: '/srv/none'"},
		{"/text", "cert: [/srv/body]", "", "cert has to be a file, or a list of two: certificate and key"},
		{"/text", "ca_bundle: /srv/body", "", "there is no certificate in /srv/body"},
		{"/text", "method: 'G T'", "", `not a request: method "G T"`},
	} {
		v, err := call(t, e, "query", srv.URL+tt.path, strings.ReplaceAll(tt.args, "URL", srv.URL))
		switch {
		case tt.fails != "":
			if err == nil || err.Error() != tt.fails {
				t.Errorf("%s {%s} = %s, %v; want error %s", tt.path, tt.args, value.Repr(v), err, tt.fails)
			}
		case err != nil || value.Repr(v) != tt.want:
			t.Errorf("%s {%s} = %s, %v\nwant %s", tt.path, tt.args, value.Repr(v), err, tt.want)
		}
	}
	v, err := call(t, e, "query", srv.URL+"/xml", "decode: true")
	if err != nil || value.Repr(v.(*value.Map).At("dict")) != "[{'a': '1 & 2'}, {'c': ['x', {'c': 'z'}, {'c': None}]}, {'d': '<&'}]" {
		t.Errorf("xml: %s, %v", value.Repr(v), err)
	}
	if _, err := call(t, e, "query", srv.URL+"/text", "text_out: /srv/out, decode: true, decode_type: yaml, decode_out: /srv/out2"); err != nil {
		t.Error(err)
	}
	for _, p := range []string{"/srv/out", "/srv/out2"} {
		if b, err := h.ReadFile(p); err != nil || string(b) != "hello\n" {
			t.Errorf("%s: %q, %v", p, b, err)
		}
	}
	for _, tt := range []struct{ url, want string }{
		{"ftp://u:secret@x/y?k=secret", "Unsupported url scheme: ftp://x/y"},
		{"nothing", "Unsupported url scheme: nothing"},
		{"http://u:secret@x y/?k=secret", "not a URL: http://x y/"},
	} {
		if _, err := call(t, e, "query", tt.url, ""); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.url, err, tt.want)
		}
	}
}

// TestNoServer has what a server that does not answer gives.
func TestNoServer(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, q *nethttp.Request) { <-q.Context().Done() }))
	e := env(host.NewFake(), value.NewMap(0))
	v, err := call(t, e, "query", srv.URL, "timeout: 0.2")
	if err != nil || value.Repr(v) != "{'status': 599, 'error': 'HTTP 599: Timeout during request'}" {
		t.Errorf("slow: %s, %v", value.Repr(v), err)
	}
	srv.Close()
	v, err = call(t, e, "query", srv.URL, "status: true")
	if m, ok := v.(*value.Map); err != nil || !ok || value.Repr(m.At("status")) != "0" || !strings.HasSuffix(m.Str("error"), "Connection refused") {
		t.Errorf("closed: %s, %v", value.Repr(v), err)
	}
}

// TestSecrets looks for what is secret in the log.
func TestSecrets(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nethttp.HandlerFunc(server))
	defer srv.Close()
	e := env(host.NewFake(), value.NewMap(0))
	var log bytes.Buffer
	e.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
	url := strings.Replace(srv.URL, "http://", "http://user:secret@", 1) + "/echo?token=secret"
	if _, err := call(t, e, "query", url, "method: POST, data: secret, password: secret, username: u, header_dict: {X-Key: secret}, params: {p: secret}"); err != nil {
		t.Fatal(err)
	}
	if s := log.String(); !strings.Contains(s, "/echo") || strings.Contains(s, "secret") {
		t.Errorf("log: %s", s)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(nethttp.HandlerFunc(server))
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	srv.StartTLS()
	defer srv.Close()
	h := host.NewFake()
	ca := filepath.Join("/srv", "ca.pem")
	h.PutFile(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})), 0o644)
	e := env(h, value.NewMap(0))
	v, err := call(t, e, "query", srv.URL+"/text", "")
	if m, ok := v.(*value.Map); err != nil || !ok || !strings.HasPrefix(m.Str("error"), "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: ") {
		t.Errorf("unknown authority: %s, %v", value.Repr(v), err)
	}
	for _, args := range []string{"verify_ssl: false", "ca_bundle: " + ca, "opts: {ca_bundle: " + ca + "}", "opts: {verify_ssl: false}"} {
		if v, err := call(t, e, "query", srv.URL+"/text", args); err != nil || value.Repr(v) != "{'body': 'hello\\n'}" {
			t.Errorf("%s: %s, %v", args, value.Repr(v), err)
		}
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()
	var seen string
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		seen = q.URL.String() + " " + q.Header.Get("Proxy-Authorization")
		io.WriteString(w, "through")
	}))
	defer srv.Close()
	name, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	e := env(host.NewFake(), value.MapOf("proxy_host", name, "proxy_port", port, "proxy_username", "u", "proxy_password", "p"))
	v, err := call(t, e, "query", "http://far.example/x", "")
	if err != nil || value.Repr(v) != "{'body': 'through'}" || seen != "http://far.example/x Basic dTpw" {
		t.Errorf("%s, %v; the proxy saw %s", value.Repr(v), err, seen)
	}
	v, err = call(t, e, "query", srv.URL, "opts: {no_proxy: [127.0.0.1], proxy_port: 1}")
	if err != nil || value.Repr(v) != "{'body': 'through'}" {
		t.Errorf("no_proxy: %s, %v", value.Repr(v), err)
	}
}

// TestSlips warns of an argument that was meant to be another, once in a run.
func TestSlips(t *testing.T) {
	t.Parallel()
	e := env(host.NewFake(), value.NewMap(0))
	var said []string
	e.OnWarn = func(w fun.Warning) { said = append(said, w.Text) }
	for range 2 {
		if _, err := call(t, e, "query", "http://x", "test: true, methd: POST, stream: false, request_interval: 1, whatever: 1"); err != nil {
			t.Fatal(err)
		}
	}
	if want := `[http.query has no argument "methd" (did you mean "method"?)]`; fmt.Sprint(said) != want {
		t.Errorf("%v, want %s", said, want)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	n := 0
	srv := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		if n++; n < 3 {
			w.WriteHeader(nethttp.StatusServiceUnavailable)
		}
		io.WriteString(w, "up")
	}))
	defer srv.Close()
	h := host.NewFake()
	h.SetTick(0)
	e := env(h, value.NewMap(0))
	v, err := call(t, e, "wait_for_successful_query", srv.URL, "wait_for: 60, request_interval: 1, status: true")
	if err != nil || value.Repr(v) != "{'body': 'up', 'status': 200}" || n != 3 {
		t.Errorf("%s, %v after %d requests", value.Repr(v), err, n)
	}
	n = -1000
	v, err = call(t, e, "wait_for_successful_query", srv.URL, "wait_for: 5, request_interval: 2")
	if err != nil || value.Repr(v) != "{'status': 503, 'error': 'HTTP 503: Service Unavailable', 'body': 'up'}" {
		t.Errorf("never: %s, %v", value.Repr(v), err)
	}
	now := e.Host.Now()
	for args, want := range map[string]string{
		"cookies: true":          "'cookies' is not supported",
		"timeout: soon":          "timeout must be a number of seconds",
		"auth: [u]":              "auth has to be a list of two",
		"request_interval: soon": "soon",
	} {
		v, err = call(t, e, "wait_for_successful_query", srv.URL, "wait_for: 60, "+args)
		if err == nil || !strings.Contains(err.Error(), want) || !e.Host.Now().Equal(now) {
			t.Errorf("%s: %s, %v after %s", args, value.Repr(v), err, e.Host.Now().Sub(now))
		}
	}
}
