package gitfs

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of a pack. A few bytes can stand for much: a delta that copies the same
// megabytes again and again, or a compressed run of zeros. git itself stores no file
// of more than maxDelta bytes as a delta.
const (
	maxDelta   = 512 << 20 // bytes of an object that is stored as a delta
	maxObjects = 50_000_000
	// All objects may have freeBytes, and ratio bytes for each byte of the pack.
	freeBytes = 16 << 30
	ratio     = 100
)

// checked writes a pack to a file, and looks through it meanwhile: a pack beyond the
// bounds is an error before anything works its objects out.
func checked(pack io.Reader, to io.Writer) error {
	s := &packScanner{most: maxDelta}
	s.in = bufio.NewReaderSize(counted{io.TeeReader(pack, to), &s.read}, 1<<16)
	if err := s.scan(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, s.in) // the checksum
	return err
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n *int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}

// A packScanner looks through a pack.
type packScanner struct {
	in    *bufio.Reader
	read  int64
	total uint64 // bytes that the objects have
	most  uint64 // bytes of an object that has to do with a delta
	// large are the offsets of objects beyond most. Nothing may be a delta of one: it
	// would be read into memory. named says that deltas name their bases by hash.
	large map[int64]bool
	named bool
	z     io.ReadCloser
}

func (s *packScanner) scan() error {
	var head [12]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return fmt.Errorf("the pack has no header: %w", err)
	}
	n := binary.BigEndian.Uint32(head[8:])
	if string(head[:4]) != "PACK" || n > maxObjects {
		return fmt.Errorf("the answer is not a pack, or one of more than %d objects", maxObjects)
	}
	for range n {
		if err := s.object(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	if s.named && len(s.large) > 0 {
		return s.tooLarge()
	}
	return nil
}

func (s *packScanner) tooLarge() error {
	return fmt.Errorf("an object of more than %d bytes is the base of a delta", s.most)
}

// The kinds of objects that are deltas.
const (
	ofsDelta = 6
	refDelta = 7
)

// object reads one object.
func (s *packScanner) object() error {
	start := s.read - int64(s.in.Buffered())
	b, err := s.in.ReadByte()
	if err != nil {
		return err
	}
	kind, size := b>>4&7, uint64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = s.in.ReadByte(); err != nil {
			return err
		}
		if shift > 56 {
			return errors.New("the size of an object is not a number")
		}
		size |= uint64(b&0x7f) << shift
	}
	switch kind {
	case ofsDelta:
		base, err := s.base()
		if err != nil {
			return err
		}
		if s.large[start-base] {
			return s.tooLarge()
		}
	case refDelta:
		const hash = 20
		s.named = true
		if _, err := s.in.Discard(hash); err != nil {
			return err
		}
	default:
		if err := s.add(size); err != nil {
			return err
		}
		if size > s.most {
			if s.large == nil {
				s.large = map[int64]bool{}
			}
			s.large[start] = true
		}
	}
	return s.inflate(size, kind == ofsDelta || kind == refDelta)
}

// base reads how far before a delta its base begins.
func (s *packScanner) base() (int64, error) {
	var off int64
	for first := true; ; first = false {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !first {
			off++
		}
		if off > maxPack {
			return 0, errors.New("the base of a delta is not in the pack")
		}
		if off = off<<7 | int64(b&0x7f); b&0x80 == 0 {
			return off, nil
		}
	}
}

// add counts the bytes of an object.
func (s *packScanner) add(size uint64) error {
	s.total += size
	if most := uint64(freeBytes) + ratio*uint64(s.read); size > most || s.total > most {
		return fmt.Errorf("its objects have more than %d bytes in a pack of %d so far: this is not a repository of states", most, s.read)
	}
	return nil
}

// inflate reads the data of an object, which must have its size. Those of a delta
// begin with the sizes of what it changes and of what it makes.
func (s *packScanner) inflate(size uint64, delta bool) error {
	var err error
	if s.z == nil {
		s.z, err = zlib.NewReader(s.in)
	} else if r, ok := s.z.(zlib.Resetter); ok {
		err = r.Reset(s.in, nil)
	}
	if err != nil {
		return err
	}
	var made uint64
	if delta {
		one := &byteReader{r: s.z}
		for range 2 {
			if made, err = binary.ReadUvarint(one); err != nil {
				return fmt.Errorf("a delta has no sizes: %w", err)
			}
		}
		if made > s.most || size > s.most {
			return fmt.Errorf("a delta makes an object of %d bytes, more than %d", made, s.most)
		}
		if err := s.add(made); err != nil {
			return err
		}
		if one.n > size {
			return errors.New("an object is longer than it says")
		}
		size -= one.n
	}
	n, err := io.Copy(io.Discard, io.LimitReader(s.z, int64(size)+1))
	if err == nil && uint64(n) != size {
		err = errors.New("an object is not as long as it says")
	}
	return err
}

// A byteReader reads and counts single bytes.
type byteReader struct {
	r io.Reader
	n uint64
}

func (b *byteReader) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(b.r, one[:])
	b.n++
	return one[0], err
}
