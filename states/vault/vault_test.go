package vault_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	httpmod "brine/modules/http"
	mod "brine/modules/vault"
	"brine/states/vault"
)

// A server is one of Vault, as its API is documented: the engine "new" is version 2 of KV,
// "old" version 1.
type server struct {
	mu       sync.Mutex
	secrets  map[string]any    // by their paths in the API
	policies map[string]string // by name
	asked    []string          // what changed it
}

func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/v1/")
	reply := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	var body map[string]any
	if req.Method == http.MethodPost || req.Method == http.MethodPut {
		_ = json.NewDecoder(req.Body).Decode(&body)
	}
	if !strings.HasPrefix(path, "sys/internal") && req.Method != http.MethodGet && req.Method != "LIST" {
		s.asked = append(s.asked, fmt.Sprint(req.Method, " ", path, " ", body))
	}
	engine, rest, _ := strings.Cut(path, "/")
	switch {
	case req.Header.Get("X-Vault-Token") != "t0ken" || engine == "denied":
		w.WriteHeader(http.StatusForbidden)
		reply(map[string]any{"errors": []string{"permission denied"}})
	case strings.HasPrefix(path, "sys/internal/ui/mounts/"):
		engine, _, _ := strings.Cut(strings.TrimPrefix(path, "sys/internal/ui/mounts/"), "/")
		version := map[string]string{"new": "2", "old": "1", "denied": "1", "html": "1"}[engine]
		reply(map[string]any{"data": map[string]any{"path": engine + "/", "type": "kv", "options": map[string]string{"version": version}}})
	case strings.HasPrefix(path, "sys/policy/"):
		name := strings.TrimPrefix(path, "sys/policy/")
		if req.Method == http.MethodPut {
			if name == "root" {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			s.policies[name], _ = body["rules"].(string)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		rules, ok := s.policies[name]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			reply(map[string]any{"errors": []string{}})
			return
		}
		reply(map[string]any{"name": name, "rules": rules})
	case engine == "html":
		fmt.Fprint(w, "<html>")
	case req.Method == "LIST":
		keys := []string{}
		for at := range s.secrets {
			if _, ok := strings.CutPrefix(at, strings.Replace(path, "/metadata", "/data", 1)+"/"); ok {
				keys = append(keys, at[strings.LastIndexByte(at, '/')+1:])
			}
		}
		if len(keys) == 0 {
			w.WriteHeader(http.StatusNotFound)
			reply(map[string]any{"errors": []string{}})
			return
		}
		reply(map[string]any{"data": map[string]any{"keys": keys}})
	case req.Method == http.MethodPost && strings.HasPrefix(rest, "destroy/"), req.Method == http.MethodDelete:
		delete(s.secrets, strings.Replace(path, "/destroy/", "/data/", 1))
		w.WriteHeader(http.StatusNoContent)
	case req.Method == http.MethodPost && engine == "new":
		s.secrets[path] = map[string]any{"data": body["data"], "metadata": map[string]any{"version": 1}}
		reply(map[string]any{"data": map[string]any{"version": 1}})
	case req.Method == http.MethodPost:
		s.secrets[path] = body
		w.WriteHeader(http.StatusNoContent)
	default:
		x, ok := s.secrets[path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			reply(map[string]any{"errors": []string{}})
			return
		}
		reply(map[string]any{"data": x})
	}
}

