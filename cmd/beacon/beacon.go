// Package beacon is brine beacon: the beacons of this machine, which look once, and the
// timers that have them look.
package beacon

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/output"
	"brine/cmd/session"
	"brine/internal/core/beacon"
	"brine/internal/core/config"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

// New returns "brine beacon".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "beacon <command>",
		Short: "Look at this machine, and make events of what is found",
		Long: `Have the beacons of this machine look once, or install timers of systemd that do so
regularly. There is no daemon. The option beacons, in the configuration of the minion
and the pillar, says what is looked at. Events go to the server of event_bus at once,
else they wait in a spool until a controller collects them: see 'brine docs beacons'.

Exit status: 0 success; 1 a beacon is configured wrong or could not look; 64 usage
error.`,
		Example: `  brine beacon check
  brine beacon run
  brine beacon run diskusage --out=json
  brine beacon install --every 60`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCheck(a), newInstall(a), newList(a), newRun(a), newSpool(a), newUninstall(a))
	c.SetFlagErrorFunc(app.FlagError)
	return c
}

// A bench is the beacons of a session.
type bench struct {
	s   *session.Session
	rep *output.Report
	env *fun.Env
	*beacon.Config
	faulty bool // a beacon is configured wrong, or could not look
}

// options are the flags of a subcommand.
type options struct {
	app.RunFlags
	every float64
	dry   bool
	done  []string
}

// newSub returns a subcommand. names says that it takes names of beacons.
func newSub(a *app.App, o *options, use, short, long string, names bool, run func(context.Context, *bench, []string) error) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, SilenceUsage: true, SilenceErrors: true, ValidArgsFunction: app.NoCompletion}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && !names {
			return app.Usagef(c, "%s takes no arguments", c.Name())
		}
		if c.Flags().Lookup("every") != nil && !(o.every >= 1 && o.every <= 86400) {
			return app.Usagef(c, "--every: %v is not a number of seconds from 1 to 86400", o.every)
		}
		s, err := session.New(a, config.Minion, "salt-call", &o.RunFlags, nil)
		if err != nil {
			return err
		}
		defer s.End()
		if err := s.ApplySDB(c.Context()); err != nil {
			return err
		}
		b := &bench{s: s, rep: output.New(s)}
		if err := b.rep.CheckOutput(); err != nil {
			return err
		}
		b.env = s.Env(c.Context(), s.NewJID())
		if err := run(c.Context(), b, args); err != nil {
			return err
		}
		if b.faulty {
			return app.Silent(app.ExitGeneric)
		}
		return app.Silent(s.StrictStatus(app.ExitOK))
	}
	c.SetFlagErrorFunc(app.FlagError)
	o.RegisterConfig(c.Flags())
	o.Output.Register(c.Flags())
	return c
}

// read reads the beacons of the machine, and prints what is wrong with them.
func (b *bench) read() {
	b.Config = beacon.OfEnv(b.env)
	for _, f := range b.Faults {
		b.s.Fault(f)
		b.faulty = true
	}
}

// try prints what the beacons cannot look at on this machine.
func (b *bench) try(ctx context.Context) {
	for _, f := range b.Try(ctx, b.env) {
		b.s.Fault(f)
		b.faulty = true
	}
}

// warn warns of what beacons keep and cannot be read.
func (b *bench) warn(err error) { b.s.Warn(fun.Warning{Text: err.Error()}) }

func newCheck(a *app.App) *cobra.Command {
	return newSub(a, &options{}, "check", "Check the beacons, and whether they can look at this machine", "", false, func(ctx context.Context, b *bench, _ []string) error {
		b.read()
		b.try(ctx)
		if !b.faulty {
			fmt.Fprintf(a.Out, "%d beacon(s) are configured as they should be\n", len(b.Entries))
		}
		return nil
	})
}

func newList(a *app.App) *cobra.Command {
	return newSub(a, &options{}, "list", "List the beacons that are configured", "", false, func(_ context.Context, b *bench, _ []string) error {
		b.read()
		last, err := beacon.NewStore(a.Host, b.env.CacheDir, b.warn).Lasts(b.Entries)
		if err != nil {
			return err
		}
		out := value.NewMap(len(b.Entries))
		for _, e := range b.Entries {
			row := value.MapOf("beacon", e.Kind.Name, "enabled", b.Enabled && e.Enabled, "interval", e.Interval.Seconds())
			if at, ok := last[e.Name]; ok {
				row.Set("looked", at.Local().Format("2006-01-02T15:04:05"))
			}
			if !e.At.IsZero() {
				row.Set("written", e.At.String())
			}
			out.Set(e.Name, row)
		}
		return b.rep.Print(out, "nested", 0)
	})
}

func newSpool(a *app.App) *cobra.Command {
	o := &options{}
	c := newSub(a, o, "spool", "Print events that wait to be collected, as JSON",
		`Print the oldest events that wait in the spool, as one line of JSON: the id of the
machine, the name of the batch, its events and how many are left. They stay until
--done names their batch. 'brine run beacon.collect' and 'brine worker --collect' call
this over SSH.

Exit status: 0 success; 1 the spool cannot be read; 64 usage error.`,
		false, func(_ context.Context, b *bench, _ []string) error {
			s := beacon.NewSpool(a.Host, b.env.CacheDir, b.warn)
			for _, name := range o.done {
				if !beacon.ValidBatch(name) {
					return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--done: %.100q is not the name of a batch", name)}
				}
			}
			if len(o.done) > 0 {
				if _, err := s.Done(o.done); err != nil {
					return err
				}
			}
			batch, err := s.Take(b.env.ID)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s\n", batch.Encode(b.env.ID))
			return nil
		})
	c.Flags().StringSliceVar(&o.done, "done", nil, "first remove the events of these batches (comma-separated), which somebody has")
	return c
}
