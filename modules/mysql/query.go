package mysql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/cp"
)

// DialDatabase is Dial with a database that statements are about.
func DialDatabase(ctx context.Context, env *fun.Env, o Options, database string) (*Conn, error) {
	return Dial(ctx, env, o.with("connection_db", database))
}

// A Result is what mysql.query returns.
type Result struct {
	*Rows
	Took   time.Duration
	Select bool // the statement reads
}

// Run runs a statement as mysql.query does.
func (c *Conn) Run(ctx context.Context, query string) (*Result, error) {
	start := c.env.Host.Now()
	r, err := c.Raw(ctx, query)
	if err != nil {
		return nil, err
	}
	out := &Result{Rows: r, Took: c.env.Host.Now().Sub(start)}
	word := strings.ToUpper(strings.TrimSpace(query))
	for _, w := range []string{"SELECT", "SHOW", "DESC"} {
		out.Select = out.Select || strings.HasPrefix(word, w)
	}
	return out, nil
}

// cells returns a row as text, as Salt's functions have it: NULL is None.
func cells(row []value.Value) value.Tuple {
	out := make(value.Tuple, len(row))
	for i, v := range row {
		if v != nil {
			out[i] = value.Str(v)
		}
	}
	return out
}

// count is how many rows a statement returned or changed.
func (r *Result) count() int64 {
	if len(r.Columns) > 0 {
		return int64(len(r.Rows.Rows))
	}
	return r.Affected
}

// Value is what mysql.query returns. With dicts the rows are mappings, as the
// states show them.
func (r *Result) Value(dicts bool) *value.Map {
	raw := r.Took.Seconds()
	human := value.FloatRepr(rounded(raw, 2)) + "s"
	if raw < 0.2 {
		human = value.FloatRepr(rounded(raw*1000, 1)) + "ms"
	}
	m := value.MapOf("query time", value.MapOf("human", human, "raw", value.FloatRepr(rounded(raw, 5))))
	if !r.Select {
		m.Set("rows affected", r.count())
		return m
	}
	m.Set("rows returned", r.count())
	columns := value.Tuple{}
	for _, c := range r.Columns {
		columns = append(columns, c)
	}
	m.Set("columns", columns)
	if dicts {
		m.Set("results", r.texts())
		return m
	}
	rows := make(value.Tuple, len(r.Rows.Rows))
	for i, row := range r.Rows.Rows {
		rows[i] = cells(row)
	}
	m.Set("results", rows)
	return m
}

// texts returns the rows as mappings of text.
func (r *Result) texts() *value.List {
	l := value.NewList()
	for _, row := range r.Rows.Rows {
		l.Append(r.dict(cells(row)))
	}
	return l
}

func rounded(f float64, digits int) float64 {
	v, err := value.Round(f, digits, false)
	if err != nil {
		return f
	}
	out, _ := value.ToFloat(v)
	return out
}

type queryArgs struct {
	Database string `arg:"database,required" doc:"database that the statements are about"`
	Query    string `arg:"query,required" doc:"the statement"`
	ConnArgs
	_ fun.Kwargs
}

func query(ctx context.Context, c *fun.Call, a *queryArgs) (fun.Result, error) {
	conn, err := DialDatabase(ctx, c.Env, OptionsOf(c, &a.ConnArgs), a.Database)
	if err != nil {
		return answer(c, nil, value.NewMap(0), err)
	}
	defer conn.Close()
	r, err := conn.Run(ctx, a.Query)
	if err != nil {
		return answer(c, nil, false, err)
	}
	return fun.Value(r.Value(false))
}

// Statements splits SQL at the semicolons that end statements, and drops
// comments. A line "DELIMITER x" changes what ends them, as in the client.
func Statements(text string) []string {
	var out []string
	var b strings.Builder
	end := ";"
	flush := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			out = append(out, s)
		}
		b.Reset()
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		if i == 0 || text[i-1] == '\n' {
			line, _, _ := strings.Cut(rest, "\n")
			if f := strings.Fields(line); len(f) == 2 && strings.EqualFold(f[0], "delimiter") {
				flush()
				end = f[1]
				i += len(line)
				continue
			}
		}
		if n := comment(rest); n > 0 {
			b.WriteByte(' ')
			i += n
			continue
		}
		switch c := rest[0]; {
		case strings.HasPrefix(rest, end):
			flush()
			i += len(end)
		case c == '\'' || c == '"' || c == '`':
			n := quoted(rest)
			b.WriteString(rest[:n])
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	flush()
	return out
}

