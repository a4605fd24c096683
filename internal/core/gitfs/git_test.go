package gitfs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
)

func newReader(b []byte) *bufio.Reader { return bufio.NewReaderSize(bytes.NewReader(b), 70000) }

// A repo is a repository that git made, with a work tree.
type repo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	sshtest.Require(t, "git")
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "src")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main", ".")
	return r
}

// git runs git and returns what it prints.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+r.dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, commits them and returns the commit.
func (r *repo) commit(files map[string]string) string {
	r.t.Helper()
	for p, text := range files {
		full := filepath.Join(r.dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			r.t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			_ = os.Remove(full)
			err = os.Symlink(to, full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x")
	return r.git("rev-parse", "HEAD")
}

// A way is a server of a repository.
type way struct {
	name, url string
	stop      func()
}

// ways serves a repository in all ways that this machine has.
func ways(t *testing.T, r *repo) []way {
	t.Helper()
	out := []way{{"file", "file://" + r.dir, func() {}}}
	srv := serveTLS(t, r)
	out = append(out, way{"https", srv.URL + "/src", srv.Close})
	url, stop := daemon(t, r)
	return append(out, way{"git", url, stop})
}

func serveTLS(t testing.TB, r *repo) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(backendOf(t, r))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func backendOf(t testing.TB, r *repo) http.Handler {
	t.Helper()
	path := r.git("--exec-path") + "/git-http-backend"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no git-http-backend: %v", err)
	}
	return &cgi.Handler{Path: path, Stderr: io.Discard, Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}}
}

// daemon serves a repository by git daemon.
func daemon(t testing.TB, r *repo) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// In inetd mode a connection is one process, and the port is free for sure.
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--base-path="+filepath.Dir(r.dir))
				cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
				f, err := c.(*net.TCPConn).File()
				if err != nil {
					return
				}
				defer f.Close()
				cmd.Stdin, cmd.Stdout = f, f
				_ = cmd.Run()
			})
		}
	})
	stop = sync.OnceFunc(func() { _ = l.Close() })
	t.Cleanup(func() { stop(); wg.Wait() })
	return "git://" + l.Addr().String() + "/src", stop
}

type fixture struct {
	*Store
	mu    sync.Mutex
	warns []string
	now   time.Time
}

func newStore(t testing.TB, dir string) *fixture {
	f := &fixture{now: time.Now()}
	f.Store = &Store{Dir: dir, Now: func() time.Time { return f.now }, Warn: func(text string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.warns = append(f.warns, text)
	}}
	return f
}

func (f *fixture) server(t testing.TB, conf string, at ...string) *fileserver.Server {
	t.Helper()
	opts := load(t, conf)
	if len(at) > 0 {
		opts.Set("gitfs_at", value.Strings(at...))
	}
	return fileserver.Over(host.NewLocal(), &fileserver.Roots{}, NewBackend(f.Store, Files, opts, "base"))
}

