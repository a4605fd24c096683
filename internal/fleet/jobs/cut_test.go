package jobs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/internal/py/value"
)

// A process that is killed leaves its last line cut short, anywhere: these tests
// cut files at every byte.

func TestRecordCutAnywhere(t *testing.T) {
	t.Parallel()
	const jid = "20261121090807123456"
	now := func() time.Time { return time.Date(2026, 11, 21, 9, 8, 9, 0, time.UTC) }
	dir := t.TempDir()
	f := NewFiles(dir, 0, now)
	r, err := f.Begin(Load{JID: jid, Fun: "test.ping", Minions: []string{"web1", "web2", "web3"}, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"web1", "web2"} {
		if err := r.Return(returned(id, "é", 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Leave(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "jobs", jid[:10], jid+".job")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := max(0, strings.Count(string(whole[:n]), "\n")-1)
		if n < len(whole) && whole[n] == '\n' && want+1 < strings.Count(string(whole), "\n") && strings.Contains(string(whole[:n]), "\n") {
			want++ // a line that lacks its end alone is whole
		}
		j, err := f.Job(t.Context(), jid)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		list, err := f.Jobs(t.Context(), "", "")
		if (j != nil) != (n > 0) || len(list) == 1 != (n > 0) || err != nil {
			t.Fatalf("%d bytes: job %v, list %v, %v", n, j, list, err)
		}
		if j == nil {
			continue // the id is reserved
		}
		if n < strings.IndexByte(string(whole), '\n') {
			if j.Damage == "" || j.State == Complete {
				t.Fatalf("%d bytes: %+v", n, j)
			}
			continue
		}
		if intact(j) != want || len(j.Outstanding()) != 3-want || j.Damage != "" {
			t.Fatalf("%d bytes: %d returns, want %d; outstanding %v, damage %q", n, intact(j), want, j.Outstanding(), j.Damage)
		}
		// Who comes next goes on behind what was cut short.
		r, err := f.Reopen(j)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Return(returned("web3", "back", 0)); err != nil {
			t.Fatal(err)
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		if j, err = f.Job(t.Context(), jid); err != nil || j.State != Complete || intact(j) != want+1 || j.Returns.Map("web3").At("return") != "back" {
			t.Fatalf("%d bytes, gone on with: %+v, %v", n, j, err)
		}
	}
}

// intact counts the returns that are readable.
func intact(j *Job) int {
	n := 0
	for _, r := range j.Returns.All() {
		if !r.(*value.Map).Has("damaged") {
			n++
		}
	}
	return n
}

// rows is a returner that breaks after a number of batches.
type rows struct {
	got     []string
	batches int // -1: any number
}

func (r *rows) Close() error { return nil }
func (r *rows) Return(_ context.Context, rets []*value.Map) error {
	if r.batches == 0 {
		return os.ErrDeadlineExceeded
	}
	r.batches--
	for _, x := range rets {
		r.got = append(r.got, x.Str("id"))
	}
	return nil
}

func TestSpoolCutAnywhere(t *testing.T) {
	t.Parallel()
	run := func(dir string, r *rows, ids ...string) {
		s := &Sink{Name: "rows", Spool: dir, Batch: 2, Retries: []time.Duration{}, Open: func(context.Context) (Returner, error) { return r, nil }}
		s.Resend()
		for _, id := range ids {
			s.Return(value.MapOf("id", id, "jid", "20261121090807123456"))
		}
		_ = s.Close()
	}
	from := t.TempDir()
	run(from, &rows{}, "web1", "web2", "web3", "web4", "web5")
	names, err := filepath.Glob(filepath.Join(from, "*.spool"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(names[0])), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range strings.Count(string(whole[:n]), "\n") {
			want = append(want, fmt.Sprint("web", i+1))
		}
		if len(want) > 2 && n < len(whole) && whole[n] == '\n' {
			want = append(want, fmt.Sprint("web", len(want)+1)) // as above
		}
		// The returner breaks after a batch; the run after that sends the others.
		all := &rows{batches: 1}
		run(dir, all)
		all.batches = -1
		run(dir, all)
		if !slices.Equal(all.got, want) {
			t.Fatalf("%d bytes: sent %v, want %v", n, all.got, want)
		}
		if left := left(t, dir); len(left) > 0 {
			t.Fatalf("%d bytes: left %v", n, left)
		}
	}
}
