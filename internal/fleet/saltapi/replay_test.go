package saltapi_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
)

// The recordings of testdata are exchanges with real salt-api of Salt 3006, with
// three minions: min1 and min2 with the grain role: web, min3 with role: db, and
// the SLS files of testdata/srv. They are made again with
//
//	go test ./internal/fleet/saltapi -run Replay -record cherrypy=http://127.0.0.1:8000,tornado=http://127.0.0.1:8001
//
// where sharedsecret is the eauth, and recorded is the user and its password.
var record = flag.String("record", "", "NAME=URL,...: record the exchanges with these salt-apis")

// A recording is what was asked and answered, in order.
type recording struct {
	Base      string     `json:"base"` // of the jids
	Exchanges []exchange `json:"exchanges"`
}

type exchange struct {
	Path   string `json:"path"`
	Body   string `json:"body"`
	Status int    `json:"status"`
	Type   string `json:"type"`
	Answer string `json:"answer"`
	// Events are those that came after this exchange, before the next one.
	Events []string `json:"events,omitempty"`
	used   bool
}

// A tape is a salt-api that records another one, or replays a recording.
type tape struct {
	real string // its URL; "" replays

	mu      sync.Mutex
	rec     recording
	changed chan struct{} // closed when there are more events
	events  []string
}

func newTape(real string) *tape { return &tape{real: real, changed: make(chan struct{})} }

func (tp *tape) tell(events ...string) {
	tp.events = append(tp.events, events...)
	close(tp.changed)
	tp.changed = make(chan struct{})
}

func (tp *tape) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/events" {
		tp.stream(w, r)
		return
	}
	b, _ := io.ReadAll(r.Body)
	e := exchange{Path: r.URL.Path, Body: string(b)}
	if tp.real != "" {
		tp.ask(r, &e)
	} else if !tp.find(&e) {
		http.Error(w, "this was not recorded: "+e.Path+" "+e.Body, http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", e.Type)
	w.WriteHeader(e.Status)
	_, _ = io.WriteString(w, e.Answer)
	if tp.real == "" {
		tp.mu.Lock()
		tp.tell(e.Events...)
		tp.mu.Unlock()
	}
}

// ask asks the real one. Tokens are not recorded.
func (tp *tape) ask(r *http.Request, e *exchange) {
	req, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, tp.real+e.Path, strings.NewReader(e.Body))
	req.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		e.Status, e.Answer = http.StatusBadGateway, err.Error()
		return
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	e.Status, e.Type, e.Answer = resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
	tp.mu.Lock()
	defer tp.mu.Unlock()
	kept := *e
	if e.Path == "/login" && e.Status == http.StatusOK {
		kept.Answer = `{"return": [{"token": "0123456789abcdef", "expire": 99999999999.0, "start": 1.0, "user": "recorded", "eauth": "sharedsecret", "perms": [".*"]}]}`
	}
	tp.rec.Exchanges = append(tp.rec.Exchanges, kept)
}

// find finds the answer to a request.
func (tp *tape) find(e *exchange) bool {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for i := range tp.rec.Exchanges {
		x := &tp.rec.Exchanges[i]
		if x.Path == e.Path && x.Body == e.Body && (!x.used || e.Path == "/login") {
			x.used = true
			*e = *x
			return true
		}
	}
	return false
}

func (tp *tape) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := w.(http.Flusher)
	fmt.Fprint(w, "retry: 400\n")
	flush.Flush()
	if tp.real != "" {
		tp.recordStream(w, r, flush)
		return
	}
	sent := 0
	for {
		tp.mu.Lock()
		more, changed := tp.events[sent:], tp.changed
		tp.mu.Unlock()
		for _, e := range more {
			fmt.Fprintf(w, "tag: x\ndata: %s\n\n", e)
		}
		sent += len(more)
		flush.Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (tp *tape) recordStream(w io.Writer, r *http.Request, flush http.Flusher) {
	req, _ := http.NewRequestWithContext(r.Context(), http.MethodGet, tp.real+"/events", nil)
	req.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		tp.mu.Lock()
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && len(tp.rec.Exchanges) > 0 {
			last := &tp.rec.Exchanges[len(tp.rec.Exchanges)-1]
			last.Events = append(last.Events, data)
		}
		tp.mu.Unlock()
		_, _ = io.WriteString(w, line)
		flush.Flush()
	}
}

