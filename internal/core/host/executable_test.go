package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "brine")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	none := errors.New("no /proc")
	for _, tt := range []struct {
		name, told string
		err        error
		started    string
		want       string
	}{
		{"the system tells", "/bin/x", nil, "brine", "/bin/x"},
		{"by its name", "", none, "brine", file},
		{"by a relative path", "", none, "./brine", file},
		{"by its path", "", none, file, file},
		{"by a name of its own", "", none, "-brine", ""},
		{"by nothing", "", none, "", ""},
	} {
		got, err := ownFile(func() (string, error) { return tt.told, tt.err }, tt.started)
		if got != tt.want || (tt.want == "") != errors.Is(err, none) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	if exe, err := Executable(); err != nil || !filepath.IsAbs(exe) {
		t.Errorf("this program is %q, %v", exe, err)
	}
}
