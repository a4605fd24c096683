// Package history is brine history: it exports, imports and backs up the history of
// orchestrations.
package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/host"
	"brine/internal/core/printable"
	"brine/internal/fleet/history"
	"brine/internal/fleet/jobs"
	"brine/internal/py/source"
	jobsrun "brine/runner/fn/jobs"
)

const exitStatus = `

Exit status: 0 success; 1 failure; 64 usage error.`

// New returns "brine history".
func New(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "history <command>",
		Short: "Export, import and back up the history",
		Long: `Export, import and back up the history of orchestrations, chains and templates.
'brine run history.list' and the other functions of the module history search in it.
See 'brine docs history'.`,
		Example: `  brine history export > history.ndjson
  brine history import history.ndjson
  brine history backup /var/backups/history.db
  brine run history.list`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return app.Usagef(c, "no command was given") },
	}
	c.AddCommand(newBackup(a), newExport(a), newImport(a))
	return c
}

// A place is the history that a command works on.
type place struct{ source string }

func (p *place) register(f *pflag.FlagSet) {
	f.StringVar(&p.source, "source", "", "the history of this returner instead of where brine keeps it; local_cache is the file of this machine")
}

// command finishes a command that works on a history.
func (p *place) command(a *app.App, c *cobra.Command, least, most int, wants string, run func(ctx context.Context, s *session.Session, st *history.Store, args []string) error) *cobra.Command {
	p.register(c.Flags())
	return session.TreeCommand(a, c, (*app.RunFlags).RegisterPlaces, least, most, wants, func(ctx context.Context, s *session.Session, args []string) error {
		st, err := assembly.OpenHistory(ctx, s.Env(ctx, ""), p.source, s.Tell)
		if err != nil {
			return fmt.Errorf("the history cannot be opened: %w", err)
		}
		return errors.Join(run(ctx, s, st, args), st.Close())
	})
}

type exportOptions struct {
	place
	name, kind, user, since, until, file string
}

func newExport(a *app.App) *cobra.Command {
	o := &exportOptions{}
	c := &cobra.Command{
		Use:   "export",
		Short: "Write executions as NDJSON",
		Long: `Write executions with their definitions, oldest first, as NDJSON to stdout or to a
file: a line of JSON for each definition, execution, step, and result of a target. It
shows one moment, whatever runs write meanwhile. 'brine history import' reads it, into a
database of any kind.` + exitStatus,
		Example: `  brine history export > history.ndjson
  brine history export --since 2026-11-01 --name 'deploy*' --save november.ndjson`,
		ValidArgsFunction: app.NoCompletion,
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "only executions of the chain, template or SLS with this name, a glob")
	f.StringVar(&o.kind, "kind", "", "only executions of this kind: chain, orchestration, template")
	f.StringVar(&o.user, "user", "", "only executions of this user, a glob")
	f.StringVar(&o.since, "since", "", "only executions since this time, UTC, such as '2026-11-20 14:00'")
	f.StringVar(&o.until, "until", "", "only executions until this time, UTC")
	f.StringVarP(&o.file, "save", "o", "", "write to this file, which only its owner can read, and which is replaced when all is there")
	_ = c.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	return o.command(a, c, 0, 0, "export takes no arguments: > FILE or --save FILE names the file", func(ctx context.Context, _ *session.Session, st *history.Store, _ []string) error {
		q, err := o.query(c)
		if err != nil {
			return err
		}
		if o.file == "" {
			_, err := st.Export(ctx, a.Out, q)
			return err
		}
		n, err := save(ctx, a, st, q, o.file)
		if err == nil {
			fmt.Fprintf(a.Out, "%s: %s\n", printable.Line(o.file), executions(n.Executions))
		}
		return err
	})
}

// save exports to a file, which is replaced when all is there.
func save(ctx context.Context, a *app.App, st *history.Store, q history.Query, path string) (n history.Counts, err error) {
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var failed error
		n, failed = st.Export(ctx, w, q)
		_ = w.CloseWithError(failed) // nil is the end of the file
	}()
	err = a.Host.WriteFile(path, r, host.WriteOptions{Mode: new(fs.FileMode(0o600)), Sync: true})
	_ = r.Close() // an export that nobody reads ends
	<-ended
	return n, err
}

// kinds are those of executions.
var kinds = []string{history.Chain, history.Orchestration, history.Template}

// query returns what is to be exported.
func (o *exportOptions) query(c *cobra.Command) (history.Query, error) {
	q := history.Query{Name: o.name, Kind: o.kind, User: o.user}
	if o.kind != "" && !slices.Contains(kinds, o.kind) {
		return q, app.Usagef(c, "--kind %q is none of %s%s", o.kind, strings.Join(kinds, ", "), source.DidYouMean(o.kind, kinds))
	}
	for _, x := range []struct {
		name, text string
		to         *time.Time
	}{{"--since", o.since, &q.Since}, {"--until", o.until, &q.Until}} {
		jid, err := jobsrun.Bound(x.text, x.name)
		if err != nil {
			return q, app.Usagef(c, "%v", err)
		}
		*x.to, _ = jobs.Time(jid)
	}
	return q, nil
}

