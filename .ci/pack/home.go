package main

import (
	_ "embed" // of the file of make home
	"strings"
)

//go:embed home.conf
var homeFile string

// home returns a value of home.conf.
func home(key string) string {
	for line := range strings.Lines(homeFile) {
		if v, ok := strings.CutPrefix(line, key+"="); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// homeless reports whether an address is still the placeholder.
func homeless(address string) bool { return strings.Contains(address, "home-is-not-set") }
