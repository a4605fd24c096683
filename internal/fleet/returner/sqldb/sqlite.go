package sqldb

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

	"modernc.org/sqlite" // and the driver "sqlite" of database/sql
	sqlite3 "modernc.org/sqlite/lib"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

var sqliteDialect = dialect{
	quote: `"`, mark: func(int) string { return "?" }, yes: "1", no: "0", insertLoad: "INSERT OR IGNORE",
	text:    func(c string) string { return c },
	written: "date",
	old: func(keep time.Duration) (string, []any) {
		return "?", []any{time.Now().Add(-keep).Format(dateLayout)}
	},
	archive: "CREATE TABLE IF NOT EXISTS %s AS SELECT * FROM %s WHERE 0",
	history: history.SQLite, queue: queue.SQLite,
}

// dateLayout is how Python prints a datetime, in local time.
const dateLayout = "2006-01-02 15:04:05.000000"

// lite is a SQLite file with Salt's tables, whose columns are others than those
// of the servers: full_ret is what the function returned, and nothing else.
type lite struct{ *store }

// prepareSQLite checks the settings.
func prepareSQLite(s returner.Settings) (returner.Settings, error) {
	if t, err := value.ToFloat(s.Value("timeout")); err != nil || t < 0 {
		return s, fmt.Errorf("sqlite3.timeout: %q is not a number of seconds", s.Str("timeout"))
	}
	if path := s.Str("database"); path != "" {
		if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
			return s, fmt.Errorf("sqlite3.database: there is no directory %s", filepath.Dir(path))
		}
	}
	return s, nil
}

// newSQLite opens the file; it and the tables are made where they are missing,
// readable by their owner alone.
func newSQLite(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	path := s.Str("database")
	timeout, err := value.ToFloat(s.Value("timeout"))
	if err != nil {
		return nil, err
	}
	// An existing file is not opened: closing it would release the locks that
	// this process holds through another connection.
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", int(timeout*1000))}, "_txlock": {"immediate"}}
	db, release, err := connect(s, func() (*sql.DB, error) {
		return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	})
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, sqliteDialect, db, release)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &lite{r.(*store)}
	if l.limit, err = lengthLimit(ctx, db); err != nil {
		_ = release()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.limitIs = "the longest row of SQLite"
	for stmt := range strings.SplitSeq(sqliteSchema, ";\n") {
		if strings.TrimSpace(stmt) == "" {
			continue
		}
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			_ = release()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return l, nil
}

// lengthLimit is how many bytes a row of the file may have.
func lengthLimit(ctx context.Context, db *sql.DB) (int, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	n, err := sqlite.Limit(c, sqlite3.SQLITE_LIMIT_LENGTH, -1)
	return n, errors.Join(err, c.Close())
}

// Return writes the table salt_returns.
// Salt: returners/sqlite3_return.py returner.
func (l *lite) Return(ctx context.Context, rets []*value.Map) error {
	rows := make([][]any, len(rets))
	now := time.Now().Format(dateLayout)
	for i, r := range rets {
		var args any
		if v := r.At("fun_args"); value.Truth(v) {
			args = value.Str(v)
		}
		success := l.d.no
		if jobs.Succeeded(r) {
			success = l.d.yes
		}
		rows[i] = []any{r.Str("fun"), r.Str("jid"), r.Str("id"), args, now, l.encode(r.At("return")), success}
	}
	return l.insert(ctx, "INSERT", "salt_returns", []string{"fun", "jid", "id", "fun_args", "date", "full_ret", "success"}, rows, "")
}

// Job reads a job; see [jobs.Store].
func (l *lite) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	load, err := l.load(ctx, jid)
	if err != nil {
		return nil, err
	}
	j := jobs.NewJob(jid, load)
	rows, err := l.db.QueryContext(ctx, "SELECT id, full_ret, success FROM salt_returns WHERE jid = ? ORDER BY rowid", jid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, full, success string
		if err := rows.Scan(&id, &full, &success); err != nil {
			return nil, err
		}
		v, err := value.ParseJSON(full)
		if err != nil {
			v = full
		}
		m := value.MapOf("return", v)
		if success != "" {
			m.Set("success", isYes(success))
		}
		j.Got(id, m)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	return l.addRecorded(ctx, j), nil
}
