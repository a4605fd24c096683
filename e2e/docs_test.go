package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"brine/internal/testkit/sshtest"
)

// A docCommand is a line "$ command" of a console block, with the output that
// the page shows for it.
type docCommand struct {
	line int
	text string
	want []string
}

// goesOn reports whether the lines of a here-document follow.
func (c *docCommand) goesOn() bool {
	return strings.Contains(c.text, "<<'EOF'") && !strings.HasSuffix(c.text, "\nEOF")
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
		case in && lang == "console" && !skip && len(cmds) > 0 && cmds[len(cmds)-1].goesOn() && strings.HasPrefix(line, ">"):
			c := &cmds[len(cmds)-1]
			c.text += "\n" + strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		case in && lang == "console" && !skip && len(cmds) > 0:
			cmds[len(cmds)-1].want = append(cmds[len(cmds)-1].want, line)
		}
	}
	return cmds, nil
}

// ownTests are the pages that need more than testdata, and the tests that run
// their commands.
var ownTests = map[string]string{
	"docs/ssh.md": "TestSSHTour", "docs/ssh/failures.md": "TestSSHTour", "docs/ssh/locks.md": "TestSSHTour", "docs/ssh/reboots.md": "TestSSHTour",
	"docs/ssh/targeting.md": "TestSSHTour", "docs/ssh/roster.md": "TestSSHTour", "docs/ssh/login.md": "TestSSHTour", "docs/ssh/agent.md": "TestSSHTour",
	"docs/relays.md": "TestRelayTour", "docs/fleets.md": "TestFleetsTour", "docs/cookbook.md": "TestCookbook",
}

// pageNeeds are the programs without which the commands of a page cannot run.
var pageNeeds = map[string]string{"docs/custom.md": "python3"}

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
		if len(cmds) == 0 {
			continue
		}
		ran += len(cmds)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.ContainsFunc(cmds, func(c docCommand) bool { return strings.HasPrefix(c.text, "git ") }) {
				sshtest.Require(t, "git")
			}
			if need := pageNeeds[filepath.ToSlash(name)]; need != "" {
				if _, err := exec.LookPath(need); err != nil {
					t.Skipf("there is no %s", need)
				}
			}
			runDoc(t, name, brine, cmds, nil)
		})
	}
	if ran == 0 {
		t.Error("no page has a command: is the pattern right?")
	}
}

