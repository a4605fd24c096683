// Package lsp is brine lsp: the language server of editors.
package lsp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/complete"
	"brine/cmd/internal/reference"
	"brine/cmd/linter"
	"brine/internal/core/config"
	"brine/internal/core/host"
	"brine/internal/core/redact"
	"brine/internal/core/version"
	"brine/internal/py/value"
	"brine/internal/view/lint"
	"brine/internal/view/lsp"
)

type options struct {
	linter.Flags
	logFile, logLevel string
	docsURL           string
}

// New returns "brine lsp". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "lsp [<tree>]",
		Short: "Serve editors of SLS files (language server)",
		Long: `Serve an editor over standard input and output with the language-server
protocol: diagnostics of all rules of lint, completion, documentation,
definitions, references and renaming. The editor starts this command;
'brine docs lsp' describes how to set it up.

The tree of a document is the closest directory above it with a configuration
(minion, master, Saltfile) or .brine-lint.yaml, else its workspace folder. With
<tree>, -c or --file-root only this tree is used.

Exit status: 0 the editor asked the server to shut down; 1 it left without
asking; 64 usage error.`,
		Example: `  brine lsp
  brine lsp --system debian,ubuntu --log-file /tmp/brine-lsp.log`,
		Args: linter.MaxOneTree,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(a, c, o, args)
		},
	}
	f := c.Flags()
	o.RegisterTree(f)
	f.StringVarP(&o.logLevel, "log-level", "l", "warning", "log messages of this level and above to stderr")
	f.StringVar(&o.logFile, "log-file", "", "also log to this file")
	f.StringVar(&o.docsURL, "docs-url", "", "link diagnostics and functions to the documentation at this address")
	f.Bool("stdio", true, "use standard input and output (the only way)")
	linter.Complete(c, nil)
	complete.Flags(c)
	return c
}

func run(a *app.App, c *cobra.Command, o *options, args []string) error {
	log, _, done, err := app.OpenLog(a.Err, value.MapOf("log_level", o.logLevel), o.logFile, redact.NewSet())
	if err != nil {
		return err
	}
	if done != nil {
		defer done()
	}
	root := ""
	switch {
	case len(args) > 0:
		root = args[0]
	case o.ConfigDir != "":
		root = o.ConfigDir
	case len(o.FileRoots) > 0:
		root = "."
	}
	if root != "" {
		if root, err = filepath.Abs(root); err != nil {
			return err
		}
		if _, err := lspTree(a, c, o, root); err != nil {
			return err
		}
	}
	docs := o.docsURL
	if docs != "" && !strings.HasSuffix(docs, "/") {
		docs += "/"
	}
	a.Printed = true
	err = lsp.Serve(c.Context(), lsp.Options{
		In: a.In, Out: a.Out, Log: log, Version: version.Number(), Disk: a.Host, Table: assembly.Table(), Root: root,
		Tree:    func(dir string) (lint.Options, error) { return lspTree(a, c, o, dir) },
		Example: reference.Example, DocsURL: docs, RulesURL: rulesURL(a, docs),
	})
	if errors.Is(err, lsp.ErrNotShutDown) {
		log.Info(err.Error())
		return app.Silent(app.ExitGeneric)
	}
	return err
}

// lspTree reads the configuration of a tree. A Saltfile in it counts, as it does for
// a command that is run there.
func lspTree(a *app.App, c *cobra.Command, o *options, dir string) (lint.Options, error) {
	f := o.Flags
	f.Exclude = slices.Clone(f.Exclude)
	if name := filepath.Join(dir, "Saltfile"); f.ConfigDir == "" && isFile(name) && !isFile(filepath.Join(dir, "minion")) && !isFile(filepath.Join(dir, "master")) {
		for _, section := range []string{"salt-call", "salt-run", "salt-ssh"} {
			m, _, err := config.Saltfile(config.Options{Kind: config.Minion, Host: a.Host, Section: section, Saltfile: name})
			if err != nil {
				return lint.Options{}, err
			}
			if to := m.Str("config_dir"); to != "" {
				if !filepath.IsAbs(to) {
					to = filepath.Join(dir, to)
				}
				f.ConfigDir = to
				break
			}
		}
	}
	return linter.Options(a, c, &f, []string{dir})
}

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// rulesURL returns the address of the page of the rules: in the documentation, else
// a file in the user's cache.
func rulesURL(a *app.App, docs string) string {
	if docs != "" {
		return docs + "lint.md"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	name := filepath.Join(cache, "brine", "lint-rules.md")
	text := fmt.Sprintf("# Rules of brine lint %s\n\n%s\n", version.Number(), lint.Page())
	if old, err := os.ReadFile(name); err != nil || string(old) != text {
		if os.MkdirAll(filepath.Dir(name), 0o700) != nil || a.Host.WriteFile(name, strings.NewReader(text), host.WriteOptions{}) != nil {
			return ""
		}
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}
