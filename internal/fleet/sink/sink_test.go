package sink

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/event"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// read reads one sink.
func read(t *testing.T, opts *value.Map, settings ...any) *Sink {
	t.Helper()
	opts.Set(Option, value.MapOf("out", value.MapOf(settings...)))
	all, err := Read(opts, "/etc/brine", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// some are events as they wait.
func some(t *testing.T, events ...any) (out []queue.SinkEvent) {
	t.Helper()
	for i := 0; i < len(events); i += 2 {
		data, _ := events[i+1].(*value.Map)
		text, err := Encode(events[i].(string), data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, queue.SinkEvent{ID: fmt.Sprint(i/2) + strings.Repeat("x", 40), Payload: text})
	}
	return out
}

// TestWants has which events a sink takes, by tag and function.
func TestWants(t *testing.T) {
	t.Parallel()
	salt := func() *value.Map {
		return value.MapOf("event_return_whitelist", value.Strings("salt/*"), "event_return_blacklist", "salt/auth, salt/stats/*")
	}
	for _, tt := range []struct {
		opts     *value.Map
		settings []any
		tag      string
		fun      value.Value
		want     bool
	}{
		{value.NewMap(0), nil, "any/tag", nil, true},
		{value.NewMap(0), []any{"tags", "deploy/*"}, "deploy/a/b", nil, true},
		{value.NewMap(0), []any{"tags", "deploy/*"}, "other", nil, false},
		{value.NewMap(0), []any{"exclude", value.Strings("deploy/a")}, "deploy/a", nil, false},
		{value.NewMap(0), []any{"functions", value.Strings("state.*", "pkg.install")}, "salt/job/1/ret/a", "state.apply", true},
		{value.NewMap(0), []any{"functions", "state.*"}, "salt/job/1/ret/a", "test.ping", false},
		{value.NewMap(0), []any{"functions", "state.*"}, "deploy/a", nil, false},
		{value.NewMap(0), []any{"functions", "state.*"}, "salt/job/1/new", value.Strings("test.ping", "state.sls"), true},
		{value.NewMap(0), []any{"exclude_functions", "saltutil.find_job"}, "salt/job/1/new", "saltutil.find_job", false},
		{value.NewMap(0), []any{"exclude_functions", "saltutil.find_job"}, "deploy/a", nil, true},
		{salt(), nil, "salt/job/1/new", nil, true},
		{salt(), nil, "salt/auth", nil, false},
		{salt(), nil, "deploy/a", nil, false},
		{salt(), []any{"tags", "deploy/*"}, "deploy/a", nil, true},
	} {
		s := read(t, tt.opts, append([]any{"kind", "file", "path", "x"}, tt.settings...)...)
		data := value.NewMap(1)
		if tt.fun != nil {
			data.Set("fun", tt.fun)
		}
		if got := s.Wants(event.Event{Tag: tt.tag, Data: data}); got != tt.want {
			t.Errorf("%v %v: Wants(%s, %v) = %v", tt.opts, tt.settings, tt.tag, tt.fun, got)
		}
	}
}

// TestFaults has settings that are refused, with what to do.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		settings value.Value
		want     string
	}{
		{"x", "event_sinks: out: it must be a mapping with the key kind, not"},
		{value.MapOf("kind", "webhok"), `kind: "webhok" is none of file, logstash, slack, syslog, webhook (did you mean "webhook"?)`},
		{value.MapOf("kind", "file", "path", "x", "tag", "a"), `unknown key "tag" (did you mean "tags"?); a file has kind, tags,`},
		{value.MapOf("kind", "file"), "path: it is missing"},
		{value.MapOf("kind", "file", "path", "x", "batch", int64(0)), "batch must be a number from 1 to 10000, not 0"},
		{value.MapOf("kind", "file", "path", "x", "spool", "big"), "spool must be a number from 65536 to"},
		{value.MapOf("kind", "file", "path", "x", "wait", int64(-1)), "wait must be a number of seconds from 0 to 3600, not -1"},
		{value.MapOf("kind", "file", "path", "x", "tags", int64(1)), "tags must be a list of strings"},
		{value.MapOf("kind", "file", "path", "x", "tags", value.NewList()), "tags names nothing: leave it out for all events"},
		{value.MapOf("kind", "file", "path", "x", "exclude", "salt/(job|run"), `exclude: "salt/(job|run" is neither a glob nor a regular expression`},
		{value.MapOf("kind", "logstash"), `address: "" is not an address such as tcp://logs.example.com:5000`},
		{value.MapOf("kind", "logstash", "address", "unix:///dev/log"), `address: "unix:///dev/log" is not an address`},
		{value.MapOf("kind", "syslog", "address", "logs.example.com:514"), "unix:///dev/log"},
		{value.MapOf("kind", "syslog", "address", "udp://a", "facility", "locl0"), `facility: "locl0" is none of syslog (did you mean "local0"?)`},
		{value.MapOf("kind", "webhook", "url", "ftp://a"), "url: it is not an address such as https://"},
		{value.MapOf("kind", "webhook", "url", "https://a", "allow_private", "10.0.0.0/99"), `allow_private: "10.0.0.0/99" is not an address or a network`},
	} {
		_, err := Read(value.MapOf(Option, value.MapOf("out", tt.settings)), "/", os.ReadFile)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", value.Repr(tt.settings), err, tt.want)
		}
	}
	for _, bad := range []value.Value{value.MapOf("salt/*", true), value.NewList("salt/*", int64(7))} { // else the sink would get all
		opts := value.MapOf(Option, value.MapOf("out", value.MapOf("kind", "file", "path", "x")), "event_return_whitelist", bad)
		if _, err := Read(opts, "/", os.ReadFile); err == nil || !strings.Contains(err.Error(), "event_return_whitelist must be a list of strings, not ") {
			t.Errorf("%s: %v", value.Repr(bad), err)
		}
	}
	opts := value.MapOf(Option, value.MapOf("out", value.MapOf("kind", "file", "path", "x")), "event_return_blacklist", "salt/(job|run")
	if _, err := Read(opts, "/", os.ReadFile); err == nil || !strings.Contains(err.Error(), `event_return_blacklist: "salt/(job|run" is neither a glob nor`) {
		t.Errorf("a wrong expression: %v", err)
	}
	if _, err := Read(value.MapOf(Option, value.MapOf("a/b", value.MapOf("kind", "file", "path", "x"))), "/", os.ReadFile); err == nil || !strings.Contains(err.Error(), "letters, digits") {
		t.Errorf("a/b: %v", err)
	}
}

