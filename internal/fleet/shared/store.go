// Package shared keeps what controllers share: the locks of orchestrations, who runs a
// scheduled job, which
// controller works on which job, and what another one needs to go on with an
// orchestration. It is kept in the database of the job cache. Without one, the locks
// of a machine are in a SQLite file of its cache.
//
// A [Store] is that database, and a [Controller] is the part of this process: it
// sends heartbeats and holds locks.
package shared

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"brine/internal/fleet/history" // and the driver "sqlite" of database/sql
)

// A Store is the tables in a database. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	d     history.Dialect
	close func() error
	// Dead reports whether the process of a job is known to be gone, however new its
	// heartbeat is: the job cache of this machine knows its own. nil: nobody knows.
	Dead func(jid string) bool
}

// New returns the tables of a database. close is called by Close.
func New(db *sql.DB, d history.Dialect, close func() error) *Store {
	return &Store{db: db, d: d, close: close}
}

// Path returns the file with the locks of a machine below a cache directory.
func Path(cache string) string { return filepath.Join(cache, "locks", "locks.db") }

// Open opens the tables in a SQLite file, which is made where it is missing,
// readable by its owner alone.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// An existing file is not opened: closing it would release the locks that
	// this process holds through another connection.
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	q := url.Values{"_pragma": {"busy_timeout(10000)", "synchronous(NORMAL)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := New(db, history.SQLite, db.Close)
	if err := s.Create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.close() }

// HasTables reports whether the database has the tables.
func (s *Store) HasTables(ctx context.Context) bool {
	var n int
	return s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM brine_notes WHERE jid = ''").Scan(&n) == nil
}

// Create makes the tables where they are missing. Who may not make tables can use
// those that there are.
func (s *Store) Create(ctx context.Context) error {
	if s.HasTables(ctx) {
		return nil
	}
	for _, stmt := range statements(s.d) {
		if _, err := s.db.ExecContext(ctx, stmt); err != nil && !s.HasTables(ctx) { // another controller may make them now
			return fmt.Errorf("make the tables that controllers share: %w", err)
		}
	}
	return nil
}

// tries is how often a transaction that got into the way of others is begun again.
const tries = 8

// tx runs do in a transaction.
func (s *Store) tx(ctx context.Context, do func(*tx) error) error {
	for i := 1; ; i++ {
		err := s.once(ctx, do)
		if err == nil || i == tries || !inTheWay(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(i) * 10 * time.Millisecond):
		}
	}
}

func (s *Store) once(ctx context.Context, do func(*tx) error) error {
	t, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = t.Rollback() }() // does nothing after Commit
	if err := do(&tx{s, t}); err != nil {
		return err
	}
	return t.Commit()
}

// inTheWay reports whether an error is that of a transaction which the database
// ended for the sake of another one.
func inTheWay(err error) bool {
	if m, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return m.Number == 1020 || m.Number == 1205 || m.Number == 1213
	}
	if p, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return p.SQLState() == "40001" || p.SQLState() == "40P01"
	}
	if l, ok := errors.AsType[interface {
		error
		Code() int
	}](err); ok {
		const busy, readLock, fileLock = 5, 2314, 3850 // SQLITE_BUSY, SQLITE_IOERR_RDLOCK, SQLITE_IOERR_LOCK
		return l.Code()&0xff == busy || l.Code() == readLock || l.Code() == fileLock
	}
	return false
}

// A tx is a transaction of a store, whose statements are those of [Store.sql].
type tx struct {
	s  *Store
	tx *sql.Tx
}

func (t *tx) exec(ctx context.Context, q string, args ...any) error {
	_, err := t.tx.ExecContext(ctx, t.s.sql(q), args...)
	return err
}

func (t *tx) query(ctx context.Context, each func(*sql.Rows) error, q string, args ...any) error {
	rows, err := t.tx.QueryContext(ctx, t.s.sql(q), args...)
	return every(rows, err, each)
}

func (s *Store) exec(ctx context.Context, q string, args ...any) (int64, error) {
	res, err := s.db.ExecContext(ctx, s.sql(q), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *Store) query(ctx context.Context, each func(*sql.Rows) error, q string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, s.sql(q), args...)
	return every(rows, err, each)
}

// every calls each for the rows of a query.
func every(rows *sql.Rows, err error, each func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// clean returns s as databases accept it, at most n characters; 0 means no
// limit.
func clean(s string, n int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
	if r := []rune(s); n > 0 && len(r) > n {
		return string(r[:n])
	}
	return s
}

// length is a number of seconds; those of a database that says nonsense are none.
func length(seconds float64) time.Duration {
	if !(seconds > 0) || seconds > 1e9 {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
