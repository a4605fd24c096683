package ui

import (
	"fmt"
	"sync"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/view/ui"
)

// A usersFile is a file of users that is read again when it has changed, and until it
// can be read.
type usersFile struct {
	app  *app.App
	path string

	mu   sync.Mutex
	st   host.Stat // as it was read
	last *ui.Users
	err  error
}

// users returns who is in the file now. What is wrong with it is printed once.
func (f *usersFile) users() (*ui.Users, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.app.Host.Stat(f.path)
	if err == nil && f.last != nil && same(st, f.st) {
		return f.last, nil
	}
	before := f.err
	f.last, f.err = f.read()
	if err == nil {
		f.st = st
	}
	if f.err != nil && (before == nil || before.Error() != f.err.Error()) {
		fmt.Fprintf(f.app.Err, "brine: warning: nobody can log in: %s\n", printable.Text(f.err.Error()))
	}
	return f.last, f.err
}

func same(a, b host.Stat) bool {
	return a.Inode == b.Inode && a.Size == b.Size && a.Mtime.Equal(b.Mtime) && a.Ctime.Equal(b.Ctime)
}

// read reads the file, which only its owner may write.
func (f *usersFile) read() (*ui.Users, error) {
	st, err := f.app.Host.Stat(f.path)
	if err != nil {
		return nil, fmt.Errorf("--users: %w", err)
	}
	if st.Mode.Perm()&0o022 != 0 {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("--users: others may write to %s", f.path), Hint: "chmod 600 " + f.path}
	}
	text, err := f.app.Host.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("--users: %w", err)
	}
	return ui.ParseUsers(f.path, text)
}
