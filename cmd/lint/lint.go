// Package lint is brine lint: it finds mistakes in a tree.
package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/internal/plantext"
	"brine/cmd/linter"
	"brine/internal/core/host"
	"brine/internal/core/version"
	"brine/internal/view/lint"
)

type options struct {
	linter.Flags
	selected []string
	ignore   []string
	level    string
	fix      bool
	rules    bool
	strict   bool
}

// New returns "brine lint". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "lint [<tree>]",
		Short: "Find faults in a tree without running it",
		Long: `Find faults in a tree: in its SLS files, top files and pillar. Each SLS is
rendered and compiled for several systems. No machine is touched: execution
functions that inspect or change a machine are not called. Their results, and
grains and pillar keys that are not known, stand for any value: both branches of
a condition on one are checked. What still cannot be judged is listed.

The tree is a directory with a configuration (minion or master) or with SLS files;
the default is the working directory. The file .brine-lint.yaml in it configures
the rules. See 'brine docs lint'.

Exit status: 0 no errors and no warnings; 1 errors or warnings, or the tree
cannot be read; 64 usage error.`,
		Example: `  brine lint
  brine lint mytree --ignore secret
  brine lint mytree --out sarif > lint.sarif
  brine lint mytree --fix`,
		Args: linter.MaxOneTree,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(a, c, o, args)
		},
	}
	o.Register(c.Flags(), lint.Formats())
	c.Flags().StringSliceVar(&o.selected, "select", nil, "check only these rules")
	c.Flags().StringSliceVar(&o.ignore, "ignore", nil, "do not check these rules")
	c.Flags().StringVar(&o.level, "level", "warning", "show findings from this severity on: info, warning, error")
	c.Flags().BoolVar(&o.fix, "fix", false, "fix findings where the fix does not change the meaning")
	c.Flags().BoolVar(&o.strict, "strict", false, "treat what cannot be judged as an error")
	c.Flags().BoolVar(&o.rules, "rules", false, "list the rules")
	linter.Complete(c, lint.Formats())
	return c
}

func run(a *app.App, c *cobra.Command, o *options, args []string) error {
	if o.rules {
		for _, r := range lint.Rules() {
			fmt.Fprintf(a.Out, "%-20s %-8s %s\n", r.ID, r.Severity, r.Doc)
		}
		return nil
	}
	if !slices.Contains(lint.Formats(), o.Out) {
		return app.Usagef(c, "--out: %q is not one of %s", o.Out, strings.Join(lint.Formats(), ", "))
	}
	least, ok := lint.ParseSeverity(o.level)
	if !ok {
		return app.Usagef(c, "--level: %q is not one of info, warning, error", o.level)
	}
	options, err := linter.Options(a, c, &o.Flags, args)
	if err != nil {
		return err
	}
	linter.CollectLater()
	cfg := &options.Config
	if len(o.selected) > 0 {
		cfg.Select, cfg.Only = o.selected, true
	}
	cfg.Ignore = append(cfg.Ignore, o.ignore...)
	cfg.Strict = o.strict
	if err := cfg.Check(); err != nil {
		return app.Usagef(c, "%v", err)
	}
	report, err := lint.Run(c.Context(), options)
	if large, ok := errors.AsType[*lint.LargeError](err); ok {
		return &app.StatusError{Status: app.ExitGeneric, Err: large, Hint: "name the directory of the tree, or that of its SLS files with --file-root"}
	}
	if err != nil {
		return err
	}
	if err := linter.Nothing(&options, report); err != nil {
		return err
	}
	if report.Unread > 0 {
		fmt.Fprintf(a.Err, "brine: warning: %d files that are not SLS files or templates were not read, because the tree has too much text\n", report.Unread)
	}
	if o.fix {
		if report, err = fixAll(c.Context(), a, options, report); err != nil {
			return err
		}
	}
	a.Printed = true
	if err := report.Write(a.Out, lint.Output{Format: o.Out, Version: version.Number(), Name: a.NameOf, Least: least}); err != nil {
		return err
	}
	if report.Count(lint.Error)+report.Count(lint.Warning) > 0 {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

// maxRounds bounds how often a tree is corrected and checked again: of corrections that
// overlap, a round makes one.
const maxRounds = 4

// fixAll writes the corrections of a report into the files and returns the report of the
// corrected tree.
func fixAll(ctx context.Context, a *app.App, o lint.Options, r *lint.Report) (*lint.Report, error) {
	fixed, files := 0, map[string]bool{}
	for range maxRounds {
		n, err := fix(a, r, files)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		fixed += n
		if r, err = lint.Run(ctx, o); err != nil {
			return nil, err
		}
	}
	if fixed > 0 {
		fmt.Fprintf(a.Err, "brine: corrected %s in %s\n", plantext.Count(fixed, "place"), plantext.Count(len(files), "file"))
	}
	return r, nil
}

// fix writes the corrections of a report and returns how many it made. Each file is
// replaced as a whole and keeps its owner and mode. A line that is no longer what was
// checked stays as it is.
func fix(a *app.App, r *lint.Report, files map[string]bool) (fixed int, err error) {
	byFile := map[string][]lint.Finding{}
	for _, f := range r.Findings {
		if f.Fix != nil {
			byFile[f.Pos.File] = append(byFile[f.Pos.File], f)
		}
	}
	for path, findings := range byFile {
		text, err := a.Host.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("fix %s: %w", path, err)
		}
		after, n := lint.Fix(string(text), findings)
		if n == 0 {
			continue
		}
		if err := a.Host.WriteFile(path, strings.NewReader(after), host.WriteOptions{FollowLinks: true}); err != nil {
			return 0, fmt.Errorf("fix %s: %w", path, err)
		}
		fixed += n
		files[path] = true
	}
	return fixed, nil
}
