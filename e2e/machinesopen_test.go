//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/internal/testkit/machine"
)

// The steps that brine answers in another way than Salt did: on any machine, and
// over SSH only. A line is one of
//
//	CASE STEP CAUSE: REASON
//	CASE STEP > shell line
//
// The second form follows the first: it is run in the machine after the step, so
// that the machine is in the state that the recording had, and no later step
// differs for the same cause.
const (
	machineOpen    = "testdata/machines-open.d"
	machineSSHOpen = "testdata/machines-ssh-open.txt"
	machineBugs    = machineCases + "/BUGS.md"
)

// openCause is a cause that a line may have. A bug of Salt may have its number in
// machineBugs and that of an issue; a better way is written down in docs; what is
// of timing differs in some runs only.
var openCause = regexp.MustCompile(`^(?:Salt bug(?: (\d+))?(?: \([\w.-]+/[\w.-]+#\d+\))?|by design, (docs/[\w./-]+\.md)|(timing)): \S`)

// An openStep is a step that brine answers in another way.
type openStep struct {
	reason string
	timing bool     // it differs in some runs only
	repair []string // lines of sh
}

// openSteps are the steps of the lists by their case and number.
type openSteps map[string]map[int]*openStep

// readOpenSteps reads lists, each of which is a file or a directory of them.
func readOpenSteps(t testing.TB, lists ...string) openSteps {
	t.Helper()
	open := openSteps{}
	steps := stepsOfCases(t)
	for _, list := range lists {
		files := []string{list}
		if info, err := os.Stat(list); err == nil && info.IsDir() {
			files, _ = filepath.Glob(filepath.Join(list, "*.txt"))
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil {
				err = open.read(f, string(text), steps)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return open
}

// stepsOfCases returns a function that says how many steps a case has, 0 where
// there is no such case.
func stepsOfCases(t testing.TB) func(string) int {
	return func(name string) int {
		dir := filepath.Join(machineCases, name)
		if _, err := os.Stat(dir); err != nil {
			return 0
		}
		return len(readMachineCase(t, dir).steps)
	}
}

// read adds the lines of a list, and returns all that is wrong with them.
func (o openSteps) read(file, text string, steps func(string) int) error {
	var wrong []error
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := o.add(line, steps); err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w: %s", file, number, err, line))
		}
	}
	return errors.Join(wrong...)
}

func (o openSteps) add(line string, steps func(string) int) error {
	words := strings.SplitN(line, " ", 3)
	if len(words) < 3 {
		return errors.New("not CASE STEP CAUSE: REASON")
	}
	name, rest := words[0], words[2]
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return errors.New("the step is not a number")
	}
	if most := steps(name); n < 1 || n > most {
		return fmt.Errorf("there is no such step: the case has %d", most)
	}
	stated := o[name][n]
	if repair, ok := strings.CutPrefix(rest, "> "); ok {
		if stated == nil {
			return errors.New("no line above states a difference of this step")
		}
		if n == steps(name) {
			return errors.New("no step follows")
		}
		stated.repair = append(stated.repair, repair)
		return nil
	}
	if stated != nil {
		return errors.New("the step is stated twice")
	}
	cause := openCause.FindStringSubmatch(rest)
	if cause == nil {
		return errors.New(`the cause is not "Salt bug [NUMBER] [(OWNER/REPOSITORY#NUMBER)]", "by design, docs/PAGE.md" or "timing"`)
	}
	if err := knownCause(cause[1], cause[2]); err != nil {
		return err
	}
	if o[name] == nil {
		o[name] = map[int]*openStep{}
	}
	o[name][n] = &openStep{reason: rest, timing: cause[3] != ""}
	return nil
}

// knownCause sees that a bug is in the list of bugs, and that a page is there.
func knownCause(bug, page string) error {
	if page != "" {
		_, err := os.Stat(page)
		return err
	}
	if bug == "" {
		return nil
	}
	bugs, err := os.ReadFile(machineBugs)
	if err == nil && !slices.ContainsFunc(strings.Split(string(bugs), "\n"), func(l string) bool { return strings.HasPrefix(l, bug+". ") }) {
		err = fmt.Errorf("%s has no number %s", machineBugs, bug)
	}
	return err
}

// A box is what steps are run in: a machine.
type box interface {
	Run(timeout time.Duration, dir string, argv ...string) machine.Result
	Shell(dir, line string) machine.Result
}

// A verdict says how a step compares with its recording.
type verdict struct {
	at     string   // which step it is
	faults []string // what is wrong
	stated []string // what differs as a list states
	off    bool     // the machine is not in the recorded state
}

// settleMost is how long a machine may take until it is as recorded: what was sent
// a signal takes a moment to end.
const settleMost = 15 * time.Second

