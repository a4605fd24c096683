// Package react is brine react: it runs what the reactors of the configuration ask for as a
// reaction to an event.
package react

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/complete"
	"brine/cmd/runner"
	"brine/cmd/session"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/py/value"
)

type options struct {
	runner.Options
	event string // file with an event
	dry   bool
}

// queued runs the reaction to an event of a queue for a worker.
func (o *options) queued(ctx context.Context, a *app.App, c *cobra.Command) error {
	return runner.Queued(ctx, a, c, &o.Options, runner.Queue{Function: reactName, Choose: func(r *runner.QueuedRun, s *session.Session, _ *fun.Env) (fun.Args, error) {
		ev := r.Work.Event
		if ev == nil {
			return fun.Args{}, errors.New("the worker handed over no event")
		}
		s.Cause(append(slices.Clip(ev.Cause), r.Entry))
		return fun.Args{Pos: []value.Value{ev.Tag, ev.Data}, Kw: value.NewMap(0)}, nil
	}})
}

// reactName is the runner function that reacts to an event.
const reactName = "reactor.react"

// groups are the flags of brine react in its help.
var groups = append([]app.FlagGroup{{Title: "React", Names: "event dry-run"}}, app.TargetGroups...)

// New returns "brine react". runF, which may be nil, replaces what runs it.
func New(a *app.App, runF func(context.Context, *options, []string) error) *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "react <tag> [<data>]",
		Short: "Run what the reactors ask for as a reaction to an event",
		Long: `Run what reacts to an event. The option reactor of the master's configuration says
which SLS files react to which tags; they are rendered with tag and data, and say
which functions are called: local on targets, runner, wheel and caller here. The
event is not sent to anybody. With --dry-run nothing is called: the result is what
would be, with its arguments and, where names decide, its targets. It fails if that
could not be called: an unknown argument or SLS, a target that matches nothing.

This is for one event that you have, for example in a webhook, in a job of CI or to try
a reactor. 'brine worker --react' waits for events. See 'brine docs reactor'.

Exit status: 0 all reactions succeeded; 1 one failed, does not compile, or nothing
reacts to the tag; 64 usage error; 130 interrupted.`,
		Example: `  brine react deploy/done '{"release": "1.4"}'
  brine react deploy/done '{"release": "1.4"}' --dry-run
  brine react --event event.json
  brine run reactor.list`,
		SilenceUsage: true, SilenceErrors: true,
		ValidArgsFunction: app.NoCompletion,
		RunE: func(c *cobra.Command, args []string) error {
			if runF != nil {
				return runF(c.Context(), o, args)
			}
			if o.Queued {
				return o.queued(c.Context(), a, c)
			}
			return run(c.Context(), a, c, o, args)
		},
	}
	c.SetFlagErrorFunc(app.FlagError)
	f := c.Flags()
	o.Register(f)
	o.RegisterTargets(f)
	o.RegisterAs(f, "t", "")
	f.StringVar(&o.event, "event", "", "file with an event as JSON, - for standard input: {\"tag\": ..., \"data\": {...}}")
	f.BoolVar(&o.Queued, "queued", false, "run what a worker hands over on stdin") // see queued
	_ = f.MarkHidden("queued")
	f.BoolVar(&o.dry, "dry-run", false, "call nothing, show what would be called")
	complete.Flags(c)
	app.GroupFlags(c, groups)
	return c
}

func run(ctx context.Context, a *app.App, c *cobra.Command, o *options, args []string) error {
	tag, data, err := o.read(a, c, args)
	if err != nil {
		return err
	}
	if err := a.Saltfile(c, "salt-run", &o.RunFlags); err != nil {
		return err
	}
	return runner.Run(ctx, a, c, &o.Options, reactName, nil, func(*session.Session, *fun.Env) (fun.Args, error) {
		kw := value.NewMap(1)
		if o.dry {
			kw.Set("test", true)
		}
		return fun.Args{Pos: []value.Value{tag, data}, Kw: kw}, nil
	})
}

// maxEvent bounds an event, in bytes, as the buses do.
const maxEvent = 1 << 20

// read returns the event that a command line has.
func (o *options) read(a *app.App, c *cobra.Command, args []string) (tag string, data *value.Map, err error) {
	switch {
	case o.event != "" && len(args) > 0:
		return "", nil, app.Usagef(c, "--event has the tag and the data: %q is too much", args[0])
	case o.event != "":
		return o.readFile(a)
	case len(args) == 0:
		return "", nil, app.Usagef(c, "no tag was given")
	case len(args) > 2:
		return "", nil, app.Usagef(c, "unexpected argument %q: an event is a tag and its data", args[2])
	}
	if len(args) == 1 {
		return args[0], value.NewMap(0), nil
	}
	in := dispatch.ParseInput(args[1:], nil)
	if len(in.Pos) == 1 {
		if m, ok := in.Pos[0].(*value.Map); ok {
			return args[0], m, nil
		}
	}
	return "", nil, &app.StatusError{
		Status: app.ExitUsage, Err: fmt.Errorf("the data of an event is a mapping, and %q is none", args[1]),
		Hint: `write it as JSON: '{"release": "1.4"}'`,
	}
}

// readFile reads the file of --event.
func (o *options) readFile(a *app.App) (tag string, data *value.Map, err error) {
	in := a.In
	if o.event != "-" {
		file, err := os.Open(o.event)
		if err != nil {
			return "", nil, eventFault(err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxEvent+1))
	switch {
	case err != nil:
		return "", nil, eventFault(err)
	case len(text) > maxEvent:
		return "", nil, eventFault(fmt.Errorf("an event has at most %d bytes", maxEvent))
	}
	if tag, data, err = parseEvent(string(text)); err != nil {
		return "", nil, eventFault(fmt.Errorf("%s: %w", o.event, err))
	}
	return tag, data, nil
}

// eventFault says what is wrong with an event, and what one looks like.
func eventFault(err error) error {
	return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--event: %w", err), Hint: `an event is {"tag": "deploy/done", "data": {"release": "1.4"}}`}
}

// parseEvent reads an event that is JSON.
func parseEvent(text string) (tag string, data *value.Map, err error) {
	v, err := value.ParseJSON(text)
	if err != nil {
		return "", nil, err
	}
	m, _ := v.(*value.Map)
	if tag = m.Str("tag"); tag == "" {
		return "", nil, errors.New("the event has no tag")
	}
	for k := range m.All() {
		if name := value.Str(k); name != "tag" && name != "data" {
			return "", nil, fmt.Errorf("an event has tag and data, and no %q", name)
		}
	}
	switch d := m.At("data").(type) {
	case nil:
		return tag, value.NewMap(0), nil
	case *value.Map:
		return tag, d, nil
	default:
		return "", nil, fmt.Errorf("its data is a mapping, not %s", value.Kind(d))
	}
}
