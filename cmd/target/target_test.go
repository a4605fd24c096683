package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadLimit(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "failed")
	if err := os.WriteFile(p, []byte("web1\r\n# a note\n\n web 2 \nweb3"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, want string }{
		{"web1,web2", "web1|web2"}, {" a , b,", "a|b"}, {"@" + p, "web1|web 2|web3"}, {"", ""},
	} {
		got, err := ReadLimit(tt.in)
		if err != nil || strings.Join(got, "|") != tt.want || got == nil {
			t.Errorf("ReadLimit(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	if _, err := ReadLimit("@/nonexistent/file"); err == nil {
		t.Error("a missing file is no fault")
	}
}
