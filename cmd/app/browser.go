package app

import (
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"brine/internal/core/host"
)

// OpenBrowser opens an address in the browser of the desktop. The address is a
// secret, and other users can see the arguments of programs, so the browser opens a
// file that leads to it.
func (a *App) OpenBrowser(url string) (remove func(), err error) {
	remove = func() {}
	dir, err := a.Host.MkdirTemp(os.TempDir(), "brine-ui-")
	if err != nil {
		return remove, err
	}
	remove = func() { _ = a.Host.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	page := `<!DOCTYPE html><meta charset="utf-8"><title>brine</title><meta http-equiv="refresh" content="0; url=` + html.EscapeString(url) + `">`
	mode := fs.FileMode(0o600)
	if err := a.Host.WriteFile(file, strings.NewReader(page), host.WriteOptions{Mode: &mode}); err != nil {
		return remove, err
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	_, err = a.Host.Start(host.Cmd{Argv: []string{opener, file}})
	return remove, err
}
