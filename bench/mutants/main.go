// Command mutants undoes the guards that docs/security.md names, one by one, and
// checks that a test notices. It changes no file of the tree: go builds each test
// with other files in the place of those with the guard.
//
//	mutants [-only TEXT] [LIST]
//
// LIST is bench/mutants/list.txt: for each guard its name, the file, the text of it
// that is replaced, which the file has exactly once, the text that replaces it, and
// the package with the test that has to fail. Where a guard stands behind another
// one, it has several texts, and all of them are replaced. The test has to pass
// without the change. What does not compile, hangs, is skipped or passes is a fault of
// the list or of the test, and the status is 1.
//
// The list also has attacks without a guard of their own: blocks with the key attack,
// which names a package and a test, and the key why. Each test with Hostile in its
// name is in the list, in one way or the other.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "only guards whose name, file or test has this `text`")
	flag.Parse()
	list := "bench/mutants/list.txt"
	if flag.NArg() > 0 {
		list = flag.Arg(0)
	}
	if err := run(os.Stdout, list, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// A mutant is a guard that is undone. With why, it is an attack without one.
type mutant struct {
	line                   int
	guard, pkg, check, why string
	edits                  []edit
}

// An edit replaces a text of a file, which has it once.
type edit struct{ file, old, new string }

// pattern is the one that runs the tests, and no other parts of them.
func (m *mutant) pattern() string {
	top, parts, has := strings.Cut(m.check, "/")
	out := "^(" + top + ")$"
	if has {
		out += "/^" + strings.ReplaceAll(regexp.QuoteMeta(parts), "/", "$/^") + "$"
	}
	return out
}

// part reports whether the output of the tests says that those of the mutant failed.
func (m *mutant) part(out string) bool {
	_, _, has := strings.Cut(m.check, "/")
	return !has || regexp.MustCompile(`(?m)^\s*--- FAIL: `+regexp.QuoteMeta(m.check)+`[ /]`).MatchString(out)
}

// parse reads a list: blocks of "key: value" lines; lines that begin with # are
// comments. A value that does not fit on one line has \n, and \\n where the file has
// that.
func parse(text string) (all []*mutant, err error) {
	var m *mutant
	file := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			m = nil
			continue
		case strings.HasPrefix(line, "#"):
			continue
		}
		key, v, ok := strings.Cut(line, ": ")
		if !ok && strings.HasSuffix(line, ":") {
			key, ok = strings.TrimSuffix(line, ":"), true
		}
		if !ok {
			return nil, fmt.Errorf("line %d: not KEY: VALUE", i+1)
		}
		if m == nil {
			m = &mutant{line: i + 1}
			all = append(all, m)
			file = ""
		}
		v = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(v)
		switch key {
		case "guard":
			m.guard = v
		case "file":
			file = v
		case "old":
			m.edits = append(m.edits, edit{file: file, old: v})
		case "new":
			if len(m.edits) == 0 {
				return nil, fmt.Errorf("line %d: new before old", i+1)
			}
			m.edits[len(m.edits)-1].new = v
		case "why":
			m.why = v
		case "test", "attack":
			m.pkg, m.check, ok = strings.Cut(v, " ")
			if !ok {
				return nil, fmt.Errorf("line %d: not PACKAGE TEST", i+1)
			}
		default:
			return nil, fmt.Errorf("line %d: unknown key %q", i+1, key)
		}
	}
	for _, m := range all {
		switch {
		case m.why != "" && m.check != "" && m.guard == "" && len(m.edits) == 0:
		case m.why != "" || m.guard == "" || m.check == "" || len(m.edits) == 0 ||
			slices.ContainsFunc(m.edits, func(e edit) bool { return e.file == "" || e.old == "" || e.old == e.new }):
			return nil, fmt.Errorf("line %d: a guard has a guard, file, old, new and test; an attack without one has attack and why", m.line)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the list is empty")
	}
	return all, nil
}

// changed returns the files without the guard, by their names.
func (m *mutant) changed() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, e := range m.edits {
		b := out[e.file]
		if b == nil {
			var err error
			if b, err = os.ReadFile(e.file); err != nil {
				return nil, err
			}
		}
		if n := bytes.Count(b, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times, and not once: the list no longer matches the code", e.file, e.old, n)
		}
		out[e.file] = bytes.Replace(b, []byte(e.old), []byte(e.new), 1)
	}
	return out, nil
}

