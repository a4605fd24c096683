package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/briandowns/spinner"
	"golang.org/x/term"
)

// columns is how wide a line may be: that of the terminal, less one for the
// cursor.
func columns(f *os.File) int {
	width := 80
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		width = w
	}
	// The library counts lines by the width of stdin.
	if w, _, err := term.GetSize(0); err == nil && w > 0 {
		width = min(width, w)
	}
	return width - 1
}

// A Screen is a terminal with a line at the bottom that is redrawn all the time.
// What is written through its writers takes the place of that line, which comes
// again below it.
type Screen struct {
	spin *spinner.Spinner
	once sync.Once
	when *time.Timer

	mu     sync.Mutex
	due    bool // the line is to be shown
	held   bool // an unfinished line of others stands there
	closed bool
}

func newScreen(f *os.File, line func() string) *Screen {
	s := &Screen{spin: spinner.New([]string{""}, lineTick, spinner.WithWriterFile(f))}
	s.spin.HideCursor = false
	s.spin.PreUpdate = func(sp *spinner.Spinner) { sp.Suffix = line() }
	return s
}

// show shows the line in a moment: short work has none.
func (s *Screen) show() {
	s.once.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.when = time.AfterFunc(lineDelay, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.due = true
			if !s.closed && !s.held {
				s.spin.Start()
			}
		})
	})
}

// close takes the line away for good.
func (s *Screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.when != nil {
		s.when.Stop()
	}
	if !s.held { // where it is, what stands there stays, and the line stays away
		s.spin.Stop()
	}
}

// hold keeps the line from being drawn, and takes it away.
func (s *Screen) hold() {
	s.spin.Lock()
	s.held = true
	if s.spin.Active() {
		fmt.Fprint(s.spin.Writer, "\r\x1b[K")
	}
}

func (s *Screen) release() {
	s.held = false
	s.spin.Unlock()
	if s.due {
		s.spin.Start()
	}
}

// Writer returns a writer to w, which is the terminal, or may be.
func (s *Screen) Writer(w io.Writer) io.Writer { return &screenWriter{s, w} }

type screenWriter struct {
	s *Screen
	w io.Writer
}

// Write writes where the progress line is. What does not end a line (a prompt)
// keeps the line away until its end is written.
func (w *screenWriter) Write(b []byte) (int, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b) == 0 || s.closed {
		return w.w.Write(b)
	}
	if !s.held {
		s.hold()
	}
	n, err := w.w.Write(b)
	if bytes.HasSuffix(b, []byte("\n")) {
		s.release()
	}
	return n, err
}
