package shared

import (
	"fmt"
	"strings"

	"brine/internal/fleet/history"
)

// A table has columns NAME TYPE; the types are those of [history.Dialect.Type].
type table struct {
	name, key string
	columns   []string
}

var tables = []table{
	// A row for each name that was ever locked: who changes the locks of a name holds
	// its row until the transaction ends.
	{"brine_lock_names", "name", []string{"name key255"}},
	{"brine_locks", "name, jid", []string{
		"name key255", "jid key20", "targets text", "owner text", "pid int", "controller text", "taken real", "beat real", "lease real",
	}},
	{"brine_runs", "jid", []string{
		"jid key20", "job_load text", "controller text", "host_name text", "cache text", "pid int", "began real", "beat real", "lease real",
		"ended real", "resumes key20", "resumed_by key20",
	}},
	{"brine_turns", "name, token", []string{
		"name key255", "token key64", "due real", "controller text", "host_name text", "pid int", "taken real", "beat real", "lease real", "ended real",
	}},
	{"brine_notes", "jid, n, part", []string{"jid key20", "n int", "part int", "data text"}},
}

// Schema returns the SQL that makes the tables, which changes nothing where they
// are there.
func Schema(d history.Dialect) string { return strings.Join(statements(d), ";\n") + ";\n" }

func statements(d history.Dialect) []string {
	out := make([]string, len(tables))
	for i, t := range tables {
		var lines []string
		for _, c := range t.columns {
			name, typ, _ := strings.Cut(c, " ")
			lines = append(lines, name+" "+d.Type(typ)+" NOT NULL")
		}
		lines = append(lines, "PRIMARY KEY ("+t.key+")")
		tail := ""
		if d == history.MySQL {
			tail = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
		}
		out[i] = fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n)%s", t.name, strings.Join(lines, ",\n  "), tail)
	}
	return out
}

// now is the time of the database in seconds since 1970, UTC: the clocks of
// controllers are never compared with each other.
var now = map[history.Dialect]string{
	history.SQLite:   "((julianday('now') - 2440587.5) * 86400.0)",
	history.MySQL:    "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1e6)",
	history.Postgres: "(EXTRACT(EPOCH FROM clock_timestamp())::double precision)",
}

// sql returns a statement in the dialect of the store. {now} is the time, {ignore}
// and {nothing} are around an INSERT that leaves rows as they are, {alone} ends a
// SELECT whose rows nobody else may change, and each ? is a parameter.
func (s *Store) sql(q string) string {
	ignore, nothing, alone := "INSERT INTO", " ON CONFLICT DO NOTHING", " FOR UPDATE"
	switch s.d {
	case history.MySQL:
		ignore, nothing = "INSERT IGNORE INTO", ""
	case history.SQLite:
		alone = "" // a transaction has the file to itself
	case history.Postgres:
	}
	q = strings.NewReplacer("{now}", now[s.d], "{ignore}", ignore, "{nothing}", nothing, "{alone}", alone).Replace(q)
	if s.d != history.Postgres {
		return q
	}
	var b strings.Builder
	for i, part := range strings.Split(q, "?") {
		if i > 0 {
			b.WriteString(s.d.Mark(i))
		}
		b.WriteString(part)
	}
	return b.String()
}
