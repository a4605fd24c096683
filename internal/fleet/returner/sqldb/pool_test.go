package sqldb

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// What a process stores in one database goes over one connection. Another one is opened
// while one user has it for long, and the last user closes it.
func TestPool(t *testing.T) {
	t.Parallel()
	s := settings("sqlite3", value.MapOf("sqlite3.database", filepath.Join(t.TempDir(), "x.db")))
	s.Env.Process = &fun.Memo{}
	opened := 0
	use := func() (*sql.DB, func() error) {
		db, release, err := connect(s, func() (*sql.DB, error) {
			opened++
			return sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "y.db"))
		})
		if err != nil {
			t.Fatal(err)
		}
		return db, release
	}
	one, first := use()
	two, second := use()
	if one != two || opened != 1 {
		t.Fatalf("two users have %d databases", opened)
	}
	held, err := one.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A wait that begins before the second look is seen then: heartbeats come again.
	for n := 0; ; n++ {
		try, end := context.WithTimeout(ctx, 2*maxConnWait)
		err := two.PingContext(try)
		end()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("who waits gets no connection: %v", err)
		}
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	for one.Stats().MaxOpenConnections != 1 {
		if ctx.Err() != nil {
			t.Fatal("the second connection stays")
		}
		time.Sleep(10 * time.Millisecond)
	}
	for range 2 { // the second time does nothing
		if err := first(); err != nil {
			t.Error(err)
		}
	}
	if err := two.PingContext(t.Context()); err != nil {
		t.Errorf("the database of the other user is closed: %v", err)
	}
	if err := second(); err != nil {
		t.Error(err)
	}
	if err := two.PingContext(t.Context()); err == nil {
		t.Error("the database stays open without users")
	}
	if _, third := use(); opened != 2 || third() != nil {
		t.Errorf("after the last user, %d databases were opened", opened)
	}
}
