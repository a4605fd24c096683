package gitfs

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fileserver"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/s3test"
)

// serviceOpts are the options of a server.
func serviceOpts(s *s3test.Server, buckets value.Value) *value.Map {
	return value.MapOf("s3.keyid", "anna", "s3.key", "secret", "s3.service_url", s.Host, "s3.path_style", true, "s3.https_enable", false,
		"s3.buckets", buckets)
}

func bucketServer(t *testing.T, store *Store, opts *value.Map) (*Backend, *fileserver.Server) {
	t.Helper()
	b := NewBackend(store, Buckets, opts, "base")
	return b, fileserver.Over(host.NewLocal(), &fileserver.Roots{}, b)
}

// files returns what a saltenv has, with its text.
func bucketFiles(t *testing.T, files *fileserver.Server, env string) string {
	t.Helper()
	list, err := files.List(t.Context(), env, "")
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, f := range list {
		b, err := os.ReadFile(f.Abs)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Path+"="+string(b))
	}
	return strings.Join(out, " ")
}

func TestBuckets(t *testing.T) {
	s := s3test.New(t)
	s.Page = 2
	s.Put("states", "a.sls", "one")
	s.Put("states", "sub/b.sls", "below")
	s.Put("states", "empty/", "")
	s.Put("more", "a.sls", "hidden")
	s.Put("more", "c.sls", "three")
	s.Put("envs", "base/a.sls", "base")
	s.Put("envs", "base/", "")
	s.Put("envs", "bare/", "")
	s.Put("envs", "dev/a.sls", "dev")
	s.Put("envs", "base2/x", "another")
	s.Put("envs", "README", "of no saltenv")
	now := time.Now()
	var warned []string
	dir := filepath.Join(t.TempDir(), "gitfs")
	process := func() *Store { // as a new process has it
		return &Store{Dir: dir, Now: func() time.Time { return now }, Warn: func(text string) { warned = append(warned, text) }}
	}
	store := process()
	byEnv := value.MapOf("base", value.Strings("states", "more"), "prod", "more")
	b, files := bucketServer(t, store, serviceOpts(s, byEnv))
	if envs, err := b.Envs(t.Context()); err != nil || !slices.Equal(envs, []string{"base", "prod"}) {
		t.Errorf("saltenvs: %v %v", envs, err)
	}
	for env, want := range map[string]string{"base": "a.sls=one c.sls=three sub/b.sls=below", "prod": "a.sls=hidden c.sls=three", "dev": ""} {
		if got := bucketFiles(t, files, env); got != want {
			t.Errorf("%s: %s", env, got)
		}
	}
	if dirs, err := files.Dirs(t.Context(), "base", ""); err != nil || !slices.Contains(dirs, "empty") {
		t.Errorf("directories: %v %v", dirs, err)
	}
	b, files = bucketServer(t, store, serviceOpts(s, value.Strings("envs")))
	if envs, err := b.Envs(t.Context()); err != nil || !slices.Equal(envs, []string{"base", "bare", "base2", "dev"}) {
		t.Errorf("saltenvs of directories: %v %v", envs, err)
	}
	if len(warned) > 0 {
		t.Errorf("warnings: %v", warned)
	}
	for env, want := range map[string]string{"base": "a.sls=base", "bare": "", "dev": "a.sls=dev", "base2": "x=another"} {
		if got := bucketFiles(t, files, env); got != want {
			t.Errorf("%s: %s", env, got)
		}
	}

	// Another process reads only what has changed.
	s.Asked()
	s.Put("states", "a.sls", "two")
	s.Remove("states", "empty/")
	now = now.Add(time.Hour)
	store = process()
	b, files = bucketServer(t, store, serviceOpts(s, byEnv))
	if got := bucketFiles(t, files, "base"); got != "a.sls=two c.sls=three sub/b.sls=below" {
		t.Errorf("after a change: %s", got)
	}
	read := s.Asked()
	if read = slices.DeleteFunc(read, func(p string) bool { return strings.HasSuffix(p, "/") }); !slices.Equal(read, []string{"/states/a.sls"}) {
		t.Errorf("read again: %v", read)
	}
	sources, err := b.Sources(t.Context())
	if err != nil || sources.Len() != 2 {
		t.Errorf("sources: %v %v", sources, err)
	}

	// A service that is away is said, and the cache is used.
	now = now.Add(time.Hour)
	s.Answer = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusBadGateway); return true }
	store = process()
	b, files = bucketServer(t, store, serviceOpts(s, byEnv))
	if got := bucketFiles(t, files, "base"); got != "a.sls=two c.sls=three sub/b.sls=below" {
		t.Errorf("without the service: %s", got)
	}
	if all := strings.Join(warned, "\n"); !strings.Contains(all, "s3fs remote s3://states cannot be updated: "+s.Host+" answers 502 Bad Gateway, and not as S3 does; files are those of 1h0m ago") {
		t.Errorf("warnings: %s", all)
	}
	if err := b.Update(t.Context()); err == nil {
		t.Error("an update without the service succeeds")
	}
	if _, err := b.ClearCache(t.Context()); err != nil {
		t.Error(err)
	}
	store = process()
	if _, files = bucketServer(t, store, serviceOpts(s, byEnv)); !strings.Contains(bucketFiles(t, files, "base"), "the cache has nothing of it") {
		t.Errorf("without service and cache: %s", bucketFiles(t, files, "base"))
	}
}

