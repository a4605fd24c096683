package beacon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// maxState bounds the file of a Store, in bytes.
const maxState = 16 << 20

// A Store keeps what beacons have to know of the run before, in a directory of its own
// below the cache directory that only its user can enter.
type Store struct {
	Host host.Host
	Dir  string
	// Warn is called with what is wrong with the file, which is made new then.
	Warn func(error)
}

// NewStore returns the store of a cache directory.
func NewStore(h host.Host, cacheDir string, warn func(error)) *Store {
	return &Store{Host: h, Dir: filepath.Join(cacheDir, "beacons"), Warn: warn}
}

func (s *Store) path() string { return filepath.Join(s.Dir, "state.json") }

// Lock keeps other runs out until unlock is called: a timer and a path unit may start
// one at the same time.
func (s *Store) Lock() (unlock func(), err error) { return lock(s.Host, s.Dir, "run.lock") }

// lock takes the lock of a file in a directory, which is made.
func lock(h host.Host, dir, name string) (unlock func(), err error) {
	if err := h.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := own(h, dir); err != nil {
		return nil, err
	}
	return h.Lock(filepath.Join(dir, name))
}

// own returns an error for what another user has put where brine keeps something.
func own(h host.Host, path string) error {
	st, err := h.Lstat(path)
	switch {
	case err != nil:
		return err
	case st.Mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and is not used: remove it", path)
	case st.UID != h.Geteuid():
		return fmt.Errorf("%s belongs to the user %d, and is not used: remove it", path, st.UID)
	}
	return nil
}

// readOwn reads a file of brine's own; nil where there is none.
func readOwn(h host.Host, path string, limit int64) ([]byte, error) {
	err := own(h, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	st, err := h.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode.IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case st.Size > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, st.Size, limit)
	}
	return h.ReadFile(path)
}

// writeOwn replaces a file of brine's own.
func writeOwn(h host.Host, path string, text []byte) error {
	mode := fs.FileMode(0o600)
	return h.WriteFile(path, bytes.NewReader(text), host.WriteOptions{Mode: &mode, Sync: true})
}

// A Past is what is kept of a beacon.
type Past struct {
	At   time.Time // when it looked
	Done bool      // run_once: it looks no more
	Data *value.Map
}

// A State is what is kept of all beacons, by name.
type State struct{ all *value.Map }

// Load reads what is kept. A file that is not what Save writes is warned of, and forgotten:
// the beacons look as if for the first time.
func (s *Store) Load() (*State, error) {
	st := &State{all: value.NewMap(8)}
	text, err := readOwn(s.Host, s.path(), maxState)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		s.Warn(fmt.Errorf("what beacons kept is forgotten: %w", err))
		return st, nil
	}
	if text == nil {
		return st, nil
	}
	v, _, err := value.ParseJSONWithin(string(text), 32*maxState)
	m, ok := v.(*value.Map)
	if err == nil && !ok {
		err = fmt.Errorf("it is not a mapping")
	}
	if err != nil {
		s.Warn(fmt.Errorf("what beacons kept is forgotten: %s: %w", s.path(), err))
		return st, nil
	}
	st.all = m
	return st, nil
}

// Save writes what is kept.
func (s *Store) Save(st *State) error {
	text := value.EncodeJSON(st.all)
	if len(text) > maxState {
		return fmt.Errorf("beacons keep %d bytes, more than %d: let inotify watch fewer files", len(text), maxState)
	}
	return writeOwn(s.Host, s.path(), text)
}

// keep forgets the beacons that are no longer configured.
func (st *State) keep(entries []*Entry) {
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name] = true
	}
	for _, name := range sorted(st.all) {
		if !names[name] {
			st.all.Delete(name)
		}
	}
}

// of returns what is kept of a beacon; first: nothing is. What one of another kind kept
// under the name does not count.
func (st *State) of(e *Entry) (past Past, first bool) {
	m := st.all.Map(e.Name)
	if m == nil || m.Str("kind") != e.Kind.Name || m.Map("data") == nil {
		return Past{}, true
	}
	at, err := time.Parse(time.RFC3339Nano, m.Str("at"))
	if err != nil {
		return Past{}, true
	}
	return Past{At: at, Done: e.Once && m.At("done") == true, Data: m.Map("data")}, false
}

// set keeps something of a beacon.
func (st *State) set(e *Entry, p Past) {
	st.all.Set(e.Name, value.MapOf("kind", e.Kind.Name, "at", p.At.UTC().Format(time.RFC3339Nano), "done", p.Done, "data", p.Data))
}

// Lasts returns when beacons looked last, by name.
func (s *Store) Lasts(entries []*Entry) (map[string]time.Time, error) {
	st, err := s.Load()
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, e := range entries {
		if past, first := st.of(e); !first {
			out[e.Name] = past.At
		}
	}
	return out, nil
}
