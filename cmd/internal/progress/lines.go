package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// tellEvery is how often a line says how the run goes.
const tellEvery = 10 * time.Second

// maxMuted is how many lines are kept for the time when they are shown.
const maxMuted = 100

// lines shows a run as lines: each step that ends, each host that fails, and
// every ten seconds what is still running.
type lines struct {
	w io.Writer
	m *model

	mu   sync.Mutex
	mute bool     // lines are kept
	kept []string // while mute
	last string   // the last line that said how the run goes
}

// event writes the line of an event.
func (l *lines) event(e event) {
	if text := lineOf(e); text != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.print(text)
	}
}

// lineOf is the line that tells of an event; "" tells nothing.
func lineOf(e event) string {
	switch {
	case e.Event == "wave_start":
		return fmt.Sprintf("%s: wave %d of %d, %s", e.job, *e.Wave, *e.Waves, plural(*e.Hosts, "host"))
	case e.left && !e.first:
	case e.left:
		return fmt.Sprintf("%s: hosts are left out: %s", e.job, e.Comment)
	case e.Event == "host_end" && e.Result == failed:
		return fmt.Sprintf("%s: %s failed: %s", e.job, e.Host, e.Comment)
	case e.Event == "step_end" && e.Result == failed:
		return fmt.Sprintf("%s: failed after %s: %s", e.ID, tookOf(e), e.Comment)
	case e.Event == "step_end" && e.Result == notRun:
		if e.Unit != "step" {
			return "" // the state that failed says it
		}
		return e.ID + ": not run: " + e.Comment
	case e.Event == "step_end" && e.Unit == "step":
		text := e.ID + ": " + map[string]string{ok: "done", changed: "done", would: "would change"}[e.Result]
		if *e.Hosts > 0 {
			text += ", " + plural(*e.Hosts, "host")
		}
		return fmt.Sprintf("%s, %s (%d of %s)", text, tookOf(e), *e.Done, plural(*e.Total, "step"))
	}
	return ""
}

func tookOf(e event) string { return took(time.Duration(*e.Seconds * float64(time.Second))) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (l *lines) print(text string) {
	if l.mute {
		if len(l.kept) < maxMuted {
			l.kept = append(l.kept, text)
		}
		return
	}
	fmt.Fprintln(l.w, "brine: "+text)
}

// start writes how the run goes every now and then, until the func that it
// returns is called. late has all lines wait for lateLines.
func (l *lines) start(late bool) func() {
	stop, ended := make(chan struct{}), make(chan struct{})
	var due <-chan time.Time
	if late {
		due = time.After(lateLines)
	}
	go func() {
		defer close(ended)
		t := time.NewTicker(tellEvery)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-due:
				l.unmute()
			case <-t.C:
				l.status()
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}

// unmute shows the lines that were kept.
func (l *lines) unmute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = false
	for _, text := range l.kept {
		l.print(text)
	}
	l.kept = nil
}

func (l *lines) status() {
	text := l.m.status()
	l.mu.Lock()
	defer l.mu.Unlock()
	if text != "" && text != l.last && !l.mute {
		l.last = text
		l.print(text)
	}
}
