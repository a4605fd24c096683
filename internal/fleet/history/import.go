package history

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// maxLine bounds a line of an export: a definition with all its steps has the longest
// ones.
const maxLine = 32 << 20

// Imported is what an import did.
type Imported struct {
	Counts        // what was stored
	Present int64 // executions that were there already, and stayed as they were
	Differ  int64 // of those, with another status in the file
	Old     int64 // stored ones that began before [Importer.Keep]: the next clean-up removes them
}

// An Importer reads an export.
type Importer struct {
	// Store takes what is read; nil: the export is only checked.
	Store *Store
	// Name is the file as people know it, for errors.
	Name string
	// Keep is the jid from which executions are kept; "": all are.
	Keep string

	done    Imported
	line    int
	read    Counts
	hashes  map[string]bool // of the definitions that were read
	jid     string          // of the execution whose lines are read
	skip    bool            // it is there already
	ended   bool
	tx      *sql.Tx
	w       *writer
	hosts   [][]any
	pending Imported // of the transaction
	rows    int      // of the transaction
}

// maxImport is from how many rows on a transaction of an import ends, at the next
// execution.
const maxImport = 5000

// Import stores the executions of an export. Those that the store has stay as they are, so
// that an import can be repeated. An error names the line; what came in earlier
// transactions is stored, and counted.
func (m *Importer) Import(ctx context.Context, r io.Reader) (Imported, error) {
	m.hashes = map[string]bool{}
	err := m.lines(ctx, r)
	if m.tx != nil {
		_ = m.tx.Rollback() // does nothing after Commit
	}
	if m.Store != nil {
		err = m.Store.file.checked(err)
	}
	return m.done, err
}

func (m *Importer) fault(format string, args ...any) error {
	return &source.Error{Pos: source.Pos{File: m.Name, Line: m.line, Col: 1}, Err: fmt.Errorf(format, args...)}
}

func (m *Importer) lines(ctx context.Context, r io.Reader) error {
	b := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := m.next(b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := m.take(ctx, line); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if !m.ended {
		m.line++
		return m.fault("the export ends without its last line: it was cut off, so export it again")
	}
	return m.commit()
}

// next returns the next line; io.EOF after the last one.
func (m *Importer) next(b *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			m.line++
			return "", m.fault("the line has more than %d bytes: this is not an export of brine", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0: // a last line that was cut off is not JSON
		case err != nil:
			return "", err
		}
		m.line++
		return string(line), nil
	}
}

// take takes one line.
func (m *Importer) take(ctx context.Context, line string) error {
	if !utf8.ValidString(line) {
		return m.fault("the line is not UTF-8")
	}
	v, _, err := value.ParseJSONWithin(line, 8*maxLine)
	if err != nil {
		return m.fault("the line is not JSON: %w", err)
	}
	x, ok := v.(*value.Map)
	if !ok {
		return m.fault("a line is a mapping, not %s", value.Kind(v))
	}
	if m.line == 1 {
		return m.first(x)
	}
	if m.ended {
		return m.fault("nothing may follow the last line of an export, which has the key %s", endLine)
	}
	kinds := []string{definitionLine, executionLine, stepLine, hostLine, endLine}
	for key, body := range x.All() {
		name := value.Str(key)
		if !slices.Contains(kinds, name) || x.Len() != 1 {
			return m.fault("a line has one of the keys %s, not %q%s", strings.Join(kinds, ", "), name, source.DidYouMean(name, kinds))
		}
		b, ok := body.(*value.Map)
		if !ok {
			return m.fault("%s: %s is not a mapping", name, value.Repr(body))
		}
		return m.row(ctx, name, b)
	}
	return m.fault("a line has one of the keys %s, and this one is empty", strings.Join(kinds, ", "))
}

// first checks what the first line says.
func (m *Importer) first(x *value.Map) error {
	v, isInt := x.At("version").(int64)
	if x.Str("format") != exportFormat || !isInt {
		return m.fault(`this is not an export of a history: its first line is not {"format":%q,"version":%d}`, exportFormat, exportVersion)
	}
	if v != exportVersion {
		return m.fault("the export has version %d, and this brine reads version %d: a newer brine wrote it, which can also read it", v, exportVersion)
	}
	return nil
}

