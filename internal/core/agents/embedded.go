//go:build release

package agents

import (
	"embed"
	"io/fs"
)

//go:embed images
var images embed.FS

// FS returns the agents: SUMS, and a file <name>.xz or <name>.zst for each of its
// lines.
func FS() fs.FS {
	sub, err := fs.Sub(images, "images")
	if err != nil {
		return nil
	}
	return sub
}
