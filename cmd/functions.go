package cmd

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"brine/internal/assembly"
	"brine/internal/fun"
)

type functionsOpts struct {
	kind string
}

func newFunctionsCmd(a *App) *cobra.Command {
	o := &functionsOpts{}
	c := &cobra.Command{
		Use:   "functions [<glob>...]",
		Short: "List the functions that are there",
		Long: `List the functions that are there, from the same table that runs them.

Exit status: 0; 1 nothing matches; 64 the command line makes no sense.`,
		Example: `  brine functions
  brine functions 'file.*' --kind state`,
		RunE: func(c *cobra.Command, args []string) error { return a.functions(c, o, args) },
	}
	c.Flags().StringVar(&o.kind, "kind", "", "only this kind: state, execution, runner or wheel")
	return c
}

func (a *App) functions(c *cobra.Command, o *functionsOpts, globs []string) error {
	t := assembly.Table()
	any, known := false, o.kind == ""
	for _, k := range docKinds {
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
		if len(names) == 0 {
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
			fmt.Fprintf(a.Out, "  %-32s %s\n", n, first)
		}
	}
	if !known {
		return usagef(c, "--kind: %q is none of state, execution, runner, wheel", o.kind)
	}
	if !any {
		return &statusError{status: exitGeneric, err: fmt.Errorf("no function matches %s", strings.Join(globs, " ")), hint: "'brine functions' lists all"}
	}
	return nil
}

func matchAny(globs []string, name string) bool {
	for _, g := range globs {
		if ok, _ := path.Match(g, name); ok || name == g || strings.HasPrefix(name, g+".") {
			return true
		}
	}
	return false
}

// completeFunctions offers the names of functions to the shell.
func completeFunctions(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	t := assembly.Table()
	var names []string
	for _, k := range []fun.Kind{fun.State, fun.Exec, fun.Runner} {
		for _, n := range t.Names(k) {
			if strings.HasPrefix(n, prefix) {
				names = append(names, n)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
