package jobs

import (
	"os"
	"path/filepath"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
)

// TestHostileNotes has a note of a process that runs, but not the job: it does
// not say when the process began.
func TestHostileNotes(t *testing.T) {
	t.Parallel()
	if birth(host.NewLocal(), os.Getpid()) == "" {
		t.Skip("this machine does not tell when processes began")
	}
	dir := t.TempDir()
	p := NewProc(host.NewLocal(), dir)
	for jid, start := range map[string]value.Value{"20200102030405000001": nil, "20200102030405000002": "12345 other boot", "20200102030405000003": int64(1)} {
		m := value.MapOf("jid", jid, "fun", "cmd.run", "pid", int64(os.Getpid()))
		if start != nil {
			m.Set(keyStart, start)
		}
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, jid), value.EncodeJSON(m), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := p.Find(jid); n != nil {
			t.Errorf("the note %s is believed", value.Repr(m))
		}
	}
	end, err := p.Begin(value.MapOf("jid", "20200102030405000004", "fun", "x", "pid", int64(os.Getpid())))
	if err != nil || p.Find("20200102030405000004") == nil {
		t.Errorf("brine's own note is not believed: %v", err)
	}
	end()
}
