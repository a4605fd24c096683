package facts_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/fleet/facts"
	"brine/internal/py/value"
)

const cache = "/var/cache/brine"

func newStore(t *testing.T) (*facts.Store, *host.Fake) {
	t.Helper()
	h := host.NewFake()
	h.PutDir(cache, 0o700)
	return facts.New(h, cache), h
}

// file is the only file of the store.
func file(t *testing.T, h *host.Fake) string {
	t.Helper()
	names, err := h.ReadDir(cache + "/facts")
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	return cache + "/facts/" + names[0]
}

func TestFacts(t *testing.T) {
	t.Parallel()
	s, h := newStore(t)
	if f, err := s.Get("web1"); f != nil || err != nil {
		t.Errorf("nothing is kept: %v, %v", f, err)
	}
	for _, id := range []string{"web1", "../../etc/passwd", "a/b", strings.Repeat("x", 400)} {
		if err := s.Put(id, "20260101000000000000", h.Now(), value.MapOf("osfinger", "Debian-13", "num_cpus", int64(4), "mem_total", int64(-1), "kernelrelease", strings.Repeat("k", 300))); err != nil {
			t.Fatal(err)
		}
		f, err := s.Get(id)
		if err != nil || f.OS != "Debian-13" || f.CPUs != 4 || f.Memory != 0 || f.Kernel != "" || !f.At.Equal(h.Now().Truncate(time.Second)) {
			t.Fatalf("%s: %+v, %v", id, f, err)
		}
		if g, err := f.Grains(); err != nil || g.Str("osfinger") != "Debian-13" {
			t.Errorf("%s: %v, %v", id, g, err)
		}
	}
	if err := s.Put("web1", "20260101000000000001", h.Now(), value.MapOf("x", strings.Repeat("x", 1<<20))); err == nil || !strings.Contains(err.Error(), "are not kept") {
		t.Errorf("large facts: %v", err)
	}
	if f, err := s.Get("web1"); err != nil || f.JID != "20260101000000000000" {
		t.Errorf("after large facts: %v, %v", f, err)
	}
}

// TestFactsRefused: what others left in the directory is refused, with its place.
func TestFactsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, want string
		mode       fs.FileMode
	}{
		"no JSON":      {"x", "is damaged", 0o600},
		"another host": {`{"format":1,"id":"web2","jid":"1","at":"2020-01-01T00:00:00Z"}` + "\n{}", "is damaged", 0o600},
		"the future":   {`{"format":1,"id":"web1","jid":"1","at":"9020-01-01T00:00:00Z"}` + "\n{}", "is damaged", 0o600},
		"newer":        {`{"format":2,"id":"web1","jid":"1","at":"2020-01-01T00:00:00Z"}` + "\n{}", "has format 2", 0o600},
		"writable":     {`{"format":1,"id":"web1","jid":"1","at":"2020-01-01T00:00:00Z"}` + "\n{}", "only you can write", 0o666},
		"large":        {strings.Repeat(" ", 2<<20), "is larger", 0o600},
	} {
		s, h := newStore(t)
		if err := s.Put("web1", "20260101000000000000", h.Now(), value.MapOf("os", "x")); err != nil {
			t.Fatal(err)
		}
		h.PutFile(file(t, h), tt.text, tt.mode)
		if f, err := s.Get("web1"); f != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}
