package version

import (
	"runtime/debug"
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

func TestRevision(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{}, ""},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, ""},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, " (v1.2.3)"},
		{debug.BuildInfo{
			Main:     debug.Module{Version: "v1.2.4-0.20260101000000-0123456789ab"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}},
		}, " (0123456789ab)"},
	} {
		if got := revision(&tt.info); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.info, got, tt.want)
		}
	}
}