func TestBucketOptions(t *testing.T) {
	s := s3test.New(t)
	for _, tt := range []struct {
		opts []any
		want string
	}{
		{[]any{"s3.buckets", nil}, "s3fs needs the option s3.buckets"},
		{[]any{"s3.bucket", "x"}, `unknown option "s3.bucket" (did you mean "s3.buckets"?)`},
		{[]any{"s3fs_update_intervals", int64(1)}, `unknown option "s3fs_update_intervals" (did you mean "s3fs_update_interval"?)`},
		{[]any{"s3fs_update_interval", "often"}, `s3fs update_interval must be a number of seconds, not 'often'`},
		{[]any{"s3.buckets", value.Strings("../x")}, "s3.buckets: '../x' is not the name of a bucket"},
		{[]any{"s3.buckets", value.MapOf("base", value.NewList(int64(5)))}, "s3.buckets: 5 is not the name of a bucket"},
		{[]any{"s3.buckets", value.MapOf("a b", "states")}, `s3.buckets: "a b" is not the name of a saltenv`},
		{[]any{"s3.key", ""}, "s3.keyid and s3.key are needed together"},
		{[]any{"s3.service_url", "http://x"}, `s3.service_url, s3.verify_ssl: "http://x" is not a host: write its name, as in s3.example.com or s3.example.com:9000`},
		{[]any{"s3.verify_ssl", "/none/ca.pem"}, "s3.service_url, s3.verify_ssl: open /none/ca.pem: no such file"},
		{[]any{"s3.path_style", false, "s3.buckets", "A_b"}, "s3.buckets: 'A_b' is not the name of a bucket"},
		{[]any{"s3.buckets", "A_b"}, "NoSuchBucket"},
		{[]any{"s3.keyid", "eve"}, "s3fs remote s3://states: InvalidAccessKeyId: Nobody has this key.; the cache has nothing of it"},
		{[]any{"s3.buckets", "nothing"}, "NoSuchBucket: The bucket does not exist."},
	} {
		s.Put("states", "a", "x")
		opts := serviceOpts(s, value.Strings("states"))
		for i := 0; i < len(tt.opts); i += 2 {
			opts.Set(tt.opts[i], tt.opts[i+1])
		}
		store := &Store{Dir: filepath.Join(t.TempDir(), "gitfs"), Now: time.Now}
		b := NewBackend(store, Buckets, opts, "base")
		if _, err := b.Envs(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v\nwant %s", tt.opts, err, tt.want)
		}
	}
}

