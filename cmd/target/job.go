package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/internal/core/dispatch"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// Job makes the job of a command line.
func (o *Options) Job(c *cobra.Command, args []string) (fun.Job, error) {
	typ, err := o.tgtType()
	if err != nil {
		return fun.Job{}, app.Usagef(c, "%s", err)
	}
	switch {
	case o.passwd != "" || c.Flags().Changed("passwd"):
		return fun.Job{}, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("--passwd would show the password to every user of this machine"),
			Hint: "use --askpass, or passwd in the roster (a file that only you can read), or keys",
		}
	case c.Flags().Changed("priv-passwd"):
		return fun.Job{}, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("--priv-passwd would show the passphrase to every user of this machine"),
			Hint: "use ssh-agent, or priv_passwd in the roster; on a terminal brine asks for it",
		}
	case o.Subset < 0 || o.MaxProcs < 0 || o.Timeout < 0 || o.BatchWait < 0:
		return fun.Job{}, app.Usagef(c, "--subset, --max-procs, --timeout and --batch-wait cannot be negative")
	case o.JID != "" && !jobs.IsJID(o.JID):
		return fun.Job{}, app.Usagef(c, "--jid: %q is not a jid", o.JID)
	case CheckBatch(o.Batch) != nil:
		return fun.Job{}, CheckBatch(o.Batch)
	case o.FromRecord(args):
		if o.Raw || typ != "glob" {
			return fun.Job{}, app.Usagef(c, "--retry-failed without a target takes target and function from the job: give both, or leave the other flags out")
		}
		args = []string{"*", ""}
	case len(args) == 0:
		return fun.Job{}, app.Usagef(c, "no target was given")
	case len(args) == 1 && o.Raw:
		return fun.Job{}, app.Usagef(c, "no command was given")
	case len(args) == 1 && strings.Contains(args[0], "."):
		return fun.Job{}, &app.StatusError{
			Status: app.ExitUsage, Err: errors.New("no function was given, or no target"),
			Hint: fmt.Sprintf("the target comes first: %s TARGET %s", c.CommandPath(), app.ShellWord(args[0])),
		}
	case len(args) == 1:
		return fun.Job{}, app.Usagef(c, "no function was given")
	}
	if err := check(&o.Async, c, o); err != nil {
		return fun.Job{}, err
	}
	if err := o.Waves.read(c, o); err != nil {
		return fun.Job{}, err
	}
	tgt := args[0]
	if o.Delimiter != ":" {
		if tgt, typ, err = delimited(tgt, typ, o.Delimiter); err != nil {
			return fun.Job{}, app.Usagef(c, "--delimiter: %s", err)
		}
	}
	job := fun.Job{
		Metadata: o.jobMetadata(),
		Async:    o.Async.On, Tgt: tgt, TgtType: typ, Batch: o.Batch, Subset: o.Subset, FailHard: o.FailHard,
		BatchWait: app.Seconds(o.BatchWait), Published: o.Prog == SaltCLI,
	}
	if o.Raw {
		job.Shell = strings.Join(args[1:], " ")
	} else if job.Fun = args[1]; strings.Contains(job.Fun, ",") {
		if job.Args, err = o.compound(job.Fun, args[2:]); err != nil {
			return fun.Job{}, err
		}
	} else {
		job.Args = dispatch.ParseInput(args[2:], o.Unparsed())
	}
	job.Waves, job.MaxFailures, job.WaveWait = o.Waves.parsed, o.Waves.most, app.Seconds(o.Waves.wait)
	return job, nil
}

// CheckBatch refuses a value of --batch.
func CheckBatch(batch string) error {
	if share, err := fun.ParseShare(batch); batch == "" || err == nil && (share.N > 0 || share.Percent > 0) {
		return nil
	}
	return &app.StatusError{
		Status: app.ExitUsage, Err: fmt.Errorf("--batch: %q is neither a number of targets nor a percentage", batch),
		Hint: "-b is --batch, as in salt: 10 or 25%; --sudo becomes root on targets",
	}
}

// check refuses what does not go together with --async.
func check(o *app.AsyncFlags, c *cobra.Command, s *Options) error {
	if !o.On {
		return nil
	}
	switch {
	case s.Raw:
		return app.Usagef(c, "--async and --raw do not go together: a raw command has no agent on the target that could keep its return")
	case s.Batch != "":
		return app.Usagef(c, "--async and --batch do not go together: nobody would wait to start the next batch")
	case s.Waves.list != "" || s.Waves.failures != "":
		return app.Usagef(c, "--async and --waves or --max-failures do not go together: nobody would wait for the failures")
	case s.Wipe:
		return app.Usagef(c, "--async and --wipe do not go together: the job needs the agent's directory on the target")
	case s.FailedFile != "" || s.Summary:
		return app.Usagef(c, "--async knows of no returns, so there is nothing for --summary and --failed-file")
	}
	return nil
}

