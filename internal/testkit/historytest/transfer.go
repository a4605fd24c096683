package historytest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
)

// Export returns what a store exports.
func Export(t testing.TB, s *history.Store, q history.Query) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.Export(t.Context(), &b, q); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Transfers tries that what a store exports comes back from another one as it was. Both
// are empty before, and from is left with what it exported.
func Transfers(t *testing.T, from, to *history.Store) {
	t.Helper()
	n := 0
	for day := range 40 { // more than one page of executions
		for _, name := range []string{"web", "ünïcode", "db"} {
			jid := fmt.Sprintf("202601%02d0908%02d000001", day%28+1, n%60)
			n++
			if err := from.Return(t.Context(), Rows(jid, name, 1+day%3, 1+n%5, map[string]bool{"web1": n%7 == 0})); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := from.Return(t.Context(), Rows("20261121090807000001", "begun", 2, 1, nil)[:2]); err != nil {
		t.Fatal(err)
	}
	text := Export(t, from, history.Query{})
	m := &history.Importer{Store: to, Name: "x.ndjson", Keep: "20260102000000000000"}
	got, err := m.Import(t.Context(), strings.NewReader(text))
	if err != nil || got.Executions != int64(strings.Count(text, `{"execution":`)) || got.Hosts != int64(strings.Count(text, `{"host":`)) ||
		got.Definitions != int64(strings.Count(text, `{"definition":`)) || got.Present != 0 || got.Old == 0 || got.Old > 6 {
		t.Fatalf("Import = %+v, %v", got, err)
	}
	if back := Export(t, to, history.Query{}); back != text {
		t.Errorf("it comes back otherwise:\n%s\nand not\n%s", back, text)
	}
	again, err := (&history.Importer{Store: to}).Import(t.Context(), strings.NewReader(text))
	if err != nil || again.Executions != 0 || again.Present != got.Executions || again.Differ != 0 || again.Hosts != 0 {
		t.Errorf("the second Import = %+v, %v", again, err)
	}
	ended := strings.Replace(text, `"status":"running"`, `"status":"failed"`, 1)
	if ended == text {
		t.Fatal("no execution has begun")
	}
	if again, err = (&history.Importer{Store: to}).Import(t.Context(), strings.NewReader(ended)); err != nil || again.Differ != 1 {
		t.Errorf("Import of another status = %+v, %v", again, err)
	}
	since, _ := jobs.Time("20261101000000000000")
	if part := Export(t, to, history.Query{Since: since}); strings.Count(part, `{"execution":`) != 1 || strings.Count(part, `{"definition":`) != 1 {
		t.Errorf("a part: %s", part)
	}
	if part := Export(t, to, history.Query{Name: "ü*"}); strings.Count(part, `{"definition":`) != 3 || strings.Contains(part, `"name":"web"`) {
		t.Errorf("a part by name has %d definitions", strings.Count(part, `{"definition":`))
	}
}
