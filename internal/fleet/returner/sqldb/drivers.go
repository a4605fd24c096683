package sqldb

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"brine/internal/fleet/jobs"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/tlsconf"
)

// maxPgMessage is the largest message that PostgreSQL takes: no setting moves it.
const maxPgMessage = 1<<30 - 2

const dialTimeout = 5 * time.Second

// mysqlDB returns the database of the settings.
func mysqlDB(s returner.Settings) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = s.Str("user"), s.Str("pass"), s.Str("db")
	c.Net, c.Addr = mysqlAddr(s)
	c.Timeout, c.ReadTimeout, c.WriteTimeout = dialTimeout, 4*dialTimeout, 4*dialTimeout
	c.InterpolateParams = true // one round trip a statement
	c.MaxAllowedPacket = 0     // the server's own
	c.Logger = silent{}
	var err error
	if c.TLS, c.AllowFallbackToPlaintext, err = mysqlTLS(s); err != nil {
		return nil, err
	}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(conn), nil
}

// mysqlFault says what to set where TLS is the matter.
func mysqlFault(err error) error {
	switch {
	case tlsconf.Untrusted(err):
		return fmt.Errorf("%w (mysql.ssl_ca names the file with the CA of the server; mysql.tls: skip-verify encrypts without knowing who the server is)", err)
	case errors.Is(err, mysql.ErrNoTLS):
		return fmt.Errorf("%w (mysql.tls: False goes on without encryption)", err)
	}
	return err
}

func newMySQL(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	db, release, err := connect(s, func() (*sql.DB, error) { return mysqlDB(s) })
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, mysqlDialect, db, release)
	if err != nil {
		return nil, mysqlFault(err)
	}
	st := r.(*store)
	st.cost = escaped
	st.bound(ctx, "SELECT @@max_allowed_packet", "max_allowed_packet")
	st.chars = mysqlChars(ctx, st.db)
	return r, nil
}

// mysqlAddr returns the network and the address of the server. As in the library
// that Salt uses, a socket counts only for this machine.
func mysqlAddr(s returner.Settings) (network, addr string) {
	name, socket := s.Str("host"), s.Str("unix_socket")
	switch {
	case strings.HasPrefix(name, "/"):
		return "unix", name
	case socket != "" && (name == "localhost" || !s.Given("host")):
		return "unix", socket
	}
	return "tcp", net.JoinHostPort(name, strconv.Itoa(s.Int("port")))
}

// mysqlChars returns what all tables of a database hold.
func mysqlChars(ctx context.Context, db *sql.DB) charset {
	const query = "SELECT DISTINCT character_set_name FROM information_schema.columns WHERE table_schema = DATABASE() " +
		"AND table_name IN ('jids', 'salt_returns', 'salt_events') AND column_name IN ('load', 'return', 'full_ret', 'data')"
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return ascii
	}
	defer rows.Close()
	got := unicode
	for rows.Next() {
		var name sql.NullString // NULL: bytes, or JSON of MySQL
		if err := rows.Scan(&name); err != nil {
			return ascii
		}
		switch name.String {
		case "", "utf8mb4":
		case "utf8", "utf8mb3":
			got = max(got, basic)
		default:
			return ascii
		}
	}
	if rows.Err() != nil {
		return ascii
	}
	return got
}

// mysqlTLS returns the TLS of the settings, nil for none, and whether a server
// without it is taken.
func mysqlTLS(s returner.Settings) (*tls.Config, bool, error) {
	files := tlsconf.Files{CA: s.Str("ssl_ca"), Cert: s.Str("ssl_cert"), Key: s.Str("ssl_key")}
	want := strings.ToLower(s.Str("tls"))
	switch {
	case want == "" && !files.Given(), want == "false", want == "disabled":
		return nil, false, nil
	case want == "", want == "true", want == "skip-verify", want == "preferred":
	default:
		return nil, false, fmt.Errorf("mysql.tls: %q is none of True, False, preferred and skip-verify", s.Str("tls"))
	}
	c, err := files.Config(s.Str("host"))
	if err != nil {
		return nil, false, fmt.Errorf("mysql.ssl_ca, mysql.ssl_cert, mysql.ssl_key: %w", err)
	}
	c.InsecureSkipVerify = want == "skip-verify" || want == "preferred"
	return c, want == "preferred", nil
}

// silent keeps the driver from writing to stderr: its errors are returned, too.
type silent struct{}

func (silent) Print(...any) {}

// sslMode is how a connection to PostgreSQL is protected: where the settings do
// not say, who the server is is checked, unless it is this machine.
func sslMode(s returner.Settings) string {
	mode := s.Str("sslmode")
	switch {
	case mode != "":
		return mode
	case tlsconf.Local(s.Str("host")):
		return "prefer"
	}
	return "verify-full"
}

// postgresDB returns the database of the settings.
func postgresDB(s returner.Settings) (*sql.DB, error) {
	c, err := postgresConfig(s)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(pgConnector{c}), nil
}

