package saltapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

// A lie is an answer in place of that of the master; false leaves the master's.
type lie func(w http.ResponseWriter, path, body string) bool

// lying is a server in front of a master.
func lying(t testing.TB, s *saltapitest.Server, tell lie) string {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !tell(w, r.URL.Path, string(body)) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	return front.URL
}

// says answers with a text where the request has a word; JID is the jid of the request.
func says(word, text string) lie {
	return func(w http.ResponseWriter, path, body string) bool {
		if path == "/events" || !strings.Contains(path+body, word) {
			return false
		}
		var low []struct{ JID string }
		_ = json.Unmarshal([]byte(body), &low)
		if len(low) == 1 {
			text = strings.ReplaceAll(text, "JID", low[0].JID)
		}
		_, _ = io.WriteString(w, text)
		return true
	}
}

// TestHostileTargets has a master lie about which minions a target means: no id that is
// none, that was not asked for or that is another fleet's gets into a run.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, tt := range []struct {
		name, tgt, answer string
		want, err, warned string
	}{
		{"ids that are none", "*", `{"return": [{"jid": "JID", "minions": ["a", "a", "../x", "x/y", "\u001b[2J", "x\ny", "", ".", "..", 7, null, true, ["b"], {"c": 1}, "` + strings.Repeat("x", 300) + `"]}]}`, "a=True", "", ""},
		{"an id that was not asked for", "a*", `{"return": [{"jid": "JID", "minions": ["a", "b"]}]}`, "a=True", "", "names 1 minions that the target 'a*' does not mean, such as b"},
		{"the id of another fleet", "a", `{"return": [{"jid": "JID", "minions": ["a", "here"]}]}`, "a=True", "", "such as here"},
		{"the id of another fleet that is meant", "*", `{"return": [{"jid": "JID", "minions": ["a", "here"]}]}`, "", "here is in two fleets", ""},
		{"another jid", "*", `{"return": [{"jid": "20200101000000000001", "minions": ["a"]}]}`, "", "not one of salt-api", ""},
		{"a jid that is a number", "*", `{"return": [{"jid": 20200101000000000001, "minions": ["a"]}]}`, "", "not one of salt-api", ""},
		{"no minions", "*", `{"return": [{"jid": "JID"}]}`, "", "not one of salt-api", ""},
		{"minions that are a number", "*", `{"return": [{"jid": "JID", "minions": 7}]}`, "", "not one of salt-api", ""},
		{"minions that are a dict", "*", `{"return": [{"jid": "JID", "minions": {"a": 1}}]}`, "", "not one of salt-api", ""},
		{"a number", "*", `7`, "", "not one of salt-api", ""},
		{"a list", "*", `[{"return": []}]`, "", "not one of salt-api", ""},
		{"return is a number", "*", `{"return": 7}`, "", "not one of salt-api", ""},
		{"return is text", "*", `{"return": "a"}`, "", "not one of salt-api", ""},
		{"return is empty", "*", `{"return": []}`, "", "not one of salt-api", ""},
		{"return is two", "*", `{"return": [{"jid": "JID", "minions": ["a"]}, {"jid": "JID", "minions": ["a"]}]}`, "", "not one of salt-api", ""},
		{"return is nested", "*", `{"return": [[{"jid": "JID", "minions": ["a"]}]]}`, "", "not one of salt-api", ""},
		{"nothing", "*", ``, "", "not one of salt-api", ""},
		{"half of it", "*", `{"return": [{"jid": "JID", "min`, "", "not one of salt-api", ""},
		{"more behind it", "*", `{"return": [{"jid": "JID", "minions": ["a"]}]} {}`, "", "not one of salt-api", ""},
		{"keys twice", "*", `{"return": 7, "return": [{"jid": 7, "jid": "JID", "minions": ["b"], "minions": ["a"]}]}`, "a=True", "", ""},
		{"deep nesting", "*", `{"return": ` + deep + `}`, "", "the answer cannot be read", ""},
		{"HTML", "*", "<!DOCTYPE html><html><body>Welcome</body></html>", "", "not one of salt-api", ""},
		{"much memory", "*", `{"return": [` + strings.Repeat("[],", 12<<20) + `0]}`, "", "the answer cannot be read", ""},
	} {
		s := saltapitest.New(t, "a", "b")
		r := with(t, conf(t, lying(t, s, says("test.ping", tt.answer))), list{"here"})
		r.Order = nil
		got, err := r.try(t.Context(), fun.Job{Tgt: tt.tgt, Fun: "test.echo", Fleet: map[bool]string{true: "lab"}[tt.err == "not one of salt-api"]})
		got = strings.TrimSpace(strings.ReplaceAll(got, "here=here", ""))
		if got != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) || !strings.Contains(r.warnings(), tt.warned) {
			t.Errorf("%s: %q, %v; want %q, %q\nwarnings: %s", tt.name, got, err, tt.want, tt.err, r.warnings())
		}
		if text := fmt.Sprint(err, r.warnings()); strings.ContainsAny(text, "\x1b") || len(text) > 10_000 {
			t.Errorf("%s: %d bytes of messages", tt.name, len(text))
		}
	}
}

