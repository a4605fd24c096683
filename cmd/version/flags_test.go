package version

import (
	"testing"

	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"version x":          `version takes no arguments, and "x" was given`,
		"version --licences": "unknown flag: --licences (did you mean --licenses?)",
	})
}
