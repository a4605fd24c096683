package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
)

// TestSpool: large returns that come at once share one file, each is read as it
// came, and the file goes with the last of them.
func TestSpool(t *testing.T) {
	t.Parallel()
	var (
		s  spool
		wg sync.WaitGroup
	)
	dir := t.TempDir()
	texts, bodies := make([][]byte, 20), make([]*fileBody, 20)
	for round := range 3 {
		for i := range texts {
			texts[i] = bytes.Repeat(fmt.Appendf(nil, "return %d of %d ", i, round), 100+i*4000)
			wg.Go(func() {
				b, err := s.readBody(bytes.NewReader(texts[i]), 100, 1<<30, dir)
				if err != nil {
					t.Error(err)
					return
				}
				bodies[i] = b.(*fileBody)
			})
		}
		wg.Wait()
		for i, b := range bodies {
			if b == nil {
				t.Fatal("a return is missing")
			}
			wg.Go(func() {
				for range 2 {
					r, err := b.Open()
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(r)
					if err != nil || !bytes.Equal(got, texts[i]) || b.Size() != int64(len(got)) {
						t.Errorf("%d: %d bytes of %d, %v", i, len(got), len(texts[i]), err)
					}
				}
				if i%2 == 0 {
					_ = b.Close()
				}
			})
		}
		wg.Wait()
		if round < 2 {
			continue // their space is used again
		}
		for _, b := range bodies {
			_ = b.Close()
			if _, err := b.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
				t.Errorf("a closed return is read: %v", err)
			}
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("files have names: %v, %v", names, err)
	}
}

// TestSpoolGivesBack: the file goes with the last return, and one that is too
// large leaves nothing.
func TestSpoolGivesBack(t *testing.T) {
	t.Parallel()
	var s spool
	if _, err := s.readBody(bytes.NewReader(make([]byte, 1<<20)), 10, 600<<10, t.TempDir()); !TooLarge(err) {
		t.Error(err)
	}
	if s.f != nil || s.used != 0 {
		t.Errorf("%d chunks are used", s.used)
	}
	b, err := s.readBody(bytes.NewReader(make([]byte, 1<<20)), 10, 1<<20, t.TempDir())
	if err != nil || s.f == nil || s.used != 4 {
		t.Fatalf("%v, %d chunks are used", err, s.used)
	}
	_ = b.(io.Closer).Close()
	_ = b.(io.Closer).Close()
	if s.f != nil || s.used != 0 {
		t.Errorf("%d chunks are used", s.used)
	}
}
