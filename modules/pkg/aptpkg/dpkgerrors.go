package aptpkg

import (
	"slices"
	"strings"

	"brine/internal/core/printable"
)

// dpkgSteps are how the lines begin with which dpkg begins something.
var dpkgSteps = []string{"Setting up ", "Unpacking ", "Preparing to unpack ", "Removing ", "Purging ", "Processing triggers ", "Selecting ", "(Reading database "}

// dpkgErrorsOf returns what dpkg, and a script that it ran before, said of the first
// failure, as one line; "" is nothing. apt has that on stdout, and says itself only
// that dpkg failed.
func dpkgErrorsOf(stdout string) string {
	const before, most = 5, 10
	lines := strings.Split(stdout, "\n")
	at := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "dpkg: error") || strings.HasPrefix(l, "dpkg: unrecoverable fatal error")
	})
	if at < 0 {
		return ""
	}
	begins := func(line string) bool {
		return slices.ContainsFunc(dpkgSteps, func(s string) bool { return strings.HasPrefix(line, s) })
	}
	from, to := at, at+1
	for i := at - 1; i >= max(0, at-before-1); i-- {
		if begins(lines[i]) {
			from = i + 1
			break
		}
	}
	for to < len(lines) && to-from < most && strings.HasPrefix(lines[to], " ") {
		to++
	}
	return printable.Text(strings.Join(strings.Fields(strings.Join(lines[from:to], " ")), " "))
}
