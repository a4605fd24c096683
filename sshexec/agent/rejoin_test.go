package agent

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/sshexec/wire"
)

// TestResumeWaits: a controller that comes back before the agent has opened its door
// waits for that; one whose agent has none is told.
func TestResumeWaits(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "brine-door-") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	const token = "0123abcd"
	opened := time.AfterFunc(socketDelay, func() {
		path, done, err := socketPath(dir, token)
		if err != nil {
			t.Error(err)
			return
		}
		defer done()
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		defer ln.Close()
		c, err := ln.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = c.Write([]byte("welcome"))
		_ = c.Close()
	})
	defer opened.Stop()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	defer in.Close()
	var out bytes.Buffer
	if err := Resume(in, &out, dir, token); err != nil || out.String() != "welcome" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := Resume(strings.NewReader(""), &out, dir, "00"); err == nil || out.Len() == 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestDoorOpensAtOnce: a controller that comes back while the agent opens its door finds
// none, for which it waits, or an open one; never one that turns it away, which says
// that the agent has ended.
func TestDoorOpensAtOnce(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "brine-door-") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 300 {
		d := newResumeSocket(dir)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					c, err := dialSocket(dir, d.token)
					switch {
					case err == nil:
						_ = c.Close()
						return
					case !errors.Is(err, fs.ErrNotExist):
						t.Errorf("a door that opens: %v", err)
						return
					}
				}
			})
		}
		err := d.listen(&wire.Mux{}) // who hangs up before the greeting needs no channel
		close(stop)
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		d.close()
		if t.Failed() {
			return
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("doors that were shut left %v, %v", left, err)
	}
}
