package saltapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/core/fun"
	"brine/internal/core/target"
	"brine/internal/fleet"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

// rig is a fleet of one master.
type rig struct {
	*fleet.Fleet
	p   *saltapi.Provider
	bus *event.Ring

	mu    sync.Mutex
	warns []string
}

func (r *rig) warn(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warns = append(r.warns, text)
}

func (r *rig) warnings() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.warns, "\n")
}

// jids makes jids that differ.
func jids() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("20261123050000%06d", n.Add(1)) }
}

func conf(t testing.TB, at string) saltapi.Config {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return saltapi.Config{Name: "lab", URL: u, EAuth: "pam", User: saltapitest.User, Password: saltapitest.Password, Timeout: time.Minute, Reconnect: time.Minute}
}

// with returns the fleet of a master.
func with(t testing.TB, c saltapi.Config, others ...fleet.Provider) *rig {
	t.Helper()
	r := &rig{bus: event.NewRing(1000, time.Now)}
	next := jids()
	f := &fleet.Fleet{Providers: others, NewJID: next, Bus: r.bus, Timeout: time.Minute, Gather: time.Minute}
	f.Warn = func(w fun.Warning) { r.warn(w.Text) }
	p, err := saltapi.New(saltapi.Options{Config: c, Cache: filepath.Join(t.TempDir(), "fleets"), NewJID: next, Bus: r.bus, IsOwnJob: f.IsOwnJob, Warn: r.warn, Gather: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	f.Add(p)
	r.Fleet, r.p = f, p
	return r
}

// run runs a job and returns "id=value" or "id:stage" of each return, sorted.
func (r *rig) run(t testing.TB, job fun.Job) string {
	t.Helper()
	out, err := r.try(t.Context(), job)
	if err != nil {
		t.Fatalf("%s on %v: %v", job.Fun, job.Tgt, err)
	}
	return out
}

func (r *rig) try(ctx context.Context, job fun.Job) (string, error) {
	if job.Args.Kw == nil {
		job.Args.Kw = value.NewMap(0)
	}
	var out []string
	_, err := r.Run(ctx, job, func(ret fun.Return) error {
		out = append(out, show(ret))
		return nil
	})
	sort.Strings(out)
	return strings.Join(out, " "), err
}

func show(ret fun.Return) string {
	if ret.Stage != fun.Returned {
		return ret.ID + ":" + ret.Stage.String()
	}
	v, _ := ret.Value()
	s := ret.ID + "=" + value.Str(v)
	if ret.Retcode != 0 {
		s += fmt.Sprintf("(%d)", ret.Retcode)
	}
	return s
}

// A list is a provider of machines that return their ids.
type list []string

func (l list) IDs(context.Context) ([]string, error) { return l, nil }

func (l list) Minion(_ context.Context, id string) target.Minion { return target.Minion{ID: id} }

func (l list) Run(_ context.Context, job fun.Job, id string, begun func()) fun.Return {
	begun()
	return fun.Return{ID: id, JID: job.JID, Body: fun.ValueBody{V: "here"}}
}

func (l list) FindJob(context.Context, string, []string, func(string, int)) {}

func TestTargets(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "web1", "web2", "db1")
	s.Grains = map[string]string{"web1": "role:web", "db1": "role:db"}
	groups := value.MapOf("front", "web*", "both", "N@front or db1")
	for _, tt := range []struct {
		prefix string
		job    fun.Job
		want   string
	}{
		{"", fun.Job{Tgt: "*"}, "db1=True web1=True web2=True"},
		{"", fun.Job{Tgt: "web1,db1,ghost", TgtType: "list"}, "db1=True ghost:unreachable web1=True"},
		{"", fun.Job{Tgt: "role:db", TgtType: "grain"}, "db1=True"},
		{"", fun.Job{Tgt: "nobody"}, ""},
		{"", fun.Job{Tgt: "*", Subset: 1, Only: []string{"web2"}}, "web2=True"},
		{"", fun.Job{Tgt: "*", Batch: "2"}, "db1=True web1=True web2=True"},
		{"", fun.Job{Tgt: "*", Fleet: "lab"}, "db1=True web1=True web2=True"},
		{"dc1-", fun.Job{Tgt: "dc1-web*"}, "dc1-web1=True dc1-web2=True"},
		{"dc1-", fun.Job{Tgt: "web*"}, ""},
		{"dc1-", fun.Job{Tgt: "dc1-db1", TgtType: "list"}, "dc1-db1=True"},
		{"dc1-", fun.Job{Tgt: "role:db", TgtType: "grain"}, "dc1-db1=True"},
	} {
		c := conf(t, s.URL)
		c.Prefix = tt.prefix
		r := with(t, c)
		r.Nodegroups = groups
		tt.job.Fun = "test.ping"
		if got := r.run(t, tt.job); got != tt.want {
			t.Errorf("prefix %q, %+v: %s, want %s", tt.prefix, tt.job.Tgt, got, tt.want)
		}
	}
}

// TestGrainsOfNow targets minions whose grains a step or somebody else has changed a
// moment ago.
func TestGrainsOfNow(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a", "b")
	s.Grains = map[string]string{"a": "slot:blue", "b": "slot:blue"}
	r := with(t, conf(t, s.URL))
	blue := func(want string) {
		t.Helper()
		if got := r.run(t, fun.Job{Tgt: "slot:blue", TgtType: "grain", Fun: "test.ping"}); got != want {
			t.Errorf("slot blue are %q, want %q", got, want)
		}
	}
	blue("a=True b=True")
	r.run(t, fun.Job{Tgt: "a", Fun: "grains.setval"})
	s.SetGrain("a", "slot:green")
	blue("b=True")
	s.SetGrain("a", "slot:blue")
	blue("a=True b=True")
}

// All targets of a master are one publication; a batch is one for each time that
// there is room, and none is of more than the batch.
func TestOnePublication(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a", "b", "c", "d")
	r := with(t, conf(t, s.URL))
	r.run(t, fun.Job{Tgt: "*", Fun: "test.echo", JID: "20261123060000000001"})
	r.run(t, fun.Job{Tgt: "*", Fun: "test.echo", Batch: "2"})
	var echoes []string
	for _, p := range s.Published() {
		if strings.HasPrefix(p, "test.echo ") {
			echoes = append(echoes, p)
		}
	}
	if echoes[0] != "test.echo 20261123060000000001 a,b,c,d" {
		t.Errorf("published %s; want all four under the jid of the job", echoes[0])
	}
	for _, p := range echoes[1:] {
		if strings.Count(p, ",") > 1 {
			t.Errorf("published %s in a batch of two", p)
		}
	}
}

func TestMixed(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "web1", "both")
	r := with(t, conf(t, s.URL), list{"here1", "both"})
	if got := r.run(t, fun.Job{Tgt: "here1,web1", TgtType: "list", Fun: "test.ping"}); got != "here1=here web1=True" {
		t.Errorf("mixed: %s", got)
	}
	_, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping"})
	if err == nil || !strings.Contains(err.Error(), "both is in two fleets: roster and lab") {
		t.Errorf("the same id in two fleets: %v", err)
	}
	for order, want := range map[string]string{
		"roster lab": "both=here here1=here web1=True",
		"lab roster": "both=True here1=here web1=True",
	} {
		r.Order = strings.Fields(order)
		if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.ping"}); got != want {
			t.Errorf("fleet_order %s: %s, want %s", order, got, want)
		}
	}
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.ping", Fleet: "roster"}); got != "both=here here1=here" {
		t.Errorf("fleet roster: %s", got)
	}
	if _, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping", Fleet: "nowhere"}); err == nil {
		t.Error("an unknown fleet is not refused")
	}
}

