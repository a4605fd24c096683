package queue

import (
	"fmt"
	"strings"

	"brine/internal/fleet/migration"
)

// A Dialect is what databases differ in.
type Dialect int

// The dialects.
const (
	SQLite   = Dialect(migration.SQLite)
	MySQL    = Dialect(migration.MySQL)
	Postgres = Dialect(migration.Postgres)
)

const (
	table = "brine_queue"
	// eventTable has the events that became entries, each once.
	eventTable = "brine_queue_events"
	// scheduleTable has what becomes an entry again and again.
	scheduleTable = "brine_queue_schedules"
)

// columns of the table, NAME TYPE. Times are microseconds since 1970, by the clock
// of the database. due is when a worker may claim the entry: of one that is
// claimed, the end of the lease; of one that has ended, never.
var columns = []string{
	"jid key20", "queue key64", "version int", "state key20", "sls text", "user_name text", "controller text", "payload text",
	"created long", "due long", "started long", "ended long", "worker key255", "tries int", "failures int", "runs text", "error text", "retcode int", "wish key20",
	laneColumn,
}

// Entries of one lane run one after the other, in their order; those without one do not
// wait for each other. The column came later than the others: programs that do not know it
// write no lane.
const laneColumn = "lane key64"

// eventColumns are those of eventTable. event is the key of the event in its queue, same
// that of events which one entry can stand for, jid the entry ("" where there is none) and
// cause the entries whose reactions led to the event.
var eventColumns = []string{"event key64", "queue key64", "same key64", "jid key20", "cause text", "created long"}

// scheduleColumns are those of scheduleTable. planned is the next time of the schedule, and
// due that time with its jitter; last is the newest time that became an entry, last_jid.
// skipped is the newest time that did not, why the reason, and skips how many there were.
var scheduleColumns = []string{
	"name key64", "queue key64", "version int", "payload text", "recurrence key255", "zone key64", "jitter long", "overlap key20", "missed key20", "paused int",
	"user_name text", "controller text", "created long", "planned long", "due long", "last long", "last_jid key20", "skipped long", "why text", "skips int",
}

// never is when an entry that has ended may be claimed.
const (
	never    = "4611686018427387904"
	neverDue = 1 << 62 // the same
)

// Schema returns the SQL that makes the tables.
func Schema(d Dialect) string {
	return d.tables().Schema(migration.Dialect(d)) + d.scheduleTables().Schema(migration.Dialect(d)) + d.sinkTables().Schema(migration.Dialect(d)) +
		d.approvalTables().Schema(migration.Dialect(d))
}

// tables describes the tables and their versions: since version 2, entries have lanes.
func (d Dialect) tables() *migration.Tables {
	return &migration.Tables{
		Name: "queue", Title: "the queue", Names: []string{table, eventTable}, Newest: statements(d),
		Steps: [][]migration.Change{d.addLane()},
	}
}

// scheduleTables describes the table of schedules, which has a version of its own: programs
// that do not know it go on with the queue.
func (d Dialect) scheduleTables() *migration.Tables {
	return &migration.Tables{
		Name: "queue_schedules", Title: "the schedules of the queue", Names: []string{scheduleTable},
		Newest: d.makes(scheduleTable, scheduleColumns, "name", "due: queue, due", "jid: last_jid"),
	}
}

func statements(d Dialect) []string {
	out := d.makes(table, columns, "jid", "due: queue, due", laneIndex)
	return append(out, d.makes(eventTable, eventColumns, "event", "same: same", "jid: jid")...)
}

// laneIndex is the index by lanes, NAME: COLUMNS.
const laneIndex = "lane: lane, due"

// makes are the statements that make a table with its indexes, each NAME: COLUMNS.
func (d Dialect) makes(name string, columns []string, primary string, indexed ...string) []string {
	lines := make([]string, 0, len(columns)+1+len(indexed))
	for _, c := range columns {
		lines = append(lines, d.column(c))
	}
	lines = append(lines, "PRIMARY KEY ("+primary+")")
	suffix, indexes := "", []string(nil)
	for _, x := range indexed {
		index, on := indexOf(name, x)
		if d == MySQL {
			lines = append(lines, "KEY "+index+" ("+on+")")
			suffix = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
			continue
		}
		indexes = append(indexes, "CREATE INDEX IF NOT EXISTS "+index+" ON "+name+" ("+on+")")
	}
	return append([]string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n)%s", name, strings.Join(lines, ",\n  "), suffix)}, indexes...)
}

// indexOf returns the name of an index of a table, and its columns.
func indexOf(table, index string) (name, on string) {
	name, on, _ = strings.Cut(index, ": ")
	return "idx_" + table + "_" + name, on
}

// column is a column of a statement.
func (d Dialect) column(c string) string {
	name, typ, _ := strings.Cut(c, " ")
	out := name + " " + d.typeOf(typ) + " NOT NULL"
	switch c {
	case laneColumn:
		out += " DEFAULT ''"
	case seenColumn:
		out += " DEFAULT 0"
	}
	return out
}

// addLane are the changes that bring a table of before lanes up to date.
func (d Dialect) addLane() []migration.Change {
	index, on := indexOf(table, laneIndex)
	return []migration.Change{
		{Table: table, Column: "lane", SQL: "ALTER TABLE " + table + " ADD COLUMN " + d.column(laneColumn)},
		{Table: table, Index: index, SQL: "CREATE INDEX " + index + " ON " + table + " (" + on + ")"},
	}
}

// greatest is the greater one of two numbers.
func (d Dialect) greatest(a, b string) string {
	if d == SQLite {
		return "MAX(" + a + ", " + b + ")"
	}
	return "GREATEST(" + a + ", " + b + ")"
}

// insertNew begins and ends an INSERT that does nothing for a row whose key is there.
func (d Dialect) insertNew() (begins, ends string) {
	if d == MySQL {
		return "INSERT IGNORE INTO ", ""
	}
	return "INSERT INTO ", " ON CONFLICT DO NOTHING"
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
