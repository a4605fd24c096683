package doc

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/funcdoc"
	"brine/internal/core/fun"
)

type functionsOptions struct {
	kind string
	tree funcdoc.Flags
}

// NewFunctions returns "brine functions". runF, which may be nil, replaces what runs it.
func NewFunctions(a *app.App, runF func(context.Context, *functionsOptions, []string) error) *cobra.Command {
	o := &functionsOptions{}
	c := &cobra.Command{
		Use:   "functions [<glob>...]",
		Short: "List the available functions",
		Long: `List the available functions. Functions of the tree's custom modules are shown
with their file.

Exit status: 0 success; 1 nothing matches; 64 usage error.`,
		Example: `  brine functions
  brine functions 'file.*' --kind state`,
		ValidArgsFunction: completeFunctions,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return listFunctions(a, c, o, args)
		},
	}
	o.tree.Register(c.Flags())
	c.Flags().StringVar(&o.kind, "kind", "", "only this kind: state, execution, runner or wheel")
	complete.Flags(c)
	return c
}

func listFunctions(a *app.App, c *cobra.Command, o *functionsOptions, globs []string) error {
	t, err := o.tree.Table(c.Context(), a)
	if err != nil {
		return err
	}
	any, known := false, o.kind == ""
	for _, k := range funcdoc.Kinds {
		short := strings.TrimSuffix(k.String(), " function")
		if o.kind != "" && o.kind != short {
			continue
		}
		known = true
		var names []string
		for _, n := range t.Names(k) {
			if len(globs) == 0 || matchAny(globs, n) {
				names = append(names, n)
			}
		}
		custom := customModules(t, k, globs)
		if len(names)+len(custom) == 0 {
			continue
		}
		if any {
			fmt.Fprintln(a.Out)
		}
		any = true
		fmt.Fprintf(a.Out, "%s functions:\n", short)
		for _, n := range names {
			_, spec, _ := t.Lookup(k, n)
			first, _, _ := strings.Cut(spec.Doc, "\n")
			fmt.Fprintf(a.Out, "  %-32s %s%s\n", n, first, ofTree(spec.Src))
		}
		for _, m := range custom {
			fmt.Fprintf(a.Out, "  %-32s %s\n", m.Name+".*", m.Doc)
		}
	}
	if !known {
		return app.Usagef(c, "--kind: %q is none of state, execution, runner, wheel", o.kind)
	}
	if !any {
		hint := "'brine functions' lists all functions"
		var missing *fun.NotFoundError
		if errors.As(funcdoc.NotFound(t, strings.TrimSuffix(globs[0], ".*")), &missing) && missing.Hint() != "" {
			hint = missing.Hint()
		}
		return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("no function matches %s", strings.Join(globs, " ")), Hint: hint}
	}
	return nil
}

// ofTree marks a function of a file of the tree.
func ofTree(src string) string {
	if !strings.HasPrefix(src, "salt://") {
		return ""
	}
	return " (" + src + ")"
}

// customModules are the modules that answer to any function.
func customModules(t *fun.Table, k fun.Kind, globs []string) []*fun.Module {
	var out []*fun.Module
	for _, name := range t.Modules(k) {
		m, _ := t.Module(k, name)
		if m.Dynamic != nil && (len(globs) == 0 || matchAny(globs, name+".*")) {
			out = append(out, m)
		}
	}
	return out
}

func matchAny(globs []string, name string) bool {
	for _, g := range globs {
		if ok, _ := path.Match(g, name); ok || name == g || strings.HasPrefix(name, g+".") {
			return true
		}
	}
	return false
}
