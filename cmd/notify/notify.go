// Package notify is brine notify: it lists, tries and sends notifications.
package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/printable"
	"brine/internal/fleet/notify"
	"brine/internal/py/source"
)

const exitStatus = `

Exit status: 0 success; 1 failure; 64 usage error.`

type options struct {
	state string
	limit int
}

// New returns "brine notify". listF, which may be nil, replaces what runs "list".
func New(a *app.App, listF func(context.Context, *options, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:   "notify <command>",
		Short: "List, try and send notifications",
		Long: `List, try and send the notifications about runs: webhooks, mails, and messages of
Slack and Matrix. The option notify of the configuration has their destinations. See
'brine docs notifications'.`,
		Example: `  brine notify test ops
  brine notify list --state 'given up'
  brine notify send`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.SetFlagErrorFunc(app.FlagError)
	c.AddCommand(newDestinations(a), newList(a, listF), newRetry(a), newSend(a), newTest(a))
	return c
}

// finish finishes a command.
func finish(a *app.App, c *cobra.Command, args int, wants string, run func(ctx context.Context, n *notices, args []string) error) *cobra.Command {
	c.Long += exitStatus
	c.ValidArgsFunction = app.NoCompletion
	return session.TreeCommand(a, c, (*app.RunFlags).RegisterPlaces, args, args, wants, func(ctx context.Context, s *session.Session, args []string) error {
		if err := s.ApplySDB(ctx); err != nil {
			return err
		}
		n := &notices{app: a, s: s, open: func(do func(*notify.Store) error) error {
			st, err := assembly.OpenNotices(ctx, s.Env(ctx, ""), s.Tell)
			if err != nil {
				return err
			}
			return errors.Join(do(st), st.Close())
		}}
		var err error
		if n.to, err = assembly.Destinations(s.Env(ctx, "")); err != nil {
			return &app.StatusError{Status: app.ExitUsage, Err: err, Hint: "'brine docs notifications' describes the option notify"}
		}
		s.Secrets.Add(n.to.Secrets()...)
		return run(ctx, n, args)
	})
}

// notices are the notifications of a session.
type notices struct {
	app  *app.App
	s    *session.Session
	to   *notify.Destinations
	open func(do func(*notify.Store) error) error
}

func newDestinations(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "destinations", Short: "List the destinations", Example: "  brine notify destinations",
		Long: `List the destinations of the option notify: name, kind, where it is, the events and
the runs that it asks for. Secrets are left out.`,
	}
	return finish(a, c, 0, "destinations takes no arguments", func(_ context.Context, n *notices, _ []string) error {
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKIND\tWHERE\tEVENTS\tRUNS")
		for _, name := range n.to.Names() {
			d := n.to.Find(name)
			runs := strings.Join(d.Runs, ",")
			if runs == "" {
				runs = "that name it"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Name, d.Kind, printable.Line(d.Where()), strings.Join(d.On, ","), printable.Line(runs))
		}
		return w.Flush()
	})
}

// states are those that list can choose.
var states = []string{notify.Delivered, notify.GivenUp, notify.Pending}

func newList(a *app.App, listF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use: "list", Short: "List notifications, the newest first", Example: "  brine notify list\n  brine notify list --state pending",
		Long: `List the notifications of the last 30 days, the newest first: id, time, destination,
what it tells, how often it was tried, its state, and the last error.`,
	}
	finish(a, c, 0, "list takes no arguments", func(ctx context.Context, n *notices, _ []string) error {
		if o.state != "" && !slices.Contains(states, o.state) {
			return app.Usagef(c, "--state: %q is none of %s%s", o.state, strings.Join(states, ", "), source.DidYouMean(o.state, states))
		}
		if o.limit < 1 || o.limit > maxListed {
			return app.Usagef(c, "--limit: %d is not a number from 1 to %d", o.limit, maxListed)
		}
		return n.list(ctx, o)
	})
	if run := listF; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return run(c.Context(), o, args) }
	}
	c.Flags().StringVar(&o.state, "state", "", "only those in this state: "+strings.Join(states, ", "))
	c.Flags().IntVar(&o.limit, "limit", 50, "how many at most")
	_ = c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return c
}

const maxListed = 10000

func (n *notices) list(ctx context.Context, o *options) error {
	return n.open(func(st *notify.Store) error {
		all, err := st.List(ctx, o.state, o.limit)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(n.app.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tTIME\tDESTINATION\tWHAT\tTRIES\tSTATE\tERROR")
		for _, x := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", x.ID, x.Created.Format(time.RFC3339), printable.Line(x.Destination),
				printable.Line(x.Message.Title()), x.Tries, x.State, printable.Line(n.s.Secrets.Text(x.Error)))
		}
		return w.Flush()
	})
}

func newRetry(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "retry <id>", Short: "Try a notification again that was given up", Example: "  brine notify retry 0f3a6c1be2d94e4c8b1f7a5d2c3e4f50",
		Long: `Have a notification that was given up sent again, at once.`,
	}
	return finish(a, c, 1, "give the id of one notification; 'brine notify list' shows it", func(ctx context.Context, n *notices, args []string) error {
		err := n.open(func(st *notify.Store) error { return st.Retry(ctx, args[0], a.Host.Now()) })
		if errors.Is(err, notify.ErrNone) {
			return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "'brine notify list --state \"given up\"' lists them"}
		}
		if err != nil {
			return err
		}
		return n.send(ctx)
	})
}

func newSend(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "send", Short: "Send the notifications that are due", Example: "  brine notify send",
		Long: `Send the notifications that are due, such as those that did not arrive before. A
worker and brine ui do so every 15 seconds; without them, run it regularly.`,
	}
	return finish(a, c, 0, "send takes no arguments", func(ctx context.Context, n *notices, _ []string) error { return n.send(ctx) })
}

// send sends what is due, and fails if something does not arrive.
func (n *notices) send(ctx context.Context) error {
	sent, failed := 0, 0
	err := assembly.DeliverNotices(ctx, n.s.Env(ctx, ""), n.to, n.s.Tell, func(x *notify.Notice) {
		if x.State == notify.Delivered {
			sent++
			return
		}
		failed++
		n.s.Undelivered(x)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(n.app.Out, "%d sent, %d not\n", sent, failed)
	if failed > 0 {
		return app.Silent(app.ExitGeneric)
	}
	return nil
}

func newTest(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "test <destination>", Short: "Send a message to a destination", Example: "  brine notify test ops",
		Long: `Send a message to a destination, once, whatever events it asks for, and say whether it
arrived. Nothing is stored.`,
	}
	return finish(a, c, 1, "give the name of one destination", func(ctx context.Context, n *notices, args []string) error {
		if err := n.to.CheckNames(args); err != nil {
			return err
		}
		d, now := n.to.Find(args[0]), a.Host.Now()
		m := &notify.Message{Version: notify.Version, Event: "test", Kind: "notification", Name: d.Name, User: n.s.UserName(), Ended: now.UTC()}
		if err := d.Send(ctx, &notify.Notice{ID: fmt.Sprintf("test-%d", now.UnixNano()), Message: m}, now); err != nil {
			return fmt.Errorf("%s: it did not arrive: %w", d.Name, err)
		}
		fmt.Fprintf(a.Out, "%s took the message.\n", d.Name)
		return nil
	})
}
