// Package approval is brine approval: it lists the runs that wait for the approval of a
// second person, and answers them.
package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/library"
	"brine/cmd/session"
	"brine/internal/core/printable"
	"brine/internal/fleet/approval"
	"brine/internal/py/source"
)

const exitStatus = `

Exit status: 0 success; 1 failure; 64 usage error.`

type options struct {
	all     bool
	comment string
}

// New returns "brine approval". listF, which may be nil, replaces what runs "list".
func New(a *app.App, listF func(context.Context, *options, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:   "approval <command>",
		Short: "Approve or refuse runs that wait for a second person",
		Long: `List the runs of chains and templates that wait for the approval of a second
person, and approve or refuse them. Who started a run cannot approve it. See
'brine docs chains'.` + exitStatus,
		Example: `  brine approval list
  brine approval show 20261129120000123456-start
  brine approval approve 20261129120000123456-start --comment 'CHG-4711'`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.SetFlagErrorFunc(app.FlagError)
	c.AddCommand(newList(a, listF), newShow(a), newAnswer(a, true), newAnswer(a, false))
	return c
}

// finish finishes a command with the questions of a session.
func finish(a *app.App, c *cobra.Command, args int, run func(ctx context.Context, s *session.Session, args []string) error) *cobra.Command {
	c.Long += exitStatus
	c.ValidArgsFunction = app.NoCompletion
	wants := c.Name() + " takes no arguments"
	if args > 0 {
		wants = "give the ID of one approval; 'brine approval list' shows them"
	}
	return session.TreeCommand(a, c, (*app.RunFlags).RegisterPlaces, args, args, wants, func(ctx context.Context, s *session.Session, args []string) error {
		if err := s.ApplySDB(ctx); err != nil {
			return err
		}
		return run(ctx, s, args)
	})
}

func newList(a *app.App, listF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use: "list", Short: "List the runs that wait", Example: "  brine approval list\n  brine approval list --all",
		Long: `List the runs that wait for an approval, the newest first: its ID, when it was asked
for, what runs, which step it comes before, who started it and who may answer. --all also
lists those that were answered, and those whose run has ended without an answer.`,
	}
	finish(a, c, 0, func(ctx context.Context, s *session.Session, _ []string) error {
		all, err := library.Approvals(ctx, s)
		if err != nil {
			return err
		}
		if !o.all {
			all = slices.DeleteFunc(all, func(e *approval.Entry) bool { return !e.Waits() })
		}
		if len(all) == 0 {
			fmt.Fprintln(a.Err, "brine: no run waits for an approval")
		}
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		for _, e := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID(), e.Asked.Local().Format(time.DateTime), printable.Line(e.Kind+" "+e.Name), printable.Line(e.Before()), printable.Line("started by "+e.User), printable.Line(stateOf(e)))
		}
		return w.Flush()
	})
	if listF != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return listF(c.Context(), o, args) }
	}
	c.Flags().BoolVar(&o.all, "all", false, "also those that nobody waits for any more")
	return c
}

// stateOf is what became of a question, in words.
func stateOf(e *approval.Entry) string {
	switch {
	case e.Answer != nil:
		return e.Answer.Text()
	case e.Lost:
		return "the run has ended without an answer"
	}
	return "for " + e.Whom()
}

func newShow(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "show <id>", Short: "Show what an approval is for", Example: "  brine approval show 20261129120000123456-start",
		Long: "Show what an approval is for: the run with its steps and targets, who may answer, the\nanswer, and the digest and the commit of the tree that it holds for.",
	}
	return finish(a, c, 1, func(ctx context.Context, s *session.Session, args []string) error {
		e, err := find(ctx, s, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s %s, run %s, %s\n  started by %s, asked at %s\n  %s\n", e.Kind, printable.Line(e.Name), e.Asker(), printable.Line(e.Before()), printable.Line(e.User), e.Asked.Local().Format(time.DateTime), printable.Line(stateOf(e)))
		for _, line := range e.What {
			fmt.Fprintf(a.Out, "  %s\n", printable.Line(line))
		}
		if text := e.Tree.String(); text != "" {
			fmt.Fprintf(a.Out, "  %s\n", printable.Line(text))
		}
		return nil
	})
}

// find returns a question, and hints at similar ones.
func find(ctx context.Context, s *session.Session, id string) (*approval.Entry, error) {
	e, err := library.Approval(ctx, s, id)
	if !errors.Is(err, approval.ErrNotFound) {
		return e, err
	}
	all, err := library.Approvals(ctx, s)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, x := range all {
		ids = append(ids, x.ID())
	}
	return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("there is no approval %q%s", printable.Line(id), source.DidYouMean(id, ids)), Hint: "'brine approval list' lists the runs that wait"}
}

// newAnswer is approve or refuse.
func newAnswer(a *app.App, approve bool) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use: "refuse <id>", Short: "Refuse a run, which ends it", Example: "  brine approval refuse 20261129120000123456-step3 --comment 'not on Fridays'",
		Long: `Refuse a run that waits: it ends as refused, before its next step. You cannot answer for
a run that you have started.`,
	}
	if approve {
		c.Use, c.Short, c.Example = "approve <id>", "Approve a run, which goes on", "  brine approval approve 20261129120000123456-step3 --comment 'CHG-4711'"
		c.Long = `Approve a run that waits: it goes on. The name of your user on this machine counts,
which must be another one than that of who started the run. Roles of 'brine ui' do not
count here: who can run brine as this user can do more than they allow.`
	}
	finish(a, c, 1, func(ctx context.Context, s *session.Session, args []string) error {
		e, err := find(ctx, s, args[0])
		if err != nil {
			return err
		}
		user := s.UserName()
		if err := e.May(user, func(string) bool { return true }); err != nil {
			return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "you are " + user + " here"}
		}
		e, err = library.Decide(ctx, s, args[0], e.Definition, approval.Answer{Approved: approve, User: user, Comment: o.comment})
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		fmt.Fprintf(a.Out, "The run %s of the %s %s is %s.\n", e.Asker(), e.Kind, printable.Line(e.Name), printable.Line(e.Answer.Text()))
		return nil
	})
	c.Flags().StringVar(&o.comment, "comment", "", "why, for the record; 1000 bytes at most")
	return c
}
