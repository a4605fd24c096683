package runner

import (
	"io"
	"strings"
	"testing"

	"brine/internal/core/fun"
	"brine/internal/fleet/queue"
	"brine/internal/py/value"
)

// TestReturned: a runner may name the outputter of what it returns, and what it has beside
// its data is shown with it.
func TestReturned(t *testing.T) {
	t.Parallel()
	data := value.MapOf("web1", true)
	for _, tt := range []struct {
		name      string
		res       fun.Result
		want, out string
	}{
		{"text", fun.Result{Value: "x", Out: "txt"}, "'x'", "txt"},
		{"a mapping", fun.Result{Value: data}, "{'web1': True}", ""},
		{"only data", fun.Result{Value: value.MapOf("data", data, "outputter", "highstate"), Out: "txt"}, "{'web1': True}", "highstate"},
		{"data and more", fun.Result{Value: value.MapOf("data", data, "outputter", "highstate", "retcode", int64(1))}, "{'data': {'web1': True}, 'outputter': 'highstate', 'retcode': 1}", "highstate"},
		{"no data", fun.Result{Value: value.MapOf("outputter", "yaml", "x", int64(1))}, "{'outputter': 'yaml', 'x': 1}", "yaml"},
		{"no name", fun.Result{Value: value.MapOf("data", data, "outputter", ""), Out: "json"}, "{'data': {'web1': True}, 'outputter': ''}", "json"},
		{"not a name", fun.Result{Value: value.MapOf("data", data, "outputter", int64(2))}, "{'data': {'web1': True}, 'outputter': 2}", ""},
	} {
		got, out := returned(tt.res)
		if value.Repr(got) != tt.want || out != tt.out {
			t.Errorf("%s: %s for %q, want %s for %q", tt.name, value.Repr(got), out, tt.want, tt.out)
		}
	}
}

// TestQueued: the process of an entry reads what a worker wrote, and has the rest of stdin.
func TestQueued(t *testing.T) {
	t.Parallel()
	run := &QueuedRun{
		JID: "20260102030405000001", Entry: "20260102030405000000", Earlier: []string{"20260102030405000000"},
		Work: &queue.Work{Args: []value.Value{"orch.web"}, Kwargs: value.MapOf("pillar", value.MapOf("a", int64(1))), SaltEnv: "dev"},
	}
	line, err := run.Encode()
	if err != nil || strings.Count(string(line), "\n") != 1 {
		t.Fatalf("%q, %v", line, err)
	}
	got, rest, err := ReadQueued(strings.NewReader(string(line) + "more"))
	if err != nil {
		t.Fatal(err)
	}
	if more, err := io.ReadAll(rest); string(more) != "more" || err != nil {
		t.Errorf("the rest is %q, %v", more, err)
	}
	again, err := got.Encode()
	if err != nil || string(again) != string(line) || got.Entry != run.Entry {
		t.Errorf("%s, %v, want %s", again, err, line)
	}
}

// TestQueuedRefused: work that a queue cannot keep is not encoded, and a line that is cut
// or of another kind is an error.
func TestQueuedRefused(t *testing.T) {
	t.Parallel()
	keys := value.NewMap(0)
	keys.Set(int64(1), "x")
	if line, err := (&QueuedRun{JID: "20260102030405000001", Work: &queue.Work{Kwargs: keys}}).Encode(); err == nil {
		t.Errorf("a key that is not a string: %s", line)
	}
	for _, tt := range []struct{ line, err string }{
		{"", "the worker handed over nothing"},
		{`{"jid": "20260102030405000001"}`, "the worker handed over nothing"},
		{"{\n", "Expecting property name"},
		{"[]\n", "the worker handed over no jid"},
		{`{"jid": "../x", "work": "{}"}` + "\n", "the worker handed over no jid"},
		{`{"jid": "20260102030405000001", "work": "{}"}` + "\n", "the worker handed over no jid"},
		{`{"jid": "20260102030405000001", "entry": "20260102030405000000"}` + "\n", ""},
		{`{"jid": "20260102030405000001", "entry": "20260102030405000000", "work": "[]"}` + "\n", "it is not a mapping"},
	} {
		r, _, err := ReadQueued(strings.NewReader(tt.line))
		if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %+v, %v, want %q", tt.line, r, err, tt.err)
		}
	}
}
