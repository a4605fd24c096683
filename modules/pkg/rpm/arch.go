package rpm

import (
	"slices"
	"strings"

	"brine/internal/core/fun"
	"brine/internal/py/value"
	"brine/modules/machine"
)

// The architectures that rpm knows, by family.
var (
	arches32    = []string{"i386", "i486", "i586", "i686"}
	archesARM32 = []string{"armv5tel", "armv5tejl", "armv6l", "armv6hl", "armv7l", "armv7hl", "armv7hnl"}
	archesOther = []string{
		"x86_64", "athlon", "amd64", "ia32e", "ia64", "geode", "aarch64",
		"ppc", "ppc64", "ppc64le", "ppc64iseries", "ppc64pseries", "s390", "s390x",
		"alpha", "alphaev4", "alphaev45", "alphaev5", "alphaev56", "alphapca56", "alphaev6", "alphaev67", "alphaev68", "alphaev7",
		"sh3", "sh4", "sh4a",
	}
)

// IsArch reports whether a word is an architecture, other than noarch.
func IsArch(s string) bool {
	return slices.Contains(arches32, s) || slices.Contains(archesARM32, s) || slices.Contains(archesOther, s)
}

// Same32 reports whether two architectures are both x86 of 32 bits or both ARM of
// 32 bits.
func Same32(a, b string) bool {
	return slices.Contains(arches32, a) && slices.Contains(arches32, b) ||
		slices.Contains(archesARM32, a) && slices.Contains(archesARM32, b)
}

// ResolveName is the name by which Salt lists a package: with its architecture where
// that is not the machine's.
func ResolveName(name, arch, osarch string) string {
	if Same32(arch, osarch) || arch == osarch || arch == "noarch" {
		return name
	}
	return name + "." + arch
}

// SplitArch divides a name into the package and its architecture, "" where it has
// none.
func SplitArch(name string) (base, arch string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && (IsArch(name[i+1:]) || name[i+1:] == "noarch") {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// ParseArch returns a name and its architecture, None where it has none.
func ParseArch(name string) *value.Map {
	base, arch := SplitArch(name)
	if arch == "" {
		return value.MapOf("name", name, "arch", nil)
	}
	return value.MapOf("name", base, "arch", arch)
}

// NormalizeName strips the machine's architecture, or noarch, from a name.
func NormalizeName(env *fun.Env, name string) string {
	osarch := machine.Grain(env, "osarch")
	base, arch := SplitArch(name)
	if arch != "" && (arch == osarch || arch == "noarch" || Same32(arch, osarch)) {
		return base
	}
	return name
}
