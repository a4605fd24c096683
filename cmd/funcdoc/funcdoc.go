// Package funcdoc prints the documentation of functions.
package funcdoc

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/internal/reference"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
)

// Flags say whose custom modules are listed as well.
type Flags struct {
	configDir string
	fileRoots []string
	noRun     bool // leave out the modules of the tree
}

// Register adds the flags.
func (f *Flags) Register(fs *pflag.FlagSet) {
	fs.SetNormalizeFunc(app.SaltSpelling)
	fs.StringVarP(&f.configDir, "config-dir", "c", "", "directory of the configuration; includes the custom modules of its tree")
	fs.BoolVar(&f.noRun, "no-run", false, "load no modules of the tree: their code would run")
	app.RepeatedVar(fs, &f.fileRoots, "file-root", "", "directory of the SLS tree whose custom modules are there, too")
}

// Table returns the functions of this build, with the custom modules of a tree
// where one is named.
func (f *Flags) Table(ctx context.Context, a *app.App) (*fun.Table, error) {
	if f.noRun || f.configDir == "" && len(f.fileRoots) == 0 {
		return assembly.Table(), nil
	}
	s, err := session.New(a, config.Minion, "salt-call", &app.RunFlags{ConfigDir: f.configDir, FileRoots: f.fileRoots}, nil)
	if err != nil {
		return nil, err
	}
	defer s.End()
	return s.Env(ctx, "").Table, nil
}

// Kinds are the kinds of functions in the order that docs show them.
var Kinds = [...]fun.Kind{fun.State, fun.Exec, fun.Runner, fun.Wheel}

// PrintKind prints what --doc asks for: the functions of one kind that begin
// with a name, all of them where there is none, as Salt's programs do; else
// whatever has the name. Salt: salt/cli/caller.py print_docs.
func PrintKind(a *app.App, k fun.Kind, names []string) error {
	t := assembly.Table()
	prefix := strings.Join(names, "")
	first := true
	for _, name := range t.Names(k) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		mod, spec, ok := t.Lookup(k, name)
		if !ok {
			continue
		}
		if !first {
			fmt.Fprintln(a.Out)
		}
		first = false
		docSpec(a.Out, mod, name, spec)
	}
	if first {
		return Print(a, t, names)
	}
	return nil
}

// Print prints the documentation of functions and modules of any kind.
func Print(a *app.App, t *fun.Table, names []string) error {
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(a.Out)
		}
		if !docOf(a.Out, t, name) {
			return NotFound(t, name)
		}
	}
	return nil
}

// knownBy ranks errors by how much they know of a name: a function of Salt of
// the kind that was looked for, one of another kind, or a similar name here.
func knownBy(e *fun.NotFoundError) int {
	switch {
	case e.InSalt && e.SaltKind == e.Kind:
		return 3
	case e.InSalt:
		return 2
	case e.Nearest != "":
		return 1
	default:
		return 0
	}
}

// NotFound returns the error for a name of any kind that the table does not have:
// a function of Salt, else the nearest function or module.
func NotFound(t *fun.Table, name string) error {
	var err *fun.NotFoundError
	for _, k := range Kinds {
		if e := t.NotFound(k, name); err == nil || knownBy(e) > knownBy(err) {
			err = e
		}
	}
	return err
}

// docOf prints all that name is; false where it is nothing.
func docOf(w io.Writer, t *fun.Table, name string) bool {
	found := false
	for _, k := range Kinds {
		if mod, spec, ok := t.Lookup(k, name); ok {
			if found {
				fmt.Fprintln(w)
			}
			found = true
			docSpec(w, mod, name, spec)
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

func docSpec(w io.Writer, mod *fun.Module, name string, spec *fun.Spec) {
	fmt.Fprintf(w, "%s: %s\n", name, mod.Kind)
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
			def = "default " + arg.DefaultText()
		}
		fmt.Fprintf(w, "  %-20s %s; %s", arg.Name, kind, def)
		if arg.Doc != "" {
			fmt.Fprintf(w, "\n  %-20s %s", "", arg.Doc)
		}
		fmt.Fprintln(w)
	}
	if example := reference.Example(mod, spec.Name); example != "" {
		fmt.Fprintf(w, "\nExample:\n%s", indented(example))
	}
	if spec.Src != "" {
		where := "In Salt"
		if strings.HasPrefix(spec.Src, "salt://") {
			where = "In the tree"
		}
		fmt.Fprintf(w, "\n%s: %s\n", where, spec.Src)
	}
}

// indented returns text with each line indented, ended by a newline.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString("  " + line)
	}
	return b.String()
}

func signature(name string, spec *fun.Spec) string {
	parts := make([]string, 0, len(spec.Args)+2)
	n := spec.Positional()
	for i, arg := range spec.Args {
		if i == n && spec.VarArg {
			parts = append(parts, "*args")
		}
		if arg.Required {
			parts = append(parts, arg.Name)
		} else {
			parts = append(parts, arg.Name+"="+arg.DefaultText())
		}
	}
	if spec.VarArg && n == len(spec.Args) {
		parts = append(parts, "*args")
	}
	if spec.VarKw {
		parts = append(parts, "**kwargs")
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}
