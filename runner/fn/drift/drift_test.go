package driftrun_test

import (
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/fleet/drift"
	"brine/internal/py/value"
	"brine/internal/testkit/calltest"
	driftrun "brine/runner/fn/drift"
)

// TestReport has the exit status and the counts of reports: 0 only where hosts are
// recorded, and all of them were looked at not too long ago and agree.
func TestReport(t *testing.T) {
	t.Parallel()
	agrees := func(id string) drift.Seen { return drift.Seen{Host: id, Status: drift.Agrees, States: 1} }
	seen := func(id, status string) drift.Seen {
		x := drift.Seen{Host: id, Status: status, States: 1}
		if status == drift.Deviates {
			x.Due = []drift.Deviation{{ID: "x", Fun: "file.managed", Effect: "change"}}
		}
		return x
	}
	for _, tt := range []struct {
		name    string
		seen    []drift.Seen
		args    string
		retcode int
		summary string
	}{
		{"nothing", nil, "{}", 1, "{}"},
		{"all agree", []drift.Seen{agrees("a"), agrees("b")}, "{}", 0, `{"agrees":2}`},
		{"one deviates", []drift.Seen{agrees("a"), seen("b", drift.Deviates)}, "{}", 2, `{"deviates":1,"agrees":1}`},
		{"unknown", []drift.Seen{agrees("a"), seen("b", drift.Unknown)}, "{}", 2, `{"unknown":1,"agrees":1}`},
		{"unreachable", []drift.Seen{agrees("a"), seen("b", drift.Unreachable)}, "{}", 1, `{"unreachable":1,"agrees":1}`},
		{"unreachable and deviates", []drift.Seen{seen("a", drift.Deviates), seen("b", drift.Unreachable)}, "{}", 1, `{"deviates":1,"unreachable":1}`},
		{"no plan", []drift.Seen{seen("b", drift.NoPlan)}, "{}", 1, `{"no plan":1}`},
		{"some hosts", []drift.Seen{agrees("a"), seen("b", drift.Deviates)}, "{host: a}", 0, `{"agrees":1}`},
		{"no such host", []drift.Seen{agrees("a")}, "{host: 'z*'}", 1, "{}"},
		{"no such plan", []drift.Seen{agrees("a")}, "{plan: state.sls}", 1, "{}"},
		{"outdated", []drift.Seen{agrees("a")}, "{max_age: 2}", 1, `{"outdated":1}`},
		{"any age", []drift.Seen{agrees("a")}, "{max_age: 0}", 0, `{"agrees":1}`},
	} {
		h := host.NewFake()
		h.PutDir("/var/cache/brine", 0o700)
		if tt.seen != nil {
			if err := drift.New(h, "/var/cache/brine").Put("state.apply", h.Now(), tt.seen, nil); err != nil {
				t.Fatal(err)
			}
		}
		h.SetNow(h.Now().Add(3 * time.Hour))
		res, _ := call(t, h, "drift.report", tt.args)
		if got := string(value.EncodeJSON(res.Value.(*value.Map).At("summary"))); res.Retcode != tt.retcode || got != tt.summary {
			t.Errorf("%s: status %d, %s, want %d, %s", tt.name, res.Retcode, got, tt.retcode, tt.summary)
		}
	}
}

// call calls a function on a machine, and returns what it warned of.
func call(t *testing.T, h host.Host, name, args string) (fun.Result, []string) {
	t.Helper()
	env := calltest.Env(h, value.NewMap(0), fun.Entry{Kind: fun.Runner, Name: "drift", Load: driftrun.Runners})
	var said []string
	env.OnWarn = func(w fun.Warning) { said = append(said, w.Text) }
	kw, _ := calltest.YAML(t, args).(*value.Map)
	res, err := env.Invoker.Invoke(t.Context(), fun.Runner, name, fun.Args{Kw: kw})
	if err != nil {
		t.Fatal(err)
	}
	return res, said
}

// TestDamaged: what cannot be read is said, and no report without it is a success.
func TestDamaged(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	h.PutDir("/var/cache/brine", 0o700)
	s := drift.New(h, "/var/cache/brine")
	for _, name := range []string{"state.apply", "state.sls"} {
		if err := s.Put(name, h.Now(), []drift.Seen{{Host: "a", Status: drift.Agrees, States: 1}, {Host: "b", Status: drift.Agrees, States: 1}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	names, err := h.ReadDir("/var/cache/brine/drift")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		path := "/var/cache/brine/drift/" + name
		data, err := h.ReadFile(path)
		switch {
		case err != nil:
			t.Fatal(err)
		case i == 0:
			h.PutFile(path, string(data[:len(data)-20]), 0o600)
		case i == 1:
			h.PutFile(path, "nonsense", 0o600)
		}
	}
	res, said := call(t, h, "drift.report", "{}")
	if all := strings.Join(said, "\n"); res.Retcode != 1 || !strings.Contains(all, "1 are damaged") || !strings.Contains(all, "it is damaged") {
		t.Errorf("status %d, %q", res.Retcode, said)
	}
	if text, _ := call(t, h, "drift.metrics", "{}"); !strings.Contains(value.Str(text.Value), "\nbrine_drift_unreadable 2\n") {
		t.Errorf("%v", text.Value)
	}
	if n, _ := call(t, h, "drift.forget", "{host: '*'}"); n.Value != int64(1) {
		t.Errorf("%v", n.Value)
	}
}
