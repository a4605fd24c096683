package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brine/cmd/app"
	"brine/cmd/assembly"
	"brine/cmd/session"
	"brine/internal/core/fun"
	"brine/internal/core/schedule"
	"brine/internal/fleet/jobs"
	"brine/internal/fleet/shared"
	"brine/internal/py/value"
)

// asJob puts a call off, and makes it that of a scheduled job, as its flags say. It
// reports whether it may run now; where it may not, it says so.
func asJob(ctx context.Context, s *session.Session, c *cobra.Command, o *options) (bool, error) {
	name := o.schedule
	if err := putOff(ctx, s, c, o.splay); err != nil || name == "" {
		return err == nil, err
	}
	env := s.Env(ctx, "")
	all := schedule.Merge(s.Cfg.Opts.At("schedule"), schedule.OfPillar(env))
	raw, ok := all.Get(name)
	if !ok {
		return false, &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("no scheduled job %q any more", name),
			Hint: "'brine schedule install' removes what is not in the schedule",
		}
	}
	one := value.MapOf(name, raw)
	for _, k := range []string{"skip_during_range", "enabled", "shared"} {
		if v, ok := all.Get(k); ok {
			one.Set(k, v)
		}
	}
	plan := schedule.ReaderOf(env).Read(one)
	if len(plan.Faults) > 0 {
		return false, errors.Join(plan.Faults...)
	}
	// One time for the whole decision: a job that is due, the turn that it takes
	// and the note of its run are of the same minute.
	now := s.App.Host.Now()
	j := plan.Jobs[0]
	ok, why := j.Due(now)
	if !plan.Enabled {
		ok, why = false, "the schedule is disabled"
	}
	if ok {
		n := 0
		for _, note := range jobs.NewProc(s.App.Host, env.CacheDir).List() {
			if note.Str("schedule") == name {
				n++
			}
		}
		if n >= j.MaxRunning {
			ok, why = false, fmt.Sprintf("%d of it run already (maxrunning)", n)
		}
	}
	if ok && j.Shared && !o.ownTurn {
		var err error
		if why, err = takeTurn(ctx, s, env, j, now); err != nil {
			return false, err
		}
		ok = why == ""
	}
	if !ok {
		s.Note(fmt.Sprintf("scheduled job %q does not run: %s", name, why))
		return false, nil
	}
	s.Job = j
	if err := schedule.Ran(s.App.Host, env.CacheDir, name, now); err != nil {
		s.Log.Info("the run of a scheduled job cannot be noted", "err", err)
	}
	return true, nil
}

// takeTurn has this controller run a job that others have, too, and that is due now;
// else it says why not.
func takeTurn(ctx context.Context, s *session.Session, env *fun.Env, j *schedule.Job, now time.Time) (why string, err error) {
	if !assembly.SharesRecords(env) {
		return "", &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("scheduled job %q: shared is for controllers that have a database as their job cache", j.Name),
			Hint: "set master_job_cache or ext_job_cache in the configuration of brine call, or take shared out of the job",
		}
	}
	if err := s.OpenShared(env); err != nil {
		return "", err
	}
	t := shared.Turn{Name: j.Key(), Every: j.Every, Slack: j.Slack(), Most: j.MaxRunning}
	if due, ok := j.LastDue(now); ok {
		t.Due = due
	}
	err = s.Shared.Turn(ctx, t)
	if taken, is := errors.AsType[*shared.TurnError](err); is {
		return taken.Text, nil
	}
	if err != nil {
		return "", &app.StatusError{
			Status: app.ExitGeneric, Err: fmt.Errorf("scheduled job %q does not run: the database that controllers share cannot tell whether another one runs it: %w", j.Name, err),
		}
	}
	return "", nil
}

// putOff waits for a random time: "30" or "10:30" seconds.
func putOff(ctx context.Context, s *session.Session, c *cobra.Command, splay string) error {
	if splay == "" {
		return nil
	}
	from, to, isSpan := strings.Cut(splay, ":")
	if !isSpan {
		from, to = "0", from
	}
	lo, err := strconv.ParseUint(from, 10, 31)
	hi, err2 := strconv.ParseUint(to, 10, 31)
	if err != nil || err2 != nil || hi < lo {
		return app.Usagef(c, "--splay: %q is not a number of seconds, or <min>:<max>", splay)
	}
	wait := time.Duration(lo) * time.Second
	if hi > lo {
		wait += rand.N(time.Duration(hi-lo) * time.Second)
	}
	if s.App.Host.Sleep(ctx, wait) != nil {
		return app.ErrInterrupted
	}
	return nil
}

// jobCall returns what a call that is a scheduled job runs where its command line
// names no function: what the schedule has, as of now, which also says where the return
// goes. given are the flags of the command line, which go over that; what the schedule
// has goes over a Saltfile.
func jobCall(s *session.Session, given app.RetFlags) (string, fun.Args) {
	j, kwargs := s.Job, ""
	if j.ReturnKwargs.Len() > 0 {
		kwargs = string(value.EncodeJSON(j.ReturnKwargs))
	}
	r := &s.Flags.Ret
	r.Names = cmp.Or(given.Names, strings.Join(j.Returners, ","), r.Names)
	r.Config = cmp.Or(given.Config, j.ReturnConfig, r.Config)
	r.Kwargs = cmp.Or(given.Kwargs, kwargs, r.Kwargs)
	return j.Function, j.Call()
}