// step runs step n in a machine. stated is what a list says about it, or nil. At
// its end the machine is as recorded, or that is a fault.
func (c *machineCase) step(m box, w *machineWay, n int, stated *openStep) verdict {
	s := &c.steps[n-1]
	for _, line := range s.before {
		m.Shell(caseTmp, filled.Replace(line))
	}
	command := w.command(s)
	v := verdict{at: fmt.Sprintf("step %d (%s)", n, strings.Join(command, " "))}
	answer := c.compareAnswer(n, s, w.key, m.Run(150*time.Second, caseTmp, command...))
	if stated == nil {
		state := c.probed(m, n, c.settle)
		v.faults, v.off = append(answer, state...), len(state) > 0
		return v
	}
	wait := c.settle
	if last := n == len(c.steps); last || len(stated.repair) > 0 {
		wait = 0
	}
	state := c.probed(m, n, wait)
	if len(answer) == 0 && len(state) == 0 && !stated.timing {
		v.faults = append(v.faults, "it agrees with the recording, but a list names it: "+stated.reason)
		return v
	}
	v.stated = append(append([]string{stated.reason}, answer...), state...)
	v.faults = c.repaired(m, n, stated, state)
	v.off = len(v.faults) > 0
	return v
}

// repaired runs the repair of a stated step, and returns what keeps the machine
// from being in the state that was recorded. state is what differed before.
func (c *machineCase) repaired(m box, n int, stated *openStep, state []string) (faults []string) {
	if n == len(c.steps) {
		return nil // nothing depends on it
	}
	if len(stated.repair) == 0 {
		if len(state) > 0 {
			faults = append([]string{"no line brings the machine to the recorded state after this stated difference: " + stated.reason}, state...)
		}
		return faults
	}
	if len(state) == 0 && !stated.timing {
		faults = append(faults, "the machine is in the recorded state before its repair, which a list has for nothing")
	}
	for _, line := range stated.repair {
		if r := m.Shell(caseTmp, filled.Replace(line)); r.Exit != 0 {
			faults = append(faults, fmt.Sprintf("repair failed: %s: exit status %d: %s", line, r.Exit, clip(r.Stdout+r.Stderr)))
		}
	}
	if state = c.probed(m, n, c.settle); len(state) > 0 {
		faults = append(append(faults, "the machine is not in the recorded state after its repair"), state...)
	}
	return faults
}

// probed looks at the machine after a step, for some time until it is as recorded,
// and returns what is not.
func (c *machineCase) probed(m box, n int, wait time.Duration) []string {
	for end := time.Now().Add(wait); ; time.Sleep(200 * time.Millisecond) {
		probes := make([]machine.Result, len(c.steps[n-1].probes))
		for k, line := range c.steps[n-1].probes {
			probes[k] = m.Shell(caseTmp, filled.Replace(line))
		}
		if faults := c.compareProbes(n, probes); len(faults) == 0 || !time.Now().Before(end) {
			return faults
		}
	}
}

// TestMachineOpenSteps reads the lists: each line names a step that there is, and
// its cause.
func TestMachineOpenSteps(t *testing.T) {
	t.Parallel()
	readOpenSteps(t, machineOpen, machineSSHOpen)
}

func TestMachineOpenStepsWrong(t *testing.T) {
	t.Parallel()
	steps := func(name string) int { return map[string]int{"m-a": 3}[name] }
	const good = "m-a 2 Salt bug 36: it does what it should"
	for _, test := range []struct{ name, text, want string }{
		{"all forms", "# a comment\n\n" + good + "\nm-a 2 > true\nm-a 2 > echo a > b\nm-a 1 by design, docs/guide.md: better\nm-a 3 timing: at once\n", ""},
		{"a bug by its issue", "m-a 1 Salt bug (saltstack/salt#1): what", ""},
		{"a bug without a number", "m-a 1 Salt bug: what", ""},
		{"a case that there is not", "m-b 1 Salt bug: what", "l.txt:1: there is no such step: the case has 0"},
		{"a step that there is not", "m-a 4 Salt bug: what", "l.txt:1: there is no such step: the case has 3"},
		{"step 0", "m-a 0 Salt bug: what", "there is no such step"},
		{"all steps", "m-a * Salt bug: what", "the step is not a number"},
		{"no reason", "m-a 1", "not CASE STEP CAUSE"},
		{"no cause", "m-a 1 it differs", "the cause is not"},
		{"a cause without a reason", "m-a 1 timing: ", "the cause is not"},
		{"another cause", "m-a 1 as step 2: it differs", "the cause is not"},
		{"a bug that is not in the list", "m-a 1 Salt bug 999: what", "BUGS.md has no number 999"},
		{"a page that there is not", "m-a 1 by design, docs/nopage.md: what", "docs/nopage.md: no such file"},
		{"a step twice", good + "\n" + good, "l.txt:2: the step is stated twice"},
		{"a repair of a step that there is not", good + "\nm-a 4 > true", "l.txt:2: there is no such step"},
		{"a repair of another step", good + "\nm-a 1 > true", "l.txt:2: no line above states a difference of this step"},
		{"a repair before its step", "m-a 2 > true\n" + good, "l.txt:1: no line above states"},
		{"a repair of the last step", "m-a 3 timing: x\nm-a 3 > true", "l.txt:2: no step follows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			open := openSteps{}
			err := open.read("l.txt", test.text, steps)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("want an error with %q, got %v", test.want, err)
			}
			if two := open["m-a"][2]; test.name == "all forms" && (two == nil || !slices.Equal(two.repair, []string{"true", "echo a > b"})) {
				t.Errorf("step 2: %+v", two)
			}
		})
	}
}

