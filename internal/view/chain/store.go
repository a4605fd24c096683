package chain

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/view/orchestration"
)

// A Store is the directory of chains.
type Store struct {
	Files host.Host
	Dir   string
	// Who is the process that changes chains, for those that wait for it.
	Who string
	// Wait is how long a change waits for others; 0 is ten seconds.
	Wait time.Duration
}

// Path returns the file of a chain.
func (s *Store) Path(name string) string { return filepath.Join(s.Dir, name+".yml") }

// Names returns the names of the chains, sorted.
func (s *Store) Names() ([]string, error) {
	files, err := s.Files.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f, ".yml"); ok && orchestration.ValidName(name) {
			out = append(out, name)
		}
	}
	return out, err
}

// A NotFoundError says that there is no chain with a name.
type NotFoundError struct {
	Name, Dir string
	Names     []string
}

// Error names the nearest chain.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no chain %q in %s%s", e.Name, e.Dir, source.DidYouMean(e.Name, e.Names))
}

// An ExistsError says that there is a chain with a name already. It is fs.ErrExist.
type ExistsError struct{ Name, Path string }

// Error names the file.
func (e *ExistsError) Error() string { return fmt.Sprintf("chain %s exists: %s", e.Name, e.Path) }

// Unwrap returns fs.ErrExist.
func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// Read returns a chain and the text of its file.
func (s *Store) Read(name string) (*Chain, []byte, error) {
	if err := CheckName(name); err != nil {
		return nil, nil, err
	}
	text, err := s.Files.ReadFile(s.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		names, err := s.Names()
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, &NotFoundError{Name: name, Dir: s.Dir, Names: names}
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := Parse(name, s.Path(name), text)
	return c, text, err
}

// A ConflictError says that somebody else has changed a chain since it was read. It is
// fs.ErrExist.
type ConflictError struct {
	Name     string
	Was, Now []byte // Now is nil where the chain was deleted
}

// Error says it.
func (e *ConflictError) Error() string {
	if e.Now == nil {
		return fmt.Sprintf("chain %s was deleted by somebody else", e.Name)
	}
	return fmt.Sprintf("chain %s was changed by somebody else", e.Name)
}

// Unwrap returns fs.ErrExist.
func (e *ConflictError) Unwrap() error { return fs.ErrExist }

// Write replaces the file of a chain. It fails with a ConflictError if the file has
// another text than old, which was read before. A nil old means that there is no file;
// an ExistsError says that there is one.
func (s *Store) Write(name string, old, text []byte) error {
	if err := s.Files.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	release, err := s.lock(name, old)
	if err != nil {
		return err
	}
	defer release()
	return s.put(name, text)
}

// put writes the file of a chain.
func (s *Store) put(name string, text []byte) error {
	return s.Files.WriteFile(s.Path(name), strings.NewReader(string(text)), host.WriteOptions{Sync: true})
}

// Change changes the text of a chain while nobody else does: others wait, and what they
// change is based on it. The result must be a chain again.
func (s *Store) Change(name string, edit func(c *Chain, text []byte) ([]byte, error)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	release, err := s.hold()
	if errors.Is(err, fs.ErrNotExist) { // there is no directory
		_, _, err = s.Read(name)
	}
	if err != nil {
		return err
	}
	defer release()
	c, old, err := s.Read(name)
	if err != nil {
		return err
	}
	text, err := edit(c, old)
	if err != nil {
		return fmt.Errorf("chain %s: %w", name, err)
	}
	if _, err := Parse(name, s.Path(name), text); err != nil {
		return err
	}
	return s.put(name, text)
}

// Replace writes the file of a chain, whatever it had before.
func (s *Store) Replace(name string, text []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := s.Files.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	release, err := s.hold()
	if err != nil {
		return err
	}
	defer release()
	return s.put(name, text)
}

// Rename gives a chain whose file has the text old, which was read before, another
// name and text. It fails as Write does if somebody else changed it, and with an
// ExistsError if there is a chain with the other name. Records of its executions
// stay under the old name.
func (s *Store) Rename(name, to string, old, text []byte) error {
	if err := CheckName(to); err != nil {
		return err
	}
	release, err := s.lock(name, old)
	if err != nil {
		return err
	}
	defer release()
	switch _, err := s.Files.Lstat(s.Path(to)); {
	case err == nil:
		return &ExistsError{Name: to, Path: s.Path(to)}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.put(to, text); err != nil {
		return err
	}
	return s.Files.Remove(s.Path(name))
}

// lock keeps others from changing chains until it is released. It fails if the file of
// the chain has another text than old, as Write says.
func (s *Store) lock(name string, old []byte) (release func(), err error) {
	unlock, err := s.hold()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	now, err := s.Files.ReadFile(s.Path(name))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && old == nil:
		return nil, &ExistsError{Name: name, Path: s.Path(name)}
	case string(now) != string(old):
		return nil, &ConflictError{Name: name, Was: old, Now: now}
	}
	return unlock, nil
}

// lockFile is locked by whoever changes chains, and holderFile says who that is.
const (
	lockFile   = ".lock"
	holderFile = ".lock.holder"
	// lockWait is how long a change waits for others, where [Store.Wait] is 0.
	lockWait = 10 * time.Second
)

// hold keeps others from changing chains until it is released. It waits for them, but
// not for ever.
func (s *Store) hold() (release func(), err error) {
	type lock struct {
		unlock func()
		err    error
	}
	got := make(chan lock, 1)
	go func() {
		unlock, err := s.Files.Lock(filepath.Join(s.Dir, lockFile))
		got <- lock{unlock, err}
	}()
	wait := cmp.Or(s.Wait, lockWait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var l lock
	select {
	case l = <-got:
	case <-timer.C:
		go func() {
			if l := <-got; l.err == nil {
				l.unlock()
			}
		}()
		return nil, fmt.Errorf("the chains in %s are locked by %s: waited %s for it, and changed nothing", s.Dir, s.holder(), wait)
	}
	if l.err != nil {
		return nil, l.err
	}
	// It is for people only: without it, a change is as good.
	holder := filepath.Join(s.Dir, holderFile)
	_ = s.Files.WriteFile(holder, strings.NewReader(cmp.Or(s.Who, fmt.Sprintf("process %d", os.Getpid()))+"\n"), host.WriteOptions{})
	return func() {
		_ = s.Files.Remove(holder)
		l.unlock()
	}, nil
}

// holder says who changes chains now.
func (s *Store) holder() string {
	const most = 200
	b, err := s.Files.ReadFile(filepath.Join(s.Dir, holderFile))
	line, _, _ := strings.Cut(string(b), "\n")
	if err != nil || line == "" {
		return "a process that has not said who it is"
	}
	return strings.ToValidUTF8(line[:min(len(line), most)], "")
}

// Delete removes a chain whose file has the text old, which was read before. It
// fails as Write does if somebody else changed it. Records of its executions stay.
func (s *Store) Delete(name string, old []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	release, err := s.lock(name, old)
	if err != nil {
		return err
	}
	defer release()
	return s.Files.Remove(s.Path(name))
}
