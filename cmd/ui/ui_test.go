package ui

import (
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/testkit/cmdtest"
)

// TestUILeavesNothing has brine ui fail before it serves.
func TestUILeavesNothing(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	cmdtest.Write(t, dir+"/master", "file_roots: [\n", 0o644)
	if status, _, errs := cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, command, "ui", "-c", dir); status != 1 {
		t.Errorf("exit status %d: %s", status, errs)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestUIOrigins(t *testing.T) {
	t.Parallel()
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	for _, tt := range []struct {
		listen string
		secure bool
		want   []string
	}{
		{"127.0.0.1:0", false, []string{"http://127.0.0.1:8080", "http://localhost:8080"}},
		{"localhost:0", false, []string{"http://127.0.0.1:8080", "http://localhost:8080"}},
		{"localhost:0", true, []string{"https://localhost:8080", "https://localhost:8080"}},
		{"192.0.2.1:0", true, []string{"https://192.0.2.1:8080"}},
		{":0", true, nil},
		{"0.0.0.0:0", true, nil},
	} {
		o := options{listen: tt.listen}
		if got, err := o.origins(addr, tt.secure); !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v, %v", tt.listen, got, err)
		}
	}
}

// TestUIPasswdAtOnce adds several users at once.
func TestUIPasswdAtOnce(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/ui.users"
	names := []string{"ann", "bob", "carl", "dora", "eve", "fred"}
	var work sync.WaitGroup
	for _, name := range names {
		work.Go(func() {
			if status, _, errs := cmdtest.Run(t, nil, command, "ui", "passwd", name, "--users", file, "--no-password"); status != 0 {
				t.Errorf("%s: exit status %d: %s", name, status, errs)
			}
		})
	}
	work.Wait()
	text, err := host.NewLocal().ReadFile(file)
	if err != nil || strings.Count(string(text), ":viewer:-\n") != len(names) {
		t.Errorf("%v:\n%s", err, text)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", st, err)
	}
}

// TestUIUsage has options that cannot work or protect nothing.
func TestUIUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmdtest.Write(t, dir+"/master", "{}\n", 0o644)
	users := cmdtest.Write(t, dir+"/users", "ann:viewer:-\n", 0o600)
	for _, tt := range [][]string{
		{"standard input", "--roster-file", "-"},
		{"browsers use https", "--tls-cert", "x", "--tls-key", "x", "--origin", "http://x"},
		{"could be any user", "--trusted-proxy", "0.0.0.0/0", "--users", users, "--origin", "https://x"},
		{"could be any user", "--trusted-proxy", "::/0", "--users", users, "--origin", "https://x"},
		{"needs --users", "--trusted-proxy", "127.0.0.1"},
		{"given together", "--tls-cert", "x"},
		{"other machines can reach", "--listen", "0.0.0.0:0"},
		{"not an address with a port", "--listen", "127.0.0.1"},
	} {
		status, _, errs := cmdtest.Run(t, map[string]string{"HOME": dir, "PWD": dir}, command, append([]string{"ui", "-c", dir, "--cachedir", dir + "/cache"}, tt[1:]...)...)
		if status != 64 || !strings.Contains(errs, tt[0]) {
			t.Errorf("%v: exit status %d: %s", tt[1:], status, errs)
		}
	}
}

func command(a *app.App) *cobra.Command { return New(a, nil) }