// rig returns a run whose server of Vault is s.
func rig(t *testing.T, s *server) *calltest.Rig {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	r := calltest.New(host.NewFake(), fun.Entry{Kind: fun.Exec, Name: "http", Load: httpmod.Module},
		fun.Entry{Kind: fun.Exec, Name: "vault", Load: mod.Module}, fun.Entry{Kind: fun.State, Name: "vault", Load: vault.States})
	r.Env.Opts.Set("vault", value.MapOf("url", srv.URL+"/", "auth", value.MapOf("token", "t0ken")))
	return r
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	s := &server{secrets: map[string]any{}}
	r := rig(t, s)
	for _, tt := range []struct{ name, args, want string }{
		{"write_secret", "{path: new/app/db, user: larry, password: pw1}", "{'version': 1}"},
		{"write_secret", "{path: /old/app/db/, user: larry, password: pw2}", "True"},
		{"write_raw", "{path: new/app/raw, raw: {a: 1}}", "{'version': 1}"},
		{"read_secret", "{path: new/app/db}", "{'password': 'pw1', 'user': 'larry'}"},
		{"read_secret", "{path: new/data/app/db, key: user}", "'larry'"},
		{"read_secret", "{path: new/app/db, metadata: true}", "{'data': {'password': 'pw1', 'user': 'larry'}, 'metadata': {'version': 1}}"},
		{"read_secret", "{path: old/app/db, key: password}", "'pw2'"},
		{"read_secret", "{path: old/app/db, key: nope}", "error: Failed to read secret! old/app/db has no key 'nope'"},
		{"read_secret", "{path: new/app/db, key: nope, default: null}", "None"},
		{"read_secret", "{path: new/none}", "error: Failed to read secret! Vault answered with status 404 (Not Found)"},
		{"read_secret", "{path: new/none, default: {a: 1}}", "{'a': 1}"},
		{"read_secret", "{path: denied/x, default: weak}", "error: Failed to read secret! Vault answered with status 403 (Forbidden)"},
		{"list_secrets", "{path: denied/x, default: []}", "error: Failed to list secrets! Vault answered with status 403 (Forbidden)"},
		{"read_secret", "{path: denied/x}", "error: Failed to read secret! Vault answered with status 403 (Forbidden)"},
		{"read_secret", "{path: new/../old/app/db}", `error: Failed to read secret! "new/../old/app/db" is not a path of Vault`},
		{"read_secret", "{path: html/x}", "error: Failed to read secret! the server URL answered with what is not an object of JSON (status 200)"},
		{"list_secrets", "{path: old/app/}", "{'keys': ['db']}"},
		{"list_secrets", "{path: new/nope, default: []}", "[]"},
		{"list_secrets", "{path: new/nope}", "error: Failed to list secrets! Vault answered with status 404 (Not Found)"},
		{"write_secret", "{path: denied/x, password: pw3}", "error: Failed to write secret! Vault answered with status 403 (Forbidden)"},
		{"delete_secret", "{path: old/app/db}", "True"},
		{"read_secret", "{path: old/app/db, default: deleted}", "'deleted'"},
		{"delete_secret", "{path: denied/x}", "error: Failed to delete secret! Vault answered with status 403 (Forbidden)"},
	} {
		if got := strings.ReplaceAll(calltest.Call(t, r.Env, "vault."+tt.name, tt.args), r.Env.Opts.Map("vault").Str("url"), "URL"); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.name, tt.args, got, tt.want)
		}
	}
	s.asked = nil
	for path, want := range map[string]string{"new/app/db": "True", "old/app": "error: Failed to destroy secret! only version 2 of KV has versions of secrets"} {
		got := ""
		res, err := r.Env.Invoker.Invoke(t.Context(), fun.Exec, "vault.destroy_secret", fun.Args{Pos: []value.Value{path, int64(1), int64(2)}})
		if got = value.Repr(res.Value); err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("destroy_secret %s: %s, want %s", path, got, want)
		}
	}
	if got := calltest.Call(t, r.Env, "vault.destroy_secret", "{path: new/app/db}"); !strings.Contains(got, "it needs the numbers of versions") {
		t.Error(got)
	}
	if got, want := strings.Join(s.asked, "; "), "POST new/destroy/app/db map[versions:[1 2]]"; got != want {
		t.Errorf("the server was asked %s, want %s", got, want)
	}
}

func TestPolicyPresent(t *testing.T) {
	t.Parallel()
	s := &server{policies: map[string]string{"app": "old\n"}}
	r := rig(t, s)
	const rules = `, rules: "new\n"}`
	for _, tt := range []struct {
		args string
		test bool
		want string
	}{
		{"{name: web" + rules, true, "None: Policy would be created {'web': {'old': '', 'new': 'new\\n'}}"},
		{"{name: web" + rules, false, "True: Policy was created {'web': {'old': None, 'new': 'new\\n'}}"},
		{"{name: web" + rules, false, "True: Policy exists, and has the correct content {}"},
		{"{name: app" + rules, true, "None: Policy would be changed {'app': {'change': '--- \\n+++ \\n@@ -1 +1 @@\\n-old\\n+new\\n'}}"},
		{"{name: app" + rules, false, "True: Policy was updated {'app': {'change': '--- \\n+++ \\n@@ -1 +1 @@\\n-old\\n+new\\n'}}"},
		{"{name: app" + rules, false, "True: Policy exists, and has the correct content {}"},
		{"{name: root" + rules, false, "False: Failed to create policy: Vault answered with status 400 (Bad Request) {}"},
		{"{name: ../../auth/token/create" + rules, false, `False: Failed to get policy: "../../auth/token/create" is not a name of a policy {}`},
	} {
		if got := r.State(t, "vault.policy_present", tt.args, tt.test); got != tt.want {
			t.Errorf("%s, test=%v: %s, want %s", tt.args, tt.test, got, tt.want)
		}
	}
	if len(s.asked) != 3 {
		t.Errorf("the server was changed by %q", s.asked)
	}
	r.Env.Opts.Set("vault", value.MapOf("url", r.Env.Opts.Map("vault").Str("url"), "auth", value.MapOf("token", "wr0ng")))
	if got := r.State(t, "vault.policy_present", "{name: web"+rules, false); got != "False: Failed to get policy: Vault answered with status 403 (Forbidden) {}" {
		t.Error(got)
	}
}

// TestSecretsHidden: no record has what is written.
func TestSecretsHidden(t *testing.T) {
	t.Parallel()
	table := fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "vault", Load: mod.Module}})
	for _, name := range []string{"write_secret", "write_raw"} {
		spec := table.Spec(fun.Exec, "vault."+name)
		args := value.MapOf("path", "secret/app", "user", "larry")
		if name == "write_raw" {
			args = value.MapOf("path", "secret/app", "raw", value.MapOf("user", "larry"))
		}
		got := value.Repr(redact.Args(spec.ArgNames(), nil, args, spec.SecretArgs()...))
		if strings.Contains(got, "larry") || !strings.Contains(got, "secret/app") {
			t.Errorf("%s is recorded as %s", name, got)
		}
	}
}
