//go:build slim

package pillar

// extMore returns no external pillar: an agent renders no pillar.
func extMore(string) extFunc { return nil }

// extMoreNames are the external pillars of extMore.
func extMoreNames() []string { return nil }
