package schedule

import (
	"testing"

	"brine/internal/testkit/cmdtest"
)

// TestUsage has command lines that are refused before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	cmdtest.Refuses(t, New, map[string]string{
		"schedule install x":     "install takes no arguments",
		"schedule list x":        "list takes no arguments",
		"schedule show":          "no job was given",
		"schedule instal":        `unknown command "instal" (did you mean "install"?)`,
		"schedule list --outt x": "unknown flag: --outt (did you mean --out?)",
	})
}
