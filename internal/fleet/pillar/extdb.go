//go:build !slim

package pillar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"brine/internal/core/fun"
	"brine/internal/fleet/returner"
	"brine/internal/fleet/returner/redisdb"
	"brine/internal/fleet/returner/sqldb"
	"brine/internal/py/source"
	"brine/internal/py/value"
)

// storeTimeout bounds what an external pillar asks of a database.
const storeTimeout = time.Minute

// settings are those by which a returner reaches the same server, with defaults
// where Salt's external pillar has others.
func (j *job) settings(name string, defaults *value.Map) returner.Settings {
	env := j.env.Fork(func(e *fun.Env) { e.Pillar = value.NewMap(0) })
	s := returner.Settings{Env: env, Log: env.Log(), Spec: &returner.Spec{Name: name}, Kwargs: value.NewMap(4)}
	for k, v := range defaults.All() {
		if !s.Given(value.Str(k)) {
			s.Kwargs.Set(k, v)
		}
	}
	return s
}

// extRedis makes pillar of the value of a key that is the id.
//
// Salt: salt/pillar/redismod.py. Difference: what is not JSON is an error.
func (j *job) extRedis(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	functions := []string{"key_json", "key_value"}
	function, _ := a.get(0, "function").(string)
	if !slices.Contains(functions, function) {
		return nil, fmt.Errorf("the function is %q%s; there are key_json and key_value", function, source.DidYouMean(function, functions))
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	c, err := redisdb.Dial(ctx, j.settings("redis", nil))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	key := a.get(1, "pillar_key")
	if function == "key_value" {
		if key == nil {
			key = "redis_pillar"
		}
		v, err := redisValue(ctx, c, j.env.ID)
		if v == nil || err != nil {
			return nil, err
		}
		return value.MapOf(key, v), nil
	}
	text, err := c.Get(ctx, j.env.ID).Result()
	if errors.Is(err, redis.Nil) || err == nil && text == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("the value of the key %s is not JSON", j.env.ID)
	}
	switch m, ok := v.(*value.Map); {
	case value.Truth(key):
		return value.MapOf(key, v), nil
	case ok:
		return m, nil
	}
	return value.MapOf("redis_pillar", v), nil
}

