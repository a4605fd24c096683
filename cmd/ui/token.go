package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/py/source"
	"brine/internal/view/ui"
)

// tokenOptions are the flags of the commands for tokens.
type tokenOptions struct {
	tokens, role, expires string
	scope                 ui.Scope
	rights                []string
}

// newToken returns "brine ui token". runF, which may be nil, replaces what runs its
// commands.
func newToken(a *app.App, runF func(context.Context, *tokenOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:   "token <command>",
		Short: "Tokens for programs that use the API of brine ui",
		Long: `Add, list and revoke the tokens of programs that use the API of 'brine ui --tokens'.
The file has a line for each token, with the SHA-256 of its secret, and only you can
read it. brine ui reads it again when it changes. See 'brine docs ui/api'.`,
		Example: `  brine ui token add ci --tokens ui.tokens --role operator --chains 'deploy-*' --expires 30d
  brine ui token list --tokens ui.tokens
  brine ui token revoke ci --tokens ui.tokens`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(newTokenAdd(a, runF), newTokenList(a, runF), newTokenRevoke(a, runF))
	return c
}

// tokenCommand finishes a command for tokens; names is how many names it takes.
func tokenCommand(c *cobra.Command, o *tokenOptions, names int, runF, run func(context.Context, *tokenOptions, []string) error) *cobra.Command {
	c.SilenceUsage, c.SilenceErrors, c.ValidArgsFunction = true, true, app.NoCompletion
	c.Long += "\n\nExit status: 0 success; 1 failure; 64 usage error."
	c.Flags().StringVar(&o.tokens, "tokens", "", "file of tokens")
	c.SetFlagErrorFunc(app.FlagError)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case runF != nil:
			return runF(c.Context(), o, args)
		case len(args) != names && names == 0:
			return app.Usagef(c, "no arguments are taken")
		case len(args) != names:
			return app.Usagef(c, "give the name of a token")
		case o.tokens == "":
			return app.Usagef(c, "give the file with --tokens")
		}
		return run(c.Context(), o, args)
	}
	return c
}

// defaultLife is how long a token is valid.
const defaultLife = "90d"

