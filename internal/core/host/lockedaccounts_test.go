package host_test

import (
	"context"
	"testing"

	"brine/internal/core/host"
)

// TestRunAccounts: a program that finds the accounts locked is run again; one that
// may not change them is not.
func TestRunAccounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stderr string
		runs         int
	}{
		{"done", "", 1},
		{"locked", "useradd: cannot lock /etc/passwd; try again later.\n", 3},
		{"another fault", "useradd: invalid user name\n", 1},
		{"not root", "useradd: Permission denied.\nuseradd: cannot lock /etc/passwd; try again later.\n", 1},
	} {
		h, runs := host.NewFake(), 0
		h.HandleCommand("useradd *", func(context.Context, host.Cmd) (host.Output, error) {
			if runs++; tt.stderr == "" || runs == 3 {
				return host.Output{}, nil
			}
			return host.Output{Status: 1, Stderr: []byte(tt.stderr)}, nil
		})
		if _, err := host.RunAccounts(t.Context(), h, host.Cmd{Argv: []string{"useradd", "eve"}}); err != nil || runs != tt.runs {
			t.Errorf("%s: ran %d times (%v), want %d", tt.name, runs, err, tt.runs)
		}
	}
}
