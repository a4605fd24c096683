//go:build !release

package agents

import "io/fs"

// FS returns nil, since a development build has no embedded agents.
func FS() fs.FS { return nil }
