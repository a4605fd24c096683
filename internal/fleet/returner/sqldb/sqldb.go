// Package sqldb is the returners into SQL databases: mysql, pgjsonb, postgres
// and sqlite3. They keep Salt's tables, so what reads those reads brine's.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/migration"
	"brine/internal/fleet/notify"
	"brine/internal/fleet/queue"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// A dialect is what databases differ in.
type dialect struct {
	quote      string // around column names that are reserved words
	mark       func(n int) string
	yes, no    string // how Salt writes success
	saveLoads  string // after the rows of an INSERT into jids
	insertLoad string // INSERT or what stands for it
	// text says how a stored value is selected as text.
	text func(column string) string
	// written is the column of salt_returns that has the time of a row.
	written string
	// old is the moment before which a row is older than keep, as SQL with its
	// parameters.
	old func(keep time.Duration) (string, []any)
	// archive makes a table of the first name with the columns of the second.
	archive string
	// history is the dialect of the history of orchestrations, and queue that of
	// their queue.
	history history.Dialect
	queue   queue.Dialect
}

var mysqlDialect = dialect{
	quote: "`", mark: func(int) string { return "?" }, yes: "1", no: "0", insertLoad: "INSERT IGNORE",
	text:    func(c string) string { return c },
	written: "alter_time",
	old: func(keep time.Duration) (string, []any) {
		return "DATE_SUB(NOW(), INTERVAL ? SECOND)", []any{int64(keep / time.Second)}
	},
	archive: "CREATE TABLE IF NOT EXISTS %s LIKE %s",
	history: history.MySQL, queue: queue.MySQL,
}

var pgDialect = dialect{
	quote: `"`, mark: func(n int) string { return fmt.Sprintf("$%d", n) }, yes: "true", no: "false", insertLoad: "INSERT",
	saveLoads: " ON CONFLICT (jid) DO UPDATE SET load = EXCLUDED.load",
	text:      func(c string) string { return c + "::text" },
	written:   "alter_time",
	old: func(keep time.Duration) (string, []any) {
		// A number in the text: PostgreSQL numbers its parameters.
		return fmt.Sprintf("NOW() - INTERVAL '%d seconds'", int64(keep/time.Second)), nil
	},
	archive: "CREATE TABLE IF NOT EXISTS %s (LIKE %s)",
	history: history.Postgres, queue: queue.Postgres,
}

// A store is a database with Salt's tables.
type store struct {
	db    *sql.DB
	close func() error // gives db back
	d     dialect
	// limit is how many bytes a statement may have, 0 any number; limitIs names the
	// server's own setting. cost is what a text takes in a statement at most.
	limit   int
	limitIs string
	cost    func(text string) int
	// chars are the characters that the tables hold.
	chars charset
}

// A charset is what characters a text column has room for.
type charset int

const (
	unicode charset = iota
	basic           // those of three bytes: utf8 of MySQL
	ascii           // perhaps more, which nobody said
)

func open(ctx context.Context, d dialect, db *sql.DB, release func() error) (jobs.Returner, error) {
	if err := db.PingContext(ctx); err != nil {
		_ = release()
		return nil, err
	}
	return &store{db: db, close: release, d: d, cost: func(s string) int { return len(s) }}, nil
}

// Close gives the connection back, once.
func (s *store) Close() error { return s.close() }

// History returns the history of orchestrations in the same database.
func (s *store) History() *history.Store { return history.New(s.db, s.d.history, s.close) }

// Queue returns the queue of orchestrations in the same database.
func (s *store) Queue() *queue.Store { return queue.New(s.db, s.d.queue, s.close) }

// Shared returns what controllers share in the same database.
func (s *store) Shared() *shared.Store { return shared.New(s.db, s.d.history, s.close) }

// maxStatement bounds a statement, in bytes of its values and in rows; one row
// may have more. perRow is what a row takes beside its values, and perStatement
// what a statement does beside its rows.
const (
	maxStatement = 2 << 20
	maxRows      = 500
	perRow       = 64
	perStatement = 512
)

// sizes returns what rows take in a statement, and an error with those that the
// server does not take.
func (s *store) sizes(table string, rows [][]any) ([]int, error) {
	out := make([]int, len(rows))
	unfit := map[int]error{}
	for i, row := range rows {
		out[i] = perRow
		for _, x := range row {
			t, _ := x.(string)
			out[i] += s.cost(t)
		}
		if s.limit > 0 && out[i]+perStatement > s.limit {
			unfit[i] = fmt.Errorf("insert into %s: the row takes a statement of %d bytes, and %s is %d", table, out[i]+perStatement, s.limitIs, s.limit)
		}
	}
	if len(unfit) > 0 {
		return nil, &jobs.UnfitError{Rows: unfit}
	}
	return out, nil
}