// files returns the names of the files that are changed.
func (m *mutant) files() (out string) {
	for _, e := range m.edits {
		out += e.file + " "
	}
	return out
}

func run(w io.Writer, list, only string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	all, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tried, bad := 0, 0
	passes := map[string]error{} // by package and test, without a change
	for _, m := range all {
		if m.why != "" || only != "" && !strings.Contains(m.guard+" "+m.files()+m.check, only) {
			continue
		}
		tried++
		begun := time.Now()
		err := m.try(dir, passes)
		word := "noticed"
		if err != nil {
			bad++
			word = "NOT NOTICED"
		}
		fmt.Fprintf(w, "%-11s  %s  (%s %s, %.0f s)\n", word, m.guard, m.pkg, m.check, time.Since(begun).Seconds())
		if err != nil {
			fmt.Fprintf(w, "  %s:%d: %v\n", list, m.line, err)
		}
	}
	fmt.Fprintf(w, "%d of %d guards are noticed when they are missing\n", tried-bad, tried)
	switch {
	case tried == 0:
		return fmt.Errorf("no guard has %q", only)
	case bad > 0:
		return fmt.Errorf("%d guards could be removed without a failing test", bad)
	}
	return nil
}

// try undoes the guard, and returns an error where the test does not notice.
func (m *mutant) try(dir string, passes map[string]error) error {
	text, err := m.changed()
	if err != nil {
		return err
	}
	key := m.pkg + " " + m.check
	if _, known := passes[key]; !known {
		_, passes[key] = m.test(dir, "")
	}
	if err := passes[key]; err != nil {
		return fmt.Errorf("without the change: %w", err)
	}
	replace := map[string]string{}
	for name, b := range text {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		replace[abs] = filepath.Join(dir, fmt.Sprintf("changed%d.go", len(replace)))
		if err := os.WriteFile(replace[abs], b, 0o600); err != nil {
			return err
		}
	}
	doc, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, doc, 0o600); err != nil {
		return err
	}
	out, err := m.test(dir, overlay)
	switch {
	case err == nil:
		return errors.New("the test passes without the guard")
	case !errors.Is(err, errFailed):
		return err
	case strings.Contains(out, "panic: test timed out"):
		return fmt.Errorf("the test hangs without the guard instead of failing: %s", tail(out))
	case !m.part(out):
		return fmt.Errorf("another part of the test fails: %s", tail(out))
	}
	return nil
}

var (
	errFailed = errors.New("the test fails")
	failedRE  = regexp.MustCompile(`(?m)^\s*--- FAIL: (Test|Fuzz)`)
	skippedRE = regexp.MustCompile(`(?m)^\s*--- SKIP: (Test|Fuzz)`)
	passedRE  = regexp.MustCompile(`(?m)^\s*--- PASS: (Test|Fuzz)`)
)

// test builds and runs the test. nil: it passed; errFailed: it failed; another
// error says why there is no answer.
func (m *mutant) test(dir, overlay string) (string, error) {
	bin := filepath.Join(dir, "mutant.test")
	args := []string{"test", "-trimpath", "-vet=off", "-c", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.Command("go", append(args, m.pkg)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not compile: %s", tail(string(out)))
	}
	c := exec.Command(bin, "-test.v", "-test.timeout=5m", "-test.run="+m.pattern())
	c.Dir = m.pkg
	b, err := c.CombinedOutput()
	out := string(b)
	switch {
	case failedRE.MatchString(out):
		return out, errFailed
	case err != nil && strings.Contains(out, "\npanic: "):
		return out, errFailed // in a goroutine, or out of time
	case err != nil:
		return out, fmt.Errorf("%w: %s", err, tail(out))
	case skippedRE.MatchString(out):
		return out, fmt.Errorf("the test is skipped: %s", tail(out))
	case !passedRE.MatchString(out):
		return out, fmt.Errorf("%s has no test %s", m.pkg, m.check)
	}
	return out, nil
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-600):]
}
