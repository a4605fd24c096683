package sshexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/roster"
	"brine/internal/testkit/sshtest"
)

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// parts lists what pushes that were interrupted left.
func parts(t *testing.T, e *roster.Entry) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(e.ThinDir, "agent", ".part-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// partName is the name of what a push of way leaves.
func partName(t *testing.T, p *placer, e *roster.Entry, way, pid string) string {
	t.Helper()
	_, _, sum, err := p.images.stream(own(t, p), way)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(e.ThinDir, "agent", ".part-"+own(t, p).hash+"-"+sum+"."+pid)
}

// deadPID is the id of a process that has ended.
func deadPID(t *testing.T) string {
	t.Helper()
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Skip(err)
	}
	return fmt.Sprint(c.ProcessState.Pid())
}

// whole fails the test unless the agent is there whole, and nothing else.
func whole(t *testing.T, p *placer, e *roster.Entry) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(e.ThinDir, "agent", "brine-"+own(t, p).hash))
	want, _ := os.ReadFile(own(t, p).path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the agent is not there whole: %v", err)
	}
	if got := append(tempFiles(t, e.ThinDir), parts(t, e)...); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestPushResumes: a push goes on at the byte where one before was cut off, in
// whichever way it sends.
func TestPushResumes(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"cat", "gzip", "zstd"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			sshtest.Require(t, way)
			b := newBox(t)
			p, e := b.placer(t, 1<<20)
			log := &buffer{}
			p.opts.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			b.Start()
			c, err := dial(t, options(t, known(t, line(b.Fake))), e)
			if err != nil {
				t.Fatal(err)
			}
			img := own(t, p)
			body, size, sum, err := p.images.stream(img, way)
			if err != nil {
				t.Fatal(err)
			}
			defer body.Close()
			s, err := c.start(t.Context(), launchOf(e, pushScript(e, img, parcel{by: way, size: size, sum: sum}, "mark", "from-here", 0, false)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.await(t.Context(), "from-here"); err != nil || number(s.complaint(), "from-here") != 0 {
				t.Fatal(err, s.complaint())
			}
			half := size / 2
			if _, err := io.CopyN(s.stdin, body, half); err != nil {
				t.Fatal(err)
			}
			until(t, "half of it is there", func() bool {
				for _, n := range parts(t, e) {
					if st, err := os.Stat(n); err == nil && st.Size() == half {
						return st.Mode().Perm() == 0o600
					}
				}
				return false
			})
			b.Kill()
			until(t, "the new file is removed", func() bool { return len(tempFiles(t, e.ThinDir)) == 0 })
			if _, err := os.Stat(filepath.Join(e.ThinDir, "agent", "brine-"+img.hash)); err == nil {
				t.Fatal("half an agent is there")
			}
			if err := b.place(t, p, e, way); err != nil {
				t.Fatal(err)
			}
			whole(t, p, e)
			if want := fmt.Sprintf("bytes=%d from=%d of=%d", size-half, half, size); !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %q:\n%s", want, log)
			}
		})
	}
}

// TestPushHostilePart: what others may have written or linked is not gone on
// with, and what does not lead to the agent is sent again from the start.
func TestPushHostilePart(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(part, other string, text []byte) error{
		"a link":       func(part, other string, _ []byte) error { return os.Symlink(other, part) },
		"another name": func(part, other string, _ []byte) error { return os.Link(other, part) },
		"open to others": func(part, _ string, text []byte) error {
			return errors.Join(os.WriteFile(part, text[:5000], 0o600), os.Chmod(part, 0o644))
		},
		"a directory":        func(part, _ string, _ []byte) error { return os.Mkdir(part, 0o700) },
		"longer":             func(part, _ string, text []byte) error { return os.WriteFile(part, append(text, text...), 0o600) },
		"other bytes":        func(part, _ string, text []byte) error { return os.WriteFile(part, make([]byte, 5000), 0o600) },
		"other bytes, whole": func(part, _ string, text []byte) error { return os.WriteFile(part, make([]byte, len(text)), 0o600) },
	} {
		for _, way := range []string{"cat", "gzip"} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				b := newBox(t)
				p, e := b.placer(t, 1<<16)
				if err := os.MkdirAll(filepath.Join(e.ThinDir, "agent"), 0o700); err != nil {
					t.Fatal(err)
				}
				body, _, _, err := p.images.stream(own(t, p), way)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(body)
				_ = body.Close()
				if len(text) < 5000 {
					text = append(text, make([]byte, 5000)...)
				}
				other := filepath.Join(b.home, "other")
				if err := os.WriteFile(other, text[:100], 0o600); err != nil {
					t.Fatal(err)
				}
				if err := plant(partName(t, p, e, way, deadPID(t)), other, text); err != nil {
					t.Fatal(err)
				}
				if err := b.place(t, p, e, way); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(other); err != nil || !bytes.Equal(got, text[:100]) {
					t.Errorf("another file was changed: %v", err)
				}
				if name == "a directory" {
					return // it is nothing that brine made
				}
				whole(t, p, e)
			})
		}
	}
}

