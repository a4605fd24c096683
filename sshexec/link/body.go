package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"brine/internal/fun"
)

// A memBody is a small return.
type memBody []byte

func (b memBody) Size() int64 { return int64(len(b)) }

func (b memBody) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// A fileBody is a large return in a file that has no name any more: it is gone
// with the process, or once nobody holds it.
type fileBody struct {
	f    *os.File
	size int64
}

// Close gives the space of the file back.
func (b *fileBody) Close() error { return b.f.Close() }

func (b *fileBody) Size() int64 { return b.size }

func (b *fileBody) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(b.f, 0, b.size)), nil
}

// errTooLarge says that a return has more bytes than are taken.
var errTooLarge = errors.New("the return is too large")

// TooLarge reports whether a call was given up since its return is too large.
func TooLarge(err error) bool { return errors.Is(err, errTooLarge) }

// readBody reads a return: up to spill bytes are kept in memory, more in a file
// in dir, more than limit is errTooLarge.
func readBody(r io.Reader, spill, limit int64, dir string) (fun.Body, error) {
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, min(spill, limit)+1))
	if err != nil {
		return nil, err
	}
	if n <= min(spill, limit) {
		return memBody(bytes.Clone(buf.Bytes())), nil
	}
	if n > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	f, err := os.CreateTemp(dir, "brine-return-")
	if err != nil {
		return nil, fmt.Errorf("keep a large return: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("keep a large return: %w", err)
	}
	size, err := io.Copy(f, io.MultiReader(&buf, io.LimitReader(r, limit-n+1)))
	if err == nil && size > limit {
		err = fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &fileBody{f, size}, nil
}
