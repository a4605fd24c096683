package host

import (
	"bytes"
	"io"
)

// pieces is output as it comes: however long it becomes, it is copied once, by
// join.
type pieces struct {
	full [][]byte
	last []byte
	size int
}

// The first piece has firstPiece bytes, and each further one twice as many as the
// one before, up to maxPiece.
const (
	firstPiece = 4 << 10
	maxPiece   = 1 << 20
)

// ReadFrom reads the output from r until its end.
func (b *pieces) ReadFrom(r io.Reader) (n int64, err error) {
	for {
		if len(b.last) == cap(b.last) {
			next := firstPiece
			if b.last != nil {
				b.full = append(b.full, b.last)
				next = min(2*cap(b.last), maxPiece)
			}
			b.last = make([]byte, 0, next)
		}
		m, err := r.Read(b.last[len(b.last):cap(b.last)])
		b.last = b.last[:len(b.last)+m]
		b.size += m
		n += int64(m)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Write adds to the output.
func (b *pieces) Write(p []byte) (int, error) {
	n, err := b.ReadFrom(bytes.NewReader(p))
	return int(n), err
}

// join returns the output, and forgets it.
func (b *pieces) join() []byte {
	out := b.last
	if len(b.full) > 0 {
		out = make([]byte, 0, b.size)
		for _, p := range append(b.full, b.last) {
			out = append(out, p...)
		}
	}
	*b = pieces{}
	return out
}
