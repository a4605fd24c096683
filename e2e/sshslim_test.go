package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"brine/internal/testkit/sshtest"
	"brine/sshexec"
)

// ownDatabase matches the functions in a list that only a controller has, those of its
// database, of events, of LDAP and of Vault, and those of beacons, which no agent calls.
var ownDatabase = regexp.MustCompile(`(?m)^ *"(beacons?|etcd|history|ldap3?|lock|queue|reactor|vault)\.[a-z_]+",\n`)

// ownRunners matches further ones in the list of runner functions: modules of execution
// functions that an agent has share their names.
var ownRunners = regexp.MustCompile(`(?m)^ *"((cache|doc|manage|ssh|survey)\.[a-z_]+|network\.wol(list)?)",\n`)

// TestSlimAgent: an agent alone has every function, renderer and outputter that
// the whole brine has as an agent, in fewer bytes.
func TestSlimAgent(t *testing.T) {
	t.Parallel()
	built := os.Getenv("BRINE_TEST_SLIM")
	if built == "" {
		t.Skip("BRINE_TEST_SLIM names no slim agent: make slim builds one and runs this test")
	}
	packed := checkSlimSize(t, built)
	dir := t.TempDir()
	slim := filepath.Join(dir, "brine-"+runtime.GOOS+"-"+runtime.GOARCH)
	text, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(slim, text, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sshtest.Options{})
	s.roster(1)
	if packed != nil {
		sum := sha256.Sum256(text)
		(&sshexec.Images{Cache: s.path("cache/ssh")}).KeepXZ(hex.EncodeToString(sum[:]), packed)
	}
	s.write("salt/p.sls", "#!pongo2|yaml\n{% if grains.id == \"web1\" %}shown:\n  test.show_notification:\n    - text: by pongo2\n{% endif %}\n")
	s.write("salt/q.sls", "#!jinja|toml\n[shown]\n'test.show_notification' = [{text = 'by toml'}]\n")
	both := func(args ...string) (full, short string) {
		t.Helper()
		a := s.brine(append([]string{"ssh", "web1"}, args...)...)
		b := s.brine(append([]string{"ssh", "web1", "--agent-dir", dir}, args...)...)
		s.want(a, 0)
		s.want(b, 0)
		return a.stdout, b.stdout
	}
	for _, fun := range []string{"sys.list_functions", "sys.list_state_functions", "sys.list_modules", "sys.list_renderers", "sys.list_runner_functions", "out.out_format"} {
		args := []string{fun, "--out=json"}
		if fun == "out.out_format" {
			args = []string{fun, "{a: [1, {b: 2}]}", "nested"}
		}
		full, short := both(args...)
		if fun == "sys.list_runner_functions" {
			full = ownRunners.ReplaceAllString(full, "")
		}
		if full = ownDatabase.ReplaceAllString(full, ""); full != short {
			t.Errorf("%s differs:\n%s\n%s", fun, full, short)
		}
	}
	s.write("salt/_modules/st.star", "def f():\n    return 'by starlark ' + grains['id']\n")
	s.want(s.brine("ssh", "web1", "--agent-dir", dir, "st.f"), 0, "by starlark web1")
	for _, sls := range []string{"p", "q"} {
		if r := s.brine("ssh", "web1", "--agent-dir", dir, "state.apply", sls); r.exit != 0 || !strings.Contains(r.stdout, "by ") {
			t.Errorf("%s: %d %s%s", sls, r.exit, r.stdout, r.stderr)
		}
	}
	if exe := strings.TrimSpace(s.brine("ssh", "web1", "--agent-dir", dir, "cmd.run", "readlink /proc/$PPID/exe | xargs wc -c").stdout); !strings.Contains(exe, sizeOf(t, slim)) {
		t.Errorf("another agent ran: %s", exe)
	}
	s.want(s.brine("ssh", "web1", "test.ping", "--agent-dir", dir, "--wipe"), 0, "True")
	if _, err := os.Stat(filepath.Join(s.sshd.Home, ".cache/brine")); err == nil {
		t.Error("--wipe left something")
	}
	if packed != nil {
		r := s.brine("ssh", "web1", "test.ping", "--agent-dir", dir, "-l", "debug")
		s.want(r, 0, "True")
		if !strings.Contains(r.stderr, "by=xz") {
			t.Errorf("the agent was not sent by xz: %s", r.stderr)
		}
	}
}

// Bounds of an agent for linux/amd64, in bytes: of its file, and as it travels
// to a host that has xz, and to one that has only zstd.
const (
	slimFile = 25_000_000
	slimXZ   = 6_760_000
	slimZstd = 8_710_000
)

// checkSlimSize returns the agent as xz compresses it; nil where that is not
// installed.
func checkSlimSize(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bound := func(what string, size, limit int) {
		t.Helper()
		t.Logf("%s: %d bytes", what, size)
		if size > limit {
			t.Errorf("%s: %d bytes, more than %d", what, size, limit)
		}
	}
	bound("the agent", len(text), slimFile)
	var packed bytes.Buffer
	if err := sshexec.Compress(&packed, bytes.NewReader(text), zstd.SpeedBestCompression); err != nil {
		t.Fatal(err)
	}
	bound("as it travels to zstd", packed.Len(), slimZstd)
	copied := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	argv := append(sshexec.XZ(runtime.GOOS+"-"+runtime.GOARCH), copied)
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Log(err)
		return nil
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sent, err := os.ReadFile(copied + ".xz")
	if err != nil {
		t.Fatal(err)
	}
	bound("as it travels to xz", len(sent), slimXZ)
	return sent
}

func sizeOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("wc", "-c", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))[0]
}
