package machine

import (
	"errors"
	"strings"
	"syscall"
)

// IsNoSpace reports whether what a program printed says that a disk is full.
func IsNoSpace(text string) bool {
	return strings.Contains(strings.ToLower(text), "no space left on device")
}

// spaceHint says what to do where a disk of this machine is full.
const spaceHint = "make room on that disk, or have brine use another one: XDG_CACHE_HOME names its directory of images and machines, TMPDIR that of other files"

// SpaceHint says what to do about an error if a disk of this machine is full; else it is "".
func SpaceHint(err error) string {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return spaceHint
	}
	return ""
}
