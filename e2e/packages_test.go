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
	"brine/internal/testkit/turn"
)

type packageManager struct{ name, os, family string }

// packageManagers are those whose providers are run beside the real programs, with
// the grain os_family that their systems have.
var packageManagers = []packageManager{
	{"dnf", "Fedora", "RedHat"},
	{"pacman", "Arch", "Arch"},
	{"zypper", "openSUSE", "Suse"},
}

// packagesRest is the line after which steps are left out that take long, unless
// cases are asked for: see chosenCases.
const packagesRest = "# The rest: make test-machines."

// TestPackageManagers runs testdata/packages/*.txt: steps for the package managers
// of other systems, which Debian has as programs. They need dnf with
// dnf-plugins-core, zypper, pacman-package-manager, rpm and createrepo-c: in the
// image "managers" beside that of all machines.
func TestPackageManagers(t *testing.T) {
	image := managersImage(t)
	t.Parallel()
	brine := staticBrine(t)
	for _, pm := range packageManagers {
		t.Run(pm.name, func(t *testing.T) {
			turn.Skip(t)
			t.Parallel()
			m := pm.boot(t, image)
			m.Install(t, brineInside, brine)
			m.Write(t, "/case/conf/minion", "id: minion1\nfile_client: local\nfile_roots: {base: [/srv/salt]}\n"+pm.grains(), 0o644)
			states, err := filepath.Glob("testdata/packages/states/*.sls")
			must(t, err)
			for _, s := range states {
				m.Write(t, "/srv/salt/"+filepath.Base(s), text(t, s), 0o644)
			}
			steps := text(t, "testdata/packages/"+pm.name+".txt")
			if os.Getenv("BRINE_MACHINE_CASES") == "" {
				steps, _, _ = strings.Cut(steps, packagesRest)
			}
			runPackageSteps(t, m, steps)
		})
	}
}

// managersImage returns the image with the package managers.
func managersImage(t *testing.T) string {
	t.Helper()
	image := filepath.Join(filepath.Dir(machine.Image(t)), "managers")
	if _, err := os.Stat(filepath.Join(image, "usr")); err != nil {
		t.Skip("no image of a machine has the package managers: make machines")
	}
	return image
}

// boot boots a machine with the package manager and its repositories.
func (pm *packageManager) boot(t *testing.T, image string) *machine.Machine {
	t.Helper()
	m := machine.Boot(t, image)
	m.Write(t, "/srv/rpm.sh", text(t, "testdata/packages/rpm.sh"), 0o755)
	m.Write(t, "/srv/setup.sh", text(t, "testdata/packages/"+pm.name+".sh"), 0o755)
	if r := m.Run(3*time.Minute, "/", "bash", "/srv/setup.sh"); r.Exit != 0 {
		t.Fatalf("the repositories cannot be made: %s%s", r.Stdout, r.Stderr)
	}
	return m
}

// grains is a line of configuration that makes a machine one of the system.
func (pm *packageManager) grains() string {
	return "grains: {os: " + pm.os + ", os_family: " + pm.family + ", osarch: x86_64, osmajorrelease: 38}\n"
}

// text returns the content of a file.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	return string(b)
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
