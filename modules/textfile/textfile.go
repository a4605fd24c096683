// Package textfile edits small files of lines that belong to the system and that
// others write as well: /etc/hosts, /etc/fstab, authorized_keys. A file is read
// and replaced as a whole; mode and owner stay.
package textfile

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/value"
)

// Read returns the content of a file, "" where there is none.
func Read(h host.Host, path string) (string, error) {
	b, err := h.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// Write replaces the content of a file atomically. A link at path is followed.
func Write(h host.Host, path, text string) error {
	return h.WriteFile(path, strings.NewReader(text), host.WriteOptions{FollowLinks: true})
}

// WriteMode is Write with the mode that a new file gets.
func WriteMode(h host.Host, path, text string, mode uint32) error {
	opts := host.WriteOptions{FollowLinks: true}
	if _, err := h.Stat(path); errors.Is(err, fs.ErrNotExist) {
		m := host.FileMode(mode)
		opts.Mode = &m
	}
	return h.WriteFile(path, strings.NewReader(text), opts)
}

type lockKey struct{ path string }

// Lock keeps the other states of the run from editing a file until the returned
// function is called.
func Lock(env *fun.Env, path string) func() {
	if env.Memo == nil {
		return func() {}
	}
	mu := env.Memo.Once(lockKey{path}, func() any { return &sync.Mutex{} }).(*sync.Mutex)
	mu.Lock()
	return mu.Unlock
}

// Edit reads a file, lets edit change its text and writes it where it differs. It
// reports whether it wrote.
func Edit(env *fun.Env, path string, edit func(text string) (string, error)) (bool, error) {
	defer Lock(env, path)()
	text, err := Read(env.Host, path)
	if err != nil {
		return false, err
	}
	now, err := edit(text)
	if err != nil || now == text {
		return false, err
	}
	return true, Write(env.Host, path, now)
}

// Lines returns the lines of a text, without line ends. Text that does not end
// with one ends with a line all the same.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Join returns lines as text; each ends with a line end.
func Join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Without returns the lines that others do not have, each once.
func Without(lines, others []string) []string {
	var out []string
	for _, l := range lines {
		if !slices.Contains(others, l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// Number returns a word as a number where it is a whole one.
func Number(word string) value.Value {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return n
	}
	return word
}
