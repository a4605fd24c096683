package session

import (
	"slices"

	"brine/internal/py/value"
)

// OrchestrateName is the runner function that queued entries are calls of.
const OrchestrateName = "state.orchestrate"

// AllMaps reports whether all items of a list are mappings, as low chunks are.
func AllMaps(l *value.List) bool {
	return !slices.ContainsFunc(l.Items, func(v value.Value) bool { _, ok := v.(*value.Map); return !ok })
}

// IsOrchestrate reports whether a function runs an orchestration.
func IsOrchestrate(name string) bool {
	return name == "state.orchestrate" || name == "state.orch"
}

// Plannable are the functions whose changes test mode tells.
var Plannable = [...]string{"state.apply", "state.highstate", "state.single", "state.sls", "state.sls_id", "state.top"}
