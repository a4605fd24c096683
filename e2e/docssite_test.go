package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"brine/internal/testkit/browsertest"
)

// docsArchive makes the archive of the documentation, as "make build" does. That
// fails where a link leads nowhere.
func docsArchive(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "docs.xz")
	out, err := exec.CommandContext(t.Context(), "go", "run", "-C", ".ci/site", ".", "-o", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

func docsCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self := brineProgram()
	c := exec.CommandContext(t.Context(), self)
	c.Args = append([]string{"brine", "docs"}, args...)
	c.Env = append(os.Environ(), "BRINE_TEST_RUN=1")
	return c
}

// TestDocsText prints every page as text: its tables and paragraphs fit the terminal, and
// what a person misspells is told.
func TestDocsText(t *testing.T) {
	t.Parallel()
	archive := docsArchive(t)
	for _, tt := range []struct {
		args string
		fine bool
		want string
	}{
		{"tutorial", true, "(?m)^Tutorial: from nothing.*\n=+$"},
		{"docs/tutorial.md", true, "(?m)^Tutorial: from nothing"},
		{"reference/states/file --text", true, "(?m)^managed\n-+$"},
		{"environment", true, "(?m)^`BRINE_CONFIG_DIR` +directory"},
		{"environment#output", true, "^Output\n------\n"},
		{"tutorail --text", false, `there is no page "tutorail" \(did you mean "tutorial"\?\)`},
		{"docs/tutorail.md", false, `did you mean "tutorial"`},
		{"states/file --serve", false, `did you mean "reference/states/file"`},
		{"environment#outptu", false, `the page environment has no part "outptu" \(did you mean "environment#output"\?\)`},
		{"dry run", true, "^plan\n"},
		{"inventory", true, "^ssh/roster\n"},
		{"custom module", true, "^custom\n"},
		{"vault", true, "^cookbook#secrets-in-vault\n"},
		{"tutorail", false, `nothing in the documentation fits "tutorail" \(did you mean "tutorial"\?\)`},
	} {
		out, err := docsCommand(t, append([]string{"--from", archive}, strings.Fields(tt.args)...)...).CombinedOutput()
		if (err == nil) != tt.fine || !regexp.MustCompile(tt.want).Match(out) {
			t.Errorf("brine docs %s: %v: %.300s", tt.args, err, out)
		}
	}
	list, err := docsCommand(t, "--from", archive, "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`(?m)^\S+`).FindAllString(string(list), -1) {
		if strings.HasPrefix(name, "reference/") { // they are alike, and 200
			continue
		}
		c := docsCommand(t, "--from", archive, name)
		c.Env = append(c.Env, "COLUMNS=60")
		out, err := c.Output()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(string(out)) {
			line = strings.TrimRight(line, "\n")
			if !strings.HasPrefix(line, "    ") && utf8.RuneCountInString(line) > 60 && len(strings.Fields(strings.TrimPrefix(line, "- "))) > 1 {
				t.Errorf("%s: a line is too wide: %q", name, line)
			}
		}
	}
}

// TestDocsSite makes the site, follows its links, and has a browser read it: from
// brine docs, and from files.
func TestDocsSite(t *testing.T) {
	t.Parallel()
	archive := docsArchive(t)
	if text := read(t, archive); len(text) > 520_000 {
		t.Errorf("the documentation takes %d bytes of the program", len(text))
	}
	dir := t.TempDir()
	if out, err := docsCommand(t, "--from", archive, "--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if pages := checkLinks(t, dir); pages < 200 {
		t.Errorf("the site has %d pages", pages)
	}
	out, err := docsCommand(t, "--from", archive, "--list").Output()
	if err != nil || !regexp.MustCompile(`(?m)^tutorial +Tutorial: from nothing`).Match(out) {
		t.Errorf("--list: %v: %s", err, out)
	}
	out, err = docsCommand(t, "--from", archive, "jump", "hosts").Output()
	if err != nil || !strings.Contains(string(out), "\n    Logging in: ssh_config") {
		t.Errorf("jump hosts: %v: %s", err, out)
	}
	if out, err := docsCommand(t, "--from", archive, "xyzzy").CombinedOutput(); err == nil || !strings.Contains(string(out), `nothing in the documentation fits "xyzzy"`) {
		t.Errorf("a word that is nowhere: %v: %s", err, out)
	}
	hits := regexp.MustCompile(`(?m)^\S+`).FindAllString(string(out), 5)

	server := docsCommand(t, "--from", archive, "tutorial", "--serve")
	pipe, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(pipe).ReadString('\n')
	url := strings.TrimSpace(line)
	if err != nil || !strings.HasSuffix(url, "/tutorial.html") {
		t.Fatalf("brine docs tutorial: %q, %v", url, err)
	}
	if res, err := http.Get(url); err != nil || res.StatusCode != http.StatusOK { // of a test
		t.Fatalf("%s: %v, %v", url, res, err)
	} else {
		res.Body.Close()
	}
	t.Run("browser", func(t *testing.T) {
		tab := browsertest.Open(t, 1300, 900)
		base := strings.TrimSuffix(url, "tutorial.html")
		for _, page := range []string{"index", "tutorial", "compatibility", "reference/states/file"} {
			readable(t, tab, base+page+".html")
		}
		printed(t, tab, base+"tutorial.html")
		if got, want := copied(t, tab, base+"tutorial.html"), "brine init shop\nls shop\n"; got != want {
			t.Errorf("the button of a code block copies %q, want %q", got, want)
		}
		for _, from := range []string{base, "file://" + dir + "/"} {
			got := searched(t, tab, from+"reference/states/file.html", "jump hosts")
			for i, hit := range hits {
				page, anchor, ok := strings.Cut(hit, "#")
				want := from + page + ".html"
				if ok {
					want += "#" + anchor
				}
				if i >= len(got) || got[i] != want {
					t.Errorf("%s: the search finds %v, brine docs finds %v", from, got, hits)
					break
				}
			}
		}
		for _, fault := range tab.Faults() {
			t.Errorf("on the console: %s", fault)
		}
	})
	_ = server.Process.Signal(syscall.SIGINT)
	_ = server.Wait()
	if code := server.ProcessState.ExitCode(); code != 130 {
		t.Errorf("Ctrl-C ends brine docs with status %d", code)
	}
}

