package lint

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"brine/internal/core/host"
)

// An Overlay is a file system in which some files have another text than on disk:
// the documents that an editor has open. A document whose file does not exist is
// a file as well. It is safe for concurrent use.
type Overlay struct {
	host.Files
	mu   sync.RWMutex
	docs map[string]overlaid
	last int64 // the time of the last change, which is later than all before
}

type overlaid struct {
	text  []byte
	mtime time.Time
}

// NewOverlay returns an overlay without documents.
func NewOverlay(disk host.Files) *Overlay { return &Overlay{Files: disk, docs: map[string]overlaid{}} }

// Set gives a file another text.
func (o *Overlay) Set(path string, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = max(o.last+1, time.Now().UnixNano())
	o.docs[filepath.Clean(path)] = overlaid{text, time.Unix(0, o.last)}
}

// Drop gives a file the text that it has on disk.
func (o *Overlay) Drop(path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.docs, filepath.Clean(path))
}

func (o *Overlay) get(path string) (overlaid, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	d, ok := o.docs[filepath.Clean(path)]
	return d, ok
}

func (o *Overlay) stat(path string, of func(string) (host.Stat, error)) (host.Stat, error) {
	st, err := of(path)
	d, ok := o.get(path)
	if !ok || err == nil && st.Mode.IsDir() {
		return st, err
	}
	if err != nil {
		st = host.Stat{Path: path, Mode: 0o644}
	}
	if st.Mode.IsRegular() {
		st.Size, st.Mtime = int64(len(d.text)), d.mtime
	}
	return st, nil
}

// Stat describes a file.
func (o *Overlay) Stat(path string) (host.Stat, error) { return o.stat(path, o.Files.Stat) }

// Lstat describes a file, or a link.
func (o *Overlay) Lstat(path string) (host.Stat, error) { return o.stat(path, o.Files.Lstat) }

// ReadFile returns the text of a file.
func (o *Overlay) ReadFile(path string) ([]byte, error) {
	if d, ok := o.get(path); ok {
		return d.text, nil
	}
	return o.Files.ReadFile(path)
}

// Open opens a file for reading.
func (o *Overlay) Open(path string) (io.ReadCloser, error) {
	if d, ok := o.get(path); ok {
		return io.NopCloser(bytes.NewReader(d.text)), nil
	}
	return o.Files.Open(path)
}

// ReadDir returns the names in a directory, sorted.
func (o *Overlay) ReadDir(path string) ([]string, error) {
	names, err := o.Files.ReadDir(path)
	if err != nil {
		return names, err
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	for p := range o.docs {
		if name := filepath.Base(p); filepath.Dir(p) == filepath.Clean(path) && !slices.Contains(names, name) {
			names = append(slices.Clip(names), name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// EvalSymlinks returns a path without links.
func (o *Overlay) EvalSymlinks(path string) (string, error) { return o.ReadTarget(path) }

// ReadTarget returns a path without links.
func (o *Overlay) ReadTarget(path string) (string, error) {
	real, err := o.Files.ReadTarget(path)
	if err == nil {
		return real, nil
	}
	if _, ok := o.get(path); !ok {
		return "", err
	}
	dir, dirErr := o.Files.ReadTarget(filepath.Dir(path))
	if dirErr != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// IsOpen reports whether a file has another text than on disk.
func (o *Overlay) IsOpen(path string) bool {
	_, ok := o.get(path)
	return ok
}