// redisValue returns what a key holds, nil where there is none: text, a dict of a
// hash, a list of anything else.
func redisValue(ctx context.Context, c redis.UniversalClient, key string) (value.Value, error) {
	kind, err := c.Type(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	var all []string
	switch kind {
	case "string":
		return c.Get(ctx, key).Result()
	case "hash":
		h, err := c.HGetAll(ctx, key).Result()
		if err != nil {
			return nil, err
		}
		m := value.NewMap(len(h))
		names := make([]string, 0, len(h))
		for k := range h {
			names = append(names, k)
		}
		slices.Sort(names)
		for _, k := range names {
			m.Set(k, h[k])
		}
		return m, nil
	case "list":
		all, err = c.LRange(ctx, key, 0, -1).Result()
	case "set":
		if all, err = c.SMembers(ctx, key).Result(); err == nil {
			slices.Sort(all)
		}
	case "zset":
		all, err = c.ZRange(ctx, key, 0, -1).Result()
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return value.Strings(all...), nil
}

func (j *job) extMySQL(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	defaults := value.MapOf("host", "localhost", "user", "salt", "pass", "salt", "db", "salt", "port", int64(3306))
	tls := j.opts.Map("mysql").Map("ssl")
	for from, to := range map[string]string{"ca": "ssl_ca", "cert": "ssl_cert", "key": "ssl_key"} {
		if v := tls.At(from); value.Truth(v) {
			defaults.Set(to, v)
		}
	}
	return j.extSQL(ctx, "mysql", j.settings("mysql", defaults), a)
}

func (j *job) extPostgres(ctx context.Context, _ *value.Map, a extArgs) (value.Mapping, error) {
	return j.extSQL(ctx, "postgres", j.settings("postgres", value.MapOf("host", "localhost", "user", "salt", "pass", "salt", "db", "salt", "port", int64(5432))), a)
}

// extSQL makes pillar of the rows of queries, in which %s stands for the id.
//
// Salt: salt/pillar/sql_base.py, mysql.py, postgres.py. Difference: a query that
// fails is an error; Salt logs it and goes on without.
func (j *job) extSQL(ctx context.Context, name string, s returner.Settings, a extArgs) (value.Mapping, error) {
	queries, err := sqlQueries(a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	db, mark, err := sqldb.Open(ctx, name, s)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return j.runQueries(ctx, db, mark, queries)
}

// runQueries makes pillar of the rows of queries.
func (j *job) runQueries(ctx context.Context, db *sql.DB, mark func(int) string, queries []*sqlQuery) (value.Mapping, error) {
	out := value.NewMap(4)
	for _, q := range queries {
		q.tree.focus = out
		if q.root != nil {
			q.tree.focus = value.NewMap(4)
			out.Set(q.root, q.tree.focus)
		}
		if err := q.run(ctx, db, mark, j.env.ID); err != nil {
			return nil, fmt.Errorf("the query %q: %w", q.text, err)
		}
	}
	return out, nil
}

// A sqlQuery is a query and where its rows go.
type sqlQuery struct {
	root  value.Value // the key of its rows; nil: they are at the top
	text  string
	depth int
	tree  sqlTree
}

// sqlQueries reads the queries of a configuration: those without a name, in their
// order, then those with one, by name.
func sqlQueries(a extArgs) ([]*sqlQuery, error) {
	var out []*sqlQuery
	add := func(root, v value.Value) error {
		q := &sqlQuery{root: root}
		switch v := v.(type) {
		case string:
			q.text = v
		case *value.List:
			if v.Len() > 0 {
				q.text, _ = v.Items[0].(string)
			}
			if v.Len() > 1 {
				n, _ := value.AsInt(v.Items[1])
				q.depth = int(n)
			}
		case *value.Map:
			q.text = v.Str("query")
			n, _ := value.AsInt(v.At("depth"))
			q.depth = int(n)
			q.tree.asList, q.tree.asJSON, q.tree.ignoreNull = value.Truth(v.At("as_list")), value.Truth(v.At("as_json")), value.Truth(v.At("ignore_null"))
			var err error
			if q.tree.withLists, err = levels(v.At("with_lists")); err != nil {
				return err
			}
		}
		if q.text == "" {
			return errors.New("a query has no text: write query: SELECT ...")
		}
		out = append(out, q)
		return nil
	}
	for _, v := range a.pos {
		if err := add(nil, v); err != nil {
			return nil, err
		}
	}
	keys := a.kw.Keys()
	slices.SortFunc(keys, func(a, b value.Value) int { return strings.Compare(value.Str(a), value.Str(b)) })
	for _, k := range keys {
		if err := add(k, a.kw.At(k)); err != nil {
			return nil, fmt.Errorf("%s: %w", value.Str(k), err)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it needs a query")
	}
	return out, nil
}

// levels reads with_lists: a list of numbers, or text with commas.
func levels(v value.Value) (map[int]bool, error) {
	out := map[int]bool{}
	var items []value.Value
	switch v := v.(type) {
	case string:
		for s := range strings.SplitSeq(v, ",") {
			items = append(items, strings.TrimSpace(s))
		}
	case *value.List:
		items = v.Items
	}
	for _, x := range items {
		n, err := strconv.Atoi(value.Str(x))
		if err != nil {
			return nil, fmt.Errorf("with_lists: %s is not the number of a column", value.Repr(x))
		}
		out[n] = true
	}
	return out, nil
}

// maxRows bounds what a query returns.
const maxRows = 1 << 20

// run puts the rows of a query into its tree.
func (q *sqlQuery) run(ctx context.Context, db *sql.DB, mark func(int) string, id string) error {
	text, with := placeholders(q.text, mark, id)
	rows, err := db.QueryContext(ctx, text, with...)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	if len(types) == 0 {
		return errors.New("it returns no columns")
	}
	q.tree.fields = make([]string, len(types))
	cells, at := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		q.tree.fields[i], at[i] = t.Name(), &cells[i]
	}
	q.tree.depth = q.depth
	if q.depth <= 0 || q.depth >= len(types) {
		q.tree.depth = len(types) - 1
	}
	for n := 0; rows.Next(); n++ {
		if n == maxRows {
			return fmt.Errorf("it returns more than %d rows", maxRows)
		}
		if err := rows.Scan(at...); err != nil {
			return err
		}
		row := make([]value.Value, len(cells))
		for i, x := range cells {
			if row[i], err = cell(x, types[i].DatabaseTypeName()); err != nil {
				return fmt.Errorf("the column %s: %w", q.tree.fields[i], err)
			}
		}
		if err := q.tree.add(row); err != nil {
			return err
		}
	}
	q.tree.end()
	return rows.Err()
}

// placeholders puts the marks of a database where a query has %s. "%%" is "%".
func placeholders(query string, mark func(int) string, id string) (text string, with []any) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(query, "%")
		b.WriteString(before)
		switch {
		case !ok:
			return b.String(), with
		case strings.HasPrefix(rest, "s"):
			with = append(with, id)
			b.WriteString(mark(len(with)))
			rest = rest[1:]
		case strings.HasPrefix(rest, "%"):
			b.WriteByte('%')
			rest = rest[1:]
		default:
			b.WriteByte('%')
		}
		query = rest
	}
}

// cell returns the value of a column. MySQL sends all of them as text.
func cell(x any, typ string) (value.Value, error) {
	var text string
	switch x := x.(type) {
	case nil, bool, int64, float64:
		return x, nil
	case float32:
		return float64(x), nil
	case time.Time:
		return x.Format("2006-01-02 15:04:05"), nil
	case []byte:
		text = string(x)
	case string:
		text = x
	default:
		return fmt.Sprint(x), nil
	}
	switch typ {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "UNSIGNED TINYINT", "UNSIGNED SMALLINT", "UNSIGNED MEDIUMINT", "UNSIGNED INT", "UNSIGNED BIGINT":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
		if n, ok := new(big.Int).SetString(text, 10); ok {
			return n, nil
		}
	case "FLOAT", "DOUBLE":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f, nil
		}
	case "JSON", "JSONB":
		return value.ParseJSON(text)
	}
	return text, nil
}

