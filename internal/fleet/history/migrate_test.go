package history_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/testkit/historytest"
)

// raw opens a SQLite file, without the tables of a history.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, stmts ...string) {
	t.Helper()
	for _, stmt := range stmts {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

func TestMigrateSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	db := raw(t, path)
	historytest.Migrates(t, history.SQLite, func(query string) { exec(t, db, query) }, func() *history.Store {
		db := raw(t, path)
		return history.New(db, history.SQLite, db.Close)
	})
}

// A file that was brought up to date has the same columns and indexes as a new one.
func TestMigratedIsAsNew(t *testing.T) {
	t.Parallel()
	shape := func(path string) string {
		var out []string
		db := raw(t, path)
		rows, err := db.Query("SELECT m.type || ' ' || m.name || ' ' || COALESCE(c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' ' || c.pk || ' ' || COALESCE(c.dflt_value, ''), '') " +
			"FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c ON m.type = 'table' ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	dir := t.TempDir()
	exec(t, raw(t, filepath.Join(dir, "old.db")), historytest.Version1(t, history.SQLite)...)
	open(t, filepath.Join(dir, "old.db")).Close()
	open(t, filepath.Join(dir, "new.db")).Close()
	if was, want := shape(filepath.Join(dir, "old.db")), shape(filepath.Join(dir, "new.db")); was != want || !strings.Contains(want, "program") || !strings.Contains(want, "run_limit") {
		t.Errorf("after its migration it has\n%s\nand a new one\n%s", was, want)
	}
}

// A newer history is refused and left as it is, and so are newer rows of a spool: older
// ones beside them are stored.
func TestNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "history.db")
	open(t, path).Close()
	exec(t, raw(t, path), "UPDATE brine_versions SET version = 4")
	s, err := history.Open(t.Context(), path, func(err error) { t.Errorf("warned: %v", err) })
	if s != nil || err == nil || !strings.Contains(err.Error(), "history.db: the history has tables of version 4, and this brine knows them up to version 3: a newer brine has brought them up to date, so install that brine here") {
		t.Fatalf("Open = %v, %v", s, err)
	}
	exec(t, raw(t, path), "UPDATE brine_versions SET version = 3")
	old := historytest.Spool1(t)
	newer := strings.ReplaceAll(strings.ReplaceAll(old, historytest.Spooled1, "20261130000000000001"), `"kind":"return","data":{`, `"kind":"return","data":{"version":4,`)
	for name, text := range map[string]string{"20261129-1-0.spool": newer, "20261129-2-0.spool": old} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	warned := strings.Join(historytest.Sent(t, dir, func(ctx context.Context) (*history.Store, error) { return history.Open(ctx, path, nil) }), "\n")
	if !strings.Contains(warned, "refused 8 rows") || !strings.Contains(warned, "20261130000000000001") || !strings.Contains(warned, "it has version 4, and this brine knows rows up to version 3") {
		t.Errorf("warned %q", warned)
	}
	s = open(t, path)
	if e, err := s.Execution(t.Context(), historytest.Spooled1); e == nil || err != nil {
		t.Errorf("the rows of an older brine: %v, %v", e, err)
	}
	if e, err := s.Execution(t.Context(), "20261130000000000001"); e != nil || err != nil {
		t.Errorf("the rows of a newer brine: %v, %v", e, err)
	}
	aside := filepath.Join(dir, "refused")
	kept, err := os.ReadFile(aside)
	if err != nil || strings.Count(string(kept), `"version":4`) != 8 {
		t.Fatalf("kept %s, %v", kept, err)
	}
	if err := history.Recall(dir); err != nil || jobs.Spooled(dir) {
		t.Errorf("Recall of rows that are not known = %v", err)
	}
	// A brine that knows them stores them.
	if err := os.WriteFile(aside, []byte(strings.ReplaceAll(string(kept), `"version":4`, `"version":3`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := history.Recall(dir); err != nil || !jobs.Spooled(dir) {
		t.Errorf("Recall = %v", err)
	}
	if warned := historytest.Sent(t, dir, func(ctx context.Context) (*history.Store, error) { return history.Open(ctx, path, nil) }); len(warned) != 0 {
		t.Errorf("warned %q", warned)
	}
	if e, err := s.Execution(t.Context(), "20261130000000000001"); err != nil || e == nil || e.Status != history.Succeeded {
		t.Errorf("the rows of a newer brine: %+v, %v", e, err)
	}
}
