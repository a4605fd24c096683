package history

import (
	"fmt"
	"slices"
	"strconv"
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

// Version is that of the tables, and of the rows that a [Recorder] writes. Whoever
// changes one of them adds a step to [Tables], and leaves the earlier ones as they are.
const Version = 3

// A table of the history, whose columns are NAME TYPE and, of those that came later
// than version 1, a default: programs that do not know them write none. Types are those
// of [Dialect.Type].
type table struct {
	name    string
	columns []string
	key     []string   // the primary key
	indexes [][]string // beside it
}

var (
	states = table{
		name:    "orchestration_states",
		columns: []string{"hash key64", "kind key20", "name key255", "description text", "source key64", "created key26"},
		key:     []string{"hash"}, indexes: [][]string{{"name"}},
	}
	steps = table{
		name:    "orchestration_steps",
		columns: []string{"hash key64", "step_order int", "step_id text", "label text", "fun text", "tgt text", "action_id text", "args text"},
		key:     []string{"hash", "step_order"},
	}
	executions = table{
		name: "orchestration_executions",
		columns: []string{
			"jid key20", "hash key64", "kind key20", "name key255", "user_name text", "controller text", "cache text", "pid int", "started key26", "ended key26",
			"status key20", "signal_number int", "test int", "resumes key20", "parent key20", "revision text", "pillar key64",
			"steps int", "steps_done int", "steps_failed int", "hosts int", programColumn, limitColumn,
		},
		key: []string{"jid"}, indexes: [][]string{{"name", "jid"}, {"status", "jid"}, {"hash"}},
	}
	executionSteps = table{
		name: "orchestration_execution_steps",
		columns: []string{
			"jid key20", "step_order int", "step_id text", "fun text", "action_id key64", "step_jid key20", "result key20", "started key26", "duration real",
			"comment text", "tgt text", "pillar text",
		},
		key: []string{"jid", "step_order"}, indexes: [][]string{{"action_id", "jid"}},
	}
	executionHosts = table{
		name:    "orchestration_execution_hosts",
		columns: []string{"jid key20", "step_jid key20", "host key255", "step_order int", "result key20", "duration real", "changed int", "ended key26", "detail text"},
		key:     []string{"jid", "step_jid", "host"}, indexes: [][]string{{"host", "jid"}},
	}
	tables = []*table{&states, &steps, &executions, &executionSteps, &executionHosts}
)

// programColumn has the version of brine that ran an execution, since version 2 of the
// tables.
const programColumn = "program key64 DEFAULT ''"

// limitColumn has the part of its targets that an execution was for, since version 3.
const limitColumn = "run_limit key255 DEFAULT ''"

// Schema returns the SQL that makes the tables.
func Schema(d Dialect) string { return d.tables().Schema(migration.Dialect(d)) }

// tables describes the tables and their versions.
func (d Dialect) tables() *migration.Tables {
	t := &migration.Tables{
		Name: "history", Title: "the history", Newest: statements(d),
		Steps: [][]migration.Change{
			{{Table: executions.name, Column: "program", SQL: "ALTER TABLE " + executions.name + " ADD COLUMN " + d.column(programColumn)}},
			{{Table: executions.name, Column: "run_limit", SQL: "ALTER TABLE " + executions.name + " ADD COLUMN " + d.column(limitColumn)}},
		},
	}
	for _, x := range tables {
		t.Names = append(t.Names, x.name)
	}
	return t
}

// column is a column of a statement.
func (d Dialect) column(c string) string {
	name, typ, more := parts(c)
	return strings.TrimRight(name+" "+d.Type(typ)+" NOT NULL "+more, " ")
}

// parts are the name, the type and the default of a column.
func parts(c string) (name, typ, more string) {
	name, typ, _ = strings.Cut(c, " ")
	typ, more, _ = strings.Cut(typ, " ")
	return name, typ, more
}

func statements(d Dialect) []string {
	var out []string
	for _, t := range tables {
		var lines []string
		for _, c := range t.columns {
			lines = append(lines, d.column(c))
		}
		lines = append(lines, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")")
		if d == MySQL {
			for _, ix := range t.indexes {
				lines = append(lines, fmt.Sprintf("KEY %s (%s)", indexName(t, ix), strings.Join(ix, ", ")))
			}
		}
		tail := map[Dialect]string{SQLite: " WITHOUT ROWID", MySQL: " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"}[d]
		out = append(out, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (\n  %s\n)%s", t.name, strings.Join(lines, ",\n  "), tail))
		if d == MySQL {
			continue
		}
		for _, ix := range t.indexes {
			out = append(out, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s)", indexName(t, ix), t.name, strings.Join(ix, ", ")))
		}
	}
	return out
}

func indexName(t *table, columns []string) string {
	return "idx_" + t.name + "_" + strings.Join(columns, "_")
}

// Type is the type of a column: a text that an index has, of some length at
// most, or any other.
func (d Dialect) Type(typ string) string {
	size, isKey := strings.CutPrefix(typ, "key")
	switch {
	case isKey && d == SQLite:
		return "TEXT"
	case isKey:
		return "varchar(" + size + ")"
	case typ == "text" && d == MySQL:
		return "mediumtext"
	case typ == "real" && d == SQLite:
		return "REAL"
	case typ == "real":
		return "double precision"
	case typ == "int" && d == SQLite:
		return "INTEGER"
	case typ == "int":
		return "integer"
	}
	return "text"
}

// Mark is the n-th parameter of a statement.
func (d Dialect) Mark(n int) string {
	if d == Postgres {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

// marks is a list of n parameters after others.
func (d Dialect) marks(after, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = d.Mark(after + i + 1)
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// names are the columns of a table.
func (t *table) names() []string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i], _, _ = parts(c)
	}
	return out
}

// insert returns a statement for n rows. For existing rows it replaces the
// columns that are not in the key, or leaves all unchanged.
func (t *table) insert(d Dialect, n int, replace bool) string {
	names := t.names()
	verb, tail := "INSERT", ""
	var sets []string
	for _, c := range names {
		if slices.Contains(t.key, c) || c == "step_order" { // a step that has a host keeps it
			continue
		}
		if d == MySQL {
			sets = append(sets, c+" = VALUES("+c+")")
		} else {
			sets = append(sets, c+" = excluded."+c)
		}
	}
	switch {
	case d == MySQL && replace:
		tail = " ON DUPLICATE KEY UPDATE " + strings.Join(sets, ", ")
	case d == MySQL:
		verb = "INSERT IGNORE"
	case replace:
		tail = " ON CONFLICT (" + strings.Join(t.key, ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
	default:
		tail = " ON CONFLICT DO NOTHING"
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = d.marks(i*len(names), len(names))
	}
	return fmt.Sprintf("%s INTO %s (%s) VALUES %s%s", verb, t.name, strings.Join(names, ", "), strings.Join(rows, ", "), tail)
}

// values returns the parameters of a row by the names of its columns, cut to what
// the columns take.
func (t *table) values(row map[string]any) []any {
	out := make([]any, len(t.columns))
	for i, c := range t.columns {
		name, typ, _ := parts(c)
		v, ok := row[name]
		switch x := v.(type) {
		case string:
			out[i] = fit(x, typ)
		case nil:
			if !ok && typ != "int" && typ != "real" {
				out[i] = ""
			} else {
				out[i] = 0
			}
		default:
			out[i] = v
		}
	}
	return out
}

// fit cuts a text to the length of its column, in characters, and takes NUL out
// of it, which PostgreSQL does not hold.
func fit(s, typ string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
	size, isKey := strings.CutPrefix(typ, "key")
	if !isKey {
		return s
	}
	n, _ := strconv.Atoi(size)
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n])
	}
	return s
}
