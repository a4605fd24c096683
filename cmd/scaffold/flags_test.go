package scaffold

import (
	"testing"

	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"init":           "one directory is needed, 0 were given",
		"init a b":       "one directory is needed, 2 were given",
		"init --force x": "unknown flag: --force",
	})
}
