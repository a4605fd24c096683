package event

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/internal/value"
)

func TestPeersReachAListeningRun(t *testing.T) {
	t.Parallel()
	p := &Peers{Dirs: []string{filepath.Join(t.TempDir(), "p")}}
	bus := NewRing(0, time.Now)
	stop, err := p.Listen(bus)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Send("deploy/done", value.MapOf("release", "1.4")); n != 1 {
		t.Errorf("Send = %d, want 1", n)
	}
	e, _, err := bus.Next(t.Context(), 0, nil)
	if err != nil || e.Tag != "deploy/done" || e.Data.Str("release") != "1.4" {
		t.Errorf("event = %q %s, %v", e.Tag, value.Repr(e.Data), err)
	}
	stop()
	if n := p.Send("late", nil); n != 0 {
		t.Errorf("Send after close = %d, want 0", n)
	}
	if names, _ := os.ReadDir(p.Dirs[0]); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestPeersRefuseADirectoryThatOthersCanEnter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Peers{Dirs: []string{dir}}).Listen(NewRing(0, time.Now)); err == nil {
		t.Error("Listen in a directory that others can enter succeeded")
	}
}
