// Package template is brine template: it shows and runs orchestration templates, and asks
// for their values.
package template

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/fileserver"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/py/source"
	"brine/internal/view/form"
	"brine/internal/view/orchestration"
)

// templateSubject is a template as the history names it.
func templateSubject(t *orchestration.Template) *history.Subject {
	return &history.Subject{
		Kind: history.Template, Name: t.Name, Description: t.Description, Notify: t.Notify,
		Step: func(id string) (label, target string) {
			for _, s := range t.Steps {
				if slices.Contains(s.IDs, id) {
					return s.Description, ""
				}
			}
			return "", ""
		},
	}
}

// New returns "brine template".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "template <command>",
		Short: "Execute orchestrations that others have defined",
		Long: `Work with orchestration templates: orchestrations with a description of the
targets and values that they need. One person defines a template, others execute
it without knowing Salt. See 'brine docs templates-of-orchestration'.

Templates are in the directory orchestration of each directory of file_roots, or
in those of orchestration_roots.`,
		Example: `  brine template list
  brine template show update_salt
  brine template run update_salt --target 'target1=web*'`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(newAnswers(a), newCheck(a), newClone(a), newExport(a), newImport(a), newList(a), newNew(a), newRun(a, nil), newShow(a))
	return c
}

// command finishes a command that looks at the templates of a tree.
func command(a *app.App, c *cobra.Command, least, most int, run func(ctx context.Context, t *library.Templates, args []string) error) *cobra.Command {
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = completeNames(a)
	}
	return session.TreeCommand(a, c, (*app.RunFlags).RegisterConfig, least, most, c.Annotations["wants"], func(ctx context.Context, s *session.Session, args []string) error {
		t, err := library.TemplatesOf(ctx, s)
		if err != nil {
			return err
		}
		if err := run(ctx, t, args); err != nil {
			return err
		}
		return app.Silent(s.StrictStatus(app.ExitOK))
	})
}

// completeNames offers the names of templates to the shell.
func completeNames(a *app.App) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return session.CompleteNames(a, c, args, prefix, func(s *session.Session) ([]string, error) {
			t, err := library.TemplatesOf(c.Context(), s)
			if err != nil {
				return nil, err
			}
			return orchestration.Names(a.Host, t.Roots)
		})
	}
}

func newList(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the orchestration templates",
		Long: `List the orchestration templates: name and description.

Exit status: 0 success; 1 a template is invalid; 64 usage error.`,
		Annotations: map[string]string{"wants": "no arguments are taken"},
	}
	return command(a, c, 0, 0, func(_ context.Context, t *library.Templates, _ []string) error {
		names, err := orchestration.Names(a.Host, t.Roots)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			fmt.Fprintf(a.Err, "brine: no templates were found in %s\n", printable.Line(strings.Join(t.Roots, ", ")))
		}
		var faults source.Errors
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		for _, n := range names {
			found, err := t.Find(n)
			if err != nil {
				faults = append(faults, library.AsFaults(err)...)
				continue
			}
			first, _, _ := strings.Cut(found.Description, "\n")
			fmt.Fprintf(w, "%s\t%s\n", n, printable.Line(first))
		}
		if err := w.Flush(); err != nil || len(faults) == 0 {
			return err
		}
		return faults
	})
}

func newShow(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "show <template>",
		Short: "Show what an orchestration template does and needs",
		Long: `Show an orchestration template: its description, its steps, and the targets and
values that it needs.

Exit status: 0 success; 1 the template does not exist or is invalid; 64 usage
error.`,
		Example:     "  brine template show update_salt",
		Annotations: map[string]string{"wants": "give the name of one template"},
	}
	return command(a, c, 1, 1, func(_ context.Context, t *library.Templates, args []string) error {
		found, err := t.Find(args[0])
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.Out, describe(found))
		return err
	})
}

