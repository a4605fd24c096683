package chain_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/view/chain"
)

// TestParse reads bad chains: each fault has its place.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"list", "- a", "c.yml:1:1: a chain must be a mapping with the key steps, not a list"},
		{"empty", "", "c.yml:1:1: a chain must be a mapping with the key steps, not nothing"},
		{"YAML", "a: [", "c.yml:"},
		{"key", "step: []", `c.yml:1:1: the chain: unknown key "step" (did you mean "steps"?)`},
		{"steps", "steps: x", "c.yml:1:1: steps must be a list, not text"},
		{"step", "steps: [x]", "step 1 must be a mapping with the key action, not text"},
		{"action", "steps: [{action: pgk}]", `unknown action "pgk" (did you mean "pkg"?)`},
		{"a boolean key", "steps: [{action: cmd, command: x, on: y}]", `unknown key "True"`},
		{"needs", "steps: [{action: cmd, targets: x}]", "step 1, cmd, needs command"},
		{"version", "steps: [{action: pkg, targets: x, packages: {a: [1]}}]", "the version of a must be text, not a list"},
		{"package", "steps: [{action: pkg, targets: x, packages: [a=]}]", "a package is NAME or NAME=VERSION, not 'a='"},
		{"packages", "steps: [{action: pkg, targets: x, packages: a}]", "packages must be a mapping of versions or a list of names, not text"},
		{"id", "steps: [{action: cmd, command: x, targets: y, id: x}]", "id must be a number above 0, not 'x'"},
		{"dest", "steps: [{action: config, source: x, dest: y, targets: z}]", `dest must be an absolute path, not "y"`},
		{"pillar", "steps: [{action: highstate, targets: z, pillar: x}]", "pillar must be a mapping, not text"},
		{"pillar_for", "steps: [{action: highstate, targets: z, pillar_for: {a: x}}]", "the values of a must be a mapping, not text"},
		{"test", "steps: [{action: highstate, targets: z, test: x}]", "test must be True or False, not 'x'"},
		{"sls", "steps: [{action: state, targets: z, sls: {a: b}}]", "sls must be text or a list of texts, not a mapping"},
		{"targets", "steps: [{action: orchestrate, sls: a, targets: b}]", `step 1, orchestrate: unknown key "targets"`},
		{"wait", "steps: [{action: wait, seconds: 1, event: x, targets: y}]", "needs either seconds, or event and targets"},
		{"description", "description: [x]", "description must be text, not a list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := chain.Parse("c", "c.yml", []byte(tt.text))
			if err == nil {
				t.Fatal("no fault was found")
			}
			texts := []string{err.Error()}
			for _, e := range source.Faults(err) {
				texts = append(texts, e.Error())
			}
			if s := strings.Join(texts, "\n"); !strings.Contains(s, tt.want) {
				t.Errorf("got %s\nwant %s", s, tt.want)
			}
		})
	}
}

// TestHash holds that a hash stands for what a chain means.
func TestHash(t *testing.T) {
	t.Parallel()
	hash := func(text string) string {
		c, err := chain.Parse("c", "c.yml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	a := hash("steps: [{action: cmd, command: x, targets: y}]")
	if b := hash("# a comment\ndescription: d\nsteps:\n  - command: x\n    action: cmd\n    targets: y\n"); a != b {
		t.Error("comments and order change the hash")
	}
	if b := hash("steps: [{action: cmd, command: x2, targets: y}]"); a == b {
		t.Error("another command has the same hash")
	}
}

// TestStore keeps two people from overwriting each other's changes.
func TestStore(t *testing.T) {
	t.Parallel()
	h := host.NewFake()
	s := &chain.Store{Files: h, Dir: "/c"}
	text, err := chain.New("d")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write("x", nil, text); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("x", nil, text); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second new: %v", err)
	}
	if err := s.Write("x", text, append(text, '#')); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("x", text, text); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("the other's change is lost: %v", err)
	}
	if _, _, err := s.Read("../x"); err == nil {
		t.Error("a name leads out of the directory")
	}
	if err := s.Delete("y", nil); err == nil {
		t.Error("what is not there was deleted")
	}
	if err := s.Delete("../x", nil); err == nil {
		t.Error("a name leads out of the directory")
	}
	if err := s.Delete("x", text); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the other's change is deleted: %v", err)
	}
	if err := s.Delete("x", append(text, '#')); err != nil {
		t.Error(err)
	}
}

