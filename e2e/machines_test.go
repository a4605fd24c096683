//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
	"brine/internal/testkit/machine"
	"brine/internal/testkit/turn"
)

// machineCases has the recordings of real Salt on whole machines, see its README.md.
// Steps that brine answers in another way are in the lists of machinesopen_test.go.
const machineCases = "testdata/machines"

// where a case lies in its machine.
const (
	caseDir  = "/case"
	caseTmp  = caseDir + "/tmp"
	caseConf = caseDir + "/conf"
	caseTree = caseDir + "/tree"
)

// filled puts the paths of the machine in place of the placeholders.
var filled = strings.NewReplacer("@TMP@", caseTmp, "@TREE@", caseTree, "@CONF@", caseConf)

// A machineCase is one folder of testdata/machines.
type machineCase struct {
	name, dir, area string
	setup           []string
	masks           []mask
	sortLines       bool
	settle          time.Duration // how long its machine may take until it is as recorded
	steps           []machineStep
}

type machineStep struct {
	runner bool     // it was a call of salt-run
	argv   []string // with placeholders
	text   bool     // text was recorded, not JSON
	exit   int
	before []string
	probes []string
	shape  string // "": values, "true": types alone, "values": and the keys below local are one
}

// TestMachines replays the recordings, each in a fresh machine: all of them, or
// those that match the glob BRINE_MACHINE_CASES.
func TestMachines(t *testing.T) {
	image := machine.Image(t)
	t.Parallel()
	brine := staticBrine(t)
	open := readOpenSteps(t, machineOpen)
	var (
		mu            sync.Mutex
		passed, total = map[string]int{}, map[string]int{}
	)
	t.Run("case", func(t *testing.T) {
		for _, dir := range chosenCases(t, nil) {
			t.Run(filepath.Base(dir), func(t *testing.T) {
				turn.Skip(t)
				t.Parallel()
				c := readMachineCase(t, dir)
				good := c.replay(t, machine.Boot(t, image), callWay, brine, open)
				mu.Lock()
				defer mu.Unlock()
				total[c.area] += len(c.steps)
				passed[c.area] += good
			})
		}
	})
	for _, a := range slices.Sorted(keysOf(total)) {
		fmt.Printf("machines: %-16s %3d/%d steps\n", a, passed[a], total[a])
	}
}

// chosenCases returns the directories of the cases that match the glob
// BRINE_MACHINE_CASES; without it, of those in sample, or of all where it is nil.
func chosenCases(t *testing.T, sample []string) []string {
	t.Helper()
	glob := os.Getenv("BRINE_MACHINE_CASES")
	if glob == "" {
		glob = "m-*"
	} else {
		sample = nil
	}
	dirs, err := filepath.Glob(filepath.Join(machineCases, glob))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases in %s: %v", machineCases, err)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		return sample != nil && !slices.Contains(sample, filepath.Base(dir))
	})
}

func keysOf(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// staticBrine returns the program that goes into machines: the test binary needs
// the libraries of this one. It is built once, for all tests, unless BRINE_TEST_PROGRAM
// names one.
func staticBrine(t testing.TB) string {
	t.Helper()
	bin, err := buildBrine()
	if err != nil {
		t.Fatalf("build brine: %v", err)
	}
	return bin
}

// brineInside is where machines have brine: in their PATH.
const brineInside = "/usr/local/bin/brine"

// machineWithBrine boots a machine that has brine.
func machineWithBrine(t testing.TB) *machine.Machine {
	t.Helper()
	image := machine.Image(t)
	program := staticBrine(t)
	m := machine.Boot(t, image)
	m.Install(t, brineInside, program)
	return m
}

var buildBrine = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("BRINE_TEST_PROGRAM"); p != "" {
		return p, nil
	}
	dir, err := os.MkdirTemp("", "brine-test-")
	if err != nil {
		return "", err
	}
	atExit = append(atExit, func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "brine")
	c := exec.Command("go", "build", "-trimpath", "-o", bin, ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
})