func read(t testing.TB, s *fileserver.Server, env, p string) string {
	t.Helper()
	r, err := s.Open(t.Context(), env, p)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServe(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	first := r.commit(map[string]string{"a.sls": "one", "salt/web/init.sls": "web", "salt/link": "-> web/init.sls"})
	r.git("tag", "-a", "-m", "x", "v1.2")
	r.commit(map[string]string{"a.sls": "two"})
	r.git("branch", "feature/x")
	r.git("gc", "-q")
	for _, w := range ways(t, r) {
		t.Run(w.name, func(t *testing.T) {
			dir := t.TempDir()
			f := newStore(t, dir)
			conf := fmt.Sprintf("gitfs_base: main\ngitfs_ssl_verify: false\ngitfs_remotes:\n- %s\n- %s:\n  - name: sub\n  - root: salt\n  - mountpoint: salt://m/n\n  - saltenv_whitelist: base\n", w.url, w.url)
			s := f.server(t, conf)
			if envs, err := s.Envs(t.Context()); err != nil || strings.Join(envs, " ") != "base feature/x v1.2" {
				t.Fatalf("Envs = %v, %v", envs, err)
			}
			for _, tt := range []struct{ env, path, want string }{
				{"base", "a.sls", "two"},
				{"v1.2", "a.sls", "one"},
				{"feature/x", "a.sls", "two"},
				{first, "a.sls", "one"},
				{first[:10], "a.sls", "one"},
				{"base", "m/n/web/init.sls", "web"},
				{"base", "m/n/link", "web"},
			} {
				if got := read(t, s, tt.env, tt.path); got != tt.want {
					t.Errorf("%s of %s = %q, want %q", tt.path, tt.env, got, tt.want)
				}
			}
			fis, err := s.List(t.Context(), "base", "")
			var names []string
			for _, fi := range fis {
				names = append(names, fi.Path)
			}
			if got := strings.Join(names, " "); err != nil || got != "a.sls m/n/link m/n/web/init.sls salt/link salt/web/init.sls" {
				t.Errorf("List = %s, %v", got, err)
			}
			if dirs, err := s.Dirs(t.Context(), "base", ""); err != nil || strings.Join(dirs, " ") != "m m/n m/n/web salt salt/web" {
				t.Errorf("Dirs = %v, %v", dirs, err)
			}
			if fi, err := s.Stat(t.Context(), "base", "m"); err != nil || !fi.Mode.IsDir() {
				t.Errorf("m = %+v, %v", fi, err)
			}
			if got := read(t, f.server(t, fmt.Sprintf("gitfs_base: main\ngitfs_ssl_verify: false\ngitfs_remotes: ['%s']", w.url), "v1.2"), "base", "a.sls"); got != "one" {
				t.Errorf("--at v1.2: %q", got)
			}
			if got := read(t, f.server(t, conf, "sub=v9"), "base", "a.sls"); !strings.Contains(got, "no such commit, tag or branch") {
				t.Errorf("--at sub=v9: %q", got)
			}
		})
	}
}

// TestUpdate fetches what is new, and goes on with what it has where the remote
// is gone.
func TestUpdate(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "1", "b": strings.Repeat("b\n", 1000)})
	for _, w := range ways(t, r) {
		t.Run(w.name, func(t *testing.T) {
			dir := t.TempDir()
			conf := fmt.Sprintf("gitfs_base: main\ngitfs_ssl_verify: false\ngitfs_remotes: ['%s']", w.url)
			at := func(age time.Duration) (*fixture, *fileserver.Server) {
				f := newStore(t, dir)
				f.now = f.now.Add(age)
				return f, f.server(t, conf)
			}
			_, s := at(0)
			before := read(t, s, "base", "a")
			for i := range 3 {
				text := fmt.Sprint(w.name, i)
				r.commit(map[string]string{"a": text, "b": strings.Repeat("b\n", 1000) + text})
				if got := read(t, s, "base", "a"); got != before {
					t.Errorf("a run sees %q after %q", got, before)
				}
				if _, fresh := at(time.Duration(i)*2*time.Minute + 10*time.Second); w.name != "file" && read(t, fresh, "base", "a") != before {
					t.Error("update_interval is not respected")
				}
				_, s = at(time.Duration(i+1) * 2 * time.Minute)
				if before = read(t, s, "base", "a"); before != text {
					t.Errorf("a = %q, want %q", before, text)
				}
				r.git("branch", "-f", "gone")
			}
			if w.name == "file" {
				return
			}
			w.stop()
			f, s := at(3 * time.Hour)
			if got := read(t, s, "base", "a"); got != before {
				t.Errorf("offline: %q", got)
			}
			if len(f.warns) != 1 || !strings.Contains(f.warns[0], "cannot be updated") || !strings.Contains(f.warns[0], "h") {
				t.Errorf("warnings: %q", f.warns)
			}
			b := s.Remotes()[0]
			if err := b.Update(t.Context()); err == nil {
				t.Error("Update succeeds offline")
			}
			if got, err := b.ClearCache(t.Context()); err != nil || len(got) != 1 {
				t.Errorf("ClearCache = %v, %v", got, err)
			}
			_, s = at(3 * time.Hour)
			if got := read(t, s, "base", "a"); !strings.Contains(got, "the cache has nothing of it") {
				t.Errorf("without a cache: %q", got)
			}
		})
	}
}

// TestHTTPAuth sends the password to its own host only, and has it in no message
// and no file.
func TestHTTPAuth(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "1"})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			t.Error("the password is sent to another host")
		}
		http.NotFound(w, req)
	}))
	defer other.Close()
	git := backendOf(t, r)
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch u, p, _ := req.BasicAuth(); {
		case u != "anna" || p != "geheim7":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(req.URL.Path, "/away"):
			http.Redirect(w, req, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+req.URL.String(), http.StatusFound)
		case strings.HasPrefix(req.URL.Path, "/port"): // net/http itself looks at the name of the host alone
			asked.Add(1)
			http.Redirect(w, req, other.URL+req.URL.String(), http.StatusFound)
		default:
			git.ServeHTTP(w, req)
		}
	}))
	defer srv.Close()
	dir := t.TempDir()
	f := newStore(t, dir)
	url := strings.Replace(srv.URL, "http://", "http://anna:geheim7@", 1)
	if got := read(t, f.server(t, "gitfs_base: main\ngitfs_insecure_auth: true\ngitfs_remotes: ['"+url+"/src']"), "base", "a"); got != "1" {
		t.Errorf("a = %q", got)
	}
	for _, conf := range []string{
		"gitfs_remotes: ['" + url + "/away']",
		"gitfs_remotes: ['" + url + "/port']",
		"gitfs_remotes: ['" + url + "/none']",
		"gitfs_remotes: ['" + strings.Replace(url, "7@", "8@", 1) + "/x']",
	} {
		got := read(t, f.server(t, "gitfs_insecure_auth: true\n"+conf), "base", "a")
		if !strings.Contains(got, "the server answers") || strings.Contains(got, "geheim") {
			t.Errorf("%s: %q", conf, got)
		}
	}
	if asked.Load() == 0 {
		t.Error("nothing was redirected to another port")
	}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, _ := os.ReadFile(p); bytes.Contains(b, []byte("geheim")) || bytes.Contains(b, []byte("anna")) {
			t.Errorf("the credentials are in %s", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTLS checks certificates unless it is told not to.
func TestTLS(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "1"})
	srv := serveTLS(t, r)
	got := read(t, newStore(t, t.TempDir()).server(t, "gitfs_base: main\ngitfs_remotes: ['"+srv.URL+"/src']"), "base", "a")
	if !strings.Contains(got, "certificate") {
		t.Errorf("a server that nobody knows: %q", got)
	}
}

