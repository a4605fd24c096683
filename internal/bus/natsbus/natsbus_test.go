package natsbus

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"brine/internal/bus"
	"brine/internal/event"
	"brine/internal/returner/tlsconf"
	"brine/internal/testkit/natstest"
	"brine/internal/testkit/servertest"
	"brine/internal/value"
)

// A controller has a bus of its own.
type controller struct {
	*bus.Bus
	ring *event.Ring

	mu   sync.Mutex
	said []string
}

func join(t *testing.T, o Options, tags ...string) *controller {
	t.Helper()
	o.Prefix = "brine"
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c := &controller{ring: event.NewRing(0, time.Now)}
	c.Bus = bus.Open(t.Context(), l, bus.Options{From: o.From, Tags: tags, Fire: c.ring.FireRemote, Warn: func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said = append(c.said, err.Error())
	}})
	c.ring.Tap(c.Send)
	t.Cleanup(c.Close)
	return c
}

func (c *controller) warnings() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// hears waits for an event from elsewhere.
func (c *controller) hears(t *testing.T, tag string) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, _, err := c.ring.Next(ctx, 0, func(e event.Event) bool { return e.Remote && e.Tag == tag })
	if err != nil {
		t.Fatalf("no event %s: %v\n%s", tag, err, c.warnings())
	}
	return e
}

// heard lists the tags that came from others.
func (c *controller) heard(t *testing.T) string {
	t.Helper()
	var tags []string
	for after := uint64(0); after < c.ring.Seq(); {
		e, _, err := c.ring.Next(t.Context(), after, nil)
		if err != nil {
			t.Fatal(err)
		}
		after = e.Seq
		if e.Remote {
			tags = append(tags, e.Tag)
		}
	}
	return strings.Join(tags, " ")
}

// says waits for a warning.
func (c *controller) says(t *testing.T, part string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(c.warnings(), part); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no warning has %q: %q", part, c.warnings())
		}
	}
}

// repeats fires an event again and again until another controller has heard it.
func repeats(t *testing.T, from, to *controller, tag string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		from.ring.Fire(tag, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, _, err := to.ring.Next(ctx, 0, func(e event.Event) bool { return e.Remote && e.Tag == tag })
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no event %s\n%s\n%s", tag, from.warnings(), to.warnings())
		}
	}
}

// Controllers and other programs hear each other; what is not a valid event is
// ignored, and nothing that came from elsewhere is sent again.
func TestBus(t *testing.T) {
	t.Parallel()
	srv := natstest.Start(t, nil)
	a, same := join(t, Options{URL: srv.URL(), From: "a"}), join(t, Options{URL: srv.URL(), From: "a"})
	b := join(t, Options{URL: srv.URL(), From: "b"}, "deploy/*", "end")
	a.ring.Fire("other", nil)
	a.ring.FireForeign("deploy/foreign", nil)
	a.ring.FireRemote("deploy/remote", nil)
	const odd = "é ' \\ \x00 \U0001f9c2"
	a.ring.Fire("deploy/a.b c*", value.MapOf("text", odd))
	a.ring.Fire("deploy/large", value.MapOf("text", strings.Repeat("x", 1_000_000)))
	a.ring.Fire("deploy/huge", value.MapOf("text", strings.Repeat("x", bus.MaxEvent)))
	a.ring.Fire("deploy/"+strings.Repeat("long", 5000), nil)
	a.ring.Fire("end", nil)
	b.hears(t, "end")
	if got := b.heard(t); got != "deploy/a.b c* deploy/large end" {
		t.Errorf("b heard %s\n%s", got, a.warnings())
	}
	if got := b.hears(t, "deploy/a.b c*").Data.Str("text"); got != odd {
		t.Errorf("the text came as %q", got)
	}
	if got := a.warnings(); !strings.Contains(got, "deploy/huge has 10") || strings.Contains(got, "\n") {
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
	b.ring.Fire("deploy/back", value.MapOf("n", int64(1)))
	a.hears(t, "deploy/back")
	same.hears(t, "deploy/back")
	if got := a.heard(t) + " " + same.heard(t); got != "deploy/remote deploy/back deploy/back" {
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
	if e := b.hears(t, "deploy/program"); value.Repr(e.Data.At("n")) != "1" {
		t.Errorf("the event of another program has %s", value.Repr(e.Data))
	}
	b.hears(t, "deploy/bare")
	if got := b.heard(t); got != "deploy/a.b c* deploy/large end deploy/program deploy/bare" {
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
	b.says(t, "events of other controllers do not arrive")
	a.says(t, "events of other controllers do not arrive")
	a.ring.Fire("lost", nil)
	a.says(t, "do not get the events")
	late := join(t, Options{URL: url, From: "c"})
	if got := late.warnings(); !strings.Contains(got, "do not arrive") {
		t.Errorf("without a server: %q", got)
	}
	srv.Again(t)
	repeats(t, a, b, "again")
	repeats(t, late, b, "late")
	if got := b.warnings(); strings.Contains(got, "\n") {
		t.Errorf("b warned %q, want one line", got)
	}
	if got := b.heard(t); strings.Contains(got, "lost") {
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
	if got := none.warnings(); !strings.Contains(got, "stream not found: an administrator") {
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
	b.hears(t, "first")
	srv.Stop()
	b.says(t, "do not arrive")
	srv.Again(t)
	put("brine.missed") // before or after b is connected again: it hears it
	b.hears(t, "missed")
	a := join(t, Options{URL: srv.URL(), From: "a", Stream: "BRINE"})
	a.ring.Fire("last", value.MapOf("n", int64(1)))
	b.hears(t, "last")
	if got := b.heard(t); got != "first missed last" {
		t.Errorf("b heard %s\n%s", got, b.warnings())
	}
	if got := a.warnings(); got != "" {
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
		if got := c.warnings(); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if got := c.warnings(); strings.Contains(got, "s3cret") || strings.Contains(got, "wr0ng") || strings.Contains(got, "t0ken") {
			t.Errorf("%s: the warning has the secret: %q", name, got)
		}
		if tt.want == "" {
			other := join(t, Options{URL: tt.o.URL, From: "other", User: tt.o.User, Password: tt.o.Password, NKey: tt.o.NKey, Token: tt.o.Token, TLS: tt.o.TLS})
			c.ring.Fire("in", nil)
			other.hears(t, "in")
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
		a.ring.Fire("some", nil)
	}
	a.ring.Fire("last", nil)
	a.Close()
	b.hears(t, "last")
	if got := strings.Count(b.heard(t), "some"); got != 1000 {
		t.Errorf("b heard %d of 1000", got)
	}
}