// postgresConfig returns how the server of the settings is reached.
func postgresConfig(s returner.Settings) (*pgconn.Config, error) {
	pass := s.Str("passwd")
	if pass == "" {
		pass = s.Str("pass")
	}
	mode := sslMode(s)
	var dsn strings.Builder
	for _, kv := range [][2]string{
		{"host", s.Str("host")},
		{"port", strconv.Itoa(s.Int("port"))},
		{"user", s.Str("user")},
		{"password", pass},
		{"dbname", s.Str("db")},
		{"sslmode", mode},
		{"sslcert", s.Str("sslcert")},
		{"sslkey", s.Str("sslkey")},
		{"sslrootcert", s.Str("sslrootcert")},
		{"connect_timeout", strconv.Itoa(int(dialTimeout / time.Second))},
		{"application_name", "brine"},
	} {
		if kv[1] != "" {
			fmt.Fprintf(&dsn, "%s='%s' ", kv[0], strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(kv[1]))
		}
	}
	c, err := pgconn.ParseConfig(dsn.String())
	if err != nil {
		return nil, pgFault(s, mode, err)
	}
	return c, nil
}

func newPostgres(ctx context.Context, s returner.Settings) (jobs.Returner, error) {
	db, release, err := connect(s, func() (*sql.DB, error) { return postgresDB(s) })
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, pgDialect, db, release)
	if err != nil {
		return nil, pgFault(s, sslMode(s), err)
	}
	st := r.(*store)
	st.limit, st.limitIs = maxPgMessage, "the largest message of PostgreSQL"
	var encoding string
	if err := st.db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil || encoding != "UTF8" {
		st.chars = ascii
	}
	return r, nil
}

// pgNoTLS is what the driver says of a server without TLS.
const pgNoTLS = "server refused TLS connection"

// A pgError is an error in other words.
type pgError struct {
	error
	text string
}

// Error returns these words.
func (e pgError) Error() string { return e.text }

// Unwrap returns the error.
func (e pgError) Unwrap() error { return e.error }

// pgLine returns an error of a connection in one line. If TLS is only
// preferred, that a server does not support it is not why a connection fails.
func pgLine(err error, mode string) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return err
	}
	head, rest, tries := strings.Cut(err.Error(), "\n\t")
	if !tries {
		return err
	}
	var why []string
	for line := range strings.SplitSeq(rest, "\n\t") {
		if mode != "prefer" || !strings.Contains(line, pgNoTLS) {
			why = append(why, line)
		}
	}
	if len(why) == 0 {
		return err
	}
	return pgError{err, head + " " + strings.Join(why, "; ")}
}

// pgFault says what to set where TLS is the matter, in one line.
func pgFault(s returner.Settings, mode string, err error) error {
	if err == nil {
		return nil
	}
	key := "returner." + s.Spec.Name
	err = pgLine(err, mode)
	switch {
	case tlsconf.Untrusted(err):
		return fmt.Errorf("%w (%s.sslmode is %s: %s.sslrootcert names the file with the CA of the server; require encrypts without knowing who the server is)", err, key, mode, key)
	case strings.Contains(err.Error(), pgNoTLS):
		return fmt.Errorf("%w (%s.sslmode is %s, the default for another machine than this: disable goes on without encryption)", err, key, mode)
	}
	return err
}

// Open connects to the server "mysql" or "postgres" of the settings. mark is the
// n-th parameter of a statement, counted from 1.
func Open(ctx context.Context, name string, s returner.Settings) (db *sql.DB, mark func(n int) string, err error) {
	specs := Specs()
	i := slices.IndexFunc(specs, func(s returner.Spec) bool { return s.Name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no database server %q", name)
	}
	s.Spec = &specs[i]
	of, d, fault := mysqlDB, mysqlDialect, mysqlFault
	if name == "postgres" {
		of, d = postgresDB, pgDialect
		fault = func(err error) error { return pgFault(s, sslMode(s), err) }
	}
	if db, err = of(s); err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, nil, fault(err)
	}
	return db, d.mark, nil
}

// refused marks an error that is due to the values of a row: larger than the
// server takes, too long for a column, no text of its character set, no JSON that
// it knows.
func refused(err error) error {
	if m, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch m.Number {
		case 1118, 1153:
			return jobs.TooLarge(err)
		case 1406: // of the columns that hold texts of any length, it is the size
			for _, column := range [...]string{"'full_ret'", "'return'", "'load'", "'data'"} {
				if strings.Contains(m.Message, column) {
					return jobs.TooLarge(err)
				}
			}
			return jobs.Refused(err)
		case 1264, 1366, 3140, 4025:
			return jobs.Refused(err)
		}
	}
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case strings.HasPrefix(p.Code, "54"):
			return jobs.TooLarge(err)
		case strings.HasPrefix(p.Code, "22"):
			return jobs.Refused(err)
		}
	}
	if l, ok := errors.AsType[*sqlite.Error](err); ok && l.Code()&0xff == sqlite3.SQLITE_TOOBIG {
		return jobs.TooLarge(err)
	}
	return err
}

// bound has a store know what its server takes. A server that does not tell its
// limit has none that is known.
func (s *store) bound(ctx context.Context, query, name string) {
	var n int64
	if err := s.db.QueryRowContext(ctx, query).Scan(&n); err == nil && n > 0 {
		s.limit, s.limitIs = int(min(n, math.MaxInt32)), name
	}
}

// escaped is what a text takes in a statement of MySQL at most: the driver puts
// it into quotes, and a backslash before some of its characters.
func escaped(text string) int {
	n := len(text) + len("'',")
	for i := range len(text) {
		switch text[i] {
		case 0, '\n', '\r', 0x1a, '\'', '"', '\\':
			n++
		}
	}
	return n
}