// FromRecord reports whether function, arguments and target are those of the job
// that --retry-failed names.
func (o *Options) FromRecord(args []string) bool { return o.RetryFailed != "" && len(args) == 0 }

// jobMetadata returns what the job keeps, nil where nothing was given.
func (o *Options) jobMetadata() value.Value {
	if o.Metadata == "" {
		return nil
	}
	return app.Typed(o.Metadata)
}

// SafeBatch has a job run in batches where --batch-safe-limit says so.
// Salt: salt/cli/salt.py SaltCMD.run.
func (o *saltFlags) SafeBatch(ctx context.Context, env *fun.Env, job *fun.Job) error {
	if o.safeLimit <= 1 || job.Batch != "" || job.Async {
		return nil
	}
	ids, err := Match(ctx, env, job.Tgt, job.TgtType)
	if err != nil {
		return err
	}
	if len(ids) >= o.safeLimit {
		job.Batch = strconv.Itoa(max(1, o.safeSize))
	}
	return nil
}

// Match returns the ids of the targets that a job would have, within --limit.
func Match(ctx context.Context, env *fun.Env, tgt value.Value, tgtType string) ([]string, error) {
	ids, err := env.Fleet.Match(ctx, tgt, tgtType)
	if f, ok := env.Fleet.(fun.Limited); ok {
		ids, _ = f.Cut(ids)
	}
	return ids, err
}

// exitCompound is salt's status of several functions whose arguments do not fit.
const exitCompound = 42

// compound returns the arguments of several functions, whose names have commas
// between: a list for each, what goes by name last in it. A lone separator parts
// them; where those are not as many as it takes, every separator does, within
// words too.
// Salt: salt/utils/parsers.py SaltCMDOptionParser._mixin_after_parsed.
func (o *Options) compound(names string, words []string) (fun.Args, error) {
	sep, n := o.Published.separator, strings.Count(names, ",")+1
	if o.Prog != SaltCLI {
		return fun.Args{}, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("%q are several functions, and one is called at a time", names),
			Hint: "'brine salt' takes several, as salt does",
		}
	}
	if sep == "" {
		return fun.Args{}, &app.StatusError{Status: app.ExitUsage, Err: errors.New("--args-separator: the separator is empty")}
	}
	parts := [][]string{nil}
	next := func() { parts = append(parts, nil) }
	put := func(word string) { parts[len(parts)-1] = append(parts[len(parts)-1], word) }
	lone := 0
	for _, w := range words {
		if w == sep {
			lone++
		}
	}
	for _, w := range words {
		switch {
		case lone != n-1:
			for i, piece := range strings.Split(w, sep) {
				if i > 0 {
					next()
				}
				if piece != "" {
					put(piece)
				}
			}
		case w == sep:
			next()
		default:
			put(w)
		}
	}
	if len(parts) != n {
		text := "Cannot execute compound command without defining all arguments."
		if len(parts) > n {
			text = "Cannot execute compound command with more arguments than commands."
		}
		return fun.Args{}, &app.StatusError{
			Status: exitCompound, Err: errors.New(text),
			Hint: fmt.Sprintf("%d functions take %d lone %q between their arguments, also where there are none: %s%s", n, n-1, sep, names, strings.Repeat(" "+sep, n-1)),
		}
	}
	args := fun.Args{Kw: value.NewMap(0)}
	for _, part := range parts {
		in := dispatch.ParseInput(part, o.Unparsed())
		if in.Kw.Len() > 0 {
			in.Kw.Set("__kwarg__", true)
			in.Pos = append(in.Pos, in.Kw)
		}
		args.Pos = append(args.Pos, value.NewList(in.Pos...))
	}
	return args, nil
}

// CheckFailedFile sees that --failed-file can be written while nothing has been
// done yet.
func (o *Options) CheckFailedFile() error {
	if o.FailedFile == "" {
		return nil
	}
	f, err := os.OpenFile(o.FailedFile, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return &app.StatusError{Status: app.ExitUsage, Err: fmt.Errorf("--failed-file: %w", err)}
	}
	return f.Close()
}
