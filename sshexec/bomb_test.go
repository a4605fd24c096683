package sshexec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"brine/internal/testkit/memtest"
)

// zeroes is zeros without end.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestHostileImages: an agent of a package that unpacks to more than its list says is cut
// off behind that, whatever packed it. It runs alone, since memory is measured.
func TestHostileImages(t *testing.T) {
	const size, listed = 256 << 20, 1000
	zeros := func() io.Reader { return io.LimitReader(zeroes{}, size) }
	for _, suffix := range []string{"zst", "xz"} {
		var b bytes.Buffer
		if suffix == "zst" {
			z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			if err == nil {
				_, err = io.Copy(z, zeros())
			}
			if err != nil || z.Close() != nil {
				t.Fatal(err)
			}
		} else {
			c := exec.CommandContext(t.Context(), "xz", "-0", "--check=crc32", "--stdout")
			c.Stdin, c.Stdout = zeros(), &b
			if err := c.Run(); errors.Is(err, exec.ErrNotFound) && !strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "xz") {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
		}
		m := &Images{Embedded: fstest.MapFS{
			"SUMS":                      {Data: fmt.Appendf(nil, "linux-386 %s %d 1.0\n", strings.Repeat("ab", 32), listed)},
			"brine-linux-386." + suffix: {Data: b.Bytes()},
		}}
		i := m.images()["linux-386"][0]
		var n int64
		peak := memtest.Peak(func() {
			f, err := i.open()
			if err != nil {
				t.Error(err)
				return
			}
			n, err = io.Copy(io.Discard, f)
			if cerr := f.Close(); err != nil || cerr != nil {
				t.Error(err, cerr)
			}
		})
		if n != listed+1 || peak > 64<<20 {
			t.Errorf("%s: %d bytes, %d MiB of memory", suffix, n, peak>>20)
		}
		if err := i.verify(); err == nil {
			t.Errorf("%s: it is taken for the agent of the list", suffix)
		}
	}
}