// readable looks at a page in light and dark, and as wide as a phone.
func readable(t *testing.T, tab *browsertest.Tab, url string) {
	t.Helper()
	tab.Do(t, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url), chromedp.WaitVisible("form input"))
	shot := func(kind string) {
		if to := os.Getenv("BRINE_TEST_SHOTS"); to != "" {
			name := strings.TrimSuffix(filepath.Base(url), ".html") + "-" + kind + ".png"
			if err := os.WriteFile(filepath.Join(to, name), browsertest.Get(t, tab, chromedp.CaptureScreenshot()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		tab.Scheme(t, scheme)
		for _, fault := range tab.Axe(t, scheme == "dark") {
			t.Errorf("%s, %s: %s", url, scheme, fault)
		}
		shot(scheme)
	}
	tab.Scheme(t, "light")
	tab.Do(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile), chromedp.Navigate(url), chromedp.WaitVisible("form input"))
	if tab.Wider(t) {
		t.Errorf("%s is wider than a phone", url)
	}
	shot("phone")
}

// printed looks at a page as it is printed.
func printed(t *testing.T, tab *browsertest.Tab, url string) {
	t.Helper()
	tab.Do(t, chromedp.EmulateViewport(700, 900), chromedp.Navigate(url), chromedp.WaitVisible("form input"))
	tab.Media(t, "print")
	defer tab.Media(t, "")
	if left := browsertest.Get(t, tab, chromedp.Evaluate[string](`[...document.querySelectorAll("header, .pages, .outline, .code button")].filter(e => e.checkVisibility()).map(e => e.tagName).join()`)); left != "" {
		t.Errorf("%s: on paper there are %s", url, left)
	}
	if tab.Wider(t) {
		t.Errorf("%s is wider than paper", url)
	}
}

// copied returns what the button of the first code block copies.
func copied(t *testing.T, tab *browsertest.Tab, url string) string {
	t.Helper()
	tab.Do(t, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url), chromedp.WaitVisible(".code button"))
	browsertest.Get(t, tab, chromedp.Evaluate[bool](`navigator.clipboard.writeText = async text => { window.copied = text; }; document.querySelector(".code button").click(); true`))
	return browsertest.Get(t, tab, chromedp.Evaluate[string](`window.copied`))
}

// searched returns where the results of a search lead.
func searched(t *testing.T, tab *browsertest.Tab, url, words string) []string {
	t.Helper()
	tab.Do(t, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url), chromedp.WaitVisible("form input"),
		chromedp.SendKeys("form input", words), chromedp.WaitVisible("#found a"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A result of a part of the words may be there first.
	for ctx.Err() == nil {
		if got := browsertest.Get(t, tab, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#found a")].map(a => a.href)`)); len(got) > 0 {
			if done := browsertest.Get(t, tab, chromedp.Evaluate[string](`document.querySelector("form input").value`)); done == words {
				return got
			}
		}
	}
	t.Fatalf("%s: the search does not end", url)
	return nil
}

// checkLinks looks whether the links of the pages in a directory lead to files and
// anchors, and returns how many pages there are.
func checkLinks(t *testing.T, dir string) (pages int) {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	for path, text := range texts {
		if filepath.Ext(path) != ".html" {
			continue
		}
		pages++
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			switch target, ok := texts[to]; {
			case !ok:
				t.Errorf("%s: there is no %s", path, m[1])
			case anchor != "" && !strings.Contains(target, fmt.Sprintf(` id="%s"`, anchor)):
				t.Errorf("%s: there is no anchor %s", path, m[1])
			}
		}
	}
	return pages
}
