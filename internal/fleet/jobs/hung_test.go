package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A store that hung is not waited for by each look-up; one that was not there is
// asked each time.
func TestHungStoresAreRemembered(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "spool", ".hung-x")
	if err := Hung(mark); err != nil {
		t.Errorf("without a note: %v", err)
	}
	NoteHung(mark, errors.New("connection refused"))
	if err := Hung(mark); err != nil {
		t.Errorf("one that refused: %v", err)
	}
	NoteHung(mark, fmt.Errorf("dial: %w", context.DeadlineExceeded))
	if err := Hung(mark); err == nil {
		t.Error("one that hung is asked again at once")
	}
	old := time.Now().Add(-hangBackoff - time.Second)
	if err := os.Chtimes(mark, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Hung(mark); err != nil {
		t.Errorf("it hung long ago: %v", err)
	}
}
