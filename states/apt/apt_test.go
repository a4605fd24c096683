package apt_test

import (
	"testing"

	"brine/internal/core/fun"
	"brine/internal/testkit/debtest"
	"brine/modules/pkg/aptpkg"
	"brine/states/apt"
)

func TestHeld(t *testing.T) {
	t.Parallel()
	m := debtest.New(t, fun.NewTable([]fun.Entry{
		{Kind: fun.Exec, Name: "aptpkg", Virtual: "pkg", Load: aptpkg.Module},
		{Kind: fun.State, Name: "aptpkg", Virtual: "apt", Load: apt.States},
	}), "tool 1.0\n")
	for _, tt := range []struct {
		args string
		test bool
		want string
	}{
		{"name: none", false, "False | Package none does not have a state | {}"},
		{"name: '*'", false, "False | Package * does not have a state | {}"},
		{"name: tool", true, "None | Package tool is set to be held | {}"},
		{"name: tool", false, "True | Package tool is now being held | {'old': 'install', 'new': 'hold'}"},
		{"name: tool", false, "True | Package tool is already held | {}"},
	} {
		if got := m.State("apt.held", tt.args, tt.test); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
}