// comment returns the length of the comment that s begins with, 0 for none. What
// the server itself reads of a comment, /*! and /*+, is none.
func comment(s string) int {
	switch {
	case strings.HasPrefix(s, "/*") && !strings.HasPrefix(s, "/*!") && !strings.HasPrefix(s, "/*+"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4
		}
		return len(s)
	case s[0] == '#', s == "--", strings.HasPrefix(s, "--") && strings.IndexByte(" \t\r\n", s[2]) >= 0:
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	}
	return 0
}

// quoted returns the length of the quoted text that s begins with.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// A Batch is what the statements of a file did.
type Batch struct {
	Took               time.Duration
	Returned, Affected int64
	Columns, Results   *value.List
	Dicts              *value.List
}

// RunFile runs the statements of a text one after the other, up to the first that
// fails.
func (c *Conn) RunFile(ctx context.Context, text string) (*Batch, error) {
	b := &Batch{Columns: value.NewList(), Results: value.NewList(), Dicts: value.NewList()}
	for _, s := range Statements(text) {
		r, err := c.Run(ctx, s)
		if err != nil {
			return nil, err
		}
		b.Took += r.Took
		if !r.Select {
			b.Affected += r.count()
			continue
		}
		b.Returned += r.count()
		m := r.Value(false)
		b.Columns.Append(m.At("columns"))
		b.Results.Append(m.At("results"))
		b.Dicts.Append(r.texts().Items...)
	}
	return b, nil
}

// Value is what mysql.file_query returns: what is empty is left out.
func (b *Batch) Value(dicts bool) *value.Map {
	raw := b.Took.Seconds()
	results := b.Results
	if dicts {
		results = b.Dicts
	}
	m := value.NewMap(5)
	for _, kv := range []struct {
		key string
		v   value.Value
	}{
		{"rows returned", b.Returned},
		{"columns", b.Columns},
		{"results", results},
		{"rows affected", b.Affected},
	} {
		if value.Truth(kv.v) {
			m.Set(kv.key, kv.v)
		}
	}
	m.Set("query time", value.MapOf("raw", rounded(raw, 5), "human", value.FloatRepr(rounded(raw, 2))+"s"))
	return m
}

// ReadSQL returns the text of a file of this machine or the file server.
func ReadSQL(ctx context.Context, env *fun.Env, name, saltenv string) (text, at string, err error) {
	at = name
	if cp.IsRemote(name) || strings.HasPrefix(name, "salt://") {
		if at, err = cp.New(env, saltenv).CacheFile(ctx, name, cp.Options{}); err != nil {
			return "", name, err
		}
		if at == "" {
			return "", name, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
	}
	b, err := env.Host.ReadFile(at)
	return value.DecodeReplace(b), at, err
}

type fileQueryArgs struct {
	Database string `arg:"database,required" doc:"database that the statements are about"`
	FileName string `arg:"file_name,required,path" doc:"path on this machine, or a salt://, http:// or https:// URL"`
	ConnArgs
	_ fun.Kwargs
}

func fileQuery(ctx context.Context, c *fun.Call, a *fileQueryArgs) (fun.Result, error) {
	text, at, err := ReadSQL(ctx, c.Env, a.FileName, c.Env.SaltEnv)
	if errors.Is(err, fs.ErrNotExist) {
		c.Env.Log().Error(fmt.Sprintf("File %q does not exist", at))
		return fun.Value(false)
	}
	if err != nil {
		return fun.Result{}, fun.Errorf("%v", err)
	}
	conn, err := DialDatabase(ctx, c.Env, OptionsOf(c, &a.ConnArgs), a.Database)
	if err != nil {
		return answer(c, nil, false, err)
	}
	defer conn.Close()
	b, err := conn.RunFile(ctx, text)
	if err != nil {
		return answer(c, nil, false, err)
	}
	return fun.Value(b.Value(false))
}
