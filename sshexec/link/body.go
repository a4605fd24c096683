package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"brine/internal/core/fun"
)

// A memBody is a small return.
type memBody []byte

func (b memBody) Size() int64 { return int64(len(b)) }

func (b memBody) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// A fileBody is a large return in the spool.
type fileBody struct {
	s    *spool
	size int64

	mu     sync.Mutex
	chunks []int64 // where its parts are
	closed bool
}

// Close gives the space of the return back.
func (b *fileBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.s.give(b.chunks)
	}
	return nil
}

func (b *fileBody) Size() int64 { return b.size }

// Open returns a reader of the whole return.
func (b *fileBody) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(b, 0, b.size)), nil
}

// ReadAt reads the return from the byte at off on.
func (b *fileBody) ReadAt(p []byte, off int64) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, os.ErrClosed
	}
	for n < len(p) && err == nil {
		at := off + int64(n)
		if at >= b.size {
			return n, io.EOF
		}
		in := at % spoolChunk
		part := p[n:min(int64(len(p)), int64(n)+min(spoolChunk-in, b.size-at))]
		var m int
		m, err = b.s.f.ReadAt(part, b.chunks[at/spoolChunk]+in)
		n += m
	}
	return n, err
}

// A spool is one file for the large returns of all connections, so that those
// that nobody has read yet do not take a descriptor each. The file has no name: it
// is gone with the process.
type spool struct {
	mu   sync.Mutex
	f    *os.File // set while something is in it
	end  int64
	free []int64 // chunks before end
	used int
}

// spoolChunk is how much of the file is given at once.
const spoolChunk = 256 << 10

// put keeps what r has, at most limit bytes.
func (s *spool) put(r io.Reader, limit int64, dir string) (*fileBody, error) {
	b := &fileBody{s: s}
	buf := make([]byte, spoolChunk)
	for {
		n, err := io.ReadFull(io.LimitReader(r, limit-b.size+1), buf)
		b.size += int64(n)
		if b.size > limit {
			err = fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
		}
		over := isEnd(err)
		if (err == nil || over) && n > 0 {
			if werr := s.write(b, buf[:n], dir); werr != nil {
				err, over = fmt.Errorf("keep a large return: %w", werr), false
			}
		}
		switch {
		case over:
			runtime.SetFinalizer(b, func(b *fileBody) { _ = b.Close() }) // of a return that nobody closes
			return b, nil
		case err != nil:
			_ = b.Close()
			return nil, err
		}
	}
}

// isEnd reports whether err says that all was read. One that wraps such an error says
// why a connection broke.
func isEnd(err error) bool {
	return err == io.EOF || err == io.ErrUnexpectedEOF //nolint:errorlint // see above
}

// write adds a chunk.
func (s *spool) write(b *fileBody, p []byte, dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f == nil {
		f, err := os.CreateTemp(dir, "brine-return-")
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil {
			f.Close()
			return err
		}
		s.f = f
	}
	at := s.end
	if n := len(s.free); n > 0 {
		at, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.end += spoolChunk
	}
	b.chunks = append(b.chunks, at)
	s.used++
	_, err := s.f.WriteAt(p, at)
	return err
}

// give takes chunks back. The file goes with the last of them.
func (s *spool) give(chunks []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, chunks...)
	if s.used -= len(chunks); s.used == 0 && s.f != nil {
		_ = s.f.Close()
		s.f, s.end, s.free = nil, 0, nil
	}
}

// errTooLarge says that a return has more bytes than are taken.
var errTooLarge = errors.New("the return is too large")

// TooLarge reports whether a call was given up since its return is too large.
func TooLarge(err error) bool { return errors.Is(err, errTooLarge) }

// readBody reads a return: up to spill bytes are kept in memory, more in the spool,
// which has its file in dir, more than limit is errTooLarge.
func (s *spool) readBody(r io.Reader, spill, limit int64, dir string) (fun.Body, error) {
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
	b, err := s.put(io.MultiReader(&buf, r), limit, dir)
	if err != nil {
		return nil, err
	}
	return b, nil
}