func newImport(a *app.App) *cobra.Command {
	o := &place{}
	c := &cobra.Command{
		Use:   "import <file>",
		Short: "Read executions from an export",
		Long: `Read executions that 'brine history export' wrote, from a file or, with -, from stdin,
into the history. What the history has already stays as it is, so that an import can be
repeated. A file is checked as a whole before anything is stored; what comes from stdin
is stored up to the first error, which names the line.` + exitStatus,
		Example: `  brine history import history.ndjson
  ssh old-controller brine history export | brine history import -`,
	}
	return o.command(a, c, 1, 1, "give the file of an export, or - for stdin", func(ctx context.Context, s *session.Session, st *history.Store, args []string) error {
		m := &history.Importer{Store: st, Name: args[0]}
		if keep := assembly.Keep(s.Cfg.Opts, "keep_history"); keep > 0 {
			m.Keep = jobs.JIDAt(a.Host.Now().Add(-keep))
		}
		in, err := open(ctx, a, args[0])
		if err != nil {
			return err
		}
		if in == nil {
			m.Name = "stdin"
			return imported(a, m, func() (history.Imported, error) { return m.Import(ctx, a.In) })
		}
		defer in.Close()
		return imported(a, m, func() (history.Imported, error) { return m.Import(ctx, in) })
	})
}

// open opens the file of an export that is right; nil is stdin, which cannot be read
// twice.
func open(ctx context.Context, a *app.App, path string) (io.ReadCloser, error) {
	if path == "-" {
		return nil, nil
	}
	in, err := a.Host.Open(path)
	if err != nil {
		return nil, err
	}
	_, err = (&history.Importer{Name: path}).Import(ctx, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: "nothing was stored"}
	}
	return a.Host.Open(path)
}

// imported runs an import, and says what it did.
func imported(a *app.App, m *history.Importer, run func() (history.Imported, error)) error {
	n, err := run()
	if err != nil {
		hint := fmt.Sprintf("%s stored before this line; import it again when it is right: executions that were stored stay as they are", wereOf(n.Executions))
		return &app.StatusError{Status: app.ExitGeneric, Err: err, Hint: hint}
	}
	fmt.Fprintf(a.Out, "%s stored, %d there already\n", wereOf(n.Executions), n.Present)
	if n.Differ > 0 {
		fmt.Fprintf(a.Err, "brine: warning: %s another status in the history than in %s: they stay as they are in the history\n", have(n.Differ), printable.Line(m.Name))
	}
	if n.Old > 0 {
		fmt.Fprintf(a.Err, "brine: warning: %s older than keep_history allows: the next clean-up removes them\n", wereOf(n.Old))
	}
	return nil
}

// executions counts executions in words.
func executions(n int64) string {
	if n == 1 {
		return "1 execution"
	}
	return fmt.Sprintf("%d executions", n)
}

// wereOf is executions, with the verb.
func wereOf(n int64) string {
	if n == 1 {
		return "1 execution was"
	}
	return executions(n) + " were"
}

// have is executions that have something.
func have(n int64) string {
	if n == 1 {
		return "1 execution has"
	}
	return executions(n) + " have"
}

func newBackup(a *app.App) *cobra.Command {
	o, replace := &place{}, false
	c := &cobra.Command{
		Use:   "backup <file>",
		Short: "Copy the database of the history",
		Long: `Copy the SQLite file of the history to another file, as it is at one moment: runs go on
and write to it meanwhile. Only its owner can read the copy, which is there when it is
whole and was checked. To use it, stop the runs and put it in the place of the history.

A history in MySQL, MariaDB or PostgreSQL is backed up by the tools of the database:
mariadb-dump, mysqldump, pg_dump.` + exitStatus,
		Example: "  brine history backup /var/backups/history.db\n  brine history backup /var/backups/history.db --replace",
	}
	c.Flags().BoolVar(&replace, "replace", false, "put the copy in the place of an earlier one")
	return o.command(a, c, 1, 1, "give the name of one file", func(ctx context.Context, _ *session.Session, st *history.Store, args []string) error {
		n, err := st.Backup(ctx, args[0], replace)
		if errors.Is(err, fs.ErrExist) {
			return &app.StatusError{Status: app.ExitGeneric, Err: fmt.Errorf("%s exists", args[0]), Hint: "--replace puts the copy in its place"}
		}
		if err == nil {
			fmt.Fprintf(a.Out, "%s: %s\n", printable.Line(args[0]), executions(n))
		}
		return err
	})
}