func newTokenAdd(a *app.App, runF func(context.Context, *tokenOptions, []string) error) *cobra.Command {
	o := &tokenOptions{}
	c := &cobra.Command{
		Use:   "add <name>",
		Short: "Add a token, and print its secret",
		Long: `Add a token to a file of tokens, which is created if it does not exist, and print its
secret. This is the only time that it is shown: the file has a hash of it.

Roles: viewer (look), operator (also run), editor (also any job again).

With --chains, --orchestrations, --templates or --functions, the token can see and run
only what has one of these names: globs, separated by commas. Kinds that are not given are not
allowed then, nor is what concerns everything, such as the list of hosts.

With --hosts, it reaches only hosts with these IDs, and sees only what they returned: a run
is refused that has other targets. Alone, this does not limit what can be run.

With --right, it has a higher role than --role for the chains, orchestrations, templates
or functions with these names, as far as it can see them: operator.chains=,
operator.orchestrations=, operator.templates=, editor.chains=, editor.functions=.

With --events, the token can send events whose tags begin with one of these prefixes,
and nothing else. Name the token as the machine that uses it: that is the id of its
events.`,
		Example: `  brine ui token add ci --tokens ui.tokens --role operator --chains 'deploy-*' --expires 30d
  brine ui token add grafana --tokens ui.tokens --expires never
  brine ui token add web1 --tokens ui.tokens --role operator --events deploy/web1`,
	}
	tokenCommand(c, o, 1, runF, func(_ context.Context, o *tokenOptions, args []string) error { return addToken(a, c, o, args[0]) })
	f := c.Flags()
	f.StringVar(&o.role, "role", ui.Viewer.String(), "role: "+strings.Join(ui.RoleNames(), ", "))
	f.StringVar(&o.expires, "expires", defaultLife, "how long the token is valid, such as 12h, 30d or 8w; a date; or never")
	f.StringSliceVar(&o.scope.Orchestrations, "orchestrations", nil, "only orchestrations with these names")
	f.StringSliceVar(&o.scope.Chains, "chains", nil, "only chains with these names")
	f.StringSliceVar(&o.scope.Templates, "templates", nil, "only templates with these names")
	f.StringSliceVar(&o.scope.Functions, "functions", nil, "only functions with these names")
	f.StringSliceVar(&o.scope.Hosts, "hosts", nil, "only hosts with these IDs")
	f.StringSliceVar(&o.scope.Events, "events", nil, "only events whose tags begin with these prefixes")
	app.RepeatedVar(f, &o.rights, "right", "", "a higher role for some names, such as operator.chains=deploy-*; may be repeated")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(ui.RoleNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func addToken(a *app.App, c *cobra.Command, o *tokenOptions, name string) error {
	x := &ui.Token{Name: name, Scope: o.scope, Created: a.Host.Now().Truncate(time.Second)}
	if err := ui.CheckToken(name); err != nil {
		return app.Usagef(c, "%s", err)
	}
	var err error
	if x.Role, err = ui.ParseRole(o.role); err != nil {
		return app.Usagef(c, "--role: %s", err)
	}
	if err := x.Scope.AddRights(o.rights); err != nil {
		return app.Usagef(c, "--right: %s", err)
	}
	if x.Expires, err = expiry(o.expires, x.Created); err != nil {
		return app.Usagef(c, "--expires: %s", err)
	}
	for _, x := range []struct {
		flag  string
		globs []string
	}{{"orchestrations", o.scope.Orchestrations}, {"chains", o.scope.Chains}, {"templates", o.scope.Templates}, {"functions", o.scope.Functions}, {"hosts", o.scope.Hosts}, {"events", o.scope.Events}} {
		err := ui.CheckGlobs(x.globs)
		if x.flag == "events" {
			err = ui.CheckPrefixes(x.globs)
		}
		switch {
		case err == nil && x.flag == "hosts":
			err = ui.CheckHosts(x.globs)
		case err == nil && x.flag == "functions":
			err = ui.CheckFunctions(x.globs)
		}
		if err == nil && c.Flags().Changed(x.flag) && len(x.globs) == 0 { // else the token had no limit
			err = errors.New("give at least one name")
		}
		if err != nil {
			return app.Usagef(c, "--%s: %s", x.flag, err)
		}
	}
	if err := x.Scope.CheckRights(x.Role); err != nil {
		return app.Usagef(c, "%s", err)
	}
	if len(o.scope.Events) > 0 && x.Role < ui.Operator {
		return app.Usagef(c, "--events needs --role operator: a %s sends nothing", x.Role)
	}
	text, hash := ui.NewToken()
	x.Hash = hash
	err = changeTokens(a, o.tokens, func(all *ui.Tokens, old []byte) ([]byte, error) {
		if all.Find(name) != nil {
			return nil, &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("there is a token %s already", name), Hint: "brine ui token revoke " + name + " --tokens " + o.tokens}
		}
		return ui.AddToken(old, x), nil
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Out, text); err != nil {
		return fmt.Errorf("the token was added, but its secret could not be printed; revoke it: %w", err)
	}
	fmt.Fprintln(a.Err, "brine: this secret is shown only now")
	return nil
}

// expiry reads how long a token is valid; the zero time: for ever.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	if m := regexp.MustCompile(`^([1-9]\d{0,3})([hdw])$`).FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return now.Add(time.Duration(n) * map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]), nil
	}
	at, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil {
		return at, fmt.Errorf("%q is not 12h, 30d, 8w, a date such as 2027-06-30, or never", text)
	}
	if !at.After(now) {
		return at, fmt.Errorf("%s is over", text)
	}
	return at, nil
}

// changeTokens changes a file of tokens while nobody else does.
func changeTokens(a *app.App, file string, change func(all *ui.Tokens, old []byte) ([]byte, error)) error {
	return changePrivate(a, file, ui.ParseTokens, change)
}

// changePrivate changes a file that only its owner can read, while nobody else does. parse
// reads what is in it.
func changePrivate[T any](a *app.App, file string, parse func(file string, text []byte) (T, error), change func(all T, old []byte) ([]byte, error)) error {
	unlock, err := a.Host.Lock(file + ".lock")
	if err != nil {
		return err
	}
	defer unlock() // the file of the lock stays: others may wait for it
	old, err := a.Host.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all, err := parse(file, old)
	if err != nil {
		return err
	}
	text, err := change(all, old)
	if err != nil {
		return err
	}
	return writePrivate(a, file, text)
}

// writePrivate writes a file that only its owner can read.
func writePrivate(a *app.App, file string, text []byte) error {
	mode := fs.FileMode(0o600)
	return a.Host.WriteFile(file, strings.NewReader(string(text)), host.WriteOptions{Mode: &mode, Sync: true})
}

