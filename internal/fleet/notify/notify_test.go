package notify_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"brine/internal/fleet/migration"
	"brine/internal/fleet/notify"
	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

// parse reads destinations of YAML.
func parse(t *testing.T, text string) (*notify.Destinations, error) {
	t.Helper()
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: "master"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return notify.Parse(v, os.ReadFile)
}

// parsed is parse for what must be right.
func parsed(t *testing.T, text string) *notify.Destinations {
	t.Helper()
	x, err := parse(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// open returns the notices in a file.
func open(t *testing.T, path string) *notify.Store {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	s := notify.New(db, migration.SQLite, db.Close)
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// add stores the notices of a message, and returns how many there are.
func add(t *testing.T, s *notify.Store, x *notify.Destinations, m notify.Message, now time.Time) int {
	t.Helper()
	all := x.For(m, nil, now)
	for _, n := range all {
		row, err := n.Row()
		if err == nil {
			err = s.Return(t.Context(), []*value.Map{row, row})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return len(all)
}

// one returns the only notice.
func one(t *testing.T, s *notify.Store) notify.Notice {
	t.Helper()
	all, err := s.List(t.Context(), "", 10)
	if err != nil || len(all) != 1 {
		t.Fatalf("List = %v, %v, want one notice", all, err)
	}
	return all[0]
}

var (
	start  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	failed = notify.Message{Event: notify.Failed, Kind: "chain", Name: "deploy", JID: "20261129120000000000", Step: "reboot web", Cause: "web1: E: no such package"}
)

// A clock is a time that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return start.Add(time.Duration(c.at.Load())) }
func (c *clock) forward(d time.Duration) { c.at.Add(int64(d)) }

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a]":                                    "notify must be a mapping of destinations, not a list",
		"{a: 1}":                                 "master:1:2: notify: a: it must be a mapping with the key kind",
		"{a b: {kind: slack, url: 'https://x'}}": "letters, digits, _ and - can be in the name",
		"{a: {kind: slak, url: 'https://x'}}":    `kind: "slak" is none of mail, matrix, slack, webhook (did you mean "slack"?)`,
		"{a: {kind: slack, url: x}}":             "url: it is not an address such as https://",
		"{a: {kind: slack, urll: x}}":            `unknown key "urll" (did you mean "url"?)`,
		"{a: {kind: webhook, url: 'https://x', events: [faild]}}":          `events: "faild" is none of drift, failed, interrupted, succeeded, waiting (did you mean "failed"?)`,
		"{a: {kind: webhook, url: 'https://x', runs: ['[']}}":              `runs: "[" is not a glob`,
		"{a: {kind: webhook, url: 'https://x', allow_private: [ten]}}":     `allow_private: "ten" is not an address or a network`,
		"{a: {kind: webhook, url: {file: /nonexistent}}}":                  "url: open /nonexistent",
		"{a: {kind: webhook, url: 'https://x', headers: {X: {fil: y}}}}":   "X must be a string or {file: PATH}",
		"{a: {kind: webhook, url: 'https://x', headers: {X: \"a\\nb\"}}}":  `headers: "X" is not a header`,
		"{a: {kind: matrix, url: 'https://x', room: room, token: secret}}": `room: "room" is not the ID of a room`,
		"{a: {kind: matrix, url: 'https://x', room: '!r:x'}}":              "token: it is missing",
		"{a: {kind: mail, server: s, from: me@x, to: []}}":                 "to: give at least one address",
		"{a: {kind: mail, server: s, from: nobody, to: [a@b]}}":            `from, to: "nobody" is not an address of mail`,
		"{a: {kind: mail, server: s, tls: maybe, from: me@x, to: [a@b]}}":  `tls: "maybe" is neither starttls nor none`,
		"{a: {kind: mail, server: s, user: me, from: me@x, to: [a@b]}}":    "password: it is missing",
		"{a: {kind: webhook, url: 'https://x', key: ''}}":                  "key: it is missing",
	} {
		if _, err := parse(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := parse(t, "{a: {kind: slack, url: 'htp://h/geheim'}}"); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a wrong address is shown: %v", err)
	}
	if err := parsed(t, "{ops: {kind: slack, url: 'https://x'}}").CheckNames([]string{"opps"}); err == nil || !strings.Contains(err.Error(), `(did you mean "ops"?)`) {
		t.Errorf("CheckNames = %v", err)
	}
}

func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	x := parsed(t, `
all: {kind: slack, url: 'https://a'}
chains: {kind: slack, url: 'https://b', runs: ['chain/dep*'], events: failed}
named: {kind: slack, url: 'https://c', runs: []}
good: {kind: slack, url: 'https://d', events: [succeeded]}
`)
	for _, tt := range []struct {
		event, kind, name string
		named             []string
		want              string
	}{
		{notify.Failed, "chain", "deploy", nil, "all chains"},
		{notify.Failed, "chain", "other", []string{"named"}, "all named"},
		{notify.Failed, "orchestration", "orch.a/b", nil, "all"},
		{notify.Interrupted, "chain", "deploy", []string{"chains"}, "all"},
		{notify.Succeeded, "chain", "deploy", []string{"named"}, "good"},
	} {
		var got []string
		for _, n := range x.For(notify.Message{Event: tt.event, Kind: tt.kind, Name: tt.name}, tt.named, start) {
			got = append(got, n.Destination)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s of %s/%s: %q, want %q", tt.event, tt.kind, tt.name, s, tt.want)
		}
	}
}

// A receiver keeps requests.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*http.Request
	bodies []string
	answer atomic.Int64
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.answer.Store(http.StatusOK)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got, r.bodies = append(r.got, q), append(r.bodies, string(body))
		r.mu.Unlock()
		w.WriteHeader(int(r.answer.Load()))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := parsed(t, "{hook: {kind: webhook, url: '"+r.URL+"/x', key: {file: "+key+"}, headers: {X-Token: abcdef}, link: 'https://brine.example.com/', allow_private: 127.0.0.1}}")
	s, c := open(t, filepath.Join(t.TempDir(), "n.db")), &clock{}
	if n := add(t, s, x, failed, start); n != 1 {
		t.Fatalf("%d notices", n)
	}
	if err := s.Deliver(t.Context(), x, c.now, nil); err != nil {
		t.Fatal(err)
	}
	if r.count() != 1 {
		t.Fatalf("%d requests", r.count())
	}
	q, body := r.got[0], r.bodies[0]
	var m notify.Message
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Cause != failed.Cause || m.Link != "https://brine.example.com/history/"+failed.JID || m.Version != 1 {
		t.Errorf("body %s, %v", body, err)
	}
	if want := notify.Sign("geheim", q.Header.Get(notify.TimestampHeader), []byte(body)); q.Header.Get(notify.SignatureHeader) != want {
		t.Errorf("signature %s, want %s", q.Header.Get(notify.SignatureHeader), want)
	}
	if n := one(t, s); n.State != notify.Delivered || n.ID != q.Header.Get(notify.DeliveryHeader) || q.Header.Get("X-Token") != "abcdef" || q.Header.Get(notify.EventHeader) != "failed" {
		t.Errorf("%+v, headers %v", n, q.Header)
	}
	if err := s.Deliver(t.Context(), x, c.now, nil); err != nil || r.count() != 1 {
		t.Errorf("it is sent again: %d requests, %v", r.count(), err)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	x := parsed(t, `
chat: {kind: slack, url: '`+r.URL+`/services/T/B', allow_private: [127.0.0.0/8]}
room: {kind: matrix, url: '`+r.URL+`', room: '!a/b:example.org', token: geheim, allow_private: [127.0.0.0/8]}
`)
	loud := failed
	loud.Cause = "web1: <!channel> a & b @room"
	for _, n := range x.For(loud, nil, start) {
		if err := x.Find(n.Destination).Send(t.Context(), &n, start); err != nil {
			t.Fatal(err)
		}
		q, body := r.got[len(r.got)-1], r.bodies[len(r.bodies)-1]
		field, want, cause := "text", "POST /services/T/B", "web1: &lt;!channel&gt; a &amp; b @room"
		if n.Destination == "room" {
			if cause = loud.Cause; !strings.Contains(body, `"m.mentions":{}`) {
				t.Errorf("the message calls people: %s", body)
			}
			field, want = "body", "PUT /_matrix/client/v3/rooms/%21a%2Fb:example.org/send/m.room.message/"+n.ID
			if q.Header.Get("Authorization") != "Bearer geheim" {
				t.Errorf("headers %v", q.Header)
			}
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(body), &m); err != nil || !strings.HasPrefix(fmt.Sprint(m[field]), "chain deploy: failed\nstep: reboot web\ncause: "+cause+"\n") {
			t.Errorf("%s: %s", n.Destination, body)
		}
		if got := q.Method + " " + q.RequestURI; got != want {
			t.Errorf("%s: %s, want %s", n.Destination, got, want)
		}
	}
}

// TestRetries has what does not arrive tried again with growing pauses, also by another
// process, and given up in the end.
func TestRetries(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.answer.Store(http.StatusServiceUnavailable)
	x := parsed(t, "{hook: {kind: webhook, url: '"+r.URL+"', allow_private: 127.0.0.1}}")
	path, c := filepath.Join(t.TempDir(), "n.db"), &clock{}
	s := open(t, path)
	add(t, s, x, failed, start)
	var last time.Duration
	for try := 1; try <= 8; try++ {
		if err := s.Deliver(t.Context(), x, c.now, nil); err != nil {
			t.Fatal(err)
		}
		n := one(t, s)
		pause := n.Due.Sub(c.now())
		if n.State != notify.Pending || n.Tries != try || r.count() != try || n.Error != "the answer is 503 Service Unavailable" || pause < last || pause > time.Hour {
			t.Fatalf("after attempt %d: %+v, %d requests, pause %s after %s", try, n, r.count(), pause, last)
		}
		last = pause
		if err := s.Deliver(t.Context(), x, c.now, nil); err != nil || r.count() != try {
			t.Fatalf("it did not wait: %d requests, %v", r.count(), err)
		}
		c.forward(pause)
		_ = s.Close()
		s = open(t, path) // as after a restart
	}
	if last != time.Hour {
		t.Errorf("the last pause is %s", last)
	}
	for range 40 {
		if err := s.Deliver(t.Context(), x, c.now, nil); err != nil {
			t.Fatal(err)
		}
		c.forward(time.Hour)
	}
	n := one(t, s)
	if n.State != notify.GivenUp || n.Tries != r.count() {
		t.Errorf("in the end: %+v, %d requests", n, r.count())
	}
	r.answer.Store(http.StatusNoContent)
	if err := errors.Join(s.Retry(t.Context(), n.ID, c.now()), s.Deliver(t.Context(), x, c.now, nil)); err != nil {
		t.Fatal(err)
	}
	if n := one(t, s); n.State != notify.Delivered {
		t.Errorf("after a retry: %+v", n)
	}
	if err := s.Retry(t.Context(), n.ID, c.now()); !errors.Is(err, notify.ErrNone) {
		t.Errorf("Retry of what arrived = %v", err)
	}
}

// TestManySenders has each notice sent once, however many processes send.
func TestManySenders(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	x := parsed(t, "{hook: {kind: webhook, url: '"+r.URL+"', allow_private: 127.0.0.1}}")
	path, c := filepath.Join(t.TempDir(), "n.db"), &clock{}
	first := open(t, path)
	const notices = 20
	for i := range notices {
		m := failed
		m.Done = i + 1
		add(t, first, x, m, start)
	}
	var wg sync.WaitGroup
	for range 4 {
		s := open(t, path)
		wg.Go(func() {
			if err := s.Deliver(context.Background(), x, c.now, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r.count() != notices {
		t.Errorf("%d requests for %d notices", r.count(), notices)
	}
}

func TestPermanent(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.answer.Store(http.StatusNotFound)
	x := parsed(t, "{hook: {kind: webhook, url: '"+r.URL+"', allow_private: 127.0.0.1}}")
	s, c := open(t, filepath.Join(t.TempDir(), "n.db")), &clock{}
	add(t, s, x, failed, start)
	for range 2 {
		if err := s.Deliver(t.Context(), x, c.now, nil); err != nil {
			t.Fatal(err)
		}
		c.forward(48 * time.Hour)
	}
	if n := one(t, s); n.State != notify.GivenUp || r.count() != 1 || n.Error != "the answer is 404 Not Found" {
		t.Errorf("%+v, %d requests", n, r.count())
	}
	add(t, s, x, notify.Message{Event: notify.Failed, Kind: "chain", Name: "x"}, c.now())
	if err := s.Deliver(t.Context(), &notify.Destinations{}, c.now, nil); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(t.Context(), notify.GivenUp, 10)
	if err != nil || len(all) != 2 || !strings.Contains(all[0].Error, "no destination of this name") {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAddressesHostile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		addr string
		ok   bool
	}{
		{"8.8.8.8", true},
		{"2606:4700::1111", true},
		{"64:ff9b::808:808", true},
		{"127.0.0.1", false},
		{"127.8.8.8", false},
		{"::1", false},
		{"0.0.0.0", false},
		{"::", false},
		{"10.1.2.3", false},
		{"172.16.0.1", false},
		{"192.168.1.1", false},
		{"169.254.169.254", false},
		{"fe80::1%eth0", false},
		{"fd00::1", false},
		{"100.64.0.1", false},
		{"0.1.2.3", false},
		{"198.18.0.1", false},
		{"224.0.0.1", false},
		{"255.255.255.255", false},
		{"240.0.0.1", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:10.0.0.1", false},
		{"::127.0.0.1", false},
		{"64:ff9b::7f00:1", false},
		{"64:ff9b:1::1", false},
		{"2002:7f00:1::", false},
		{"2002:a9fe:a9fe::1", false},
		{"fec0::1", false},
		{"ff02::1", false},
		{"2001::1", false},
		{"2001:db8::1", false},
	} {
		g := notify.Guard{}
		if err := g.Check(netip.MustParseAddr(tt.addr)); (err == nil) != tt.ok {
			t.Errorf("Check(%s) = %v", tt.addr, err)
		}
		g.Clear = true
		if g.Check(netip.MustParseAddr(tt.addr)) == nil {
			t.Errorf("%s gets secrets in the clear", tt.addr)
		}
		g.Private = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		if ok := strings.HasSuffix(tt.addr, "10.1.2.3") || strings.HasSuffix(tt.addr, "ffff:10.0.0.1"); (g.Check(netip.MustParseAddr(tt.addr)) == nil) != ok {
			t.Errorf("allow_private 10.0.0.0/8 and %s", tt.addr)
		}
	}
}

// TestDialHostile has names and redirects that lead to this machine: nothing is connected
// to, whatever the name was when it was configured.
func TestDialHostile(t *testing.T) {
	t.Parallel()
	inside := newReceiver(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inside.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{inside.URL, "http://localhost:" + port, "https://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		d := parsed(t, "{hook: {kind: webhook, url: '"+to+"'}}").Find("hook")
		n := parsed(t, "{hook: {kind: webhook, url: '"+to+"'}}").For(failed, nil, start)[0]
		if err := d.Send(t.Context(), &n, start); err == nil || !strings.Contains(err.Error(), "allow_private permits it") {
			t.Errorf("%s: %v", to, err)
		}
	}
	redirecting := httptest.NewServer(http.RedirectHandler(inside.URL+"/inside", http.StatusTemporaryRedirect))
	defer redirecting.Close()
	x := parsed(t, "{hook: {kind: webhook, url: '"+redirecting.URL+"/geheim', allow_private: 127.0.0.1}}")
	n := x.For(failed, nil, start)[0]
	if err := x.Find("hook").Send(t.Context(), &n, start); err == nil || !strings.Contains(err.Error(), "redirects to another address") || strings.Contains(err.Error(), "geheim") {
		t.Errorf("redirect: %v", err)
	}
	if inside.count() != 0 {
		t.Errorf("%d requests reached this machine", inside.count())
	}
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := "http://user:geheim@" + l.Addr().String() + "/geheim?token=geheim"
	_ = l.Close()
	x := parsed(t, "{hook: {kind: webhook, url: '"+to+"', allow_private: 127.0.0.1}}")
	n := x.For(failed, nil, start)[0]
	if err := x.Find("hook").Send(t.Context(), &n, start); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("Send = %v", err)
	}
	if w := x.Find("hook").Where(); strings.Contains(w, "geheim") {
		t.Errorf("Where = %s", w)
	}
}

// A smtpd is a mail server that takes one mail.
type smtpd struct {
	addr string
	mail chan string
	tls  bool // the mail came over TLS
}

// newSMTPD returns a mail server; with a certificate, it offers STARTTLS.
func newSMTPD(t *testing.T, cert *tls.Certificate) *smtpd {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &smtpd{addr: l.Addr().String(), mail: make(chan string, 1)}
	go func() {
		defer close(s.mail)
		if conn, err := l.Accept(); err == nil {
			s.serve(conn, cert)
		}
	}()
	return s
}

func (s *smtpd) serve(conn net.Conn, cert *tls.Certificate) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	say("220 test")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.TrimSpace(line), " "); verb {
		case "EHLO":
			if cert != nil && !s.tls {
				say("250-test")
				say("250 STARTTLS")
				continue
			}
			say("250 test")
		case "STARTTLS":
			if cert == nil {
				say("502 not here")
				continue
			}
			say("220 go on")
			secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12})
			conn, r, s.tls = secure, bufio.NewReader(secure), true
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for line := ""; line != ".\r\n"; b.WriteString(line) {
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
			}
			s.mail <- b.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func TestMail(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, more string
		offers     bool // STARTTLS
		want       string
	}{
		{"starttls", "ca: " + ca + ", allow_private: 127.0.0.1", true, ""},
		{"unknown authority", "allow_private: 127.0.0.1", true, "certificate"},
		{"no starttls", "allow_private: 127.0.0.1", false, `502 "not here"`},
		{"in the clear", "tls: none, allow_private: 127.0.0.1", false, ""},
		{"not permitted", "tls: none", false, "allow_private permits it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var cert *tls.Certificate
			if tt.offers {
				cert = &web.TLS.Certificates[0]
			}
			s := newSMTPD(t, cert)
			x := parsed(t, "{m: {kind: mail, server: '"+s.addr+"', from: brine@example.org, to: [ops@example.org], "+tt.more+"}}")
			n := x.For(failed, nil, start)[0]
			err := x.Find("m").Send(t.Context(), &n, start)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Send = %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := <-s.mail; !strings.Contains(got, "Subject: brine: chain deploy: failed\r\n") || !strings.Contains(got, "cause: web1: E: no such package") || s.tls != tt.offers {
				t.Errorf("over TLS %v:\n%s", s.tls, got)
			}
		})
	}
}
