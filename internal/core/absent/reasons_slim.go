//go:build slim

package absent

// Why has no reasons here.
func Why(string, string) string { return "" }

// Key has no reasons here.
func Key(string, string) string { return "" }

// Names has no names here.
func Names(string) []string { return nil }

// Listed has no names here.
func Listed(string) []string { return nil }
