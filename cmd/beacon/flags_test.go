package beacon

import (
	"testing"

	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"beacon check x":            "check takes no arguments",
		"beacon list x":             "list takes no arguments",
		"beacon spool x":            "spool takes no arguments",
		"beacon uninstall x":        "uninstall takes no arguments",
		"beacon install --every 0":  "--every: 0 is not a number of seconds from 1 to 86400",
		"beacon install --every -1": "--every: -1 is not a number of seconds from 1 to 86400",
		"beacon rnu":                `unknown command "rnu" (did you mean "run"?)`,
		"beacon run --outt x":       "unknown flag: --outt (did you mean --out?)",
	})
}
