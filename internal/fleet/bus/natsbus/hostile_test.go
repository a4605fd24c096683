package natsbus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"brine/internal/fleet/bus"
	"brine/internal/testkit/bustest"
	"brine/internal/testkit/memtest"
	"brine/internal/testkit/natstest"
)

// joinAs is join of a run with a job.
func joinAs(t *testing.T, o Options, jid string) *bustest.Controller {
	t.Helper()
	o.Prefix = "brine"
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return bustest.JoinWith(t, func(b bus.Options) (*bus.Bus, error) { return bus.Open(t.Context(), l, b), nil },
		bus.Options{From: o.From, IsOwnJob: func(other string) bool { return other == jid }})
}

// TestHostilePeer has an account of the server send what is no event, and what forges
// those of others. Nothing of it ends the run, and nothing is about its own jobs.
func TestHostilePeer(t *testing.T) {
	t.Parallel()
	const own = "20261123080000000001"
	srv := natstest.Start(t, nil)
	a := joinAs(t, Options{URL: srv.URL(), From: "a"}, own)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	put := func(subject, from, data string) {
		t.Helper()
		m := &nats.Msg{Subject: subject, Data: []byte(data)}
		if from != "" {
			m.Header = nats.Header{fromHeader: {from}}
		}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	ret := `{"id": "web1", "jid": "` + own + `", "return": "forged", "retcode": 0, "success": true}`
	for _, tag := range []string{own, "salt/job/" + own + "/new", "salt/job/" + own + "/ret/web1", "salt/job/" + own + "/prog/web1/0", "salt/run/" + own + "/ret", "salt/run/" + own + "/args", "brine/job/" + own + "/wave", "salt/job/" + own, "brine/job/" + own} {
		put(Subject("brine", tag), "", ret)
		put(Subject("brine", tag), "b", ret)
	}
	put("brine.deploy.go", "a", `{}`)                         // as this run's own
	put("brine.deploy.go", "a", strings.Repeat("x", 500_000)) // the same, which is not read
	for _, subject := range []string{"brine", "brine.%1B%5B2J", "brine.a%0Ab", "brine.%E2%80%AE", "brine.%FF", "brine.a%", "brine.%", "other.a", "brine2.a", "brine." + strings.Repeat("x", 1100)} {
		put(subject, "", `{}`)
	}
	for _, data := range []string{"{", "[]", "7", `"x"`, "null", "\x00", "{}{}", strings.Repeat("[", 100_000), `{"a": ` + strings.Repeat(`{"a": `, 50_000)} {
		put("brine.deploy.bad", "", data)
	}
	// That of another controller's job is as good as its sender.
	put(Subject("brine", "salt/job/20261123080000000002/ret/web1"), "", `{"id": "web1", "id": 7, "_stamp": {"x": []}}`)
	put("brine.last", "", "")
	a.Hears(t, "last")
	if got := a.Heard(t); got != "salt/job/20261123080000000002/ret/web1 last" || a.Warnings() != "" {
		t.Errorf("heard %s\nwarnings %q", got, a.Warnings())
	}
}

// TestHostileFlood: a peer that sends without end costs bounded memory, and the events
// that are lost are told of once. It runs alone, since memory is measured.
func TestHostileFlood(t *testing.T) {
	srv := natstest.Start(t, nil)
	a := join(t, Options{URL: srv.URL(), From: "a"})
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	flood := func(n, size int) {
		data := []byte(`{"x": "` + strings.Repeat("x", size) + `"}`)
		for i := range n {
			if err := nc.Publish("brine.flood", data); err != nil {
				t.Fatal(err)
			}
			if i%50 == 0 {
				_ = nc.Flush() // else the server takes this client for a slow one
			}
		}
		_ = nc.Flush()
	}
	peak := memtest.Peak(func() {
		flood(100_000, 10)
		flood(1000, 900_000)
	})
	if peak > 600<<20 { // with the server, which is in this process
		t.Errorf("%d MiB of memory", peak>>20)
	}
	for end := time.Now().Add(time.Minute); ; {
		_ = nc.Publish("brine.last", nil)
		_ = nc.Flush()
		if strings.Contains(a.Heard(t), "last") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nothing is heard any more: %s", a.Warnings())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := strings.Count(a.Warnings(), "\n"); n > 2 {
		t.Errorf("%d warnings", n)
	}
	t.Logf("%d MiB, %s", peak>>20, a.Warnings())
}

// TestHostileHistory: a stream that is made again or put back to what it was does not
// have what is older than the run taken as new, and nothing is taken twice.
func TestHostileHistory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	srv := natstest.Start(t, func(o *server.Options) { o.JetStream, o.StoreDir = true, dir })
	connect := func() jetstream.JetStream {
		nc, err := nats.Connect(srv.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		return js
	}
	put := func(js jetstream.JetStream, subjects ...string) {
		t.Helper()
		for _, s := range subjects {
			if _, err := js.Publish(t.Context(), s, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	js := connect()
	stream := jetstream.StreamConfig{Name: "BRINE", Subjects: []string{"brine.>"}}
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	put(js, "brine.old", "brine.older")
	srv.Stop()
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	srv.Again(t)
	js = connect()
	put(js, "brine.a", "brine.b", "brine.c")
	b := join(t, Options{URL: srv.URL(), From: "b", Stream: "BRINE"})
	put(js, "brine.first")
	b.Hears(t, "first")

	srv.Stop()
	b.Says(t, "do not arrive")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	srv.Again(t)
	js = connect()
	for i := range 6 { // so that the numbers go on behind those of before
		put(js, fmt.Sprintf("brine.second%d", i))
	}
	b.Hears(t, "second5")

	// Deleted and made again while the run is connected.
	if err := js.DeleteStream(t.Context(), "BRINE"); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), stream); err != nil {
		t.Fatal(err)
	}
	srv.Stop()
	srv.Again(t)
	js = connect()
	for i := range 9 { // more than there were, as before
		put(js, fmt.Sprintf("brine.third%d", i))
	}
	b.Hears(t, "third8")
	if got := b.Heard(t); got != "first second0 second1 second2 second3 second4 second5 third0 third1 third2 third3 third4 third5 third6 third7 third8" {
		t.Errorf("heard %s\n%s", got, b.Warnings())
	}
}