// What a bucket has is not trusted: its keys are no paths, and its sizes may be wrong.
func TestHostileBucket(t *testing.T) {
	s := s3test.New(t)
	outside := t.TempDir()
	for _, k := range []string{"a.sls", "dir/b", "dir", "../../up", "/abs", "x//y", "x/../z", "x/./z", ".git/config", strings.Repeat("n", 300), "old/", "..", "." + outside + "/f"} {
		s.Put("states", k, "text")
	}
	var warned []string
	store := &Store{Dir: filepath.Join(outside, "cache", "gitfs"), Now: time.Now, Warn: func(text string) { warned = append(warned, text) }}
	s.Put("states", "base/ok", "fine")
	b, files := bucketServer(t, store, serviceOpts(s, value.MapOf("base", "states")))
	if got := bucketFiles(t, files, "base"); got != "a.sls=text base/ok=fine dir/b=text" {
		t.Errorf("served: %s", got)
	}
	if all := strings.Join(warned, "\n"); strings.Count(all, "is left out") != 10 || !strings.Contains(all, `dir is a directory of other objects, too; it is left out`) {
		t.Errorf("warnings: %s", all)
	}
	var found []string
	_ = filepath.WalkDir(outside, func(p string, d os.DirEntry, _ error) error {
		if rel, _ := filepath.Rel(outside, p); !d.IsDir() && !strings.HasPrefix(rel, "cache/s3fs/") {
			found = append(found, rel)
		}
		return nil
	})
	if len(found) > 0 {
		t.Errorf("written outside of the cache: %v", found)
	}
	_, _ = b.ClearCache(t.Context())

	// A size that is wrong ends the update, and one that is too large is not read.
	s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/states/" {
			return false
		}
		fmt.Fprintf(w, `<ListBucketResult><Contents><Key>a.sls</Key><ETag></ETag><Size>2</Size></Contents><Contents><Key>big</Key><Size>%d</Size></Contents></ListBucketResult>`, int64(maxFile)+1)
		return true
	}
	store = &Store{Dir: filepath.Join(t.TempDir(), "gitfs"), Now: time.Now}
	if _, files = bucketServer(t, store, serviceOpts(s, value.MapOf("base", "states"))); !strings.Contains(bucketFiles(t, files, "base"), "read a.sls: it does not have the 2 bytes of the list") {
		t.Errorf("a wrong size: %s", bucketFiles(t, files, "base"))
	}
	if strings.Contains(strings.Join(s.Asked(), " "), "/states/big") {
		t.Error("an object that is too large is read")
	}
}

func TestPillarBuckets(t *testing.T) {
	s := s3test.New(t)
	for k, text := range map[string]string{"top.sls": "all", "pre/top.sls": "below", "pre/dev/top.sls": "of dev", "dev/top.sls": "dev", "prefix/top.sls": "another"} {
		s.Put("pillar", k, text)
	}
	for _, tt := range []struct {
		args []any
		want string // the environment and the text of top.sls
	}{
		{nil, "base all"},
		{[]any{"environment", "dev"}, "dev all"},
		{[]any{"prefix", "pre"}, "base below"},
		{[]any{"prefix", "/pre/"}, "base below"},
		{[]any{"multiple_env", true, "environment", "dev"}, "dev dev"},
		{[]any{"multiple_env", true, "environment", "dev", "prefix", "pre"}, "dev of dev"},
		{[]any{"prefix", "none"}, "base open top.sls: no such file or directory"},
		{[]any{"prefix", "../x"}, `error: s3 prefix "../x" leads out of the tree`},
		{[]any{"bucket", nil}, "error: None is not the name of a bucket (argument bucket)"},
		{[]any{"buckets", "x"}, `error: there is no argument "buckets" (did you mean "bucket"?)`},
		{[]any{"key", nil}, "error: keyid and key are needed together"},
		{[]any{"s3_cache_expire", "long"}, "error: s3 s3_cache_expire must be a number of seconds, not 'long'"},
		{[]any{"bucket", "nothing"}, "error: s3 remote s3://nothing: NoSuchBucket: The bucket does not exist.; the cache has nothing of it"},
	} {
		args := value.MapOf("bucket", "pillar", "keyid", "anna", "key", "secret", "service_url", s.Host, "path_style", true, "https_enable", false)
		for i := 0; i < len(tt.args); i += 2 {
			args.Set(tt.args[i], tt.args[i+1])
		}
		store := &Store{Dir: filepath.Join(t.TempDir(), "gitfs"), Now: time.Now}
		trees, err := store.PillarBuckets(t.Context(), value.NewList(args))
		var got string
		switch {
		case err != nil:
			got = "error: " + err.Error()
		default:
			b, err := os.ReadFile(filepath.Join(trees[0].Path, "top.sls"))
			got = trees[0].Env + " " + string(b)
			if err != nil {
				got = trees[0].Env + " " + strings.Replace(err.Error(), trees[0].Path+"/", "", 1)
			}
		}
		if got != tt.want {
			t.Errorf("%v: %s\nwant: %s", tt.args, got, tt.want)
		}
	}
	store := &Store{Dir: filepath.Join(t.TempDir(), "gitfs"), Now: time.Now}
	if _, err := store.PillarBuckets(t.Context(), value.NewList("pillar")); err == nil || !strings.Contains(err.Error(), "it needs its arguments by name, as in bucket: NAME, not 'pillar'") {
		t.Errorf("a name alone: %v", err)
	}
}
