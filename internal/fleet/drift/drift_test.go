package drift_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/host"
	"brine/internal/fleet/drift"
)

const cache = "/var/cache/brine"

// store is a store on a fake machine, with what it warned of.
type store struct {
	*drift.Store
	t    *testing.T
	h    *host.Fake
	said []string
}

func newStore(t *testing.T) *store {
	t.Helper()
	h := host.NewFake()
	h.PutDir(cache, 0o700)
	return &store{Store: drift.New(h, cache), t: t, h: h}
}

func (s *store) put(subject string, seen ...drift.Seen) {
	s.t.Helper()
	if err := s.Put(subject, s.h.Now(), seen, func(text string) { s.said = append(s.said, text) }); err != nil {
		s.t.Fatal(err)
	}
}

// file is the only file of the store.
func (s *store) file() string {
	s.t.Helper()
	names, err := s.h.ReadDir(cache + "/drift")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".drift") {
			return cache + "/drift/" + n
		}
	}
	s.t.Fatal("there is no file")
	return ""
}

func (s *store) all() ([]*drift.Subject, []error) {
	s.t.Helper()
	subjects, faults, err := s.All()
	if err != nil {
		s.t.Fatal(err)
	}
	return subjects, faults
}

func due(ids ...string) []drift.Deviation {
	var out []drift.Deviation
	for _, id := range ids {
		out = append(out, drift.Deviation{ID: id, Fun: "file.managed", Effect: "change"})
	}
	return out
}

// TestTake: a host agrees only when it was looked at and nothing was due; what is not
// known, not reached or without a plan leaves what was known before.
func TestTake(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 2, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		day  int
		seen drift.Seen
		want drift.Record
	}{
		{1, drift.Seen{Status: drift.Unreachable, Why: "no route"}, drift.Record{Status: drift.Unreachable, Why: "no route", Tried: day(1)}},
		{2, drift.Seen{Status: drift.Deviates, States: 3, Due: due("a", "b")}, drift.Record{Status: drift.Deviates, Tried: day(2), Looked: day(2), Since: day(2), States: 3, Due: 2, Deviations: due("a", "b")}},
		{3, drift.Seen{Status: drift.Agrees, States: 3}, drift.Record{Status: drift.Agrees, Tried: day(3), Looked: day(3), Agreed: day(3), States: 3}},
		{4, drift.Seen{Status: drift.NoPlan, Why: "no such SLS"}, drift.Record{Status: drift.NoPlan, Why: "no such SLS", Tried: day(4), Looked: day(3), Agreed: day(3), States: 3}},
		{5, drift.Seen{Status: drift.Unknown, States: 3, Due: due("c")}, drift.Record{Status: drift.Unknown, Tried: day(5), Looked: day(5), Agreed: day(3), Since: day(5), States: 3, Due: 1, Deviations: due("c")}},
		{6, drift.Seen{Status: drift.Deviates, States: 3, Due: due("c")}, drift.Record{Status: drift.Deviates, Tried: day(6), Looked: day(6), Agreed: day(3), Since: day(5), States: 3, Due: 1, Deviations: due("c")}},
		{7, drift.Seen{Status: drift.Unreachable, Why: "down"}, drift.Record{Status: drift.Unreachable, Why: "down", Tried: day(7), Looked: day(6), Agreed: day(3), Since: day(5), States: 3, Due: 1, Deviations: due("c")}},
		{8, drift.Seen{Status: drift.Agrees, States: 4}, drift.Record{Status: drift.Agrees, Tried: day(8), Looked: day(8), Agreed: day(8), States: 4}},
	} {
		s.h.SetNow(day(tt.day))
		tt.seen.Host, tt.want.Host = "web1", "web1"
		s.put("state.apply", tt.seen)
		subjects, faults := s.all()
		if len(subjects) != 1 || len(subjects[0].Records) != 1 || len(faults) > 0 || subjects[0].Damaged > 0 {
			t.Fatalf("day %d: %+v, %v", tt.day, subjects, faults)
		}
		if d := cmp.Diff(tt.want, subjects[0].Records[0]); d != "" {
			t.Errorf("day %d (-want +got):\n%s", tt.day, d)
		}
	}
	// A plan that was made earlier and ends later says nothing new.
	if err := s.Put("state.apply", day(5), []drift.Seen{{Host: "web1", Status: drift.Deviates, States: 1, Due: due("x")}}, nil); err != nil {
		t.Fatal(err)
	}
	if subjects, _ := s.all(); subjects[0].Records[0].Status != drift.Agrees {
		t.Errorf("an older plan replaced a newer one: %+v", subjects[0].Records[0])
	}
	r := drift.Record{Status: drift.Agrees, Looked: day(1)}
	if r.At(day(2), time.Hour) != drift.Outdated || r.At(day(2), 0) != drift.Agrees || r.At(day(1).Add(time.Minute), time.Hour) != drift.Agrees {
		t.Error("what is known of a host that agrees is outdated after an hour, and never without an age")
	}
	if st, err := s.h.Stat(s.file()); err != nil || st.Perm() != 0o600 {
		t.Errorf("mode %o, %v", st.Perm(), err)
	}
	if st, err := s.h.Stat(cache + "/drift"); err != nil || st.Perm() != 0o700 {
		t.Errorf("mode of the directory %o, %v", st.Perm(), err)
	}
}

