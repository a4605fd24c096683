package event

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"brine/internal/py/value"
)

// socketCheck is how often one who watches looks whether its socket is still there.
const socketCheck = 5 * time.Second

// maxWatched bounds an event that is watched, in bytes.
const maxWatched = 64 << 20

// Watch calls each with the events of every run of the user, of those that run
// already and of those that begin later, until each returns false or ctx ends
// (its error is returned). ready, where it is not nil, is called when no event
// will be missed any more. Calls come from one goroutine.
func (p *Peers) Watch(ctx context.Context, ready func(), each func(Event) bool) error {
	l, path, err := p.socket(".watch")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{events: make(chan Event, 1024), runs: map[string]bool{}, conns: map[net.Conn]bool{}}
	defer func() {
		cancel()
		p.forget(l, path)
		w.closeAll()
		w.wg.Wait()
	}()
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.read(ctx, c)
		}
	})
	// A run that begins now finds the socket; one that began before is found
	// here; one that does both is read once.
	for _, s := range p.others(".sock") {
		c, err := dial(s)
		if err != nil {
			continue
		}
		if _, err := c.Write([]byte("{\"watch\":true}\n")); err != nil {
			c.Close()
			continue
		}
		// The run's hello says that it has noted where to begin.
		hello := make(chan struct{})
		w.readFrom(ctx, c, func() { close(hello) })
		select {
		case <-hello:
		case <-time.After(peerTimeout):
		}
	}
	if ready != nil {
		ready()
	}
	tick := time.NewTicker(socketCheck)
	defer tick.Stop()
	for {
		select {
		case e := <-w.events:
			if !each(e) {
				return nil
			}
		case <-tick.C: // runs that begin later find the socket by its name
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("somebody removed the socket %s", path)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A watcher is one Watch.
type watcher struct {
	events chan Event
	wg     sync.WaitGroup

	mu    sync.Mutex
	runs  map[string]bool
	conns map[net.Conn]bool
}

// closeAll ends all connections.
func (w *watcher) closeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// add notes a connection; it reports whether the watch still goes on.
func (w *watcher) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns == nil {
		return false
	}
	w.conns[c] = true
	return true
}

func (w *watcher) read(ctx context.Context, c net.Conn) { w.readFrom(ctx, c, func() {}) }

// readFrom reads a connection in a goroutine: a run's stream, which begins with
// its name, or a process that sends single events. begun is called once, when
// the stream has begun or the connection ends.
func (w *watcher) readFrom(ctx context.Context, c net.Conn, begun func()) {
	if !w.add(c) {
		c.Close()
		begun()
		return
	}
	w.wg.Go(func() {
		var once sync.Once
		defer func() {
			once.Do(begun)
			w.mu.Lock()
			delete(w.conns, c)
			w.mu.Unlock()
			c.Close()
		}()
		sc := bufio.NewScanner(c)
		sc.Buffer(make([]byte, 0, 64<<10), maxWatched)
		streams := false
		for sc.Scan() {
			m := frame(sc.Bytes())
			if m == nil {
				return
			}
			if name := m.Str("run"); name != "" {
				once.Do(begun)
				if !w.first(name) {
					return
				}
				streams = true
				continue
			}
			if !w.deliver(ctx, m) {
				return
			}
			if !streams {
				if _, err := c.Write([]byte("ok\n")); err != nil {
					return
				}
			}
		}
	})
}

// first reports whether a run is not read yet.
func (w *watcher) first(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.runs[name]
	w.runs[name] = true
	return !seen
}

func (w *watcher) deliver(ctx context.Context, m *value.Map) bool {
	data := frameData(m)
	now := time.Now().UTC()
	unstamped := !data.Has("_stamp")
	if unstamped {
		data = stamped(data, now)
	}
	select {
	case w.events <- Event{Tag: m.Str("tag"), Data: data, Stamp: now, Foreign: true, Unstamped: unstamped, cost: costOf(data, 0)}:
		return true
	case <-ctx.Done():
		return false
	}
}
