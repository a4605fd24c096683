package cp_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"brine/internal/core/dispatch"
	"brine/internal/core/fileserver"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// remote hides where files lie, as a controller's files are elsewhere.
type remote struct{ fun.Upstream }

func (r remote) Stat(ctx context.Context, saltenv, path string) (fun.FileInfo, error) {
	fi, err := r.Upstream.Stat(ctx, saltenv, path)
	fi.Abs = ""
	return fi, err
}

type rig struct {
	t    *testing.T
	env  *fun.Env
	fake *host.Fake
}

func newRig(t *testing.T, here bool) *rig {
	f := host.NewFake()
	f.PutDir("/t", 0o755)
	f.PutFile("/salt/top.sls", "x", 0o644)
	f.PutFile("/salt/web/init.sls", "x", 0o644)
	f.PutFile("/salt/web/files/a.conf", "alpha\n", 0o640)
	f.PutFile("/salt/web/files/sub/b.j2", "hello {{ who }}\n", 0o644)
	f.PutDir("/salt/web/empty", 0o755)
	f.PutFile("/dev/web/files/a.conf", "dev alpha\n", 0o600)
	f.PutFile("/t/local", "local\n", 0o644)
	opts := value.MapOf("cachedir", "/cache", "hash_type", "sha256", "file_roots", value.MapOf("base", value.Strings("/salt"), "dev", value.Strings("/dev")))
	env := &fun.Env{
		Identity:  fun.Identity{SaltEnv: "base"},
		Data:      fun.Data{Opts: opts, Memo: &fun.Memo{}, Grains: value.NewMap(0), Pillar: value.NewMap(0)},
		Machine:   fun.Machine{Host: f, CacheDir: "/cache"},
		UI:        fun.UI{Logger: slog.New(slog.DiscardHandler)},
		Functions: fun.Functions{Table: fun.NewTable([]fun.Entry{{Kind: fun.Exec, Name: "cp", Load: cp.Module}})},
	}
	env.Up = &fileserver.Local{Server: fileserver.New(f, fileserver.RootsOf(opts, "file_roots"))}
	if !here {
		env.Up = remote{env.Up}
	}
	env.Invoker = dispatch.New(env)
	return &rig{t, env, f}
}

func (r *rig) call(name string, kw *value.Map, pos ...value.Value) string {
	r.t.Helper()
	if kw == nil {
		kw = value.NewMap(0)
	}
	res, err := r.env.Invoker.Invoke(context.Background(), fun.Exec, "cp."+name, fun.Args{Pos: pos, Kw: kw})
	if err != nil {
		return "error: " + err.Error()
	}
	return value.Repr(res.Value)
}

type want struct {
	fn   string
	pos  []value.Value
	kw   *value.Map
	want string
}

func pos(v ...value.Value) []value.Value { return v }
func kw(v ...value.Value) *value.Map     { return value.MapOf(v...) }

