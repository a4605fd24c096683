package saltapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Returns of minions, as events have them.
func TestReturnOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, data string
		code       int
		success    bool
		codes      string
	}{
		{"one function", `{"return": true, "retcode": 0, "success": true}`, 0, true, "0"},
		{"a code", `{"return": "x", "retcode": 3, "success": true}`, 3, false, "3"},
		{"an error", `{"return": "Traceback", "retcode": 1, "success": false}`, 1, false, "1"},
		{"no success without a code", `{"return": {}, "retcode": 0, "success": false}`, 1, false, "1"},
		{"several", `{"return": {"a.b": 1, "c.d": 2}, "retcode": {"a.b": 0, "c.d": 0}, "success": {"a.b": true, "c.d": true}}`, 0, true, "{'a.b': 0, 'c.d': 0}"},
		{"one of several", `{"return": {"a.b": 1, "c.d": 2}, "retcode": {"a.b": 0, "c.d": 4}, "success": {"a.b": true, "c.d": false}}`, 4, false, "{'a.b': 0, 'c.d': 4}"},
		{"an error of several", `{"return": {"a.b": 1, "c.d": "Traceback"}, "retcode": {"a.b": 0}, "success": {"a.b": true, "c.d": false}}`, 1, false, "{'a.b': 0}"},
		{"in order", `{"return": [1, "Traceback"], "retcode": [0, null], "success": [true, false]}`, 1, false, "[0, None]"},
		{"not codes", `{"return": 1, "retcode": {"a.b": "x"}, "success": true}`, 1, false, "1"},
		{"a code that is text", `{"return": 1, "retcode": "0", "success": true}`, 1, false, "1"},
		{"a code with a point", `{"return": 1, "retcode": 0.0, "success": true}`, 1, false, "1"},
		{"a code that is a word", `{"return": 1, "retcode": false, "success": true}`, 1, false, "1"},
		{"a code of 33 bits", `{"return": 1, "retcode": 4294967296, "success": true}`, 1, false, "1"},
		{"neither", `{"return": 1}`, 1, false, "1"},
		{"nothing in both", `{"return": 1, "retcode": null, "success": null}`, 1, false, "1"},
		{"success alone", `{"return": 1, "success": true}`, 0, true, "0"},
		{"success that is text", `{"return": 1, "retcode": 0, "success": "true"}`, 1, false, "1"},
		{"success that is a number", `{"return": 1, "retcode": 0, "success": 1}`, 1, false, "1"},
		{"success that is a list", `{"return": 1, "retcode": 0, "success": [true]}`, 1, false, "1"},
		{"contradicting", `{"return": {"a.b": 1}, "retcode": {"a.b": 0}, "success": {"a.b": false}}`, 1, false, "{}"},
		{"contradicting in order", `{"return": [1], "retcode": [0], "success": [false]}`, 1, false, "[None]"},
		{"one without success", `{"return": [1, 2], "retcode": [0, 0], "success": [true]}`, 1, false, "[0, None]"},
		{"failed states", `{"fun": "state.apply", "return": {"x": {"result": true}, "y": {"result": false}}, "retcode": 0, "success": true}`, 2, false, "2"},
		{"states in test mode", `{"fun": "state.apply", "return": {"x": {"result": null}}, "retcode": 0, "success": true}`, 0, true, "0"},
		{"failed states of several", `{"return": {"state.apply": {"y": {"result": false}}, "c.d": {"y": {"result": false}}}, "retcode": {"state.apply": 0, "c.d": 0}, "success": {"state.apply": true, "c.d": true}}`, 2, false, "{'state.apply': 2, 'c.d': 0}"},
	} {
		v, err := value.ParseJSON(tt.data)
		if err != nil {
			t.Fatal(err)
		}
		ret := returnOf(fun.Job{Fun: v.(*value.Map).Str("fun")}, v.(*value.Map))
		code, _ := ret.Outcome()
		if ret.Retcode != tt.code || ret.Success() != tt.success || value.Repr(code) != tt.codes {
			t.Errorf("%s: return code %d (%s), success %t; want %d (%s), %t", tt.name, ret.Retcode, value.Repr(code), ret.Success(), tt.code, tt.codes, tt.success)
		}
	}
}

