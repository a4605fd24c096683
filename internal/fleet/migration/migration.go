// Package migration brings the tables that brine has in a database up to date. Each
// part of brine with tables there describes them by [Tables]; [Tables.Create] makes
// what is missing, and brings what an older brine made to the newest version.
//
// The table brine_versions has the version of each part. Several processes may open an
// old database at once: one of them changes it, and the others wait. SQLite and
// PostgreSQL do all or nothing. MySQL ends its transaction with each statement, so that
// each change is looked for before it is made: what was interrupted goes on.
package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Dialect is what databases differ in.
type Dialect int

// The dialects.
const (
	SQLite Dialect = iota
	MySQL
	Postgres
)

// Tables are the tables of one part of brine.
type Tables struct {
	Name  string // in brine_versions
	Title string // in messages, such as "the history"
	// Names are the tables, and Newest are the statements that make them as they are
	// now, which change nothing where they are there.
	Names  []string
	Newest []string
	// Steps are the changes from each version to the next one: the first of them make
	// version 2. Databases without a version have tables of version 1, or none.
	Steps [][]Change
}

// A Change adds a column or an index to a table.
type Change struct {
	Table         string
	Column, Index string // one of them
	SQL           string
}

// Version is the newest version.
func (t *Tables) Version() int { return len(t.Steps) + 1 }

// A NewerError says that a newer brine has changed the tables.
type NewerError struct {
	Title       string
	Has, Newest int
}

// Error says what to do.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has tables of version %d, and this brine knows them up to version %d: a newer brine has brought them up to date, so install that brine here, too; "+
		"nothing was read or changed", e.Title, e.Has, e.Newest)
}

const versionTable = "brine_versions"

// versions makes the table with the versions.
func versions(d Dialect) string {
	suffix := map[Dialect]string{MySQL: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"}[d]
	return "CREATE TABLE IF NOT EXISTS " + versionTable + " (\n  name varchar(64) NOT NULL,\n  version integer NOT NULL,\n  PRIMARY KEY (name)\n)" + suffix
}

// note stores the newest version.
func (t *Tables) note(d Dialect) string {
	verb, end := "INSERT OR REPLACE", ""
	switch d {
	case MySQL:
		verb = "REPLACE"
	case Postgres:
		verb, end = "INSERT", " ON CONFLICT (name) DO UPDATE SET version = excluded.version"
	case SQLite:
	}
	return fmt.Sprintf("%s INTO %s (name, version) VALUES ('%s', %d)%s", verb, versionTable, t.Name, t.Version(), end)
}

// Schema returns the SQL that makes the tables in a database without any. Changes of
// older tables are in its comments.
func (t *Tables) Schema(d Dialect) string {
	var b strings.Builder
	b.WriteString(strings.Join(t.Newest, ";\n") + ";\n" + versions(d) + ";\n" + t.note(d) + ";\n")
	for i, step := range t.Steps {
		for _, c := range step {
			fmt.Fprintf(&b, "-- from version %d of %s: %s;\n", i+1, t.Title, c.SQL)
		}
	}
	return b.String()
}

// Create makes the tables where they are missing, and brings older ones up to date. An
// account that may do neither can use tables that need nothing. A [NewerError] says
// that they are those of a newer brine.
func (t *Tables) Create(ctx context.Context, db *sql.DB, d Dialect) (err error) {
	const tries = 5
	for n := 1; ; n++ {
		if err = t.try(ctx, db, d); err == nil || n == tries || isNewer(err) || ctx.Err() != nil {
			return err
		}
		select { // an older brine, which does not wait for others, may make them at this moment
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func isNewer(err error) bool {
	_, newer := errors.AsType[*NewerError](err)
	return newer
}

func (t *Tables) try(ctx context.Context, db *sql.DB, d Dialect) (err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if v, err := t.version(ctx, c); err == nil && v > t.Version() {
		return &NewerError{t.Title, v, t.Version()}
	} else if err == nil && v == t.Version() {
		// Of tables that somebody dropped, the last one is not there, either.
		if n, err := count(ctx, c, has(d, t.Names[len(t.Names)-1], "", "")); err == nil && n > 0 {
			return nil
		}
	}
	if err = t.migrate(ctx, c, d); err == nil || isNewer(err) {
		return err
	}
	if ready, _ := t.ready(ctx, c, d); ready {
		return nil
	}
	return err
}

// A querier is a connection or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version reads the version that a database says it has.
func (t *Tables) version(ctx context.Context, q querier) (v int, err error) {
	err = q.QueryRowContext(ctx, "SELECT version FROM "+versionTable+" WHERE name = '"+t.Name+"'").Scan(&v)
	return v, err
}

// migrate makes the newest version while no other process does.
func (t *Tables) migrate(ctx context.Context, c *sql.Conn, d Dialect) (err error) {
	if d == MySQL {
		unlock, err := lockMySQL(ctx, c)
		if err != nil {
			return fmt.Errorf("bring the tables of %s up to date: %w", t.Title, err)
		}
		defer unlock()
		return t.apply(ctx, c, d)
	}
	tx, err := c.BeginTx(ctx, nil) // of SQLite, one that has the file to itself
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if d == Postgres {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext('"+versionTable+"'))"); err != nil {
			return err
		}
	}
	if err := t.apply(ctx, tx, d); err != nil {
		return err
	}
	return tx.Commit()
}

// lockWait is how long a process waits for another one that changes tables.
const lockWait = 10

// lockMySQL keeps other processes from changing tables until it is unlocked.
func lockMySQL(ctx context.Context, c *sql.Conn) (unlock func(), err error) {
	// Locks have their names for all databases of the server.
	const name = "LEFT(CONCAT('" + versionTable + " ', DATABASE()), 64)"
	var got sql.NullInt64
	if err := c.QueryRowContext(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", name, lockWait)).Scan(&got); err != nil {
		return nil, err
	}
	if got.Int64 != 1 {
		return nil, fmt.Errorf("another process has been changing tables for %d seconds", lockWait)
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait*time.Second)
		defer cancel()
		_, _ = c.ExecContext(ctx, "DO RELEASE_LOCK("+name+")") // it ends with the connection, too
	}, nil
}

// apply makes the newest version of whatever version there is.
func (t *Tables) apply(ctx context.Context, q querier, d Dialect) error {
	from, err := t.from(ctx, q, d)
	if err != nil {
		return err
	}
	if from == t.Version() { // another process was faster
		if ready, err := t.ready(ctx, q, d); ready || err != nil {
			return err
		}
	}
	for _, step := range t.Steps[from-1:] {
		for _, c := range step {
			if err := t.change(ctx, q, d, c); err != nil {
				return err
			}
		}
	}
	for _, stmt := range append(slices.Clip(t.Newest), versions(d), t.note(d)) {
		if _, err := q.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("make the tables of %s: %w", t.Title, err)
		}
	}
	return nil
}