// session runs the jobs of a recording and returns what came of them.
func session(t *testing.T, url string, base string) string {
	t.Helper()
	var n atomic.Int64
	next := func() string { return fmt.Sprintf("%s%06d", base, n.Add(1)) }
	c := conf(t, url)
	c.EAuth, c.User, c.Password = "sharedsecret", "recorded", "recorded"
	var out bytes.Buffer
	// What one job found out about targets does not hold for the next one, however
	// fast they are.
	var clock atomic.Int64
	clock.Store(time.Now().UnixNano())
	p, err := saltapi.New(saltapi.Options{Config: c, NewJID: next, Gather: time.Minute, Now: func() time.Time { return time.Unix(0, clock.Load()) }, Warn: func(text string) { fmt.Fprintln(&out, "warning:", text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := &fleet.Fleet{Providers: []fleet.Provider{p}, NewJID: next, Timeout: time.Hour, Gather: time.Minute}
	kw := value.MapOf
	list := func(v ...value.Value) []value.Value { return v }
	for _, job := range []fun.Job{
		{Tgt: "*", Fun: "test.ping"},
		{Tgt: "role:web", TgtType: "grain", Fun: "test.echo", Args: fun.Args{Pos: list("hi")}},
		{Tgt: "min1,min3,ghost", TgtType: "list", Fun: "test.arg", Args: fun.Args{Pos: list("a", int64(1)), Kw: kw("b", value.NewList(true))}},
		{Tgt: "min1", Fun: "state.sls", Args: fun.Args{Pos: list("hello"), Kw: kw("pillar", kw("word", "recorded"))}},
		{Tgt: "min1", Fun: "state.sls", Args: fun.Args{Pos: list("bad"), Kw: kw("test", true)}},
		{Tgt: "min2", Fun: "cmd.run", Args: fun.Args{Pos: list("echo out; exit 3")}},
		{Tgt: "min2", Fun: "no.such"},
		{Tgt: "min2", Shell: "echo raw; exit 4"},
		{Tgt: "min3", Fun: "test.ping,test.echo", Args: fun.Args{Pos: list(value.NewList(), value.NewList("two"))}},
		{Tgt: "nobody*", Fun: "test.ping"},
	} {
		if job.Args.Kw == nil {
			job.Args.Kw = value.NewMap(0)
		}
		clock.Add(int64(time.Minute))
		var rets []string
		if _, err := f.Run(t.Context(), job, func(ret fun.Return) error {
			rets = append(rets, steady(show(ret)))
			return nil
		}); err != nil {
			fmt.Fprintln(&out, "error:", err)
		}
		sort.Strings(rets)
		fmt.Fprintf(&out, "%v %s%s\n\t%s\n", job.Tgt, job.Fun, job.Shell, strings.Join(rets, "\n\t"))
	}
	for _, name := range []string{"test.arg", "no.such"} {
		v, _, ok, err := f.CallMaster(t.Context(), "lab", fun.Runner, name, fun.Args{Pos: list("x"), Kw: kw("y", int64(2))})
		fmt.Fprintf(&out, "runner %s: %s %t %v\n", name, firstLine(v), ok, err != nil)
	}
	v, _, ok, err := f.CallMaster(t.Context(), "lab", fun.Wheel, "key.list", fun.Args{Kw: kw("match", "accepted")})
	fmt.Fprintf(&out, "wheel key.list: %s %t %v\n", value.Str(v), ok, err)
	return strings.ReplaceAll(out.String(), url, "URL")
}

func firstLine(v value.Value) string {
	line, _, _ := strings.Cut(value.Str(v), "\n")
	return line
}

// steady takes out of returns of states what differs between runs: for records.
func steady(s string) string {
	for _, key := range []string{"'start_time': ", "'duration': "} {
		parts := strings.Split(s, key)
		for i := range parts[1:] {
			at := strings.IndexAny(parts[i+1], ",}")
			parts[i+1] = "..." + parts[i+1][at:]
		}
		s = strings.Join(parts, key)
	}
	return s
}

// What real masters answer is understood: by rest_cherrypy and rest_tornado.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cherrypy", "tornado"} {
		path := filepath.Join("testdata", name+".json")
		want := filepath.Join("testdata", name+".txt")
		if *record != "" {
			for part := range strings.SplitSeq(*record, ",") {
				if real, ok := strings.CutPrefix(part, name+"="); ok {
					keep(t, real, path, want)
				}
			}
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tp := newTape("")
		if err := json.Unmarshal(b, &tp.rec); err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(tp)
		got := session(t, srv.URL, tp.rec.Base)
		srv.CloseClientConnections()
		srv.Close()
		if b, err = os.ReadFile(want); err != nil || got != string(b) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, b)
		}
	}
}

// keep records a session.
func keep(t *testing.T, real, path, want string) {
	t.Helper()
	base := time.Now().UTC().Format("20060102150405")
	tp := newTape(real)
	tp.rec.Base = base
	srv := httptest.NewServer(tp)
	got := session(t, srv.URL, base)
	time.Sleep(2 * time.Second) // further events
	srv.CloseClientConnections()
	srv.Close()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	b, err := json.MarshalIndent(tp.rec, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string][]byte{path: append(b, '\n'), want: []byte(got)} {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
