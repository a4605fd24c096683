package beacon

import (
	"fmt"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

func newSpool(t *testing.T) (*Spool, *host.Fake, *[]string) {
	h := host.NewFake()
	warns := &[]string{}
	return NewSpool(h, "/cache", func(err error) { *warns = append(*warns, err.Error()) }), h, warns
}

// numberedEvents makes events of web1.
func numberedEvents(from, n int) []Event {
	out := make([]Event, n)
	for i := range out {
		out[i] = Event{
			Tag:  "salt/beacon/web1/load/",
			Data: value.MapOf("n", int64(from+i), "id", "web1", "_stamp", fmt.Sprintf("2024-01-02T03:04:05.%06d", from+i)),
		}
	}
	return out
}

// take takes a batch as a controller does, and says what is in it.
func take(t *testing.T, s *Spool) (*Batch, string) {
	t.Helper()
	b, err := s.Take("web1")
	if err != nil {
		t.Fatal(err)
	}
	got, refused, err := Decode(string(b.Encode("web1")), "web1")
	if err != nil || refused.N > 0 {
		t.Fatal(refused, err)
	}
	var out []string
	for _, e := range got.Events {
		if n, ok := e.Data.Get("lost"); ok {
			out = append(out, fmt.Sprintf("%s %v", strings.TrimPrefix(e.Tag, "salt/beacon/web1/"), n))
		} else {
			out = append(out, fmt.Sprint(e.Data.At("n")))
		}
	}
	if len(out) > 4 {
		out = append(append(out[:2], "..."), out[len(out)-1])
	}
	return got, fmt.Sprintf("%s, %d left", strings.Join(out, " "), got.Left)
}

// done removes batches.
func done(t *testing.T, s *Spool, want int, names ...string) {
	t.Helper()
	if n, err := s.Done(names); err != nil || n != want {
		t.Errorf("%d events were removed (%v), want %d", n, err, want)
	}
}

// A batch comes again, with the same events, until it is done.
func TestSpool(t *testing.T) {
	t.Parallel()
	s, h, _ := newSpool(t)
	want := func(text string) *Batch {
		t.Helper()
		b, got := take(t, s)
		if got != text {
			t.Errorf("%s, want %s", got, text)
		}
		return b
	}
	want(", 0 left")
	if err := s.Add(numberedEvents(0, 3)); err != nil {
		t.Fatal(err)
	}
	first := want("0 1 2, 0 left")
	if err := s.Add(numberedEvents(3, 1)); err != nil {
		t.Fatal(err)
	}
	again := want("0 1 2 3, 0 left")
	done(t, s, 0, "0123456789abcdef-3-0") // of another spool
	done(t, s, 3, "0123456789abcdef-9-0", first.Name)
	done(t, s, 0, first.Name)
	want("3, 0 left")
	done(t, s, 1, again.Name)
	want(", 0 left")
	if err := s.Add(numberedEvents(4, 700)); err != nil {
		t.Fatal(err)
	}
	done(t, s, 500, want("4 5 ... 503, 200 left").Name)
	want("504 505 ... 703, 0 left")
	if _, err := s.Done([]string{"../x"}); err == nil {
		t.Error("a name that is none was taken")
	}
	if st, err := h.Stat("/cache/beacons/spool.jsonl"); err != nil || st.Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
}

// What is too much pushes the oldest out, and an event says how many.
func TestFullSpool(t *testing.T) {
	t.Parallel()
	s, _, _ := newSpool(t)
	if err := s.Add(numberedEvents(0, MaxEvents+5)); err != nil {
		t.Fatal(err)
	}
	b, got := take(t, s)
	if want := "spool/lost 5 5 ... 504, 9500 left"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := s.Add(numberedEvents(MaxEvents+5, 1)); err != nil { // which pushes out one of the batch
		t.Fatal(err)
	}
	done(t, s, 499, b.Name)
	if _, got := take(t, s); got != "spool/lost 1 505 ... 1004, 9001 left" {
		t.Error(got)
	}
	large := numberedEvents(0, 40)
	for _, e := range large {
		e.Data.Set("text", strings.Repeat("x", maxEvent-1000))
	}
	if err := s.Add(large); err != nil {
		t.Fatal(err)
	}
	if b, err := s.Take("web1"); err != nil || b.Events[0].Data.At("lost").(int64) < 9000 || len(b.Events) != 1+4 {
		t.Errorf("%d events, %v", len(b.Events), err)
	}
	large[0].Data.Set("text", strings.Repeat("x", maxEvent))
	if err := s.Add(large); err == nil {
		t.Error("an event was taken that is too large")
	}
}

// The file of a spool may have anything.
func TestHostileSpool(t *testing.T) {
	t.Parallel()
	good := `{"n": 7, "tag": "salt/beacon/web1/load/", "data": {"n": 7, "id": "web1", "_stamp": "2024-01-02T03:04:05.000000"}}` + "\n"
	head := `{"spool": "0123456789abcdef", "next": 3, "lost": 0, "lost_at": ""}` + "\n"
	for text, want := range map[string]string{
		"":                                   "8, 0 left",
		good:                                 "7 8, 0 left",
		head + good + `{"n": 8, "tag": "sal`: "spool/lost 1 7 8, 0 left",
		head + good + good:                   "spool/lost 1 7 8, 0 left",
		head + "x\n\n" + good:                "spool/lost 2 7 8, 0 left",
		`{"spool": "x"}` + "\n" + good:       "spool/lost 1 7 8, 0 left",
		strings.Replace(head, `"lost": 0`, `"lost": -4`, 1) + good: "spool/lost 1 7 8, 0 left",
		strings.Repeat("[", 3<<20):                                 "spool/lost 1 8, 0 left",
	} {
		s, h, _ := newSpool(t)
		h.PutFile("/cache/beacons/spool.jsonl", text, 0o600)
		if err := s.Add(numberedEvents(8, 1)); err != nil {
			t.Fatal(err)
		}
		if _, got := take(t, s); got != want {
			t.Errorf("%.200q: %s, want %s", text, got, want)
		}
	}
}

// A machine cannot speak for another one, nor say too much.
func TestDecode(t *testing.T) {
	t.Parallel()
	const batch = "0123456789abcdef-1-0"
	event := func(tag, stamp string) string {
		return `{"tag": "` + tag + `", "data": {"id": "db1", "brine_cause": ["1"], "_stamp": "` + stamp + `"}}`
	}
	const now = "2024-01-02T03:04:05.000000"
	text := func(id, batch string, events ...string) string {
		return `{"id": "` + id + `", "batch": "` + batch + `", "events": [` + strings.Join(events, ", ") + `], "left": 1000000000000}`
	}
	many := make([]string, batchEvents+2)
	for i := range many {
		many[i] = event("salt/beacon/web1/load/", now)
	}
	for _, tt := range []struct{ text, want string }{
		{text("web1", batch, event("salt/beacon/web1/load/", now)), "[salt/beacon/web1/load/]"},
		{text("own.name", batch, event("salt/beacon/own.name/log/x/y", now)), "[salt/beacon/web1/log/x/y]"},
		{text("web1", batch, event("salt/beacon/db1/load/", now), event("salt/beacon/web1/load/", now)), "[salt/beacon/web1/load/] 1 refused: the tag \"salt/beacon/db1/load/\" is not one of its beacons"},
		{text("web1", batch, event("salt/auth", now)), "[] 1 refused: the tag \"salt/auth\""},
		{text("web1", batch, event("salt/beacon/web1/", now)), "[] 1 refused: the tag"},
		{text("a/b", batch, event("salt/beacon/a/b/load/", now)), "[] 1 refused: \"a/b\" is not the id of a machine"},
		{text("", batch, event("salt/beacon//load/", now)), "[] 1 refused: \"\" is not the id"},
		{text("web1", batch, event(`salt/beacon/web1/load/\u001b[1m`, now)), "[] 1 refused: the tag"},
		{text("web1", batch, event("salt/beacon/web1/load/"+strings.Repeat("x", 2000), now)), "[] 1 refused: the tag"},
		{text("web1", batch, event("salt/beacon/web1/load/", "now")), "[] 1 refused: \"salt/beacon/web1/load/\" has no _stamp"},
		{text("web1", batch, "3", `{"tag": "salt/beacon/web1/load/", "data": 1}`), "[] 2 refused: the tag \"\""},
		{text("web1", "x; rm -rf /", event("salt/beacon/web1/load/", now)), "[] \"x; rm -rf /\" is not the name of a batch"},
		{text("web1", batch, many...), "[] it has 502 events, more than 501"},
		{"hello", "[] it is not a batch of events: \"hello\""},
		{strings.Repeat("[", 1<<20), "[] it is not a batch"},
		{strings.Repeat(" ", maxBatch+1), fmt.Sprintf("[] it has %d bytes", maxBatch+1)},
	} {
		b, refused, err := Decode(tt.text, "web1")
		var tags []string
		if b != nil {
			for _, e := range b.Events {
				tags = append(tags, e.Tag)
				if e.Data.Str("id") != "web1" || e.Data.Has("brine_cause") {
					t.Errorf("%s: %s", e.Tag, value.EncodeJSON(e.Data))
				}
			}
			if b.Left > MaxEvents {
				t.Errorf("%d are left", b.Left)
			}
		}
		got := fmt.Sprint(tags)
		if refused.N > 0 {
			got += fmt.Sprintf(" %d refused: %s", refused.N, refused.Why)
		}
		if err != nil {
			got += " " + err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%.200s:\n%s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"id": "web1", "batch": "0123456789abcdef-1-0", "events": [{"tag": "salt/beacon/web1/load/", "data": {"_stamp": "2024-01-02T03:04:05.000000"}}], "left": 0}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, _, err := Decode(text, "db1")
		if err != nil {
			return
		}
		for _, e := range b.Events {
			if !strings.HasPrefix(e.Tag, "salt/beacon/db1/") || e.Data.Str("id") != "db1" {
				t.Errorf("%q became %q of %q", text, e.Tag, e.Data.Str("id"))
			}
		}
	})
}
