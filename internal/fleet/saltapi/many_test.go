package saltapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/saltapi"
	"brine/internal/py/value"
)

// A crowd is a salt-api that has n minions, and keeps nothing of them: m0000000 and so
// on, which return true.
type crowd struct {
	n    int
	last bool // one more minion, which is called last, and comes last

	mu   sync.Mutex
	subs []chan func(io.Writer)
}

func crowdOf(t testing.TB, n int) (*crowd, string) {
	t.Helper()
	c := &crowd{n: n}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	return c, srv.URL
}

func minionID(i int) string { return fmt.Sprintf("m%07d", i) }

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/login":
		_, _ = io.WriteString(w, `{"return": [{"token": "abcdef0123456789"}]}`)
		return
	case "/events":
		c.events(w, r)
		return
	}
	var lows []struct {
		Client, JID string
		Fun         any
		Tgt         any
		Kwarg       map[string]any
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &lows)
	out := bufio.NewWriterSize(w, 1<<20)
	defer out.Flush()
	if lows[0].Client == "runner" {
		jid := fmt.Sprint(lows[0].Kwarg["jid"])
		fmt.Fprintf(out, `{"return": [{"jid": %q, "Minions": [], "Result": {`, jid)
		for i := range c.n {
			if i > 0 {
				_, _ = io.WriteString(out, ",")
			}
			fmt.Fprintf(out, `"m%07d":{"return":true,"retcode":0,"success":true}`, i)
		}
		_, _ = io.WriteString(out, `}}]}`)
		return
	}
	name := fmt.Sprint(lows[0].Fun)
	fmt.Fprintf(out, `{"return": [{"jid": %q, "minions": [`, lows[0].JID)
	for i := range c.n {
		if i > 0 {
			_, _ = io.WriteString(out, ",")
		}
		fmt.Fprintf(out, `"m%07d"`, i)
	}
	if c.last {
		_, _ = io.WriteString(out, `,"last"`)
	}
	_, _ = io.WriteString(out, `]}]}`)
	c.mu.Lock()
	defer c.mu.Unlock()
	jid := lows[0].JID
	for _, sub := range c.subs {
		sub <- func(w io.Writer) {
			for i := range c.n {
				fmt.Fprintf(w, "tag: x\ndata: {\"tag\": \"salt/job/%s/ret/m%07d\", \"data\": {\"id\": \"m%07d\", \"jid\": %q, \"fun\": %q, \"return\": true, \"retcode\": 0, \"success\": true}}\n\n", jid, i, i, jid, name)
			}
			if c.last {
				fmt.Fprintf(w, "data: {\"tag\": \"salt/job/%s/ret/last\", \"data\": {\"id\": \"last\", \"return\": true, \"retcode\": 0, \"success\": true}}\n\n", jid)
			}
		}
	}
}

func (c *crowd) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 400\n")
	w.(http.Flusher).Flush()
	sub := make(chan func(io.Writer), 100)
	c.mu.Lock()
	c.subs = append(c.subs, sub)
	c.mu.Unlock()
	out := bufio.NewWriterSize(w, 1<<20)
	for {
		select {
		case <-r.Context().Done():
			return
		case f := <-sub:
			f(out)
			_ = out.Flush()
			w.(http.Flusher).Flush()
		}
	}
}

// TestHostileMultitude has a master claim two million minions, whatever it is asked. It
// is refused, or does not count, in bounded memory. It runs alone, since memory is
// measured.
func TestHostileMultitude(t *testing.T) {
	const n = 2_000_000
	const jid = "20261123090000000001"
	for _, tt := range []struct {
		name string
		do   func(r *rig) error
		want string
	}{
		{"a target of ids", func(r *rig) error { _, _, err := r.p.Resolve(t.Context(), "*", "glob", nil); return err }, "find the targets: the master names 2000000 minions, more than 100000 (the key max_minions of the fleet lab)"},
		{"a target of grains", func(r *rig) error { _, _, err := r.p.Resolve(t.Context(), "a:b", "grain", nil); return err }, "the master names 2000000 minions"},
		{"a compound", func(r *rig) error { _, _, err := r.p.Resolve(t.Context(), "G@a:b or m1", "compound", nil); return err }, "the master names 2000000 minions"},
		{"a look-up", func(r *rig) error { _, err := r.p.Left(t.Context(), jid, minionID(1)); return err }, "look up the job: the answer has more than 67108864 bytes"},
	} {
		_, at := crowdOf(t, n)
		r := with(t, conf(t, at))
		var err error
		used := most(func() { err = tt.do(r) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
		if used > 768<<20 {
			t.Errorf("%s: %d MiB of memory", tt.name, used>>20)
		}
		t.Logf("%s: %d MiB", tt.name, used>>20)
		_ = r.p.Close()
	}

	// A job of one minion, whose return comes behind those of two million others, which
	// the master also says that it was sent to.
	c, at := crowdOf(t, n)
	c.last = true
	r := with(t, conf(t, at))
	var got string
	used := most(func() {
		job := fun.Job{JID: jid, Fun: "test.echo", Args: fun.Args{Kw: value.NewMap(0)}}
		r.p.Publish(t.Context(), job, []string{"last"})
		got = show(r.p.Run(t.Context(), job, "last", func() {}))
	})
	if got != "last=True" || used > 768<<20 || strings.Count(r.warnings(), "was refused") > 200 {
		t.Errorf("%s, %d MiB of memory, %d bytes of warnings", got, used>>20, len(r.warnings()))
	}
	t.Logf("returns of others: %d MiB", used>>20)
}

// TestManyMinions: as many as there may be are found, by ids and by grains, and what an
// answer costs does not grow with their number: else this would take an hour.
func TestManyMinions(t *testing.T) {
	t.Parallel()
	const n = saltapi.DefaultMinions
	_, at := crowdOf(t, n)
	r := with(t, conf(t, at))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, tt := range []struct{ tgt, tgtType string }{{"*", "glob"}, {"a:b", "grain"}} {
		ids, unasked, err := r.p.Resolve(ctx, tt.tgt, tt.tgtType, nil)
		if err != nil || len(ids) != n || len(unasked) != 0 {
			t.Errorf("%s: %d found, %d not known, %v", tt.tgtType, len(ids), len(unasked), err)
		}
	}
}
