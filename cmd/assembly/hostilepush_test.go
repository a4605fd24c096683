//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"brine/internal/value"
)

// TestHostilePushes has a target push more than its files may take together.
func TestHostilePushes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	push := receive(dir, value.MapOf("file_recv_max_size", int64(1), "file_recv_max_total", int64(2)))
	full := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { _ = push(context.Background(), "web1", fmt.Sprintf("f%d", i), strings.NewReader(full[:1<<19])) })
	}
	wg.Wait()
	for _, p := range []string{"../../x", "/../x", "..", "", "a/../../../x"} {
		if err := push(t.Context(), "web1", p, strings.NewReader("x")); err == nil && p != "/../x" {
			t.Errorf("%q is taken", p)
		}
	}
	if err := push(t.Context(), "web1", "one", strings.NewReader(full+"x")); err == nil {
		t.Error("a file that is too large is taken")
	}
	var used int64
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if fi, ierr := d.Info(); err == nil && ierr == nil && fi.Mode().IsRegular() {
			used += fi.Size()
			if !strings.HasPrefix(p, filepath.Join(dir, "web1", "files")) {
				t.Errorf("%s is outside", p)
			}
		}
		return err
	})
	if used > 2<<20 || used < 1<<20 {
		t.Errorf("%d bytes are kept", used)
	}
	if err := push(t.Context(), "web2", "f", strings.NewReader("x")); err != nil {
		t.Errorf("another target: %v", err)
	}
}
