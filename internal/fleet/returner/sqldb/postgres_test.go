package sqldb

import (
	"database/sql"
	"fmt"
	"reflect"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/testkit/servertest"
)

// TestPostgresValues: each type of a column, and of a parameter, is the value that it is
// in Go; a transaction in which a statement failed is not committed.
func TestPostgresValues(t *testing.T) {
	srv := servertest.Postgres(t, "")
	conf, err := postgresConfig(settings("postgres", value.MapOf("returner.postgres.host", "127.0.0.1", "returner.postgres.port", int64(srv.Port))))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(pgConnector{conf})
	t.Cleanup(func() { _ = db.Close() })
	at := time.Date(2024, 2, 29, 12, 30, 45, 123456000, time.UTC)
	for _, tt := range []struct {
		query string
		args  []any
		want  any
	}{
		{"SELECT NULL::text", nil, nil},
		{"SELECT $1::text", []any{"ü'\\"}, "ü'\\"},
		{"SELECT $1::text", []any{nil}, nil},
		{"SELECT $1::varchar || $2", []any{"a", "b"}, "ab"},
		{"SELECT $1::int8", []any{int64(-1 << 63)}, int64(-1 << 63)},
		{"SELECT $1::int4 + $2", []any{1, 2}, int64(3)},
		{"SELECT $1::int2", []any{7}, int64(7)},
		{"SELECT 4294967295::oid", nil, int64(4294967295)},
		{"SELECT NOT $1::bool", []any{true}, false},
		{"SELECT $1::float8", []any{1e300}, 1e300},
		{"SELECT 0.1::float4", nil, 0.1},
		{"SELECT $1::numeric", []any{"1.50"}, "1.50"},
		{"SELECT $1::bytea", []any{[]byte{0, 1, '\\', 255}}, []byte{0, 1, '\\', 255}},
		{"SELECT $1::jsonb", []any{`{"b":1,"a":"x"}`}, []byte(`{"a": "x", "b": 1}`)},
		{"SELECT '2024-02-29'::date", nil, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"SELECT '2024-02-29 12:30:45.123456'::timestamp", nil, at},
		{"SELECT $1::timestamptz", []any{at}, at},
		{"SELECT 'infinity'::timestamptz", nil, "infinity"},
		{"SELECT ARRAY[1,2]", nil, "{1,2}"},
		{"SELECT 'a'::name", nil, "a"},
	} {
		var got any
		if err := db.QueryRowContext(t.Context(), tt.query, tt.args...).Scan(&got); err != nil {
			t.Errorf("%s: %v", tt.query, err)
			continue
		}
		want := tt.want
		if moment, ok := want.(time.Time); ok {
			if g, ok := got.(time.Time); ok && g.Equal(moment) {
				continue
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, want %#v", tt.query, got, want)
		}
	}
	for _, zone := range []string{"UTC", "Asia/Kolkata", "America/St_Johns"} {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got time.Time
		if _, err = c.ExecContext(t.Context(), fmt.Sprintf("SET TimeZone = '%s'", zone)); err == nil {
			err = c.QueryRowContext(t.Context(), "SELECT $1::timestamptz", at).Scan(&got)
		}
		if err != nil || !got.Equal(at) {
			t.Errorf("%s: %v, %v", zone, got, err)
		}
		if _, err := c.ExecContext(t.Context(), "SET TimeZone = 'UTC'; SELECT 1"); err == nil {
			t.Error("two statements in one were run")
		}
		_ = c.Close()
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var text []byte
	if _, err = c.ExecContext(t.Context(), "SET bytea_output = escape"); err == nil {
		err = c.QueryRowContext(t.Context(), `SELECT '\x005c61ff'::bytea`).Scan(&text)
	}
	if err != nil || string(text) != "\x00\\a\xff" {
		t.Errorf("bytea in its older form: %q, %v", text, err)
	}
	tx, err := c.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT 1/0"); err == nil {
		t.Error("1/0 did not fail")
	}
	if err := tx.Commit(); err == nil {
		t.Error("a transaction that failed was committed")
	}
	st, err := c.PrepareContext(t.Context(), "SELECT $1::int8 * 2")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var n int64
	if err := st.QueryRowContext(t.Context(), 21).Scan(&n); err != nil || n != 42 {
		t.Errorf("a prepared statement: %d, %v", n, err)
	}
	tx, err = c.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "CREATE TABLE x (y int)"); err == nil {
		t.Error("a read-only transaction wrote")
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}
