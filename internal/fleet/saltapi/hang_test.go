package saltapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
	"brine/internal/testkit/saltapitest"
)

// How a server hangs, once it has a request.
const (
	noHeader = "no header"
	noBody   = "no body"
	halfBody = "half a body"
)

// hanging is a server in front of a master, which hangs on requests whose path or body
// has a word. hung gets a value when it does.
func hanging(t testing.TB, s *saltapitest.Server, word, how string) (at string, hung chan bool) {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	hung = make(chan bool, 100)
	over := make(chan struct{})
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(r.URL.Path, word) && !bytes.Contains(body, []byte(word)) {
			proxy.ServeHTTP(w, r)
			return
		}
		hung <- true
		if how != noHeader {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/events" {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			w.WriteHeader(http.StatusOK)
			if how == halfBody {
				_, _ = io.WriteString(w, `{"return": [{"jid"`)
			}
			w.(http.Flusher).Flush()
		}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(over) })
	return front.URL, hung
}

// mute is a server that accepts connections, and says nothing over them.
func mute(t testing.TB) (at string, hung chan bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hung = make(chan bool, 100)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			hung <- true
			t.Cleanup(func() { _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return "https://" + l.Addr().String(), hung
}

// A question is something that a run wants of a master.
type question struct {
	op   string // as errors name it
	word string // in the request
	ask  func(ctx context.Context, r *rig) error
}

func questions() []question {
	kw := func() fun.Args { return fun.Args{Kw: value.NewMap(0)} }
	job := func(tgt value.Value, tgtType string) func(ctx context.Context, r *rig) error {
		return func(ctx context.Context, r *rig) error {
			var why error
			_, err := r.Run(ctx, fun.Job{Tgt: tgt, TgtType: tgtType, Fun: "test.echo", Args: kw()}, func(ret fun.Return) error { why = ret.Err; return nil })
			if err == nil {
				err = why
			}
			return err
		}
	}
	call := func(kind fun.Kind) func(ctx context.Context, r *rig) error {
		return func(ctx context.Context, r *rig) error {
			_, _, _, err := r.CallMaster(ctx, "lab", kind, "manage.up", kw())
			return err
		}
	}
	return []question{
		{"log in", "/login", job("*", "")},
		{"find the targets", "test.ping", job("*", "")},
		{"find the targets", "test.ping", job("role:web", "grain")},
		{"look up the job", "jobs.list_job", func(ctx context.Context, r *rig) error {
			_, err := r.p.Left(ctx, "20261123090000000001", "a")
			return err
		}},
		{"call the runner", "runner_async", call(fun.Runner)},
		{"call the wheel function", "wheel", call(fun.Wheel)},
	}
}

// TestHangs: a master that hangs is named within the time of a request, with what was
// waited for and what says how long.
func TestHangs(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, q := range questions() {
		for how, want := range map[string]string{
			noHeader: "the server took the request, but did not begin to answer",
			noBody:   "the server began to answer, but sent nothing more",
			halfBody: "the answer was not complete, 18 bytes of it had arrived",
		} {
			wg.Go(func() { // all wait most of the time
				s := saltapitest.New(t, "a")
				s.Grains = map[string]string{"a": "role:web"}
				at, _ := hanging(t, s, q.word, how)
				c := conf(t, at)
				c.Timeout = 3 * time.Second
				r := with(t, c)
				begun := time.Now()
				err := q.ask(t.Context(), r)
				for _, part := range []string{"fleet lab (" + at + "): " + q.op + ": no answer within 3s: " + want, "the key timeout of the fleet lab says how long brine waits"} {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %v; want %s", how, err, part)
					}
				}
				if took := time.Since(begun); took > 60*time.Second {
					t.Errorf("%s, %s: it took %s", q.op, how, took)
				}
			})
		}
	}
}

// TestHangsInTLS: a server that accepts the connection and says nothing.
func TestHangsInTLS(t *testing.T) {
	t.Parallel()
	at, _ := mute(t)
	c := conf(t, at)
	c.Timeout, c.Token, c.Password = 2*time.Second, "abcdef", "" // no log-in: the job itself, and the hosts of salt-ssh
	for _, ssh := range []bool{false, true} {
		c.SSH = ssh
		r := with(t, c)
		_, _, err := r.p.Resolve(t.Context(), "*", "glob", nil)
		for _, part := range []string{"fleet lab (" + at + "): find the targets: no answer within 2s: the server accepted the connection, but the TLS handshake did not end", "the key timeout of the fleet lab", "url begins with http://"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("ssh %t: %v; want %s", ssh, err, part)
			}
		}
	}
}

