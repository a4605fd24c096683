package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/session"
	"brine/cmd/target"
	"brine/internal/core/fun"
	"brine/internal/fleet/jobs"
	"brine/internal/py/value"
)

// errNothingToDo ends a command that has nothing to do, with success.
var errNothingToDo = errors.New("nothing to do")

// retry cuts a job down to the targets that failed in the job that
// --retry-failed names, and takes function and arguments from its record where
// the command line has none. It returns errNothingToDo where none failed.
func retry(ctx context.Context, s *session.Session, c *cobra.Command, o *target.Options, args []string, job fun.Job) (fun.Job, error) {
	jid := o.RetryFailed
	if !jobs.IsJID(jid) {
		return job, app.Usagef(c, "--retry-failed: %q is not a jid", jid)
	}
	j, err := session.EndedJob(ctx, s.Files, "--retry-failed", jid)
	if err != nil {
		return job, err
	}
	ran := j.Load.Str("fun")
	if strings.HasPrefix(ran, "runner.") || len(j.Definition.Keys()) > 0 {
		return job, &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("--retry-failed: job %s is %s, on this controller", jid, ran),
			Hint: "'brine orchestrate --resume " + jid + "' goes on with an orchestration, --limit @" + jid + " runs it from the start on the targets that failed; the jobs of its steps can be retried",
		}
	}
	failed := j.Failed()
	if len(failed) == 0 {
		fmt.Fprintf(s.App.Err, "brine: no target failed in job %s: there is nothing to do\n", jid)
		return job, errNothingToDo
	}
	if j.State == jobs.Interrupted {
		s.Warn(fun.Warning{Text: fmt.Sprintf("job %s was interrupted: the targets that it did not come to count as failed", jid)})
	}
	if o.FromRecord(args) {
		if job, err = recorded(j, job); err != nil {
			return job, err
		}
		job.Tgt, job.TgtType = value.Strings(failed...), "list"
		if len(job.Waves) > 0 {
			job.Tgt = j.Load.List("Minions")
		}
	} else if now := jobName(job); now != ran {
		s.Warn(fun.Warning{Text: fmt.Sprintf("job %s ran %s; on the targets that failed there, this runs %s", jid, ran, now)})
	}
	if len(job.Waves) > 0 { // their sizes count those on which the job succeeded
		again := make(map[string]bool, len(failed))
		for _, id := range failed {
			again[id] = true
		}
		failed = app.Texts(j.Load.List("Minions"))
		job.Passed = slices.DeleteFunc(slices.Clone(failed), func(id string) bool { return again[id] })
	}
	if job.Only != nil {
		failed = slices.DeleteFunc(failed, func(id string) bool { return !slices.Contains(job.Only, id) })
	}
	job.Only = failed
	return job, nil
}

func jobName(job fun.Job) string {
	if job.Shell != "" {
		return "ssh._raw"
	}
	return job.Fun
}

// recorded gives a job the function and the arguments of a record. It returns an
// error where the record does not have all of them.
func recorded(j *jobs.Job, job fun.Job) (fun.Job, error) {
	if out := j.Load.List("left_out"); out.Len() > 0 {
		var names []string
		for _, v := range out.Items {
			name := value.Str(v)
			if !strings.Contains(name, " ") { // "argument 2" has no name
				name += "="
			}
			names = append(names, name)
		}
		return job, &app.StatusError{
			Status: app.ExitUsage, Err: fmt.Errorf("--retry-failed: job %s was given %s, which is not kept", j.JID, strings.Join(names, ", ")),
			Hint: "give the target, the function and its arguments again beside --retry-failed",
		}
	}
	pos, kw := j.Load.List("arg"), value.NewMap(0)
	for i := range pos.Len() {
		v := pos.Items[i]
		if m, ok := v.(*value.Map); ok && m.At("__kwarg__") == true {
			kw = m.Copy()
			kw.Delete("__kwarg__")
			continue
		}
		job.Args.Pos = append(job.Args.Pos, v)
	}
	if job.Fun = j.Load.Str("fun"); job.Fun == "ssh._raw" && len(job.Args.Pos) > 0 {
		job.Fun, job.Shell, job.Args.Pos = "", value.Str(job.Args.Pos[0]), nil
	}
	if job.Fun == "ssh._raw" || job.Fun == "" && job.Shell == "" {
		return job, fmt.Errorf("--retry-failed: the record of job %s does not say what it ran", j.JID)
	}
	job.Args.Kw = kw
	return job, nil
}
