package linter

import (
	"os"
	"runtime/debug"
)

// CollectLater has the heap grow to three times what is in use before it is collected, unless
// the user has said otherwise: what a check makes of a tree stays until its end. A server of an
// editor, which stays for long, does not do this.
func CollectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
}