// row takes the mapping of a line of a kind.
func (m *Importer) row(ctx context.Context, kind string, b *value.Map) error {
	switch kind {
	case definitionLine:
		return m.definition(ctx, b)
	case executionLine:
		return m.execution(ctx, b)
	case stepLine:
		m.read.Steps++
		return m.part(&executionSteps, b)
	case hostLine:
		m.read.Hosts++
		return m.part(&executionHosts, b)
	}
	for k, n := range m.read.mapOf().All() {
		if got, ok := b.At(k).(int64); !ok || got != n || b.Len() != 4 {
			return m.fault("the last line says %s, and %d %s came before it: lines are missing, or somebody changed them", string(value.StrictJSON(b)), n, value.Str(k))
		}
	}
	m.ended = true
	return nil
}

func (m *Importer) definition(ctx context.Context, b *value.Map) error {
	l, ok := b.At("steps").(*value.List)
	if !ok {
		return m.fault("definition: steps must be a list")
	}
	b.Delete("steps")
	row, err := m.values(&states, b)
	if err != nil {
		return err
	}
	rows := make([][]any, 0, l.Len())
	for _, x := range l.Items {
		st, ok := x.(*value.Map)
		if !ok {
			return m.fault("definition: a step is a mapping, not %s", value.Kind(x))
		}
		st.Set("hash", b.Str("hash"))
		r, err := m.values(&steps, st)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	m.read.Definitions++
	m.hashes[b.Str("hash")] = true
	m.jid = ""
	if err := m.begin(ctx); err != nil || m.Store == nil {
		return err
	}
	if m.insertNew(&states, row) {
		m.pending.Definitions++
	}
	m.w.insert(&steps, false, rows)
	m.rows += 1 + len(rows)
	return m.w.err
}

func (m *Importer) execution(ctx context.Context, b *value.Map) error {
	row, err := m.values(&executions, b)
	if err != nil {
		return err
	}
	if !m.hashes[b.Str("hash")] {
		return m.fault("execution %s: its definition %s does not come before it", b.Str("jid"), b.Str("hash"))
	}
	m.read.Executions++
	m.jid = b.Str("jid")
	if err := m.begin(ctx); err != nil || m.Store == nil {
		return err
	}
	m.rows++
	if m.skip = !m.insertNew(&executions, row); !m.skip {
		m.pending.Executions++
		if m.jid < m.Keep {
			m.pending.Old++
		}
		return m.w.err
	}
	m.pending.Present++
	var status string
	if m.w.err == nil {
		m.w.err = m.tx.QueryRowContext(ctx, "SELECT status FROM "+executions.name+" WHERE jid = "+m.w.d.Mark(1), m.jid).Scan(&status)
	}
	if status != b.Str("status") {
		m.pending.Differ++
	}
	return m.w.err
}

// part takes a step or a target of the execution before it.
func (m *Importer) part(t *table, b *value.Map) error {
	row, err := m.values(t, b)
	if err != nil {
		return err
	}
	if b.Str("jid") != m.jid {
		return m.fault("it belongs to execution %s, whose line does not come before it", b.Str("jid"))
	}
	if m.Store == nil || m.skip {
		return nil
	}
	m.rows++
	if t == &executionSteps {
		m.pending.Steps++
		m.w.insert(t, false, [][]any{row})
		return m.w.err
	}
	m.pending.Hosts++
	if m.hosts = append(m.hosts, row); len(m.hosts) == maxRows {
		m.flush()
	}
	return m.w.err
}

// flush stores the targets that wait for others.
func (m *Importer) flush() {
	m.w.insert(&executionHosts, false, m.hosts)
	m.hosts = m.hosts[:0]
}

// insertNew stores a row, and reports whether there was none with its key.
func (m *Importer) insertNew(t *table, row []any) bool {
	m.flush()
	m.w.affected = 0
	m.w.insert(t, false, [][]any{row})
	return m.w.affected > 0
}

// begin begins a transaction where the last one has enough rows.
func (m *Importer) begin(ctx context.Context) error {
	m.skip = false
	if m.Store == nil || m.tx != nil && m.rows < maxImport {
		return nil
	}
	if err := m.commit(); err != nil {
		return err
	}
	tx, err := m.Store.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	m.tx, m.rows = tx, 0
	m.w = &writer{d: m.Store.d}
	m.w.run = func(query string, args ...any) error {
		res, err := tx.ExecContext(ctx, query, args...)
		if err == nil {
			m.w.affected, err = res.RowsAffected()
		}
		return err
	}
	return nil
}

// commit ends the transaction.
func (m *Importer) commit() error {
	if m.tx == nil {
		return nil
	}
	m.flush()
	if m.w.err != nil {
		return m.w.err
	}
	if err := m.tx.Commit(); err != nil {
		return err
	}
	m.tx = nil
	p := &m.pending
	m.done.Definitions += p.Definitions
	m.done.Executions += p.Executions
	m.done.Steps += p.Steps
	m.done.Hosts += p.Hosts
	m.done.Present += p.Present
	m.done.Differ += p.Differ
	m.done.Old += p.Old
	m.pending = Imported{}
	return nil
}

// values checks the columns of a row, and returns them for a statement. A column that
// has a default may be missing: it came later.
func (m *Importer) values(t *table, b *value.Map) ([]any, error) {
	row := make(map[string]any, len(t.columns))
	for _, c := range t.columns {
		name, typ, more := parts(c)
		v, there := b.Get(name)
		if !there && more != "" {
			continue
		}
		if !there {
			return nil, m.fault("the key %s is missing", name)
		}
		x, err := column(name, typ, v)
		if err != nil {
			return nil, m.fault("%s: %w", name, err)
		}
		row[name] = x
	}
	for k := range b.All() {
		if name := value.Str(k); !slices.Contains(t.names(), name) {
			return nil, m.fault("unknown key %q%s", name, source.DidYouMean(name, t.names()))
		}
	}
	return t.values(row), nil
}

// column checks the value of a column.
func column(name, typ string, v value.Value) (any, error) {
	switch typ {
	case "int":
		n, ok := v.(int64)
		if !ok || n < math.MinInt32 || n > math.MaxInt32 {
			return nil, fmt.Errorf("%s is not a number that fits into 32 bits", value.Repr(v))
		}
		return n, nil
	case "real":
		f, err := value.ToFloat(v)
		if _, isBool := v.(bool); err != nil || isBool || !(math.Abs(f) <= maxLength) {
			return nil, fmt.Errorf("%s is not a number of seconds", value.Repr(v))
		}
		return f, nil
	}
	if d, ok := v.(*value.Map); ok && documents[name] {
		return string(value.StrictJSON(d)), nil
	}
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("%s is not a string", value.Repr(v))
	}
	if err := word(name, s); err != nil {
		return nil, err
	}
	if fit(s, typ) != s {
		return nil, fmt.Errorf("%.80q does not fit into the column: it is too long, or has a NUL", s)
	}
	return s, nil
}

// words are the values that columns may have.
var words = map[string][]string{
	"kind":   {Chain, Orchestration, Template},
	"status": Statuses(),
	"result": {OK, Bad, Would, Missing, Pending},
}

// word checks a string by the name of its column.
func word(name, s string) error {
	switch name {
	case "kind", "status", "result":
		if known := words[name]; !slices.Contains(known, s) {
			return fmt.Errorf("%q is none of %s%s", s, strings.Join(known, ", "), source.DidYouMean(s, known))
		}
	case "jid":
		if !jobs.IsJID(s) {
			return fmt.Errorf("invalid jid %q: a jid is 20 digits", s)
		}
	case "hash":
		if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
			return fmt.Errorf("invalid hash %q: a hash is 64 hexadecimal digits", s)
		}
	case "created", "started", "ended":
		if _, err := time.Parse(layout, s); s != "" && err != nil {
			return fmt.Errorf("%q is not a time such as %q", s, layout)
		}
	case "args", "detail":
		if _, err := value.ParseJSON(s); s != "" && err != nil {
			return fmt.Errorf("%q is not JSON", s)
		}
	}
	return nil
}
