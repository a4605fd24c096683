package trial

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"brine/internal/fleet/machine"
	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// TestCompare: what a function returned is as expected, or the answer says what is not.
func TestCompare(t *testing.T) {
	t.Parallel()
	three := int64(3)
	const failedAll = "expected that the call succeeds, found {\n  \"retcode\": 3,\n  \"stdout\": \"out\",\n  \"stderr\": \"err\"\n}"
	all := value.MapOf("retcode", int64(3), "stdout", "out", "stderr", "err")
	for _, tt := range []struct {
		name string
		f    casefile.Function
		v    value.Value
		want string
		exit int
	}{
		{"true", casefile.Function{Name: "test.ping"}, true, "", 0},
		{"not true", casefile.Function{Name: "service.status"}, false, "expected a true value, found False", 0},
		{"nothing", casefile.Function{Name: "pkg.version"}, "", "expected a true value, found ", 0},
		{"equal", casefile.Function{HasIs: true, Is: int64(1)}, int64(1), "", 0},
		{"false is expected", casefile.Function{HasIs: true, Is: false}, false, "", 0},
		{"another value", casefile.Function{HasIs: true, Is: "1"}, int64(1), "expected '1', found 1", 0},
		{"status", casefile.Function{Name: "cmd.run", Status: &three}, all, "", 0},
		{"status and text", casefile.Function{Name: "cmd.run", Status: &three, Match: regexp.MustCompile("outerr")}, all, "", 0},
		{"another text", casefile.Function{Name: "cmd.run", Status: &three, Match: regexp.MustCompile("(?m)^x")}, all, `expected what matches "^x", found outerr`, 0},
		{"a command succeeds", casefile.Function{Name: "cmd.run"}, value.MapOf("retcode", int64(0), "stdout", "", "stderr", ""), "", 0},
		{
			"a command that failed and printed",
			casefile.Function{Name: "cmd.run", Match: regexp.MustCompile("out")},
			value.MapOf("retcode", int64(1), "stdout", "out"),
			"expected that the command succeeds (else write its status), found {\n  \"retcode\": 1,\n  \"stdout\": \"out\"\n}", 0,
		},
		{"no status", casefile.Function{Name: "cmd.run", Status: &three}, "text", "expected the status 3, found text", 0},
		{"a part", casefile.Function{Has: value.MapOf("stdout", "out", "retcode", int64(3))}, all, "", 0},
		{"a part of what a command that failed returned", casefile.Function{Name: "cmd.run_all", Has: value.MapOf("stdout", "out")}, all, failedAll, 1},
		{"a command that failed and returned something", casefile.Function{Name: "cmd.run_all"}, all, failedAll, 1},
		{"a text of a call that failed", casefile.Function{Name: "x.y"}, "no such thing", "expected that the call succeeds, found no such thing", 1},
		{"a text of a call that failed matches", casefile.Function{Name: "x.y", Match: regexp.MustCompile("such")}, "no such thing", "expected that the call succeeds, found no such thing", 1},
		{"an error in a mapping", casefile.Function{Name: "http.query"}, value.MapOf("error", "refused"), "expected no error, found refused", 0},
		{"an error that is expected", casefile.Function{Name: "http.query", Has: value.MapOf("error", "refused")}, value.MapOf("error", "refused"), "", 0},
		{"false of a call that failed is expected", casefile.Function{HasIs: true, Is: false}, false, "", 1},
		{"a command's status 0", casefile.Function{Name: "cmd.retcode"}, value.MapOf("retcode", int64(0)), "", 0},
		{"a command's status 3", casefile.Function{Name: "cmd.retcode"}, all, "expected that the command succeeds (else write its status), found {\n  \"retcode\": 3,\n  \"stdout\": \"out\",\n  \"stderr\": \"err\"\n}", 1},
		{"a command's status 3 is expected", casefile.Function{Name: "cmd.retcode", HasIs: true, Is: int64(3)}, all, "", 1},
		{"another status of a command", casefile.Function{Name: "cmd.retcode", HasIs: true, Is: int64(0)}, all, "expected 0, found 3", 1},
		{"another part", casefile.Function{Has: value.MapOf("stdout", "x")}, all, "stdout: expected x, found out", 0},
		{"a part that is missing", casefile.Function{Has: value.MapOf("x", nil)}, all, "x: expected None, found nothing", 0},
		{"no mapping", casefile.Function{Has: value.MapOf("x", "y")}, "text", "expected a mapping, found text", 0},
	} {
		if got := compare(tt.f, tt.v, tt.exit); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStatesOf: what is not the returns of states is not taken for them: a run that failed
// to compile returns a list of errors.
func TestStatesOf(t *testing.T) {
	t.Parallel()
	good := value.MapOf("file_|-a_|-/a_|-managed", value.MapOf("result", true))
	if rets, ok := statesOf(good); !ok || len(rets) != 1 {
		t.Errorf("states: %v, %v", rets, ok)
	}
	for _, v := range []value.Value{nil, value.NewMap(0), value.Strings("No matching sls found"), "text", value.MapOf("a", good), value.MapOf("a_|-b_|-c_|-d", "text")} {
		if rets, ok := statesOf(v); ok {
			t.Errorf("%s was taken for states: %v", value.Repr(v), rets)
		}
	}
}

// TestVolatile: only files that change without a state are left out of what a test run may
// not change, and directories that the overlay makes for them.
func TestVolatile(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/var/cache/apt/x": true, "/var/cache": true, "/var": true, "/etc/machine-id": true, "/etc": true,
		"/etc/app.conf": false, "/variable": false, "/usr": false, "/root/.cached": false, "/tmpx": false,
	} {
		if got := isVolatile(path); got != want {
			t.Errorf("isVolatile(%s) = %v", path, got)
		}
	}
	after := map[string]string{"/etc": "d 755 0:0", "/opt": "d 755 0:0", "/etc/app": "d 755 0:0", "/etc/app/x": "f 644 0:0 1"}
	for path, want := range map[string]bool{"/etc": true, "/etc/app": true, "/opt": false, "/etc/app/x": false} {
		if got := isParent(path, after, nil); got != want {
			t.Errorf("isParent(%s) = %v", path, got)
		}
	}
	if isParent("/etc", after, map[string]string{"/etc": "d 700 0:0"}) {
		t.Error("a directory that was in the overlay before is taken for one that the overlay made")
	}
}

// TestStartHint: what lets no machine start is told apart, and has its own way out.
func TestStartHint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"runc: error setting rlimits for ready process: operation not permitted": "CAP_SYS_RESOURCE",
		"unshare: unshare failed: No space left on device":                       "user.max_user_namespaces",
		"no space left on device":                                                "",
	} {
		p := &plan{}
		got := p.startHint(&machine.BootError{Driver: "podman", Err: errors.New(text)})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
	p := &plan{given: &machine.Given{Target: "a", Reset: "revert a"}}
	if got := p.startHint(&machine.BootError{Target: "a", Err: &machine.ResetError{Why: "no"}}); !strings.HasSuffix(got, ": revert a") {
		t.Errorf("a reset that fails: %q", got)
	}
}

// TestLeft: what could not be removed is known after Ctrl-C, and nothing else is.
func TestLeft(t *testing.T) {
	t.Parallel()
	r := &Result{Job: Job{Case: &casefile.Case{Name: "a"}, System: "b"}, Checks: []Check{
		{Name: "machine", Status: Failed, Text: "x"}, {Name: "web1: " + removing, Status: Failed, Text: "busy"}, {Name: tidying, Text: "y"},
	}}
	if got := r.Left(); len(got) != 1 || got[0] != "a on b: web1: remove the machine: busy" {
		t.Errorf("%q", got)
	}
}
