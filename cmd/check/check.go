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
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/lint"
	"brine/outputter"
)

type flags struct {
	linter.Flags
	config bool
	strict bool
}

// New returns "brine check". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *flags, []string) error) *cobra.Command {
	o := &flags{}
	formats := []string{"text", "json"}
	c := &cobra.Command{
		Use:   "check [<tree> | --config [<directory>]]",
		Short: "List what a tree uses and whether brine supports it",
		Long: `List the functions, renderers, external pillars, returners and other modules
of Salt that a tree and its configuration use, and whether brine supports
each: there, different (with the differences from Salt) or missing (with the
reason). The tree is compiled for
several systems, as with lint; no machine is touched.

Functions of custom modules of the tree are not listed. See 'brine docs lint'.

With --config, list instead the options that the files master and minion of a
configuration directory set: honoured, honoured otherwise, meaningless or not
supported. See 'brine docs configuration'.

Exit status: 0 nothing is missing; 1 something is missing or an option that
matters is not supported, or the files cannot be read; with --strict also 1 if
something of the tree cannot be judged; 64 usage error.`,
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
			return run(a, c, o, args)
		},
	}
	c.Flags().BoolVar(&o.config, "config", false, "check the options of a configuration instead of a tree")
	c.Flags().BoolVar(&o.strict, "strict", false, "fail if something of the tree cannot be judged")
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

func run(a *app.App, c *cobra.Command, f *flags, args []string) error {
	o, err := linter.Options(a, c, &f.Flags, args)
	if err != nil {
		return err
	}
	linter.CollectLater()
	report, err := lint.Run(c.Context(), o)
	if err != nil {
		return err
	}
	if err := linter.Nothing(&o, report); err != nil {
		return err
	}
	needs := slices.Concat(functionNeeds(o.Table, report.Used), moduleNeeds(report.Used, o.Opts), pythonNeeds(report.Used))
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
	if f.Out == "json" {
		err = outputter.JSON(a.Out, needDocument(a, needs, missing, unjudged), &outputter.Options{})
	} else {
		err = printNeeds(a, needs, missing, unjudged)
	}
	if err != nil {
		return err
	}
	if missing > 0 || f.strict && len(unjudged) > 0 {
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

func printNeeds(a *app.App, needs []need, missing int, unjudged []lint.Finding) error {
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
	if len(unjudged) > 0 {
		b.WriteString("not judged, and what only they use is not listed:\n")
		for i := range unjudged {
			f := &unjudged[i]
			pos := f.Pos
			pos.File = a.NameOf(pos.File)
			fmt.Fprintf(&b, "  %s: %s\n", printable.Line(pos.String()), printable.Line(f.Message))
		}
	}
	fmt.Fprintf(&b, "%d%% of what the tree uses is there: %d of %d", percent(len(needs), missing), len(needs)-missing, len(needs))
	if len(unjudged) > 0 {
		fmt.Fprintf(&b, ", without %s that cannot be judged", plantext.Count(len(unjudged), "place"))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// needDocument returns the report as data. Its version changes with its keys.
func needDocument(a *app.App, needs []need, missing int, unjudged []lint.Finding) *value.Map {
	list := value.NewList()
	for i := range needs {
		n := &needs[i]
		list.Append(value.MapOf("kind", n.kind, "name", n.name, "status", string(n.status), "note", n.note,
			"file", a.NameOf(n.pos.File), "line", int64(n.pos.Line)))
	}
	unread := value.NewList()
	for i := range unjudged {
		f := &unjudged[i]
		unread.Append(value.MapOf("file", a.NameOf(f.Pos.File), "line", int64(f.Pos.Line), "reason", f.Message))
	}
	return value.MapOf("version", int64(3), "uses", list, "unread", unread, "summary", value.MapOf("not_judged", int64(len(unjudged)),
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

// pythonNeeds are the modules of Salt that the Python files of the tree import.
func pythonNeeds(used *lint.Used) []need {
	var out []need
	for name, pos := range used.Python {
		if name != "salt" && !strings.HasPrefix(name, "salt.") {
			continue
		}
		n := need{kind: "Python modules of Salt", name: name, status: reference.There, pos: pos}
		if !assembly.OffersPython(name) {
			n.status, n.note = reference.Missing, "the package salt of brine does not have it; python_salt: system uses that of the machine"
			if strings.HasPrefix(name, "salt.utils.win") {
				n.note = "it is for Windows"
			}
		}
		out = append(out, n)
	}
	return out
}
