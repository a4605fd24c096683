package lsp_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"brine/internal/core/host"
	. "brine/internal/testkit/lspclient"
	"brine/internal/view/lsp"
)

// A slowDisk keeps one look at a file waiting, when it is told to.
type slowDisk struct {
	host.Files
	path string

	mu      sync.Mutex
	armed   bool
	reached chan struct{}
	release chan struct{}
}

func (d *slowDisk) arm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = true
}

func (d *slowDisk) Stat(path string) (host.Stat, error) {
	d.mu.Lock()
	wait := d.armed && path == d.path
	if wait {
		d.armed = false
	}
	d.mu.Unlock()
	if wait {
		close(d.reached)
		<-d.release
	}
	return d.Files.Stat(path)
}

// A logSink calls a function with each message.
type logSink func(msg string)

func (logSink) Enabled(context.Context, slog.Level) bool { return true }

func (f logSink) Handle(_ context.Context, r slog.Record) error {
	f(r.Message)
	return nil
}
func (f logSink) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f logSink) WithGroup(string) slog.Handler      { return f }

// TestOpenedWhileClosing: a document that is opened while its tree goes keeps the
// diagnostics of the tree that checks it then.
func TestOpenedWhileClosing(t *testing.T) {
	t.Parallel()
	disk := &slowDisk{reached: make(chan struct{}), release: make(chan struct{})}
	var mu sync.Mutex
	closed := false
	trees := make(chan struct{}, 8)
	s := start(t, site(), func(o *lsp.Options) {
		o.Linger, o.Idle = 20*time.Millisecond, 300*time.Millisecond
		disk.Files = o.Disk
		o.Disk = disk
		o.Log = slog.New(logSink(func(msg string) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case msg == "tree opened":
				trees <- struct{}{}
			case msg == "checked everything" && closed: // next is what takes the diagnostics back
				disk.arm()
			}
		}))
	})
	defer s.end()
	disk.path = filepath.Join(s.dir, "salt/web.sls")
	web := s.uri("salt/web.sls")
	s.write("salt/web.sls", "a:\n  test.nopp: []\n")
	s.Tell("textDocument/didOpen", Open(web, "a:\n  test.nopp: []\n"))
	<-trees
	s.Wait(web, "unknown-state")
	mu.Lock()
	closed = true
	mu.Unlock()
	s.Tell("textDocument/didClose", M{"textDocument": M{"uri": web}})
	select {
	case <-disk.reached:
	case <-time.After(Timeout):
		t.Fatal("the tree does not close")
	}
	s.Tell("textDocument/didOpen", Open(web, "include:\n  - nope\n"))
	s.Ask("textDocument/documentSymbol", M{"textDocument": M{"uri": web}}, nil)
	select {
	case <-trees: // another tree has the document already
		s.Wait(web, "missing-include")
	default:
	}
	close(disk.release)
	s.Wait(web, "missing-include")
	time.Sleep(50 * time.Millisecond) // for what must not come
	s.Wait(web, "missing-include")
}

// TestTreeWithinGoesFirst: the outer tree shows its files again also where it did not look
// while the inner one was open.
func TestTreeWithinGoesFirst(t *testing.T) {
	t.Parallel()
	files := site()
	files["salt/web.sls"] = "a:\n  test.nopp: []\n"
	files["minion"], files["salt/f/minion"] = "", ""
	files["salt/f/salt/app.sls"] = "b:\n  test.nopp: []\n"
	disk := &slowDisk{reached: make(chan struct{}), release: make(chan struct{})}
	closed := make(chan struct{}, 8)
	s := start(t, files, func(o *lsp.Options) {
		o.Linger = 20 * time.Millisecond
		disk.Files = o.Disk
		o.Disk = disk
		o.Log = slog.New(logSink(func(msg string) {
			if msg == "tree closed" {
				closed <- struct{}{}
			}
		}))
	})
	defer s.end()
	disk.path = filepath.Join(s.dir, "salt/web.sls")
	web, app := s.uri("salt/web.sls"), s.uri("salt/f/salt/app.sls")
	s.Tell("textDocument/didOpen", Open(web, files["salt/web.sls"]))
	s.Wait(app, "unknown-state")
	s.Tell("textDocument/didOpen", Open(app, "b:\n  test.nop: []\n"))
	s.Wait(app)
	disk.arm()
	s.Tell("textDocument/didClose", M{"textDocument": M{"uri": app}})
	for _, event := range []chan struct{}{disk.reached, closed} {
		select {
		case <-event:
		case <-time.After(Timeout):
			t.Fatal("the inner tree does not close")
		}
	}
	close(disk.release)
	s.Wait(app, "unknown-state")
}

// TestTreeWithin: a tree within another one takes over what the outer one shows of
// its files, and gives it back when it closes.
func TestTreeWithin(t *testing.T) {
	t.Parallel()
	files := site()
	files["salt/web.sls"] = "a:\n  test.nopp: []\n"
	files["minion"], files["salt/f/minion"] = "", ""
	files["salt/f/salt/app.sls"] = "b:\n  test.nopp: []\n"
	gone := make(chan struct{}, 8)
	s := start(t, files, func(o *lsp.Options) {
		o.Linger = 20 * time.Millisecond
		o.Log = slog.New(logSink(func(msg string) {
			if msg == "tree closed" {
				gone <- struct{}{}
			}
		}))
	})
	defer s.end()
	web, app := s.uri("salt/web.sls"), s.uri("salt/f/salt/app.sls")
	s.Tell("textDocument/didOpen", Open(web, files["salt/web.sls"]))
	s.Wait(app, "unknown-state")
	for range 2 {
		s.Tell("textDocument/didOpen", Open(app, "b:\n  test.nop: []\n"))
		s.Wait(app)
		s.Tell("textDocument/didClose", M{"textDocument": M{"uri": app}})
		<-gone
		s.Wait(app, "unknown-state")
	}
}