// A token that is refused is renewed in the midst of a run; it is kept 0600.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	r := with(t, conf(t, s.URL))
	r.run(t, fun.Job{Tgt: "*", Fun: "test.ping"})
	s.Expire()
	if got := r.run(t, fun.Job{Tgt: "a", Fun: "test.ping"}); got != "a=True" || s.Logins() != 2 {
		t.Errorf("after the token was refused: %s, %d log-ins; want a=True, 2", got, s.Logins())
	}
	cache := filepath.Join(t.TempDir(), "tokens")
	for range 2 {
		p, err := saltapi.New(saltapi.Options{Config: conf(t, s.URL), Cache: cache, NewJID: jids()})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Resolve(t.Context(), "*", "glob", nil); err != nil {
			t.Error(err)
		}
		_ = p.Close()
	}
	if s.Logins() != 3 {
		t.Errorf("%d log-ins; the second run did not use the token of the first", s.Logins())
	}
	files, err := os.ReadDir(cache)
	if err != nil || len(files) != 1 {
		t.Fatalf("token files: %v, %v", files, err)
	}
	if st, err := files[0].Info(); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode of the token: %v, %v", st.Mode(), err)
	}
}

// What is refused to the user is not asked twice, and nobody logs in for it. What
// was refused since the token had ended is asked once more.
func TestRefusedOnce(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	s.Forbidden = []string{"cmd.run"}
	r := with(t, conf(t, s.URL))
	if got := r.run(t, fun.Job{Tgt: "a", Fun: "cmd.run"}); got != "a:unreachable" || s.Logins() != 1 {
		t.Errorf("%s, %d log-ins; want a:unreachable, 1", got, s.Logins())
	}
	s.Expire()
	if got := r.run(t, fun.Job{Tgt: "a", Fun: "test.echo", Only: []string{"a"}}); got != "a=True" || s.Logins() != 2 {
		t.Errorf("after the token ended: %s, %d log-ins; want a=True, 2", got, s.Logins())
	}
	count := map[string]int{}
	for _, post := range s.Asked() {
		count[post]++
	}
	if count["local_async cmd.run"] != 1 || count["local_async test.echo"] > 2 {
		t.Errorf("asked %v", count)
	}
	for _, pub := range s.Published() {
		if strings.HasPrefix(pub, "test.echo ") {
			count["published"]++
		}
	}
	if count["published"] != 1 {
		t.Errorf("test.echo was published %d times", count["published"])
	}
}

