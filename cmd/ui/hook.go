package ui

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/view/ui"
)

// hookOptions are the flags of the commands for hooks.
type hookOptions struct {
	hooks, kind, queue, keyFile string
	only, pillar                []string
}

// newHook returns "brine ui hook". runF, which may be nil, replaces what runs its
// commands.
func newHook(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:   "hook <command>",
		Short: "Hooks by which other programs start something",
		Long: `Add, list, show and remove the hooks of 'brine ui --hooks': a signed request to
/api/v1/hooks/NAME puts a chain, a template or an orchestration into a queue, and nothing else. The
file has a line for each hook, with its key, and only you can read it. brine ui reads it
again when it changes. See 'brine docs ui/hooks'.`,
		Example: `  brine ui hook add deploy --hooks ui.hooks --kind github --queue ops --only ref:refs/heads/main orchestration deploy
  brine ui hook list --hooks ui.hooks
  brine ui hook remove deploy --hooks ui.hooks`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(newHookAdd(a, runF), newHookList(a, runF), newHookRemove(a, runF), newHookShow(a, runF))
	return c
}

// hookCommand finishes a command for hooks; args is how many arguments it takes, and wants
// says which.
func hookCommand(c *cobra.Command, o *hookOptions, args int, wants string, runF, run func(context.Context, *hookOptions, []string) error) *cobra.Command {
	c.SilenceUsage, c.SilenceErrors, c.ValidArgsFunction = true, true, app.NoCompletion
	c.Long += "\n\nExit status: 0 success; 1 failure; 64 usage error."
	c.Flags().StringVar(&o.hooks, "hooks", "", "file of hooks")
	c.SetFlagErrorFunc(app.FlagError)
	c.RunE = func(c *cobra.Command, given []string) error {
		switch {
		case runF != nil:
			return runF(c.Context(), o, given)
		case len(given) != args:
			return app.Usagef(c, "%s", wants)
		case o.hooks == "":
			return app.Usagef(c, "give the file with --hooks")
		}
		return run(c.Context(), o, given)
	}
	return c
}

