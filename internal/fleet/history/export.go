package history

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"brine/internal/py/value"
)

// What the first line of an export says.
const (
	exportFormat  = "brine-history"
	exportVersion = 1
)

// The kinds of lines of an export, each a mapping with one of these keys. A definition
// has its steps, and comes before its first execution; the steps and the targets of an
// execution follow it. The last line counts the others.
const (
	definitionLine = "definition"
	executionLine  = "execution"
	stepLine       = "step"
	hostLine       = "host"
	endLine        = "end"
)

// Counts are how many lines of each kind an export has. Steps are those of executions.
type Counts struct{ Definitions, Executions, Steps, Hosts int64 }

func (c Counts) mapOf() *value.Map {
	return value.MapOf("definitions", c.Definitions, "executions", c.Executions, "steps", c.Steps, "hosts", c.Hosts)
}

// documents are the columns that have JSON.
var documents = map[string]bool{"args": true, "detail": true}

// An exporter writes what one transaction sees.
type exporter struct {
	s       *Store
	tx      *sql.Tx
	w       *bufio.Writer
	written map[string]bool // definitions, by their hashes
	n       Counts
	err     error // of w
}

// Export writes the executions that a query chooses, oldest first, with their
// definitions: NDJSON that [Store.Import] reads. It shows one moment, whatever is
// written meanwhile. The status and the limit of a query do not count.
func (s *Store) Export(ctx context.Context, w io.Writer, q Query) (Counts, error) {
	f, err := s.filter(ctx, q, "")
	if err != nil {
		return Counts{}, err
	}
	o := &sql.TxOptions{ReadOnly: true}
	if s.d != SQLite {
		o.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return Counts{}, s.file.checked(err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	e := &exporter{s: s, tx: tx, w: bufio.NewWriterSize(w, 64<<10), written: map[string]bool{}}
	e.line(value.MapOf("format", exportFormat, "version", int64(exportVersion)))
	if err := s.file.checked(e.all(ctx, f)); err != nil {
		return e.n, err
	}
	e.line(value.MapOf(endLine, e.n.mapOf()))
	return e.n, cmp.Or(e.err, e.w.Flush())
}

func (e *exporter) line(m *value.Map) {
	if e.err == nil {
		_, e.err = e.w.Write(append(value.StrictJSON(m), '\n'))
	}
}

// all writes the executions of a filter, some at a time.
func (e *exporter) all(ctx context.Context, f *filter) error {
	after := ""
	where, args := f.where, f.args
	for {
		part := &filter{d: f.d, where: slices.Clip(where), args: slices.Clip(args)}
		part.add("jid > %s", after)
		var some []*value.Map
		err := e.rows(ctx, &executions, part, fmt.Sprintf("jid LIMIT %d", maxRows), func(r *value.Map) { some = append(some, r) })
		if err == nil {
			err = e.executions(ctx, some)
		}
		if err != nil || len(some) < maxRows {
			return err
		}
		after = some[len(some)-1].Str("jid")
	}
}

// executions writes some executions, with what belongs to them.
func (e *exporter) executions(ctx context.Context, some []*value.Map) error {
	if len(some) == 0 {
		return nil
	}
	defs, err := e.definitions(ctx, some)
	if err != nil {
		return err
	}
	of := &filter{d: e.s.d}
	jids := make([]string, len(some))
	for i, r := range some {
		jids[i] = r.Str("jid")
	}
	of.in("jid", jids)
	ran := map[string][]*value.Map{}
	if err := e.rows(ctx, &executionSteps, of, "jid, step_order", func(r *value.Map) { ran[r.Str("jid")] = append(ran[r.Str("jid")], r) }); err != nil {
		return err
	}
	// The results of targets are many: they are written as they come.
	begun := -1
	until := func(jid string) {
		for begun+1 < len(some) && some[begun+1].Str("jid") <= jid {
			begun++
			e.begin(some[begun], defs, ran)
		}
	}
	if err := e.rows(ctx, &executionHosts, of, "jid, step_jid, "+e.bytewise("host"), func(r *value.Map) {
		until(r.Str("jid"))
		e.line(value.MapOf(hostLine, r))
		e.n.Hosts++
	}); err != nil {
		return err
	}
	until(jids[len(jids)-1])
	return e.err
}

// begin writes an execution and its steps, after its definition.
func (e *exporter) begin(r *value.Map, defs map[string]*value.Map, ran map[string][]*value.Map) {
	if hash := r.Str("hash"); !e.written[hash] && defs[hash] != nil {
		e.written[hash] = true
		e.line(value.MapOf(definitionLine, defs[hash]))
		e.n.Definitions++
	}
	e.line(value.MapOf(executionLine, r))
	e.n.Executions++
	for _, x := range ran[r.Str("jid")] {
		e.line(value.MapOf(stepLine, x))
		e.n.Steps++
	}
}

// definitions reads the definitions of executions that were not written before.
func (e *exporter) definitions(ctx context.Context, of []*value.Map) (map[string]*value.Map, error) {
	defs := map[string]*value.Map{}
	var hashes []string
	for _, r := range of {
		if hash := r.Str("hash"); !e.written[hash] && defs[hash] == nil {
			defs[hash] = value.NewMap(0)
			hashes = append(hashes, hash)
		}
	}
	clear(defs)
	if len(hashes) == 0 {
		return defs, nil
	}
	f := &filter{d: e.s.d}
	f.in("hash", hashes)
	if err := e.rows(ctx, &states, f, "hash", func(r *value.Map) {
		r.Set("steps", value.NewList())
		defs[r.Str("hash")] = r
	}); err != nil {
		return nil, err
	}
	return defs, e.rows(ctx, &steps, f, "hash, step_order", func(r *value.Map) {
		if d := defs[r.Str("hash")]; d != nil {
			r.Delete("hash")
			d.List("steps").Append(r)
		}
	})
}

// bytewise is a column in an order that all databases have in common.
func (e *exporter) bytewise(column string) string {
	if e.s.d == Postgres {
		return column + ` COLLATE "C"`
	}
	return column
}

// rows reads rows of a table.
func (e *exporter) rows(ctx context.Context, t *table, f *filter, order string, each func(*value.Map)) error {
	names := t.names()
	rows, err := e.tx.QueryContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+t.name+f.String()+" ORDER BY "+order, f.args...)
	if err != nil {
		return err
	}
	into, read := t.scanned()
	for rows.Next() && e.err == nil {
		if err := rows.Scan(into...); err != nil {
			return errors.Join(err, rows.Close())
		}
		each(read())
	}
	return cmp.Or(e.err, errors.Join(rows.Err(), rows.Close()))
}

// scanned returns where the columns of a row are scanned to, and what makes a line of
// them.
func (t *table) scanned() (into []any, read func() *value.Map) {
	for _, c := range t.columns {
		switch _, typ, _ := parts(c); typ {
		case "int":
			into = append(into, new(int64))
		case "real":
			into = append(into, new(float64))
		default:
			into = append(into, new(string))
		}
	}
	names := t.names()
	return into, func() *value.Map {
		m := value.NewMap(len(names))
		for i, name := range names {
			switch x := into[i].(type) {
			case *int64:
				m.Set(name, *x)
			case *float64:
				m.Set(name, *x)
			case *string:
				m.Set(name, document(name, *x))
			}
		}
		return m
	}
}

// document is the value of a column with JSON: a mapping where it comes back from that
// as it was, else text, which other columns have.
func document(name, text string) value.Value {
	if !documents[name] {
		return text
	}
	v, err := value.ParseJSON(text)
	if m, ok := v.(*value.Map); err == nil && ok && string(value.StrictJSON(m)) == text {
		return m
	}
	return text
}