// FuzzParse reads any chain, changes it and renders it.
func FuzzParse(f *testing.F) {
	f.Add("steps:\n  - {action: pkg, targets: x, packages: [a, b=1]}\n  - {action: reboot, targets: x}\n")
	f.Add("# c\nsteps: [{action: state, sls: [a], targets: x, pillar: {a: {b: 1}}, pillar_for: {w: {a: 2}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := chain.Parse("c", "c.yml", []byte(text))
		if err != nil {
			return
		}
		_ = c.Hash()
		if _, err := c.Render(map[int][]string{1: {"w", "x"}}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		more, err := c.Add([]byte(text), 0, &chain.Step{Action: chain.Wait, Seconds: 1})
		if err != nil {
			return // yaml.v3 does not read all that Salt's loader does
		}
		if again, err := chain.Parse("c", "c.yml", more); err == nil && len(again.Steps) != len(c.Steps)+1 {
			t.Errorf("%q: %d steps after one was added to %d", text, len(again.Steps), len(c.Steps))
		}
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	text := []byte("# mine\nsteps:\n  # first\n  - {action: cmd, id: 7, targets: web1, command: ls}\n  - {action: wait, id: 3, seconds: 1}\n")
	c, err := chain.Parse("x", "x.yml", text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Replace(text, "1", &chain.Step{Action: chain.Wait, Seconds: 5})
	want := "# mine\nsteps:\n  # first\n  - action: wait\n    id: 7\n    seconds: 5\n  - {action: wait, id: 3, seconds: 1}\n"
	if string(got) != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	for _, n := range []string{"0", "3", "x"} {
		if _, err := c.Replace(text, n, &chain.Step{Action: chain.Wait, Seconds: 5}); err == nil {
			t.Errorf("step %s is replaced", n)
		}
	}
}

func TestDefinitionKeepsText(t *testing.T) {
	t.Parallel()
	text := []byte("# mine\nsteps:\n  # first\n  - {action: cmd, id: 7, targets: web1, command: ls} # here\n  - &w {action: cmd, targets: web2, command: w}\n  - *w\n")
	got, err := chain.Retarget(text, "1", "G@os:Debian")
	want := strings.Replace(string(text), "web1", "'G@os:Debian'", 1)
	if string(got) != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := chain.Retarget(text, "3", "x"); err == nil || !strings.Contains(err.Error(), "alias") {
		t.Errorf("an alias: %v", err)
	}
	if got, err = chain.Describe(text, "a: b"); string(got) != string(text)+"description: 'a: b'\n" || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	s := &chain.Store{Files: host.NewLocal(), Dir: t.TempDir()}
	one, two := []byte("steps: []\n"), []byte("description: x\nsteps: []\n")
	if err := errors.Join(s.Write("a", nil, one), s.Write("b", nil, one)); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename("a", "b", one, two); err == nil || !strings.HasSuffix(err.Error(), "chain b exists: "+s.Path("b")) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := s.Rename("a", "../c", one, two); err == nil {
		t.Error("a name with a directory is taken")
	}
	if err := s.Rename("a", "c", two, two); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a text that was changed: %v", err)
	}
	if err := s.Rename("a", "c", one, two); err != nil {
		t.Fatal(err)
	}
	if names, _ := s.Names(); !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("chains: %v", names)
	}
	if _, text, err := s.Read("c"); string(text) != string(two) || err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// Changes at once wait for each other: none is lost, and no id is given twice.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	s := &chain.Store{Files: host.NewLocal(), Dir: t.TempDir()}
	if err := s.Write("x", nil, []byte("steps: []\n")); err != nil {
		t.Fatal(err)
	}
	const n = 30
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = s.Change("x", func(c *chain.Chain, text []byte) ([]byte, error) {
				return c.Add(text, 0, &chain.Step{Action: chain.Command, Command: fmt.Sprintf("echo %d", i), On: "*"})
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	c, _, err := s.Read("x")
	seen := map[string]bool{}
	for _, step := range c.Steps {
		seen[step.Command] = true
	}
	if err != nil || len(c.Steps) != n || len(seen) != n {
		t.Errorf("%d steps, %d of them different, %v", len(c.Steps), len(seen), err)
	}
	if names, _ := s.Names(); !slices.Equal(names, []string{"x"}) {
		t.Errorf("chains: %v", names)
	}
}

// Whoever holds the lock for long is named, and nothing is changed.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := &chain.Store{Files: host.NewLocal(), Dir: dir, Who: "process 7 of zoe on ctl"}
	two := &chain.Store{Files: host.NewLocal(), Dir: dir, Wait: 20 * time.Millisecond}
	text := []byte("steps: []\n")
	if err := one.Write("x", nil, text); err != nil {
		t.Fatal(err)
	}
	if err := one.Change("x", func(*chain.Chain, []byte) ([]byte, error) {
		want := "the chains in " + dir + " are locked by process 7 of zoe on ctl: waited 20ms for it, and changed nothing"
		for what, err := range map[string]error{"Write": two.Write("x", text, []byte("steps: [] #\n")), "Replace": two.Replace("y", text), "Delete": two.Delete("x", text)} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", what, err, want)
			}
		}
		return text, nil
	}); err != nil {
		t.Fatal(err)
	}
	unlock, err := host.NewLocal().Lock(filepath.Join(dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := two.Delete("x", text); err == nil || !strings.Contains(err.Error(), "are locked by a process that has not said who it is") {
		t.Errorf("Delete: %v", err)
	}
}

// What is changed by another one in the meantime is an error that has both texts.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := &chain.Store{Files: host.NewLocal(), Dir: t.TempDir()}
	one, two, three := []byte("steps: []\n"), []byte("description: x\nsteps: []\n"), []byte("description: y\nsteps: []\n")
	if err := errors.Join(s.Write("a", nil, one), s.Write("a", one, two)); err != nil {
		t.Fatal(err)
	}
	err := s.Write("a", one, three)
	c, ok := errors.AsType[*chain.ConflictError](err)
	if !ok || string(c.Was) != string(one) || string(c.Now) != string(two) || err.Error() != "chain a was changed by somebody else" {
		t.Errorf("Write = %v", err)
	}
	if err := s.Delete("a", two); err != nil {
		t.Fatal(err)
	}
	if err := s.Write("a", two, three); err == nil || err.Error() != "chain a was deleted by somebody else" {
		t.Errorf("Write = %v", err)
	}
	if err := s.Change("a", nil); err == nil || !strings.Contains(err.Error(), `there is no chain "a"`) {
		t.Errorf("Change = %v", err)
	}
	if err := (&chain.Store{Files: host.NewLocal(), Dir: t.TempDir() + "/none"}).Change("a", nil); err == nil || !strings.Contains(err.Error(), `there is no chain "a"`) {
		t.Errorf("Change = %v", err)
	}
}
