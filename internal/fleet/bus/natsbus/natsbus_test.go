package natsbus

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"brine/internal/core/event"
	"brine/internal/fleet/bus"
	"brine/internal/fleet/returner/tlsconf"
	"brine/internal/py/value"
	"brine/internal/testkit/bustest"
	"brine/internal/testkit/natstest"
	"brine/internal/testkit/servertest"
)

// join has a controller on the bus of a server.
func join(t *testing.T, o Options, tags ...string) *bustest.Controller {
	t.Helper()
	o.Prefix = "brine"
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return bustest.Join(t, func(b bus.Options) (*bus.Bus, error) { return bus.Open(t.Context(), l, b), nil }, o.From, tags...)
}

// Controllers and other programs hear each other; what is not a valid event is
// ignored, and nothing that came from elsewhere is sent again.
func TestBus(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	a, same := join(t, Options{URL: srv.URL(), From: "a"}), join(t, Options{URL: srv.URL(), From: "a"})
	b := join(t, Options{URL: srv.URL(), From: "b"}, "deploy/*", "end")
	a.Ring.Fire("other", nil)
	a.Ring.FireForeign("deploy/foreign", nil)
	a.Ring.FireRemote("deploy/remote", nil, time.Time{})
	const odd = "é ' \\ \x00 \U0001f9c2"
	a.Ring.Fire("deploy/a.b c*", value.MapOf("text", odd))
	a.Ring.Fire("deploy/large", value.MapOf("text", strings.Repeat("x", 1_000_000)))
	a.Ring.Fire("deploy/huge", value.MapOf("text", strings.Repeat("x", bus.MaxEvent)))
	a.Ring.Fire("deploy/"+strings.Repeat("long", 5000), nil)
	a.Ring.Fire("end", nil)
	b.Hears(t, "end")
	if got := b.Heard(t); got != "deploy/a.b c* deploy/large end" {
		t.Errorf("b heard %s\n%s", got, a.Warnings())
	}
	if got := b.Hears(t, "deploy/a.b c*").Data.Str("text"); got != odd {
		t.Errorf("the text came as %q", got)
	}
	if got := a.Warnings(); !strings.Contains(got, "deploy/huge has 10") || strings.Contains(got, "\n") {
		t.Errorf("warnings: %q", got)
	}

	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("brine.deploy.>")
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Ring.Fire("deploy/back", value.MapOf("n", int64(1)))
	a.Hears(t, "deploy/back")
	same.Hears(t, "deploy/back")
	if got := a.Heard(t) + " " + same.Heard(t); got != "deploy/remote deploy/back deploy/back" {
		t.Errorf("a and its neighbour heard %s: they hear each other without the bus", got)
	}
	m, err := sub.NextMsg(time.Minute)
	if err != nil || m.Subject != "brine.deploy.back" || !strings.Contains(string(m.Data), `"n": 1`) {
		t.Errorf("another program got %v, %v", m, err)
	}
	for subject, bodies := range map[string][]string{
		"brine.deploy.bad": {"{", "[]", "1", "nope", strings.Repeat("[", 100_000), `{"a": ` + strings.Repeat("[", 100_000)},
		"brine.deploy.%1B": {"{}"},
		"brine.deploy.%2e": {"{}"},
		"brine.deploy." + strings.Repeat("long", 500): {"{}"},
		"deploy.bad": {"{}"},
	} {
		for _, body := range bodies {
			if err := nc.Publish(subject, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := nc.PublishMsg(&nats.Msg{Subject: "brine.deploy.bad", Header: nats.Header{fromHeader: {"b"}}}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("brine.deploy.program", []byte(`{"n": 1}`)); err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("brine.deploy.bare", nil); err != nil {
		t.Fatal(err)
	}
	if e := b.Hears(t, "deploy/program"); value.Repr(e.Data.At("n")) != "1" {
		t.Errorf("the event of another program has %s", value.Repr(e.Data))
	}
	b.Hears(t, "deploy/bare")
	if got := b.Heard(t); got != "deploy/a.b c* deploy/large end deploy/program deploy/bare" {
		t.Errorf("b heard %s", got)
	}
}

// A server that is away costs events and one warning of each kind; a run connects
// again by itself, and may begin before the server does.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	a, b := join(t, Options{URL: srv.URL(), From: "a"}), join(t, Options{URL: srv.URL(), From: "b"})
	url := srv.URL()
	srv.Stop()
	b.Says(t, "events of other controllers do not arrive")
	a.Says(t, "events of other controllers do not arrive")
	a.Ring.Fire("lost", nil)
	a.Says(t, "do not get the events")
	late := join(t, Options{URL: url, From: "c"})
	if got := late.Warnings(); !strings.Contains(got, "do not arrive") {
		t.Errorf("without a server: %q", got)
	}
	srv.Again(t)
	b.HearsAgain(t, a, "again")
	b.HearsAgain(t, late, "late")
	if got := b.Warnings(); strings.Contains(got, "\n") {
		t.Errorf("b warned %q, want one line", got)
	}
	if got := b.Heard(t); strings.Contains(got, "lost") {
		t.Errorf("b heard %s", got)
	}
}

// With a stream, a controller takes after an interruption what it missed, once, and
// nothing that was fired before it began.
func TestStreamKeepsEvents(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, func(o *server.Options) { o.JetStream = true })
	nc, err := nats.Connect(srv.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	none := join(t, Options{URL: srv.URL(), From: "n", Stream: "BRINE"})
	if got := none.Warnings(); !strings.Contains(got, "stream not found: an administrator") {
		t.Errorf("without a stream: %q", got)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BRINE", Subjects: []string{"brine.>"}}); err != nil {
		t.Fatal(err)
	}
	put := func(subject string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err := js.Publish(ctx, subject, nil)
			cancel()
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	put("brine.before")
	b := join(t, Options{URL: srv.URL(), From: "b", Stream: "BRINE"})
	put("brine.first")
	b.Hears(t, "first")
	srv.Stop()
	b.Says(t, "do not arrive")
	srv.Again(t)
	put("brine.missed") // before or after b is connected again: it hears it
	b.Hears(t, "missed")
	a := join(t, Options{URL: srv.URL(), From: "a", Stream: "BRINE"})
	put("brine.both") // without a time: all who hear it have that of the stream
	inA, inB := a.Hears(t, "both"), b.Hears(t, "both")
	if inA.Unstamped || inA.Data.Str("_stamp") == "" || inA.Data.Str("_stamp") != inB.Data.Str("_stamp") {
		t.Errorf("one event is %s and %s", value.Repr(inA.Data), value.Repr(inB.Data))
	}
	if !inA.Stamp.Equal(inB.Stamp) || inA.Stamp.UTC().Format(event.StampFormat) != inA.Data.Str("_stamp") {
		t.Errorf("one event was stored %v and %v, by the clock of the stream %s", inA.Stamp, inB.Stamp, inA.Data.Str("_stamp"))
	}
	a.Ring.Fire("last", value.MapOf("n", int64(1)))
	b.Hears(t, "last")
	if got := b.Heard(t); got != "first missed both last" {
		t.Errorf("b heard %s\n%s", got, b.Warnings())
	}
	if got := a.Warnings(); got != "" {
		t.Errorf("a warned %q", got)
	}
}

// Whoever may log in, does, by TLS if that is wanted; the others are told why not, and
// never what their secret is.
func TestLogin(t *testing.T) {
	t.Parallel()
	ca, dir := servertest.NewCA(t), t.TempDir()
	cert, key := ca.Issue(t, dir, "server", "127.0.0.1")
	serverTLS, err := tlsconf.Files{CA: ca.File, Cert: cert, Key: key}.Config("")
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := tlsconf.Files{CA: ca.File}.Config("")
	if err != nil {
		t.Fatal(err)
	}
	strange, err := tlsconf.Files{CA: servertest.NewCA(t).File}.Config("")
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := user.Seed()
	public, _ := user.PublicKey()
	clear := natstest.Start(t, func(o *server.Options) {
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
		o.Users = []*server.User{{Username: "zoe", Password: "s3cret"}}
	})
	tls := natstest.Start(t, func(o *server.Options) { o.TLSConfig, o.Authorization = serverTLS, "t0ken" })
	for name, tt := range map[string]struct {
		o    Options
		want string // "": it works
	}{
		"password":          {o: Options{URL: clear.URL(), User: "zoe", Password: "s3cret"}},
		"nkey":              {o: Options{URL: clear.URL(), NKey: seed}},
		"token over TLS":    {o: Options{URL: tls.URL(), Token: "t0ken", TLS: trusted}},
		"wrong password":    {o: Options{URL: clear.URL(), User: "zoe", Password: "wr0ng"}, want: "Authorization Violation"},
		"nobody":            {o: Options{URL: clear.URL()}, want: "Authorization Violation"},
		"a server in clear": {o: Options{URL: clear.URL(), User: "zoe", Password: "s3cret", TLS: trusted}, want: "tls: False in event_bus"},
		"another CA":        {o: Options{URL: tls.URL(), Token: "t0ken", TLS: strange}, want: "certificate signed by unknown authority"},
	} {
		tt.o.From = name
		c := join(t, tt.o)
		if got := c.Warnings(); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := c.Warnings(); strings.Contains(got, "s3cret") || strings.Contains(got, "wr0ng") || strings.Contains(got, "t0ken") {
			t.Errorf("%s: the warning has the secret: %q", name, got)
		}
		if tt.want == "" {
			other := join(t, Options{URL: tt.o.URL, From: "other", User: tt.o.User, Password: tt.o.Password, NKey: tt.o.NKey, Token: tt.o.Token, TLS: tt.o.TLS})
			c.Ring.Fire("in", nil)
			other.Hears(t, "in")
		}
	}
}

// Files that are no credentials are faults, whose text does not have them.
func TestNoCredentials(t *testing.T) {
	t.Parallel()
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := account.Seed()
	for name, o := range map[string]Options{
		"nkey: the file has no seed":                          {NKey: []byte("s3cret")},
		"nkey: the seed is not that of a user":                {NKey: seed},
		"credentials: the file has no JWT and seed of a user": {Credentials: []byte("-----BEGIN NATS USER JWT-----\ns3cret\n------END NATS USER JWT------\n")},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that ends has sent its last events.
func TestClose(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	b := join(t, Options{URL: srv.URL(), From: "b"})
	a := join(t, Options{URL: srv.URL(), From: "a"})
	for range 1000 {
		a.Ring.Fire("some", nil)
	}
	a.Ring.Fire("last", nil)
	a.Close()
	b.Hears(t, "last")
	if got := strings.Count(b.Heard(t), "some"); got != 1000 {
		t.Errorf("b heard %d of 1000", got)
	}
}

// What a stream has stored since a time can be read, in its order and to its end.
func TestHistory(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, func(o *server.Options) { o.JetStream, o.StoreDir = true, t.TempDir() })
	l, err := New(Options{URL: srv.URL(), Prefix: "brine", Stream: "BRINE", From: "a"})
	if err != nil {
		t.Fatal(err)
	}
	read := func(since time.Time, most int) (got []string) {
		t.Helper()
		if err := l.History(t.Context(), since, func(e event.Event) bool {
			got = append(got, e.Tag)
			if !e.Data.Has("_stamp") {
				t.Errorf("%s has no time", e.Tag)
			}
			return len(got) < most
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if err := l.History(t.Context(), time.Now(), nil); err == nil || !strings.Contains(err.Error(), "makes the stream that event_bus names") {
		t.Errorf("without a stream: %v", err)
	}
	if at, err := l.Now(t.Context()); err == nil || !strings.Contains(err.Error(), "makes the stream that event_bus names") {
		t.Errorf("the time without a stream: %v, %v", at, err)
	}
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BRINE", Subjects: []string{"brine.>", "other"}}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now().Add(-time.Minute)
	if got := read(begin, 9); got != nil {
		t.Errorf("an empty stream has %v", got)
	}
	if at, err := l.Now(t.Context()); err != nil || at.Before(begin) || time.Since(at) < 0 {
		t.Errorf("the time of the stream is %v, %v", at, err)
	}
	for _, m := range [][2]string{{"brine.a", `{"n": 1}`}, {"brine.bad", "{"}, {"brine.b.c", ""}, {"brine.%1B", "{}"}, {"brine.d", `{"_stamp": "2026-11-29T10:00:00.000000"}`}, {"other", "x"}} {
		if _, err := js.Publish(t.Context(), m[0], []byte(m[1])); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(read(begin, 9), " "); got != "a b/c d" {
		t.Errorf("the stream has %s", got)
	}
	if got := strings.Join(read(begin, 2), " "); got != "a b/c" {
		t.Errorf("the first two are %s", got)
	}
	if got := read(time.Now().Add(time.Hour), 9); got != nil {
		t.Errorf("events to come: %v", got)
	}
}

// TestHistoryIsCut: a server that ends, or does not answer for a while, while a stream is read is not
// the end of the stream.
func TestHistoryIsCut(t *testing.T) {
	t.Parallel()
	const events = 1000
	srv := natstest.Start(t, func(o *server.Options) { o.JetStream, o.StoreDir = true, t.TempDir() })
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "BRINE", Subjects: []string{"brine.>"}}); err != nil {
		t.Fatal(err)
	}
	for range events {
		if _, err := js.PublishAsync("brine.a", nil); err != nil {
			t.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	for _, at := range []int{1, events / 2} {
		l, err := New(Options{URL: srv.URL(), Prefix: "brine", Stream: "BRINE", From: "a"})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = l.History(t.Context(), time.Now().Add(-time.Hour), func(event.Event) bool {
			if n++; n == at {
				srv.Stop()
			}
			return true
		})
		if err == nil && n < events {
			t.Errorf("the server ended after %d events, and %d of %d were all", at, n, events)
		}
		srv.Again(t)
		n = 0
		if err := l.History(t.Context(), time.Now().Add(-time.Hour), func(event.Event) bool { n++; return true }); err != nil || n != events {
			t.Errorf("%d of %d events were read, %v", n, events, err)
		}
	}
}