// Small texts that take much memory are not read.
func TestCostlyEvents(t *testing.T) {
	t.Parallel()
	var warned string
	s := newStream(&client{})
	s.event = func(tag string, _ *value.Map, _ int64) { t.Errorf("event %s", tag) }
	s.warn = func(text string) { warned = text }
	s.deliver([]byte(`{"tag": "x", "data": {"y": [` + strings.Repeat("[],", 4<<20) + `0]}}`))
	if !strings.Contains(warned, "an event was passed over") {
		t.Errorf("warned %q", warned)
	}
}

// A master cannot make warnings without end, nor control a terminal by them.
func TestWarningsBounded(t *testing.T) {
	t.Parallel()
	var warned []string
	p := &Provider{o: Options{Warn: func(text string) { warned = append(warned, text) }}}
	for i := range 2 * maxWarnings {
		p.warnOnce(fmt.Sprintf("minion\x1b[2J%d", i))
	}
	if len(warned) != maxWarnings || strings.Contains(warned[0], "\x1b") || !strings.Contains(warned[maxWarnings-1], "are not shown") {
		t.Errorf("%d warnings, first %q, last %q", len(warned), warned[0], warned[len(warned)-1])
	}
}

// The file of a token is read only where nobody else could write or read it.
func TestStoredToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := []byte(`{"token": "abc", "expires": 4e9}`)
	for _, tt := range []struct {
		name, want string
		make       func(file string) error
	}{
		{"own", "abc", func(file string) error { return os.WriteFile(file, text, 0o600) }},
		{"read by others", "", func(file string) error {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return err
			}
			return os.Chmod(file, 0o640)
		}},
		{"link", "", func(file string) error { return os.Symlink("own", file) }},
		{"of others", "", func(file string) error {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				return err
			}
			if os.Chown(file, 65534, 65534) != nil { // who is not root cannot
				return os.Remove(file)
			}
			return nil
		}},
		{"long", "", func(file string) error {
			return os.WriteFile(file, append(text, strings.Repeat(" ", maxStored)...), 0o600)
		}},
	} {
		c := &client{file: filepath.Join(dir, tt.name)}
		if err := tt.make(c.file); err != nil {
			t.Fatal(err)
		}
		if c.load(); c.token != tt.want {
			t.Errorf("%s: token %q, want %q", tt.name, c.token, tt.want)
		}
	}
}

// A master that chooses the jid itself: returns that come before its answer do not
// race with it, and it cannot choose that of another job.
func TestMasterChoosesJID(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Config: Config{Name: "lab", URL: &url.URL{}}})
	if err != nil {
		t.Fatal(err)
	}
	const one, two, three = "20261123050000000001", "20261123050000000002", "20261123050000000003"
	p.mu.Lock()
	pub, other := p.newPublication(fun.Job{JID: one}), p.newPublication(fun.Job{JID: two})
	p.join(pub, "a")
	p.join(pub, "b")
	b := pub.waits["b"]
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.event("salt/job/"+one+"/ret/a", value.MapOf("id", "a", "return", "early"), 1)
	}()
	p.accepted(pub, value.MapOf("jid", three, "minions", value.NewList("a", "b")))
	<-done
	p.event("salt/job/"+three+"/ret/b", value.MapOf("id", "b", "return", "late"), 1)
	if ret := <-b.ret; ret.ID != "b" || ret.FleetJID != three {
		t.Errorf("return of b: %+v", ret)
	}
	if p.accepted(other, value.MapOf("jid", three, "minions", value.NewList("a"))); other.err == nil || !other.lost {
		t.Errorf("the jid of another job was taken: %v", other.err)
	}
}

// What is over takes no memory but its jid, and later answers change nothing.
func TestOverIsForgotten(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Config: Config{Name: "lab", URL: &url.URL{}}})
	if err != nil {
		t.Fatal(err)
	}
	const one, two = "20261123050000000001", "20261123050000000002"
	p.mu.Lock()
	pub := p.newPublication(fun.Job{JID: one})
	p.join(pub, "a")
	q := &question{jid: two}
	p.asks[two] = q
	p.mu.Unlock()
	q.sentTo(map[string]bool{"a": true})
	p.leave(pub, "a")
	p.drop(q)
	for _, jid := range []string{one, two, two} {
		p.event("salt/job/"+jid+"/ret/a", value.MapOf("id", "a", "return", "late"), 1)
	}
	if pub.waits["a"] != doneWait || p.asks[two] != dropped || len(q.answers) != 0 || pub.open != 0 {
		t.Errorf("kept: %+v, %+v, %d answers, %d open", pub.waits["a"], p.asks[two], len(q.answers), pub.open)
	}
}