// TestWebhook: events are one message, which is signed, and one that the receiver never takes
// is named.
func TestWebhook(t *testing.T) {
	t.Parallel()
	answer := http.StatusOK
	var got []byte
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		header = r.Header
		w.WriteHeader(answer)
	}))
	t.Cleanup(srv.Close)
	s := read(t, value.NewMap(0), "kind", "webhook", "url", srv.URL+"/secret-path", "key", "k3yk3y", "allow_private", "127.0.0.1")
	events := some(t, "deploy/a", value.MapOf("n", int64(1), "text", "é\u202e"), "deploy/b", value.MapOf("n", int64(2)))
	if err := s.Send(t.Context(), "ctl", events, at); err != nil {
		t.Fatal(err)
	}
	var m struct {
		Version    int
		Controller string
		Events     []struct {
			ID, Tag string
			Data    map[string]any
		}
	}
	if err := json.Unmarshal(got, &m); err != nil || m.Version != 1 || m.Controller != "ctl" || len(m.Events) != 2 || m.Events[1].Tag != "deploy/b" || m.Events[0].Data["text"] != "é\u202e" || len(m.Events[0].ID) != 32 {
		t.Errorf("%s: %+v, %v", got, m, err)
	}
	if header.Get("X-Brine-Event") != "events" || len(header.Get("X-Brine-Delivery")) != 32 || !strings.HasPrefix(header.Get("X-Brine-Signature-256"), "sha256=") {
		t.Errorf("headers %v", header)
	}
	for _, tt := range []struct {
		answer, n      int
		unfit, divides bool
	}{{400, 2, false, true}, {413, 1, true, true}, {404, 1, false, false}, {500, 1, false, false}} {
		answer = tt.answer
		err := s.Send(t.Context(), "ctl", events[:tt.n], at)
		_, unfit := errors.AsType[*UnfitError](err)
		if err == nil || unfit != tt.unfit || Divides(err) != tt.divides || strings.Contains(err.Error(), "secret-path") {
			t.Errorf("the answer %d: %v, unfit %v", tt.answer, err, unfit)
		}
	}
}

