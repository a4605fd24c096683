package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgSession is a connection to PostgreSQL. Parameters and values are sent as text, and
// the server infers the types of parameters. It is a driver of database/sql on top of
// pgconn: the types of pgx would add 2.5 MB.
type pgSession struct {
	c    *pgconn.PgConn
	used time.Time              // when database/sql last asked for it
	got  []*pgconn.Notification // not yet taken
}

// pgConnector opens connections for database/sql.
type pgConnector struct{ conf *pgconn.Config }

// Connect opens a connection.
func (p pgConnector) Connect(ctx context.Context) (driver.Conn, error) {
	s, err := dialPostgres(ctx, p.conf)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Driver returns a driver that opens nothing by name.
func (p pgConnector) Driver() driver.Driver { return p }

// Open is not supported: a database is opened by its settings.
func (p pgConnector) Open(string) (driver.Conn, error) {
	return nil, errors.New("not opened by name")
}

func dialPostgres(ctx context.Context, conf *pgconn.Config) (*pgSession, error) {
	s := &pgSession{used: time.Now()}
	conf = conf.Copy()
	conf.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { s.got = append(s.got, n) }
	var err error
	if s.c, err = pgconn.ConnectConfig(ctx, conf); err != nil {
		return nil, err
	}
	return s, nil
}

// notification returns the next notification, and waits for one.
func (s *pgSession) notification(ctx context.Context) (*pgconn.Notification, error) {
	if len(s.got) == 0 {
		if err := s.c.WaitForNotification(ctx); err != nil {
			return nil, err
		}
	}
	n := s.got[0]
	s.got = s.got[1:]
	return n, nil
}

// exec runs a statement.
func (s *pgSession) exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	params, err := pgParams(args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	r := s.c.ExecParams(ctx, query, params, nil, nil, nil).Read()
	return r.CommandTag, r.Err
}

// one returns the first column of the first row; sql.ErrNoRows where there is none.
func (s *pgSession) one(ctx context.Context, query string, args ...any) (string, error) {
	params, err := pgParams(args)
	if err != nil {
		return "", err
	}
	r := s.c.ExecParams(ctx, query, params, nil, nil, nil).Read()
	switch {
	case r.Err != nil:
		return "", r.Err
	case len(r.Rows) == 0 || len(r.Rows[0]) == 0:
		return "", sql.ErrNoRows
	}
	return string(r.Rows[0][0]), nil
}

// pgParams returns parameters as text; nil is NULL.
func pgParams(args []any) ([][]byte, error) {
	params := make([][]byte, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case nil:
		case string:
			params[i] = []byte(v)
		case int64:
			params[i] = strconv.AppendInt(nil, v, 10)
		case bool:
			params[i] = strconv.AppendBool(nil, v)
		case float64:
			params[i] = strconv.AppendFloat(nil, v, 'g', -1, 64)
		case []byte:
			params[i] = hex.AppendEncode([]byte(`\x`), v)
		case time.Time:
			params[i] = v.AppendFormat(nil, "2006-01-02 15:04:05.999999Z07:00")
		default:
			return nil, fmt.Errorf("parameter %d has the type %T", i+1, a)
		}
	}
	return params, nil
}

// retried returns driver.ErrBadConn where nothing of a statement was sent, so that
// database/sql tries another connection.
func retried(err error) error {
	if err != nil && pgconn.SafeToRetry(err) {
		return driver.ErrBadConn
	}
	return err
}

func plainArgs(args []driver.NamedValue) []any {
	out := make([]any, len(args))
	for i := range args {
		out[i] = args[i].Value
	}
	return out
}

