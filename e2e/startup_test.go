package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// roomAtStart is what a package may allocate before main: a regular expression that is
// compiled there costs 5 to 50 KiB, which each start of brine on each host would pay for.
const roomAtStart = 4 << 10 // bytes

// TestStartup has no package prepare at start what only some commands need: see
// sync.OnceValue.
func TestStartup(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "version")
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, \d+ allocs$`)
	seen := line.FindAllStringSubmatch(string(out), -1)
	if len(seen) < 50 {
		t.Fatalf("%d packages were started, which is too few to be all:\n%s", len(seen), out)
	}
	for _, m := range seen {
		name := m[1]
		if !strings.HasPrefix(name, "brine/") || strings.HasPrefix(name, "brine/e2e") || strings.HasPrefix(name, "brine/internal/testkit") {
			continue
		}
		if bytes, err := strconv.Atoi(m[2]); err != nil || bytes > roomAtStart {
			t.Errorf("%s allocates %s bytes before main; a package may %d", name, m[2], roomAtStart)
		}
	}
}
