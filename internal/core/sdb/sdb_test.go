package sdb_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/core/sdb"
	"brine/internal/py/source"
	"brine/internal/py/value"
	httpmod "brine/modules/http"
)

// env returns the Env of a machine with a configuration.
func env(t *testing.T, h host.Host, conf string) *fun.Env {
	t.Helper()
	f := host.NewFake()
	f.PutFile("/c/minion", "id: minion1\n"+conf, 0o644)
	c, err := config.Load(config.Options{Kind: config.Minion, Host: f, Dir: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	e := &fun.Env{
		Identity:  fun.Identity{ID: "minion1", SaltEnv: "base"},
		Data:      fun.Data{Opts: c.Opts, Grains: value.NewMap(0), Pillar: value.MapOf("inpillar", value.MapOf("driver", "env")), Memo: &fun.Memo{}, Secrets: redact.NewSet()},
		Machine:   fun.Machine{Host: h},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{NewInvoker: func(e *fun.Env) fun.Invoker { return dispatch.New(e) }, Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "http", Load: httpmod.Module}})},
	}
	e.Invoker = dispatch.New(e)
	return e
}

const profiles = `
osenv: {driver: env}
creds: {driver: file, path: /creds}
relative: {driver: file, path: creds}
gone: {driver: file, path: /gone}
plain: {driver: yaml, files: [/a.yaml, /b.yaml]}
lists: {driver: yaml, files: [/a.yaml, /b.yaml], merge: {strategy: smart, merge_list: true}}
bare: {driver: yaml}
missing: {driver: yaml, files: [/none.yaml]}
scalar: {driver: yaml, files: [/c.yaml]}
oddmerge: {driver: yaml, files: [/a.yaml], merge: {strategy: smrt}}
odd: {driver: yml}
none: {file: x}
`

