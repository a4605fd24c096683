package ui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/fleet/drift"
)

// TestDrift: the page has what deviates first, calls what was not looked at so, and
// says what cannot be read.
func TestDrift(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := s.browser(Viewer)
	if text := b.get("/drift").Body.String(); !strings.Contains(text, "Nothing is recorded.") {
		t.Errorf("an empty page: %s", text)
	}
	h := host.NewLocal()
	st := drift.New(h, filepath.Join(s.dir, "cache"))
	put := func(plan string, at time.Time, seen ...drift.Seen) {
		t.Helper()
		if err := st.Put(plan, at, seen, func(text string) { t.Error(text) }); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	put("state.apply "+hostile, now,
		drift.Seen{Host: "good", Status: drift.Agrees, States: 1}, drift.Seen{Host: "away", Status: drift.Unreachable, Why: "no route"},
		drift.Seen{Host: hostile, Status: drift.Deviates, Why: hostile, States: 1, Due: []drift.Deviation{{ID: hostile, Fun: hostile, Text: hostile}}})
	put("state.highstate", now.Add(-50*time.Hour), drift.Seen{Host: "old", Status: drift.Agrees, States: 1})
	v := driftOf(must(t, st), 2, now)
	var got []string
	for _, x := range v.Rows {
		got = append(got, x.Host+" "+x.Status)
	}
	if want := hostile + " deviates|away unreachable|old outdated|good agrees"; strings.Join(got, "|") != want || v.Damaged != 2 {
		t.Errorf("%q, want %q; damaged %d", got, want, v.Damaged)
	}
	text := b.get("/drift").Body.String()
	for _, want := range []string{"1 deviates, 1 unreachable, 1 outdated, 1 agrees", "no route", "never", `<span class="badge is-ok">agrees</span>`, `<span class="badge is-failed">unreachable</span>`, `<span class="badge is-unfinished">outdated</span>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "<script>alert") || strings.Contains(text, "<img src=x") {
		t.Error("the page has text of others as HTML")
	}
	names, err := h.ReadDir(filepath.Join(s.dir, "cache", "drift"))
	if err != nil {
		t.Fatal(err)
	}
	mode := host.WriteOptions{}
	for _, name := range names {
		if strings.HasSuffix(name, ".drift") {
			if err := h.WriteFile(filepath.Join(s.dir, "cache", "drift", name), strings.NewReader("nonsense"), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text := b.get("/drift").Body.String(); !strings.Contains(text, "2 records are damaged and left out.") || strings.Contains(text, "Nothing is recorded") {
		t.Errorf("damaged files: %s", text)
	}
}

func must(t *testing.T, st *drift.Store) []*drift.Subject {
	t.Helper()
	subjects, _, err := st.All()
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}
