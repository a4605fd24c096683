package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackagedExamples: the examples in /etc/brine are comments as they are, and what
// people get who remove all marks is a configuration without faults.
func TestPackagedExamples(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	prose := regexp.MustCompile(`^#( \S.*)?$`) // a setting has no blank behind its mark, or several
	dir := t.TempDir()
	for _, name := range []string{"minion", "master", "roster"} {
		var text strings.Builder
		settings := 0
		for line := range strings.Lines(read(t, filepath.Join(".ci/pack/etc", name+".example"))) {
			line = strings.TrimRight(line, "\n")
			switch {
			case line == "" || prose.MatchString(line):
				continue
			case line[0] != '#':
				t.Errorf("%s.example sets something: %q", name, line)
			}
			settings++
			text.WriteString(strings.ReplaceAll(strings.TrimPrefix(line, "#"), "/srv/", dir+"/srv/") + "\n")
		}
		if settings == 0 {
			t.Errorf("%s.example has no settings", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"srv/salt", "srv/pillar"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "srv/salt/web.sls"), []byte("web:\n  test.nop: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"call grains.get role":         "web",
		"call config.get state_output": "changes",
		"ssh --hosts":                  "web2.example.com",
		"run config.get keep_jobs":     "24",
		"check":                        "100%",
	} {
		c := exec.CommandContext(t.Context(), self)
		c.Args = append(append([]string{"brine"}, strings.Fields(args)...), "-c", dir)
		if args != "check" {
			c.Args = append(c.Args, "--cachedir", filepath.Join(dir, "cache"))
		}
		c.Env = append(os.Environ(), "BRINE_TEST_RUN=1")
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(errs.String(), "warning") {
			t.Errorf("brine %s: %v: %s%s, want %s", args, err, out, errs.String(), want)
		}
	}
}
