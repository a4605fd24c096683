package version

import (
	"strings"
	"testing"
)

func TestScanner(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("x", 300)
	name, _, _ := strings.Cut(stamp, "=")
	for _, tt := range []struct{ text, want string }{
		{noise + stamp + noise, Number()},
		{stamp, Number()},
		{noise, ""},
		{noise + name + "=1.2.3-rc.1+b;", "1.2.3-rc.1+b"},
		{name + "=not a version;" + name + "=2.0;" + name + "=3.0;", "2.0"},
		{name + "=" + strings.Repeat("1", 100) + ";", ""},
		{name + "=;", ""},
		{name + "=1.0", ""},
	} {
		for _, step := range []int{1, 7, 64, 1000} {
			var s Scanner
			for text := tt.text; text != ""; {
				n := min(step, len(text))
				_, _ = s.Write([]byte(text[:n]))
				text = text[n:]
			}
			if s.Found() != tt.want {
				t.Errorf("%.60q by %d: %q, want %q", tt.text, step, s.Found(), tt.want)
			}
		}
	}
}
