package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A docCommand is a line "$ command" of a console block, with the output that
// the page shows for it.
type docCommand struct {
	line int
	text string
	want []string
}

// docCommands returns the commands of a page's console blocks. A block may be
// left out by a comment before it that gives the reason: installing brine
// needs a network.
func docCommands(page string) (cmds []docCommand, err error) {
	var (
		in, skip bool
		lang     string
	)
	reason := regexp.MustCompile(`^<!-- not run: \S.* -->$`)
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case !in && strings.HasPrefix(trimmed, "```"):
			in, lang = true, strings.TrimPrefix(trimmed, "```")
		case in && trimmed == "```":
			in, skip = false, false
		case !in && reason.MatchString(trimmed):
			skip = true
		case !in && trimmed != "":
			skip = false
		case in && strings.HasPrefix(line, "$ ") && lang != "console":
			return nil, fmt.Errorf("line %d: commands stand in blocks marked console, not %q", i+1, lang)
		case in && lang == "console" && !skip && strings.HasPrefix(line, "$ "):
			cmds = append(cmds, docCommand{line: i + 1, text: line[2:]})
		case in && lang == "console" && !skip && len(cmds) > 0:
			cmds[len(cmds)-1].want = append(cmds[len(cmds)-1].want, line)
		}
	}
	return cmds, nil
}

// ownTests are the pages that need more than testdata, and the tests that run
// their commands.
var ownTests = map[string]string{"docs/ssh.md": "TestSSHTour"}

// TestDocs runs every command of the README and of docs, in the order of each
// page, in a directory that has the repository's testdata, and compares what
// it prints with the page. A line "..." stands for any lines; times, durations
// and jids may differ. A command may fail only where "$ echo $?" follows.
func TestDocs(t *testing.T) {
	pages := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, d os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" && ownTests[filepath.ToSlash(path)] == "" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	brine, err := exec.LookPath("brine")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		cmds, err := docCommands(string(page))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		ran += len(cmds)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runDoc(t, name, brine, cmds)
		})
	}
	if ran == 0 {
		t.Error("no page has a command: is the pattern right?")
	}
}

func runDoc(t *testing.T, name, brine string, cmds []docCommand) {
	dir := t.TempDir()
	for _, tree := range []string{"demo", "seeds"} {
		if err := copyTree(filepath.Join("testdata", tree), filepath.Join(dir, "testdata", tree)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(brine, filepath.Join(dir, "brine")); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	if err := scriptHome(t.TempDir(), func(k, v string) { env = append(env, k+"="+v) }); err != nil {
		t.Fatal(err)
	}
	status := 0
	for i, c := range cmds {
		// The test binary is what these would build.
		text := strings.ReplaceAll(c.text, "go run . ", "brine ")
		text = strings.ReplaceAll(text, "go build -o brine .", "true")
		cmd := exec.Command("sh", "-c", fmt.Sprintf("(exit %d); %s", status, text))
		cmd.Dir, cmd.Env = dir, env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		status = cmd.ProcessState.ExitCode()
		if status != 0 && (i+1 == len(cmds) || cmds[i+1].text != "echo $?") {
			t.Errorf("%s:%d: %q: exit status %d\n%s", name, c.line, c.text, status, out.String())
			continue
		}
		if len(c.want) == 0 {
			continue
		}
		got := docLines(strings.ReplaceAll(out.String(), dir, "/src/brine"))
		want := docLines(strings.Join(c.want, "\n"))
		if !matchLines(want, got) {
			t.Errorf("%s:%d: %q: -page +brine:\n%s", name, c.line, c.text, cmp.Diff(want, got))
		}
	}
}

// docMasks are what differs between two runs.
var docMasks = []struct{ re, to string }{
	{`Started: \S+`, "Started: <time>"},
	{`Duration: [\d.]+ ms`, "Duration: <duration>"},
	{`Total run time: +[\d.]+ m?s`, "Total run time: <duration>"},
	{`"duration": [\d.]+`, `"duration": <duration>`},
	{`"start_time": "[^"]*"`, `"start_time": "<time>"`},
	{`\b20\d{18}\b`, "<jid>"},
}

// docLines returns text as lines without what differs between two runs and
// without blanks at line ends.
func docLines(text string) []string {
	for _, m := range docMasks {
		text = regexp.MustCompile(m.re).ReplaceAllString(text, m.to)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return lines
}

// matchLines reports whether got is want, where "..." in want is any lines.
func matchLines(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "..." {
		for i := 0; i <= len(got); i++ {
			if matchLines(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && want[0] == got[0] && matchLines(want[1:], got[1:])
}