// TestTorn: of a file that ends anywhere, whole records are read and the rest is
// counted; what is not there never agrees.
func TestTorn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.put("state.apply", drift.Seen{Host: "a", Status: drift.Agrees, States: 1}, drift.Seen{Host: "b", Status: drift.Deviates, States: 2, Due: due("x")}, drift.Seen{Host: "c", Status: drift.Unreachable, Why: "no"})
	path := s.file()
	whole, err := s.h.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n')
	for n := range whole {
		s.h.PutFile(path, string(whole[:n]), 0o600)
		subjects, faults := s.all()
		if n < first {
			if len(subjects) != 0 || len(faults) != 1 {
				t.Fatalf("%d bytes: %+v, %v", n, subjects, faults)
			}
			continue
		}
		lines := strings.Count(string(whole[first+1:max(n, first+1)]), "\n")
		part := len(subjects[0].Records) + subjects[0].Damaged
		if got := len(subjects[0].Records); got < lines || got > lines+1 || part > 3 || part < lines {
			t.Fatalf("%d bytes with %d records: %+v", n, lines, subjects[0])
		}
	}
	s.h.PutFile(path, string(whole[:first/2]), 0o600)
	s.put("state.apply", drift.Seen{Host: "a", Status: drift.Agrees, States: 1})
	if len(s.said) != 1 || !strings.Contains(s.said[0], "it was set aside as "+path+".damaged") {
		t.Errorf("said: %q", s.said)
	}
	if subjects, faults := s.all(); len(subjects) != 1 || len(faults) > 0 {
		t.Errorf("%+v, %v", subjects, faults)
	}
}

