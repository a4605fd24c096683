package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"modernc.org/sqlite" // and the driver "sqlite" of database/sql
	sqlite3 "modernc.org/sqlite/lib"
)

// A file is the SQLite file of a history.
type file struct {
	path string
	st   os.FileInfo // as it was opened
	warn func(error)
	once sync.Once
}

// Path returns the file of the history below a cache directory.
func Path(cache string) string { return filepath.Join(cache, "history", "history.db") }

// Open opens the history in a SQLite file. A missing file is created, readable
// only by its owner; a damaged one is renamed, and warn is called.
func Open(ctx context.Context, path string, warn func(error)) (*Store, error) {
	s, err := open(ctx, path, warn)
	if err != nil && isDamage(err) {
		s, err = open(ctx, path, warn) // it was set aside
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, warn func(error)) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// An existing file is not opened: closing it would release the locks that
	// this process holds through another connection.
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"_pragma": {"busy_timeout(12000)", "journal_mode(WAL)", "synchronous(NORMAL)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := New(db, SQLite, db.Close)
	s.file = &file{path: path, st: st, warn: warn}
	if err := s.file.checked(s.Create(ctx)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// isDamage reports whether SQLite could make nothing of a file.
func isDamage(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// checked returns an error of the database as it is, after a damaged file was set
// aside.
func (f *file) checked(err error) error {
	if f == nil || err == nil || !isDamage(err) {
		return err
	}
	f.once.Do(func() {
		to, moved := f.setAside()
		if to != "" && f.warn != nil {
			f.warn(fmt.Errorf("the history %s is damaged (%w): it was set aside as %s, and begins again", f.path, err, to))
		} else if moved != nil && f.warn != nil {
			f.warn(fmt.Errorf("the history %s is damaged (%w), and cannot be set aside: %w", f.path, err, moved))
		}
	})
	return err
}

// setAside renames a damaged file, unless another process has done so.
func (f *file) setAside() (to string, err error) {
	l, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer l.Close()
	if err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	st, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(st, f.st) {
		return "", nil
	}
	to = f.path + ".damaged-" + time.Now().UTC().Format("20060102150405.000000")
	if err := os.Rename(f.path, to); err != nil {
		return "", err
	}
	for _, tail := range []string{"-wal", "-shm"} {
		if err := os.Rename(f.path+tail, to+tail); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return to, err
		}
	}
	return to, nil
}
