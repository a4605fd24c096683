package relay

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"io"
	"net"
	"os"
	"strings"
	"testing"
)

// TestHeld: a file that is held for a run comes over the link once, has no name on
// the disk, and is gone when it is dropped.
func TestHeld(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	file := bytes.Repeat([]byte("sealed, "), 100000)
	sum := sumOf(file)
	for _, r := range []io.ReaderAt{bytes.NewReader(file), bytes.NewReader(nil)} { // the second time it is there
		if err := c.Hold(t.Context(), sum, int64(len(file)), r); err != nil {
			t.Fatal(err)
		}
	}
	key := make([]byte, aes.BlockSize)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	get := func() []byte {
		got := make(chan []byte, 1)
		s, err := c.DialShared(t.Context(), "tcp", listen(t, func(c net.Conn) {
			b, _ := io.ReadAll(c)
			got <- b
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Key(key, key); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteFile(sum, 700000, 50000, 0); err != nil {
			t.Fatal(err)
		}
		_ = s.Conn.(*tunnel).s.CloseWrite(nil, nil) // where the relay ended it, that is too late
		return <-got
	}
	want := make([]byte, 50000)
	cipher.NewCTR(block, key).XORKeyStream(want, file[700000:750000])
	if got := get(); !bytes.Equal(got, want) {
		t.Errorf("%d bytes of a held file arrived, not the %d that were meant", len(got), len(want))
	}
	if err := c.Drop(t.Context(), sum); err != nil {
		t.Fatal(err)
	}
	if got := get(); len(got) != 0 {
		t.Errorf("%d bytes of a dropped file arrived", len(got))
	}
	if err := c.Hold(t.Context(), sum, int64(len(file)), bytes.NewReader(file)); err != nil {
		t.Errorf("held again: %v", err)
	}
}

// TestHeldBounds: a relay refuses what it has no room for, and what is not the file
// that was announced.
func TestHeldBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := &store{dir: dir, sum: MaxHeld - 10}
	c, _ := pairOf(t, st)
	for _, tt := range []struct {
		name, text, want string
		size             int64
	}{
		{"large", "", "no room", 11},
		{"huge", "", "no room", 1 << 50},
		{"negative", "", "a file of", -1},
		{"another", "something", "is not what was sent", 9},
		{"short", "some", "EOF", 9},
	} {
		err := c.Hold(t.Context(), sumOf([]byte(tt.name)), tt.size, strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	if err := c.Hold(t.Context(), sumOf([]byte("ten bytes.")), 10, strings.NewReader("ten bytes.")); err != nil {
		t.Errorf("what fits: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("names are left: %v, %v", names, err)
	}
}
