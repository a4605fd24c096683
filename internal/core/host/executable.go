package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Executable returns the absolute path of the file of this program. Where the system
// cannot tell, as in a root without /proc that an image is built in, it is the file
// that the program was started by.
var Executable = sync.OnceValues(func() (string, error) { return ownFile(os.Executable, os.Args[0]) })

func ownFile(ask func() (string, error), started string) (string, error) {
	exe, err := ask()
	if err == nil {
		return exe, nil
	}
	path, look := exec.LookPath(started)
	if look != nil {
		return "", err
	}
	return filepath.Abs(path)
}
