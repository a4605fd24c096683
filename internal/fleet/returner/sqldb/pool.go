package sqldb

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"brine/internal/fleet/returner"
	"brine/internal/py/value"
)

// A pool has the databases that a process is connected to, by their settings: its
// returner, its history and what it shares with other controllers are one connection.
type pool struct {
	mu  sync.Mutex
	dbs map[string]*pooled
}

// A pooled is a database and how many use it.
type pooled struct {
	*sql.DB
	users int
	stop  chan struct{} // ends relieve
}

// poolKey is where the memo of a process has its pool.
type poolKey struct{}

// maxConnWait is how long one user of a connection may make others wait.
const maxConnWait = time.Second

// addConnection allows a second connection while others wait too long for the first one:
// the heartbeat of a lock must not wait until many rows are stored.
func (p *pooled) addConnection() {
	var before sql.DBStats
	busy := false
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(maxConnWait):
		}
		now := p.Stats()
		waits := now.InUse > 0 && now.WaitCount > before.WaitCount
		switch {
		case waits && busy && now.MaxOpenConnections == 1:
			p.SetMaxOpenConns(2)
			ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
			if c, err := p.Conn(ctx); err == nil {
				_ = c.Close() // whoever waits has it now
			}
			cancel()
		case !waits && now.MaxOpenConnections > 1:
			p.SetMaxOpenConns(1)
		}
		before, busy = now, now.InUse > 0
	}
}

// connect returns the database of settings, which make opens where this process has
// not. release gives it back; the last one closes it.
func connect(s returner.Settings, open func() (*sql.DB, error)) (db *sql.DB, release func() error, err error) {
	if s.Env == nil || s.Env.Process == nil {
		if db, err = open(); err != nil {
			return nil, nil, err
		}
		db.SetMaxOpenConns(1)
		return db, db.Close, nil
	}
	p := s.Env.Process.Once(poolKey{}, func() any { return &pool{dbs: map[string]*pooled{}} }).(*pool)
	set := value.MapOf("", s.Spec.Name)
	for _, k := range s.Spec.Keys {
		set.Set(k.Name, s.Value(k.Name))
	}
	key := string(value.EncodeJSON(set))
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.dbs[key]
	if at == nil {
		if db, err = open(); err != nil {
			return nil, nil, err
		}
		db.SetMaxOpenConns(1)
		at = &pooled{DB: db, stop: make(chan struct{})}
		p.dbs[key] = at
		go at.addConnection()
	}
	at.users++
	return at.DB, sync.OnceValue(func() error { return p.release(key) }), nil
}

// release gives a database back.
func (p *pool) release(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.dbs[key]
	if at.users--; at.users > 0 {
		return nil
	}
	delete(p.dbs, key)
	close(at.stop)
	return at.Close()
}