func readMachineCase(t testing.TB, dir string) *machineCase {
	t.Helper()
	path := filepath.Join(dir, "case.yaml")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := yamlsalt.Load(yamlsalt.LoadOptions{Name: path}, b)
	if err != nil {
		t.Fatal(err)
	}
	m, ok := v.(*value.Map)
	if !ok {
		t.Fatalf("%s: not a mapping", path)
	}
	c := &machineCase{name: filepath.Base(dir), dir: dir, area: m.Str("area"), setup: texts(m.List("setup")), sortLines: value.Truth(m.At("sort_lines")), settle: settleMost}
	for i := range m.List("mask").Len() {
		pair := texts(m.List("mask").Items[i].(*value.List))
		c.masks = append(c.masks, compileMask(t, pair[0], pair[1]))
	}
	common := texts(m.List("probe"))
	add := func(step *value.Map) {
		inherit := func(key string) value.Value {
			if v, ok := step.Get(key); ok {
				return v
			}
			return m.At(key)
		}
		s := machineStep{text: value.Truth(inherit("text")), before: texts(step.List("before")), probes: common}
		if step != m && step.Has("probe") {
			s.probes = texts(step.List("probe"))
		}
		if v := step.At("shape"); value.Truth(v) {
			s.shape = strings.ToLower(value.Str(v))
		}
		n, _ := value.AsInt(step.At("salt_exit"))
		s.exit = int(n)
		s.runner = strings.HasPrefix(value.Str(inherit("program")), "salt-run")
		s.argv = texts(step.List("argv"))
		c.steps = append(c.steps, s)
	}
	add(m)
	for i := range m.List("then").Len() {
		add(m.List("then").Items[i].(*value.Map))
	}
	return c
}

// A machineWay is how brine reaches a machine.
type machineWay struct {
	enter   func(t *testing.T, c *machineCase, m *machine.Machine) // what it needs besides layOut
	program []string                                               // with the arguments before those of a step
	key     string                                                 // under which returns are reported
}

// callWay is a brine that runs in the machine itself.
var callWay = &machineWay{
	enter:   func(*testing.T, *machineCase, *machine.Machine) {},
	program: []string{"/usr/local/bin/brine", "call", "-c", caseConf},
	key:     "local",
}

// command returns the command line of brine for a recorded one.
func (w *machineWay) command(s *machineStep) []string {
	line := slices.Clone(w.program)
	if s.runner {
		line = []string{"/usr/local/bin/brine", "run", "-c", caseConf}
	}
	has := func(part string) bool {
		return slices.ContainsFunc(s.argv, func(a string) bool { return strings.HasPrefix(a, part) })
	}
	switch {
	case !s.text && !has("--out"):
		line = append(line, "--out=json")
	case s.text && !has("--no-color") && !has("--force-color"):
		line = append(line, "--no-color")
	}
	for _, a := range s.argv {
		line = append(line, filled.Replace(a))
	}
	return line
}

// replay runs the steps in a machine and returns how many agree or are open.
func (c *machineCase) replay(t *testing.T, m *machine.Machine, w *machineWay, brine string, open openSteps) (good int) {
	c.layOut(t, m, brine)
	w.enter(t, c, m)
	for _, line := range c.setup {
		m.Shell(caseTmp, filled.Replace(line))
	}
	for i := range c.steps {
		v := c.step(m, w, i+1, open[c.name][i+1])
		if v.off {
			c.settle = 0 // the steps after it differ, too, and waiting does not help
		}
		switch {
		case len(v.faults) > 0:
			t.Errorf("%s:\n\t%s", v.at, strings.Join(v.faults, "\n\t"))
		case len(v.stated) > 0:
			t.Logf("as stated, %s:\n\t%s", v.at, strings.Join(v.stated, "\n\t"))
			good++
		default:
			good++
		}
	}
	return good
}

// layOut writes the tree and the configuration of the case into the machine.
func (c *machineCase) layOut(t *testing.T, m *machine.Machine, brine string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	inside := func(path string) string { return filepath.Join(m.Root, path) }
	m.Install(t, brineInside, brine)
	for _, d := range []string{caseTmp, caseConf, caseTree + "/salt", caseTree + "/pillar"} {
		must(os.MkdirAll(inside(d), 0o755))
	}
	src := filepath.Join(c.dir, "tree")
	must(copyFilled(src, inside(caseTree)))
	conf := fmt.Sprintf(`id: minion1
file_client: local
file_roots: {base: [%[1]s/salt]}
pillar_roots: {base: [%[1]s/pillar]}
root_dir: %[2]s/root
cachedir: %[2]s/cache
enable_gpu_grains: false
enable_fqdns_grains: false
`, caseTree, caseDir)
	must(os.WriteFile(inside(caseConf+"/minion"), []byte(conf), 0o644))
	if extra, err := os.ReadFile(filepath.Join(src, "etc/minion")); err == nil {
		must(os.MkdirAll(inside(caseConf+"/minion.d"), 0o755))
		must(os.WriteFile(inside(caseConf+"/minion.d/case.conf"), []byte(filled.Replace(string(extra))), 0o644))
	}
	if grains, err := os.ReadFile(filepath.Join(src, "etc/grains")); err == nil {
		must(os.WriteFile(inside(caseConf+"/grains"), grains, 0o644))
	}
}

// copyFilled copies a tree of files with the placeholders in text filled.
func copyFilled(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		dst := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(dst, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, dst)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dst, []byte(filled.Replace(string(b))), info.Mode().Perm())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a case without a tree
	}
	return err
}
