package source

import (
	"math/rand/v2"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"file.managed", "file.absent", "cmd.run", "name", "user"}
	for _, tt := range []struct{ in, want string }{
		{"file.manged", "file.managed"},
		{"File.Managed", "file.managed"},
		{"cmd.rnu", "cmd.run"},
		{"nmae", "name"},
		{"y", ""},
		{"systemd.unit", ""},
	} {
		if got, _ := Nearest(tt.in, names); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestDistanceLimit: what is cut short is at least the limit.
func TestDistanceLimit(t *testing.T) {
	text := func() string {
		b := make([]byte, rand.IntN(12))
		for i := range b {
			b[i] = "abc"[rand.IntN(3)]
		}
		return string(b)
	}
	for range 20000 {
		a, b, limit := text(), text(), rand.IntN(6)
		whole, cut := distance(a, b, 100), distance(a, b, limit)
		if whole < limit && cut != whole || whole >= limit && cut < limit {
			t.Fatalf("%q and %q: %d, and %d with limit %d", a, b, whole, cut, limit)
		}
	}
}
