package link_test

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"brine/cmd/assembly"
	"brine/internal/core/host"
	"brine/sshexec/link"
)

// files is a machine some of whose files are the test's; nil content is none.
type files struct {
	*host.Local
	text map[string]string
}

func (f files) ReadFile(p string) ([]byte, error) {
	text, ok := f.text[p]
	if !ok {
		return f.Local.ReadFile(p)
	}
	if text == "" {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// agentOn returns a connection to an agent of a machine.
func (s *site) agentOn(h host.Host) *link.Conn {
	s.t.Helper()
	a, b := pipe()
	done := make(chan struct{})
	go func(rw io.ReadWriteCloser) {
		defer close(done)
		_ = assembly.ServeAgent(context.Background(), rw, assembly.AgentOptions{Host: h, Table: assembly.Table(), Version: "test", CacheDir: s.cache})
	}(b)
	c := s.attach(a)
	s.t.Cleanup(func() {
		c.Close()
		<-done
	})
	return c
}

func TestGoing(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const file = "/run/systemd/shutdown/scheduled"
	h := files{host.NewLocal(), map[string]string{file: "USEC=1705000000123456\nMODE=reboot\n"}}
	c := s.agentOn(h)
	got, ok, err := c.PendingShutdown(t.Context())
	if want := (link.Shutdown{Mode: "reboot", At: time.UnixMicro(1705000000123456), By: file}); err != nil || !ok || !got.At.Equal(want.At) || got.Mode != want.Mode || got.By != want.By {
		t.Errorf("Going = %+v, %v, %v; want %+v", got, ok, err, want)
	}
	h.text[file] = "MODE=" + strings.Repeat("x\x1b[2J", 100) + "\n"
	if got, ok, err = c.PendingShutdown(t.Context()); err != nil || !ok || len(got.Mode) > 64 || strings.ContainsRune(got.Mode, 0x1b) {
		t.Errorf("a mode of nonsense: %+v, %v, %v", got, ok, err)
	}
	c.Close()
	if _, _, err := c.PendingShutdown(t.Context()); err == nil {
		t.Error("a closed connection answers")
	}
}

func TestBootID(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const id, stat = "/proc/sys/kernel/random/boot_id", "/proc/1/stat"
	tail := strings.Repeat(" 0", 18) // the fields 4 to 21
	seen := map[string]string{}
	for _, tt := range []struct{ name, id, stat string }{
		{"first", "aaa\n", "1 (init) S" + tail + " 5"},
		{"another boot", "bbb\n", "1 (init) S" + tail + " 5"},
		{"a container started again", "aaa\n", "1 (a (b) c) S" + tail + " 77"},
		{"no process to be seen", "aaa\n", ""},
	} {
		c := s.agentOn(files{host.NewLocal(), map[string]string{id: tt.id, stat: tt.stat}})
		got := c.Facts().BootID
		if other, ok := seen[got]; ok || got == "" {
			t.Errorf("%s: boot id %q, that of %q", tt.name, got, other)
		}
		seen[got] = tt.name
	}
}
