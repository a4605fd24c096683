// Package graph is brine graph: it draws states with their requisites.
package graph

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/complete"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/core/host"
	"brine/internal/py/source"
	"brine/internal/py/value"
	"brine/internal/view/graph"
	"brine/internal/view/lint"
)

type options struct {
	app.RunFlags
	call   bool
	noRun  bool
	format string
	file   string
}

// graphFormats are the formats of brine graph, and graphSuffixes the suffixes of
// files that stand for them.
var (
	graphFormats  = []string{"dot", "mermaid", "svg"}
	graphSuffixes = map[string]string{".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".svg": "svg"}
)

// New returns "brine graph". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "graph <sls>[,<sls>...] [<key>=<value>...]",
		Short: "Draw the steps of an orchestration with their requisites",
		Long: `Draw the steps of an orchestration, or with --call the states of this machine, with
their requisites: as DOT for Graphviz, as Mermaid for Markdown, or as an SVG
picture. An arrow points from the required step or state to the one that requires
it. Cycles and missing requisites are red.

No step runs. The files are compiled as for a run, so what they call is called:
salt[...] in templates, Python and external pillars. With --no-run nothing is called:
functions that only compute, such as pillar.get, work, and an SLS that calls others is
an error; modules of the tree, external pillars and git repositories are left out.

Exit status: 0 success; 1 an SLS is invalid, or the file cannot be written; 64
usage error.`,
		Example: `  brine graph orch.deploy -o deploy.svg
  brine graph orch.deploy --format mermaid
  brine graph --call web
  brine graph --call -o highstate.dot`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: complete.SLS(a),
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			return run(c.Context(), a, c, o, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.RegisterConfig(f)
	f.BoolVar(&o.call, "call", false, "draw the states of this machine: those of the SLS, or without an SLS the highstate")
	f.BoolVar(&o.noRun, "no-run", false, "call no programs, modules of the tree, external pillars or other machines while compiling")
	f.StringVar(&o.format, "format", "", "dot, mermaid or svg (default: by the suffix of the file, else dot)")
	f.StringVar(&o.format, "out", "", "as --format: other commands call it so")
	_ = f.MarkHidden("out")
	f.StringVarP(&o.file, "save", "o", "", "write to this file: .dot, .gv, .mmd, .mermaid, .svg")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(graphFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// pick finds the format of the command line.
func (o *options) pick(c *cobra.Command) error {
	if o.format == "" && o.file != "" {
		if o.format = graphSuffixes[strings.ToLower(filepath.Ext(o.file))]; o.format == "" {
			return app.Usagef(c, "--save %s: the suffix names no format; use .dot, .gv, .mmd, .mermaid or .svg, or --format", o.file)
		}
	}
	if o.format == "" {
		o.format = "dot"
	}
	if !slices.Contains(graphFormats, o.format) {
		return app.Usagef(c, "--format: %q is none of %s%s", o.format, strings.Join(graphFormats, ", "), source.DidYouMean(o.format, graphFormats))
	}
	return nil
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) error {
	if err := o.pick(c); err != nil {
		return err
	}
	noSLS := len(args) == 0 || strings.Contains(args[0], "=")
	if noSLS && !o.call {
		return app.Usagef(c, "no SLS was given")
	}
	if !o.call && slices.Contains(session.Plannable[:], args[0]) {
		return &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("%s is a function, and not the SLS of an orchestration", args[0]),
			Hint: fmt.Sprintf("'%s' draws the states of this machine", strings.Join(append([]string{c.CommandPath(), "--call"}, args[1:]...), " ")),
		}
	}
	kind, section := config.Master, "salt-run"
	if o.call {
		kind, section = config.Minion, "salt-call"
	}
	if err := a.Saltfile(c, section, &o.RunFlags); err != nil {
		return err
	}
	s, err := session.New(a, kind, section, &o.RunFlags, nil)
	if err != nil {
		return err
	}
	defer s.End()
	jid := s.JIDs.Next(a.Host.Now())
	var env *fun.Env
	var invoker fun.Invoker
	if o.noRun {
		env = stillEnv(ctx, s, jid)
		invoker = dispatch.New(env)
	} else {
		if err := s.OpenGit(ctx); err != nil {
			return err
		}
		env = s.Env(ctx, jid)
		invoker = env.Invoker
	}
	name := "state.show_low_sls"
	if noSLS {
		name = "state.show_lowstate"
	}
	res, err := invoker.Invoke(ctx, fun.Exec, name, dispatch.ParseInput(args, nil))
	if err != nil {
		if dispatch.IsArgError(err) {
			return app.UsageOf(name, err)
		}
		return err
	}
	low, ok := res.Value.(*value.List)
	if !ok || res.Retcode != 0 || !session.AllMaps(low) {
		return app.Silent(app.ExitGeneric) // the faults were shown, with their places
	}
	g := graph.Of(low)
	for _, n := range g.Missing() {
		s.Warn(fun.Warning{Text: fmt.Sprintf("a requisite names %s: %s, which does not exist", n.Fun, n.ID)})
	}
	if g.Cycles() {
		s.Warn(fun.Warning{Text: "states require each other in a circle: they are red"})
	}
	if err := writeGraph(a, g, o); err != nil {
		return err
	}
	return app.Silent(s.StrictStatus(app.ExitOK))
}

func writeGraph(a *app.App, g *graph.Graph, o *options) error {
	draw := map[string]func(io.Writer) error{"dot": g.DOT, "mermaid": g.Mermaid, "svg": g.SVG}[o.format]
	if o.file == "" {
		return draw(a.Out)
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	return a.Host.WriteFile(o.file, &b, host.WriteOptions{})
}

// stillEnv is env for looking at the tree: nothing is run or changed, and no other
// machine is asked.
func stillEnv(ctx context.Context, s *session.Session, jid string) *fun.Env {
	return assembly.NewStillEnv(ctx, s.EnvOptions(jid), lint.IsPure)
}
