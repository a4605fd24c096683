package main

import (
	"os/exec"
	"strings"
	"testing"
)

// allowed says which rooms a room may import: the house's directions. A room
// is a path prefix; the longest that fits holds.
var allowed = map[string][]string{
	"brine":                     {"cmd"},
	"brine/cmd":                 {"internal", "outputter", "sshexec", "runner", "cmd/serve"},
	"brine/internal/assembly":   {"internal", "outputter", "sshexec", "runner", "states", "modules"},
	"brine/internal/value":      {"internal/source"},
	"brine/internal/source":     {},
	"brine/internal/proc":       {},
	"brine/internal/difflib":    {},
	"brine/internal/digest":     {},
	"brine/internal/pyre":       {"internal/value", "internal/source"},
	"brine/internal/host":       {"internal/value", "internal/source", "internal/proc"},
	"brine/internal/event":      {"internal/value", "internal/source"},
	"brine/internal/yamlsalt":   {"internal/value", "internal/source"},
	"brine/internal/target":     {"internal/value", "internal/source", "internal/pyre"},
	"brine/internal/jinja":      {"internal/value", "internal/source", "internal/jinja/markupsafe", "internal/jinja/pytext", "internal/jinja/pymethod"},
	"brine/internal/fun":        {"internal/event", "internal/host", "internal/source", "internal/value"},
	"brine/internal/config":     {"internal/host", "internal/value", "internal/source", "internal/yamlsalt"},
	"brine/internal/grains":     {"internal/host", "internal/value", "internal/source", "internal/yamlsalt", "internal/proc"},
	"brine/internal/roster":     {"internal/value", "internal/source", "internal/yamlsalt", "internal/host", "internal/proc"},
	"brine/internal/fileserver": {"internal/host", "internal/value", "internal/source", "internal/fun", "internal/pyre", "internal/digest"},
	"brine/internal/jmespath":   {"internal/value", "internal/source"},
	"brine/internal/dispatch":   {"internal"},
	"brine/internal/render":     {"internal"},
	"brine/internal/pillar":     {"internal"},
	"brine/internal/jobs":       {"internal"},
	"brine/internal/returner":   {"internal", "outputter"},
	"brine/internal/fleet":      {"internal"},
	"brine/internal/sshtest":    {"internal", "sshexec"},
	"brine/outputter":           {"internal/value", "internal/source", "internal/yamlsalt"},
	"brine/modules":             {"internal", "outputter", "modules"},
	"brine/states":              {"internal", "outputter", "modules"},
	"brine/runner":              {"internal", "outputter", "runner", "modules", "states"},
	"brine/runner/high":         {"internal", "runner/internal"},
	"brine/runner/low":          {"internal", "runner/high", "runner/internal"},
	"brine/runner/exec":         {"internal", "runner/internal"},
	"brine/sshexec":             {"internal", "sshexec"},
	"brine/bench":               {"cmd", "internal", "sshexec"},

	// The engine of templates knows nothing of Salt: that is above it.
	"brine/internal/jinja/markupsafe": {"internal/value"},
	"brine/internal/jinja/pytext":     {"internal/value"},
	"brine/internal/jinja/pymethod":   {"internal/value", "internal/jinja/markupsafe", "internal/jinja/pytext"},
	"brine/internal/jinja/saltjinja":  {"internal/value", "internal/jinja", "internal/pyre", "internal/yamlsalt", "internal/jmespath", "internal/digest"},
	"brine/internal/jinja/jinjatest":  {"internal/value", "internal/source", "internal/jinja"},
}

// below are the rooms inside internal that the rest of internal never imports.
var below = []string{"internal/assembly", "internal/sshtest"}

// TestImportDirections holds the arrows of docs/architecture.md: they never
// turn back.
func TestImportDirections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Skipf("no go tool to list imports with: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		room, list := ruleOf(words[0])
		for _, imp := range words[1:] {
			rest, ours := strings.CutPrefix(imp, "brine/")
			if !ours {
				if (imp == "os/exec" || imp == "os/user") && strings.HasPrefix(words[0], "brine/") && !mayExec(words[0]) {
					t.Errorf("%s imports %s: rooms touch the machine through internal/host", words[0], imp)
				}
				continue
			}
			if !fits(list, rest) {
				t.Errorf("%s imports %s, which the room %s may not", words[0], imp, room)
			}
			if strings.HasPrefix(words[0], "brine/internal/") && room != "brine/internal/assembly" && room != "brine/internal/sshtest" && fits(below, rest) {
				t.Errorf("%s imports %s, which stands above it", words[0], imp)
			}
		}
	}
}

func mayExec(pkg string) bool {
	for _, p := range []string{"brine/internal/host", "brine/internal/sshtest", "brine/internal/returner/servertest", "brine/sshexec"} {
		if pkg == p || strings.HasPrefix(pkg, p+"/") {
			return true
		}
	}
	return false
}

func ruleOf(pkg string) (room string, list []string) {
	for r, l := range allowed {
		if (pkg == r || strings.HasPrefix(pkg, r+"/") && r != "brine") && len(r) > len(room) {
			room, list = r, l
		}
	}
	return room, list
}

func fits(list []string, pkg string) bool {
	for _, p := range list {
		if pkg == p || strings.HasPrefix(pkg, p+"/") {
			return true
		}
	}
	return false
}
