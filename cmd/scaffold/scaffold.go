// Package scaffold is brine init: a tree to start from.
package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
)

// tree is the tree that init writes.
//
//go:embed all:tree
var tree embed.FS

// New returns "brine init".
func New(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "init <directory>",
		Short: "Create a tree to start from",
		Long: `Create a tree to start from: configuration, a top file, a state, pillar, an
orchestration and a roster whose targets are this machine. Its Saltfile makes the
configuration hold in that directory and below. The directory must be new or
empty.

Exit status: 0 success; 1 the directory is not empty or cannot be written; 64
usage error.`,
		Example: `  brine init mytree`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return app.Usagef(c, "one directory is needed, %d were given", len(args))
			}
			return initTree(a, args[0])
		},
	}
}

// initTree writes the tree to dir and prints what to do with it.
func initTree(a *app.App, dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("create a tree: %w", err)
	case len(names) > 0:
		return &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("%s is not empty: it has %q", dir, names[0].Name()),
			Hint: "give a directory that is empty or not there yet",
		}
	}
	err = fs.WalkDir(tree, "tree", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dst := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(p, "tree")))
		if d.IsDir() {
			return os.MkdirAll(dst, 0o777)
		}
		text, err := tree.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, modeOf(p))
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("create a tree: %w", err)
	}
	shown := app.ShellWord(dir)
	_, err = fmt.Fprintf(a.Out, `%[1]s is a tree to start from. Next:

  cd %[1]s
  brine call state.apply test=True      show what would change here
  brine call state.apply                change it
  brine call pillar.items               show the data for the states
  brine orchestrate orch.site           run steps on several machines
  brine call state.show_sls hello       show what a file compiles to

From elsewhere, add -c %[1]s. Machines are in the file roster, states in salt, data
in pillar.
`, shown)
	return err
}

// modeOf is the mode of a file of the tree: custom functions can be
// executed.
func modeOf(p string) fs.FileMode {
	if strings.HasPrefix(path.Base(path.Dir(p)), "_") {
		return 0o777
	}
	return 0o666
}
