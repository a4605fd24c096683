package lint

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"

	"brine/internal/core/fun"
)

// seen is what a check has read of the files: the systems of a check read the same, and all
// of them see a file as the first one did. It ends with the check.
type seen struct {
	files sync.Map // of *seenFile, by seenKey
	size  atomic.Int64
}

type seenKey struct {
	pillar     bool
	saltenv, p string
}

// seenFile is one file. Who asks first looks.
type seenFile struct {
	stat, read sync.Once
	info       fun.FileInfo
	err        error
	text       []byte // where it is kept
}

// Bounds of the text that a check keeps, in bytes: of a file, and of all.
const (
	seenText = 64 << 10
	seenAll  = 64 << 20
)

// reader is what a file is read by.
type reader interface {
	Stat(ctx context.Context, saltenv, p string) (fun.FileInfo, error)
	Open(ctx context.Context, saltenv, p string) (io.ReadCloser, error)
}

// file returns a file that was, or is to be, looked at.
func (s *seen) file(k seenKey) *seenFile {
	f, ok := s.files.Load(k)
	if !ok {
		f, _ = s.files.LoadOrStore(k, &seenFile{})
	}
	return f.(*seenFile)
}

// Stat returns a file, or that it is not there.
func (s *seen) Stat(ctx context.Context, from reader, k seenKey) (fun.FileInfo, error) {
	if s == nil {
		return from.Stat(ctx, k.saltenv, k.p)
	}
	f := s.file(k)
	f.stat.Do(func() { f.info, f.err = from.Stat(ctx, k.saltenv, k.p) })
	return f.info, f.err
}

// Open opens a file.
func (s *seen) Open(ctx context.Context, from reader, k seenKey) (io.ReadCloser, error) {
	if s == nil {
		return from.Open(ctx, k.saltenv, k.p)
	}
	f := s.file(k)
	f.read.Do(func() {
		info, err := s.Stat(ctx, from, k)
		if err != nil || info.Size > seenText || s.size.Add(info.Size) > seenAll {
			return
		}
		r, err := from.Open(ctx, k.saltenv, k.p)
		if err != nil {
			return
		}
		defer r.Close()
		if text, err := io.ReadAll(io.LimitReader(r, seenText+1)); err == nil && len(text) <= seenText {
			f.text = append([]byte{}, text...)
		}
	})
	if f.text == nil {
		return from.Open(ctx, k.saltenv, k.p)
	}
	return io.NopCloser(bytes.NewReader(f.text)), nil
}