// Where a master does not tell whether it knows a token, nothing that changes
// something is asked twice.
func TestRefusedInDoubt(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	s.NoEvents = http.StatusForbidden
	s.Forbidden = []string{"cmd.run"}
	r := with(t, conf(t, s.URL))
	if got := r.run(t, fun.Job{Tgt: "a", Fun: "cmd.run"}); got != "a:unreachable" || s.Logins() != 1 {
		t.Errorf("%s, %d log-ins; want a:unreachable, 1", got, s.Logins())
	}
	s.Expire()
	if ids, _, err := r.p.Resolve(t.Context(), "a", "list", nil); err != nil || len(ids) != 1 {
		t.Errorf("a question after the token ended: %v, %v", ids, err)
	}
}

// A log-in that takes long holds up nobody who gives up, and those who wait share it.
func TestSlowLogin(t *testing.T) {
	t.Parallel()
	began, answer := make(chan struct{}, 9), make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		began <- struct{}{}
		<-answer
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	t.Cleanup(front.Close)
	r := with(t, conf(t, front.URL))
	first := make(chan error, 1)
	go func() {
		_, _, err := r.p.Resolve(t.Context(), "a", "glob", nil)
		first <- err
	}()
	<-began
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tgt := range []string{"a", "b"} {
		if _, _, err := r.p.Resolve(over, tgt, "glob", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want context.Canceled", tgt, err)
		}
	}
	close(answer)
	if err := <-first; err == nil || !strings.Contains(err.Error(), "log in: 401") {
		t.Errorf("the first: %v", err)
	}
}

// The return of a raw command that was lost is the same when it is looked up.
func TestRawLookedUp(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	s.Return = func(saltapitest.Call) (any, int, bool) {
		return map[string]any{"pid": 7, "stdout": "up", "stderr": "", "retcode": 3}, 0, true
	}
	r := with(t, conf(t, s.URL))
	const jid = "20261123090000000001"
	job := fun.Job{JID: jid, Shell: "uptime", Args: fun.Args{Kw: value.NewMap(0)}}
	r.p.Publish(t.Context(), job, []string{"a"})
	now := r.p.Run(t.Context(), job, "a", func() {})
	l, err := r.p.Left(t.Context(), jid, "a")
	if err != nil || l.State != jobs.LeftReturn {
		t.Fatalf("%+v, %v", l, err)
	}
	l.Ret.ID = "a"
	if later := fleet.Raw(l.Ret); show(later) != show(now) || later.Retcode != 3 {
		t.Errorf("looked up: %s, at once: %s", show(later), show(now))
	}
}

// hold is a server whose minions work until they are told to finish; began gets
// the jid of each call.
func hold(t testing.TB, minions ...string) (s *saltapitest.Server, began chan saltapitest.Call) {
	s = saltapitest.New(t, minions...)
	began = make(chan saltapitest.Call, 100)
	s.Return = func(c saltapitest.Call) (any, int, bool) {
		if c.Fun == "test.ping" || c.Fun == "saltutil.term_job" {
			return true, 0, true
		}
		began <- c
		return nil, 0, false
	}
	return s, began
}

