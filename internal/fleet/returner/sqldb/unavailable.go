package sqldb

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Unavailable reports whether an error says that a database cannot be reached or does not
// serve now: it is starting or stopping, is a standby, has no connection left, is locked, or
// its disk is full. An answer, such as to a wrong password, is none of that.
func Unavailable(err error) bool {
	if m, ok := errors.AsType[*mysql.MySQLError](err); ok {
		// A full disk, too many connections, shutdown, read-only, waits and deadlocks.
		return slices.Contains([]uint16{1021, 1114, 1040, 1053, 1077, 1203, 1205, 1213, 1290, 1836, 1927}, m.Number)
	}
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		// Connection, resources, the operator, the system, and a standby.
		return len(p.Code) == 5 && (slices.Contains([]string{"08", "40", "53", "57", "58"}, p.Code[:2]) || p.Code == "25006")
	}
	if l, ok := errors.AsType[*sqlite.Error](err); ok {
		return slices.Contains([]int{sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}, l.Code()&0xff)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, broken := range []error{driver.ErrBadConn, mysql.ErrInvalidConn, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}
