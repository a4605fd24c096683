// Package facts keeps what hosts last said of themselves: the grains that grains.items
// returned, for an inventory. They are as old as [Facts.At] says, and no run relies on them.
// A [Store] is a directory with a file for each host: the first line has the few facts that
// lists show, the second all grains.
package facts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Function is the execution function whose returns are kept.
const Function = "grains.items"

// Format is the version of the files.
const Format = 1

// Bounds of what is kept of a host.
const (
	maxFile  = 1 << 20
	maxText  = 200 // bytes, of what lists show
	maxAhead = time.Hour
)

// Facts are what a host said of itself.
type Facts struct {
	Format int       `json:"format"`
	ID     string    `json:"id"`
	JID    string    `json:"jid"` // of the job that asked
	At     time.Time `json:"at"`  // when it answered
	// What lists show; "" and 0 where it did not say.
	OS     string `json:"os,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Arch   string `json:"arch,omitempty"`
	CPUs   int64  `json:"cpus,omitempty"`
	Memory int64  `json:"memory,omitempty"` // MiB

	all []byte
}

// Grains returns all that the host said.
func (f *Facts) Grains() (*value.Map, error) {
	v, err := value.DecodeJSON(bytes.NewReader(f.all))
	if err != nil {
		return nil, fmt.Errorf("facts of %s: %w", f.ID, err)
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("facts of %s: they are damaged", f.ID)
	}
	return m, nil
}

// A Store is the directory of facts. Files are replaced as a whole.
type Store struct {
	dir string
	h   host.Host
}

// New returns the store below a cache directory.
func New(h host.Host, cache string) *Store { return &Store{filepath.Join(cache, "facts"), h} }

// file is the path for a host. An id can be anything.
func (s *Store) file(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".facts")
}

// Put keeps what a host returned for [Function], which has no secrets.
func (s *Store) Put(id, jid string, at time.Time, grains *value.Map) error {
	f := Facts{
		Format: Format, ID: id, JID: jid, At: at.UTC().Truncate(time.Second),
		OS: text(grains, "osfinger"), Kernel: text(grains, "kernelrelease"), Arch: text(grains, "cpuarch"), CPUs: number(grains, "num_cpus"), Memory: number(grains, "mem_total"),
	}
	if f.OS == "" {
		f.OS = text(grains, "os")
	}
	head, err := json.Marshal(f)
	if err != nil {
		return err
	}
	b := append(append(head, '\n'), value.StrictJSON(grains)...)
	if len(b) > maxFile {
		return fmt.Errorf("the facts of %s are not kept: they have %d bytes, and %d are kept", id, len(b), maxFile)
	}
	if err := s.h.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	return s.h.WriteFile(s.file(id), bytes.NewReader(b), host.WriteOptions{Mode: &mode})
}

// Get returns what is kept of a host; nil where nothing is.
func (s *Store) Get(id string) (*Facts, error) {
	path := s.file(id)
	st, err := s.h.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode.IsRegular() || st.UID != s.h.Geteuid() || st.Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s: it is not a file that only you can write", path)
	case st.Size > maxFile:
		return nil, fmt.Errorf("%s: it is larger than %d bytes", path, maxFile)
	}
	data, err := s.h.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head, all, _ := bytes.Cut(data, []byte("\n"))
	f := &Facts{}
	if err := json.Unmarshal(head, f); err != nil || f.ID != id || f.At.IsZero() || f.At.After(s.h.Now().Add(maxAhead)) {
		return nil, fmt.Errorf("%s: it is damaged", path)
	}
	if f.Format != Format {
		return nil, fmt.Errorf("%s: it has format %d, and this brine reads format %d", path, f.Format, Format)
	}
	f.all = all
	return f, nil
}

// text is a short grain.
func text(m *value.Map, key string) string {
	s, _ := m.At(key).(string)
	if len(s) > maxText {
		return ""
	}
	return s
}

// number is a grain that is a number.
func number(m *value.Map, key string) int64 {
	n, _ := value.AsInt(m.At(key))
	return max(0, n)
}
