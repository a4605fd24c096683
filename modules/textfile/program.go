package textfile

import (
	"bytes"
	"path/filepath"

	"brine/internal/core/host"
)

// ByProgram has a program edit a file: edit gets the path of a copy, in a directory
// that nobody else can enter, and what it makes of that is written back, as are the
// files that it leaves beside it. A program that gets the path itself follows
// whatever link others put there while it runs.
func ByProgram(h host.Host, path string, edit func(copied string) error) error {
	text, err := h.ReadFile(path)
	if err != nil {
		return err
	}
	real, err := h.Target(path)
	if err != nil {
		return err
	}
	dir, err := h.MkdirTemp("", "brine-edit-*")
	if err != nil {
		return err
	}
	defer func() { _ = h.RemoveAll(dir) }()
	copied := filepath.Join(dir, filepath.Base(real))
	mode := host.FileMode(0o600)
	if err := h.WriteFile(copied, bytes.NewReader(text), host.WriteOptions{Mode: &mode}); err != nil {
		return err
	}
	if err := edit(copied); err != nil {
		return err
	}
	names, err := h.ReadDir(dir)
	if err != nil {
		return err
	}
	st, err := h.Stat(path)
	if err != nil {
		return err
	}
	mode = host.FileMode(st.Perm())
	for _, name := range names { // what is beside the file first: it may be the old text
		from := filepath.Join(dir, name)
		if from == copied {
			continue
		}
		side, err := h.ReadFile(from)
		if err != nil {
			return err
		}
		opts := host.WriteOptions{Mode: &mode}
		if h.Geteuid() == 0 {
			opts.UID, opts.GID = &st.UID, &st.GID
		}
		if err := h.WriteFile(filepath.Join(filepath.Dir(real), name), bytes.NewReader(side), opts); err != nil {
			return err
		}
	}
	after, err := h.ReadFile(copied)
	if err != nil || bytes.Equal(after, text) {
		return err
	}
	return h.WriteFile(path, bytes.NewReader(after), host.WriteOptions{FollowLinks: true})
}
