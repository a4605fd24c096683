//go:build slim

package absent

// Why has no reasons here.
func Why(string, string) string { return "" }
