//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
)

// packageManagers are those whose providers are run beside the real programs, with
// the grain os_family that their systems have.
var packageManagers = []struct{ name, program, os, family string }{
	{"dnf", "dnf", "Fedora", "RedHat"},
	{"pacman", "pacman", "Arch", "Arch"},
	{"zypper", "zypper", "openSUSE", "Suse"},
}

// TestPackageManagers runs testdata/packages/*.txt: steps for the package managers
// of other systems, which Debian has as programs. They need dnf with
// dnf-plugins-core, rpm and createrepo-c; zypper, rpm and createrepo-c; or
// pacman-package-manager: in the image of all machines, or in one of the manager's
// name beside it.
func TestPackageManagers(t *testing.T) {
	image := machine.Image(t)
	images := map[string]string{}
	for _, pm := range packageManagers {
		for _, dir := range []string{filepath.Join(filepath.Dir(image), pm.name), image} {
			if _, err := os.Stat(filepath.Join(dir, "usr/bin", pm.program)); err == nil {
				images[pm.name] = dir
				break
			}
		}
	}
	if len(images) == 0 {
		t.Skip("no image of a machine has dnf, pacman or zypper")
	}
	t.Parallel()
	brine := staticBrine(t)
	for _, pm := range packageManagers {
		t.Run(pm.name, func(t *testing.T) {
			t.Parallel()
			if images[pm.name] == "" {
				t.Skipf("no image of a machine has %s", pm.program)
			}
			m := machine.Boot(t, images[pm.name])
			put := func(to string, data []byte, mode os.FileMode) {
				t.Helper()
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(m.Root, to)), 0o755))
				must(t, os.WriteFile(filepath.Join(m.Root, to), data, mode))
			}
			read := func(name string) []byte {
				t.Helper()
				b, err := os.ReadFile(name)
				must(t, err)
				return b
			}
			put("/usr/local/bin/brine", read(brine), 0o755)
			put("/srv/rpm.sh", read("testdata/packages/rpm.sh"), 0o755)
			put("/srv/setup.sh", read("testdata/packages/"+pm.name+".sh"), 0o755)
			put("/case/conf/minion", []byte("id: minion1\nfile_client: local\nfile_roots: {base: [/srv/salt]}\ngrains: {os: "+pm.os+", os_family: "+pm.family+", osarch: x86_64, osmajorrelease: 38}\n"), 0o644)
			states, err := filepath.Glob("testdata/packages/states/*.sls")
			must(t, err)
			for _, s := range states {
				put("/srv/salt/"+filepath.Base(s), read(s), 0o644)
			}
			if r := m.Run(3*time.Minute, "/", "bash", "/srv/setup.sh"); r.Exit != 0 {
				t.Fatalf("the repositories cannot be made: %s%s", r.Stdout, r.Stderr)
			}
			runPackageSteps(t, m, string(read("testdata/packages/"+pm.name+".txt")))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runPackageSteps runs "$ LINE" in the shell of a machine, and compares what comes of
// "> ARGUMENTS" of brine call with the next line: the value as JSON, or "error: "
// and a part of the message. "! TEXT" after that is a part of its stderr.
func runPackageSteps(t *testing.T, m *machine.Machine, text string) {
	command, said := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "$ "):
			m.Shell("/", line[2:])
		case strings.HasPrefix(line, "> "):
			command = line[2:]
		case strings.HasPrefix(line, "! "):
			if !strings.Contains(said, line[2:]) {
				t.Errorf("%s: stderr is %q, want %q", command, said, line[2:])
			}
		default:
			r := m.Shell("/", "/usr/local/bin/brine call -c /case/conf --out json "+command)
			said = r.Stderr
			if want, fails := strings.CutPrefix(line, "error: "); fails {
				if r.Exit == 0 || !strings.Contains(r.Stderr, want) {
					t.Errorf("%s: status %d, %s%s\nwant an error with %s", command, r.Exit, r.Stdout, r.Stderr, want)
				}
				continue
			}
			if got := packageValue(r.Stdout); got != line {
				t.Errorf("%s:\n got %s\nwant %s\n%s", command, got, line, r.Stderr)
			}
		}
	}
}

// packageValue returns the value that brine call printed as JSON in one line; of a
// run of states, the result, comment and changes of each by its ID.
func packageValue(stdout string) string {
	var out map[string]any
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		return stdout
	}
	v := out["local"]
	if states, ok := v.(map[string]any); ok {
		short := map[string]any{}
		for _, s := range states {
			if s, ok := s.(map[string]any); ok && s["__id__"] != nil {
				short[s["__id__"].(string)] = []any{s["result"], s["comment"], s["changes"]}
			}
		}
		if len(short) > 0 && len(short) == len(states) {
			v = short
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}
