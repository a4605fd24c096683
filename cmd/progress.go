package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/briandowns/spinner"
	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"brine/internal/fleet"
	"brine/internal/fun"
)

// progressFlags say whether a progress line is shown.
type progressFlags struct{ on, off bool }

func (f *progressFlags) register(fs *pflag.FlagSet, short string) {
	fs.BoolVarP(&f.on, "progress", short, false, "tell on stderr how far the targets are, also where it is no terminal")
	fs.BoolVar(&f.off, "no-progress", false, "show no progress line")
}

// When a progress line shows and how often it is drawn anew.
const (
	progressDelay = 400 * time.Millisecond
	progressTick  = 150 * time.Millisecond
	progressLines = 10 * time.Second // between lines where stderr is no terminal
)

// startProgress shows, from now until the func that it returns is called, how
// the jobs of the targets go: as one line at the bottom of the terminal that
// stderr is, or, where --progress asks for it and stderr is no terminal, as a
// line every ten seconds. It returns a nil watcher where nothing is shown.
func (a *App) startProgress(f progressFlags) (fleet.Watcher, func()) {
	nothing := func() {}
	if f.off {
		return nil, nothing
	}
	p := &progress{now: time.Now, jobs: map[string]*watchedJob{}}
	file, ok := a.Err.(*os.File)
	name := a.Getenv("TERM")
	terminal := ok && isatty.IsTerminal(file.Fd()) && name != "" && name != "dumb"
	if !terminal {
		if !f.on {
			return nil, nothing
		}
		return p, p.tell(a.Err)
	}
	s := newScreen(file, func() string { return p.line(columns(file)) })
	a.screen.Store(s)
	out, errs := a.Out, a.Err
	a.Out, a.Err = s.writer(out), s.writer(errs)
	p.begun = s.show
	return p, func() {
		s.close()
		a.Out, a.Err = out, errs
	}
}

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

// A screen is a terminal with a line at the bottom that is drawn anew all the
// time. What is written through its writers takes the place of that line, which
// comes again below it.
type screen struct {
	spin *spinner.Spinner
	once sync.Once
	when *time.Timer

	mu     sync.Mutex
	due    bool // the line is to be shown
	held   bool // an unfinished line of others stands there
	closed bool
}

func newScreen(f *os.File, line func() string) *screen {
	s := &screen{spin: spinner.New([]string{""}, progressTick, spinner.WithWriterFile(f))}
	s.spin.HideCursor = false
	s.spin.PreUpdate = func(sp *spinner.Spinner) { sp.Suffix = line() }
	return s
}

// show shows the line in a moment: short work has none.
func (s *screen) show() {
	s.once.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.when = time.AfterFunc(progressDelay, func() {
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
func (s *screen) close() {
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
func (s *screen) hold() {
	s.spin.Lock()
	s.held = true
	if s.spin.Active() {
		fmt.Fprint(s.spin.Writer, "\r\x1b[K")
	}
}

func (s *screen) release() {
	s.held = false
	s.spin.Unlock()
	if s.due {
		s.spin.Start()
	}
}

// writer returns a writer to w, which is the terminal, or may be.
func (s *screen) writer(w io.Writer) io.Writer { return &screenWriter{s, w} }

type screenWriter struct {
	s *screen
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

// A progress knows how the jobs of a run go. It is the fleet's Watcher.
type progress struct {
	now   func() time.Time
	begun func() // called when the first job begins; may be nil

	mu    sync.Mutex
	jobs  map[string]*watchedJob
	order []string // jids of the jobs under way
	last  string   // the last line of tell
}

// A watchedJob is a job under way.
type watchedJob struct {
	name         string
	total        int
	done, failed int
	at           map[string]phaseAt // targets that are being worked on
}

type phaseAt struct {
	phase fleet.Phase
	since time.Time // when work on the target began
}

// Begin takes in a job.
func (p *progress) Begin(job fun.Job, targets []string) {
	name := job.Step
	switch {
	case name != "":
	case job.Shell != "":
		name = "raw command"
	default:
		name = job.Fun
	}
	p.mu.Lock()
	p.jobs[job.JID] = &watchedJob{name: name, total: len(targets), at: map[string]phaseAt{}}
	p.order = append(p.order, job.JID)
	p.mu.Unlock()
	if p.begun != nil {
		p.begun()
	}
}

// At takes in where a target is.
func (p *progress) At(jid, id string, ph fleet.Phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[jid]
	if j == nil {
		return
	}
	at, known := j.at[id]
	if !known {
		at.since = p.now()
	}
	at.phase = ph
	j.at[id] = at
}

// Done takes in a target's return.
func (p *progress) Done(ret fun.Return) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[ret.JID]
	if j == nil {
		return
	}
	delete(j.at, ret.ID)
	j.done++
	if failedReturn(ret) {
		j.failed++
	}
}

// End takes in that a job is over.
func (p *progress) End(jid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, jid)
	p.order = slices.DeleteFunc(p.order, func(s string) bool { return s == jid })
}

// line is the progress line, of at most width columns: what is being done, how
// many targets are done and have failed, how many are in each phase, and which
// one takes longest. What there is no room for is left out from the end. It is
// "" where nothing is under way.
func (p *progress) line(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return ""
	}
	var (
		names               []string
		total, done, failed int
		in                  [fleet.Running + 1]int
		slowest             string
		since               time.Time
	)
	for _, jid := range p.order {
		j := p.jobs[jid]
		names = append(names, j.name)
		total, done, failed = total+j.total, done+j.done, failed+j.failed
		for id, at := range j.at {
			in[at.phase]++
			if slowest == "" || at.since.Before(since) || at.since.Equal(since) && id < slowest {
				slowest, since = id, at.since
			}
		}
	}
	count := fmt.Sprintf("%d/%d done", done, total)
	parts := []string{count}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	for ph := fleet.Connecting; ph <= fleet.Running; ph++ {
		if in[ph] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", in[ph], ph))
		}
	}
	if slowest != "" {
		parts = append(parts, fmt.Sprintf("slowest %s %s", slowest, p.now().Sub(since).Truncate(time.Second)))
	}
	name := names[0]
	if len(names) > 1 {
		name = fmt.Sprintf("%d steps", len(names))
	}
	return fit(name, parts, width)
}

// fit joins as many parts as there is room for, behind the name where that
// leaves room for the first of them.
func fit(name string, parts []string, width int) string {
	name = plainText(name)
	for n := len(parts); n > 0; n-- {
		text := plainText(strings.Join(parts[:n], ", "))
		if s := name + ": " + text; columnsOf(s) <= width {
			return s
		}
		if n == 1 && columnsOf(text) <= width {
			return text
		}
	}
	return ""
}

// plainText is text without what would move the cursor.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}

// columnsOf is how many columns text takes at most.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x80 {
			n++ // it may be a wide one
		}
	}
	return n
}

// tell writes the line to w every now and then, until the func that it returns
// is called.
func (p *progress) tell(w io.Writer) func() {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(progressLines)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
			}
			if line := p.line(1 << 16); line != "" && line != p.last {
				p.last = line
				fmt.Fprintln(w, "brine: "+line)
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