// TestPushBesideAnother: what a push that is still under way has written is
// copied, and it is not disturbed.
func TestPushBesideAnother(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p, e := b.placer(t, 1<<16)
	if err := os.MkdirAll(filepath.Join(e.ThinDir, "agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(p.images.Exe)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(partName(t, p, e, "cat", fmt.Sprint(os.Getpid())), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text[:1000]); err != nil {
		t.Fatal(err)
	}
	if err := b.place(t, p, e, "cat"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("of the first")); err != nil {
		t.Fatal(err)
	}
	whole(t, p, e)
}

// TestPushStalls: a push of which no byte arrives any longer ends, and says how
// much did.
func TestPushStalls(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "cat"), []byte("#!/bin/sh\nPATH="+os.Getenv("PATH")+"\nwhile [ -e "+bin+" ]; do sleep 0.1; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 8<<20) // more than a channel takes unread
	p.stall = 300 * time.Millisecond
	err := b.place(t, p, e, "cat")
	wantStage(t, err, Push, "no byte arrived for", "of 8.4 MB", "the next run goes on")
	cut, ok := errors.AsType[*interruptedError](err)
	if !ok || cut.size <= 8<<20 || cut.got >= cut.size {
		t.Errorf("%+v", cut)
	}
}

// TestPushLosesConnection: a push whose connection ends says that it was
// interrupted.
func TestPushLosesConnection(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bin := t.TempDir()
	begun := filepath.Join(bin, "begun")
	if err := os.WriteFile(filepath.Join(bin, "cat"), []byte("#!/bin/sh\nPATH="+os.Getenv("PATH")+"\n: >"+begun+"\nexec cat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	p, e := b.placer(t, 64<<20)
	go func() {
		for range 3000 {
			if _, err := os.Stat(begun); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		b.Kill()
	}()
	err := b.place(t, p, e, "cat")
	wantStage(t, err, Push, "interrupted")
	if _, ok := errors.AsType[*interruptedError](err); !ok {
		t.Errorf("%T", err)
	}
}

// at is a clock of a test.
type at struct{ t time.Time }

func (a *at) now() time.Time { return a.t }

// run plays pushes of 5 MB to n hosts for a minute, and returns how many there
// were at once at most and at the end, and how many hosts are done. rate is what
// one of k pushes moves in a second.
func (a *at) run(tt *testing.T, t *turns, n int, rate func(k int) int64) (most, last, done int) {
	tt.Helper()
	type push struct {
		turn *turn
		left int64
	}
	var (
		active []*push
		came   = make(chan *turn)
	)
	ctx, cancel := context.WithCancel(tt.Context())
	defer cancel()
	for range n {
		go func() {
			x, err := t.take(ctx, nil)
			if err != nil {
				return
			}
			select {
			case came <- x:
			case <-ctx.Done():
			}
		}()
	}
	until(tt, "all wait for their turn", func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.active+len(t.queue) == n
	})
	for range 600 {
		// All that were let in begin now.
		for {
			t.mu.Lock()
			due := t.active - len(active)
			t.mu.Unlock()
			if due <= 0 && (len(active) > 0 || done == n) {
				break
			}
			active = append(active, &push{<-came, 5_000_000})
		}
		if done == n {
			return most, last, done
		}
		most, last = max(most, len(active)), len(active)
		a.t = a.t.Add(100 * time.Millisecond)
		each := rate(len(active)) / 10
		var still []*push
		for _, x := range active {
			x.turn.moved(each)
			if x.left -= each; x.left > 0 {
				still = append(still, x)
				continue
			}
			done++
			x.turn.leave()
		}
		active = still
	}
	return most, last, done
}

func TestTurns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		limit     int
		rate      func(k int) int64
		most      int // at once, at most
		atLeast   int // at once, once it is measured
		doneOfAll int // of 60, in a minute, at least
	}{
		{"a shared way", 0, func(k int) int64 { return 600_000 / int64(k) }, 4, 1, 5},
		{"a shared way that each fills by half", 0, func(k int) int64 { return min(300_000, 600_000/int64(k)) }, 4, 2, 4},
		{"ways of their own", 0, func(int) int64 { return 100_000 }, 8, 8, 3},
		{"ways of their own, and a limit", 3, func(int) int64 { return 100_000 }, 3, 3, 1},
		{"ways of their own, and a high limit", 40, func(int) int64 { return 100_000 }, 40, 20, 3},
		{"a limit of one", 1, func(int) int64 { return 600_000 }, 1, 1, 5},
		{"a fast network", 0, func(k int) int64 { return 100_000_000 / int64(k) }, 8, 1, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock := &at{time.Unix(0, 0)}
			turns := newTurns(tt.limit)
			turns.now = clock.now
			most, last, done := clock.run(t, turns, 60, tt.rate)
			if most > tt.most || last < tt.atLeast || done < tt.doneOfAll {
				t.Errorf("%d at once at most and %d at the end, %d done; want at most %d, at least %d, %d", most, last, done, tt.most, tt.atLeast, tt.doneOfAll)
			}
		})
	}
}

// TestTurnsLetGo: who waits for a turn is let go when its run or its connection
// ends, and the turn goes to the next.
func TestTurnsLetGo(t *testing.T) {
	t.Parallel()
	turns := newTurns(1)
	first, err := turns.take(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.take(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ended := make(chan struct{})
	close(ended)
	if _, err := turns.take(t.Context(), ended); !errors.Is(err, errEnded) {
		t.Error(err)
	}
	next := make(chan error, 1)
	go func() {
		x, err := turns.take(t.Context(), nil)
		if err == nil {
			x.leave()
		}
		next <- err
	}()
	first.leave()
	if err := <-next; err != nil {
		t.Error(err)
	}
	if turns.active != 0 || len(turns.queue) != 0 {
		t.Errorf("%d active, %d wait", turns.active, len(turns.queue))
	}
}
