//go:build !linux

package host

import (
	"errors"
	"io/fs"
	"os"
)

// nameless returns nil: there are no files without a name.
func nameless(*os.Root, fs.FileMode) *os.File { return nil }

func link(*os.File, *os.Root, string) error { return errors.ErrUnsupported }