// TestHostileTrees serves no file that leads out of a tree.
func TestHostileTrees(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.commit(map[string]string{
		"ok": "ok", "abs": "-> " + secret, "up": "-> ../../../../../../../../.." + secret, "etc": "-> /etc", "root": "-> /", "in": "-> d/../ok", "d/x": "x", "d/up": "-> ../ok",
	})
	blob := r.git("rev-parse", "HEAD:ok")
	top := r.git("rev-parse", "HEAD^{tree}")
	cmd := exec.Command("git", "mktree", "--missing")
	cmd.Dir = r.dir
	list := r.git("ls-tree", top) + "\n160000 commit " + r.git("rev-parse", "HEAD") + "\tsub\n"
	cmd.Stdin = strings.NewReader(list)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	evil := strings.TrimSpace(string(out))
	// git mktree refuses the names that matter most: this object is made by hand.
	raw := func(mode, name, hash string) string {
		var b [20]byte
		for i := range b {
			_, _ = fmt.Sscanf(hash[2*i:2*i+2], "%02x", &b[i])
		}
		return mode + " " + name + "\x00" + string(b[:])
	}
	hash := func(kind, text string) string {
		cmd := exec.Command("git", "hash-object", "--literally", "-w", "-t", kind, "--stdin")
		cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	dots := hash("tree", raw("40000", "..", evil)+raw("100644", "../../x", blob)+raw("100644", ".git", blob)+raw("100644", ".GIT ", blob)+
		raw("120000", "a", hash("blob", "/etc"))+raw("40000", "a", evil)+raw("100644", "/abs", blob)+raw("100644", "ok", blob)+raw("100666", "w", blob))
	r.git("update-ref", "refs/heads/sub", r.git("commit-tree", "-m", "x", evil))
	r.git("update-ref", "refs/heads/dots", hash("commit", "tree "+dots+"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n"))
	f := newStore(t, t.TempDir())
	s := f.server(t, "gitfs_base: main\ngitfs_remotes: ['file://"+r.dir+"']")
	for env, want := range map[string]string{
		"base": "abs d/up d/x etc in ok root up", "sub": "abs d/up d/x etc in ok root up", "dots": "a ok w",
	} {
		fis, err := s.List(t.Context(), env, "")
		var names []string
		for _, fi := range fis {
			names = append(names, fi.Path)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", env, got, err, want)
		}
	}
	for _, p := range []string{"abs", "up", "etc/hostname", "root" + secret, "../" + filepath.Base(r.dir)} {
		if got := read(t, s, "base", p); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s is served: %q", p, got)
		}
	}
	for _, p := range []string{"ok", "in", "d/up"} {
		if got := read(t, s, "base", p); got != "ok" {
			t.Errorf("%s = %q", p, got)
		}
	}
	all := strings.Join(f.warns, "\n")
	for _, want := range []string{"sub is a submodule", `the name ".."`, `the name "../../x"`, `the name ".git"`, "a is in the tree twice"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning has %q:\n%s", want, all)
		}
	}
	s = f.server(t, "gitfs_base: main\ngitfs_root: etc\ngitfs_remotes: ['file://"+r.dir+"']")
	if fis, err := s.List(t.Context(), "base", ""); err != nil || len(fis) > 0 {
		t.Errorf("a root that is a link: %v, %v", fis, err)
	}
	if got := read(t, s, "base", "hostname"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a root that is a link is served: %q", got)
	}
}

