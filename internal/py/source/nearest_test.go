package source

import "testing"

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