// A master that goes away in the midst is waited for; what came meanwhile is
// looked up.
func TestMasterGoesAway(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a", "b")
	r := with(t, conf(t, s.URL))
	done := make(chan string)
	go func() {
		got, err := r.try(t.Context(), fun.Job{Tgt: "*", Fun: "test.sleep"})
		done <- fmt.Sprint(got, err)
	}()
	c := <-began
	<-began
	s.Finish(c.JID, "a", "early", 0)
	s.Die()
	s.Finish(c.JID, "b", "while away", 3)
	s.Revive(t)
	if got, want := <-done, "a=early b=while away(3)<nil>"; got != want {
		t.Errorf("%s, want %s\n%s", got, want, r.warnings())
	}
}

// One that stays away is given up after reconnect, with the truth.
func TestMasterStaysAway(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a")
	c := conf(t, s.URL)
	c.Reconnect = 300 * time.Millisecond
	r := with(t, c)
	go func() {
		<-began
		s.Die()
	}()
	var got fun.Return
	if _, err := r.Run(t.Context(), fun.Job{Tgt: "*", Fun: "test.sleep", Args: fun.Args{Kw: value.NewMap(0)}}, func(ret fun.Return) error { got = ret; return nil }); err != nil {
		t.Fatal(err)
	}
	if got.Stage != fun.Lost || !got.Away || got.FleetJID != got.JID || !strings.Contains(fmt.Sprint(got.Err), "has not answered for") {
		t.Errorf("return %+v", got)
	}
}

// The answer to a publication is lost: the job runs once.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	s.CutAnswer()
	r := with(t, conf(t, s.URL))
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != "a=True" {
		t.Errorf("%s", got)
	}
	if n := len(slices.DeleteFunc(s.Published(), func(p string) bool { return !strings.HasPrefix(p, "test.echo") })); n != 1 {
		t.Errorf("published %d times", n)
	}
}

// between is a server in front of a master, which answers requests that have one of
// the words by 500, those of sent after the master has taken them.
func between(t testing.TB, s *saltapitest.Server, sent string, words ...string) string {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(sent)) {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		for _, word := range words {
			if bytes.Contains(body, []byte(word)) {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// A run that is stopped while the master is given the job waits for its returns.
func TestStoppedWhilePublishing(t *testing.T) {
	t.Parallel()
	for _, batch := range []string{"", "1"} {
		s := saltapitest.New(t, "a")
		to, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		var stopped atomic.Bool
		proxy := httputil.NewSingleHostReverseProxy(to)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte("test.echo")) {
				time.Sleep(500 * time.Millisecond) // the targets have begun meanwhile
				stopped.Store(true)
				time.Sleep(300 * time.Millisecond) // the gate is looked at more often
			}
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		r := with(t, conf(t, front.URL))
		r.Gate = func(context.Context, *fun.Chunk) bool { return !stopped.Load() }
		if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo", Batch: batch}); got != "a=True" {
			t.Errorf("batch %q: %s, want a=True", batch, got)
		}
	}
}

// The answer to a publication is lost, and jobs cannot be looked up: a return that
// comes says that it was published; where none comes, it is given up.
func TestLostAnswerNoLookup(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{0: "a=True", http.StatusForbidden: "a:lost"} {
		s := saltapitest.New(t, "a")
		s.NoEvents = status
		c := conf(t, between(t, s, "test.echo", "jobs.list_job"))
		c.Reconnect = 2 * time.Second
		if got := with(t, c).run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != want {
			t.Errorf("events %d: %s, want %s", status, got, want)
		}
	}
}

// Where no events come, returns are looked up: refused, or lost without a word.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a", "b")
	s.NoEvents = http.StatusForbidden
	r := with(t, conf(t, s.URL))
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != "a=True b=True" || !strings.Contains(r.warnings(), "follow the events: 403") {
		t.Errorf("events refused: %s\n%s", got, r.warnings())
	}
	s = saltapitest.New(t, "a")
	s.NoEvents = http.StatusUnauthorized
	r = with(t, conf(t, s.URL))
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"}); got != "a=True" || !strings.Contains(r.warnings(), "follow the events: 401") || s.Logins() != 2 {
		t.Errorf("events refused to any token: %s, %d log-ins, want 2\n%s", got, s.Logins(), r.warnings())
	}
	s, began := hold(t, "a")
	r = with(t, conf(t, s.URL))
	r.Timeout = 200 * time.Millisecond
	go func() {
		c := <-began
		s.LoseEvents(true)
		s.Finish(c.JID, "a", "unheard", 0)
		s.LoseEvents(false)
	}()
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.sleep"}); got != "a=unheard" {
		t.Errorf("an event was lost: %s\n%s", got, r.warnings())
	}
}

