package output

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"brine/internal/core/printable"
	"brine/internal/core/tee"
)

// maxStreamed bounds what waits to be printed, in bytes. What is more is dropped: a run does
// not wait for who reads it.
const maxStreamed = 8 << 20

// A streamer prints what programs print while they run, each line behind the name of its
// host.
type streamer struct {
	w io.Writer

	mu    sync.Mutex
	moved *sync.Cond // the queue has changed
	queue []string
	size  int
	lost  map[string]int    // lines that were dropped, by host
	state map[string]string // what the host's last line was of
	busy  bool
	over  bool
	done  chan struct{}
}

// stream shows what programs print, where --out=stream asks for it, until the report.
func (r *Report) stream() {
	if !r.Flags.Output.Stream || r.streamer != nil {
		return
	}
	s := &streamer{w: r.Beside(), lost: map[string]int{}, state: map[string]string{}, done: make(chan struct{})}
	s.moved = sync.NewCond(&s.mu)
	r.streamer = s
	r.Output.Listen(s.take)
	go s.work()
	r.OnEnd(s.close)
}

// take queues a part.
func (s *streamer) take(at tee.Place, p tee.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.format(at.Host, p)
	if text == "" || s.over {
		return
	}
	if s.size+len(text) > maxStreamed {
		s.lost[at.Host] += strings.Count(text, "\n")
		return
	}
	if n := s.lost[at.Host]; n > 0 {
		text = fmt.Sprintf("%s … %d lines are left out: they came faster than they could be written\n", printable.Line(at.Host), n) + text
		delete(s.lost, at.Host)
	}
	s.queue = append(s.queue, text)
	s.size += len(text)
	s.moved.Broadcast()
}

// format is a part as it is printed. The caller has the lock.
func (s *streamer) format(host string, p tee.Part) string {
	var b strings.Builder
	name := printable.Line(host)
	if s.state[host] != p.Of && (p.Text != "" || p.Dropped > 0 || p.Status != 0) {
		s.state[host] = p.Of
		fmt.Fprintf(&b, "%s > %s\n", name, printable.Line(p.Of))
	}
	mark := "|"
	if p.Stderr {
		mark = "!"
	}
	if p.Dropped > 0 {
		fmt.Fprintf(&b, "%s … %d bytes are left out\n", name, p.Dropped)
	}
	for line := range strings.Lines(p.Text) {
		line = strings.TrimRight(line, "\r\n")
		line = line[strings.LastIndexByte(line, '\r')+1:] // what a terminal would show in the end
		fmt.Fprintf(&b, "%s %s %s\n", name, mark, printable.Line(line))
	}
	if p.Ended && p.Status != 0 {
		fmt.Fprintf(&b, "%s = %s\n", name, EndOf(p.Status))
	}
	return b.String()
}

// EndOf is how a program ended, in words.
func EndOf(status int64) string {
	if status < 0 {
		return fmt.Sprintf("ended by signal %d", -status)
	}
	return fmt.Sprintf("exit status %d", status)
}

// work writes what is queued.
func (s *streamer) work() {
	defer close(s.done)
	for {
		s.mu.Lock()
		s.busy = false
		s.moved.Broadcast()
		for len(s.queue) == 0 && !s.over {
			s.moved.Wait()
		}
		lines := s.queue
		s.queue, s.size, s.busy = nil, 0, len(lines) > 0
		s.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, text := range lines {
			_, _ = io.WriteString(s.w, text) // who went away needs no lines; the report says so
		}
	}
}

// flush waits until what was printed so far is written, before a part of the report.
func (s *streamer) flush() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 || s.busy {
		s.moved.Wait()
	}
}

// close writes what is left.
func (s *streamer) close() {
	s.mu.Lock()
	for host, n := range s.lost {
		s.queue = append(s.queue, fmt.Sprintf("%s … %d lines are left out: they came faster than they could be written\n", printable.Line(host), n))
	}
	s.over = true
	s.moved.Broadcast()
	s.mu.Unlock()
	<-s.done
}
