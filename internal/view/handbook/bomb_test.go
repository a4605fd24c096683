package handbook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"brine/internal/testkit/memtest"
)

// spaces is spaces without end.
type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// TestHostileArchive reads documentation that unpacks to much more than it may. It runs
// alone, since memory is measured.
func TestHostileArchive(t *testing.T) {
	var b bytes.Buffer
	c := exec.CommandContext(t.Context(), "xz", "-0", "--check=crc32", "--stdout")
	c.Stdin = io.MultiReader(strings.NewReader(`{"pages": [{"path": "index.html", "body": "`), io.LimitReader(spaces{}, 4*maxArchive), strings.NewReader(`"}]}`))
	c.Stdout = &b
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) && !strings.Contains(os.Getenv("BRINE_TEST_REQUIRE"), "xz") {
		t.Skip("there is no xz")
	} else if err != nil {
		t.Fatal(err)
	}
	peak := memtest.Peak(func() { _, err = Read(bytes.NewReader(b.Bytes())) })
	if err == nil || peak > 4*maxArchive {
		t.Errorf("%d bytes were read, %v, with %d MiB of memory", b.Len(), err, peak>>20)
	}
}