// ExecContext runs a statement.
func (s *pgSession) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if s.c.IsClosed() {
		return nil, driver.ErrBadConn
	}
	tag, err := s.exec(ctx, query, plainArgs(args)...)
	if err != nil {
		return nil, retried(err)
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

// QueryContext runs a query.
func (s *pgSession) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if s.c.IsClosed() {
		return nil, driver.ErrBadConn
	}
	params, err := pgParams(plainArgs(args))
	if err != nil {
		return nil, err
	}
	r := &pgRows{r: s.c.ExecParams(ctx, query, params, nil, nil, nil)}
	// The first row is read now: what is wrong with the query is known then.
	if r.first = r.r.NextRow(); !r.first {
		if _, err := r.r.Close(); err != nil {
			return nil, retried(err)
		}
	}
	for _, f := range r.r.FieldDescriptions() {
		r.names, r.types = append(r.names, f.Name), append(r.types, f.DataTypeOID)
	}
	return r, nil
}

// Prepare returns a statement that is sent whenever it is run.
func (s *pgSession) Prepare(query string) (driver.Stmt, error) { return pgStatement{s, query}, nil }

// Begin begins a transaction.
func (s *pgSession) Begin() (driver.Tx, error) {
	return s.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction.
func (s *pgSession) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if s.c.IsClosed() {
		return nil, driver.ErrBadConn
	}
	begin := "BEGIN"
	switch sql.IsolationLevel(o.Isolation) {
	case sql.LevelDefault:
	case sql.LevelReadCommitted:
		begin += " ISOLATION LEVEL READ COMMITTED"
	case sql.LevelRepeatableRead:
		begin += " ISOLATION LEVEL REPEATABLE READ"
	case sql.LevelSerializable:
		begin += " ISOLATION LEVEL SERIALIZABLE"
	default:
		return nil, fmt.Errorf("the isolation level %s is not supported", sql.IsolationLevel(o.Isolation))
	}
	if o.ReadOnly {
		begin += " READ ONLY"
	}
	if _, err := s.exec(ctx, begin); err != nil {
		_ = s.Close() // whether it began is not known
		return nil, retried(err)
	}
	return pgTx{ctx, s}, nil
}

// closeTimeout bounds the farewell of a connection.
const closeTimeout = 5 * time.Second

// Close ends the connection.
func (s *pgSession) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return s.c.Close(ctx)
}

// Ping asks the server whether it is there.
func (s *pgSession) Ping(ctx context.Context) error {
	if s.c.IsClosed() {
		return driver.ErrBadConn
	}
	if err := s.c.Ping(ctx); err != nil {
		_ = s.Close()
		return driver.ErrBadConn
	}
	return nil
}

// ResetSession is called before the connection is used again: one that was idle for a
// second is asked whether the server is there.
func (s *pgSession) ResetSession(ctx context.Context) error {
	if s.c.IsClosed() || s.c.TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	now := time.Now()
	idle := now.Sub(s.used)
	s.used = now
	if idle > time.Second {
		return s.Ping(ctx)
	}
	return nil
}

// pgTx is a transaction.
type pgTx struct {
	ctx context.Context //nolint:containedctx // Commit and Rollback of database/sql take none
	s   *pgSession
}

// Commit ends the transaction. One that failed is rolled back by the server, which is
// an error.
func (t pgTx) Commit() error {
	tag, err := t.s.exec(t.ctx, "COMMIT")
	if err == nil && tag.String() == "ROLLBACK" {
		return errors.New("the transaction was rolled back: a statement of it had failed")
	}
	return t.ended(err)
}

// Rollback ends the transaction, and nothing of it is kept.
func (t pgTx) Rollback() error {
	_, err := t.s.exec(t.ctx, "ROLLBACK")
	return t.ended(err)
}

// ended closes a connection that may still be in the transaction.
func (t pgTx) ended(err error) error {
	if err != nil && t.s.c.TxStatus() != 'I' {
		_ = t.s.Close()
	}
	return err
}

// pgStatement is a statement of [sql.DB.PrepareContext].
type pgStatement struct {
	s     *pgSession
	query string
}

// Close has nothing to release.
func (pgStatement) Close() error { return nil }

// NumInput says that the server counts the parameters.
func (pgStatement) NumInput() int { return -1 }

// Exec runs the statement.
func (p pgStatement) Exec(args []driver.Value) (driver.Result, error) {
	return p.s.ExecContext(context.Background(), p.query, namedArgs(args))
}

