package link_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/internal/py/value"
)

// oneWay is how long bytes take from one end to the other of a slow channel,
// in the time of a synctest bubble, which passes only while all wait.
const oneWay = time.Millisecond

// A lane is one direction of a slow channel.
type lane struct {
	mu     sync.Mutex
	cond   *sync.Cond
	parts  []part
	closed bool
	bytes  int64
}

type part struct {
	b  []byte
	at time.Time
}

func newLane() *lane {
	l := &lane{}
	l.cond = sync.NewCond(&l.mu)
	return l
}

func (l *lane) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, io.ErrClosedPipe
	}
	l.parts = append(l.parts, part{append([]byte(nil), p...), time.Now().Add(oneWay)})
	l.bytes += int64(len(p))
	l.cond.Broadcast()
	return len(p), nil
}

func (l *lane) Read(p []byte) (int, error) {
	l.mu.Lock()
	for len(l.parts) == 0 && !l.closed {
		l.cond.Wait()
	}
	if len(l.parts) == 0 {
		l.mu.Unlock()
		return 0, io.EOF
	}
	at := l.parts[0].at
	l.mu.Unlock()
	time.Sleep(time.Until(at))
	l.mu.Lock()
	defer l.mu.Unlock()
	n := copy(p, l.parts[0].b)
	if l.parts[0].b = l.parts[0].b[n:]; len(l.parts[0].b) == 0 {
		l.parts = l.parts[1:]
	}
	return n, nil
}

// sent returns how many bytes were written so far.
func (l *lane) sent() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.cond.Broadcast()
}

type slowEnd struct{ in, out *lane }

func (e slowEnd) Read(p []byte) (int, error)  { return e.in.Read(p) }
func (e slowEnd) Write(p []byte) (int, error) { return e.out.Write(p) }
func (e slowEnd) Close() error {
	e.in.close()
	e.out.close()
	return nil
}

// stateTree is 25 states: 20 files, 5 commands, over some SLS files that
// include each other and import.
func stateTree(dir string) map[string]string {
	tree := map[string]string{
		"app/init.sls":      "include:\n  - app.files\n  - .cmds\n",
		"app/map.jinja":     "{% import_yaml 'app/defaults.yaml' as d %}{% set app = d %}",
		"app/defaults.yaml": "prefix: f\n",
		"app/cmds.sls":      "{% from 'app/map.jinja' import app %}\n",
		"app/files.sls":     "{% from 'app/map.jinja' import app %}\n",
	}
	for i := range 20 {
		src := fmt.Sprintf("app/src/f%d", i)
		tree[src] = strings.Repeat(fmt.Sprintln("line", i, "{{ pillar['port'] }}"), 50)
		tpl := ""
		if i%4 == 0 {
			tpl = "    - template: jinja\n"
		}
		tree["app/files.sls"] += fmt.Sprintf("{{ app.prefix }}%d:\n  file.managed:\n    - name: %s/f%d\n    - source: salt://%s\n%s", i, dir, i, src, tpl)
	}
	for i := range 5 {
		tree["app/cmds.sls"] += fmt.Sprintf("c%d:\n  cmd.run:\n    - name: 'true'\n    - unless: 'true'\n", i)
	}
	return tree
}

func TestRoundTrips(t *testing.T) { // not parallel: its time is its own
	// The resolver makes its channel at its first use: outside of the bubbles.
	_, _ = net.DefaultResolver.LookupHost(t.Context(), "localhost")
	dir := t.TempDir()
	s := newSite(t, stateTree(dir))
	for i := range 300 { // what this target does not need
		s.write(fmt.Sprintf("other%d/init.sls", i), strings.Repeat("# comment\n", 100))
	}
	cache := filepath.Join(t.TempDir(), "cache")
	type figures struct {
		trips float64
		down  int64
	}
	run := func(name string) (ping, state, again figures) {
		synctest.Test(t, func(t *testing.T) {
			s.t, s.cache = t, cache
			up, down := newLane(), newLane()
			e := s.serve(slowEnd{in: down, out: up})
			c := s.attach(slowEnd{in: up, out: down})
			measure := func(f func()) figures {
				start, bytes := time.Now(), down.sent()
				f()
				return figures{float64(time.Since(start)) / float64(2*oneWay), down.sent() - bytes}
			}
			ping = measure(func() { call(t, c, job("test.ping")) })
			apply := func() {
				if got := results(t, call(t, c, job("state.apply", "app", value.MapOf("test", false)))); len(got) != 25 {
					t.Errorf("%d results", len(got))
				} else {
					for id, r := range got {
						if !strings.HasPrefix(r, "True") {
							t.Errorf("%s: %s", id, r)
						}
					}
				}
			}
			state = measure(apply)
			again = measure(apply)
			c.Close()
			<-e.done
		})
		t.Logf("%s: ping %v, state %v, again %v", name, ping, state, again)
		return ping, state, again
	}
	ping, first, again := run("new target")
	if ping.trips != 1 {
		t.Errorf("test.ping takes %v round trips, want 1", ping.trips)
	}
	if first.trips > 3 || again.trips > 3 {
		t.Errorf("state.apply takes %v and %v round trips, want 3 at most", first.trips, again.trips)
	}
	_, next, _ := run("known target")
	if next.trips > 3 {
		t.Errorf("state.apply on a known target takes %v round trips, want 3 at most", next.trips)
	}
	if next.down > 16<<10 {
		t.Errorf("an idempotent run sends %d bytes to the target", next.down)
	}
}
