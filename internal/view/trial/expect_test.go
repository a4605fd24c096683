package trial

import (
	"regexp"
	"testing"

	"brine/internal/py/value"
	"brine/internal/view/casefile"
)

// TestCompare: what a function returned is as expected, or the answer says what is not.
func TestCompare(t *testing.T) {
	t.Parallel()
	three := int64(3)
	all := value.MapOf("retcode", int64(3), "stdout", "out", "stderr", "err")
	for _, tt := range []struct {
		name string
		f    casefile.Function
		v    value.Value
		want string
	}{
		{"true", casefile.Function{Name: "test.ping"}, true, ""},
		{"not true", casefile.Function{Name: "service.status"}, false, "expected a true value, found False"},
		{"nothing", casefile.Function{Name: "pkg.version"}, "", "expected a true value, found "},
		{"equal", casefile.Function{HasIs: true, Is: int64(1)}, int64(1), ""},
		{"false is expected", casefile.Function{HasIs: true, Is: false}, false, ""},
		{"another value", casefile.Function{HasIs: true, Is: "1"}, int64(1), "expected '1', found 1"},
		{"status", casefile.Function{Name: "cmd.run", Status: &three}, all, ""},
		{"status and text", casefile.Function{Name: "cmd.run", Status: &three, Match: regexp.MustCompile("outerr")}, all, ""},
		{"another text", casefile.Function{Name: "cmd.run", Status: &three, Match: regexp.MustCompile("(?m)^x")}, all, `expected what matches "^x", found outerr`},
		{"a command succeeds", casefile.Function{Name: "cmd.run"}, value.MapOf("retcode", int64(0), "stdout", "", "stderr", ""), ""},
		{
			"a command that failed and printed",
			casefile.Function{Name: "cmd.run", Match: regexp.MustCompile("out")},
			value.MapOf("retcode", int64(1), "stdout", "out"),
			"expected that the command succeeds (else write its status), found {\n  \"retcode\": 1,\n  \"stdout\": \"out\"\n}",
		},
		{"no status", casefile.Function{Name: "cmd.run", Status: &three}, "text", "expected the status 3, found text"},
		{"a part", casefile.Function{Has: value.MapOf("stdout", "out")}, all, ""},
		{"another part", casefile.Function{Has: value.MapOf("stdout", "x")}, all, "stdout: expected x, found out"},
		{"a part that is missing", casefile.Function{Has: value.MapOf("x", nil)}, all, "x: expected None, found nothing"},
		{"no mapping", casefile.Function{Has: value.MapOf("x", "y")}, "text", "expected a mapping, found text"},
	} {
		if got := compare(tt.f, tt.v); got != tt.want {
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
