// Package pythontest has tests start Python itself.
package pythontest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
)

// Direct puts the directory of python3 first into PATH, where PATH has a script that looks
// for it, as pyenv does: that takes ten times as long as Python, which tests start often.
func Direct() {
	path, err := exec.LookPath("python3")
	if err != nil {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return
	}
	exe, err := exec.Command(path, "-I", "-c", "import sys; print(sys.executable)").Output()
	if err != nil || !filepath.IsAbs(string(exe)) {
		return
	}
	_ = os.Setenv("PATH", filepath.Dir(string(exe))+string(os.PathListSeparator)+os.Getenv("PATH")) // without it, tests are slow
}
