package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/cmd/app"
)

// TestReadLimit has the expressions of --limit, and which ids they are for.
func TestReadLimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "some")
	if err := os.WriteFile(file, []byte("web1\r\n# a note\n\n web 2 \nweb3"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Session{}
	all := []string{"web1", "web2", "web10", "web 2", "web3", "db1"}
	for _, tt := range []struct{ text, kept, named, compound string }{
		{"web1,db1", "web1|db1", "web1|db1", ""},
		{" web1 , db1,", "web1|db1", "web1|db1", ""},
		{"web*,db1", "web1|web2|web10|web 2|web3|db1", "db1", ""},
		{"web[12]", "web1|web2", "", ""},
		{"@" + file, "web1|web 2|web3", "web1|web 2|web3", ""},
		{"web* and not web1", "", "", "web* and not web1"},
		{"G@os:Debian", "", "", "G@os:Debian"},
		{"web1 db1", "", "", "web1 db1"},
	} {
		l, err := s.readLimit(context.Background(), tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(all), func(id string) bool { return !l.Keep(id) })
		if got := strings.Join(kept, "|"); got != tt.kept || strings.Join(l.IDs, "|") != tt.named || l.compound != tt.compound {
			t.Errorf("%q: keeps %q, names %q, compound %q", tt.text, got, l.IDs, l.compound)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("# nobody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		",": "names no target", "": "names no target", "@/nonexistent/file": "no such file", "@" + empty: "names no target", "@2026112114": "no such file", "@": "does not say which job or file",
	} {
		_, err := s.readLimit(context.Background(), text)
		var status *app.StatusError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &status) || status.Hint == "" {
			t.Errorf("%q: %v, want %q and a hint", text, err, want)
		}
	}
}
