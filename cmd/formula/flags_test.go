package formula

import (
	"testing"

	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"formula":                   "no command was given",
		"formula add":               "give one URL with a version: URL@VERSION",
		"formula remove":            "no formula was given",
		"formula list x":            `list takes no arguments, and "x" was given`,
		"formula update --frozen x": "--frozen takes no names",
		"formula verify --forzen":   "unknown flag: --forzen",
	})
}