// TestHostilePublications has a master lie about whom it gave a job to: nobody counts as
// one that returned.
func TestHostilePublications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, answer, want string }{
		{"nobody", `{"return": [{}]}`, "a:unreachable"},
		{"others", `{"return": [{"jid": "JID", "minions": ["b", "here"]}]}`, "a:unreachable"},
		{"others, by ids that are none", `{"return": [{"jid": "JID", "minions": ["../a", "a\n", ["a"]]}]}`, "a:unreachable"},
		{"a jid that is none", `{"return": [{"jid": "../../etc/passwd", "minions": ["a"]}]}`, "a:lost"},
		{"a number", `{"return": [7]}`, "a:unreachable"},
		{"text", `{"return": ["ok"]}`, "a:unreachable"},
		{"HTML", `<html>ok</html>`, "a:unreachable"},
		{"it was done", `{"return": [{"a": true}]}`, "a:lost"},
	} {
		s := saltapitest.New(t, "a", "b")
		r := with(t, conf(t, lying(t, s, says("test.echo", tt.answer))))
		if got := r.run(t, fun.Job{Tgt: "a", TgtType: "list", Fun: "test.echo"}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestHostileReturned has minions return lies, or a master in their place: what was
// refused does not count, and what cannot be understood is no success.
func TestHostileReturned(t *testing.T) {
	t.Parallel()
	const own, other = "20261123070000000001", "20261123070000000002"
	for _, tt := range []struct{ name, tag, data, want string }{
		{"of another minion", "ret/a", `{"id": "b", "return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"of a number", "ret/a", `{"id": 7, "return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"of another job", "ret/a", `{"id": "a", "jid": "` + other + `", "return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"of a job that is a number", "ret/a", `{"id": "a", "jid": ` + own + `, "return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"by a path", "ret/../a", `{"return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"by a longer tag", "ret/a/b", `{"return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"with control characters", "ret/a\n", `{"return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"of nobody", "ret/", `{"return": "forged", "retcode": 0, "success": true}`, "a=genuine"},
		{"that is not a dict", "ret/a", `["forged"]`, "a=genuine"},
		{"contradicting a later one", "ret/a", `{"id": "a", "return": "first", "retcode": 3, "success": false}`, "a=first(3)"},
		{"without a return", "ret/a", `{"id": "a", "retcode": 0, "success": true}`, "a=None(1)"},
		{"without a code", "ret/a", `{"id": "a", "return": "x"}`, "a=x(1)"},
		{"with a code that is text", "ret/a", `{"id": "a", "return": "x", "retcode": "0", "success": true}`, "a=x(1)"},
		{"with a code that is a list", "ret/a", `{"id": "a", "return": "x", "retcode": ["x"], "success": true}`, "a=x(1)"},
		{"with success that is text", "ret/a", `{"id": "a", "return": "x", "retcode": 0, "success": "yes"}`, "a=x(1)"},
		{"deep", "ret/a", `{"id": "a", "return": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `, "retcode": 0, "success": true}`, "a=genuine"},
		{"with keys twice", "ret/a", `{"id": "b", "id": "a", "return": "x", "retcode": 0, "retcode": 4, "success": true}`, "a=x(4)"},
		{"with failed states", "ret/a", `{"id": "a", "return": {"x": {"result": false}}, "retcode": 0, "success": true}`, "a={'x': {'result': False}}(2)"},
	} {
		s, began := hold(t, "a", "b")
		r := with(t, conf(t, s.URL))
		go func() {
			c := <-began
			s.FireRaw("salt/job/"+c.JID+"/"+tt.tag, tt.data)
			s.Finish(c.JID, "a", "genuine", 0)
		}()
		got := 0
		var all []string
		job := fun.Job{Tgt: "a", Fun: "state.apply", JID: own, Args: fun.Args{Kw: value.NewMap(0)}}
		if _, err := r.Run(t.Context(), job, func(ret fun.Return) error { got++; all = append(all, show(ret)); return nil }); err != nil || got != 1 || all[0] != tt.want {
			t.Errorf("%s: %d returns, %q, %v; want %s", tt.name, got, all, err, tt.want)
		}
		if strings.ContainsAny(r.warnings(), "\x1b") {
			t.Errorf("%s: warnings %q", tt.name, r.warnings())
		}
	}
}

// TestHostileLookups has a master lie about what its job cache has.
func TestHostileLookups(t *testing.T) {
	t.Parallel()
	const jid = "20261123090000000001"
	for _, tt := range []struct{ name, answer, want string }{
		{"another job", `{"return": [{"jid": "20200101000000000001", "Minions": ["a"], "Result": {"a": {"return": "forged", "retcode": 0, "success": true}}}]}`, "another job"},
		{"another minion's return", `{"return": [{"jid": "` + jid + `", "Minions": [], "Result": {"a": {"id": "b", "return": "forged", "retcode": 0, "success": true}}}]}`, "no return"},
		{"another job's return", `{"return": [{"jid": "` + jid + `", "Minions": [], "Result": {"a": {"jid": "20200101000000000001", "return": "forged", "retcode": 0, "success": true}}}]}`, "no return"},
		{"a return that is text", `{"return": [{"jid": "` + jid + `", "Minions": [], "Result": {"a": "fine"}}]}`, "no return"},
		{"results that are a list", `{"return": [{"jid": "` + jid + `", "Minions": [], "Result": [{"a": {"return": 1}}]}]}`, "no return"},
		{"minions that are none", `{"return": [{"jid": "` + jid + `", "Minions": ["../a", 7, "a\n"], "Result": {}}]}`, "no return"},
		{"without a code", `{"return": [{"jid": "` + jid + `", "Minions": ["a"], "Result": {"a": {"return": "x"}}}]}`, "returned 1"},
		{"with failed states", `{"return": [{"jid": "` + jid + `", "Function": "state.apply", "Minions": ["a"], "Result": {"a": {"return": {"x": {"result": false}}, "retcode": 0, "success": true}}}]}`, "returned 2"},
		{"text", `{"return": ["fine"]}`, "not one of salt-api"},
	} {
		s := saltapitest.New(t, "a")
		r := with(t, conf(t, lying(t, s, says("jobs.list_job", tt.answer))))
		l, err := r.p.Left(t.Context(), jid, "a")
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint("returned ", l.Ret.Retcode)
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestHostileCalls has a master lie about its runners and wheel functions.
func TestHostileCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind         fun.Kind
		answer, want string
	}{
		{fun.Wheel, `{"return": [{"data": {"jid": "../../x\n", "return": 1, "success": true}}]}`, "1 '' true <nil>"},
		{fun.Wheel, `{"return": [{"data": {"jid": 7, "return": 1, "success": "true"}}]}`, "1 '' false <nil>"},
		{fun.Wheel, `{"return": [{"data": {"return": 1}}]}`, "1 '' false <nil>"},
		{fun.Wheel, `{"return": [{"data": [1]}]}`, "not one of salt-api"},
		{fun.Runner, `{"return": [{"jid": "../../x"}]}`, "not one of salt-api"},
		{fun.Runner, `{"return": [{"jid": 20200101000000000001}]}`, "not one of salt-api"},
		{fun.Runner, `{"return": [[]]}`, "not one of salt-api"},
	} {
		s := saltapitest.New(t, "a")
		r := with(t, conf(t, lying(t, s, says("manage.up", tt.answer))))
		v, jid, ok, err := r.CallMaster(t.Context(), "lab", tt.kind, "manage.up", fun.Args{Kw: value.NewMap(0)})
		if got := fmt.Sprintf("%v '%s' %t %v", v, jid, ok, err); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.answer, got, tt.want)
		}
	}
}

// TestHostileEvents: events about jobs of this run are this run's own, and tags are
// printable text.
func TestHostileEvents(t *testing.T) {
	t.Parallel()
	const own, elsewhere = "20261123080000000001", "20261123080000000002"
	s := saltapitest.New(t, "a")
	r := with(t, conf(t, s.URL), list{"here"})
	s.Slow(time.Millisecond)
	r.Listen(t.Context())
	r.run(t, fun.Job{Tgt: "here", Fun: "test.ping", JID: elsewhere}) // its targets are no minions
	r.run(t, fun.Job{Tgt: "a", Fun: "test.ping", JID: own})
	after := r.bus.Seq()
	for _, jid := range []string{own, elsewhere} {
		for _, tag := range []string{"%s", "salt/job/%s/new", "salt/job/%s/ret/a", "salt/job/%s/ret/here", "salt/job/%s/prog/here/0", "salt/run/%s/ret", "salt/run/%s/args", "brine/job/%s/wave"} {
			s.Fire(fmt.Sprintf(tag, jid), map[string]any{"id": "here", "jid": jid, "return": "forged", "success": true, "retcode": 0})
		}
	}
	for _, tag := range []string{"my/\x1b[2Jtag", "my\ntag", "my/\u202etag", "", strings.Repeat("x", 5000)} {
		s.Fire(tag, map[string]any{})
	}
	s.Fire("last", map[string]any{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		e, _, err := r.bus.Next(ctx, after, nil)
		if err != nil {
			t.Fatal(err)
		}
		after = e.Seq
		if e.Tag == "last" {
			return
		}
		t.Errorf("an event %q", e.Tag)
	}
}

// TestHostileRedirects: nothing is sent to where a server redirects to.
func TestHostileRedirects(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(thief.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, where := range []string{"/login", "test.ping", "test.echo", "/events"} {
			s := saltapitest.New(t, "a")
			at := lying(t, s, func(w http.ResponseWriter, path, body string) bool {
				if !strings.Contains(path+body, where) {
					return false
				}
				w.Header().Set("Location", thief.URL+"/")
				w.WriteHeader(status)
				return true
			})
			r := with(t, conf(t, at))
			got, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.echo"})
			if where != "/events" && strings.Contains(got, "a=") || where == "/events" && got != "a=True" {
				t.Errorf("%d %s: %s, %v", status, where, got, err)
			}
			if err != nil && !strings.Contains(err.Error(), "redirects are not followed") {
				t.Errorf("%d %s: %v", status, where, err)
			}
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests were redirected", n)
	}
}

// TestHostileTokens: a master that never accepts its tokens, or whose tokens have ended
// when it makes them, is not logged in to without end.
func TestHostileTokens(t *testing.T) {
	t.Parallel()
	refusing := saltapitest.New(t, "a")
	r := with(t, conf(t, lying(t, refusing, func(w http.ResponseWriter, path, _ string) bool {
		if path == "/login" {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})))
	for range 3 {
		if got, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.echo"}); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
			t.Errorf("%s, %v", got, err)
		}
	}
	if n := refusing.Logins(); n > 8 { // the events, and each of three jobs, once more
		t.Errorf("%d log-ins for three jobs", n)
	}

	ended := saltapitest.New(t, "a")
	at := lying(t, ended, func(w http.ResponseWriter, path, body string) bool {
		if path != "/login" {
			return false
		}
		resp, err := http.Post(ended.URL+"/login", "application/json", strings.NewReader(body))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		var a struct{ Return []map[string]any }
		_ = json.NewDecoder(resp.Body).Decode(&a)
		a.Return[0]["expire"] = 1
		_ = json.NewEncoder(w).Encode(map[string]any{"return": a.Return})
		return true
	})
	r = with(t, conf(t, at))
	for i := range 10 {
		if got := r.run(t, fun.Job{Tgt: fmt.Sprintf("a%.*s", i, "*********"), Fun: "test.echo"}); got != "a=True" {
			t.Error(got)
		}
	}
	if n := ended.Logins(); n > 3 {
		t.Errorf("%d log-ins for ten jobs", n)
	}
}

// TestHostileSecrets: the credentials are told to who masks records, and no error or
// warning has them.
func TestHostileSecrets(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	var token atomic.Value
	at := lying(t, s, func(w http.ResponseWriter, path, body string) bool {
		if !strings.Contains(body, "test.echo") {
			return false
		}
		http.Error(w, fmt.Sprintf("no: %s, %s %s", token.Load(), saltapitest.Password, strings.Repeat(saltapitest.Password, 100)), http.StatusBadRequest)
		return true
	})
	var mu sync.Mutex
	told := map[string]bool{}
	c := conf(t, at)
	cache := filepath.Join(t.TempDir(), "fleets")
	p, err := saltapi.New(saltapi.Options{Config: c, Cache: cache, NewJID: jids(), Gather: time.Minute, Secret: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told[text] = true
		if text != saltapitest.Password {
			token.Store(text)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	job := fun.Job{JID: "20261123090000000001", Fun: "test.echo", Args: fun.Args{Kw: value.NewMap(0)}}
	p.Publish(t.Context(), job, []string{"a"})
	ret := p.Run(t.Context(), job, "a", func() {})
	text := fmt.Sprint(ret.Err)
	if !strings.Contains(text, "400 Bad Request: no: ") || strings.Contains(text, saltapitest.Password) || strings.Contains(text, "0000000000000") {
		t.Errorf("%s", text)
	}
	mu.Lock()
	if len(told) != 2 || !told[saltapitest.Password] || !told[fmt.Sprintf("%032x", 1)] {
		t.Errorf("told %d secrets", len(told))
	}
	mu.Unlock()
	again := ""
	p, err = saltapi.New(saltapi.Options{Config: c, Cache: cache, NewJID: jids(), Secret: func(text string) { again += text + "\n" }})
	if err != nil || !strings.Contains(again, fmt.Sprintf("%032x", 1)) {
		t.Errorf("the token of an earlier run is not told, %v", err)
	}
	_ = p.Close()
}

// bomb returns n bytes of a character, after some text, compressed.
func bomb(t testing.TB, text string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	part := bytes.Repeat([]byte(" "), 1<<20)
	for range n >> 20 {
		_, _ = z.Write(part)
	}
	_ = z.Close()
	return b.Bytes()
}

// most returns about how much memory is in use at most while f runs.
func most(f func()) uint64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak.Store(max(peak.Load(), now.HeapAlloc))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-ended
	if peak.Load() < before.HeapAlloc {
		return 0
	}
	return peak.Load() - before.HeapAlloc
}

// TestHostileSizes has a server send much more than it may, as it is and compressed, as the answer
// to a request. It runs alone, since memory is measured.
func TestHostileSizes(t *testing.T) {
	const size = 256 << 20
	for name, packed := range map[string]bool{"plain": false, "gzip": true} {
		s := saltapitest.New(t, "a")
		z := bomb(t, `{"return": "`, size)
		send := func(w http.ResponseWriter) {
			if packed {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(z)
				return
			}
			_, _ = io.WriteString(w, `{"return": "`)
			part := bytes.Repeat([]byte(" "), 1<<20)
			for range size >> 20 {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}
		at := lying(t, s, func(w http.ResponseWriter, path, body string) bool {
			if !strings.Contains(body, "test.ping") {
				return false
			}
			send(w)
			return true
		})
		r := with(t, conf(t, at))
		var err error
		used := most(func() { _, err = r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.echo"}) })
		if err == nil || !strings.Contains(err.Error(), "the answer has more than 67108864 bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if used > 512<<20 {
			t.Errorf("%s: %d MiB of memory", name, used>>20)
		}
	}
}

// TestHostileDrip: bytes that come one by one do not extend the time of a request.
func TestHostileDrip(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	at := lying(t, s, func(w http.ResponseWriter, path, body string) bool {
		if !strings.Contains(body, "test.ping") {
			return false
		}
		for range 1000 { // 20 s
			if _, err := io.WriteString(w, " "); err != nil {
				break
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		return true
	})
	c := conf(t, at)
	c.Timeout = 2 * time.Second
	_, err := with(t, c).try(t.Context(), fun.Job{Tgt: "*", Fun: "test.echo"})
	if err == nil || !strings.Contains(err.Error(), "find the targets: no answer within 2s: the answer was not complete") {
		t.Errorf("%v", err)
	}
}