func TestDrivers(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Env = []string{"TOKEN=abc=d", "EMPTY="}
	h.PutFile("/creds/pw", "hunter22\n", 0o600)
	h.PutFile("/a.yaml", "db: {user: anna, hosts: [a]}\n", 0o600)
	h.PutFile("/b.yaml", "db: {pass: xyzzy, hosts: [b]}\n", 0o600)
	h.PutFile("/c.yaml", "[1]\n", 0o600)
	e := env(t, h, profiles)
	for _, tt := range []struct {
		uri    value.Value
		want   string
		strict string // the error with strict, or at all
	}{
		{"sdb://osenv/TOKEN", "'abc=d'", ""},
		{"sdb://osenv/EMPTY", "''", ""},
		{"sdb://osenv/NONE", "None", ""},
		{"sdb://inpillar/TOKEN", "'abc=d'", ""},
		{"sdb://creds/pw", "'hunter22'", ""},
		{"sdb://creds/none", "None", ""},
		{"sdb://creds/../etc/shadow", "", "is not the name of a file in /creds"},
		{"sdb://relative/x", "", "it needs path, the whole path of a directory"},
		{"sdb://gone/x", "", "SDB profile gone (/c/minion:6:1), driver file: "},
		{"sdb://plain/db:user", "'anna'", ""},
		{"sdb://plain/db:pass", "'xyzzy'", ""},
		{"sdb://plain/db:hosts", "['b']", ""},
		{"sdb://lists/db:hosts", "['a', 'b']", ""},
		{"sdb://plain/db:none", "None", ""},
		{"sdb://bare/x", "", "it needs files, a list of paths"},
		{"sdb://missing/x", "", "/none.yaml"},
		{"sdb://scalar/x", "", "/c.yaml must be a mapping, not a list"},
		{"sdb://oddmerge/x", "", `the merge strategy "smrt" is unknown`},
		{"sdb://odd/x", "", `there is no driver "yml" (did you mean "yaml"?); there are consul, env, etcd, file, memcached, redis, rest, sqlite3, vault, yaml`},
		{"sdb://none/x", "'sdb://none/x'", `SDB profile "none" wasnt found`},
		{"sdb://osenv", "'sdb://osenv'", "must have a profile name"},
		{"plain text", "'plain text'", `must start with "sdb://"`},
		{int64(5), "5", `must start with "sdb://"`},
	} {
		got, err := sdb.Get(t.Context(), e, tt.uri, false)
		if tt.want == "" {
			if err == nil || !strings.Contains(err.Error(), tt.strict) {
				t.Errorf("%v: %v, %v; want an error with %q", tt.uri, got, err, tt.strict)
			}
			continue
		}
		if err != nil || value.Repr(got) != tt.want {
			t.Errorf("%v: %v, %v; want %s", tt.uri, got, err, tt.want)
		}
		if _, err := sdb.Get(t.Context(), e, tt.uri, true); (err != nil) != (tt.strict != "") || err != nil && !strings.Contains(err.Error(), tt.strict) {
			t.Errorf("%v, strict: %v, want %q", tt.uri, err, tt.strict)
		}
	}
	if got := e.Secrets.Text("the password is hunter22"); strings.Contains(got, "hunter22") {
		t.Errorf("a log has %q", got)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Env = []string{"OLD=1"}
	e := env(t, h, profiles)
	for _, tt := range []struct{ uri, want, err string }{
		{"sdb://osenv/NEW", "'value'", ""},
		{"sdb://osenv/OLD", "'1'", ""}, // as in Salt
		{"sdb://creds/deep/pw", "'value'", ""},
		{"sdb://creds/../pw", "", "is not the name of a file"},
		{"sdb://plain/x", "", "it is read-only"},
		{"sdb://nope/x", "'sdb://nope/x'", ""},
	} {
		ok, err := sdb.Set(t.Context(), e, tt.uri, "value")
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("set %s: %v, want %q", tt.uri, err, tt.err)
		}
		if err != nil {
			continue
		}
		if ok == strings.Contains(tt.uri, "nope") {
			t.Errorf("set %s: %v", tt.uri, ok)
		}
		if got, err := sdb.Get(t.Context(), e, tt.uri, false); err != nil || value.Repr(got) != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.uri, got, err, tt.want)
		}
		if _, err := sdb.Delete(t.Context(), e, tt.uri); err != nil {
			t.Errorf("delete %s: %v", tt.uri, err)
		}
		if got, err := sdb.Get(t.Context(), e, tt.uri, false); err == nil && ok && got != nil && !strings.Contains(tt.uri, "nope") {
			t.Errorf("%s was deleted, and is %v", tt.uri, got)
		}
	}
	made, err := sdb.GetOrSetHash(t.Context(), e, "sdb://creds/made", 20, "ab")
	if s, ok := made.(string); err != nil || !ok || len(s) != 20 || strings.Trim(s, "ab") != "" {
		t.Fatalf("made %v, %v", made, err)
	}
	if again, err := sdb.GetOrSetHash(t.Context(), e, "sdb://creds/made", 20, "ab"); err != nil || again != made {
		t.Errorf("the second time it is %v, %v", again, err)
	}
	if st, err := h.Stat("/creds/made"); err != nil || st.Mode.Perm() != 0o600 {
		t.Errorf("the file of a secret: %v, %v", st.Mode, err)
	}
	if v, err := sdb.GetOrSetHash(t.Context(), e, "no uri", 8, "ab"); err != nil || v != false {
		t.Errorf("no URI: %v, %v", v, err)
	}
	if _, err := sdb.GetOrSetHash(t.Context(), e, "sdb://creds/x", 0, "ab"); err == nil {
		t.Error("a hash of no characters")
	}
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := env(t, host.NewFake(), fmt.Sprintf(`
lite: {driver: sqlite3, database: %[1]s/a.db, table: 'odd "name'}
own:
  driver: sqlite3
  database: %[1]s/b.db
  create_statements: ['CREATE TABLE advanced (a text PRIMARY KEY, d blob)']
  get_query: SELECT d FROM advanced WHERE a=:key
  set_query: INSERT OR REPLACE INTO advanced (a, d) VALUES (:key, :value)
dead: {driver: sqlite3, database: %[1]s/no/such.db}
bare: {driver: sqlite3}
`, dir))
	for _, profile := range []string{"lite", "own"} {
		uri := "sdb://" + profile + "/key"
		if v, err := sdb.Get(t.Context(), e, uri, true); err != nil || v != nil {
			t.Errorf("%s: %v, %v", uri, v, err)
		}
		for _, v := range []value.Value{"text", value.MapOf("a", value.NewList(int64(1), nil, true))} {
			if ok, err := sdb.Set(t.Context(), e, uri, v); !ok || err != nil {
				t.Fatalf("%s: %v", uri, err)
			}
			if got, err := sdb.Get(t.Context(), e, uri, true); err != nil || !value.Equal(got, v) {
				t.Errorf("%s: %v, %v", uri, value.Repr(got), err)
			}
		}
	}
	if ok, err := sdb.Delete(t.Context(), e, "sdb://lite/key"); !ok || err != nil {
		t.Error(err)
	}
	if v, err := sdb.Get(t.Context(), e, "sdb://lite/key", true); err != nil || v != nil {
		t.Errorf("it was deleted, and is %v, %v", v, err)
	}
	for uri, want := range map[string]string{"sdb://dead/x": filepath.Join(dir, "no/such.db"), "sdb://bare/x": "it needs database", "sdb://own/key": "none that deletes"} {
		if _, err := sdb.Delete(t.Context(), e, uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", uri, err, want)
		}
	}
}

// store is a server of Vault with an engine of each version.
type store struct {
	mu   sync.Mutex
	data map[string]map[string]any
}

