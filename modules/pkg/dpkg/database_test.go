package dpkg_test

import (
	"strings"
	"testing"

	"brine/modules/pkg/dpkg"
)

// FuzzParse looks for status files that cannot be read.
func FuzzParse(f *testing.F) {
	f.Add([]byte("Package: a\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nMulti-Arch: same\n\nPackage: b\n"))
	f.Add([]byte("Package\n:\nVersion:\n\n\nStatus: a b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range dpkg.Parse(text) {
			if p.Name == "" || strings.TrimSpace(p.Name) != p.Name || strings.Contains(p.Name, "\n") {
				t.Errorf("a package named %q", p.Name)
			}
		}
	})
}
