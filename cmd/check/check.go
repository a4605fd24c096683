// Package check is brine check: what of a tree, or of a configuration, brine supports.
package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/funcdoc"
	"brine/cmd/internal/plantext"
	"brine/cmd/internal/reference"
	"brine/cmd/linter"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/core/render"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/lint"
	"brine/outputter"
)

type flags struct {
	linter.Flags
	config bool
}

// New returns "brine check". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *flags, []string) error) *cobra.Command {
	o := &flags{}
	formats := []string{"text", "json"}
	c := &cobra.Command{
		Use:   "check [<tree> | --config [<directory>]]",
		Short: "List what a tree uses and whether brine supports it",
		Long: `List the functions, renderers, file server backends, external pillars and
modules of Salt that a tree uses, and whether brine supports each: there,
different (with the differences from Salt) or missing. The tree is compiled for
several systems, as with lint; no machine is touched.

Functions of custom modules of the tree are not listed. See docs/lint.md.

With --config, list instead the options that the files master and minion of a
configuration directory set: honoured, honoured otherwise, meaningless or not
supported. See docs/configuration.md.

Exit status: 0 nothing is missing; 1 something is missing or an option that
matters is not supported, or the files cannot be read; 64 usage error.`,
		Example: `  brine check
  brine check mytree
  brine check mytree --out json
  brine check --config
  brine check --config /etc/salt --out json`,
		Args: linter.MaxOneTree,
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(formats, o.Out) {
				return app.Usagef(c, "--out: %q is not one of %s", o.Out, strings.Join(formats, ", "))
			}
			switch {
			case runF != nil:
				return runF(c.Context(), o, args)
			case o.config:
				return checkConfig(a, &o.Flags, args)
			}
			return run(a, c, &o.Flags, args)
		},
	}
	c.Flags().BoolVar(&o.config, "config", false, "check the options of a configuration instead of a tree")
	o.Register(c.Flags(), formats)
	linter.Complete(c, formats)
	return c
}

// A need is something that a tree uses.
type need struct {
	kind, name string
	status     reference.Status
	note       string
	pos        source.Pos
}

func run(a *app.App, c *cobra.Command, f *linter.Flags, args []string) error {
	o, err := linter.Options(a, c, f, args)
	if err != nil {
		return err
	}
	report, err := lint.Run(c.Context(), o)
	if err != nil {
		return err
	}
	needs := slices.Concat(functionNeeds(o.Table, report.Used), rendererNeeds(report.Used), optionNeeds(o.Opts), pythonNeeds(report.Used))
	slices.SortFunc(needs, func(x, y need) int {
		return cmp.Or(strings.Compare(x.kind, y.kind), strings.Compare(x.name, y.name))
	})
	missing := 0
	for i := range needs {
		if needs[i].status == reference.Missing {
			missing++
		}
	}
	a.Printed = true
	unjudged := report.Unjudged()
	for i, file := range unjudged {
		unjudged[i] = a.NameOf(file)
	}
	if f.Out == "json" {
		err = outputter.JSON(a.Out, needDocument(a, needs, missing, unjudged), &outputter.Options{})
	} else {
		err = printNeeds(a, needs, missing)
	}
	if err != nil {
		return err
	}
	if len(unjudged) > 0 {
		fmt.Fprintf(a.Err, "brine: warning: %s cannot be read, and what only they use is not listed: %s\nhint: 'brine lint' says what is wrong with them\n",
			plantext.Count(len(unjudged), "SLS file"), printable.Line(strings.Join(unjudged, ", ")))
	}
	if missing > 0 {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

// percent returns how much of what is used is there, rounded down.
func percent(all, missing int) int {
	if all == 0 {
		return 100
	}
	return (all - missing) * 100 / all
}

func printNeeds(a *app.App, needs []need, missing int) error {
	var b strings.Builder
	width := 0
	for i := range needs {
		width = max(width, len(needs[i].name))
	}
	kind := ""
	for i := range needs {
		n := &needs[i]
		if n.kind != kind {
			kind = n.kind
			fmt.Fprintf(&b, "%s:\n", kind)
		}
		line := fmt.Sprintf("  %-*s  %-9s", width, printable.Line(n.name), n.status)
		if n.note != "" {
			line += "  " + printable.Line(n.note)
		}
		if n.status == reference.Missing && n.pos.File != "" {
			pos := n.pos
			pos.File = a.NameOf(pos.File)
			line += "  (" + printable.Line(pos.String()) + ")"
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "%d%% of what the tree uses is there: %d of %d\n", percent(len(needs), missing), len(needs)-missing, len(needs))
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// needDocument returns the report as data. Its version changes with its keys.
func needDocument(a *app.App, needs []need, missing int, unjudged []string) *value.Map {
	list := value.NewList()
	for i := range needs {
		n := &needs[i]
		list.Append(value.MapOf("kind", n.kind, "name", n.name, "status", string(n.status), "note", n.note,
			"file", a.NameOf(n.pos.File), "line", int64(n.pos.Line)))
	}
	return value.MapOf("version", int64(2), "uses", list, "unread", value.Strings(unjudged...), "summary", value.MapOf(
		"all", int64(len(needs)), "missing", int64(missing), "percent", int64(percent(len(needs), missing))))
}

func functionNeeds(t *fun.Table, used *lint.Used) []need {
	var out []need
	catalog := reference.NewCatalog(t)
	for _, kind := range funcdoc.Kinds {
		for _, name := range slices.Sorted(maps.Keys(used.Functions[kind])) {
			if mod, _, _ := strings.Cut(name, "."); used.Custom[kind][mod] {
				continue
			}
			n := need{kind: kind.String() + "s", name: name, pos: used.Functions[kind][name]}
			n.status, n.note = catalog.Of(kind, name)
			if n.status == reference.Missing {
				if nf := t.NotFound(kind, name); !nf.InSalt {
					n.note = "Salt does not have it either"
				}
			}
			out = append(out, n)
		}
	}
	return out
}

func rendererNeeds(used *lint.Used) []need {
	var out []need
	for name, pos := range used.Renderers {
		n := need{kind: "renderers", name: name, status: reference.There, pos: pos}
		if !slices.Contains(render.Renderers(), name) {
			n.status = reference.Missing
		}
		out = append(out, n)
	}
	return out
}

// optionNeeds are the file server backends and external pillars of a configuration.
func optionNeeds(opts *value.Map) []need {
	var out []need
	for _, option := range []struct {
		key, kind string
		have      []string
	}{
		{"fileserver_backend", "file server backends", []string{"roots", "file", "gitfs", "git"}},
		{"ext_pillar", "external pillars", assembly.ExtPillars()},
	} {
		list := opts.List(option.key)
		for i := range list.Len() {
			name := value.Str(list.Items[i])
			if m, ok := list.Items[i].(*value.Map); ok && m.Len() > 0 {
				k, _ := m.Entry(0)
				name = value.Str(k)
			}
			n := need{kind: option.kind, name: name, status: reference.There, pos: list.PosAt(i)}
			if !slices.Contains(option.have, name) {
				n.status = reference.Missing
			}
			out = append(out, n)
		}
	}
	return out
}

// pythonNeeds are the modules of Salt that the Python files of the tree import.
func pythonNeeds(used *lint.Used) []need {
	var out []need
	for name, pos := range used.Python {
		if name != "salt" && !strings.HasPrefix(name, "salt.") {
			continue
		}
		n := need{kind: "Python modules of Salt", name: name, status: reference.There, pos: pos}
		if !assembly.OffersPython(name) {
			n.status = reference.Missing
		}
		out = append(out, n)
	}
	return out
}