// Query runs the statement.
func (p pgStatement) Query(args []driver.Value) (driver.Rows, error) {
	return p.s.QueryContext(context.Background(), p.query, namedArgs(args))
}

// ExecContext runs the statement.
func (p pgStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return p.s.ExecContext(ctx, p.query, args)
}

// QueryContext runs the statement.
func (p pgStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return p.s.QueryContext(ctx, p.query, args)
}

func namedArgs(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// pgRows are the rows of a query.
type pgRows struct {
	r     *pgconn.ResultReader
	names []string
	types []uint32
	first bool // a row was read and not returned
}

// Columns returns the names of the columns.
func (r *pgRows) Columns() []string { return r.names }

// ColumnTypeDatabaseTypeName returns the types that are more than their text or value; ""
// for others.
func (r *pgRows) ColumnTypeDatabaseTypeName(i int) string {
	switch r.types[i] {
	case oidJSON:
		return "JSON"
	case oidJSONB:
		return "JSONB"
	}
	return ""
}

// Close reads what is left.
func (r *pgRows) Close() error {
	_, err := r.r.Close()
	return err
}

// Next reads a row.
func (r *pgRows) Next(dest []driver.Value) error {
	if !r.first && !r.r.NextRow() {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	r.first = false
	for i, text := range r.r.Values() {
		dest[i] = nil
		if text == nil {
			continue
		}
		var err error
		if dest[i], err = pgValue(r.types[i], text); err != nil {
			return fmt.Errorf("the column %s: %w", r.names[i], err)
		}
	}
	return nil
}

// The types of PostgreSQL whose values are not text; pg_type has their numbers.
const (
	oidBool        = 16
	oidBytes       = 17
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidOID         = 26
	oidXID         = 28
	oidCID         = 29
	oidJSON        = 114
	oidXML         = 142
	oidFloat4      = 700
	oidFloat8      = 701
	oidDate        = 1082
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidJSONB       = 3802
)

// pgValue returns a value by the type of its column.
func pgValue(oid uint32, text []byte) (driver.Value, error) {
	switch oid {
	case oidBool:
		return len(text) > 0 && text[0] == 't', nil
	case oidInt2, oidInt4, oidInt8, oidOID, oidXID, oidCID:
		return strconv.ParseInt(string(text), 10, 64)
	case oidFloat4, oidFloat8:
		return strconv.ParseFloat(string(text), 64)
	case oidBytes:
		return pgBytes(text)
	case oidJSON, oidJSONB, oidXML:
		return append([]byte{}, text...), nil
	case oidDate:
		return pgTime("2006-01-02", string(text)), nil
	case oidTimestamp:
		return pgTime("2006-01-02 15:04:05.999999999", string(text)), nil
	case oidTimestampTZ:
		zone := "Z07"
		if n := strings.LastIndexAny(string(text), "+-"); n > 0 {
			zone += strings.Repeat(":00", strings.Count(string(text[n:]), ":"))
		}
		return pgTime("2006-01-02 15:04:05.999999999"+zone, string(text)), nil
	}
	return string(text), nil
}

// pgTime returns a moment. Those that Go has no time for, such as infinity, are text.
func pgTime(layout, text string) driver.Value {
	t, err := time.Parse(layout, text)
	if err != nil {
		return text
	}
	return t
}

// pgBytes returns the bytes of a bytea, in either of its forms (bytea_output).
func pgBytes(text []byte) ([]byte, error) {
	if after, ok := strings.CutPrefix(string(text), `\x`); ok {
		return hex.DecodeString(after)
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			out = append(out, text[i])
		case i+1 < len(text) && text[i+1] == '\\':
			out = append(out, '\\')
			i++
		case i+3 < len(text):
			n, err := strconv.ParseUint(string(text[i+1:i+4]), 8, 8)
			if err != nil {
				return nil, err
			}
			out = append(out, byte(n))
			i += 3
		default:
			return nil, errors.New("an incomplete bytea")
		}
	}
	return out, nil
}
