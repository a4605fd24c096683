package migration_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"brine/internal/fleet/migration"
)

func tables() *migration.Tables {
	return &migration.Tables{
		Name: "things", Title: "the store", Names: []string{"things", "more"},
		Newest: []string{
			"CREATE TABLE IF NOT EXISTS things (a TEXT NOT NULL, b TEXT NOT NULL DEFAULT '')",
			"CREATE INDEX IF NOT EXISTS idx_b ON things (b)",
			"CREATE TABLE IF NOT EXISTS more (a TEXT NOT NULL)",
		},
		Steps: [][]migration.Change{
			{{Table: "things", Column: "b", SQL: "ALTER TABLE things ADD COLUMN b TEXT NOT NULL DEFAULT ''"}},
			{{Table: "things", Index: "idx_b", SQL: "CREATE INDEX idx_b ON things (b)"}},
		},
	}
}

func open(t *testing.T, path, mode string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&mode="+mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// state is the version that a database says it has, and what things has.
func state(t *testing.T, db *sql.DB) (version int, made string) {
	t.Helper()
	if err := db.QueryRow("SELECT version FROM brine_versions WHERE name = 'things'").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE name IN ('things', 'idx_b', 'more') ORDER BY 1)").Scan(&made); err != nil {
		t.Fatal(err)
	}
	return version, made
}

// From whatever there was, the newest version is made; what the tables have stays.
func TestCreate(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"nothing":                "",
		"before versions":        "CREATE TABLE things (a TEXT NOT NULL); INSERT INTO things VALUES ('x')",
		"version 1":              "CREATE TABLE things (a TEXT NOT NULL); INSERT INTO things VALUES ('x'); CREATE TABLE brine_versions (name TEXT PRIMARY KEY, version INT); INSERT INTO brine_versions VALUES ('things', 1)",
		"version 2":              "CREATE TABLE things (a TEXT NOT NULL, b TEXT NOT NULL DEFAULT ''); INSERT INTO things (a) VALUES ('x'); CREATE TABLE brine_versions (name TEXT PRIMARY KEY, version INT); INSERT INTO brine_versions VALUES ('things', 2)",
		"half of it":             "CREATE TABLE things (a TEXT NOT NULL, b TEXT NOT NULL DEFAULT ''); INSERT INTO things (a) VALUES ('x')",
		"the version of another": "CREATE TABLE brine_versions (name TEXT PRIMARY KEY, version INT); INSERT INTO brine_versions VALUES ('queue', 9)",
		"tables dropped":         "CREATE TABLE brine_versions (name TEXT PRIMARY KEY, version INT); INSERT INTO brine_versions VALUES ('things', 3)",
	} {
		db := open(t, filepath.Join(t.TempDir(), "x.db"), "rwc")
		if _, err := db.Exec(before); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := tables().Create(t.Context(), db, migration.SQLite); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if version, made := state(t, db); version != 3 || made != "idx_b more things" {
			t.Errorf("%s: version %d with %s", name, version, made)
		}
		var rows int
		if err := db.QueryRow("SELECT COUNT(*) FROM things WHERE b = ''").Scan(&rows); err != nil || (rows == 1) != strings.Contains(before, "'x'") {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// Tables of a newer brine are left as they are, and so is a version that cannot be.
func TestRefused(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"4": "the store has tables of version 4, and this brine knows them up to version 3: a newer brine has brought them up to date, so install that brine here, too; nothing was read or changed",
		"0": "the store says in the table brine_versions that its tables have version 0: there is none below 1",
	} {
		db := open(t, filepath.Join(t.TempDir(), "x.db"), "rwc")
		if _, err := db.Exec("CREATE TABLE brine_versions (name TEXT PRIMARY KEY, version INT); INSERT INTO brine_versions VALUES ('things', " + version + ")"); err != nil {
			t.Fatal(err)
		}
		err := tables().Create(t.Context(), db, migration.SQLite)
		if err == nil || err.Error() != want {
			t.Errorf("version %s: %v, want %s", version, err, want)
		}
		if _, newer := errors.AsType[*migration.NewerError](err); newer != (version == "4") {
			t.Errorf("version %s: %T", version, err)
		}
	}
}

// Who may change nothing can use tables that need no change, and no others.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path, "rwc")
	if _, err := db.Exec("CREATE TABLE things (a TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	reader := open(t, path, "ro")
	if err := tables().Create(t.Context(), reader, migration.SQLite); err == nil || !strings.Contains(err.Error(), `by "ALTER TABLE things ADD COLUMN b`) {
		t.Errorf("Create of older tables = %v", err)
	}
	if err := tables().Create(t.Context(), db, migration.SQLite); err != nil {
		t.Fatal(err)
	}
	for _, forget := range []bool{false, true} {
		if forget { // as an administrator makes them who leaves the version out
			if _, err := db.Exec("DROP TABLE brine_versions"); err != nil {
				t.Fatal(err)
			}
		}
		if err := tables().Create(t.Context(), reader, migration.SQLite); err != nil {
			t.Errorf("Create of tables that are up to date = %v", err)
		}
	}
}

// The SQL for people makes the tables, once and again.
func TestSchema(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), "rwc")
	sql := tables().Schema(migration.SQLite)
	for range 2 {
		if _, err := db.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if version, made := state(t, db); version != 3 || made != "idx_b more things" {
		t.Errorf("version %d with %s", version, made)
	}
	if !strings.Contains(sql, "-- from version 2 of the store: CREATE INDEX idx_b ON things (b);\n") {
		t.Errorf("%s does not say what changes older tables", sql)
	}
}
