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
)

// errNoBackup says what backs up a database of a server.
var errNoBackup = map[Dialect]string{
	MySQL:    "MySQL or MariaDB, which 'mariadb-dump --single-transaction' or 'mysqldump --single-transaction' backs up",
	Postgres: "PostgreSQL, which 'pg_dump' backs up",
}

// Backup copies the SQLite file of a history to path, as it is at one moment: whoever
// writes to it meanwhile is not held up. The copy is readable by its owner alone, and
// there only when it is whole. It returns how many executions it has. With replace, an
// earlier file makes room.
func (s *Store) Backup(ctx context.Context, path string, replace bool) (n int64, err error) {
	if s.d != SQLite {
		return 0, fmt.Errorf("the history is in %s; 'brine history export' writes what it has at one moment, too", errNoBackup[s.d])
	}
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	if _, err := os.Lstat(path); !replace && err == nil {
		return 0, &fs.PathError{Op: "backup", Path: path, Err: fs.ErrExist}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".brine-backup-") // nobody else may enter it
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	to := filepath.Join(dir, "history.db")
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return 0, s.file.checked(err)
	}
	if err := os.Chmod(to, 0o600); err != nil {
		return 0, err
	}
	if n, err = verify(ctx, to); err != nil {
		return 0, fmt.Errorf("the copy is not right: %w", err)
	}
	if err := toDisk(to); err != nil {
		return 0, err
	}
	if replace {
		return n, os.Rename(to, path)
	}
	return n, os.Link(to, path) // unlike a rename, it fails where somebody has made the file
}

// verify checks a copy, and counts its executions.
func verify(ctx context.Context, path string) (n int64, err error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro"}).String())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check").Scan(&found); err != nil {
		return 0, err
	}
	if found != "ok" {
		return 0, errors.New(found)
	}
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+executions.name).Scan(&n)
	return n, err
}

// toDisk has a file written to the disk.
func toDisk(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