func newTokenRevoke(a *app.App, runF func(context.Context, *tokenOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:     "revoke <name>",
		Short:   "Revoke a token",
		Long:    `Remove a token from a file of tokens: brine ui refuses it from the next request on.`,
		Example: `  brine ui token revoke ci --tokens ui.tokens`,
	}
	return tokenCommand(c, &tokenOptions{}, 1, runF, func(_ context.Context, o *tokenOptions, args []string) error {
		if err := existing(a, o.tokens); err != nil {
			return err
		}
		return changeTokens(a, o.tokens, func(all *ui.Tokens, old []byte) ([]byte, error) {
			if all.Find(args[0]) == nil {
				return nil, fmt.Errorf("there is no token %q%s in %s", args[0], source.DidYouMean(args[0], tokenNames(all)), o.tokens)
			}
			return ui.RemoveToken(old, args[0]), nil
		})
	})
}

func tokenNames(all *ui.Tokens) (names []string) {
	for _, x := range all.All() {
		names = append(names, x.Name)
	}
	return names
}

// existing returns an error if there is no file: its name may be misspelt.
func existing(a *app.App, file string) error {
	_, err := a.Host.Stat(file)
	return err
}

func newTokenList(a *app.App, runF func(context.Context, *tokenOptions, []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens",
		Long:    `List the tokens of a file: name, role, when each was created, expires and was used last (to the minute), and what it is limited to.`,
		Example: `  brine ui token list --tokens ui.tokens`,
	}
	return tokenCommand(c, &tokenOptions{}, 0, runF, func(_ context.Context, o *tokenOptions, _ []string) error { return listTokens(a, o.tokens) })
}

func listTokens(a *app.App, file string) error {
	text, err := a.Host.ReadFile(file)
	if err != nil {
		return err
	}
	all, err := ui.ParseTokens(file, text)
	if err != nil {
		return err
	}
	uses, err := readUses(a, file)
	if err != nil {
		return err
	}
	if len(all.All()) == 0 {
		fmt.Fprintf(a.Err, "brine: there are no tokens in %s\n", printable.Line(file))
		return nil
	}
	now := a.Host.Now()
	day := func(t time.Time) string { return t.In(now.Location()).Format("2006-01-02 15:04") }
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tROLE\tCREATED\tEXPIRES\tLAST USE\tLIMITED TO")
	for _, x := range all.All() {
		expires, used := "never", "never"
		if !x.Expires.IsZero() {
			expires = day(x.Expires)
		}
		if x.Expired(now) {
			expires = "expired"
		}
		if at, ok := uses.Of(x); ok {
			used = day(at)
		}
		limit := x.Scope.String()
		if limit == "" {
			limit = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", printable.Line(x.Name), x.Role, day(x.Created), expires, used, printable.Line(limit))
	}
	return w.Flush()
}

// usesFile is the file with the last uses of the tokens of a file.
func usesFile(file string) string { return file + ".used" }

func readUses(a *app.App, file string) (ui.TokenUses, error) {
	text, err := a.Host.ReadFile(usesFile(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return ui.ParseTokenUses(text), nil
}

// useEvery is how often the last use of a token is written at most.
const useEvery = time.Minute

// A useLog writes when tokens are used.
type useLog struct {
	app  *app.App
	file string // of the tokens

	mu      sync.Mutex
	written map[string]time.Time
	broken  bool // said once
}

// used notes that a token is used now.
func (u *useLog) used(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.app.Host.Now()
	if at, ok := u.written[name]; ok && now.Sub(at) < useEvery {
		return
	}
	if u.written == nil {
		u.written = map[string]time.Time{}
	}
	u.written[name] = now
	err := u.write(name, now)
	if err != nil && !u.broken {
		fmt.Fprintf(u.app.Err, "brine: warning: the last use of tokens cannot be kept: %s\n", printable.Line(err.Error()))
	}
	u.broken = err != nil
}

// write adds a use to those that others may have written.
func (u *useLog) write(name string, now time.Time) error {
	unlock, err := u.app.Host.Lock(u.file + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	text, err := u.app.Host.ReadFile(u.file)
	if err != nil {
		return err
	}
	all, err := ui.ParseTokens(u.file, text)
	if err != nil {
		return err
	}
	uses, err := readUses(u.app, u.file)
	if err != nil {
		return err
	}
	uses[name] = now
	return writePrivate(u.app, usesFile(u.file), uses.Text(all))
}