// from is the version that a database has, in a transaction or under the lock.
func (t *Tables) from(ctx context.Context, q querier, d Dialect) (int, error) {
	known, err := count(ctx, q, has(d, versionTable, "", ""))
	if err != nil || known == 0 {
		return 1, err
	}
	v, err := t.version(ctx, q)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 1, nil
	case err != nil:
		return 0, err
	case v > t.Version():
		return 0, &NewerError{t.Title, v, t.Version()}
	case v < 1:
		return 0, fmt.Errorf("%s says in the table %s that its tables have version %d: there is none below 1", t.Title, versionTable, v)
	}
	return v, nil
}

// change makes a change, unless it was made before or there is no such table yet.
func (t *Tables) change(ctx context.Context, q querier, d Dialect, c Change) error {
	due, err := c.due(ctx, q, d)
	if err != nil || !due {
		return err
	}
	if _, err := q.ExecContext(ctx, c.SQL); err != nil {
		return fmt.Errorf("bring the tables of %s up to date by %q: %w", t.Title, c.SQL, err)
	}
	return nil
}

func (c *Change) due(ctx context.Context, q querier, d Dialect) (bool, error) {
	there, err := count(ctx, q, has(d, c.Table, "", ""))
	if err != nil || there == 0 {
		return false, err
	}
	made, err := count(ctx, q, has(d, c.Table, c.Column, c.Index))
	return made == 0, err
}

// ready reports whether the tables need nothing but a note of their version.
func (t *Tables) ready(ctx context.Context, q querier, d Dialect) (bool, error) {
	for _, name := range t.Names {
		if n, err := count(ctx, q, has(d, name, "", "")); err != nil || n == 0 {
			return false, err
		}
	}
	for _, step := range t.Steps {
		for _, c := range step {
			if due, err := c.due(ctx, q, d); err != nil || due {
				return false, err
			}
		}
	}
	return true, nil
}

func count(ctx context.Context, q querier, query string) (n int, err error) {
	err = q.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// has is a query that counts tables with a name, or those of its columns or indexes. It
// does not fail where there are none: in PostgreSQL, that would end the transaction.
func has(d Dialect, table, column, index string) string {
	switch {
	case d == SQLite && column != "":
		return "SELECT COUNT(*) FROM pragma_table_info('" + table + "') WHERE name = '" + column + "'"
	case d == SQLite && index != "":
		return "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = '" + table + "' AND name = '" + index + "'"
	case d == SQLite:
		return "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'"
	case d == Postgres && column != "":
		return "SELECT COUNT(*) FROM pg_attribute WHERE attrelid = to_regclass('" + table + "') AND attname = '" + column + "' AND NOT attisdropped"
	case d == Postgres && index != "":
		return "SELECT COUNT(*) FROM pg_index WHERE indrelid = to_regclass('" + table + "') AND indexrelid = to_regclass('" + index + "')"
	case d == Postgres:
		return "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('" + table + "')"
	}
	kind, more := "tables", ""
	switch {
	case column != "":
		kind, more = "columns", " AND column_name = '"+column+"'"
	case index != "":
		kind, more = "statistics", " AND index_name = '"+index+"'"
	}
	return "SELECT COUNT(*) FROM information_schema." + kind + " WHERE table_schema = DATABASE() AND table_name = '" + table + "'" + more
}
