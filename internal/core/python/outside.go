//go:build !slim

package python

import (
	"embed"
	"io/fs"
	"strings"

	"brine/internal/py/value"
)

//go:embed all:outside
var outsideFiles embed.FS

// Outside returns the package salt for Python programs that brine does not start:
// the text of its files, by path. It runs program with the directory config; "" is
// the default one.
func Outside(program, config string) (map[string]string, error) {
	files := map[string]string{"salt/_where.py": "PROGRAM = " + value.Repr(program) + "\nCONFIG = " + value.Repr(config) + "\n"}
	for _, from := range []struct {
		fs  fs.FS
		dir string
	}{{runtimeFiles, "runtime/"}, {outsideFiles, "outside/"}} {
		err := fs.WalkDir(from.fs, from.dir+"salt", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(from.fs, path)
			files[strings.TrimPrefix(path, from.dir)] = string(text)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
