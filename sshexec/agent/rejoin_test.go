package agent

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
	"time"
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
	opened := time.AfterFunc(doorDelay, func() {
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
