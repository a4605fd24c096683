//go:build !slim

package assembly

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"brine/internal/py/value"
)

// A late reader lets others begin before it gives its first byte.
type late struct {
	io.Reader
	begun bool
}

func (l *late) Read(p []byte) (int, error) {
	for range 1000 {
		if l.begun {
			break
		}
		runtime.Gosched()
	}
	l.begun = true
	return l.Reader.Read(p)
}

// TestHostilePushes has a target push more than its files may take together.
func TestHostilePushes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	push := receive(dir, value.MapOf("file_recv_max_size", int64(1), "file_recv_max_total", int64(2)))
	full := strings.Repeat("x", 1<<20)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_ = push(context.Background(), "web1", fmt.Sprintf("f%d", i), &late{Reader: strings.NewReader(full[:1<<19])})
		})
	}
	wg.Wait()
	for _, p := range []string{"../../x", "/../x", "..", "", "a/../../../x"} {
		if err := push(t.Context(), "web1", p, strings.NewReader("x")); err == nil && p != "/../x" {
			t.Errorf("%q is taken", p)
		}
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
	if err := push(t.Context(), "web2", "f", strings.NewReader(full)); err != nil {
		t.Errorf("another target: %v", err)
	}
	if err := push(t.Context(), "web3", "one", strings.NewReader(full+"x")); err == nil {
		t.Error("a file that is too large is taken")
	}
	if _, err := os.Lstat(filepath.Join(dir, "web3", "files", "one")); err == nil {
		t.Error("a file that is too large is kept")
	}
}

// TestHostileManyPushes has a target push the last file that it may, and one more.
func TestHostileManyPushes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	push := receive(dir, value.MapOf())
	base := filepath.Join(dir, "web1", "files")
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxPushed - 1 {
		if err := os.WriteFile(filepath.Join(base, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := push(t.Context(), "web1", "last", strings.NewReader("x")); err != nil {
		t.Errorf("the file number %d: %v", maxPushed, err)
	}
	for _, p := range []string{"more", "d/more"} {
		if err := push(t.Context(), "web1", p, strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "more than 10000 files") {
			t.Errorf("%s beside %d files: %v", p, maxPushed, err)
		}
		if _, err := os.Lstat(filepath.Join(base, p)); err == nil {
			t.Errorf("%s is kept", p)
		}
	}
	if _, err := os.Lstat(filepath.Join(base, "d")); err == nil {
		t.Error("a directory of a file that is refused is kept")
	}
	if err := push(t.Context(), "web2", "f", strings.NewReader("x")); err != nil {
		t.Errorf("another target: %v", err)
	}
}