// TestUntrusted: records that no plan makes, and files that others may have written,
// are not believed.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.put("state.apply", drift.Seen{Host: "a", Status: drift.Agrees, States: 1})
	path := s.file()
	whole, err := s.h.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, line, _ := strings.Cut(string(whole), "\n")
	change := func(set map[string]any) string {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		for k, v := range set {
			if m[k] = v; v == nil {
				delete(m, k)
			}
		}
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(out) + "\n"
	}
	s.h.PutFile(path, head+"\n"+change(nil), 0o600)
	if subjects, _ := s.all(); len(subjects) != 1 || len(subjects[0].Records) != 1 {
		t.Fatal("a record that is right is not read")
	}
	long := strings.Repeat("x", 301)
	for _, bad := range []map[string]any{
		{"host": ""},
		{"host": nil},
		{"host": long},
		{"host": 5},
		{"status": "fine"},
		{"status": nil},
		{"status": drift.Outdated},
		{"status": drift.Deviates},
		{"status": drift.Unknown},
		{"tried": "2124-01-01T00:00:00Z"},
		{"tried": nil},
		{"tried": "yesterday"},
		{"looked": nil},
		{"looked": "2020-01-01T00:00:00Z"},
		{"looked": "2020-01-01T00:00:00Z", "agreed": "2020-01-01T00:00:00Z"},
		{"agreed": nil},
		{"agreed": "2020-01-01T00:00:00Z"},
		{"since": "2020-01-01T00:00:00Z"},
		{"states": 0},
		{"states": -1},
		{"due": 1},
		{"deviations": due("x")},
		{"why": long},
		{"more": true},
	} {
		s.h.PutFile(path, head+"\n"+change(bad), 0o600)
		if subjects, _ := s.all(); len(subjects) != 1 || len(subjects[0].Records) != 0 || subjects[0].Damaged != 1 {
			t.Errorf("%v is believed", bad)
		}
	}
	s.h.PutFile(path, head+"\n"+line+line+"nonsense\n\x00\n"+line[:len(line)-1]+"{}\n", 0o600)
	if subjects, _ := s.all(); len(subjects[0].Records) != 1 || subjects[0].Damaged != 4 {
		t.Errorf("a host twice, and lines that are no records: %+v", subjects[0])
	}
	for name, spoil := range map[string]func(){
		"mode":    func() { s.h.PutFile(path, string(whole), 0o666) },
		"group":   func() { s.h.PutFile(path, string(whole), 0o620) },
		"owner":   func() { s.h.PutFile(path, string(whole), 0o600); s.h.PutOwner(path, 1000, 1000) },
		"subject": func() { s.h.PutFile(path, strings.Replace(string(whole), "state.apply", "state.other", 1), 0o600) },
		"head":    func() { s.h.PutFile(path, line, 0o600) },
		"link":    func() { s.h.PutFile("/tmp/x", string(whole), 0o600); _ = s.h.Remove(path); s.h.PutLink(path, "/tmp/x") },
	} {
		spoil()
		if subjects, faults := s.all(); len(subjects) > 0 || len(faults) != 1 {
			t.Errorf("%s: %+v, %v", name, subjects, faults)
		}
		_ = s.h.Remove(path)
	}
	// A newer format is neither read nor replaced.
	newer := strings.Replace(string(whole), `"format":1`, `"format":2`, 1)
	s.h.PutFile(path, newer, 0o600)
	if _, faults := s.all(); len(faults) != 1 || !strings.Contains(faults[0].Error(), "a newer brine wrote it") {
		t.Errorf("%v", faults)
	}
	if err := s.Put("state.apply", s.h.Now(), nil, nil); err == nil {
		t.Error("a file of a newer brine was replaced")
	}
	if now, _ := s.h.ReadFile(path); string(now) != newer {
		t.Error("a file of a newer brine was changed")
	}
}

