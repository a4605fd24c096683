package sqldb

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// TestMain lets the test binary be a run that hands returns to a returner.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BRINE_SQLDB_RUN"); dir != "" {
		if err := handOver(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runIn returns the log of a run whose returner is a SQLite file in dir.
func runIn(dir string) (*jobs.Log, *jobs.Sink) {
	s := settings("sqlite3", value.MapOf("sqlite3.database", filepath.Join(dir, "x.db"), "sqlite3.timeout", int64(60)))
	sink := &jobs.Sink{
		Name: "sqlite3", Spool: filepath.Join(dir, "spool"), Batch: 7,
		Open: func(ctx context.Context) (jobs.Returner, error) { return s.Spec.New(ctx, s) },
	}
	return &jobs.Log{
		Files: jobs.NewFiles(dir, 0, time.Now), Asked: []string{"sqlite3"}, Now: time.Now,
		Expand: func(n []string) []string { return n },
		Sink:   func(string, string, *value.Map) (*jobs.Sink, error) { return sink, nil },
	}, sink
}

// handOver records jobs for ever and prints "JID ID" when a return is reported.
func handOver(dir string) error {
	log, _ := runIn(dir)
	var ids jobs.JIDs
	for {
		jid := log.Files.Reserve(func() string { return ids.Next(time.Now()) })
		r, err := log.Begin(jobs.Load{JID: jid, Fun: "test.ping", Tgt: "*", TgtType: "glob", Minions: []string{"a", "b", "c"}})
		if err != nil {
			return err
		}
		for _, id := range []string{"a", "b", "c"} {
			if err := r.Return(fun.Return{ID: id, JID: jid, Body: fun.ValueBody{V: id + jid}}); err != nil {
				return err
			}
			fmt.Println(jid, id)
		}
		if err := r.End(); err != nil {
			return err
		}
	}
}

// A run that is killed at any moment loses no return that it reported, and none
// is stored twice: the next run sends what is left. BRINE_TEST_KILLS is how many
// are killed.
func TestKilledRunsLoseNothing(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 12
	if n, err := strconv.Atoi(os.Getenv("BRINE_TEST_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	var reported bytes.Buffer
	limit := 100 // ms until the kill, more where a loaded machine has reported nothing by then
	for range kills {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), "BRINE_SQLDB_RUN="+dir)
		var out bytes.Buffer
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rand.IntN(limit)) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		reported.Write(out.Bytes())
		if out.Len() == 0 {
			limit = min(2*limit, 5000)
		}
	}
	_, sink := runIn(dir)
	for range 60 { // a run gives the rows of others some seconds
		sink.Resend()
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if !jobs.Spooled(sink.Spool) {
			break
		}
		_, sink = runIn(dir)
	}
	if jobs.Spooled(sink.Spool) {
		t.Error("rows are left in the spool")
	}
	s := settings("sqlite3", value.MapOf("sqlite3.database", filepath.Join(dir, "x.db")))
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stored := map[string]int{}
	rows, err := inner(r).db.Query("SELECT jid, id FROM salt_returns")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var jid, id string
		if err := rows.Scan(&jid, &id); err != nil {
			t.Fatal(err)
		}
		stored[jid+" "+id]++
	}
	n := 0
	for line := range strings.Lines(reported.String()) {
		if strings.HasPrefix(line, "error") {
			t.Fatal(line)
		}
		if !strings.HasSuffix(line, "\n") {
			continue
		}
		n++
		if stored[strings.TrimSpace(line)] == 0 {
			t.Errorf("%s was reported and is not stored", strings.TrimSpace(line))
		}
	}
	for row, times := range stored {
		if times > 1 {
			t.Errorf("%s is stored %d times", row, times)
		}
	}
	t.Logf("%d runs were killed, %d returns reported, %d stored", kills, n, len(stored))
	if n == 0 {
		t.Error("no return was reported")
	}
}
