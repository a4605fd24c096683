package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// fill writes the records of n jobs of a day, of three targets each, without
// syncing them. Every tenth failed on one target.
func fill(tb testing.TB, dir string, n int) *Files {
	tb.Helper()
	now := func() time.Time { return time.Date(2026, 11, 21, 9, 8, 7, 0, time.UTC) }
	f := NewFiles(dir, 0, now)
	begin := now().Add(-24 * time.Hour)
	for i := range n {
		jid := JIDAt(begin.Add(time.Duration(i) * 24 * time.Hour / time.Duration(n)))
		l := load(jid, "web1.example.com", "web2.example.com", "db1.example.com")
		l.Fun, l.Arg = "cmd.run", value.NewList(fmt.Sprintf("systemctl reload service-%d", i))
		var b strings.Builder
		b.Write(value.EncodeJSON(value.MapOf("load", l.Map())))
		b.WriteByte('\n')
		for k, id := range l.Minions {
			code := 0
			if i%10 == 0 && k == 0 {
				code = 1
			}
			line, err := returnLine(returned(id, strings.Repeat("line of output\n", 20), code), "2026-11-21T09:08:07.000000")
			if err != nil {
				tb.Fatal(err)
			}
			b.Write(value.EncodeJSON(line))
			b.WriteByte('\n')
		}
		b.WriteString(`{"end":"2026-11-21T09:08:09.000000"}` + "\n")
		if err := os.MkdirAll(filepath.Dir(f.path(jid)), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(f.path(jid), []byte(b.String()), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return f
}

// BenchmarkWalk goes through 50,000 jobs: as last_run, jobs.active and
// jobs.list_jobs do, and without an index.
func BenchmarkWalk(b *testing.B) {
	dir := b.TempDir()
	if d := os.Getenv("BRINE_JOBS_FILL"); d != "" {
		dir = d
	}
	const n = 50_000
	f := fill(b, dir, n)
	walk := func(b *testing.B, each func(*Row) bool) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			if err := f.Walk(b.Context(), "", "", each); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("rebuild", func(b *testing.B) {
		for b.Loop() {
			indexes, err := filepath.Glob(filepath.Join(f.dir, "*", indexName))
			if err != nil {
				b.Fatal(err)
			}
			for _, path := range indexes {
				if err := os.Remove(path); err != nil {
					b.Fatal(err)
				}
			}
			if err := f.Walk(b.Context(), "", "", func(*Row) bool { return true }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("newest", func(b *testing.B) { walk(b, func(*Row) bool { return false }) })
	b.Run("open", func(b *testing.B) { walk(b, func(r *Row) bool { return !r.Open() }) })
	b.Run("all", func(b *testing.B) { walk(b, func(r *Row) bool { return r.Brief(true).Targets == 3 }) })
}