func (r *rig) check(wants []want) {
	r.t.Helper()
	for i, w := range wants {
		if got := r.call(w.fn, w.kw, w.pos...); got != w.want {
			r.t.Errorf("%d: cp.%s\n got %s\nwant %s", i+1, w.fn, got, w.want)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r := newRig(t, true)
	r.check([]want{
		{"envs", nil, nil, "['base', 'dev']"},
		{"list_states", nil, nil, "['top', 'web']"},
		{"list_master", nil, kw("prefix", "web"), "['web/files/a.conf', 'web/files/sub/b.j2', 'web/init.sls']"},
		{"list_master", nil, kw("saltenv", "dev"), "['web/files/a.conf']"},
		{"list_master_dirs", nil, kw("prefix", "/web/"), "['web', 'web/empty', 'web/files', 'web/files/sub']"},
		{"list_master_symlinks", nil, nil, "{}"},
		{"cache_file", pos("salt://web/files/a.conf"), nil, "'/cache/files/base/web/files/a.conf'"},
		{"cache_file", pos("salt://web/files/a.conf?saltenv=dev"), nil, "'/cache/files/dev/web/files/a.conf'"},
		{"cache_file", pos("salt://web/files"), nil, "False"},
		{"cache_file", pos("salt://none"), nil, "False"},
		{"cache_file", pos("salt://../etc/passwd"), nil, "False"},
		{"cache_file", pos("salt://web"), nil, "False"},
		{"cache_file", pos("/t/local"), nil, "'/t/local'"},
		{"cache_file", pos("rel"), nil, "error: Path 'rel' is not absolute"},
		{"cache_file", pos("s3://b/k"), nil, "error: s3 sources are not supported: s3://b/k"},
		{"cache_files", pos("salt://top.sls,salt://none"), nil, "['/cache/files/base/top.sls', False]"},
		{"cache_dir", pos("salt://web/files"), kw("exclude_pat", "*.j2"), "['/cache/files/base/web/files/a.conf']"},
		{"cache_local_file", pos("/t/local"), nil, "'/cache/localfiles/t/local'"},
		{"is_cached", pos("/t/local"), nil, "'/cache/localfiles/t/local'"},
		{"is_cached", pos("salt://top.sls"), nil, "'/cache/files/base/top.sls'"},
		{"is_cached", pos("salt://web/init.sls"), nil, "''"},
		{"get_file_str", pos("salt://web/files/a.conf"), nil, `'alpha\n'`},
		{"get_file_str", pos("/t/local"), nil, `'local\n'`},
		{"get_file_str", pos("salt://none"), nil, "False"},
		{"get_file_str", pos("/none"), nil, "False"},
		{"get_file", pos("salt://web/files/a.conf", "/t/a"), nil, "'/t/a'"},
		{"get_file", pos("salt://web/files/a.conf", "/t/no/a"), nil, "False"},
		{"get_file", pos("salt://web", "/t/no/a"), kw("makedirs", true), "''"},
		{"get_file", pos("salt://web/files/a.conf", "/t/yes/"), kw("makedirs", true), "'/t/yes/a.conf'"},
		{"get_file", pos("salt://{{ p }}/init.sls", "/t/{{ p }}"), kw("template", "jinja", "p", "web"), "'/t/web'"},
		{"get_file", pos("salt://none", "/t/x"), nil, "''"},
		{"get_template", pos("salt://web/files/sub/b.j2", "/t/b"), kw("context", value.MapOf("who", "me")), "'/t/b'"},
		{"get_template", pos("salt://web/files/sub/b.j2", ""), kw("who", "you"), "'/cache/extrn_files/base/web/files/sub/b.j2'"},
		{"get_dir", pos("salt://web", "/t/copy"), nil, "['/t/copy/web/empty', '/t/copy/web/files/a.conf', '/t/copy/web/files/sub/b.j2', '/t/copy/web/init.sls']"},
		{"get_url", pos("salt://top.sls"), nil, "'/cache/files/base/top.sls'"},
		{"get_url", pos("salt://top.sls", nil), nil, "'x'"},
		{"get_url", pos("salt://none"), nil, "False"},
		{"hash_file", pos("salt://none"), nil, "''"},
		{"hash_file", pos("salt://web"), nil, "''"},
		{"hash_file", pos("/none"), nil, "[{}, None]"},
		{"stat_file", pos("salt://web"), nil, "None"},
		{"stat_file", pos("salt://web/files/a.conf"), nil, "'0640'"},
		{"stat_file", pos("salt://web/files/a.conf"), kw("octal", false), "33184"},
		{"stat_file", pos("salt://none"), nil, "None"},
	})
	for path, want := range map[string]string{"/t/a": "alpha\n", "/t/b": "hello me\n", "/cache/extrn_files/base/web/files/sub/b.j2": "hello you\n", "/t/copy/web/files/a.conf": "alpha\n", "/t/web": "x"} {
		if got := r.fake.Text(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if got := r.call("hash_file", nil, "salt://web/files/a.conf"); !strings.HasPrefix(got, "{'hsum': '") || !strings.HasSuffix(got, "', 'hash_type': 'sha256'}") {
		t.Errorf("hash_file: %s", got)
	}
}

// TestElsewhere fetches files that are not on this machine.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, false)
	r.check([]want{
		{"cache_file", pos("salt://web/files/a.conf"), nil, "'/cache/files/base/web/files/a.conf'"},
		{"is_cached", pos("salt://web/files/a.conf"), nil, "'/cache/files/base/web/files/a.conf'"},
		{"list_minion", nil, nil, "['web/files/a.conf']"},
		{"cache_master", nil, kw("saltenv", "dev"), "['/cache/files/dev/web/files/a.conf']"},
	})
	writes := len(r.fake.Writes())
	r.call("cache_file", nil, "salt://web/files/a.conf")
	if w := r.fake.Writes(); len(w) > writes {
		t.Errorf("a good copy was fetched again: %v", w[writes:])
	}
	r.fake.PutFile("/salt/web/files/a.conf", "new\n", 0o644)
	r.call("cache_file", nil, "salt://web/files/a.conf")
	if got := r.fake.Text("/cache/files/base/web/files/a.conf"); got != "new\n" {
		t.Errorf("the copy is %q", got)
	}
}

func TestWeb(t *testing.T) {
	t.Parallel()
	hits := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		hits[q.URL.Path]++
		switch q.URL.Path {
		case "/tag":
			if q.Header.Get("If-None-Match") == `"v1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("ETag", `"v1"`)
			w.Write([]byte("tagged"))
		case "/auth":
			if u, p, _ := q.BasicAuth(); u != "me" || p != "pw" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.Write([]byte("secret"))
		case "/f":
			w.Write([]byte("payload\n"))
		default:
			http.NotFound(w, q)
		}
	}))
	t.Cleanup(srv.Close)
	r := newRig(t, true)
	addr := strings.TrimPrefix(srv.URL, "http://")
	cache := "/cache/extrn_files/base/" + addr
	r.check([]want{
		{"cache_file", pos(srv.URL + "/f"), nil, "'" + cache + "/f'"},
		{"cache_file", pos(srv.URL + "/f"), nil, "'" + cache + "/f'"},
		{"get_url", pos(srv.URL+"/f", "/t/f"), nil, "'/t/f'"},
		{"get_url", pos(srv.URL+"/auth?q=1", "/t/x"), nil, "error: Error: HTTP 401: Unauthorized reading /auth"},
		{"get_url", pos("http://me:pw@"+addr+"/auth", "/t/auth"), nil, "'/t/auth'"},
		{"cache_file", pos(srv.URL + "/none"), nil, "error: Error: HTTP 404: Not Found reading /none"},
		{"cache_file", pos(srv.URL + "/tag"), kw("use_etag", true), "'" + cache + "/tag'"},
	})
	r.env.Memo = &fun.Memo{} // another run
	r.check([]want{{"cache_file", pos(srv.URL + "/tag"), kw("use_etag", true), "'" + cache + "/tag'"}})
	if got := r.fake.Text("/t/f") + r.fake.Text("/t/auth") + r.fake.Text(cache+"/tag"); got != "payload\nsecrettagged" {
		t.Errorf("fetched %q", got)
	}
	if hits["/f"] != 2 || hits["/tag"] != 2 {
		t.Errorf("hits %v", hits)
	}
	srv.Close()
	if got := r.call("get_url", nil, srv.URL+"/f", "/t/g"); got != "error: Error: [Errno 111] Connection refused reading /f" {
		t.Logf("connection refused: %s", got) // the number is Linux's
	}
	if got := r.fake.Text("/t/g"); got != "" {
		t.Errorf("/t/g was left: %q", got)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://user:pass@host/p": "http://<redacted>@host/p",
		"http://host/p@x":         "http://host/p@x",
		"salt://a":                "salt://a",
	} {
		if got := cp.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"salt://a": "salt", "/a": "", "HTTP://x": "http", "a b://x": "", "://x": ""} {
		if got := cp.Scheme(in); got != want {
			t.Errorf("Scheme(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	last := ""
	for _, s := range cp.Module().Loaded().Specs {
		if s.Name <= last || s.Doc == "" || s.Src == "" {
			t.Errorf("%s is out of order or lacks a doc or a source", s.Name)
		}
		last = s.Name
	}
}

// TestHostileReadersOfTheCache: what the cache has of the tree and of servers may hold
// secrets, so nobody else can read it. A place that the user names has usual modes.
func TestHostileReadersOfTheCache(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }))
	t.Cleanup(srv.Close)
	r := newRig(t, false)
	for _, c := range []struct {
		fn  string
		kw  *value.Map
		pos []value.Value
	}{
		{"cache_file", nil, []value.Value{"salt://web/files/a.conf"}},
		{"cache_file", nil, []value.Value{srv.URL + "/f"}},
		{"get_template", value.MapOf("who", "you"), []value.Value{"salt://web/files/sub/b.j2", ""}},
		{"get_file", value.MapOf("makedirs", true), []value.Value{"salt://web/init.sls", "/t/new/copy"}},
	} {
		if got := r.call(c.fn, c.kw, c.pos...); !strings.HasPrefix(got, "'/") {
			t.Fatalf("%s %v: %s", c.fn, c.pos, got)
		}
	}
	files := 0
	var look func(dir string)
	look = func(dir string) {
		names, err := r.fake.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			p := dir + "/" + n
			st, err := r.fake.Lstat(p)
			if err != nil || st.Perm()&0o077 != 0 {
				t.Errorf("%s has mode %o, %v", p, st.Perm(), err)
			}
			if st.Mode.IsDir() {
				look(p)
			} else {
				files++
			}
		}
	}
	look("/cache")
	if files != 3 {
		t.Errorf("the cache has %d files", files)
	}
	for p, want := range map[string]uint32{"/t/new": 0o755, "/t/new/copy": 0o644} {
		if st, err := r.fake.Stat(p); err != nil || st.Perm() != want {
			t.Errorf("%s has mode %o, %v, want %o", p, st.Perm(), err, want)
		}
	}
}