// TestBounds: what is kept does not grow without end, and what is dropped is said.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for n := range drift.MaxSubjects + 5 {
		s.h.SetNow(host.FakeTime().Add(time.Duration(n) * time.Minute))
		s.put(fmt.Sprintf("state.apply %03d", n), drift.Seen{Host: "a", Status: drift.Agrees, States: 1})
	}
	subjects, _ := s.all()
	if len(subjects) != drift.MaxSubjects || subjects[0].Name != "state.apply 005" || len(s.said) != 5 {
		t.Errorf("%d subjects from %q; said %q", len(subjects), subjects[0].Name, s.said)
	}
	long := strings.Repeat("é", 200)
	s.put(strings.Repeat("mods ", 1000), drift.Seen{Host: "a", Status: drift.Deviates, States: 40, Due: append(due(long), due(make([]string, 30)...)...)})
	subjects, faults := s.all()
	r := subjects[0].Records[0]
	if len(faults) > 0 || !strings.HasPrefix(subjects[0].Name, "mods ") || len(subjects[0].Name) > 400 || r.Due != 31 || len(r.Deviations) != 20 || len(r.Deviations[0].ID) > 300 {
		t.Errorf("%v, %+v", faults, subjects[0])
	}
	s = newStore(t)
	var many []drift.Seen
	for n := range drift.MaxHosts + 2 {
		many = append(many, drift.Seen{Host: fmt.Sprintf("h%05d", n), Status: drift.Agrees, States: 1})
	}
	s.put("state.apply", many...)
	if subjects, _ := s.all(); len(subjects[0].Records) != drift.MaxHosts || len(s.said) != 1 || !strings.Contains(s.said[0], "the 2 that") {
		t.Errorf("%d hosts; said %q", len(subjects[0].Records), s.said)
	}
	s = newStore(t)
	s.put("state.apply", drift.Seen{Host: strings.Repeat("h", 400), Status: drift.Agrees, States: 1}, drift.Seen{Host: "empty", Status: drift.Agrees})
	if subjects, _ := s.all(); len(subjects[0].Records) != 0 || len(s.said) != 1 {
		t.Errorf("a host without states agrees: %+v; said %q", subjects[0], s.said)
	}
}

// TestTogether: plans that end at the same time lose nothing of each other.
func TestTogether(t *testing.T) {
	t.Parallel()
	h := host.NewLocal()
	dir := filepath.Join(t.TempDir(), "cache")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			s := drift.New(h, dir)
			for k := range 10 {
				id := fmt.Sprintf("h%d-%d", n, k)
				if err := s.Put("state.apply", h.Now(), []drift.Seen{{Host: id, Status: drift.Agrees, States: 1}}, func(text string) { t.Error(text) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	subjects, faults, err := drift.New(h, dir).All()
	if err != nil || len(faults) > 0 || len(subjects) != 1 || len(subjects[0].Records) != 80 {
		t.Errorf("%v, %v, %+v", err, faults, subjects)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if n, err := s.Forget(func(string, string) bool { return true }); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	s.put("one", drift.Seen{Host: "a", Status: drift.Agrees, States: 1}, drift.Seen{Host: "b", Status: drift.Agrees, States: 1})
	s.put("two", drift.Seen{Host: "a", Status: drift.Agrees, States: 1})
	if n, err := s.Forget(func(_, h string) bool { return h == "a" }); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if subjects, _ := s.all(); len(subjects) != 1 || len(subjects[0].Records) != 1 || subjects[0].Records[0].Host != "b" {
		t.Errorf("%+v", subjects)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.h.SetNow(time.Unix(1_700_000_000, 0))
	s.put(`a "b"`+"\n", drift.Seen{Host: "web1", Status: drift.Agrees, States: 1}, drift.Seen{Host: `w\"`, Status: drift.Unreachable, Why: "no"})
	subjects, _ := s.all()
	subjects[0].Damaged = 1
	var b strings.Builder
	if err := drift.Metrics(&b, subjects, 2); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		`brine_drift_host_status{plan="a \"b\"\n",host="w\\\"",status="unreachable"} 1`, `brine_drift_host_status{plan="a \"b\"\n",host="web1",status="agrees"} 1`,
		`brine_drift_host_states{plan="a \"b\"\n",host="web1"} 0`, `brine_drift_host_tried_timestamp_seconds{plan="a \"b\"\n",host="w\\\""} 1700000000`,
		`brine_drift_host_tried_timestamp_seconds{plan="a \"b\"\n",host="web1"} 1700000000`, `brine_drift_host_looked_timestamp_seconds{plan="a \"b\"\n",host="web1"} 1700000000`,
		`brine_drift_host_agreed_timestamp_seconds{plan="a \"b\"\n",host="web1"} 1700000000`, `brine_drift_unreadable 3`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Metrics (-want +got):\n%s", d)
	}
}