// TestKills kills updates at random, and reads what is there after each.
func TestKills(t *testing.T) {
	if dir := os.Getenv("GITFS_TEST_KILL"); dir != "" {
		f := newStore(t, dir)
		fmt.Println("begin")
		_ = read(t, f.server(t, os.Getenv("GITFS_TEST_CONF")), "base", "a")
		return
	}
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "0"})
	dir := t.TempDir()
	url, _ := daemon(t, r)
	conf := "gitfs_base: main\ngitfs_update_interval: 0\ngitfs_remotes: ['" + url + "']"
	if got := read(t, newStore(t, dir).server(t, conf), "base", "a"); got != "0" {
		t.Fatal(got)
	}
	kills := 50
	if testing.Short() {
		kills = 5
	}
	killed := 0
	for i := range kills {
		text := fmt.Sprint(i)
		files := map[string]string{"a": text}
		for k := range 40 {
			files[fmt.Sprintf("d%d/f%d", k%5, k)] = strings.Repeat(text+fmt.Sprint(k)+"\n", 50)
		}
		r.commit(files)
		ctx, cancel := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKills$")
		cmd.Env = append(os.Environ(), "GITFS_TEST_KILL="+dir, "GITFS_TEST_CONF="+conf)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		_, _ = bufio.NewReader(out).ReadString('\n')
		time.AfterFunc(time.Duration((i*37)%80)*time.Millisecond, cancel)
		if cmd.Wait() != nil {
			killed++
		}
		cancel()
		if i%2 == 0 { // what a killed update left is usable without the remote
			b := NewBackend(newStore(t, dir).Store, Files, load(t, strings.Replace(conf, "interval: 0", "interval: 1000000", 1)), "base")
			s := fileserver.Over(host.NewLocal(), &fileserver.Roots{}, b)
			if got := read(t, s, "base", "a"); strings.HasPrefix(got, "error") {
				t.Fatalf("after kill %d: %s", i, got)
			}
			continue
		}
		f := newStore(t, dir)
		if got := read(t, f.server(t, conf), "base", "a"); got != text || len(f.warns) > 0 {
			t.Fatalf("after kill %d: %s, %q", i, got, f.warns)
		}
	}
	t.Logf("%d of %d updates were killed", killed, kills)
	left, _ := filepath.Glob(filepath.Join(dir, "*", "repo-*"))
	if len(left) > 2 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPillars assigns the branches of git_pillar to environments.
func TestPillars(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"p/top.sls": "main"})
	r.git("checkout", "-q", "-b", "dev")
	r.commit(map[string]string{"p/top.sls": "dev"})
	url := "file://" + r.dir
	for _, tt := range []struct{ conf, pillarenv, want string }{
		{"- main URL", "", "main:/p/top.sls=main"},
		{"- main URL\n- dev URL", "", "main:/p/top.sls=main dev:/p/top.sls=dev"},
		{"- main URL: [{env: base}, {root: p}]\n- dev URL: [{mountpoint: m}]", "", "base:/top.sls=main dev:m/p/top.sls=dev"},
		{"- __env__ URL: [{base: main}]", "", "base:/p/top.sls=main"},
		{"- __env__ URL: [{base: main}]", "dev", "dev:/p/top.sls=dev"},
		{"- __env__ URL: [{base: main}]", "qa", ""},
		{"- __env__ URL: [{base: main}, {fallback: dev}]", "qa", "dev:/p/top.sls=dev"},
		{"- __env__ URL: [{all_saltenvs: dev}]", "qa", "qa:/p/top.sls=dev"},
		{"- URL: [{branch: dev}]", "", "dev:/p/top.sls=dev"},
		{"- nope URL", "", `error: there is no branch, tag or commit "nope"`},
		{"- main URL: [{base: main}]", "", "error: base is only for a remote whose branch is __env__"},
		{"- main URL: [{rooot: p}]", "", `error: (did you mean "root"?)`},
	} {
		opts := load(t, "remotes:\n"+strings.ReplaceAll(tt.conf, "URL", url))
		if tt.pillarenv != "" {
			opts.Set("pillarenv", tt.pillarenv)
		}
		trees, err := newStore(t, t.TempDir()).Pillars(t.Context(), opts, opts.List("remotes"))
		if want, isErr := strings.CutPrefix(tt.want, "error: "); isErr {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", tt.conf, err, want)
			}
			continue
		}
		var got []string
		for _, x := range trees {
			root := "p/top.sls"
			if strings.HasSuffix(x.Path, "/p") {
				root = "top.sls"
			}
			b, err := os.ReadFile(filepath.Join(x.Path, root))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, x.Env+":"+x.Mount+"/"+root+"="+string(b))
		}
		if s := strings.Join(got, " "); err != nil || s != tt.want {
			t.Errorf("%s in %q: %s, %v; want %s", tt.conf, tt.pillarenv, s, err, tt.want)
		}
	}
}
