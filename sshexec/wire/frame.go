package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Proto is the version of the protocol: both ends must have the same.
const Proto = 1

// magic begins what each end sends.
const magic = "\x00brine wire\x00\r\n"

// Limits of frames.
const (
	// DefaultFrame is the largest payload of a frame unless told otherwise.
	DefaultFrame = 1 << 20
	// dataFrame is the largest payload of a data frame: short ones let streams
	// share a slow link.
	dataFrame = 32 << 10
	header    = 9
	maxMethod = 64
)

// A frameType is what a frame is.
type frameType uint8

const (
	frameHello frameType = iota + 1
	frameOpen
	frameData
	frameCredit
	frameEnd
	frameCancel
	frameNote
	framePing
	framePong
	frameAck
	frameBye
)

// A frame is one message.
type frame struct {
	typ     frameType
	stream  uint32
	payload []byte
}

// appendHeader appends the header of a frame with a payload of n bytes.
func appendHeader(dst []byte, t frameType, stream uint32, n int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, byte(t))
	return binary.BigEndian.AppendUint32(dst, stream)
}

func appendFrame(dst []byte, f frame) []byte {
	dst = appendHeader(dst, f.typ, f.stream, len(f.payload))
	return append(dst, f.payload...)
}

// A ProtocolError says that the peer broke the protocol.
type ProtocolError struct{ Msg string }

func (e *ProtocolError) Error() string { return "the peer broke the protocol: " + e.Msg }

func broken(format string, args ...any) error {
	return &ProtocolError{fmt.Sprintf(format, args...)}
}

// readFrame reads one frame of at most limit bytes of payload. io.EOF is an end
// between frames.
func readFrame(r io.Reader, limit int) (frame, error) {
	var h [header]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return frame{}, fmt.Errorf("the channel ended within a frame: %w", err)
		}
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(h[:])
	f := frame{typ: frameType(h[4]), stream: binary.BigEndian.Uint32(h[5:])}
	if f.typ < frameHello || f.typ > frameBye {
		return frame{}, broken("frame of unknown type %d", f.typ)
	}
	if uint64(n) > uint64(limit) {
		return frame{}, broken("frame of %d bytes, the limit is %d", n, limit)
	}
	if n == 0 {
		return f, nil
	}
	f.payload = make([]byte, n)
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return frame{}, fmt.Errorf("the channel ended within a frame: %w", io.ErrUnexpectedEOF)
	}
	return f, nil
}

// A NoHelloError says that the peer is not an agent, with what it wrote
// instead.
type NoHelloError struct {
	Noise []byte // the end of what was skipped, at most 512 bytes
	Err   error  // why there will be no hello
}

func (e *NoHelloError) Error() string {
	if len(e.Noise) == 0 {
		return fmt.Sprintf("no hello from the remote program: %v", e.Err)
	}
	return fmt.Sprintf("no hello from the remote program: %v; it wrote %q", e.Err, e.Noise)
}

// Unwrap returns why.
func (e *NoHelloError) Unwrap() error { return e.Err }

// skipTo reads r up to and including the magic, skipping at most limit bytes
// before it.
func skipTo(r io.ByteReader, limit int64) error {
	const keep = 512
	var noise []byte
	fail := func(err error) error {
		if len(noise) > keep {
			noise = noise[len(noise)-keep:]
		}
		return &NoHelloError{noise, err}
	}
	matched := 0
	for n := int64(0); ; n++ {
		// Checked before anything is kept: every byte that the peer writes
		// counts.
		if len(noise) > 2*keep {
			noise = append(noise[:0], noise[len(noise)-keep:]...)
		}
		if n-int64(len(magic)) > limit {
			return fail(fmt.Errorf("more than %d bytes came before one", limit))
		}
		b, err := r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the channel ended")
			}
			return fail(err)
		}
		if b == magic[matched] {
			if matched++; matched == len(magic) {
				return nil
			}
			continue
		}
		// Only the first byte of the magic is where one may begin again: its
		// other NUL is followed by CR.
		noise = append(noise, magic[:matched]...)
		if b == '\n' && matched == len(magic)-2 || b == '\r' && matched == len(magic)-1 {
			return fail(errors.New("something between the two ends changes line ends: a terminal (tty, -t)"))
		}
		matched = 0
		if b == magic[0] {
			matched = 1
		} else {
			noise = append(noise, b)
		}
	}
}
