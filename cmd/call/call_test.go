package call

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// Statuses are those of salt/cli/caller.py, of which a process keeps eight bits;
// what failed is never 0.
func TestCallStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		res                  fun.Result
		want, wantPassedThru int
	}{
		{fun.Result{}, 0, 0},
		{fun.Result{Value: false}, 0, 0},
		{fun.Result{Retcode: 2}, 1, 2},
		{fun.Result{Retcode: 300}, 1, 44},
		{fun.Result{Retcode: 256}, 1, 1},
		{fun.Result{Retcode: -9}, 1, 247},
		{fun.Result{Value: value.MapOf("result", false)}, 1, 1},
		{fun.Result{Value: value.MapOf("success", nil)}, 1, 1},
		{fun.Result{Value: value.MapOf("result", true, "success", true)}, 0, 0},
		{fun.Result{Value: value.MapOf("retcode", int64(3))}, 0, 0}, // a value like others
		{fun.Result{Value: value.MapOf("outputter", "highstate", "retcode", int64(1))}, 1, 1},
	} {
		if got := callStatus(tt.res.ExitCode(fun.Exec), false); got != tt.want {
			t.Errorf("callStatus(%d, %s, false) = %d, want %d", tt.res.Retcode, value.Repr(tt.res.Value), got, tt.want)
		}
		if got := callStatus(tt.res.ExitCode(fun.Exec), true); got != tt.wantPassedThru {
			t.Errorf("callStatus(%d, %s, true) = %d, want %d", tt.res.Retcode, value.Repr(tt.res.Value), got, tt.wantPassedThru)
		}
	}
}
