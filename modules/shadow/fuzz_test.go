package shadow_test

import (
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/modules/shadow"
	"brine/modules/tool"
)

// Whatever stands in the password file, its lines are read or skipped.
func FuzzInfo(f *testing.F) {
	for _, s := range []string{
		"ann:!:19000:0:99999:7:::\n", "ann:$6$a$b:1:2:3:4:5:6:7:8\n", "ann\n", "ann:::::::\n", ":::::::::", "ann:x:99999999999999999999:-1::::\r\n", "\x00:\xff:\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h := host.NewFake()
		h.PutFile("/etc/shadow", text, 0o600)
		e, err := (&shadow.Admin{Accounts: tool.Accounts{Host: h}}).Info("ann")
		if err != nil {
			t.Fatal(err)
		}
		if e != nil && (e.Name != "ann" || !strings.Contains(text, e.Passwd)) {
			t.Errorf("%q is read as %+v", text, e)
		}
	})
}

func TestDays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    value.Value
		want int64
		ok   bool
	}{
		{int64(-1), -1, true},
		{"20000", 20000, true},
		{" 2030-01-02 ", 21916, true},
		{"1969-12-31", -1, true},
		{"2030-13-02", 0, false},
		{"tomorrow", 0, false},
		{nil, 0, false},
	} {
		if n, ok := shadow.Days(tt.v); ok != tt.ok || ok && n != tt.want {
			t.Errorf("Days(%v) = %d, %v, want %d, %v", tt.v, n, ok, tt.want, tt.ok)
		}
	}
}

func TestLooksHashed(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"!": true, "*": true, "!!": true, "*LK*": true, "x": true, "": true, "$y$j9T$a$b": true, "!$6$a$b": true, "!locked": true,
		"ab0123456789.": true, "_J9..CCCCXBrJUJV154M": true, "plaintext": false, "correct horse": false, "_short": false,
	} {
		if got := shadow.LooksHashed(s); got != want {
			t.Errorf("LooksHashed(%q) = %v, want %v", s, got, want)
		}
	}
}
