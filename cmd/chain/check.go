package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/core/printable"
	"brine/internal/py/value"
	"brine/internal/view/chain"
)

func newCheck(a *app.App) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "check [chain...]",
		Short: "Check chains before they run",
		Long: `Check chains (default: all) without running anything: SLS files, directories and
functions that do not exist, orchestrations that cannot be compiled, and steps
without targets. 'brine chain run' does the same before its first step. What only a
run can show, such as a function of a module of the tree, is named.

Exit status: 0 no fault was found; 1 a chain cannot run as it is; 64 usage error.`,
		Example: `  brine chain check
  brine chain check deploy-friday`,
		ValidArgsFunction: completeNames(a),
	}
	o.flags(c, o.RegisterConfig)
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := session.New(a, config.Master, "salt-run", &o.RunFlags, o.Override())
		if err != nil {
			return err
		}
		defer s.End()
		return checkAll(c.Context(), a, s, o, args)
	}
	return c
}

// checkAll checks chains of a session and prints what it found.
func checkAll(ctx context.Context, a *app.App, s *session.Session, o *runOptions, names []string) error {
	st := library.Chains(s)
	if len(names) == 0 {
		var err error
		if names, err = st.Names(); err != nil {
			return err
		}
		if len(names) == 0 {
			return errors.New("there is no chain to check: 'brine chain new' makes one")
		}
	}
	if err := s.Reach(&o.FleetFlags); err != nil {
		return err
	}
	if err := s.OpenGit(ctx); err != nil {
		return err
	}
	env, err := s.Controller(ctx, s.NewJID())
	if err != nil {
		return err
	}
	bad := false
	for _, name := range names {
		c, _, err := st.Read(name)
		if err != nil {
			bad = true
			fmt.Fprintf(a.Out, "%s: %s\n", name, printable.Text(s.Secrets.Text(err.Error())))
			continue
		}
		faults, unsure := library.CheckAll(ctx, env, c)
		bad = bad || len(faults) > 0
		for _, text := range faults {
			fmt.Fprintf(a.Out, "%s, %s\n", name, printable.Text(s.Secrets.Text(text)))
		}
		for _, text := range unsure {
			fmt.Fprintf(a.Out, "%s, not judged: %s\n", name, printable.Text(s.Secrets.Text(text)))
		}
		if len(faults) == 0 {
			fmt.Fprintf(a.Out, "%s: %d step%s, no fault was found%s\n", name, len(c.Steps), value.Plural(len(c.Steps)), notJudged(len(unsure)))
		}
	}
	if bad {
		return &app.StatusError{Status: app.ExitGeneric}
	}
	return nil
}

// notJudged says of how much a check knows nothing.
func notJudged(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " in what can be judged; 1 thing cannot"
	}
	return fmt.Sprintf(" in what can be judged; %d things cannot", n)
}

// refuse returns an error where a chain cannot work, before anything of it has begun, and
// tells what it cannot judge. Of a run that is resumed, it only tells: the steps that
// were done may have changed what they need.
func refuse(ctx context.Context, s *session.Session, env *fun.Env, c *chain.Chain, resumed bool) error {
	faults, unsure := library.CheckChain(ctx, env, c)
	for _, text := range unsure {
		s.Note("not judged before the run: " + s.Secrets.Text(text))
	}
	if len(faults) == 0 {
		return nil
	}
	if resumed {
		for _, text := range faults {
			s.Note("the chain as it is now: " + s.Secrets.Text(text))
		}
		return nil
	}
	return &app.StatusError{
		Status: app.ExitGeneric, Err: fmt.Errorf("chain %s cannot work, and nothing of it was run:\n  %s", c.Name, strings.Join(faults, "\n  ")),
		Hint: "--no-check runs it all the same, for example where a step makes what a later one needs",
	}
}