// TestHangsWhenPublishing: the master does not answer, and is asked whether it has the job.
func TestHangsWhenPublishing(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	at, _ := hanging(t, s, "test.echo", noHeader)
	c := conf(t, at)
	c.Timeout = 3 * time.Second
	r := with(t, c)
	got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"})
	if want := "fleet lab (" + at + "): publish the job: no answer within 3s"; got != "a:unreachable" || !strings.Contains(r.warnings(), want) {
		t.Errorf("%s, warnings:\n%s\nwant %s", got, r.warnings(), want)
	}
}

// TestHangingQuestions: what is asked beside a job is named in a warning: whether it
// runs, and its look-up.
func TestHangingQuestions(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for word, want := range map[string]string{
		"saltutil.find_job": "ask whether the job runs: no answer within",
		"jobs.list_job":     "look up the job: no answer within",
	} {
		wg.Go(func() {
			s := saltapitest.New(t)
			s.Silent = []string{"a"}
			if word == "jobs.list_job" {
				s.NoEvents = http.StatusForbidden
			}
			at, _ := hanging(t, s, word, halfBody)
			c := conf(t, at)
			c.Timeout, c.Reconnect = 2*time.Second, 3*time.Second
			r := with(t, c)
			r.Timeout, r.Gather = time.Second, 6*time.Second
			got := r.run(t, fun.Job{Tgt: "a", TgtType: "list", Fun: "test.echo"})
			if strings.Contains(got, "a=") || !strings.Contains(r.warnings(), want) {
				t.Errorf("%s, warnings:\n%s\nwant %s", got, r.warnings(), want)
			}
		})
	}
}

// TestHangingEvents: a stream of events that does not begin is told of, and returns are
// looked up.
func TestHangingEvents(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	defer wg.Wait()
	for how, want := range map[string]string{
		noHeader: "the server took the request, but did not begin to answer",
		noBody:   "the server began to answer, but sent nothing more",
	} {
		wg.Go(func() {
			s := saltapitest.New(t, "a")
			at, _ := hanging(t, s, "/events", how)
			c := conf(t, at)
			c.Timeout = 2 * time.Second
			r := with(t, c)
			got := r.run(t, fun.Job{Tgt: "*", Fun: "test.echo"})
			want = "follow the events: no answer within 2s: " + want
			if got != "a=True" || !strings.Contains(r.warnings(), want) || !strings.Contains(r.warnings(), "looked up in the job cache of the master instead") {
				t.Errorf("%s: %s, warnings:\n%s\nwant %s", how, got, r.warnings(), want)
			}
		})
	}
}

// TestStoppedWhileItHangs: a run that is ended does not wait for a master that hangs, and
// neither does one that is only to begin nothing new, before anything has begun.
func TestStoppedWhileItHangs(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		for _, drain := range []bool{false, true} {
			if drain && (q.op == "call the runner" || q.op == "call the wheel function" || q.op == "look up the job") {
				continue // it may have begun, or a person waits for this alone
			}
			t.Run(fmt.Sprint(q.op, drain), func(t *testing.T) {
				t.Parallel()
				s := saltapitest.New(t, "a")
				s.Grains = map[string]string{"a": "role:web"}
				at, hung := hanging(t, s, q.word, noHeader)
				c := conf(t, at)
				c.Timeout = 10 * time.Minute
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stopped := make(chan struct{})
				next := jids()
				r := with(t, c)
				p, err := saltapi.New(saltapi.Options{Config: c, Cache: filepath.Join(t.TempDir(), "fleets"), NewJID: next, Warn: r.warn, Gather: 10 * time.Minute, Draining: func() bool {
					select {
					case <-stopped:
						return true
					default:
						return false
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Close() })
				r.Providers[0], r.p = p, p
				done := make(chan error, 1)
				go func() { done <- q.ask(ctx, r) }()
				<-hung
				if drain {
					close(stopped)
				} else {
					cancel()
				}
				select {
				case err := <-done:
					if err == nil {
						t.Error("no error")
					}
				case <-time.After(time.Minute):
					t.Error("it waits for the master")
				}
			})
		}
	}
}

// TestHangingLoginIsSharedByAll: those who wait for a log-in that is not answered do not
// try it one after the other.
func TestHangingLoginIsSharedByAll(t *testing.T) {
	t.Parallel()
	s := saltapitest.New(t, "a")
	at, hung := hanging(t, s, "/login", noHeader)
	c := conf(t, at)
	c.Timeout = 2 * time.Second
	r := with(t, c)
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			_, _, err := r.p.Resolve(t.Context(), fmt.Sprint("a", i), "glob", nil)
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "log in: no answer within 2s") {
			t.Errorf("%v", err)
		}
	}
	if n := len(hung); n > 3 {
		t.Errorf("%d log-ins for %d who wait", n, cap(errs))
	}
}