// A sqlTree makes a dict of rows: each column but the last is a level of keys, and
// the last is the value. Of fewer levels the other columns are values by their
// names.
//
// Salt: salt/pillar/sql_base.py process_results.
type sqlTree struct {
	focus      *value.Map
	fields     []string
	depth      int
	asList     bool // values of the same key are a list
	asJSON     bool // a single column is a dict of its own
	ignoreNull bool
	withLists  map[int]bool // levels, from 1, whose dicts become lists

	lists []*listed // in the order in which they were met
}

// A listed is a dict with keys whose values become lists.
type listed struct {
	of   *value.Map
	keys []value.Value
}

// list notes that the value of a key is to be a list.
func (t *sqlTree) list(of *value.Map, key value.Value) {
	i := slices.IndexFunc(t.lists, func(l *listed) bool { return l.of == of })
	if i < 0 {
		i = len(t.lists)
		t.lists = append(t.lists, &listed{of: of})
	}
	if l := t.lists[i]; !slices.ContainsFunc(l.keys, func(k value.Value) bool { return value.Equal(k, key) }) {
		l.keys = append(l.keys, key)
	}
}

// add puts a row into the tree.
func (t *sqlTree) add(row []value.Value) error {
	at, n := t.focus, len(row)
	if t.asJSON && n == 1 {
		v := row[0]
		if s, ok := v.(string); ok {
			var err error
			if v, err = value.ParseJSON(s); err != nil {
				return fmt.Errorf("with as_json the column %s is JSON: %w", t.fields[0], err)
			}
		}
		m, ok := v.(*value.Map)
		if !ok {
			return fmt.Errorf("with as_json the column %s is a mapping, not %s", t.fields[0], value.Kind(v))
		}
		value.Update(at, m, true, t.asList)
		return nil
	}
	if n == 1 {
		at.Set(row[0], row[0])
		return nil
	}
	for i := range t.depth - 1 {
		if t.withLists[i+1] {
			t.list(at, row[i])
		}
		at = t.descend(at, row[i])
	}
	key := row[t.depth-1]
	if t.depth == n-1 {
		t.put(at, key, row[n-1], t.withLists[n-1])
		return nil
	}
	if t.withLists[t.depth] {
		t.list(at, key)
	}
	next, _ := at.At(key).(*value.Map)
	if next == nil {
		next = value.NewMap(n - t.depth)
		at.Set(key, next)
	}
	for i := t.depth; i < n; i++ {
		if t.withLists[i+1] {
			t.list(next, t.fields[i])
		}
		t.put(next, t.fields[i], row[i], false)
	}
	return nil
}

// descend returns the dict that a key leads to, which it makes where there is none.
func (t *sqlTree) descend(at *value.Map, key value.Value) *value.Map {
	next := value.NewMap(2)
	switch have := at.At(key).(type) {
	case *value.Map:
		return have
	case *value.List:
		have.Append(next)
		return next
	case nil:
	default:
		if t.asList {
			at.Set(key, value.NewList(have, next))
			return next
		}
	}
	at.Set(key, next)
	return next
}

// put sets a value, or makes it one of a list.
func (t *sqlTree) put(at *value.Map, key, v value.Value, always bool) {
	have, there := at.Get(key)
	switch l, isList := have.(*value.List); {
	case isList && there && (t.asList || always):
		l.Append(v)
	case there && (t.asList || always):
		at.Set(key, value.NewList(have, v))
	case always:
		at.Set(key, value.NewList(v))
	case v != nil || !t.ignoreNull:
		at.Set(key, v)
	}
}

// end makes lists of the dicts that were noted, inner ones first.
func (t *sqlTree) end() {
	for _, l := range slices.Backward(t.lists) {
		for _, k := range l.keys {
			switch v := l.of.At(k).(type) {
			case *value.Map:
				all := value.NewList()
				for _, x := range v.All() {
					all.Append(x)
				}
				l.of.Set(k, all)
			case *value.List:
				l.of.Set(k, value.NewList(v))
			}
		}
	}
	t.lists = nil
}
