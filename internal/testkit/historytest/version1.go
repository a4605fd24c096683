package historytest

import (
	"context"
	"embed"
	"errors"
	"strings"
	"sync"
	"testing"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/migration"
	"brine/internal/py/value"
)

// What brine 0.1.0 made: the tables of version 1 by database, the rows of four
// executions, and the spool of a fifth one whose database did not answer.
//
//go:embed testdata
var testdata embed.FS

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Version1 returns the statements that make a history as brine 0.1.0 had it.
func Version1(t testing.TB, d history.Dialect) []string {
	t.Helper()
	name := map[history.Dialect]string{history.SQLite: "sqlite", history.MySQL: "mysql", history.Postgres: "postgres"}[d]
	var out []string
	if d == history.MySQL {
		out = append(out, "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES,ANSI_QUOTES')")
	}
	for stmt := range strings.SplitSeq(read(t, "version1."+name+".sql"), ";\n") {
		if strings.TrimSpace(stmt) != "" {
			out = append(out, stmt)
		}
	}
	for line := range strings.Lines(read(t, "version1.rows.sql")) {
		out = append(out, strings.TrimSuffix(line, ";\n"))
	}
	return out
}

// Spool1 is the file of the spool of an execution of brine 0.1.0, and Spooled1 its jid.
func Spool1(t testing.TB) string { t.Helper(); return read(t, "version1.spool") }

// Spooled1 is the execution in the spool of [Spool1].
const Spooled1 = "20261129123456612481"

// rows1 are the rows of [Spool1].
func rows1(t testing.TB) []*value.Map {
	t.Helper()
	var out []*value.Map
	for line := range strings.Lines(Spool1(t)) {
		v, err := value.ParseJSON(line)
		m, ok := v.(*value.Map)
		if err != nil || !ok {
			t.Fatalf("%q is not a row: %v", line, err)
		}
		out = append(out, m.Map("data"))
	}
	return out
}

// Migrates tries that a history of brine 0.1.0 is brought up to date when several
// processes open it at once, and that one of a newer brine is refused. exec runs a
// statement by one connection of an account that may do everything, open connects once
// more. The tables are dropped before and after.
func Migrates(t *testing.T, d history.Dialect, exec func(query string), open func() *history.Store) {
	t.Helper()
	tables := []string{"states", "steps", "executions", "execution_steps", "execution_hosts"}
	drop := func() {
		t.Helper()
		for _, name := range tables {
			exec("DROP TABLE IF EXISTS orchestration_" + name)
		}
		exec("CREATE TABLE IF NOT EXISTS brine_versions (name varchar(64) NOT NULL PRIMARY KEY, version integer NOT NULL)")
		exec("DELETE FROM brine_versions WHERE name = 'history'")
	}
	drop()
	for _, stmt := range Version1(t, d) {
		exec(stmt)
	}
	var wg sync.WaitGroup
	for range 5 {
		s := open()
		wg.Go(func() {
			if err := s.Create(t.Context()); err != nil {
				t.Errorf("Create = %v", err)
			}
		})
	}
	wg.Wait()
	s := open()
	if err := s.Return(t.Context(), rows1(t)); err != nil {
		t.Errorf("rows of the spool: %v", err)
	}
	migrated(t, s)
	newer(t, s, exec)
	// Half of the changes were made, as MySQL leaves it where the process dies.
	exec("DELETE FROM brine_versions WHERE name = 'history'")
	if err := s.Create(t.Context()); err != nil {
		t.Errorf("Create of tables that are up to date without saying so = %v", err)
	}
	migrated(t, s)
	drop()
	if err := s.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// migrated looks at what the history of version 1 has after its migration.
func migrated(t *testing.T, s *history.Store) {
	t.Helper()
	ctx := t.Context()
	all, err := s.Executions(ctx, history.Query{})
	var got []string
	for _, e := range all {
		got = append(got, e.Name+" "+e.Status+e.Program)
	}
	if want := "orch.many succeeded, friday succeeded, orch.bad failed, orch.many succeeded, orch.many succeeded"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("executions %q, %v, want %q", strings.Join(got, ", "), err, want)
		return
	}
	if all[0].JID != Spooled1 {
		t.Errorf("the newest one is %s", all[0].JID)
	}
	steps, err := s.Steps(ctx, &all[2])
	if err != nil || len(steps) != 1 || len(steps[0].Hosts) != 1 || !strings.HasSuffix(steps[0].Hosts[0].Detail.Str("return"), `a "quote" é`) {
		t.Errorf("Steps = %+v, %v", steps, err)
	}
}

// newer tries tables and rows of a newer brine.
func newer(t *testing.T, s *history.Store, exec func(query string)) {
	t.Helper()
	exec("UPDATE brine_versions SET version = 99 WHERE name = 'history'")
	err := s.Create(t.Context())
	if x, is := errors.AsType[*migration.NewerError](err); !is || x.Has != 99 || x.Newest != history.Version {
		t.Errorf("Create of tables of version 99 = %v", err)
	}
	exec("UPDATE brine_versions SET version = 3 WHERE name = 'history'")
	const jid = "20261121090807000009"
	rows := Rows(jid, "newer", 1, 1, nil)
	for _, r := range rows {
		r.Set("version", int64(99))
	}
	if err := s.Return(context.Background(), rows); err == nil || !strings.Contains(err.Error(), "has version 99, and this brine knows rows up to version 3") {
		t.Errorf("Return of rows of version 99 = %v", err)
	}
	if e, err := s.Execution(t.Context(), jid); e != nil || err != nil {
		t.Errorf("Execution = %+v, %v", e, err)
	}
}

// Sent hands the rows in the spool of a directory to a store, which a sink opens.
func Sent(t *testing.T, dir string, open func(ctx context.Context) (*history.Store, error)) (warned []string) {
	t.Helper()
	sink := &jobs.Sink{
		Name: "history", Spool: dir, Open: func(ctx context.Context) (jobs.Returner, error) { return open(ctx) },
		Warn: func(err error) { warned = append(warned, err.Error()) },
	}
	sink.Resend()
	_ = sink.Close() // it has warned
	return warned
}
