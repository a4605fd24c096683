//go:build !slim

package assembly

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/internal/core/config"
	"brine/internal/core/fileserver"
	"brine/internal/core/host"
	"brine/internal/py/value"
	"brine/internal/testkit/sshtest"
)

// TestGitOverSSH fetches by brine's own rules for keys and hosts.
func TestGitOverSSH(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "git")
	srv := sshtest.Start(t, sshtest.Options{})
	repo := filepath.Join(t.TempDir(), "it's here")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	script := `git init -q -b main . && echo hello >a && git add a && git -c user.name=a -c user.email=a@b commit -q -m x`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	known, err := os.ReadFile(srv.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	get := func(t *testing.T, knownHosts, options string) string {
		home, conf := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), []byte(knownHosts), 0o600); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("cachedir: %s\nssh_config_file: %s/none\nfileserver_backend: [gitfs]\ngitfs_base: main\ngitfs_remotes:\n- ssh://%s@127.0.0.1:%d%s:\n  - update_interval: 0\n%s",
			filepath.Join(conf, "cache"), home, srv.User, srv.Port, strings.ReplaceAll(repo, " ", "%20"), options)
		if err := os.WriteFile(filepath.Join(conf, "minion"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h := host.NewLocal()
		cfg, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: conf})
		if err != nil {
			t.Fatal(err)
		}
		env := NewEnv(t.Context(), EnvOptions{
			Host: h, Config: cfg, Table: Table(), SSH: SSHOptions{Getenv: func(k string) string { return map[string]string{"HOME": home}[k] }},
		})
		f, err := env.Up.Open(t.Context(), "base", "a")
		if err != nil {
			return "error: " + err.Error()
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	key := "  - privkey: " + srv.Key + "\n"
	for _, tt := range []struct{ name, known, options, want string }{
		{"fetches", string(known), key, "hello\n"},
		{"unknown host", "", key, "known_hosts"},
		{"no key", string(known), "", "error: "},
	} {
		if got := get(t, tt.known, tt.options); !strings.Contains(got, tt.want) || tt.name != "fetches" && !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	repo += "-gone"
	if got := get(t, string(known), key); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "repository") {
		t.Errorf("no repository: %q", got)
	}
}

// TestBackends: each file server backend that the configuration takes is one that serves.
func TestBackends(t *testing.T) {
	t.Parallel()
	conf := t.TempDir()
	h := host.NewLocal()
	cfg, err := config.Load(config.Options{Kind: config.Minion, Host: h, Dir: conf})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGit(EnvOptions{Host: h, Config: cfg})
	for _, name := range config.Backends() {
		opts := value.MapOf("fileserver_backend", value.Strings(name), "file_roots", value.MapOf("base", value.Strings(conf)))
		var names []string
		for _, b := range g.Backends(opts, fileserver.RootsOf(opts, "file_roots")) {
			names = append(names, b.Name())
		}
		if !slices.Equal(names, []string{name}) {
			t.Errorf("%s: %v", name, names)
		}
	}
}
