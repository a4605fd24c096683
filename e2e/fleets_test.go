package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/internal/testkit/saltapitest"
)

// TestFleetsTour runs docs/fleets.md with a master that has the minions of the
// page.
func TestFleetsTour(t *testing.T) {
	t.Parallel()
	master := saltapitest.New(t, "web1", "web2")
	master.Return = func(c saltapitest.Call) (any, int, bool) {
		if c.Fun == "cmd.run" {
			return "up 3 days", 0, true
		}
		return true, 0, true
	}
	const page = "docs/fleets.md"
	text := read(t, page)
	cmds, err := docCommands(text)
	if err != nil || len(cmds) == 0 {
		t.Fatalf("commands of %s: %v, %v", page, cmds, err)
	}
	brine, err := exec.LookPath("brine")
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("https://salt.dc1.example.com:8000", master.URL, "user: deploy", "user: "+saltapitest.User)
	runDoc(t, page, brine, cmds, func(dir string) []string {
		files := regexp.MustCompile("(?s)\n`(mytree/[^`]+)`:\n\n```yaml\n(.*?)```").FindAllStringSubmatch(text, -1)
		if len(files) == 0 {
			t.Fatalf("%s has no files", page)
		}
		for _, f := range files {
			path := filepath.Join(dir, f[1])
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(here.Replace(f[2])), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return []string{"DC1_PASSWORD=" + saltapitest.Password}
	})
	if n := len(master.Published()); n == 0 {
		t.Error("nothing was published")
	}
}
