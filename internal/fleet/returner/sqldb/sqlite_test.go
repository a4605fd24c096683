package sqldb

import (
	"database/sql"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	// A path with what URLs give a meaning.
	path := filepath.Join(t.TempDir(), "a b?c#%41.db")
	s := settings("sqlite3", value.MapOf("sqlite3.database", path))
	testStore(t, s)
	testClean(t, s)
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("file = %v, %v", st, err)
	}
}

// What Salt's own returner wrote can be read, and its rows look like ours.
func TestSQLiteRowsAreSalts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "salt.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"CREATE TABLE jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL)",
		"CREATE TABLE salt_returns (fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL)",
		`INSERT INTO jids VALUES ('20200101000000000001', '{"fun": "test.ping", "tgt": "*", "user": "root"}')`,
		`INSERT INTO salt_returns VALUES ('test.ping', '20200101000000000001', 'old', NULL, '2020-01-01 00:00:00.000001', 'true', '1')`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	s := settings("sqlite3", value.MapOf("returner.sqlite3.database", path))
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	j, err := r.(jobs.Store).Job(t.Context(), "20200101000000000001")
	if err != nil || j.Load.Str("user") != "root" || j.Returns.Map("old").At("return") != true || j.Returns.Map("old").At("success") != true {
		t.Errorf("Job = %+v, %v", j, err)
	}
	full := value.MapOf("fun", "cmd.run", "jid", "20261121090807000001", "id", "web1", "fun_args", value.NewList("exit 3", value.MapOf("cwd", "/")), "return", value.MapOf("a", int64(1)), "success", false, "retcode", int64(3))
	if err := r.Return(t.Context(), []*value.Map{full}); err != nil {
		t.Fatal(err)
	}
	var got [6]string
	err = db.QueryRow("SELECT fun, id, fun_args, full_ret, success, typeof(success) FROM salt_returns WHERE jid = '20261121090807000001'").
		Scan(&got[0], &got[1], &got[2], &got[3], &got[4], &got[5])
	want := [6]string{"cmd.run", "web1", "['exit 3', {'cwd': '/'}]", `{"a": 1}`, "0", "text"}
	if err != nil || got != want {
		t.Errorf("row = %q, %v, want %q", got, err, want)
	}
}

// TestNumbers: a database gets valid JSON, which is all that the JSON functions of
// databases take, and what JSONB columns take at all.
func TestNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "salt.db")
	s := settings("sqlite3", value.MapOf("returner.sqlite3.database", path))
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	full := value.MapOf("fun", "test.arg", "jid", "20261121090807000001", "id", "web1", "fun_args", value.NewList(math.NaN()), "return", value.NewList(math.NaN(), math.Inf(-1)), "success", true, "retcode", int64(0))
	if err := r.Return(t.Context(), []*value.Map{full}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	var valid bool
	if err := db.QueryRow("SELECT full_ret, json_valid(full_ret) FROM salt_returns").Scan(&got, &valid); err != nil || !valid || got != `["NaN", "-Infinity"]` {
		t.Errorf("%s, %t, %v", got, valid, err)
	}
}

func TestSQLiteThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		opts *value.Map
		want string
	}{
		{value.NewMap(0), "sqlite3.database must be configured"},
		{value.MapOf("sqlite3.database", filepath.Join(dir, "none", "x.db")), "there is no directory"},
		{value.MapOf("sqlite3.database", junk), "not a database"},
		{value.MapOf("sqlite3", value.MapOf("database", filepath.Join(dir, "x"), "timeout", "soon")), `"soon" is not a number of seconds`},
	} {
		s, err := settings("sqlite3", tt.opts).Check()
		if err == nil {
			_, err = s.Spec.New(t.Context(), s)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New with %s = %v, want %q", value.Repr(tt.opts), err, tt.want)
		}
	}
}

// Processes that write one file wait for each other.
func TestSQLiteManyWriters(t *testing.T) {
	t.Parallel()
	s := settings("sqlite3", value.MapOf("sqlite3.database", filepath.Join(t.TempDir(), "x.db"), "sqlite3.timeout", int64(60)))
	const writers, rounds = 8, 5
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r, err := s.Spec.New(t.Context(), s)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for i := range rounds {
				if err := r.Return(t.Context(), []*value.Map{ret("20261121090807000001", fmt.Sprintf("web%d-%d", w, i), true)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	r, err := s.Spec.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if j, err := r.(jobs.Store).Job(t.Context(), "20261121090807000001"); err != nil || j.Returns.Len() != writers*rounds {
		t.Errorf("Job = %v, %v", j, err)
	}
}

// The program sqlite3 makes the tables from the schema that is printed.
func TestSQLiteSchemaIsForTheProgram(t *testing.T) {
	t.Parallel()
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not installed")
	}
	path := filepath.Join(t.TempDir(), "x.db")
	for range 2 {
		c := exec.Command(sqlite, path)
		c.Stdin = strings.NewReader(sqliteSchema)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := settings("sqlite3", value.MapOf("sqlite3.database", path))
	testStore(t, s)
}
