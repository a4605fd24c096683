//go:build !release

package agents

import "io/fs"

// FS returns nil: this is no release build.
func FS() fs.FS { return nil }
