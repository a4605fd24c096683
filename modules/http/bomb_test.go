package http

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"brine/internal/testkit/memtest"
)

// TestHostileBombs unpacks bodies of kilobytes that stand for much more than may be read.
// It runs alone, since memory is measured.
func TestHostileBombs(t *testing.T) {
	const limit = 1 << 20
	for coding, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		var b bytes.Buffer
		z := pack(&b)
		part := make([]byte, 1<<20)
		for range 256 {
			_, _ = z.Write(part)
		}
		_ = z.Close()
		var err error
		peak := memtest.Peak(func() { _, err = unpacked(coding, b.Bytes(), limit) })
		if err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes (http_max_body)") || peak > 16<<20 {
			t.Errorf("%s of %d bytes: %v, %d MiB of memory", coding, b.Len(), err, peak>>20)
		}
	}
}
