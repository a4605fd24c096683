package sshtest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh/agent"
)

// ListenAgent serves an ssh-agent until the test ends, and returns the path of
// its socket. Where a is nil, nothing is answered.
func ListenAgent(t testing.TB, a agent.Agent) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "a") // sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		var held []net.Conn // one that nobody holds is closed when memory is collected
		defer func() {
			for _, c := range held {
				c.Close()
			}
		}()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
			if a != nil {
				go func() { _ = agent.ServeAgent(a, c) }()
			}
		}
	}()
	return filepath.Join(dir, "s")
}