// An answer is shared by those who wait for it, however long that takes, and for a
// moment after. Who gives up waiting, or finding out, holds up nobody.
func TestAnswers(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	a := answers[int]{now: func() time.Time { return now }}
	n := 0
	next := func(context.Context) (*int, error) { n++; v := n; return &v, nil }
	get := func(ctx context.Context, want int, wantErr error, find func(context.Context) (*int, error)) {
		t.Helper()
		got, err := a.get(ctx, "x", false, find)
		if got == nil {
			got = new(int)
		}
		if *got != want || !errors.Is(err, wantErr) {
			t.Errorf("%d, %v; want %d, %v", *got, err, want, wantErr)
		}
	}
	get(t.Context(), 1, nil, next)
	now = now.Add(holds)
	get(t.Context(), 1, nil, next)
	now = now.Add(1)
	get(t.Context(), 2, nil, next)

	now = now.Add(holds + 1)
	ctx, cancel := context.WithCancel(t.Context())
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		get(ctx, 0, context.Canceled, func(ctx context.Context) (*int, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	<-began
	over, stop := context.WithCancel(t.Context())
	stop()
	get(over, 0, context.Canceled, next) // the other one is still finding out
	cancel()
	get(t.Context(), 3, nil, next)
	<-ended
	now = now.Add(holds + 1)
	broken := errors.New("broken")
	get(t.Context(), 0, broken, func(context.Context) (*int, error) { return nil, broken })
	get(t.Context(), 4, nil, next)
	a.faults = true
	now = now.Add(holds + 1)
	get(t.Context(), 0, broken, func(context.Context) (*int, error) { return nil, broken })
	get(t.Context(), 0, broken, next)
}

// What answers have beside what was asked takes no memory, also before it is known
// who was asked.
func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	q := &question{}
	q.answer("a", strings.Repeat("x", 1<<20))
	q.answer("b", value.MapOf("pid", int64(7), "more", strings.Repeat("x", 1<<20)))
	q.answer("../c", true)
	if want := []answer{{"a", 0}, {"b", 7}}; !slices.Equal(q.early, want) {
		t.Errorf("%v, want %v", q.early, want)
	}
	q.sentTo(map[string]bool{"b": true})
	if got := <-q.answers; got != (answer{"b", 7}) || len(q.answers) != 0 {
		t.Errorf("%v, and %d more", got, len(q.answers))
	}
}

// The runners of others do not crowd out the return of one that is waited for.
func TestManyRunners(t *testing.T) {
	t.Parallel()
	p, err := New(Options{Config: Config{Name: "lab", URL: &url.URL{}}})
	if err != nil {
		t.Fatal(err)
	}
	ran := func(n int) {
		jid := fmt.Sprintf("20261123050000%06d", n)
		p.event("salt/run/"+jid+"/ret", value.MapOf("fun", "runner.test.arg", "return", int64(n)), 1)
	}
	const early, late = 1, 5000
	p.calls = 2
	ran(early)
	p.called(fmt.Sprintf("20261123050000%06d", early))
	for n := range 2 * maxRuns {
		ran(10 + n)
	}
	if len(p.runs) != maxRuns {
		t.Errorf("%d returns are kept, want %d", len(p.runs), maxRuns)
	}
	p.called(fmt.Sprintf("20261123050000%06d", late))
	ran(late)
	for _, n := range []int{early, late} {
		if p.takeRun(fmt.Sprintf("20261123050000%06d", n)) == nil {
			t.Errorf("the return of %d is lost", n)
		}
	}
	if len(p.runs) != 2 {
		t.Errorf("%d returns are kept, want 2", len(p.runs))
	}
	// Nor do large ones.
	p.calls = 1
	for n := range 4 {
		p.event(fmt.Sprintf("salt/run/202611230600000000%02d/ret", n), value.MapOf("fun", "runner.test.arg"), maxRunsCost/2)
	}
	if len(p.runs) != 4 {
		t.Errorf("%d returns are kept, want two large ones more", len(p.runs))
	}
}

func TestIsID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"web1": true, "web1.example.com": true, "wéb": true, "...": true,
		"": false, ".": false, "..": false, "a/b": false, `a\b`: false, "a\n": false, "a\u009b2J": false, "\xff": false, strings.Repeat("x", 256): false,
	} {
		if got := isID(id); got != want {
			t.Errorf("isID(%q) = %t, want %t", id, got, want)
		}
	}
}
