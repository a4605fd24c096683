package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/py/proc"
)

// A mistake is a block of testdata/mistakes.txt: a command line that somebody types by
// mistake, and what the answer has to say: what is wrong, where, and how to mend it.
type mistake struct {
	line   int
	files  map[string]string // written to the tree
	dir    string            // working directory, within the tree
	env    []string
	args   string
	says   []string
	never  []string
	status string
}

// readMistakes reads the blocks. Lines of a block begin with "$ " (the words behind
// brine), "> " (text that the answer has), "! " (text that it must not have), "= " (its
// status; any but 0 where there is none), "@ " (a file of the tree, whose lines follow
// after "| "), "cd " (a directory of the tree) and "env "; "#" is a heading.
func readMistakes(t *testing.T) []*mistake {
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*mistake
	m, file := &mistake{files: map[string]string{}}, ""
	for n, line := range append(strings.Split(string(text), "\n"), "") {
		mark, rest, _ := strings.Cut(line, " ")
		switch mark {
		case "":
			if m.args != "" {
				all = append(all, m)
			}
			m = &mistake{files: map[string]string{}}
		case "#":
		case "$":
			m.line, m.args = n+1, rest
		case ">":
			m.says = append(m.says, rest)
		case "!":
			m.never = append(m.never, rest)
		case "=":
			m.status = rest
		case "@":
			file = rest
			m.files[file] = ""
		case "|":
			m.files[file] += rest + "\n"
		case "cd":
			m.dir = rest
		case "env":
			m.env = append(m.env, rest)
		default:
			t.Fatalf("testdata/mistakes.txt:%d: unknown mark %q", n+1, mark)
		}
	}
	return all
}

// leastMistakes is how many the list has at least.
const leastMistakes = 205

// TestMistakes makes mistakes on purpose, and compares what brine says of them.
func TestMistakes(t *testing.T) {
	all := readMistakes(t)
	if len(all) < leastMistakes {
		t.Errorf("%d mistakes, want %d", len(all), leastMistakes)
	}
	for _, m := range all {
		t.Run(fmt.Sprintf("%d:%s", m.line, m.args), func(t *testing.T) { m.run(t) })
	}
}

func (m *mistake) run(t *testing.T) {
	if len(m.says) < 2 {
		t.Fatalf("testdata/mistakes.txt:%d: an answer says what is wrong and how to mend it", m.line)
	}
	home := t.TempDir()
	tree := filepath.Join(home, "tree")
	t.Setenv("HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", home)
	for _, name := range []string{"BRINE_CONFIG_DIR", "SALT_CONFIG_DIR", "SALT_SALTFILE", "SALT_MINION_CONFIG", "SALT_MASTER_CONFIG", "SSH_AUTH_SOCK"} {
		t.Setenv(name, "")
	}
	for _, e := range m.env {
		k, v, _ := strings.Cut(e, "=")
		t.Setenv(k, v)
	}
	if status, text := brine("init", tree); status != 0 {
		t.Fatal(text)
	}
	for name, text := range m.files {
		path := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(tree, m.dir))
	args, err := proc.Split(m.args)
	if err != nil {
		t.Fatal(err)
	}
	status, text := brine(args...)
	if status == 0 || m.status != "" && m.status != fmt.Sprint(status) {
		t.Errorf("testdata/mistakes.txt:%d: status %d, want %s", m.line, status, m.status)
	}
	for _, w := range m.says {
		if !strings.Contains(text, w) {
			t.Errorf("testdata/mistakes.txt:%d: the answer does not say %q", m.line, w)
		}
	}
	for _, w := range m.never {
		if strings.Contains(text, w) {
			t.Errorf("testdata/mistakes.txt:%d: the answer says %q", m.line, w)
		}
	}
	if t.Failed() {
		t.Logf("$ brine %s\n%s", m.args, text)
	}
}

// brine runs a command line, and returns its status and what it prints.
func brine(args ...string) (int, string) {
	var out, errs bytes.Buffer
	status := execute(&app.App{
		In: strings.NewReader(""), Out: &out, Err: &errs, Args: args, Program: "brine", Getenv: os.Getenv, Host: host.NewLocal(),
	})
	return status, errs.String() + out.String()
}
