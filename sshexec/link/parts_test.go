package link

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"brine/internal/core/tee"
	"brine/internal/py/value"
	"brine/sshexec/wire"
)

// record is a record of an answer to invoke.
func record(b []byte) []byte {
	return append(binary.AppendUvarint([]byte{recordPart}, uint64(len(b))), b...)
}

func part(t *testing.T, items ...value.Value) []byte {
	t.Helper()
	b, err := wire.AppendValue(nil, value.Tuple(items))
	if err != nil {
		t.Fatal(err)
	}
	return record(b)
}

// TestHostileParts: an agent that sends output without end, or what is none, fails, or is
// not heard.
func TestHostileParts(t *testing.T) {
	t.Parallel()
	var heard []tee.Part
	read := func(r io.Reader) error {
		p := &partial{printed: func(p tee.Part) { heard = append(heard, p) }}
		return p.read(bufio.NewReader(r), 1<<20)
	}
	good := part(t, "build (cmd.run)", int64(1), true, "text\n", int64(7), false, int64(0))
	var b bytes.Buffer
	b.Write(good)
	for _, bad := range [][]byte{
		record(nil), record([]byte("junk")), part(t, "few"), part(t, int64(1), int64(1), true, "text", int64(0), false, int64(0)),
		part(t, "x", int64(1), true, "negative", int64(-7), false, int64(0)), part(t, "x", int64(1), true, value.NewList(), int64(7), false, int64(0)),
		part(t, string(make([]byte, maxWarning+1)), int64(1), true, "text", int64(0), false, int64(0)),
	} {
		b.Write(bad)
	}
	b.WriteByte(recordReturn)
	want := tee.Part{Of: "build (cmd.run)", Program: 1, Stderr: true, Text: "text\n", Dropped: 7}
	if err := read(&b); err != nil || len(heard) != 1 || heard[0] != want {
		t.Errorf("%v, heard %+v", err, heard)
	}
	if err := read(bytes.NewReader(append(record(make([]byte, maxPart+1)), recordReturn))); err == nil {
		t.Error("a part that is too long is taken")
	}
	endless := make([]io.Reader, 0, maxParts/maxPart+2)
	for range maxParts/maxPart + 1 {
		endless = append(endless, bytes.NewReader(record(make([]byte, maxPart))))
	}
	if err := read(io.MultiReader(append(endless, bytes.NewReader([]byte{recordReturn}))...)); err == nil {
		t.Error("output without end is taken")
	}
	// Where nobody listens, what comes is not kept.
	if err := (&partial{}).read(bufio.NewReader(bytes.NewReader(append(good, recordReturn))), 1<<20); err != nil {
		t.Error(err)
	}
}
