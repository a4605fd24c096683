package pillar_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	httpmod "brine/modules/http"
)

// withHTTP adds the functions that ask web servers.
func withHTTP(r *run) *run {
	r.env.Table = r.env.Table.With([]fun.Entry{{Kind: fun.Exec, Name: "http", Load: httpmod.Module}})
	r.env.Invoker = dispatch.New(r.env)
	return r
}

// rendered returns the pillar of a configuration, and what went wrong.
func rendered(t *testing.T, r *run) (pillar, wrong string) {
	t.Helper()
	pillar = r.lazy()
	return pillar, strings.Join(append(r.faults, r.warnings...), "\n")
}

func TestExtHTTP(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, pass, _ := req.BasicAuth()
		switch req.URL.EscapedPath() {
		case "/json/minion1/web%2Fx":
			fmt.Fprintf(w, `{"a": 1, "user": %q, "key": %q}`, user+pass, req.Header.Get("X-Key"))
		case "/yaml":
			fmt.Fprint(w, "b: [1, 2]\n")
		case "/list":
			fmt.Fprint(w, "[1]")
		case "/text":
			fmt.Fprint(w, "{")
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer srv.Close()
	for _, tt := range []struct{ conf, pillar, wrong string }{
		{"{http_json: {url: URL/json/%s/<role>, with_grains: true, username: u, password: p, header_dict: {X-Key: k}}}", "{'a': 1, 'user': 'up', 'key': 'k'}", ""},
		{"{http_json: {url: URL/json/%s/<role>, with_grains: true, namespace: ns}}", "{'ns': {'a': 1, 'user': '', 'key': ''}}", ""},
		{"{http_yaml: URL/yaml}", "{'b': [1, 2]}", ""},
		{"{http_json: URL/list}", "", "answered with a list instead of a mapping"},
		{"{http_json: URL/text}", "", "http_json"},
		{"{http_json: 'URL/no?token=plugh'}", "", "HTTP 403"},
		{"{http_json: {url: URL/<nope>, with_grains: true}}", "", "the grain nope of the url has no value"},
		{"{http_json: {url: URL/<dots>, with_grains: true}}", "", `the grain dots: ".." cannot be part of a URL`},
		{"{http_json: 'http://127.0.0.1:1/'}", "", "Failed to load ext_pillar http_json"},
		{"{http_json: {}}", "", "it needs a url"},
		{"{http_jsn: x}", "{}", `(did you mean "http_json"?)`},
	} {
		r := withHTTP(fake(t, nil, "ext_pillar: ["+strings.ReplaceAll(tt.conf, "URL", srv.URL)+"]"))
		if g, ok := r.env.Grains.(*value.Map); ok {
			g.Set("role", "web/x")
			g.Set("dots", "..")
		}
		pillar, wrong := rendered(t, r)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) || tt.wrong == "" && wrong != "" {
			t.Errorf("%s: %s, %s; want %s, %s", tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
		if strings.Contains(pillar+wrong, "plugh") {
			t.Errorf("%s: the query of the URL is shown: %s %s", tt.conf, pillar, wrong)
		}
	}
}

func TestExtFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ conf, pillar, wrong string }{
		{"{csv: /t.csv}", "{'id': 'minion1', 'role': 'web', 'x': 'a,b'}", ""},
		{"{csv: {path: /t.csv, idkey: role, namespace: ns}}", "{}", ""},
		{"{csv: {path: /t.csv, fieldnames: [id, role], restkey: more, namespace: ns}}", "{'ns': {'id': 'minion1', 'role': 'web', 'more': ['a,b']}}", ""},
		{"{csv: {path: /t.csv, idkey: nope}}", "", `/t.csv has no column "nope"`},
		{"{csv: {path: /none.csv}}", "", "none.csv"},
		{"{csv: {path: /t.csv, dialect: odd}}", "", "is not excel, excel-tab or unix"},
		{"{nodegroups: }", "{'nodegroups': ['mine', 'all']}", ""},
		{"{nodegroups: {pillar_name: groups}}", "{'groups': ['mine', 'all']}", ""},
		{"{sops: /s/%s.yaml}", "{'secret': 1}", ""},
		{"{sops: {files: [/s/all.yaml, /s/%s.yaml], namespace: ns}}", "{'ns': {'all': 2, 'secret': 1}}", ""},
		{"{sops: /s/bad.yaml}", "", "sops could not decrypt /s/bad.yaml: no key"},
		{"{sops: relative}", "", "a file is named by its whole path"},
		{"{sops: []}", "", "it needs a file"},
		{"{hiera: /h.yaml key}", "{'h': 1}", ""},
		{"{hiera: /bad.yaml}", "", "hiera ended with status 2: no such file"},
		{"{hiera: /text.yaml}", "", "hiera printed text instead of a mapping"},
		{"{hiera: ''}", "", "it needs the path of a configuration"},
	} {
		r := fake(t, map[string]string{"/t.csv": "id,role,x\nminion2,db,\nminion1,web,\"a,b\"\n", "/s/minion1.yaml": "x", "/s/all.yaml": "x"},
			"nodegroups: {mine: minion1, all: ['*'], other: db*}\next_pillar: ["+tt.conf+"]")
		h := r.env.Host.(*host.Fake)
		h.OnCommand("sops *", host.Output{Status: 128, Stderr: []byte("no key\n")})
		h.OnCommand("sops --decrypt --output-type json /s/minion1.yaml", host.Output{Stdout: []byte(`{"secret": 1}`)})
		h.OnCommand("sops --decrypt --output-type json /s/all.yaml", host.Output{Stdout: []byte(`{"all": 2}`)})
		h.OnCommand("hiera *", host.Output{Status: 2, Stderr: []byte("no such file\n")})
		h.OnCommand("hiera -c /h.yaml key id=minion1 role=web saltversion=3006.0", host.Output{Stdout: []byte("h: 1\n")})
		h.OnCommand("hiera -c /text.yaml id=minion1 role=web saltversion=3006.0", host.Output{Stdout: []byte("word\n")})
		pillar, wrong := rendered(t, r)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) || tt.wrong == "" && wrong != "" {
			t.Errorf("%s: %s, %s; want %s, %s", tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
	}
}

// fakeVault is a server with a secret in each version of the engine.
func fakeVault(t *testing.T, logins *atomic.Int32) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/v1/auth/approle/login" {
			logins.Add(1)
			var body map[string]string
			b, _ := io.ReadAll(req.Body)
			if json.Unmarshal(b, &body) != nil || body["role_id"] != "role" || body["secret_id"] != "xyzzy" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			fmt.Fprint(w, `{"auth": {"client_token": "t1"}}`)
			return
		}
		if req.Header.Get("X-Vault-Token") != "t1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch req.URL.Path {
		case "/v1/sys/internal/ui/mounts/secret/minion1", "/v1/sys/internal/ui/mounts/secret/roles/web", "/v1/sys/internal/ui/mounts/secret/roles/db":
			fmt.Fprint(w, `{"data": {"path": "secret/", "options": {"version": "2"}}}`)
		case "/v1/sys/internal/ui/mounts/old/minion1":
			fmt.Fprint(w, `{"data": {"path": "old/", "options": {"version": "1"}}}`)
		case "/v1/secret/data/minion1":
			fmt.Fprint(w, `{"data": {"data": {"pw": "2"}}}`)
		case "/v1/secret/data/roles/web":
			fmt.Fprint(w, `{"data": {"data": {"web": 1}}}`)
		case "/v1/old/minion1":
			fmt.Fprint(w, `{"data": {"pw": "1"}}`)
		case "/v1/denied":
			w.WriteHeader(http.StatusForbidden)
		case "/v1/typo":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors": ["no handler for route \"typo\""]}`)
		case "/v1/hidden":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors": [], "warnings": ["Invalid path for a versioned K/V secrets engine"]}`)
		case "/v1/html":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<html>`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors": []}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestExtVault(t *testing.T) {
	t.Parallel()
	var logins atomic.Int32
	at := fakeVault(t, &logins)
	const token, approle = "{method: token, token: t1}", "{method: approle, role_id: role, secret_id: xyzzy}"
	for _, tt := range []struct{ auth, conf, pillar, wrong string }{
		{token, "path=secret/{minion}", "{'pw': '2'}", ""},
		{approle, "path=old/{minion}", "{'pw': '1'}", ""},
		{"{token: 'sdb://osenv/TOKEN'}", "path=old/{minion}", "{'pw': '1'}", ""},
		{token, "path=secret/none", "{}", ""},
		{token, "path=secret/roles/{pillar[roles]}", "{'web': 1}", ""},
		{token, "{conf: path=old/minion1, nesting_key: vault}", "{'vault': {'pw': '1'}}", ""},
		{token, "path=secret/{pillar[nope]}", "{}", "Could not resolve pillar path pattern"},
		{token, "path=denied", "", "the secret denied: Vault answered with status 403"},
		{token, "path=typo", "", "typo: no handler for route"},
		{token, "path=hidden", "", "hidden: Invalid path for a versioned K/V secrets engine"},
		{token, "path=html", "", "answered with what is not an object of JSON (status 404)"},
		{token, "path=secret/../{minion}", "{}", "is not a path of Vault"},
		{token, "secret", "", "it has no path="},
		{"{method: approle, role_id: role, secret_id: plugh}", "path=old/minion1", "", "the log-in by AppRole failed with status 400"},
		{"{method: tokn}", "path=old/minion1", "", `(did you mean "token"?)`},
		{"{method: token}", "path=old/minion1", "", "the option vault:auth:token has no token"},
		{"{token: 'sdb://nope/x'}", "path=old/minion1", "", `SDB profile "nope" wasnt found`},
		{"{token: 'sdb://osenv/NOPE'}", "path=old/minion1", "", "sdb://osenv/NOPE has no value"},
	} {
		conf := tt.conf
		if !strings.HasPrefix(conf, "{") {
			conf = "'" + conf + "'"
		}
		r := withHTTP(fake(t, map[string]string{"top.sls": "base: {'*': [a]}", "a.sls": ""}, "osenv: {driver: env}\nvault: {url: '"+at+"', auth: "+tt.auth+"}\next_pillar: [{vault: "+conf+"}]"))
		if strings.Contains(conf, "roles") {
			r.env.Host.(*host.Fake).PutFile("/srv/pillar/a.sls", "roles: [web, db]\n", 0o644)
		}
		r.env.Host.(*host.Fake).Env = []string{"TOKEN=t1"}
		pillar, wrong := rendered(t, r)
		pillar = strings.Replace(pillar, "'roles': ['web', 'db'], ", "", 1)
		if tt.pillar != "" && pillar != tt.pillar || !strings.Contains(pillar+wrong, tt.wrong) || tt.wrong == "" && wrong != "" {
			t.Errorf("%s %s: %s, %s; want %s, %s", tt.auth, tt.conf, pillar, wrong, tt.pillar, tt.wrong)
		}
		for _, secret := range []string{"xyzzy", "plugh", "t1"} {
			if strings.Contains(wrong, secret) {
				t.Errorf("%s %s: a secret is shown: %s", tt.auth, tt.conf, wrong)
			}
		}
	}
	if logins.Load() != 2 {
		t.Errorf("%d log-ins, want 2", logins.Load())
	}
}

// TestExtNotForTargets asks for external pillars of the controller on demand.
func TestExtNotForTargets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"consul", "csv", "etcd", "foreman", "gpg", "hiera", "http_json", "http_yaml", "mysql", "netbox", "nodegroups", "postgres", "reclass", "redis", "saltclass", "sops", "sqlite3", "vault"} {
		r := fake(t, nil, "on_demand_ext_pillar: ["+name+"]")
		m, err := r.comp.Render(t.Context(), fun.PillarRequest{Foreign: true, Ext: onDemand(name)})
		if err != nil || calltest.Plain(m) != "{}" || !strings.Contains(strings.Join(r.warnings, ""), "is not served to a target on demand") {
			t.Errorf("%s: %s, %v, %q", name, calltest.Plain(m), err, r.warnings)
		}
	}
}

func onDemand(name string) *value.Map { return value.MapOf(name, "x") }
