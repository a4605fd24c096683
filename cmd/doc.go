package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/assembly"
	"brine/internal/fun"
	"brine/internal/source"
	"brine/internal/value"
)

// docKinds are the kinds of functions in the order that docs show them.
var docKinds = [...]fun.Kind{fun.State, fun.Exec, fun.Runner, fun.Wheel}

func newDocCmd(a *App) *cobra.Command {
	tree := &treeFlags{}
	c := &cobra.Command{
		Use:   "doc <function | module>...",
		Short: "Print the documentation of functions",
		Long: `Print what functions do and their arguments. A module's name lists its
functions. A name may be a state function, an execution function and a runner
function at once: all are shown.

Exit status: 0; 64 nothing was named; 255 there is no such function.`,
		Example: `  brine doc file.managed
  brine doc cmd`,
		ValidArgsFunction: completeFunctions,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "no function was named")
			}
			t, err := tree.table(c.Context(), a)
			if err != nil {
				return err
			}
			return a.printDocs(t, args)
		},
	}
	tree.register(c.Flags())
	return c
}

// printKindDoc prints what --doc asks for: the functions of one kind that begin
// with a name, all of them where there is none, as Salt's programs do; else
// whatever has the name. Salt: salt/cli/caller.py print_docs.
func (a *App) printKindDoc(k fun.Kind, names []string) error {
	t := assembly.Table()
	prefix := strings.Join(names, "")
	first := true
	for _, name := range t.Names(k) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		_, spec, ok := t.Lookup(k, name)
		if !ok {
			continue
		}
		if !first {
			fmt.Fprintln(a.Out)
		}
		first = false
		docSpec(a.Out, k, name, spec)
	}
	if first {
		return a.printDocs(t, names)
	}
	return nil
}

func (a *App) printDocs(t *fun.Table, names []string) error {
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		if !docOf(a.Out, t, name) {
			var all []string
			for _, k := range docKinds {
				all = append(all, t.Names(k)...)
				all = append(all, t.Modules(k)...)
			}
			n, _ := source.Nearest(name, all)
			return &fun.NotFoundError{Kind: fun.Exec, Name: name, Nearest: n}
		}
	}
	return nil
}

// docOf prints all that name is; false where it is nothing.
func docOf(w io.Writer, t *fun.Table, name string) bool {
	found := false
	for _, k := range docKinds {
		if _, spec, ok := t.Lookup(k, name); ok {
			if found {
				fmt.Fprintln(w)
			}
			found = true
			docSpec(w, k, name, spec)
			continue
		}
		if m, ok := t.Module(k, name); ok && !strings.Contains(name, ".") {
			if found {
				fmt.Fprintln(w)
			}
			found = true
			fmt.Fprintf(w, "%s: %s\n", name, kindOfModule(k))
			if m.Doc != "" {
				fmt.Fprintf(w, "%s\n", m.Doc)
			}
			for i := range m.Specs {
				first, _, _ := strings.Cut(m.Specs[i].Doc, "\n")
				fmt.Fprintf(w, "  %-28s %s\n", name+"."+m.Specs[i].Name, first)
			}
		}
	}
	return found
}

func kindOfModule(k fun.Kind) string {
	return strings.TrimSuffix(k.String(), " function") + " module"
}

func docSpec(w io.Writer, k fun.Kind, name string, spec *fun.Spec) {
	fmt.Fprintf(w, "%s: %s\n", name, k)
	fmt.Fprintf(w, "%s\n", signature(name, spec))
	if spec.Doc != "" {
		fmt.Fprintf(w, "\n%s\n", spec.Doc)
	}
	if len(spec.Args) > 0 {
		fmt.Fprintln(w, "\nArguments:")
	}
	for _, arg := range spec.Args {
		kind := arg.Type.String()
		if arg.Unit != "" {
			kind += ", " + arg.Unit
		}
		def := "required"
		if !arg.Required {
			def = "default " + value.Repr(arg.Default)
		}
		fmt.Fprintf(w, "  %-20s %s; %s", arg.Name, kind, def)
		if arg.Doc != "" {
			fmt.Fprintf(w, "\n  %-20s %s", "", arg.Doc)
		}
		fmt.Fprintln(w)
	}
	if spec.Src != "" {
		fmt.Fprintf(w, "\nIn Salt: %s\n", spec.Src)
	}
}

func signature(name string, spec *fun.Spec) string {
	parts := make([]string, 0, len(spec.Args)+2)
	for _, arg := range spec.Args {
		if arg.Required {
			parts = append(parts, arg.Name)
		} else {
			parts = append(parts, arg.Name+"="+value.Repr(arg.Default))
		}
	}
	if spec.VarArg {
		parts = append(parts, "*args")
	}
	if spec.VarKw {
		parts = append(parts, "**kwargs")
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}