// Silence is asked about, as of any target.
func TestFindJob(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "works")
	s.Silent = []string{"dead"}
	r := with(t, conf(t, s.URL))
	r.Timeout, r.Gather = 100*time.Millisecond, 2*time.Second
	go func() {
		c := <-began
		for { // it is asked twice, and waited for
			n := 0
			for _, p := range s.Published() {
				if strings.HasPrefix(p, "saltutil.find_job") {
					n++
				}
			}
			if n >= 2 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		s.Finish(c.JID, "works", "done", 0)
	}()
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.sleep"}); got != "dead:timed out works=done" {
		t.Errorf("%s\n%s", got, r.warnings())
	}
}

// Where the master does not permit that question, a silent minion is given up too, and a
// warning says why it was not asked.
func TestFindJobForbidden(t *testing.T) {
	t.Parallel()
	s, _ := hold(t, "works")
	s.Forbidden = []string{"saltutil.find_job"}
	r := with(t, conf(t, s.URL))
	r.Timeout, r.Gather = 100*time.Millisecond, time.Second
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.sleep"}); got != "works:timed out" || !strings.Contains(r.warnings(), "ask whether the job runs: ") {
		t.Errorf("%s\n%s", got, r.warnings())
	}
}

// Returns that nobody asked for are refused, and a return counts once.
func TestHostileReturns(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a", "b")
	s.Twice()
	r := with(t, conf(t, s.URL), list{"here"})
	go func() {
		c := <-began
		<-began
		s.Finish(c.JID, "intruder", "no", 0)
		s.Finish(c.JID, "here", "no", 0)
		s.Fire("salt/job/"+c.JID+"/ret/a", map[string]any{"id": "b", "jid": c.JID, "return": "forged"})
		s.Finish(c.JID, "a", 1, 0)
		s.Finish(c.JID, "b", 2, 0)
	}()
	if got := r.run(t, fun.Job{Tgt: "*", Fun: "test.sleep", JID: "20261123070000000001"}); got != "a=1 b=2 here=here" {
		t.Errorf("%s", got)
	}
	for _, want := range []string{"a return of intruder for job 20261123070000000001 was refused", "name different minions"} {
		if !strings.Contains(r.warnings(), want) {
			t.Errorf("no warning %q in\n%s", want, r.warnings())
		}
	}
}