func (s *store) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/v1/")
	if req.Header.Get("X-Vault-Token") != "t0ken" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if at, ok := strings.CutPrefix(path, "sys/internal/ui/mounts/"); ok {
		version := map[string]string{"new": "2", "old": "1"}[strings.Split(at, "/")[0]]
		fmt.Fprintf(w, `{"data": {"path": %q, "options": {"version": %q}}}`, strings.Split(at, "/")[0]+"/", version)
		return
	}
	if req.Method == http.MethodPut {
		var m map[string]any
		b, _ := io.ReadAll(req.Body)
		if json.Unmarshal(b, &m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.data[path] = m
		w.WriteHeader(http.StatusNoContent)
		return
	}
	m, ok := s.data[path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors": []}`)
		return
	}
	b, _ := json.Marshal(map[string]any{"data": m})
	_, _ = w.Write(b)
}

func TestVault(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(&store{data: map[string]map[string]any{}})
	defer srv.Close()
	e := env(t, host.NewFake(), "v: {driver: vault}\nvault: {url: '"+srv.URL+"', auth: {token: t0ken}}\n")
	for _, engine := range []string{"new", "old"} {
		for _, key := range []string{"/app/db/pw", "/app/db?user"} {
			uri := "sdb://v/" + engine + key
			if v, err := sdb.Get(t.Context(), e, uri, true); err != nil || v != nil {
				t.Errorf("%s: %v, %v", uri, v, err)
			}
			if _, err := sdb.Set(t.Context(), e, uri, "x"+key); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := sdb.Get(t.Context(), e, "sdb://v/"+engine+"/app/db/pw", true); err != nil || v != "x/app/db/pw" {
			t.Errorf("%s: %v, %v", engine, v, err)
		}
		if _, err := sdb.Delete(t.Context(), e, "sdb://v/"+engine+"/app/db/pw"); err != nil {
			t.Error(err)
		}
		if v, err := sdb.Get(t.Context(), e, "sdb://v/"+engine+"/app/db/pw", true); err != nil || v != nil {
			t.Errorf("%s: deleted, and is %v, %v", engine, v, err)
		}
		if v, err := sdb.Get(t.Context(), e, "sdb://v/"+engine+"/app/db/user", true); err != nil || v != "x/app/db?user" {
			t.Errorf("%s: %v, %v", engine, v, err)
		}
	}
	for _, tt := range []struct{ conf, uri, want string }{
		{"{url: '" + srv.URL + "', auth: {token: wr0ng}}", "sdb://v/old/x/y", "the secret old/x: Vault answered with status 403"},
		{"{url: 'http://127.0.0.1:1', auth: {token: wr0ng}}", "sdb://v/old/x/y", "SDB profile v (/c/minion:2:1), driver vault: "},
		{"{}", "sdb://v/old/x/y", "the option vault has no url"},
		{"{url: 'http://127.0.0.1:1', auth: {token: 'sdb://v/a/b'}}", "sdb://v/old/x/y", "sdb://v/a/b is in Vault, for which it is needed"},
		{"{url: 'http://127.0.0.1:1', auth: {token: wr0ng}}", "sdb://v/key", `"key" is not PATH/KEY`},
		{"{url: 'http://127.0.0.1:1', auth: {token: wr0ng}}", "sdb://v/a/../b/key", "is not PATH/KEY of Vault"},
	} {
		_, err := sdb.Get(t.Context(), env(t, host.NewFake(), "v: {driver: vault}\nvault: "+tt.conf+"\n"), tt.uri, true)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s %s: %v, want %q", tt.conf, tt.uri, err, tt.want)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.Env = []string{"TOKEN=secret-token"}
	const conf = "osenv: {driver: env}\ngone: {driver: file, path: /gone}\nmysql: {pass: 'sdb://osenv/TOKEN', hosts: [a, 'sdb://osenv/NONE']}\nkeep: sdb://nope/x\n"
	e := env(t, h, conf)
	before := e.Opts.Map("mysql")
	var warned []string
	warn := func(pos source.Pos, format string, args ...any) {
		warned = append(warned, pos.String()+": "+fmt.Sprintf(format, args...))
	}
	if !sdb.Uses(e.Opts) {
		t.Error("the options have URIs")
	}
	e.Opts = e.Opts.Copy()
	if err := sdb.Apply(t.Context(), e, warn); err != nil {
		t.Fatal(err)
	}
	if got := value.Repr(e.Opts.At("mysql")); got != "{'pass': 'secret-token', 'hosts': ['a', None]}" {
		t.Errorf("mysql: %s", got)
	}
	if before.Str("pass") != "sdb://osenv/TOKEN" || e.Opts.Str("keep") != "sdb://nope/x" {
		t.Error("options that were there have changed, or have not stayed")
	}
	want := "/c/minion:4:47: sdb://osenv/NONE has no value: the option is None|/c/minion:5:1: sdb://nope/x stays as it is: SDB profile \"nope\" wasnt found in the minion configuration"
	if got := strings.Join(warned, "|"); got != want {
		t.Errorf("warnings: %s\nwant: %s", got, want)
	}
	err := sdb.Apply(t.Context(), env(t, h, conf+"dead: {a: 'sdb://gone/x'}\n"), warn)
	if err == nil || !strings.HasPrefix(err.Error(), "/c/minion:6:") {
		t.Errorf("a store that is gone: %v", err)
	}
}
