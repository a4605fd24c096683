package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"brine/internal/fleet/migration"
	"brine/internal/py/value"
)

// A Store keeps notices until they are sent, in a database. As a jobs.Returner it takes
// the rows of [Notice.Row]. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	d     migration.Dialect
	close func() error
}

// New returns the notices in a database. close is called by Close.
func New(db *sql.DB, d migration.Dialect, close func() error) *Store { return &Store{db, d, close} }

// Close closes the database.
func (s *Store) Close() error { return s.close() }

const table = "brine_notices"

// columns are NAME TYPE; the first one is the key.
var columns = []string{
	"id key64", "destination key64", "event key20", "kind key20", "name key255", "jid key20", "state key20", "payload text",
	"created long", "due long", "ended long", "tries int", "error text",
}

// Schema returns the SQL that makes the table.
func Schema(d migration.Dialect) string { return tables(d).Schema(d) }

// tables describes the table and its versions.
func tables(d migration.Dialect) *migration.Tables {
	var lines []string
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		lines = append(lines, name+" "+typeOf(d, typ)+" NOT NULL")
	}
	lines = append(lines, "PRIMARY KEY (id)")
	const index, on = "idx_" + table + "_due", "(state, due)"
	t := &migration.Tables{Name: "notices", Title: "the notifications", Names: []string{table}}
	if d == migration.MySQL {
		lines = append(lines, "KEY "+index+" "+on)
		t.Newest = []string{"CREATE TABLE IF NOT EXISTS " + table + " (\n  " + strings.Join(lines, ",\n  ") + "\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"}
		return t
	}
	t.Newest = []string{
		"CREATE TABLE IF NOT EXISTS " + table + " (\n  " + strings.Join(lines, ",\n  ") + "\n)",
		"CREATE INDEX IF NOT EXISTS " + index + " ON " + table + " " + on,
	}
	return t
}

// typeOf is the type of a column.
func typeOf(d migration.Dialect, typ string) string {
	size, isKey := strings.CutPrefix(typ, "key")
	switch {
	case isKey && d != migration.SQLite:
		return "varchar(" + size + ")"
	case typ == "int":
		return "integer"
	case typ == "long":
		return "bigint"
	case typ == "text" && d == migration.MySQL:
		return "mediumtext"
	}
	return "text"
}

// Create makes the table where it is missing.
func (s *Store) Create(ctx context.Context) error { return tables(s.d).Create(ctx, s.db, s.d) }

// Row is a notice as a row for [Store.Return].
func (n *Notice) Row() (*value.Map, error) {
	text, err := json.Marshal(n.Message)
	return value.MapOf("id", n.ID, "destination", n.Destination, "created", n.Created.UnixMicro(), "message", string(text)), err
}

// Return stores rows, also more than once.
func (s *Store) Return(ctx context.Context, rows []*value.Map) error {
	for _, r := range rows {
		m, err := parseMessage(r.Str("message"))
		if err != nil {
			return err
		}
		created, _ := value.AsInt(r.At("created"))
		begins, ends := "INSERT INTO ", " ON CONFLICT DO NOTHING"
		if s.d == migration.MySQL {
			begins, ends = "INSERT IGNORE INTO ", ""
		}
		if _, err := s.exec(ctx, begins+table+" (id, destination, event, kind, name, jid, state, payload, created, due, ended, tries, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '')"+ends,
			r.Str("id"), r.Str("destination"), m.Event, m.Kind, short(m.Name, 255), m.JID, Pending, r.Str("message"), created, created); err != nil {
			return err
		}
	}
	return nil
}

// parseMessage reads the JSON of a message.
func parseMessage(text string) (*Message, error) {
	m := &Message{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, err
	}
	if m.Version != Version {
		return nil, fmt.Errorf("a message of version %d is one of another brine", m.Version)
	}
	return m, nil
}

// short bounds a text, in bytes.
func short(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// exec runs a statement and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := s.db.ExecContext(ctx, s.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// bind numbers the parameters of a statement, written as ?.
func (s *Store) bind(query string) string {
	if s.d != migration.Postgres {
		return query
	}
	var b strings.Builder
	for i, part := range strings.Split(query, "?") {
		if i > 0 {
			fmt.Fprintf(&b, "$%d", i)
		}
		b.WriteString(part)
	}
	return b.String()
}

// List returns the newest notices, those of a state where it is not "".
func (s *Store) List(ctx context.Context, state string, limit int) ([]Notice, error) {
	where, args := "", []any(nil)
	if state != "" {
		where, args = "state = ? ", []any{state}
	} else {
		where = "id <> '' "
	}
	return s.read(ctx, fmt.Sprintf("%sORDER BY created DESC, id LIMIT %d", where, limit), args...)
}

// Has reports whether there is a notice about a job.
func (s *Store) Has(ctx context.Context, jid string) (bool, error) {
	n := 0
	err := s.db.QueryRowContext(ctx, s.bind("SELECT COUNT(*) FROM "+table+" WHERE jid = ?"), jid).Scan(&n)
	return n > 0, err
}

// ErrNone is returned for a notice that is not there.
var ErrNone = errors.New("there is no such notification, or it is not one that was given up")

// Retry has a notice that was given up tried again.
func (s *Store) Retry(ctx context.Context, id string, now time.Time) error {
	n, err := s.exec(ctx, "UPDATE "+table+" SET state = ?, due = ?, tries = 0 WHERE id = ? AND state = ?", Pending, now.UnixMicro(), id, GivenUp)
	if err == nil && n == 0 {
		err = ErrNone
	}
	return err
}

func (s *Store) read(ctx context.Context, where string, args ...any) (out []Notice, err error) {
	rows, err := s.db.QueryContext(ctx, s.bind("SELECT id, destination, state, payload, created, due, ended, tries, error FROM "+table+" WHERE "+where), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		n := Notice{}
		var payload string
		var created, due, ended int64
		if err := rows.Scan(&n.ID, &n.Destination, &n.State, &payload, &created, &due, &ended, &n.Tries, &n.Error); err != nil {
			return nil, err
		}
		n.Created, n.Due, n.Ended = moment(created), moment(due), moment(ended)
		if n.Message, err = parseMessage(payload); err != nil {
			n.Message = &Message{Kind: "?", Name: "?"} // of another brine, which sends it
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

// moment is a time of the database; 0 is none.
func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