// runDoc runs the commands of a page. prepare, which may be nil, puts more into
// their directory, and returns further variables of their environment.
func runDoc(t *testing.T, name, brine string, cmds []docCommand, prepare func(dir string) []string) {
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
	if prepare != nil {
		env = append(env, prepare(dir)...)
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

// A phrase is English that no documentation, message or comment of brine uses.
type phrase struct {
	re      string // case is ignored; a space also matches a line break
	not     string // matches of re that are correct; "" is none
	instead string
}

// phrases are wrong in any technical text. A phrase that has a correct use in
// such a text does not belong here.
var phrases = []phrase{
	{re: `heed(s|ed|ing)?`, instead: "respect, honour, apply"},
	{re: `anew`, instead: "again"},
	{re: `(where|there|here)of`, instead: "of which, of it"},
	{re: `wherein|therein|thereupon|whereupon|henceforth|lest|in (its|their) stead`, instead: "in which, in it, then, after which, from then on, so that ... not, instead"},
	{re: `far (side|end)`, instead: "the remote host, the target"},
	{re: `makes? no sense`, instead: "is invalid, usage error"},
	{re: `lies? below`, instead: "is under, is in"},
	{re: `stands? (below|beside)|may stand`, instead: "follows, is next to, may appear"},
	{re: `what( there is| is there|ever is there)( to \w+)?`, not: ` to \w+$`, instead: "the available functions, files, ..."},
	{re: `that (is|are) there`, instead: "available, existing"},
	{re: `needs?( not)? be there`, instead: "is required, is optional"},
	{re: `\w+ (is|are|was|were) no \w+`, not: `^there |^here | (longer|more|less|different|better|worse|such|other|one|way|need)$`, instead: "is not a ..., invalid ..."},
	{re: `(is|are) told( to)?`, not: ` to$`, instead: "reports, is reported, receives"},
	{re: `fares? (alike|well|ill|badly|better|worse)`, instead: "have the same result, succeed, fail"},
	{re: `see that`, instead: "check that"},
	{re: `in vain`, instead: "without success"},
	{re: `slips?`, instead: "error, mistake"},
	{re: `in silence|without a word`, instead: "silently"},
	{re: `in the midst`, instead: "while, during"},
	{re: `what is under way`, instead: "the running steps, calls, ..."},
	{re: `which brine does not run`, instead: "is not supported"},
	{re: `(is|are) not believed`, instead: "is ignored"},
	{re: `as \w+ has (it|them)`, instead: "as in ..."},
}

// A finding is a phrase in a text.
type finding struct {
	line          int // of the text, from 1
	text, instead string
}

// phraseExps are the expressions of phrases: what to find, and what of that is
// correct (nil is none).
var phraseExps = sync.OnceValue(func() (exps [][2]*regexp.Regexp) {
	for _, p := range phrases {
		words := strings.ReplaceAll(p.re, " ", `(?:[ \t]+|[ \t]*\n[ \t]*)`)
		exp := [2]*regexp.Regexp{regexp.MustCompile(`(?i)\b(?:` + words + `)\b`)}
		if p.not != "" {
			exp[1] = regexp.MustCompile(`(?i)` + p.not)
		}
		exps = append(exps, exp)
	}
	return exps
})

// findPhrases returns the phrases in a text, in the order of the list.
func findPhrases(text string) (all []finding) {
	for i, exp := range phraseExps() {
		for _, at := range exp[0].FindAllStringIndex(text, -1) {
			found := strings.Join(strings.Fields(text[at[0]:at[1]]), " ")
			if exp[1] == nil || !exp[1].MatchString(found) {
				all = append(all, finding{1 + strings.Count(text[:at[0]], "\n"), found, phrases[i].instead})
			}
		}
	}
	return all
}

// pageProse returns a page with its code and comments blanked: blocks between
// fences, `code` and <!-- comments -->. Lines keep their numbers.
func pageProse(page string) string {
	code := regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$|``.+?``|`(?:[^`\n]|\n[^`\n])+`|<!--.*?-->")
	return code.ReplaceAllStringFunc(page, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n")) + "`"
	})
}

// goFiles returns the Go files of the repository that are not tests.
func goFiles(t *testing.T) (paths []string) {
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			// internal/core/pongo2 is the source of somebody else.
			if strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || path == "internal/testkit" || path == "internal/core/pongo2" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no Go file found: is this the root of the repository?")
	}
	return paths
}

// TestPlainEnglish looks for phrases that are not plain English in the README, in
// docs, in the strings of the program, which users read as messages and help, and in
// its comments.
func TestPlainEnglish(t *testing.T) {
	for _, path := range goFiles(t) {
		found, err := goPhrases(path, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s:%d: %q is not plain English: write %s", path, f.line, f.text, f.instead)
		}
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 2 {
		t.Fatalf("%d pages found: is this the root of the repository?", len(pages))
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findPhrases(pageProse(string(page))) {
			t.Errorf("%s:%d: %q is not plain English: write %s", path, f.line, f.text, f.instead)
		}
	}
}

// goPhrases returns the phrases in the string literals of a Go file and, if comments is
// set, in its comments. If src is nil, the file is read from disk.
func goPhrases(path string, src any, comments bool) (all []finding, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if comments {
		for _, group := range file.Comments {
			for _, f := range findPhrases(group.Text()) {
				f.line += files.Position(group.Pos()).Line - 1
				all = append(all, f)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			for _, f := range findPhrases(text) {
				f.line = files.Position(lit.Pos()).Line
				all = append(all, f)
			}
		}
		return true
	})
	return all, nil
}

// nameWords are words that no name is made of, since a reader has to guess what they
// mean, and what to name it instead.
var nameWords = map[string]string{
	"heed": "apply, respect", "heeds": "applies, respects", "heeded": "applied, respected",
	"said": "what was set, shown or printed", "told": "warned, reported, shown", "gone": "deleted, closed, down",
	"because": "reason", "anew": "again", "midst": "during", "thereof": "of it", "whereof": "of what",
	"wish": "request", "wishes": "requests", "lacks": "missing", "lone": "single, failed", "fate": "outcome",
	"eat": "consume", "eaten": "consumed", "rouse": "wake", "earnest": "real", "slip": "mistake", "slips": "mistakes",
	"stubborn": "retry", "newborn": "new, justCreated", "mends": "retryable", "unheard": "unreachable", "unsaid": "unreported",
	"spoil": "invalidate", "spoiled": "invalid", "patience": "timeout", "hinge": "target", "hinges": "targets",
	"sieve": "filter", "sift": "filter", "tend": "check", "believed": "trusted", "squatted": "unsafe", "rehearsed": "planned",
	"ill": "failed", "deaf": "unresponsive", "appraise": "assess", "relief": "wait", "relieve": "add",
	"vigil": "watchdog", "restless": "retryable", "says": "text, summary", "tells": "reports",
}

// splitName returns the words of a name in lower case: "errNotHTTPBody" has err, not,
// http and body.
func splitName(name string) (words []string) {
	r := []rune(name)
	start := 0
	for i := range r {
		ends := i+1 == len(r)
		switch {
		case r[i] == '_':
			words, start = append(words, string(r[start:i])), i+1
			continue
		case !ends && unicode.IsUpper(r[i+1]) && !unicode.IsUpper(r[i]):
			ends = true
		case i+2 < len(r) && unicode.IsUpper(r[i]) && unicode.IsUpper(r[i+1]) && unicode.IsLower(r[i+2]):
			ends = true
		}
		if ends {
			words, start = append(words, string(r[start:i+1])), i+1
		}
	}
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return words
}

// goNames returns the declarations of a Go file whose names contain one of nameWords:
// types, functions, methods, fields, and variables and constants outside functions. If
// src is nil, the file is read from disk.
func goNames(path string, src any) (all []finding, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	check := func(names ...*ast.Ident) {
		for _, name := range names {
			for _, w := range splitName(name.Name) {
				if instead := nameWords[w]; instead != "" {
					all = append(all, finding{files.Position(name.Pos()).Line, name.Name, instead})
				}
			}
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			check(d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					check(s.Name)
				case *ast.ValueSpec:
					check(s.Names...)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var fields *ast.FieldList
		switch x := n.(type) {
		case *ast.StructType:
			fields = x.Fields
		case *ast.InterfaceType:
			fields = x.Methods
		default:
			return true
		}
		for _, f := range fields.List {
			check(f.Names...)
		}
		return true
	})
	return all, nil
}

// TestPlainNames looks for names that a reader would have to guess.
func TestPlainNames(t *testing.T) {
	for _, path := range goFiles(t) {
		found, err := goNames(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			t.Errorf("%s:%d: the name %s has to be guessed: write %s", path, f.line, f.text, f.instead)
		}
	}
}

// TestGoPhrases shows where goPhrases looks.
func TestGoPhrases(t *testing.T) {
	const src = "// Package p is read anew.\npackage p\n\n/* It makes\nno sense. */\nvar x = \"%q is no jid\" // in vain\n\nvar anew = `a\nslip`\n"
	for _, tt := range []struct {
		comments bool
		want     []int // lines
	}{
		{false, []int{6, 8}},
		{true, []int{1, 4, 6, 6, 8}},
	} {
		found, err := goPhrases("p.go", src, tt.comments)
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		for _, f := range found {
			lines = append(lines, f.line)
		}
		slices.Sort(lines)
		if !slices.Equal(lines, tt.want) {
			t.Errorf("goPhrases with comments %v: lines %v, want %v: %v", tt.comments, lines, tt.want, found)
		}
	}
}

// TestGoNames shows which names goNames finds.
func TestGoNames(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want []string
	}{
		{"func (p *proc) Heed() {}", []string{"Heed"}},
		{"type wishTable struct{ lastTold, told_at int; saidHTTP bool }", []string{"wishTable", "lastTold", "told_at", "saidHTTP"}},
		{"type t interface{ endBecause() }", []string{"endBecause"}},
		{"const (\n\terrGone = 1\n\tHTTPGone = 2\n)", []string{"errGone", "HTTPGone"}},
		{"var x = struct{ fate int }{}", []string{"fate"}},
		{"func f() { var told int; type slip struct{ Gone bool } }", []string{"Gone"}}, // not local names
		{"func wholesale(said string) { gone := said; _ = gone }", nil},
		{"type slippery struct{ *proc; heading int }", nil},
	} {
		found, err := goNames("p.go", "package p\n"+tt.src)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range found {
			names = append(names, f.text)
		}
		if !slices.Equal(names, tt.want) {
			t.Errorf("goNames(%q) = %v, want %v", tt.src, names, tt.want)
		}
	}
}

// TestPhrases holds the list of phrases to what it is for.
func TestPhrases(t *testing.T) {
	for _, text := range []string{
		"There is no Python in it, and there are no limits.", "The option is no longer supported.", "If there is no such file, it fails.",
		"The option is respected; see the list below.", "Salt refuses the run unless it is told to queue.", "It is under `scratch`.",
		"The target is not in the roster.", "Show what there is to do.",
	} {
		if found := findPhrases(text); len(found) > 0 {
			t.Errorf("findPhrases(%q) = %v, want none", text, found)
		}
	}
	for _, text := range []string{
		"%q is no jid", "The command line makes\nno sense.", "Slips are fixed.", "the functions that are there", "hosts that fare alike", "What is there:",
		"Everything lies below scratch.", "It is read anew.", "brine heeds the option.", "Warnings are told on stderr.",
	} {
		if found := findPhrases(text); len(found) != 1 {
			t.Errorf("findPhrases(%q) = %v, want one", text, found)
		}
	}
	got := pageProse("a `slip` b\n```\nin vain\n```\n<!-- anew\n -->slip\n")
	if found := findPhrases(got); len(found) != 1 || found[0].line != 6 {
		t.Errorf("found %v, want one at line 6", found)
	}
}