// insert writes rows in one transaction, with as few statements as size allows.
func (s *store) insert(ctx context.Context, verb, table string, columns []string, rows [][]any, tail string) error {
	sizes, err := s.sizes(table, rows)
	if err != nil {
		return err
	}
	most := maxStatement
	if s.limit > 0 {
		most = min(most, s.limit-perStatement)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = s.d.quote + c + s.d.quote
	}
	head := fmt.Sprintf("%s INTO %s (%s) VALUES ", verb, table, strings.Join(names, ", "))
	for len(rows) > 0 {
		var q strings.Builder
		q.WriteString(head)
		var args []any
		size, n := 0, 0
		for n < len(rows) && n < maxRows {
			if n > 0 && size+sizes[n] > most {
				break
			}
			size += sizes[n]
			if n > 0 {
				q.WriteString(", ")
			}
			q.WriteByte('(')
			for i, x := range rows[n] {
				if i > 0 {
					q.WriteString(", ")
				}
				args = append(args, x)
				q.WriteString(s.d.mark(len(args)))
			}
			q.WriteByte(')')
			n++
		}
		q.WriteString(tail)
		if _, err := tx.ExecContext(ctx, q.String(), args...); err != nil {
			return refused(fmt.Errorf("insert into %s: %w", table, err))
		}
		rows, sizes = rows[n:], sizes[n:]
	}
	return tx.Commit()
}

// SaveLoad writes the table jids.
func (s *store) SaveLoad(ctx context.Context, loads []*value.Map) error {
	rows := make([][]any, 0, len(loads))
	seen := map[string]bool{}
	for _, l := range loads {
		if jid := l.Str("jid"); !seen[jid] {
			seen[jid] = true
			rows = append(rows, []any{jid, s.encode(l)})
		}
	}
	return s.insert(ctx, s.d.insertLoad, "jids", []string{"jid", "load"}, rows, s.d.saveLoads)
}

// encode writes a value as JSON without NUL, which no text column holds.
// Characters beyond ASCII are themselves, as Salt stores them, where the tables
// hold them.
func (s *store) encode(v value.Value) string {
	o := value.JSONOptions{Repr: true, Strict: true, SkipKeys: true, EscapeNonASCII: s.chars == ascii}
	b, err := value.AppendJSON(nil, v, o)
	if err != nil {
		b = value.StrictJSON(v)
	}
	text := strings.ReplaceAll(string(b), `\u0000`, `\ufffd`)
	if s.chars == basic {
		text = escapeAstral(text)
	}
	return text
}

// escapeAstral writes the characters of JSON that UTF-8 has four bytes for as
// \uXXXX\uXXXX.
func escapeAstral(text string) string {
	if !strings.ContainsFunc(text, isAstral) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !isAstral(r) {
			b.WriteRune(r)
			continue
		}
		hi, lo := utf16.EncodeRune(r)
		fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
	}
	return b.String()
}

func isAstral(r rune) bool { return r > 0xffff }

// maxFun is the length of the column fun, in characters.
const maxFun = 50

// Return writes the table salt_returns.
func (s *store) Return(ctx context.Context, rets []*value.Map) error {
	rows := make([][]any, len(rets))
	for i, r := range rets {
		success := s.d.no
		if jobs.Succeeded(r) {
			success = s.d.yes
		}
		name := r.Str("fun")
		if runes := []rune(name); len(runes) > maxFun {
			name = string(runes[:maxFun])
		}
		rows[i] = []any{name, r.Str("jid"), s.encode(r.At("return")), r.Str("id"), success, s.encode(r)}
	}
	return s.insert(ctx, "INSERT", "salt_returns", []string{"fun", "jid", "return", "id", "success", "full_ret"}, rows, "")
}

// SaveEvents writes the table salt_events.
func (s *store) SaveEvents(ctx context.Context, events []jobs.EventRow) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{e.Tag, s.encode(e.Data), e.Master}
	}
	return s.insert(ctx, "INSERT", "salt_events", []string{"tag", "data", "master_id"}, rows, "")
}

// load reads what a job was asked to do; an empty map where that is not known.
func (s *store) load(ctx context.Context, jid string) (*value.Map, error) {
	var text string
	err := s.db.QueryRowContext(ctx, "SELECT "+s.d.text(s.d.quote+"load"+s.d.quote)+" FROM jids WHERE jid = "+s.d.mark(1), jid).Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	return decode(text), nil
}

