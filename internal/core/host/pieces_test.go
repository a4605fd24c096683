package host

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 3 * firstPiece, maxPiece, 2*maxPiece + 7, 5 * maxPiece} {
		want := bytes.Repeat([]byte("0123456"), n/7+1)[:n]
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(want), "half": iotest.HalfReader(bytes.NewReader(want))} {
			var b pieces
			if m, err := io.Copy(&b, r); err != nil || m != int64(n) {
				t.Errorf("%d bytes, %s: Copy = %d, %v", n, name, m, err)
			}
			if got := b.join(); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %s: %d come back, or others", n, name, len(got))
			}
		}
	}
	var b pieces
	fault := errors.New("fault")
	_, _ = b.Write([]byte("before "))
	if _, err := b.ReadFrom(io.MultiReader(bytes.NewReader([]byte("it")), iotest.ErrReader(fault))); !errors.Is(err, fault) {
		t.Errorf("ReadFrom = %v", err)
	}
	if got := string(b.join()); got != "before it" {
		t.Errorf("what came before the fault is %q", got)
	}
}