// A fakeBox is a machine whose only state is a word. Its program answers and sets
// what it is told; the line "probe" prints the state, "late" sets the state to "b"
// when it is looked at again, "fail" fails, and any other sets the state.
type fakeBox struct {
	answer, sets string
	state, next  string
}

func (b *fakeBox) Run(time.Duration, string, ...string) machine.Result {
	b.state = b.sets
	return machine.Result{Stdout: b.answer}
}

func (b *fakeBox) Shell(_, line string) machine.Result {
	switch line {
	case "probe":
		r := machine.Result{Stdout: b.state}
		if b.next != "" {
			b.state, b.next = b.next, ""
		}
		return r
	case "late":
		b.next = "b"
	case "fail":
		return machine.Result{Exit: 3, Stderr: "no such thing"}
	default:
		b.state = line
	}
	return machine.Result{}
}

// What a list says about a step decides what of it is a fault. The recording has
// the answer {"local": 1} and the state b.
func TestMachineStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"case.yaml":             "area: a\nmachine: true\nargv: [test.ping]\nprobe: [probe]\nthen: [{argv: [test.ping]}]\n",
		"expected.json":         `{"local": 1}`,
		"expected.probe.1.json": `[{"cmd": "probe", "exit": 0, "stdout": "b"}]`,
		"expected.2.json":       `{"local": 1}`,
		"expected.probe.2.json": `[{"cmd": "probe", "exit": 0, "stdout": "b"}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := readMachineCase(t, dir)
	hasty := *c
	hasty.settle = 0
	const same, other = `{"local": 1}`, `{"local": 2}`
	stated := func(repair ...string) *openStep { return &openStep{reason: "Salt bug: x", repair: repair} }
	for _, test := range []struct {
		name         string
		answer, sets string
		stated       *openStep
		last         bool
		want         string // part of the faults
	}{
		{name: "the same", answer: same, sets: "b"},
		{name: "another answer", answer: other, sets: "b", want: "/local: want 1, got 2"},
		{name: "another answer as stated", answer: other, sets: "b", stated: stated()},
		{name: "stated, and the same", answer: same, sets: "b", stated: stated(), want: "it agrees with the recording, but a list names it: Salt bug: x"},
		{name: "stated with a repair, and the same", answer: same, sets: "b", stated: stated("b"), want: "it agrees with the recording"},
		{name: "timing, and the same", answer: same, sets: "b", stated: &openStep{reason: "timing: x", timing: true}},
		{name: "another state as stated, and nothing follows", answer: same, sets: "a", stated: stated(), last: true},
		{name: "another state as stated, repaired", answer: same, sets: "a", stated: stated("b")},
		{name: "another state as stated, repaired by two lines", answer: same, sets: "a", stated: stated("c", "b")},
		{name: "repaired after a moment", answer: same, sets: "a", stated: stated("late")},
		{name: "a repair for nothing", answer: other, sets: "b", stated: stated("b"), want: "the machine is in the recorded state before its repair"},
		{name: "timing, with a repair", answer: same, sets: "b", stated: &openStep{reason: "timing: x", timing: true, repair: []string{"b"}}},
		{name: "a repair that fails", answer: same, sets: "a", stated: stated("fail", "b"), want: "repair failed: fail: exit status 3: no such thing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := 1
			if test.last {
				n = 2
			}
			v := c.step(&fakeBox{answer: test.answer, sets: test.sets}, callWay, n, test.stated)
			got := strings.Join(v.faults, "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("want %q, got %q", test.want, got)
			}
			if differs := test.answer != same || test.sets != "b"; test.stated != nil && differs != (len(v.stated) > 1) && !test.stated.timing {
				t.Errorf("stated: %q", v.stated)
			}
		})
	}
	for _, test := range []struct {
		name   string
		stated *openStep
		want   string
	}{
		{"another state", nil, `probe probe: line 1: want "b", got "a"`},
		{"another state as stated, and a step follows", stated(), "no line brings the machine to the recorded state after this stated difference: Salt bug: x"},
		{"a repair that does not reach the state", stated("c"), "the machine is not in the recorded state after its repair\n" + `probe probe: line 1: want "b", got "c"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := hasty.step(&fakeBox{answer: same, sets: "a"}, callWay, 1, test.stated)
			if got := strings.Join(v.faults, "\n"); !strings.Contains(got, test.want) {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}