// Job reads a job; see [jobs.Store].
func (s *store) Job(ctx context.Context, jid string) (*jobs.Job, error) {
	load, err := s.load(ctx, jid)
	if err != nil {
		return nil, err
	}
	j := jobs.NewJob(jid, load)
	rows, err := s.db.QueryContext(ctx, "SELECT id, success, "+s.d.text("full_ret")+" FROM salt_returns WHERE jid = "+s.d.mark(1), jid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, success, full string
		if err := rows.Scan(&id, &success, &full); err != nil {
			return nil, err
		}
		m := decode(full)
		if m.Len() == 0 {
			if !j.Returns.Has(id) {
				j.Returns.Set(id, value.MapOf("success", isYes(success)))
			}
			j.Cut(id, fmt.Sprintf("the database has %d bytes of its return and not all of it: it was larger than the column full_ret takes", len(full)))
			continue
		}
		j.Got(id, m)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	return s.addRecorded(ctx, j), nil
}

// isYes reads the column success, in which Salt's returners write what they like.
func isYes(success string) bool { return success == "1" || strings.EqualFold(success, "true") }

func decode(s string) *value.Map {
	v, err := value.ParseJSON(s)
	if err != nil {
		return value.NewMap(0)
	}
	if m, ok := v.(*value.Map); ok {
		return m
	}
	return value.NewMap(0)
}

// Jobs lists jobs; see [jobs.Store].
func (s *store) Jobs(ctx context.Context, from, to string) ([]jobs.Entry, error) {
	load := s.d.quote + "load" + s.d.quote
	q := "SELECT jid, " + s.d.text(load) + " FROM jids WHERE jid >= " + s.d.mark(1)
	args := []any{from}
	if to != "" {
		q += " AND jid <= " + s.d.mark(2)
		args = append(args, to)
	}
	rows, err := s.db.QueryContext(ctx, q+" ORDER BY jid", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []jobs.Entry
	for rows.Next() {
		var jid, text string
		if err := rows.Scan(&jid, &text); err != nil {
			return nil, err
		}
		out = append(out, jobs.Entry{JID: jid, Load: decode(text)})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	return s.withOpen(ctx, from, to, out), nil
}

// Specs returns the returners, alphabetically.
func Specs() []returner.Spec {
	const server = `
		host@ = salt -- name or address of the server
		user = salt -- account
		pass! = salt -- its password
		db@ = salt -- the database
		port@ = `
	const pg = server + `5432 -- port of the server
		sslmode -- disable, prefer, require, verify-ca or verify-full; where it is not set: verify-full, to this machine prefer
		sslcert -- file with the client's certificate
		sslkey -- file with its key
		sslrootcert -- file with the certificates that are trusted; without it the machine's are
	`
	return []returner.Spec{
		{
			Name: "mysql", Doc: "Store returns and events in MySQL or MariaDB.", Src: "returners/mysql.py", New: newMySQL, Reads: true, History: true, Schema: mysqlSchema + history.Schema(history.MySQL) + queue.Schema(queue.MySQL) + notify.Schema(migration.MySQL) + shared.Schema(history.MySQL),
			// Those of the execution module mysql.
			Others: []string{"charset", "use_unicode", "default_file", "default_group", "connect_timeout"},
			Keys: returner.Keys(server + `3306 -- port of the server
				unix_socket@ -- socket of the server on this machine, which is used where host is localhost or not set; a host that begins with / is a socket, too
				tls -- True, False, preferred (where the server has it) or skip-verify (without knowing who the server is); where it is not set: True with one of the files below, else False
				ssl_ca -- file with the certificates that are trusted; without it the machine's are
				ssl_cert -- file with the client's certificate
				ssl_key -- file with its key
			`),
		},
		{Name: "pgjsonb", Doc: "Store returns and events in PostgreSQL as jsonb.", Src: "returners/pgjsonb.py", New: newPostgres, Reads: true, History: true, Schema: pgjsonbSchema + history.Schema(history.Postgres) + queue.Schema(queue.Postgres) + notify.Schema(migration.Postgres) + shared.Schema(history.Postgres) + busSchema, Keys: returner.Keys(pg)},
		{Name: "postgres", Doc: "Store returns and events in PostgreSQL as text.", Src: "returners/postgres.py", New: newPostgres, Reads: true, History: true, Schema: postgresSchema + history.Schema(history.Postgres) + queue.Schema(queue.Postgres) + notify.Schema(migration.Postgres) + shared.Schema(history.Postgres) + busSchema, Keys: returner.Keys(pg + "\npasswd! -- the account's password; pass is understood, too")},
		{
			Name: "sqlite3", Doc: "Store returns and events in a SQLite file.", Src: "returners/sqlite3_return.py", New: newSQLite, Prepare: prepareSQLite, Reads: true, History: true, Schema: sqliteSchema + history.Schema(history.SQLite) + queue.Schema(queue.SQLite) + notify.Schema(migration.SQLite) + shared.Schema(history.SQLite),
			Keys: returner.Keys(`
				database*@ -- path of the file, which is made where it is missing
				timeout = 5.0 -- seconds to wait for another process that writes
			`),
		},
	}
}
