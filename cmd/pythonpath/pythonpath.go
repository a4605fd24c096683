// Package pythonpath is brine python-path: the directory with the Python package of Salt.
package pythonpath

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/host"
	"brine/internal/core/python"
)

// New returns "brine python-path". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *app.RunFlags, []string) error) *cobra.Command {
	var f app.RunFlags
	c := &cobra.Command{
		Use:   "python-path",
		Short: "Print a directory for PYTHONPATH",
		Long: `Print a directory for PYTHONPATH, and create it in the cache directory if it does
not exist. Python programs (3.6 or later) find a small package "salt" in it:
salt.utils.event, salt.client, salt.runner and salt.config, which run brine, and
the parts of salt.utils that do not need anything else.

The package runs this brine with the configuration of this command.

Exit status: 0 success; 1 the directory cannot be written; 64 usage error.`,
		Example: `  PYTHONPATH=$(brine python-path) python3 listener.py`,
		Args:    app.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), &f, args)
			}
			return run(a, &f)
		},
	}
	f.RegisterConfig(c.Flags())
	return c
}

// run writes the package for Python programs and prints where it is.
func run(a *app.App, f *app.RunFlags) error {
	s, err := session.New(a, config.Master, "brine", f, nil)
	if err != nil {
		return err
	}
	defer s.End()
	exe, err := host.Executable()
	if err != nil {
		return err
	}
	conf := ""
	if f.ConfigDir != "" {
		if conf, err = filepath.Abs(f.ConfigDir); err != nil {
			return err
		}
	}
	files, err := python.Outside(exe, conf)
	if err != nil {
		return err
	}
	dir, err := writeOnce(filepath.Join(s.Cfg.CacheDir, "python"), files)
	if err != nil {
		return fmt.Errorf("write the package for Python: %w", err)
	}
	_, err = fmt.Fprintln(a.Out, dir)
	return err
}

// writeOnce writes files to a directory below root that is named by what they are.
// It is there whole or not at all.
func writeOnce(root string, files map[string]string) (string, error) {
	sum := sha256.New()
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		fmt.Fprintf(sum, "%q %q\n", name, files[name])
	}
	dir, err := filepath.Abs(filepath.Join(root, hex.EncodeToString(sum.Sum(nil))[:16]))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	for _, name := range names {
		path := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		} // another brine was faster
	}
	return dir, nil
}
