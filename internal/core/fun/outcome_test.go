package fun

import (
	"testing"

	"brine/internal/py/value"
	"brine/internal/py/yamlsalt"
)

const (
	goodStates = "{a: {result: true}}"
	badStates  = "{a: {result: false}}"
)

// The codes are those that Salt's minions and steps find, and the exit codes those of
// salt-call and salt-run; what a command shows of other things is none of its affairs.
func TestResultCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind       Kind
		own        int
		returns    string
		code, exit int
	}{
		{Exec, 3, "true", 3, 3},
		{Exec, 0, "false", 0, 0},
		{Exec, 0, "{result: false}", 1, 1},
		{Exec, 0, "{success: null}", 1, 1},
		{Exec, 0, "{result: true, success: true}", 0, 0},
		{Exec, 0, "{retcode: 3}", 0, 0},
		{Exec, 0, "{Error: x, data: {a: 5}}", 0, 0},
		{Exec, 0, "{outputter: highstate, retcode: 1, data: {ctl: " + goodStates + "}}", 0, 1},
		{Runner, 0, "text", 0, 0},
		{Runner, 0, "{}", 0, 0},
		{Runner, 4, "{retcode: 0}", 4, 4},
		{Runner, 0, "{retcode: 3}", 0, 3},
		{Runner, 0, "{retcode: 4294967296}", 0, 1},
		{Runner, 0, "{data: {retcode: 2}}", 1, 2},
		{Runner, 0, "{data: {web1: true}}", 1, 0},
		{Runner, 0, "{data: " + badStates + "}", 1, 0},
		{Runner, 0, "{outputter: highstate, data: {ctl: " + badStates + "}}", 1, 1},
		{Runner, 0, "{outputter: highstate, data: {ctl: {}}}", 1, 1},
		{Runner, 0, "{outputter: txt, data: {a: 1}}", 1, 0},
		{Runner, 0, "{outputter: highstate, data: {ctl: " + goodStates + "}}", 0, 0},
		{Runner, 0, "{Error: there is none}", 1, 1},
		{Runner, 0, "{result: false}", 0, 0},
		{Wheel, 0, "{Error: there is none}", 1, 1},
	} {
		v, err := yamlsalt.LoadString(tt.returns)
		if err != nil {
			t.Fatal(err)
		}
		r := Result{Value: v, Retcode: tt.own}
		if code, exit := r.Code(tt.kind), r.ExitCode(tt.kind); code != tt.code || exit != tt.exit {
			t.Errorf("%s with code %d and %s: code %d and exit code %d, want %d and %d", tt.kind, tt.own, tt.returns, code, exit, tt.code, tt.exit)
		}
	}
}

func TestReturnOutcome(t *testing.T) {
	t.Parallel()
	each := value.MapOf("a", int64(0), "b", nil)
	for _, tt := range []struct {
		ret           Return
		code, success string
		good          bool
	}{
		{Return{}, "0", "True", true},
		{Return{Retcode: 3}, "3", "False", false},
		{Return{Raised: true}, "0", "False", false},
		{Return{Stage: Lost}, "255", "False", false},
		{Return{Stage: Unreachable, Retcode: 0}, "255", "False", false},
		{Return{Retcode: 1, Raised: true, Each: each}, "{'a': 0}", "{'a': True, 'b': False}", false},
		{Return{}.Condemned(), "1", "False", false},
		{Return{Retcode: 3}.Condemned(), "3", "False", false},
		{Return{Each: value.MapOf("a", int64(0))}.Condemned(), "1", "False", false},
	} {
		code, success := tt.ret.Outcome()
		if value.Repr(code) != tt.code || value.Repr(success) != tt.success || tt.ret.Success() != tt.good {
			t.Errorf("%+v: %s, %s, %v; want %s, %s, %v", tt.ret, value.Repr(code), value.Repr(success), tt.ret.Success(), tt.code, tt.success, tt.good)
		}
	}
}

func TestCheckResult(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"{}": false, "[a]": false, "text": false, "{x: " + goodStates + "}": true, "{x: " + badStates + "}": false,
		"{a: {b: 5}}": true, "{a: {}}": false, "{a: [b]}": false, "{__extend__: [b]}": true,
		"{a: {result: null}}": true, "{a: {b: {result: false}}}": false, "{a: {b: {result: true}}}": true, "{a: 5}": false,
	} {
		v, err := yamlsalt.LoadString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := CheckResult(v); got != want {
			t.Errorf("CheckResult(%s) = %v, want %v", text, got, want)
		}
	}
}
