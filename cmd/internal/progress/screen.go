package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// When a view is drawn first, and how often at most. What is the same as before
// is not written again.
const (
	firstDraw = 400 * time.Millisecond
	drawTick  = 100 * time.Millisecond
)

// A Screen is a terminal with a view at the bottom that is redrawn all the time.
// What is written through its writers takes the place of the view, which comes
// again below it.
type Screen struct {
	w     io.Writer
	size  func() (width, height int)
	frame func(width, height int) (lines []string, columns []int)
	stop  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	drawn   []string // lines that stand there; the cursor is at the end of the last
	columns []int    // of drawn
	held    bool     // an unfinished line of others stands there
	begun   bool     // the view is drawn, now or in a moment
	shown   bool     // it was drawn
	notes   string   // lines that are to be printed above the view
	closed  bool
}

// newScreen returns the screen of a terminal, which shows what frame returns.
func newScreen(f *os.File, frame func(width, height int) ([]string, []int)) *Screen {
	return &Screen{w: f, size: func() (int, int) { return sizeOf(f) }, frame: frame, stop: make(chan struct{}), ended: make(chan struct{})}
}

// sizeOf returns the size of a terminal, 80 by 24 where that is not known.
func sizeOf(f *os.File) (width, height int) {
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// show shows the view from in a moment on: short work has none.
func (s *Screen) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun || s.closed {
		return
	}
	s.begun = true
	go func() {
		defer close(s.ended)
		select {
		case <-s.stop:
			return
		case <-time.After(firstDraw):
		}
		t := time.NewTicker(drawTick)
		defer t.Stop()
		for {
			s.draw()
			select {
			case <-s.stop:
				return
			case <-t.C:
			}
		}
	}()
}

// draw shows the view as it is now.
func (s *Screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.held {
		return
	}
	s.shown = true
	s.print()
	width, height := s.size()
	lines, columns := s.frame(max(0, width-1), height) // the last column is the cursor's
	if len(lines) == 0 {
		s.erase()
		return
	}
	var b strings.Builder
	s.up(&b, width)
	same := len(s.drawn) == len(lines)
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\n")
		}
		if i < len(s.drawn) && s.drawn[i] == l && i < len(lines)-1 {
			continue
		}
		same = same && s.drawn[i] == l
		b.WriteString("\r" + l + "\x1b[K")
	}
	if same {
		return
	}
	if len(lines) < len(s.drawn) || s.wrapped(width) {
		b.WriteString("\x1b[J")
	}
	s.drawn, s.columns = lines, columns
	_, _ = io.WriteString(s.w, b.String())
}

// print prints the lines that are to be above the view.
func (s *Screen) print() {
	if s.notes != "" {
		s.erase()
		_, _ = io.WriteString(s.w, s.notes)
		s.notes = ""
	}
}

// wrapped reports whether the terminal has become so narrow that it shows a
// line of the view as several.
func (s *Screen) wrapped(width int) bool { return s.rows(width) > len(s.drawn) }

// rows is how many lines the view takes on a terminal of a width. A terminal
// that becomes narrower wraps the lines that stand there.
func (s *Screen) rows(width int) int {
	n := 0
	for _, c := range s.columns {
		n += 1 + max(0, c-1)/max(1, width)
	}
	return n
}

// up moves the cursor to where the view begins.
func (s *Screen) up(b *strings.Builder, width int) {
	b.WriteString("\r")
	if n := s.rows(width) - 1; n > 0 {
		fmt.Fprintf(b, "\x1b[%dA", n)
	}
	if s.wrapped(width) { // nothing of it stands where it is thought to be
		b.WriteString("\x1b[J")
		s.drawn, s.columns = nil, nil
	}
}

// erase takes the view away.
func (s *Screen) erase() {
	if len(s.drawn) == 0 {
		return
	}
	var b strings.Builder
	width, _ := s.size()
	s.up(&b, width)
	b.WriteString("\x1b[J")
	s.drawn, s.columns = nil, nil
	_, _ = io.WriteString(s.w, b.String())
}

// close takes the view away for good.
func (s *Screen) close() {
	s.mu.Lock()
	begun := s.begun
	if !s.closed {
		s.closed = true
		close(s.stop)
		if !s.held {
			s.erase()
			if s.shown {
				s.print()
			}
		}
	}
	s.mu.Unlock()
	if begun {
		<-s.ended
	}
}

// above prints a line above the view, as soon as that is drawn. Where the work is
// too short for a view it is not printed.
func (s *Screen) above(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes += text + "\n"
}

// Writer returns a writer to w, which is the terminal, or may be.
func (s *Screen) Writer(w io.Writer) io.Writer { return &screenWriter{s, w} }

type screenWriter struct {
	s *Screen
	w io.Writer
}

// Write writes where the view is. What does not end a line (a prompt) keeps the
// view away until its end is written.
func (w *screenWriter) Write(b []byte) (int, error) {
	s := w.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(b) == 0 || s.closed {
		return w.w.Write(b)
	}
	s.erase()
	n, err := w.w.Write(b)
	s.held = !bytes.HasSuffix(b, []byte("\n"))
	return n, err
}
