package relay

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShared: what the relay puts into a connection is what the controller would
// have sent, wherever it stands in the key stream and the file.
func TestShared(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	file := bytes.Repeat([]byte("an agent, "), 20000)
	sum := sumOf(file)
	for range 2 { // the second time it is there
		if err := c.Put(t.Context(), sum, file); err != nil {
			t.Fatal(err)
		}
	}
	key, iv := bytes.Repeat([]byte{7}, 16), bytes.Repeat([]byte{0xff}, 16) // the counter overflows
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	stream := make([]byte, 200000)
	cipher.NewCTR(block, iv).XORKeyStream(stream, stream)
	got := make(chan []byte, 1)
	s, err := c.DialShared(t.Context(), "tcp", listen(t, func(c net.Conn) {
		b, _ := io.ReadAll(c)
		got <- b
	}))
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	if err := s.Key(key, iv); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ from, n, at int }{{0, 1, 0}, {5, 32768, 17}, {199999, 1, 4095}, {100, maxPiece, 100000}} {
		if _, err := s.Write([]byte("plain")); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteFile(sum, x.from, x.n, uint64(x.at)); err != nil {
			t.Fatal(err)
		}
		want = append(want, "plain"...)
		for i := range x.n {
			want = append(want, file[x.from+i]^stream[x.at+i])
		}
	}
	long := bytes.Repeat([]byte("long"), maxPiece)
	if n, err := s.Write(long); n != len(long) || err != nil {
		t.Fatal(n, err)
	}
	want = append(want, long...)
	if err := s.Conn.(*tunnel).s.CloseWrite(nil, nil); err != nil {
		t.Fatal(err)
	}
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("%d bytes arrived that are not the %d that were sent", len(b), len(want))
	}
}

// TestPutWrong: a relay keeps no file that is not the one of its hash.
func TestPutWrong(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	for sum, want := range map[string]string{sumOf([]byte("other")): "is not what was sent", "../x": "a file of", "": "a file of"} {
		if err := c.Put(t.Context(), sum, []byte("this")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Put(%q) = %v", sum, err)
		}
	}
	if err := c.Put(t.Context(), sumOf(nil), nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// TestStore: files are there in later runs, unless they were damaged, and do not
// become more and more.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "relay")
	b := []byte("an agent")
	(&store{dir: dir}).save(sumOf(b), b)
	if got := (&store{dir: dir}).get(sumOf(b)); !bytes.Equal(got, b) {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, sumOf(b)), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := (&store{dir: dir}).get(sumOf(b)); got != nil {
		t.Errorf("of a damaged file came %q", got)
	}
	for i := range 3 * keptFiles {
		x := []byte{byte(i)}
		(&store{dir: dir}).save(sumOf(x), x)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > keptFiles {
		t.Errorf("%d files are kept: %v", len(names), err)
	}
}

// TestBadPieces: messages that make no sense are refused.
func TestBadPieces(t *testing.T) {
	t.Parallel()
	piece := func(kind byte, p string) string {
		return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(p)))) + p
	}
	key := piece(pieceKey, strings.Repeat("k", 32))
	sum := sumOf([]byte("file"))
	part := func(from, n uint64) string {
		b := binary.BigEndian.AppendUint64(make([]byte, 8), from)
		return piece(pieceFile, string(binary.BigEndian.AppendUint32(b, uint32(n)))+sum)
	}
	for _, tt := range []struct{ text, want string }{
		{piece(9, "x"), "type 9"},
		{"\x00\xff\xff\xff\xff", "a message of 4294967295 bytes"},
		{piece(pieceKey, "short"), "a key of 5 bytes"},
		{part(0, 4), "before the key"},
		{key + piece(pieceFile, "short"), "a part of a file of 5 bytes"},
		{key + part(0, 5), "5 bytes at 0 of a file of 4 bytes"},
		{key + part(1<<63, 1), "of a file of 4 bytes"},
		{key + part(5, 0), "of a file of 4 bytes"},
		{piece(pieceRaw, "x")[:3], "unexpected EOF"},
		{piece(pieceRaw, "xyz")[:6], "unexpected EOF"},
	} {
		st := &store{files: map[string][]byte{sum: []byte("file")}}
		if err := st.pieces(io.Discard, strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}