// describe is a template in words.
func describe(t *orchestration.Template) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, "%*s%s\n", indent, "", printable.Line(fmt.Sprintf(format, args...)))
	}
	line(0, "%s", t.Name)
	for l := range strings.SplitSeq(t.Description, "\n") {
		if l != "" {
			line(2, "%s", l)
		}
	}
	line(0, "directory: %s", t.Dir)
	if len(t.Targets) > 0 {
		line(0, "targets:")
	}
	for _, x := range t.Targets {
		line(2, "%s: %s", x.Name, x.Description)
		if !x.Required {
			line(4, "need not match anything")
		}
		if !x.Multiple {
			line(4, "one target at most")
		}
		if len(x.Types) > 0 {
			line(4, "types of target expressions: %s", strings.Join(x.Types, ", "))
		}
		if x.Default != "" {
			line(4, "default: %s", x.Default)
		}
	}
	if len(t.Steps) > 0 {
		line(0, "steps:")
	}
	for i, x := range t.Steps {
		line(2, "%d. %s", i+1, x.Description)
		if len(x.IDs) > 0 {
			line(5, "IDs: %s", strings.Join(x.IDs, ", "))
		}
	}
	if len(t.Form.Fields) > 0 {
		line(0, "values:")
		describeFields(t.Form.Fields, 2, line)
	}
	return b.String()
}

// howMany is how many items an edit-group takes, in words.
func howMany(f *form.Field) string {
	switch {
	case f.MaxItems > 0 && f.MinItems == f.MaxItems:
		return fmt.Sprintf("%d of", f.MinItems)
	case f.MaxItems > 0:
		return fmt.Sprintf("%d to %d of", f.MinItems, f.MaxItems)
	case f.MinItems > 0:
		return fmt.Sprintf("%d or more of", f.MinItems)
	}
	return "any number of"
}

func describeFields(fields []*form.Field, indent int, line func(int, string, ...any)) {
	for _, f := range fields {
		text := f.Name
		switch {
		case f.Type == form.EditGroup:
			text += ": " + howMany(f)
		case !f.Holds():
			text += ": " + f.Wants()
		}
		switch {
		case f.Type == form.Password && f.HasDefault:
			text += " (has a default)"
		case f.HasDefault && !f.Holds():
			text += fmt.Sprintf(" (default: %v)", f.Default)
		case f.Optional:
			text += " (optional)"
		}
		if f.Help != "" {
			text += "; " + f.Help
		}
		line(indent, "%s", text)
		switch {
		case f.Type == form.EditGroup && len(f.Item.Fields) > 0:
			describeFields(f.Item.Fields, indent+2, line)
		case f.Type == form.EditGroup:
			line(indent+2, "%s", f.Item.Wants())
		case f.Holds():
			describeFields(f.Fields, indent+2, line)
		}
	}
}

func newCheck(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [<template>...]",
		Short: "Check orchestration templates",
		Long: `Check the metadata and forms of orchestration templates (default: all), compile
their orchestrations with the defaults of the forms, and report each fault with its
file and line. 'brine lint' checks the SLS files that they apply.

Exit status: 0 all are valid; 1 one is not; 64 usage error.`,
		Annotations: map[string]string{"wants": ""},
	}
	return command(a, c, 0, -1, func(ctx context.Context, t *library.Templates, args []string) error {
		if len(args) == 0 {
			var err error
			if args, err = orchestration.Names(a.Host, t.Roots); err != nil {
				return err
			}
		}
		var faults source.Errors
		for _, n := range args {
			found, err := t.Find(n)
			if err != nil {
				faults = append(faults, library.AsFaults(err)...)
				continue
			}
			faults = append(faults, found.Form.UnknownFields()...)
			wrong, warnings := library.CheckTemplate(ctx, t, found)
			faults = append(faults, wrong...)
			for _, w := range warnings {
				fmt.Fprintf(a.Err, "brine: warning: %s\n", printable.Line(w))
			}
		}
		if len(faults) > 0 {
			return faults
		}
		if len(args) == 1 {
			fmt.Fprintln(a.Out, "1 template is right")
		} else {
			fmt.Fprintf(a.Out, "%d templates are right\n", len(args))
		}
		return nil
	})
}

