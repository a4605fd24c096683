// Package progress shows how the jobs of a run go: as one line at the bottom of
// the terminal, or as a line every ten seconds. Start at [Start].
package progress

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"brine/internal/printable"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"brine/internal/fleet"
	"brine/internal/fun"
)

// Flags say whether the progress of jobs is shown.
type Flags struct{ on, off bool }

// Register registers the flags, --progress with a shorthand.
func (f *Flags) Register(fs *pflag.FlagSet, short string) {
	fs.BoolVarP(&f.on, "progress", short, false, "show the progress of the targets on stderr, also if it is not a terminal")
	fs.BoolVar(&f.off, "no-progress", false, "show no progress line")
}

// When a progress line is shown, and how often it is redrawn.
const (
	lineDelay = 400 * time.Millisecond
	lineTick  = 150 * time.Millisecond
	tellEvery = 10 * time.Second // where stderr is no terminal
)

// Start shows, from now until stop is called, how the jobs of the targets go: as
// one line at the bottom of the terminal that stderr is, or, where --progress
// asks for it and stderr is no terminal, as a line every ten seconds. The
// watcher is nil where nothing is shown; the screen is nil where there is no
// terminal, else what is written to the terminal must go through its writers.
// term is the type of the terminal, as in the variable TERM.
func Start(f Flags, stderr io.Writer, term string) (w fleet.Watcher, s *Screen, stop func()) {
	if f.off {
		return nil, nil, func() {}
	}
	p := &line{now: time.Now, jobs: map[string]*watchedJob{}}
	file, ok := stderr.(*os.File)
	if !ok || !isatty.IsTerminal(file.Fd()) || term == "" || term == "dumb" {
		if !f.on {
			return nil, nil, func() {}
		}
		return p, nil, p.tell(stderr)
	}
	s = newScreen(file, func() string { return p.text(columns(file)) })
	p.begun = s.show
	return p, s, s.close
}

// A line knows how the jobs of a run go. It is the fleet's Watcher.
type line struct {
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
	pushes       pushes
}

// pushes are what the targets of a job are sent of the agent.
type pushes struct {
	targets map[string]int64 // bytes of each that have arrived
	arrived int64            // of all
	total   int64            // of the targets that have begun
	moved   int64            // since the first was told of
	since   time.Time
}

// sent takes in how much has arrived at a target. What an earlier run sent is
// there from the start, and says nothing of the speed.
func (p *pushes) sent(id string, done, total int64, now time.Time) {
	if p.targets == nil {
		p.targets, p.since = map[string]int64{}, now
	}
	was, known := p.targets[id]
	p.targets[id] = done
	p.arrived += done - was
	if known {
		p.moved += max(0, done-was)
	} else {
		p.total += total
	}
}

// text is how far the pushes are, and how long they take with those that wait.
func (p *pushes) text(waiting int, now time.Time) string {
	if len(p.targets) == 0 {
		return ""
	}
	total := p.total + int64(waiting)*(p.total/int64(len(p.targets)))
	text := fmt.Sprintf("%.1f of %.1f MB", float64(p.arrived)/1e6, float64(total)/1e6)
	took := now.Sub(p.since)
	if took < time.Second || p.moved == 0 {
		return text
	}
	rate := float64(p.moved) / took.Seconds()
	left := time.Duration(float64(total-p.arrived) / rate * float64(time.Second))
	return fmt.Sprintf("%s, %.1f MB/s, %s left", text, rate/1e6, left.Round(time.Second))
}

type phaseAt struct {
	phase fleet.Phase
	since time.Time // when work on the target began
}

// Begin takes in a job.
func (p *line) Begin(job fun.Job, targets []string) {
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
func (p *line) At(jid, id string, ph fleet.Phase) {
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

// Sent takes in how much of the agent has arrived at a target.
func (p *line) Sent(jid, id string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j := p.jobs[jid]; j != nil {
		j.pushes.sent(id, done, total, p.now())
	}
}

// Done takes in a target's return.
func (p *line) Done(ret fun.Return) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.jobs[ret.JID]
	if j == nil {
		return
	}
	delete(j.at, ret.ID)
	j.done++
	if ret.Failed() {
		j.failed++
	}
}

// End takes in that a job is over.
func (p *line) End(jid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.jobs, jid)
	p.order = slices.DeleteFunc(p.order, func(s string) bool { return s == jid })
}

// text is the progress line, of at most width columns: what is being done, how
// many targets are done and have failed, how many are in each phase, and which
// one takes longest. What there is no room for is left out from the end. It is
// "" where nothing is under way.
func (p *line) text(width int) string {
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
		sent                string
		since               time.Time
	)
	for _, jid := range p.order {
		j := p.jobs[jid]
		names = append(names, j.name)
		total, done, failed = total+j.total, done+j.done, failed+j.failed
		var queued, pushing int
		for id, at := range j.at {
			in[at.phase]++
			if at.phase == fleet.Queued {
				queued++
			}
			if at.phase == fleet.Pushing {
				pushing++
			}
			if slowest == "" || at.since.Before(since) || at.since.Equal(since) && id < slowest {
				slowest, since = id, at.since
			}
		}
		if sent == "" && queued+pushing > 0 {
			sent = j.pushes.text(queued, p.now())
		}
	}
	count := fmt.Sprintf("%d/%d done", done, total)
	parts := []string{count}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	for ph := fleet.Connecting; ph <= fleet.Running; ph++ {
		if in[ph] > 0 {
			part := fmt.Sprintf("%d %s", in[ph], ph)
			if ph == fleet.Pushing && sent != "" {
				part += " (" + sent + ")"
			}
			parts = append(parts, part)
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
func (p *line) tell(w io.Writer) func() {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(tellEvery)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
			}
			if text := p.text(1 << 16); text != "" && text != p.last {
				p.last = text
				fmt.Fprintln(w, "brine: "+printable.Line(text))
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