// Events of the master come to the bus under their tags, but for those that are
// about jobs of this run.
func TestEventsOnBus(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	r := with(t, conf(t, s.URL))
	s.Slow(time.Millisecond)
	r.Listen(t.Context())
	r.run(t, fun.Job{Tgt: "a", Fun: "test.ping", JID: "20261123080000000001"})
	s.Fire("salt/job/20261123080000000001/ret/forged", map[string]any{"id": "forged", "jid": "20261123080000000001"})
	s.Fire("salt/job/20261123080000000001/prog/forged/1", map[string]any{"id": "forged"})
	s.Fire("salt/job/20261123080000000001/prog/a/1", map[string]any{"id": "a"})
	s.Fire("my/tag", map[string]any{"x": 1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rets, progs := 0, ""
	if _, _, err := r.bus.Next(ctx, 0, func(e event.Event) bool {
		if strings.HasPrefix(e.Tag, "salt/job/20261123080000000001/ret/") {
			rets++
		}
		if minion, ok := strings.CutPrefix(e.Tag, "salt/job/20261123080000000001/prog/"); ok {
			progs += minion
		}
		return e.Tag == "my/tag" && value.Str(e.Data.At("x")) == "1"
	}); err != nil || rets != 1 || progs != "a/1" {
		t.Errorf("%v, %d returns on the bus, progress of %q; want the fleet's own, and a/1", err, rets, progs)
	}
}

func TestCallMaster(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	r := with(t, conf(t, s.URL))
	v, jid, ok, err := r.CallMaster(t.Context(), "lab", fun.Runner, "test.arg", fun.Args{Pos: []value.Value{"x", int64(1)}, Kw: value.NewMap(0)})
	if err != nil || !ok || value.Str(v) != "['x', 1]" || !jobs.IsJID(jid) {
		t.Errorf("runner: %v %s %t %v", v, jid, ok, err)
	}
	if v, _, ok, err := r.CallMaster(t.Context(), "lab", fun.Wheel, "key.list_all", fun.Args{Kw: value.NewMap(0)}); err != nil || !ok || v != "key.list_all" {
		t.Errorf("wheel: %v %t %v", v, ok, err)
	}
	for fleet, want := range map[string]string{"roster": "no master", "x": "there is no fleet"} {
		if _, _, _, err := r.CallMaster(t.Context(), fleet, fun.Runner, "x", fun.Args{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("fleet %s: %v", fleet, err)
		}
	}
}

// Jobs that nobody waits for are looked up at the master.
func TestDetached(t *testing.T) {
	t.Parallel()
	s, began := hold(t, "a", "b")
	s.Silent = []string{"c"}
	r := with(t, conf(t, s.URL))
	const jid = "20261123090000000001"
	job := fun.Job{JID: jid, Fun: "test.sleep", Args: fun.Args{Kw: value.NewMap(0)}}
	r.p.Publish(t.Context(), job, []string{"a", "b"})
	for _, id := range []string{"a", "b"} {
		if ret, ok := r.p.Detach(t.Context(), job, id); !ok {
			t.Fatalf("%s: %+v", id, ret)
		}
	}
	<-began
	<-began
	s.Finish(jid, "a", "kept", 2)
	l, err := r.p.Left(t.Context(), jid, "a")
	if err != nil || l.State != jobs.LeftReturn || l.Ret.Retcode != 2 {
		t.Errorf("a: %+v, %v", l, err)
	}
	if l, err := r.p.Left(t.Context(), jid, "b"); err != nil || l.State != jobs.LeftRunning {
		t.Errorf("b: %+v, %v", l, err)
	}
	if l, err := r.p.Left(t.Context(), "20261123090000000009", "a"); err != nil || l.State != jobs.LeftUnknown {
		t.Errorf("unknown job: %+v, %v", l, err)
	}
}

// Credentials do not come back in errors.
func TestNoCredentialsInErrors(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "refuse") {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write(body)
				return
			}
			fmt.Fprint(w, `{"return": [{"token": "5e551017"}]}`)
			return
		}
		http.Redirect(w, r, "http://127.0.0.1:1/?token="+r.Header.Get("X-Auth-Token"), http.StatusFound)
	}))
	t.Cleanup(echo.Close)
	for _, password := range []string{`refuse "me"`, "let in"} {
		c := conf(t, echo.URL)
		c.Password = password
		_, err := with(t, c).try(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping"})
		if err == nil || strings.Contains(err.Error(), "refuse") || strings.Contains(err.Error(), "5e551017") {
			t.Errorf("%v", err)
		}
	}
}

// What goes wrong is named, with what to do.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	s.Forbidden = []string{"cmd.run"}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved/login":
			http.Redirect(w, r, "http://127.0.0.1:1/login", http.StatusFound)
		case "/web/login":
			fmt.Fprint(w, "<html>hello</html>")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the client ends
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, tt := range []struct {
		name string
		url  string
		set  func(*saltapi.Config)
		want string
	}{
		{"password", s.URL, func(c *saltapi.Config) { c.Password = "no" }, "log in: 401 Unauthorized: Could not authenticate using provided credentials; check eauth, user and password"},
		{"token", s.URL, func(c *saltapi.Config) { c.Password, c.Token = "", "stale" }, "401 Unauthorized"},
		{"path", s.URL + "/api", nil, "404 Not Found"},
		{"nobody", "http://127.0.0.1:1", nil, "connection refused; check that salt-api runs"},
		{"redirect", plain.URL + "/moved", nil, "redirects are not followed"},
		{"other server", plain.URL + "/web", nil, "the answer is not one of salt-api"},
		{"authority", secure.URL, nil, "set ca to the file of the authority"},
		{"fingerprint", secure.URL, func(c *saltapi.Config) { c.Fingerprint = strings.Repeat("ab", 32) }, "the server's certificate has the fingerprint"},
		{"no tls", strings.Replace(plain.URL, "http:", "https:", 1), nil, "may run there without TLS"},
	} {
		c := conf(t, tt.url)
		if tt.set != nil {
			tt.set(&c)
		}
		_, err := with(t, c).try(t.Context(), fun.Job{Tgt: "*", Fun: "test.ping"})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "fleet lab") {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
	}
	r := with(t, conf(t, s.URL))
	var why error
	_, _ = r.Run(t.Context(), fun.Job{Tgt: "*", Fun: "cmd.run", Args: fun.Args{Kw: value.NewMap(0)}}, func(ret fun.Return) error { why = ret.Err; return nil })
	if why == nil || !strings.Contains(why.Error(), "not permitted to do this: external_auth") {
		t.Errorf("forbidden function: %v", why)
	}
}