func newAnswers(a *app.App) *cobra.Command {
	remove := false
	c := &cobra.Command{
		Use:   "answers <template> [<label>]",
		Short: "Show the stored answers of a template",
		Long: `List the labels of the stored answers of an orchestration template, or print the
answers with a label as YAML. The label "last" has the answers of the last
execution. 'brine template run TEMPLATE --answers LABEL' uses them. Passwords are
not stored.

Exit status: 0 success; 1 no answers have this label; 64 usage error.`,
		Example: `  brine template answers update_salt
  brine template answers update_salt last`,
		Annotations: map[string]string{"wants": "give a template, and a label if you want to see answers"},
	}
	c.Flags().BoolVar(&remove, "delete", false, "delete the answers instead of showing them")
	return command(a, c, 1, 2, func(_ context.Context, t *library.Templates, args []string) error {
		found, err := t.Find(args[0])
		if err != nil {
			return err
		}
		if len(args) == 1 {
			if remove {
				return app.Usagef(c, "--delete needs a label")
			}
			labels, err := t.Store.Labels(found.Name)
			for _, l := range labels {
				fmt.Fprintln(a.Out, l)
			}
			return err
		}
		if labels, err := t.Store.Labels(found.Name); remove && err == nil && slices.Contains(labels, args[1]) {
			return t.Store.Delete(found, args[1])
		}
		answers, err := t.Store.Load(found, args[1])
		if err != nil {
			return err
		}
		text, err := found.Dump(answers)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.Out, printable.Text(text))
		return err
	})
}

func newNew(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "new <template>",
		Short: "Create an orchestration template to start from",
		Long: `Create the files of an orchestration template, with an example of each part, in
the first directory of file_roots.

Exit status: 0 success; 1 they exist, or cannot be written; 64 usage error.`,
		Example:           "  brine template new restart_web",
		Annotations:       map[string]string{"wants": "give the name of one template"},
		ValidArgsFunction: app.NoCompletion,
	}
	return command(a, c, 1, 1, func(_ context.Context, t *library.Templates, args []string) error {
		if err := orchestration.CheckName(args[0]); err != nil {
			return err
		}
		return makeFiles(a, t, func(root string) (string, []string, error) {
			made, err := orchestration.New(a.Host, root, args[0])
			return args[0], made, err
		})
	})
}

// makeFiles makes the files of a template where those of the tree are, and prints their
// paths. files also returns the name of the template.
func makeFiles(a *app.App, t *library.Templates, files func(root string) (name string, made []string, err error)) error {
	dirs := fileserver.RootsOf(t.S.Cfg.Opts, "file_roots").Dirs["base"]
	if len(dirs) == 0 {
		return errors.New("file_roots has no directory for the environment base, where templates are made")
	}
	name, made, err := files(filepath.Join(dirs[0], "orchestration"))
	for _, p := range made {
		fmt.Fprintln(a.Out, printable.Line(p))
	}
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("template %s exists: %w", name, err)
	}
	return err
}

func newClone(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "clone <template> <new name>",
		Short: "Copy an orchestration template",
		Long: `Copy the files of an orchestration template under another name, into the first
directory of file_roots: also one of a package or formula, to adapt it. SLS files that
the orchestration names by their whole names are still those of the first template.
'brine template check' checks the copy.

Exit status: 0 success; 1 there is no such template, the copy exists, or it cannot be
written; 64 usage error.`,
		Example:     "  brine template clone restart_web restart_db",
		Annotations: map[string]string{"wants": "give a template and the name of the copy"},
	}
	return command(a, c, 2, 2, func(_ context.Context, t *library.Templates, args []string) error {
		if err := orchestration.CheckName(args[1]); err != nil {
			return err
		}
		from, err := orchestration.Find(a.Host, t.Roots, args[0])
		if err != nil {
			return err
		}
		return makeFiles(a, t, func(root string) (string, []string, error) {
			made, err := orchestration.Clone(a.Host, from, root, args[1])
			return args[1], made, err
		})
	})
}

// isLabel reports whether --answers names kept answers, and no file.
func isLabel(text string) bool {
	return !strings.ContainsRune(text, '/') && !slices.Contains([]string{".asc", ".gpg", ".json", ".pgp", ".yaml", ".yml"}, filepath.Ext(text))
}
