//go:build !slim

package sdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql

	"brine/internal/core/fun"
	"brine/internal/py/serial"
	"brine/internal/py/value"
)

// sqlite keeps values as MessagePack in a table of a SQLite file.
// Salt: salt/sdb/sqlite3.py. Difference: a value can be deleted from the table.
type sqlite struct {
	path, table string
	conf        *value.Map
}

func newSQLite(_ *fun.Env, conf *value.Map) (driver, error) {
	s := sqlite{path: conf.Str("database"), table: conf.Str("table"), conf: conf}
	if s.path == "" {
		return nil, errors.New("it needs database, the path of a file")
	}
	if s.table == "" {
		s.table = "sdb"
	}
	if strings.ContainsRune(s.table, 0) {
		return nil, fmt.Errorf("%q is not the name of a table", s.table)
	}
	return s, nil
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// open opens the file and creates what is not there yet.
func (s sqlite) open(ctx context.Context) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(5000)"}, "_txlock": {"immediate"}}
	// Whoever may not read the values must not read the file.
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrPermission) { // one that may be read alone can be read from
		return nil, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: s.path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var create []string
	if l := s.conf.List("create_statements"); l != nil {
		for _, x := range l.Items {
			create = append(create, value.Str(x))
		}
	} else if v, set := s.conf.Get("create_table"); !set || value.Truth(v) {
		create = []string{
			"CREATE TABLE IF NOT EXISTS " + quote(s.table) + " (key text, value blob)",
			"CREATE UNIQUE INDEX IF NOT EXISTS " + quote(s.table+"_idx") + " ON " + quote(s.table) + " (key)",
		}
	}
	for _, stmt := range create {
		if _, err := db.ExecContext(ctx, stmt); err != nil && !strings.Contains(err.Error(), "already exists") {
			db.Close()
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return db, nil
}

// args are the parameters that a query names.
func args(query string, all ...sql.NamedArg) []any {
	var out []any
	for _, a := range all {
		if strings.Contains(query, ":"+a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// statement returns the query of the profile, or that for Salt's table.
func (s sqlite) statement(key, own string) string {
	if q := s.conf.Str(key); q != "" {
		return q
	}
	return own
}

func (s sqlite) get(ctx context.Context, key string) (value.Value, error) {
	db, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	q := s.statement("get_query", "SELECT value FROM "+quote(s.table)+" WHERE key=:key")
	var b []byte
	switch err := db.QueryRowContext(ctx, q, args(q, sql.Named("key", key))...).Scan(&b); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	format, _ := serial.Of("msgpack")
	v, err := format.Read(string(b), "", nil)
	if err != nil {
		return nil, fmt.Errorf("%s: the value of %s is not MessagePack: %w", s.path, key, err)
	}
	return v, nil
}

func (s sqlite) set(ctx context.Context, key string, v value.Value) error {
	format, _ := serial.Of("msgpack")
	packed, err := format.Write(v, nil)
	if err != nil {
		return err
	}
	b, _ := packed.(value.Bytes)
	q := s.statement("set_query", "INSERT OR REPLACE INTO "+quote(s.table)+" VALUES (:key, :value)")
	return s.exec(ctx, q, args(q, sql.Named("key", key), sql.Named("value", []byte(b))))
}

func (s sqlite) delete(ctx context.Context, key string) error {
	if s.conf.Str("get_query") != "" || s.conf.Str("set_query") != "" {
		return errors.New("it has statements of its own, and none that deletes")
	}
	return s.exec(ctx, "DELETE FROM "+quote(s.table)+" WHERE key=:key", []any{sql.Named("key", key)})
}

func (s sqlite) exec(ctx context.Context, query string, with []any) error {
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, query, with...); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}
