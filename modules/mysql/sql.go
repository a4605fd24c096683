package mysql

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// maxRows bounds what is read of an answer.
const maxRows = 5_000_000

// A Rows is the answer to a statement.
type Rows struct {
	Columns  []string
	Rows     [][]value.Value
	Affected int64 // rows, where the statement has no result set
}

// Dicts returns the rows as mappings.
func (r *Rows) Dicts() *value.List {
	l := value.NewList()
	for _, row := range r.Rows {
		l.Append(r.dict(row))
	}
	return l
}

func (r *Rows) dict(row []value.Value) *value.Map {
	m := value.NewMap(len(row))
	for i, col := range r.Columns {
		m.Set(col, row[i])
	}
	return m
}

// First returns the first column.
func (r *Rows) First() *value.List {
	l := value.NewList()
	for _, row := range r.Rows {
		l.Append(row[0])
	}
	return l
}

// Query runs a statement and returns its answer. Errors are a *ServerError. args are
// strings that take the place of the question marks of text.
func (c *Conn) Query(ctx context.Context, text string, args ...string) (*Rows, error) {
	var b strings.Builder
	for _, a := range args {
		before, after, _ := strings.Cut(text, "?")
		b.WriteString(before)
		b.WriteString(c.Literal(a))
		text = after
	}
	b.WriteString(text)
	return c.Raw(ctx, b.String())
}

// Raw runs a statement as it is.
func (c *Conn) Raw(ctx context.Context, text string) (*Rows, error) {
	rows, err := c.c.QueryContext(ctx, text)
	if err != nil {
		return nil, fault(err)
	}
	defer func() { _ = rows.Close() }()
	out := &Rows{}
	if out.Columns, err = rows.Columns(); err != nil {
		return nil, fault(err)
	}
	if len(out.Columns) == 0 {
		if err := rows.Close(); err != nil {
			return nil, fault(err)
		}
		return out, c.affected(ctx, out)
	}
	for rows.Next() && len(out.Rows) < maxRows {
		row, err := scan(rows, len(out.Columns))
		if err != nil {
			return nil, fault(err)
		}
		out.Rows = append(out.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fault(err)
	}
	return out, nil
}

// affected asks how many rows the statement before changed.
func (c *Conn) affected(ctx context.Context, out *Rows) error {
	row := c.c.QueryRowContext(ctx, "SELECT ROW_COUNT()")
	if err := row.Scan(&out.Affected); err != nil {
		return fault(err)
	}
	return nil
}

func scan(rows *sql.Rows, n int) ([]value.Value, error) {
	cells, refs := make([]any, n), make([]any, n)
	for i := range cells {
		refs[i] = &cells[i]
	}
	if err := rows.Scan(refs...); err != nil {
		return nil, err
	}
	row := make([]value.Value, n)
	for i, cell := range cells {
		switch x := cell.(type) {
		case nil, int64, float64:
			row[i] = x
		case float32:
			row[i], _ = strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
		case uint64:
			row[i], _ = value.ParseInt(strconv.FormatUint(x, 10), 10)
		case []byte:
			row[i] = value.DecodeReplace(x)
		default:
			row[i] = value.From(x)
		}
	}
	return row, nil
}

var (
	escapes = strings.NewReplacer(`\`, `\\`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`, `'`, `''`)
	doubled = strings.NewReplacer(`'`, `''`)
)

// Literal returns a string as SQL writes it.
func (c *Conn) Literal(s string) string {
	if c.plain {
		return "'" + doubled.Replace(s) + "'"
	}
	return "'" + escapes.Replace(s) + "'"
}

// Identifier returns the name of a database, a table or a column as SQL writes it.
func Identifier(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// pattern returns the name of a database as GRANT writes it, where _ would be a
// wildcard. As in Salt, % stays one.
func pattern(name string) string {
	return strings.ReplaceAll(Identifier(name), "_", `\_`)
}

// QuoteIdentifier returns what mysql.quote_identifier returns: "%" is doubled, for
// statements that are formats.
func QuoteIdentifier(name string, forGrants bool) string {
	name = strings.ReplaceAll(name, "`", "``")
	if forGrants {
		name = strings.ReplaceAll(name, "_", `\_`)
	}
	return "`" + strings.ReplaceAll(name, "%", "%%") + "`"
}

// A connFn is a function that has a connection.
type connFn func(ctx context.Context, conn *Conn) (value.Value, error)

// call connects and calls f. Where the server does not do what it is asked, the
// function logs why and returns none, as Salt's do.
func call(ctx context.Context, c *fun.Call, a *ConnArgs, none value.Value, f connFn) (fun.Result, error) {
	return callAs(ctx, c, a, "", none, f)
}

func callAs(ctx context.Context, c *fun.Call, a *ConnArgs, password string, none value.Value, f connFn) (fun.Result, error) {
	conn, err := DialAs(ctx, c.Env, OptionsOf(c, a), password)
	if err != nil {
		return answer(c, nil, none, err)
	}
	defer conn.Close()
	v, err := f(ctx, conn)
	return answer(c, v, none, err)
}

func answer(c *fun.Call, v, none value.Value, err error) (fun.Result, error) {
	f, ok := err.(*ServerError) //nolint:errorlint // errors that are wrapped are not to become an answer
	if ok && f.operational() {
		c.Env.Log().Error(f.Error())
		return fun.Result{Value: none}, nil
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	return fun.Value(v)
}

// Fault returns what a state says of an error, "" of none. It is "" as well where the
// server refused, which the log of the state module says.
func Fault(c *fun.Call, module string, err error) string {
	if r, ok := errors.AsType[RefusedError](err); ok {
		c.Env.Log().Error(module + ": " + r.Error())
		return ""
	}
	if err == nil {
		return ""
	}
	return err.Error()
}
