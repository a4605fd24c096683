package queue

import (
	"fmt"
	"strings"
)

// A Dialect is what databases differ in.
type Dialect int

// The dialects.
const (
	SQLite Dialect = iota
	MySQL
	Postgres
)

const table = "brine_queue"

// columns of the table, NAME TYPE. Times are microseconds since 1970, by the clock
// of the database. due is when a worker may claim the entry: of one that is
// claimed, the end of the lease; of one that has ended, never.
var columns = []string{
	"jid key20", "queue key64", "version int", "state key20", "sls text", "user_name text", "controller text", "payload text",
	"created long", "due long", "started long", "ended long", "worker key255", "tries int", "failures int", "runs text", "error text", "retcode int", "wish key20",
}

// never is when an entry that has ended may be claimed.
const never = "4611686018427387904"

// Schema returns the SQL that makes the table, which changes nothing where it is
// there.
func Schema(d Dialect) string { return strings.Join(statements(d), ";\n") + ";\n" }

func statements(d Dialect) []string {
	lines := make([]string, 0, len(columns)+2)
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		lines = append(lines, name+" "+d.typeOf(typ)+" NOT NULL")
	}
	lines = append(lines, "PRIMARY KEY (jid)")
	const index = "idx_" + table + "_due"
	if d == MySQL {
		lines = append(lines, "KEY "+index+" (queue, due)")
		return []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin", table, strings.Join(lines, ",\n  "))}
	}
	return []string{
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n)", table, strings.Join(lines, ",\n  ")),
		"CREATE INDEX IF NOT EXISTS " + index + " ON " + table + " (queue, due)",
	}
}

// typeOf is the type of a column.
func (d Dialect) typeOf(typ string) string {
	size, isKey := strings.CutPrefix(typ, "key")
	switch {
	case isKey && d == SQLite:
		return "TEXT"
	case isKey:
		return "varchar(" + size + ")"
	case typ == "int":
		return "integer"
	case typ == "long":
		return "bigint"
	case typ == "text" && d == MySQL:
		return "mediumtext"
	}
	return "text"
}

// now is the time of the database. UNIX_TIMESTAMP of MySQL would depend on the
// time zone of the connection.
func (d Dialect) now() string {
	switch d {
	case MySQL:
		return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
	case Postgres:
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)"
	case SQLite:
	}
	return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
}

// bind numbers the parameters of a statement, written as ?.
func (d Dialect) bind(query string) string {
	if d != Postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}
