package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/internal/core/host"
	"brine/internal/core/version"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args   string
		status int
		text   string
	}{
		{"version", 0, "brine " + version.Number()},
		{"--version", 0, "follows Salt 3006"},
		{"", 64, "this is an agent of brine " + version.Number() + ", which 'brine ssh' places on its targets"},
		{"state.apply", 64, "it has agent and version"},
		{"agent --nonsense", 64, "agent: flag provided but not defined"},
		{"agent now", 64, `unexpected argument "now"`},
	} {
		var out, errs bytes.Buffer
		if status := run(strings.Fields(tt.args), strings.NewReader(""), &out, &errs); status != tt.status || !strings.Contains(out.String()+errs.String(), tt.text) {
			t.Errorf("%q: %d: %s%s, want %d: %s", tt.args, status, &out, &errs, tt.status, tt.text)
		}
	}
}

// TestSkip: what started the agent is not for the agent; a channel that ends in it is
// told.
func TestSkip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"script\n", "no hello from the remote program"},
		{"scr", "skip the script on standard input: EOF"},
	} {
		var out, errs bytes.Buffer
		status := run([]string{"agent", "--skip", "7", "--cache-dir", filepath.Join(t.TempDir(), "cache")}, strings.NewReader(tt.in), &out, &errs)
		if status != 1 || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%q: %d: %s", tt.in, status, &errs)
		}
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	var out bytes.Buffer
	if status := run([]string{"agent", "--sum"}, nil, &out, &out); status != 0 || out.String() != hex.EncodeToString(sum[:])+"\n" {
		t.Errorf("%d: %s", status, &out)
	}
}

// TestWipe: an agent that was placed removes itself and what it kept, and
// nothing else.
func TestWipe(t *testing.T) {
	t.Parallel()
	placed := "brine-" + strings.Repeat("0a", sha256.Size)
	for _, tt := range []struct {
		name, exe string
		mode      os.FileMode
		other     bool
		gone      bool // the agent
		dir       bool // its directory is left
	}{
		{"placed", placed, 0o700, false, true, false},
		{"with another beside it", placed, 0o700, true, true, true},
		{"a brine of a person", "brine", 0o700, false, false, true},
		{"in a directory of others", placed, 0o755, false, false, true},
	} {
		home := t.TempDir()
		dir := filepath.Join(home, "brine", "agent")
		for _, d := range []string{"cache/files", "."} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, tt.mode); err != nil {
			t.Fatal(err)
		}
		files := []string{tt.exe, "cache/files/x"}
		if tt.other {
			files = append(files, "other")
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		wipe(host.NewLocal(), filepath.Join(dir, tt.exe))
		if _, err := os.Stat(filepath.Join(dir, tt.exe)); (err != nil) != tt.gone {
			t.Errorf("%s: the agent: %v", tt.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "cache")); (err != nil) != tt.gone {
			t.Errorf("%s: its cache: %v", tt.name, err)
		}
		if _, err := os.Stat(filepath.Join(home, "brine")); (err == nil) != tt.dir {
			t.Errorf("%s: its directory: %v", tt.name, err)
		}
	}
}