// TestSlackHostile: what somebody writes into an event calls nobody and is one line.
func TestSlackHostile(t *testing.T) {
	t.Parallel()
	all, wrong := entries(some(t,
		"deploy/<!channel>`", value.MapOf("id", "web1", "fun", "state.apply", "success", false),
		"a", value.MapOf("text", "<https://evil.example|click>\n& "+strings.Repeat("x", 1000)),
		"b", value.MapOf("id", "w", "fun", "test.ping", "success", true),
	), at)
	got := slackText(all)
	if len(wrong) != 0 || strings.ContainsAny(got, "<>") || strings.Count(got, "\n") != 2 || len(got) > 3*maxSlackEvent {
		t.Errorf("%q, %v", got, wrong)
	}
	for _, want := range []string{"`deploy/&lt;!channel&gt;'` web1 state.apply failed", "\n`b` w test.ping succeeded"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// TestFile: events are lines of JSON, also behind half a line, and only in a file.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "events")
	s := read(t, value.NewMap(0), "kind", "file", "path", path)
	if err := os.WriteFile(path, []byte(`{"half`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Send(t.Context(), "ctl", some(t, "a\nb", value.MapOf("n", int64(1)), "c", value.NewMap(0)), at); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) != 5 || !json.Valid([]byte(lines[1])) || !strings.HasSuffix(lines[1], `"tag":"a\nb","data":{"n":1}}`) {
		t.Errorf("%q", lines)
	}
	if err := os.Symlink(path, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(dir, "link"), dir, filepath.Join(dir, "none", "x"), "/dev/null"} {
		if err := read(t, value.NewMap(0), "kind", "file", "path", bad).Send(t.Context(), "ctl", some(t, "a", value.NewMap(0)), at); err == nil {
			t.Errorf("%s was written", bad)
		}
	}
	if err := s.Send(t.Context(), "ctl", []queue.SinkEvent{{ID: "1", Payload: "{"}}, at); err == nil || !strings.Contains(err.Error(), "not an event") {
		t.Errorf("what is no event: %v", err)
	}
}

// TestLines: logstash and syslog get lines and datagrams.
func TestLines(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	heard := make(chan string, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b, _ := io.ReadAll(bufio.NewReader(c))
			_ = c.Close()
			heard <- string(b)
		}
	}()
	events := some(t, "salt/job/1/ret/a", value.MapOf("_stamp", "2026-11-29T10:00:00.123456", "success", false), "b", value.NewMap(0))
	tcp := "tcp://" + l.Addr().String()
	s := read(t, value.NewMap(0), "kind", "logstash", "address", tcp, "allow_private", "127.0.0.0/8")
	if err := s.Send(t.Context(), "ctl", events, at); err != nil {
		t.Fatal(err)
	}
	want := `{"@timestamp":"2026-11-29T10:00:00.123456Z","@version":"1","type":"brine","controller":"ctl","message":"salt/job/1/ret/a","id":"0xx`
	if got := <-heard; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 || !strings.Contains(got, `"tag":"b","data":{}}`) {
		t.Errorf("logstash got %s", got)
	}
	s = read(t, value.NewMap(0), "kind", "syslog", "address", tcp, "allow_private", "127.0.0.1", "facility", "local3")
	if err := s.Send(t.Context(), "ctl é", events, at); err != nil {
		t.Fatal(err)
	}
	got := <-heard
	n, rest, _ := strings.Cut(got, " ")
	if !strings.HasPrefix(rest, `<155>1 2026-11-29T10:00:00.123456Z ctl__ brine - event - {"id":`) || !strings.Contains(rest, "<158>1 2026-11-29T12:00:00.000000Z ctl__ ") || n == "" {
		t.Errorf("syslog got %s", got)
	}

	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.Close() })
	s = read(t, value.NewMap(0), "kind", "logstash", "address", "udp://"+u.LocalAddr().String(), "allow_private", "127.0.0.1")
	large := some(t, "large", value.MapOf("x", strings.Repeat("x", maxDatagram)))
	err = s.Send(t.Context(), "ctl", append(large, events...), at)
	if unfit, ok := errors.AsType[*UnfitError](err); !ok || len(unfit.Events) != 1 {
		t.Errorf("a large datagram: %v", err)
	}
	if err := s.Send(t.Context(), "ctl", events, at); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<16)
	if n, _, err := u.ReadFrom(b); err != nil || !strings.Contains(string(b[:n]), `"tag":"salt/job/1/ret/a"`) {
		t.Errorf("udp got %s, %v", b[:n], err)
	}

	path := filepath.Join(t.TempDir(), "log")
	x, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	s = read(t, value.NewMap(0), "kind", "syslog", "address", "unix://"+path)
	if err := s.Send(t.Context(), "ctl", events, at); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Read(b); err != nil || !strings.HasPrefix(string(b[:n]), "<11>1 ") {
		t.Errorf("the socket got %s, %v", b[:n], err)
	}
}

// TestAddressHostile: a private address needs a permission, and nothing goes to a public one
// in the clear.
func TestAddressHostile(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"tcp://127.0.0.1:9": "allow_private permits it", "udp://127.0.0.1:9": "allow_private permits it", "tls://127.0.0.1:9": "allow_private permits it",
		"tcp://[::1]:9": "allow_private permits it", "tcp://1.1.1.1:9": "would be sent secrets without encryption",
	} {
		s := read(t, value.NewMap(0), "kind", "logstash", "address", address)
		if err := s.Send(t.Context(), "ctl", some(t, "a", value.NewMap(0)), at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
