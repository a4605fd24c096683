package ui

import (
	"fmt"
	"sync"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/view/ui"
)

// A watched is a file of those who are let in. It is read again when it has changed,
// and until it can be read.
type watched[T any] struct {
	app    *app.App
	path   string
	option string // that names it
	closed string // what it means that it cannot be read
	keys   bool   // it has keys in clear text, and others may not read it
	parse  func(file string, text []byte) (*T, error)

	mu   sync.Mutex
	st   host.Stat // as it was read; zero where a further change would not show
	last *T
	err  error
}

// newUsersFile is the file of --users.
func newUsersFile(a *app.App, path string) *watched[ui.Users] {
	return &watched[ui.Users]{app: a, path: path, option: "--users", closed: "nobody can log in", parse: ui.ParseUsers}
}

// newTokensFile is the file of --tokens.
func newTokensFile(a *app.App, path string) *watched[ui.Tokens] {
	return &watched[ui.Tokens]{app: a, path: path, option: "--tokens", closed: "no token is accepted", parse: ui.ParseTokens}
}

// newHooksFile is the file of --hooks.
func newHooksFile(a *app.App, path string) *watched[ui.Hooks] {
	return &watched[ui.Hooks]{app: a, path: path, option: "--hooks", keys: true, closed: "no hook is accepted", parse: ui.ParseHooks}
}

// now returns what is in the file now. What is wrong with it is printed once.
func (f *watched[T]) now() (*T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	st, err := f.app.Host.Stat(f.path)
	if err == nil && f.last != nil && st.Unchanged(f.st) {
		return f.last, nil
	}
	before := f.err
	f.last, f.err = f.read()
	if f.st = (host.Stat{}); err == nil && st.Settled(f.app.Host.Now()) {
		f.st = st
	}
	if f.err != nil && (before == nil || before.Error() != f.err.Error()) {
		fmt.Fprintf(f.app.Err, "brine: warning: %s: %s\n", f.closed, printable.Text(f.err.Error()))
	}
	return f.last, f.err
}

// read reads the file, which only its owner may write.
func (f *watched[T]) read() (*T, error) {
	st, err := f.app.Host.Stat(f.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.option, err)
	}
	if st.Mode.Perm()&0o022 != 0 {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s: others may write to %s", f.option, f.path), Hint: "chmod 600 " + f.path}
	}
	if f.keys && st.Mode.Perm()&0o077 != 0 {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s: others may read %s, which has keys", f.option, f.path), Hint: "chmod 600 " + f.path}
	}
	text, err := f.app.Host.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.option, err)
	}
	return f.parse(f.path, text)
}
