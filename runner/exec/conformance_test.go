package exec_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/internal/testkit/memtree"
	"brine/runner/exec"
	"brine/runner/high"
	"brine/runner/low"
)

const corpus = "../../testdata/conformance"

// TestRecorded runs recordings of Salt, with the states cmd and file of a
// machine that has no commands and no files.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, mods string
		test       bool
		file       string
	}{
		{"req-aggregate-names-watch", "s", false, "expected.json"},
		{"req-check-cmd", "s", false, "expected.json"},
		{"req-failhard-state", "s", false, "expected.json"},
		{"req-listen", "s", false, "expected.json"},
		{"req-missing", "s", false, "expected.json"},
		{"req-multi-fail-message", "web.app", false, "expected.json"},
		{"req-onchanges", "s", false, "expected.json"},
		{"req-onchanges-any", "s", false, "expected.json"},
		{"req-onchanges-in", "s", false, "expected.json"},
		{"req-onfail", "s", false, "expected.json"},
		{"req-onfail-all", "s", false, "expected.json"},
		{"req-order", "s", false, "expected.json"},
		{"req-parallel", "s", false, "expected.json"},
		{"req-prereq", "s", false, "expected.json"},
		{"req-prereq-in", "s", false, "expected.json"},
		{"req-prereq-test", "s", true, "expected.json"},
		{"req-require-any", "s", false, "expected.json"},
		{"req-require-fail", "s", false, "expected.json"},
		{"req-require-id", "s", false, "expected.json"},
		{"req-require-in", "s", false, "expected.json"},
		{"req-require-order", "s", false, "expected.json"},
		{"req-require-sls", "main", false, "expected.json"},
		{"req-retry", "s", false, "expected.json"},
		{"req-test-mode", "s", true, "expected.json"},
		{"req-unknown-state-fun", "s", false, "expected.json"},
		{"req-unless-onlyif", "s", false, "expected.json"},
		{"req-watch", "s", false, "expected.json"},
		{"req-watch-in", "s", false, "expected.json"},
		{"compile-err-structure", "a", false, "expected.json"},
		{"st-test-states", "s", false, "expected.json"},
		{"st-test-states", "s", true, "expected.2.json"},
	} {
		t.Run(tt.name+"/"+tt.file, func(t *testing.T) {
			t.Parallel()
			m := &machine{files: map[string]bool{}}
			r := newBareRig(t)
			r.load(m.modules())
			r.env.Up = memtree.Recorded(t, filepath.Join(corpus, tt.name))
			h := high.New(r.env, nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: strings.Split(tt.mods, ",")}})
			if len(h.Faults) > 0 {
				t.Fatal(h.Faults)
			}
			chunks, err := (&low.Compiler{}).Compile(h)
			if err != nil {
				t.Fatal(err)
			}
			got := masked(t, memtree.JSON(t, r.run(exec.Options{Test: tt.test}, chunks...).Returns))
			want := masked(t, memtree.Answer(t, filepath.Join(corpus, tt.name), tt.file))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("returns (-want +got):\n%s", d)
			}
		})
	}
}

// TestPrereqFails differs from the recording on purpose: in a real run the
// state whose gate failed has failed, too.
func TestPrereqFails(t *testing.T) {
	t.Parallel()
	m := &machine{files: map[string]bool{}}
	r := newBareRig(t)
	r.load(m.modules())
	r.env.Up = memtree.Recorded(t, filepath.Join(corpus, "req-prereq-fails"))
	chunks, err := (&low.Compiler{}).Compile(high.New(r.env, nil).Render(context.Background(), []high.Match{{SaltEnv: "base", SLS: []string{"s"}}}))
	if err != nil {
		t.Fatal(err)
	}
	check(t, r.run(exec.Options{}, chunks...), true,
		`0 gate False Command "echo refusing; exit 1" run *`, "1 target False One or more requisite failed: s.gate")
}

// masked returns the returns of a run with what differs from run to run masked,
// and the first line alone of a comment that is a traceback.
func masked(t *testing.T, returns any) any {
	t.Helper()
	for tag, x := range returns.(map[string]any) {
		ret, ok := x.(map[string]any)
		if !ok {
			t.Fatalf("%s: %v is no return", tag, x)
		}
		for _, k := range []string{"duration", "start_time"} {
			if _, ok := ret[k]; ok {
				ret[k] = "<" + k + ">"
			}
		}
		if c, ok := ret["comment"].(string); ok && strings.Contains(c, "Traceback") {
			lines := strings.Split(strings.TrimSpace(c), "\n")
			ret["comment"] = lines[0] + "\n" + lines[len(lines)-1]
		}
	}
	return returns
}

// A machine understands echo and exit, and remembers which files were made.
type machine struct {
	mu    sync.Mutex
	files map[string]bool
}

func (m *machine) modules() []fun.Module {
	run := func(_ context.Context, c *fun.Call) fun.Ret {
		if c.Test {
			return fun.Ret{Result: fun.WouldChange, Comment: `Command "` + c.Name + `" would have been executed`}
		}
		out, code := shell(c.Name)
		ret := fun.Ret{Comment: `Command "` + c.Name + `" run`, Changes: value.MapOf("pid", "<pid>", "retcode", code, "stdout", out, "stderr", "")}
		if code == 0 {
			ret.Result = fun.OK
		}
		return ret
	}
	managed := func(_ context.Context, c *fun.Call) fun.Ret {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.files[c.Name] {
			return fun.Ret{Result: fun.OK, Comment: "File " + c.Name + " is in the correct state"}
		}
		if c.Test {
			return fun.Ret{
				Result: fun.WouldChange, Changes: value.MapOf("newfile", c.Name),
				Comment: "The file " + c.Name + " is set to be changed\nNote: No changes made, actual changes may\nbe different due to other states.",
			}
		}
		m.files[c.Name] = true
		return fun.Ret{Result: fun.OK, Changes: value.MapOf("diff", "New file"), Comment: "File " + c.Name + " updated"}
	}
	return []fun.Module{
		{Name: "cmd", Kind: fun.State, Watch: run, Specs: []fun.Spec{
			{Name: "run", VarKw: true, State: run},
			{Name: "wait", VarKw: true, State: func(context.Context, *fun.Call) fun.Ret { return fun.Ret{Result: fun.OK} }},
		}},
		{Name: "cmd", Kind: fun.Exec, Specs: []fun.Spec{{
			Name: "retcode", VarKw: true, Args: []fun.Arg{{Name: "cmd", Required: true}},
			Fn: func(_ context.Context, c *fun.Call) (fun.Result, error) {
				_, code := shell(c.Args.Str("cmd"))
				return fun.Value(code)
			},
		}}},
		{Name: "file", Kind: fun.State, Specs: []fun.Spec{{Name: "managed", VarKw: true, State: managed}}},
	}
}

func shell(line string) (stdout string, code int64) {
	for part := range strings.SplitSeq(line, ";") {
		switch part = strings.TrimSpace(part); part {
		case "exit 1", "false":
			code = 1
		default:
			if out, ok := strings.CutPrefix(part, "echo "); ok {
				stdout = out
			}
		}
	}
	return stdout, code
}
