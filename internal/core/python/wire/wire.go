// Package wire is what brine and the processes that run the modules of a tree send
// each other: frames of four bytes of length (big endian) and JSON, in which
// values of Python have tags (runtime/main.py of package python describes both).
package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"brine/internal/py/value"
)

// MaxFrame bounds a frame, in bytes.
const MaxFrame = 64 << 20

// MaxShared bounds what a process shares of __context__, in bytes of JSON.
const MaxShared = 1 << 20

// Starlark is the hidden command of brine that runs Starlark modules.
const Starlark = "starlark-run"

// OutOfMemory is the status with which that process ends itself where it takes too
// much memory.
const OutOfMemory = 3

// Frame encodes a message. Data that is lazy is worked out for it.
func Frame(m *value.Map) ([]byte, error) {
	packed, err := Pack(m)
	if err != nil {
		return nil, err
	}
	return Encode(packed)
}

// Encode encodes a packed message.
func Encode(packed value.Value) ([]byte, error) {
	b := value.EncodeJSON(packed)
	if len(b) > MaxFrame {
		return nil, value.Raise("ValueError", "the value is too large: %d bytes of JSON, %d at most", len(b), MaxFrame)
	}
	return b, nil
}

// Write writes an encoded message.
func Write(w io.Writer, frame []byte) error {
	head := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	_, err := w.Write(append(head, frame...))
	return err
}

// Read reads a message.
func Read(r io.Reader) (*value.Map, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return nil, fmt.Errorf("the helper sent a frame of %d bytes", n)
	}
	buf := bytes.NewBuffer(make([]byte, 0, min(n, 1<<20)))
	if _, err := io.CopyN(buf, r, int64(n)); err != nil {
		return nil, err
	}
	v, err := value.DecodeJSON(buf)
	if err != nil {
		return nil, fmt.Errorf("the helper sent invalid JSON: %w", err)
	}
	if v, err = Unpack(v); err != nil {
		return nil, err
	}
	m, ok := v.(*value.Map)
	if !ok {
		return nil, fmt.Errorf("the helper sent %s", value.TypeName(v))
	}
	return m, nil
}
