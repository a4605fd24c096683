package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/internal/testkit/sshtest"
)

// sshPages are the pages of TestSSHTour, in the order in which their commands follow each
// other.
var sshPages = []string{
	"docs/ssh.md", "docs/ssh/failures.md", "docs/ssh/locks.md", "docs/ssh/reboots.md", "docs/ssh/targeting.md", "docs/ssh/roster.md", "docs/ssh/login.md",
	"docs/ssh/agent.md",
}

// TestSSHTour runs docs/ssh.md and the pages of docs/ssh.
func TestSSHTour(t *testing.T) {
	t.Parallel()
	s := newSite(t, sshtest.Options{})
	for name, test := range ownTests {
		if test == "TestSSHTour" && !slices.Contains(sshPages, name) {
			t.Errorf("nothing runs %s", name)
		}
	}
	s.tour(sshPages...)
	if got := read(t, s.path("motd.db1")); got != "This is db1, a db machine.\n" {
		t.Errorf("motd: %q", got)
	}
}

// TestRelayTour runs docs/relays.md.
func TestRelayTour(t *testing.T) {
	t.Parallel()
	newSite(t, sshtest.Options{}).tour("docs/relays.md")
}

// tour runs pages: their files are written where it says, each line
// of a console block that begins with "$ " is run by sh, and what follows it is
// what it prints. A line "..." stands for any lines; "# exit status N" behind a
// command is the status it ends with.
func (s *site) tour(pages ...string) {
	t := s.t
	t.Helper()
	var doc strings.Builder
	for _, page := range pages {
		doc.WriteString(read(t, page) + "\n")
	}
	bin := t.TempDir()
	self := brineProgram()
	if err := os.WriteFile(filepath.Join(bin, "brine"), []byte("#!/bin/sh\nBRINE_TEST_RUN=1 exec "+self+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The machines of the page are addresses of the test's server.
	local := strings.NewReplacer("192.0.2.", "127.0.0.", "user: admin", "user: "+s.sshd.User)
	var setup []string
	named := regexp.MustCompile("`(mytree/[^`]+)`:$")
	file, laidOut := "", false
	lines := strings.Split(doc.String(), "\n")
	for i := 0; i < len(lines); i++ {
		if m := named.FindStringSubmatch(lines[i]); m != nil {
			file = m[1]
		}
		lang, isFence := strings.CutPrefix(lines[i], "```")
		if !isFence {
			continue
		}
		var body []string
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			body = append(body, lines[i])
		}
		switch {
		case lang == "yaml" && file != "":
			s.write(file, local.Replace(strings.Join(body, "\n")+"\n"))
			if file == "mytree/roster" && !laidOut {
				laidOut = true
				s.write("mytree/master", read(t, s.path("mytree/master"))+fmt.Sprintf("ssh_port: %d\nssh_priv: %s\n", s.sshd.Port, s.sshd.Key))
				s.write("mytree/pillar/common.sls", "motd: "+s.path("motd")+"\n")
			}
			file = ""
		case lang == "console":
			setup = s.console(t, bin, setup, body)
		}
	}
}

var exitNote = regexp.MustCompile(`\s+# exit status (\d+)$`)

// console runs the commands of a block; those that set something for later ones
// are kept in setup.
func (s *site) console(t *testing.T, bin string, setup, body []string) []string {
	t.Helper()
	for i := 0; i < len(body); {
		line, ok := strings.CutPrefix(body[i], "$ ")
		if !ok {
			t.Fatalf("a console block begins with %q", body[i])
		}
		want := []string{}
		for i++; i < len(body) && !strings.HasPrefix(body[i], "$ "); i++ {
			want = append(want, body[i])
		}
		status := 0
		if m := exitNote.FindStringSubmatch(line); m != nil {
			_, _ = fmt.Sscan(m[1], &status)
			line = strings.TrimSuffix(line, m[0])
		}
		if strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "cd ") {
			setup = append(setup, line)
			continue
		}
		c := exec.Command("sh", "-c", strings.Join(append(slices.Clip(setup), line), "\n"))
		c.Dir = s.dir
		c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+s.path("tourhome"), "XDG_CACHE_HOME="+s.path("xdg"),
			"XDG_RUNTIME_DIR="+s.path("cache"), "BRINE_RUN_DIR="+s.path("cache")+"/events", "SSH_AUTH_SOCK=", "NO_COLOR=1")
		var errs strings.Builder
		c.Stderr = &errs
		out, _ := c.Output()
		if got := c.ProcessState.ExitCode(); got != status {
			t.Fatalf("%s: exit status %d, want %d\n%s%s", line, got, status, out, errs.String())
		}
		var re strings.Builder
		re.WriteString(`(?s)\A`)
		for _, w := range want {
			if strings.TrimSpace(w) == "..." {
				re.WriteString(`.*?`)
			} else {
				re.WriteString(`(?m:^)` + regexp.QuoteMeta(w) + `\n`)
			}
		}
		re.WriteString(`\z`)
		if !regexp.MustCompile(re.String()).Match(out) {
			t.Errorf("%s: printed\n%s\nwant\n%s\n%s", line, out, strings.Join(want, "\n"), errs.String())
		}
	}
	return setup
}