func newHookAdd(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
	o := &hookOptions{}
	c := &cobra.Command{
		Use:   "add <name> {chain | orchestration | template} <what>",
		Short: "Add a hook, and print its key",
		Long: `Add a hook to a file of hooks, which is created if it does not exist, and print its
key: the secret that the other program signs with. --key-file uses a key that there is.

Kinds: github (X-Hub-Signature-256), gitlab (X-Gitlab-Token), hmac (the HMAC-SHA256 of a
time and the body, as the notifications of brine have it).

--only PLACE:VALUE starts something only if a field of the payload has a value. --pillar
NAME:PLACE has a field become pillar['hook'][NAME] of an orchestration. A place is the
keys of the field with dots between them, or @event for the name of the event.`,
		Example: `  brine ui hook add deploy --hooks ui.hooks --kind github --queue ops --only @event:push --only ref:refs/heads/main --pillar commit:after orchestration deploy
  brine ui hook add nightly --hooks ui.hooks --kind hmac --queue ops chain nightly`,
	}
	hookCommand(c, o, 3, "give a name, chain, orchestration or template, and the name of that", runF, func(_ context.Context, o *hookOptions, args []string) error { return addHook(a, c, o, args) })
	f := c.Flags()
	f.StringVar(&o.kind, "kind", "", "how requests are signed: "+strings.Join(ui.HookKinds(), ", "))
	f.StringVar(&o.queue, "queue", "", "name of the queue whose workers run it")
	f.StringVar(&o.keyFile, "key-file", "", "file with the key (default: a new key)")
	f.StringSliceVar(&o.only, "only", nil, "PLACE:VALUE that the payload must have")
	f.StringSliceVar(&o.pillar, "pillar", nil, "NAME:PLACE of a field that becomes a value of the pillar")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(ui.HookKinds(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// hookOf is the hook that flags and arguments describe.
func hookOf(a *app.App, c *cobra.Command, o *hookOptions, args []string) (*ui.Hook, error) {
	x := &ui.Hook{Name: args[0], Kind: o.kind, Queue: o.queue, Created: a.Host.Now().Truncate(time.Second), Key: ui.NewHookKey()}
	targets := map[string]*string{"chain": &x.Chain, "orchestration": &x.Orchestration, "template": &x.Template}
	to := targets[args[1]]
	if to == nil {
		return nil, app.Usagef(c, "%q is none of chain, orchestration and template%s", args[1], source.DidYouMean(args[1], []string{"chain", "orchestration", "template"}))
	}
	*to = args[2]
	for _, flag := range []struct {
		name  string
		texts []string
		to    *[]ui.HookField
	}{{"only", o.only, &x.Only}, {"pillar", o.pillar, &x.Pillar}} {
		for _, text := range flag.texts {
			field, err := ui.ParseHookField(text)
			if err != nil {
				return nil, app.Usagef(c, "--%s: %s", flag.name, err)
			}
			*flag.to = append(*flag.to, field)
		}
	}
	if o.keyFile != "" {
		text, err := a.Host.ReadFile(o.keyFile)
		if err != nil {
			return nil, fmt.Errorf("--key-file: %w", err)
		}
		x.Key = strings.TrimSpace(string(text))
	}
	if err := x.Check(); err != nil {
		return nil, app.Usagef(c, "%s", err)
	}
	return x, nil
}

func addHook(a *app.App, c *cobra.Command, o *hookOptions, args []string) error {
	x, err := hookOf(a, c, o, args)
	if err != nil {
		return err
	}
	err = changeHooks(a, o.hooks, func(all *ui.Hooks, old []byte) ([]byte, error) {
		if all.Find(x.Name) != nil {
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("there is a hook %s already", x.Name), Hint: "brine ui hook remove " + x.Name + " --hooks " + o.hooks}
		}
		return ui.AddHook(old, x), nil
	})
	if err != nil || o.keyFile != "" {
		return err
	}
	_, err = fmt.Fprintln(a.Out, x.Key)
	return err
}

// changeHooks changes a file of hooks while nobody else does.
func changeHooks(a *app.App, file string, change func(all *ui.Hooks, old []byte) ([]byte, error)) error {
	return changePrivate(a, file, ui.ParseHooks, change)
}

// readHooks reads a file of hooks that must be there.
func readHooks(a *app.App, file string) (*ui.Hooks, error) {
	text, err := a.Host.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ui.ParseHooks(file, text)
}

// noHook says that there is no hook with a name.
func noHook(all *ui.Hooks, name, file string) error {
	var names []string
	for _, x := range all.All() {
		names = append(names, x.Name)
	}
	return fmt.Errorf("there is no hook %q%s in %s", name, source.DidYouMean(name, names), file)
}

func newHookRemove(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:     "remove <name>",
		Short:   "Remove a hook",
		Long:    `Remove a hook from a file of hooks: brine ui refuses it from the next request on.`,
		Example: `  brine ui hook remove deploy --hooks ui.hooks`,
	}
	return hookCommand(c, &hookOptions{}, 1, "give the name of a hook", runF, func(_ context.Context, o *hookOptions, args []string) error {
		if err := existing(a, o.hooks); err != nil {
			return err
		}
		return changeHooks(a, o.hooks, func(all *ui.Hooks, old []byte) ([]byte, error) {
			if all.Find(args[0]) == nil {
				return nil, noHook(all, args[0], o.hooks)
			}
			return ui.RemoveToken(old, args[0]), nil
		})
	})
}

func newHookList(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the hooks",
		Long:    `List the hooks of a file, without their keys: name, kind, queue, what they start, and when they were created.`,
		Example: `  brine ui hook list --hooks ui.hooks`,
	}
	return hookCommand(c, &hookOptions{}, 0, "no arguments are taken", runF, func(_ context.Context, o *hookOptions, _ []string) error {
		all, err := readHooks(a, o.hooks)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKIND\tQUEUE\tSTARTS\tCREATED")
		for _, x := range all.All() {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", x.Name, x.Kind, x.Queue, printable.Line(x.Starts()), x.Created.Format(time.RFC3339))
		}
		return w.Flush()
	})
}

func newHookShow(a *app.App, runF func(context.Context, *hookOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:     "show <name>",
		Short:   "Show a hook",
		Long:    `Show a hook of a file with its conditions and the fields of the payload that it uses, without its key.`,
		Example: `  brine ui hook show deploy --hooks ui.hooks`,
	}
	return hookCommand(c, &hookOptions{}, 1, "give the name of a hook", runF, func(_ context.Context, o *hookOptions, args []string) error {
		all, err := readHooks(a, o.hooks)
		if err != nil {
			return err
		}
		x := all.Find(args[0])
		if x == nil {
			return noHook(all, args[0], o.hooks)
		}
		_, err = fmt.Fprintln(a.Out, printable.Line(x.Line("********")))
		return err
	})
}
