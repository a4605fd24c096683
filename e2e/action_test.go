package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"brine/internal/testkit/sshtest"
)

// TestCIAction runs the script of the action for CI systems as a runner does: it has
// the status of brine, and names the reports that it leaves.
func TestCIAction(t *testing.T) {
	t.Parallel()
	sshtest.Require(t, "bash")
	text, err := os.ReadFile(".github/actions/brine/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Outputs map[string]struct{ Value string }
		Runs    struct {
			Steps []struct {
				ID, Run, Uses string
				With          map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, step := range action.Runs.Steps {
		if step.ID == "run" {
			script = step.Run
		}
		if step.Uses != "" && (step.With["path"] != "${{ steps.run.outputs.reports }}" || !pinned(step.Uses)) {
			t.Errorf("step %s keeps %s", step.Uses, step.With["path"])
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	for name, text := range map[string]string{
		"good.sls": "a:\n  test.succeed_without_changes: []\n",
		"bad.sls":  "a:\n  test.fail_without_changes: []\n",
		"typo.sls": "a:\n  test.nope: []\n",
		"minion":   "file_roots: {base: [" + tree + "]}\n",
	} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args    string
		status  int
		report  string // the output that names it
		holds   string
		summary string
	}{
		{"call\nstate.apply\ngood\n", 0, "junit", `tests="1" failures="0"`, "good"},
		{"call\nstate.apply\nbad\n\n", 1, "junit", `failures="1"`, "test.fail_without_changes"},
		{"lint\n" + tree, 1, "sarif", `"test.nope`, ""},
	} {
		t.Run(strings.Fields(tt.args)[len(strings.Fields(tt.args))-1], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
			cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
			args := tt.args
			if strings.HasPrefix(args, "call") {
				args += "\n--config-dir=" + tree
			}
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "BRINE_TEST_RUN=1", "ARGS="+args, "PROGRAM="+self, "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
			said, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != tt.status {
				t.Fatalf("status %d, want %d\n%s", got, tt.status, said)
			}
			outputs := map[string]string{}
			for line := range strings.SplitSeq(read(t, output), "\n") {
				if k, v, ok := strings.Cut(line, "="); ok {
					outputs[k] = v
				}
			}
			for name, o := range action.Outputs {
				if o.Value != "${{ steps.run.outputs."+name+" }}" {
					t.Errorf("output %s is %s", name, o.Value)
				}
			}
			if got := read(t, outputs[tt.report]); !strings.Contains(got, tt.holds) {
				t.Errorf("no %s in\n%s", tt.holds, got)
			}
			if filepath.Dir(outputs[tt.report]) != outputs["reports"] {
				t.Errorf("%s is not in %s", outputs[tt.report], outputs["reports"])
			}
			if tt.summary != "" && !strings.Contains(read(t, summary), tt.summary) {
				t.Errorf("no %s in the summary\n%s", tt.summary, read(t, summary))
			}
		})
	}
}

// pinned tells whether an action of others is named by a commit.
func pinned(uses string) bool {
	_, at, _ := strings.Cut(uses, "@")
	return len(at) == 40 && strings.Trim(at, "0123456789abcdef") == ""
}
